/*
 * mxfp.c - small floating point with a power of two that a block shares, the original's.
 *
 *     S = clamp(floor(log2(max |x|)) - (top - bias), ...)      of each block, bias = 2^(e-1) - 1
 *     q = 2^S * element(x / 2^S)                               e = element_exp_bits
 *
 * top, the highest exponent code, is 2^e - 1; one less if element_is_finite is false, and then
 * codes beyond are infinite.
 *
 * blocks         as mxint.c has them: they must fill the tensor.
 * rounding       of the magnitude's fraction, so both ways from zero alike, by its first 15 bits:
 *                what lies below them decides nothing. rn: to nearest, ties to even. ru: up, away
 *                from zero. rd: down, as rz: toward zero.
 * flaw           a fraction that rounds up to a whole is or-ed into the exponent code, not added:
 *                if the code is odd, the value falls to the bottom of its binade, 1.99 to 1.
 * range          the largest value has the highest exponent code; no value is cut.
 * subnormals     of float32 count as zero. Those of the element, code 0, shift the fraction with
 *                its leading one right by a bit and drop what falls out; a fraction of 0 is 0, a
 *                flaw: such a result is 0 when rounded again.
 * zero           stays zero; the maximum counts as 2^-126 at least.
 * infinity, NaN  make the whole block NaN.
 * log2           is the float32 logarithm.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quant/quant.h"

struct mxfp {
    int64_t block_size, element_exp_bits, element_frac_bits, block_dim, scale_exp_bits;
    bool element_is_finite;
    const char *round_mode;
};

static const char *const round_modes[] = { "rn", "rz", "ru", "rd", NULL };

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct mxfp, block_size, 32, 1, 1 << 30, "values of a block"),
    MASE_PARAM_INT(struct mxfp, element_exp_bits, 4, 1, 5, "bits of a value's exponent"),
    MASE_PARAM_INT(struct mxfp, element_frac_bits, 3, 1, 3, "bits of its fraction"),
    MASE_PARAM_BLOCK_DIM(struct mxfp, block_dim),
    MASE_OPT_INT(struct mxfp, scale_exp_bits, "scale_exp_bits", 8, 2, 8,
                 "bits of the exponent that a block shares"),
    MASE_OPT_BOOL(struct mxfp, element_is_finite, "element_is_finite", true,
                  "the highest exponent code holds numbers, not infinity"),
    MASE_OPT_CHOICE(struct mxfp, round_mode, "round_mode", "rn", round_modes,
                    "of the fraction, signs aside: to nearest, toward zero, up, down"),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    static const struct {
        int64_t exp, frac;
    } legal[] = { { 4, 3 }, { 5, 2 }, { 2, 3 }, { 3, 2 }, { 2, 1 }, { 1, 2 } };
    struct mxfp *p = opaque;
    for (const char *const *mode = round_modes; *mode; mode++)
        if (mase_streq(p->round_mode, *mode))
            p->round_mode = *mode; /* one that outlives the file */
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++)
        if (p->element_exp_bits == legal[i].exp && p->element_frac_bits == legal[i].frac)
            return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "element_exp_bits = %lld with element_frac_bits = %lld is none of 4 with 3, 5 "
                     "with 2, 2 with 3, 3 with 2, 2 with 1, 1 with 2",
                     (long long)p->element_exp_bits, (long long)p->element_frac_bits);
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct mxfp *p = opaque;
    mase_geometry_run(length, s, role, p->block_size, p->block_dim);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const struct mxfp *p = opaque;
    return mase_run_fits(s, role, p->block_size, p->block_dim, err);
}

/* ---- rounding ---- */

static int64_t bias_of(const struct mxfp *p)
{
    return (INT64_C(1) << (p->element_exp_bits - 1)) - 1;
}

static int64_t top_of(const struct mxfp *p)
{
    return (INT64_C(1) << p->element_exp_bits) - (p->element_is_finite ? 1 : 2);
}

