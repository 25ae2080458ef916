/*
 * threads.c - how many threads a network can use.
 */
#include <omp.h>

#include <mase/call.h>
#include <mase/evaluate.h>
#include <mase/tiled_plan.h>

/* Multiplications that keep one more thread busy where threads share every operation, or must be
 * started first: below, that costs more than it brings. */
static const double worth_a_thread = 3e7;

/* A layer multiplies each of its weights once for every position of the output. */
static double products(const struct mase_node *n, const struct mase_arg *value)
{
    const struct mase_module *m = mase_node_module(n);
    const struct mase_param *w = m ? mase_module_param(m, "weight") : NULL;
    if (!w || w->tensor.shape.rank < 2 || value->kind != MASE_ARG_TENSOR ||
        value->tensor->shape.rank < 2)
        return 0;
    const struct mase_shape *out = &value->tensor->shape;
    const double positions = (double)mase_shape_count(out) / (double)(out->dim[0] * out->dim[1]);
    return (double)mase_tensor_count(&w->tensor) * positions;
}

/* Of one sample through the network. */
static double sample_products(const struct mase_graph *g, const struct mase_shape *sample)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_err unwanted; /* what it says, whoever runs the network will */
    double sum = 0;
    const struct mase_inputs in = mase_graph_inputs(&a, g, sample, 1);
    if (in.count && mase_infer_shapes(&v, &a, g, in.item, in.count, &unwanted) == MASE_OK)
        for (const struct mase_node *n = g->first; n; n = n->next)
            sum += products(n, mase_values_get(&v, n));
    mase_arena_release(&a);
    return sum;
}

int mase_threads_allowed(void)
{
    return omp_get_max_threads();
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
