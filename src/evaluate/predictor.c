/*
 * predictor.c - a graph in evaluation mode, by an engine: batches, workers, arrays.
 */
#include "evaluate/predictor.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <mase/call.h>
#include <mase/log.h>
#include <mase/run.h>

#include "base/alloc.h"
#include "base/host.h"
#include "exec/plan/plan_parts.h"
#include "ir/graph/graph_parts.h"

/* A batch of about this many input values: large enough for the products, small enough for caches.
 */
enum { BATCH_VALUES = 1 << 14, BATCH_LEAST = 16, BATCH_MOST = 1024 };

static int64_t good_batch(int64_t features)
{
    const int64_t n = BATCH_VALUES / (features > 0 ? features : 1);
    return n < BATCH_LEAST ? BATCH_LEAST : n > BATCH_MOST ? BATCH_MOST : n;
}

static enum mase_status find_inputs(struct mase_predictor *p, const struct mase_shape *sample,
                                    struct mase_err *err)
{
    if (sample->rank + 1 > MASE_MAX_RANK)
        return mase_fail(err, MASE_ELIMIT, "a sample has %d dimensions; at most %d fit",
                         sample->rank, MASE_MAX_RANK - 1);
    p->inputs = mase_graph_inputs(&p->arena, p->graph, sample, p->batch);
    if (!p->inputs.count)
        return mase_fail(err, MASE_EUNSUPPORTED, "the network has no input");
    p->features = mase_inputs_features(&p->inputs);
    return MASE_OK;
}

void mase_predictor_set_result(struct mase_predictor *p, enum mase_dtype dtype,
                               const struct mase_shape *out)
{
    p->dtype = dtype;
    p->result = *out;
    p->result.rank--;
    memmove(p->result.dim, p->result.dim + 1, (size_t)p->result.rank * sizeof out->dim[0]);
    p->outputs = mase_shape_count(&p->result);
}

static void free_workers(struct mase_predictor *p)
{
    for (int i = 0; p->worker && i < p->workers; i++)
        p->engine->worker_release(&p->worker[i]);
    mase_xfree(p->worker);
    p->worker = NULL;
}

/* The reference may take over with the first of them. */
static enum mase_status make_workers(struct mase_predictor *p, int threads, struct mase_err *err)
{
    p->workers = threads > 1 ? threads : 1;
    p->worker = mase_xcalloc((size_t)p->workers * sizeof *p->worker);
    for (int i = 0; i < p->workers && p->engine->worker_init; i++)
        MASE_TRY(p->engine->worker_init(p, i, err));
    return MASE_OK;
}

/* How many of n samples are taken at a time where the network mixes them. */
static int64_t coupled_batch_of(const struct mase_predictor *p, int64_t n)
{
    return p->coupled_batch && (!n || p->coupled_batch < n) ? p->coupled_batch : n;
}

/* Workers, for batches of as many samples as are wanted where these decide about each other. */
static enum mase_status make_all_workers(struct mase_predictor *p,
                                         const struct mase_predictor_opts *o,
                                         const struct mase_shape *sample, struct mase_err *err)
{
    MASE_TRY(make_workers(p, o->threads, err));
    const int64_t wanted = coupled_batch_of(p, o->usual);
    if (!p->engine->mixes || !p->engine->mixes(p) || !wanted || wanted == p->batch)
        return MASE_OK;
    free_workers(p);
    p->batch = wanted;
    MASE_TRY(find_inputs(p, sample, err));
    return make_workers(p, o->threads, err);
}