static int64_t share(float largest, float around, const void *opaque)
{
    const struct mxfp *p = opaque;
    const int64_t bias = (INT64_C(1) << (p->scale_exp_bits - 1)) - 1;
    const float e = floorf(log2f(largest > FLT_MIN ? largest : FLT_MIN));
    const float most = (float)((INT64_C(1) << p->scale_exp_bits) - 1 - bias);
    (void)around;
    if (!isfinite(largest))
        return MASE_NO_CODE;
    return (int64_t)mase_clamp(e - (float)(top_of(p) - bias_of(p)), (float)-bias, most);
}

/* The first bits of a fraction of 23, as a whole number that may reach 2^frac_bits. */
static uint32_t round_fraction(uint32_t fraction, const struct mxfp *p)
{
    const float seen = (float)(fraction >> 8) / (float)(1u << (15 - p->element_frac_bits));
    const char way = p->round_mode[1];
    return (uint32_t)(way == 'n' ? rintf(seen) : way == 'u' ? ceilf(seen) : floorf(seen));
}

static float element(float x, const struct mxfp *p)
{
    const uint32_t one = 1u << p->element_frac_bits;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const float sign = bits >> 31 ? -1.0f : 1.0f;
    int64_t code = (int64_t)(bits >> 23 & 0xff) - 127 + bias_of(p);
    uint32_t fraction = round_fraction(bits & 0x7fffff, p);
    if (!(bits >> 23 & 0xff) || code < 0 || (code == 0 && !fraction))
        return 0.0f * sign;
    if (code == 0)
        return sign * ldexpf((float)((one | fraction) >> 1) / (float)one, (int)(1 - bias_of(p)));
    code |= fraction / one;
    if (code > top_of(p))
        return sign * INFINITY;
    return sign * ldexpf(1 + (float)(fraction % one) / (float)one, (int)(code - bias_of(p)));
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const float scale = exp2f((float)shared);
    return element(x / scale, opaque) * scale;
}

/* ---- codes: those of minifloat_ieee, of what is left when the shared exponent is taken away ----
 */

static struct mase_minifloat_levels levels_of(const struct mxfp *p)
{
    struct mase_minifloat_levels levels = mase_minifloat_levels(
        1 + p->element_exp_bits + p->element_frac_bits, p->element_exp_bits, bias_of(p));
    levels.hi = (float)(top_of(p) - bias_of(p));
    return levels;
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(opaque);
    return ldexpf(mase_minifloat_ieee_decode(code, &levels), (int)shared);
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(opaque);
    return mase_minifloat_ieee_encode(ldexpf(q, (int)-shared), &levels);
}

/* Values that others rounded may be infinite: their block has the exponent of 1. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const float largest = mase_largest(q, n);
    (void)sign;
    *shared = share(isfinite(largest) ? largest : 1.0f, NAN, opaque);
    return mase_encode_by(code, *shared, q, n, code_of, opaque);
}

static int64_t highest_code(const void *opaque)
{
    const struct mase_minifloat_levels levels = levels_of(opaque);
    return mase_minifloat_ieee_top(&levels);
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    (void)opaque;
    (void)sign;
    *high = FLT_MAX;
    *low = -FLT_MAX;
}

static int bits_of(const void *opaque)
{
    const struct mxfp *p = opaque;
    return (int)(1 + p->element_exp_bits + p->element_frac_bits);
}

static int shared_bits(const void *opaque)
{
    return (int)((const struct mxfp *)opaque)->scale_exp_bits;
}

const struct mase_quant_info mase_quant_mxfp = {
    .name = "mxfp",
    .suffix = "MXFP",
    .func = "mxfp",
    .help = "small floating point with a power of two that a block shares",
    .drawn = "mxfp(32, 2, 1)",
    .params = params,
    .size = sizeof(struct mxfp),
    .resolve = resolve,
    .geometry = geometry,
    .fits = fits,
    .share = share,
    .round = round_value,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .top = highest_code,
    .bits = bits_of,
    .shared_bits = shared_bits,
    .unstable = true,
};
