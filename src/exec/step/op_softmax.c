/*
 * op_softmax.c - softmax and its logarithm along a dimension that is not the batch.
 */
#include "exec/step/softmax.h"

#include <math.h>

#include "exec/reference/ref.h"

struct vectors {
    struct mase_axis axis; /* of one sample */
    bool logarithm;
    float least; /* where all of a vector is -inf: attention to nothing is zeros, a softmax NaN */
};

/* Vector number `i`  of a tensor's rows. */
static struct mase_channel vector_at(const struct mase_step *s, const float *x, long i)
{
    const struct vectors *l = s->own;
    const struct mase_plan *p = s->plan;
    const struct mase_axis *a = &l->axis;
    const int64_t first = i / a->inner * a->len * a->inner + i % a->inner;
    return (struct mase_channel){ x + first * p->stride, a->len, a->inner * p->stride, p->n,
                                  p->samples };
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct vectors *l = s->own;
    for (long i = from; i < to; i++) {
        const struct mase_channel x = vector_at(s, s->in[0]->x, i);
        s->plan->k->softmax(s->out->x + (x.x - s->in[0]->x), &x, l->logarithm, l->least);
    }
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct vectors *l = s->own;
    for (long i = from; i < to && s->in[0]->dx; i++) {
        const struct mase_channel y = vector_at(s, s->out->x, i);
        const long at = y.x - s->out->x;
        s->plan->k->softmax_back(s->in[0]->dx + at, s->out->dx + at, &y, l->logarithm, s->add[0]);
    }
}

void mase_softmax_set(struct mase_step *s, int axis, bool logarithm, float least)
{
    struct vectors *l = s->own = mase_new(&s->plan->arena, struct vectors);
    const struct mase_shape sample = mase_slot_sample(s->plan, s->in[0]);
    l->axis = mase_axis_of(&sample, axis - mase_plan_first(s->plan));
    l->logarithm = logarithm;
    l->least = least;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)(l->axis.outer * l->axis.inner));
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, (long)(l->axis.outer * l->axis.inner));
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    int axis;
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(mase_ref_softmax_axis(c, &axis, &s->in[0]->tensor->shape, err));
    axis = mase_slot_dim(s->in[0], axis);
    if (axis < mase_plan_first(s->plan))
        return mase_call_fail(c, err, "dim = %d is the batch, which a plan keeps", s->in[0]->axis);
    mase_softmax_set(s, axis, c->node->op == MASE_OP_log_softmax, -INFINITY);
    return MASE_OK;
}

const struct mase_step_kind mase_step_softmax = {
    .name = "softmax", .prepare = prepare, .axes = MASE_AXES_KEPT, .derives = true
};
