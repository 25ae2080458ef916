/*
 * ref_arith.c - element-wise arithmetic, comparison and selection, with broadcasting.
 */
#include <math.h>
#include <string.h>

#include "exec/reference/ref.h"
#include "exec/reference/ref_whole.h"
#include "ir/graph/bind_call.h"

/* A walk over the result with the first n parameters broadcast to it; numbers have no offset. */
static struct mase_nd walk_operands(const struct mase_call *c, int n)
{
    static const struct mase_shape point = { 0 };
    struct mase_nd w = mase_nd(&ref_out(c)->shape);
    for (int i = 0; i < n; i++) {
        const struct mase_tensor *t = mase_arg_tensor(&c->param[i]);
        mase_nd_add(&w, t ? &t->shape : &point);
    }
    return w;
}

enum mase_status mase_forward_unary(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    mase_unary_fn *f = mase_unary_of(c->node->op);
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int64_t n = mase_tensor_count(x);
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, f(ref_get(x, i)));
    return MASE_OK;
}

/* An operand in a float32 call: PyTorch first rounds numbers to float32, so that 0.1 equals the 0.1
 * of a tensor. */
static double operand_of(const struct mase_call *c, int i, int64_t off, bool floats)
{
    const double v = mase_ref_operand(&c->param[i], off);
    return floats ? (double)(float)v : v;
}

/* out = f(x, scale y) */
static void combine(struct mase_call *c, mase_binary_fn *f, double scale)
{
    const bool floats =
        mase_dtype_of_args((const struct mase_arg *[]){ &c->param[0], &c->param[1] }, 2) ==
        MASE_F32;
    struct mase_nd w = walk_operands(c, 2);
    for (; w.i < w.count; mase_nd_next(&w))
        ref_set(ref_out(c), w.i,
                f(operand_of(c, 0, w.off[0], floats), scale * operand_of(c, 1, w.off[1], floats)));
}

/* ---- integers ---- */

static bool is_whole(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_TENSOR ? !mase_dtype_is_float(a->tensor->dtype)
                                      : a->kind == MASE_ARG_INT || a->kind == MASE_ARG_BOOL;
}

/* x + scale y, or x y, of integers: they wrap around and are exact however large, as PyTorch's and
 * NumPy's. False where an operand is none. */
static bool combine_integers(struct mase_call *c, double scale)
{
    const enum mase_op op = c->node->op;
    const struct mase_arg *x = &c->param[0], *y = &c->param[1];
    if (mase_dtype_is_float(ref_out(c)->dtype) || ref_out(c)->dtype == MASE_DTYPE_BOOL ||
        (op != MASE_OP_add && op != MASE_OP_sub && op != MASE_OP_mul) || !is_whole(x) ||
        !is_whole(y) || scale != rint(scale) || fabs(scale) > 0x1p53)
        return false;
    const uint64_t times = (uint64_t)(int64_t)(op == MASE_OP_sub ? -scale : scale);
    for (struct mase_nd w = walk_operands(c, 2); w.i < w.count; mase_nd_next(&w)) {
        const uint64_t a = mase_whole_operand(x, w.off[0]), b = mase_whole_operand(y, w.off[1]);
        mase_whole_set(ref_out(c), w.i, op == MASE_OP_mul ? a * b : a + times * b);
    }
    return true;
}

enum mase_status mase_ref_zero_divisor(const struct mase_call *c, struct mase_err *err)
{
    return mase_call_fail(c, err, "division of integers by zero");
}

static enum mase_status check_divisor(const struct mase_call *c, struct mase_err *err)
{
    if (mase_dtype_is_float(ref_out(c)->dtype))
        return MASE_OK;
    struct mase_nd w = walk_operands(c, 2);
    for (; w.i < w.count; mase_nd_next(&w))
        if (mase_ref_operand(&c->param[1], w.off[1]) == 0.0)
            return mase_ref_zero_divisor(c, err);
    return MASE_OK;
}

enum mase_status mase_forward_binary(struct mase_call *c, struct mase_err *err)
{
    if (mase_op_divides(c->node->op))
        MASE_TRY(check_divisor(c, err));
    if (!combine_integers(c, 1.0))
        combine(c, mase_binary_of(c->node->op), 1.0);
    return MASE_OK;
}

/* add and sub: x + alpha y. */
enum mase_status mase_forward_add(struct mase_call *c, struct mase_err *err)
{
    double alpha;
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    if (!combine_integers(c, alpha))
        combine(c, mase_binary_of(c->node->op), alpha);
    return MASE_OK;
}

static double divide_to_zero(double x, double y)
{
    return trunc(x / y);
}

