/*
 * op_reduce.c - sums and means along dimensions, running sums: maps; maxima and minima: windows.
 */
#include "exec/ref.h"
#include "exec/rowmap.h"
#include "exec/window.h"

static enum mase_status prepare_sum(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    bool in[MASE_MAX_RANK];
    bool given[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, given, &s->in[0]->tensor->shape, "dim", true, err));
    for (int i = 0; i < s->in[0]->tensor->shape.rank; i++)
        in[mase_slot_dim(s->in[0], i)] = given[i];
    const int first = mase_plan_first(s->plan);
    struct mase_shape sample = mase_slot_sample(s->plan, s->in[0]), kept = sample;
    for (int i = 0; i < kept.rank; i++)
        if (in[i + first])
            kept.dim[i] = 1;
    const double count = (double)s->in[0]->rows / (double)s->out->rows;
    const float coef = c->node->op == MASE_OP_mean ? (float)(1.0 / count) : 1.0f;
    struct mase_term_list terms = { 0 };
    struct mase_nd w = mase_nd(&sample);
    mase_nd_add(&w, &kept);
    for (; w.i < w.count; mase_nd_next(&w))
        mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)w.off[0], (int32_t)w.i, coef });
    mase_rowmap_set(s, &terms, 1, NULL);
    return MASE_OK;
}

/* The dimension called dim, without the batch's: element k of line (o, i) is row
 * (o len + k) inner + i. */
static enum mase_status line_of(struct mase_step *s, struct mase_axis *a, struct mase_err *err)
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
    MASE_TRY(line_of(s, &a, err));
    for (int64_t i = 0; i < a.inner; i++)
        for (int64_t k = 0; k < a.len; k++)
            for (int64_t j = 0; j <= k; j++)
                mase_rowmap_add(s, &terms,
                                (struct mase_term){ 0, (int32_t)(k * a.inner + i),
                                                    (int32_t)(j * a.inner + i), 1.0f });
    mase_rowmap_set(s, &terms, a.outer, NULL);
    return MASE_OK;
}

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
    MASE_TRY(line_of(s, &a, err));
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
const struct mase_step_kind mase_step_minmax = {
    .name = "minmax", .prepare = prepare_minmax, .axes = MASE_AXES_KEPT, .derives = true
};
