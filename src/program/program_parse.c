/*
 * program_parse.c - reads the text of a program.
 *
 * The first line is "mase-program 1". Every further line is one statement; inside of brackets lines
 * may be broken, and # begins a comment. Values are numbered from 0 in the order of the text.
 *
 *     name NAME
 *     training                           it is the program that is trained
 *     %N : TYPE = input NAME
 *     %N : TYPE = param PATH
 *     %N : TYPE = const [NUMBER, ...]    then: in FORMAT SIGN ROLE, as it was rounded
 *     %N : TYPE = round(%M) to FORMAT SIGN ROLE
 *         then: rank R, blocks being cut as of so many dimensions; and of %D %W, the rounded data
 *         and weight that give a bias its steps, turned where outputs are the weight's second
 *         dimension
 *     %N : TYPE, ... = round_back(%D, %M, ...) to FORMAT SIGN ROLE
 *         the gradient of the result, then what was rounded: what passes back to each of these
 *     %N : TYPE, ... = PRIMITIVE.OPERATION(ARGUMENTS)   then: sum fixed(WIDTH, FRACTION)
 *     do PRIMITIVE.OPERATION(ARGUMENTS)                 without a result
 *     return VALUE                                      the last statement
 *
 * Behind an instruction may stand no_grad (no gradient passes) and from NODE. TYPE is f32[N, 16]:
 * lengths are numbers, N or NxFACTOR+OFFSET. SIGN is signed or unsigned, ROLE data or weight.
 * Arguments and values are those of .mg, by position or by name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"
#include "ir/text/mg.h"
#include "program/text.h"

#define MAX_TEXT ((size_t)256 << 20)

struct parser {
    struct mase_mg_parser mg; /* its graph has a placeholder for each value, to be found by name */
    struct mase_program *p;
    bool returned;
};

/* ---- types ---- */

static bool take_length(const struct mase_arg *a, struct mase_extent *e)
{
    if (a->kind == MASE_ARG_INT && a->i >= 0) {
        *e = (struct mase_extent){ .plus = a->i };
        return true;
    }
    return a->kind == MASE_ARG_ATOM && mase_extent_parse(a->s, e);
}

static enum mase_status parse_type(struct parser *ps, struct mase_ptype *t)
{
    struct mase_mg_parser *p = &ps->mg;
    struct mase_arg dims = { .kind = MASE_ARG_LIST };
    int dtype = 0;
    while (dtype < MASE_DTYPE_COUNT && !mase_mg_at(p, mase_dtypes[dtype].name))
        dtype++;
    if (dtype == MASE_DTYPE_COUNT)
        return mase_mg_expected(p, "a type: f32, f64, i64, i32, u8 or bool");
    *t = (struct mase_ptype){ .dtype = (enum mase_dtype)dtype };
    MASE_TRY(mase_mg_next(&p->lx));
    const struct mase_loc at = p->lx.t.at;
    if (!mase_mg_at(p, "["))
        return mase_mg_expected(p, "'['");
    MASE_TRY(mase_mg_items(p, &dims, NULL, "]"));
    if (dims.count > MASE_MAX_RANK)
        return mase_fail_at(p->err, MASE_ELIMIT, at, "a shape has at most %d dimensions, this %d",
                            MASE_MAX_RANK, dims.count);
    t->rank = dims.count;
    for (int d = 0; d < dims.count; d++)
        if (!take_length(&dims.items[d], &t->dim[d]))
            return mase_fail_at(p->err, MASE_EPARSE, at,
                                "dimension %d must be a number, N, or like Nx4+1", d);
    const struct mase_shape one = mase_ptype_shape(t, 1);
    if (mase_shape_count_checked(&one) < 0)
        return mase_fail_at(p->err, MASE_ELIMIT, at, "more than 2^31 values");
    return MASE_OK;
}

/* ---- values ---- */

static struct mase_node *to_handle(struct mase_node *n, void *data)
{
    const struct parser *ps = data;
    const long number = strtol(n->name, NULL, 10);
    return &ps->p->value[number]->handle;
}

/* A copy in the program that mentions its values. */
static struct mase_arg adopt(struct parser *ps, const struct mase_arg *a)
{
    const struct mase_arg mapped = mase_arg_map(&ps->mg.scratch, a, to_handle, ps);
    return mase_arg_copy(&ps->p->arena, &mapped);
}

