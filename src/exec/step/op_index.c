/*
 * op_index.c - operations that read or write at indices in the samples: gather, scatter,
 * scatter_add, one_hot.
 *
 * As in embeddings, all indices are checked before they are used: one out of range is a fault of
 * the batch. For such an index, and in padding lanes, the steps use index 0.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/step/rowmap.h"

struct places {
    long count;    /* rows of the index */
    int32_t *base; /* by row of the index: the row at place 0 of what is picked from or put into, */
    int32_t *src;  /* and the row that is put there */
    long step;     /* rows from one place to the next */
    long len;
    int index, source; /* among the inputs; source: -1 where it is a number */
    float number;
    bool adds;
};

static bool is_place(const struct places *k, float x)
{
    return x >= 0.0f && x < (float)k->len && x == floorf(x);
}

static long target(const struct places *k, long r, float x)
{
    return k->base[r] + (is_place(k, x) ? (long)x : 0) * k->step;
}

/* One item, run by one thread, so that the first fault is reported. */
static void check_places(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    const struct places *k = s->own;
    const float *index = s->in[k->index]->x;
    (void)from, (void)to;
    *s->fault = (struct mase_fault){ 0 };
    for (int64_t i = 0; i < p->samples && !s->fault->found; i++)
        for (long r = 0; r < k->count && !s->fault->found; r++)
            if (!is_place(k, index[r * p->stride + i]))
                *s->fault = (struct mase_fault){ true, index[r * p->stride + i], i };
}

static enum mase_status refuse(const struct mase_step *s, int64_t sample, struct mase_err *err)
{
    const struct places *k = s->own;
    return mase_ref_bad_index(s->call, (double)s->fault->value, sample, k->len, err);
}

static void begin(struct mase_step *s)
{
    s->fault = mase_new(&s->plan->arena, struct mase_fault);
    mase_step_forward(s, check_places, MASE_UNIT_ITEMS, 1);
}

/* ---- gather ---- */

static void gather(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const long stride = s->plan->stride;
    for (long r = from; r < to; r++) {
        const float *index = s->in[k->index]->x + r * stride;
        for (long i = 0; i < s->plan->n; i++)
            s->out->x[r * stride + i] = s->in[0]->x[target(k, r, index[i]) * stride + i];
    }
}

static void clear_lanes(float *x, int64_t rows, long stride, long from, long to)
{
    for (int64_t r = 0; r < rows; r++)
        for (long i = from; i < to; i++)
            x[r * stride + i] = 0.0f;
}

/* Lane by lane: several rows of the index may pick the same. */
static void gather_back(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const long stride = s->plan->stride;
    float *const dx = s->in[0]->dx;
    if (!dx)
        return;
    if (!s->add[0])
        clear_lanes(dx, s->in[0]->rows, stride, from, to);
    for (long r = 0; r < k->count; r++)
        for (long i = from; i < to && i < s->plan->samples; i++) {
            const float place = s->in[k->index]->x[r * stride + i];
            dx[target(k, r, place) * stride + i] += s->out->dx[r * stride + i];
        }
}

/* ---- scatter ---- */

static void scatter(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const long stride = s->plan->stride;
    const float *src = k->source < 0 ? NULL : s->in[k->source]->x;
    for (int64_t r = 0; r < s->out->rows; r++)
        for (long i = from; i < to; i++)
            s->out->x[r * stride + i] = s->in[0]->x[r * stride + i];
    for (long r = 0; r < k->count; r++)
        for (long i = from; i < to; i++) {
            float *y = s->out->x + target(k, r, s->in[k->index]->x[r * stride + i]) * stride + i;
            const float v = src ? src[k->src[r] * stride + i] : k->number;
            *y = k->adds ? *y + v : v;
        }
}

