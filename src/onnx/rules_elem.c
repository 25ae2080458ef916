/*
 * rules_elem.c - elementwise operations: activations, arithmetic, comparison, types.
 */
#include <float.h>
#include <math.h>

#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* ---- one operand ---- */

OX_RULE(unary)
{
    return GIVE(im, im->rule->op, ARG_NODE(mase_ox_x(im, 0)));
}

OX_RULE(relu)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    return mase_ox_out(im, 0, x ? mase_ox_relu(im, x) : mase_ox_x(im, 0));
}

OX_RULE(identity)
{
    return mase_ox_out(im, 0, mase_ox_x(im, 0));
}

/* An activation with the attribute alpha. */
static enum mase_status with_alpha(struct mase_ox_import *im, double dflt)
{
    struct mase_node *x = mase_ox_x(im, 0);
    return GIVE(im, im->rule->op, ARG_NODE(x), ARG_FLOAT(mase_ox_attr_float(im, "alpha", dflt)));
}

OX_RULE(leaky_relu)
{
    return with_alpha(im, 0.01f);
}

OX_RULE(elu)
{
    return with_alpha(im, 1.0);
}

/* PyTorch's selu has ONNX's defaults; other constants need an expression. */
OX_RULE(selu)
{
    const float alpha = (float)mase_ox_attr_float(im, "alpha", 1.67326319217681884765625);
    const float gamma = (float)mase_ox_attr_float(im, "gamma", 1.05070102214813232421875);
    struct mase_node *x = mase_ox_x(im, 0);
    if (alpha == 1.67326319217681884765625f && gamma == 1.05070102214813232421875f)
        return GIVE(im, MASE_OP_selu, ARG_NODE(x));
    return GIVE(im, MASE_OP_mul, ARG_NODE(EMIT(im, MASE_OP_elu, ARG_NODE(x), ARG_FLOAT(alpha))),
                ARG_FLOAT(gamma));
}

OX_RULE(thresholded_relu)
{
    const double alpha = mase_ox_attr_float(im, "alpha", 1.0);
    return GIVE(im, MASE_OP_threshold, ARG_NODE(mase_ox_x(im, 0)), ARG_FLOAT(alpha),
                ARG_FLOAT(0.0));
}

OX_RULE(hard_sigmoid)
{
    const double alpha = mase_ox_attr_float(im, "alpha", 0.2f),
                 beta = mase_ox_attr_float(im, "beta", 0.5);
    struct mase_node *x = mase_ox_x(im, 0);
    if ((float)alpha == (float)(1.0 / 6.0) && beta == 0.5)
        return GIVE(im, MASE_OP_hardsigmoid, ARG_NODE(x));
    x = EMIT(im, MASE_OP_add, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_FLOAT(alpha))),
             ARG_FLOAT(beta));
    return GIVE(im, MASE_OP_clamp, ARG_NODE(x), ARG_FLOAT(0.0), ARG_FLOAT(1.0));
}

/* x + bias below -lambd, x - bias above lambd, else 0. */
OX_RULE(shrink)
{
    const double lambd = mase_ox_attr_float(im, "lambd", 0.5),
                 bias = mase_ox_attr_float(im, "bias", 0.0);
    struct mase_node *x = mase_ox_x(im, 0), *zero = EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_INT(0));
    struct mase_node *low = EMIT(im, MASE_OP_lt, ARG_NODE(x), ARG_FLOAT(-lambd));
    struct mase_node *high = EMIT(im, MASE_OP_gt, ARG_NODE(x), ARG_FLOAT(lambd));
    struct mase_node *up = EMIT(im, MASE_OP_add, ARG_NODE(x), ARG_FLOAT(bias));
    struct mase_node *down = EMIT(im, MASE_OP_sub, ARG_NODE(x), ARG_FLOAT(bias));
    const enum mase_dtype dtype = mase_ox_dtype(im, x);
    zero = EMIT(im, MASE_OP_where, ARG_NODE(high), ARG_NODE(mase_ox_cast(im, down, dtype)),
                ARG_NODE(zero));
    return GIVE(im, MASE_OP_where, ARG_NODE(low), ARG_NODE(mase_ox_cast(im, up, dtype)),
                ARG_NODE(zero));
}

