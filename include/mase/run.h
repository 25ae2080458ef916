/*
 * run.h - the reference: every operation by its definition, one value at a time.
 *
 * It is slow and simple, and the specification that faster execution is tested against. Evaluation
 * mode: batch norm uses its running statistics, dropout does nothing. Quantised layers and
 * functions round their operands to their formats first.
 */
#ifndef MASE_RUN_H
#define MASE_RUN_H

#include <mase/api.h>
#include <mase/call.h>

MASE_API_BEGIN

typedef enum mase_status mase_forward_fn(struct mase_call *c, struct mase_err *err);
/* The reference function of an operation; NULL: it does not compute (placeholder, output). */
mase_forward_fn *mase_forward_of(enum mase_op op);

/* Run g on inputs; v gets every node's result, with data, allocated in a. A graph with parameters
 * must have weights. */
enum mase_status mase_run_reference(struct mase_values *v, struct mase_arena *a,
                                    const struct mase_graph *g, const struct mase_input *inputs,
                                    int input_count, struct mase_err *err) MASE_MUST_CHECK;
/* The value that the output node returns. */
const struct mase_arg *mase_run_output(const struct mase_values *v, const struct mase_graph *g);

MASE_API_END

#endif /* MASE_RUN_H */
