/*
 * op_linear.c - linear layers: of one vector per sample (op_dense.c), or of one at each position.
 */
#include "exec/step/corr_step.h"

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    if (x && x->shape.rank == mase_plan_first(s->plan) + 1) {
        s->kind = &mase_step_dense;
        return mase_step_dense.prepare(s, c, err);
    }
    MASE_TRY(mase_step_input(s, c, "input", err));
    struct mase_corr_step *k = s->own = mase_new(&s->plan->arena, struct mase_corr_step);
    MASE_TRY(mase_step_need_weight(s, &k->weight, "weight", err));
    MASE_TRY(mase_step_weight(s, &k->b, "bias", err));
    k->dw = k->weight->dx;
    struct mase_corr *r = &k->corr;
    r->O = (long)k->weight->shape.dim[0];
    r->C = (long)k->weight->shape.dim[1];
    mase_corr_positions(s, r, (long)s->in[0]->rows / r->C);
    r->a_step = r->b_step = 1;
    for (long p = 0; p < r->P; p++) {
        r->a_row[p] = (int32_t)(p * r->O);
        r->b_row[p] = (int32_t)(p * r->C);
    }
    mase_corr_step_set(s);
    return MASE_OK;
}

const struct mase_step_kind mase_step_linear = { .name = "linear",
                                                 .prepare = prepare,
                                                 .axes = MASE_AXES_KEPT,
                                                 .derives = true,
                                                 .forgets_out = true };
