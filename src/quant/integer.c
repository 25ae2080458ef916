/*
 * integer.c - fixed point: a two's complement or unsigned integer of width bits, times
 * 2^-frac_width.
 *
 *     q = clamp(round(x * 2^frac_width), lo, hi) * 2^-frac_width
 *
 *     signed      lo = -2^(width-1)    hi = 2^(width-1) - 1
 *     unsigned    lo = 0               hi = 2^width - 1
 *
 * frac_width   may be negative (steps larger than 1) or exceed width (all values below 1); none
 *              means width / 2, rounded down.
 * rounding     to nearest, ties to even, unless another direction is said (direction.c).
 *              integer_floor and fixed_floor round down, toward minus infinity.
 * saturation   beyond lo and hi, infinities included.
 * NaN          stays NaN.
 * zero         x that rounds to zero keeps its sign: -0.01 gives -0.0 signed; unsigned gives +0.0
 *              for everything negative.
 * precision    every step is a float32 operation. The scale is a power of two, so scaling is exact
 *              apart from overflow, which saturates, and from values far below a step, which round
 *              to zero anyway. An hi of more than 24 bits is no float32 and becomes the next one,
 *              2^(width-1) or 2^width: one step too many, as in the original, whose results these
 *              are to the bit.
 */
#include <math.h>
#include <stddef.h>

#include "quant/quant.h"

struct integer {
    int64_t width, frac_width;
    const char *rounding; /* NULL: to nearest, and the row leaves no choice */
    enum mase_direction direction;
};

#define INTEGER_PARAMS                                                                         \
    MASE_PARAM_INT(struct integer, width, 8, 1, 32, "bits of the integer"),                    \
    {                                                                                          \
        .key = "frac_width", .type = MASE_OPT_TYPE_INT,                                        \
        .offset = offsetof(struct integer, frac_width), .required = true, .may_be_none = true, \
        .num = 4, .min = -32, .max = 64,                                                       \
        .help = "bits after the binary point; none: half of width"                             \
    }

static const struct mase_opt params[] = {
    INTEGER_PARAMS,
    MASE_PARAM_ROUNDING(struct integer, rounding),
    { 0 },
};
static const struct mase_opt two_params[] = { INTEGER_PARAMS, { 0 } };

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct integer *p = opaque;
    (void)err;
    if (p->frac_width == MASE_NA)
        p->frac_width = p->width / 2;
    if (p->rounding)
        p->direction = mase_direction_of(&p->rounding);
    return MASE_OK;
}

static enum mase_status resolve_floor(void *opaque, struct mase_err *err)
{
    ((struct integer *)opaque)->direction = MASE_TO_FLOOR;
    return resolve(opaque, err);
}

static int64_t steps_of(const struct integer *p, enum mase_sign sign)
{
    return INT64_C(1) << (sign == MASE_SIGNED ? p->width - 1 : p->width);
}

struct mase_integer_levels mase_integer_levels(const void *opaque, enum mase_sign sign)
{
    const struct integer *p = opaque;
    const int64_t steps = steps_of(p, sign);
    return (struct mase_integer_levels){
        .scale = ldexpf(1.0f, (int)p->frac_width),
        .lo = sign == MASE_SIGNED ? -(float)steps : 0.0f,
        .hi = (float)(steps - 1),
        .direction = p->direction,
    };
}

static inline float cut(float v, const struct mase_integer_levels *levels)
{
    if (v <= levels->lo) /* false for NaN; <= and not <, so that unsigned -0.0 becomes 0.0 */
        v = levels->lo;
    return (v > levels->hi ? levels->hi : v) / levels->scale;
}

/* The usual direction without a call: it is asked for a million times. */
static inline float whole(float steps, enum mase_direction d, float x)
{
    return d == MASE_TO_NEAREST_EVEN ? rintf(steps) : (float)mase_direct((double)steps, d, x);
}

static void quantize(float *q, const float *x, const struct mase_block *b, const void *opaque,
                     enum mase_sign sign)
{
    const struct mase_integer_levels levels = mase_integer_levels(opaque, sign);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t i = b->row[r]; i < b->row[r] + b->lanes; i++)
            q[i] = cut(whole(x[i] * levels.scale, levels.direction, x[i]), &levels);
}

/* In double every product is exact. An hi of more than 24 bits is no float32: there the reference's
 * largest value is the next one, which counts as in range. */
static bool encode(int64_t *code, int64_t *shared, const float *q, int64_t n, const void *opaque,
                   enum mase_sign sign)
{
    const struct mase_integer_levels levels = mase_integer_levels(opaque, sign);
    bool all = true;
    *shared = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = (double)q[i] * (double)levels.scale;
        const bool ok =
            v >= (double)levels.lo && v <= (double)levels.hi && v == rint(v); /* not for NaN */
        code[i] = ok ? (int64_t)v : MASE_NO_CODE;
        all &= ok;
    }
    return all;
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct integer *p = opaque;
    (void)shared;
    return ldexpf((float)code, -(int)p->frac_width);
}

static void limits(float *low, float *high, const void *opaque, enum mase_sign sign)
{
    const struct mase_integer_levels levels = mase_integer_levels(opaque, sign);
    *low = levels.lo / levels.scale;
    *high = levels.hi / levels.scale;
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    const int64_t steps = steps_of(opaque, sign);
    *low = sign == MASE_SIGNED ? -steps : 0;
    *high = steps - 1;
}

static struct mase_integer_form integer(const void *opaque)
{
    const struct integer *p = opaque;
    return (struct mase_integer_form){ (int)p->width, (int)p->frac_width };
}

static bool by_chance(const void *opaque)
{
    return ((const struct integer *)opaque)->direction == MASE_BY_CHANCE;
}

#define ROW(name_, suffix_, func_, params_, resolve_, rounds_, help_)                      \
    {                                                                                      \
        .name = name_, .suffix = suffix_, .func = func_, .help = help_, .params = params_, \
        .drawn = "integer(4, 2)", .size = sizeof(struct integer), .resolve = resolve_,     \
        .quantize = quantize, .encode = encode, .decode = decode, .limits = limits,        \
        .range = range, .bits = mase_width_of, .integer = integer, .rounds = rounds_,      \
        .by_chance = by_chance                                                             \
    }

const struct mase_quant_info mase_quant_integer =
    ROW("integer", "Integer", "integer", params, resolve, MASE_ROUNDS_ALL,
        "fixed point: round to a multiple of 2^-frac_width, ties to even, saturate at width bits");
const struct mase_quant_info mase_quant_fixed =
    ROW("fixed", "Integer", "integer", params, resolve, MASE_ROUNDS_ALL, "the same as integer");
const struct mase_quant_info mase_quant_integer_floor = ROW(
    "integer_floor", "IntegerFloor", "integer_floor", two_params, resolve_floor, MASE_ROUNDS_ALL,
    "fixed point, rounded down: to the multiple of 2^-frac_width that is not above");
const struct mase_quant_info mase_quant_fixed_floor =
    ROW("fixed_floor", "IntegerFloor", "integer_floor", two_params, resolve_floor, MASE_ROUNDS_ALL,
        "the same as integer_floor");
/* Its layers are tables over the codes of what comes in: data and result are rounded, weights not.
 */
const struct mase_quant_info mase_quant_logicnets =
    ROW("logicnets", "LogicNets", "logicnets", two_params, resolve, MASE_ROUNDS_DATA,
        "integer for the data of a layer, whose weights stay as they are");
