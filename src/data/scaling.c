/*
 * scaling.c - features on a scale of their own: standard, by scikit-learn's StandardScaler (the
 * same corrected two-pass variance, and the same rule for what counts as constant); minmax, by its
 * MinMaxScaler; or by numbers that are given.
 *
 * Statistics are taken from the rows that train. jsc is the exception: its published numbers are
 * those of the rows that train and validate.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"

const char *const mase_scale_names[] = { "usual", "none", "standard", "minmax", "given", NULL };

bool mase_scaling_equal(const struct mase_scaling *a, const struct mase_scaling *b)
{
    const size_t size = (size_t)a->n * sizeof *a->mean;
    return a->n == b->n &&
           (!a->n || (!memcmp(a->mean, b->mean, size) && !memcmp(a->std, b->std, size)));
}

/* ---- statistics ---- */

/* Could rounding alone have caused the variance? */
static bool is_constant(double variance, double mean, double n)
{
    const double rounding = n * mean * DBL_EPSILON;
    return variance <= n * DBL_EPSILON * variance + rounding * rounding;
}

struct mase_scaling mase_scaling_fit(struct mase_arena *a, int64_t features,
                                     struct mase_split_rows rows, mase_row_fn *get,
                                     const void *table)
{
    const double n = (double)rows.count;
    double *row = mase_new_array(a, double, (size_t)features);
    double *mean = mase_new_array(a, double, (size_t)features);
    double *std = mase_new_array(a, double, (size_t)features);
    double *drift = mase_new_array(a, double, (size_t)features);
    for (int64_t i = 0; i < rows.count; i++) {
        get(row, table, rows.row[i]);
        for (int64_t f = 0; f < features; f++)
            mean[f] += row[f];
    }
    for (int64_t f = 0; f < features; f++)
        mean[f] /= n;
    for (int64_t i = 0; i < rows.count; i++) {
        get(row, table, rows.row[i]);
        for (int64_t f = 0; f < features; f++) {
            const double d = row[f] - mean[f];
            drift[f] += d; /* corrects for rounding of the mean */
            std[f] += d * d;
        }
    }
    for (int64_t f = 0; f < features; f++) {
        const double variance = (std[f] - drift[f] * drift[f] / n) / n;
        std[f] = is_constant(variance, mean[f], n) ? 1 : sqrt(variance);
    }
    return (struct mase_scaling){ features, mean, std };
}

/* The minimum of each feature and the distance to the maximum; 1 for a constant feature. */
static struct mase_scaling fit_minmax(struct mase_arena *a, int64_t features,
                                      struct mase_split_rows rows, mase_row_fn *get,
                                      const void *table)
{
    double *row = mase_new_array(a, double, (size_t)features);
    double *low = mase_new_array(a, double, (size_t)features);
    double *span = mase_new_array(a, double, (size_t)features);
    for (int64_t i = 0; i < rows.count; i++) {
        get(row, table, rows.row[i]);
        for (int64_t f = 0; f < features; f++) {
            low[f] = !i || row[f] < low[f] ? row[f] : low[f];
            span[f] = !i || row[f] > span[f] ? row[f] : span[f]; /* maximum so far */
        }
    }
    for (int64_t f = 0; f < features; f++)
        span[f] = span[f] > low[f] ? span[f] - low[f] : 1;
    return (struct mase_scaling){ features, low, span };
}

typedef struct mase_scaling fit_fn(struct mase_arena *a, int64_t features,
                                   struct mase_split_rows rows, mase_row_fn *get,
                                   const void *table);
static fit_fn *const fits[MASE_SCALE_COUNT] = {
    [MASE_SCALE_STANDARD] = mase_scaling_fit,
    [MASE_SCALE_MINMAX] = fit_minmax,
};

/* ---- tables ---- */

void mase_floats_row(double *row, const void *floats, int64_t i)
{
    const struct mase_floats *t = floats;
    for (int64_t f = 0; f < t->features; f++)
        row[f] = (double)t->x[i * t->features + f];
}

