/*
 * calibrate.h - number formats whose fraction, scale or exponent bias follows from the data.
 *
 * A configuration of the quantise pass may say "auto" for such a parameter. The network is then run
 * on some rows of its training data, node by node in the order of execution: a node sees what the
 * ones before it, already quantised, give. Of each operand the parameter is taken that is best by a
 * method, among those that the format allows: its own rounding is what is tried.
 *
 *     minmax      the finest that holds every value
 *     quantile    the finest that holds all but a share of the values at either end
 *     mse         the least mean squared error of the rounded values
 *     kl          the least Kullback-Leibler divergence of the values' distribution
 *
 * On the way weights can be rounded so that the errors of a row make up for each other (gptq), and
 * the mean error of each layer's result can be taken from its bias (bias_correction).
 */
#ifndef MASE_CALIBRATE_H
#define MASE_CALIBRATE_H

#include <mase/api.h>
#include <mase/pass.h>
#include <mase/quantize.h>

MASE_API_BEGIN

struct mase_calibrate_opts {
    const char *method; /* one of mase_calibrate_methods */
    double quantile;    /* share of values at or below the upper end of the range */
    int64_t rows;       /* of the training split, evenly spread over it */
    bool keep;          /* what the network has been given already is not decided again */
    bool gptq, bias_correction;
    double damping; /* of gptq: added to the diagonal of the Hessian, relative to its mean */
};
extern const struct mase_opt mase_calibrate_rows[];
extern const char *const mase_calibrate_methods[]; /* NULL-terminated */

/* Decide what is "auto" in decisions of the quantise pass, and nothing else unless gptq or
 * bias_correction ask for it; those change weights of g. Formats are not applied. What was found is
 * noted in env under "calibrate". Needs env->samples. */
enum mase_status mase_calibrate(struct mase_decision *list, int count, struct mase_graph *g,
                                const struct mase_calibrate_opts *o, struct mase_pass_env *env,
                                struct mase_err *err) MASE_MUST_CHECK;

/* Decide it for nodes that have such formats already, from a checkpoint or a folder: those that
 * differ in what is "auto" alone stay as they are. */
void mase_calibrate_keep(struct mase_decision *list, int count, struct mase_arena *a);

MASE_API_END

#endif /* MASE_CALIBRATE_H */
