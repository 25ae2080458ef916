/*
 * shuffle.c - the order of an epoch: Fisher and Yates' shuffle with numbers of its own stream.
 */
#include <string.h>

#include <mase/rng.h>
#include <mase/train.h>

void mase_train_shuffle(uint32_t *order, const uint32_t *row, int64_t n, uint64_t seed,
                        uint64_t epoch)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_SHUFFLE, epoch);
    memcpy(order, row, (size_t)n * sizeof *order);
    for (int64_t i = n - 1; i > 0; i--) {
        /* 32 bits times fewer than 2^32 places: no place is off by more than n / 2^32. */
        const int64_t j = (int64_t)((uint64_t)mase_rng_u32(&r) * (uint64_t)(i + 1) >> 32);
        const uint32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}
