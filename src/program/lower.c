/*
 * lower.c - from a graph to a program.
 *
 * The graph is walked once, with every call resolved for the three numbers of samples that stand
 * for any (type.h). What their results are is known of the graph (ir/shape/graph_types.h); a
 * program for one batch asks the shape rules where its results are not those of any. A rule of the
 * operation (lower_ops.c) then says what the call is in terms of primitives, and the formats of the
 * node become instructions before and behind it.
 */
#include "program/lowering.h"

#include <string.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/graph_types.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"
#include "quant/quant.h"

/* Private state of a lowering: rules see calls and the program only. */
struct lowering_call {
    struct mase_lowered l; /* first */
    struct lowering *lower;
};

static const struct mase_arg *lookup(const struct mase_node *n, void *data)
{
    return mase_values_get(data, n);
}

/* The known result of the current node for batch size s, or NULL. */
static const struct mase_arg *known_result(const struct lowering *low, int s)
{
    return low->known[s] ? low->known[s][low->position] : NULL;
}

/* ---- what depends on N ---- */

enum mase_status mase_lowered_type(struct mase_ptype *type,
                                   const struct mase_tensor *const t[MASE_BATCH_SIZES],
                                   const struct mase_node *n, struct mase_err *err)
{
    if (mase_ptype_through(type, t))
        return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "%s: its shape does not follow the number of samples by a factor and an "
                     "offset, as lengths of a program must",
                     n->name);
}

/* ---- arguments ---- */

struct mase_arg mase_lowered_tensor(struct mase_lowered *l, const struct mase_tensor *t,
                                    const char *param)
{
    struct lowering *low = ((struct lowering_call *)l)->lower;
    struct mase_pvalue *v = mase_ptrmap_get(&low->value_of, t);
    const struct mase_module *m = l->call[0].module;
    struct mase_param *from = v || !m ? NULL : mase_module_param(m, param);
    if (!t)
        return mase_arg_none();
    if (!v && !from)
        mase_bug("%s: '%s' is no value of the program", l->call[0].node->name, param);
    const char *tied = from ? from->tied : NULL;
    from = from ? mase_param_root(low->g, from) : NULL;
    if (!v)
        v = mase_ptrmap_get(&low->value_of, from);
    if (!v) {
        struct mase_ptype type = { .dtype = t->dtype, .rank = t->shape.rank };
        for (int d = 0; d < type.rank; d++)
            type.dim[d].plus = t->shape.dim[d];
        struct mase_arena *a = &low->p->arena;
        v = mase_program_add_value(low->p, MASE_PSOURCE_PARAM, &type,
                                   tied ? tied : mase_arena_printf(a, "%s.%s", m->path, param));
        v->param = from;
        mase_ptrmap_put(&low->value_of, &low->scratch, from, v);
    }
    return mase_pvalue_arg(v);
}

static enum mase_status differs(const struct mase_lowered *l, const char *param,
                                struct mase_err *err)
{
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "%s: '%s' does not follow the number of samples by a factor and an offset",
                     l->call[0].node->name, param);
}

/* One argument out of those for each number of samples. */
static enum mase_status merge(struct mase_lowered *l, struct mase_arg *out,
                              const struct mase_arg *const at[MASE_BATCH_SIZES], const char *param,
                              struct mase_err *err)
{
    struct mase_arena *a = &l->program->arena;
    int64_t number[MASE_BATCH_SIZES];
    struct mase_extent e;
    bool ints = true;
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        if (at[s]->kind != at[0]->kind ||
            (mase_arg_has_items(at[s]) && at[s]->count != at[0]->count))
            return differs(l, param, err);
        ints &= at[s]->kind == MASE_ARG_INT;
        number[s] = at[s]->i;
    }
    if (at[0]->kind == MASE_ARG_TENSOR) {
        *out = mase_lowered_tensor(l, at[0]->tensor, param);
        return MASE_OK;
    }
    if (ints && number[0] != number[1]) {
        if (!mase_extent_through(&e, number))
            return differs(l, param, err);
        *out = (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = mase_extent_text(a, e) };
        return MASE_OK;
    }
    *out = mase_arg_copy(a, at[0]);
    for (int i = 0; mase_arg_has_items(out) && i < out->count; i++) {
        const struct mase_arg *item[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            item[s] = &at[s]->items[i];
        MASE_TRY(merge(l, &out->items[i], item, param, err));
    }
    if (mase_arg_has_items(out))
        return MASE_OK;
    return mase_arg_equal(at[0], at[1]) && mase_arg_equal(at[0], at[2]) ? MASE_OK
                                                                        : differs(l, param, err);
}

