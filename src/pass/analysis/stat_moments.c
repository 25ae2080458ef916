/*
 * stat_moments.c - means and variances: variance_online, variance_precise, range_n_sigma, abs_mean.
 *
 * All sums are doubles over float32 values, mean first and squared deviations from it after, part
 * by part: nothing has to be kept for the unbiased variance to be exact to float32.
 */
#include <math.h>

#include "pass/analysis/stat.h"

enum { LANES = 8 }; /* independent sums, which compilers vectorise */

static double total(const double *part)
{
    double sum = 0;
    for (int j = 0; j < LANES; j++)
        sum += part[j];
    return sum;
}

struct mase_moments mase_moments_of(const float *x, int64_t n)
{
    double sum[LANES] = { 0 }, squares[LANES] = { 0 };
    const int64_t whole = n / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++)
            sum[j] += x[i + j];
    for (int64_t i = whole; i < n; i++)
        sum[i - whole] += x[i];
    const double mean = n ? total(sum) / (double)n : 0;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++)
            squares[j] += (x[i + j] - mean) * (x[i + j] - mean);
    for (int64_t i = whole; i < n; i++)
        squares[i - whole] += (x[i] - mean) * (x[i] - mean);
    return (struct mase_moments){ .n = n, .mean = mean, .m2 = total(squares) };
}

void mase_moments_merge(struct mase_moments *to, const struct mase_moments *part)
{
    if (!part->n)
        return;
    const double n = (double)(to->n + part->n), delta = part->mean - to->mean;
    to->m2 += part->m2 + delta * delta * (double)to->n * (double)part->n / n;
    /* an infinite mean stays infinite */
    to->mean += isfinite(delta) ? delta * (double)part->n / n : part->mean;
    to->n += part->n;
}

static void moments_span(const struct mase_stat *s, void *state, const float *x, int64_t n)
{
    (void)s;
    const struct mase_moments part = mase_moments_of(x, n);
    mase_moments_merge(state, &part);
}

static void moments_part(const struct mase_stat *s, void *state, const struct mase_stat_part *p)
{
    (void)s;
    mase_moments_merge(state, &p->moments);
}

const struct mase_stat_state mase_state_moments = {
    .size = sizeof(struct mase_moments),
    .span = moments_span,
    .part = moments_part,
};

/* ---- the original's variance over everything ---- */

/* Moments of one sample, with squared deviations weighted as the original does: the number of
 * values times the unbiased variance. A sample of one value adds none. */
static void add_sample(const struct mase_stat *s, const struct mase_stat_block *b, int64_t i)
{
    enum { CHUNK = 512 };
    const int64_t elements = mase_shape_count(&b->shape);
    const float *x = b->data + i * b->sample_stride;
    struct mase_moments sample = { 0 };
    float chunk[CHUNK];
    for (int64_t e = 0; e < elements; e += CHUNK) {
        const int64_t n = elements - e < CHUNK ? elements - e : CHUNK;
        for (int64_t k = 0; k < n; k++) {
            const float v = x[(e + k) * b->element_stride];
            chunk[k] = s->args.abs ? fabsf(v) : v;
        }
        const struct mase_moments part = mase_moments_of(chunk, n);
        mase_moments_merge(&sample, &part);
    }
    if (elements > 1)
        sample.m2 *= (double)elements / (double)(elements - 1);
    mase_moments_merge(mase_stat_group(s, 0), &sample);
}

static bool as_the_original(const struct mase_stat *s)
{
    return s->dims == MASE_DIMS_ALL && !s->args.exact;
}

static void online_block(struct mase_stat *s, const struct mase_stat_block *b)
{
    if (!as_the_original(s)) {
        mase_stat_spans(s, b);
        return;
    }
    for (int64_t i = 0; i < b->samples; i++)
        add_sample(s, b, i);
}

static void online_part(const struct mase_stat *s, void *state, const struct mase_stat_part *p)
{
    mase_moments_merge(state, as_the_original(s) ? &p->weighted : &p->moments);
}

