/*
 * predict.c - a graph in evaluation mode: planned if possible, else by the reference.
 */
#include "train/predict.h"

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

static enum mase_status find_input(struct mase_input *in, const struct mase_graph *g,
                                   const struct mase_shape *sample, int64_t batch,
                                   struct mase_err *err)
{
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->kind == MASE_PLACEHOLDER && count++ == 0)
            in->name = n->name;
    if (count != 1)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "the network has %d inputs; training and prediction take one", count);
    if (sample->rank + 1 > MASE_MAX_RANK)
        return mase_fail(err, MASE_ELIMIT, "a sample has %d dimensions; at most %d fit",
                         sample->rank, MASE_MAX_RANK - 1);
    in->tensor = (struct mase_tensor){ .dtype = MASE_F32,
                                       .shape = { .rank = sample->rank + 1, .dim = { batch } } };
    memcpy(in->tensor.shape.dim + 1, sample->dim, (size_t)sample->rank * sizeof sample->dim[0]);
    return MASE_OK;
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
        p->outputs = mase_tensor_count(out->tensor) / p->batch;
    mase_arena_release(&a);
    return st;
}

static void use_reference(struct mase_predictor *p)
{
    const int64_t n = p->batch;
    p->x = (struct mase_lanes){ mase_plan_floats(p->features * n), p->features, n };
    p->y = (struct mase_lanes){ mase_plan_floats(p->outputs * n), p->outputs, n };
}

static enum mase_status make_plan(struct mase_predictor *p, int threads, struct mase_err *err)
{
    struct mase_err why = { 0 };
    const struct mase_plan_opts opts = {
        .batch = p->batch, .threads = threads, .inputs = &p->input, .input_count = 1
    };
    const enum mase_status st = mase_plan_new(&p->plan, p->graph, &opts, &why);
    if (st == MASE_EUNSUPPORTED || st == MASE_EVALUE) { /* what a plan cannot, the reference may */
        MASE_TRY(find_outputs(p, err));
        mase_debug("%s: the reference runs it", why.msg);
        use_reference(p);
        return MASE_OK;
    }
    if (st)
        return mase_fail(err, st, "%s", why.msg);
    p->x = mase_plan_input(p->plan, 0);
    p->y = mase_plan_output(p->plan);
    p->outputs = p->y.rows;
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
    enum mase_status st = MASE_OK;
    if (p->scaling && p->scaling->n != p->features)
        st = mase_fail(err, MASE_EVALUE, "a scaling of %lld features does not fit samples of %lld",
                       (long long)p->scaling->n, (long long)p->features);
    if (st || (st = find_input(&p->input, g, sample, p->batch, err)) ||
        (st = make_plan(p, o->threads, err))) {
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
    if (!p->plan) {
        free(p->x.data);
        free(p->y.data);
    }
    mase_plan_free(p->plan);
    mase_arena_release(&p->arena);
    free(p);
}

void mase_predictor_read_weights(struct mase_predictor *p)
{
    if (p->plan)
        mase_plan_read_weights(p->plan);
}

int64_t mase_predictor_batch(const struct mase_predictor *p)
{
    return p->batch;
}

bool mase_predictor_planned(const struct mase_predictor *p)
{
    return p->plan != NULL;
}

const char *mase_predictor_isa(const struct mase_predictor *p)
{
    return p->plan ? mase_plan_isa(p->plan) : "scalar";
}

int64_t mase_predictor_outputs(const struct mase_predictor *p)
{
    return p->outputs;
}

/* ---- one batch ---- */

static void set_samples(struct mase_predictor *p, int64_t n)
{
    p->samples = n;
    if (p->plan)
        mase_plan_set_samples(p->plan, n);
}

/* In double and rounded once, as the dataset scales. */
static void scale(struct mase_predictor *p)
{
    for (int64_t f = 0; p->scaling && f < p->features; f++) {
        const double mean = p->scaling->mean[f], std = p->scaling->std[f];
        float *x = p->x.data + f * p->x.stride;
        for (int64_t i = 0; i < p->samples; i++)
            x[i] = (float)((x[i] - mean) / std);
    }
}

void mase_predictor_take(struct mase_predictor *p, const struct mase_dataset *d,
                         const uint32_t *row, int64_t n)
{
    const struct mase_table_view table = mase_dataset_table(d);
    set_samples(p, n);
    if (table.data && p->plan)
        mase_plan_gather(p->plan, table.data, table.stride, row, n);
    else
        mase_dataset_batch(d, &(struct mase_batch){ .row = row,
                                                    .n = n,
                                                    .x = p->x.data,
                                                    .feature_stride = p->x.stride,
                                                    .sample_stride = 1 });
    scale(p);
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

static enum mase_status run_reference(struct mase_predictor *p, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_input in = p->input;
    in.tensor.shape.dim[0] = p->samples;
    in.tensor.data = mase_new_array(&a, float, (size_t)(p->samples * p->features));
    from_lanes(in.tensor.data, p->x, p->samples);
    const enum mase_status st = mase_run_reference(&v, &a, p->graph, &in, 1, err);
    if (!st)
        to_lanes(p->y, mase_f32(mase_run_output(&v, p->graph)->tensor), p->samples);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_predictor_forward(struct mase_predictor *p, struct mase_err *err)
{
    if (!p->plan)
        return run_reference(p, err);
    mase_plan_forward(p->plan);
    return MASE_OK;
}

enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err)
{
    for (int64_t at = 0; at < n; at += p->batch) {
        set_samples(p, n - at < p->batch ? n - at : p->batch);
        if (p->plan)
            mase_plan_gather(p->plan, x + at * p->features, p->features, NULL, p->samples);
        else
            to_lanes(p->x, x + at * p->features, p->samples);
        scale(p);
        MASE_TRY(mase_predictor_forward(p, err));
        from_lanes(y + at * p->outputs, p->y, p->samples);
    }
    return MASE_OK;
}