/* `inplace` and `device` say where a result is stored, not what it is: results are new values here.
 */
static bool is_placing(const char *param)
{
    return mase_streq(param, "inplace") || mase_streq(param, "device");
}

static enum mase_status merge_params(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_sig *sig = l->call[0].sig;
    for (int i = 0; i < sig->count; i++) {
        const struct mase_arg *at[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            at[s] = &l->call[s].param[i];
        if (is_placing(sig->param[i].name))
            l->param[i] = mase_bind_default(&l->program->arena, sig, i, l->param);
        else
            MASE_TRY(merge(l, &l->param[i], at, sig->param[i].name, err));
    }
    return MASE_OK;
}

/* ---- results ---- */

/* The tensors of a result that no earlier one has, for each number of samples. */
struct fresh {
    const struct mase_tensor *(*t)[MASE_BATCH_SIZES];
    int count, cap;
};

static void find_fresh(struct lowering *low, struct fresh *f,
                       const struct mase_arg *const at[MASE_BATCH_SIZES])
{
    if (at[0]->kind == MASE_ARG_TENSOR && !mase_ptrmap_get(&low->value_of, at[0]->tensor)) {
        f->t = mase_arena_grow(&low->scratch, f->t, f->count, &f->cap, sizeof *f->t);
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            f->t[f->count][s] = at[s]->tensor;
        f->count++;
    }
    for (int i = 0; mase_arg_is_seq(at[0]) && i < at[0]->count; i++) {
        const struct mase_arg *item[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            item[s] = &at[s]->items[i];
        find_fresh(low, f, item);
    }
}

/* Do the results for all numbers of samples look alike? */
static bool alike(const struct mase_arg *a, const struct mase_arg *b)
{
    if (a->kind != b->kind)
        return false;
    if (!mase_arg_is_seq(a))
        return true;
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = alike(&a->items[i], &b->items[i]);
    return same;
}

/* The form of most results. */
static const struct mase_arg one_tensor = { .kind = MASE_ARG_TENSOR };

static struct mase_instr *new_instr(struct mase_program *p, enum mase_prim prim, enum mase_op op,
                                    const struct mase_node *n, const struct mase_ptype *type,
                                    int results)
{
    struct mase_instr *i = mase_program_add_instr(p, prim, op, results);
    i->no_grad = n->no_grad;
    i->from = mase_arena_strdup(&p->arena, n->name);
    i->node = n;
    for (int k = 0; k < results; k++) {
        i->result[k] = mase_program_add_value(p, MASE_PSOURCE_RESULT, &type[k], NULL);
        i->result[k]->made_by = i;
    }
    return i;
}

struct mase_pvalue *mase_lowered_emit(struct mase_lowered *l, enum mase_op op,
                                      const struct mase_arg *param, const struct mase_ptype *type)
{
    struct mase_instr *i = new_instr(l->program, mase_op_prim(op), op, l->call[0].node, type, 1);
    memcpy(i->param, param, (size_t)mase_instr_params(i) * sizeof *param);
    i->form = &one_tensor;
    return i->result[0];
}

/* ---- number formats ---- */

static struct mase_instr *add_round(struct mase_program *p, struct mase_pvalue *x,
                                    struct mase_rounding how, int rank, const struct mase_node *n)
{
    struct mase_instr *i = new_instr(p, MASE_PRIM_round, MASE_OP_unknown, n, &x->type, 1);
    i->param[0] = mase_pvalue_arg(x);
    i->round = how;
    i->round_rank = rank;
    i->operand = MASE_RESULT;
    i->result[0]->rounded = how;
    return i;
}

struct mase_arg mase_lowered_round(struct mase_lowered *l, struct mase_arg value, int param,
                                   struct mase_rounding how)
{
    struct mase_pvalue *x = mase_pvalue_of(&value);
    if (!how.format)
        return value;
    struct mase_instr *i = add_round(l->program, x, how, x->type.rank, l->call[0].node);
    i->operand = param;
    return mase_pvalue_arg(i->result[0]);
}

/* Could this operand have a format that it has not? */
static bool may_round(const struct lowering *low, const struct mase_call *c, int i)
{
    const char role = c->sig->param[i].role;
    return low->opts->formats_change && mase_ops[c->node->op].quantisable &&
           mase_call_is_f32(c, i) && mase_mark_find(role) && role != 's';
}

/* A bias has the steps of what is multiplied: told at once, or as training learns them. */
static enum mase_status find_products(struct mase_lowered *l, struct mase_instr *r,
                                      struct mase_err *err)
{
    const struct mase_node *n = l->call[0].node;
    bool learned = false;
    for (int k = 0; k < 2; k++) {
        const struct mase_pvalue *v = mase_pvalue_of(&l->param[k]);
        r->of[k] = v ? v->made_by : NULL;
        if (!mase_op_adds_products(n->op) || !r->of[k] || r->of[k]->node != n ||
            !mase_format_is_scaled(r->of[k]->round.format))
            return mase_products_refuse(n, err);
        learned |= mase_format_learned(r->of[k]->round.format) > 0;
    }
    r->turned = mase_op_is_transposed(n->op);
    if (learned)
        return MASE_OK;
    struct mase_products p;
    mase_instr_products(&p, r);
    r->round.format = r->result[0]->rounded.format = mase_products_now(&p);
    r->of[0] = r->of[1] = NULL;
    return MASE_OK;
}

/* Operand i of the call, or a tensor of its list. */
static enum mase_status round_operand(struct lowering *low, struct mase_lowered *l, int i,
                                      struct mase_arg *value, const struct mase_arg *from,
                                      struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    struct mase_pvalue *x = mase_pvalue_of(value);
    if (!x || x->type.dtype != MASE_F32)
        return MASE_OK;
    const int rank = mase_call_shape(c, i, from->tensor).rank;
    struct mase_instr *r = add_round(low->p, x, mase_call_rounding(c, i), rank, c->node);
    r->operand = i;
    r->writes = i == 0 && mase_call_writes_in_float(c);
    r->kept = r->writes && !mase_call_writes(c);
    *value = mase_pvalue_arg(r->result[0]);
    return mase_format_is_open(r->round.format) ? find_products(l, r, err) : MASE_OK;
}

/* Operands are rounded before a rule sees them: it computes with what is left. */
static enum mase_status round_operands(struct lowering *low, struct mase_lowered *l,
                                       struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    for (int i = 0; i < c->sig->count; i++) {
        struct mase_arg *value = &l->param[i];
        if (!mase_call_rounding(c, i).format && !may_round(low, c, i))
            continue;
        for (int k = 0; mase_arg_is_seq(value) && k < value->count; k++)
            MASE_TRY(round_operand(low, l, i, &value->items[k], &c->param[i].items[k], err));
        MASE_TRY(round_operand(low, l, i, value, &c->param[i], err));
    }
    return MASE_OK;
}

/* Is a result of this type rounded? */
static bool rounds_result(const struct lowering *low, const struct mase_node *n,
                          const struct mase_ptype *type)
{
    return type->dtype == MASE_F32 && (mase_result_rounding(n).format ||
                                       (low->opts->formats_change && mase_ops[n->op].quantisable &&
                                        !mase_op_is_recurrent(n->op)));
}

/* ---- calls ---- */

/* Tensors alone, of which none is another's, in the order of f? */
static bool is_form(const struct mase_arg *result, const struct fresh *f, int *count)
{
    if (result->kind == MASE_ARG_TENSOR)
        return *count < f->count && f->t[(*count)++][0] == result->tensor;
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        if (!is_form(&result->items[i], f, count))
            return false;
    return mase_arg_is_seq(result);
}

static void drop_tensors(struct mase_arg *form)
{
    if (form->kind == MASE_ARG_TENSOR)
        form->tensor = NULL;
    for (int i = 0; mase_arg_is_seq(form) && i < form->count; i++)
        drop_tensors(&form->items[i]);
}

/* An operation that became another in lowering still gives one tensor where it did. */
static const struct mase_arg *form_of(const struct mase_lowered *l, const struct fresh *f)
{
    const struct mase_call *c = &l->call[0];
    int count = 0;
    if (!is_form(&c->result, f, &count))
        return NULL;
    if (c->result.kind == MASE_ARG_TENSOR)
        return &one_tensor;
    if (l->op != c->node->op)
        return NULL;
    struct mase_arg form = mase_arg_copy(&l->program->arena, &c->result);
    drop_tensors(&form);
    return mase_arena_memdup(&l->program->arena, &form, sizeof form);
}

static void add_instr(struct lowering *low, struct mase_lowered *l, const struct fresh *f,
                      const struct mase_ptype *type)
{
    const struct mase_node *n = l->call[0].node;
    struct mase_instr *i = new_instr(low->p, l->prim, l->op, n, type, f->count);
    memcpy(i->param, l->param, (size_t)mase_instr_params(i) * sizeof *i->param);
    i->form = form_of(l, f);
    i->in_place = n->no_grad && mase_call_writes(&l->call[0]);
    i->round = l->call[0].factors;
    i->sum = mase_instr_sum(i);
    for (int k = 0; k < f->count; k++) {
        struct mase_pvalue *v = i->result[k];
        if (rounds_result(low, n, &type[k]))
            v = add_round(low->p, v, mase_result_rounding(n), type[k].rank, n)->result[0];
        mase_ptrmap_put(&low->value_of, &low->scratch, f->t[k][0], v);
    }
}

/* x.add_(y), x[i] = y: later users of x see the result. */
static enum mase_status follow_writes(struct lowering *low, const struct mase_lowered *l,
                                      struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    if (!mase_call_writes(c))
        return MASE_OK;
    if (c->result.kind != MASE_ARG_TENSOR || c->param[0].kind != MASE_ARG_TENSOR)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a program has no %s", c->node->name,
                         mase_ops[c->node->op].name);
    if (!mase_shape_equal(&c->result.tensor->shape, &c->param[0].tensor->shape) ||
        c->result.tensor->dtype != c->param[0].tensor->dtype)
        return mase_call_fail(c, err, "writes into an operand of another shape or type");
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        struct mase_arg *x =
            (struct mase_arg *)mase_values_get(&low->v[s], mase_node_written(c->node));
        x->tensor = l->call[s].result.tensor;
    }
    low->has_written = true;
    return MASE_OK;
}

