/*
 * qonnx.c - the operations of QONNX, which Brevitas and FINN write: Quant, BipolarQuant, Trunc,
 * FloatQuant.
 *
 * Scales, zero points and widths are tensors that broadcast. Weights are rounded here if no number
 * format expresses the rounding.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* ---- parameters ---- */

static bool read_rounding(struct mase_ox_import *im, const char *dflt,
                          enum mase_ox_rounding *rounding)
{
    static const struct {
        const char *name;
        enum mase_ox_rounding rounding;
    } names[] = { { "ROUND", OX_NEAREST },        { "HALF_EVEN", OX_NEAREST },
                  { "FLOOR", OX_FLOOR },          { "CEIL", OX_CEIL },
                  { "DOWN", OX_TO_ZERO },         { "HALF_UP", OX_AWAY },
                  { "ROUND_TO_ZERO", OX_TO_ZERO } };
    const char *mode = mase_ox_attr_text(im, "rounding_mode", dflt);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (mase_strcaseeq(mode, names[i].name)) {
            *rounding = names[i].rounding;
            return !im->status;
        }
    mase_ox_fail(im, MASE_EUNSUPPORTED,
                 "rounding mode '%s' is none of ROUND, HALF_EVEN, HALF_UP, FLOOR, CEIL and DOWN",
                 mode);
    return false;
}

/* The constant at input i. */
static const struct mase_tensor *known(struct mase_ox_import *im, int i)
{
    const struct mase_tensor *t = mase_ox_known_tensor(im, mase_ox_in(im, i));
    if (!t)
        mase_ox_fail(im, MASE_EUNSUPPORTED, "input %d must be known", i);
    return im->status ? NULL : t;
}

static bool known_number(struct mase_ox_import *im, int i, double *v)
{
    const struct mase_tensor *t = known(im, i);
    if (t && mase_tensor_count(t) != 1)
        mase_ox_fail(im, MASE_EUNSUPPORTED, "input %d must be one number", i);
    if (!im->status)
        *v = mase_tensor_get(t, 0);
    return !im->status;
}

/* Read constants that broadcast with one another, expanded to the size of the largest. */
static bool read_broadcast(struct mase_ox_import *im, struct mase_ox_qparams *q, const int *at,
                           const double **const *to, int count, const struct mase_shape *x)
{
    const struct mase_tensor *t[4];
    const struct mase_shape *s = NULL;
    int axis = 0, longer = 0;
    q->count = 1;
    for (int k = 0; k < count; k++) {
        if (!(t[k] = known(im, at[k])))
            return false;
        if (mase_tensor_count(t[k]) > q->count) {
            q->count = mase_tensor_count(t[k]);
            s = &t[k]->shape;
        }
    }
    for (int k = 0; k < count; k++) {
        const int64_t n = mase_tensor_count(t[k]);
        if (n != 1 && (n != q->count || !mase_shape_equal(&t[k]->shape, s)))
            return !mase_ox_fail(im, MASE_EUNSUPPORTED,
                                 "scale, zero point and width are of different shapes");
        *to[k] = n == 1 ? mase_ox_repeated(im, mase_tensor_get(t[k], 0), q->count)
                        : mase_ox_doubles(im, t[k]);
    }
    for (int d = 0; s && d < s->rank; d++)
        if (s->dim[d] > 1) {
            axis = x->rank - s->rank + d;
            longer++;
            if (axis < 0 || x->dim[axis] != s->dim[d])
                return !mase_ox_fail(im, MASE_EVALUE, "its scale does not broadcast to its input");
        }
    q->axis = axis;
    if (longer > 1)
        q->shape = mase_arena_memdup(&im->arena, s, sizeof *s);
    return true;
}

/* Bounds of codes from bits. */
static bool set_bounds(struct mase_ox_import *im, struct mase_ox_qparams *q, const double *bits,
                       bool is_signed, bool narrow)
{
    double *lo = mase_new_array(&im->arena, double, (size_t)q->count),
           *hi = mase_new_array(&im->arena, double, (size_t)q->count);
    for (int64_t i = 0; i < q->count; i++) {
        if (!(bits[i] >= 1 && bits[i] <= 32) || bits[i] != rint(bits[i]))
            return !mase_ox_fail(im, MASE_EUNSUPPORTED, "a width of %g bits is not one of 1 to 32",
                                 bits[i]);
        if (!(q->scale[i] > 0) || !isfinite(q->scale[i]))
            return !mase_ox_fail(im, MASE_EVALUE, "scale %g is not above 0", q->scale[i]);
        lo[i] = is_signed ? -ldexp(1, (int)bits[i] - 1) + narrow : 0;
        hi[i] = is_signed ? ldexp(1, (int)bits[i] - 1) - 1 : ldexp(1, (int)bits[i]) - 1 - narrow;
    }
    q->lo = lo;
    q->hi = hi;
    return true;
}