/* %N : TYPE, N being the next number. */
static enum mase_status parse_typed(struct parser *ps, struct mase_ptype *t, int number)
{
    struct mase_mg_parser *p = &ps->mg;
    char want[32];
    mase_snprintf(want, sizeof want, "%d", number);
    if (p->lx.t.kind != MASE_MG_NODE)
        return mase_mg_expected(p, "a value");
    if (!mase_streq(p->lx.t.text, want))
        return mase_mg_fail(p, "values are numbered in order: expected %%%s, got %%%s", want,
                            p->lx.t.text);
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_need(p, ":"));
    return parse_type(ps, t);
}

static struct mase_pvalue *add_value(struct parser *ps, enum mase_psource source,
                                     const struct mase_ptype *t, const char *name)
{
    struct mase_pvalue *v = mase_program_add_value(ps->p, source, t, name);
    mase_graph_insert_exact(ps->mg.g, NULL, MASE_PLACEHOLDER, v->handle.name, v->handle.name, NULL,
                            NULL);
    return v;
}

static enum mase_status parse_rounding(struct parser *ps, struct mase_rounding *r);

static enum mase_status parse_const(struct parser *ps, const struct mase_ptype *t)
{
    struct mase_mg_parser *p = &ps->mg;
    struct mase_arg list;
    const struct mase_loc at = p->lx.t.at;
    const struct mase_shape shape = mase_ptype_shape(t, 0);
    MASE_TRY(mase_mg_value(p, &list));
    if (mase_ptype_follows(t))
        return mase_fail_at(p->err, MASE_EPARSE, at, "a constant does not depend on N");
    if (list.kind != MASE_ARG_LIST || list.count != mase_shape_count(&shape))
        return mase_fail_at(p->err, MASE_EPARSE, at, "expected a list of %lld numbers",
                            (long long)mase_shape_count(&shape));
    struct mase_tensor data = mase_tensor(&ps->p->arena, t->dtype, &shape, true);
    for (int i = 0; i < list.count; i++) {
        double v;
        if (!mase_arg_number(&list.items[i], &v))
            return mase_fail_at(p->err, MASE_EPARSE, at, "item %d is no number", i);
        mase_tensor_set(&data, i, v);
    }
    struct mase_pvalue *v = add_value(ps, MASE_PSOURCE_CONST, t, NULL);
    v->data = data.data;
    if (!mase_mg_at(p, "in"))
        return MASE_OK;
    MASE_TRY(mase_mg_next(&p->lx));
    return parse_rounding(ps, &v->rounded);
}

/* ---- instructions ---- */

/* One of some words; -1 and an error when it is none of them. */
static enum mase_status take_word(struct parser *ps, const char *const *words, int count,
                                  const char *what, int *found)
{
    for (*found = 0; *found < count; ++*found)
        if (mase_mg_at(&ps->mg, words[*found]))
            return mase_mg_next(&ps->mg.lx);
    return mase_mg_expected(&ps->mg, what);
}

/* integer(8, 4): the text up to the closing bracket goes to the reader of formats. */
static enum mase_status parse_format(struct parser *ps, const struct mase_format **f)
{
    struct mase_mg_parser *p = &ps->mg;
    struct mase_arg items = { .kind = MASE_ARG_LIST };
    const struct mase_loc at = p->lx.t.at;
    if (p->lx.t.kind != MASE_MG_WORD)
        return mase_mg_expected(p, "a number format");
    const char *start = p->lx.pos - strlen(p->lx.t.text), *end = start;
    int depth = 0;
    for (; end < p->lx.end && *end != '\n'; end++) {
        depth += *end == '(';
        if (*end == ')' && --depth == 0)
            break;
    }
    const size_t size = (size_t)(end - start) + (end < p->lx.end && *end == ')');
    const size_t name = strlen(p->lx.t.text);
    MASE_TRY(mase_mg_next(&p->lx));
    const bool list = mase_mg_at(p, "("); /* else it has no parameters, or none was said */
    if (list)
        MASE_TRY(mase_mg_items(p, &items, NULL, ")"));
    const char *text = mase_arena_strndup(&p->scratch, start, list ? size : name);
    return mase_format_parse(f, text, p->err) ? mase_place(p->err, at) : MASE_OK;
}

