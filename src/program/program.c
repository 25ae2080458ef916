/*
 * program.c - a program's values and instructions: making them, going over them.
 */
#include "program/program_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/ptrmap.h"
#include "ir/shape/graph_types.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"
#include "quant/quant.h"

const struct mase_prim_info mase_prims[MASE_PRIM_COUNT] = {
#define PRIM(name, help) { #name, help },
#include <mase/prims.def>
};

/* The LOWER column of ops.def. */
static const struct row {
    bool lowers;
    enum mase_prim prim;
    mase_lower_fn *rule;
    const char *name; /* only to begin a row */
} rows[MASE_OP_COUNT] = {
    [MASE_OP_unknown] = {
#define OP(name_, ...) \
    .name = NULL       \
    }                  \
    , [MASE_OP_##name_] = {
#define LOWER(prim_, rule_) .lowers = true, .prim = MASE_PRIM_##prim_, .rule = mase_lower_##rule_,
#include <mase/ops.def>
    },
};

enum mase_prim mase_op_prim(enum mase_op op)
{
    return rows[op].lowers ? rows[op].prim : MASE_PRIM_COUNT;
}

const struct mase_node *mase_graph_draws(const struct mase_graph *g)
{
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (mase_lower_rule(n->op) && mase_op_prim(n->op) == MASE_PRIM_random)
            return n;
    return NULL;
}

mase_lower_fn *mase_lower_rule(enum mase_op op)
{
    return rows[op].rule;
}

/* ---- lengths that depend on N ---- */

/* N, Nx4, N-1, Nx-4+2: words to the lexer of .mg. */
const char *mase_extent_text(struct mase_arena *a, struct mase_extent e)
{
    char times[32] = "", plus[32] = "";
    if (e.times != 1)
        mase_snprintf(times, sizeof times, "x%lld", (long long)e.times);
    if (e.plus)
        mase_snprintf(plus, sizeof plus, "%+lld", (long long)e.plus);
    return mase_arena_printf(a, "N%s%s", times, plus);
}

/* A number of at most nine digits with its sign, which must be there if `sign`. */
static bool take_number(const char **s, bool sign, int64_t *v)
{
    char *end;
    if (sign && **s != '+' && **s != '-')
        return false;
    const char *digits = **s == '-' || (sign && **s == '+') ? *s + 1 : *s;
    if (*digits < '0' || *digits > '9' || strspn(digits, "0123456789") > 9)
        return false;
    *v = strtoll(*s, &end, 10);
    *s = end;
    return true;
}

bool mase_extent_parse(const char *atom, struct mase_extent *e)
{
    const char *s = atom;
    *e = (struct mase_extent){ 0, 1 };
    if (*s++ != 'N')
        return false;
    if (*s == 'x') {
        s++;
        if (!take_number(&s, false, &e->times))
            return false;
    }
    if (*s && !take_number(&s, true, &e->plus))
        return false;
    return *s == 0 && e->times != 0;
}

bool mase_arg_follows_samples(const struct mase_arg *a)
{
    struct mase_extent e;
    if (a->kind == MASE_ARG_ATOM)
        return mase_extent_parse(a->s, &e);
    for (int i = 0; mase_arg_has_items(a) && i < a->count; i++)
        if (mase_arg_follows_samples(&a->items[i]))
            return true;
    return false;
}

void mase_ptype_print(struct mase_str *out, const struct mase_ptype *t)
{
    struct mase_arena a = { 0 };
    mase_str_printf(out, "%s[", mase_dtypes[t->dtype].name);
    for (int d = 0; d < t->rank; d++) {
        mase_str_add(out, d ? ", " : "");
        if (t->dim[d].times)
            mase_str_add(out, mase_extent_text(&a, t->dim[d]));
        else
            mase_str_printf(out, "%lld", (long long)t->dim[d].plus);
    }
    mase_str_addc(out, ']');
    mase_arena_release(&a);
}

/* ---- making ---- */

struct mase_program *mase_program_new(const char *name, bool training)
{
    struct mase_program *p = mase_xcalloc(sizeof *p);
    p->name = name ? mase_arena_strdup(&p->arena, name) : NULL;
    p->training = training;
    return p;
}

void mase_program_free(struct mase_program *p)
{
    if (!p)
        return;
    mase_arena_release(&p->arena);
    mase_xfree(p);
}

