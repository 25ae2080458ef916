/*
 * collect.c - collect the values of nodes on rows of the training split.
 *
 * The rows are spread evenly over the split, so they are the same in every run and of every kind
 * even if a file is sorted. The engine runs them where it can, else the plain reference.
 */
#include <string.h>

#include <mase/log.h>
#include <mase/plan.h>
#include <mase/run.h>

#include "pass/calibrate/calibrate_parts.h"

#define SPLIT "train"
/* Input values of a batch, about, so that they fit caches. */
enum { VALUES = 1 << 14, LEAST = 16, MOST = 256 };

/* The value of a node in a plan, copied from lanes to rows. */
struct seen {
    const struct mase_tap *tap;
    struct mase_shape shape; /* of the current batch */
    float *x;                /* (batch, ...) */
    int64_t features;
};

/* A graph that is run. */
struct view {
    struct mase_graph *g;
    const struct mase_tap *taps;
    int count;
    struct mase_plan *plan; /* NULL: the reference */
    struct seen *seen;      /* of the plan */
};

struct run {
    struct mase_pass_env *env;
    int64_t rows, of, batch; /* rows taken of `of` rows in the split */
    struct mase_inputs inputs;
    int64_t features; /* features of all inputs */
    float *x;         // (batch, features)
    struct view *views;
    int count;
    struct mase_arena arena;
};

/* ---- rows ---- */

enum mase_status mase_cal_rows(int64_t *rows, struct mase_pass_env *env, struct mase_err *err)
{
    const struct mase_samples *s = env->samples;
    int64_t of;
    if (!s)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "calibration needs samples, and there is no dataset");
    MASE_TRY(s->count(s->data, SPLIT, &of, err));
    if (!of)
        return mase_fail(err, MASE_EVALUE, "the " SPLIT " split has no samples to calibrate on");
    if (*rows > of)
        mase_warn("calibrate: %lld rows are asked for, but the " SPLIT
                  " split has %lld: all of them are used",
                  (long long)*rows, (long long)of);
    *rows = *rows < of ? *rows : of;
    return MASE_OK;
}

static bool has_values(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    return *(bool *)data = p->tensor.data || !mase_tensor_count(&p->tensor);
}

static enum mase_status need_values(const struct mase_graph *g, struct mase_err *err)
{
    bool all = true;
    mase_graph_each_param(g, has_values, &all);
    return all ? MASE_OK
               : mase_fail(err, MASE_EVALUE, "calibration needs weights, and there are none");
}

static enum mase_status make_room(struct run *r, struct mase_err *err)
{
    const struct mase_samples *s = r->env->samples;
    MASE_TRY(s->count(s->data, SPLIT, &r->of, err));
    r->inputs = (struct mase_inputs){ r->env->inputs, r->env->input_count };
    r->features = mase_inputs_features(&r->inputs);
    r->batch = VALUES / (r->features > 0 ? r->features : 1);
    r->batch = r->batch < LEAST ? LEAST : r->batch > MOST ? MOST : r->batch;
    r->batch = r->batch < r->rows ? r->batch : r->rows;
    r->x = mase_new_array(&r->arena, float, (size_t)(r->batch * r->features));
    return MASE_OK;
}

static enum mase_status read_rows(const struct run *r, int64_t first, int64_t n,
                                  struct mase_err *err)
{
    const struct mase_samples *s = r->env->samples;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = (first + i) * r->of / r->rows;
        MASE_TRY(s->read(s->data, SPLIT, row, 1, r->x + i * r->features, err));
    }
    return MASE_OK;
}

/* ---- by plans ---- */

static void copy_lanes(void *data, const struct mase_lanes *value, long from, long to)
{
    const struct seen *s = data;
    for (int64_t i = from; i < to; i++)
        for (int64_t f = 0; f < s->features; f++)
            s->x[i * s->features + f] = value->data[f * value->stride + i];
}

static bool watch(struct run *r, struct view *v, int k)
{
    struct seen *s = &v->seen[k];
    *s = (struct seen){ .tap = &v->taps[k] };
    const struct mase_watch w = { .node = s->tap->node, .lanes = copy_lanes, .data = s };
    if (!mase_plan_watch(v->plan, &w, &s->shape))
        return false;
    s->features = mase_shape_count(&s->shape);
    s->x = mase_new_array(&r->arena, float, (size_t)(s->features * r->batch));
    return true;
}

