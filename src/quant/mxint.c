/*
 * mxint.c - integers with a power of two that a block shares, the original's.
 *
 *     E = ceil(log2(max |x|))       of each block; b = element_bits
 *     q = clamp(round(x / 2^E * 2^(b-1)), -2^(b-1), 2^(b-1) - 1) / 2^(b-1) * 2^E
 *
 * blocks         block_size values in a row along block_dim; they must fill the tensor. A block may
 *                go on into the next rows, but not into another sample.
 * rounding       to nearest, ties to even.
 * saturation     a largest value that is a positive power of two falls short by a step.
 * scale_bits     of E, whose bias is 2^(scale_bits-1) - 1; where E is cut, the values move with it.
 * quantile_search  a block tries other maxima, at 1, 0.995, 0.99, 0.97, 0.95, 0.93, 0.9, 0.8, 0.7,
 *                0.6 and 0.5 of its values, and keeps the first with the least sum of squared
 *                errors.
 * zero           stays zero; the maximum counts as 2^-126 at least.
 * infinity, NaN  make the whole block NaN.
 * log2           is the float32 logarithm.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

enum { MOST_SEARCHED = 1024 };

struct mxint {
    int64_t block_size, element_bits, block_dim, scale_bits;
    bool quantile_search;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct mxint, block_size, 32, 1, 1 << 30, "values of a block"),
    MASE_PARAM_INT(struct mxint, element_bits, 8, 2, 24, "bits of a value"),
    MASE_PARAM_BLOCK_DIM(struct mxint, block_dim),
    MASE_OPT_INT(struct mxint, scale_bits, "scale_bits", 8, 2, 8,
                 "bits of the exponent that a block shares"),
    MASE_OPT_BOOL(struct mxint, quantile_search, "quantile_search", false,
                  "also try smaller maxima, and keep the one with the least error"),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct mxint *p = opaque;
    if (!p->quantile_search || p->block_size <= MOST_SEARCHED)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "quantile_search takes blocks of at most %d values, not %lld", MOST_SEARCHED,
                     (long long)p->block_size);
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct mxint *p = opaque;
    mase_geometry_run(length, s, role, p->block_size, p->block_dim);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const struct mxint *p = opaque;
    return mase_run_fits(s, role, p->block_size, p->block_dim, err);
}

/* ---- rounding ---- */

static int64_t bias_of(const struct mxint *p)
{
    return (INT64_C(1) << (p->scale_bits - 1)) - 1;
}

bool mase_mxint_levels(struct mase_mxint_levels *levels, const void *opaque)
{
    const struct mxint *p = opaque;
    levels->least = (float)-bias_of(p);
    levels->most = (float)((INT64_C(1) << p->scale_bits) - 1 - bias_of(p));
    levels->steps = ldexpf(1.0f, (int)p->element_bits - 1);
    return !p->quantile_search;
}

struct scaled {
    float scale, out, steps; /* x / scale, result * out; 2^(b-1) */
};

static struct scaled scaled_by(float largest, const struct mxint *p)
{
    const float e = ceilf(log2f(largest > FLT_MIN ? largest : FLT_MIN));
    struct mase_mxint_levels levels;
    mase_mxint_levels(&levels, p);
    return (struct scaled){ exp2f(e), exp2f(mase_clamp(e, levels.least, levels.most)),
                            levels.steps };
}

static float round_value(float x, const struct scaled *s)
{
    const float m = mase_clamp(rintf(x / s->scale * s->steps), -s->steps, s->steps - 1);
    return m / s->steps * s->out;
}

static double error_of(const float *x, const struct mase_block *b, int64_t l,
                       const struct scaled *s)
{
    double sum = 0;
    for (int64_t r = 0; r < b->rows; r++) {
        const float v = x[b->row[r] + l], d = v - round_value(v, s);
        sum += (double)d * (double)d;
    }
    return sum;
}

