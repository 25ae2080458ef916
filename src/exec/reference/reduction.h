/*
 * reduction.h - one result out of many values, by what is found when they are gone through:
 * variances, norms, products, extremes and their places. The reference and plans share these
 * functions; they differ in where the values lie.
 */
#ifndef MASE_EXEC_REFERENCE_REDUCTION_H
#define MASE_EXEC_REFERENCE_REDUCTION_H

#include "ir/shape/shape.h"

/* The values that one result is made of. */
struct mase_vector {
    double (*at)(const struct mase_vector *l, int64_t k);
    int64_t count;
    const void *from;   /* a tensor, or a row of lanes */
    const int32_t *row; /* places of the values there */
    int64_t first, stride;
};

/* Arguments of the call: the order of a norm, the correction of a variance. */
struct mase_reduction_op {
    const struct mase_reduction_kind *row;
    double p;
    bool in[MASE_MAX_RANK]; /* the dimensions that are gone through */
};

struct mase_reduction_sum {
    double value, mean, ties; /* ties: how many values are the result */
    double rest;              /* of a product: of those that are not 0 */
    int64_t zeros, place;
};

/* result: which of the results, where there are two. */
enum mase_status mase_reduction_read(const struct mase_call *c, int result,
                                     struct mase_reduction_op *op,
                                     struct mase_err *err) MASE_MUST_CHECK;
struct mase_reduction_sum mase_reduction_sum(const struct mase_reduction_op *op,
                                             const struct mase_vector *l);
/* The derivative of the result by a value x of the line. */
double mase_reduction_slope(const struct mase_reduction_op *op, const struct mase_vector *l,
                            const struct mase_reduction_sum *s, double x);
/* The elements of x, sorted by the result that they go into: so many of each. */
const int32_t *mase_reduction_rows(struct mase_arena *a, const struct mase_tensor *x,
                                   const struct mase_reduction_op *op, int64_t vectors,
                                   int64_t length);
bool mase_reduction_is_flat(const struct mase_reduction_op *op);

#endif /* MASE_EXEC_REFERENCE_REDUCTION_H */