/* A copy without gradient. */
static void stop_gradient(struct mase_lowered *l)
{
    l->op = MASE_OP_detach;
    l->prim = mase_op_prim(l->op);
    l->alias = false;
}

/* Does a gradient pass from this value to something that is trained? */
struct gradient {
    struct mase_ptrmap seen;
    struct mase_arena *arena;
    bool passes;
};

static void follow_gradient(struct mase_pvalue *v, void *data)
{
    struct gradient *g = data;
    if (g->passes || mase_ptrmap_get(&g->seen, v))
        return;
    mase_ptrmap_put(&g->seen, g->arena, v, v);
    const struct mase_instr *i = v->made_by;
    g->passes = v->source == MASE_PSOURCE_PARAM && (!v->param || mase_param_is_trained(v->param));
    for (int k = 0; i && !i->no_grad && i->op != MASE_OP_detach && k < mase_instr_params(i); k++)
        mase_each_pvalue(&i->param[k], follow_gradient, g);
}

/* Under no_grad x.fill_(0) is written over x, whose gradient passes all the same: plans see that
 * only of instructions that have x for an operand. */
static enum mase_status check_overwritten(struct lowering *low, const struct mase_lowered *l,
                                          struct mase_pvalue *was, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    struct gradient g = { .arena = &low->scratch };
    if (!low->p->training || !c->node->no_grad || !was || !mase_call_writes(c) ||
        mase_pvalue_of(&l->param[0]) == was)
        return MASE_OK;
    follow_gradient(was, &g);
    if (!g.passes)
        return MASE_OK;
    return mase_call_fail(c, err, "writes under no_grad over a value that has a gradient");
}

