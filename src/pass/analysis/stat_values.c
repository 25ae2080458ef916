/*
 * stat_values.c - statistics of single values: record, sparsity; and of rounding to a number
 * format: saturation, underflow, sqnr.
 */
#include <math.h>

#include "pass/analysis/stat.h"

/* ---- record ---- */

struct record {
    float *value; /* (total samples, elements) */
    int64_t n;
};

static void record_begin(const struct mase_stat *s, void *state)
{
    const int64_t room = mase_shape_count(&s->shape) * s->total;
    ((struct record *)state)->value = mase_new_array(s->arena, float, (size_t)room);
}

static void record_block(struct mase_stat *s, const struct mase_stat_block *b)
{
    struct record *r = mase_stat_group(s, 0);
    const int64_t elements = mase_shape_count(&b->shape);
    for (int64_t i = 0; i < b->samples; i++)
        for (int64_t e = 0; e < elements; e++)
            r->value[r->n++] = b->data[e * b->element_stride + i * b->sample_stride];
}

const struct mase_stat_state mase_state_record = {
    .size = sizeof(struct record),
    .keeps = true,
    .begin = record_begin,
    .block = record_block,
};

/* Samples concatenated along their first dimension, or along a new one. */
static struct mase_shape recorded_shape(const struct mase_stat *s)
{
    struct mase_shape shape = s->shape;
    if (!s->args.new_dim && shape.rank) {
        shape.dim[0] *= s->samples;
        return shape;
    }
    shape.rank++;
    for (int d = shape.rank - 1; d > 0; d--)
        shape.dim[d] = shape.dim[d - 1];
    shape.dim[0] = s->samples;
    return shape;
}

void mase_result_record(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields)
{
    const struct record *r = mase_stat_group(s, 0);
    const struct mase_shape shape = recorded_shape(s);
    mase_value_set(a, fields, "data", mase_stat_nested(a, &shape, r->value));
    mase_value_set(a, fields, "count", mase_value_int(a, s->samples));
    mase_value_set(a, fields, "size_in_bytes", mase_value_int(a, r->n * (int64_t)sizeof(float)));
}

/* ---- sparsity ---- */

struct zeros {
    int64_t zeros, n;
};

static void zeros_span(const struct mase_stat *s, void *state, const float *x, int64_t n)
{
    struct zeros *z = state;
    for (int64_t i = 0; i < n; i++)
        z->zeros += fabs((double)x[i]) <= s->args.threshold;
    z->n += n;
}

const struct mase_stat_state mase_state_zeros = {
    .size = sizeof(struct zeros),
    .span = zeros_span,
};

static double zeros(const struct mase_stat *s, const void *state)
{
    (void)s;
    return (double)((const struct zeros *)state)->zeros;
}

static double sparsity(const struct mase_stat *s, const void *state)
{
    const struct zeros *z = state;
    return zeros(s, state) / (double)z->n;
}

static double density(const struct mase_stat *s, const void *state)
{
    const struct zeros *z = state;
    return ((double)z->n - zeros(s, state)) / (double)z->n;
}

void mase_result_sparsity(const struct mase_stat *s, struct mase_arena *a,
                          struct mase_value *fields)
{
    mase_stat_set_counts(s, a, fields, "zeros", zeros);
    mase_stat_set(s, a, fields, "sparsity", sparsity);
    mase_stat_set(s, a, fields, "density", density);
    mase_stat_set_count(s, a, fields);
}

/* ---- a number format ---- */

struct rounding {
    float lo, hi; /* the format's range */
    int64_t n, below, above, underflow;
    double signal, noise; /* sums of squares */
};

static enum mase_sign sign_of(const struct mase_stat *s)
{
    return s->args.is_signed ? MASE_SIGNED : MASE_UNSIGNED;
}

static void rounding_begin(const struct mase_stat *s, void *state)
{
    struct rounding *r = state;
    mase_format_limits(&r->lo, &r->hi, s->args.format, sign_of(s));
}

static void compare(struct rounding *r, const float *x, const float *q, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float v = x[i];
        const double error = (double)q[i] - (double)v;
        r->below += v < r->lo;
        r->above += v > r->hi;
        /* a value beyond a range that ends at zero saturates, it does not underflow */
        r->underflow += v != 0 && q[i] == 0 && v >= r->lo && v <= r->hi;
        r->signal += (double)v * (double)v;
        r->noise += error * error;
    }
    r->n += n;
}

