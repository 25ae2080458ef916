/*
 * loss_expr.c - parse an expression of output and target to a graph.
 *
 * The words are Python's and PyTorch's, as far as a loss needs them:
 *
 *     expression   sum {("<" | "<=" | ">" | ">=" | "==" | "!=") sum}      at most one
 *     sum          product {("+" | "-") product}
 *     product      factor {("*" | "/" | "//" | "%" | "@") factor}
 *     factor       ["-" | "+"] power
 *     power        postfix ["**" factor]
 *     postfix      atom {"(" arguments ")" | "." name | "[" index "]"}
 *     atom         number | 'text' | True | False | None | output | target | name
 *                  | "(" expression {"," expression} ")" | "[" ... "]"
 *
 * Functions are the rows of ops.def by the names that torch has for them: mean, F.mse_loss,
 * torch.abs, output.pow(2). Nothing is executed but the graph that comes of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "frontend/loss_source.h"

enum { MAX_DEPTH = 64, MAX_ITEMS = 32 };

struct parser {
    struct mase_graph *g;
    const char *text, *at; /* at: next token */
    struct mase_node *input[2];
    int depth;
    struct mase_err *err;
};

/* A parsed part: a value, or a name that is called next. */
struct part {
    struct mase_arg value;
    const char *name;       /* dotted name of a function; NULL: a value */
    struct mase_arg object; /* of the method `name` */
    bool is_method;
    const char *from; /* its place in the text */
};

static enum mase_status expression(struct parser *p, struct mase_arg *out);

/* ---- places ---- */

static struct mase_loc place(const struct parser *p, const char *at)
{
    return (struct mase_loc){
        .path = MASE_LOSS_PLACE, .line = 1, .col = (int)(at - p->text) + 1, .off = -1
    };
}

static enum mase_status fail(const struct parser *p, const char *at, const char *what)
{
    const size_t n = strcspn(at, " \t\n()[],+-*/%");
    if (!*at)
        return mase_fail_at(p->err, MASE_EPARSE, place(p, at), "expected %s, got the end", what);
    return mase_fail_at(p->err, MASE_EPARSE, place(p, at), "expected %s, got '%.*s'", what,
                        n ? (int)(n < 40 ? n : 40) : 1, at);
}

