/*
 * shape_window.c - rules of operations that slide or stretch a window: convolutions, pools,
 * resampling. The number of spatial dimensions is in the operation's name: conv2d has two.
 */
#include <math.h>
#include <string.h>

#include "ir/shape/shape.h"

static int spatial_dims(const struct mase_call *c)
{
    const char *name = mase_ops[c->node->op].name;
    return name[strlen(name) - 2] - '0'; /* conv2d, max_pool1d */
}

/* Take n, batch and in from an input (N, C, spatial...) or (C, spatial...). */
static enum mase_status window_input(const struct mase_call *c, struct mase_window *w,
                                     const struct mase_tensor *x, struct mase_err *err)
{
    w->n = spatial_dims(c);
    if (x->shape.rank != w->n + 1 && x->shape.rank != w->n + 2)
        return mase_call_fail(c, err,
                              "input must have %d dimensions (or %d without the batch), got %s",
                              w->n + 2, w->n + 1, mase_show_shape(c, &x->shape));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    w->batch = x->shape.rank == w->n + 2;
    memcpy(w->in, &x->shape.dim[x->shape.rank - w->n], sizeof w->in[0] * (size_t)w->n);
    return MASE_OK;
}

static struct mase_shape window_output(const struct mase_window *w, const struct mase_shape *x,
                                       int64_t channels)
{
    struct mase_shape out = { 0 };
    if (w->batch)
        mase_shape_push(&out, x->dim[0]);
    mase_shape_push(&out, channels);
    for (int i = 0; i < w->n; i++)
        mase_shape_push(&out, w->out[i]);
    return out;
}

/* n integers, each at least min; the upper limit keeps sums and products of them in range. */
enum { WINDOW_MAX = 1 << 28 };

static enum mase_status window_ints(const struct mase_call *c, int64_t *v, int n, const char *name,
                                    int64_t min, struct mase_err *err)
{
    MASE_TRY(mase_call_ints(c, v, n, name, err));
    for (int i = 0; i < n; i++)
        if (v[i] < min || v[i] > WINDOW_MAX)
            return mase_call_fail(c, err, "%s = %s: must be at least %lld and at most %d", name,
                                  mase_show_ints(c, v, n), (long long)min, WINDOW_MAX);
    return MASE_OK;
}

/* ---- convolution ---- */

static enum mase_status conv_padding(const struct mase_call *c, struct mase_window *w,
                                     struct mase_err *err)
{
    const char *word = mase_call_text(c, "padding", NULL);
    if (!word) {
        MASE_TRY(window_ints(c, w->pad, w->n, "padding", 0, err));
        memcpy(w->pad_end, w->pad, sizeof w->pad);
        return MASE_OK;
    }
    bool same = mase_streq(word, "same");
    if (!same && !mase_streq(word, "valid"))
        return mase_call_fail(c, err, "padding = '%s' is neither 'same', 'valid' nor numbers",
                              word);
    for (int i = 0; i < w->n; i++) {
        int64_t total = same ? w->dilation[i] * (w->kernel[i] - 1) : 0;
        w->pad[i] = total / 2;
        w->pad_end[i] = total - w->pad[i];
        if (same && w->stride[i] != 1)
            return mase_call_fail(c, err, "padding = 'same' needs stride 1, got %s",
                                  mase_show_ints(c, w->stride, w->n));
    }
    return MASE_OK;
}

static enum mase_status conv_pad_mode(const struct mase_call *c, struct mase_window *w,
                                      struct mase_err *err)
{
    static const char *const names[] = { "zeros", "reflect", "replicate", "circular" };
    const char *mode = mase_call_text(c, "padding_mode", "zeros");
    for (int i = 0; i < 4; i++)
        if (mase_streq(mode, names[i]))
            w->mode = (enum mase_pad_mode)i;
    if (!mase_streq(mode, names[w->mode]))
        return mase_call_fail(
            c, err, "padding_mode = '%s' is none of zeros, reflect, replicate, circular", mode);
    for (int i = 0; i < w->n; i++) {
        int64_t pad = w->pad[i] > w->pad_end[i] ? w->pad[i] : w->pad_end[i];
        if ((w->mode == MASE_PAD_REFLECT && pad >= w->in[i]) ||
            (w->mode == MASE_PAD_CIRCULAR && pad > w->in[i]) ||
            (w->mode == MASE_PAD_REPLICATE && pad && !w->in[i]))
            return mase_call_fail(c, err, "padding %s is too large for padding_mode '%s' on %s",
                                  mase_show_ints(c, w->pad, w->n), mode,
                                  mase_show_ints(c, w->in, w->n));
    }
    return MASE_OK;
}

