/*
 * cost_operand.h - the tensors that a call computes with, however it is written: as a function,
 * method, operator or module, with positional or keyword arguments.
 *
 * Metadata leave out the object of a method, and number tensors as they stand in the call; here
 * they go by the parameters of the operation.
 */
#ifndef MASE_PASS_COST_OPERAND_H
#define MASE_PASS_COST_OPERAND_H

#include <mase/graph.h>

struct mase_cost_operand {
    const struct mase_shape *shape; /* NULL: there is none */
    enum mase_dtype dtype;
    struct mase_rounding how;       /* in which the call computes with it */
    const struct mase_param *param; /* if it is one; NULL: computed, or an input */
};

/* The k-th of the parameters that take data: x and y of matmul(x, y). */
struct mase_cost_operand mase_cost_data(const struct mase_node *n, int k);
struct mase_cost_operand mase_cost_named(const struct mase_node *n, const char *name);
/* As what a call reads a node that is an operand of it; format NULL: as it is. */
struct mase_rounding mase_cost_reads(const struct mase_node *n, const struct mase_node *operand);

int64_t mase_cost_elements(const struct mase_cost_operand *o); /* 0: there is none */
int64_t mase_cost_last_dim(const struct mase_cost_operand *o); /* 1: there is none */
/* Of one value: what a multiplier takes; 32: there is no operand. */
int mase_cost_bits(const struct mase_cost_operand *o);
/* Of all values and what they share: what a memory takes. */
int64_t mase_cost_stored_bits(const struct mase_cost_operand *o);

#endif /* MASE_PASS_COST_OPERAND_H */
