/*
 * ref_slope.c - the reference of slope and slope_y: derivatives as the rows of ops.def, the table
 * of activations and that of reductions have them, in double.
 */
#include <math.h>

#include "exec/reference/reduction.h"
#include "exec/reference/ref.h"
#include "exec/reference/ref_derived.h"
#include "exec/reference/sample_grid.h"

/* ---- one value ---- */

static double gelu_slope(double x)
{
    return 0.5 * (1.0 + erf(x * 0.70710678118654752440)) +
           x * 0.39894228040143267794 * exp(-0.5 * x * x);
}

static double gelu_tanh_slope(double x)
{
    const double a = 0.79788456080286535588, b = 0.044715;
    const double t = tanh(a * (x + b * x * x * x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * a * (1.0 + 3.0 * b * x * x);
}

static bool is_tanh(const struct mase_call *c)
{
    return mase_streq(mase_call_text(c, "approximate", "none"), "tanh");
}

/* If the bounds cross, the result is max everywhere. */
static enum mase_status clamp_slope(struct mase_tensor *out, const struct mase_call *c,
                                    struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    double low = -INFINITY, high = INFINITY;
    if (mase_arg_present(mase_call_arg(c, "min")))
        MASE_TRY(mase_call_float(c, &low, "min", err));
    if (mase_arg_present(mase_call_arg(c, "max")))
        MASE_TRY(mase_call_float(c, &high, "max", err));
    if (x->dtype == MASE_F32) {
        low = (double)(float)low;
        high = (double)(float)high;
    }
    low = low > high ? high : low;
    for (int64_t i = 0; i < mase_tensor_count(out); i++)
        ref_set(out, i, ref_get(x, i) < low || ref_get(x, i) > high ? 0.0 : 1.0);
    return MASE_OK;
}

static enum mase_status map_slope(struct mase_tensor *out, const struct mase_call *c,
                                  struct mase_err *err)
{
    const enum mase_op op = c->node->op;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_activation a = { .slope = NULL };
    mase_unary_fn *f = mase_slope_of(op);
    if (op == MASE_OP_clamp)
        return clamp_slope(out, c, err);
    if (op == MASE_OP_gelu)
        f = is_tanh(c) ? gelu_tanh_slope : gelu_slope;
    if (!f)
        MASE_TRY(mase_activation_read(c, &a, err));
    if (!f && !a.slope)
        mase_bug("%s has no slope", mase_ops[op].name);
    for (int64_t i = 0; i < mase_tensor_count(out); i++)
        ref_set(out, i, f ? f(ref_get(x, i)) : a.slope(ref_get(x, i), a.p));
    return MASE_OK;
}

/* ---- two values ---- */

static const struct mase_shape *shape_of(const struct mase_arg *a)
{
    static const struct mase_shape scalar = { 0 };
    return mase_arg_tensor(a) ? &a->tensor->shape : &scalar;
}

static enum mase_status zip_slope(struct mase_tensor *out, const struct mase_call *c, int operand,
                                  struct mase_err *err)
{
    mase_binary_fn *const f = mase_partial_of(c->node->op, operand);
    struct mase_nd w = mase_nd(&out->shape);
    for (int n = 0; n < 2; n++) {
        if (!mase_shape_fits(shape_of(&c->param[n]), &out->shape))
            return mase_call_fail(c, err, "has a slope of operands that broadcast alone");
        mase_nd_add(&w, shape_of(&c->param[n]));
    }
    for (; w.i < w.count; mase_nd_next(&w))
        ref_set(
            out, w.i,
            f(mase_ref_operand(&c->param[0], w.off[0]), mase_ref_operand(&c->param[1], w.off[1])));
    return MASE_OK;
}

/* By each coordinate of a place: (N, C, ..., d). */
static void set_sample_slope(struct mase_tensor *out, int64_t at, const struct mase_tensor *x,
                             int64_t plane, const struct mase_look *l, int n)
{
    for (int d = 0; d < n; d++) {
        double sum = 0.0;
        for (int p = 0; p < l->count; p++)
            sum += l->slope[p][d] * ref_get(x, plane + l->off[p]);
        ref_set(out, at + d, sum);
    }
}

/* ---- many values ---- */

static double element(const struct mase_vector *l, int64_t k)
{
    return ref_get(l->from, l->row[k]);
}

static enum mase_status reduction_slope(struct mase_tensor *out, const struct mase_call *c,
                                        struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_reduction_op op;
    int64_t length = 1;
    MASE_TRY(mase_reduction_read(c, 0, &op, err));
    for (int d = 0; d < x->shape.rank; d++)
        length *= op.in[d] ? x->shape.dim[d] : 1;
    const int64_t vectors = length ? mase_tensor_count(x) / length : 0;
    const int32_t *row = mase_reduction_rows(c->arena, x, &op, vectors, length);
    for (int64_t i = 0; i < vectors; i++, row += length) {
        const struct mase_vector l = { .at = element, .count = length, .from = x, .row = row };
        const struct mase_reduction_sum sum = mase_reduction_sum(&op, &l);
        for (int64_t k = 0; k < length; k++)
            ref_set(out, row[k], mase_reduction_slope(&op, &l, &sum, element(&l, k)));
    }
    return MASE_OK;
}

enum mase_status mase_ref_slope(struct mase_tensor *out, struct mase_call *c, bool second,
                                struct mase_err *err)
{
    const enum mase_op op = c->node->op;
    if (op == MASE_OP_grid_sample)
        return mase_grid_each(c, out, true, set_sample_slope, err);
    if (mase_partial_of(op, second))
        return zip_slope(out, c, second, err);
    return mase_op_prim(op) == MASE_PRIM_reduce ? reduction_slope(out, c, err)
                                                : map_slope(out, c, err);
}
