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

static int64_t bias_of(float largest, const struct block_minifloat *p)
{
    const float b = floorf(log2f(largest > 0 ? largest : 1.0f));
    return (int64_t)mase_clamp(b, 0.0f, (float)most_bias(p));
}

static struct mase_minifloat_grid grid_of(int64_t bias, const struct block_minifloat *p)
{
    return mase_minifloat_grid(p->width, p->exponent_width, bias);
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct block_minifloat *p = opaque;
    (void)sign; /* the sign has a bit of its own */
    for (int64_t l = 0; l < b->lanes; l++) {
        float largest;
        mase_block_largest(&largest, x, b, l, 1);
        const struct mase_minifloat_grid g = grid_of(isnan(largest) ? 0 : bias_of(largest, p), p);
        for (int64_t r = 0; r < b->rows; r++) {
            const int64_t i = b->row[r] + l;
            q[i] = isnan(largest) ? NAN : mase_minifloat_ieee(x[i], &g);
        }
    }
}

/* ---- codes ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_grid g = grid_of(shared, opaque);
    return mase_minifloat_ieee_decode(code, &g);
}

/* The bias is that of the largest value; of a block that was cut it is another, which is sought. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct block_minifloat *p = opaque;
    const float largest = mase_largest(q, n);
    (void)sign;
    const int64_t first = bias_of(largest, p);
    for (int64_t b = first; b <= most_bias(p); b++) {
        const struct mase_minifloat_grid g = grid_of(b, p);
        *shared = b;
        if (mase_encode_each(code, q, n, mase_minifloat_ieee_encode, &g))
            return true;
    }
    const struct mase_minifloat_grid g = grid_of(*shared = first, p);
    return mase_encode_each(code, q, n, mase_minifloat_ieee_encode, &g);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    const struct mase_minifloat_grid g = grid_of(0, opaque);
    (void)sign;
    *high = mase_minifloat_ieee_top(&g);
    *low = -*high;
}

static int bits(const void *opaque)
{
    return (int)((const struct block_minifloat *)opaque)->width;
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
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .range = range,
    .bits = bits,
    .shared_bits = shared_bits,
    .unstable = true,
};
