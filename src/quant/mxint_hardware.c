/*
 * mxint_hardware.c - integers with a power of two that a tile shares, rounded down, the original's
 * model of its hardware.
 *
 *     E = clamp(ceil(log2(max |x|)) - h, -h, h - 1)      of each tile; h = 2^(exponent_width-1)
 *     q = clamp(floor(x / 2^E), -2^(width-1), 2^(width-1) - 1) * 2^E
 *
 * blocks         tiles of parallelism along the last two dimensions, which they must fill. Data
 *                with two dimensions has a tile for each sample: the first of two lengths must be
 *                1.
 * rounding       down, toward minus infinity.
 * flaw           E does not depend on width: a value has as many bits as it needs from 2^E on,
 *                which with few bits cuts large values, and with many leaves the upper ones unused.
 * zero           stays zero.
 * infinity, NaN  make the whole block NaN.
 * log2           is the float32 logarithm.
 */
#include <math.h>

#include "quant/quant.h"

struct hardware {
    int64_t width, exponent_width;
    struct mase_ints parallelism;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct hardware, width, 8, 2, 24, "bits of a value"),
    MASE_PARAM_INT(struct hardware, exponent_width, 4, 1, 8,
                   "bits of the exponent that a tile shares"),
    { .key = "parallelism",
      .type = MASE_OPT_TYPE_INTS,
      .offset = offsetof(struct hardware, parallelism),
      .required = true,
      .text = "[1, 4]",
      .min = 1,
      .max = 1 << 30,
      .help = "lengths of a tile along the last dimensions, one or two" },
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct hardware *p = opaque;
    if (p->parallelism.count <= 2)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "parallelism has %d lengths, not one or two",
                     p->parallelism.count);
}

/* The block length along the last dimension, and the one before it. */
static int64_t length_of(const struct hardware *p, int from_last)
{
    const int i = p->parallelism.count - 1 - from_last;
    return i >= 0 ? p->parallelism.item[i] : 1;
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    for (int d = 0; d < s->rank; d++) {
        const int from_last = s->rank - 1 - d;
        const int64_t asked = from_last < 2 ? length_of(opaque, from_last) : 1;
        const bool samples = role == MASE_ROLE_DATA && d == 0;
        length[d] = samples ? 1 : asked > s->dim[d] ? s->dim[d] : asked;
    }
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const int first = role == MASE_ROLE_DATA ? 1 : 0;
    bool fit = true;
    for (int from_last = 0; from_last < 2; from_last++) {
        const int d = s->rank - 1 - from_last;
        const int64_t n = length_of(opaque, from_last);
        fit &= d < first ? n == 1 : s->dim[d] % n == 0;
    }
    if (fit)
        return MASE_OK;
    struct mase_str text = { 0 };
    mase_blocks_tell(&text, s, role);
    const enum mase_status st = mase_fail(
        err, MASE_EVALUE,
        "tiles of parallelism %lld x %lld do not fill %s: each length must divide its dimension",
        (long long)length_of(opaque, 1), (long long)length_of(opaque, 0), mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

struct mase_mxint_levels mase_mxint_hardware_levels(const void *opaque)
{
    const struct hardware *p = opaque;
    const float half = ldexpf(1.0f, (int)p->exponent_width - 1);
    return (struct mase_mxint_levels){ -half, half - 1, ldexpf(1.0f, (int)p->width - 1) };
}

static int64_t share(float largest, float around, const void *opaque)
{
    const struct mase_mxint_levels levels = mase_mxint_hardware_levels(opaque);
    (void)around;
    if (!isfinite(largest))
        return MASE_NO_CODE;
    return (int64_t)mase_clamp(ceilf(log2f(largest)) + levels.least, levels.least,
                               levels.most); /* log2(0) too */
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const float steps = mase_mxint_hardware_levels(opaque).steps, scale = exp2f((float)shared);
    return mase_clamp(floorf(x / scale), -steps, steps - 1) * scale;
}

/* ---- codes ---- */

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const double steps = (double)mase_mxint_hardware_levels(opaque).steps;
    return mase_whole_code(ldexp((double)q, (int)-shared), -steps, steps - 1);
}

/* The exponent of the largest value; where values were cut it was a higher one, which is sought. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct mase_mxint_levels levels = mase_mxint_hardware_levels(opaque);
    const int64_t first = share(mase_largest(q, n), NAN, opaque);
    const struct mase_shared exponents = { first == MASE_NO_CODE ? (int64_t)levels.least : first,
                                           (int64_t)levels.most, (int64_t)levels.most };
    (void)sign;
    return mase_encode_sharing(code, shared, q, n, &exponents, code_of, opaque);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    (void)opaque;
    return ldexpf((float)code, (int)shared);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    (void)sign;
    *high = (INT64_C(1) << (((const struct hardware *)opaque)->width - 1)) - 1;
    *low = -*high - 1;
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const int64_t top = (INT64_C(1) << (((const struct hardware *)opaque)->exponent_width - 1)) - 1;
    int64_t least, most;
    range(&least, &most, opaque, sign);
    *high = decode(most, top < 104 ? top : 104, opaque);
    *low = decode(least, top < 104 ? top : 104, opaque);
}

static int shared_bits(const void *opaque)
{
    return (int)((const struct hardware *)opaque)->exponent_width;
}

const struct mase_quant_info mase_quant_mxint_hardware = {
    .name = "mxint_hardware",
    .suffix = "MXIntHardware",
    .func = "mxint_hardware",
    .help = "integers with a power of two that a tile shares, rounded down, as in hardware",
    .drawn = "mxint_hardware(4, 4, [1, 4])",
    .params = params,
    .size = sizeof(struct hardware),
    .resolve = resolve,
    .geometry = geometry,
    .fits = fits,
    .share = share,
    .round = round_value,
    .encode = encode,
    .decode = decode,
    .limits = limits,
    .range = range,
    .bits = mase_width_of,
    .shared_bits = shared_bits,
    .unstable = true,
};