enum mase_status mase_predictor_new(struct mase_predictor **out, struct mase_graph *g,
                                    const struct mase_shape *sample,
                                    const struct mase_predictor_opts *opts, struct mase_err *err)
{
    const struct mase_predictor_opts none = { 0 };
    const struct mase_predictor_opts *o = opts ? opts : &none;
    struct mase_predictor *p = mase_xcalloc(sizeof *p);
    p->graph = g;
    p->engine = o->engine ? o->engine->functions : &mase_engine_float;
    p->batch = g->batch ? g->batch : o->batch > 0 ? o->batch : good_batch(mase_shape_count(sample));
    p->scaling = o->scaling && o->scaling->n ? o->scaling : NULL;
    p->learns = o->learns;
    p->formats_change = o->formats_change;
    p->seed = o->seed;
    p->coupled_batch = o->coupled_batch;
    enum mase_status st = o->learns ? MASE_OK : mase_graph_need_learned(g, err);
    if (!st)
        st = find_inputs(p, sample, err);
    if (!st && p->scaling && p->scaling->n != p->features)
        st = mase_fail(err, MASE_EVALUE, "a scaling of %lld features does not fit samples of %lld",
                       (long long)p->scaling->n, (long long)p->features);
    if (st || (p->engine->prepare && (st = p->engine->prepare(p, err))) ||
        (st = make_all_workers(p, o, sample, err))) {
        mase_predictor_free(p);
        return st;
    }
    *out = p;
    return MASE_OK;
}

void mase_predictor_free(struct mase_predictor *p)
{
    if (!p)
        return;
    free_workers(p);
    if (p->engine->release)
        p->engine->release(p);
    mase_arena_release(&p->arena);
    mase_xfree(p);
}

void mase_predictor_read_weights(struct mase_predictor *p)
{
    for (int i = 0; i < p->workers && p->engine->read_weights; i++)
        p->engine->read_weights(&p->worker[i]);
}

enum mase_status mase_predictor_follow_formats(struct mase_predictor *p, const struct mase_node *n,
                                               struct mase_err *err)
{
    if (!p->engine->follow_formats)
        return mase_fail(err, MASE_EUNSUPPORTED, "the engine computes in the formats that it has");
    for (int i = 0; i < p->workers; i++)
        MASE_TRY(p->engine->follow_formats(&p->worker[i], n, err));
    return MASE_OK;
}

int64_t mase_predictor_batch(const struct mase_predictor *p)
{
    return p->batch;
}

bool mase_predictor_planned(const struct mase_predictor *p)
{
    return !p->engine->is_reference;
}

const char *mase_predictor_isa(const struct mase_predictor *p)
{
    return p->engine->isa ? p->engine->isa(p->worker) : "scalar";
}

struct mase_shape mase_predictor_result(const struct mase_predictor *p)
{
    return p->result;
}

enum mase_dtype mase_predictor_dtype(const struct mase_predictor *p)
{
    return p->dtype;
}

int64_t mase_predictor_outputs(const struct mase_predictor *p)
{
    return p->outputs;
}

/* ---- one batch ---- */

/* In double and rounded once, as the dataset scales. */
static void scale(const struct mase_predictor *p, const struct mase_worker *s)
{
    for (int64_t f = 0; p->scaling && f < p->features; f++) {
        const double mean = p->scaling->mean[f], std = p->scaling->std[f];
        float *x = s->x.data + f * s->x.stride;
        for (int64_t i = 0; i < s->samples; i++)
            x[i] = (float)((x[i] - mean) / std);
    }
}

/* ---- all of them ---- */

/* An engine that finds wrong indices by itself would compute with any number as a truth value. */
static void check_types(const struct mase_predictor *p, struct mase_worker *s, int64_t at)
{
    const struct mase_input *in = p->inputs.item;
    int64_t first = 0, rows;
    for (int i = 0; i < p->inputs.count && s->fault < 0; i++, first += rows) {
        rows = mase_shape_count(&in[i].tensor.shape) / in[i].tensor.shape.dim[0];
        if (p->engine->checks_indices && in[i].tensor.dtype != MASE_DTYPE_BOOL)
            continue;
        for (int64_t r = first; r < first + rows && s->fault < 0; r++)
            if (mase_input_check(&in[i], s->x.data + r * s->x.stride, 1, s->samples, &s->err))
                s->fault = at;
    }
}

bool mase_predictor_begin(const struct mase_each_batch *e, struct mase_worker *s, int64_t at)
{
    s->first = at;
    s->samples = e->n - at < e->p->batch ? e->n - at : e->p->batch;
    if (e->p->engine->begin)
        e->p->engine->begin(s);
    e->fill(e->p, s, at, e->data);
    scale(e->p, s);
    check_types(e->p, s, at);
    return s->fault < 0;
}

