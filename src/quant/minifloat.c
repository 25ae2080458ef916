/*
 * minifloat.c - floating point of few bits as the standards have it: a sign, exponent_width bits of
 * exponent, and the rest of width, m bits, of mantissa.
 *
 *     exponent code 0       q = +-2^(1 - bias - m) * mantissa            subnormals
 *     exponent code c       q = +-2^(c - bias) * (1 + mantissa / 2^m)
 *
 * exponent_bias  none means 2^(exponent_width - 1) - 1, and one more for fnuz.
 * specials       which codes are no numbers. ieee: the top exponent holds infinity and NaN. fn: the
 *                code of all ones, with both signs, is NaN, and there is no infinity. fnuz: the
 * code of -0 is NaN, and there is neither infinity nor -0. none: all are finite. range          up
 * to the largest finite value, which specials decides. overflow       saturate: what rounds beyond
 * the largest value becomes it, infinities too. infinity: it becomes infinity, or NaN with fn and
 * fnuz, which have none; a number that `rounding` carries toward zero becomes the largest value
 * (IEEE 754, 7.4). Without specials only saturate is allowed. rounding       (direction.c) of the
 * mantissa as if the exponent had no end, with a carry into the exponent; nearest_even unless said.
 * zero           stays, with its sign; so do results that are zero. fnuz: +0.
 * subnormals     steps of 2^(1 - bias - m) down to zero.
 * infinity       see overflow.
 * NaN            stays NaN, also where no code is one.
 * again          what is rounded stays.
 *
 * Every value must be a float32: at most 23 bits of mantissa, 1 - bias at least -126, less than
 * 2^128.
 *
 * Presets are formats of their own, which leave only overflow and rounding open: the four formats
 * of eight and six bits and the one of four of the Open Compute Project, IEEE's half and bfloat16.
 */
#include <math.h>

#include "quant/quant.h"

struct minifloat {
    int64_t width, exponent_width, exponent_bias;
    const char *specials, *overflow, *rounding;
    struct mase_float_levels levels; /* what follows from them */
};

static const char *const special_names[] = { "ieee", "fn", "fnuz", "none", NULL };
static const char *const overflow_names[] = { "saturate", "infinity", NULL };

#define OVERFLOW(dflt)                                                            \
    MASE_OPT_CHOICE(struct minifloat, overflow, "overflow", dflt, overflow_names, \
                    "what becomes of values beyond the largest")

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct minifloat, width, 8, 2, 32, "bits of a value"),
    MASE_PARAM_INT(struct minifloat, exponent_width, 4, 1, 8, "bits of its exponent"),
    MASE_PARAM_INT_OR_NONE(struct minifloat, exponent_bias, -256, 256,
                           "is subtracted from the stored exponent; none: half of its range"),
    MASE_OPT_CHOICE(struct minifloat, specials, "specials", "ieee", special_names,
                    "which codes are infinity and NaN"),
    OVERFLOW("saturate"),
    MASE_PARAM_ROUNDING(struct minifloat, rounding),
    { 0 },
};
static const struct mase_opt saturating[] = {
    OVERFLOW("saturate"),
    MASE_PARAM_ROUNDING(struct minifloat, rounding),
    { 0 },
};
static const struct mase_opt overflowing[] = {
    OVERFLOW("infinity"),
    MASE_PARAM_ROUNDING(struct minifloat, rounding),
    { 0 },
};

/* ---- what the parameters mean ---- */

static int64_t index_of(const char *const *names, const char **name)
{
    int64_t i = 0;
    while (names[i + 1] && !mase_streq(names[i], *name))
        i++;
    *name = names[i]; /* which outlives the configuration */
    return i;
}

static bool is(const char *a, const char *b)
{
    return mase_streq(a, b);
}

static int mantissa_bits(const struct minifloat *p)
{
    return (int)(p->width - p->exponent_width - 1);
}

/* The code of the largest finite value. */
static int64_t top_of(const void *opaque)
{
    const struct minifloat *p = opaque;
    const int64_t all = INT64_C(1) << (p->width - 1);
    if (is(p->specials, "ieee"))
        return all - (INT64_C(1) << mantissa_bits(p)) - 1;
    return is(p->specials, "fn") ? all - 2 : all - 1;
}

static double value_of(int64_t code, int m, int emin)
{
    const int64_t exponent = code >> m, mantissa = code & ((INT64_C(1) << m) - 1);
    return exponent ? ldexp((double)(mantissa + (INT64_C(1) << m)), (int)exponent - 1 + emin - m)
                    : ldexp((double)mantissa, emin - m);
}

