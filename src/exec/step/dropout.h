/*
 * dropout.h - dropout as part of other steps.
 */
#ifndef MASE_EXEC_STEP_DROPOUT_H
#define MASE_EXEC_STEP_DROPOUT_H

#include "exec/plan/step.h"

/* When training: each run of rows of the step's input 0 is zeroed with probability p, in each
 * sample by itself, and the rest divided by 1 - p. */
enum mase_status mase_dropout_set(struct mase_step *s, double p, long run,
                                  struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EXEC_STEP_DROPOUT_H */
