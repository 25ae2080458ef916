/*
 * bias_correction.c - add to the bias of each quantised layer the mean error of its result, by
 * channel. Layers are corrected in order, on inputs from corrected layers. A layer without a bias
 * gets one. Layers that share parameters are left alone.
 */
#include "pass/calibrate/calibrate_parts.h"

struct bias_opts {
    int64_t rows;
};

static enum mase_status run(struct mase_graph **g, const void *options, struct mase_pass_env *env,
                            struct mase_err *err)
{
    const struct bias_opts *o = options;
    const struct mase_calibrate_opts c = { .method = "mse",
                                           .rows = o->rows,
                                           .bias_correction = true };
    return mase_calibrate_again(*g, "bias_correction", &c, env, err);
}

static const struct mase_opt opts[] = {
    MASE_OPT_INT(struct bias_opts, rows, "rows", 2048, 1, 0x1p31,
                 "rows of the training split, spread evenly over it"),
    { 0 },
};

const struct mase_pass mase_pass_bias_correction = {
    .name = "bias_correction",
    .help = "take the mean error of quantised layers' results from their biases",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .opts = opts,
    .opts_size = sizeof(struct bias_opts),
    .transform = run,
};
