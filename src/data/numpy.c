/*
 * numpy.c - NumPy's RandomState: MT19937 (Matsumoto and Nishimura, 1998) seeded by Knuth's
 * generator, doubles from two numbers, and shuffling by masked rejection.
 */
#include "data/numpy.h"

enum { N = 624, M = 397 };

void mase_numpy_seed(struct mase_numpy *r, uint32_t seed)
{
    r->state[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        r->state[i] = 1812433253u * (r->state[i - 1] ^ r->state[i - 1] >> 30) + i;
    r->next = N;
}

static void refill(struct mase_numpy *r)
{
    uint32_t *s = r->state;
    for (int i = 0; i < N; i++) {
        const uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % N] & 0x7fffffffu);
        s[i] = s[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

uint32_t mase_numpy_u32(struct mase_numpy *r)
{
    if (r->next == N)
        refill(r);
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double mase_numpy_double(struct mase_numpy *r)
{
    const uint32_t high = mase_numpy_u32(r) >> 5, low = mase_numpy_u32(r) >> 6;
    return (high * 0x1p26 + low) / 0x1p53;
}

/* In [0, max]: masked to the bits of max, rejected if above. */
static uint32_t interval(struct mase_numpy *r, uint32_t max)
{
    const uint32_t mask = UINT32_MAX >> __builtin_clz(max);
    uint32_t v;
    do
        v = mase_numpy_u32(r) & mask;
    while (v > max);
    return v;
}

void mase_numpy_permutation(struct mase_numpy *r, uint32_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] = i;
    for (uint32_t i = n; i-- > 1;) {
        const uint32_t j = interval(r, i), t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
}
