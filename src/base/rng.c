/*
 * rng.c - Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2,
 * 3", SC 2011) and the distributions drawn from it.
 *
 * How the 128-bit counter is used; the key is the seed:
 *
 *     word 0          block number, low 32 bits
 *     word 1          block number, high 24 bits, and above them 8 bits of purpose
 *     words 2, 3      index
 *
 * Only integer arithmetic and the correctly rounded float operations (+ - * / sqrt) are used, so a
 * number has the same bits with every C library.
 */
#include <mase/rng.h>

#include <math.h>

#include <mase/err.h>

#include "base/number.h"

void mase_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xd2511f53u * c0, p1 = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9e3779b9u; /* golden ratio */
        k1 += 0xbb67ae85u; /* sqrt(3) - 1 */
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

struct mase_rng mase_rng(uint64_t seed, enum mase_stream purpose, uint64_t index)
{
    if ((unsigned)purpose > 255)
        mase_bug("stream purpose %d does not fit 8 bits", (int)purpose);
    return (struct mase_rng){
        .key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
        .counter = { 0, (uint32_t)purpose << 24, (uint32_t)index, (uint32_t)(index >> 32) },
    };
}

uint64_t mase_rng_name(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *s = name; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return h;
}

uint32_t mase_rng_u32(struct mase_rng *r)
{
    if (r->left == 0) {
        mase_philox(r->block, r->counter, r->key);
        r->left = 4;
        if (++r->counter[0] == 0)
            r->counter[1]++;
    }
    return r->block[4 - r->left--];
}

float mase_rng_float(struct mase_rng *r)
{
    return (float)(mase_rng_u32(r) >> 8) * 0x1p-24f;
}

float mase_rng_range(struct mase_rng *r, float lo, float hi)
{
    const double u = (double)(mase_rng_u32(r) >> 8) * 0x1p-24;
    const float v = (float)(lo + ((double)hi - lo) * u);
    return v < hi || lo >= hi ? v : nextafterf(hi, lo); /* rounding may have reached hi */
}

/* ln m = 2 artanh((m - 1) / (m + 1)). */
double mase_natural_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent); /* [0.5, 1) */
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    const double s = (m - 1) / (m + 1), s2 = s * s;
    double sum = 0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

/* cos(2 pi u) for u in [0, 1): nearest quarter turn, then the Taylor series within pi/4. */
static double cos_turns(double u)
{
    const int quarter = (int)(4 * u + 0.5);
    const double t = (u - 0.25 * quarter) * 6.2831853071795865, t2 = t * t;
    double cosine = 0, sine = 0;
    for (int k = 16; k >= 0; k -= 2) {
        cosine = 1 - cosine * t2 / ((k + 1) * (k + 2));
        sine = 1 - sine * t2 / ((k + 2) * (k + 3));
    }
    sine *= t;
    const double value = quarter & 1 ? -sine : cosine;
    return quarter & 2 ? -value : value;
}

/* Box and Muller. The pair's second number is not kept: the generator has no state but its place.
 */
float mase_rng_normal(struct mase_rng *r)
{
    const double u = ((double)mase_rng_u32(r) + 1) * 0x1p-32; /* (0, 1]: its logarithm is finite */
    const double turns = (double)mase_rng_u32(r) * 0x1p-32;
    return (float)(sqrt(-2 * mase_natural_log(u)) * cos_turns(turns));
}
