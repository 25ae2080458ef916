/*
 * op_reduce.c - sums and means along dimensions, running sums: maps; maxima and minima: windows.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/step/rowmap.h"
#include "exec/step/window.h"

static enum mase_status prepare_sum(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    bool in[MASE_MAX_RANK];
    bool given[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, given, &s->in[0]->tensor->shape, "dim", true, err));
    for (int i = 0; i < s->in[0]->tensor->shape.rank; i++)
        in[mase_slot_dim(s->in[0], i)] = given[i];
    const int first = mase_plan_first(s->plan);
    const struct mase_shape sample = mase_slot_sample(s->plan, s->in[0]);
    const double count = (double)s->in[0]->rows / (double)s->out->rows;
    const float coef = c->node->op == MASE_OP_mean ? (float)(1.0 / count) : 1.0f;
    struct mase_term_list terms = { 0 };
    for (struct mase_nd w = mase_nd_reduced(&sample, in + first); w.i < w.count; mase_nd_next(&w))
        mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)w.off[0], (int32_t)w.i, coef });
    mase_rowmap_set(s, &terms, 1, NULL);
    return MASE_OK;
}

/* The dimension called dim, without the batch's: element k of vector (o, i) is row
 * (o len + k) inner + i. */
static enum mase_status vector_axis(struct mase_step *s, struct mase_axis *a, struct mase_err *err)
{
    int axis;
    MASE_TRY(mase_call_axis_arg(s->call, &axis, &s->in[0]->tensor->shape, "dim", err));
    axis = mase_slot_dim(s->in[0], axis);
    if (axis < mase_plan_first(s->plan))
        return mase_call_fail(s->call, err, "dim = %d is the batch, which a plan keeps",
                              s->in[0]->axis);
    const struct mase_shape sample = mase_slot_sample(s->plan, s->in[0]);
    *a = mase_axis_of(&sample, axis - mase_plan_first(s->plan));
    return MASE_OK;
}

static enum mase_status prepare_cumsum(struct mase_step *s, struct mase_call *c,
                                       struct mase_err *err)
{
    struct mase_axis a;
    struct mase_term_list terms = { 0 };
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(vector_axis(s, &a, err));
    for (int64_t i = 0; i < a.inner; i++)
        for (int64_t k = 0; k < a.len; k++)
            for (int64_t j = 0; j <= k; j++)
                mase_rowmap_add(s, &terms,
                                (struct mase_term){ 0, (int32_t)(k * a.inner + i),
                                                    (int32_t)(j * a.inner + i), 1.0f });
    mase_rowmap_set(s, &terms, a.outer, NULL);
    return MASE_OK;
}

/* ---- running products, and sums of exponentials ---- */

struct scan {
    struct mase_axis axis;
    bool product;
};

/* The rows of vector i in lane n: first, and the distance between them. */
static int64_t first_row(const struct scan *k, long i)
{
    return i / k->axis.inner * k->axis.len * k->axis.inner + i % k->axis.inner;
}

static void forward_scan(const struct mase_step *s, long from, long to)
{
    const struct scan *k = s->own;
    const int64_t stride = s->plan->stride, step = k->axis.inner * stride;
    for (long i = from; i < to; i++)
        for (int64_t n = 0; n < s->plan->n; n++) {
            const float *x = s->in[0]->x + first_row(k, i) * stride + n;
            float *y = s->out->x + first_row(k, i) * stride + n;
            double run = k->product ? 1.0 : 0.0, top = -INFINITY;
            for (int64_t j = 0; j < k->axis.len; j++) {
                const double v = (double)x[j * step];
                if (k->product) {
                    run *= v;
                } else if (v > top) { /* the sum is of e^(x - top) */
                    run = run * exp(top - v) + 1.0;
                    top = v;
                } else if (!(isinf(v) && v < 0.0)) {
                    run += exp(v - top);
                }
                y[j * step] = (float)(k->product ? run : top + log(run));
            }
        }
}

/* The gradient of x[j]; for products, dy is multiplied by the product without x[j]. */
static double scan_slope(const struct scan *k, const float *x, const float *y, const float *dy,
                         int64_t step, int64_t j)
{
    double run = 1.0, sum = 0.0;
    for (int64_t i = 0; i < j && k->product; i++)
        run *= (double)x[i * step];
    for (int64_t i = j; i < k->axis.len; i++) {
        if (k->product && i > j)
            run *= (double)x[i * step];
        sum += (double)dy[i * step] *
               (k->product ? run : exp((double)x[j * step] - (double)y[i * step]));
    }
    return sum;
}

static void backward_scan(const struct mase_step *s, long from, long to)
{
    const struct scan *k = s->own;
    const int64_t stride = s->plan->stride, step = k->axis.inner * stride;
    for (long i = from; i < to && s->in[0]->dx; i++)
        for (int64_t n = 0; n < s->plan->n; n++) {
            const int64_t at = first_row(k, i) * stride + n;
            for (int64_t j = 0; j < k->axis.len; j++) {
                float *dx = s->in[0]->dx + at + j * step;
                const double d =
                    n < s->plan->samples
                        ? scan_slope(k, s->in[0]->x + at, s->out->x + at, s->out->dx + at, step, j)
                        : 0.0;
                *dx = (s->add[0] ? *dx : 0.0f) + (float)d;
            }
        }
}

static enum mase_status prepare_scan(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct scan *k = s->own = mase_new(&s->plan->arena, struct scan);
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(vector_axis(s, &k->axis, err));
    k->product = c->node->op == MASE_OP_cumprod;
    const long vectors = (long)(k->axis.outer * k->axis.inner);
    mase_step_forward(s, forward_scan, MASE_UNIT_ITEMS, vectors);
    mase_step_backward(s, backward_scan, MASE_UNIT_ITEMS, vectors);
    return MASE_OK;
}

/* ---- extremes ---- */

/* max(x, y) is element by element; max(x, dim) gives values and their places. */
static enum mase_status prepare_minmax(struct mase_step *s, struct mase_call *c,
                                       struct mase_err *err)
{
    struct mase_axis a;
    struct mase_term_list terms = { 0 };
    if (c->result.kind == MASE_ARG_TENSOR) {
        s->kind = &mase_step_binary;
        return mase_step_binary.prepare(s, c, err);
    }
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(vector_axis(s, &a, err));
    for (int64_t i = 0; i < a.inner; i++)
        for (int64_t k = 0; k < a.len; k++)
            mase_rowmap_add(s, &terms,
                            (struct mase_term){ 0, (int32_t)i, (int32_t)(k * a.inner + i), 1.0f });
    mase_window_set(s, &terms, a.outer, c->node->op == MASE_OP_max ? 1.0f : -1.0f,
                    s->result_index == 1);
    return MASE_OK;
}

const struct mase_step_kind mase_step_sum = {
    .name = "sum", .prepare = prepare_sum, .axes = MASE_AXES_ANY, .derives = true
};
const struct mase_step_kind mase_step_cumsum = {
    .name = "cumsum", .prepare = prepare_cumsum, .axes = MASE_AXES_ANY, .derives = true
};
const struct mase_step_kind mase_step_scan = {
    .name = "scan", .prepare = prepare_scan, .axes = MASE_AXES_ANY, .derives = true
};
const struct mase_step_kind mase_step_minmax = {
    .name = "minmax", .prepare = prepare_minmax, .axes = MASE_AXES_KEPT, .derives = true
};