OX_RULE(gelu)
{
    const char *approximate = mase_ox_attr_text(im, "approximate", "none");
    return GIVE(im, MASE_OP_gelu, ARG_NODE(mase_ox_x(im, 0)), ARG_TEXT(approximate));
}

/* x sigmoid(alpha x) */
OX_RULE(swish)
{
    const double alpha = mase_ox_attr_float(im, "alpha", 1.0);
    struct mase_node *x = mase_ox_x(im, 0);
    if (alpha == 1.0)
        return GIVE(im, MASE_OP_silu, ARG_NODE(x));
    struct mase_node *s =
        EMIT(im, MASE_OP_sigmoid, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_FLOAT(alpha))));
    return GIVE(im, MASE_OP_mul, ARG_NODE(x), ARG_NODE(s));
}

/* The slope broadcasts by ONNX's rules, not along the channels as PyTorch's. */
OX_RULE(prelu)
{
    struct mase_node *x = mase_ox_x(im, 0), *slope = mase_ox_x(im, 1);
    const int rank = mase_ox_rank(im, x);
    for (int d = 2; im->scope->opset < 7 && d < rank && mase_ox_rank(im, slope) < rank - 1; d++)
        slope = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(slope),
                     ARG_INT(-1)); /* for PyTorch the slope of channels */
    struct mase_node *below = EMIT(im, MASE_OP_lt, ARG_NODE(x), ARG_INT(0));
    struct mase_node *scaled = EMIT(im, MASE_OP_mul, ARG_NODE(slope), ARG_NODE(x));
    return GIVE(im, MASE_OP_where, ARG_NODE(below), ARG_NODE(scaled), ARG_NODE(x));
}

OX_RULE(isinf)
{
    const int64_t negative = mase_ox_attr_int(im, "detect_negative", 1);
    const int64_t positive = mase_ox_attr_int(im, "detect_positive", 1);
    struct mase_node *x = mase_ox_x(im, 0), *y = EMIT(im, MASE_OP_isinf, ARG_NODE(x));
    if (!negative)
        y = EMIT(im, MASE_OP_logical_and, ARG_NODE(y),
                 ARG_NODE(EMIT(im, MASE_OP_gt, ARG_NODE(x), ARG_INT(0))));
    if (!positive)
        y = EMIT(im, MASE_OP_logical_and, ARG_NODE(y),
                 ARG_NODE(EMIT(im, MASE_OP_lt, ARG_NODE(x), ARG_INT(0))));
    return mase_ox_out(im, 0, y);
}

/* The output is x: the ratio matters in training only. */
OX_RULE(dropout)
{
    double p = mase_ox_attr_float(im, "ratio", 0.5);
    double training = 0.0;
    struct mase_ox_value *ratio = mase_ox_in(im, 1), *mode = mase_ox_in(im, 2);
    struct mase_node *x = mase_ox_x(im, 0);
    (void)mase_ox_attr_int(im, "seed", 0); /* used in training only, where our own seed counts */
    if (im->scope->opset < 7)
        training = !mase_ox_attr_int(im, "is_test", 0);
    if (mode)
        mase_ox_number(im, mode, &training);
    if (training != 0.0)
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "training_mode is on, which makes results random");
    if (ratio && mase_ox_is_known(im, ratio))
        mase_ox_number(im, ratio, &p);
    if (mase_ox_has_out(im, 1)) {
        struct mase_node *ones =
            EMIT(im, MASE_OP_ones_like, ARG_NODE(x), mase_ox_type(MASE_DTYPE_BOOL));
        mase_ox_out(im, 1, ones);
    }
    if (!(p >= 0.0 && p < 1.0))
        return mase_ox_out(im, 0, x);
    const char *path = mase_ox_layer_path(im, NULL, NULL, 0);
    const struct mase_arg arg = ARG_FLOAT(p);
    if (!mase_ox_add_layer(im, path, MASE_OP_dropout, &arg, 1, NULL, NULL, 0))
        return im->status;
    return mase_ox_out(im, 0, mase_ox_emit_layer(im, path, x));
}

