/*
 * threads.c - how many threads a network can use.
 */
#include <omp.h>
#include <stdlib.h>

#include <mase/evaluate.h>
#include <mase/tiled_plan.h>

#include "evaluate/predictor.h"
#include "program/costs.h"

/* Multiplications that keep one more thread busy where threads share every operation, or must be
 * started first: below, that costs more than it brings. */
static const double worth_a_thread = 3e7;

/* Products that one sample needs. */
static double sample_products(const struct mase_graph *g, const struct mase_shape *sample)
{
    struct mase_arena a = { 0 };
    struct mase_costs *costs = NULL;
    struct mase_err unwanted; /* running the network reports it */
    const struct mase_inputs in = mase_graph_inputs(&a, g, sample, 1);
    double macs = 0;
    if (in.count && !mase_costs_new(&costs, g, in.item, in.count, &unwanted))
        macs = (double)mase_costs_macs(costs);
    mase_costs_free(costs);
    mase_arena_release(&a);
    return macs;
}

int mase_threads_allowed(void)
{
    return omp_get_max_threads();
}

void mase_threads_take(int threads)
{
    if (!getenv("OMP_NUM_THREADS"))
        omp_set_num_threads(threads);
}

static int at_most(double useful, int asked)
{
    const int most = asked > 0 ? asked : mase_threads_allowed();
    return useful < 2 ? 1 : useful < most ? (int)useful : most;
}

int mase_predict_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t rows,
                         int asked)
{
    return at_most(sample_products(g, sample) * (double)rows / worth_a_thread, asked);
}

int mase_train_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t batch,
                       int asked)
{
    const int tiles = mase_tiled_plan_tiles(batch);
    return tiles > 1 ? at_most(tiles, asked) : mase_predict_threads(g, sample, batch, asked);
}