static enum mase_status lower_tensors(struct lowering *low, struct mase_lowered *l,
                                      const struct fresh *f, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    mase_lower_fn *rule = mase_lower_rule(c->node->op);
    struct mase_ptype *type = mase_new_array(&low->scratch, struct mase_ptype, (size_t)f->count);
    if (!rule)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a program has no %s", c->node->name,
                         mase_ops[c->node->op].name);
    for (int k = 0; k < f->count; k++)
        MASE_TRY(mase_lowered_type(&type[k], f->t[k], c->node, err));
    MASE_TRY(merge_params(l, err));
    MASE_TRY(round_operands(low, l, err));
    l->op = c->node->op;
    l->prim = mase_op_prim(l->op);
    struct mase_pvalue *written = mase_pvalue_of(&l->param[0]);
    MASE_TRY(rule(l, err));
    MASE_TRY(check_overwritten(low, l, written, err));
    if (l->alias && l->program->training && c->node->no_grad)
        stop_gradient(l);
    if (l->alias)
        mase_ptrmap_put(&low->value_of, &low->scratch, f->t[0][0], mase_pvalue_of(&l->param[0]));
    else
        add_instr(low, l, f, type);
    return MASE_OK;
}

/* A result that is an operand, or a part of it, is what that is by now. */
static bool has_old_tensor(const struct lowering *low, const struct mase_arg *result)
{
    if (result->kind == MASE_ARG_TENSOR)
        return mase_ptrmap_get(&low->value_of, result->tensor);
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        if (has_old_tensor(low, &result->items[i]))
            return true;
    return false;
}

