/*
 * search_parts.h - a search, as the files of this folder see it.
 */
#ifndef MASE_SEARCH_SEARCH_PARTS_H
#define MASE_SEARCH_SEARCH_PARTS_H

#include "search/candidate.h"
#include "search/channel_space.h"
#include "search/known.h"
#include "search/option_space.h"
#include "search/search_config.h"
#include "search/variants.h"

struct mase_search {
    struct mase_search_opts opts;
    struct mase_search_config config;
    struct mase_format_space formats;
    struct mase_variants variants;
    struct mase_channel_space channels;
    struct mase_option_space training, pruning;
    struct mase_space space;
    struct mase_study_setup setup;
    struct mase_candidate *candidate; // (workers)
    int workers;
    struct mase_known known; /* what was measured */
    struct mase_arena arena;
};

/* Note in a study which search it is of (fingerprint.c). */
void mase_search_mark(const struct mase_search *s, struct mase_study *study);

/* Rows of a split: so many, in whole batches as the original takes them; not positive: all. */
struct mase_split_rows mase_search_rows(const struct mase_search *s, enum mase_split split,
                                        int64_t samples);
/* Run the network of a candidate on these rows. */
enum mase_status mase_candidate_evaluate(struct mase_evaluation *e, struct mase_candidate *c,
                                         struct mase_split_rows rows, struct mase_arena *detail,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* Set what a point comes to, as trials record it: sampled_config and, where these vary,
 * sampled_arguments and sampled_options. */
void mase_search_note_point(struct mase_value *v, struct mase_arena *a, const struct mase_search *s,
                            const double *x);
/* Measure what the program measures itself: a number for each, in the order of the search's
 * (own_metrics.c). */
enum mase_status mase_search_measure_own(double *found, struct mase_candidate *c,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* Measure a trial by the candidate of a worker. What it comes to is allocated in a. */
enum mase_status mase_search_measure(struct mase_search *s, int worker, struct mase_trial *t,
                                     struct mase_arena *a, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_SEARCH_SEARCH_PARTS_H */
