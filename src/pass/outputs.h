/*
 * outputs.h - does a transform that promises it keep what the network computes? By how much not?
 */
#ifndef MASE_PASS_OUTPUTS_H
#define MASE_PASS_OUTPUTS_H

#include <mase/pass.h>

/* What a network gave for a few samples; no values when it cannot be run here: no shape of inputs,
 * no weights, or numbers that it draws. */
struct mase_outputs {
    float *value; /* (count), of all results one behind the other, in the pass's scratch arena */
    float *plain; /* (count), without its number formats; the same where it has none */
    int64_t count, samples;
};

/* In evaluation, on samples that depend on the seed alone: numbers of mean 0 and deviation 1,
 * indices 0. */
struct mase_outputs mase_outputs(const struct mase_graph *g, struct mase_pass_env *env);
/* Say how far apart they are, and note it under the pass's name with how many nodes it changed.
 * Returns false where that is beyond rounding. Rounding to formats makes a small difference a step,
 * so networks that have some are judged without. */
bool mase_outputs_report(struct mase_pass_env *env, const char *pass, int changed,
                         const struct mase_outputs *before, const struct mase_outputs *after);

#endif /* MASE_PASS_OUTPUTS_H */