/* ---- two operands ---- */

static struct mase_node *absorbed(struct mase_ox_import *im)
{
    return mase_ptrmap_get(&im->absorbed, im->node);
}

/* Before opset 7 an attribute said which dimensions of the first operand the second matches. */
static struct mase_node *align_operand(struct mase_ox_import *im, struct mase_node *x,
                                       struct mase_node *y)
{
    const bool broadcast = mase_ox_attr_int(im, "broadcast", 0) != 0,
               has_axis = mase_ox_has_attr(im, "axis");
    const int64_t axis = mase_ox_attr_int(im, "axis", 0);
    const int rank = mase_ox_rank(im, x);
    if (!broadcast &&
        !mase_shape_equal(&mase_ox_tensor(im, x)->shape, &mase_ox_tensor(im, y)->shape))
        mase_ox_fail(im, MASE_EVALUE, "its operands have different shapes and broadcast is 0");
    if (!has_axis)
        return y;
    for (int d = mase_ox_axis(im, axis, rank) + mase_ox_rank(im, y); d < rank && !im->status; d++)
        y = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(y), ARG_INT(-1));
    return y;
}

OX_RULE(binary)
{
    if (absorbed(im)) /* fused as the bias of a linear layer */
        return mase_ox_out(im, 0, absorbed(im));
    struct mase_node *x = mase_ox_x(im, 0), *y = mase_ox_x(im, 1);
    struct mase_arg a = ARG_NODE(x), b = ARG_NODE(y);
    MASE_TRY(im->status);
    if (im->scope->opset < 7)
        b = ARG_NODE(align_operand(im, x, y));
    else if (mase_ox_rank(im, x))
        b = mase_ox_number_or_node(im, 1, mase_ox_dtype(im, x));
    else if (mase_ox_rank(im, y))
        a = mase_ox_number_or_node(im, 0, mase_ox_dtype(im, y));
    return GIVE(im, im->rule->op, a, b);
}

/* Integer division truncates. */
OX_RULE(div)
{
    struct mase_node *x = mase_ox_x(im, 0), *y = mase_ox_x(im, 1);
    MASE_TRY(im->status);
    if (im->scope->opset < 7)
        y = align_operand(im, x, y);
    if (mase_dtype_is_float(mase_ox_dtype(im, x))) {
        const bool number = im->scope->opset >= 7 && mase_ox_rank(im, x);
        return GIVE(im, MASE_OP_div, ARG_NODE(x),
                    number ? mase_ox_number_or_node(im, 1, mase_ox_dtype(im, x)) : ARG_NODE(y));
    }
    const char *key = "rounding_mode";
    const struct mase_arg args[] = { ARG_NODE(x), ARG_NODE(y) }, mode = ARG_TEXT("trunc");
    struct mase_node *q = mase_ox_emit_kw(im, MASE_OP_div, args, 2, &key, &mode, 1);
    return mase_ox_out(im, 0, mase_ox_cast(im, q, mase_ox_dtype(im, x)));
}

