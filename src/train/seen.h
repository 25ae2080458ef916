/*
 * seen.h - a sample of the rows that a network was trained on, small enough for a checkpoint, to
 * estimate how many rows of other data are among them.
 *
 * A row is represented by a hash of its inputs, and the smallest hashes are kept. A row of other
 * data whose hash lies below the largest of them was trained on only if its hash is kept, so the
 * share of such rows estimates the share of all. Large data is sampled at even distances.
 */
#ifndef MASE_TRAIN_SEEN_H
#define MASE_TRAIN_SEEN_H

#include <mase/train.h>

/* The hashes of the training rows, in a. */
struct mase_seen_rows mase_seen_of(struct mase_arena *a, const struct mase_dataset *d,
                                   struct mase_split_rows rows);

#endif /* MASE_TRAIN_SEEN_H */