int64_t mase_predictor_couple(struct mase_predictor *p, int64_t n)
{
    const int64_t taken = coupled_batch_of(p, n);
    if (p->told != taken)
        mase_warn("what a sample gives depends on the others of its batch; they are taken %lld at "
                  "a time",
                  (long long)taken);
    p->told = taken;
    return taken;
}

/* Where an engine passes the work on, the other settles the batch in turn. */
static enum mase_status settle(const struct mase_each_batch *e, struct mase_err *err)
{
    const struct mase_engine_functions *engine = NULL;
    while (engine != e->p->engine) {
        engine = e->p->engine;
        if (engine->settle)
            MASE_TRY(engine->settle(e, err));
    }
    return MASE_OK;
}

/* The first fault among all batches, whichever worker met it. */
static enum mase_status first_fault(const struct mase_predictor *p, int workers,
                                    struct mase_err *err)
{
    const struct mase_worker *first = NULL;
    for (int i = 0; i < workers; i++)
        if (p->worker[i].fault >= 0 && (!first || p->worker[i].fault < first->fault))
            first = &p->worker[i];
    if (!first)
        return MASE_OK;
    *err = first->err;
    err->loc.path = first->err.loc.path ? err->path : NULL; /* it points into its own */
    return first->err.status;
}

/* Every workers-th batch, beginning with that of this worker, until one cannot be run. */
static void run_worker(const void *data, int worker, int workers)
{
    const struct mase_each_batch *e = data;
    struct mase_worker *s = &e->p->worker[worker];
    for (int64_t at = worker * e->p->batch; at < e->n && s->fault < 0;
         at += workers * e->p->batch) {
        struct mase_arena a = { 0 };
        if (!mase_predictor_begin(e, s, at))
            return;
        if (e->p->engine->run(e->p, s, &a, &s->err))
            s->fault = at;
        else
            e->take(e->p, s, at, e->data);
        s->result = (struct mase_tensor){ 0 };
        mase_arena_release(&a);
    }
}

/* ---- parallel workers ---- */

/* The share of one, of data. */
typedef void worker_part_fn(const void *data, int worker, int workers);

struct part {
    worker_part_fn *run;
    const void *data;
    int worker, workers;
};

static enum mase_status run_part(void *data, struct mase_err *err)
{
    const struct part *part = data;
    (void)err;
    part->run(part->data, part->worker, part->workers);
    return MASE_OK;
}

/* Each worker has a guard of its own, as no jump may leave the parallel region. If one ran out of
 * memory, the call fails after it. */
static enum mase_status run_workers(struct mase_predictor *p, worker_part_fn *run, const void *data,
                                    int workers, struct mase_err *err)
{
    struct mase_guard *guard = mase_guard_current();
#pragma omp parallel num_threads(workers)
    {
        struct part part = { run, data, omp_get_thread_num(),
                             omp_get_num_threads() }; /* may be fewer */
        struct mase_worker *s = &p->worker[part.worker];
        if (mase_guarded_part(guard, run_part, &part, &s->err))
            s->fault = 0;
    }
    for (int i = 0; i < workers; i++)
        if (p->worker[i].fault >= 0)
            (void)mase_guard_propagate(p->worker[i].err.status, &p->worker[i].err);
    return first_fault(p, workers, err);
}

enum mase_status mase_input_check(const struct mase_input *in, const float *x, int64_t stride,
                                  int64_t n, struct mase_err *err)
{
    for (int64_t i = 0; in->tensor.dtype != MASE_F32 && i < n; i++) {
        const float v = x[i * stride];
        if (in->tensor.dtype == MASE_DTYPE_BOOL && v != 0 && v != 1)
            return mase_fail(err, MASE_EVALUE,
                             "the network takes truth values, 0 or 1, as '%s', and a sample has %g",
                             in->name, (double)v);
        if (!(fabsf(v) <= 0x1p24f) || v != floorf(v))
            return mase_fail(err, MASE_EVALUE,
                             "the network takes integers of up to 24 bits, and a sample has %g",
                             (double)v);
    }
    return MASE_OK;
}

