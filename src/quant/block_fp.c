/*
 * block_fp.c - block floating point: sign and mantissa for each value, one exponent for a block.
 *
 *     E = clamp(ceil(log2(max |x|)), -bias, 2^exponent_width - 1 - bias)      of each block
 *     q = sign(x) * 2^E * clamp(round(|x| * 2^(m - E)), 0, 2^m - 1) / 2^m     m = width - 1
 *
 * exponent_bias  none means 2^(exponent_width - 1) - 1.
 * blocks         tiles of block_size (format.h, mase_geometry_tiles), smaller at the edge.
 * rounding       to nearest, ties to even.
 * saturation     a mantissa of 2^m becomes 2^m - 1: a largest value that is a power of two
 *                shrinks, and again when a result is one. An exponent beyond its range is cut.
 * zero           |x| up to 1e-8 stays x; sign(0) is +.
 * NaN, infinity  make the whole block NaN.
 * log2           is the float32 logarithm: what is just below a power of two may count as it.
 *
 * The original's results to the bit (the constant 1e-9 that it adds before comparing and rounding
 * is part of that), except that its exponent of an all-zero block depends on other blocks, which no
 * finite result shows.
 */
#include <math.h>
#include <stddef.h>

#include "quant/quant.h"

struct block_fp {
    int64_t width, exponent_width, exponent_bias;
    struct mase_ints block_size;
    int64_t skip_first_dim;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct block_fp, width, 8, 2, 24, "bits of a value: sign and mantissa"),
    MASE_PARAM_INT(struct block_fp, exponent_width, 8, 1, 16,
                   "bits of the exponent that a block shares"),
    MASE_PARAM_INT_OR_NONE(struct block_fp, exponent_bias, -65536, 65536,
                           "is subtracted from the stored exponent; none: half of its range"),
    MASE_PARAM_BLOCK_SIZE(struct block_fp, block_size),
    MASE_PARAM_SKIP_FIRST_DIM(struct block_fp, skip_first_dim),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct block_fp *p = opaque;
    (void)err;
    if (p->exponent_bias == MASE_NA)
        p->exponent_bias = (INT64_C(1) << (p->exponent_width - 1)) - 1;
    return MASE_OK;
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct block_fp *p = opaque;
    mase_geometry_tiles(length, s, role, &p->block_size, p->skip_first_dim);
}

/* ---- rounding ---- */

struct mase_block_fp_levels mase_block_fp_levels(const void *opaque)
{
    const struct block_fp *p = opaque;
    return (struct mase_block_fp_levels){
        .lo = (float)-p->exponent_bias,
        .hi = (float)((INT64_C(1) << p->exponent_width) - 1 - p->exponent_bias),
        .mantissas = ldexpf(1.0f, (int)p->width - 1),
    };
}

static int64_t share(float largest, float around, const void *opaque)
{
    const struct mase_block_fp_levels levels = mase_block_fp_levels(opaque);
    const float e = ceilf(log2f(largest > 0 ? largest : 1.0f));
    (void)around;
    return isfinite(largest) ? (int64_t)mase_clamp(e, levels.lo, levels.hi) : MASE_NO_CODE;
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const float mantissas = mase_block_fp_levels(opaque).mantissas, scale = exp2f((float)shared);
    float m = rintf((fabsf(x) + MASE_TINY) / scale * mantissas);
    if (m < 0)
        m = 0;
    if (m > mantissas - 1)
        m = mantissas - 1;
    const float q = mase_sign_of(x + MASE_TINY) * scale * (m / mantissas);
    const bool is_kept = fabsf(x) <= MASE_KEPT;
    return isnan(q) || !is_kept ? q : x;
}

/* ---- codes ---- */

static int64_t top_of(const void *opaque)
{
    return (INT64_C(1) << (((const struct block_fp *)opaque)->width - 1)) - 1;
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const float kept_or_q = fabsf(q) <= MASE_KEPT ? 0.0f : q;
    const double top = (double)top_of(opaque);
    return mase_whole_code(ldexp((double)kept_or_q, mase_width_of(opaque) - 1 - (int)shared), -top,
                           top);
}

/* The exponent is that of the largest value, which fills its mantissa at least by half. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct mase_block_fp_levels levels = mase_block_fp_levels(opaque);
    int e;
    (void)sign;
    frexpf(mase_largest(q, n), &e);
    *shared = (int64_t)mase_clamp((float)e, levels.lo, levels.hi);
    return mase_encode_by(code, *shared, q, n, code_of, opaque);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct block_fp *p = opaque;
    return ldexpf((float)code, (int)(shared - p->width + 1));
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const struct block_fp *p = opaque;
    const int64_t top = (INT64_C(1) << p->exponent_width) - 1 - p->exponent_bias;
    (void)sign;
    *high = decode(top_of(p), top < 128 ? top : 128, p);
    *low = -*high;
}

static int shared_bits(const void *opaque)
{
    return (int)((const struct block_fp *)opaque)->exponent_width;
}

const struct mase_quant_info mase_quant_block_fp = {
    .name = "block_fp",
    .suffix = "BlockFP",
    .func = "block_fp",
    .help = "block floating point: sign and mantissa for each value, one exponent for a block",
    .drawn = "block_fp(5, 8, NA, [16])",
    .params = params,
    .size = sizeof(struct block_fp),
    .resolve = resolve,
    .geometry = geometry,
    .share = share,
    .round = round_value,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .top = top_of,
    .bits = mase_width_of,
    .shared_bits = shared_bits,
    .for_data = true,
    .unstable = true,
};