static void set_number(struct mase_program *p, struct mase_pvalue *v, int number)
{
    v->number = number;
    v->handle.name = mase_arena_printf(&p->arena, "%d", number);
}

struct mase_pvalue *mase_program_add_value(struct mase_program *p, enum mase_psource source,
                                           const struct mase_ptype *type, const char *name)
{
    struct mase_pvalue *v = mase_new(&p->arena, struct mase_pvalue);
    *v = (struct mase_pvalue){ .type = *type, .source = source };
    v->name = name ? mase_arena_strdup(&p->arena, name) : NULL;
    p->value =
        mase_arena_grow(&p->arena, p->value, p->value_count, &p->value_cap, sizeof *p->value);
    p->value[p->value_count] = v;
    set_number(p, v, p->value_count++);
    return v;
}

struct mase_instr *mase_program_add_instr(struct mase_program *p, enum mase_prim prim,
                                          enum mase_op op, int results)
{
    struct mase_instr *i = mase_new(&p->arena, struct mase_instr);
    *i = (struct mase_instr){ .result_count = results };
    mase_instr_set_op(p, i, prim, op);
    i->result = mase_new_array(&p->arena, struct mase_pvalue *, (size_t)results);
    if (p->last)
        p->last->next = i;
    else
        p->first = i;
    p->last = i;
    return i;
}

void mase_instr_set_op(struct mase_program *p, struct mase_instr *i, enum mase_prim prim,
                       enum mase_op op)
{
    i->prim = prim;
    i->op = op;
    i->form = NULL;
    const bool rounds = prim == MASE_PRIM_round || prim == MASE_PRIM_round_back;
    const int most = rounds ? 2 + MASE_LEARNED_MAX : mase_instr_params(i);
    i->param = mase_new_array(&p->arena, struct mase_arg, (size_t)most);
}

int mase_instr_params(const struct mase_instr *i)
{
    if (i->prim == MASE_PRIM_round)
        return 1 + mase_format_learned(i->round.format);
    if (i->prim == MASE_PRIM_round_back)
        return 2 + mase_format_learned(i->round.format);
    return mase_op_call_sig(i->op)->count;
}

/* The factor of a weight, or of one sample of data, by its blocks. */
static struct mase_factor factor_of(const struct mase_instr *i)
{
    struct mase_shape s = mase_ptype_shape(&i->result[0]->type, 1);
    s = mase_shape_to_rank(&s, i->round_rank);
    if (i->round.role == MASE_ROLE_DATA && s.rank)
        s.dim[0] = 1;
    return (struct mase_factor){ i->round.format, i->round.sign, s };
}

int64_t mase_instr_blocks(const struct mase_instr *round)
{
    const struct mase_factor f = factor_of(round);
    return mase_format_blocks(f.format, &f.shape, round->round.role).count;
}

void mase_instr_products(struct mase_products *p, const struct mase_instr *i)
{
    *p = (struct mase_products){ .data = factor_of(i->of[0]),
                                 .weight = factor_of(i->of[1]),
                                 .outputs = i->result[0]->type.dim[0].plus,
                                 .turned = i->turned };
}

const struct mase_arg *mase_program_result(const struct mase_program *p, const struct mase_node *n)
{
    return p->of_node ? mase_ptrmap_get(p->of_node, n) : NULL;
}

struct mase_pvalue *mase_program_value(const struct mase_program *p, const struct mase_node *n)
{
    const struct mase_arg *result = mase_program_result(p, n);
    struct mase_pvalue *v = result ? mase_pvalue_of(result) : NULL;
    return v && v->number >= 0 ? v : NULL;
}

/* ---- going over it ---- */

struct each {
    mase_each_pvalue_fn *fn;
    void *data;
};

static void each_node(struct mase_node *n, void *data)
{
    const struct each *e = data;
    e->fn((struct mase_pvalue *)n, e->data);
}

void mase_each_pvalue(const struct mase_arg *a, mase_each_pvalue_fn *fn, void *data)
{
    struct each e = { fn, data };
    mase_arg_each_node(a, each_node, &e);
}

/* ---- numbering ---- */

struct numbering {
    struct mase_program *p;
    struct mase_instr *user; /* NULL: the return */
};

/* A value that no instruction makes stands where it is used first. */
static void number_use(struct mase_pvalue *v, void *data)
{
    struct numbering *n = data;
    if (v->number < 0) {
        n->p->value[n->p->value_count] = v;
        set_number(n->p, v, n->p->value_count++);
    }
    if (n->user)
        v->last_use = n->user;
    else
        v->returned = true;
}