/* The result has the type of the base. */
OX_RULE(pow)
{
    struct mase_node *x = mase_ox_x(im, 0), *y = mase_ox_x(im, 1);
    const enum mase_dtype dtype = mase_ox_dtype(im, x);
    MASE_TRY(im->status);
    if (im->scope->opset < 7)
        y = align_operand(im, x, y);
    else if (mase_ox_rank(im, x) && dtype == MASE_F32) {
        const struct mase_arg exponent = mase_ox_number_or_node(im, 1, dtype);
        if (exponent.kind == MASE_ARG_FLOAT)
            return GIVE(im, MASE_OP_pow, ARG_NODE(x), exponent);
    }
    if (!mase_dtype_is_float(dtype) && mase_dtype_is_float(mase_ox_dtype(im, y)))
        x = mase_ox_cast(im, x, MASE_F64);
    else if (mase_dtype_is_float(dtype))
        y = mase_ox_cast(im, y, dtype);
    return mase_ox_out(im, 0,
                       mase_ox_cast(im, EMIT(im, MASE_OP_pow, ARG_NODE(x), ARG_NODE(y)), dtype));
}

OX_RULE(mod)
{
    const enum mase_op op = mase_ox_attr_int(im, "fmod", 0) ? MASE_OP_fmod : MASE_OP_remainder;
    struct mase_node *x = mase_ox_x(im, 0), *y = mase_ox_x(im, 1);
    return GIVE(im, op, ARG_NODE(x), ARG_NODE(y));
}

OX_RULE(where)
{
    struct mase_node *c = mase_ox_x(im, 0), *x = mase_ox_x(im, 1), *y = mase_ox_x(im, 2);
    return GIVE(im, MASE_OP_where, ARG_NODE(c), ARG_NODE(x), ARG_NODE(y));
}

/* ---- any number of operands ---- */

/* Is it the lowest number of its type? ch convert writes such a Max between a value and its
 * rounding. */
static bool is_least(struct mase_ox_import *im, struct mase_ox_value *v)
{
    double number;
    return v && mase_ox_like(im, v)->shape.rank == 0 && mase_ox_like(im, v)->dtype == MASE_F32 &&
           mase_ox_is_known(im, v) && mase_ox_number(im, v, &number) && number == -INFINITY;
}

static struct mase_node *combine(struct mase_ox_import *im, enum mase_op op, const char *target)
{
    struct mase_node *y = mase_ox_x(im, 0);
    for (int i = 1; i < im->node->input.count && !im->status; i++) {
        const struct mase_arg args[] = { ARG_NODE(y), ARG_NODE(mase_ox_x(im, i)) };
        y = target ? mase_ox_emit_target(im, MASE_CALL_FUNCTION, target, args, 2)
                   : mase_ox_emit(im, op, args, 2);
    }
    return y;
}

OX_RULE(variadic_max)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    if (x && !x->init && im->node->input.count == 2 && is_least(im, mase_ox_in(im, 1))) {
        x->shared = true;
        return mase_ox_set_value(im, 0, *x); /* the value as it is, rounded or not */
    }
    return mase_ox_out(im, 0, combine(im, MASE_OP_max, "torch.maximum"));
}

OX_RULE(variadic_min)
{
    return mase_ox_out(im, 0, combine(im, MASE_OP_min, "torch.minimum"));
}

OX_RULE(variadic_sum)
{
    return mase_ox_out(im, 0, combine(im, MASE_OP_add, NULL));
}

OX_RULE(variadic_mean)
{
    struct mase_node *sum = combine(im, MASE_OP_add, NULL);
    return GIVE(im, MASE_OP_div, ARG_NODE(sum), ARG_INT(im->node->input.count));
}

/* ---- bounds ---- */

static struct mase_arg bound(struct mase_ox_import *im, int i)
{
    struct mase_ox_value *v = mase_ox_in(im, i);
    double number;
    if (!v)
        return ARG_NONE;
    if (!mase_ox_is_known(im, v))
        return ARG_NODE(mase_ox_node_of(im, v));
    mase_ox_number(im, v, &number);
    return ARG_FLOAT(number);
}