/* The kernel's lengths and the channel counts, from the weight (first, second, kernel...). */
static enum mase_status conv_weight(const struct mase_call *c, struct mase_window *w,
                                    const struct mase_tensor *weight, struct mase_err *err)
{
    if (weight->shape.rank != w->n + 2)
        return mase_call_fail(c, err, "weight must have %d dimensions, got %s", w->n + 2,
                              mase_show_shape(c, &weight->shape));
    memcpy(w->kernel, &weight->shape.dim[2], sizeof w->kernel[0] * (size_t)w->n);
    MASE_TRY(mase_call_int(c, &w->groups, "groups", err));
    if (w->groups < 1 || weight->shape.dim[0] % w->groups)
        return mase_call_fail(c, err, "groups = %lld does not divide the weight %s",
                              (long long)w->groups, mase_show_shape(c, &weight->shape));
    MASE_TRY(window_ints(c, w->stride, w->n, "stride", 1, err));
    return window_ints(c, w->dilation, w->n, "dilation", 1, err);
}

static enum mase_status conv_channels(const struct mase_call *c, const struct mase_window *w,
                                      const struct mase_tensor *x, const struct mase_tensor *weight,
                                      int64_t in, int64_t out, struct mase_err *err)
{
    int64_t channels = x->shape.dim[w->batch];
    if (channels != in)
        return mase_call_fail(c, err,
                              "input %s has %lld channels, the weight %s with groups = %lld takes "
                              "%lld",
                              mase_show_shape(c, &x->shape), (long long)channels,
                              mase_show_shape(c, &weight->shape), (long long)w->groups,
                              (long long)in);
    const struct mase_tensor *b = mase_call_tensor(c, "bias");
    struct mase_shape want = { .rank = 1, .dim = { out } };
    if (b && !mase_shape_equal(&b->shape, &want))
        return mase_call_fail(c, err, "bias %s does not fit %lld output channels",
                              mase_show_shape(c, &b->shape), (long long)out);
    return MASE_OK;
}

enum mase_status mase_conv_window(const struct mase_call *c, struct mase_window *w,
                                  struct mase_err *err)
{
    const struct mase_tensor *x, *weight;
    *w = (struct mase_window){ 0 };
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &weight, "weight", err));
    MASE_TRY(window_input(c, w, x, err));
    MASE_TRY(conv_weight(c, w, weight, err));
    MASE_TRY(conv_channels(c, w, x, weight, weight->shape.dim[1] * w->groups, weight->shape.dim[0],
                           err));
    MASE_TRY(conv_padding(c, w, err));
    MASE_TRY(conv_pad_mode(c, w, err));
    for (int i = 0; i < w->n; i++) {
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t padded = w->in[i] + w->pad[i] + w->pad_end[i];
        if (reach > padded)
            return mase_call_fail(c, err,
                                  "kernel %s with dilation %s does not fit the input %s with "
                                  "padding %s",
                                  mase_show_ints(c, w->kernel, w->n),
                                  mase_show_ints(c, w->dilation, w->n),
                                  mase_show_ints(c, w->in, w->n), mase_show_ints(c, w->pad, w->n));
        w->out[i] = (padded - reach) / w->stride[i] + 1;
    }
    return MASE_OK;
}

enum mase_status mase_shape_conv(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_conv_window(c, &w, err));
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const struct mase_tensor *weight = mase_call_tensor(c, "weight");
    struct mase_shape out = window_output(&w, &x->shape, weight->shape.dim[0]);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_conv_transpose_window(const struct mase_call *c, struct mase_window *w,
                                            struct mase_err *err)
{
    const struct mase_tensor *x, *weight;
    int64_t extra[3];
    *w = (struct mase_window){ 0 };
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &weight, "weight", err));
    MASE_TRY(window_input(c, w, x, err));
    MASE_TRY(conv_weight(c, w, weight, err));
    MASE_TRY(conv_channels(c, w, x, weight, weight->shape.dim[0], weight->shape.dim[1] * w->groups,
                           err));
    MASE_TRY(window_ints(c, w->pad, w->n, "padding", 0, err));
    MASE_TRY(window_ints(c, extra, w->n, "output_padding", 0, err));
    for (int i = 0; i < w->n; i++) {
        if (extra[i] >= w->stride[i] && extra[i] >= w->dilation[i])
            return mase_call_fail(
                c, err, "output_padding %s must be below stride %s or dilation %s",
                mase_show_ints(c, extra, w->n), mase_show_ints(c, w->stride, w->n),
                mase_show_ints(c, w->dilation, w->n));
        w->out[i] = (w->in[i] - 1) * w->stride[i] - 2 * w->pad[i] +
                    w->dilation[i] * (w->kernel[i] - 1) + extra[i] + 1;
        if (w->out[i] < 1)
            return mase_call_fail(c, err, "input %s with padding %s leaves no output",
                                  mase_show_ints(c, w->in, w->n), mase_show_ints(c, w->pad, w->n));
    }
    return MASE_OK;
}

