/*
 * sweep_parts.h - functions that the files of sweeps share.
 */
#ifndef MASE_TRAIN_SWEEP_PARTS_H
#define MASE_TRAIN_SWEEP_PARTS_H

#include <mase/sweep.h>

/* Fill in p->key: a hash of all that decides the result. */
void mase_sweep_make_key(struct mase_sweep_point *p, const struct mase_sweep *s);
/* Read the stored result of p, if there is one; warn of an unusable file and ignore it. */
void mase_sweep_recall(struct mase_sweep_point *p, const struct mase_sweep *s);
enum mase_status mase_sweep_store(const struct mase_sweep_point *p, const struct mase_sweep *s,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- seeds (sweep_seeds.c) ---- */

/* The axis of seeds; -1 if there is none or it has one value. */
int mase_sweep_seed_axis(const struct mase_sweep *s);
/* The distance in s->points between neighbours along an axis. */
int mase_sweep_stride(const struct mase_sweep *s, int axis);
/* Is it the first of the configurations that differ in the seed only? Without seeds, each is. */
bool mase_sweep_is_first_seed(const struct mase_sweep *s, int point);

struct mase_sweep_spread {
    int n;                  /* finished configurations */
    double mean, deviation; /* NaN for too few */
};
/* Of a double at that offset of the results, over the seeds of that configuration. */
struct mase_sweep_spread mase_sweep_spread(const struct mase_sweep *s, int first, size_t offset);

#endif /* MASE_TRAIN_SWEEP_PARTS_H */
