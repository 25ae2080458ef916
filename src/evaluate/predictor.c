/*
 * predictor.c - a graph in evaluation mode: planned if possible, else by the reference.
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

/* out: that of a batch, which stands first. */
static void set_result(struct mase_predictor *p, enum mase_dtype dtype,
                       const struct mase_shape *out)
{
    p->dtype = dtype;
    p->result = *out;
    p->result.rank--;
    memmove(p->result.dim, p->result.dim + 1, (size_t)p->result.rank * sizeof out->dim[0]);
    p->outputs = mase_shape_count(&p->result);
}

/* What the output node returns has one row per sample. */
static enum mase_status find_outputs(struct mase_predictor *p, struct mase_err *err)
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
        set_result(p, out->tensor->dtype, &out->tensor->shape);
    mase_arena_release(&a);
    return st;
}

/* Room for batches of n samples. */
static void use_reference(struct mase_predictor *p, int64_t n)
{
    struct mase_worker *s = p->worker;
    float *x = mase_plan_floats(p->features * n), *y = mase_plan_floats(p->outputs * n);
    mase_aligned_give(x, p); /* which may be older than this call */
    mase_aligned_give(y, p);
    mase_aligned_free(s->x.data);
    mase_aligned_free(s->y.data);
    p->workers = 1;
    p->batch = n;
    s->x = (struct mase_lanes){ x, p->features, n };
    s->y = (struct mase_lanes){ y, p->outputs, n };
}

/* As many as stay in the nearer caches. */
static enum mase_status make_exact(struct mase_predictor *p, struct mase_err *err)
{
    enum { SAMPLES = 128 };
    p->batch = p->batch < SAMPLES ? p->batch : SAMPLES;
    MASE_TRY(mase_int_program_new(&p->exact, p->graph, p->inputs.item, p->inputs.count, err));
    set_result(p, MASE_F32, &p->exact->result);
    return MASE_OK;
}

static void make_exact_worker(struct mase_predictor *p, struct mase_worker *s)
{
    s->exact = mase_int_runner_new(p->exact, p->batch, MASE_INT_KEEP_OUTPUT);
    s->x = mase_int_runner_input(s->exact);
    s->y = mase_int_runner_output(s->exact);
}

/* Worker i. Where no plan can be made for the first one, the reference takes its place. */
static enum mase_status make_worker(struct mase_predictor *p, int i, struct mase_err *err)
{
    struct mase_err why = { 0 };
    struct mase_worker *s = &p->worker[i];
    const struct mase_plan_opts opts = {
        .batch = p->batch,
        .threads = i ? 1 : p->workers,
        .inputs = p->inputs.item,
        .input_count = p->inputs.count,
        .like = i ? p->worker[0].plan : NULL,
        .learns = p->learns,
        .seed = p->seed,
    };
    const enum mase_status st = mase_plan_new(&s->plan, p->graph, &opts, &why);
    if ((st == MASE_EUNSUPPORTED || st == MASE_EVALUE) &&
        !mase_graph_draws(p->graph)) { /* the reference may run what a plan cannot */
        MASE_TRY(find_outputs(p, err));
        mase_warn("%s; the plain reference runs the network, which takes much longer", why.msg);
        use_reference(p, p->batch);
        return MASE_OK;
    }
    if (st)
        return mase_fail_at(err, st, why.loc, "%s", why.msg);
    s->x = mase_plan_inputs(s->plan);
    s->y = mase_plan_output(s->plan);
    const struct mase_tensor *y = s->plan->output->tensor;
    set_result(p, y->dtype, &y->shape);
    return MASE_OK;
}

static void free_workers(struct mase_predictor *p)
{
    for (int i = 0; p->worker && i < p->workers; i++) {
        if (!p->worker[i].plan && !p->exact) {
            mase_aligned_free(p->worker[i].x.data);
            mase_aligned_free(p->worker[i].y.data);
        }
        mase_plan_free(p->worker[i].plan);
        mase_int_runner_free(p->worker[i].exact);
    }
    mase_xfree(p->worker);
    p->worker = NULL;
}

static enum mase_status make_workers(struct mase_predictor *p, int threads, struct mase_err *err)
{
    p->workers = threads > 1 ? threads : 1;
    p->worker = mase_xcalloc((size_t)p->workers * sizeof *p->worker);
    for (int i = 0; i < p->workers; i++) {
        if (p->exact) {
            make_exact_worker(p, &p->worker[i]);
            continue;
        }
        MASE_TRY(make_worker(p, i, err));
        if (p->worker[0].plan)
            MASE_TRY(mase_plan_check_size(p->worker[0].plan, p->workers, err));
    }
    return MASE_OK;
}