/* Overwritten values get no gradient. */
static void scatter_back(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const long stride = s->plan->stride;
    float *const dx = s->in[0]->dx, *const work = s->work;
    for (int64_t r = 0; r < s->out->rows && dx; r++)
        for (long i = from; i < to; i++)
            work[r * stride + i] = s->out->dx[r * stride + i];
    for (long r = 0; r < k->count && dx && !k->adds; r++)
        for (long i = from; i < to; i++)
            work[target(k, r, s->in[k->index]->x[r * stride + i]) * stride + i] = 0.0f;
    for (int64_t r = 0; r < s->out->rows && dx; r++)
        for (long i = from; i < to; i++) {
            float *d = dx + r * stride + i;
            *d = (s->add[0] ? *d : 0.0f) + work[r * stride + i];
        }
}

/* As PyTorch has it, each source gets the gradient of its place, also where several go to one. */
static void source_back(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const long stride = s->plan->stride;
    float *const dx = k->source < 0 ? NULL : s->in[k->source]->dx;
    if (!dx)
        return;
    if (!s->add[k->source])
        clear_lanes(dx, s->in[k->source]->rows, stride, from, to);
    for (long r = 0; r < k->count; r++)
        for (long i = from; i < to && i < s->plan->samples; i++) {
            const float place = s->in[k->index]->x[r * stride + i];
            dx[k->src[r] * stride + i] += s->out->dx[target(k, r, place) * stride + i];
        }
}

/* ---- where rows lie ---- */

/* A tensor that must follow the samples, as the others of the call do. */
static enum mase_status need_lanes(struct mase_step *s, const char *name, struct mase_err *err)
{
    const struct mase_tensor *t = mase_call_tensor(s->call, name);
    const struct mase_slot *slot = mase_step_slot(s, t);
    if (!slot || !slot->lanes)
        return mase_call_fail(s->call, err, "a plan needs '%s' for each sample", name);
    return mase_step_operand(s, t, err);
}

static enum mase_status find_places(struct mase_step *s, struct mase_err *err)
{
    struct places *k = s->own = mase_new(&s->plan->arena, struct places);
    int axis;
    MASE_TRY(need_lanes(s, "input", err));
    MASE_TRY(need_lanes(s, "index", err));
    MASE_TRY(mase_call_axis_arg(s->call, &axis, &s->in[0]->tensor->shape, "dim", err));
    axis = mase_slot_dim(s->in[0], axis) - mase_plan_first(s->plan);
    if (axis < 0)
        return mase_call_fail(s->call, err, "dim = %d is the batch, which a plan keeps",
                              s->in[0]->axis);
    const struct mase_shape x = mase_slot_sample(s->plan, s->in[0]);
    const struct mase_shape index = mase_slot_sample(s->plan, s->in[1]);
    struct mase_view v = mase_view_of(&x);
    *k = (struct places){ .count = (long)s->in[1]->rows,
                          .step = (long)v.stride[axis],
                          .len = (long)x.dim[axis],
                          .index = 1,
                          .source = -1 };
    v.stride[axis] = 0;
    k->base = mase_new_array(&s->plan->arena, int32_t, (size_t)k->count);
    struct mase_nd w = mase_nd(&index);
    mase_nd_add_strides(&w, v.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w))
        k->base[w.i] = (int32_t)w.off[0];
    return MASE_OK;
}

static enum mase_status prepare_gather(struct mase_step *s, struct mase_call *c,
                                       struct mase_err *err)
{
    (void)c;
    MASE_TRY(find_places(s, err));
    begin(s);
    mase_step_forward(s, gather, MASE_UNIT_ITEMS, (long)s->out->rows);
    mase_step_backward(s, gather_back, MASE_UNIT_LANES, 0);
    return MASE_OK;
}

static enum mase_status find_source(struct mase_step *s, struct mase_err *err)
{
    struct places *k = s->own;
    const struct mase_arg *src = mase_scatter_source(s->call);
    double number;
    if (mase_arg_number(src, &number)) {
        k->number = (float)number;
        return MASE_OK;
    }
    MASE_TRY(need_lanes(s, "src", err));
    k->source = 2;
    k->src = mase_new_array(&s->plan->arena, int32_t, (size_t)k->count);
    const struct mase_shape shape = mase_slot_sample(s->plan, s->in[2]);
    const struct mase_shape index = mase_slot_sample(s->plan, s->in[1]);
    const struct mase_view v = mase_view_of(&shape);
    struct mase_nd w = mase_nd(&index);
    mase_nd_add_strides(&w, v.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w))
        k->src[w.i] = (int32_t)w.off[0];
    return MASE_OK;
}

