/*
 * portable.h - functions of numbers with the same bits on every machine.
 *
 * The C library's exp and log are chosen by the processor and differ in their last bit. Points of a
 * study must not, or machines of two kinds could not work on one. These use only + - * / sqrt and
 * exact changes of the exponent.
 */
#ifndef MASE_STUDY_PORTABLE_H
#define MASE_STUDY_PORTABLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"

/* e to the x, within 2 units of the last place: 0 below -700, infinite above 700. NaN of NaN. In a
 * header for the loops over many kernels. */
static inline double mase_study_exp(double x)
{
    if (!(x > -700))
        return isnan(x) ? x : 0;
    if (x > 700)
        return INFINITY;
    /* x = k ln 2 + r; adding 1.5 * 2^52 rounds to the integer k. */
    const double shifted = x * 1.4426950408889634 + 0x1.8p52, k = shifted - 0x1.8p52;
    const double r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
    double sum = 1;
    for (int i = 13; i >= 1; i--)
        sum = 1 + sum * r * (1.0 / i);
    const uint64_t bits = (uint64_t)((int64_t)k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* The share of a normal distribution (mean 0, standard deviation 1) below x; error below 2e-7. */
double mase_study_normal_share(double x);

#endif /* MASE_STUDY_PORTABLE_H */