enum mase_status mase_shape_conv_transpose(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_conv_transpose_window(c, &w, err));
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const struct mase_tensor *weight = mase_call_tensor(c, "weight");
    struct mase_shape out = window_output(&w, &x->shape, weight->shape.dim[1] * w.groups);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* ---- pools ---- */

/* With ceil_mode a last window may hang over the end, but must start inside input or padding. */
static int64_t pooled(const struct mase_window *w, int i, bool ceil_mode)
{
    int64_t room = w->in[i] + 2 * w->pad[i] - w->dilation[i] * (w->kernel[i] - 1) - 1;
    if (room < 0 && !ceil_mode)
        return 0;
    int64_t steps = room + (ceil_mode ? w->stride[i] - 1 : 0);
    int64_t out = (steps >= 0 ? steps / w->stride[i] : -1) + 1;
    if (ceil_mode && (out - 1) * w->stride[i] >= w->in[i] + w->pad[i])
        out--;
    return out;
}

static enum mase_status pool_arguments(const struct mase_call *c, struct mase_window *w,
                                       struct mase_err *err)
{
    MASE_TRY(window_ints(c, w->kernel, w->n, "kernel_size", 1, err));
    const struct mase_arg *stride = mase_call_arg(c, "stride");
    if (mase_arg_present(stride) && !(mase_arg_is_seq(stride) && stride->count == 0))
        MASE_TRY(window_ints(c, w->stride, w->n, "stride", 1, err));
    else
        memcpy(w->stride, w->kernel, sizeof w->stride);
    if (mase_call_arg(c, "padding"))
        MASE_TRY(window_ints(c, w->pad, w->n, "padding", 0, err));
    for (int i = 0; i < w->n; i++)
        w->dilation[i] = 1;
    if (mase_call_arg(c, "dilation"))
        MASE_TRY(window_ints(c, w->dilation, w->n, "dilation", 1, err));
    for (int i = 0; i < w->n; i++)
        if (w->pad[i] > w->kernel[i] / 2)
            return mase_call_fail(c, err, "padding %s is more than half of kernel_size %s",
                                  mase_show_ints(c, w->pad, w->n),
                                  mase_show_ints(c, w->kernel, w->n));
    return MASE_OK;
}

enum mase_status mase_pool_window(const struct mase_call *c, struct mase_window *w,
                                  struct mase_err *err)
{
    const struct mase_tensor *x;
    *w = (struct mase_window){ .groups = 1 };
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(window_input(c, w, x, err));
    MASE_TRY(pool_arguments(c, w, err));
    for (int i = 0; i < w->n; i++) {
        w->out[i] = pooled(w, i, mase_call_flag(c, "ceil_mode"));
        if (w->out[i] < 1)
            return mase_call_fail(c, err, "window %s does not fit the input %s with padding %s",
                                  mase_show_ints(c, w->kernel, w->n),
                                  mase_show_ints(c, w->in, w->n), mase_show_ints(c, w->pad, w->n));
    }
    return MASE_OK;
}

/* A pool's result: values, and where each was found if that is asked for. */
static void pool_result(struct mase_call *c, const struct mase_window *w)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_shape out = window_output(w, &x->shape, x->shape.dim[w->batch]);
    const struct mase_arg *indices = mase_call_arg(c, "return_indices"); /* averages have none */
    if (!indices || !mase_arg_truthy(indices)) {
        mase_call_result(c, x->dtype, &out);
        return;
    }
    struct mase_tensor pair[2] = { { .dtype = x->dtype, .shape = out },
                                   { .dtype = MASE_I64, .shape = out } };
    mase_call_result_tuple(c, pair, 2);
}

