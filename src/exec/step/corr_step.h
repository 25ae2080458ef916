/*
 * corr_step.h - a step that is one correlation (corr.h) of its first input with weights.
 */
#ifndef MASE_EXEC_STEP_CORR_STEP_H
#define MASE_EXEC_STEP_CORR_STEP_H

#include "exec/step/corr.h"

struct mase_corr_step {
    struct mase_corr corr;
    bool scatter;               /* the input is side A and the result side B; else reversed */
    float *dw;                  /* NULL: not trained */
    struct mase_weight *b;      /* NULL: none */
    struct mase_weight *weight; // (groups O, C, T), or NULL and
    const float *constant;      /* the same, where nothing can change it */
};

/* s->own is a struct mase_corr_step with everything but the derived tables set: add the phases. */
void mase_corr_step_set(struct mase_step *s);
/* Positions 0, 1, ... of both sides, each seeing its own: T = 1. Allocates the tables. */
void mase_corr_positions(struct mase_step *s, struct mase_corr *c, long positions);

#endif /* MASE_EXEC_STEP_CORR_STEP_H */
