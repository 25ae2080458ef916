/*
 * shuffle.c - the order of an epoch: Fisher and Yates' shuffle.
 *
 * An epoch of a small network takes milliseconds, so its half a million random numbers come from a
 * generator of one nanosecond, xoshiro256++ of Blackman and Vigna, which is seeded by a Philox
 * stream of its own: seed and epoch still decide everything.
 */
#include <string.h>

#include <mase/rng.h>
#include <mase/train.h>

struct xoshiro {
    uint64_t s[4];
};

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t next(struct xoshiro *x)
{
    uint64_t *s = x->s;
    const uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

static struct xoshiro seeded(uint64_t seed, uint64_t epoch)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_SHUFFLE, epoch);
    struct xoshiro x;
    for (int i = 0; i < 4; i++) {
        x.s[i] = mase_rng_u32(&r);
        x.s[i] = x.s[i] << 32 | mase_rng_u32(&r);
    }
    x.s[0] |= 1; /* a state of all zeros would stay zero */
    return x;
}

/* Exchange place i with one of the places up to it: 32 random bits times a count below 2^32, so no
 * place is more probable than another by more than n / 2^32. */
static void exchange(uint32_t *order, int64_t i, uint64_t bits)
{
    const int64_t j = (int64_t)(bits * (uint64_t)(i + 1) >> 32);
    const uint32_t t = order[i];
    order[i] = order[j];
    order[j] = t;
}

void mase_train_shuffle(uint32_t *order, const uint32_t *row, int64_t n, uint64_t seed,
                        uint64_t epoch)
{
    struct xoshiro x = seeded(seed, epoch);
    memcpy(order, row, (size_t)n * sizeof *order);
    for (int64_t i = n - 1; i > 0; i -= 2) {
        const uint64_t bits = next(&x);
        exchange(order, i, bits >> 32);
        exchange(order, i - 1, bits & UINT32_MAX); /* place 0 stays where it is */
    }
}