void mase_program_renumber(struct mase_program *p)
{
    struct numbering n = { .p = p };
    const int count = p->value_count;
    struct mase_pvalue **old =
        mase_arena_memdup(&p->arena, p->value, (size_t)count * sizeof(struct mase_pvalue *));
    p->value_count = 0;
    for (int i = 0; i < count; i++) {
        old[i]->number = -1;
        old[i]->last_use = NULL;
        old[i]->returned = false;
    }
    for (int i = 0; i < count; i++) /* inputs first, which every runner needs */
        if (old[i]->source == MASE_PSOURCE_INPUT)
            number_use(old[i], &(struct numbering){ .p = p, .user = NULL });
    for (int i = 0; i < p->value_count; i++)
        p->value[i]->returned = false;
    for (struct mase_instr *i = p->first; i; i = i->next) {
        n.user = i;
        for (int k = 0; k < mase_instr_params(i); k++)
            mase_each_pvalue(&i->param[k], number_use, &n);
        for (int k = 0; k < i->result_count; k++) {
            p->value[p->value_count] = i->result[k];
            set_number(p, i->result[k], p->value_count++);
        }
    }
    n.user = NULL;
    mase_each_pvalue(&p->output, number_use, &n);
}

/* ---- what nothing uses ---- */

static void mark_used(struct mase_pvalue *v, void *data)
{
    bool *used = data;
    used[v->number] = true;
}

static void mark_operands(const struct mase_instr *i, bool *used)
{
    for (int k = 0; k < mase_instr_params(i); k++)
        mase_each_pvalue(&i->param[k], mark_used, used);
    for (int k = 0; k < 2 && i->of[k]; k++)
        if (i->of[k]->result_count)
            mark_used(i->of[k]->result[0], used);
}

static bool is_needed(const struct mase_instr *i, const bool *used)
{
    bool needed = i->prim == MASE_PRIM_check || i->prim == MASE_PRIM_store;
    for (int k = 0; k < i->result_count; k++)
        needed |= used[i->result[k]->number];
    return needed;
}

/* From the last to the first: what is needed needs its operands. */
int mase_program_drop_unused(struct mase_program *p)
{
    struct mase_arena scratch = { 0 };
    int count = 0, gone = 0, n = 0;
    for (const struct mase_instr *i = p->first; i; i = i->next)
        count++;
    bool *used = mase_new_array(&scratch, bool, (size_t)p->value_count);
    struct mase_instr **list = mase_new_array(&scratch, struct mase_instr *, (size_t)count);
    struct mase_instr *next = NULL;
    for (struct mase_instr *i = p->first; i; i = i->next)
        list[n++] = i;
    mase_each_pvalue(&p->output, mark_used, used);
    p->last = NULL;
    while (n-- > 0) {
        if (!is_needed(list[n], used)) {
            gone++;
            continue;
        }
        mark_operands(list[n], used);
        p->last = p->last ? p->last : list[n];
        list[n]->next = next;
        next = list[n];
    }
    p->first = next;
    mase_arena_release(&scratch);
    return gone;
}

/* ---- instructions as calls ---- */

struct mase_arg mase_pcall_arg(struct mase_arena *a, const struct mase_arg *arg,
                               struct mase_tensor *const *tensor)
{
    if (arg->kind == MASE_ARG_NODE)
        return (struct mase_arg){ .kind = MASE_ARG_TENSOR,
                                  .tensor = tensor[mase_pvalue_of(arg)->number] };
    if (!mase_arg_has_items(arg))
        return *arg;
    struct mase_arg out = mase_arg_seq(a, arg->kind, arg->items, arg->count);
    out.keys = arg->kind == MASE_ARG_DICT ? arg->keys : NULL;
    for (int i = 0; i < out.count; i++)
        out.items[i] = mase_pcall_arg(a, &arg->items[i], tensor);
    return out;
}

/* Numbers that depend on N become numbers. */
static void fix_extents(struct mase_arg *a, int64_t samples)
{
    struct mase_extent e;
    if (a->kind == MASE_ARG_ATOM && mase_extent_parse(a->s, &e))
        *a = mase_arg_int(mase_extent_at(e, samples));
    for (int i = 0; mase_arg_has_items(a) && i < a->count; i++)
        fix_extents(&a->items[i], samples);
}

