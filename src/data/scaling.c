/*
 * scaling.c - features with mean 0 and standard deviation 1, by scikit-learn's StandardScaler: the
 * same corrected two-pass variance, and the same rule for what counts as constant.
 */
#include <float.h>
#include <math.h>

#include "data/store.h"

/* A variance that rounding alone could have caused. */
static bool is_constant(double variance, double mean, double n)
{
    const double rounding = n * mean * DBL_EPSILON;
    return variance <= n * DBL_EPSILON * variance + rounding * rounding;
}

struct mase_scaling mase_scaling_fit(struct mase_arena *a, int64_t features, int64_t n,
                                     mase_row_fn *get, const void *table)
{
    double *row = mase_new_array(a, double, (size_t)features);
    double *mean = mase_new_array(a, double, (size_t)features);
    double *std = mase_new_array(a, double, (size_t)features);
    double *drift = mase_new_array(a, double, (size_t)features);
    for (int64_t i = 0; i < n; i++) {
        get(row, table, i);
        for (int64_t f = 0; f < features; f++)
            mean[f] += row[f];
    }
    for (int64_t f = 0; f < features; f++)
        mean[f] /= (double)n;
    for (int64_t i = 0; i < n; i++) {
        get(row, table, i);
        for (int64_t f = 0; f < features; f++) {
            const double d = row[f] - mean[f];
            drift[f] += d; /* 0 but for the rounding of the mean */
            std[f] += d * d;
        }
    }
    for (int64_t f = 0; f < features; f++) {
        const double variance = (std[f] - drift[f] * drift[f] / (double)n) / (double)n;
        std[f] = is_constant(variance, mean[f], (double)n) ? 1 : sqrt(variance);
    }
    return (struct mase_scaling){ features, mean, std };
}

void mase_scaling_apply(const struct mase_scaling *s, float *y, const double *x, bool single)
{
    for (int64_t f = 0; f < s->n; f++) {
        const double d = x[f] - s->mean[f];
        y[f] = (float)((single ? (double)(float)d : d) / s->std[f]);
    }
}
