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

/* The arguments of every statistic; a row of stats.def takes some of them. */
struct mase_stat_args {
    const char *device; /* of the original: there is only one here */
    const struct mase_value *dims;
    bool abs;
    bool exact;
    bool new_dim;
    const char *var_mode;
    double num_sigma, quantile, threshold;
    int64_t bins;
    const struct mase_value *min, *max; /* of a histogram; NULL: those of the values */
    const char *format_name;
    bool is_signed;
    struct mase_value *format_params;
    const struct mase_format *format; /* from the two above */
};

enum mase_stat_dims { MASE_DIMS_ALL, MASE_DIMS_NONE, MASE_DIMS_LIST };

/* How many values may be kept, over all statistics of a run. */
struct mase_stat_budget {
    int64_t limit, used;
};

/* Element e of sample i is data[e * element_stride + i * sample_stride]. */
struct mase_stat_block {
    const float *data;
    struct mase_shape shape; /* of one sample */
    int64_t samples, element_stride, sample_stride;
    int64_t total; /* samples of all blocks together */
};

struct mase_stat {
    const struct mase_stat_kind *kind;
    struct mase_stat_args args;
    struct mase_arena *arena;
    struct mase_stat_budget *budget;
    enum mase_stat_dims dims;
    int round;
    /* known from the first block on */
    struct mase_shape shape; /* of a sample */
    struct mase_shape kept;  /* its dimensions that are not reduced: the shape of results */
    int64_t groups, total;
    int32_t *group;          /* (elements): the group of each; NULL when there is one group */
    char *state;             /* (groups) of the kind's size */
    int64_t samples, values; /* seen in this round */
};

/* Mean and sum of squared deviations, by Chan's merging of parts. */
struct mase_moments {
    int64_t n;
    double mean, m2;
};

/* What the engine's kernels say of some values, all of them finite. */
struct mase_stat_part {
    float min, max;
    struct mase_moments moments;
    struct mase_moments weighted; /* the same with m2 as variance_online has it over everything */
};

/* How values may be given to a state; VALUES always goes too. */
enum mase_stat_input {
    MASE_STAT_VALUES,
    MASE_STAT_PARTS, /* described by a mase_stat_part */
    MASE_STAT_BINS,  /* counted by the bins that the state says */
};

/* What is remembered of a group of values. */
struct mase_stat_state {
    size_t size;
    bool keeps;                                            /* every value */
    int (*rounds)(const struct mase_stat *s);              /* NULL: one */
    void (*begin)(const struct mase_stat *s, void *state); /* NULL: zeros will do */
    /* Take in n values of a group; abs is already applied. */
    void (*span)(const struct mase_stat *s, void *state, const float *x, int64_t n);
    /* Instead of span, when it matters which sample a value is of. */
    void (*block)(struct mase_stat *s, const struct mase_stat_block *b);
    void (*next)(const struct mase_stat *s, void *state); /* between rounds; may be NULL */
    /* For speed alone, all may be NULL. What is best in this round; NULL: parts if there is part,
     * else values. */
    enum mase_stat_input (*wants)(const struct mase_stat *s);
    void (*part)(const struct mase_stat *s, void *state, const struct mase_stat_part *p);
    /* At most MASE_BINS: x scale + offset, rounded down, says in which a value lies. */
    void (*bins)(const void *state, double *scale, double *offset);
    /* n values more, so many in each bin; those in none are in the last. */
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

/* args: the statistic's table of arguments, NULL for defaults. at: of the name. */
enum mase_status mase_stat_new(struct mase_stat **out, struct mase_arena *a, const char *name,
                               struct mase_loc at, const struct mase_value *args,
                               struct mase_stat_budget *budget,
                               struct mase_err *err) MASE_MUST_CHECK;
/* The same by call, over all values of the samples. */
enum mase_status mase_stat_make(struct mase_stat **out, struct mase_arena *a,
                                const struct mase_statistic *t, struct mase_stat_budget *budget,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Samples of this shape are to come, so many in all: the first block says it otherwise. */
enum mase_status mase_stat_begin(struct mase_stat *s, const struct mase_shape *shape, int64_t total,
                                 struct mase_err *err) MASE_MUST_CHECK;
int mase_stat_rounds(const struct mase_stat *s);
enum mase_status mase_stat_feed(struct mase_stat *s, const struct mase_stat_block *b,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_stat_end_round(struct mase_stat *s);
/* The fields; before any block there is only a count of 0. */
struct mase_value *mase_stat_result(const struct mase_stat *s, struct mase_arena *a);

/* ---- for the statistics themselves ---- */

static inline void *mase_stat_group(const struct mase_stat *s, int64_t g)
{
    return s->state + (size_t)g * s->kind->state->size;
}
/* Values in each group so far; samples when dims is none. */
int64_t mase_stat_count(const struct mase_stat *s);
/* One number of each group as nested lists of the kept shape, rounded to float32. */
typedef double mase_stat_number_fn(const struct mase_stat *s, const void *state);
void mase_stat_set(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields,
                   const char *field, mase_stat_number_fn *number);
void mase_stat_set_counts(const struct mase_stat *s, struct mase_arena *a,
                          struct mase_value *fields, const char *field,
                          mase_stat_number_fn *number);
/* "NA": too few values. Says so in the log. */
void mase_stat_set_na(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields,
                      const char *field);
void mase_stat_set_count(const struct mase_stat *s, struct mase_arena *a,
                         struct mase_value *fields);
/* Numbers as nested lists of this shape. */
struct mase_value *mase_stat_nested(struct mase_arena *a, const struct mase_shape *shape,
                                    const float *data);
/* The spans of a block, in groups. */
void mase_stat_spans(struct mase_stat *s, const struct mase_stat_block *b);
/* n values of a group at a stride, as spans of neighbours with abs applied. */
void mase_stat_run(const struct mase_stat *s, int64_t group, const float *x, int64_t n,
                   int64_t stride);

/* ---- for who gives parts and counts ---- */

/* A part that describes finite values can be given in their place. */
enum mase_stat_input mase_stat_wants(const struct mase_stat *s);
/* Note that so many samples came by parts or counts. */
void mase_stat_took(struct mase_stat *s, int64_t samples);

struct mase_moments mase_moments_of(const float *x, int64_t n);
void mase_moments_merge(struct mase_moments *to, const struct mase_moments *part);

#endif /* MASE_PASS_STAT_H */