static bool plan_mixes(const struct mase_predictor *p)
{
    return p->worker->plan && p->worker->plan->least_samples && !p->graph->batch;
}

/* How many of n samples are taken at a time where the network mixes them. */
static int64_t coupled_batch_of(const struct mase_predictor *p, int64_t n)
{
    return p->coupled_batch && (!n || p->coupled_batch < n) ? p->coupled_batch : n;
}

/* Workers, with plans of the batches that are wanted where these decide what comes of a sample. */
static enum mase_status make_all_workers(struct mase_predictor *p,
                                         const struct mase_predictor_opts *o,
                                         const struct mase_shape *sample, struct mase_err *err)
{
    MASE_TRY(make_workers(p, o->threads, err));
    const int64_t wanted = coupled_batch_of(p, o->usual);
    if (!plan_mixes(p) || !wanted || wanted == p->batch)
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
    p->batch = g->batch ? g->batch : o->batch > 0 ? o->batch : good_batch(mase_shape_count(sample));
    p->scaling = o->scaling && o->scaling->n ? o->scaling : NULL;
    p->learns = o->learns;
    p->seed = o->seed;
    p->coupled_batch = o->coupled_batch;
    enum mase_status st = o->learns ? MASE_OK : mase_graph_need_learned(g, err);
    if (!st)
        st = find_inputs(p, sample, err);
    if (!st && p->scaling && p->scaling->n != p->features)
        st = mase_fail(err, MASE_EVALUE, "a scaling of %lld features does not fit samples of %lld",
                       (long long)p->scaling->n, (long long)p->features);
    if (st || (o->exact && (st = make_exact(p, err))) ||
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
    mase_int_program_free(p->exact);
    mase_arena_release(&p->arena);
    mase_xfree(p);
}

void mase_predictor_read_weights(struct mase_predictor *p)
{
    for (int i = 0; i < p->workers && p->worker[i].plan; i++)
        mase_plan_read_weights(p->worker[i].plan);
}

int64_t mase_predictor_batch(const struct mase_predictor *p)
{
    return p->batch;
}

bool mase_predictor_planned(const struct mase_predictor *p)
{
    return p->worker->plan || p->exact;
}

const char *mase_predictor_isa(const struct mase_predictor *p)
{
    return p->worker->plan ? mase_plan_isa(p->worker->plan) : "scalar";
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

/* To s->y as floats, whatever they are in a. */
static enum mase_status run_reference(const struct mase_predictor *p, struct mase_worker *s,
                                      struct mase_arena *a, struct mase_err *err)
{
    struct mase_values v;
    float *x = mase_new_array(a, float, (size_t)(s->samples * p->features));
    mase_from_lanes(x, s->x, s->samples);
    const struct mase_input *in = mase_inputs_fill(a, &p->inputs, x, s->samples);
    MASE_TRY(mase_run_reference(&v, a, p->graph, in, p->inputs.count, err));
    const struct mase_tensor *y = mase_run_output(&v, p->graph)->tensor;
    if (mase_tensor_count(y) != s->samples * p->outputs)
        return mase_fail(err, MASE_EVALUE, "of %lld samples the network returns another number",
                         (long long)s->samples);
    for (int64_t i = 0; i < s->samples; i++)
        for (int64_t r = 0; r < p->outputs; r++)
            s->y.data[r * s->y.stride + i] = (float)mase_tensor_get(y, i * p->outputs + r);
    s->result = *y;
    return MASE_OK;
}

/* ---- all of them ---- */

/* The work of mase_predictor_each. */
struct each {
    struct mase_predictor *p;
    int64_t n;
    mase_worker_fn *fill, *take;
    void *data;
};

/* A plan has floats for truth values, and would compute with others as they are; an index that is
 * none it finds by itself. */
static void check_types(const struct mase_predictor *p, struct mase_worker *s, int64_t at)
{
    const struct mase_input *in = p->inputs.item;
    int64_t first = 0, rows;
    for (int i = 0; i < p->inputs.count && s->fault < 0; i++, first += rows) {
        rows = mase_shape_count(&in[i].tensor.shape) / in[i].tensor.shape.dim[0];
        if (s->plan && in[i].tensor.dtype != MASE_DTYPE_BOOL)
            continue;
        for (int64_t r = first; r < first + rows && s->fault < 0; r++)
            if (mase_input_check(&in[i], s->x.data + r * s->x.stride, 1, s->samples, &s->err))
                s->fault = at;
    }
}

/* False: the samples are not what the network takes. */
static bool begin(const struct each *e, struct mase_worker *s, int64_t at)
{
    s->samples = e->n - at < e->p->batch ? e->n - at : e->p->batch;
    if (s->plan) {
        mase_plan_set_samples(s->plan, s->samples);
        s->plan->first = at;
        s->plan->row = NULL;
    }
    e->fill(e->p, s, at, e->data);
    scale(e->p, s);
    check_types(e->p, s, at);
    return s->fault < 0;
}

/* ---- the reference ---- */

/* One sample alone, of those at x: does it give what it gave among others? */
static bool is_same_alone(const struct mase_predictor *p, const float *x, const float *y)
{
    struct mase_worker *s = p->worker;
    struct mase_arena a = { 0 };
    struct mase_err err;
    s->samples = 1;
    mase_to_lanes(s->x, x, 1);
    const enum mase_status st = run_reference(p, s, &a, &err);
    mase_arena_release(&a);
    if (st)
        return false;
    for (int64_t r = 0; r < p->outputs; r++)
        if (memcmp(&s->y.data[r * s->y.stride], &y[r], sizeof *y) != 0)
            return false;
    return true;
}

/* Does what a sample gives depend on those beside it? Tried with the first few, if it is not seen.
 */
static enum mase_status mixes(bool *out, const struct each *e, struct mase_err *err)
{
    enum { TRIED = 8 };
    struct mase_predictor *p = e->p;
    struct mase_worker *s = p->worker;
    struct mase_arena a = { 0 };
    *out = false;
    if (mase_graph_takes_batch_statistics(p->graph) ||
        mase_graph_cuts_batch(p->graph, p->inputs.item, p->inputs.count)) {
        *out = true;
        return MASE_OK;
    }
    if (p->batch < TRIED)
        use_reference(p, TRIED);
    if (!begin(e, s, 0))
        return MASE_OK; /* it comes again */
    const int64_t n = s->samples < TRIED ? s->samples : TRIED;
    s->samples = n;
    float *x = mase_new_array(&a, float, (size_t)(n * p->features));
    float *y = mase_new_array(&a, float, (size_t)(n * p->outputs));
    mase_from_lanes(x, s->x, n);
    const enum mase_status st = n > 1 ? run_reference(p, s, &a, err) : MASE_OK;
    mase_from_lanes(y, s->y, n);
    for (int64_t i = 0; !st && !*out && n > 1 && i < n; i++)
        *out = !is_same_alone(p, x + i * p->features, y + i * p->outputs);
    mase_arena_release(&a);
    return st;
}

static void tell_together(struct mase_predictor *p, int64_t n)
{
    if (p->told != n)
        mase_warn("what a sample gives depends on the others of its batch; they are taken %lld at "
                  "a time",
                  (long long)n);
    p->told = n;
}

/* A plan has room for the batches that were expected; the reference takes larger ones. */
static void settle_plan(struct mase_predictor *p, int64_t samples)
{
    const int64_t n = coupled_batch_of(p, samples);
    if (!plan_mixes(p))
        return;
    tell_together(p, n);
    if (n <= p->batch)
        return;
    for (int i = 0; i < p->workers; i++) {
        struct mase_worker *s = &p->worker[i];
        mase_plan_free(s->plan);
        s->plan = NULL;
        s->x = s->y = (struct mase_lanes){ 0 };
    }
    use_reference(p, n);
}

/* What PyTorch computes depends on how many samples it is given at once: as many are taken here. */
static enum mase_status settle_batch(const struct each *e, struct mase_err *err)
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
    MASE_TRY(mixes(&mixed, e, err));
    if (!mixed)
        return MASE_OK;
    const int64_t n = coupled_batch_of(p, e->n);
    tell_together(p, n);
    use_reference(p, n);
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

static enum mase_status each_by_reference(const struct each *e, struct mase_err *err)
{
    struct mase_worker *s = e->p->worker;
    MASE_TRY(settle_batch(e, err));
    for (int64_t at = 0; at < e->n; at += e->p->batch) {
        if (!begin(e, s, at))
            return first_fault(e->p, 1, err);
        struct mase_arena a = { 0 };
        const enum mase_status st = run_reference(e->p, s, &a, err);
        if (!st)
            e->take(e->p, s, at, e->data);
        mase_arena_release(&a);
        if (st)
            return at ? mase_wrap(err, "in the batch from sample %lld on", (long long)at) : st;
        if (s->fault >= 0)
            return first_fault(e->p, 1, err);
    }
    return MASE_OK;
}

/* Every workers-th batch, beginning with that of this worker, until one cannot be run. */
static void run_worker(const void *data, int worker, int workers)
{
    const struct each *e = data;
    struct mase_worker *s = &e->p->worker[worker];
    for (int64_t at = worker * e->p->batch; at < e->n; at += workers * e->p->batch) {
        if (!begin(e, s, at))
            return;
        if (s->exact ? mase_int_runner_run(s->exact, s->samples, &s->err)
                     : mase_plan_forward(s->plan, &s->err)) {
            s->fault = at;
            return;
        }
        e->take(e->p, s, at, e->data);
        if (s->fault >= 0)
            return;
    }
}

/* ---- workers side by side ---- */

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

/* Each in a guard of its own: no jump leaves the region. Whoever ran out of memory ends the call
 * behind it. */
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
    const struct each e = { p, n, fill, take, data };
    for (int i = 0; i < p->workers; i++)
        p->worker[i].fault = -1;
    settle_plan(p, n);
    if (!mase_predictor_planned(p))
        return each_by_reference(&e, err);
    const bool many = p->workers > 1 && n > p->batch;
    if (!p->exact)
        mase_plan_set_threads(p->worker->plan,
                              many ? 1 : p->workers); /* a single batch is shared */
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

static void fill_array(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                       void *data)
{
    const struct arrays *a = data;
    if (s->plan)
        mase_plan_gather(s->plan, a->x + at * p->features, p->features, NULL, s->samples);
    else
        mase_to_lanes(s->x, a->x + at * p->features, s->samples);
}

/* What the reference computed is there with its own type, what a plan did in floats. */
static void take_array(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                       void *data)
{
    struct arrays *a = data;
    const int64_t first = at * p->outputs, count = s->samples * p->outputs;
    const int size = mase_dtypes[a->y.dtype].size;
    if (!s->plan && !s->exact && s->result.dtype == a->y.dtype)
        memcpy((char *)a->y.data + first * size, s->result.data, (size_t)(count * size));
    else if (a->y.dtype == MASE_F32)
        mase_from_lanes(mase_f32(&a->y) + first, s->y, s->samples);
    else
        for (int64_t k = 0; k < count; k++)
            mase_tensor_set(&a->y, first + k,
                            s->y.data[k % p->outputs * s->y.stride + k / p->outputs]);
}

/* Every workers-th batch of an array, which integers take as it is. */
static void run_exact_worker(const void *data, int worker, int workers)
{
    const struct arrays *a = data;
    const struct mase_predictor *p = a->p;
    const int64_t n = a->samples;
    struct mase_worker *s = &p->worker[worker];
    for (int64_t at = worker * p->batch; at < n && s->fault < 0; at += workers * p->batch) {
        const int64_t samples = n - at < p->batch ? n - at : p->batch;
        if (mase_int_runner_run_array(s->exact, mase_f32(&a->y) + at * p->outputs,
                                      a->x + at * p->features, samples, &s->err))
            s->fault = at;
    }
}

static enum mase_status run_exact(struct mase_predictor *p, const struct arrays *a,
                                  struct mase_err *err)
{
    const int workers = a->samples > p->batch ? p->workers : 1;
    for (int i = 0; i < workers; i++)
        p->worker[i].fault = -1;
    if (workers == 1) {
        run_exact_worker(a, 0, 1);
        return first_fault(p, 1, err);
    }
    return run_workers(p, run_exact_worker, a, workers, err);
}

enum mase_status mase_predictor_run_typed(struct mase_predictor *p, void *y, enum mase_dtype dtype,
                                          const float *x, int64_t n, struct mase_err *err)
{
    const struct mase_shape all = { 1, { n * p->outputs } };
    struct arrays a = { x, { dtype, all, y }, p, n };
    if (p->exact && !p->scaling && p->inputs.item[0].tensor.dtype == MASE_F32 && dtype == MASE_F32)
        return run_exact(p, &a, err);
    return mase_predictor_each(p, n, fill_array, take_array, &a, err);
}

enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err)
{
    return mase_predictor_run_typed(p, y, MASE_F32, x, n, err);
}
