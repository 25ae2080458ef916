/*
 * run.h - the plain reference: every operation as its definition says, one value at a time.
 *
 * Slow, obvious, and the specification that faster execution is tested against. Evaluation mode:
 * batch norm uses its running statistics, dropout does nothing. Quantised layers and functions
 * quantise their operands first, in the formats they carry.
 */
#ifndef MASE_RUN_H
#define MASE_RUN_H

#include <mase/api.h>
#include <mase/call.h>

MASE_API_BEGIN

typedef enum mase_status mase_forward_fn(struct mase_call *c, struct mase_err *err);
/* NULL for what does not compute (placeholder, output). */
mase_forward_fn *mase_forward_of(enum mase_op op);

/* Run g on inputs; every node's result, with data, is kept in v (arena a). The graph must have
 * weights if it has parameters. */
enum mase_status mase_run_reference(struct mase_values *v, struct mase_arena *a,
                                    const struct mase_graph *g, const struct mase_input *inputs,
                                    int input_count, struct mase_err *err) MASE_MUST_CHECK;
/* What the output node returns. */
const struct mase_arg *mase_run_output(const struct mase_values *v, const struct mase_graph *g);

MASE_API_END

#endif /* MASE_RUN_H */
