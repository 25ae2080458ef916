/*
 * op_pool.c - pools and resampling: averages and interpolations are maps, maxima windows, the same
 * in every channel.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/reference/spans.h"
#include "exec/step/window.h"

/* How averages count. */
struct averaging {
    bool count_pad;
    double divisor; /* 0: the number of elements */
};

struct pool {
    struct mase_step *step;
    struct mase_window window;
    struct mase_term_list terms;
    const struct averaging *mean; /* NULL: a maximum */
};

static int64_t length(const struct mase_span *s)
{
    return s->end > s->first ? (s->end - s->first + s->step - 1) / s->step : 0;
}

/* The factor of an output's sum. */
static float weight_of(const struct pool *p, const struct mase_span *s)
{
    if (!p->mean)
        return 1.0f;
    if (p->mean->divisor != 0.0)
        return (float)(1.0 / p->mean->divisor);
    int64_t count = 1;
    for (int d = 0; d < 3; d++)
        count *= p->mean->count_pad ? s[d].padded : length(&s[d]);
    return (float)(1.0 / (double)count);
}

/* The terms of one output of a plane: all elements under the spans of three dimensions. */
static void add_output(struct pool *p, const struct mase_span *s, int64_t out)
{
    const int64_t *in = p->window.in;
    const float coef = weight_of(p, s);
    for (int64_t d = s[0].first; d < s[0].end; d += s[0].step)
        for (int64_t h = s[1].first; h < s[1].end; h += s[1].step)
            for (int64_t w = s[2].first; w < s[2].end; w += s[2].step)
                mase_rowmap_add(p->step, &p->terms,
                                (struct mase_term){ 0, (int32_t)out,
                                                    (int32_t)((d * in[1] + h) * in[2] + w), coef });
}

/* ---- where maxima lie ---- */

/* Counted in the whole plane: the terms of output o are start[o] .. start[o + 1]. */
struct places {
    int32_t *start, *in;
    long outputs, inputs;
};

/* The index of the first maximum, or of the first NaN. */
static void forward_places(const struct mase_step *s, long from, long to)
{
    const struct places *k = s->own;
    const struct mase_plan *p = s->plan;
    for (long row = from; row < to; row++) {
        const float *x = s->in[0]->x + row / k->outputs * k->inputs * p->stride;
        const int32_t *term = k->in + k->start[row % k->outputs];
        const int32_t count = k->start[row % k->outputs + 1] - k->start[row % k->outputs];
        for (int64_t n = 0; n < p->n; n++) {
            int32_t best = count ? term[0] : 0;
            for (int32_t i = 1; i < count; i++) {
                const float v = x[term[i] * p->stride + n], top = x[best * p->stride + n];
                best = v > top || (isnan(v) && !isnan(top)) ? term[i] : best;
            }
            s->out->x[row * p->stride + n] = (float)best;
        }
    }
}

static void set_places(struct pool *p, long planes)
{
    struct mase_arena *a = &p->step->plan->arena;
    struct places *k = p->step->own = mase_new(a, struct places);
    const int64_t *in = p->window.in, *out = p->window.out;
    k->outputs = (long)(out[0] * out[1] * out[2]);
    k->inputs = (long)(in[0] * in[1] * in[2]);
    k->start = mase_new_array(a, int32_t, (size_t)k->outputs + 1);
    k->in = mase_new_array(a, int32_t, (size_t)p->terms.count);
    for (long i = 0; i < p->terms.count; i++) { /* in the order of the outputs */
        k->in[i] = p->terms.term[i].in;
        k->start[p->terms.term[i].out + 1] = (int32_t)i + 1;
    }
    for (long o = 0; o < k->outputs; o++)
        if (k->start[o + 1] < k->start[o])
            k->start[o + 1] = k->start[o];
    p->step->stops = true;
    mase_step_forward(p->step, forward_places, MASE_UNIT_ITEMS, planes * k->outputs);
}

static enum mase_status list_plane(struct pool *p, mase_span_fn *span, struct mase_err *err)
{
    struct mase_window *w = &p->window;
    if (!w->batch)
        return mase_call_fail(p->step->call, err, "a plan needs an input with a batch dimension");
    mase_ref_lift_window(w);
    for (struct mase_nd at = mase_nd_dims(w->out, 3); at.i < at.count; mase_nd_next(&at)) {
        struct mase_span s[3];
        for (int d = 0; d < 3; d++)
            s[d] = span(w, d, at.at[d]);
        add_output(p, s, at.i);
    }
    const long planes = (long)p->step->in[0]->tensor->shape.dim[1];
    if (p->step->result_index > 0)
        set_places(p, planes);
    else if (p->mean)
        mase_rowmap_set(p->step, &p->terms, planes, NULL);
    else
        mase_window_set(p->step, &p->terms, planes, 1.0f, false);
    return MASE_OK;
}

