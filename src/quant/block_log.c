/*
 * block_log.c - powers of two with a bias that a block shares, the original's.
 *
 *     of each block: b = clamp(2^(width-1) - 1 - ceil(log2(max |x|)), 0, most),
 *                    most = 2^exponent_bias_width - 1
 *     each value as log_format.c rounds it with exponent_bias = b
 *
 * blocks         tiles of block_size (format.h, mase_geometry_tiles), smaller at the edge.
 * rounding       of the exponent to nearest, ties to even; the highest is that of the largest
 *                value, rounded up, unless b is cut.
 * zero           there is none: 0 gives 2^-b. A block of zeros takes the smallest largest magnitude
 *                of the other blocks for its own, and 1 when all are zero. The original looks at
 *                the whole tensor, batches of data included; here a sample looks at its own blocks
 *                only, so that its result does not depend on the others of its batch.
 * infinity, NaN  infinity saturates, its block having a bias of 0; NaN makes the whole block NaN.
 */
#include <math.h>

#include "quant/quant.h"

struct block_log {
    int64_t width, exponent_bias_width;
    struct mase_ints block_size;
    int64_t skip_first_dim;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct block_log, width, 8, 2, 16, "bits of a value: sign and exponent"),
    MASE_PARAM_INT(struct block_log, exponent_bias_width, 8, 1, 16,
                   "bits of the bias that a block shares"),
    MASE_PARAM_BLOCK_SIZE(struct block_log, block_size),
    MASE_PARAM_SKIP_FIRST_DIM(struct block_log, skip_first_dim),
    { 0 },
};

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct block_log *p = opaque;
    mase_geometry_tiles(length, s, role, &p->block_size, p->skip_first_dim);
}

static int64_t exponents_of(const struct block_log *p)
{
    return INT64_C(1) << (p->width - 1);
}

static int64_t most_bias(const struct block_log *p)
{
    return (INT64_C(1) << p->exponent_bias_width) - 1;
}

static int64_t bias_of(float largest, const struct block_log *p)
{
    const float b = (float)(exponents_of(p) - 1) - ceilf(log2f(largest));
    return (int64_t)mase_clamp(b, 0.0f, (float)most_bias(p));
}

static struct mase_log_levels levels_of(int64_t bias, const void *opaque)
{
    const struct block_log *p = opaque;
    return (struct mase_log_levels){ -bias, exponents_of(p) - 1 - bias };
}

static int64_t share(float largest, float around, const void *opaque)
{
    if (largest == 0)
        largest = isfinite(around) ? around : 1.0f;
    return isnan(largest) ? MASE_NO_CODE : bias_of(largest, opaque);
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct mase_log_levels levels = levels_of(shared, opaque);
    return mase_log_round(x, &levels);
}

/* ---- codes ---- */

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct mase_log_levels levels = levels_of(shared, opaque);
    return mase_log_encode(q, &levels);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_log_levels levels = levels_of(shared, opaque);
    return mase_log_decode(code, &levels);
}

/* The largest value may have been rounded down to the power of two below, which the next bias holds
 * as well: the smallest that does is taken. A block of zeros has the values of another's bias. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const int64_t first = share(mase_largest(q, n), NAN, opaque), most = most_bias(opaque);
    const int64_t end = first + exponents_of(opaque) - 1;
    const struct mase_shared biases = { first ? first - 1 : 0, end < most ? end : most, first };
    (void)sign;
    return mase_encode_sharing(code, shared, q, n, &biases, code_of, opaque);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    (void)sign;
    *low = 0;
    *high = 2 * exponents_of(opaque) - 1;
}

static int shared_bits(const void *opaque)
{
    return (int)((const struct block_log *)opaque)->exponent_bias_width;
}

const struct mase_quant_info mase_quant_block_log = {
    .name = "block_log",
    .suffix = "BlockLog",
    .func = "block_log",
    .help = "powers of two with a bias that a block shares; no zero",
    .drawn = "block_log(3, 8, [16])",
    .params = params,
    .size = sizeof(struct block_log),
    .geometry = geometry,
    .share = share,
    .round = round_value,
    .encode = encode,
    .decode = decode,
    .range = range,
    .bits = mase_width_of,
    .shared_bits = shared_bits,
    .looks_around = MASE_LOOKS_FOR_LEAST,
};
