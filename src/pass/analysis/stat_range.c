/*
 * stat_range.c - the extent of values: range_min_max, range_quantile, histogram.
 *
 * A NaN among the values makes a range NaN, as in PyTorch; a histogram leaves it out.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kern/kern.h"
#include "pass/analysis/stat.h"

struct extremes {
    float min, max;
    bool nan;
};

static void extremes_begin(const struct mase_stat *s, void *state)
{
    (void)s;
    *(struct extremes *)state = (struct extremes){ INFINITY, -INFINITY, false };
}

static void extremes_span(const struct mase_stat *s, void *state, const float *x, int64_t n)
{
    (void)s;
    struct extremes *e = state;
    float min = e->min, max = e->max;
    int nan = e->nan;
    for (int64_t i = 0; i < n; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
        nan |= x[i] != x[i];
    }
    *e = (struct extremes){ min, max, nan };
}

static void extremes_part(const struct mase_stat *s, void *state, const struct mase_stat_part *p)
{
    (void)s;
    struct extremes *e = state;
    e->min = p->min < e->min ? p->min : e->min;
    e->max = p->max > e->max ? p->max : e->max;
}

const struct mase_stat_state mase_state_extremes = {
    .size = sizeof(struct extremes),
    .begin = extremes_begin,
    .span = extremes_span,
    .part = extremes_part,
};

/* + 0.0 turns -0 into 0, so that the order of zeros does not show. */
static double extreme_min(const struct mase_stat *s, const void *state)
{
    (void)s;
    const struct extremes *e = state;
    return e->nan ? NAN : e->min + 0.0;
}

static double extreme_max(const struct mase_stat *s, const void *state)
{
    (void)s;
    const struct extremes *e = state;
    return e->nan ? NAN : e->max + 0.0;
}

static double extreme_range(const struct mase_stat *s, const void *state)
{
    return extreme_max(s, state) - extreme_min(s, state);
}

void mase_result_range_min_max(const struct mase_stat *s, struct mase_arena *a,
                               struct mase_value *fields)
{
    mase_stat_set(s, a, fields, "min", extreme_min);
    mase_stat_set(s, a, fields, "max", extreme_max);
    if (mase_stat_count(s) < 2)
        mase_stat_set_na(s, a, fields, "range");
    else
        mase_stat_set(s, a, fields, "range", extreme_range);
    mase_stat_set_count(s, a, fields);
}

/* ---- quantiles ---- */

struct kept {
    float *value; /* (n), with room for all values to come */
    int64_t n;
    bool nan;
};

static void kept_begin(const struct mase_stat *s, void *state)
{
    struct kept *k = state;
    const int64_t room = mase_shape_count(&s->shape) / s->groups * s->total;
    k->value = mase_new_array(s->arena, float, (size_t)room);
}

static void kept_span(const struct mase_stat *s, void *state, const float *x, int64_t n)
{
    (void)s;
    struct kept *k = state;
    memcpy(k->value + k->n, x, (size_t)n * sizeof *x);
    k->n += n;
    for (int64_t i = 0; i < n; i++)
        k->nan |= x[i] != x[i];
}

const struct mase_stat_state mase_state_kept = {
    .size = sizeof(struct kept),
    .keeps = true,
    .begin = kept_begin,
    .span = kept_span,
};

static void swap(float *a, float *b)
{
    const float t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's selection: v[k] becomes the value at rank k; nothing before it is larger, nothing after
 * it smaller. */
static void select_rank(float *v, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const float pivot = v[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j)
                swap(&v[i++], &v[j--]);
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            return;
    }
}

/* Linear interpolation at position p (n - 1). */
static double quantile(const struct kept *k, double p)
{
    if (k->nan || !k->n)
        return NAN;
    const double at = p * (double)(k->n - 1);
    const int64_t below = (int64_t)floor(at);
    select_rank(k->value, k->n, below);
    const double lo = k->value[below];
    if (below + 1 >= k->n)
        return lo;
    float next = k->value[below + 1];
    for (int64_t i = below + 2; i < k->n; i++)
        next = k->value[i] < next ? k->value[i] : next;
    return lo + (at - (double)below) * (next - lo);
}

static double quantile_min(const struct mase_stat *s, const void *state)
{
    return quantile(state, 1 - s->args.quantile);
}

static double quantile_max(const struct mase_stat *s, const void *state)
{
    return quantile(state, s->args.quantile);
}

static double quantile_range(const struct mase_stat *s, const void *state)
{
    return quantile_max(s, state) - quantile_min(s, state);
}

void mase_result_range_quantile(const struct mase_stat *s, struct mase_arena *a,
                                struct mase_value *fields)
{
    if (mase_stat_count(s) < 2 && s->dims == MASE_DIMS_NONE) {
        mase_stat_set_na(s, a, fields, "min");
        mase_stat_set_na(s, a, fields, "max");
        mase_stat_set_na(s, a, fields, "range");
    } else {
        mase_stat_set(s, a, fields, "min", quantile_min);
        mase_stat_set(s, a, fields, "max", quantile_max);
        mase_stat_set(s, a, fields, "range", quantile_range);
    }
    mase_stat_set_count(s, a, fields);
}

/* ---- histogram ---- */

/* The first round finds the extremes, the second counts; one round if the range is given. */
struct histogram {
    struct extremes range;
    double lo, hi;
    double scale, offset; /* x scale + offset, rounded down, is the bin of x */
    int64_t *bin;         /* (bins) */
    int64_t below, above;
};

