/*
 * predict.c - a graph in evaluation mode: planned if possible, else by the reference.
 */
#include "train/predict.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <mase/call.h>
#include <mase/log.h>
#include <mase/run.h>

#include "base/alloc.h"
#include "exec/plan.h"

/* A batch of about this many input values: large enough for the products, small enough for caches.
 */
enum { BATCH_VALUES = 1 << 14, BATCH_LEAST = 16, BATCH_MOST = 1024 };

static int64_t good_batch(int64_t features)
{
    const int64_t n = BATCH_VALUES / (features > 0 ? features : 1);
    return n < BATCH_LEAST ? BATCH_LEAST : n > BATCH_MOST ? BATCH_MOST : n;
}

static enum mase_status fail_inputs(const struct mase_graph *g, int count, struct mase_err *err)
{
    struct mase_str names = { 0 };
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->kind == MASE_PLACEHOLDER)
            mase_str_printf(&names, "%s%s", names.len ? ", " : "", n->name);
    const enum mase_status st =
        mase_fail(err, MASE_EUNSUPPORTED,
                  "the network has %d inputs%s%s; training, testing and calibration take one, ch "
                  "predict takes "
                  "several from a .npz file that has an array for each, by its name",
                  count, count ? ": " : "", mase_str_text(&names));
    mase_str_release(&names);
    return st;
}

static enum mase_status find_input(struct mase_input *in, const struct mase_graph *g,
                                   const struct mase_shape *sample, int64_t batch,
                                   struct mase_err *err)
{
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->kind == MASE_PLACEHOLDER && count++ == 0)
            in->name = n->name;
    if (count != 1)
        return fail_inputs(g, count, err);
    if (sample->rank + 1 > MASE_MAX_RANK)
        return mase_fail(err, MASE_ELIMIT, "a sample has %d dimensions; at most %d fit",
                         sample->rank, MASE_MAX_RANK - 1);
    in->tensor = (struct mase_tensor){ .dtype = MASE_F32,
                                       .shape = { .rank = sample->rank + 1, .dim = { batch } } };
    memcpy(in->tensor.shape.dim + 1, sample->dim, (size_t)sample->rank * sizeof sample->dim[0]);
    mase_inputs_find_type(in, 1, g);
    return MASE_OK;
}

/* out: that of a batch, which stands first. */
static void set_result(struct mase_predictor *p, const struct mase_shape *out)
{
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
    enum mase_status st = mase_infer_shapes(&v, &a, p->graph, &p->input, 1, err);
    const struct mase_arg *out = st ? NULL : mase_run_output(&v, p->graph);
    if (!st && (out->kind != MASE_ARG_TENSOR || out->tensor->shape.rank < 1 ||
                out->tensor->shape.dim[0] != p->batch))
        st = mase_fail(err, MASE_EUNSUPPORTED,
                       "the network must return one tensor with a row for each sample");
    if (!st)
        set_result(p, &out->tensor->shape);
    mase_arena_release(&a);
    return st;
}

/* Room for batches of n samples. */
static void use_reference(struct mase_predictor *p, int64_t n)
{
    struct mase_worker *s = p->worker;
    mase_aligned_free(s->x.data);
    mase_aligned_free(s->y.data);
    p->workers = 1;
    p->batch = n;
    s->x = (struct mase_lanes){ mase_plan_floats(p->features * n), p->features, n };
    s->y = (struct mase_lanes){ mase_plan_floats(p->outputs * n), p->outputs, n };
}

/* As many as stay in the nearer caches. */
static enum mase_status make_exact(struct mase_predictor *p, struct mase_err *err)
{
    enum { SAMPLES = 128 };
    p->batch = p->batch < SAMPLES ? p->batch : SAMPLES;
    MASE_TRY(mase_exact_new(&p->exact, p->graph, &p->input, 1, err));
    set_result(p, &p->exact->result);
    return MASE_OK;
}

static void make_exact_worker(struct mase_predictor *p, struct mase_worker *s)
{
    s->exact = mase_exact_work_new(p->exact, p->batch);
    s->x = mase_exact_input(s->exact);
    s->y = mase_exact_output(s->exact);
}

