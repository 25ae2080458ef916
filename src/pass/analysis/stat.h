/*
 * stat.h - a statistic of a stream of samples.
 *
 * Samples of one shape arrive in blocks. dims says which values of a sample belong together: all of
 * them, none (each position has its own result), or those along a list of dimensions. A group has a
 * small state that takes in runs of values, so memory does not depend on how many samples there
 * are, except for statistics that keep every value; those share a budget.
 *
 *     struct mase_stat *s;
 *     MASE_TRY(mase_stat_new(&s, arena, "range_min_max", args, &budget, err));
 *     for (int round = 0; round < mase_stat_rounds(s); round++) {
 *         MASE_TRY(mase_stat_feed(s, &block, err));        // for every block
 *         mase_stat_end_round(s);
 *     }
 *     struct mase_value *fields = mase_stat_result(s, arena);
 */
#ifndef MASE_PASS_STAT_H
#define MASE_PASS_STAT_H

#include <mase/format.h>
#include <mase/opt.h>
#include <mase/profile.h>
#include <mase/tensor.h>

/* Arguments of all statistics; a row of stats.def names those it takes. */
struct mase_stat_args {
    const char *device; /* for the original's configurations; unused */
    const struct mase_value *dims;
    bool abs;
    bool exact;
    bool new_dim;
    const char *var_mode;
    double num_sigma, quantile, threshold;
    int64_t bins;
    const struct mase_value *min, *max; /* of a histogram; NULL: extremes of the values */
    const char *format_name;
    bool is_signed;
    struct mase_value *format_params;
    const struct mase_format *format; /* made from the two above */
};

enum mase_stat_dims { MASE_DIMS_ALL, MASE_DIMS_NONE, MASE_DIMS_LIST };

/* How many values all statistics of a run may keep. */
struct mase_stat_budget {
    int64_t limit, used;
};

/* Element e of sample i is data[e * element_stride + i * sample_stride]. */
struct mase_stat_block {
    const float *data;
    struct mase_shape shape; /* of one sample */
    int64_t samples, element_stride, sample_stride;
    int64_t total; /* samples of all blocks */
};

struct mase_stat {
    const struct mase_stat_kind *kind;
    struct mase_stat_args args;
    struct mase_arena *arena;
    struct mase_stat_budget *budget;
    enum mase_stat_dims dims;
    int round;
    /* set by the first block */
    struct mase_shape shape; /* of one sample */
    struct mase_shape kept;  /* dimensions that are not reduced: the shape of results */
    int64_t groups, total;
    int32_t *group;          /* (elements): group of each element; NULL: one group */
    char *state;             /* (groups) of the kind's size */
    int64_t samples, values; /* counted in this round */
};

/* Mean and sum of squared deviations; parts merge by Chan's formulas. */
struct mase_moments {
    int64_t n;
    double mean, m2;
};

/* Description of finite values by kernels. */
struct mase_stat_part {
    float min, max;
    struct mase_moments moments;
    struct mase_moments weighted; /* with m2 weighted as variance_online does over all dimensions */
};

/* Forms in which a state takes values; MASE_STAT_VALUES is always possible. */
enum mase_stat_input {
    MASE_STAT_VALUES,
    MASE_STAT_PARTS, /* described by a mase_stat_part */
    MASE_STAT_BINS,  /* counts, by the bins of the state */
};

/* The state of a statistic for one group of values. */
struct mase_stat_state {
    size_t size;
    bool keeps;                               /* it keeps every value */
    int (*rounds)(const struct mase_stat *s); /* number of passes over the values; NULL: one */
    void (*begin)(const struct mase_stat *s, void *state); /* NULL: zeros */
    /* Add n values of a group; abs is already applied. */
    void (*span)(const struct mase_stat *s, void *state, const float *x, int64_t n);
    /* Used instead of span if it matters which sample a value belongs to. */
    void (*block)(struct mase_stat *s, const struct mase_stat_block *b);
    void (*next)(const struct mase_stat *s, void *state); /* called between rounds; may be NULL */
    /* Optional, for speed. The best form in this round; NULL: parts if part is set, else values. */
    enum mase_stat_input (*wants)(const struct mase_stat *s);
    void (*part)(const struct mase_stat *s, void *state, const struct mase_stat_part *p);
    /* At most MASE_BINS: the bin of x is x scale + offset, rounded down. */
    void (*bins)(const void *state, double *scale, double *offset);
    /* Add n values by the counts of bins; values in no bin are counted in the last. */
    void (*count)(const struct mase_stat *s, void *state, const int64_t *bin, int64_t n);
};
#define STAT(name, state, ...) extern const struct mase_stat_state mase_state_##state;
#include "pass/analysis/stats.def"