/* For batch size s. */
static enum mase_status find_result(const struct lowering *low, struct mase_call *c, int s,
                                    struct mase_err *err)
{
    const struct mase_arg *known = known_result(low, s), *first = known_result(low, 0);
    c->any_batch = !low->opts->concrete && mase_batch_is_any(s);
    if (!known || !first || (low->has_written && has_old_tensor(low, first)))
        return mase_call_infer(c, err);
    c->result = *known;
    return mase_call_check_formats(c, err);
}

static enum mase_status lower_call(struct lowering *low, const struct mase_node *n,
                                   struct mase_err *err)
{
    struct mase_call call[MASE_BATCH_SIZES];
    struct lowering_call k = { .l = { .program = low->p, .call = call }, .lower = low };
    struct mase_lowered *l = &k.l;
    const struct mase_arg *at[MASE_BATCH_SIZES];
    struct fresh f = { 0 };
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        struct mase_call *c = &l->call[s];
        if (s && low->opts->concrete) {
            *c = l->call[0];
        } else {
            MASE_TRY(mase_call_init(c, &low->scratch, n, lookup, &low->v[s], err));
            MASE_TRY(find_result(low, c, s, err));
        }
        low->v[s].value[low->position] = c->result;
        at[s] = &c->result;
        if (!alike(&c->result, &l->call[0].result))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: what %s gives depends on the number of samples", n->name,
                             mase_ops[n->op].name);
    }
    find_fresh(low, &f, at);
    const bool effect = l->call[0].result.kind == MASE_ARG_NONE && mase_lower_rule(n->op) &&
                        mase_arg_tensor(&l->call[0].param[0]);
    if (f.count || effect)
        MASE_TRY(lower_tensors(low, l, &f, err));
    MASE_TRY(follow_writes(low, l, err));
    return mase_lowering_note_stored(low, l, err);
}

