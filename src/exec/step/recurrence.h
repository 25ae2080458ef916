/*
 * recurrence.h - one layer of a recurrent network in one direction.
 */
#ifndef MASE_EXEC_STEP_RECURRENCE_H
#define MASE_EXEC_STEP_RECURRENCE_H

#include "exec/plan/step.h"
#include "ir/graph/recurrent.h"

/* Rows of lanes: x (T, C), the first h (P) and c (H), NULL: zeros. */
struct mase_recurrence_inputs {
    struct mase_slot *x, *h, *c;
};

/* A step before s; its result is h of every step, (T, P), and behind it the last c of an LSTM. */
enum mase_status mase_recurrence_add(struct mase_step *s, struct mase_slot **out,
                                     const struct mase_sequence *q,
                                     const struct mase_recurrence_inputs *in, int layer,
                                     int direction, struct mase_err *err) MASE_MUST_CHECK;
bool mase_is_recurrence(const struct mase_step *s);

#endif /* MASE_EXEC_STEP_RECURRENCE_H */
