/*
 * rng.h - random numbers that depend on their purpose, not on earlier draws.
 *
 * Philox 4x32-10: the n-th number of a stream is a pure function of (seed, stream, index, n). A
 * stream is named by its purpose: a new use with a purpose of its own changes no other numbers, and
 * any thread can start at any place of a stream.
 *
 *     struct mase_rng r = mase_rng(seed, MASE_STREAM_INIT, mase_rng_name("seq_blocks.2.weight"));
 *     for (long i = 0; i < n; i++)
 *         w[i] = mase_rng_range(&r, -bound, bound);
 */
#ifndef MASE_RNG_H
#define MASE_RNG_H

#include <stdint.h>

#include <mase/api.h>

MASE_API_BEGIN

enum mase_stream {
    MASE_STREAM_INIT = 1, /* initial weights; index: the parameter's name */
    MASE_STREAM_DUMMY,    /* dummy inputs; index: the placeholder's name */
    MASE_STREAM_TEST,     /* tests and fuzzers */
    MASE_STREAM_JETS,     /* jsc-sim; index: the row */
    MASE_STREAM_HOLD_OUT, /* which rows validate; index: 0 */
    MASE_STREAM_AUGMENT,  /* crops and flips; index: epoch << 32 | row */
    MASE_STREAM_SHUFFLE,  /* order of the training rows; index: the epoch */
    MASE_STREAM_DROPOUT,  /* which values are kept; index: see op_dropout.c */
    MASE_STREAM_ROUND,    /* stochastic rounding; index: the bits of the value */
    MASE_STREAM_PRUNE,    /* which weights are removed; index: the parameter's name */
    MASE_STREAM_SPLIT,  /* order of the rows of a class, or of groups; index: the class, or all bits
                         */
    MASE_STREAM_DRAW,   /* numbers that forward draws, and the second one for a normal number; */
    MASE_STREAM_TURN,   /* index: see op_random.c */
    MASE_STREAM_SAMPLE, /* points of a study; index: the trial */
};

struct mase_rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4]; /* the current four numbers */
    int left;          /* numbers of the block that are unused */
};

struct mase_rng mase_rng(uint64_t seed, enum mase_stream purpose, uint64_t index);
uint64_t mase_rng_name(const char *name); /* an index from a text (FNV-1a) */

/* The raw block function: out = philox(counter, key). */
void mase_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

uint32_t mase_rng_u32(struct mase_rng *r);
float mase_rng_float(struct mase_rng *r);                     /* [0, 1), 24 bits */
float mase_rng_range(struct mase_rng *r, float lo, float hi); /* [lo, hi) */
float mase_rng_normal(struct mase_rng *r);                    /* mean 0, standard deviation 1 */

MASE_API_END

#endif /* MASE_RNG_H */
