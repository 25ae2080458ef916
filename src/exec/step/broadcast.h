/*
 * broadcast.h - operands of element-wise steps: which row of each belongs to a row of the result.
 */
#ifndef MASE_EXEC_STEP_BROADCAST_H
#define MASE_EXEC_STEP_BROADCAST_H

#include "exec/plan/step.h"

/* Lanes, plain numbers of the plan, or one number of the call. */
struct mase_spread {
    int in;       /* number of the step's input; -1: a number */
    float number; /* then its value */
    int32_t *row; /* (out rows): its row or element there; NULL: the same as the result's */
    /* With gradients, if not the same: (rows + 1), where in `users` those of each of its rows
     * begin.
     */
    int32_t *start;
    int32_t *users; /* rows of the result that use it, in order */
};

/* An argument, added to the step's inputs if it is a tensor. */
enum mase_status mase_spread_set(struct mase_step *s, struct mase_spread *o,
                                 const struct mase_arg *arg, struct mase_err *err) MASE_MUST_CHECK;
/* The value for row r; *broadcast: it is one number for all lanes. */
const float *mase_spread_at(const struct mase_step *s, const struct mase_spread *o, long r,
                            bool *broadcast);

/* Add to (or store) in dx the gradient that row r of the result gives: n lanes from lane on. */
typedef void mase_part_fn(const struct mase_step *s, int operand, long r, long lane, float *dx,
                          bool add, long n);
/* The gradient of rows from..to of an operand, lanes or plain, from those parts. */
void mase_spread_back(const struct mase_step *s, const struct mase_spread *o, int operand,
                      mase_part_fn *part, long from, long to);

#endif /* MASE_EXEC_STEP_BROADCAST_H */
