/*
 * int_number.c - the arithmetic by which roundings are made exact: numbers m 2^e, and affine
 * functions over codes as fractions of integers.
 */
#include <math.h>
#include <stdlib.h>

#include "integer/int_parts.h"

__extension__ typedef __int128 wide;

/* ---- numbers m 2^e ---- */

static struct mase_dyadic reduced(int64_t m, int e)
{
    while (m != 0 && m % 2 == 0) {
        m /= 2;
        e++;
    }
    return (struct mase_dyadic){ m, m ? e : 0 };
}

struct mase_dyadic mase_dyadic_of(double x)
{
    int e;
    const double m = frexp(x, &e); /* in [0.5, 1); 53 bits hold a double's mantissa */
    return reduced((int64_t)ldexp(m, 53), e - 53);
}

static bool fits(wide x)
{
    return x > -(wide)MASE_INT_LIMIT && x < (wide)MASE_INT_LIMIT;
}

bool mase_dyadic_mul(struct mase_dyadic *p, struct mase_dyadic a, struct mase_dyadic b)
{
    const wide m = (wide)a.m * b.m;
    if (!fits(m))
        return false;
    *p = reduced((int64_t)m, a.e + b.e);
    return true;
}

double mase_dyadic_double(struct mase_dyadic d)
{
    return ldexp((double)d.m, d.e);
}

bool mase_dyadic_is_power(struct mase_dyadic d)
{
    return d.m == 1;
}

int64_t mase_gcd(int64_t a, int64_t b)
{
    a = llabs(a);
    b = llabs(b);
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* ---- rounding ---- */

int64_t mase_divide_rounded(int64_t n, int64_t d, int direction)
{
    if (direction == MASE_TO_SIGN)
        return n >= 0 ? 1 : -1;
    const int64_t below = n / d - (n % d < 0), rest = n - below * d; /* 0 <= rest < d */
    switch (direction) {
    case MASE_TO_FLOOR:
        return below;
    case MASE_TO_ZERO:
        return n / d;
    case MASE_TO_NEAREST_AWAY:
        return below + (n >= 0 ? rest >= d - rest : rest > d - rest);
    default: /* ties to even */
        return below + (rest > d - rest || (rest == d - rest && below % 2 != 0));
    }
}

/* ---- meanings ---- */

bool mase_meaning_is_code(const struct mase_meaning *m)
{
    return m->parts == 1 && m->bias == 0.0f && m->scale == 1.0f && m->shift == 0.0f && !m->relu;
}

bool mase_meaning_equal(const struct mase_meaning *a, const struct mase_meaning *b)
{
    return a->step == b->step && a->parts == b->parts && a->bias == b->bias &&
           a->scale == b->scale && a->shift == b->shift && a->relu == b->relu &&
           a->scaled == b->scaled;
}

/* What a code is multiplied by, and the constant: bias scale + shift, both exactly. The constant of
 * a mean is multiplied by its parts, so that both are over them. */
struct affine {
    struct mase_dyadic slope, part[2];
};

static bool affine_of(struct affine *l, const struct mase_meaning *m)
{
    const struct mase_dyadic scale = mase_dyadic_of((double)m->scale),
                             parts = mase_dyadic_of((double)m->parts);
    struct mase_dyadic bias;
    return mase_dyadic_mul(&l->slope, mase_dyadic_of(m->step), scale) &&
           mase_dyadic_mul(&bias, mase_dyadic_of((double)m->bias), scale) &&
           mase_dyadic_mul(&l->part[0], bias, parts) &&
           mase_dyadic_mul(&l->part[1], mase_dyadic_of((double)m->shift), parts);
}

/* d in units of 2^e, rounded down; *rest: was it inexact? False: too large. */
static bool floor_at(wide *x, bool *rest, struct mase_dyadic d, int e)
{
    const int shift = d.e - e;
    *rest = false;
    if (d.m == 0 || shift >= 0) {
        *x = d.m && shift < MASE_INT_LIMIT_BITS ? (wide)d.m * ((wide)1 << shift) : 0;
        return d.m == 0 || (shift < MASE_INT_LIMIT_BITS && fits(*x));
    }
    *x = -shift < 64 ? (wide)d.m >> -shift : d.m < 0 ? -1 : 0;
    *rest = true; /* m is odd */
    return true;
}

/* The constant in units of 2^e. If two terms are inexact, they are first added, if their exponents
 * are close. */
static bool constant_at(wide *x, bool *rest, const struct affine *l, int e)
{
    wide a, b;
    bool some, more;
    if (!floor_at(&a, &some, l->part[0], e) || !floor_at(&b, &more, l->part[1], e))
        return false;
    if (some && more) {
        const int low = l->part[0].e < l->part[1].e ? l->part[0].e : l->part[1].e;
        wide c, d;
        bool none;
        if (!floor_at(&c, &none, l->part[0], low) || !floor_at(&d, &none, l->part[1], low))
            return false;
        *x = e - low < 120 ? (c + d) >> (e - low) : c + d < 0 ? -1 : 0;
        *rest = e - low >= 120 ? c + d != 0 : *x * ((wide)1 << (e - low)) != c + d;
        return fits(*x);
    }
    *x = a + b;
    *rest = some || more;
    return fits(*x);
}

/* A unit in which half a step is an integer, so that the size of a remainder decides no comparison.
 */
static int unit_of(const struct affine *l, int step)
{
    return (l->slope.m && l->slope.e < step ? l->slope.e : step) - 1;
}

bool mase_meaning_as_fraction(struct mase_int_fraction *f, const struct mase_meaning *m,
                              double step, int64_t lo, int64_t hi)
{
    const int step_e = mase_dyadic_of(step).e;
    struct affine l;
    wide add, mul;
    bool rest;
    if (!affine_of(&l, m))
        return false;
    const int unit = unit_of(&l, step_e);
    if (l.slope.e - unit >= MASE_INT_LIMIT_BITS || step_e - unit >= MASE_INT_LIMIT_BITS ||
        !constant_at(&add, &rest, &l, unit))
        return false;
    mul = (wide)l.slope.m * ((wide)1 << (l.slope.e - unit));
    wide div = (wide)m->parts << (step_e - unit);
    if (rest) { /* more than add, less than add + 1 */
        mul *= 2;
        add = 2 * add + 1;
        div *= 2;
    }
    while (mul % 2 == 0 && add % 2 == 0 && div % 2 == 0) {
        mul /= 2;
        add /= 2;
        div /= 2;
    }
    const wide most = lo < -hi ? -(wide)lo : (wide)hi;
    if (!fits(mul) || !fits(div) || !fits(mul * most + add) || !fits(mul * most - add))
        return false;
    *f = (struct mase_int_fraction){ (int64_t)mul, (int64_t)add, (int64_t)div };
    return true;
}

double mase_meaning_unit(const struct mase_meaning *m)
{
    struct affine l;
    if (m->parts != 1 || !affine_of(&l, m))
        return 0;
    int e = l.slope.e;
    for (int i = 0; i < 2; i++)
        e = l.part[i].m && l.part[i].e < e ? l.part[i].e : e;
    return ldexp(1.0, e);
}
