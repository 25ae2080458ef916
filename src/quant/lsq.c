/*
 * lsq.c - integers whose step, offset or bound is learned: lsq (Esser et al., 2020), lsq_plus
 * (Bhalgat et al., 2020) and pact (Choi et al., 2018).
 *
 *     q = clamp(round(x / scale), lo, hi) scale         codes lo .. hi as int.c has them
 *
 * lsq          scale is learned. Its gradient is that of q with rounding taken as the identity:
 *              round(v) - v where v = x / scale was not cut, lo or hi where it was; times
 *              1 / sqrt(values of the block * hi), without which steps outrun weights.
 * lsq_plus     and an offset: codes count from round(offset / scale), so that zero stays a value.
 * pact         the bound is learned, scale = bound / hi; its gradient is that of what was cut.
 *              Signed codes are -hi .. hi.
 *
 * blocks       what has a scale of its own: the whole tensor, a channel along axis, or block_size
 *              values along the last dimension; of data the same for all samples.
 * start        where nothing is learned yet: scale = 2 mean |x| / sqrt(hi), in lsq_plus of data the
 *              range of the values, bound = max |x|; of a block of zeros 1.
 * gradient     of x: nothing where it was cut, else as if nothing were rounded.
 * rounding, saturation, NaN, zero: as int.c has them. A scale that was trained below 2^-60 or
 * beyond 2^90 counts as that.
 */
#include <math.h>

#include "quant/quant.h"

struct lsq {
    int64_t width, axis, block_size, is_signed;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct lsq, width, 8, 1, 24, "bits of the integer"),
    MASE_PARAM_AXIS(struct lsq, axis),
    MASE_PARAM_BLOCK_RUN(struct lsq, block_size),
    MASE_PARAM_SIGNED(struct lsq, is_signed),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct lsq *p = opaque;
    return mase_check_channels(p->axis, p->block_size, err);
}

static void geometry(int64_t *length, const struct mase_shape *s, enum mase_role role,
                     const void *opaque)
{
    const struct lsq *p = opaque;
    mase_geometry_channels(length, s, role, p->axis, p->block_size);
}

static enum mase_status fits(const struct mase_shape *s, enum mase_role role, const void *opaque,
                             struct mase_err *err)
{
    const struct lsq *p = opaque;
    return mase_channels_fit(s, role, p->axis, p->block_size, err);
}

static bool has_negative_codes(const struct lsq *p, enum mase_sign sign)
{
    return p->is_signed == MASE_NA ? sign == MASE_SIGNED : p->is_signed;
}

static struct mase_uniform codes(const struct lsq *p, enum mase_sign sign)
{
    const float steps = ldexpf(1.0f, (int)p->width - (has_negative_codes(p, sign) ? 1 : 0));
    return (struct mase_uniform){ 1, has_negative_codes(p, sign) ? -steps : 0.0f, steps - 1 };
}

/* 1 for the single positive code of signed integers of one bit. */
static float most(const struct mase_uniform *u)
{
    return u->hi > 0 ? u->hi : 1.0f;
}

static float step(float scale)
{
    return scale >= 0x1p-60f ? scale < 0x1p90f ? scale : 0x1p90f : 0x1p-60f;
}

static float slowed(float gradient, const struct mase_uniform *c, int64_t count)
{
    return gradient / sqrtf((float)count * most(c));
}

/* ---- lsq ---- */

static const char *const lsq_names[] = { "scale", NULL };

static void lsq_start(float *value, const struct mase_block_size *s, const void *opaque,
                      enum mase_sign sign)
{
    const struct mase_uniform c = codes(opaque, sign);
    value[0] = s->mean > 0 ? (float)(2 * s->mean / sqrt((double)most(&c))) : 1.0f;
}

static struct mase_uniform lsq_uniform(const float *value, const void *opaque, enum mase_sign sign)
{
    struct mase_uniform u = codes(opaque, sign);
    u.scale = step(value[0]);
    return u;
}

static void lsq_gradient(float *d, const float sum[3], const float *value, const void *opaque,
                         enum mase_sign sign, int64_t count)
{
    const struct mase_uniform c = codes(opaque, sign);
    (void)value;
    d[0] = slowed(sum[0] + c.lo * sum[1] + c.hi * sum[2], &c, count);
}

