/*
 * batch.c - does a network take a part of the samples that it is given? x[:100] is x where there
 * are fewer, and something else where there are more: its results are those of one size of batch.
 *
 * The results for mase_batch_sizes say so, of which one is larger than any constant in a network.
 * Where a length was in proportion to the size and is no longer, it was cut.
 */
#include <string.h>

#include <mase/call.h>

#include "ir/graph/graph_parts.h"
#include "ir/shape/graph_types.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"

enum { SIZES = MASE_BATCH_SIZES };

/* Only these let lengths be too large: others refuse them. */
static bool may_cut(enum mase_op op)
{
    return op == MASE_OP_getitem || op == MASE_OP_setitem || op == MASE_OP_slice ||
           op == MASE_OP_split || op == MASE_OP_df_split || op == MASE_OP_chunk;
}

/* Lengths that are the batch's, or a multiple of it; -1: shapes of other forms. */
static int batch_lengths(const struct mase_arg *const v[SIZES])
{
    const int64_t *n_of = mase_batch_sizes;
    int n = 0;
    for (int i = 0; i < SIZES; i++)
        if (v[i]->kind != MASE_ARG_TENSOR || v[i]->tensor->shape.rank != v[0]->tensor->shape.rank)
            return -1;
    for (int d = 0; d < v[0]->tensor->shape.rank; d++) {
        const int64_t a = v[0]->tensor->shape.dim[d], b = v[1]->tensor->shape.dim[d],
                      c = v[2]->tensor->shape.dim[d];
        n += a != b && a * n_of[1] == b * n_of[0] && a * n_of[2] == c * n_of[0];
    }
    return n;
}

/* Has it as many of them as x had? Results for the three sizes: a tensor, or pieces. */
static bool keeps(const struct mase_arg *const v[SIZES], int had)
{
    if (v[0]->kind == MASE_ARG_TENSOR)
        return batch_lengths(v) == had;
    if (v[0]->kind != MASE_ARG_TUPLE && v[0]->kind != MASE_ARG_LIST)
        return true;
    if (v[0]->count != v[1]->count || v[0]->count != v[2]->count)
        return false;
    for (int i = 0; i < v[0]->count; i++)
        if (!keeps((const struct mase_arg *[SIZES]){ &v[0]->items[i], &v[1]->items[i],
                                                     &v[2]->items[i] },
                   had))
            return false;
    return true;
}

static const struct mase_arg *lookup(const struct mase_node *n, void *data)
{
    return mase_values_get(data, n);
}

/* x[i] = y replaces what x[i] selects. NULL: shapes do not fit. */
static const struct mase_arg *replaced(const struct mase_node *n, struct mase_values *v)
{
    struct mase_call c;
    struct mase_index x;
    struct mase_err err;
    if (mase_call_init(&c, v->arena, n, lookup, v, &err) || c.param[0].kind != MASE_ARG_TENSOR ||
        mase_index_plan(&c, &x, c.param[0].tensor, &c.param[1], &err))
        return NULL;
    mase_call_result(&c, c.param[0].tensor->dtype, &x.shape);
    return mase_arena_memdup(v->arena, &c.result, sizeof c.result);
}

/* A node without a result for a small batch either is reported elsewhere. */
static bool cuts(const struct mase_node *n, struct mase_values v[SIZES])
{
    const struct mase_arg *x[SIZES], *y[SIZES];
    const struct mase_arg *operand = n->args.count ? &n->args.items[0] : NULL;
    if (!may_cut(n->op) || !operand || operand->kind != MASE_ARG_NODE)
        return false;
    for (int i = 0; i < SIZES; i++) {
        x[i] = mase_values_get(&v[i], operand->node);
        y[i] = mase_values_get(&v[i], n);
        if (!x[i] || x[i]->kind != MASE_ARG_TENSOR)
            return false;
        if (y[i] && n->op == MASE_OP_setitem)
            y[i] = replaced(n, &v[i]);
    }
    const int had = batch_lengths(x);
    if (had <= 0 || !y[0] || !y[1])
        return false;
    return !y[2] || !keeps(y, had); /* without y[2]: more pieces than there may be */
}

int mase_find_cut(const struct mase_graph *g, struct mase_values v[MASE_BATCH_SIZES])
{
    int position = 0;
    for (const struct mase_node *n = g->first; n; n = n->next, position++)
        if (cuts(n, v))
            return position;
    return -1;
}

static bool takes_batch_statistics(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (!strstr(mase_ops[n->op].name, "batch_norm"))
        return false;
    if (m)
        return !mase_module_param(m, "running_mean") || n->mode == MASE_MODE_TRAIN;
    const struct mase_arg *mean = mase_node_argument(n, "running_mean");
    const struct mase_arg *training = mase_node_argument(n, "training");
    return !mean || mean->kind != MASE_ARG_NODE ||
           (training && !(training->kind == MASE_ARG_BOOL && !training->b));
}

bool mase_graph_takes_batch_statistics(const struct mase_graph *g)
{
    const struct mase_node *n = g->first;
    while (n && !takes_batch_statistics(n))
        n = n->next;
    return n != NULL;
}

const struct mase_node *mase_graph_cuts_batch(const struct mase_graph *g,
                                              const struct mase_input *inputs, int count)
{
    const struct mase_graph_types *t = mase_graph_types(g, inputs, count);
    const struct mase_node *n = t->cut >= 0 ? g->first : NULL;
    for (int i = 0; n && i < t->cut; i++)
        n = n->next;
    return n;
}
