/*
 * plan_parts.h - what the files that make and run a plan share.
 */
#ifndef MASE_EXEC_PLAN_PLAN_PARTS_H
#define MASE_EXEC_PLAN_PLAN_PARTS_H

#include "exec/plan/step.h"

struct mase_asked;

/* Zeroed floats, 64-byte aligned, untouched until used; freed by mase_aligned_free. */
float *mase_plan_floats(int64_t n);
struct mase_slot *mase_plan_new_slot(struct mase_plan *p, const struct mase_tensor *t);
/* The slot of a tensor, or NULL. */
struct mase_slot *mase_plan_slot(const struct mase_plan *p, const struct mase_tensor *t);

/* ---- where the batch stands (batch_axis.c) ---- */

/* The slot's batch is this dimension of its tensor. */
void mase_slot_set_axis(struct mase_plan *p, struct mase_slot *s, int axis);
/* Can this kind of step run the call with the batch where it is? */
enum mase_status mase_axis_check(const struct mase_plan *p, const struct mase_step_kind *kind,
                                 const struct mase_call *c, const struct mase_slot *out,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- weights (plan_weights.c) ---- */

/* The tile, or the plan alike, whose copies of weights p uses; NULL: it has its own. */
const struct mase_plan *mase_plan_first_tile(const struct mase_plan *p);
/* Can the plan that is asked for be like opts.like? */
enum mase_status mase_plan_check_like(const struct mase_graph *g, const struct mase_plan_opts *o,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Memory for all parameters and buffers of the graph, and for gradients. */
enum mase_status mase_plan_place_weights(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* The plan's copy of a parameter. */
struct mase_weight *mase_plan_weight(const struct mase_plan *p, const struct mase_param *param);
/* Does the loss depend on w, a parameter of the plan, or on what is derived from it? */
bool mase_plan_reaches(const struct mase_plan *p, const struct mase_weight *w);
/* w under another shape. */
struct mase_weight *mase_weight_as(struct mase_plan *p, struct mase_weight *w,
                                   const struct mase_shape *shape);
/* The step reads w: its gradient is the step's business. */
void mase_step_use(struct mase_step *s, struct mase_weight *w);

/* ---- what parameters alone decide (derived_values.c) ---- */

/* Plan a call whose operands do not follow the samples. */
enum mase_status mase_derive_call(struct mase_plan *p, struct mase_call *c,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The slot of a derived plan that holds t, which its plan knows; NULL: it does not. */
struct mase_slot *mase_derive_slot(struct mase_plan *d, const struct mase_tensor *t);
/* The numbers of a derived value, for steps of p to read: slot is p's. */
struct mase_weight *mase_derive_numbers(struct mase_plan *p, struct mase_slot *slot);
/* A plan in which no dimension is the batch, with the parameters and constants of p, which lives
 * longer; and a call in it. */
struct mase_plan *mase_derive_plan(struct mase_plan *p);
enum mase_status mase_derive_add(struct mase_plan *d, struct mase_call *c,
                                 struct mase_err *err) MASE_MUST_CHECK;
struct mase_slot *mase_derive_add_slot(struct mase_plan *d, const struct mase_tensor *t);
void mase_derive_plan_free(struct mase_plan *d);
/* to := from rounded, neither of which follows the samples. */
void mase_derive_round(struct mase_plan *p, struct mase_slot *to, const struct mase_slot *from,
                       const struct mase_asked *asked);
/* Compute them all from the parameters as they are; and pass gradients on to the parameters, when
 * all tiles have theirs. */
void mase_derive_forward(struct mase_plan *p, int threads);
void mase_derive_backward(struct mase_plan *p, int threads);
void mase_derive_free(struct mase_plan *p);

/* ---- buffers that change (stored_buffers.c) ---- */

/* At the end of each step of training a buffer of the graph becomes the value. name: of the node,
 * for messages. */
enum mase_status mase_plan_add_store(struct mase_plan *p, const struct mase_pvalue *buffer,
                                     struct mase_slot *value, const char *name,
                                     struct mase_err *err) MASE_MUST_CHECK;
void mase_plan_store(const struct mase_plan *p);

/* ---- making (plan.c) ---- */

/* Steps for those of the call's results that have lanes. */
enum mase_status mase_plan_add_call(struct mase_plan *p, struct mase_call *c,
                                    struct mase_call *probe, struct mase_err *err) MASE_MUST_CHECK;
/* A call whose results have no lanes: a constant, a parameter, or derived from them
 * (constant_calls.c). probe: its result for two samples. */
enum mase_status mase_plan_add_plain_call(struct mase_plan *p, struct mase_call *c,
                                          const struct mase_arg *probe,
                                          struct mase_err *err) MASE_MUST_CHECK;
/* No step may use the result: say why to the one that would. */
void mase_plan_refuse(struct mase_plan *p, const struct mase_arg *result, const char *why);
/* The result of a call of constants alone, computed now: *done. */
enum mase_status mase_plan_add_constant(struct mase_plan *p, struct mase_call *c,
                                        const struct mase_arg *probe, bool *done,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* All steps are there: place their values and list their work. */
enum mase_status mase_plan_finish(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* Weights have changed: what steps that evaluate have made of them is made anew. */
void mase_plan_refresh(struct mase_plan *p);
/* List the work of forward, anew when watchers came, and of backward (phases.c). */
void mase_plan_list_forward(struct mase_plan *p);
void mase_plan_list_backward(struct mase_plan *p);
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
/* A plan of the instructions that compute sample by sample; the caller runs those that mix samples.
 * When all steps are there, partial_outputs marks the values that the caller reads as results; the
 * plan has no output of its own. inputs_only: the plan has no steps. With input_gradients only the
 * first input has a gradient. */
enum mase_status mase_plan_new_part(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    mase_partial_outputs_fn *partial_outputs, bool inputs_only,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Items of a phase that fall to one of several threads. */
void mase_work_run(const struct mase_work *w, int thread, int threads);
/* After forward: were the values of all samples such that steps could compute with them? */
enum mase_status mase_plan_check(const struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* All phases, shared among as many threads. */
void mase_works_run(const struct mase_works *works, int threads);
/* loss.c: the sum of the weights of all that counts in the loss, and mase_plan_loss when that of
 * the batch is known, and how many samples it has. */
double mase_plan_weight_sum(const struct mase_plan *p, const struct mase_targets *targets,
                            const struct mase_loss_opts *opts);
void mase_plan_loss_part(struct mase_plan *p, struct mase_loss_result *result,
                         const struct mase_targets *targets, const struct mase_loss_opts *opts,
                         double weight, int64_t samples);
/* The score alone. */
void mase_loss_score(struct mase_loss_result *result, const struct mase_lanes *output,
                     const struct mase_targets *targets, const struct mase_loss_opts *opts,
                     int64_t samples);
/* Decide who needs gradients and where everything lies, then let the steps bind (place.c). */
enum mase_status mase_plan_place(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* Would that many plans like p take more than a network may? */
enum mase_status mase_plan_check_size(const struct mase_plan *p, int plans,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EXEC_PLAN_PLAN_PARTS_H */
