/*
 * window.h - results whose rows are the largest of several rows.
 */
#ifndef MASE_EXEC_STEP_WINDOW_H
#define MASE_EXEC_STEP_WINDOW_H

#include "exec/step/rowmap.h"

/* The step computes the largest (sign -1: smallest) of the terms of each row, or with `place` which
 * of them it is: the first in their order. */
void mase_window_set(struct mase_step *s, const struct mase_term_list *l, long planes, float sign,
                     bool place);

#endif /* MASE_EXEC_STEP_WINDOW_H */
