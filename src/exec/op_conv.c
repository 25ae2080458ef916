/*
 * op_conv.c - convolutions, transposed or not, of one to three dimensions: all as three, the others
 * of length 1.
 */
#include "exec/corr_step.h"
#include "exec/plan.h"
#include "exec/ref.h"
#include "exec/rowmap.h"

static int64_t volume(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

static int64_t at3(const int64_t *dim, const int64_t *i)
{
    return (i[0] * dim[1] + i[1]) * dim[2] + i[2];
}

/* Which position of `large` position `small` sees through tap t; -1 when outside. */
static int32_t place_of(const struct mase_window *w, const int64_t *large, const int64_t *small,
                        const int64_t *tap)
{
    int64_t at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = small[d] * w->stride[d] - w->pad[d] + tap[d] * w->dilation[d];
        if (at[d] < 0 || at[d] >= large[d])
            return -1;
    }
    return (int32_t)at3(large, at);
}

/* Tables of a window that slides over `large` in as many places as `small` has. */
static void set_tables(struct mase_step *s, struct mase_corr *c, const struct mase_window *w,
                       const int64_t *large, const int64_t *small)
{
    struct mase_arena *a = &s->plan->arena;
    c->groups = (long)w->groups;
    c->T = (long)volume(w->kernel);
    c->P = c->a_step = (long)volume(small);
    c->Q = c->b_step = (long)volume(large);
    c->a_row = mase_new_array(a, int32_t, (size_t)c->P);
    c->b_row = mase_new_array(a, int32_t, (size_t)c->Q);
    c->place = mase_new_array(a, int32_t, (size_t)(c->P * c->T));
    c->class_of = mase_new_array(a, int32_t, (size_t)c->Q);
    c->class_count = (int)volume(w->stride);
    for (struct mase_nd p = mase_nd_dims(small, 3); p.i < p.count; mase_nd_next(&p)) {
        c->a_row[p.i] = (int32_t)p.i;
        for (struct mase_nd t = mase_nd_dims(w->kernel, 3); t.i < t.count; mase_nd_next(&t))
            c->place[p.i * c->T + t.i] = place_of(w, large, p.at, t.at);
    }
    for (struct mase_nd q = mase_nd_dims(large, 3); q.i < q.count; mase_nd_next(&q)) {
        int64_t phase[3];
        for (int d = 0; d < 3; d++)
            phase[d] = (q.at[d] + w->pad[d]) % w->stride[d];
        c->b_row[q.i] = (int32_t)q.i;
        c->class_of[q.i] = (int32_t)at3(w->stride, phase);
    }
}

/* ---- padding other than zeros: a step of its own that writes it out ---- */

static const struct mase_step_kind pad_kind = { .name = "pad" };

static void pad_input(struct mase_step *s, struct mase_window *w)
{
    struct mase_slot *in = s->in[0];
    int64_t padded[3];
    for (int d = 0; d < 3; d++)
        padded[d] = w->in[d] + w->pad[d] + w->pad_end[d];
    const long planes = (long)in->tensor->shape.dim[1];
    const struct mase_shape shape = { 5,
                                      { s->plan->batch, planes, padded[0], padded[1], padded[2] } };
    struct mase_step *pad = mase_step_before(s, &pad_kind, &shape);
    struct mase_term_list terms = { 0 };
    for (struct mase_nd at = mase_nd_dims(padded, 3); at.i < at.count; mase_nd_next(&at)) {
        int64_t from[3];
        for (int d = 0; d < 3; d++)
            from[d] = mase_ref_pad_source(w->mode, at.at[d] - w->pad[d], w->in[d]);
        mase_rowmap_add(pad, &terms,
                        (struct mase_term){ 0, (int32_t)at.i, (int32_t)at3(w->in, from), 1.0f });
    }
    mase_step_add_input(pad, in);
    mase_rowmap_set(pad, &terms, planes, NULL);
    mase_plan_add_step(s->plan, pad);
    s->in[0] = pad->out;
    for (int d = 0; d < 3; d++) {
        w->in[d] = padded[d];
        w->pad[d] = w->pad_end[d] = 0;
    }
}

/* ---- preparing ---- */

static enum mase_status begin(struct mase_step *s, const struct mase_window *w,
                              struct mase_corr_step **k, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, s->call, "input", err));
    if (!w->batch)
        return mase_call_fail(s->call, err, "a plan needs an input with a batch dimension");
    *k = s->own = mase_new(&s->plan->arena, struct mase_corr_step);
    MASE_TRY(mase_step_need_weight(s, &(*k)->weight, "weight", err));
    MASE_TRY(mase_step_weight(s, &(*k)->b, "bias", err));
    (*k)->w = (*k)->weight->x;
    (*k)->dw = (*k)->weight->dx;
    return MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct mase_corr_step *k;
    struct mase_window w;
    MASE_TRY(mase_conv_window(c, &w, err));
    MASE_TRY(begin(s, &w, &k, err));
    mase_ref_lift_window(&w);
    if (w.mode != MASE_PAD_ZEROS)
        pad_input(s, &w);
    set_tables(s, &k->corr, &w, w.in, w.out);
    const struct mase_shape *shape = &k->weight->shape;
    k->corr.O = (long)(shape->dim[0] / w.groups);
    k->corr.C = (long)shape->dim[1];
    mase_corr_step_set(s);
    return MASE_OK;
}

/* The weights' first dimension is the input's channels: the input is the side that sees. */
static enum mase_status prepare_transposed(struct mase_step *s, struct mase_call *c,
                                           struct mase_err *err)
{
    struct mase_corr_step *k;
    struct mase_window w;
    MASE_TRY(mase_conv_transpose_window(c, &w, err));
    MASE_TRY(begin(s, &w, &k, err));
    mase_ref_lift_window(&w);
    set_tables(s, &k->corr, &w, w.out, w.in);
    const struct mase_shape *shape = &k->weight->shape;
    k->scatter = true;
    k->corr.O = (long)(shape->dim[0] / w.groups);
    k->corr.C = (long)shape->dim[1];
    mase_corr_step_set(s);
    return MASE_OK;
}

const struct mase_step_kind mase_step_conv = { .name = "conv", .prepare = prepare };
const struct mase_step_kind mase_step_conv_transpose = { .name = "conv_transpose",
                                                         .prepare = prepare_transposed };
