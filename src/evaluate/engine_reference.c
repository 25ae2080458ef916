/*
 * engine_reference.c - networks that no plan can run, by the reference: one worker, whose batches
 * are all samples where these depend on each other.
 */
#include <string.h>

#include <mase/run.h>

#include "base/alloc.h"
#include "evaluate/predictor.h"
#include "exec/plan/plan_parts.h"
#include "ir/graph/graph_parts.h"

/* Check that the output has one row per sample. */
static enum mase_status prepare(struct mase_predictor *p, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    enum mase_status st = mase_infer_shapes(&v, &a, p->graph, p->inputs.item, p->inputs.count, err);
    const struct mase_arg *out = st ? NULL : mase_run_output(&v, p->graph);
    if (!st && (out->kind != MASE_ARG_TENSOR || out->tensor->shape.rank < 1 ||
                out->tensor->shape.dim[0] != p->batch))
        st = mase_fail(err, MASE_EUNSUPPORTED,
                       "the network must return one tensor with a row for each sample");
    if (!st)
        mase_predictor_set_result(p, out->tensor->dtype, &out->tensor->shape);
    mase_arena_release(&a);
    return st;
}

static void worker_release(struct mase_worker *w)
{
    mase_aligned_free(w->x.data);
    mase_aligned_free(w->y.data);
    w->x = w->y = (struct mase_lanes){ 0 };
}

/* ---- a batch ---- */

/* To w->y as floats, whatever they are in a. */
static enum mase_status run_batch(const struct mase_predictor *p, struct mase_worker *w,
                                  struct mase_arena *a, struct mase_err *err)
{
    struct mase_values v;
    float *x = mase_new_array(a, float, (size_t)(w->samples * p->features));
    mase_from_lanes(x, w->x, w->samples);
    const struct mase_input *in = mase_inputs_fill(a, &p->inputs, x, w->samples);
    MASE_TRY(mase_run_reference(&v, a, p->graph, in, p->inputs.count, err));
    const struct mase_tensor *y = mase_run_output(&v, p->graph)->tensor;
    if (mase_tensor_count(y) != w->samples * p->outputs)
        return mase_fail(err, MASE_EVALUE, "of %lld samples the network returns another number",
                         (long long)w->samples);
    for (int64_t i = 0; i < w->samples; i++)
        for (int64_t r = 0; r < p->outputs; r++)
            w->y.data[r * w->y.stride + i] = (float)mase_tensor_get(y, i * p->outputs + r);
    w->result = *y;
    return MASE_OK;
}

static enum mase_status run(const struct mase_predictor *p, struct mase_worker *w,
                            struct mase_arena *a, struct mase_err *err)
{
    const enum mase_status st = run_batch(p, w, a, err);
    return st && w->first ? mase_wrap(err, "in the batch from sample %lld on", (long long)w->first)
                          : st;
}

/* ---- do samples depend on each other? ---- */

/* One sample alone, of those at x: does it give what it gave among others? */
static bool is_same_alone(const struct mase_predictor *p, const float *x, const float *y)
{
    struct mase_worker *w = p->worker;
    struct mase_arena a = { 0 };
    struct mase_err err;
    w->samples = 1;
    mase_to_lanes(w->x, x, 1);
    const enum mase_status st = run_batch(p, w, &a, &err);
    mase_arena_release(&a);
    if (st)
        return false;
    for (int64_t r = 0; r < p->outputs; r++)
        if (memcmp(&w->y.data[r * w->y.stride], &y[r], sizeof *y) != 0)
            return false;
    return true;
}

/* Try with the first samples, if the graph does not tell. */
static enum mase_status find_mixes(bool *out, const struct mase_each_batch *e, struct mase_err *err)
{
    enum { TRIED = 8 };
    struct mase_predictor *p = e->p;
    struct mase_worker *w = p->worker;
    struct mase_arena a = { 0 };
    *out = false;
    if (mase_graph_takes_batch_statistics(p->graph) ||
        mase_graph_cuts_batch(p->graph, p->inputs.item, p->inputs.count)) {
        *out = true;
        return MASE_OK;
    }
    if (p->batch < TRIED)
        mase_predictor_use_reference(p, TRIED);
    if (!mase_predictor_begin(e, w, 0))
        return MASE_OK; /* it comes again */
    const int64_t n = w->samples < TRIED ? w->samples : TRIED;
    w->samples = n;
    float *x = mase_new_array(&a, float, (size_t)(n * p->features));
    float *y = mase_new_array(&a, float, (size_t)(n * p->outputs));
    mase_from_lanes(x, w->x, n);
    const enum mase_status st = n > 1 ? run_batch(p, w, &a, err) : MASE_OK;
    mase_from_lanes(y, w->y, n);
    for (int64_t i = 0; !st && !*out && n > 1 && i < n; i++)
        *out = !is_same_alone(p, x + i * p->features, y + i * p->outputs);
    mase_arena_release(&a);
    return st;
}

/* PyTorch's result depends on the number of samples in a batch: take that number here. */
static enum mase_status settle(const struct mase_each_batch *e, struct mase_err *err)
{
    struct mase_predictor *p = e->p;
    const int64_t only = p->graph->batch;
    bool mixed;
    if (only && e->n % only)
        return mase_fail(
            err, MASE_EVALUE,
            "the network takes batches of %lld samples alone, and %lld are no multiple "
            "of that",
            (long long)only, (long long)e->n);
    if (only)
        return MASE_OK;
    MASE_TRY(find_mixes(&mixed, e, err));
    if (mixed)
        mase_predictor_use_reference(p, mase_predictor_couple(p, e->n));
    return MASE_OK;
}

const struct mase_engine_functions mase_engine_reference = {
    .prepare = prepare,
    .worker_release = worker_release,
    .settle = settle,
    .run = run,
    .is_reference = true,
};

/* Memory comes first: the workers stay as they are if there is none. The predictor may be older
 * than this call. */
void mase_predictor_use_reference(struct mase_predictor *p, int64_t n)
{
    struct mase_worker *w = p->worker;
    float *x = mase_plan_floats(p->features * n), *y = mase_plan_floats(p->outputs * n);
    mase_aligned_give(x, p);
    mase_aligned_give(y, p);
    for (int i = 0; i < p->workers; i++)
        p->engine->worker_release(&p->worker[i]);
    w->x = (struct mase_lanes){ x, p->features, n };
    w->y = (struct mase_lanes){ y, p->outputs, n };
    p->engine = &mase_engine_reference;
    p->workers = 1;
    p->batch = n;
}
