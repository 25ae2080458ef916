/*
 * minifloat_ieee.c - floating point with an implicit bit and without codes for infinity and NaN,
 * the original's.
 *
 *     e = clamp(floor(log2(|x| + 1e-9)), -bias, 2^exponent_width - 1 - bias)
 *     q = sign(x + 1e-9) * 2^e * (1 + clamp(round((|x| * 2^-e - 1) * 2^m), 0, 2^m - 1) / 2^m)
 *     of the lowest exponent: sign(x + 1e-9) * 2^(1-bias-m) * clamp(round(|x| 2^(m-1+bias)), ...)
 *
 *     m = width - exponent_width - 1 bits of mantissa
 *
 * exponent_bias  none means 2^(exponent_width - 1) - 1.
 * range          up to 2^(2^exponent_width - 1 - bias) (2 - 2^-m), beyond which it saturates.
 * rounding       to nearest, ties to even, without a carry.
 * flaw           1.97 gives 1.875 with (8, 4), not 2: a mantissa of 2^m becomes 2^m - 1.
 * zero           |x| up to 1e-8 stays x.
 * subnormals     of the lowest exponent, steps of 2^(1-bias-m).
 * infinity, NaN  give NaN.
 * log2           is the float32 logarithm: what is just below a power of two may count as it.
 */
#include <math.h>

#include "quant/quant.h"

const struct mase_opt mase_minifloat_params[] = {
    MASE_PARAM_INT(struct mase_minifloat, width, 8, 2, 32, "bits of a value"),
    MASE_PARAM_INT(struct mase_minifloat, exponent_width, 4, 1, 8, "bits of its exponent"),
    MASE_PARAM_INT_OR_NONE(struct mase_minifloat, exponent_bias, -256, 256,
                           "is subtracted from the stored exponent; none: half of its range"),
    { 0 },
};

enum mase_status mase_minifloat_check(int64_t width, int64_t exponent_width, struct mase_err *err)
{
    if (width > exponent_width && width - exponent_width - 1 <= 23)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "a width of %lld leaves %lld bits of mantissa beside the sign and "
                     "exponent_width = %lld: 0..23 are allowed",
                     (long long)width, (long long)(width - exponent_width - 1),
                     (long long)exponent_width);
}

enum mase_status mase_minifloat_resolve(void *opaque, struct mase_err *err)
{
    struct mase_minifloat *p = opaque;
    if (p->exponent_bias == MASE_NA)
        p->exponent_bias = (INT64_C(1) << (p->exponent_width - 1)) - 1;
    return mase_minifloat_check(p->width, p->exponent_width, err);
}

struct mase_minifloat_levels mase_minifloat_levels(int64_t width, int64_t exponent_width,
                                                   int64_t bias)
{
    return (struct mase_minifloat_levels){
        .lo = (float)-bias,
        .hi = (float)((INT64_C(1) << exponent_width) - 1 - bias),
        .mantissas = ldexpf(1.0f, (int)(width - exponent_width - 1)),
    };
}

/* ---- rounding ---- */

float mase_minifloat_ieee(float x, const struct mase_minifloat_levels *levels)
{
    const float e = mase_clamp(floorf(log2f(fabsf(x) + MASE_TINY)), levels->lo, levels->hi);
    const float scale = exp2f(e), m = fabsf(x) / scale, most = levels->mantissas - 1;
    const float normal = mase_clamp(rintf(m * levels->mantissas - levels->mantissas), 0.0f, most);
    const float low = mase_clamp(rintf(m * levels->mantissas / 2), 0.0f, most);
    const float mantissa =
        e > levels->lo ? 1 + normal / levels->mantissas : low / levels->mantissas * 2;
    return mase_kept_or(x, mase_sign_of(x + MASE_TINY) * scale * mantissa);
}

struct mase_minifloat_levels mase_minifloat_levels_of(const void *opaque)
{
    const struct mase_minifloat *p = opaque;
    return mase_minifloat_levels(p->width, p->exponent_width, p->exponent_bias);
}

/* ---- codes: exponent and mantissa side by side, as they would be stored ---- */

float mase_minifloat_ieee_decode(int64_t code, const struct mase_minifloat_levels *levels)
{
    const int64_t all = (int64_t)levels->mantissas, size = code < 0 ? -code : code;
    const int64_t above = size / all, m = size % all;
    const float v = above ? 1 + (float)m / levels->mantissas : 2 * (float)m / levels->mantissas;
    return ldexpf(code < 0 ? -v : v, (int)(levels->lo + (float)above));
}

int64_t mase_minifloat_ieee_top(const struct mase_minifloat_levels *levels)
{
    return (int64_t)(levels->hi - levels->lo + 1) * (int64_t)levels->mantissas - 1;
}

int64_t mase_minifloat_ieee_encode(float q, const struct mase_minifloat_levels *levels)
{
    const int64_t all = (int64_t)levels->mantissas;
    int e;
    if (fabsf(q) <= MASE_KEPT)
        return 0;
    frexpf(q, &e); /* 2^(e-1) <= |q| < 2^e */
    const int64_t above = (float)(e - 1) > levels->lo ? e - 1 - (int64_t)levels->lo : 0;
    const double v =
        ldexp(fabs((double)q), (int)(-levels->lo - (float)above)) * (double)levels->mantissas;
    const double m = above ? v - (double)levels->mantissas : v / 2;
    const int64_t size = isfinite(q) && m == rint(m) ? above * all + (int64_t)m : -1;
    if (size < 0 || size > mase_minifloat_ieee_top(levels))
        return MASE_NO_CODE;
    return q < 0 ? -size : size;
}

/* ---- the row ---- */

static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    (void)shared;
    return mase_minifloat_ieee(x, &levels);
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    (void)shared;
    return mase_minifloat_ieee_encode(q, &levels);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    (void)shared;
    return mase_minifloat_ieee_decode(code, &levels);
}

static int64_t top_of(const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    return mase_minifloat_ieee_top(&levels);
}

const struct mase_quant_info mase_quant_minifloat_ieee = {
    .name = "minifloat_ieee",
    .suffix = "MinifloatIEEE",
    .func = "minifloat_ieee",
    .help = "floating point with an implicit bit; a mantissa that rounds up to the next power of "
            "two is cut",
    .drawn = "minifloat_ieee(5, 2, NA)",
    .params = mase_minifloat_params,
    .size = sizeof(struct mase_minifloat),
    .resolve = mase_minifloat_resolve,
    .round = round_value,
    .code = code_of,
    .decode = decode,
    .top = top_of,
    .bits = mase_width_of,
};
