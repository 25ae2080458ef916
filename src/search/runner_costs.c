/*
 * runner_costs.c - what a sample costs: operations, bit operations, bytes (docs/costs.md).
 */
#include "program/costs.h"
#include "search/runner.h"
#include "search/search_parts.h"

static const struct mase_opt options[] = { { 0 } };

enum {
    FLOPS,
    MACS,
    NONZERO_MACS,
    BITOPS,
    NONZERO_BITOPS,
    BOPS,
    EBOPS,
    PARAMETER_BITS,
    MODEL_SIZE,
    TRAFFIC
};
static const struct mase_runner_metric metrics[] = {
    [FLOPS] = { "flops", "operations, a product and its sum being two" },
    [MACS] = { "macs", "products that are summed" },
    [NONZERO_MACS] = { "nonzero_macs", "those whose weight is not zero" },
    [BITOPS] = { "bitops", "products by the widths of both factors" },
    [NONZERO_BITOPS] = { "nonzero_bitops", "those whose weight is not zero" },
    [BOPS] = { "bops", "bit operations with the adders" },
    [EBOPS] = { "ebops", "effective bit operations, by the bits that weights have" },
    [PARAMETER_BITS] = { "parameter_bits", "bits of parameters and buffers as they are stored" },
    [MODEL_SIZE] = { "model_size", "the same in bytes" },
    [TRAFFIC] = { "traffic", "bytes read and written" },
    { 0 },
};

static enum mase_status new_costs(struct mase_costs **out, struct mase_candidate *c,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_graph *g = mase_candidate_network(c);
    const struct mase_shape *sample = &mase_dataset_info(c->search->opts.data)->data.sample;
    const struct mase_inputs in = mase_graph_inputs(&a, g, sample, 1);
    const enum mase_status st = mase_costs_new(out, g, in.item, in.count, err);
    mase_arena_release(&a);
    return st;
}

static void take(double *found, struct mase_costs *costs)
{
    const struct mase_cost c = mase_costs_total(costs);
    const int64_t bytes = (c.param_bits + 7) / 8;
    found[FLOPS] = (double)c.flops;
    found[MACS] = (double)c.macs;
    found[NONZERO_MACS] = (double)c.nonzero_macs;
    found[NONZERO_BITOPS] = (double)c.nonzero_bitops;
    found[BITOPS] = (double)c.bitops;
    found[BOPS] = c.bops;
    found[EBOPS] = (double)c.ebops;
    found[PARAMETER_BITS] = (double)c.param_bits;
    found[MODEL_SIZE] = (double)bytes;
    found[TRAFFIC] = (double)c.traffic;
}

/* Those of the network that moves are found once, and priced for each trial. */
static enum mase_status measure(double *found, struct mase_candidate *c, const void *opts,
                                struct mase_err *err)
{
    struct mase_costs *of_trained = NULL;
    (void)opts;
    if (c->trained)
        MASE_TRY(new_costs(&of_trained, c, err));
    else if (!c->costs)
        MASE_TRY(new_costs(&c->costs, c, err));
    take(found, of_trained ? of_trained : c->costs);
    mase_costs_free(of_trained);
    return MASE_OK;
}

const struct mase_runner_functions mase_runner_costs = {
    .options = options,
    .options_size = 1,
    .metrics = metrics,
    .measure = measure,
};
