/*
 * op_conv.c - convolutions, transposed or not, of one to three dimensions: all as three, the others
 * of length 1. Edges other than zeros are an instruction of their own.
 */
#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"
#include "exec/step/corr_step.h"

static int64_t volume(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

static int64_t at3(const int64_t *dim, const int64_t *i)
{
    return (i[0] * dim[1] + i[1]) * dim[2] + i[2];
}

/* Along dimension d, which coordinate of `large` each of `small` sees through each tap, scaled by
 * the distance between them; -1 when outside. */
static int32_t *coordinates(struct mase_arena *a, const struct mase_window *w, int d, int64_t large,
                            int64_t small, int64_t distance)
{
    int32_t *at = mase_new_array(a, int32_t, (size_t)(small * w->kernel[d]));
    for (int64_t i = 0; i < small; i++)
        for (int64_t t = 0; t < w->kernel[d]; t++) {
            const int64_t c = i * w->stride[d] - w->pad[d] + t * w->dilation[d];
            at[i * w->kernel[d] + t] = c < 0 || c >= large ? -1 : (int32_t)(c * distance);
        }
    return at;
}

/* The position of `large` that each position of `small` reads through each tap; -1: outside. */
static void set_places(struct mase_arena *a, struct mase_corr *c, const struct mase_window *w,
                       const int64_t *large, const int64_t *small)
{
    const int64_t *kernel = w->kernel;
    const int32_t *z = coordinates(a, w, 0, large[0], small[0], large[1] * large[2]);
    const int32_t *y = coordinates(a, w, 1, large[1], small[1], large[2]);
    const int32_t *x = coordinates(a, w, 2, large[2], small[2], 1);
    int32_t *to = c->place;
    for (struct mase_nd p = mase_nd_dims(small, 3); p.i < p.count; mase_nd_next(&p)) {
        const int32_t *pz = z + p.at[0] * kernel[0], *py = y + p.at[1] * kernel[1],
                      *px = x + p.at[2] * kernel[2];
        for (int64_t i = 0; i < kernel[0]; i++)
            for (int64_t j = 0; j < kernel[1]; j++)
                for (int64_t k = 0; k < kernel[2]; k++)
                    *to++ = (pz[i] | py[j] | px[k]) < 0 ? -1 : pz[i] + py[j] + px[k];
    }
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
    for (long p = 0; p < c->P; p++)
        c->a_row[p] = (int32_t)p;
    set_places(a, c, w, large, small);
    for (struct mase_nd q = mase_nd_dims(large, 3); q.i < q.count; mase_nd_next(&q)) {
        int64_t phase[3];
        for (int d = 0; d < 3; d++)
            phase[d] = (q.at[d] + w->pad[d]) % w->stride[d];
        c->b_row[q.i] = (int32_t)q.i;
        c->class_of[q.i] = (int32_t)at3(w->stride, phase);
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

const struct mase_step_kind mase_step_conv = { .name = "conv",
                                               .prepare = prepare,
                                               .forgets_out = true };
const struct mase_step_kind mase_step_conv_transpose = { .name = "conv_transpose",
                                                         .prepare = prepare_transposed,
                                                         .forgets_out = true };