const struct mase_stat_state mase_state_online = {
    .size = sizeof(struct mase_moments),
    .span = moments_span,
    .block = online_block,
    .part = online_part,
};

/* range_n_sigma uses either. */
static bool is_online(const struct mase_stat *s)
{
    return mase_streq(s->args.var_mode, "online");
}

static void sigma_block(struct mase_stat *s, const struct mase_stat_block *b)
{
    (is_online(s) ? online_block : mase_stat_spans)(s, b);
}

static void sigma_part(const struct mase_stat *s, void *state, const struct mase_stat_part *p)
{
    (is_online(s) ? online_part : moments_part)(s, state, p);
}

const struct mase_stat_state mase_state_sigma = {
    .size = sizeof(struct mase_moments),
    .span = moments_span,
    .block = sigma_block,
    .part = sigma_part,
};

/* ---- results ---- */

static double mean(const struct mase_stat *s, const void *state)
{
    (void)s;
    return ((const struct mase_moments *)state)->mean;
}

static double population(const struct mase_stat *s, const void *state)
{
    (void)s;
    const struct mase_moments *m = state;
    return m->m2 / (double)m->n;
}

static double unbiased(const struct mase_stat *s, const void *state)
{
    (void)s;
    const struct mase_moments *m = state;
    return m->n > 1 ? m->m2 / (double)(m->n - 1) : NAN;
}

void mase_result_variance_online(const struct mase_stat *s, struct mase_arena *a,
                                 struct mase_value *fields)
{
    if (mase_stat_count(s) < 2) {
        mase_stat_set_na(s, a, fields, "mean");
        mase_stat_set_na(s, a, fields, "variance");
        return;
    }
    mase_stat_set(s, a, fields, "mean", mean);
    mase_stat_set(s, a, fields, "variance", population);
    mase_stat_set_count(s, a, fields);
}

void mase_result_variance_precise(const struct mase_stat *s, struct mase_arena *a,
                                  struct mase_value *fields)
{
    if (mase_stat_count(s) < 2 && s->dims != MASE_DIMS_ALL) {
        mase_stat_set_na(s, a, fields, "mean");
        mase_stat_set_na(s, a, fields, "variance");
    } else {
        mase_stat_set(s, a, fields, "mean", mean);
        mase_stat_set(s, a, fields, "variance", unbiased);
    }
    mase_stat_set_count(s, a, fields);
}

static double spread(const struct mase_stat *s, const void *state)
{
    return s->args.num_sigma * sqrt(is_online(s) ? population(s, state) : unbiased(s, state));
}

static double lower(const struct mase_stat *s, const void *state)
{
    return mean(s, state) - spread(s, state);
}

static double upper(const struct mase_stat *s, const void *state)
{
    return mean(s, state) + spread(s, state);
}

static double width(const struct mase_stat *s, const void *state)
{
    return 2 * spread(s, state);
}

void mase_result_range_n_sigma(const struct mase_stat *s, struct mase_arena *a,
                               struct mase_value *fields)
{
    if (mase_stat_count(s) < 2) {
        mase_stat_set_na(s, a, fields, "min");
        mase_stat_set_na(s, a, fields, "max");
        mase_stat_set_na(s, a, fields, "range");
    } else {
        mase_stat_set(s, a, fields, "min", lower);
        mase_stat_set(s, a, fields, "max", upper);
        mase_stat_set(s, a, fields, "range", width);
    }
    mase_stat_set_count(s, a, fields);
}

void mase_result_abs_mean(const struct mase_stat *s, struct mase_arena *a,
                          struct mase_value *fields)
{
    if (mase_stat_count(s) < 2) {
        mase_stat_set_na(s, a, fields, "abs_mean");
        return;
    }
    mase_stat_set(s, a, fields, "abs_mean", mean);
    mase_stat_set_count(s, a, fields);
}
