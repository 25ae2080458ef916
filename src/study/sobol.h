/*
 * sobol.h - Sobol's sequence: points that fill a cube more evenly than random ones.
 */
#ifndef MASE_STUDY_SOBOL_H
#define MASE_STUDY_SOBOL_H

#include <mase/arena.h>
#include <mase/rng.h>

enum { MASE_SOBOL_BITS = 32, MASE_SOBOL_DIMENSIONS = 1000 };

struct mase_sobol {
    int count;
    /* Of each dimension: what each bit of the number of a point adds, and what all points have. */
    uint32_t (*direction)[MASE_SOBOL_BITS], *shift;
};

/* The sequence of a cube of at most MASE_SOBOL_DIMENSIONS, allocated in a. */
void mase_sobol_open(struct mase_sobol *s, struct mase_arena *a, int count);
/* Scramble its digits at random: the points stay as even, and differ with the seed. */
void mase_sobol_scramble(struct mase_sobol *s, struct mase_rng *r);
/* Point n: coordinates (count) of [0, 1). Point 0 is the origin, unless scrambled. */
void mase_sobol_point(double *u, const struct mase_sobol *s, int64_t n);

#endif /* MASE_STUDY_SOBOL_H */