static enum mase_status prepare_scatter(struct mase_step *s, struct mase_call *c,
                                        struct mase_err *err)
{
    MASE_TRY(find_places(s, err));
    MASE_TRY(find_source(s, err));
    ((struct places *)s->own)->adds = c->node->op == MASE_OP_scatter_add;
    s->work_size = s->out->rows * s->plan->stride;
    begin(s);
    mase_step_forward(s, scatter, MASE_UNIT_LANES, 0);
    mase_step_backward(s, scatter_back, MASE_UNIT_LANES, 0);
    mase_step_backward(s, source_back, MASE_UNIT_LANES, 0);
    return MASE_OK;
}

/* ---- index_add ---- */

/* With constant indices, each row of the source is added to a known row of x. */
static enum mase_status prepare_index_add(struct mase_step *s, struct mase_call *c,
                                          struct mase_err *err)
{
    const struct mase_tensor *index = mase_call_tensor(c, "index");
    struct mase_term_list terms = { 0 };
    double alpha;
    int axis;
    if (!index->data)
        return mase_call_fail(c, err, "a plan needs an index that is constant");
    MASE_TRY(need_lanes(s, "input", err));
    MASE_TRY(need_lanes(s, "source", err));
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &s->in[0]->tensor->shape, "dim", err));
    axis -= mase_plan_first(s->plan);
    if (axis < 0)
        return mase_call_fail(c, err, "dim = 0 is the batch, which a plan keeps");
    const struct mase_shape x = mase_slot_sample(s->plan, s->in[0]);
    const struct mase_shape source = mase_slot_sample(s->plan, s->in[1]);
    struct mase_view v = mase_view_of(&x);
    const int64_t step = v.stride[axis];
    v.stride[axis] = 0;
    for (int64_t r = 0; r < s->out->rows; r++)
        mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)r, (int32_t)r, 1.0f });
    struct mase_nd w = mase_nd(&source);
    mase_nd_add_strides(&w, v.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w)) {
        int64_t at;
        MASE_TRY(mase_ref_index(c, index, w.at[axis], x.dim[axis], false, &at, err));
        mase_rowmap_add(
            s, &terms,
            (struct mase_term){ 1, (int32_t)(w.off[0] + at * step), (int32_t)w.i, (float)alpha });
    }
    mase_rowmap_set(s, &terms, 1, NULL);
    return MASE_OK;
}

/* ---- one_hot ---- */

static void one_hot(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const long stride = s->plan->stride;
    for (long r = from; r < to; r++)
        for (long i = 0; i < s->plan->n; i++)
            s->out->x[r * stride + i] = s->in[0]->x[r / k->len * stride + i] == (float)(r % k->len);
}

static enum mase_status prepare_one_hot(struct mase_step *s, struct mase_call *c,
                                        struct mase_err *err)
{
    struct places *k = s->own = mase_new(&s->plan->arena, struct places);
    int64_t classes;
    MASE_TRY(mase_step_input(s, c, "tensor", err));
    MASE_TRY(mase_call_int(c, &classes, "num_classes", err));
    *k = (struct places){ .count = (long)s->in[0]->rows, .len = (long)classes };
    s->stops = true;
    begin(s);
    mase_step_forward(s, one_hot, MASE_UNIT_ITEMS, (long)s->out->rows);
    return MASE_OK;
}

const struct mase_step_kind mase_step_gather = {
    .name = "gather", .prepare = prepare_gather, .derives = true, .refuse = refuse
};
const struct mase_step_kind mase_step_scatter = {
    .name = "scatter", .prepare = prepare_scatter, .derives = true, .refuse = refuse
};
const struct mase_step_kind mase_step_index_add = { .name = "index_add",
                                                    .prepare = prepare_index_add };
const struct mase_step_kind mase_step_one_hot = {
    .name = "one_hot", .prepare = prepare_one_hot, .derives = true, .refuse = refuse
};