static void rounding_span(const struct mase_stat *s, void *state, const float *x, int64_t n)
{
    enum { CHUNK = 512 };
    float q[CHUNK];
    for (int64_t from = 0; from < n; from += CHUNK) {
        const int64_t count = n - from < CHUNK ? n - from : CHUNK;
        mase_quantize_values(s->args.format, q, x + from, count, sign_of(s));
        compare(state, x + from, q, count);
    }
}

/* If values share a scale or exponent, a whole sample is rounded at once. */
static void rounding_block(struct mase_stat *s, const struct mase_stat_block *b)
{
    const struct mase_format *f = s->args.format;
    if (!mase_format_has_blocks(f)) {
        mase_stat_spans(s, b);
        return;
    }
    struct mase_arena a = { 0 };
    struct mase_shape shape = { .rank = b->shape.rank + 1, .dim = { 1 } };
    const int64_t n = mase_shape_count(&b->shape);
    float *x = mase_new_array(&a, float, (size_t)n), *q = mase_new_array(&a, float, (size_t)n);
    for (int d = 0; d < b->shape.rank; d++)
        shape.dim[d + 1] = b->shape.dim[d];
    for (int64_t i = 0; i < b->samples; i++) {
        for (int64_t e = 0; e < n; e++) {
            x[e] = b->data[e * b->element_stride + i * b->sample_stride];
            x[e] = s->args.abs ? fabsf(x[e]) : x[e];
        }
        mase_quantize(f, q, x, &shape, MASE_ROLE_DATA, sign_of(s));
        for (int64_t e = 0; e < n; e++)
            compare(mase_stat_group(s, s->group ? s->group[e] : 0), &x[e], &q[e], 1);
    }
    mase_arena_release(&a);
}

const struct mase_stat_state mase_state_rounding = {
    .size = sizeof(struct rounding),
    .begin = rounding_begin,
    .span = rounding_span,
    .block = rounding_block,
};

static double below(const struct mase_stat *s, const void *state)
{
    (void)s;
    return (double)((const struct rounding *)state)->below;
}

static double above(const struct mase_stat *s, const void *state)
{
    (void)s;
    return (double)((const struct rounding *)state)->above;
}

static double saturated(const struct mase_stat *s, const void *state)
{
    const struct rounding *r = state;
    return (below(s, state) + above(s, state)) / (double)r->n;
}

static double underflow(const struct mase_stat *s, const void *state)
{
    (void)s;
    return (double)((const struct rounding *)state)->underflow;
}

static double underflown(const struct mase_stat *s, const void *state)
{
    const struct rounding *r = state;
    return underflow(s, state) / (double)r->n;
}

static double signal_power(const struct mase_stat *s, const void *state)
{
    (void)s;
    const struct rounding *r = state;
    return r->signal / (double)r->n;
}

static double noise_power(const struct mase_stat *s, const void *state)
{
    (void)s;
    const struct rounding *r = state;
    return r->noise / (double)r->n;
}

/* Infinite if nothing is lost; NaN without signal and noise. */
static double decibels(const struct mase_stat *s, const void *state)
{
    return 10 * log10(signal_power(s, state) / noise_power(s, state));
}

void mase_result_saturation(const struct mase_stat *s, struct mase_arena *a,
                            struct mase_value *fields)
{
    mase_stat_set_counts(s, a, fields, "below", below);
    mase_stat_set_counts(s, a, fields, "above", above);
    mase_stat_set(s, a, fields, "fraction", saturated);
    mase_stat_set_count(s, a, fields);
}

void mase_result_underflow(const struct mase_stat *s, struct mase_arena *a,
                           struct mase_value *fields)
{
    mase_stat_set_counts(s, a, fields, "underflow", underflow);
    mase_stat_set(s, a, fields, "fraction", underflown);
    mase_stat_set_count(s, a, fields);
}

void mase_result_sqnr(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields)
{
    mase_stat_set(s, a, fields, "signal_power", signal_power);
    mase_stat_set(s, a, fields, "noise_power", noise_power);
    mase_stat_set(s, a, fields, "sqnr", decibels);
    mase_stat_set_count(s, a, fields);
}
