/*
 * collector.c - the statistics of one value of a plan.
 */
#include <math.h>
#include <string.h>

#include "exec/plan/plan_parts.h"
#include "pass/analysis/collector.h"

enum { BLOCK = MASE_SUMMARY_LANES };

/* A statistic, and what it needs in this round. */
struct member {
    struct mase_stat *stat;
    bool idle;                  /* takes no values in this round */
    enum mase_stat_input input; /* the form in which it takes values */
    int64_t *bin;               // (blocks, MASE_BINS): counts of one group
    float *near;                // (groups): with several groups, a number near the mean of each
    bool known;                 /* near is set */
};

/* The values, and their absolute values. */
enum { KINDS = 2 };

struct mase_collector {
    const struct mase_kernels *k;
    struct member *member;
    int count;
    struct mase_shape shape;             /* of one sample */
    int64_t samples;                     /* samples of the current batch */
    long blocks;                         /* blocks of the largest batch */
    struct mase_summary *summary[KINDS]; // (blocks), or NULL
    float near[KINDS];                   /* a number near the mean */
    bool known[KINDS];
};

/* ---- create ---- */

static bool has_groups(const struct member *m)
{
    return m->stat->group != NULL;
}

/* Ask each statistic for its input in this round. */
static void begin_round(struct mase_collector *col)
{
    for (int i = 0; i < col->count; i++) {
        struct member *m = &col->member[i];
        m->idle = m->stat->round >= mase_stat_rounds(m->stat) || !m->stat->state;
        m->input = m->idle ? MASE_STAT_VALUES : mase_stat_wants(m->stat);
        if (m->bin)
            memset(m->bin, 0, (size_t)col->blocks * MASE_BINS * sizeof *m->bin);
    }
}

static void make_room(struct mase_collector *col, struct mase_arena *a)
{
    for (int i = 0; i < col->count; i++) {
        struct member *m = &col->member[i];
        const struct mase_stat_state *state = m->stat->kind->state;
        const bool absolute = m->stat->args.abs;
        if (has_groups(m) && state->part)
            m->near = mase_new_array(a, float, (size_t)m->stat->groups);
        else if (state->part && !col->summary[absolute])
            col->summary[absolute] = mase_new_array(a, struct mase_summary, (size_t)col->blocks);
        if (!has_groups(m) && state->bins)
            m->bin = mase_new_array(a, int64_t, (size_t)col->blocks * MASE_BINS);
    }
}

static mase_watch_fn measure, take;

enum mase_status mase_collector_new(struct mase_collector **out, struct mase_arena *a,
                                    struct mase_plan *p, const struct mase_node *node,
                                    struct mase_stat **stats, int count, int64_t total,
                                    struct mase_err *err)
{
    struct mase_collector *col = mase_new(a, struct mase_collector);
    const struct mase_watch watch = {
        .node = node, .lanes = measure, .items = take, .count = 1 + count, .data = col
    };
    *out = NULL;
    if (!mase_plan_watch(p, &watch, &col->shape))
        return MASE_OK;
    col->k = p->k;
    col->blocks = (long)((p->batch + BLOCK - 1) / BLOCK);
    col->count = count;
    col->member = mase_new_array(a, struct member, (size_t)count);
    for (int i = 0; i < count; i++) {
        col->member[i].stat = stats[i];
        MASE_TRY(mase_stat_begin(stats[i], &col->shape, total, err));
    }
    make_room(col, a);
    begin_round(col);
    *out = col;
    return MASE_OK;
}

/* ---- describe values by kernels, in any thread ---- */

static struct mase_channel channel(const float *x, long count, int64_t stride, long samples)
{
    const long n = (samples + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    return (struct mase_channel){ x, count, (long)stride, n, samples };
}

/* The mean of a few values, from which sums are taken: it need only be near the true mean. */
static float guess(const float *x, int64_t rows, int64_t stride, int64_t samples, bool absolute)
{
    const int64_t few = samples < MASE_LANES ? samples : MASE_LANES;
    rows = rows < BLOCK ? rows : BLOCK;
    double sum = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < few; i++) {
            const float v = x[r * stride + i];
            sum += absolute ? fabsf(v) : v;
        }
    const float mean = (float)(sum / (double)(rows * few));
    return isfinite(mean) ? mean : 0;
}

static float near_mean(const struct mase_collector *col, const struct mase_lanes *v, int kind)
{
    return col->known[kind] ? col->near[kind]
                            : guess(v->data, v->rows, v->stride, col->samples, kind);
}

