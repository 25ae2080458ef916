/*
 * gptq_pass.c - round the weights of linear layers so that their errors compensate each other
 * (calibrate/layer.c). Layers are rounded in order, on inputs from rounded layers.
 *
 * Afterwards the weights are values of their formats. Layers that are left alone are logged with
 * the reason.
 */
#include "pass/calibrate/calibrate_parts.h"

struct gptq_opts {
    int64_t rows;
    double damping;
};

static enum mase_status run(struct mase_graph **g, const void *options, struct mase_pass_env *env,
                            struct mase_err *err)
{
    const struct gptq_opts *o = options;
    const struct mase_calibrate_opts c = {
        .method = "mse", .rows = o->rows, .gptq = true, .damping = o->damping
    };
    return mase_calibrate_again(*g, "gptq", &c, env, err);
}

static const struct mase_opt opts[] = {
    MASE_OPT_INT(struct gptq_opts, rows, "rows", 2048, 1, 0x1p31,
                 "rows of the training split, spread evenly over it"),
    MASE_OPT_FLOAT(struct gptq_opts, damping, "damping", 0.01, 0, 1,
                   "added to the diagonal of the Hessian, relative to its mean"),
    { 0 },
};

const struct mase_pass mase_pass_gptq = {
    .name = "gptq",
    .help = "round weights of quantised linear layers so that their errors make up for each other",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .keeps = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = opts,
    .opts_size = sizeof(struct gptq_opts),
    .transform = run,
};
