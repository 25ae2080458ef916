/*
 * front.h - which of many points are better, where there are several objectives.
 *
 * Here everything is to be minimised: a loss is the value of an objective, or its negative. Losses
 * are rows: loss[i * m + j] is that of point i in objective j.
 */
#ifndef MASE_STUDY_FRONT_H
#define MASE_STUDY_FRONT_H

#include <mase/study.h>

/* The value of an objective, to be minimised; NaN is as bad as can be. */
double mase_trial_loss(const struct mase_study_setup *s, const struct mase_trial *t, int objective);
/* By how much a trial violates its constraints in all: 0 is feasible. NaN violates without limit.
 */
double mase_trial_violation(const struct mase_study_setup *s, const struct mase_trial *t);

/* Is a at least as good as b in all, and better in one? */
bool mase_loss_dominates(const double *a, const double *b, int m);
/* Order by the first loss, then by the second, and so on; below 0: a is first. */
int mase_loss_compare(const double *a, const double *b, int m);

/* The points 0 .. n - 1 in this order; equal ones by their index. */
void mase_loss_order(int32_t *order, const double *loss, int64_t n, int m);

/* The rank of each of n points: 0 of those that no other dominates, 1 of those that only points of
 * rank 0 dominate, and so on. order: the points, all or some, by mase_loss_compare. */
void mase_front_ranks(int32_t *rank, const double *loss, const int32_t *order, int64_t n, int m);

/* The volume between points and a reference, counting each place once. Points beyond the reference
 * add nothing. */
double mase_loss_volume(const double *loss, int64_t n, int m, const double *reference);
/* Choose k of n points that do not dominate each other, one after the other, each of them the one
 * that adds most to the volume: the first of equals. Writes their indices. */
void mase_loss_subset(int32_t *chosen, int64_t k, const double *loss, int64_t n, int m,
                      const double *reference);

#endif /* MASE_STUDY_FRONT_H */
