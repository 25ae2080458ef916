/*
 * engine_float.c - networks in float32 by plans. Where no plan can be made the reference takes
 * over.
 */
#include <mase/log.h>

#include "evaluate/predictor.h"
#include "exec/plan/plan_parts.h"
#include "ir/graph/graph_parts.h"

static enum mase_status make_plan(struct mase_predictor *p, int i, struct mase_err *err)
{
    struct mase_worker *w = &p->worker[i];
    struct mase_plan_opts opts = {
        .batch = p->batch,
        .threads = i ? 1 : p->workers,
        .inputs = p->inputs.item,
        .input_count = p->inputs.count,
        .like = i && !p->formats_change ? p->worker[0].plan : NULL,
        .learns = p->learns,
        .formats_change = p->formats_change,
        .seed = p->seed,
    };
    enum mase_status st = mase_plan_new(&w->plan, p->graph, &opts, err);
    if (st == MASE_EUNSUPPORTED && p->formats_change) { /* a plan for the formats at hand */
        p->formats_change = opts.formats_change = false;
        st = mase_plan_new(&w->plan, p->graph, &opts, err);
    }
    if (st)
        return st;
    w->x = mase_plan_inputs(w->plan);
    w->y = mase_plan_output(w->plan);
    const struct mase_tensor *y = w->plan->output->tensor;
    mase_predictor_set_result(p, y->dtype, &y->shape);
    return MASE_OK;
}

/* The reference may run what a plan cannot, but draws other numbers. */
static enum mase_status worker_init(struct mase_predictor *p, int i, struct mase_err *err)
{
    struct mase_err why = { 0 };
    const enum mase_status st = make_plan(p, i, &why);
    if ((st == MASE_EUNSUPPORTED || st == MASE_EVALUE) && !mase_graph_draws(p->graph)) {
        MASE_TRY(mase_engine_reference.prepare(p, err));
        mase_warn("%s; the plain reference runs the network, which takes much longer", why.msg);
        mase_predictor_use_reference(p, p->batch);
        return MASE_OK;
    }
    if (st)
        return mase_fail_at(err, st, why.loc, "%s", why.msg);
    return mase_plan_check_size(p->worker[0].plan, p->workers, err);
}

static void worker_release(struct mase_worker *w)
{
    mase_plan_free(w->plan);
    w->plan = NULL;
    w->x = w->y = (struct mase_lanes){ 0 };
}

static bool mixes(const struct mase_predictor *p)
{
    return p->worker->plan->least_samples && !p->graph->batch;
}

/* A plan has room for the batches that were expected; the reference takes larger ones. */
static enum mase_status settle(const struct mase_each_batch *e, struct mase_err *err)
{
    struct mase_predictor *p = e->p;
    (void)err;
    if (!mixes(p))
        return MASE_OK;
    const int64_t n = mase_predictor_couple(p, e->n);
    if (n > p->batch)
        mase_predictor_use_reference(p, n);
    return MASE_OK;
}

static void begin(struct mase_worker *w)
{
    mase_plan_set_samples(w->plan, w->samples);
    w->plan->first = w->first;
    w->plan->row = NULL;
}

static bool gather(struct mase_worker *w, const float *x, int64_t stride, const uint32_t *row)
{
    w->plan->row = row;
    if (x)
        mase_plan_gather(w->plan, x, stride, row, w->samples);
    return x != NULL;
}

static enum mase_status run(const struct mase_predictor *p, struct mase_worker *w,
                            struct mase_arena *a, struct mase_err *err)
{
    (void)p;
    (void)a;
    return mase_plan_forward(w->plan, err);
}

static void loss(struct mase_worker *w, struct mase_loss_result *r, const struct mase_loss_opts *o)
{
    mase_plan_loss(w->plan, r, &w->targets, o);
}

static void set_threads(struct mase_predictor *p, int threads)
{
    mase_plan_set_threads(p->worker->plan, threads);
}

static void read_weights(struct mase_worker *w)
{
    mase_plan_read_weights(w->plan);
}

static enum mase_status follow_formats(struct mase_worker *w, const struct mase_node *n,
                                       struct mase_err *err)
{
    return mase_plan_follow_formats(w->plan, n, err);
}

static const char *isa(const struct mase_worker *w)
{
    return mase_plan_isa(w->plan);
}

const struct mase_engine_functions mase_engine_float = {
    .worker_init = worker_init,
    .worker_release = worker_release,
    .mixes = mixes,
    .settle = settle,
    .begin = begin,
    .gather = gather,
    .run = run,
    .loss = loss,
    .set_threads = set_threads,
    .read_weights = read_weights,
    .follow_formats = follow_formats,
    .isa = isa,
    .checks_indices = true,
};
