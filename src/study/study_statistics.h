/*
 * study_statistics.h - what people ask of a study that has trials: how many ended how, when it got
 * better, what may be chosen, and which parameters mattered.
 *
 * No decision of a search depends on these numbers.
 */
#ifndef MASE_STUDY_STUDY_STATISTICS_H
#define MASE_STUDY_STUDY_STATISTICS_H

#include <mase/study.h>

/* The setup that a study's own objectives, constraints and space make; allocated in a. */
struct mase_study_setup mase_study_setup_of(struct mase_arena *a, const struct mase_study *s);

enum { MASE_TRIAL_STATES = MASE_TRIAL_WAITING + 1 };
/* How many trials there are of each state. */
void mase_study_count_states(int64_t count[MASE_TRIAL_STATES], const struct mase_study *s);

/* Is it complete, and does it violate no constraint? */
bool mase_study_trial_counts(const struct mase_study_setup *s, const struct mase_trial *t);

/* best (trials): the best value of an objective among the trials 0 .. n that count; NaN before the
 * first of them. */
void mase_study_best_so_far(double *best, const struct mase_study *s, int objective);

/* The trials that none beats in these two objectives, whatever the others are: their indices, in
 * the order of the first objective. (trials) must fit. */
int64_t mase_study_pair_front(int64_t *index, const struct mase_study *s, int first, int second);

/* share (dimensions): how much each parameter decided whether a trial came among the best tenth by
 * an objective; the sum is 1. By PED-ANOVA (importance.c). All are equal where too few trials are
 * complete, or all are alike. */
void mase_study_importance(double *share, const struct mase_study *s, int objective);

#endif /* MASE_STUDY_STUDY_STATISTICS_H */
