/*
 * softmax.h - softmax of a step's first input along one of its dimensions (op_softmax.c).
 */
#ifndef MASE_EXEC_STEP_SOFTMAX_H
#define MASE_EXEC_STEP_SOFTMAX_H

#include "exec/plan/step.h"

/* axis counts the batch's dimension and is not it. least: what -inf everywhere is raised to, so
 * that it gives zeros; -inf: NaN, as a softmax alone does. */
void mase_softmax_set(struct mase_step *s, int axis, bool logarithm, float least);

#endif /* MASE_EXEC_STEP_SOFTMAX_H */