/* ---- lsq_plus ---- */

static const char *const lsq_plus_names[] = { "scale", "offset", NULL };

static void lsq_plus_start(float *value, const struct mase_block_size *s, const void *opaque,
                           enum mase_sign sign)
{
    const struct mase_uniform c = codes(opaque, sign);
    lsq_start(value, s, opaque, sign);
    value[1] = 0;
    if (s->role == MASE_ROLE_WEIGHT || !(s->max > s->min))
        return;
    value[0] = (s->max - s->min) / (c.hi - c.lo);
    value[1] = s->min - c.lo * value[0];
}

static struct mase_uniform lsq_plus_uniform(const float *value, const void *opaque,
                                            enum mase_sign sign)
{
    struct mase_uniform u = lsq_uniform(value, opaque, sign);
    const float zero = mase_clamp(rintf(value[1] / u.scale), -0x1p22f, 0x1p22f);
    u.lo += zero;
    u.hi += zero;
    return u;
}

static void lsq_plus_gradient(float *d, const float sum[3], const float *value, const void *opaque,
                              enum mase_sign sign, int64_t count)
{
    const struct mase_uniform c = codes(opaque, sign);
    lsq_gradient(d, sum, value, opaque, sign, count);
    d[1] = slowed(sum[1] + sum[2], &c, count);
}

/* ---- pact ---- */

static const char *const pact_names[] = { "bound", NULL };

static struct mase_uniform pact_codes(const struct lsq *p, enum mase_sign sign)
{
    struct mase_uniform u = codes(p, sign);
    u.hi = most(&u);
    u.lo = has_negative_codes(p, sign) ? -u.hi : 0.0f;
    return u;
}

static void pact_start(float *value, const struct mase_block_size *s, const void *opaque,
                       enum mase_sign sign)
{
    const float low = has_negative_codes(opaque, sign) ? -s->min : 0.0f;
    const float largest = low > s->max ? low : s->max;
    value[0] = largest > 0 ? largest : 1.0f;
}

static struct mase_uniform pact_uniform(const float *value, const void *opaque, enum mase_sign sign)
{
    struct mase_uniform u = pact_codes(opaque, sign);
    u.scale = step(value[0] / u.hi);
    return u;
}

static void pact_gradient(float *d, const float sum[3], const float *value, const void *opaque,
                          enum mase_sign sign, int64_t count)
{
    (void)value;
    (void)count;
    d[0] = sum[2] - (has_negative_codes(opaque, sign) ? sum[1] : 0.0f);
}

/* ---- rows ---- */

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    const struct mase_uniform c = codes(opaque, sign);
    *low = (int64_t)c.lo;
    *high = (int64_t)c.hi;
}

#define ROW(name_, suffix_, help_)                                                           \
    static const struct mase_learning name_##_learning = { .names = name_##_names,           \
                                                           .sized = true,                    \
                                                           .uniform = name_##_uniform,       \
                                                           .start = name_##_start,           \
                                                           .gradient = name_##_gradient };   \
    const struct mase_quant_info mase_quant_##name_ = { .name = #name_,                      \
                                                        .suffix = suffix_,                   \
                                                        .func = #name_,                      \
                                                        .help = help_,                       \
                                                        .params = params,                    \
                                                        .size = sizeof(struct lsq),          \
                                                        .resolve = resolve,                  \
                                                        .geometry = geometry,                \
                                                        .fits = fits,                        \
                                                        .encode = mase_learned_encode,       \
                                                        .decode = mase_learned_decode,       \
                                                        .limits = mase_unbounded_limits,     \
                                                        .range = range,                      \
                                                        .bits = mase_width_of,               \
                                                        .shared_bits = mase_thirty_two_bits, \
                                                        .by_values = true,                   \
                                                        .unstable = true,                    \
                                                        .learned = &name_##_learning };

ROW(lsq, "LSQ", "integers with a scale that training learns")
ROW(lsq_plus, "LSQPlus", "integers with a scale and an offset that training learns")
ROW(pact, "PACT", "integers up to a bound that training learns")