typedef void mase_stat_result_fn(const struct mase_stat *s, struct mase_arena *a,
                                 struct mase_value *fields);
#define STAT(name, ...) mase_stat_result_fn mase_result_##name;
#include "pass/analysis/stats.def"

struct mase_stat_kind {
    const char *name, *fields, *help;
    const struct mase_stat_state *state;
    const struct mase_opt *opts;
    mase_stat_result_fn *result;
};
extern const struct mase_stat_kind mase_stat_kinds[]; /* ends with a NULL name */

/* args: the table of arguments, NULL for defaults. at: where the name stands. */
enum mase_status mase_stat_new(struct mase_stat **out, struct mase_arena *a, const char *name,
                               struct mase_loc at, const struct mase_value *args,
                               struct mase_stat_budget *budget,
                               struct mase_err *err) MASE_MUST_CHECK;
/* As mase_stat_new without a configuration, over all values of the samples. */
enum mase_status mase_stat_make(struct mase_stat **out, struct mase_arena *a,
                                const struct mase_statistic *t, struct mase_stat_budget *budget,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Announce `total` samples of this shape; the first block does so otherwise. */
enum mase_status mase_stat_begin(struct mase_stat *s, const struct mase_shape *shape, int64_t total,
                                 struct mase_err *err) MASE_MUST_CHECK;
int mase_stat_rounds(const struct mase_stat *s);
enum mase_status mase_stat_feed(struct mase_stat *s, const struct mase_stat_block *b,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_stat_end_round(struct mase_stat *s);
/* The fields of the result; before the first block only a count of 0. */
struct mase_value *mase_stat_result(const struct mase_stat *s, struct mase_arena *a);

/* ---- used by the statistics ---- */

static inline void *mase_stat_group(const struct mase_stat *s, int64_t g)
{
    return s->state + (size_t)g * s->kind->state->size;
}
/* Values of each group so far; samples if dims is none. */
int64_t mase_stat_count(const struct mase_stat *s);
/* The result is one number for each group, as nested lists of the kept shape, rounded to float32.
 */
typedef double mase_stat_number_fn(const struct mase_stat *s, const void *state);
void mase_stat_set(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields,
                   const char *field, mase_stat_number_fn *number);
void mase_stat_set_counts(const struct mase_stat *s, struct mase_arena *a,
                          struct mase_value *fields, const char *field,
                          mase_stat_number_fn *number);
/* Set fields to "NA", for too few values, and log that. */
void mase_stat_set_na(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields,
                      const char *field);
void mase_stat_set_count(const struct mase_stat *s, struct mase_arena *a,
                         struct mase_value *fields);
/* Numbers as nested lists of this shape. */
struct mase_value *mase_stat_nested(struct mase_arena *a, const struct mase_shape *shape,
                                    const float *data);
/* Pass a block to span, group by group. */
void mase_stat_spans(struct mase_stat *s, const struct mase_stat_block *b);
/* Pass n values of a group, at a stride, to span, with abs applied. */
void mase_stat_run(const struct mase_stat *s, int64_t group, const float *x, int64_t n,
                   int64_t stride);

/* ---- used by callers that give parts and counts ---- */

/* The form that the statistic wants in this round; a part may replace finite values. */
enum mase_stat_input mase_stat_wants(const struct mase_stat *s);
/* Count samples that were given as parts or counts. */
void mase_stat_took(struct mase_stat *s, int64_t samples);

struct mase_moments mase_moments_of(const float *x, int64_t n);
void mase_moments_merge(struct mase_moments *to, const struct mase_moments *part);

#endif /* MASE_PASS_STAT_H */
