/*
 * ref_conv.c - convolutions. One and two dimensions are computed as three, the others of length 1.
 */
#include <math.h>
#include <string.h>

#include "exec/reference/ref.h"

/* Put n dimensions last of three. */
static void lift(int64_t *v, int n, int64_t fill)
{
    for (int i = 2; i >= 0; i--)
        v[i] = i - (3 - n) >= 0 ? v[i - (3 - n)] : fill;
}

void mase_ref_lift_window(struct mase_window *w)
{
    lift(w->in, w->n, 1);
    lift(w->out, w->n, 1);
    lift(w->kernel, w->n, 1);
    lift(w->stride, w->n, 1);
    lift(w->dilation, w->n, 1);
    lift(w->pad, w->n, 0);
    lift(w->pad_end, w->n, 0);
    w->n = 3;
}

static int64_t volume(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

/* ---- padding other than zeros ---- */

int64_t mase_ref_pad_source(enum mase_pad_mode mode, int64_t i, int64_t n)
{
    switch (mode) {
    case MASE_PAD_REFLECT:
        return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    case MASE_PAD_CIRCULAR:
        return (i + n) % n;
    default:
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

/* The input with its padding written out, after which the window has none. */
static struct mase_tensor pad_input(struct mase_call *c, const struct mase_tensor *x,
                                    struct mase_window *w, int64_t planes)
{
    struct mase_shape s = { .rank = 4, .dim = { planes } };
    for (int d = 0; d < 3; d++)
        s.dim[1 + d] = w->in[d] + w->pad[d] + w->pad_end[d];
    struct mase_tensor padded = mase_tensor(c->arena, x->dtype, &s, true);
    for (struct mase_nd at = mase_nd(&s); at.i < at.count; mase_nd_next(&at)) {
        int64_t from = at.at[0];
        for (int d = 0; d < 3; d++)
            from =
                from * w->in[d] + mase_ref_pad_source(w->mode, at.at[1 + d] - w->pad[d], w->in[d]);
        ref_set(&padded, at.i, ref_get(x, from));
    }
    for (int d = 0; d < 3; d++) {
        w->in[d] = s.dim[1 + d];
        w->pad[d] = w->pad_end[d] = 0;
    }
    return padded;
}

/* ---- convolution ---- */

/* The outputs o of [0, n) for which o * stride + shift lies in [0, len). */
static void valid_range(int64_t n, int64_t stride, int64_t shift, int64_t len, int64_t *lo,
                        int64_t *hi)
{
    *lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    *hi = shift >= len ? 0 : (len - 1 - shift) / stride + 1;
    if (*hi > n)
        *hi = n;
}

/* Add to one row of outputs what one row of the kernel sees of one row of the input. */
static void add_row(double *sum, const float *x, const float *k, const struct mase_window *w)
{
    const int64_t stride = w->stride[2];
    for (int64_t i = 0; i < w->kernel[2]; i++) {
        int64_t shift = i * w->dilation[2] - w->pad[2], lo, hi;
        double weight = (double)k[i];
        valid_range(w->out[2], stride, shift, w->in[2], &lo, &hi);
        if (lo >= hi)
            continue;
        const float *from = x + lo * stride + shift;
        for (int64_t o = lo; o < hi; o++, from += stride)
            sum[o] += weight * (double)*from;
    }
}

/* sum (one row of outputs at depth od, height oh) over one input plane and its kernel. */
static void add_plane(double *sum, const float *x, const float *k, const struct mase_window *w,
                      int64_t od, int64_t oh)
{
    for (int64_t kd = 0; kd < w->kernel[0]; kd++) {
        int64_t d = od * w->stride[0] + kd * w->dilation[0] - w->pad[0];
        if (d < 0 || d >= w->in[0])
            continue;
        for (int64_t kh = 0; kh < w->kernel[1]; kh++) {
            int64_t h = oh * w->stride[1] + kh * w->dilation[1] - w->pad[1];
            if (h >= 0 && h < w->in[1])
                add_row(sum, x + (d * w->in[1] + h) * w->in[2],
                        k + (kd * w->kernel[1] + kh) * w->kernel[2], w);
        }
    }
}

/* One output plane: channel o of one sample; x is that sample's first channel of the group. */
static void conv_plane(float *out, const float *x, const float *k, int64_t channels, double bias,
                       const struct mase_window *w, double *sum)
{
    int64_t in_size = volume(w->in), k_size = volume(w->kernel), W = w->out[2];
    for (int64_t row = 0; row < w->out[0] * w->out[1]; row++) {
        for (int64_t o = 0; o < W; o++)
            sum[o] = bias;
        for (int64_t ch = 0; ch < channels; ch++)
            add_plane(sum, x + ch * in_size, k + ch * k_size, w, row / w->out[1], row % w->out[1]);
        for (int64_t o = 0; o < W; o++)
            out[row * W + o] = (float)sum[o];
    }
}

static enum mase_status need_f32(const struct mase_call *c, const struct mase_tensor *const *t,
                                 int n, struct mase_err *err)
{
    for (int i = 0; i < n; i++)
        if (t[i]->dtype != MASE_F32)
            return mase_fail(err, MASE_EUNSUPPORTED, "%s: %s computes in f32 only, got %s",
                             c->node->name, mase_ops[c->node->op].name,
                             mase_dtypes[t[i]->dtype].name);
    return MASE_OK;
}

enum mase_status mase_forward_conv(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_conv_window(c, &w, err));
    mase_ref_lift_window(&w);
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *k = mase_call_tensor(c, "weight");
    const struct mase_tensor *bias = mase_call_tensor(c, "bias");
    MASE_TRY(need_f32(c, (const struct mase_tensor *[]){ x, k }, 2, err));

    int64_t N = w.batch ? x->shape.dim[0] : 1, O = k->shape.dim[0];
    int64_t channels = k->shape.dim[1], C = channels * w.groups; // per group, in all
    struct mase_tensor padded;
    if (w.mode != MASE_PAD_ZEROS) {
        padded = pad_input(c, x, &w, N * C);
        x = &padded;
    }
    int64_t in_size = volume(w.in), out_size = volume(w.out), k_size = channels * volume(w.kernel);
    double *sum = mase_new_array(c->arena, double, (size_t)w.out[2]);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t o = 0; o < O; o++) {
            int64_t first = o / (O / w.groups) * channels; // of the group
            conv_plane(mase_f32(ref_out(c)) + (n * O + o) * out_size,
                       mase_f32(x) + (n * C + first) * in_size, mase_f32(k) + o * k_size, channels,
                       bias ? ref_get(bias, o) : 0.0, &w, sum);
        }
    }
    return MASE_OK;
}

