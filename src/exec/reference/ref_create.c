/*
 * ref_create.c - tensors made from numbers.
 */
#include "exec/reference/ref.h"

/* full, ones and zeros, and what is like another tensor. */
enum mase_status mase_forward_full(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const enum mase_op op = c->node->op;
    const bool one = op == MASE_OP_ones || op == MASE_OP_ones_like || op == MASE_OP_new_ones;
    double value = one ? 1.0 : 0.0;
    const struct mase_arg *fill = mase_call_arg(c, "fill_value");
    if (fill)
        mase_arg_number(fill, &value);
    int64_t n = mase_tensor_count(ref_out(c));
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, value);
    return MASE_OK;
}

enum mase_status mase_forward_arange(struct mase_call *c, struct mase_err *err)
{
    double start, end, step;
    bool integers;
    MASE_TRY(mase_range_plan(c, &start, &end, &step, &integers, err));
    int64_t n = mase_tensor_count(ref_out(c));
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, start + (double)i * step);
    return MASE_OK;
}

/* The numbers of nested lists in order. */
static int64_t fill_literal(struct mase_tensor *out, const struct mase_arg *a, int64_t at)
{
    double v;
    if (mase_arg_tensor(a)) {
        for (int64_t i = 0; i < mase_tensor_count(a->tensor); i++)
            ref_set(out, at++, ref_get(a->tensor, i));
        return at;
    }
    if (mase_arg_number(a, &v)) {
        ref_set(out, at, v);
        return at + 1;
    }
    for (int i = 0; i < a->count; i++)
        at = fill_literal(out, &a->items[i], at);
    return at;
}

enum mase_status mase_forward_tensor(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    fill_literal(ref_out(c), mase_call_arg(c, "data"), 0);
    return MASE_OK;
}
