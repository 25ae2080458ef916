/*
 * ref_pool.c - pools and resampling. Plain and adaptive pools differ only in their spans (spans.h),
 * averages and maxima in what they do there.
 */
#include <math.h>

#include "exec/ref.h"
#include "exec/spans.h"

struct pooling {
    const struct mase_window *window;
    const struct mase_tensor *x;
    struct mase_tensor *out, *indices; /* indices: NULL if not asked for */
    bool count_pad;
    double divisor; /* 0: the number of elements */
};
typedef void pool_fn(const struct pooling *p, const struct mase_span *s, int64_t plane,
                     int64_t out);

/* The elements under the spans of up to two dimensions (the first of length 1 for one). */
static void average(const struct pooling *p, const struct mase_span *s, int64_t plane, int64_t out)
{
    int64_t width = p->window->in[p->window->n - 1], count = 0;
    double sum = 0.0;
    for (int64_t h = s[0].first; h < s[0].end; h++)
        for (int64_t w = s[1].first; w < s[1].end; w++, count++)
            sum += ref_get(p->x, plane + h * width + w);
    if (p->count_pad)
        count = s[0].padded * s[1].padded;
    ref_set(p->out, out, sum / (p->divisor != 0.0 ? p->divisor : (double)count));
}

static void maximum(const struct pooling *p, const struct mase_span *s, int64_t plane, int64_t out)
{
    int64_t width = p->window->in[p->window->n - 1], at = 0;
    double top = -INFINITY;
    bool first = true;
    for (int64_t h = s[0].first; h < s[0].end; h += s[0].step) {
        for (int64_t w = s[1].first; w < s[1].end; w += s[1].step) {
            double v = ref_get(p->x, plane + h * width + w);
            if (first || v > top || (isnan(v) && !isnan(top))) {
                top = v;
                at = h * width + w;
            }
            first = false;
        }
    }
    ref_set(p->out, out, top);
    if (p->indices)
        ((int64_t *)p->indices->data)[out] = at;
}

static void pool_all(const struct pooling *p, mase_span_fn *span, pool_fn *pool)
{
    const struct mase_window *w = p->window;
    int64_t H = w->n == 2 ? w->in[0] : 1, W = w->in[w->n - 1];
    int64_t oh = w->n == 2 ? w->out[0] : 1, ow = w->out[w->n - 1];
    int64_t outputs = oh * ow, out = 0;
    int64_t planes = outputs ? mase_tensor_count(p->out) / outputs : 0;
    for (int64_t plane = 0; plane < planes; plane++) {
        for (int64_t h = 0; h < oh; h++) {
            for (int64_t v = 0; v < ow; v++, out++) {
                struct mase_span s[2] = { { .first = 0, .end = 1, .step = 1, .padded = 1 } };
                if (w->n == 2)
                    s[0] = span(w, 0, h);
                s[1] = span(w, w->n - 1, v);
                pool(p, s, plane * H * W, out);
            }
        }
    }
}

static struct pooling pooling_of(const struct mase_call *c, const struct mase_window *w)
{
    struct pooling p = { .window = w, .x = mase_call_tensor(c, "input"), .out = c->result.tensor };
    if (c->result.kind == MASE_ARG_TUPLE) {
        p.out = c->result.items[0].tensor;
        p.indices = c->result.items[1].tensor;
    }
    return p;
}

enum mase_status mase_forward_avg_pool(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_pool_window(c, &w, err));
    struct pooling p = pooling_of(c, &w);
    p.count_pad = mase_call_flag(c, "count_include_pad");
    if (mase_arg_present(mase_call_arg(c, "divisor_override")))
        MASE_TRY(mase_call_float(c, &p.divisor, "divisor_override", err));
    pool_all(&p, mase_window_span, average);
    return MASE_OK;
}

enum mase_status mase_forward_max_pool(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_pool_window(c, &w, err));
    struct pooling p = pooling_of(c, &w);
    pool_all(&p, mase_window_span, maximum);
    return MASE_OK;
}

enum mase_status mase_forward_adaptive_avg_pool(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_adaptive_window(c, &w, err));
    struct pooling p = pooling_of(c, &w);
    pool_all(&p, mase_adaptive_span, average);
    return MASE_OK;
}

enum mase_status mase_forward_adaptive_max_pool(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_adaptive_window(c, &w, err));
    struct pooling p = pooling_of(c, &w);
    pool_all(&p, mase_adaptive_span, maximum);
    return MASE_OK;
}

/* ---- resampling ---- */

/* The weighted corners around one output position. */
static double blended(const struct mase_tensor *x, const struct mase_resize *r, int64_t plane,
                      struct mase_blend *const *b, const int64_t *at)
{
    double sum = 0.0;
    for (int corner = 0; corner < 1 << r->n; corner++) {
        double weight = 1.0;
        int64_t off = plane;
        for (int d = 0; d < r->n; d++) {
            const struct mase_blend *e = &b[d][at[d]];
            bool high = corner >> d & 1;
            weight *= high ? e->part : 1.0 - e->part;
            off = off * r->in[d] + (high ? e->high : e->low);
        }
        if (weight != 0.0)
            sum += weight * ref_get(x, off);
    }
    return sum;
}

enum mase_status mase_forward_upsample(struct mase_call *c, struct mase_err *err)
{
    struct mase_resize r;
    MASE_TRY(mase_resize_plan(c, &r, err));
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_blend *b[3];
    for (int d = 0; d < r.n; d++)
        b[d] = mase_blends(c, c->arena, &r, d);
    struct mase_tensor *out = ref_out(c);
    for (struct mase_nd p = mase_nd(&out->shape); p.i < p.count; mase_nd_next(&p)) {
        int64_t plane = p.at[0] * out->shape.dim[1] + p.at[1];
        ref_set(out, p.i, blended(x, &r, plane, b, &p.at[2]));
    }
    return MASE_OK;
}