float *mase_new_table(const struct mase_dataset *d)
{
    const size_t size = (size_t)(d->info.rows * mase_data_features(&d->info.data)) * sizeof(float);
    return mase_aligned_calloc(size);
}

static void apply(const struct mase_scaling *s, float *y, const double *x, bool single)
{
    for (int64_t f = 0; f < s->n; f++) {
        const double d = x[f] - s->mean[f];
        y[f] = (float)((single ? (double)(float)d : d) / s->std[f]);
    }
}

/* Fail if scaled numbers exceed float32, instead of computing with infinities. */
enum mase_status mase_check_scaled(const float *y, const struct mase_scaling *s,
                                   const char *const *names, struct mase_err *err)
{
    for (int64_t f = 0; f < s->n; f++)
        if (!isfinite(y[f]))
            return mase_fail(err, MASE_EVALUE,
                             "%s: a value less %g, divided by %g, is %g; 32-bit floats end at %g",
                             names ? names[f] : "the features", s->mean[f], s->std[f], (double)y[f],
                             (double)FLT_MAX);
    return MASE_OK;
}

static enum mase_status fill(const struct mase_dataset *d, float *to,
                             const struct mase_scale_source *from, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    const int64_t features = mase_data_features(&d->info.data);
    double *row = mase_xcalloc((size_t)features * sizeof *row);
    for (int64_t i = 0; i < d->info.rows && !st; i++) {
        float *y = to + i * features;
        from->get(row, from->table, i);
        if (d->info.scaling.n)
            apply(&d->info.scaling, y, row, from->single);
        else
            for (int64_t f = 0; f < features; f++)
                y[f] = (float)row[f];
        if (d->info.scaling.n)
            st = mase_check_scaled(y, &d->info.scaling, d->info.feature_names, err);
    }
    mase_xfree(row);
    return st;
}

/* Copy given statistics into d's arena. */
static enum mase_status copy_scaling(struct mase_dataset *d, const struct mase_scaling *from,
                                     int64_t features, struct mase_err *err)
{
    if (!from || from->n != features)
        return mase_fail(err, MASE_EVALUE,
                         "a scaling of %lld features does not fit samples of %lld",
                         (long long)(from ? from->n : 0), (long long)features);
    const size_t size = (size_t)features * sizeof(double);
    d->info.scaling =
        (struct mase_scaling){ features, mase_arena_memdup(&d->arena, from->mean, size),
                               mase_arena_memdup(&d->arena, from->std, size) };
    return MASE_OK;
}

enum mase_status mase_scale_table(struct mase_dataset *d, float *to,
                                  const struct mase_dataset_opts *opts,
                                  const struct mase_scale_source *from, struct mase_err *err)
{
    const int64_t features = mase_data_features(&d->info.data);
    const enum mase_scale usual = from->published ? MASE_SCALE_STANDARD : MASE_SCALE_NONE;
    struct mase_split_rows rows = d->split[MASE_SPLIT_TRAIN];
    d->info.scale = opts->scale == MASE_SCALE_USUAL ? usual : opts->scale;
    d->info.scaling = (struct mase_scaling){ 0 };
    d->info.scale_rows = 0;
    if (from->published && d->info.scale == MASE_SCALE_STANDARD)
        rows = mase_split_range(d, 0, from->published);
    if (d->info.scale == MASE_SCALE_GIVEN) {
        MASE_TRY(copy_scaling(d, opts->scaling, features, err));
    } else if (fits[d->info.scale]) {
        d->info.scaling = fits[d->info.scale](&d->arena, features, rows, from->get, from->table);
        d->info.scale_rows = rows.count;
        mase_unscale_integers(d, (double *)(uintptr_t)d->info.scaling.mean,
                              (double *)(uintptr_t)d->info.scaling.std);
    }
    d->table = to;
    return fill(d, to, from, err);
}
