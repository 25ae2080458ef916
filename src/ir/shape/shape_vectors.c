/*
 * shape_vectors.c - rules of products and sums along vectors, matrices and channels: cross, trace,
 * count_nonzero, running sums, local response norms, and of maxima that are put back.
 */
#include <string.h>

#include "ir/shape/shape.h"

enum mase_status mase_cross_axis(const struct mase_call *c, int *axis, const struct mase_shape *s,
                                 struct mase_err *err)
{
    const struct mase_arg *dim = mase_call_arg(c, "dim");
    *axis = -1;
    if (mase_arg_present(dim))
        MASE_TRY(mase_call_axis_arg(c, axis, s, "dim", err));
    for (int d = 0; d < s->rank && *axis < 0; d++)
        *axis = s->dim[d] == 3 ? d : -1;
    if (*axis < 0 || !s->rank || s->dim[*axis] != 3)
        return mase_call_fail(c, err, "%s has no vectors of three values%s", mase_show_shape(c, s),
                              mase_arg_present(dim) ? " along dim" : "");
    return MASE_OK;
}

enum mase_status mase_shape_cross(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *y;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &y, "other", err));
    struct mase_shape out = x->shape;
    if (x->shape.rank != y->shape.rank || !mase_shape_widen(&out, &y->shape))
        return mase_call_fail(c, err, "input %s and other %s do not fit",
                              mase_show_shape(c, &x->shape), mase_show_shape(c, &y->shape));
    MASE_TRY(mase_cross_axis(c, &axis, &out, err));
    if (x->shape.dim[axis] != 3 || y->shape.dim[axis] != 3)
        return mase_call_fail(c, err, "input %s and other %s must both have vectors of three",
                              mase_show_shape(c, &x->shape), mase_show_shape(c, &y->shape));
    mase_call_result(c, mase_dtype_promote(x->dtype, y->dtype), &out);
    return MASE_OK;
}

enum mase_status mase_shape_trace(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (x->shape.rank != 2)
        return mase_call_fail(c, err, "input must be a matrix, got %s",
                              mase_show_shape(c, &x->shape));
    mase_call_result(c, mase_dtype_is_float(x->dtype) ? x->dtype : MASE_I64,
                     &(struct mase_shape){ 0 });
    return MASE_OK;
}

enum mase_status mase_shape_count_nonzero(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK];
    struct mase_shape out = { 0 };
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    for (int d = 0; d < x->shape.rank; d++)
        if (!in[d])
            mase_shape_push(&out, x->shape.dim[d]);
    mase_call_result(c, MASE_I64, &out);
    return MASE_OK;
}

enum mase_status mase_shape_logcumsumexp(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_response_norm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int64_t size;
    double number;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_int(c, &size, "size", err));
    MASE_TRY(mase_call_float(c, &number, "alpha", err));
    MASE_TRY(mase_call_float(c, &number, "beta", err));
    MASE_TRY(mase_call_float(c, &number, "k", err));
    if (x->shape.rank < 3 || size < 1 || size > 1 << 16)
        return mase_call_fail(c, err,
                              "size = %lld channels of %s: expected [N, C, ...] and at "
                              "least 1",
                              (long long)size, mase_show_shape(c, &x->shape));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}
