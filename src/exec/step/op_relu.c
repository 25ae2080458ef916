/*
 * op_relu.c - max(x, 0), in place where it can be: its backward needs only the result.
 */
#include "exec/plan/step.h"

/* x + this is x to the bit, -0.0 included. */
static const float nothing = -0.0f;

static void forward(const struct mase_step *s, long from, long to)
{
    for (int64_t r = 0; r < s->out->rows; r++) {
        const int64_t at = r * s->plan->stride + from;
        s->plan->k->affine(s->out->x + at, s->in[0]->x + at, 1.0f, nothing, true, to - from);
    }
}

static void backward(const struct mase_step *s, long from, long to)
{
    for (int64_t r = 0; r < s->out->rows && s->in[0]->dx; r++) {
        const int64_t at = r * s->plan->stride + from;
        s->plan->k->relu_back(s->in[0]->dx + at, s->out->dx + at, s->out->x + at, s->add[0],
                              to - from);
    }
}

/* Share rows, not lanes, among threads: a small batch has more rows. */
static void forward_rows(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++)
        p->k->affine(s->out->x + r * p->stride, s->in[0]->x + r * p->stride, 1.0f, nothing, true,
                     p->n);
}

static void backward_rows(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to && s->in[0]->dx; r++)
        p->k->relu_back(s->in[0]->dx + r * p->stride, s->out->dx + r * p->stride,
                        s->out->x + r * p->stride, s->add[0], p->n);
}

static void single(const struct mase_step *s, float *y, const float *x)
{
    s->plan->k->affine(y, x, 1.0f, nothing, true, s->out->rows);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    s->single = single;
    if (s->in[0]->tensor->shape.rank > 2) {
        mase_step_forward(s, forward_rows, MASE_UNIT_ITEMS, (long)s->out->rows);
        mase_step_backward(s, backward_rows, MASE_UNIT_ITEMS, (long)s->out->rows);
        return MASE_OK;
    }
    mase_step_forward(s, forward, MASE_UNIT_LANES, 0);
    mase_step_backward(s, backward, MASE_UNIT_LANES, 0);
    return MASE_OK;
}

const struct mase_step_kind mase_step_relu = { .name = "relu",
                                               .prepare = prepare,
                                               .axes = MASE_AXES_KEPT,
                                               .derives = true,
                                               .forgets_in = true,
                                               .in_place = true };