enum mase_status mase_shape_pool(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_pool_window(c, &w, err));
    pool_result(c, &w);
    return MASE_OK;
}

/* The unpooled shape: the argument, with all dimensions or those of windows only, or the smallest
 * that fits. */
enum mase_status mase_shape_max_unpool(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *places;
    const struct mase_arg *size = mase_call_arg(c, "output_size");
    struct mase_window w = { .groups = 1 };
    struct mase_shape asked;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &places, "indices", err));
    MASE_TRY(window_input(c, &w, x, err));
    MASE_TRY(pool_arguments(c, &w, err));
    if (places->dtype != MASE_I64 || !mase_shape_equal(&places->shape, &x->shape))
        return mase_call_fail(c, err,
                              "indices must be 64-bit integers in the shape of input %s, got %s%s",
                              mase_show_shape(c, &x->shape), mase_dtypes[places->dtype].name,
                              mase_show_shape(c, &places->shape));
    for (int i = 0; i < w.n; i++)
        w.out[i] = (w.in[i] - 1) * w.stride[i] - 2 * w.pad[i] + w.kernel[i];
    if (mase_arg_present(size)) {
        MASE_TRY(mase_call_sizes(c, &asked, "output_size", err));
        if (asked.rank != w.n && asked.rank != x->shape.rank)
            return mase_call_fail(c, err, "output_size %s must have %d dimensions",
                                  mase_show_shape(c, &asked), w.n);
        for (int i = 0; i < w.n; i++) {
            const int64_t n = asked.dim[asked.rank - w.n + i];
            if (n <= w.out[i] - w.stride[i] || n >= w.out[i] + w.stride[i])
                return mase_call_fail(
                    c, err, "output_size %s: length %lld is not between %lld and %lld",
                    mase_show_shape(c, &asked), (long long)n, (long long)(w.out[i] - w.stride[i]),
                    (long long)(w.out[i] + w.stride[i]));
            w.out[i] = n;
        }
    }
    const struct mase_shape out = window_output(&w, &x->shape, x->shape.dim[w.batch]);
    if (mase_call_count(c, &out) < 1)
        return mase_call_fail(c, err, "%s has no place for maxima", mase_show_shape(c, &out));
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* output_size: a number or one per dimension, None keeping the input's. */
enum mase_status mase_adaptive_window(const struct mase_call *c, struct mase_window *w,
                                      struct mase_err *err)
{
    const struct mase_tensor *x;
    *w = (struct mase_window){ .groups = 1 };
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(window_input(c, w, x, err));
    const struct mase_arg *size = mase_call_arg(c, "output_size");
    bool seq = mase_arg_is_seq(size);
    if (seq && size->count != w->n && size->count != 1)
        return mase_call_fail(c, err, "output_size %s must have %d entries", mase_show_arg(c, size),
                              w->n);
    for (int i = 0; i < w->n; i++) {
        const struct mase_arg *one = seq ? &size->items[size->count == 1 ? 0 : i] : size;
        bool keep = one->kind == MASE_ARG_NONE;
        if (!keep && (one->kind != MASE_ARG_INT || one->i < 0))
            return mase_call_fail(c, err, "output_size %s must be integers of at least 0",
                                  mase_show_arg(c, size));
        w->out[i] = keep ? w->in[i] : one->i;
        if (w->in[i] == 0)
            return mase_call_fail(c, err, "input %s is empty", mase_show_shape(c, &x->shape));
    }
    return MASE_OK;
}

enum mase_status mase_shape_adaptive_pool(struct mase_call *c, struct mase_err *err)
{
    struct mase_window w;
    MASE_TRY(mase_adaptive_window(c, &w, err));
    pool_result(c, &w);
    return MASE_OK;
}

/* ---- windows written out ---- */

