/*
 * product.h - matrix products within each sample: y[l][m][j] = scale sum over k of
 * a[l][m][k] b[l][k][j], where l runs over the leading dimensions, which may be broadcast.
 */
#ifndef MASE_EXEC_STEP_PRODUCT_H
#define MASE_EXEC_STEP_PRODUCT_H

#include "exec/plan/step.h"

struct mase_product_side {
    int32_t *matrix;        // (L): where its matrix begins for each l, a row
    long matrices;          /* different ones */
    long outer, inner;      /* rows between m (or j), and between k */
    int32_t *start, *users; /* for each of its matrices the l that use it */
};

struct mase_product {
    long L, M, K, J;
    struct mase_product_side a, b;
    float scale;
};

/* The product of inputs 0 and 1 of the step, seen as matrices of these shapes (of a sample, without
 * the batch); b's last two dimensions are swapped if turned. leading: the leading dimensions of the
 * result, without the batch. */
void mase_product_set(struct mase_step *s, const struct mase_shape *a, const struct mase_shape *b,
                      const struct mase_shape *leading, bool turned, float scale);
/* Outer products, one for each position of leading: of M rows of input 0 with J rows of input 1
 * each. */
void mase_outer_set(struct mase_step *s, const struct mase_shape *leading, long M, long J);

#endif /* MASE_EXEC_STEP_PRODUCT_H */
