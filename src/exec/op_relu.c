/*
 * op_relu.c - max(x, 0), in place in effect: its backward needs only the result.
 */
#include "exec/step.h"

static void forward(const struct mase_step *s, long from, long to)
{
    for (int64_t r = 0; r < s->out->rows; r++) {
        const int64_t at = r * s->plan->stride + from;
        s->plan->k->affine(s->out->x + at, s->in[0]->x + at, 1.0f, 0.0f, true, to - from);
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

static void one(const struct mase_step *s, float *y, const float *x)
{
    s->plan->k->affine(y, x, 1.0f, 0.0f, true, s->out->rows);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    s->one = one;
    mase_step_forward(s, forward, MASE_UNIT_LANES, 0);
    mase_step_backward(s, backward, MASE_UNIT_LANES, 0);
    return MASE_OK;
}

const struct mase_step_kind mase_step_relu = { .name = "relu", .prepare = prepare };