enum mase_status mase_predictor_each(struct mase_predictor *p, int64_t n, mase_worker_fn *fill,
                                     mase_worker_fn *take, void *data, struct mase_err *err)
{
    const struct mase_each_batch e = { p, n, fill, take, data };
    for (int i = 0; i < p->workers; i++)
        p->worker[i].fault = -1;
    MASE_TRY(settle(&e, err));
    const bool many = p->workers > 1 && n > p->batch;
    if (p->engine->set_threads)
        p->engine->set_threads(p, many ? 1 : p->workers); /* a single batch is shared */
    if (!many) {
        run_worker(&e, 0, 1);
        return first_fault(p, 1, err);
    }
    return run_workers(p, run_worker, &e, p->workers, err);
}

/* ---- arrays ---- */

struct arrays {
    const float *x;       // (samples, features)
    struct mase_tensor y; // (samples, outputs)
    const struct mase_predictor *p;
    int64_t samples;
};

bool mase_worker_gather(const struct mase_predictor *p, struct mase_worker *s, const float *x,
                        int64_t stride, const uint32_t *row)
{
    return p->engine->gather && p->engine->gather(s, x, stride, row);
}

static void fill_array(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                       void *data)
{
    const struct arrays *a = data;
    const float *x = a->x + at * p->features;
    if (!mase_worker_gather(p, s, x, p->features, NULL))
        mase_to_lanes(s->x, x, s->samples);
}

/* A result that has a type of its own is not rounded to floats. */
static void take_array(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                       void *data)
{
    struct arrays *a = data;
    const int64_t first = at * p->outputs, count = s->samples * p->outputs;
    const int size = mase_dtypes[a->y.dtype].size;
    if (s->result.data && s->result.dtype == a->y.dtype)
        memcpy((char *)a->y.data + first * size, s->result.data, (size_t)(count * size));
    else if (a->y.dtype == MASE_F32)
        mase_from_lanes(mase_f32(&a->y) + first, s->y, s->samples);
    else
        for (int64_t k = 0; k < count; k++)
            mase_tensor_set(&a->y, first + k,
                            s->y.data[k % p->outputs * s->y.stride + k / p->outputs]);
}

/* Every workers-th batch of an array, which the engine takes as it is. */
static void run_array_worker(const void *data, int worker, int workers)
{
    const struct arrays *a = data;
    const struct mase_predictor *p = a->p;
    const int64_t n = a->samples;
    struct mase_worker *s = &p->worker[worker];
    for (int64_t at = worker * p->batch; at < n && s->fault < 0; at += workers * p->batch) {
        const int64_t samples = n - at < p->batch ? n - at : p->batch;
        if (p->engine->run_array(s, mase_f32(&a->y) + at * p->outputs, a->x + at * p->features,
                                 samples, &s->err))
            s->fault = at;
    }
}

static enum mase_status run_array(struct mase_predictor *p, const struct arrays *a,
                                  struct mase_err *err)
{
    const int workers = a->samples > p->batch ? p->workers : 1;
    for (int i = 0; i < workers; i++)
        p->worker[i].fault = -1;
    if (workers == 1) {
        run_array_worker(a, 0, 1);
        return first_fault(p, 1, err);
    }
    return run_workers(p, run_array_worker, a, workers, err);
}

enum mase_status mase_predictor_run_typed(struct mase_predictor *p, void *y, enum mase_dtype dtype,
                                          const float *x, int64_t n, struct mase_err *err)
{
    const struct mase_shape all = { 1, { n * p->outputs } };
    struct arrays a = { x, { dtype, all, y }, p, n };
    if (p->engine->run_array && !p->scaling && p->inputs.item[0].tensor.dtype == MASE_F32 &&
        dtype == MASE_F32)
        return run_array(p, &a, err);
    return mase_predictor_each(p, n, fill_array, take_array, &a, err);
}

enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err)
{
    return mase_predictor_run_typed(p, y, MASE_F32, x, n, err);
}
