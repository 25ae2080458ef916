/*
 * op_view.c - operations that only change the shape of their input: nothing to run.
 *
 * Rows are the elements of a sample in order, so they do not change as long as the new shape keeps
 * the batch axis.
 */
#include <string.h>

#include "exec/plan/step.h"

static void nothing(const struct mase_step *s, float *y, const float *x)
{
    (void)s;
    (void)y;
    (void)x;
}

/* Copy where gradients stop, since memory shared with the input would pass them on. */
static void copy(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++)
        memcpy(s->out->x + r * p->stride, s->in[0]->x + r * p->stride,
               (size_t)p->n * sizeof(float));
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    if ((s->in[0]->axis || s->out->axis) && mase_slot_behind(s->in[0]) != mase_slot_behind(s->out))
        return mase_call_fail(c, err, "moves values between samples, which a plan cannot");
    s->single = nothing;
    if (s->node->no_grad && s->in[0]->needs_grad)
        mase_step_forward(s, copy, MASE_UNIT_ITEMS, (long)s->in[0]->rows);
    else
        mase_step_alias(s, s->in[0]);
    return MASE_OK;
}

const struct mase_step_kind mase_step_view = {
    .name = "view", .prepare = prepare, .axes = MASE_AXES_ANY, .derives = true
};