OX_RULE(clip)
{
    if (mase_ox_clip_codes(im))
        return im->status;
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_arg low = bound(im, 1), high = bound(im, 2);
    if (!mase_dtype_is_float(mase_ox_dtype(im, x))) {
        low = low.kind == MASE_ARG_FLOAT ? ARG_INT(mase_ox_whole(low.f)) : low;
        high = high.kind == MASE_ARG_FLOAT ? ARG_INT(mase_ox_whole(high.f)) : high;
    }
    if (low.kind == MASE_ARG_NONE && high.kind == MASE_ARG_NONE)
        return mase_ox_out(im, 0, x);
    const bool six =
        low.kind == MASE_ARG_FLOAT && low.f == 0.0 && high.kind == MASE_ARG_FLOAT && high.f == 6.0;
    struct mase_node *y = six ? EMIT(im, MASE_OP_relu6, ARG_NODE(x))
                              : EMIT(im, MASE_OP_clamp, ARG_NODE(x), low, high);
    if (mase_ox_out(im, 0, y) == MASE_OK && low.kind == MASE_ARG_FLOAT &&
        high.kind == MASE_ARG_FLOAT)
        mase_ox_remember_clip(im, low.f, high.f);
    return im->status;
}

OX_RULE(clip_by_attributes)
{
    const double low = mase_ox_attr_float(im, "min", -(double)FLT_MAX);
    const double high = mase_ox_attr_float(im, "max", FLT_MAX);
    struct mase_node *x = mase_ox_x(im, 0);
    if (low == 0.0 && high == 6.0)
        return GIVE(im, MASE_OP_relu6, ARG_NODE(x));
    return GIVE(im, MASE_OP_clamp, ARG_NODE(x), ARG_FLOAT(low), ARG_FLOAT(high));
}

/* ---- types ---- */

static bool computed_type(struct mase_ox_import *im, int64_t type, enum mase_dtype *dtype)
{
    if (mase_onnx_dtype(dtype, type) && *dtype < MASE_DTYPE_COUNT)
        return true;
    mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is not computed with", mase_onnx_type_name(type));
    return false;
}

/* Convert a tensor of a type without arithmetic to one that holds every value. */
static bool widen(struct mase_ox_import *im, struct mase_ox_value *v, enum mase_dtype dtype)
{
    const enum mase_dtype from = v && !v->node && v->init ? v->like.dtype : MASE_F32;
    const bool is_float = from == MASE_F16 || from == MASE_BF16,
               small = mase_dtypes[from].size <= 2;
    if (from < MASE_DTYPE_COUNT || from == MASE_U64 ||
        !(dtype == MASE_F64 || (dtype == MASE_F32 && small) || (dtype == MASE_I64 && !is_float) ||
          (dtype == MASE_I32 && !is_float && small)))
        return false;
    const struct mase_tensor *t = mase_ox_known_tensor(im, v);
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    *y = mase_tensor(&im->arena, dtype, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(y, i, mase_tensor_get(t, i));
    mase_ox_set_value(im, 0, (struct mase_ox_value){ .data = y, .like = *y });
    return true;
}

OX_RULE(cast)
{
    enum mase_dtype dtype = MASE_F32;
    (void)mase_ox_attr_int(im, "saturate", 1); /* for 8-bit floats only */
    (void)mase_ox_attr_text(im, "round_mode", "up");
    if (mase_onnx_dtype(&dtype, mase_ox_attr_int(im, "to", 0)) &&
        widen(im, mase_ox_in(im, 0), dtype))
        return im->status;
    struct mase_node *x = mase_ox_x(im, 0);
    if (!im->status && !computed_type(im, mase_ox_attr_int(im, "to", 0), &dtype))
        return im->status;
    return mase_ox_out(im, 0, mase_ox_cast(im, x, dtype));
}

OX_RULE(cast_like)
{
    (void)mase_ox_attr_int(im, "saturate", 1);
    (void)mase_ox_attr_text(im, "round_mode", "up");
    struct mase_node *x = mase_ox_x(im, 0), *like = mase_ox_x(im, 1);
    return mase_ox_out(im, 0, mase_ox_cast(im, x, mase_ox_dtype(im, like)));
}
