/*
 * study_parts.h - what stores and the run loop need of a study beyond study.h.
 */
#ifndef MASE_STUDY_STUDY_PARTS_H
#define MASE_STUDY_STUDY_PARTS_H

#include <mase/study.h>

#define MASE_STUDY_FAILURE "failure" /* attribute of users: why a trial failed */

/* Is it complete, pruned or failed? Such a trial never changes. */
bool mase_trial_ended(const struct mase_trial *t);
/* A further trial: running, all of its numbers NaN. It may move s->trial. */
struct mase_trial *mase_study_add(struct mase_study *s);
/* n numbers of the study's arena, all NaN. */
double *mase_study_numbers(struct mase_study *s, int n);
/* The index of a dimension; -1: there is none. */
int mase_space_find(const struct mase_space *s, const char *name);
/* Make a copy of this space the study's. Points take its order; they have no number where the study
 * had no such dimension. Fails if the study has a dimension that this space has not. */
enum mase_status mase_study_take_space(struct mase_study *s, const struct mase_space *space,
                                       struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_STUDY_STUDY_PARTS_H */
