/*
 * calibrate.h - number formats whose fraction, scale or exponent bias follows from the data.
 *
 * A configuration of the quantise pass may say "auto" for such a parameter. The network is then run
 * on some rows of its training data, node by node in the order of execution, so that a node reads
 * the results of nodes that are quantised already. For each operand every value that the format
 * allows is tried, by rounding the operand, and the best one by this method is taken:
 *
 *     minmax      the finest that holds every value
 *     quantile    the finest that holds all but a share of the values at either end
 *     mse         the least mean squared error of the rounded values
 *     kl          the least Kullback-Leibler divergence of the values' distribution
 *
 * During calibration weights can also be rounded so that the errors of a row cancel (gptq), and the
 * mean error of each layer's result can be subtracted from its bias (bias_correction).
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
    int64_t rows;       /* rows of the training split to run, evenly spread over it */
    bool keep;          /* keep the parameters that the network has already */
    bool gptq, bias_correction;
    double damping; /* of gptq: added to the diagonal of the Hessian, relative to its mean */
};
extern const struct mase_opt mase_calibrate_rows[];
extern const char *const mase_calibrate_methods[]; /* NULL-terminated */

/* Replace each "auto" in decisions of the quantise pass by a value. Formats are not applied; only
 * gptq and bias_correction change g, in its weights. The values are recorded in env under
 * "calibrate". Needs env->samples. */
enum mase_status mase_calibrate(struct mase_decision *list, int count, struct mase_graph *g,
                                const struct mase_calibrate_opts *o, struct mase_pass_env *env,
                                struct mase_err *err) MASE_MUST_CHECK;

/* Decide for nodes that have formats already, from a checkpoint or a folder: a format that differs
 * from the decision only where the decision says "auto" is kept. */
void mase_calibrate_keep(struct mase_decision *list, int count, struct mase_arena *a);

MASE_API_END

#endif /* MASE_CALIBRATE_H */