enum mase_status mase_unfold_window(const struct mase_call *c, struct mase_window *w,
                                    const struct mase_shape *image, struct mase_err *err)
{
    *w = (struct mase_window){ .n = 2, .batch = image->rank == 4, .groups = 1 };
    if (image->rank != 3 && image->rank != 4)
        return mase_call_fail(c, err,
                              "input must have 4 dimensions (or 3 without the batch), got %s",
                              mase_show_shape(c, image));
    memcpy(w->in, &image->dim[image->rank - 2], 2 * sizeof w->in[0]);
    MASE_TRY(window_ints(c, w->kernel, 2, "kernel_size", 1, err));
    MASE_TRY(window_ints(c, w->dilation, 2, "dilation", 1, err));
    MASE_TRY(window_ints(c, w->pad, 2, "padding", 0, err));
    MASE_TRY(window_ints(c, w->stride, 2, "stride", 1, err));
    for (int i = 0; i < 2; i++) {
        w->out[i] = pooled(w, i, false);
        if (w->out[i] < 1)
            return mase_call_fail(c, err, "window %s does not fit %s with padding %s",
                                  mase_show_ints(c, w->kernel, 2), mase_show_ints(c, w->in, 2),
                                  mase_show_ints(c, w->pad, 2));
    }
    return MASE_OK;
}

/* ---- resampling ---- */

static const struct mase_arg *nth(const struct mase_arg *a, int i)
{
    return mase_arg_is_seq(a) ? &a->items[a->count == 1 ? 0 : i] : a;
}

static enum mase_status resize_dim(const struct mase_call *c, struct mase_resize *r, int i,
                                   const struct mase_arg *size, const struct mase_arg *factor,
                                   struct mase_err *err)
{
    double f;
    if (mase_arg_present(size)) {
        const struct mase_arg *one = nth(size, i);
        if (one->kind != MASE_ARG_INT || one->i < 1)
            return mase_call_fail(c, err, "size %s must be integers of at least 1",
                                  mase_show_arg(c, size));
        r->out[i] = one->i;
        return MASE_OK;
    }
    if (!mase_arg_number(nth(factor, i), &f) || !(f > 0.0) || !(f < 1e6))
        return mase_call_fail(c, err, "scale_factor %s must be positive numbers",
                              mase_show_arg(c, factor));
    r->out[i] = (int64_t)floor((double)r->in[i] * f);
    if (!mase_call_flag(c, "recompute_scale_factor"))
        r->scale[i] = 1.0 / f;
    if (r->out[i] < 1)
        return mase_call_fail(c, err, "scale_factor %s leaves nothing of the input %s",
                              mase_show_arg(c, factor), mase_show_ints(c, r->in, r->n));
    return MASE_OK;
}

enum mase_status mase_resize_plan(const struct mase_call *c, struct mase_resize *r,
                                  struct mase_err *err)
{
    const struct mase_tensor *x;
    *r = (struct mase_resize){ 0 };
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    if (x->shape.rank < 3 || x->shape.rank > 5)
        return mase_call_fail(c, err, "input must have 3 to 5 dimensions, got %s",
                              mase_show_shape(c, &x->shape));
    const struct mase_arg *size = mase_call_arg(c, "size");
    const struct mase_arg *factor = mase_call_arg(c, "scale_factor");
    if (mase_arg_present(size) == mase_arg_present(factor))
        return mase_call_fail(c, err, "exactly one of size and scale_factor must be given");
    const struct mase_arg *given = mase_arg_present(size) ? size : factor;
    r->n = x->shape.rank - 2;
    if (mase_arg_is_seq(given) && given->count != 1 && given->count != r->n)
        return mase_call_fail(c, err, "%s must have %d entries for the input %s",
                              mase_show_arg(c, given), r->n, mase_show_shape(c, &x->shape));
    for (int i = 0; i < r->n; i++) {
        r->in[i] = x->shape.dim[2 + i];
        if (r->in[i] == 0)
            return mase_call_fail(c, err, "input %s is empty", mase_show_shape(c, &x->shape));
        MASE_TRY(resize_dim(c, r, i, size, factor, err));
    }
    return MASE_OK;
}

/* linear, bilinear and trilinear are one rule whose name says the number of dimensions. */
static enum mase_status check_mode(const struct mase_call *c, const struct mase_resize *r,
                                   struct mase_err *err)
{
    static const char *const by_dims[] = { "linear", "bilinear", "trilinear" };
    const char *mode = mase_call_text(c, "mode", "nearest");
    if (mase_streq(mode, "nearest") || mase_streq(mode, "nearest-exact") ||
        mase_streq(mode, by_dims[r->n - 1]) || (mase_streq(mode, "bicubic") && r->n == 2))
        return MASE_OK;
    if (mase_streq(mode, "bicubic"))
        return mase_call_fail(c, err, "mode = 'bicubic' needs an input of 4 dimensions, got %d",
                              r->n + 2);
    for (int i = 0; i < 3; i++)
        if (mase_streq(mode, by_dims[i]))
            return mase_call_fail(c, err, "mode = '%s' needs an input of %d dimensions, got %d",
                                  mode, i + 3, r->n + 2);
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "%s: upsample: mode = '%s' is not available (nearest, nearest-exact, linear, "
                     "bilinear, trilinear, bicubic)",
                     c->node->name, mode);
}

