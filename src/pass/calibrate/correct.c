/*
 * correct.c - bias correction: add to the bias of a layer the mean error of its quantised result.
 */
#include <math.h>
#include <string.h>

#include "ir/graph/graph_parts.h"
#include "pass/calibrate/calibrate_parts.h"
#include "pass/support.h"

static bool is_layer(enum mase_op op)
{
    return op == MASE_OP_linear || op == MASE_OP_conv1d || op == MASE_OP_conv2d ||
           op == MASE_OP_conv3d || mase_op_is_transposed(op);
}

const char *mase_cal_fixed(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (!m || !is_layer(n->op))
        return "it is no linear or convolutional layer";
    if (mase_module_calls(n->graph, m) > 1)
        return "it is called several times";
    if (mase_module_is_shared(n->graph, m))
        return "others read its weights";
    for (int i = 0; i < n->user_count; i++)
        if (mase_node_written(n->users[i]) == n)
            return "its result is written into";
    return mase_module_param(m, "weight")->tensor.data ? NULL : "it has no weights";
}

/* ---- means ---- */

/* Sums of a layer's result for each channel. */
struct means {
    const struct mase_node *node;
    struct mase_arena *arena;
    double *sum; /* NULL: no values yet */
    int64_t channels, count;
};

static void add_means(void *data, const float *x, const struct mase_shape *shape, bool samples)
{
    struct means *m = data;
    /* channels are the last dimension of a linear layer's result, else the second */
    const struct mase_axis at =
        mase_axis_of(shape, m->node->op == MASE_OP_linear ? shape->rank - 1 : 1);
    (void)samples;
    if (!m->sum)
        m->sum = mase_new_array(m->arena, double, (size_t)at.len);
    for (int64_t o = 0; o < at.outer; o++)
        for (int64_t c = 0; c < at.len; c++)
            for (int64_t i = 0; i < at.inner; i++)
                m->sum[c] += (double)x[(o * at.len + c) * at.inner + i];
    m->channels = at.len;
    m->count += at.outer * at.inner;
}

/* ---- biases ---- */

enum mase_status mase_cal_unshare(struct mase_node *n, bool bias, struct mase_err *err)
{
    struct mase_module *m = mase_node_module(n);
    const struct mase_arg yes = mase_arg_bool(true);
    if (bias && !mase_module_param(m, "bias"))
        MASE_TRY(mase_module_set_attr(n->graph, m, "bias", &yes, err));
    for (int i = 0; i < m->param_count; i++) {
        struct mase_tensor *t = &m->params[i].tensor;
        const void *old = t->data;
        t->data = NULL;
        mase_graph_alloc(n->graph);
        if (old)
            memcpy(t->data, old, (size_t)mase_tensor_bytes(t));
    }
    return MASE_OK;
}

enum mase_status mase_cal_correct(struct mase_node *n, struct mase_node *plain, int64_t rows,
                                  struct mase_pass_env *env, double *largest, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct means wanted = { .node = plain, .arena = &a }, has = { .node = n, .arena = &a };
    struct mase_graph *const graphs[2] = { plain->graph, n->graph };
    const struct mase_tap taps[2] = { { plain, add_means, &wanted }, { n, add_means, &has } };
    *largest = 0;
    enum mase_status st = mase_collect_pair(graphs, taps, rows, env, err);
    if (!st)
        st = mase_cal_unshare(n, true, err);
    struct mase_tensor *b = st ? NULL : &mase_module_param(mase_node_module(n), "bias")->tensor;
    for (int64_t c = 0; !st && c < has.channels; c++) {
        const double lacks = (wanted.sum[c] - has.sum[c]) / (double)has.count;
        mase_tensor_set(b, c, mase_tensor_get(b, c) + lacks);
        *largest = fmax(*largest, fabs(lacks));
    }
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_cal_copy_weights(struct mase_node *n, const struct mase_node *from,
                                       struct mase_err *err)
{
    const struct mase_module *m = mase_node_module(from);
    MASE_TRY(mase_cal_unshare(n, mase_module_param(m, "bias") != NULL, err));
    for (int i = 0; i < m->param_count; i++) {
        struct mase_param *p = mase_module_param(mase_node_module(n), m->params[i].name);
        memcpy(p->tensor.data, m->params[i].tensor.data,
               (size_t)mase_tensor_bytes(&m->params[i].tensor));
    }
    return MASE_OK;
}