/* One signed bit stands for 1 and -1. */
static bool one_bit(struct mase_ox_import *im, struct mase_ox_qparams *q, const double *bits)
{
    for (int64_t i = 0; i < q->count; i++)
        if (bits[i] != 1 || q->zero[i] != 0 || q->rounding != OX_NEAREST)
            return !mase_ox_fail(im, MASE_EUNSUPPORTED,
                                 "one bit with a sign beside other widths, a zero point or another "
                                 "rounding");
    q->rounding = OX_SIGN;
    q->lo = mase_ox_repeated(im, -1, q->count);
    q->hi = mase_ox_repeated(im, 1, q->count);
    return true;
}

static struct mase_ox_qparams *read_qparams(struct mase_ox_import *im, const struct mase_shape *x)
{
    struct mase_ox_qparams *q = mase_new(&im->arena, struct mase_ox_qparams);
    const bool is_signed = mase_ox_attr_int(im, "signed", 1) != 0,
               narrow = mase_ox_attr_int(im, "narrow", 0) != 0;
    const double *bits;
    const int at[] = { 1, 2, 3 };
    const double **const to[] = { &q->scale, &q->zero, &bits };
    q->shifted = true;
    q->type = MASE_ONNX_FLOAT32;
    if (!read_rounding(im, "ROUND", &q->rounding) || !read_broadcast(im, q, at, to, 3, x) ||
        !set_bounds(im, q, bits, is_signed, narrow))
        return NULL;
    bool one = false;
    for (int64_t i = 0; i < q->count; i++)
        one |= is_signed && bits[i] == 1;
    return one && !one_bit(im, q, bits) ? NULL : q;
}

/* ---- rounding weights ---- */

/* The index of the scale that applies to element i. */
static int64_t number_of(const struct mase_ox_qparams *q, const struct mase_shape *x, int64_t i)
{
    if (q->count == 1)
        return 0;
    if (!q->shape) {
        const struct mase_axis a = mase_axis_of(x, q->axis);
        return i / a.inner % a.len;
    }
    int64_t at = 0, step = 1;
    for (int d = 0; d < q->shape->rank; d++) {
        const int64_t of_x = x->dim[x->rank - 1 - d], own = q->shape->dim[q->shape->rank - 1 - d];
        at += own > 1 ? i % of_x * step : 0;
        step *= own;
        i /= of_x;
    }
    return at;
}

static float round_one(float x, const struct mase_ox_qparams *q, int64_t c)
{
    const float scale = (float)q->scale[c], zero = (float)q->zero[c];
    if (q->rounding == OX_SIGN)
        return x >= 0 ? scale : -scale;
    float y = x / scale + zero;
    y = fminf(fmaxf(y, (float)q->lo[c]), (float)q->hi[c]);
    y = q->rounding == OX_NEAREST ? rintf(y)
        : q->rounding == OX_FLOOR ? floorf(y)
        : q->rounding == OX_CEIL  ? ceilf(y)
        : q->rounding == OX_AWAY  ? roundf(y)
                                  : truncf(y);
    return (y - zero) * scale;
}

/* Rounded values are codes to nearest, too: 1 and -1 are two of the three codes of two bits. */
static const struct mase_ox_qparams *nearest_of(struct mase_ox_import *im,
                                                const struct mase_ox_qparams *q)
{
    struct mase_ox_qparams *r = mase_arena_memdup(&im->arena, q, sizeof *q);
    for (int64_t i = 0; i < q->count; i++)
        if (q->zero[i] != 0)
            return NULL;
    r->rounding = OX_NEAREST;
    return mase_ox_qparams_are_format(r) ? r : NULL;
}

