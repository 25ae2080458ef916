/*
 * ref_reduce.c - sums, means, extremes and running sums.
 */
#include <math.h>

#include "exec/reference/ref.h"

/* Walk the input; a dimension that is summed over does not move the output. */
static enum mase_status reduce(struct mase_call *c, bool mean, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    const int64_t n = mase_tensor_count(ref_out(c));
    double *sum = mase_new_array(c->arena, double, (size_t)n);
    for (struct mase_nd w = mase_nd_reduced(&x->shape, in); w.i < w.count; mase_nd_next(&w))
        sum[w.off[0]] += ref_get(x, w.i);
    double count = n ? (double)mase_tensor_count(x) / (double)n : 0.0;
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, mean ? sum[i] / count : sum[i]);
    return MASE_OK;
}

enum mase_status mase_forward_sum(struct mase_call *c, struct mase_err *err)
{
    return reduce(c, false, err);
}

enum mase_status mase_forward_mean(struct mase_call *c, struct mase_err *err)
{
    return reduce(c, true, err);
}

/* The first of the best among n elements; NaN is better than anything. */
static int64_t best(const struct mase_tensor *x, int64_t first, int64_t n, int64_t stride, bool max)
{
    int64_t at = 0;
    double top = ref_get(x, first);
    for (int64_t k = 1; k < n && !isnan(top); k++) {
        double v = ref_get(x, first + k * stride);
        if (isnan(v) || (max ? v > top : v < top)) {
            top = v;
            at = k;
        }
    }
    return at;
}

/* max(x), max(x, dim) and max(x, y), as the shape rule understood it. */
enum mase_status mase_forward_minmax(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    bool max = c->node->op == MASE_OP_max;
    if (c->result.kind == MASE_ARG_TENSOR && mase_arg_present(&c->param[1]))
        return mase_forward_binary(c, err);
    if (c->result.kind == MASE_ARG_TENSOR) {
        ref_set(ref_out(c), 0, ref_get(x, best(x, 0, mase_tensor_count(x), 1, max)));
        return MASE_OK;
    }
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    struct mase_axis a = mase_axis_of(&x->shape, axis);
    for (int64_t k = 0; k < a.outer * a.inner; k++) {
        int64_t first = k / a.inner * a.len * a.inner + k % a.inner;
        int64_t at = best(x, first, a.len, a.inner, max);
        ref_set(c->result.items[0].tensor, k, ref_get(x, first + at * a.inner));
        ((int64_t *)c->result.items[1].tensor->data)[k] = at;
    }
    return MASE_OK;
}

enum mase_status mase_forward_cumsum(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    struct mase_axis a = mase_axis_of(&x->shape, axis);
    for (int64_t k = 0; k < a.outer * a.inner; k++) {
        int64_t first = k / a.inner * a.len * a.inner + k % a.inner;
        double sum = 0.0;
        for (int64_t i = 0; i < a.len; i++) {
            sum += ref_get(x, first + i * a.inner);
            ref_set(ref_out(c), first + i * a.inner, sum);
        }
    }
    return MASE_OK;
}
