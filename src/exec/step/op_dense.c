/*
 * op_dense.c - linear layers: y = W x + b for every sample.
 *
 * Backward: dW and db by outputs, then dx as the product with W read by columns.
 */
#include "exec/plan/step.h"

struct dense {
    struct mase_weight *w, *b; /* b may be NULL */
    long I, O;
    const float **x_rows;  // (I)
    const float **dy_rows; // (O)
    float *columns;        // (I, O padded to 16): W by columns, for single samples
    float *start;          // (O padded): the bias
};

static long padded(long n)
{
    return (n + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct dense *d = s->own;
    const struct mase_gemm g = { .y = s->out->x,
                                 .w = d->w->x,
                                 .bias = d->b ? d->b->x : NULL,
                                 .rows = d->x_rows,
                                 .O = d->O,
                                 .K = d->I,
                                 .y_stride = s->plan->stride,
                                 .w_stride = d->I };
    s->plan->k->gemm(&g, from, to);
}

/* Outputs from..to: their rows of dW, and db, of those that are trained. */
static void backward_weights(const struct mase_step *s, long from, long to)
{
    const struct dense *d = s->own;
    const struct mase_plan *p = s->plan;
    const struct mase_grad g = { .dw = d->w->dx,
                                 .dy = s->out->dx,
                                 .rows = d->x_rows,
                                 .O = d->O,
                                 .K = d->I,
                                 .P = 1,
                                 .n = p->n,
                                 .dw_stride = d->I,
                                 .dy_stride = p->stride,
                                 .add = mase_step_adds(s, d->w) };
    if (d->w->dx)
        p->k->grad(&g, from, to);
    for (long o = from; d->b && d->b->dx && o < to; o++) {
        const struct mase_channel dy = { s->out->dx + o * p->stride, 1, p->stride, p->n,
                                         p->samples };
        p->k->row_sum(&d->b->dx[o], &dy, mase_step_adds(s, d->b));
    }
}

static void backward_data(const struct mase_step *s, long from, long to)
{
    const struct dense *d = s->own;
    const struct mase_gemm g = { .y = s->in[0]->dx,
                                 .w = d->w->x,
                                 .rows = d->dy_rows,
                                 .O = d->I,
                                 .K = d->O,
                                 .y_stride = s->plan->stride,
                                 .w_stride = 1,
                                 .w_step = d->I,
                                 .add = s->add[0] };
    s->plan->k->gemm(&g, from, to);
}

static void single(const struct mase_step *s, float *y, const float *x)
{
    const struct dense *d = s->own;
    s->plan->k->gemv(y, d->columns, d->start, x, padded(d->O), d->I);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    struct dense *d = s->own = mase_new(&s->plan->arena, struct dense);
    MASE_TRY(mase_step_need_weight(s, &d->w, "weight", err));
    MASE_TRY(mase_step_weight(s, &d->b, "bias", err));
    d->O = d->w->shape.dim[0];
    d->I = d->w->shape.dim[1];
    s->single = single;
    mase_step_forward(s, forward, MASE_UNIT_LANES, 0);
    if (d->w->dx || (d->b && d->b->dx))
        mase_step_backward(s, backward_weights, MASE_UNIT_ITEMS, d->O);
    if (s->in[0]->needs_grad)
        mase_step_backward(s, backward_data, MASE_UNIT_LANES, 0);
    return MASE_OK;
}

static void bind(struct mase_step *s)
{
    struct dense *d = s->own;
    struct mase_plan *p = s->plan;
    d->x_rows = mase_new_array(&p->arena, const float *, (size_t)d->I);
    d->dy_rows = mase_new_array(&p->arena, const float *, (size_t)d->O);
    for (long i = 0; i < d->I; i++)
        d->x_rows[i] = s->in[0]->x + i * p->stride;
    for (long o = 0; s->out->dx && o < d->O; o++)
        d->dy_rows[o] = s->out->dx + o * p->stride;
}

static void refresh_single(struct mase_step *s)
{
    struct dense *d = s->own;
    const long stride = padded(d->O);
    if (!d->columns) {
        d->columns = mase_new_array(&s->plan->arena, float, (size_t)((d->I + 1) * stride));
        d->start = d->columns + d->I * stride;
    }
    for (long o = 0; o < d->O; o++) {
        d->start[o] = d->b ? d->b->x[o] : 0.0f;
        for (long i = 0; i < d->I; i++)
            d->columns[i * stride + o] = d->w->x[o * d->I + i];
    }
}

const struct mase_step_kind mase_step_dense = { .name = "dense",
                                                .prepare = prepare,
                                                .bind = bind,
                                                .refresh_single = refresh_single,
                                                .derives = true,
                                                .forgets_out = true };
