/*
 * log_format.c - powers of two with a sign, the original's.
 *
 *     p = 2^-bias, t = 0.1 p
 *     q = sign(x + t) * 2^clamp(round(log2(|x| + t)), -bias, 2^(width-1) - 1 - bias)
 *
 * exponent_bias  none means 2^(width-2) - 1.
 * rounding       of the exponent to nearest, ties to even.
 * range          from 2^-bias to 2^(2^(width-1) - 1 - bias), where it saturates.
 * zero           there is none: 0, and what is negative but above -t, give p. Only x = -t gives 0.
 * infinity       saturates; NaN stays NaN.
 * log2           is the float32 logarithm.
 */
#include <math.h>

#include "quant/quant.h"

struct logarithm {
    int64_t width, exponent_bias;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct logarithm, width, 8, 2, 16, "bits of a value: sign and exponent"),
    MASE_PARAM_INT_OR_NONE(struct logarithm, exponent_bias, -65536, 65536,
                           "is subtracted from the stored exponent; none: half of its range"),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    struct logarithm *p = opaque;
    (void)err;
    if (p->exponent_bias == MASE_NA)
        p->exponent_bias = (INT64_C(1) << (p->width - 1)) / 2 - 1;
    return MASE_OK;
}

static struct mase_log_levels levels_of(const void *opaque)
{
    const struct logarithm *p = opaque;
    const int64_t lo = -p->exponent_bias;
    return (struct mase_log_levels){ lo, lo + (INT64_C(1) << (p->width - 1)) - 1 };
}

float mase_log_round(float x, const struct mase_log_levels *levels)
{
    const float tenth = (float)(0.1 * exp2((double)levels->lo));
    const float e = rintf(log2f(fabsf(x) + tenth));
    return mase_sign_of(x + tenth) * exp2f(mase_clamp(e, (float)levels->lo, (float)levels->hi));
}

/* ---- codes: from the lowest value, -2^hi, to the highest ---- */

float mase_log_decode(int64_t code, const struct mase_log_levels *levels)
{
    const int64_t half = levels->hi - levels->lo + 1;
    return code < half ? -exp2f((float)(levels->hi - code))
                       : exp2f((float)(levels->lo + code - half));
}

int64_t mase_log_encode(float q, const struct mase_log_levels *levels)
{
    const int64_t half = levels->hi - levels->lo + 1;
    const bool underflows =
        q == 0 && exp2f((float)levels->lo) == 0; /* so small that it is a zero */
    const bool overflows = isinf(q) && isinf(exp2f((float)levels->hi));
    int e = 0;
    const float m = isfinite(q) ? frexpf(fabsf(q), &e) : 0;
    const int64_t at = underflows ? levels->lo : overflows ? levels->hi : e - 1;
    if (!underflows && !overflows && (m != 0.5f || at < levels->lo || at > levels->hi))
        return MASE_NO_CODE;
    return signbit(q) ? levels->hi - at : half + at - levels->lo;
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    const struct mase_log_levels levels = levels_of(opaque);
    (void)shared;
    return mase_log_round(x, &levels);
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const struct mase_log_levels levels = levels_of(opaque);
    (void)shared;
    return mase_log_encode(q, &levels);
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct mase_log_levels levels = levels_of(opaque);
    (void)shared;
    return mase_log_decode(code, &levels);
}

static void range(int64_t *low, int64_t *high, const void *opaque, enum mase_sign sign)
{
    (void)sign;
    *low = 0;
    *high = (INT64_C(1) << ((const struct logarithm *)opaque)->width) - 1;
}

const struct mase_quant_info mase_quant_log = {
    .name = "log",
    .suffix = "Log",
    .func = "log",
    .help = "powers of two with a sign; no zero: what is nearest to it is the smallest of them",
    .drawn = "log(3, NA)",
    .params = params,
    .size = sizeof(struct logarithm),
    .resolve = resolve,
    .round = round_value,
    .code = code_of,
    .decode = decode,
    .range = range,
    .bits = mase_width_of,
};