/* Refuse formats with values beyond float32. */
static enum mase_status check(const struct minifloat *p, struct mase_err *err)
{
    MASE_TRY(mase_minifloat_check(p->width, p->exponent_width, err));
    const int64_t emin = 1 - p->exponent_bias, top = top_of(p);
    if (top < 1)
        return mase_fail(err, MASE_EVALUE,
                         "width = %lld with exponent_width = %lld and specials = %s has no value "
                         "but zero: a wider format, or specials = none, is needed",
                         (long long)p->width, (long long)p->exponent_width, p->specials);
    if (emin < -126 || emin > 127 || value_of(top, mantissa_bits(p), (int)emin) >= 0x1p128)
        return mase_fail(err, MASE_EVALUE,
                         "exponent_bias = %lld with exponent_width = %lld has values that float32 "
                         "lacks: its normal numbers must lie within 2^-126 and 2^128",
                         (long long)p->exponent_bias, (long long)p->exponent_width);
    if (is(p->specials, "none") && is(p->overflow, "infinity"))
        return mase_fail(err, MASE_EVALUE,
                         "overflow = infinity needs specials = ieee, fn or fnuz: without codes "
                         "for infinity or NaN only saturate is allowed");
    return MASE_OK;
}

static struct mase_float_levels levels_of(const struct minifloat *p, enum mase_direction d)
{
    const int m = mantissa_bits(p), emin = (int)(1 - p->exponent_bias);
    const float most = (float)value_of(top_of(p), m, emin);
    const float special = is(p->overflow, "saturate") ? most
                          : is(p->specials, "ieee")   ? INFINITY
                                                      : NAN;
    return (struct mase_float_levels){
        .emin = (float)emin,
        .least = ldexpf(1.0f, emin),
        .inverse = ldexpf(1.0f, -emin),
        .steps = ldexpf(1.0f, m),
        .step = ldexpf(1.0f, -m),
        .most = most,
        .above = d == MASE_TO_FLOOR || d == MASE_TO_ZERO ? most : special,
        .below = d == MASE_TO_ZERO ? -most : -special,
        .infinite = special,
        .zero = is(p->specials, "fnuz") ? 0.0f : -0.0f,
        .direction = d,
    };
}

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct minifloat *p = opaque;
    index_of(special_names, &p->specials);
    index_of(overflow_names, &p->overflow);
    if (p->exponent_bias == MASE_NA)
        p->exponent_bias = (INT64_C(1) << (p->exponent_width - 1)) - !is(p->specials, "fnuz");
    MASE_TRY(check(p, err));
    p->levels = levels_of(p, mase_direction_of(&p->rounding));
    return MASE_OK;
}

const struct mase_float_levels *mase_minifloat_float_levels(const void *opaque)
{
    return &((const struct minifloat *)opaque)->levels;
}

/* ---- rounding ---- */

float mase_float_round(float x, const struct mase_float_levels *levels)
{
    int e;
    if (isnan(x))
        return x;
    if (isinf(x))
        return copysignf(levels->infinite, x);
    frexpf(x, &e); /* 2^(e-1) <= |x| < 2^e; of zero anything will do */
    e = e - 1 > (int)levels->emin ? e - 1 : (int)levels->emin;
    const double steps = ldexp((double)x, -e) * (double)levels->steps;
    const double q = ldexp(mase_direct(steps, levels->direction, x) * (double)levels->step, e);
    if (q > (double)levels->most)
        return levels->above;
    if (q < -(double)levels->most)
        return levels->below;
    return (float)q + levels->zero;
}

/* ---- codes: exponent and mantissa side by side, as they are stored; infinity has none ---- */

float mase_float_decode(int64_t code, const struct mase_float_levels *levels)
{
    const float size =
        (float)value_of(code < 0 ? -code : code, ilogbf(levels->steps), (int)levels->emin);
    return code < 0 ? -size : size;
}

int64_t mase_float_encode(float q, const struct mase_float_levels *levels)
{
    const float size = fabsf(q);
    int e;
    if (!(size <= levels->most)) /* NaN too */
        return MASE_NO_CODE;
    frexpf(q, &e);
    const int64_t above = size >= levels->least ? e - 1 - (int64_t)levels->emin : 0;
    const double mantissa =
        ldexp((double)size, -(int)(levels->emin + (float)above)) * (double)levels->steps;
    if (mantissa != rint(mantissa))
        return MASE_NO_CODE;
    /* the leading one of a normal number counts as one exponent more */
    const int64_t code = above * (int64_t)levels->steps + (int64_t)mantissa;
    return q < 0 ? -code : code;
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    (void)shared;
    return mase_float_decode(code, mase_minifloat_float_levels(opaque));
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    (void)shared;
    return mase_float_round(x, mase_minifloat_float_levels(opaque));
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    (void)shared;
    return mase_float_encode(q, mase_minifloat_float_levels(opaque));
}

