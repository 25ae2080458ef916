/*
 * sweep.h - results of a sweep on disk, shared by its files.
 */
#ifndef MASE_TRAIN_SWEEP_H
#define MASE_TRAIN_SWEEP_H

#include <mase/sweep.h>

/* Fill in p->key: a hash of all that decides the result. */
void mase_sweep_make_key(struct mase_sweep_point *p, const struct mase_sweep *s);
/* Take the stored result of p if there is one; an unusable file is said and passed over. */
void mase_sweep_recall(struct mase_sweep_point *p, const struct mase_sweep *s);
enum mase_status mase_sweep_store(const struct mase_sweep_point *p, const struct mase_sweep *s,
                                  struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_TRAIN_SWEEP_H */
