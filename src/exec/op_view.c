/*
 * op_view.c - results that are their input under another shape: nothing to run.
 *
 * Rows are the elements of a sample in order, so any new shape that keeps the batch first keeps
 * them.
 */
#include "exec/step.h"

static void nothing(const struct mase_step *s, float *y, const float *x)
{
    (void)s;
    (void)y;
    (void)x;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    s->one = nothing;
    mase_step_alias(s, s->in[0]);
    return MASE_OK;
}

const struct mase_step_kind mase_step_view = { .name = "view", .prepare = prepare };