static bool by_chance(const void *opaque)
{
    return mase_minifloat_float_levels(opaque)->direction == MASE_BY_CHANCE;
}

/* ---- rows ---- */

#define ROW(name_, suffix_, params_, resolve_, standard_, same_as_, help_)                   \
    {                                                                                        \
        .name = #name_, .suffix = suffix_, .func = #name_, .help = help_, .params = params_, \
        .standard = standard_, .same_as = same_as_, .drawn = "minifloat(5, 2, NA, none)",    \
        .size = sizeof(struct minifloat), .resolve = resolve_, .round = round_value,         \
        .code = code_of, .decode = decode, .top = top_of, .bits = mase_width_of,             \
        .by_chance = by_chance                                                               \
    }

const struct mase_quant_info mase_quant_minifloat =
    ROW(minifloat, "Minifloat", params, resolve, "IEEE 754-2019", NULL,
        "floating point of few bits, rounded to nearest with a carry, subnormals included");

/*      name       class       width, exponent  specials    parameters   standard */
#define PRESETS                                                                            \
    PRESET(fp8_e4m3, "FP8E4M3", 8, 4, "fn", saturating, "OCP OFP8 1.0",                    \
           "eight bits, four of exponent: up to 448, NaN, no infinity")                    \
    PRESET(fp8_e5m2, "FP8E5M2", 8, 5, "ieee", saturating, "OCP OFP8 1.0",                  \
           "eight bits, five of exponent: up to 57344, infinity and NaN")                  \
    PRESET(fp6_e2m3, "FP6E2M3", 6, 2, "none", saturating, "OCP MX 1.0",                    \
           "six bits, two of exponent: up to 7.5, all finite")                             \
    PRESET(fp6_e3m2, "FP6E3M2", 6, 3, "none", saturating, "OCP MX 1.0",                    \
           "six bits, three of exponent: up to 28, all finite")                            \
    PRESET(fp4_e2m1, "FP4E2M1", 4, 2, "none", saturating, "OCP MX 1.0",                    \
           "four bits, two of exponent: up to 6, all finite")                              \
    PRESET(half, "Half", 16, 5, "ieee", overflowing, "IEEE 754 binary16",                  \
           "IEEE's sixteen bits, five of exponent: up to 65504")                           \
    PRESET(bfloat16, "BFloat16", 16, 8, "ieee", overflowing, "the upper half of binary32", \
           "sixteen bits, eight of exponent: the range of float32")

static enum mase_status resolve_preset(void *opaque, int width, int exponent_width,
                                       const char *specials, struct mase_err *err)
{
    struct minifloat *p = opaque;
    p->width = width;
    p->exponent_width = exponent_width;
    p->exponent_bias = MASE_NA;
    p->specials = specials;
    return resolve(p, err);
}

#define PRESET(name, suffix, width, exponent, specials, params_, standard, help) \
    static enum mase_status resolve_##name(void *opaque, struct mase_err *err)   \
    {                                                                            \
        return resolve_preset(opaque, width, exponent, specials, err);           \
    }                                                                            \
    const struct mase_quant_info mase_quant_##name =                             \
        ROW(name, suffix, params_, resolve_##name, standard,                     \
            "minifloat(" #width ", " #exponent ", NA, " specials ")", help);
PRESETS
#undef PRESET

bool mase_float_levels_named(struct mase_float_levels *levels, int *bits_, const char *name,
                             enum mase_direction d)
{
    static const struct {
        const char *name;
        int width, exponent;
        const char *specials;
    } presets[] = {
#define PRESET(name, suffix, width, exponent, specials, params_, standard, help) \
    { #name, width, exponent, specials },
        PRESETS
    };
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (is(presets[i].name, name)) {
            const struct minifloat p = {
                .width = presets[i].width,
                .exponent_width = presets[i].exponent,
                .exponent_bias = (INT64_C(1) << (presets[i].exponent - 1)) - 1,
                .specials = presets[i].specials,
                .overflow = "saturate",
            };
            *levels = levels_of(&p, d);
            *bits_ = presets[i].width;
            return true;
        }
    return false;
}
