/*
 * quantise.h - number formats in a plan: a quantised call gets quantised copies of its operands.
 *
 * Data is rounded by a step of its own before the call, a result after it; weights are rounded once
 * per forward when training, else once when they are read. Gradients pass as if nothing were
 * rounded, so no kind of step needs to know.
 */
#ifndef MASE_EXEC_QUANTISE_H
#define MASE_EXEC_QUANTISE_H

#include "exec/step.h"

/* Put rounding steps before s and let its call read their results. */
void mase_quantise_inputs(struct mase_step *s);
/* from rounded, in lanes too. shape: what its blocks are cut from. */
struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      struct mase_rounding how, const struct mase_shape *shape);
/* If the result has a format: the slot it belongs in, s->out being another now. Else NULL. */
struct mase_slot *mase_quantised_result(struct mase_step *s);
/* The step that rounds s's result into that slot. */
void mase_quantise_output(struct mase_step *s, struct mase_slot *result);
/* The rounded copy of w if the call's formats say so, else w. */
struct mase_weight *mase_quantised_weight(struct mase_step *s, const struct mase_call *c,
                                          const char *name, struct mase_weight *w);
/* Round all weights that do not change until they are read again. */
void mase_quantise_weights(struct mase_plan *p);

#endif /* MASE_EXEC_QUANTISE_H */
