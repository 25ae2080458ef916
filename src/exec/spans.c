/*
 * spans.c - windows and neighbours along one dimension (spans.h).
 */
#include "exec/spans.h"

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

/* PyTorch maps coordinates in float32, which decides ties: so do we. */
static struct mase_blend nearest(const struct mase_resize *r, int d, int64_t o, bool exact)
{
    float scale = r->scale[d] > 0.0 ? (float)r->scale[d] : (float)r->in[d] / (float)r->out[d];
    int64_t at = (int64_t)floorf(((float)o + (exact ? 0.5f : 0.0f)) * scale);
    if (at > r->in[d] - 1)
        at = r->in[d] - 1;
    return (struct mase_blend){ at, at, 0.0 };
}

static struct mase_blend linear(const struct mase_resize *r, int d, int64_t o, bool corners)
{
    float scale = r->scale[d] > 0.0 ? (float)r->scale[d] : (float)r->in[d] / (float)r->out[d];
    if (corners)
        scale = r->out[d] > 1 ? (float)(r->in[d] - 1) / (float)(r->out[d] - 1) : 0.0f;
    float at = corners ? (float)o * scale : ((float)o + 0.5f) * scale - 0.5f;
    if (at < 0.0f)
        at = 0.0f;
    int64_t low = (int64_t)at;
    if (low > r->in[d] - 1)
        low = r->in[d] - 1;
    double part = (double)at - (double)low;
    return (struct mase_blend){ low, low + (low < r->in[d] - 1), part < 1.0 ? part : 1.0 };
}

struct mase_blend *mase_blends(const struct mase_call *c, struct mase_arena *a,
                               const struct mase_resize *r, int d)
{
    const char *mode = mase_call_text(c, "mode", "nearest");
    bool corners = mase_call_flag(c, "align_corners"), exact = mase_streq(mode, "nearest-exact");
    struct mase_blend *b = mase_new_array(a, struct mase_blend, (size_t)r->out[d]);
    for (int64_t o = 0; o < r->out[d]; o++)
        b[o] =
            mase_starts_with(mode, "nearest") ? nearest(r, d, o, exact) : linear(r, d, o, corners);
    return b;
}
