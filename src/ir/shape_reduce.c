/*
 * shape_reduce.c - rules of sums, means and extremes along dimensions.
 */
#include <math.h>

#include "ir/shape.h"

/* s without the flagged dimensions, or with them of length 1. */
static struct mase_shape reduced(const struct mase_shape *s, const bool *in, bool keep)
{
    struct mase_shape out = { 0 };
    for (int i = 0; i < s->rank; i++) {
        if (!in[i])
            mase_shape_push(&out, s->dim[i]);
        else if (keep)
            mase_shape_push(&out, 1);
    }
    return out;
}

/* builtins.sum of numbers. */
static enum mase_status sum_numbers(struct mase_call *c, const struct mase_arg *list,
                                    struct mase_err *err)
{
    double sum = 0.0, v;
    bool integers = true;
    for (int i = 0; i < list->count; i++) {
        if (!mase_arg_number(&list->items[i], &v))
            return mase_call_fail(c, err, "can add numbers or one tensor, got %s in a list",
                                  mase_show_arg(c, &list->items[i]));
        integers &= list->items[i].kind != MASE_ARG_FLOAT;
        sum += v;
    }
    if (integers && !(fabs(sum) <= 0x1p53))
        return mase_call_fail(c, err, "%g is too large for an integer here", sum);
    c->result = integers ? mase_arg_int((int64_t)sum) : mase_arg_float(sum);
    return MASE_OK;
}

enum mase_status mase_shape_reduce(struct mase_call *c, struct mase_err *err)
{
    if (c->node->op == MASE_OP_sum && mase_arg_is_seq(&c->param[0]))
        return sum_numbers(c, &c->param[0], err);
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    enum mase_dtype t = x->dtype;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    if (c->node->op == MASE_OP_mean && !mase_dtype_is_float(t))
        return mase_call_float_tensor(c, x, "input", err);
    if (!mase_arg_present(mase_call_arg(c, "dtype")) && !mase_dtype_is_float(t))
        t = MASE_I64; /* integers and truth values are counted in 64 bits */
    struct mase_shape out = reduced(&x->shape, in, mase_call_flag(c, "keepdim"));
    mase_call_result(c, t, &out);
    return MASE_OK;
}

static enum mase_status minmax_along(struct mase_call *c, const struct mase_tensor *x,
                                     struct mase_err *err)
{
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    if (x->shape.rank && x->shape.dim[axis] == 0)
        return mase_call_fail(c, err, "dim %d of %s is empty", axis, mase_show_shape(c, &x->shape));
    bool in[MASE_MAX_RANK] = { false };
    in[axis] = true;
    struct mase_tensor pair[2] = { { .dtype = x->dtype }, { .dtype = MASE_I64 } };
    pair[0].shape = reduced(&x->shape, in, mase_call_flag(c, "keepdim"));
    pair[1].shape = pair[0].shape;
    mase_call_result_tuple(c, pair, 2);
    return MASE_OK;
}

/* builtins.max of two numbers is one of them: max(3, 4.5) a float, min(3, 4.5) an integer. */
static bool better_number(struct mase_call *c)
{
    double x, y;
    if (!mase_arg_number(&c->param[0], &x) || !mase_arg_number(&c->param[1], &y))
        return false;
    bool second = c->node->op == MASE_OP_max ? y > x : y < x;
    c->result = c->param[second];
    return true;
}

/* max(x), max(x, dim) with indices, max(x, y); max(2, 3) of numbers. torch.maximum always has y. */
enum mase_status mase_shape_minmax(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *second = &c->param[1];
    if (better_number(c))
        return MASE_OK;
    if (!mase_arg_tensor(&c->param[0]) || mase_arg_tensor(second) || second->kind == MASE_ARG_FLOAT)
        return mase_shape_broadcast(c, err);
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (mase_arg_present(second))
        return minmax_along(c, x, err);
    if (mase_tensor_count(x) == 0)
        return mase_call_fail(c, err, "%s is empty", mase_show_arg(c, &c->param[0]));
    mase_call_result(c, x->dtype, &(struct mase_shape){ 0 });
    return MASE_OK;
}