static bool make_plan(struct run *r, struct view *v, struct mase_err *why)
{
    const struct mase_plan_opts opts = { .batch = r->batch,
                                         .seed = r->env->seed,
                                         .threads = r->env->threads,
                                         .inputs = r->env->inputs,
                                         .input_count = r->env->input_count };
    bool all = true;
    if (mase_plan_new(&v->plan, v->g, &opts, why))
        return false;
    v->seen = mase_new_array(&r->arena, struct seen, (size_t)v->count);
    for (int k = 0; k < v->count && all; k++)
        all = watch(r, v, k);
    if (all)
        return true;
    mase_fail(why, MASE_EUNSUPPORTED, "a value does not follow the samples");
    mase_plan_free(v->plan);
    v->plan = NULL;
    return false;
}

static enum mase_status run_plan(const struct run *r, struct view *v, int64_t n,
                                 struct mase_err *err)
{
    mase_plan_gather(v->plan, r->x, r->features, NULL, n);
    MASE_TRY(mase_plan_forward(v->plan, err));
    for (int k = 0; k < v->count; k++) {
        struct seen *s = &v->seen[k];
        s->shape.dim[0] = n;
        s->tap->take(s->tap->data, s->x, &s->shape, true);
    }
    return MASE_OK;
}

/* ---- by the reference ---- */

static enum mase_status run_reference(const struct run *r, const struct view *v, int64_t first,
                                      int64_t n, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_values values;
    const struct mase_input *x = mase_inputs_fill(&a, &r->inputs, r->x, n);
    const enum mase_status st = mase_run_reference(&values, &a, v->g, x, r->inputs.count, err);
    for (int k = 0; k < v->count && !st; k++) {
        const struct mase_arg *y = mase_values_get(&values, v->taps[k].node);
        if (y->kind != MASE_ARG_TENSOR || y->tensor->dtype != MASE_F32)
            continue;
        const struct mase_shape *shape = &y->tensor->shape;
        const bool follows = shape->rank && shape->dim[0] == n;
        if (follows || first == 0)
            v->taps[k].take(v->taps[k].data, mase_f32(y->tensor), shape, follows);
    }
    mase_arena_release(&a);
    return st;
}

/* ---- collect ---- */

static enum mase_status run_batch(struct run *r, int64_t at, int64_t n, struct mase_err *err)
{
    MASE_TRY(read_rows(r, at, n, err));
    for (int i = 0; i < r->count; i++) {
        struct view *v = &r->views[i];
        MASE_TRY(v->plan ? run_plan(r, v, n, err) : run_reference(r, v, at, n, err));
    }
    return MASE_OK;
}

static enum mase_status run_all(struct run *r, struct mase_err *err)
{
    struct mase_err why;
    MASE_TRY(make_room(r, err));
    for (int i = 0; i < r->count; i++)
        if (!make_plan(r, &r->views[i], &why))
            mase_debug("calibrate: %s; the plain reference runs the network", why.msg);
    for (int64_t at = 0; at < r->rows; at += r->batch) {
        const int64_t n = r->rows - at < r->batch ? r->rows - at : r->batch;
        MASE_TRY(run_batch(r, at, n, err));
    }
    return MASE_OK;
}

static enum mase_status collect(struct view *views, int count, int64_t rows,
                                struct mase_pass_env *env, struct mase_err *err)
{
    for (int i = 0; i < count; i++)
        MASE_TRY(need_values(views[i].g, err));
    struct run r = { .env = env, .rows = rows, .views = views, .count = count };
    const enum mase_status st = run_all(&r, err);
    for (int i = 0; i < count; i++)
        mase_plan_free(views[i].plan);
    mase_arena_release(&r.arena);
    return st;
}

enum mase_status mase_collect(struct mase_graph *g, const struct mase_tap *taps, int count,
                              int64_t rows, struct mase_pass_env *env, struct mase_err *err)
{
    struct view v = { .g = g, .taps = taps, .count = count };
    return collect(&v, 1, rows, env, err);
}

enum mase_status mase_collect_pair(struct mase_graph *const g[2], const struct mase_tap taps[2],
                                   int64_t rows, struct mase_pass_env *env, struct mase_err *err)
{
    struct view v[2] = { { .g = g[0], .taps = &taps[0], .count = 1 },
                         { .g = g[1], .taps = &taps[1], .count = 1 } };
    return collect(v, 2, rows, env, err);
}