static enum mase_status begin(struct pool *p, struct mase_call *c, struct mase_err *err)
{
    return mase_step_input(p->step, c, "input", err);
}

static enum mase_status prepare_avg(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct averaging mean = { .count_pad = mase_call_flag(c, "count_include_pad") };
    struct pool p = { .step = s, .mean = &mean };
    MASE_TRY(begin(&p, c, err));
    MASE_TRY(mase_pool_window(c, &p.window, err));
    if (mase_arg_present(mase_call_arg(c, "divisor_override")))
        MASE_TRY(mase_call_float(c, &mean.divisor, "divisor_override", err));
    return list_plane(&p, mase_window_span, err);
}

static enum mase_status prepare_max(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct pool p = { .step = s };
    MASE_TRY(begin(&p, c, err));
    MASE_TRY(mase_pool_window(c, &p.window, err));
    return list_plane(&p, mase_window_span, err);
}

static enum mase_status prepare_adaptive(struct mase_step *s, struct mase_call *c,
                                         const struct averaging *mean, struct mase_err *err)
{
    struct pool p = { .step = s, .mean = mean };
    MASE_TRY(begin(&p, c, err));
    MASE_TRY(mase_adaptive_window(c, &p.window, err));
    return list_plane(&p, mase_adaptive_span, err);
}

static enum mase_status prepare_adaptive_avg(struct mase_step *s, struct mase_call *c,
                                             struct mase_err *err)
{
    const struct averaging mean = { 0 };
    return prepare_adaptive(s, c, &mean, err);
}

static enum mase_status prepare_adaptive_max(struct mase_step *s, struct mase_call *c,
                                             struct mase_err *err)
{
    return prepare_adaptive(s, c, NULL, err);
}

/* ---- resampling ---- */

/* The weighted neighbours of one output position of a plane. */
static void add_neighbours(struct mase_step *s, struct mase_term_list *terms,
                           const struct mase_resize *r, struct mase_blend *const *b,
                           const struct mase_nd *at)
{
    struct mase_blending k;
    for (mase_blending_start(&k, r, b, at->at); mase_blending_next(&k);)
        mase_rowmap_add(s, terms,
                        (struct mase_term){ 0, (int32_t)at->i, (int32_t)k.off, (float)k.weight });
}

static enum mase_status prepare_upsample(struct mase_step *s, struct mase_call *c,
                                         struct mase_err *err)
{
    struct mase_resize r;
    struct mase_blend *b[3];
    struct mase_term_list terms = { 0 };
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(mase_resize_plan(c, &r, err));
    for (int d = 0; d < r.n; d++)
        b[d] = mase_blends(c, &s->plan->arena, &r, d);
    for (struct mase_nd at = mase_nd_dims(r.out, r.n); at.i < at.count; mase_nd_next(&at))
        add_neighbours(s, &terms, &r, b, &at);
    mase_rowmap_set(s, &terms, (long)s->in[0]->tensor->shape.dim[1], NULL);
    return MASE_OK;
}

/* ---- columns added up ---- */

static enum mase_status prepare_fold(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct mase_pick p;
    struct mase_term_list terms = { 0 };
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(mase_fold_plan(c, &p, err));
    if (!p.window.batch)
        return mase_call_fail(c, err, "a plan needs an input with a batch dimension");
    p.out.dim[0] = p.in.dim[0] = 1; /* of one sample: the others are alike */
    for (struct mase_nd w = mase_nd(&p.out); w.i < w.count; mase_nd_next(&w)) {
        const int64_t to = p.from(&p, w.at);
        if (to >= 0)
            mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)to, (int32_t)w.i, 1.0f });
    }
    mase_rowmap_set(s, &terms, 1, NULL);
    return MASE_OK;
}

const struct mase_step_kind mase_step_fold = { .name = "fold", .prepare = prepare_fold };
const struct mase_step_kind mase_step_avg_pool = { .name = "avg_pool", .prepare = prepare_avg };
const struct mase_step_kind mase_step_max_pool = { .name = "max_pool", .prepare = prepare_max };
const struct mase_step_kind mase_step_adaptive_avg_pool = { .name = "adaptive_avg_pool",
                                                            .prepare = prepare_adaptive_avg };
const struct mase_step_kind mase_step_adaptive_max_pool = { .name = "adaptive_max_pool",
                                                            .prepare = prepare_adaptive_max };
const struct mase_step_kind mase_step_upsample = { .name = "upsample",
                                                   .prepare = prepare_upsample };
