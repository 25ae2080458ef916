/*
 * minifloat_denorm.c - floating point without an implicit bit, the original's.
 *
 *     e = clamp(ceil(log2(|x| + 1e-9)), -bias, 2^exponent_width - 1 - bias)
 *     q = sign(x + 1e-9) * 2^e * clamp(round(|x| * 2^(m - e)), 0, 2^m - 1) / 2^m
 *
 *     m = width - exponent_width - 1 bits of mantissa
 *
 * exponent_bias  none means 2^(exponent_width - 1) - 1.
 * range          up to 2^(2^exponent_width - 1 - bias) (2^m - 1) / 2^m, beyond which it saturates.
 * rounding       to nearest, ties to even, without a carry: a mantissa of 2^m becomes 2^m - 1.
 * flaw           an exact power of two has that mantissa and shrinks, 1 to 0.875 with (8, 4), as
 *                does a result that is one: rounding twice is not rounding once.
 * zero           |x| up to 1e-8 stays x.
 * subnormals     the lowest exponent has all mantissas, the others those from 2^(m-1) on.
 * infinity, NaN  give NaN.
 * log2           is the float32 logarithm: what is just above a power of two may count as it.
 */
#include <math.h>

#include "quant/quant.h"

static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    const float e = mase_clamp(ceilf(log2f(fabsf(x) + MASE_TINY)), levels.lo, levels.hi);
    const float scale = exp2f(e);
    const float m = rintf(fabsf(x) / scale * levels.mantissas);
    const float cut = mase_clamp(m, 0.0f, levels.mantissas - 1);
    (void)shared;
    return mase_kept_or(x, mase_sign_of(x + MASE_TINY) * scale * (cut / levels.mantissas));
}

/* ---- codes: all mantissas of the lowest exponent, then the upper half of each other's ---- */

static float size_of(int64_t code, const struct mase_minifloat_levels *levels)
{
    const int64_t all = (int64_t)levels->mantissas, half = all / 2;
    const int64_t above = code < all || !half ? 0 : (code - all) / half + 1;
    const int64_t m = above ? half + (code - all) % half : code;
    return ldexpf((float)m / levels->mantissas, (int)(levels->lo + (float)above));
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    (void)shared;
    return code < 0 ? -size_of(-code, &levels) : size_of(code, &levels);
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    const int64_t all = (int64_t)levels.mantissas, half = all / 2;
    int e;
    (void)shared;
    if (fabsf(q) <= MASE_KEPT)
        return 0;
    frexpf(q, &e); /* 2^(e-1) <= |q| < 2^e, the mantissa's upper half */
    const int64_t above = (float)e > levels.lo ? e - (int64_t)levels.lo : 0;
    const double m =
        ldexp(fabs((double)q), (int)(-levels.lo - (float)above)) * (double)levels.mantissas;
    if (!isfinite(q) || (float)e > levels.hi || m != rint(m) || m > (double)(all - 1))
        return MASE_NO_CODE;
    const int64_t size = above ? all + (above - 1) * half + (int64_t)m - half : (int64_t)m;
    return q < 0 ? -size : size;
}

static int64_t top_of(const void *opaque)
{
    const struct mase_minifloat_levels levels = mase_minifloat_levels_of(opaque);
    const int64_t all = (int64_t)levels.mantissas;
    return all - 1 + (int64_t)(levels.hi - levels.lo) * (all / 2);
}

const struct mase_quant_info mase_quant_minifloat_denorm = {
    .name = "minifloat_denorm",
    .suffix = "MinifloatDenorm",
    .func = "minifloat_denorm",
    .help = "floating point without an implicit bit; a mantissa that rounds up to the next power "
            "of two is cut",
    .drawn = "minifloat_denorm(5, 2, NA)",
    .params = mase_minifloat_params,
    .size = sizeof(struct mase_minifloat),
    .resolve = mase_minifloat_resolve,
    .round = round_value,
    .code = code_of,
    .decode = decode,
    .top = top_of,
    .bits = mase_width_of,
    .unstable = true,
};
