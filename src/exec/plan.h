/*
 * plan.h - what the files that make and run a plan share.
 */
#ifndef MASE_EXEC_PLAN_H
#define MASE_EXEC_PLAN_H

#include "exec/step.h"

/* Zeroed floats, 64-byte aligned; caller frees. */
float *mase_plan_floats(int64_t n);
/* The slot of a tensor, or NULL. */
struct mase_slot *mase_plan_slot(const struct mase_plan *p, const struct mase_tensor *t);
/* The plan's copy of a parameter. */
struct mase_weight *mase_plan_weight(const struct mase_plan *p, const struct mase_param *param);
/* A new slot: rows of lanes of this shape (the batch first), or a plain copy of a tensor's shape.
 */
struct mase_slot *mase_plan_add_lanes(struct mase_plan *p, const struct mase_shape *shape);
struct mase_slot *mase_plan_add_plain(struct mase_plan *p, const struct mase_tensor *t);
void mase_step_add_input(struct mase_step *s, struct mase_slot *slot);
/* Decide who needs gradients and where everything lies, then let the steps bind (place.c). */
void mase_plan_place(struct mase_plan *p);

#endif /* MASE_EXEC_PLAN_H */
