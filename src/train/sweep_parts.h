/*
 * sweep_parts.h - results of a sweep on disk, shared by its files.
 */
#ifndef MASE_TRAIN_SWEEP_PARTS_H
#define MASE_TRAIN_SWEEP_PARTS_H

#include <mase/sweep.h>

/* Fill in p->key: a hash of all that decides the result. */
void mase_sweep_make_key(struct mase_sweep_point *p, const struct mase_sweep *s);
/* Take the stored result of p if there is one; an unusable file is said and passed over. */
void mase_sweep_recall(struct mase_sweep_point *p, const struct mase_sweep *s);
enum mase_status mase_sweep_store(const struct mase_sweep_point *p, const struct mase_sweep *s,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- seeds (sweep_seeds.c) ---- */

/* The axis of configurations that are the same but for their seed; -1: there is none, or of one. */
int mase_sweep_seed_axis(const struct mase_sweep *s);
/* From one value of an axis to the next in s->points. */
int mase_sweep_stride(const struct mase_sweep *s, int axis);
/* Is it the first of those with the same options? Where there are no seeds, every one is. */
bool mase_sweep_is_first_seed(const struct mase_sweep *s, int point);

struct mase_sweep_spread {
    int n;                  /* finished configurations */
    double mean, deviation; /* NaN for too few */
};
/* Of a double of the results of that point and its others. */
struct mase_sweep_spread mase_sweep_spread(const struct mase_sweep *s, int first, size_t offset);

#endif /* MASE_TRAIN_SWEEP_PARTS_H */
