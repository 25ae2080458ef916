/*
 * integer.c - fixed point: a two's complement or unsigned integer of width bits, times
 * 2^-frac_width.
 *
 *     q = clamp(round(x * 2^frac_width), lo, hi) * 2^-frac_width
 *
 *     signed      lo = -2^(width-1)    hi = 2^(width-1) - 1
 *     unsigned    lo = 0               hi = 2^width - 1
 *
 * frac_width   may be negative (steps larger than 1) or exceed width (all values below 1); none
 *              means width / 2, rounded down.
 * rounding     to nearest, ties to even: the default rounding mode, which nothing here changes.
 * saturation   beyond lo and hi, infinities included.
 * NaN          stays NaN.
 * zero         x that rounds to zero keeps its sign: -0.01 gives -0.0 signed; unsigned gives +0.0
 *              for everything negative.
 * precision    every step is a float32 operation. The scale is a power of two, so scaling is exact
 *              apart from overflow, which saturates, and from values far below a step, which round
 *              to zero anyway. An hi of more than 24 bits is no float32 and becomes the next one,
 *              2^(width-1) or 2^width: one step too many, as in the original, whose results these
 *              are to the bit.
 */
#include <math.h>

#include "quant/quant.h"

const struct mase_quant_param mase_integer_params[INTEGER_PARAM_COUNT] = {
    [INTEGER_WIDTH] = { "width", 1, 32, false, 8, "bits of the integer", MASE_PARAM_WIDTH },
    [INTEGER_FRAC_WIDTH] = { "frac_width", -32, 64, true, 4,
                             "bits after the binary point; none: half of width", MASE_PARAM_OTHER },
};

struct mase_integer_grid mase_integer_grid(const struct mase_format *f, enum mase_sign sign)
{
    const int width = (int)f->param[INTEGER_WIDTH];
    const int64_t frac = f->param[INTEGER_FRAC_WIDTH];
    const int64_t steps = INT64_C(1) << (sign == MASE_SIGNED ? width - 1 : width);
    return (struct mase_integer_grid){
        .scale = ldexpf(1.0f, frac == MASE_NA ? width / 2 : (int)frac),
        .lo = sign == MASE_SIGNED ? -(float)steps : 0.0f,
        .hi = (float)(steps - 1),
    };
}

void mase_integer_ref(float *q, const float *x, int64_t n, const struct mase_format *f,
                      enum mase_sign sign)
{
    const struct mase_integer_grid g = mase_integer_grid(f, sign);
    for (int64_t i = 0; i < n; i++) {
        float r = rintf(x[i] * g.scale);
        if (r <= g.lo) /* false for NaN; <= and not <, so that unsigned -0.0 becomes 0.0 */
            r = g.lo;
        if (r > g.hi)
            r = g.hi;
        q[i] = r / g.scale;
    }
}

/* In double every product is exact. An hi of more than 24 bits is no float32: there the reference's
 * largest value is the next one, which counts as in range. */
bool mase_integer_code(int64_t *code, float q, const struct mase_format *f, enum mase_sign sign)
{
    const struct mase_integer_grid g = mase_integer_grid(f, sign);
    const double r = (double)q * (double)g.scale;

    if (!(r >= (double)g.lo && r <= (double)g.hi) || r != rint(r)) /* the first: NaN too */
        return false;
    *code = (int64_t)r;
    return true;
}