/* ---- what comes from outside ---- */

static struct mase_arg tensor_arg(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_tensor *copy = mase_arena_memdup(a, t, sizeof *t);
    copy->data = NULL;
    return (struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = copy };
}

static const struct mase_input *find_input(const struct lowering *low, const char *name)
{
    for (int i = 0; i < low->opts->input_count; i++)
        if (mase_streq(low->opts->inputs[i].name, name))
            return &low->opts->inputs[i];
    return NULL;
}

static enum mase_status lower_input(struct lowering *low, const struct mase_node *n,
                                    struct mase_err *err)
{
    struct mase_arena *a = &low->scratch;
    const struct mase_input *in = find_input(low, n->name);
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    struct mase_ptype type;
    if (!in && n->args.count == 0)
        return mase_missing_input(low->g, n, low->opts->inputs, low->opts->input_count, err);
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        struct mase_arg *value = &low->v[s].value[low->position];
        const struct mase_arg *known = known_result(low, s);
        *value = known ? *known : in ? tensor_arg(a, &in->tensor) : n->args.items[0];
        if (!in)
            continue;
        if (!known && value->tensor->shape.rank && !low->opts->concrete)
            value->tensor->shape.dim[0] = mase_batch_sizes[s];
        t[s] = value->tensor;
    }
    if (!in)
        return MASE_OK; /* a default */
    MASE_TRY(mase_lowered_type(&type, t, n, err));
    mase_ptrmap_put(&low->value_of, &low->scratch, t[0],
                    mase_program_add_value(low->p, MASE_PSOURCE_INPUT, &type, n->name));
    return MASE_OK;
}

static enum mase_status lower_attr(struct lowering *low, const struct mase_node *n,
                                   struct mase_err *err)
{
    struct mase_arena *a = &low->scratch;
    struct mase_param *param = mase_graph_attr(low->g, n->target);
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    struct mase_ptype type;
    if (!param)
        return mase_fail(err, MASE_EVALUE, "%s: the graph has no attribute '%s'", n->name,
                         n->target);
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        const struct mase_arg *known = known_result(low, s);
        low->v[s].value[low->position] = known ? *known : tensor_arg(a, &param->tensor);
        t[s] = low->v[s].value[low->position].tensor;
    }
    MASE_TRY(mase_lowered_type(&type, t, n, err));
    const char *name = param->tied ? param->tied : n->target;
    param = mase_param_root(low->g, param);
    struct mase_pvalue *v = mase_ptrmap_get(&low->value_of, param);
    if (!v) {
        v = mase_program_add_value(low->p, MASE_PSOURCE_PARAM, &type, name);
        v->param = param;
        mase_ptrmap_put(&low->value_of, &low->scratch, param, v);
    }
    mase_ptrmap_put(&low->value_of, &low->scratch, t[0], v);
    return MASE_OK;
}