/* ---- tokens ---- */

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static bool take(struct parser *p, const char *mark)
{
    const size_t n = strlen(mark);
    skip_blanks(p);
    if (strncmp(p->at, mark, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool is_letter(char c)
{
    return mase_is_alpha(c) || c == '_';
}

static const char *take_name(struct parser *p)
{
    skip_blanks(p);
    const char *from = p->at;
    if (!is_letter(*from))
        return NULL;
    while (is_letter(*p->at) || mase_is_digit(*p->at))
        p->at++;
    return mase_arena_strndup(&p->g->arena, from, (size_t)(p->at - from));
}

/* ---- nodes ---- */

static struct mase_arg insert(struct parser *p, enum mase_node_kind kind, const char *target,
                              const struct mase_arg *items, int count, const char *from)
{
    const struct mase_arg args = mase_arg_seq(&p->g->arena, MASE_ARG_TUPLE, items, count);
    struct mase_node *n = mase_graph_insert(p->g, NULL, kind, target, &args, NULL);
    mase_node_set_place(n, place(p, from));
    return mase_arg_node(n);
}

static bool is_number(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_INT || a->kind == MASE_ARG_FLOAT;
}

static double number(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_INT ? (double)a->i : a->f;
}

/* ---- operators ---- */

static double quotient(double x, double y)
{
    return x / y;
}
static double product(double x, double y)
{
    return x * y;
}
static double sum(double x, double y)
{
    return x + y;
}
static double difference(double x, double y)
{
    return x - y;
}
static double whole_quotient(double x, double y)
{
    return floor(x / y);
}
static double rest(double x, double y)
{
    return x - y * floor(x / y);
}

struct operator_row {
    const char *mark, *not_before; /* not if one of these characters follows */
    int level;
    const char *target;
    double (*of_numbers)(double x, double y); /* NULL: needs tensors */
    bool divides;                             /* the result of integers may not be an integer */
};

enum { COMPARING, ADDING, MULTIPLYING, LEVELS };

static const struct operator_row operators[] = {
    { "<=", "", COMPARING, "operator.le", NULL, false },
    { "<", "", COMPARING, "operator.lt", NULL, false },
    { ">=", "", COMPARING, "operator.ge", NULL, false },
    { ">", "", COMPARING, "operator.gt", NULL, false },
    { "==", "", COMPARING, "operator.eq", NULL, false },
    { "!=", "", COMPARING, "operator.ne", NULL, false },
    { "+", "", ADDING, "operator.add", sum, false },
    { "-", "", ADDING, "operator.sub", difference, false },
    { "//", "", MULTIPLYING, "operator.floordiv", whole_quotient, false },
    { "/", "", MULTIPLYING, "operator.truediv", quotient, true },
    { "*", "*", MULTIPLYING, "operator.mul", product, false },
    { "%", "", MULTIPLYING, "operator.mod", rest, false },
    { "@", "", MULTIPLYING, "operator.matmul", NULL, false },
};

static const struct operator_row *take_operator(struct parser *p, int level)
{
    skip_blanks(p);
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        const struct operator_row *o = &operators[i];
        const size_t n = strlen(o->mark);
        if (strncmp(p->at, o->mark, n) != 0)
            continue;
        if (o->level != level || (p->at[n] && strchr(o->not_before, p->at[n])))
            return NULL;
        p->at += n;
        return o;
    }
    return NULL;
}

static struct mase_arg of_numbers(double value, bool is_int)
{
    return is_int && fabs(value) < 0x1p53 ? mase_arg_int((int64_t)value) : mase_arg_float(value);
}

/* Compute numbers here; add a node for tensors. */
static enum mase_status combine(struct parser *p, struct mase_arg *x, const struct operator_row *o,
                                const struct mase_arg *y, const char *at)
{
    const bool nodes = x->kind == MASE_ARG_NODE || y->kind == MASE_ARG_NODE;
    if (!nodes && is_number(x) && is_number(y) && o->of_numbers) {
        const bool ints = x->kind == MASE_ARG_INT && y->kind == MASE_ARG_INT && !o->divides;
        const double value = o->of_numbers(number(x), number(y));
        if (!isfinite(value))
            return mase_fail_at(p->err, MASE_EVALUE, place(p, at), "this is no finite number");
        *x = of_numbers(value, ints);
        return MASE_OK;
    }
    if (!nodes)
        return mase_fail_at(p->err, MASE_EVALUE, place(p, at),
                            "'%s' takes output, target or numbers", o->mark);
    *x = insert(p, MASE_CALL_FUNCTION, o->target, (struct mase_arg[]){ *x, *y }, 2, at);
    return MASE_OK;
}

static enum mase_status factor(struct parser *p, struct mase_arg *out);

static enum mase_status level(struct parser *p, struct mase_arg *out, int number_of)
{
    const struct operator_row *o;
    if (number_of == LEVELS)
        return factor(p, out);
    MASE_TRY(level(p, out, number_of + 1));
    for (int n = 0; (o = take_operator(p, number_of)); n++) {
        const char *at = p->at - strlen(o->mark);
        struct mase_arg y;
        if (number_of == COMPARING && n)
            return mase_fail_at(p->err, MASE_EPARSE, place(p, at),
                                "one comparison at a time: put brackets around it");
        MASE_TRY(level(p, &y, number_of + 1));
        MASE_TRY(combine(p, out, o, &y, at));
    }
    return MASE_OK;
}

/* ---- calls ---- */

struct arguments {
    struct mase_arg item[MAX_ITEMS], value[MAX_ITEMS];
    const char *key[MAX_ITEMS];
    int items, keys;
};

/* Parse "name =", but not "name ==". */
static const char *take_key(struct parser *p)
{
    const char *from = p->at, *name = take_name(p);
    skip_blanks(p);
    if (name && p->at[0] == '=' && p->at[1] != '=') {
        p->at++;
        return name;
    }
    p->at = from;
    return NULL;
}

static enum mase_status take_arguments(struct parser *p, struct arguments *a)
{
    bool comma = true;
    while (!take(p, ")")) {
        skip_blanks(p);
        if (!comma)
            return fail(p, p->at, "',' or ')'");
        if (a->items == MAX_ITEMS || a->keys == MAX_ITEMS)
            return mase_fail_at(p->err, MASE_ELIMIT, place(p, p->at), "more than %d arguments",
                                MAX_ITEMS);
        const char *key = take_key(p);
        if (!key && a->keys)
            return fail(p, p->at, "an argument with its name");
        if (key)
            a->key[a->keys] = key;
        MASE_TRY(expression(p, key ? &a->value[a->keys++] : &a->item[a->items++]));
        comma = take(p, ",");
    }
    return MASE_OK;
}

/* A name without prefix is one of torch or of torch.nn.functional; F is the latter. */
static const char *find_function(struct parser *p, const char *name)
{
    static const char *const before[] = { "torch.", "torch.nn.functional.", "torch.nn.", "" };
    struct mase_arena *a = &p->g->arena;
    if (mase_starts_with(name, "F."))
        name += 2;
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        const char *full = mase_arena_printf(a, "%s%s", before[i], name);
        if (mase_op_of_function(full) != MASE_OP_unknown)
            return full;
    }
    return NULL;
}

struct names {
    const char **name;
    int count, cap;
};

/* List the names of torch's operations, without prefix. */
static void list_functions(struct mase_arena *a, struct names *n, bool methods)
{
    for (int op = 0; op < MASE_OP_COUNT; op++) {
        const char *all = methods ? mase_ops[op].methods : mase_ops[op].functions;
        for (const char *s = all ? all : ""; *s; s += strspn(s, " ")) {
            const size_t len = strcspn(s, " ");
            const char *full = mase_arena_strndup(a, s, len), *dot = strrchr(full, '.');
            n->name = mase_arena_grow(a, n->name, n->count, &n->cap, sizeof *n->name);
            n->name[n->count++] = dot ? dot + 1 : full;
            s += len;
        }
    }
}

static enum mase_status unknown(struct parser *p, const struct part *f)
{
    struct names n = { 0 };
    list_functions(&p->g->arena, &n, f->is_method);
    return mase_fail_unknown(p->err, place(p, f->from),
                             &(struct mase_unknown){ .word = f->name,
                                                     .names = n.name,
                                                     .count = n.count,
                                                     .tail = "ch ops lists what there is" },
                             "unknown %s '%s'", f->is_method ? "method" : "function", f->name);
}

static enum mase_status call(struct parser *p, struct part *f)
{
    struct arguments *a = mase_new(&p->g->arena, struct arguments);
    struct mase_arg dict = { .kind = MASE_ARG_DICT };
    const char *target = f->is_method ? f->name : find_function(p, f->name);
    if (!target || (f->is_method && mase_op_of_method(target) == MASE_OP_unknown))
        return unknown(p, f);
    if (f->is_method)
        a->item[a->items++] = f->object;
    MASE_TRY(take_arguments(p, a));
    dict.items = a->value;
    dict.keys = a->key;
    dict.count = a->keys;
    const struct mase_arg args = mase_arg_seq(&p->g->arena, MASE_ARG_TUPLE, a->item, a->items);
    struct mase_node *n = mase_graph_insert(
        p->g, NULL, f->is_method ? MASE_CALL_METHOD : MASE_CALL_FUNCTION, target, &args, &dict);
    mase_node_set_place(n, place(p, f->from));
    *f = (struct part){ .value = mase_arg_node(n), .from = f->from };
    return MASE_OK;
}

/* ---- atoms ---- */

/* Parse (a, b) or [a, b] after its opening bracket; (a) is a. */
static enum mase_status sequence(struct parser *p, struct mase_arg *out, const char *end)
{
    struct mase_arg *item = mase_new_array(&p->g->arena, struct mase_arg, MAX_ITEMS);
    const bool list = *end == ']';
    int count = 0;
    bool comma = false;
    while (!take(p, end)) {
        skip_blanks(p);
        if (count && !comma)
            return fail(p, p->at, list ? "',' or ']'" : "',' or ')'");
        if (count == MAX_ITEMS)
            return mase_fail_at(p->err, MASE_ELIMIT, place(p, p->at), "more than %d items",
                                MAX_ITEMS);
        MASE_TRY(expression(p, &item[count++]));
        comma = take(p, ",");
    }
    if (!list && count == 1 && !comma)
        *out = item[0];
    else
        *out = mase_arg_seq(&p->g->arena, list ? MASE_ARG_LIST : MASE_ARG_TUPLE, item, count);
    return MASE_OK;
}

static enum mase_status take_number(struct parser *p, struct mase_arg *out)
{
    char *end;
    const double value = mase_number_read(p->at, &end);
    const size_t digits = strspn(p->at, "0123456789");
    if (is_letter(*end) || !isfinite(value))
        return fail(p, p->at, "a number");
    *out = of_numbers(value, p->at + digits == end);
    p->at = end;
    return MASE_OK;
}

static enum mase_status take_text(struct parser *p, struct mase_arg *out)
{
    const char quote = *p->at, *from = p->at + 1, *end = strchr(from, quote);
    if (!end)
        return mase_fail_at(p->err, MASE_EPARSE, place(p, p->at), "a text without its end");
    *out = mase_arg_text(mase_arena_strndup(&p->g->arena, from, (size_t)(end - from)));
    p->at = end + 1;
    return MASE_OK;
}

/* Is the word a value? If not, it names a function. */
static bool is_value(const struct parser *p, struct mase_arg *out, const char *name)
{
    const struct {
        const char *name;
        struct mase_arg value;
    } known[] = {
        { "output", mase_arg_node(p->input[0]) },
        { "target", mase_arg_node(p->input[1]) },
        { "True", mase_arg_bool(true) },
        { "False", mase_arg_bool(false) },
        { "None", mase_arg_none() },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (mase_streq(name, known[i].name)) {
            *out = known[i].value;
            return true;
        }
    return false;
}

static enum mase_status atom(struct parser *p, struct part *out)
{
    skip_blanks(p);
    *out = (struct part){ .from = p->at };
    if (mase_is_digit(*p->at) || (*p->at == '.' && mase_is_digit(p->at[1])))
        return take_number(p, &out->value);
    if (*p->at == '\'' || *p->at == '"')
        return take_text(p, &out->value);
    if (take(p, "("))
        return sequence(p, &out->value, ")");
    if (take(p, "["))
        return sequence(p, &out->value, "]");
    const char *name = take_name(p);
    if (!name)
        return fail(p, p->at, "output, target, a number or a function");
    if (!is_value(p, &out->value, name))
        out->name = name;
    return MASE_OK;
}

/* ---- suffixes of atoms ---- */

static enum mase_status slice(struct parser *p, struct mase_arg *out)
{
    struct mase_arg part[3] = { { 0 } };
    int colons = 0;
    do {
        skip_blanks(p);
        if (*p->at != ':' && *p->at != ',' && *p->at != ']')
            MASE_TRY(expression(p, &part[colons]));
    } while (take(p, ":") && ++colons < 3);
    *out = part[0];
    if (colons) {
        *out = mase_arg_seq(&p->g->arena, MASE_ARG_TUPLE, part, 3);
        out->kind = MASE_ARG_SLICE;
    }
    return MASE_OK;
}

static enum mase_status index_of(struct parser *p, struct part *x)
{
    struct mase_arg item[MAX_ITEMS];
    int count = 0;
    do {
        if (count == MAX_ITEMS)
            return mase_fail_at(p->err, MASE_ELIMIT, place(p, p->at), "more than %d indices",
                                MAX_ITEMS);
        MASE_TRY(slice(p, &item[count++]));
    } while (take(p, ","));
    if (!take(p, "]"))
        return fail(p, p->at, "',' or ']'");
    const struct mase_arg index =
        count == 1 ? item[0] : mase_arg_seq(&p->g->arena, MASE_ARG_TUPLE, item, count);
    x->value = insert(p, MASE_CALL_FUNCTION, "operator.getitem",
                      (struct mase_arg[]){ x->value, index }, 2, x->from);
    return MASE_OK;
}

/* .shape and .T are attributes; other names are methods or parts of a longer name. */
static enum mase_status dot(struct parser *p, struct part *x)
{
    const char *from = p->at, *name = take_name(p);
    if (!name)
        return fail(p, from, "a name");
    if (x->name) {
        x->name = mase_arena_printf(&p->g->arena, "%s.%s", x->name, name);
        return MASE_OK;
    }
    skip_blanks(p);
    if (*p->at == '(') {
        *x = (struct part){ .name = name, .object = x->value, .is_method = true, .from = from };
        return MASE_OK;
    }
    if (mase_streq(name, "T")) {
        x->value = insert(p, MASE_CALL_METHOD, "t", &x->value, 1, x->from);
        return MASE_OK;
    }
    x->value = insert(p, MASE_CALL_FUNCTION, "builtins.getattr",
                      (struct mase_arg[]){ x->value, mase_arg_text(name) }, 2, x->from);
    return MASE_OK;
}

static enum mase_status postfix(struct parser *p, struct mase_arg *out)
{
    struct part x;
    MASE_TRY(atom(p, &x));
    for (;;) {
        if (x.name && take(p, "("))
            MASE_TRY(call(p, &x));
        else if (take(p, "."))
            MASE_TRY(dot(p, &x));
        else if (!x.name && x.value.kind == MASE_ARG_NODE && take(p, "["))
            MASE_TRY(index_of(p, &x));
        else
            break;
    }
    if (x.name)
        return mase_fail_at(p->err, MASE_EVALUE, place(p, x.from),
                            "'%s' is neither output nor target nor a function that is called",
                            x.name);
    *out = x.value;
    return MASE_OK;
}

static enum mase_status power(struct parser *p, struct mase_arg *out)
{
    static const struct operator_row row = { "**", "", 0, "operator.pow", pow, false };
    struct mase_arg y;
    MASE_TRY(postfix(p, out));
    if (!take(p, "**"))
        return MASE_OK;
    const char *at = p->at - 2;
    MASE_TRY(factor(p, &y));
    const bool negative = is_number(&y) && number(&y) < 0; /* 10 ** -3 is not an integer */
    if (negative && out->kind == MASE_ARG_INT)
        *out = mase_arg_float((double)out->i);
    return combine(p, out, &row, &y, at);
}

/* Minus what was read. */
static enum mase_status negate(struct parser *p, struct mase_arg *out, const char *from)
{
    if (is_number(out)) {
        *out = out->kind == MASE_ARG_INT ? mase_arg_int(-out->i) : mase_arg_float(-out->f);
        return MASE_OK;
    }
    if (out->kind != MASE_ARG_NODE)
        return mase_fail_at(p->err, MASE_EVALUE, place(p, from),
                            "'-' takes output, target or numbers");
    *out = insert(p, MASE_CALL_FUNCTION, "operator.neg", out, 1, from);
    return MASE_OK;
}

/* Limits the depth, as all nesting passes here. */
static enum mase_status factor(struct parser *p, struct mase_arg *out)
{
    skip_blanks(p);
    const char *from = p->at;
    if (++p->depth > MAX_DEPTH)
        return mase_fail_at(p->err, MASE_ELIMIT, place(p, from), "more than %d levels", MAX_DEPTH);
    if (take(p, "-")) {
        MASE_TRY(factor(p, out));
        MASE_TRY(negate(p, out, from));
    } else if (take(p, "+")) {
        MASE_TRY(factor(p, out));
    } else {
        MASE_TRY(power(p, out));
    }
    p->depth--;
    return MASE_OK;
}

static enum mase_status expression(struct parser *p, struct mase_arg *out)
{
    return level(p, out, 0);
}

/* ---- the expression ---- */

static enum mase_status parse(struct parser *p)
{
    struct mase_arg value;
    MASE_TRY(expression(p, &value));
    skip_blanks(p);
    if (*p->at)
        return fail(p, p->at, "an operator or the end");
    if (value.kind != MASE_ARG_NODE)
        return mase_fail_at(p->err, MASE_EVALUE, place(p, p->text),
                            "a loss depends on output; this is a constant");
    const struct mase_arg args = mase_arg_seq(&p->g->arena, MASE_ARG_TUPLE, &value, 1);
    mase_graph_insert(p->g, NULL, MASE_OUTPUT, "output", &args, NULL);
    return MASE_OK;
}

enum mase_status mase_loss_parse(struct mase_graph **g, const char *text, struct mase_err *err)
{
    static const char *const inputs[] = { "output", "target" };
    struct parser p = { .g = mase_graph_new("loss"), .at = text, .text = text, .err = err };
    for (int i = 0; i < 2; i++)
        p.input[i] =
            mase_graph_insert_named(p.g, NULL, MASE_PLACEHOLDER, inputs[i], inputs[i], NULL, NULL);
    const enum mase_status st = parse(&p);
    if (st)
        mase_graph_free(p.g);
    else
        *g = p.g;
    return st;
}