/* Divide by the scale, round by the format, multiply. */
static void round_by_format(struct mase_tensor *y, const struct mase_tensor *t,
                            const struct mase_ox_qparams *q)
{
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_f32(y)[i] = mase_f32(t)[i] / (float)q->scale[number_of(q, &t->shape, i)];
    mase_quantize(q->format, mase_f32(y), mase_f32(y), &t->shape, MASE_ROLE_WEIGHT, MASE_SIGNED);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_f32(y)[i] *= (float)q->scale[number_of(q, &t->shape, i)];
}

static struct mase_ox_value rounded_weight(struct mase_ox_import *im, struct mase_ox_value *x,
                                           const struct mase_ox_qparams *q)
{
    const struct mase_tensor *t = mase_ox_known_tensor(im, x);
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    *y = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    if (q->format)
        round_by_format(y, t, q);
    for (int64_t i = 0; !q->format && i < mase_tensor_count(t); i++)
        mase_f32(y)[i] = round_one(mase_f32(t)[i], q, number_of(q, &t->shape, i));
    return (struct mase_ox_value){ .data = y,
                                   .like = *y,
                                   .qparams = q->format ? NULL : nearest_of(im, q) };
}

static enum mase_status set_rounded(struct mase_ox_import *im, struct mase_ox_value *x,
                                    const struct mase_ox_qparams *q)
{
    const struct mase_ox_qparams *own;
    MASE_TRY(im->status);
    if (mase_ox_like(im, x)->dtype != MASE_F32)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "only float32 is quantised");
    struct mase_ox_value v = { .base = x, .qparams = q, .name = "" };
    const bool weight = mase_ox_is_param(im, x);
    if (weight && (mase_ox_weight(im, &v, &own), !own))
        v = rounded_weight(im, x, q);
    return mase_ox_set_value(im, 0, v);
}

/* ---- operations ---- */

static struct mase_ox_value *operand(struct mase_ox_import *im)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    if (!x && !im->status)
        mase_ox_fail(im, MASE_EVALUE, "it has no input");
    return im->status ? NULL : x;
}

OX_RULE(quant)
{
    struct mase_ox_value *x = operand(im);
    return x ? set_rounded(im, x, read_qparams(im, &mase_ox_like(im, x)->shape)) : im->status;
}

OX_RULE(bipolar_quant)
{
    struct mase_ox_value *x = operand(im);
    struct mase_ox_qparams *q = mase_new(&im->arena, struct mase_ox_qparams);
    const int at = 1;
    const double **const to = &q->scale;
    if (!x || !read_broadcast(im, q, &at, &to, 1, &mase_ox_like(im, x)->shape))
        return im->status;
    q->type = MASE_ONNX_FLOAT32;
    q->shifted = true;
    q->rounding = OX_SIGN;
    q->zero = mase_ox_repeated(im, 0, q->count);
    q->lo = mase_ox_repeated(im, -1, q->count);
    q->hi = mase_ox_repeated(im, 1, q->count);
    return set_rounded(im, x, q);
}

/* Codes of one scale become codes of a larger one:
 *
 *     y = op(clamp(round(x / scale + zero) / ratio)),  (y - zero / ratio) output_scale
 *
 * with a ratio that is a power of two. With five inputs, the older form, the ratio is that of the
 * widths, nothing is cut, and scale and zero point stay. */
