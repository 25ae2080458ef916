/*
 * mx.c - Microscaling (OCP MX 1.0): small floating point, or integers, and a power of two for each
 * block of them.
 *
 *     S = max(floor(log2(max |x|)) - emax, -127)       of each block; E8M0
 *     q = 2^S * element(x / 2^S)
 *
 *     element      emax    largest        MX calls it
 *     fp8_e4m3     8       448            MXFP8
 *     fp8_e5m2     15      57344          MXFP8
 *     fp6_e3m2     4       28             MXFP6
 *     fp6_e2m3     2       7.5            MXFP6
 *     fp4_e2m1     2       6              MXFP4
 *     int8         0       127/64         MXINT8: steps of 1/64, from -127/64 on
 *
 * blocks         block_size values in a row along block_dim, fewer at its end; never along the
 *                samples of data.
 * log2           is exact: the exponent of the largest magnitude.
 * rounding       (direction.c) of the element, which carries; nearest_even unless said, as MX 1.0
 *                demands at least. The scale is rounded down, always.
 * saturation     an element beyond the largest becomes it: values of the top binade may be cut.
 * subnormals     those of the element; and float32's count as what they are.
 * zero           stays, with its sign; int8: +0. A block of zeros has S = -127.
 * infinity, NaN  make the scale NaN, code 255, and with it the whole block.
 * again          what is rounded stays.
 *
 * What MX 1.0 leaves open is as in Microsoft's microxcaling: NaN for blocks with infinities, -128
 * of int8 unused.
 */
#include <float.h>
#include <math.h>

#include "quant/quant.h"

enum { LEAST_SCALE = -127 };

struct mx {
    const char *element;
    int64_t block_size, block_dim;
    const char *rounding;
    int bits; /* what follows from them */
    struct mase_mx_levels levels;
};

static const char *const elements[] = { "fp8_e4m3", "fp8_e5m2", "fp6_e3m2", "fp6_e2m3",
                                        "fp4_e2m1", "int8",     NULL };

static const struct mase_opt params[] = {
    { .key = "element",
      .type = MASE_OPT_TYPE_CHOICE,
      .offset = offsetof(struct mx, element),
      .required = true,
      .text = "fp8_e4m3",
      .choices = elements,
      .help = "format of a value" },
    MASE_OPT_INT(struct mx, block_size, "block_size", 32, 1, 1 << 30, "values of a block"),
    MASE_PARAM_BLOCK_DIM(struct mx, block_dim),
    MASE_PARAM_ROUNDING(struct mx, rounding),
    { 0 },
};

/* Integers are floats of one binade: code 1 of the only bit of exponent, m = 6, and no -0. */
static const struct mase_float_levels int8 = {
    .emin = 0,
    .least = 1,
    .inverse = 1,
    .steps = 64,
    .step = 1.0f / 64,
    .most = 127.0f / 64,
    .above = 127.0f / 64,
    .below = -127.0f / 64,
    .infinite = 127.0f / 64,
    .zero = 0.0f,
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct mx *p = opaque;
    struct mase_float_levels *element = &p->levels.element;
    const enum mase_direction d = mase_direction_of(&p->rounding);
    int i = 0;
    (void)err;
    while (!mase_streq(elements[i], p->element))
        i++;
    p->element = elements[i]; /* one that outlives the file */
    if (!mase_float_levels_named(element, &p->bits, p->element, d)) {
        *element = int8;
        element->direction = d;
        p->bits = 8;
    }
    p->levels.emax = (float)ilogbf(element->most);
    return MASE_OK;
}

const struct mase_mx_levels *mase_mx_levels(const void *opaque)
{
    return &((const struct mx *)opaque)->levels;
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct mx *p = opaque;
    mase_geometry_one_dim(length, s, role, p->block_size, p->block_dim);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    return mase_one_dim_fits(s, role, ((const struct mx *)opaque)->block_dim, err);
}

/* ---- rounding ---- */

static int64_t share(float largest, float around, const void *opaque)
{
    const int emax = (int)mase_mx_levels(opaque)->emax;
    const int e = largest >= FLT_MIN ? ilogbf(largest) - emax : LEAST_SCALE;
    (void)around;
    return !isfinite(largest) ? MASE_NO_CODE : e > LEAST_SCALE ? e : LEAST_SCALE;
}

/* x / 2^scale may be none of float32's, so the levels are scaled instead; chance looks at x. */
static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct mase_float_levels *levels = &mase_mx_levels(opaque)->element;
    const int scale = (int)shared;
    int e;
    frexpf(x, &e);
    e = e - 1 - scale > (int)levels->emin ? e - 1 - scale : (int)levels->emin;
    const double steps = ldexp((double)x, -e - scale) * (double)levels->steps;
    const double q = ldexp(mase_direct(steps, levels->direction, x) * (double)levels->step, e);
    const double cut = fabs(q) > (double)levels->most ? copysign((double)levels->most, q) : q;
    return (float)ldexp(cut, scale) + levels->zero;
}

/* ---- codes: those of the element ---- */

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    return ldexpf(mase_float_decode(code, &mase_mx_levels(opaque)->element), (int)shared);
}

/* A value that the format does not have may be too small to be divided exactly. The largest code
 * has the exponent of the largest value; larger values saturate. */
static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const float element = ldexpf(q, (int)-shared);
    return ldexpf(element, (int)shared) == q
               ? mase_float_encode(element, &mase_mx_levels(opaque)->element)
               : MASE_NO_CODE;
}

static int64_t top_of(const void *opaque)
{
    const struct mase_float_levels *levels = &mase_mx_levels(opaque)->element;
    return mase_float_encode(levels->most, levels);
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const struct mase_mx_levels *levels = mase_mx_levels(opaque);
    (void)sign;
    *high = ldexpf(levels->element.most, 127 - (int)levels->emax);
    *low = -*high;
}

static int bits(const void *opaque)
{
    return ((const struct mx *)opaque)->bits;
}

static bool by_chance(const void *opaque)
{
    return mase_mx_levels(opaque)->element.direction == MASE_BY_CHANCE;
}

const struct mase_quant_info mase_quant_mx = {
    .name = "mx",
    .suffix = "MX",
    .func = "mx",
    .help = "microscaling: small floats or integers, and a power of two for each block of 32",
    .standard = "OCP MX 1.0",
    .drawn = "mx(fp4_e2m1)",
    .params = params,
    .size = sizeof(struct mx),
    .resolve = resolve,
    .geometry = geometry,
    .fits = fits,
    .share = share,
    .round = round_value,
    .code = code_of,
    .decode = decode,
    .limits = limits,
    .top = top_of,
    .bits = bits,
    .shared_bits = mase_eight_bits,
    .by_chance = by_chance,
};