/* The name of an instruction in messages. */
static const char *name_of(struct mase_arena *a, const struct mase_instr *i)
{
    if (i->from)
        return i->from;
    return i->result_count ? mase_arena_printf(a, "%%%d", i->result[0]->number)
                           : mase_ops[i->op].name;
}

void mase_pcall_init(struct mase_pcall *k, struct mase_arena *a, const struct mase_instr *i,
                     struct mase_tensor *const *tensor, int64_t samples)
{
    k->node = (struct mase_node){ .kind = MASE_CALL_FUNCTION,
                                  .op = i->op,
                                  .target = "",
                                  .name = name_of(a, i),
                                  .no_grad = i->no_grad };
    if (i->node)
        k->node.at = i->node->at;
    k->call = (struct mase_call){
        .arena = a, .node = &k->node, .sig = mase_op_call_sig(i->op), .factors = i->round
    };
    for (int n = 0; n < k->call.sig->count; n++) {
        k->call.param[n] = mase_pcall_arg(a, &i->param[n], tensor);
        fix_extents(&k->call.param[n], samples);
    }
}

/* How an argument of a call depends on the number of samples. */
struct relation {
    bool follows, other; /* plus or times more than one length */
};

static void relate_type(struct relation *r, const struct mase_ptype *t)
{
    r->follows |= mase_ptype_follows(t);
    r->other |= !mase_ptype_is_batch(t);
}

static void relate_arg(struct relation *r, const struct mase_arg *a)
{
    struct mase_extent e;
    if (a->kind == MASE_ARG_NODE)
        relate_type(r, &mase_pvalue_of(a)->type);
    if (a->kind == MASE_ARG_ATOM && mase_extent_parse(a->s, &e)) {
        r->follows = true;
        r->other |= e.plus != 0 || e.times < 0;
    }
    for (int i = 0; mase_arg_has_items(a) && i < a->count; i++)
        relate_arg(r, &a->items[i]);
}

/* Do the types of the results say what the call gives for so many samples? The reasons are those of
 * graph_types.c: each sample is treated alike, and every result has them all. */
static bool types_hold(const struct mase_instr *i, int64_t samples)
{
    struct relation r = { 0 };
    bool all = true;
    for (int n = 0; n < mase_instr_params(i); n++)
        relate_arg(&r, &i->param[n]);
    for (int n = 0; n < i->result_count; n++) {
        struct relation own = { 0 };
        relate_type(&own, &i->result[n]->type);
        all &= own.follows;
        r.other |= own.other;
        const struct mase_shape s = mase_ptype_shape(&i->result[n]->type, samples);
        if (mase_shape_count_checked(&s) < 0)
            return false;
    }
    return !r.follows || (!r.other && all && samples > 0 && !mase_op_bounds_samples(i->op));
}

static struct mase_arg fill_form(struct mase_arena *a, const struct mase_arg *form,
                                 const struct mase_instr *i, int64_t samples, int *count)
{
    struct mase_arg out = *form;
    if (form->kind == MASE_ARG_TENSOR) {
        const struct mase_ptype *type = &i->result[(*count)++]->type;
        const struct mase_shape s = mase_ptype_shape(type, samples);
        out.tensor = mase_new(a, struct mase_tensor);
        *out.tensor = mase_tensor(a, type->dtype, &s, false);
        return out;
    }
    out.items = mase_new_array(a, struct mase_arg, (size_t)form->count);
    for (int k = 0; k < form->count; k++)
        out.items[k] = fill_form(a, &form->items[k], i, samples, count);
    return out;
}

enum mase_status mase_pcall_infer(struct mase_pcall *k, const struct mase_instr *i, int64_t samples,
                                  struct mase_err *err)
{
    int count = 0;
    if (!i->form || !types_hold(i, samples))
        return mase_call_infer(&k->call, err);
    k->call.result = fill_form(k->call.arena, i->form, i, samples, &count);
    return MASE_OK;
}

static void take_results(const struct mase_instr *i, const struct mase_arg *a, int *count,
                         struct mase_tensor **tensor)
{
    if (a->kind == MASE_ARG_TENSOR && *count < i->result_count)
        tensor[i->result[(*count)++]->number] = a->tensor;
    for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
        take_results(i, &a->items[k], count, tensor);
}

void mase_pcall_results(const struct mase_pcall *k, const struct mase_instr *i,
                        struct mase_tensor **tensor)
{
    int count = 0;
    take_results(i, &k->call.result, &count, tensor);
}
