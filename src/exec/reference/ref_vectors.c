/*
 * ref_vectors.c - products and sums along vectors, matrices and channels: cross, trace,
 * count_nonzero, running products, local response norms.
 */
#include <math.h>

#include "exec/reference/ref.h"

enum mase_status mase_forward_cross(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *y = mase_call_tensor(c, "other");
    struct mase_tensor *out = ref_out(c);
    int axis;
    MASE_TRY(mase_cross_axis(c, &axis, &out->shape, err));
    const struct mase_view a = mase_view_of(&x->shape), b = mase_view_of(&y->shape);
    struct mase_nd w = mase_nd(&out->shape);
    mase_nd_add(&w, &x->shape);
    mase_nd_add(&w, &y->shape);
    for (; w.i < w.count; mase_nd_next(&w)) {
        const int64_t at = w.at[axis], p = (at + 1) % 3 - at, q = (at + 2) % 3 - at;
        const int64_t s = a.stride[axis], t = b.stride[axis];
        ref_set(out, w.i,
                ref_get(x, w.off[0] + p * s) * ref_get(y, w.off[1] + q * t) -
                    ref_get(x, w.off[0] + q * s) * ref_get(y, w.off[1] + p * t));
    }
    return MASE_OK;
}

enum mase_status mase_forward_trace(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const int64_t *n = x->shape.dim;
    double sum = 0.0;
    (void)err;
    for (int64_t i = 0; i < n[0] && i < n[1]; i++)
        sum += ref_get(x, i * n[1] + i);
    ref_set(ref_out(c), 0, sum);
    return MASE_OK;
}

enum mase_status mase_forward_count_nonzero(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    for (int64_t i = 0; i < mase_tensor_count(ref_out(c)); i++)
        ref_set(ref_out(c), i, 0.0);
    for (struct mase_nd w = mase_nd_reduced(&x->shape, in); w.i < w.count; mase_nd_next(&w))
        ref_set(ref_out(c), w.off[0], ref_get(ref_out(c), w.off[0]) + (ref_get(x, w.i) != 0.0));
    return MASE_OK;
}

/* log(e^a + e^b) */
static double add_logs(double a, double b)
{
    if (a == b)
        return a + log(2.0);
    return a > b ? a + log1p(exp(b - a)) : isnan(a) || isnan(b) ? NAN : b + log1p(exp(a - b));
}

/* cumprod and logcumsumexp. */
enum mase_status mase_forward_scan(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const bool product = c->node->op == MASE_OP_cumprod;
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    const struct mase_axis a = mase_axis_of(&x->shape, axis);
    for (int64_t k = 0; k < a.outer * a.inner; k++) {
        const int64_t first = k / a.inner * a.len * a.inner + k % a.inner;
        double y = product ? 1.0 : -INFINITY;
        for (int64_t i = 0; i < a.len; i++) {
            const double v = ref_get(x, first + i * a.inner);
            y = product ? y * v : isinf(y) && y < 0.0 ? v : add_logs(y, v);
            ref_set(ref_out(c), first + i * a.inner, y);
        }
    }
    return MASE_OK;
}

enum mase_status mase_forward_response_norm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    int64_t size;
    double alpha, beta, k;
    MASE_TRY(mase_call_int(c, &size, "size", err));
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    MASE_TRY(mase_call_float(c, &beta, "beta", err));
    MASE_TRY(mase_call_float(c, &k, "k", err));
    const struct mase_axis a = mase_axis_of(&x->shape, 1);
    for (int64_t i = 0; i < mase_tensor_count(x); i++) {
        const int64_t channel = i / a.inner % a.len;
        double sum = 0.0;
        for (int64_t d = -(size / 2); d <= (size - 1) / 2; d++)
            if (channel + d >= 0 && channel + d < a.len)
                sum += ref_get(x, i + d * a.inner) * ref_get(x, i + d * a.inner);
        ref_set(ref_out(c), i, ref_get(x, i) / pow(k + alpha * sum / (double)size, beta));
    }
    return MASE_OK;
}