/* FORMAT SIGN ROLE */
static enum mase_status parse_rounding(struct parser *ps, struct mase_rounding *r)
{
    int sign, role;
    MASE_TRY(parse_format(ps, &r->format));
    MASE_TRY(take_word(ps, mase_psign_names, 2, "signed or unsigned", &sign));
    MASE_TRY(take_word(ps, mase_prole_names, 2, "data or weight", &role));
    r->sign = (enum mase_sign)sign;
    r->role = (enum mase_role)role;
    return MASE_OK;
}

/* of %7 %9: the roundings of what is multiplied. */
static enum mase_status parse_products(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    const struct mase_loc at = p->lx.t.at;
    struct mase_arg v;
    MASE_TRY(mase_mg_next(&p->lx));
    for (int k = 0; k < 2; k++) {
        MASE_TRY(mase_mg_value(p, &v));
        const struct mase_arg own = v.kind == MASE_ARG_NODE ? adopt(ps, &v) : v;
        i->of[k] = v.kind == MASE_ARG_NODE ? mase_pvalue_of(&own)->made_by : NULL;
        if (!i->of[k] || i->of[k]->prim != MASE_PRIM_round)
            return mase_fail_at(p->err, MASE_EPARSE, at,
                                "expected of and two values that were rounded");
    }
    i->turned = mase_mg_at(p, "turned");
    return i->turned ? mase_mg_next(&p->lx) : MASE_OK;
}

static enum mase_status parse_rank(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    MASE_TRY(mase_mg_next(&p->lx));
    if (p->lx.t.kind != MASE_MG_INT || p->lx.t.i < i->round_rank || p->lx.t.i > MASE_MAX_RANK)
        return mase_mg_expected(p, "at least the value's dimensions");
    i->round_rank = (int)p->lx.t.i;
    return mase_mg_next(&p->lx);
}

static enum mase_status parse_round(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    struct mase_arg x;
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_need(p, "("));
    const struct mase_loc at = p->lx.t.at;
    const int most = MASE_LEARNED_MAX + (i->prim == MASE_PRIM_round_back);
    int count = 0;
    do {
        if (count)
            MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(mase_mg_value(p, &x));
        if (x.kind != MASE_ARG_NODE || count > most)
            return mase_fail_at(p->err, MASE_EPARSE, at, "expected a value to round");
        i->param[count++] = adopt(ps, &x);
    } while (mase_mg_at(p, ","));
    i->round_rank = mase_pvalue_of(&i->param[0])->type.rank;
    MASE_TRY(mase_mg_need(p, ")"));
    MASE_TRY(mase_mg_need(p, "to"));
    MASE_TRY(parse_rounding(ps, &i->round));
    if (count != mase_instr_params(i))
        return mase_fail_at(p->err, MASE_EPARSE, at, "%s of %s takes %d values, not %d",
                            mase_prims[i->prim].name, i->round.format->row->name,
                            mase_instr_params(i), count);
    if (mase_mg_at(p, "rank"))
        MASE_TRY(parse_rank(ps, i));
    return mase_mg_at(p, "of") ? parse_products(ps, i) : MASE_OK;
}

static bool rounds(enum mase_prim prim)
{
    return prim == MASE_PRIM_round || prim == MASE_PRIM_round_back;
}

/* PRIMITIVE.OPERATION */
static enum mase_status parse_name(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    const char *dot = p->lx.t.kind == MASE_MG_WORD ? strchr(p->lx.t.text, '.') : NULL;
    int prim = MASE_PRIM_COUNT;
    enum mase_op op = MASE_OP_unknown;
    if (dot) {
        const char *name =
            mase_arena_strndup(&p->scratch, p->lx.t.text, (size_t)(dot - p->lx.t.text));
        for (prim = 0; prim < MASE_PRIM_COUNT && !mase_streq(mase_prims[prim].name, name);)
            prim++;
        op = mase_op_find(dot + 1);
    }
    if (prim == MASE_PRIM_COUNT || rounds((enum mase_prim)prim) || op == MASE_OP_unknown ||
        !mase_lower_rule(op))
        return mase_mg_expected(p, "input, param, const, round or PRIMITIVE.OPERATION");
    mase_instr_set_op(ps->p, i, (enum mase_prim)prim, op);
    return mase_mg_next(&p->lx);
}

