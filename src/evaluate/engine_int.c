/*
 * engine_int.c - quantised networks in exact integers (mase/int_program.h).
 */
#include "evaluate/predictor.h"

/* Batches stay in the nearer caches. */
enum { SAMPLES = 128 };

static enum mase_status prepare(struct mase_predictor *p, struct mase_err *err)
{
    p->batch = p->batch < SAMPLES ? p->batch : SAMPLES;
    MASE_TRY(mase_int_program_new(&p->integers, p->graph, p->inputs.item, p->inputs.count, err));
    mase_predictor_set_result(p, MASE_F32, &p->integers->result);
    return MASE_OK;
}

static void release(struct mase_predictor *p)
{
    mase_int_program_free(p->integers);
    p->integers = NULL;
}

static enum mase_status worker_init(struct mase_predictor *p, int i, struct mase_err *err)
{
    struct mase_worker *w = &p->worker[i];
    (void)err;
    w->runner = mase_int_runner_new(p->integers, p->batch, MASE_INT_KEEP_OUTPUT);
    w->x = mase_int_runner_input(w->runner);
    w->y = mase_int_runner_output(w->runner);
    return MASE_OK;
}

static void worker_release(struct mase_worker *w)
{
    mase_int_runner_free(w->runner);
    w->runner = NULL;
}

static enum mase_status run(const struct mase_predictor *p, struct mase_worker *w,
                            struct mase_arena *a, struct mase_err *err)
{
    (void)p;
    (void)a;
    return mase_int_runner_run(w->runner, w->samples, err);
}

static enum mase_status run_array(struct mase_worker *w, float *y, const float *x, int64_t n,
                                  struct mase_err *err)
{
    return mase_int_runner_run_array(w->runner, y, x, n, err);
}

const struct mase_engine_functions mase_engine_int = {
    .prepare = prepare,
    .release = release,
    .worker_init = worker_init,
    .worker_release = worker_release,
    .run = run,
    .run_array = run_array,
};
