/*
 * verify_engines.c - the engines float and int on the same samples (mase/verify.h).
 */
#include <mase/verify.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/progress.h>

#include "base/alloc.h"
#include "evaluate/predictor.h"
#include "exec/plan/plan_parts.h"
#include "integer/int_parts.h"

enum { BATCH = 64 };

/* A node of both. */
struct watched {
    const struct mase_int_value *exact, *other;
    float *seen, *read; // (rows, BATCH): what the plan has, and the integers
    bool *differs;      // (BATCH)
    bool wide;          /* a sum that float32 does not hold came and differs */
    struct mase_verified_node *out;
};

struct verifying {
    struct mase_arena *a;
    struct mase_verification *v;
    struct mase_graph *graph;
    struct mase_predictor *floats, *integers; /* as predict and test run them */
    struct mase_plan *plan;                   /* of floats */
    const struct mase_int_program *exact;     /* of integers */
    struct mase_int_runner *work;             /* integers that keep every value */
    struct mase_int_program *other;           /* integers that round no bias; NULL: integers do not
                                               * either */
    struct mase_int_runner *other_work;
    struct watched *node;
    const struct mase_dataset *data;
};

static void see(void *data, const struct mase_lanes *value, long from, long to)
{
    const struct watched *w = data;
    for (int64_t r = 0; r < value->rows; r++)
        memcpy(w->seen + r * BATCH + from, value->data + r * value->stride + from,
               (size_t)(to - from) * sizeof(float));
}

/* ---- why float32 is not exact ---- */

/* The instruction whose codes a value has. */
static const struct mase_int_instr *made(const struct mase_int_program *e,
                                         const struct mase_int_value *v)
{
    const struct mase_int_instr *i = e->first;
    while (i && i->out->at != v->at)
        i = i->next;
    return i;
}

static bool is_line(const struct mase_meaning *m)
{
    return m->scale != 1.0f || m->shift != 0.0f || m->bias != 0.0f || m->parts != 1;
}

/* Integers up to 2^24 in magnitude are floats: 25 bits with the sign. */
enum { FLOAT_BITS = 25 };

/* Biases are the reason where without their rounding less than half is left of how many values
 * differ, or of by how much. */
static bool is_bias(const struct mase_verified_node *o)
{
    return 2 * o->differ_float_biases < o->differ || 2 * o->most_float_biases < o->most;
}

static const char *why(const struct verifying *k, const struct watched *w)
{
    const struct mase_int_value *v = w->exact;
    const struct mase_int_instr *i = made(k->exact, v);
    if (!v->codes)
        return "it is computed in floats in both";
    if (is_bias(w->out))
        return mase_arena_printf(k->a,
                                 "biases are rounded to the scale of products: else %lld would "
                                 "differ, by at most %.3g",
                                 (long long)w->out->differ_float_biases, w->out->most_float_biases);
    if (is_line(&v->meaning[0]))
        return "float32 rounds the product and the sum of its line";
    if (w->wide)
        return mase_arena_printf(k->a, "its sums take %d bits, of which float32 holds %d",
                                 mase_int_value_bits(v), FLOAT_BITS);
    const struct mase_int_instr *before = i ? made(k->exact, i->in[0]) : NULL;
    if (v->meaning[0].scaled || (before && before->op == MASE_INT_OP_SCALE))
        return "its scales are no powers of two: codes times scales are rounded to float32";
    if (before && before->op == MASE_INT_OP_ROUND)
        return "its data is rounded twice: to float32, then to its format";
    return "float32 rounds what comes before";
}

/* ---- setting up ---- */

static enum mase_status watch_node(struct verifying *k, const struct mase_node *n,
                                   struct mase_err *err)
{
    const struct mase_pvalue *p = mase_program_value(k->exact->program, n);
    const struct mase_int_value *x = p ? k->exact->value[p->number] : NULL;
    struct mase_shape sample;
    (void)err;
    if (!x || n->kind == MASE_PLACEHOLDER)
        return MASE_OK;
    struct watched *w = &k->node[k->v->count];
    const struct mase_watch watch = { .node = n, .lanes = see, .data = w };
    if (!mase_plan_watch(k->plan, &watch, &sample) || mase_shape_count(&sample) != x->rows)
        return MASE_OK;
    w->exact = x;
    w->other = k->other ? k->other->value[p->number] : NULL;
    w->seen = mase_new_array(k->a, float, (size_t)(x->rows * BATCH));
    w->read = mase_new_array(k->a, float, (size_t)(x->rows * BATCH));
    w->differs = mase_new_array(k->a, bool, BATCH);
    w->out = &k->v->node[k->v->count++];
    *w->out =
        (struct mase_verified_node){ .node = n, .codes = x->codes, .bits = mase_int_value_bits(x) };
    return MASE_OK;
}

