/*
 * seen.h - the rows that a network was trained on, few enough to be kept with it, and how many of
 * others are among them.
 *
 * A row is a hash of what the network was given of it. The smallest hashes are kept: those of all
 * rows that lie below the largest of them, be they of training or of a test, so the share that is
 * found again is the share of all. Of much data rows are taken at even distances.
 */
#ifndef MASE_TRAIN_SEEN_H
#define MASE_TRAIN_SEEN_H

#include <mase/train.h>

/* Those of training, in a. */
struct mase_seen_rows mase_seen_of(struct mase_arena *a, const struct mase_dataset *d,
                                   struct mase_split_rows rows);

#endif /* MASE_TRAIN_SEEN_H */