/* ---- transposed convolution ---- */

/* Spread one input value over the output plane; o(k) = i stride - pad + k dilation. */
static void spread(double *sum, double x, const float *k, const struct mase_window *w,
                   const int64_t *at)
{
    int64_t i = 0;
    for (int64_t kd = 0; kd < w->kernel[0]; kd++) {
        for (int64_t kh = 0; kh < w->kernel[1]; kh++) {
            for (int64_t kw = 0; kw < w->kernel[2]; kw++, i++) {
                int64_t d = at[0] * w->stride[0] - w->pad[0] + kd * w->dilation[0];
                int64_t h = at[1] * w->stride[1] - w->pad[1] + kh * w->dilation[1];
                int64_t v = at[2] * w->stride[2] - w->pad[2] + kw * w->dilation[2];
                if (d >= 0 && d < w->out[0] && h >= 0 && h < w->out[1] && v >= 0 && v < w->out[2])
                    sum[(d * w->out[1] + h) * w->out[2] + v] += x * (double)k[i];
            }
        }
    }
}

static void spread_plane(double *sum, const float *x, const float *k, const struct mase_window *w)
{
    for (struct mase_nd p = mase_nd_dims(w->in, 3); p.i < p.count; mase_nd_next(&p))
        spread(sum, (double)x[p.i], k, w, p.at);
}

enum mase_status mase_forward_conv_transpose(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_conv_transpose_window(c, &w, err));
    mase_ref_lift_window(&w);
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *k = mase_call_tensor(c, "weight");
    const struct mase_tensor *bias = mase_call_tensor(c, "bias");
    MASE_TRY(need_f32(c, (const struct mase_tensor *[]){ x, k }, 2, err));

    int64_t N = w.batch ? x->shape.dim[0] : 1, C = k->shape.dim[0];
    int64_t each = k->shape.dim[1], O = each * w.groups; // outputs per group, in all
    int64_t in_size = volume(w.in), out_size = volume(w.out), k_size = volume(w.kernel);
    double *sum = mase_new_array(c->arena, double, (size_t)out_size);
    for (int64_t p = 0; p < N * O; p++) {
        int64_t n = p / O, o = p % O, group = o / each, channels = C / w.groups;
        for (int64_t i = 0; i < out_size; i++)
            sum[i] = bias ? ref_get(bias, o) : 0.0;
        for (int64_t ch = group * channels; ch < (group + 1) * channels; ch++)
            spread_plane(sum, mase_f32(x) + (n * C + ch) * in_size,
                         mase_f32(k) + (ch * each + o % each) * k_size, &w);
        for (int64_t i = 0; i < out_size; i++)
            mase_f32(ref_out(c))[p * out_size + i] = (float)sum[i];
    }
    return MASE_OK;
}
