/*
 * round_step.h - rounding to a number format, by its kernel where it has one.
 */
#ifndef MASE_EXEC_STEP_ROUND_STEP_H
#define MASE_EXEC_STEP_ROUND_STEP_H

#include <mase/graph.h>

#include "kern/kern.h"

/* The blocks of a tensor in memory, ready to be rounded. */
struct mase_round {
    struct mase_rounding how; /* format NULL: copied */
    int64_t count;            /* items: blocks; without geometry: rows, each of single values; one
                               * when blocks look around */
    int64_t blocks;           /* with geometry */
    struct mase_shape shape;
    int64_t stride;     /* floats between rows */
    int64_t lanes;      /* the most; without geometry they are neighbours in a row */
    const int64_t *row; /* where the rows of each block begin; NULL without geometry */
    const int64_t *end; /* of block i in row; it begins at end[i - 1] */
    bool breaks_zeros;  /* a block of zeros becomes NaN */
    int64_t run, slice; /* a dense tensor: its blocks are so many values in a row, of slices of so
                         * many, whose last may be shorter; 0: they are listed */
    bool whole;         /* a dense tensor whose blocks look around: the reference rounds it */
};

/* Or does only the reference round to it? */
bool mase_round_has_kernel(const struct mase_format *f);

/* For rows of lanes, `stride` floats apart, one for each value of a sample of this shape. */
struct mase_round mase_round_rows(struct mase_arena *a, struct mase_rounding how,
                                  const struct mase_shape *s, int64_t stride);
/* For a dense tensor: a weight. */
struct mase_round mase_round_dense(struct mase_arena *a, struct mase_rounding how,
                                   const struct mase_shape *s);
/* Blocks from..to, with so many lanes in use. */
void mase_round_run(const struct mase_round *r, const struct mase_kernels *k, float *y,
                    const float *x, int64_t lanes, int64_t from, int64_t to);
/* Lanes first..end of the rows of blocks from..to := 0. */
void mase_round_clear(const struct mase_round *r, float *y, int64_t first, int64_t end,
                      int64_t from, int64_t to);
/* All of a dense tensor. */
void mase_round_all(const struct mase_round *r, const struct mase_kernels *k, float *y,
                    const float *x);

#endif /* MASE_EXEC_STEP_ROUND_STEP_H */
