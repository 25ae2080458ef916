/*
 * softmax.h - softmax of a step's first input along one of its dimensions (op_softmax.c).
 */
#ifndef MASE_EXEC_SOFTMAX_H
#define MASE_EXEC_SOFTMAX_H

#include "exec/step.h"

/* axis counts the batch's dimension and is not it. */
void mase_softmax_set(struct mase_step *s, int axis, bool logarithm);

#endif /* MASE_EXEC_SOFTMAX_H */
