/*
 * ref_pool.c - pools and resampling. Plain and adaptive pools differ only in their spans (spans.h),
 * averages and maxima only in the function over a span.
 */
#include <math.h>

#include "exec/reference/ref.h"
#include "exec/reference/spans.h"

struct pooling {
    const struct mase_window *window;
    const struct mase_tensor *x;
    struct mase_tensor *out, *indices; /* indices: NULL if not asked for */
    bool count_pad;
    double divisor; /* 0: the number of elements */
};
typedef void pool_fn(const struct pooling *p, const struct mase_span *s, int64_t plane,
                     int64_t out);

/* The elements under the spans of three dimensions, the first of length 1 where there are fewer. */
static void average(const struct pooling *p, const struct mase_span *s, int64_t plane, int64_t out)
{
    const struct mase_window *w = p->window;
    int64_t count = 0;
    double sum = 0.0;
    for (int64_t d = s[0].first; d < s[0].end; d++)
        for (int64_t h = s[1].first; h < s[1].end; h++)
            for (int64_t v = s[2].first; v < s[2].end; v++, count++)
                sum += ref_get(p->x, plane + (d * w->in[1] + h) * w->in[2] + v);
    if (p->count_pad)
        count = s[0].padded * s[1].padded * s[2].padded;
    ref_set(p->out, out, sum / (p->divisor != 0.0 ? p->divisor : (double)count));
}

static void maximum(const struct pooling *p, const struct mase_span *s, int64_t plane, int64_t out)
{
    const struct mase_window *w = p->window;
    int64_t at = -1;
    double top = -INFINITY;
    for (int64_t d = s[0].first; d < s[0].end; d += s[0].step)
        for (int64_t h = s[1].first; h < s[1].end; h += s[1].step)
            for (int64_t v = s[2].first; v < s[2].end; v += s[2].step) {
                const int64_t place = (d * w->in[1] + h) * w->in[2] + v;
                const double x = ref_get(p->x, plane + place);
                if (at < 0 || x > top || (isnan(x) && !isnan(top))) {
                    top = x;
                    at = place;
                }
            }
    ref_set(p->out, out, top);
    if (p->indices)
        ((int64_t *)p->indices->data)[out] = at < 0 ? 0 : at;
}

static void pool_all(const struct pooling *p, mase_span_fn *span, pool_fn *pool)
{
    const struct mase_window *w = p->window;
    const int64_t inputs = w->in[0] * w->in[1] * w->in[2];
    const int64_t outputs = w->out[0] * w->out[1] * w->out[2];
    const int64_t planes = outputs ? mase_tensor_count(p->out) / outputs : 0;
    for (int64_t plane = 0; plane < planes; plane++)
        for (struct mase_nd at = mase_nd_dims(w->out, 3); at.i < at.count; mase_nd_next(&at)) {
            struct mase_span s[3];
            for (int d = 0; d < 3; d++)
                s[d] = span(w, d, at.at[d]);
            pool(p, s, plane * inputs, plane * outputs + at.i);
        }
}

typedef enum mase_status window_fn(const struct mase_call *c, struct mase_window *w,
                                   struct mase_err *err);

static enum mase_status forward(struct mase_call *c, window_fn *read, mase_span_fn *span,
                                pool_fn *pool, struct mase_err *err)
{
    struct mase_window w;
    struct pooling p = { .window = &w, .x = mase_call_tensor(c, "input"), .out = c->result.tensor };
    const struct mase_arg *padded = mase_call_arg(c, "count_include_pad");
    if (c->result.kind == MASE_ARG_TUPLE) {
        p.out = c->result.items[0].tensor;
        p.indices = c->result.items[1].tensor;
    }
    p.count_pad = padded && mase_arg_truthy(padded);
    if (mase_arg_present(mase_call_arg(c, "divisor_override")))
        MASE_TRY(mase_call_float(c, &p.divisor, "divisor_override", err));
    MASE_TRY(read(c, &w, err));
    mase_ref_lift_window(&w);
    pool_all(&p, span, pool);
    return MASE_OK;
}

#define FORWARD(name, window, span, pool)                                           \
    enum mase_status mase_forward_##name(struct mase_call *c, struct mase_err *err) \
    {                                                                               \
        return forward(c, window, span, pool, err);                                 \
    }
FORWARD(avg_pool, mase_pool_window, mase_window_span, average)
FORWARD(max_pool, mase_pool_window, mase_window_span, maximum)
FORWARD(adaptive_avg_pool, mase_adaptive_window, mase_adaptive_span, average)
FORWARD(adaptive_max_pool, mase_adaptive_window, mase_adaptive_span, maximum)
#undef FORWARD

/* The mean of powers, which counts as often as a whole window has elements. */
enum mase_status mase_forward_lp_pool(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_window w;
    double p;
    MASE_TRY(mase_pool_window(c, &w, err));
    MASE_TRY(mase_call_float(c, &p, "norm_type", err));
    const double count = (double)(w.kernel[0] * (w.n > 1 ? w.kernel[1] : 1));
    struct mase_tensor powers = mase_tensor(c->arena, MASE_F64, &x->shape, true);
    struct mase_tensor means = mase_tensor(c->arena, MASE_F64, &ref_out(c)->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(x); i++)
        ref_set(&powers, i, pow(ref_get(x, i), p));
    mase_ref_lift_window(&w);
    const struct pooling mean = { .window = &w, .x = &powers, .out = &means, .count_pad = true };
    pool_all(&mean, mase_window_span, average);
    for (int64_t i = 0; i < mase_tensor_count(&means); i++)
        ref_set(ref_out(c), i, pow(ref_get(&means, i) * count, 1.0 / p));
    return MASE_OK;
}

enum mase_status mase_forward_max_unpool(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const struct mase_tensor *places = mase_call_tensor(c, "indices");
    struct mase_tensor *out = ref_out(c);
    const int n = mase_ops[c->node->op].name[sizeof "max_unpool" - 1] - '0';
    int64_t inputs = 1, outputs = 1;
    for (int d = 0; d < n; d++) {
        inputs *= x->shape.dim[x->shape.rank - n + d];
        outputs *= out->shape.dim[out->shape.rank - n + d];
    }
    for (int64_t i = 0; i < mase_tensor_count(out); i++)
        ref_set(out, i, 0.0);
    for (int64_t i = 0; i < mase_tensor_count(x); i++) {
        int64_t at;
        MASE_TRY(mase_ref_index(c, places, i, outputs, false, &at, err));
        ref_set(out, i / inputs * outputs + at, ref_get(x, i));
    }
    return MASE_OK;
}

/* ---- resampling ---- */

/* The weighted neighbours of one output position. */
static double blended(const struct mase_tensor *x, const struct mase_resize *r, int64_t plane,
                      struct mase_blend *const *b, const int64_t *at)
{
    double sum = 0.0;
    struct mase_blending k;
    for (mase_blending_start(&k, r, b, at); mase_blending_next(&k);)
        sum += k.weight * ref_get(x, plane * k.size + k.off);
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
