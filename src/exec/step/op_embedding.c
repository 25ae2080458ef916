/*
 * op_embedding.c - rows of a table, selected by indices in the samples.
 *
 * The indices of all samples are checked before they are used: an index beyond the table is a fault
 * of the batch, which then has no result. For such an index, and in padding lanes, the step reads
 * row 0, so that it never reads outside of the table.
 */
#include <math.h>

#include "exec/plan/step.h"
#include "exec/reference/ref.h"

struct embedding {
    struct mase_weight *w; // (V, E)
    long V, E, skip;       /* skip: the row without gradient, or -1 */
};

static bool picks(const struct embedding *e, float x)
{
    return x >= 0.0f && x < (float)e->V && x == floorf(x);
}

static long picked(const struct embedding *e, float x)
{
    return picks(e, x) ? (long)x : 0;
}

/* All indices as one item, run by one thread, so that the first fault is reported. */
static void check_indices(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    (void)from;
    (void)to;
    *s->fault = (struct mase_fault){ 0 };
    for (int64_t i = 0; i < p->samples && !s->fault->found; i++)
        for (int64_t r = 0; r < s->in[0]->rows && !s->fault->found; r++) {
            const float x = s->in[0]->x[r * p->stride + i];
            if (!picks(s->own, x))
                *s->fault = (struct mase_fault){ true, x, i };
        }
}

static enum mase_status refuse(const struct mase_step *s, int64_t sample, struct mase_err *err)
{
    const struct embedding *e = s->own;
    return mase_ref_bad_index(s->call, (double)s->fault->value, sample, e->V, err);
}

/* Features from..to of all positions: row t E + f of the result is feature f at position t. */
static void forward(const struct mase_step *s, long from, long to)
{
    const struct embedding *e = s->own;
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++) {
        const float *index = s->in[0]->x + r / e->E * p->stride;
        float *y = s->out->x + r * p->stride;
        for (long i = 0; i < p->n; i++)
            y[i] = e->w->x[picked(e, index[i]) * e->E + r % e->E];
    }
}

static void add_feature(const struct mase_step *s, long f)
{
    const struct embedding *e = s->own;
    const struct mase_plan *p = s->plan;
    for (long t = 0; t < s->in[0]->rows; t++) {
        const float *index = s->in[0]->x + t * p->stride;
        const float *dy = s->out->dx + (t * e->E + f) * p->stride;
        for (long i = 0; i < p->samples; i++) {
            const long row = picked(e, index[i]);
            if (row != e->skip)
                e->w->dx[row * e->E + f] += dy[i];
        }
    }
}

/* Each feature is one column of the table's gradient, so that features can be shared. */
static void backward(const struct mase_step *s, long from, long to)
{
    const struct embedding *e = s->own;
    for (long f = from; f < to; f++) {
        for (long v = 0; v < e->V && !mase_step_adds(s, e->w); v++)
            e->w->dx[v * e->E + f] = 0.0f;
        add_feature(s, f);
    }
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, c, "input", err));
    struct embedding *e = s->own = mase_new(&s->plan->arena, struct embedding);
    MASE_TRY(mase_step_need_weight(s, &e->w, "weight", err));
    e->V = (long)e->w->shape.dim[0];
    e->E = (long)e->w->shape.dim[1];
    int64_t skip = -1;
    if (mase_arg_present(mase_call_arg(c, "padding_idx")))
        MASE_TRY(mase_call_int(c, &skip, "padding_idx", err));
    e->skip = mase_arg_present(mase_call_arg(c, "padding_idx")) && skip < 0 ? (long)(skip + e->V)
                                                                            : (long)skip;
    if (s->plan->train && mase_call_arg(c, "scale_grad_by_freq") &&
        mase_call_flag(c, "scale_grad_by_freq"))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: embedding: a plan cannot train with scale_grad_by_freq",
                         c->node->name);
    s->fault = mase_new(&s->plan->arena, struct mase_fault);
    mase_step_forward(s, check_indices, MASE_UNIT_ITEMS, 1);
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->out->rows);
    if (e->w->dx)
        mase_step_backward(s, backward, MASE_UNIT_ITEMS, e->E);
    return MASE_OK;
}

const struct mase_step_kind mase_step_embedding = { .name = "embedding",
                                                    .prepare = prepare,
                                                    .axes = MASE_AXES_ANY,
                                                    .refuse = refuse,
                                                    .derives = true };