enum mase_status mase_ref_division(const struct mase_call *c, mase_binary_fn **f,
                                   struct mase_err *err)
{
    const char *mode = mase_call_text(c, "rounding_mode", "");
    *f = mase_binary_of(MASE_OP_div);
    if (mase_streq(mode, "trunc"))
        *f = divide_to_zero;
    else if (mase_streq(mode, "floor"))
        *f = mase_binary_of(MASE_OP_floordiv);
    else if (*mode)
        return mase_call_fail(c, err, "rounding_mode = '%s' is neither 'trunc' nor 'floor'", mode);
    return MASE_OK;
}

enum mase_status mase_forward_div(struct mase_call *c, struct mase_err *err)
{
    mase_binary_fn *f;
    MASE_TRY(mase_ref_division(c, &f, err));
    MASE_TRY(check_divisor(c, err));
    combine(c, f, 1.0);
    return MASE_OK;
}

enum mase_status mase_forward_clamp(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const int low = mase_sig_find(c->sig, "min"), high = mase_sig_find(c->sig, "max");
    const bool has_low = low > 0 && mase_arg_present(&c->param[low]);
    const bool has_high = high > 0 && mase_arg_present(&c->param[high]);
    struct mase_nd w = walk_operands(c, c->sig->count);
    for (; w.i < w.count; mase_nd_next(&w)) {
        double v = mase_ref_operand(&c->param[0], w.off[0]);
        if (has_low && v < mase_ref_operand(&c->param[low], w.off[low]))
            v = mase_ref_operand(&c->param[low], w.off[low]);
        if (has_high && v > mase_ref_operand(&c->param[high], w.off[high]))
            v = mase_ref_operand(&c->param[high], w.off[high]); /* which wins over min */
        ref_set(ref_out(c), w.i, v);
    }
    return MASE_OK;
}

enum mase_status mase_forward_lerp(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    for (struct mase_nd w = walk_operands(c, 3); w.i < w.count; mase_nd_next(&w)) {
        const double x = mase_ref_operand(&c->param[0], w.off[0]);
        const double end = mase_ref_operand(&c->param[1], w.off[1]);
        ref_set(ref_out(c), w.i, x + mase_ref_operand(&c->param[2], w.off[2]) * (end - x));
    }
    return MASE_OK;
}

/* addcmul, and addcdiv, which divides. */
enum mase_status mase_forward_addcmul(struct mase_call *c, struct mase_err *err)
{
    mase_binary_fn *f = mase_binary_of(c->node->op == MASE_OP_addcmul ? MASE_OP_mul : MASE_OP_div);
    double value;
    MASE_TRY(mase_call_float(c, &value, "value", err));
    for (struct mase_nd w = walk_operands(c, 3); w.i < w.count; mase_nd_next(&w))
        ref_set(ref_out(c), w.i,
                mase_ref_operand(&c->param[0], w.off[0]) +
                    value * f(mase_ref_operand(&c->param[1], w.off[1]),
                              mase_ref_operand(&c->param[2], w.off[2])));
    return MASE_OK;
}

/* ---- logic ---- */

enum mase_status mase_forward_invert(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int64_t n = mase_tensor_count(x);
    for (int64_t i = 0; i < n; i++) {
        double v = ref_get(x, i);
        if (x->dtype == MASE_DTYPE_BOOL)
            ref_set(ref_out(c), i, v == 0.0);
        else if (x->dtype == MASE_U8)
            ref_set(ref_out(c), i, 255.0 - v);
        else
            ref_set(ref_out(c), i, -v - 1.0); /* two's complement */
    }
    return MASE_OK;
}

/* out = the condition holds ? x : y, each at its place among the parameters. */
static void select_between(struct mase_call *c, int condition, int x, int y)
{
    struct mase_nd w = walk_operands(c, 3);
    for (; w.i < w.count; mase_nd_next(&w)) {
        int from = mase_ref_operand(&c->param[condition], w.off[condition]) != 0.0 ? x : y;
        ref_set(ref_out(c), w.i, mase_ref_operand(&c->param[from], w.off[from]));
    }
}

enum mase_status mase_forward_where(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    select_between(c, mase_sig_find(c->sig, "condition"), mase_sig_find(c->sig, "input"), 2);
    return MASE_OK;
}

enum mase_status mase_forward_masked_fill(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    select_between(c, 1, 2, 0);
    return MASE_OK;
}

enum mase_status mase_forward_assert(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *t = mase_arg_tensor(&c->param[0]);
    int64_t n = t ? mase_tensor_count(t) : 0;
    for (int64_t i = 0; i < n; i++)
        if (mase_tensor_get(t, i) == 0.0)
            return mase_call_fail(c, err, "assertion failed: %s",
                                  mase_call_text(c, "message", "no message"));
    return MASE_OK;
}
