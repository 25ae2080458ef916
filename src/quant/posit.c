/*
 * posit.c - posits (Posit Standard 2022): a sign, a regime of as many equal bits as it takes, es
 * bits of exponent, and what is left of width bits for the fraction. Near 1 there are many bits of
 * fraction, far from it few.
 *
 *     q = +-2^(2^es * k + e) * (1 + fraction)
 *     regime   k + 1 ones and a zero, or -k zeros and a one
 *
 * es             2, as the standard has it, unless said.
 * range          from 2^-(2^es (width - 2)), minpos, to its inverse, maxpos.
 * rounding       of the bits, as if they went on, to width of them: to nearest, ties to even. Where
 *                bits of the exponent are cut off, the tie between two values is the geometric
 * mean. saturation     beyond maxpos, maxpos; below minpos, minpos: nothing but zero becomes zero.
 * zero           one, without a sign: -0 becomes 0.
 * subnormals     none; those of float32 become minpos.
 * infinity, NaN  NaR, which is NaN here.
 * again          what is rounded stays.
 *
 * A code is the posit itself, as an integer in two's complement; NaR, the lowest, is none. With
 * more than 28 bits there are values between those of float32, which no result needs.
 */
#include <math.h>

#include "quant/quant.h"

struct posit {
    int64_t width, es;
};

static const struct mase_opt params[] = {
    MASE_PARAM_INT(struct posit, width, 8, 3, 32, "bits of a value"),
    MASE_OPT_INT(struct posit, es, "es", 2, 0, 4, "the most bits of its exponent"),
    { 0 },
};

static enum mase_status resolve(void *opaque, struct mase_err *err)
{
    const struct posit *p = opaque;
    if ((p->width - 2) << p->es <= 126)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "width = %lld with es = %lld has values that float32 lacks: (width - 2) * "
                     "2^es may be at most 126",
                     (long long)p->width, (long long)p->es);
}

static int64_t top_of(const void *opaque)
{
    const struct posit *p = opaque;
    return (INT64_C(1) << (p->width - 1)) - 1;
}

/* ---- rounding ---- */

/* The first n of len bits, rounded. */
static int64_t cut_bits(uint64_t bits, int len, int n)
{
    if (len <= n)
        return (int64_t)(bits << (n - len));
    const int drop = len - n;
    const uint64_t kept = bits >> drop, rest = bits & ((UINT64_C(1) << drop) - 1);
    const uint64_t half = UINT64_C(1) << (drop - 1);
    return (int64_t)(kept + (rest > half || (rest == half && (kept & 1))));
}

/* The code of a finite size > 0. */
static int64_t round_size(float size, const struct posit *p)
{
    enum { FRACTION = 23 };
    int h;
    const float m = 2 * frexpf(size, &h); /* [1, 2) */
    const int k = (h - 1) >> p->es, most = (int)p->width - 2;
    if (k >= most)
        return top_of(p);
    if (k < -most)
        return 1;
    const uint64_t exponent = (uint64_t)(h - 1 - k * (1 << p->es));
    const uint64_t fraction = (uint64_t)ldexpf(m - 1, FRACTION);
    const uint64_t regime = k >= 0 ? (UINT64_C(2) << (k + 1)) - 2 : 1;
    const int len = (k >= 0 ? k + 2 : 1 - k) + (int)p->es + FRACTION;
    const uint64_t bits = (regime << p->es | exponent) << FRACTION | fraction;
    const int64_t code = cut_bits(bits, len, (int)p->width - 1);
    return code < 1 ? 1 : code > top_of(p) ? top_of(p) : code;
}

static int64_t round_code(float x, const struct posit *p)
{
    const int64_t size = x == 0 ? 0 : round_size(fabsf(x), p);
    return x < 0 ? -size : size;
}

/* Bit i of a size, counted from 0 after the sign; zeros follow the last. */
static int bit_at(int64_t size, int i, const struct posit *p)
{
    return i < (int)p->width - 1 ? (int)(size >> ((int)p->width - 2 - i) & 1) : 0;
}

static float decode(int64_t code, int64_t shared, const void *opaque)
{
    const struct posit *p = opaque;
    const int64_t size = code < 0 ? -code : code;
    const int first = bit_at(size, 0, p);
    int i = 0, e = 0;
    double m = 1;
    (void)shared;
    if (!size)
        return 0.0f;
    while (i < (int)p->width - 1 && bit_at(size, i, p) == first)
        i++;
    const int k = first ? i - 1 : -i;
    for (int n = 0; n < (int)p->es; n++)
        e = 2 * e + bit_at(size, ++i, p);
    for (int n = 1; ++i < (int)p->width - 1; n++)
        m += ldexp(bit_at(size, i, p), -n);
    return (float)ldexp(code < 0 ? -m : m, k * (1 << p->es) + e);
}

static float round_value(float x, int64_t shared, const void *opaque)
{
    return isfinite(x) ? decode(round_code(x, opaque), shared, opaque) : NAN;
}

static int64_t code_of(float q, int64_t shared, const void *opaque)
{
    const int64_t code = isfinite(q) ? round_code(q, opaque) : 0;
    return decode(code, shared, opaque) == q ? code : MASE_NO_CODE;
}

const struct mase_quant_info mase_quant_posit = {
    .name = "posit",
    .suffix = "Posit",
    .func = "posit",
    .help = "posits: floating point with more bits of fraction near 1 than far from it",
    .standard = "Posit Standard 2022",
    .drawn = "posit(5, 0)",
    .params = params,
    .size = sizeof(struct posit),
    .resolve = resolve,
    .round = round_value,
    .code = code_of,
    .decode = decode,
    .top = top_of,
    .bits = mase_width_of,
};