enum mase_status mase_shape_upsample(struct mase_call *c, struct mase_err *err)
{
    struct mase_resize r;
    MASE_TRY(mase_resize_plan(c, &r, err));
    MASE_TRY(check_mode(c, &r, err));
    if (mase_call_flag(c, "antialias"))
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: upsample: antialias is not available",
                         c->node->name);
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_shape out = mase_shape_part(&x->shape, 0, 2);
    for (int i = 0; i < r.n; i++)
        mase_shape_push(&out, r.out[i]);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

/* ---- places between pixels ---- */

static enum mase_status choose(const struct mase_call *c, const char *name,
                               const char *const *choices, int count, int *which,
                               struct mase_err *err)
{
    const struct mase_arg *given = mase_call_arg(c, name);
    for (*which = 0; *which < count; ++*which)
        if (given->kind == MASE_ARG_TEXT && mase_streq(given->s, choices[*which]))
            return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED, "%s: %s: %s = %s is not available ('%s', '%s'%s%s%s)",
                     c->node->name, mase_ops[c->node->op].name, name, mase_show_arg(c, given),
                     choices[0], choices[1], count > 2 ? ", '" : "", count > 2 ? choices[2] : "",
                     count > 2 ? "'" : "");
}

enum mase_status mase_grid_modes(const struct mase_call *c, int *mode, int *edge,
                                 struct mase_err *err)
{
    static const char *const modes[] = { "bilinear", "nearest" };
    static const char *const edges[] = { "zeros", "border", "reflection" };
    MASE_TRY(choose(c, "mode", modes, 2, mode, err));
    return choose(c, "padding_mode", edges, 3, edge, err);
}

enum mase_status mase_shape_grid_sample(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *grid;
    int mode, edge;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &grid, "grid", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_grid_modes(c, &mode, &edge, err));
    const struct mase_shape *s = &x->shape, *g = &grid->shape;
    bool fit = (s->rank == 4 || s->rank == 5) && g->rank == s->rank && s->dim[0] == g->dim[0] &&
               g->dim[g->rank - 1] == s->rank - 2 && grid->dtype == x->dtype;
    for (int d = 1; fit && d < s->rank; d++)
        fit = s->dim[d] > 0;
    if (!fit)
        return mase_call_fail(
            c, err,
            "an image (N, C, H, W) needs a grid (N, ..., ..., 2) of its type, got "
            "%s and %s",
            mase_show_arg(c, mase_call_arg(c, "input")),
            mase_show_arg(c, mase_call_arg(c, "grid")));
    struct mase_shape out = { 2, { s->dim[0], s->dim[1] } };
    for (int d = 1; d + 1 < g->rank; d++)
        mase_shape_push(&out, g->dim[d]);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_affine_grid(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *theta;
    struct mase_shape size;
    MASE_TRY(mase_call_need(c, &theta, "theta", err));
    MASE_TRY(mase_call_float_tensor(c, theta, "theta", err));
    MASE_TRY(mase_call_sizes(c, &size, "size", err));
    const struct mase_shape *t = &theta->shape;
    const int n = size.rank - 2;
    bool fit = (n == 2 || n == 3) && t->rank == 3 && t->dim[0] == size.dim[0] && t->dim[1] == n &&
               t->dim[2] == n + 1;
    for (int d = 0; fit && d < size.rank; d++)
        fit = size.dim[d] > 0;
    if (!fit || mase_call_count(c, &size) < 0)
        return mase_call_fail(c, err,
                              "matrices %s do not fit the size %s: (N, 2, 3) and (N, C, H, W)",
                              mase_show_shape(c, t), mase_show_shape(c, &size));
    struct mase_shape out = { 1, { size.dim[0] } };
    for (int d = 0; d < n; d++)
        mase_shape_push(&out, size.dim[d + 2]);
    mase_shape_push(&out, n);
    mase_call_result(c, theta->dtype, &out);
    return MASE_OK;
}
