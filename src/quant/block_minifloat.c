/*
 * block_minifloat.c - minifloat_ieee with a bias that a block shares, the original's.
 *
 *     b = clamp(floor(log2(max |x|)), 0, 2^exponent_bias_width - 1)     of each block
 *     each value as minifloat_ieee.c rounds it with exponent_bias = b
 *
 * blocks         tiles of block_size (format.h, mase_geometry_tiles), smaller at the edge.
 * rounding       as minifloat_ieee: to nearest, ties to even, without a carry.
 * flaw           the bias grows with the values, where it should fall: a block whose values are
 *                below 2 has a bias of 0 and rounds to multiples of 2^(1-m), m being the bits of
 *                mantissa. A block that is cut by its range has another bias when rounded again.
 * zero           |x| up to 1e-8 stays x. A block of zeros stays zero.
 * infinity, NaN  infinity gives NaN, its block the largest bias; NaN makes the whole block NaN.
 */
#include <math.h>

#include "quant/quant.h"

struct block_minifloat {
    int64_t width, exponent_width, exponent_bias_width;
    struct mase_ints block_size;
    int64_t skip_first_dim;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct block_minifloat, width, 8, 2, 32, "bits of a value"),
    MASE_PARAM_INT(struct block_minifloat, exponent_width, 4, 1, 8, "bits of its exponent"),
    MASE_PARAM_INT(struct block_minifloat, exponent_bias_width, 8, 1, 8,
                   "bits of the bias that a block shares"),
    MASE_PARAM_BLOCK_SIZE(struct block_minifloat, block_size),
    MASE_PARAM_SKIP_FIRST_DIM(struct block_minifloat, skip_first_dim),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct block_minifloat *p = opaque;
    return mase_minifloat_check(p->width, p->exponent_width, err);
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct block_minifloat *p = opaque;
    mase_geometry_tiles(length, s, role, &p->block_size, p->skip_first_dim);
}

static int64_t most_bias(const struct block_minifloat *p)
{
    return (INT64_C(1) << p->exponent_bias_width) - 1;
}

static int64_t share(float largest, float around, const void *opaque)
{
    const float b = floorf(log2f(largest > 0 ? largest : 1.0f));
    (void)around;
    return isnan(largest) ? MASE_NO_CODE : (int64_t)mase_clamp(b, 0.0f, (float)most_bias(opaque));
}

static struct mase_minifloat_levels levels_of(int64_t bias, const void *opaque)
{
    const struct block_minifloat *p = opaque;
    return mase_minifloat_levels(p->width, p->exponent_width, bias);
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(shared, opaque);
    return mase_minifloat_ieee(x, &levels);
}

/* ---- codes ---- */

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(shared, opaque);
    return mase_minifloat_ieee_encode(q, &levels);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(shared, opaque);
    return mase_minifloat_ieee_decode(code, &levels);
}

/* The bias is that of the largest value; of a block that was cut it is another, which is sought. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const int64_t first = share(mase_largest(q, n), NAN, opaque);
    const struct mase_shared biases = { first, most_bias(opaque), first };
    (void)sign;
    return mase_encode_sharing(code, shared, q, n, &biases, code_of, opaque);
}

static int64_t top_of(const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(0, opaque);
    return mase_minifloat_ieee_top(&levels);
}

static int shared_bits(const void *opaque)
{
    return (int)((const struct block_minifloat *)opaque)->exponent_bias_width;
}

const struct mase_quant_info mase_quant_block_minifloat = {
    .name = "block_minifloat",
    .suffix = "BlockMinifloat",
    .func = "block_minifloat",
    .help = "minifloat_ieee with a bias that a block shares, which grows with its values",
    .drawn = "block_minifloat(5, 2, 8, [16])",
    .params = params,
    .size = sizeof(struct block_minifloat),
    .resolve = resolve,
    .geometry = geometry,
    .share = share,
    .round = round_value,
    .encode = encode,
    .decode = decode,
    .top = top_of,
    .bits = mase_width_of,
    .shared_bits = shared_bits,
    .unstable = true,
};
