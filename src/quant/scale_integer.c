/*
 * scale_integer.c - integers with a scale that each vector along the last dimension has for itself,
 * the original's.
 *
 *     m = max |x| + 1e-9                   of a vector
 *     s = 2^(width-1) / m                  signed; 2^width / m unsigned
 *     q = clamp(round(x * s), lo, hi) / s  lo and hi as integer.c has them
 *
 * rounding       to nearest, ties to even; every step is a float32 operation.
 * range          that of the vector. Its largest value falls short of it by a step if it is
 *                positive, since 2^(width-1) is cut to hi.
 * quantile       is not used.
 * zero           stays zero; a vector of zeros, too.
 * infinity, NaN  make their whole vector NaN, as the maximum that scales it is theirs.
 * again          what was rounded has another maximum, and so another scale.
 * samples        the vectors of data with one dimension would go through all samples: refused.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

struct scale_integer {
    int64_t width;
    double quantile;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct scale_integer, width, 8, 2, 24, "bits of the integer"),
    MASE_OPT_FLOAT(struct scale_integer, quantile, "quantile", 1.0, 0, 1,
                   "is not used, as in the original"),
    { 0 },
};

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    (void)opaque;
    for (int d = 0; d < s->rank; d++)
        length[d] = d == s->rank - 1 && !(role == MASE_ROLE_DATA && d == 0) ? s->dim[d] : 1;
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    (void)opaque;
    if (role == MASE_ROLE_WEIGHT || s->rank > 1)
        return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "scale_integer has a scale for each vector, and data with one dimension is "
                     "one vector of all samples");
}

struct mase_scaled_levels mase_scaled_levels(const void *opaque, enum mase_sign sign)
{
    const struct scale_integer *p = opaque;
    const float steps = ldexpf(1.0f, (int)p->width - (sign == MASE_SIGNED ? 1 : 0));
    return (struct mase_scaled_levels){ sign == MASE_SIGNED ? -steps : 0.0f, steps - 1, steps };
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct mase_scaled_levels levels = mase_scaled_levels(opaque, sign);
    for (int64_t l = 0; l < b->lanes; l++) {
        float largest;
        mase_block_largest(&largest, x, b, l, 1);
        const float s = levels.steps / (largest + MASE_TINY);
        for (int64_t r = 0; r < b->rows; r++) {
            const int64_t i = b->row[r] + l;
            q[i] = mase_clamp(rintf(x[i] * s), levels.lo, levels.hi) / s;
        }
    }
}

/* ---- codes: a block shares the bits of its scale ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const float s = mase_shared_float(shared);
    (void)opaque;
    return s > 0 ? (float)code / s : 0.0f;
}

static bool has_scale(const float *q, int64_t n, float s, float lo, float hi)
{
    for (int64_t i = 0; i < n; i++) {
        const float c = rintf(q[i] * s);
        if (!(c >= lo && c <= hi && c / s == q[i]))
            return false;
    }
    return true;
}

/* The largest value has the highest code or nearly so, unless it was cut for its sign; the scale
 * follows but for its last bits, which are tried. 0: no scale serves all values. */
static float find_scale(const float *q, int64_t n, float lo, float hi)
{
    enum { TRIED = 4096 };
    const float largest = mase_largest(q, n), most = lo < 0 ? -lo : hi;
    for (float k = most; k > most - TRIED && k > 0 && largest > 0; k--) {
        float s = k / largest;
        for (int i = 0; i < 3; i++)
            s = nextafterf(s, 0.0f);
        for (int i = 0; i < 7; i++, s = nextafterf(s, INFINITY))
            if (has_scale(q, n, s, lo, hi))
                return s;
    }
    return has_scale(q, n, 1.0f, lo, hi) ? 1.0f : 0.0f;
}

static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct mase_scaled_levels levels = mase_scaled_levels(opaque, sign);
    const float s = find_scale(q, n, levels.lo, levels.hi);
    *shared = mase_share_float(s);
    for (int64_t i = 0; i < n; i++)
        code[i] = s > 0 ? (int64_t)rintf(q[i] * s) : MASE_NO_CODE;
    return s > 0;
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    const struct mase_scaled_levels levels = mase_scaled_levels(opaque, sign);
    *low = (int64_t)levels.lo;
    *high = (int64_t)levels.hi;
}

const struct mase_quant_info mase_quant_scale_integer = {
    .name = "scale_integer",
    .suffix = "ScaleInteger",
    .func = "scale_integer",
    .help = "integers with a scale for each vector along the last dimension, by its largest value",
    .drawn = "scale_integer(4)",
    .params = params,
    .size = sizeof(struct scale_integer),
    .geometry = geometry,
    .fits = fits,
    .quantize = quantize,
    .encode = encode,
    .decode = decode,
    .limits = mase_unbounded_limits,
    .range = range,
    .bits = mase_width_of,
    .shared_bits = mase_thirty_two_bits,
    .unstable = true,
};
