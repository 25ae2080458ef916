/*
 * batch.c - does a network take a part of the samples that it is given? x[:100] is x where there
 * are fewer, and something else where there are more: its results are those of one size of batch.
 *
 * Shapes are inferred for three sizes, one of them larger than any constant in a network. Where a
 * length was in proportion to the size and is no longer, it was cut.
 */
#include <string.h>

#include <mase/call.h>

#include "base/counters.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"

enum { SIZES = 3 };
static const int64_t sizes[SIZES] = { 11, 13, INT64_C(1) << 24 };

/* Only these let lengths be too large: others refuse them. */
static bool may_cut(enum mase_op op)
{
    return op == MASE_OP_getitem || op == MASE_OP_setitem || op == MASE_OP_slice ||
           op == MASE_OP_split || op == MASE_OP_df_split || op == MASE_OP_chunk;
}

/* The shape alone, however large. x[i] = y gives the shape of what is replaced, which nobody reads
 * here. */
static enum mase_status step(struct mase_call *c, void *data, struct mase_err *err)
{
    struct mase_index x;
    (void)data;
    if (!mase_ops[c->node->op].shape)
        return mase_fail(err, MASE_EUNSUPPORTED, "no shape");
    mase_count(MASE_COUNT_SHAPE_RULES);
    MASE_TRY(mase_ops[c->node->op].shape(c, err));
    if (c->node->op != MASE_OP_setitem)
        return MASE_OK;
    MASE_TRY(mase_index_plan(c, &x, c->param[0].tensor, &c->param[1], err));
    mase_call_result(c, c->param[0].tensor->dtype, &x.shape);
    return MASE_OK;
}

/* Lengths that are the batch's, or a multiple of it; -1: shapes of other forms. */
static int batch_lengths(const struct mase_arg *const v[SIZES])
{
    int n = 0;
    for (int i = 0; i < SIZES; i++)
        if (v[i]->kind != MASE_ARG_TENSOR || v[i]->tensor->shape.rank != v[0]->tensor->shape.rank)
            return -1;
    for (int d = 0; d < v[0]->tensor->shape.rank; d++) {
        const int64_t a = v[0]->tensor->shape.dim[d], b = v[1]->tensor->shape.dim[d],
                      c = v[2]->tensor->shape.dim[d];
        n += a != b && a * sizes[1] == b * sizes[0] && a * sizes[2] == c * sizes[0];
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

/* What has no result for a small batch either is refused elsewhere. */
static bool cuts(const struct mase_node *n, const struct mase_values v[SIZES])
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
    }
    const int had = batch_lengths(x);
    if (had <= 0 || !y[0] || !y[1])
        return false;
    return !y[2] || !keeps(y, had); /* without y[2]: more pieces than there may be */
}

static void infer(struct mase_values *v, struct mase_arena *a, const struct mase_graph *g,
                  const struct mase_input *inputs, int count, int64_t samples)
{
    struct mase_input *in = mase_arena_memdup(a, inputs, (size_t)count * sizeof *in);
    const struct mase_walk_plan plan = {
        .inputs = in, .input_count = count, .step = step, .goes_on = true
    };
    struct mase_err err;
    for (int i = 0; i < count; i++)
        if (in[i].tensor.shape.rank)
            in[i].tensor.shape.dim[0] = samples;
    if (mase_values_walk(v, a, g, &plan, &err))
        *v = (struct mase_values){ .arena = a };
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
    struct mase_arena a = { 0 };
    struct mase_values v[SIZES];
    const struct mase_node *n = g->first, *found = NULL;
    while (n && !may_cut(n->op))
        n = n->next;
    if (!n)
        return NULL;
    for (int s = 0; s < SIZES; s++)
        infer(&v[s], &a, g, inputs, count, sizes[s]);
    for (; n && !found; n = n->next)
        if (cuts(n, v))
            found = n;
    mase_arena_release(&a);
    return found;
}
