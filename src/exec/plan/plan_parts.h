/*
 * plan_parts.h - declarations shared by the files that make and run plans.
 */
#ifndef MASE_EXEC_PLAN_PLAN_PARTS_H
#define MASE_EXEC_PLAN_PLAN_PARTS_H

#include "exec/plan/step.h"

struct mase_rounding_request;

/* Zeroed floats, 64-byte aligned, untouched until used; freed by mase_aligned_free. */
float *mase_plan_floats(int64_t n);
struct mase_slot *mase_plan_new_slot(struct mase_plan *p, const struct mase_tensor *t);
/* The slot of a tensor, or NULL. */
struct mase_slot *mase_plan_slot(const struct mase_plan *p, const struct mase_tensor *t);

/* ---- the batch axis (batch_axis.c) ---- */

/* Set the batch axis of a slot. */
void mase_slot_set_axis(struct mase_plan *p, struct mase_slot *s, int axis);
/* Check that this kind of step can run the call with its batch axes. */
enum mase_status mase_axis_check(const struct mase_plan *p, const struct mase_step_kind *kind,
                                 const struct mase_call *c, const struct mase_slot *out,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- weights (plan_weights.c) ---- */

/* The plan whose copies of weights p uses: tile 0, or opts->like; NULL: p has its own. */
const struct mase_plan *mase_plan_first_tile(const struct mase_plan *p);
/* Check that the new plan can use the copies of opts.like. */
enum mase_status mase_plan_check_like(const struct mase_graph *g, const struct mase_plan_opts *o,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Memory for all parameters and buffers of the graph, and for gradients. */
enum mase_status mase_plan_place_weights(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* The plan's copy of a parameter. */
struct mase_weight *mase_plan_weight(const struct mase_plan *p, const struct mase_param *param);
/* Does the loss depend on w, a parameter of the plan, or on a value derived from it? */
bool mase_plan_reaches(const struct mase_plan *p, const struct mase_weight *w);
/* w under another shape. */
struct mase_weight *mase_weight_as(struct mase_plan *p, struct mase_weight *w,
                                   const struct mase_shape *shape);
/* Record that the step reads w, and so adds to its gradient. */
void mase_step_use(struct mase_step *s, struct mase_weight *w);

/* ---- values that depend on parameters only (derived_values.c) ---- */

/* Plan a call whose operands do not follow the samples. */
enum mase_status mase_derive_call(struct mase_plan *p, struct mase_call *c,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The slot of the derived plan d for t, a tensor of the plan that d belongs to; NULL: none. */
struct mase_slot *mase_derive_slot(struct mase_plan *d, const struct mase_tensor *t);
/* The weight through which steps of p read a derived value; slot is p's slot for it. */
struct mase_weight *mase_derive_numbers(struct mase_plan *p, struct mase_slot *slot);
/* A plan without a batch axis that has the parameters and constants of p, and is freed before p;
 * and a call in it. */
struct mase_plan *mase_derive_plan(struct mase_plan *p);
enum mase_status mase_derive_add(struct mase_plan *d, struct mase_call *c,
                                 struct mase_err *err) MASE_MUST_CHECK;
struct mase_slot *mase_derive_add_slot(struct mase_plan *d, const struct mase_tensor *t);
void mase_derive_plan_free(struct mase_plan *d);
/* Round `from` to `to`. Neither has a batch axis. */
void mase_derive_round(struct mase_plan *p, struct mase_slot *to, const struct mase_slot *from,
                       const struct mase_rounding_request *request);
/* Compute all derived values from the current parameters; and, when the gradients of all tiles are
 * complete, pass gradients back to the parameters. */
void mase_derive_forward(struct mase_plan *p, int threads);
void mase_derive_backward(struct mase_plan *p, int threads);
void mase_derive_free(struct mase_plan *p);

/* ---- buffers that change (stored_buffers.c) ---- */

/* At the end of each training step, set a buffer of the graph to a value. name: the node, for
 * messages. */
enum mase_status mase_plan_add_store(struct mase_plan *p, const struct mase_pvalue *buffer,
                                     struct mase_slot *value, const char *name,
                                     struct mase_err *err) MASE_MUST_CHECK;
void mase_plan_store(const struct mase_plan *p);

/* ---- making (plan.c) ---- */

/* Add steps for the results of a call that have lanes. */
enum mase_status mase_plan_add_call(struct mase_plan *p, struct mase_call *c,
                                    struct mase_call *probe, struct mase_err *err) MASE_MUST_CHECK;
/* Add a call whose results have no lanes: constants, parameters, or values derived from them
 * (constant_calls.c). probe: its result for two samples. */
enum mase_status mase_plan_add_plain_call(struct mase_plan *p, struct mase_call *c,
                                          const struct mase_arg *probe,
                                          struct mase_err *err) MASE_MUST_CHECK;
/* Refuse every use of a result, with this reason. */
void mase_plan_refuse(struct mase_plan *p, const struct mase_arg *result, const char *why);
/* Compute a call now if its operands are constants; *done: they are. */
enum mase_status mase_plan_add_constant(struct mase_plan *p, struct mase_call *c,
                                        const struct mase_arg *probe, bool *done,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Place the values of all steps and list their phases. */
enum mase_status mase_plan_finish(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* Recompute what steps for evaluation derived from weights, after weights changed. */
void mase_plan_refresh(struct mase_plan *p);
/* List the phases of forward, again after an observer was added, and of backward (phases.c). */
void mase_plan_list_forward(struct mase_plan *p);
void mase_plan_list_backward(struct mase_plan *p);
/* A new slot: rows of lanes of this shape (the batch first), or a plain copy of a tensor's shape.
 */
struct mase_slot *mase_plan_add_lanes(struct mase_plan *p, const struct mase_shape *shape);
struct mase_slot *mase_plan_add_plain(struct mase_plan *p, const struct mase_tensor *t);
void mase_step_add_input(struct mase_step *s, struct mase_slot *slot);
/* Make a plan for one tile of a batch. out is &tiling->tile[k]; tile 0 is made first and freed
 * last. */
enum mase_status mase_plan_new_tile(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    const struct mase_tiling *tiling,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* A plan of the instructions that compute sample by sample; the caller runs those that mix samples.
 * When all steps are there, partial_outputs marks the values that the caller reads as results; the
 * plan has no output of its own. inputs_only: the plan has no steps. With input_gradients only the
 * first input has a gradient. */
enum mase_status mase_plan_new_part(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    mase_partial_outputs_fn *partial_outputs, bool inputs_only,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* tiled_plan.c: share batches of several tiles with the other processes of a job, each of which has
 * the same plan and gives the same batches. ranks NULL: with none. It is borrowed. */
struct mase_ranks;
struct mase_tiled_plan;
void mase_tiled_plan_share(struct mase_tiled_plan *t, struct mase_ranks *ranks);
/* Buffers that steps have changed, such as running statistics, are the same in every process: a
 * batch of few tiles leaves nothing to do for some. */
void mase_tiled_plan_match(const struct mase_tiled_plan *t);
/* Run one thread's share of the items of a phase. */
void mase_work_run(const struct mase_work *w, int thread, int threads);
/* After forward: fail if a step could not compute with the values of a sample. */
enum mase_status mase_plan_check(const struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* Run all phases, each shared among the threads. */
void mase_works_run(const struct mase_works *works, int threads);
/* loss.c: the sum of weights in the loss; and mase_plan_loss for a part of a batch whose sum of
 * weights and number of samples are given. */
double mase_plan_weight_sum(const struct mase_plan *p, const struct mase_targets *targets,
                            const struct mase_loss_opts *opts);
void mase_plan_loss_part(struct mase_plan *p, struct mase_loss_result *result,
                         const struct mase_targets *targets, const struct mase_loss_opts *opts,
                         double weight, int64_t samples);
/* Only the score. */
void mase_loss_score(struct mase_loss_result *result, const struct mase_lanes *output,
                     const struct mase_targets *targets, const struct mase_loss_opts *opts,
                     int64_t samples);
/* Decide which values need gradients, place all values, then bind the steps (place.c). */
enum mase_status mase_plan_place(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* MASE_ELIMIT when `count` plans like p need more memory than is allowed. */
enum mase_status mase_plan_check_size(const struct mase_plan *p, int plans,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EXEC_PLAN_PLAN_PARTS_H */
