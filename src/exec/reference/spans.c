/*
 * spans.c - windows and neighbours along one dimension (spans.h).
 */
#include "exec/reference/spans.h"

#include <math.h>

struct mase_span mase_window_span(const struct mase_window *w, int d, int64_t o)
{
    struct mase_span s = { .first = o * w->stride[d] - w->pad[d], .step = w->dilation[d] };
    int64_t last = w->in[d] + w->pad[d];
    s.end = s.first + w->dilation[d] * (w->kernel[d] - 1) + 1;
    s.padded = (s.end < last ? s.end : last) - s.first;
    while (s.first < 0)
        s.first += s.step;
    s.end = s.end < w->in[d] ? s.end : w->in[d];
    return s;
}

/* Output o of n covers the input from floor(o in / n) to ceil((o + 1) in / n). */
struct mase_span mase_adaptive_span(const struct mase_window *w, int d, int64_t o)
{
    struct mase_span s = { .first = o * w->in[d] / w->out[d], .step = 1 };
    s.end = ((o + 1) * w->in[d] + w->out[d] - 1) / w->out[d];
    s.padded = s.end - s.first;
    return s;
}

const struct mase_pool *mase_pool_of(enum mase_op op)
{
    static const struct mase_pool pools[] = {
        { MASE_OP_max_pool1d, true, false },          { MASE_OP_max_pool2d, true, false },
        { MASE_OP_max_pool3d, true, false },          { MASE_OP_adaptive_max_pool1d, true, true },
        { MASE_OP_adaptive_max_pool2d, true, true },  { MASE_OP_adaptive_max_pool3d, true, true },
        { MASE_OP_avg_pool1d, false, false },         { MASE_OP_avg_pool2d, false, false },
        { MASE_OP_avg_pool3d, false, false },         { MASE_OP_adaptive_avg_pool1d, false, true },
        { MASE_OP_adaptive_avg_pool2d, false, true }, { MASE_OP_adaptive_avg_pool3d, false, true },
    };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        if (pools[i].op == op)
            return &pools[i];
    return NULL;
}

bool mase_window_adapt(struct mase_window *w)
{
    for (int d = 0; d < 3; d++) {
        if (w->in[d] % w->out[d] != 0)
            return false;
        w->kernel[d] = w->stride[d] = w->in[d] / w->out[d];
        w->dilation[d] = 1;
        w->pad[d] = w->pad_end[d] = 0;
    }
    return true;
}

/* PyTorch maps coordinates in float32, which decides ties: so do we. */
static struct mase_blend nearest(const struct mase_resize *r, int d, int64_t o, bool exact)
{
    float scale = r->scale[d] > 0.0 ? (float)r->scale[d] : (float)r->in[d] / (float)r->out[d];
    int64_t at = (int64_t)floorf(((float)o + (exact ? 0.5f : 0.0f)) * scale);
    if (at > r->in[d] - 1)
        at = r->in[d] - 1;
    return (struct mase_blend){ 1, { at }, { 1.0 } };
}

/* The position of output o in the input. */
static float coordinate(const struct mase_resize *r, int d, int64_t o, bool corners)
{
    float scale = r->scale[d] > 0.0 ? (float)r->scale[d] : (float)r->in[d] / (float)r->out[d];
    if (corners)
        scale = r->out[d] > 1 ? (float)(r->in[d] - 1) / (float)(r->out[d] - 1) : 0.0f;
    return corners ? (float)o * scale : ((float)o + 0.5f) * scale - 0.5f;
}

static struct mase_blend linear(const struct mase_resize *r, int d, int64_t o, bool corners)
{
    float at = coordinate(r, d, o, corners);
    if (at < 0.0f)
        at = 0.0f;
    int64_t low = (int64_t)at;
    if (low > r->in[d] - 1)
        low = r->in[d] - 1;
    const double part = fmin((double)at - (double)low, 1.0);
    return (struct mase_blend){ 2, { low, low + (low < r->in[d] - 1) }, { 1.0 - part, part } };
}

/* Cubic convolution with a = -0.75; beyond the edges their values go on. */
static struct mase_blend cubic(const struct mase_resize *r, int d, int64_t o, bool corners)
{
    const double a = -0.75;
    const float at = coordinate(r, d, o, corners), base = floorf(at);
    const double t = (double)(at - base), u = 1.0 - t;
    struct mase_blend b = { .count = 4 };
    for (int i = 0; i < 4; i++) {
        const int64_t n = (int64_t)base - 1 + i;
        b.at[i] = n < 0 ? 0 : n > r->in[d] - 1 ? r->in[d] - 1 : n;
    }
    b.part[0] = ((a * (t + 1.0) - 5.0 * a) * (t + 1.0) + 8.0 * a) * (t + 1.0) - 4.0 * a;
    b.part[1] = ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    b.part[2] = ((a + 2.0) * u - (a + 3.0)) * u * u + 1.0;
    b.part[3] = ((a * (u + 1.0) - 5.0 * a) * (u + 1.0) + 8.0 * a) * (u + 1.0) - 4.0 * a;
    return b;
}

struct mase_blend *mase_blends(const struct mase_call *c, struct mase_arena *a,
                               const struct mase_resize *r, int d)
{
    const char *mode = mase_call_text(c, "mode", "nearest");
    bool corners = mase_call_flag(c, "align_corners"), exact = mase_streq(mode, "nearest-exact");
    struct mase_blend *b = mase_new_array(a, struct mase_blend, (size_t)r->out[d]);
    for (int64_t o = 0; o < r->out[d]; o++)
        b[o] = mase_starts_with(mode, "nearest") ? nearest(r, d, o, exact)
               : mase_streq(mode, "bicubic")     ? cubic(r, d, o, corners)
                                                 : linear(r, d, o, corners);
    return b;
}

void mase_blending_start(struct mase_blending *k, const struct mase_resize *r,
                         struct mase_blend *const *b, const int64_t *at)
{
    *k = (struct mase_blending){ .r = r, .count = 1, .size = 1 };
    for (int d = 0; d < r->n; d++) {
        k->b[d] = &b[d][at[d]];
        k->count *= k->b[d]->count;
        k->size *= r->in[d];
    }
}

bool mase_blending_next(struct mase_blending *k)
{
    while (k->next < k->count) {
        int rest = k->next++;
        k->weight = 1.0;
        k->off = 0;
        for (int d = 0; d < k->r->n; d++) { /* the first dimension counts fastest */
            const struct mase_blend *b = k->b[d];
            k->weight *= b->part[rest % b->count];
            k->off = k->off * k->r->in[d] + b->at[rest % b->count];
            rest /= b->count;
        }
        if (k->weight != 0.0)
            return true;
    }
    return false;
}
