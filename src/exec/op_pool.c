/*
 * op_pool.c - pools and resampling: averages and interpolations are maps, maxima windows, the same
 * in every channel.
 */
#include "exec/ref.h"
#include "exec/spans.h"
#include "exec/window.h"

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

/* The terms of one output of a plane: all elements under the spans of both dimensions. */
static void add_output(struct pool *p, const struct mase_span *s, int64_t out)
{
    const int64_t width = p->window.in[p->window.n - 1];
    int64_t count = 0;
    for (int64_t h = s[0].first; h < s[0].end; h += s[0].step)
        for (int64_t w = s[1].first; w < s[1].end; w += s[1].step)
            count++;
    if (p->mean && p->mean->count_pad)
        count = s[0].padded * s[1].padded;
    const double divisor = !p->mean                  ? 1.0
                           : p->mean->divisor != 0.0 ? p->mean->divisor
                                                     : (double)count;
    const float coef = (float)(1.0 / divisor);
    for (int64_t h = s[0].first; h < s[0].end; h += s[0].step)
        for (int64_t w = s[1].first; w < s[1].end; w += s[1].step)
            mase_rowmap_add(p->step, &p->terms,
                            (struct mase_term){ 0, (int32_t)out, (int32_t)(h * width + w), coef });
}

static enum mase_status list_plane(struct pool *p, mase_span_fn *span, struct mase_err *err)
{
    const struct mase_window *w = &p->window;
    const int last = w->n - 1;
    if (!w->batch)
        return mase_call_fail(p->step->call, err, "a plan needs an input with a batch dimension");
    const int64_t outer = w->n == 2 ? w->out[0] : 1;
    for (int64_t h = 0; h < outer; h++)
        for (int64_t v = 0; v < w->out[last]; v++) {
            struct mase_span s[2] = { { .first = 0, .end = 1, .step = 1, .padded = 1 } };
            if (w->n == 2)
                s[0] = span(w, 0, h);
            s[1] = span(w, last, v);
            add_output(p, s, h * w->out[last] + v);
        }
    const long planes = (long)p->step->in[0]->tensor->shape.dim[1];
    if (p->mean)
        mase_rowmap_set(p->step, &p->terms, planes, NULL);
    else
        mase_window_set(p->step, &p->terms, planes, 1.0f, false);
    return MASE_OK;
}

/* Where a maximum lies is counted in the whole plane, not in its window. */
static enum mase_status begin(struct pool *p, struct mase_call *c, struct mase_err *err)
{
    if (p->step->result_index > 0)
        return mase_call_fail(c, err, "a plan does not give the indices of a pool");
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

/* The weighted corners around one output position of a plane. */
static void add_corners(struct mase_step *s, struct mase_term_list *terms,
                        const struct mase_resize *r, struct mase_blend *const *b,
                        const struct mase_nd *at)
{
    for (int corner = 0; corner < 1 << r->n; corner++) {
        double weight = 1.0;
        int64_t off = 0;
        for (int d = 0; d < r->n; d++) {
            const struct mase_blend *e = &b[d][at->at[d]];
            const bool high = corner >> d & 1;
            weight *= high ? e->part : 1.0 - e->part;
            off = off * r->in[d] + (high ? e->high : e->low);
        }
        if (weight != 0.0)
            mase_rowmap_add(s, terms,
                            (struct mase_term){ 0, (int32_t)at->i, (int32_t)off, (float)weight });
    }
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
        add_corners(s, &terms, &r, b, &at);
    mase_rowmap_set(s, &terms, (long)s->in[0]->tensor->shape.dim[1], NULL);
    return MASE_OK;
}

const struct mase_step_kind mase_step_avg_pool = { .name = "avg_pool", .prepare = prepare_avg };
const struct mase_step_kind mase_step_max_pool = { .name = "max_pool", .prepare = prepare_max };
const struct mase_step_kind mase_step_adaptive_avg_pool = { .name = "adaptive_avg_pool",
                                                            .prepare = prepare_adaptive_avg };
const struct mase_step_kind mase_step_adaptive_max_pool = { .name = "adaptive_max_pool",
                                                            .prepare = prepare_adaptive_max };
const struct mase_step_kind mase_step_upsample = { .name = "upsample",
                                                   .prepare = prepare_upsample };
