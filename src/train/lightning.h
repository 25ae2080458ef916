/*
 * lightning.h - the parts of a checkpoint that only Lightning reads.
 */
#ifndef MASE_TRAIN_LIGHTNING_H
#define MASE_TRAIN_LIGHTNING_H

#include <mase/torch.h>

#include "train/trainer.h"

struct mase_obj *mase_lightning_loops(struct mase_arena *a, const struct mase_trainer *t);
struct mase_obj *mase_lightning_callbacks(struct mase_arena *a, const struct mase_trainer *t);
/* torch.optim's state dict of the optimiser, and the state dict of the schedule. */
struct mase_obj *mase_torch_optimizer(struct mase_arena *a, const struct mase_trainer *t);
struct mase_obj *mase_torch_schedule(struct mase_arena *a, const struct mase_trainer *t);

#endif /* MASE_TRAIN_LIGHTNING_H */