/* Does a statistic over all values take parts? */
static bool takes_part(const struct member *m, int kind)
{
    return !m->idle && !has_groups(m) && m->input == MASE_STAT_PARTS && m->stat->args.abs == kind;
}

static bool wants_summary(const struct mase_collector *col, int kind)
{
    for (int i = 0; i < col->count; i++)
        if (takes_part(&col->member[i], kind))
            return true;
    return false;
}

static bool takes_bins(const struct member *m)
{
    return !m->idle && !has_groups(m) && m->input == MASE_STAT_BINS;
}

static void measure(void *data, const struct mase_lanes *v, long from, long to)
{
    struct mase_collector *col = data;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!wants_summary(col, kind))
            continue;
        const float near = near_mean(col, v, kind);
        for (long at = from; at < to; at += BLOCK) {
            const struct mase_channel c =
                channel(v->data + at, (long)v->rows, v->stride, to - at < BLOCK ? to - at : BLOCK);
            col->k->summary(&col->summary[kind][at / BLOCK], &c, near, kind);
        }
    }
    for (int i = 0; i < col->count; i++) {
        const struct member *m = &col->member[i];
        if (!takes_bins(m))
            continue;
        const struct mase_channel c = channel(v->data + from, (long)v->rows, v->stride, to - from);
        double scale, offset;
        m->stat->kind->state->bins(m->stat->state, &scale, &offset);
        col->k->count_bins(m->bin + from / BLOCK * MASE_BINS, &c, scale, offset);
    }
}

/* ---- update the statistics, one thread for each ---- */

static void add_summary(struct mase_summary *to, const struct mase_summary *e)
{
    for (int i = 0; i < MASE_LANES; i++) {
        to->min[i] = e->min[i] < to->min[i] ? e->min[i] : to->min[i];
        to->max[i] = e->max[i] > to->max[i] ? e->max[i] : to->max[i];
        to->sum[i] += e->sum[i];
        to->squares[i] += e->squares[i];
        to->lanes[i] += e->lanes[i];
    }
}

static void fold_summary(struct mase_summary *e)
{
    for (int half = MASE_LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) {
            e->min[i] = e->min[i + half] < e->min[i] ? e->min[i + half] : e->min[i];
            e->max[i] = e->max[i + half] > e->max[i] ? e->max[i + half] : e->max[i];
            e->sum[i] += e->sum[i + half];
            e->squares[i] += e->squares[i + half];
            e->lanes[i] += e->lanes[i + half];
        }
}

/* Below this, squares underflow in float32; it also overflows long before double. */
#define TINY 1e-25

/* Describe n values, `per` in each lane, whose differences from `near` were summed. False if
 * float32 is too imprecise: NaN, infinities, or squares out of range. */
static bool describe(struct mase_stat_part *p, struct mase_summary *e, float near, int64_t n,
                     int64_t per)
{
    fold_summary(e);
    const double sum = e->sum[0], squares = e->squares[0], lanes = e->lanes[0] / (double)per;
    const double between = sum * sum / (double)n;
    if (!isfinite(squares) || !isfinite(sum))
        return false;
    *p = (struct mase_stat_part){ .min = e->min[0], .max = e->max[0] };
    p->moments = (struct mase_moments){ n, near + sum / (double)n, fmax(squares - between, 0) };
    p->weighted = p->moments;
    if (e->min[0] == e->max[0]) {
        p->moments = p->weighted = (struct mase_moments){ n, e->min[0], 0 };
        return true;
    }
    const double within = per > 1 ? fmax(squares - lanes, 0) * (double)per / (double)(per - 1) : 0;
    p->weighted.m2 = within + fmax(lanes - between, 0);
    return squares >= TINY;
}

static void feed_values(const struct mase_collector *col, struct member *m,
                        const struct mase_lanes *v)
{
    const struct mase_stat_block b = { .data = v->data,
                                       .shape = col->shape,
                                       .samples = col->samples,
                                       .element_stride = v->stride,
                                       .sample_stride = 1 };
    struct mase_err err;
    if (mase_stat_feed(m->stat, &b, &err)) /* it was begun, so it cannot fail */
        mase_bug("%s", err.msg);
}

