/*
 * op_reduction.c - variances, norms, extremes and other results out of many values (reduction.h),
 * lane by lane, in double. Each row of the input contributes to one result, so backward runs over
 * results.
 */
#include "exec/reference/reduction.h"
#include "exec/reference/ref.h"
#include "exec/step/rowmap.h"

struct vectors {
    struct mase_reduction_op op;
    const struct mase_csr *rows; /* of the input, by result */
};

static double lane(const struct mase_vector *l, int64_t k)
{
    return (double)((const float *)l->from)[l->row[k] * l->stride + l->first];
}

static struct mase_vector vector_of(const struct mase_step *s, long r, long n)
{
    const struct vectors *k = s->own;
    const int32_t *start = k->rows->start + r;
    return (struct mase_vector){ .at = lane,
                                 .count = start[1] - start[0],
                                 .from = s->in[0]->x,
                                 .row = k->rows->row + start[0],
                                 .first = n,
                                 .stride = s->plan->stride };
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct vectors *k = s->own;
    for (long r = from; r < to; r++)
        for (long n = 0; n < s->plan->n; n++) {
            const struct mase_vector l = vector_of(s, r, n);
            s->out->x[r * s->plan->stride + n] = (float)mase_reduction_sum(&k->op, &l).value;
        }
    mase_step_clear(s, s->out->x, from, to);
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct vectors *k = s->own;
    float *const dx = s->in[0]->dx;
    const long stride = s->plan->stride;
    for (long r = from; r < to && dx; r++)
        for (long n = 0; n < s->plan->n; n++) {
            const struct mase_vector l = vector_of(s, r, n);
            const struct mase_reduction_sum sum = mase_reduction_sum(&k->op, &l);
            const double dy = (double)s->out->dx[r * stride + n];
            for (int64_t i = 0; i < l.count; i++) {
                float *d = dx + l.row[i] * stride + n;
                const double slope = n < s->plan->samples
                                         ? mase_reduction_slope(&k->op, &l, &sum, lane(&l, i))
                                         : 0.0;
                *d = (s->add[0] ? *d : 0.0f) + (n < s->plan->samples ? (float)(dy * slope) : 0.0f);
            }
        }
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct vectors *k = mase_new(&s->plan->arena, struct vectors);
    struct mase_term_list terms = { 0 };
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(mase_reduction_read(c, s->result_index, &k->op, err));
    const struct mase_slot *x = s->in[0];
    const int first = mase_plan_first(s->plan);
    for (int i = 0; i < x->tensor->shape.rank; i++)
        in[mase_slot_dim(x, i)] = k->op.in[i];
    if (first && in[0])
        return mase_call_fail(c, err, "dim %d is the batch, which a plan keeps", x->axis);
    const struct mase_shape sample = mase_slot_sample(s->plan, x);
    for (struct mase_nd w = mase_nd_reduced(&sample, in + first); w.i < w.count; mase_nd_next(&w))
        mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)w.off[0], (int32_t)w.i, 1.0f });
    mase_rowmap_set(s, &terms, 1, NULL); /* lists the rows; its phases give way to ours */
    k->rows = ((struct mase_rowmap *)s->own)->forward;
    s->own = k;
    s->forward.count = s->backward.count = 0;
    s->stops = mase_reduction_is_flat(&k->op);
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    if (!s->stops)
        mase_step_backward(s, backward, MASE_UNIT_ITEMS, (long)s->out->rows);
    return MASE_OK;
}

const struct mase_step_kind mase_step_reduction = {
    .name = "reduction", .prepare = prepare, .axes = MASE_AXES_KEPT, .derives = true
};