static void sort_sizes(float *size, const float *x, const struct mase_block *b, int64_t l)
{
    for (int64_t r = 0; r < b->rows; r++) {
        const float v = fabsf(x[b->row[r] + l]);
        int64_t at = r;
        for (; at > 0 && size[at - 1] > v; at--)
            size[at] = size[at - 1];
        size[at] = v;
    }
}

/* Between the two values nearest to the part, as far as it lies between their places. */
static float quantile(const float *size, int64_t n, float part)
{
    const float at = part * (float)(n - 1), below = floorf(at), w = at - below;
    const float a = size[(int64_t)below], b = size[(int64_t)ceilf(at)];
    return w < 0.5f ? a + w * (b - a) : b - (b - a) * (1 - w);
}

static struct scaled search(const float *x, const struct mase_block *b, int64_t l,
                            const struct mxint *p)
{
    static const float parts[] = { 1,    0.995f, 0.99f, 0.97f, 0.95f, 0.93f,
                                   0.9f, 0.8f,   0.7f,  0.6f,  0.5f };
    float size[MOST_SEARCHED];
    struct scaled best = { 0 };
    double least = INFINITY;
    sort_sizes(size, x, b, l);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct scaled s = scaled_by(quantile(size, b->rows, parts[i]), p);
        const double error = error_of(x, b, l, &s);
        if (error < least || i == 0) {
            least = error;
            best = s;
        }
    }
    return best;
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct mxint *p = opaque;
    (void)sign;
    for (int64_t l = 0; l < b->lanes; l++) {
        float largest;
        mase_block_largest(&largest, x, b, l, 1);
        const bool searched = p->quantile_search && b->rows <= MOST_SEARCHED && isfinite(largest);
        const struct scaled s = searched ? search(x, b, l, p) : scaled_by(largest, p);
        for (int64_t r = 0; r < b->rows; r++) {
            const int64_t i = b->row[r] + l;
            q[i] = isfinite(largest) ? round_value(x[i], &s) : NAN;
        }
    }
}

/* ---- codes ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mxint *p = opaque;
    return ldexpf((float)code, (int)(shared - p->element_bits + 1));
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const int fraction = (int)((const struct mxint *)opaque)->element_bits - 1;
    const double steps = ldexp(1.0, fraction);
    return mase_whole_code(ldexp((double)q, fraction - (int)shared), -steps, steps - 1);
}

/* The exponent of the largest value, or the one before if that is the lowest code. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const int64_t least = -bias_of(opaque);
    int e;
    (void)sign;
    frexpf(mase_largest(q, n), &e);
    const int64_t last = e < least ? least : e, first = e - 1 < least ? least : e - 1;
    return mase_encode_sharing(code, shared, q, n, &(struct mase_shared){ first, last, last },
                               code_of, opaque);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    (void)sign;
    *high = (INT64_C(1) << (((const struct mxint *)opaque)->element_bits - 1)) - 1;
    *low = -*high - 1;
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const struct mxint *p = opaque;
    const int64_t top = (INT64_C(1) << p->scale_bits) - 1 - bias_of(p);
    int64_t least, most;
    range(&least, &most, opaque, sign);
    *high = decode(most, top < 127 ? top : 127, opaque);
    *low = decode(least, top < 127 ? top : 127, opaque);
}

static int bits(const void *opaque)
{
    return (int)((const struct mxint *)opaque)->element_bits;
}

static int shared_bits(const void *opaque)
{
    return (int)((const struct mxint *)opaque)->scale_bits;
}

const struct mase_quant_info mase_quant_mxint = {
    .name = "mxint",
    .suffix = "MXInt",
    .func = "mxint",
    .help = "integers with a power of two that a block shares",
    .drawn = "mxint(32, 4)",
    .params = params,
    .size = sizeof(struct mxint),
    .resolve = resolve,
    .geometry = geometry,
    .fits = fits,
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .range = range,
    .bits = bits,
    .shared_bits = shared_bits,
    .unstable = true,
};
