/*
 * ref_whole.c - arithmetic of integers: exact, and wrapping around in the width of the result, as
 * PyTorch's and NumPy's.
 *
 * All arithmetic is in unsigned 64 bits, of which a narrower result takes the lowest. Other
 * operations convert integers to double, which holds them exactly up to 2^53: larger ones are
 * refused.
 */
#include "exec/reference/ref_whole.h"

#include <math.h>

#include <mase/program.h>

#include "exec/reference/ref.h"

/* ---- values ---- */

uint64_t mase_whole_get(const struct mase_tensor *t, int64_t i)
{
    if (t->dtype == MASE_I64)
        return (uint64_t)((const int64_t *)t->data)[i];
    return (uint64_t)(int64_t)mase_tensor_get(t, i);
}

uint64_t mase_whole_operand(const struct mase_arg *a, int64_t off)
{
    if (a->kind == MASE_ARG_INT)
        return (uint64_t)a->i;
    if (a->kind == MASE_ARG_TENSOR)
        return mase_whole_get(a->tensor, off);
    return (uint64_t)(int64_t)mase_ref_operand(a, off);
}

void mase_whole_set(struct mase_tensor *t, int64_t i, uint64_t v)
{
    if (t->dtype == MASE_I64)
        ((int64_t *)t->data)[i] = (int64_t)v;
    else if (t->dtype == MASE_I32)
        ((int32_t *)t->data)[i] = (int32_t)(uint32_t)v;
    else
        ((uint8_t *)t->data)[i] = (uint8_t)v;
}

bool mase_is_whole(enum mase_dtype dtype)
{
    return dtype == MASE_I64 || dtype == MASE_I32 || dtype == MASE_U8;
}

static bool is_whole_operand(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_TENSOR ? !mase_dtype_is_float(a->tensor->dtype)
                                      : a->kind == MASE_ARG_INT || a->kind == MASE_ARG_BOOL;
}

/* ---- one or two values ---- */

static enum mase_status each_value(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    const enum mase_op op = c->node->op;
    for (int64_t i = 0; i < mase_tensor_count(x); i++) {
        const uint64_t v = mase_whole_get(x, i);
        const bool negative = x->dtype != MASE_U8 && (int64_t)v < 0;
        const uint64_t y = op == MASE_OP_square ? v * v : op == MASE_OP_neg || negative ? -v : v;
        mase_whole_set(ref_out(c), i, y);
    }
    return MASE_OK;
}

static uint64_t power(uint64_t x, uint64_t n)
{
    uint64_t y = 1;
    for (; n; n >>= 1, x *= x)
        y *= n & 1 ? x : 1;
    return y;
}

/* One over a number is none, unless that is 1 or -1. */
static uint64_t inverse(int64_t x, int64_t n)
{
    return x == 1 || (x == -1 && n % 2 == 0) ? 1 : x == -1 ? UINT64_MAX : 0;
}

static enum mase_status powers(struct mase_call *c, struct mase_err *err)
{
    static const struct mase_shape point = { 0 };
    const struct mase_arg *x = &c->param[0], *n = &c->param[1];
    if (n->kind == MASE_ARG_INT && n->i < 0)
        return mase_call_fail(c, err, "integers have no powers of %lld", (long long)n->i);
    struct mase_nd w = mase_nd(&ref_out(c)->shape);
    mase_nd_add(&w, mase_arg_tensor(x) ? &x->tensor->shape : &point);
    mase_nd_add(&w, mase_arg_tensor(n) ? &n->tensor->shape : &point);
    for (; w.i < w.count; mase_nd_next(&w)) {
        const uint64_t v = mase_whole_operand(x, w.off[0]);
        const int64_t k = (int64_t)mase_whole_operand(n, w.off[1]);
        mase_whole_set(ref_out(c), w.i, k < 0 ? inverse((int64_t)v, k) : power(v, (uint64_t)k));
    }
    return MASE_OK;
}

/* ---- sums and products of many ---- */

/* Walk the input; a dimension that is gone does not move the output. */
static enum mase_status reduce(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const bool product = c->node->op == MASE_OP_prod;
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    const int64_t n = mase_tensor_count(ref_out(c));
    uint64_t *sum = mase_new_array(c->arena, uint64_t, (size_t)n);
    for (int64_t i = 0; i < n && product; i++)
        sum[i] = 1;
    for (struct mase_nd w = mase_nd_reduced(&x->shape, in); w.i < w.count; mase_nd_next(&w)) {
        const uint64_t v = mase_whole_get(x, w.i);
        sum[w.off[0]] = product ? sum[w.off[0]] * v : sum[w.off[0]] + v;
    }
    for (int64_t i = 0; i < n; i++)
        mase_whole_set(ref_out(c), i, sum[i]);
    return MASE_OK;
}