static enum mase_status lower_output(struct lowering *low, const struct mase_node *n,
                                     struct mase_err *err)
{
    struct mase_arena *a = &low->scratch;
    struct mase_arg value[MASE_BATCH_SIZES];
    const struct mase_arg *at[MASE_BATCH_SIZES];
    struct mase_call call = { .arena = a, .node = n };
    struct lowering_call k = { .l = { .program = low->p, .call = &call }, .lower = low };
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        struct mase_resolving r = { .arena = a, .lookup = lookup, .data = &low->v[s] };
        value[s] = n->args.count ? mase_resolve(&r, &n->args.items[0]) : mase_arg_none();
        at[s] = &value[s];
        if (r.missing)
            return mase_fail(err, MASE_EVALUE, "%s: %s has no value yet", n->name, r.missing->name);
    }
    return merge(&k.l, &low->p->output, at, "output", err);
}

static enum mase_status lower_node(struct lowering *low, const struct mase_node *n,
                                   struct mase_err *err)
{
    switch (n->kind) {
    case MASE_PLACEHOLDER:
        return lower_input(low, n, err);
    case MASE_GET_ATTR:
        return lower_attr(low, n, err);
    case MASE_OUTPUT:
        return lower_output(low, n, err);
    default:
        return lower_call(low, n, err);
    }
}

/* A program for one batch has the same results for every size; it must find those of its own. */
static void find_known(struct lowering *low)
{
    const struct mase_lower_opts *o = low->opts;
    const struct mase_graph_types *t =
        o->concrete ? NULL : mase_graph_types(low->g, o->inputs, o->input_count);
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        low->known[s] = t ? t->result[s] : NULL;
    if (!o->concrete)
        return;
    low->known[0] = mase_graph_results(low->g, &low->scratch, o->inputs, o->input_count);
    for (int s = 1; s < MASE_BATCH_SIZES; s++)
        low->known[s] = low->known[0];
}

static enum mase_status lower(struct lowering *low, struct mase_err *err)
{
    struct mase_arena *a = &low->scratch;
    find_known(low);
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        low->v[s] = (struct mase_values){ .arena = a, .index.arena = a };
        low->v[s].value = mase_new_array(a, struct mase_arg, (size_t)low->g->node_count);
    }
    for (const struct mase_node *n = low->g->first; n; n = n->next) {
        MASE_TRY(mase_node_place(n, lower_node(low, n, err), err));
        low->position++;
        for (int s = 0; s < MASE_BATCH_SIZES; s++) {
            low->v[s].count++;
            mase_map_put(&low->v[s].index, n->name, (void *)(uintptr_t)low->position);
        }
    }
    return mase_lowering_end(low, err);
}

static enum mase_status check_batch(const struct mase_graph *g, const struct mase_lower_opts *opts,
                                    struct mase_err *err)
{
    if (opts->concrete)
        return MASE_OK;
    if (g->batch)
        return mase_fail(err, MASE_EUNSUPPORTED, "its shapes hold for batches of %lld alone",
                         (long long)g->batch);
    const struct mase_node *n = mase_graph_cuts_batch(g, opts->inputs, opts->input_count);
    if (!n)
        return MASE_OK;
    return mase_node_place(n,
                           mase_fail(err, MASE_EUNSUPPORTED,
                                     "%s: %s takes a part of the samples of a batch, whose number "
                                     "is not known",
                                     n->name, mase_ops[n->op].name),
                           err);
}

enum mase_status mase_program_lower(struct mase_program **out, const struct mase_graph *g,
                                    const struct mase_lower_opts *opts, struct mase_err *err)
{
    struct lowering low = { .g = g, .opts = opts };
    *out = NULL;
    MASE_TRY(mase_graph_check_writes(g, err));
    MASE_TRY(check_batch(g, opts, err));
    low.p = mase_program_new(g->name, opts->training);
    const enum mase_status st = lower(&low, err);
    mase_arena_release(&low.scratch);
    if (st) {
        mase_program_free(low.p);
        return st;
    }
    mase_program_renumber(low.p);
    *out = low.p;
    return MASE_OK;
}
