/*
 * direction.c - which way a number between two steps is rounded: the parameter `rounding`.
 *
 *     nearest_even   to the nearer step; half way to the even one
 *     nearest_away   to the nearer step; half way to the one away from zero
 *     floor          to the step below, toward minus infinity
 *     toward_zero    to the step nearer to zero
 *     stochastic     up with the chance that the distance from the step below is of a whole one
 *
 * What rounds to zero keeps its sign.
 *
 * Chance is the number that the stream of roundings has at the bits of the value (rng.h): results
 * depend neither on the order of work, the batch, the number of threads or the instruction set nor
 * on whether a run was resumed, and equal values are rounded alike.
 */
#include <math.h>
#include <string.h>

#include <mase/rng.h>

#include "quant/quant.h"

const char *const mase_direction_names[] = { "nearest_even", "nearest_away", "floor",
                                             "toward_zero",  "stochastic",   NULL };

enum mase_direction mase_direction_of(const char **name)
{
    int d = 0;
    while (mase_direction_names[d + 1] && !mase_streq(mase_direction_names[d], *name))
        d++;
    *name = mase_direction_names[d];
    return (enum mase_direction)d;
}

float mase_chance_at(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    struct mase_rng r = mase_rng(0, MASE_STREAM_ROUND, bits);
    return mase_rng_float(&r);
}

/* Steps beyond 2^53 have no fractions, and none of these functions changes them. */
double mase_direct(double steps, enum mase_direction d, float x)
{
    const double below = floor(steps), size = floor(fabs(steps));
    switch (d) {
    case MASE_TO_NEAREST_EVEN:
        return rint(steps);
    case MASE_TO_NEAREST_AWAY:
        return copysign(fabs(steps) - size >= 0.5 ? size + 1 : size, steps);
    case MASE_TO_FLOOR:
        return below;
    case MASE_TO_ZERO:
        return copysign(size, steps);
    case MASE_BY_CHANCE:
        break;
    }
    return copysign(steps - below > (double)mase_chance_at(x) ? below + 1 : below, steps);
}
