/*
 * outputs.h - check transforms that promise to keep what the network computes.
 */
#ifndef MASE_PASS_OUTPUTS_H
#define MASE_PASS_OUTPUTS_H

#include <mase/pass.h>

/* Outputs for a few samples; no values if the network cannot run here: no input shapes, no weights,
 * or random operations. */
struct mase_outputs {
    float *value; /* (count) values of all results, concatenated, in the pass's scratch arena */
    float *plain; /* (count) without number formats; equal to value if there are none */
    int64_t count, samples;
};

/* Run in evaluation mode, on samples that depend on the seed only: standard normal numbers, indices
 * 0. */
struct mase_outputs mase_outputs(const struct mase_graph *g, struct mase_pass_env *env);
/* Log the difference, and note it under the pass's name with the number of changed nodes. Returns
 * false if it exceeds rounding errors. A quantised network is compared without formats, since they
 * turn a small difference into a step. */
bool mase_outputs_report(struct mase_pass_env *env, const char *pass, int changed,
                         const struct mase_outputs *before, const struct mase_outputs *after);

#endif /* MASE_PASS_OUTPUTS_H */