static enum mase_status parse_call(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    struct mase_arg args = { .kind = MASE_ARG_TUPLE }, kwargs = { .kind = MASE_ARG_DICT };
    struct mase_binding b;
    const struct mase_loc at = p->lx.t.at;
    MASE_TRY(parse_name(ps, i));
    if (!mase_mg_at(p, "("))
        return mase_mg_expected(p, "'('");
    MASE_TRY(mase_mg_items(p, &args, &kwargs, ")"));
    const struct mase_sig *sig = mase_op_call_sig(i->op);
    if (mase_bind(&b, &p->scratch, sig, &args, &kwargs, p->err) ||
        mase_bind_defaults(&b, &p->scratch, sig, p->err))
        return mase_place(p->err, at);
    for (int k = 0; k < sig->count; k++)
        i->param[k] = adopt(ps, &b.value[k]);
    return MASE_OK;
}

static enum mase_status take_small(struct mase_mg_parser *p, int *v)
{
    if (p->lx.t.kind != MASE_MG_INT || p->lx.t.i < -10000 || p->lx.t.i > 10000)
        return mase_mg_expected(p, "a small integer");
    *v = (int)p->lx.t.i;
    return mase_mg_next(&p->lx);
}

static enum mase_status parse_sum(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_need(p, "fixed"));
    MASE_TRY(mase_mg_need(p, "("));
    MASE_TRY(take_small(p, &i->sum.width));
    MASE_TRY(mase_mg_need(p, ","));
    MASE_TRY(take_small(p, &i->sum.frac_width));
    return mase_mg_need(p, ")");
}

static enum mase_status parse_flag(struct mase_mg_parser *p, const char *word, bool *is)
{
    *is = mase_mg_at(p, word);
    return *is ? mase_mg_next(&p->lx) : MASE_OK;
}

/* Parse the notes after an instruction. */
static enum mase_status parse_notes(struct parser *ps, struct mase_instr *i)
{
    struct mase_mg_parser *p = &ps->mg;
    if (mase_mg_at(p, "factors") && i->prim == MASE_PRIM_recur) {
        MASE_TRY(mase_mg_next(&p->lx));
        MASE_TRY(parse_rounding(ps, &i->round));
    }
    if (mase_mg_at(p, "sum"))
        MASE_TRY(parse_sum(ps, i));
    MASE_TRY(parse_flag(p, "no_grad", &i->no_grad));
    MASE_TRY(parse_flag(p, "in_place", &i->in_place));
    if (!mase_mg_at(p, "from"))
        return MASE_OK;
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_label(p, &i->from, "the name of a node"));
    i->from = mase_arena_strdup(&ps->p->arena, i->from);
    return MASE_OK;
}

static enum mase_status parse_instr(struct parser *ps, const struct mase_ptype *t, int results)
{
    const bool back = mase_mg_at(&ps->mg, mase_prims[MASE_PRIM_round_back].name);
    const bool round = mase_mg_at(&ps->mg, mase_prims[MASE_PRIM_round].name);
    struct mase_instr *i = mase_program_add_instr(
        ps->p, back ? MASE_PRIM_round_back : MASE_PRIM_round, MASE_OP_unknown, results);
    if (round && results != 1)
        return mase_mg_fail(&ps->mg, "round has one result");
    MASE_TRY(round || back ? parse_round(ps, i) : parse_call(ps, i));
    for (int k = 0; k < results; k++) {
        i->result[k] = add_value(ps, MASE_PSOURCE_RESULT, &t[k], NULL);
        i->result[k]->made_by = i;
        if (!back)
            i->result[k]->rounded = i->round;
    }
    return parse_notes(ps, i);
}

/* ---- statements ---- */

enum { MAX_RESULTS = 1024 };

