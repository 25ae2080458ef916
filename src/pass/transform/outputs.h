/*
 * outputs.h - does a transform keep what the network computes? By how much not?
 */
#ifndef MASE_PASS_OUTPUTS_H
#define MASE_PASS_OUTPUTS_H

#include <mase/pass.h>

/* What a network gave for a few samples; no values when it cannot be run here: no shape of inputs,
 * no weights, or more than one result. */
struct mase_outputs {
    float *value; /* (count), in the pass's scratch arena, or NULL */
    int64_t count, samples;
};

/* In evaluation, on samples that depend on the seed alone: numbers of mean 0 and deviation 1,
 * indices 0. */
struct mase_outputs mase_outputs(struct mase_graph *g, struct mase_pass_env *env);
/* Say how far apart they are, and note it under the pass's name with how many nodes it changed. */
void mase_outputs_report(struct mase_pass_env *env, const char *pass, int changed,
                         const struct mase_outputs *before, const struct mase_outputs *after);

#endif /* MASE_PASS_OUTPUTS_H */