OX_RULE(trunc)
{
    const bool older = im->node->input.count < 6;
    double scale = 1, zero = 0, in_bits = 1, out_scale = 1, out_bits = 1;
    enum mase_ox_rounding rounding = OX_FLOOR;
    const bool is_signed = mase_ox_attr_int(im, "signed", 1) != 0,
               narrow = mase_ox_attr_int(im, "narrow", 0) != 0;
    struct mase_node *x = mase_ox_x(im, 0);
    if (!read_rounding(im, "FLOOR", &rounding) || !known_number(im, 1, &scale) ||
        !known_number(im, 2, &zero) || !known_number(im, 3, &in_bits) ||
        !known_number(im, older ? 4 : 5, &out_bits) || (!older && !known_number(im, 4, &out_scale)))
        return im->status;
    if (!(scale > 0 && out_scale > 0 && in_bits >= 1 && in_bits <= 64 && out_bits >= 1 &&
          out_bits <= 32))
        return mase_ox_fail(im, MASE_EVALUE, "a scale is not above 0, or a width not one of 1..32");
    const double ratio =
        exp2(older ? in_bits - out_bits : rint(log2((double)((float)out_scale / (float)scale))));
    struct mase_node *y = EMIT(im, MASE_OP_div, ARG_NODE(x), ARG_FLOAT(scale));
    if (zero != 0)
        y = EMIT(im, MASE_OP_add, ARG_NODE(y), ARG_FLOAT(zero));
    y = EMIT(im, MASE_OP_div, ARG_NODE(EMIT(im, MASE_OP_round, ARG_NODE(y))), ARG_FLOAT(ratio));
    if (!older)
        y = EMIT(im, MASE_OP_clamp, ARG_NODE(y),
                 ARG_FLOAT(is_signed ? -exp2(out_bits - 1) + narrow : 0),
                 ARG_FLOAT(is_signed ? exp2(out_bits - 1) - 1 : exp2(out_bits) - 1 - narrow));
    y = mase_ox_round(im, y, rounding);
    if (zero != 0)
        y = EMIT(im, MASE_OP_sub, ARG_NODE(y), ARG_FLOAT(older ? zero : zero / ratio));
    return GIVE(im, MASE_OP_mul, ARG_NODE(y), ARG_FLOAT(older ? scale : out_scale));
}

/* Which codes are infinities or NaN, by the largest value; NULL: none of the usual conventions. */
static const char *specials_of(double bits, double mantissa, double bias, double largest)
{
    const double top = exp2(exp2(bits) - 1 - bias);
    return largest >= top * (2 - exp2(-mantissa))       ? "none"
           : largest == top * (2 - 2 * exp2(-mantissa)) ? "fn"
           : largest == top / 2 * (2 - exp2(-mantissa)) ? "ieee"
                                                        : NULL;
}

OX_RULE(float_quant)
{
    struct mase_arena *a = &im->arena;
    struct mase_ox_value *x = operand(im);
    struct mase_ox_qparams *q = mase_new(a, struct mase_ox_qparams);
    const double **const to = &q->scale;
    const int at = 1;
    double bits, mantissa, bias, largest;
    enum mase_ox_rounding rounding;
    static const char *const told[] = { "has_inf", "has_nan", "has_subnormal", "signed" };
    for (size_t k = 0; k < sizeof told / sizeof *told; k++)
        (void)mase_ox_attr_int(im, told[k], 0); /* read, but the largest value alone decides */
    const bool saturates = mase_ox_attr_int(im, "saturation", 1) != 0;
    if (!x || !read_rounding(im, "ROUND", &rounding) || !known_number(im, 2, &bits) ||
        !known_number(im, 3, &mantissa) || !known_number(im, 4, &bias) ||
        !known_number(im, 5, &largest) ||
        !read_broadcast(im, q, &at, &to, 1, &mase_ox_like(im, x)->shape))
        return im->status;
    const double fields[] = { bits, mantissa, bias };
    for (int k = 0; k < 3; k++)
        if (!(fabs(fields[k]) <= 1024) || fields[k] != rint(fields[k]))
            return mase_ox_fail(im, MASE_EUNSUPPORTED,
                                "input %d, %g, is no whole number of up to 1024", k + 2, fields[k]);
    const char *specials = specials_of(bits, mantissa, bias, largest);
    if (!saturates || !specials || !mase_ox_direction(rounding))
        return mase_ox_fail(
            im, MASE_EUNSUPPORTED,
            "only saturation, a largest value of a usual kind, and other modes than CEIL "
            "are read");
    struct mase_value *v = mase_value_list(a);
    mase_value_push(a, v, mase_value_int(a, (int64_t)(1 + bits + mantissa)));
    mase_value_push(a, v, mase_value_int(a, (int64_t)bits));
    mase_value_push(a, v, mase_value_int(a, (int64_t)bias));
    mase_value_push(a, v, mase_value_string(a, specials));
    mase_value_push(a, v, mase_value_string(a, "saturate"));
    mase_value_push(a, v, mase_value_string(a, mase_ox_direction(rounding)));
    struct mase_err inner = { 0 };
    if (mase_format_from_list(&q->format, MASE_QUANT_minifloat, v, &inner))
        return mase_ox_fail(im, inner.status, "%s", inner.msg);
    return set_rounded(im, x, q);
}
