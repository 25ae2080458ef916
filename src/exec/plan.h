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
/* A plan that is one tile of a batch: it stands at tiling->tile[k], out being that place, and tile
 * 0 is made first and freed last. */
enum mase_status mase_plan_new_tile(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    const struct mase_tiling *tiling,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Items of a phase that fall to one of several threads. */
void mase_work_run(const struct mase_work *w, int thread, int threads);
/* All phases, shared among as many threads. */
void mase_works_run(const struct mase_works *works, int threads);
/* The sum of the samples' weights, and mase_plan_loss when the batch's is known. */
double mase_plan_weight_sum(const struct mase_plan *p, const int32_t *label,
                            const float *class_weight);
void mase_plan_loss_part(struct mase_plan *p, struct mase_loss_result *result, const int32_t *label,
                         const struct mase_loss_opts *opts, double weight);
/* Decide who needs gradients and where everything lies, then let the steps bind (place.c). */
void mase_plan_place(struct mase_plan *p);

#endif /* MASE_EXEC_PLAN_H */