static enum mase_status parse_values(struct parser *ps)
{
    struct mase_mg_parser *p = &ps->mg;
    struct mase_ptype *t = NULL;
    int count = 0, cap = 0, source;
    do {
        if (count && mase_mg_next(&p->lx))
            return p->err->status;
        if (count == MAX_RESULTS)
            return mase_mg_fail(p, "an instruction has at most %d results", MAX_RESULTS);
        t = mase_arena_grow(&p->scratch, t, count, &cap, sizeof *t);
        MASE_TRY(parse_typed(ps, &t[count], ps->p->value_count + count));
        count++;
    } while (mase_mg_at(p, ","));
    MASE_TRY(mase_mg_need(p, "="));
    for (source = 0; source < MASE_PSOURCE_RESULT; source++)
        if (mase_mg_at(p, mase_psource_names[source]))
            break;
    if (source == MASE_PSOURCE_RESULT)
        return parse_instr(ps, t, count);
    if (count > 1)
        return mase_mg_fail(p, "%s gives one value", mase_psource_names[source]);
    MASE_TRY(mase_mg_next(&p->lx));
    if (source == MASE_PSOURCE_CONST)
        return parse_const(ps, t);
    const char *name;
    MASE_TRY(mase_mg_label(p, &name, "a name"));
    add_value(ps, (enum mase_psource)source, t, name);
    return MASE_OK;
}

static enum mase_status parse_return(struct parser *ps)
{
    struct mase_arg v;
    MASE_TRY(mase_mg_next(&ps->mg.lx));
    MASE_TRY(mase_mg_value(&ps->mg, &v));
    ps->p->output = adopt(ps, &v);
    ps->returned = true;
    return MASE_OK;
}

static enum mase_status parse_statement(struct mase_mg_parser *p, void *data)
{
    struct parser *ps = data;
    if (ps->returned)
        return mase_mg_fail(p, "return is the last statement");
    if (p->lx.t.kind == MASE_MG_NODE)
        return parse_values(ps);
    if (mase_mg_at(p, "return"))
        return parse_return(ps);
    if (mase_mg_at(p, "training")) {
        ps->p->training = true;
        return mase_mg_next(&p->lx);
    }
    if (mase_mg_at(p, "do")) {
        MASE_TRY(mase_mg_next(&p->lx));
        return parse_instr(ps, NULL, 0);
    }
    if (!mase_mg_at(p, "name"))
        return mase_mg_expected(p, "name, training, %VALUE, do or return");
    const char *name;
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_label(p, &name, "a name"));
    ps->p->name = mase_arena_strdup(&ps->p->arena, name);
    return MASE_OK;
}

static enum mase_status parse_all(struct parser *ps)
{
    struct mase_mg_parser *p = &ps->mg;
    MASE_TRY(mase_mg_magic(p, "a program", MASE_PROGRAM_MAGIC, MASE_PROGRAM_VERSION));
    MASE_TRY(mase_mg_lines(p, parse_statement, ps));
    return ps->returned ? MASE_OK : mase_mg_fail(p, "the program has no return");
}

/* A text that says what no program is: the first line of what is wrong. */
static enum mase_status check(const struct parser *ps, const char *path, struct mase_err *err)
{
    struct mase_str faults = { 0 };
    enum mase_status st = MASE_OK;
    if (mase_program_verify(ps->p, &faults)) {
        const char *text = mase_str_text(&faults);
        st = mase_fail_in(err, MASE_EPARSE, path, "%.*s", (int)strcspn(text, "\n"), text);
    }
    mase_str_release(&faults);
    return st;
}

enum mase_status mase_program_parse(struct mase_program **out, const char *text, size_t size,
                                    const char *path, struct mase_err *err)
{
    struct mase_err unwanted;
    struct mase_err *e = err ? err : &unwanted;
    struct parser ps = { .mg = { .err = e, .takes_atoms = true } };
    *out = NULL;
    if (size > MAX_TEXT)
        return mase_fail_in(e, MASE_ELIMIT, path, "a program has at most %zu MiB of text",
                            MAX_TEXT >> 20);
    ps.mg.lx = (struct mase_mg_lexer){ .arena = &ps.mg.scratch,
                                       .path = path ? path : "<text>",
                                       .pos = text,
                                       .end = text + size,
                                       .line_start = text,
                                       .line = 1,
                                       .numbered = true,
                                       .err = e };
    ps.mg.g = mase_graph_new(NULL);
    ps.p = mase_program_new(NULL, false);
    enum mase_status st = parse_all(&ps);
    if (!st)
        mase_program_renumber(ps.p);
    st = st ? st : check(&ps, ps.mg.lx.path, e);
    mase_graph_free(ps.mg.g);
    mase_arena_release(&ps.mg.scratch);
    if (st)
        mase_program_free(ps.p);
    else
        *out = ps.p;
    return st;
}
