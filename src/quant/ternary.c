/*
 * ternary.c - -1, 0 and 1, or these times a scale, the original's.
 *
 *     d = 0.75 * mean of |x|
 *     q = 1 where x > d, -1 where x < -d, else 0
 *     scaling_factor: times a = mean of the |x| that are greater than d
 *
 * width          is kept for configurations; a value has two bits.
 * thresholds     threshold, mean, median, max and maximum are taken and not used: the original
 *                finds a threshold by them and then the one above.
 * blocks         each position of the first dimension, an output of a layer or a sample, has d and
 *                a of its own. A vector that is no data is one block. The original takes four
 *                dimensions only.
 * zero           stays zero; but scaled, a block of zeros is NaN, its a being 0 / 0.
 * infinity, NaN  infinity makes d infinite and all values zero; NaN all that is compared zero.
 *                Scaled: NaN.
 * again          scaled, a is a mean that rounds.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

struct ternary {
    int64_t width;
    bool scaling_factor;
    double mean, median, max, maximum, threshold;
};

#define THRESHOLD(f, needed)                                                           \
    {                                                                                  \
        .key = #f, .type = MASE_OPT_TYPE_FLOAT, .offset = offsetof(struct ternary, f), \
        .required = needed, .may_be_none = true, .num = (double)MASE_NA,               \
        .help = "is not used, as in the original"                                      \
    }

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct ternary, width, 2, 2, 32, "bits, as configurations say; a value has two"),
    { .key = "scaling_factor",
      .type = MASE_OPT_TYPE_BOOL,
      .offset = offsetof(struct ternary, scaling_factor),
      .required = true,
      .help = "times the mean of the magnitudes that are not rounded to zero" },
    THRESHOLD(mean, true),
    THRESHOLD(median, true),
    THRESHOLD(max, true),
    THRESHOLD(maximum, false),
    THRESHOLD(threshold, false),
    { 0 },
};

static float size_above(float x, float limit)
{
    return fabsf(x) > limit ? fabsf(x) : 0.0f;
}

static float scale_of(const float *x, const struct mase_block *b, int64_t l, float d)
{
    const struct mase_sum above = { x, b, l, size_above, d };
    int64_t count = 0;
    for (int64_t r = 0; r < b->rows; r++)
        count += fabsf(x[b->row[r] + l]) > d;
    return mase_sum(&above) / (float)count;
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct ternary *p = opaque;
    (void)sign;
    for (int64_t l = 0; l < b->lanes; l++) {
        const struct mase_sum all = { x, b, l, size_above, -1 };
        const float d = 0.75f * (mase_sum(&all) / (float)b->rows);
        const float a = p->scaling_factor ? scale_of(x, b, l, d) : 1.0f;
        for (int64_t r = 0; r < b->rows; r++) {
            const int64_t i = b->row[r] + l;
            q[i] = (x[i] > d ? 1.0f : x[i] < -d ? -1.0f : 0.0f) * a;
        }
    }
}

/* ---- codes: a block shares the bits of its scale ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const bool scaled = ((const struct ternary *)opaque)->scaling_factor;
    return scaled ? (float)code * mase_shared_float(shared) : (float)code;
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const int64_t code = (q > 0) - (q < 0);
    return decode(code, shared, opaque) == q ? code : MASE_NO_CODE;
}

static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    (void)sign;
    *shared = mase_share_float(mase_largest(q, n));
    return mase_encode_by(code, *shared, q, n, code_of, opaque);
}

static int64_t one(const void *opaque)
{
    (void)opaque;
    return 1;
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    (void)sign;
    *high = ((const struct ternary *)opaque)->scaling_factor ? FLT_MAX : 1.0f;
    *low = -*high;
}

static int bits_of(const void *opaque)
{
    (void)opaque;
    return 2;
}

static int shared_bits(const void *opaque)
{
    return ((const struct ternary *)opaque)->scaling_factor ? 32 : 0;
}

const struct mase_quant_info mase_quant_ternary = {
    .name = "ternary",
    .suffix = "Ternary",
    .func = "ternary",
    .help = "-1, 0 and 1, or these times a mean of magnitudes",
    .drawn = "ternary(2, true, NA, NA, NA)",
    .params = params,
    .size = sizeof(struct ternary),
    .geometry = mase_geometry_items,
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .top = one,
    .bits = bits_of,
    .shared_bits = shared_bits,
    .rounds = MASE_ROUNDS_WEIGHT,
    .unstable = true,
};