static enum mase_status open_engine(struct mase_predictor **out, const struct verifying *k,
                                    const char *name, struct mase_err *err)
{
    const struct mase_predictor_opts opts = { .engine = mase_engine_find(name), .batch = BATCH };
    MASE_TRY(
        mase_predictor_new(out, k->graph, &mase_dataset_info(k->data)->data.sample, &opts, err));
    if (!mase_predictor_planned(*out) || mase_predictor_batch(*out) != BATCH)
        return mase_fail(
            err, MASE_EUNSUPPORTED,
            "what the nodes of the network give cannot be watched, %d samples at a time", BATCH);
    return MASE_OK;
}

static enum mase_status set_up(struct verifying *k, struct mase_err *err)
{
    MASE_TRY(open_engine(&k->integers, k, "int", err));
    MASE_TRY(open_engine(&k->floats, k, "float", err));
    const struct mase_inputs *in = &k->integers->inputs;
    k->plan = k->floats->worker->plan;
    k->exact = k->integers->integers;
    k->work = mase_int_runner_new(k->exact, BATCH, MASE_INT_KEEP_ALL);
    k->v->rounded_biases = k->exact->rounded_biases;
    if (k->v->rounded_biases) {
        MASE_TRY(mase_int_program_new_float_biases(&k->other, k->graph, in->item, in->count, err));
        k->other_work = mase_int_runner_new(k->other, BATCH, MASE_INT_KEEP_ALL);
    }
    k->v->node = mase_new_array(k->a, struct mase_verified_node, (size_t)k->graph->node_count);
    k->node = mase_new_array(k->a, struct watched, (size_t)k->graph->node_count);
    for (const struct mase_node *n = k->graph->first; n; n = n->next)
        MASE_TRY(watch_node(k, n, err));
    return MASE_OK;
}

/* ---- one batch ---- */

static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool came_different(const struct verifying *k, const struct mase_node *n, int64_t sample)
{
    for (int i = 0; i < k->v->count; i++)
        for (int j = 0; k->node[i].differs[sample] && j < n->input_count; j++)
            if (n->inputs[j] == k->node[i].out->node)
                return true;
    return false;
}

/* Had biases not been rounded. */
static void compare_other(const struct verifying *k, const struct watched *w, int64_t samples)
{
    struct mase_verified_node *o = w->out;
    mase_int_runner_read(k->other_work, w->read, BATCH, w->other, samples);
    for (int64_t r = 0; r < w->other->rows; r++)
        for (int64_t i = 0; i < samples; i++) {
            const float a = w->seen[r * BATCH + i], b = w->read[r * BATCH + i];
            const double off = fabs((double)a - (double)b);
            if (same(a, b))
                continue;
            o->differ_float_biases++;
            o->most_float_biases =
                off > o->most_float_biases || isnan(off) ? off : o->most_float_biases;
        }
}

static void compare_node(const struct verifying *k, struct watched *w, int64_t samples)
{
    struct mase_verified_node *o = w->out;
    mase_int_runner_read(k->work, w->read, BATCH, w->exact, samples);
    memset(w->differs, 0, BATCH * sizeof *w->differs);
    o->values += w->exact->rows * samples;
    for (int64_t r = 0; r < w->exact->rows; r++)
        for (int64_t i = 0; i < samples; i++) {
            const float a = w->seen[r * BATCH + i], b = w->read[r * BATCH + i];
            if (same(a, b))
                continue;
            const double off = fabs((double)a - (double)b);
            o->differ++;
            o->most = off > o->most || isnan(off) ? off : o->most;
            w->differs[i] = true;
            w->wide |= w->exact->codes && mase_int_value_bits(w->exact) > FLOAT_BITS &&
                       fabs((double)b) > w->exact->meaning[r].step * (1 << (FLOAT_BITS - 1));
        }
    for (int64_t i = 0; i < samples; i++)
        o->first += w->differs[i] && !came_different(k, o->node, i);
    if (k->other) {
        compare_other(k, w, samples);
    } else {
        o->differ_float_biases = o->differ;
        o->most_float_biases = o->most;
    }
}

static int64_t largest(const float *y, int64_t rows, int64_t stride, int64_t sample)
{
    int64_t at = 0;
    for (int64_t r = 1; r < rows; r++)
        if (y[r * stride + sample] > y[at * stride + sample])
            at = r;
    return at;
}

static void compare_outputs(const struct verifying *k, struct mase_int_runner *w, int64_t samples,
                            int64_t *differ, int64_t *decisions)
{
    const struct mase_lanes a = mase_plan_output(k->plan), b = mase_int_runner_output(w);
    for (int64_t i = 0; i < samples; i++) {
        for (int64_t r = 0; r < b.rows; r++)
            *differ += !same(a.data[r * a.stride + i], b.data[r * b.stride + i]);
        *decisions += largest(a.data, a.rows, a.stride, i) != largest(b.data, b.rows, b.stride, i);
    }
}

