/*
 * lower_end.c - what a program has beside its calls: buffers that change in training, what formats
 * learn, and which value a node became.
 */
#include "ir/graph/bind_call.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"
#include "program/lowering.h"

/* ---- buffers ---- */

static struct stored *stored_in(struct lowering *low, struct mase_pvalue *buffer)
{
    for (int i = 0; i < low->stored_count; i++)
        if (low->stored[i].buffer == buffer)
            return &low->stored[i];
    low->stored = mase_arena_grow(&low->scratch, low->stored, low->stored_count, &low->stored_cap,
                                  sizeof *low->stored);
    return &low->stored[low->stored_count++];
}

/* self.steps.add_(1): the next batch of training finds it. What an evaluation writes is forgotten.
 */
enum mase_status mase_lowering_note_stored(struct lowering *low, const struct mase_lowered *l,
                                           struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    bool whole;
    const struct mase_node *home = mase_node_memory(c->node, &whole);
    struct mase_param *p =
        home->kind == MASE_GET_ATTR ? mase_graph_attr(low->g, home->target) : NULL;
    const struct mase_quant *q = mase_node_quant(c->node);
    const bool own = q && !q->bypass; /* a quantised call writes into a copy of its own */
    if (!low->p->training || !p || !mase_param_is_buffer(p) || p->kind == MASE_PARAM_CONSTANT ||
        own || !mase_node_written(c->node))
        return MASE_OK;
    if (!whole)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: %s changes a part of '%s' in training, which is not followed: a "
                         "buffer may change as a whole",
                         c->node->name, mase_ops[c->node->op].name, home->target);
    struct mase_pvalue *buffer = mase_ptrmap_get(&low->value_of, mase_param_root(low->g, p));
    struct mase_pvalue *value = mase_ptrmap_get(&low->value_of, c->result.tensor);
    *stored_in(low, buffer) = (struct stored){ buffer, value, c->node };
    return MASE_OK;
}

static void add_stores(struct lowering *low)
{
    for (int k = 0; k < low->stored_count; k++) {
        const struct stored *s = &low->stored[k];
        struct mase_instr *i = mase_program_add_instr(low->p, MASE_PRIM_store, MASE_OP_store, 0);
        i->from = mase_arena_strdup(&low->p->arena, s->node->name);
        i->node = s->node;
        i->param[0] = mase_pvalue_arg(s->buffer);
        i->param[1] = mase_pvalue_arg(s->value);
    }
}

/* ---- what formats learn ---- */

static struct mase_pvalue *learned_value(struct lowering *low, struct mase_param *param)
{
    struct mase_pvalue *v = mase_ptrmap_get(&low->value_of, param);
    if (v)
        return v;
    const struct mase_ptype type = { .dtype = MASE_F32,
                                     .rank = 1,
                                     .dim = { { param->tensor.shape.dim[0], 0 } } };
    v = mase_program_add_value(low->p, MASE_PSOURCE_PARAM, &type, param->name);
    v->param = param;
    mase_ptrmap_put(&low->value_of, &low->scratch, param, v);
    return v;
}

static enum mase_status find_learned(struct lowering *low, struct mase_instr *i,
                                     struct mase_err *err)
{
    const struct mase_node *n = i->node;
    const bool result = i->operand == MASE_RESULT;
    const struct mase_mark *mark =
        result ? NULL : mase_mark_find(mase_op_call_sig(n->op)->param[i->operand].role);
    const enum mase_operand o = mark ? mark->operand : MASE_DATA_OUT;
    for (int j = 0; j < mase_format_learned(i->round.format); j++) {
        struct mase_param *p = mark || result ? mase_learned_param(n, o, j) : NULL;
        if (!p)
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: %s cannot be learned for an operand of %s", n->name,
                             i->round.format->row->name, mase_ops[n->op].name);
        if (mase_tensor_count(&p->tensor) != mase_instr_blocks(i))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: %s has %lld values, one for each block, but an operand that "
                             "is rounded by them has %lld",
                             n->name, p->name, (long long)mase_tensor_count(&p->tensor),
                             (long long)mase_instr_blocks(i));
        i->param[1 + j] = mase_pvalue_arg(learned_value(low, p));
    }
    return MASE_OK;
}

static enum mase_status find_all_learned(struct lowering *low, struct mase_err *err)
{
    for (struct mase_instr *i = low->p->first; i; i = i->next) {
        if (mase_format_learned(i->round.format))
            MASE_TRY(mase_node_place(i->node, find_learned(low, i, err), err));
    }
    return MASE_OK;
}

/* ---- what nodes became ---- */

/* A result with values for its tensors. */
static struct mase_arg with_values(const struct lowering *low, const struct mase_arg *result)
{
    struct mase_arena *a = &low->p->arena;
    if (result->kind == MASE_ARG_TENSOR)
        return mase_pvalue_arg(mase_ptrmap_get(&low->value_of, result->tensor));
    struct mase_arg copy = mase_arg_copy(a, result);
    for (int i = 0; mase_arg_has_items(&copy) && i < copy.count; i++)
        copy.items[i] = with_values(low, &result->items[i]);
    return copy;
}

static void map_nodes(struct lowering *low)
{
    struct mase_arena *a = &low->p->arena;
    const struct mase_arg *result = low->v[0].value;
    low->p->of_node = mase_new(a, struct mase_ptrmap);
    for (const struct mase_node *n = low->g->first; n->kind != MASE_OUTPUT; n = n->next, result++) {
        if (result->kind != MASE_ARG_TENSOR && !low->opts->concrete)
            continue; /* the number for the first batch size */
        const struct mase_arg r = with_values(low, result);
        mase_ptrmap_put(low->p->of_node, a, n, mase_arena_memdup(a, &r, sizeof r));
    }
}

enum mase_status mase_lowering_end(struct lowering *low, struct mase_err *err)
{
    add_stores(low);
    map_nodes(low);
    return find_all_learned(low, err);
}
