/*
 * hgq.c - fixed point whose bits are learned, for a tensor, a channel or each value, down to none
 * (Sun et al., 2024).
 *
 *     q = clamp(round(x 2^f), -(2^(i+f) - 1), 2^(i+f) - 1) 2^-f      unsigned from 0
 *
 * f and i are frac_width and int_width rounded to whole numbers; the bits without the sign, i + f,
 * are what a multiplication costs (EBOPs). Where they are none or fewer, q is 0.
 *
 * width        bits to begin with, the sign included. At the start int_width holds the largest
 *              magnitude and frac_width is the rest.
 * most         bits that a value may come to, the sign included.
 * blocks       what has bits of its own: the whole tensor, a channel along axis, or block_size
 *              values along the last dimension, 1 being each value; of data the same for all
 *              samples.
 * gradient     of x: nothing where it was cut, else as if nothing were rounded. Of frac_width:
 *              ln 2 times what rounding took away; of int_width: ln 2 times the bound, of what was
 *              cut. A term of the loss that counts EBOPs (ebops_weight) draws both down.
 * rounding     to nearest, ties to even. Zero has no sign; NaN stays NaN.
 */
#include <math.h>
#include <string.h>

#include "quant/quant.h"

struct hgq {
    int64_t width, axis, block_size, is_signed, most;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct hgq, width, 6, 2, 24, "bits to begin with"),
    MASE_PARAM_AXIS(struct hgq, axis),
    MASE_PARAM_BLOCK_RUN(struct hgq, block_size),
    MASE_PARAM_SIGNED(struct hgq, is_signed),
    MASE_OPT_INT(struct hgq, most, "most", 13, 1, 24, "bits that a value may come to"),
    { 0 },
};

enum { FRAC, INT }; /* what is learned */
static const char *const names[] = { "frac_width", "int_width", NULL };

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct hgq *p = opaque;
    if (p->most < p->width)
        return mase_fail(err, MASE_EVALUE, "most = %lld is less than width = %lld",
                         (long long)p->most, (long long)p->width);
    return mase_check_channels(p->axis, p->block_size, err);
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct hgq *p = opaque;
    mase_geometry_channels(length, s, role, p->axis, p->block_size);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const struct hgq *p = opaque;
    return mase_channels_fit(s, role, p->axis, p->block_size, err);
}

/* A whole number; NaN, as after training that came to nothing, is the least. */
static int whole_within(float x, float lo, float hi)
{
    return isnan(x) ? (int)lo : (int)mase_clamp(rintf(x), lo, hi);
}

/* Bits without the sign. */
static int magnitude_bits(const float *value, const void *opaque, enum mase_sign sign)
{
    const struct hgq *p = opaque;
    const float bits = rintf(value[FRAC]) + rintf(value[INT]);
    return whole_within(bits, 0, (float)(p->most - (mase_has_sign(p->is_signed, sign) ? 1 : 0)));
}

/* 2^e, of a normal number. */
static float power(int e)
{
    const uint32_t bits = (uint32_t)(e + 127) << 23;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void start(float *value, const struct mase_block_size *s, const void *opaque,
                  enum mase_sign sign)
{
    const struct hgq *p = opaque;
    const float largest = -s->min > s->max ? -s->min : s->max;
    int e = 0;
    if (largest > 0)
        (void)frexpf(largest, &e);
    value[INT] = (float)e;
    value[FRAC] = (float)(p->width - (mase_has_sign(p->is_signed, sign) ? 1 : 0) - e);
}

/* If bits are limited, the least significant ones are dropped. */
static struct mase_uniform uniform(const float *value, const void *opaque, enum mase_sign sign)
{
    const struct hgq *p = opaque;
    const int b = magnitude_bits(value, p, sign);
    const float hi = power(b) - 1;
    return (struct mase_uniform){ power(whole_within(value[INT], -60, 60) - b),
                                  mase_has_sign(p->is_signed, sign) ? -hi : 0.0f, hi };
}

static void gradient(float *d, const float sum[3], const float *value, const void *opaque,
                     enum mase_sign sign, int64_t count)
{
    const struct hgq *p = opaque;
    const struct mase_uniform u = uniform(value, p, sign);
    const float ln2 = 0.69314718f,
                cut = sum[2] - (mase_has_sign(p->is_signed, sign) ? sum[1] : 0.0f);
    (void)count;
    d[FRAC] = ln2 * u.scale * (cut - sum[0]);
    d[INT] = ln2 * (u.hi + 1) * u.scale * cut;
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    const struct hgq *p = opaque;
    *high = (INT64_C(1) << (p->width - (mase_has_sign(p->is_signed, sign) ? 1 : 0))) - 1;
    *low = mase_has_sign(p->is_signed, sign) ? -*high : 0;
}

static const struct mase_learning learning = {
    .names = names, .uniform = uniform, .bits = magnitude_bits, .start = start, .gradient = gradient
};

const struct mase_quant_info mase_quant_hgq = {
    .name = "hgq",
    .suffix = "HGQ",
    .func = "hgq",
    .help = "fixed point with bits that training learns, for a tensor, a channel or each value",
    .params = params,
    .size = sizeof(struct hgq),
    .resolve = resolve,
    .geometry = geometry,
    .fits = fits,
    .encode = mase_learned_encode,
    .decode = mase_learned_decode,
    .limits = mase_unbounded_limits,
    .range = range,
    .bits = mase_width_of,
    .by_values = true,
    .unstable = true,
    .learned = &learning,
};