static bool has_range(const struct mase_stat *s)
{
    return s->args.min && s->args.max;
}

static int histogram_rounds(const struct mase_stat *s)
{
    return has_range(s) ? 1 : 2;
}

static void make_bins(const struct mase_stat *s, struct histogram *h)
{
    h->lo = s->args.min ? mase_value_number(s->args.min) : h->range.min;
    h->hi = s->args.max ? mase_value_number(s->args.max) : h->range.max;
    h->lo = fmax(h->lo, -FLT_MAX); /* infinities lie outside of every bin */
    h->hi = fmin(h->hi, FLT_MAX);
    if (!(h->lo <= h->hi)) /* no finite values */
        h->lo = h->hi = 0;
    if (h->lo == h->hi) { /* a single value gets a range of width 1, as in NumPy */
        h->lo -= 0.5;
        h->hi += 0.5;
    }
    h->scale = (double)s->args.bins / (h->hi - h->lo);
    h->offset = -h->lo * h->scale;
    h->bin = mase_new_array(s->arena, int64_t, (size_t)s->args.bins);
}

static void histogram_begin(const struct mase_stat *s, void *state)
{
    struct histogram *h = state;
    extremes_begin(s, &h->range);
    if (has_range(s))
        make_bins(s, h);
}

static void count_bins(const struct mase_stat *s, struct histogram *h, const float *x, int64_t n)
{
    const int64_t last = s->args.bins - 1;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < h->lo) {
            h->below++;
        } else if (x[i] > h->hi) {
            h->above++;
        } else if (x[i] == x[i]) {
            const int64_t bin = (int64_t)fma(x[i], h->scale, h->offset);
            h->bin[bin < last ? bin : last]++;
        }
    }
}

static void histogram_span(const struct mase_stat *s, void *state, const float *x, int64_t n)
{
    struct histogram *h = state;
    if (h->bin)
        count_bins(s, h, x, n);
    else
        extremes_span(s, &h->range, x, n);
}

static void histogram_next(const struct mase_stat *s, void *state)
{
    make_bins(s, state);
}

/* The kernel counts finite values within the edges only. */
static enum mase_stat_input histogram_wants(const struct mase_stat *s)
{
    if (has_range(s))
        return MASE_STAT_VALUES;
    if (!s->round)
        return MASE_STAT_PARTS;
    bool good = s->args.bins <= MASE_BINS && !s->args.abs;
    for (int64_t g = 0; good && g < s->groups; g++) {
        const struct histogram *h = mase_stat_group(s, g);
        good = !h->range.nan && h->range.min >= h->lo && h->range.max <= h->hi;
    }
    return good ? MASE_STAT_BINS : MASE_STAT_VALUES;
}

static void histogram_part(const struct mase_stat *s, void *state, const struct mase_stat_part *p)
{
    extremes_part(s, &((struct histogram *)state)->range, p);
}

static void histogram_bins(const void *state, double *scale, double *offset)
{
    const struct histogram *h = state;
    *scale = h->scale;
    *offset = h->offset;
}

static void histogram_count(const struct mase_stat *s, void *state, const int64_t *bin, int64_t n)
{
    struct histogram *h = state;
    for (int64_t i = 0; i < s->args.bins; i++) {
        h->bin[i] += bin[i];
        n -= bin[i];
    }
    h->bin[s->args.bins - 1] += n; /* the upper edge belongs to the last bin */
}

const struct mase_stat_state mase_state_histogram = {
    .size = sizeof(struct histogram),
    .rounds = histogram_rounds,
    .begin = histogram_begin,
    .span = histogram_span,
    .next = histogram_next,
    .wants = histogram_wants,
    .part = histogram_part,
    .bins = histogram_bins,
    .count = histogram_count,
};

static double first_edge(const struct mase_stat *s, const void *state)
{
    (void)s;
    return ((const struct histogram *)state)->lo;
}

static double last_edge(const struct mase_stat *s, const void *state)
{
    (void)s;
    return ((const struct histogram *)state)->hi;
}

static double below(const struct mase_stat *s, const void *state)
{
    (void)s;
    return (double)((const struct histogram *)state)->below;
}

static double above(const struct mase_stat *s, const void *state)
{
    (void)s;
    return (double)((const struct histogram *)state)->above;
}

static struct mase_value *bin_list(const struct mase_stat *s, struct mase_arena *a, int64_t g)
{
    const struct histogram *h = mase_stat_group(s, g);
    return mase_value_ints(a, h->bin, s->args.bins);
}

/* One list of bins; with several groups a list for each. */
void mase_result_histogram(const struct mase_stat *s, struct mase_arena *a,
                           struct mase_value *fields)
{
    struct mase_value *counts = bin_list(s, a, 0);
    if (s->kept.rank) {
        counts = mase_value_list(a);
        for (int64_t g = 0; g < s->groups; g++)
            mase_value_push(a, counts, bin_list(s, a, g));
    }
    mase_stat_set(s, a, fields, "min", first_edge);
    mase_stat_set(s, a, fields, "max", last_edge);
    mase_value_set(a, fields, "counts", counts);
    mase_stat_set_counts(s, a, fields, "below", below);
    mase_stat_set_counts(s, a, fields, "above", above);
    mase_stat_set_count(s, a, fields);
}