/* Pass one part of each kind to all statistics without groups. */
static void take_parts(struct mase_collector *col, const struct mase_lanes *v, int kind)
{
    struct mase_summary e = col->summary[kind][0];
    struct mase_stat_part part;
    const float near = near_mean(col, v, kind);
    for (long b = 1; b * BLOCK < col->samples; b++)
        add_summary(&e, &col->summary[kind][b]);
    const bool good = describe(&part, &e, near, v->rows * col->samples, v->rows);
    if (good) {
        col->near[kind] = (float)part.moments.mean;
        col->known[kind] = true;
    }
    for (int i = 0; i < col->count; i++) {
        struct member *m = &col->member[i];
        if (!takes_part(m, kind))
            continue;
        if (good) {
            m->stat->kind->state->part(m->stat, m->stat->state, &part);
            mase_stat_took(m->stat, col->samples);
        } else {
            feed_values(col, m, v);
        }
    }
}

/* Describe a row, which is one element of all samples: whole vectors as rows of a block, then the
 * rest. */
static bool row_part(const struct mase_collector *col, struct mase_stat_part *part, const float *x,
                     float near, bool absolute)
{
    const long n = (long)col->samples, whole = n / BLOCK * BLOCK;
    const struct mase_channel body = channel(x, whole / BLOCK, BLOCK, BLOCK);
    const struct mase_channel rest = channel(x + whole, 1, BLOCK, n - whole);
    struct mase_summary e, last;
    col->k->summary(&e, whole ? &body : &rest, near, absolute);
    if (whole && n > whole) {
        col->k->summary(&last, &rest, near, absolute);
        add_summary(&e, &last);
    }
    return describe(part, &e, near, n, 1);
}

static void take_rows(const struct mase_collector *col, struct member *m,
                      const struct mase_lanes *v)
{
    const struct mase_stat *s = m->stat;
    for (int64_t r = 0; r < v->rows; r++) {
        const int64_t group = s->group[r];
        const float *x = v->data + r * v->stride;
        const float near =
            m->known ? m->near[group] : guess(x, 1, v->stride, col->samples, s->args.abs);
        struct mase_stat_part part;
        if (row_part(col, &part, x, near, s->args.abs)) {
            s->kind->state->part(s, mase_stat_group(s, group), &part);
            m->near[group] = (float)part.moments.mean;
        } else {
            mase_stat_run(s, group, x, col->samples, 1);
            m->near[group] = near;
        }
    }
    m->known = true;
    mase_stat_took(m->stat, col->samples);
}

static void count_rows(const struct mase_collector *col, struct member *m,
                       const struct mase_lanes *v)
{
    const struct mase_stat *s = m->stat;
    for (int64_t r = 0; r < v->rows; r++) {
        void *state = mase_stat_group(s, s->group[r]);
        const struct mase_channel c =
            channel(v->data + r * v->stride, 1, v->stride, (long)col->samples);
        int64_t bin[MASE_BINS] = { 0 };
        double scale, offset;
        s->kind->state->bins(state, &scale, &offset);
        col->k->count_bins(bin, &c, scale, offset);
        s->kind->state->count(s, state, bin, col->samples);
    }
    mase_stat_took(m->stat, col->samples);
}

static void take_member(const struct mase_collector *col, struct member *m,
                        const struct mase_lanes *v)
{
    if (m->idle)
        return;
    if (m->input == MASE_STAT_VALUES)
        feed_values(col, m, v);
    else if (has_groups(m))
        (m->input == MASE_STAT_PARTS ? take_rows : count_rows)(col, m, v);
    else if (m->input == MASE_STAT_BINS)
        mase_stat_took(m->stat, col->samples);
}

/* Item 0 updates the statistics that share parts, each other item one statistic. */
static void take(void *data, const struct mase_lanes *v, long from, long to)
{
    struct mase_collector *col = data;
    for (long i = from; i < to; i++) {
        for (int kind = 0; i == 0 && kind < KINDS; kind++)
            if (wants_summary(col, kind))
                take_parts(col, v, kind);
        if (i > 0)
            take_member(col, &col->member[i - 1], v);
    }
}

/* ---- between batches and rounds ---- */

void mase_collector_expect(struct mase_collector *col, int64_t samples)
{
    col->samples = samples;
}

static void count_blocks(const struct mase_collector *col, struct member *m)
{
    for (long b = 1; b < col->blocks; b++)
        for (int i = 0; i < MASE_BINS; i++)
            m->bin[i] += m->bin[b * MASE_BINS + i];
    m->stat->kind->state->count(m->stat, m->stat->state, m->bin, m->stat->values);
}

void mase_collector_end_round(struct mase_collector *col)
{
    for (int i = 0; i < col->count; i++) {
        struct member *m = &col->member[i];
        if (takes_bins(m))
            count_blocks(col, m);
        if (!m->idle)
            mase_stat_end_round(m->stat);
    }
    begin_round(col);
}
