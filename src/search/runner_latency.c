/*
 * runner_latency.c - how long an engine of this program takes for a sample.
 *
 * Of all runners this one alone reads a clock: a study that uses it is another one each time.
 */
#include <mase/progress.h>

#include "search/runner.h"
#include "search/search_parts.h"

struct latency_opts {
    int64_t batch, repeat;
    const char *engine;
};

static const char *const engines[] = {
#define ENGINE(name, several, help) #name,
#include "evaluate/engines.def"
    NULL
};

static const struct mase_opt options[] = {
    MASE_OPT_INT(struct latency_opts, batch, "batch", 1, 1, 1 << 20, "samples of a call"),
    MASE_OPT_INT(struct latency_opts, repeat, "repeat", 5, 1, 1 << 20,
                 "calls, of which the fastest counts"),
    MASE_OPT_CHOICE(struct latency_opts, engine, "engine", "float", engines, "what computes"),
    { 0 },
};

static const struct mase_runner_metric metrics[] = {
    { "latency", "microseconds of a call" },
    { 0 },
};

static enum mase_status time_calls(double *found, struct mase_predictor *p, const float *x,
                                   float *y, const struct latency_opts *o, struct mase_err *err)
{
    uint64_t best = UINT64_MAX;
    for (int64_t i = 0; i <= o->repeat; i++) { /* the first warms up */
        const uint64_t started = mase_clock();
        MASE_TRY(mase_predictor_run(p, y, x, o->batch, err));
        const uint64_t took = mase_clock() - started;
        best = i && took < best ? took : best;
    }
    *found = 1e-3 * (double)best;
    return MASE_OK;
}

static enum mase_status measure(double *found, struct mase_candidate *c, const void *opts,
                                struct mase_err *err)
{
    const struct latency_opts *o = opts;
    const struct mase_shape *sample = &mase_dataset_info(c->search->opts.data)->data.sample;
    const struct mase_predictor_opts how = { .engine = mase_engine_find(o->engine),
                                             .batch = o->batch };
    struct mase_arena a = { 0 };
    struct mase_predictor *p;
    MASE_TRY(mase_predictor_new(&p, mase_candidate_network(c), sample, &how, err));
    const float *x = mase_new_array(&a, float, (size_t)(o->batch * mase_shape_count(sample)));
    float *y = mase_new_array(&a, float, (size_t)(o->batch * mase_predictor_outputs(p)));
    const enum mase_status st = time_calls(found, p, x, y, o, err);
    mase_predictor_free(p);
    mase_arena_release(&a);
    return st;
}

const struct mase_runner_functions mase_runner_latency = {
    .options = options,
    .options_size = sizeof(struct latency_opts),
    .metrics = metrics,
    .measure = measure,
};