static enum mase_status scan(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const bool product = c->node->op == MASE_OP_cumprod;
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    const struct mase_axis a = mase_axis_of(&x->shape, axis);
    for (int64_t k = 0; k < a.outer * a.inner; k++) {
        const int64_t first = k / a.inner * a.len * a.inner + k % a.inner;
        uint64_t sum = product;
        for (int64_t i = 0; i < a.len; i++) {
            const uint64_t v = mase_whole_get(x, first + i * a.inner);
            sum = product ? sum * v : sum + v;
            mase_whole_set(ref_out(c), first + i * a.inner, sum);
        }
    }
    return MASE_OK;
}

/* To a narrower type; between integers and truth values nothing else is lost. */
static enum mase_status convert(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    for (int64_t i = 0; i < mase_tensor_count(x); i++)
        mase_whole_set(ref_out(c), i, mase_whole_get(x, i));
    return MASE_OK;
}

/* ---- which ---- */

static bool operands_are_whole(const struct mase_call *c)
{
    for (int i = 0; i < c->sig->count; i++)
        if (mase_mark_is_data(c->sig->param[i].role) && mase_arg_present(&c->param[i]) &&
            !is_whole_operand(&c->param[i]))
            return false;
    return true;
}

static const struct {
    enum mase_op op;
    mase_forward_fn *run;
} table[] = {
    { MASE_OP_neg, each_value }, { MASE_OP_abs, each_value }, { MASE_OP_square, each_value },
    { MASE_OP_pow, powers },     { MASE_OP_sum, reduce },     { MASE_OP_prod, reduce },
    { MASE_OP_cumsum, scan },    { MASE_OP_cumprod, scan },
};

enum mase_status mase_ref_whole(struct mase_call *c, bool *done, struct mase_err *err)
{
    const struct mase_tensor *y = mase_arg_tensor(&c->result);
    *done = false;
    if (!y || !mase_is_whole(y->dtype) || !operands_are_whole(c))
        return MASE_OK;
    if (mase_op_prim(c->node->op) == MASE_PRIM_cast) {
        *done = true;
        return convert(c, err);
    }
    for (size_t i = 0; i < sizeof table / sizeof *table && !*done; i++)
        if (table[i].op == c->node->op) {
            *done = true;
            return table[i].run(c, err);
        }
    return MASE_OK;
}

/* ---- what double cannot hold ---- */

/* The largest magnitude; at least 1. */
static double largest(const struct mase_tensor *t)
{
    double most = 1;
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        most = fmax(most, fabs(mase_tensor_get(t, i)));
    return most;
}

/* Exact however large: in 64 bits, or bit for bit. */
static bool is_exact(const struct mase_call *c)
{
    static const enum mase_op ops[] = {
        MASE_OP_add, MASE_OP_sub,   MASE_OP_mul,     MASE_OP_matmul,
        MASE_OP_bmm, MASE_OP_addmm, MASE_OP_baddbmm, MASE_OP_linear
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (c->node->op == ops[i])
            return true;
    return mase_forward_of(c->node->op) == mase_forward_identity;
}

/* Is the operation a sum of products of its operands? */
static bool multiplies(enum mase_op op)
{
    return mase_op_prim(op) == MASE_PRIM_dot || op == MASE_OP_outer || op == MASE_OP_cross ||
           op == MASE_OP_addcmul;
}

enum mase_status mase_ref_check_whole(const struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *y = mase_arg_tensor(&c->result);
    const bool products = y && mase_is_whole(y->dtype) && multiplies(c->node->op);
    const double most = 0x1p53;
    double all = 1;
    int64_t count = 1;
    if (is_exact(c))
        return MASE_OK;
    for (int i = 0; i < c->sig->count; i++) {
        const struct mase_arg *a = &c->param[i];
        const int items = mase_arg_is_seq(a) ? a->count : 1;
        if (!mase_mark_is_data(c->sig->param[i].role)) /* an index, whose reader checks it */
            continue;
        for (int k = 0; k < items; k++) {
            const struct mase_tensor *t = mase_arg_tensor(mase_arg_is_seq(a) ? &a->items[k] : a);
            if (!t || !(t->dtype == MASE_I64 || (products && mase_is_whole(t->dtype))))
                continue;
            const double v = largest(t);
            count = mase_tensor_count(t) > count ? mase_tensor_count(t) : count;
            all *= v;
            if (v > most || (products && all * (double)count > most))
                return mase_call_fail(c, err, "integers beyond 2^53 are not computed here");
        }
    }
    return MASE_OK;
}
