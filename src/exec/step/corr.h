/*
 * corr.h - products at many positions with one set of weights: convolutions, dense layers over
 * sequences, products with a parameter.
 *
 * Two sides: A has O rows at each of P positions, B has C rows at each of Q. Position p of A sees T
 * places of B, or nothing there (padding). With weights w (O, C, T), per group:
 *
 *     gather   A[o][p] = sum over c, t of w[o][c][t] B[c][place(p, t)]      a convolution
 *     scatter  B[c][q] = sum over o, t of w[o][c][t] A[o][p: place(p, t) = q]   its data gradient
 *     grad     w[o][c][t] = sum over p and samples of A[o][p] B[c][place(p, t)]
 *
 * A transposed convolution is a scatter whose data gradient is a gather.
 */
#ifndef MASE_EXEC_STEP_CORR_H
#define MASE_EXEC_STEP_CORR_H

#include "exec/plan/step.h"

/* Positions of B that see the same taps (those that a stride leaves). */
struct mase_corr_class {
    int32_t *tap; // (taps)
    long taps;
    long wt; /* where its weights (groups C, taps O) begin among the turned ones */
};

struct mase_corr {
    long groups, O, C, T; /* O and C of one group */
    long P, Q;
    long a_step, b_step; /* rows between outputs, between channels */
    int32_t *a_row;      // (P): row of output 0
    int32_t *b_row;      // (Q): row of channel 0
    int32_t *place;      // (P, T): position of B, or -1
    struct mase_corr_class *classes;
    int class_count;
    int32_t *class_of;   // (Q)
    int32_t *site;       // by position of B: rows of A seen through the taps of its class, or -1
    int64_t *site_at;    // (Q): where they begin
    const int32_t *near; // (P, T): b_row of place, or -1
    float *zero;         /* one row */
};

/* place, class_of (class_count of them), a_row, b_row and the sizes are set: derive the rest.
 * scatters: what scatter and turned weights need, too. */
void mase_corr_init(struct mase_step *s, struct mase_corr *c, bool scatters);

/* Arrange the weights of outputs from..to (of groups O) for gather, tap by tap: wa (groups O, T,
 * C). With one tap they are as they should be. */
void mase_corr_arrange(const struct mase_corr *c, float *wa, const float *w, long from, long to);
/* Positions from..to of A; bias (groups O) or NULL. */
void mase_corr_gather(const struct mase_step *s, const struct mase_corr *c, float *A,
                      const float *B, const float *wa, const float *bias, bool add, long from,
                      long to);
/* Turn the weights of channels from..to (of groups C) for scatter: as many floats as w has. */
void mase_corr_turn(const struct mase_corr *c, float *wt, const float *w, long from, long to);
/* Positions from..to of B; bias (groups C) or NULL. */
void mase_corr_scatter(const struct mase_step *s, const struct mase_corr *c, float *B,
                       const float *A, const float *wt, const float *bias, bool add, long from,
                       long to);
/* Weight gradients in two phases: items of the first, floats of work, items of the second. */
long mase_corr_grad_items(const struct mase_corr *c);
int64_t mase_corr_grad_work(const struct mase_corr *c);
void mase_corr_grad(const struct mase_step *s, const struct mase_corr *c, float *dw, float *work,
                    const float *A, const float *B, bool add, long from, long to);
/* Outputs from..to (of groups O). */
void mase_corr_grad_end(const struct mase_corr *c, float *dw, const float *work, bool add,
                        long from, long to);

#endif /* MASE_EXEC_STEP_CORR_H */