static enum mase_status compare(const struct verifying *k, const struct mase_lanes *x,
                                int64_t samples, struct mase_err *err)
{
    struct mase_verification *v = k->v;
    v->outputs += mase_int_runner_output(k->work).rows * samples;
    compare_outputs(k, k->work, samples, &v->differ, &v->decisions);
    if (k->other) {
        const struct mase_lanes to = mase_int_runner_input(k->other_work);
        for (int64_t r = 0; r < x->rows; r++)
            memcpy(to.data + r * to.stride, x->data + r * x->stride,
                   (size_t)samples * sizeof *x->data);
        MASE_TRY(mase_int_runner_run(k->other_work, samples, err));
        compare_outputs(k, k->other_work, samples, &v->differ_float_biases,
                        &v->decisions_float_biases);
    } else {
        v->differ_float_biases = v->differ;
        v->decisions_float_biases = v->decisions;
    }
    for (int i = 0; i < v->count; i++)
        compare_node(k, &k->node[i], samples);
    return MASE_OK;
}

/* Check that the engine, without other values requested, equals plain integers. */
static enum mase_status check_engine(const struct verifying *k, int64_t samples,
                                     struct mase_err *err)
{
    const struct mase_lanes a = mase_int_runner_output(k->work), b = k->integers->worker->y;
    for (int64_t r = 0; r < a.rows; r++)
        if (memcmp(a.data + r * a.stride, b.data + r * b.stride,
                   (size_t)samples * sizeof *a.data) != 0)
            return mase_fail(err, MASE_EVALUE,
                             "output %lld of the kernels is not that of plain integers: this is a "
                             "fault of mase",
                             (long long)r);
    return MASE_OK;
}

static void load(const struct verifying *k, const struct mase_lanes *to, const uint32_t *row,
                 int64_t samples)
{
    mase_dataset_batch(k->data, &(struct mase_batch){ .row = row,
                                                      .n = samples,
                                                      .x = to->data,
                                                      .feature_stride = to->stride,
                                                      .sample_stride = 1 });
}

static enum mase_status run_engine(const struct verifying *k, struct mase_predictor *p,
                                   const uint32_t *row, int64_t samples, struct mase_err *err)
{
    struct mase_worker *w = p->worker;
    struct mase_arena a = { 0 };
    w->first = 0;
    w->samples = samples;
    if (p->engine->begin)
        p->engine->begin(w);
    load(k, &w->x, row, samples);
    const enum mase_status st = p->engine->run(p, w, &a, err);
    mase_arena_release(&a);
    return st;
}

static enum mase_status verify_batch(const struct verifying *k, const uint32_t *row,
                                     int64_t samples, struct mase_err *err)
{
    const struct mase_lanes x = mase_int_runner_input(k->work);
    MASE_TRY(run_engine(k, k->floats, row, samples, err));
    load(k, &x, row, samples);
    MASE_TRY(mase_int_runner_run(k->work, samples, err));
    MASE_TRY(run_engine(k, k->integers, row, samples, err));
    MASE_TRY(check_engine(k, samples, err));
    return compare(k, &x, samples, err);
}

static enum mase_status verify(struct verifying *k, struct mase_split_rows rows,
                               struct mase_err *err)
{
    const uint64_t started = mase_clock();
    struct mase_progress bar;
    enum mase_status st = MASE_OK;
    MASE_TRY(set_up(k, err));
    mase_progress_start(&bar, "verifying", rows.count);
    for (int64_t at = 0; !st && at < rows.count; at += BATCH) {
        st = verify_batch(k, rows.row + at, rows.count - at < BATCH ? rows.count - at : BATCH, err);
        mase_progress_step(&bar, at + BATCH < rows.count ? at + BATCH : rows.count);
    }
    mase_progress_end(&bar);
    for (int i = 0; i < k->v->count; i++)
        if (k->node[i].out->differ)
            k->node[i].out->why = why(k, &k->node[i]);
    k->v->samples = rows.count;
    k->v->seconds = 1e-9 * (double)(mase_clock() - started);
    return st;
}

enum mase_status mase_verify(struct mase_verification *v, struct mase_arena *a,
                             struct mase_graph *g, const struct mase_dataset *d,
                             struct mase_split_rows rows, struct mase_err *err)
{
    struct verifying k = { .a = a, .v = v, .graph = g, .data = d };
    *v = (struct mase_verification){ 0 };
    const enum mase_status st = verify(&k, rows, err);
    mase_int_runner_free(k.work);
    mase_int_runner_free(k.other_work);
    mase_int_program_free(k.other);
    mase_predictor_free(k.floats);
    mase_predictor_free(k.integers);
    return st;
}