/* Worker i. Where no plan can be made for the first one, the reference takes its place. */
static enum mase_status make_worker(struct mase_predictor *p, int i, struct mase_err *err)
{
    struct mase_err why = { 0 };
    struct mase_worker *s = &p->worker[i];
    const struct mase_plan_opts opts = {
        .batch = p->batch,
        .threads = i ? 1 : p->workers,
        .inputs = &p->input,
        .input_count = 1,
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
    s->x = mase_plan_input(s->plan, 0);
    s->y = mase_plan_output(s->plan);
    set_result(p, &s->plan->output->tensor->shape);
    return MASE_OK;
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

enum mase_status mase_predictor_new(struct mase_predictor **out, struct mase_graph *g,
                                    const struct mase_shape *sample,
                                    const struct mase_predictor_opts *opts, struct mase_err *err)
{
    const struct mase_predictor_opts none = { 0 };
    const struct mase_predictor_opts *o = opts ? opts : &none;
    struct mase_predictor *p = mase_xcalloc(sizeof *p);
    p->graph = g;
    p->features = mase_shape_count(sample);
    p->batch = o->batch > 0 ? o->batch : good_batch(p->features);
    p->scaling = o->scaling && o->scaling->n ? o->scaling : NULL;
    p->learns = o->learns;
    p->seed = o->seed;
    p->together = o->together;
    enum mase_status st = o->learns ? MASE_OK : mase_graph_need_learned(g, err);
    if (!st && p->scaling && p->scaling->n != p->features)
        st = mase_fail(err, MASE_EVALUE, "a scaling of %lld features does not fit samples of %lld",
                       (long long)p->scaling->n, (long long)p->features);
    if (st || (st = find_input(&p->input, g, sample, p->batch, err)) ||
        (o->exact && (st = make_exact(p, err))) || (st = make_workers(p, o->threads, err))) {
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
    for (int i = 0; p->worker && i < p->workers; i++) {
        if (!p->worker[i].plan && !p->exact) {
            mase_aligned_free(p->worker[i].x.data);
            mase_aligned_free(p->worker[i].y.data);
        }
        mase_plan_free(p->worker[i].plan);
        mase_exact_work_free(p->worker[i].exact);
    }
    mase_exact_free(p->exact);
    free(p->worker);
    free(p);
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

/* (n, rows) to lanes, and back. */
static void to_lanes(struct mase_lanes y, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < y.rows; r++)
            y.data[r * y.stride + i] = x[i * y.rows + r];
}

static void from_lanes(float *y, struct mase_lanes x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < x.rows; r++)
            y[i * x.rows + r] = x.data[r * x.stride + i];
}

/* The samples as the input's type has them. */
static enum mase_status give_samples(struct mase_input *in, struct mase_arena *a, float *x,
                                     int64_t count, struct mase_err *err)
{
    in->tensor.data = x;
    if (in->tensor.dtype == MASE_F32)
        return MASE_OK;
    in->tensor = mase_tensor(a, in->tensor.dtype, &in->tensor.shape, true);
    for (int64_t i = 0; i < count; i++) {
        if (!(fabsf(x[i]) <= 0x1p24f) || x[i] != floorf(x[i]))
            return mase_fail(err, MASE_EVALUE,
                             "the network takes integers of up to 24 bits, and a sample has %g",
                             (double)x[i]);
        mase_tensor_set(&in->tensor, i, (double)x[i]);
    }
    return MASE_OK;
}

static enum mase_status run_reference(const struct mase_predictor *p, struct mase_worker *s,
                                      struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_input in = p->input;
    in.tensor.shape.dim[0] = s->samples;
    float *x = mase_new_array(&a, float, (size_t)(s->samples * p->features));
    from_lanes(x, s->x, s->samples);
    enum mase_status st = give_samples(&in, &a, x, s->samples * p->features, err);
    if (!st)
        st = mase_run_reference(&v, &a, p->graph, &in, 1, err);
    if (!st && mase_tensor_count(mase_run_output(&v, p->graph)->tensor) != s->samples * p->outputs)
        st = mase_fail(err, MASE_EVALUE, "of %lld samples the network returns another number",
                       (long long)s->samples);
    if (!st)
        to_lanes(s->y, mase_f32(mase_run_output(&v, p->graph)->tensor), s->samples);
    mase_arena_release(&a);
    return st;
}

/* ---- all of them ---- */

/* The work of mase_predictor_each. */
struct each {
    struct mase_predictor *p;
    int64_t n;
    mase_worker_fn *fill, *take;
    void *data;
};

static void begin(const struct each *e, struct mase_worker *s, int64_t at)
{
    s->samples = e->n - at < e->p->batch ? e->n - at : e->p->batch;
    if (s->plan) {
        mase_plan_set_samples(s->plan, s->samples);
        s->plan->first = at;
        s->plan->row = NULL;
    }
    e->fill(e->p, s, at, e->data);
    scale(e->p, s);
}

/* ---- the reference ---- */

/* One sample alone, of those at x: does it give what it gave among others? */
static bool is_same_alone(const struct mase_predictor *p, const float *x, const float *y)
{
    struct mase_worker *s = p->worker;
    struct mase_err err;
    s->samples = 1;
    to_lanes(s->x, x, 1);
    if (run_reference(p, s, &err))
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
    if (mase_graph_cuts_batch(p->graph, &p->input, 1)) {
        *out = true;
        return MASE_OK;
    }
    if (p->batch < TRIED)
        use_reference(p, TRIED);
    begin(e, s, 0);
    const int64_t n = s->samples < TRIED ? s->samples : TRIED;
    s->samples = n;
    float *x = mase_new_array(&a, float, (size_t)(n * p->features));
    float *y = mase_new_array(&a, float, (size_t)(n * p->outputs));
    from_lanes(x, s->x, n);
    const enum mase_status st = n > 1 ? run_reference(p, s, err) : MASE_OK;
    from_lanes(y, s->y, n);
    for (int64_t i = 0; !st && !*out && n > 1 && i < n; i++)
        *out = !is_same_alone(p, x + i * p->features, y + i * p->outputs);
    mase_arena_release(&a);
    return st;
}

/* What PyTorch computes depends on how many samples it is given at once: as many are taken here. */
static enum mase_status settle_batch(const struct each *e, struct mase_err *err)
{
    struct mase_predictor *p = e->p;
    bool mixed;
    MASE_TRY(mixes(&mixed, e, err));
    if (!mixed)
        return MASE_OK;
    const int64_t n = p->together && p->together < e->n ? p->together : e->n;
    mase_warn("what a sample gives depends on the others of its batch; they are taken %lld at a "
              "time",
              (long long)n);
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
        begin(e, s, at);
        const enum mase_status st = run_reference(e->p, s, err);
        if (st)
            return at ? mase_wrap(err, "in the batch from sample %lld on", (long long)at) : st;
        e->take(e->p, s, at, e->data);
        if (s->fault >= 0)
            return first_fault(e->p, 1, err);
    }
    return MASE_OK;
}

/* Every workers-th batch, beginning with that of this worker, until one cannot be run. */
static void run_worker(const struct each *e, int worker, int workers)
{
    struct mase_worker *s = &e->p->worker[worker];
    for (int64_t at = worker * e->p->batch; at < e->n; at += workers * e->p->batch) {
        begin(e, s, at);
        if (s->exact ? mase_exact_run(s->exact, s->samples, &s->err)
                     : mase_plan_forward(s->plan, &s->err)) {
            s->fault = at;
            return;
        }
        e->take(e->p, s, at, e->data);
        if (s->fault >= 0)
            return;
    }
}

enum mase_status mase_predictor_each(struct mase_predictor *p, int64_t n, mase_worker_fn *fill,
                                     mase_worker_fn *take, void *data, struct mase_err *err)
{
    const struct each e = { p, n, fill, take, data };
    for (int i = 0; i < p->workers; i++)
        p->worker[i].fault = -1;
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
#pragma omp parallel num_threads(p->workers)
    run_worker(&e, omp_get_thread_num(), omp_get_num_threads()); /* may be fewer */
    return first_fault(p, p->workers, err);
}

/* ---- arrays ---- */

struct arrays {
    const float *x; // (samples, features)
    float *y;       // (samples, outputs)
};

static void fill_array(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                       void *data)
{
    const struct arrays *a = data;
    if (s->plan)
        mase_plan_gather(s->plan, a->x + at * p->features, p->features, NULL, s->samples);
    else
        to_lanes(s->x, a->x + at * p->features, s->samples);
}

static void take_array(const struct mase_predictor *p, struct mase_worker *s, int64_t at,
                       void *data)
{
    const struct arrays *a = data;
    from_lanes(a->y + at * p->outputs, s->y, s->samples);
}

enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err)
{
    struct arrays a = { x, y };
    return mase_predictor_each(p, n, fill_array, take_array, &a, err);
}
