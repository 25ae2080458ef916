/*
 * runner_bits.c - how many bits the values of a network have on average.
 */
#include <math.h>

#include "pass/support.h"
#include "search/runner.h"

struct bits_opts {
    double compare_to;
};
static const struct mase_opt options[] = {
    MASE_OPT_FLOAT(struct bits_opts, compare_to, "compare_to", 32, 1, 64,
                   "bits that memory_density is relative to"),
    { 0 },
};

/* The original's average_bitwidth is that of the weights. */
enum { WEIGHT, DENSITY, DATA, MEAN, ALL };
static const struct mase_runner_metric metrics[] = {
    [WEIGHT] = { "average_bitwidth", "bits of a weight" },
    [DENSITY] = { "memory_density", "compare_to / average_bitwidth" },
    [DATA] = { "data_bitwidth", "bits of a value that a layer reads" },
    [MEAN] = { "mean_bitwidth", "mean of the two" },
    [ALL] = { "overall_bitwidth", "bits of both, by their numbers" },
    { 0 },
};

static enum mase_status measure(double *found, struct mase_candidate *c, const void *opts,
                                struct mase_err *err)
{
    const struct bits_opts *o = opts;
    struct mase_average_bits bits;
    if (!mase_average_bits(&bits, mase_candidate_network(c)))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "average_bitwidth: the network has no linear, convolution or recurrent "
                         "layer");
    found[WEIGHT] = bits.weight;
    found[DENSITY] = o->compare_to / bits.weight;
    found[DATA] = bits.data;
    found[MEAN] = (bits.weight + bits.data) / 2;
    found[ALL] = bits.all;
    return MASE_OK;
}

const struct mase_runner_functions mase_runner_average_bitwidth = {
    .options = options,
    .options_size = sizeof(struct bits_opts),
    .metrics = metrics,
    .measure = measure,
};
