/*
 * numpy.h - the random numbers of NumPy's RandomState, bit for bit, for splits and data that others
 * drew with it.
 */
#ifndef MASE_DATA_NUMPY_H
#define MASE_DATA_NUMPY_H

#include <stdint.h>

/* Mersenne Twister MT19937. */
struct mase_numpy {
    uint32_t state[624];
    int next;
};

void mase_numpy_seed(struct mase_numpy *r, uint32_t seed); /* RandomState(seed) */
uint32_t mase_numpy_u32(struct mase_numpy *r);
double mase_numpy_double(struct mase_numpy *r); /* rand(): [0, 1), 53 bits */
/* permutation(n). */
void mase_numpy_permutation(struct mase_numpy *r, uint32_t *p, uint32_t n);

#endif /* MASE_DATA_NUMPY_H */
