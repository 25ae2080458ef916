/*
 * lanes.h - what the tests of the kernels share: the instruction sets, buffers with a canary, the
 * numbers that rounding, comparing and overflowing go wrong on, and comparison by bits.
 */
#ifndef MASE_TESTS_LANES_H
#define MASE_TESTS_LANES_H

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase/rng.h>

#include "kern/kern.h"

/* Run what follows for every set; `isa` is its number, results of set 0 (scalar) are the standard.
 */
#define EACH_ISA(k)                                 \
    for (int isa = 0; isa < MASE_ISA_COUNT; isa++)  \
        if (mase_isa_supported((enum mase_isa)isa)) \
            for (const struct mase_kernels *k = mase_kernels_of((enum mase_isa)isa); k; k = NULL)

enum { CANARY = 16 };
static const float canary = 12345.0f;

/* A buffer of floats with a canary behind it. */
struct buf {
    float *x;
    long n;
};

static inline struct buf make(long n, uint64_t seed)
{
    struct buf b = { aligned_alloc(64, (size_t)((n + CANARY + 15) / 16 * 64)), n };
    struct mase_rng r = mase_rng(seed, MASE_STREAM_TEST, 7);
    for (long i = 0; i < n; i++)
        b.x[i] = mase_rng_range(&r, -2.0f, 2.0f);
    for (long i = n; i < n + CANARY; i++)
        b.x[i] = canary;
    return b;
}

static inline void drop(struct buf *b)
{
    for (long i = b->n; i < b->n + CANARY; i++)
        assert_true(b->x[i] == canary);
    free(b->x);
}

/* Zeros of both signs, ties, saturation, the ends of what an exponential can hold, denormals,
 * infinities, NaN. */
static const float hostile[] = {
    0.0f,          -0.0f,          0.5f,      -0.5f,       1.5f,         -1.5f,         2.5f,
    -2.5f,         1.0f,           -1.0f,     0.49999997f, -0.49999997f, 3.0f,          -3.0f,
    6.0f,          -6.0f,          0.75f,     -0.75f,      7.5f,         -8.5f,         127.5f,
    -128.5f,       255.5f,         -0.001f,   0.03125f,    -0.03125f,    88.3f,         88.8f,
    -87.3f,        -87.4f,         -104.0f,   1e-20f,      -1e-20f,      8388607.5f,    -8388609.0f,
    4294967296.0f, -2147483648.0f, FLT_MIN,   -FLT_MIN,    FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MAX,
    -FLT_MAX,      INFINITY,       -INFINITY, NAN,         1e30f,        -1e30f,
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* Hostile values between ordinary ones, in an order of the seed's; never two seeds alike. */
static inline void fill_hostile(float *x, long n, uint64_t seed)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_TEST, 13);
    for (long i = 0; i < n; i++) {
        const float ordinary = mase_rng_range(&r, -9.0f, 9.0f);
        x[i] = mase_rng_u32(&r) % 4 ? hostile[mase_rng_u32(&r) % HOSTILE] : ordinary;
    }
}

/* Of several NaN that meet, compilers and instructions choose differently: one stands for all. */
static inline void one_nan(float *x, long n)
{
    for (long i = 0; i < n; i++)
        if (isnan(x[i]))
            x[i] = NAN;
}

/* The place of the first float that differs in any bit, or -1. */
static inline long differs(const float *a, const float *b, long n)
{
    for (long i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a))
            return i;
    return -1;
}

#endif /* MASE_TESTS_LANES_H */
