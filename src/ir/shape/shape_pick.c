/*
 * shape_pick.c - rules of operations whose every result is one value of the input, or 0: shuffled
 * channels, rolled dimensions, triangles, windows written out. Where each comes from is one
 * function of its place, which the reference and plans ask (struct mase_pick).
 */
#include "ir/shape/shape.h"

#include <string.h>

static enum mase_status need_input(const struct mase_call *c, struct mase_pick *p,
                                   struct mase_err *err)
{
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    p->in = p->out = x->shape;
    p->view = mase_view_of(&x->shape);
    return MASE_OK;
}

/* The offset of place `at`, which has as many dimensions as the input. */
static int64_t offset_of(const struct mase_pick *p, const int64_t *at)
{
    int64_t off = 0;
    for (int d = 0; d < p->in.rank; d++)
        off += at[d] * p->view.stride[d];
    return off;
}

static enum mase_status positive(const struct mase_call *c, int64_t *v, const char *name,
                                 struct mase_err *err)
{
    MASE_TRY(mase_call_int(c, v, name, err));
    if (*v < 1 || *v > INT32_MAX)
        return mase_call_fail(c, err, "%s = %lld must be at least 1", name, (long long)*v);
    return MASE_OK;
}

/* ---- channels and pixels ---- */

static int64_t from_shuffled(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    const int c = p->in.rank - 3;
    const int64_t r = p->n[0];
    memcpy(from, at, sizeof from);
    from[c] = (at[c] * r + at[c + 1] % r) * r + at[c + 2] % r;
    from[c + 1] = at[c + 1] / r;
    from[c + 2] = at[c + 2] / r;
    return offset_of(p, from);
}

static int64_t from_unshuffled(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    const int c = p->in.rank - 3;
    const int64_t r = p->n[0];
    memcpy(from, at, sizeof from);
    from[c] = at[c] / (r * r);
    from[c + 1] = at[c + 1] * r + at[c] / r % r;
    from[c + 2] = at[c + 2] * r + at[c] % r;
    return offset_of(p, from);
}

static enum mase_status plan_pixels(const struct mase_call *c, struct mase_pick *p,
                                    struct mase_err *err)
{
    const bool up = c->node->op == MASE_OP_pixel_shuffle;
    const int k = p->in.rank - 3;
    MASE_TRY(positive(c, &p->n[0], up ? "upscale_factor" : "downscale_factor", err));
    const int64_t r = p->n[0];
    if (k < 0)
        return mase_call_fail(c, err, "input must have at least 3 dimensions, got %s",
                              mase_show_shape(c, &p->in));
    if (up ? p->in.dim[k] % (r * r) : p->in.dim[k + 1] % r || p->in.dim[k + 2] % r)
        return mase_call_fail(c, err, "%s of %s cannot be divided by %lld%s",
                              up ? "the channels" : "height and width", mase_show_shape(c, &p->in),
                              (long long)r, up ? " squared" : "");
    p->out.dim[k] = up ? p->in.dim[k] / (r * r) : p->in.dim[k] * r * r;
    for (int d = k + 1; d < k + 3; d++)
        p->out.dim[d] = up ? p->in.dim[d] * r : p->in.dim[d] / r;
    p->from = up ? from_shuffled : from_unshuffled;
    return MASE_OK;
}

static int64_t from_channels(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    const int64_t groups = p->n[0];
    memcpy(from, at, sizeof from);
    from[1] = at[1] % groups * (p->in.dim[1] / groups) + at[1] / groups;
    return offset_of(p, from);
}

static enum mase_status plan_channels(const struct mase_call *c, struct mase_pick *p,
                                      struct mase_err *err)
{
    MASE_TRY(positive(c, &p->n[0], "groups", err));
    if (p->in.rank < 3 || p->in.dim[1] % p->n[0])
        return mase_call_fail(c, err,
                              "input must have at least 3 dimensions and channels that are a "
                              "multiple of groups = %lld, got %s",
                              (long long)p->n[0], mase_show_shape(c, &p->in));
    p->from = from_channels;
    return MASE_OK;
}

/* ---- along dimensions ---- */

static int64_t from_rolled(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    for (int d = 0; d < p->in.rank; d++)
        from[d] = (at[d] + p->n[d]) % p->in.dim[d];
    return offset_of(p, from);
}

/* All values in one row: what leaves a line at its end goes on in the next. */
static int64_t from_row(const struct mase_pick *p, const int64_t *at)
{
    const int64_t count = mase_shape_count(&p->in);
    return (offset_of(p, at) + p->n[0]) % count;
}

/* How far back, within the length. */
static int64_t backward(int64_t shift, int64_t length)
{
    const int64_t rest = length ? shift % length : 0;
    return rest > 0 ? length - rest : -rest;
}

static enum mase_status plan_roll(const struct mase_call *c, struct mase_pick *p,
                                  struct mase_err *err)
{
    struct mase_shape shift, dim = { 0 };
    const struct mase_arg *dims = mase_call_arg(c, "dims");
    const bool row = !mase_arg_present(dims) || (mase_arg_is_seq(dims) && !dims->count);
    MASE_TRY(mase_call_sizes(c, &shift, "shifts", err));
    if (!row)
        MASE_TRY(mase_call_sizes(c, &dim, "dims", err));
    if (row ? shift.rank != 1 : shift.rank != dim.rank)
        return mase_call_fail(c, err, "shifts and dims must be as many, got %d and %d", shift.rank,
                              dim.rank);
    p->from = row ? from_row : from_rolled;
    if (row)
        p->n[0] = backward(shift.dim[0], mase_shape_count(&p->in));
    for (int i = 0; i < dim.rank; i++) {
        int axis;
        MASE_TRY(mase_call_axis(c, &axis, &p->in, dim.dim[i], err));
        const int64_t length = p->in.rank ? p->in.dim[axis] : 1;
        if (length)
            p->n[axis] = (p->n[axis] + backward(shift.dim[i], length)) % length;
    }
    return MASE_OK;
}

static int64_t from_below(const struct mase_pick *p, const int64_t *at)
{
    const int d = p->in.rank - 2;
    return at[d + 1] - at[d] <= p->n[0] ? offset_of(p, at) : -1;
}

static int64_t from_above(const struct mase_pick *p, const int64_t *at)
{
    const int d = p->in.rank - 2;
    return at[d + 1] - at[d] >= p->n[0] ? offset_of(p, at) : -1;
}

static enum mase_status plan_triangle(const struct mase_call *c, struct mase_pick *p,
                                      struct mase_err *err)
{
    MASE_TRY(mase_call_int(c, &p->n[0], "diagonal", err));
    if (p->in.rank < 2)
        return mase_call_fail(c, err, "input must have at least 2 dimensions, got %s",
                              mase_show_shape(c, &p->in));
    p->from = c->node->op == MASE_OP_tril ? from_below : from_above;
    return MASE_OK;
}

static int64_t from_repeated(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    memcpy(from, at, sizeof from);
    from[p->n[1]] = at[p->n[1]] / p->n[0];
    return offset_of(p, from);
}

static int64_t from_repeated_row(const struct mase_pick *p, const int64_t *at)
{
    return at[0] / p->n[0];
}

static enum mase_status plan_interleave(const struct mase_call *c, struct mase_pick *p,
                                        struct mase_err *err)
{
    int axis = 0;
    if (mase_arg_tensor(mase_call_arg(c, "repeats")))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: repeat_interleave: repeats must be a number, a tensor of them is not "
                         "available",
                         c->node->name);
    MASE_TRY(positive(c, &p->n[0], "repeats", err));
    if (!mase_arg_present(mase_call_arg(c, "dim"))) {
        p->out = (struct mase_shape){ .rank = 1, .dim = { mase_shape_count(&p->in) * p->n[0] } };
        p->from = from_repeated_row;
        return MASE_OK;
    }
    MASE_TRY(mase_call_axis_arg(c, &axis, &p->in, "dim", err));
    if (!p->in.rank)
        return mase_call_fail(c, err, "input must have a dimension to repeat along");
    p->n[1] = axis;
    p->out.dim[axis] *= p->n[0];
    p->from = from_repeated;
    return MASE_OK;
}

static int64_t from_diagonal(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    const int64_t k = at[p->out.rank - 1];
    for (int d = 0, i = 0; d < p->in.rank; d++)
        from[d] = d == p->n[0]   ? k + (p->n[2] < 0 ? -p->n[2] : 0)
                  : d == p->n[1] ? k + (p->n[2] > 0 ? p->n[2] : 0)
                                 : at[i++];
    return offset_of(p, from);
}

/* Across dimensions a and b. */
static enum mase_status plan_across(struct mase_pick *p, int a, int b, int64_t offset)
{
    p->n[0] = a;
    p->n[1] = b;
    p->n[2] = offset;
    p->out.rank = 0;
    for (int d = 0; d < p->in.rank; d++)
        if (d != a && d != b)
            mase_shape_push(&p->out, p->in.dim[d]);
    const int64_t high = p->in.dim[a] + (p->n[2] < 0 ? p->n[2] : 0);
    const int64_t wide = p->in.dim[b] - (p->n[2] > 0 ? p->n[2] : 0);
    const int64_t length = high < wide ? high : wide;
    mase_shape_push(&p->out, length > 0 ? length : 0);
    p->from = from_diagonal;
    return MASE_OK;
}

static enum mase_status plan_diagonal(const struct mase_call *c, struct mase_pick *p,
                                      struct mase_err *err)
{
    int a, b;
    int64_t offset;
    MASE_TRY(mase_call_axis_arg(c, &a, &p->in, "dim1", err));
    MASE_TRY(mase_call_axis_arg(c, &b, &p->in, "dim2", err));
    MASE_TRY(mase_call_int(c, &offset, "offset", err));
    if (a == b || p->in.rank < 2)
        return mase_call_fail(c, err, "dim1 and dim2 must be two dimensions of %s",
                              mase_show_shape(c, &p->in));
    return plan_across(p, a, b, offset);
}

/* A row of values becomes the diagonal of a square, which is 0 elsewhere. */
static int64_t from_vector(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    const int d = p->in.rank - 1;
    memcpy(from, at, sizeof from);
    from[d] = p->n[0] < 0 ? at[d + 1] : at[d];
    return at[d + 1] - at[d] == p->n[0] ? offset_of(p, from) : -1;
}

static enum mase_status plan_square(const struct mase_call *c, struct mase_pick *p, int64_t offset,
                                    struct mase_err *err)
{
    int64_t *length = &p->out.dim[p->in.rank - 1];
    if (p->in.rank == MASE_MAX_RANK || offset > INT32_MAX || offset < -INT32_MAX)
        return mase_call_fail(c, err, "input has too many dimensions, or the diagonal is too far");
    p->n[0] = offset;
    *length += offset < 0 ? -offset : offset;
    mase_shape_push(&p->out, *length);
    p->from = from_vector;
    return MASE_OK;
}

static enum mase_status plan_diag(const struct mase_call *c, struct mase_pick *p,
                                  struct mase_err *err)
{
    int64_t offset;
    MASE_TRY(mase_call_int(c, &offset, "diagonal", err));
    if (p->in.rank != 1 && p->in.rank != 2)
        return mase_call_fail(c, err, "input must have 1 or 2 dimensions, got %s",
                              mase_show_shape(c, &p->in));
    return p->in.rank == 1 ? plan_square(c, p, offset, err) : plan_across(p, 0, 1, offset);
}

/* n: the two dimensions, the offset, and where the vectors' dimension stood: last. */
static int64_t from_embedded(const struct mase_pick *p, const int64_t *at)
{
    const int64_t row = at[p->n[0]], column = at[p->n[1]];
    int64_t from[MASE_MAX_RANK];
    int n = 0;
    if (column - row != p->n[2])
        return -1;
    for (int d = 0; d < p->out.rank; d++)
        if (d != p->n[0] && d != p->n[1])
            from[n++] = at[d];
    from[n] = p->n[2] > 0 ? row : column;
    return offset_of(p, from);
}

static enum mase_status plan_embedded(const struct mase_call *c, struct mase_pick *p,
                                      struct mase_err *err)
{
    MASE_TRY(mase_call_rank(c, p->in.rank + 1, err));
    if (!p->in.rank)
        return mase_call_fail(c, err, "input must be vectors, got a number");
    const struct mase_shape in = p->in;
    struct mase_shape out = { .rank = in.rank + 1 };
    int a, b, n = 0;
    MASE_TRY(mase_call_axis_arg(c, &a, &out, "dim1", err));
    MASE_TRY(mase_call_axis_arg(c, &b, &out, "dim2", err));
    MASE_TRY(mase_call_int(c, &p->n[2], "offset", err));
    if (a == b)
        return mase_call_fail(c, err, "dim1 and dim2 must be two dimensions");
    const int64_t most = MASE_MAX_ELEMENTS, length = in.dim[in.rank - 1];
    if (p->n[2] > most || p->n[2] < -most)
        return mase_call_fail(c, err, "offset = %lld is too large", (long long)p->n[2]);
    for (int d = 0; d < out.rank; d++)
        out.dim[d] = d == a || d == b ? length + (p->n[2] < 0 ? -p->n[2] : p->n[2]) : in.dim[n++];
    p->out = out;
    p->n[0] = a;
    p->n[1] = b;
    p->from = from_embedded;
    return MASE_OK;
}

/* ---- windows written out ---- */

static int64_t from_slid(const struct mase_pick *p, const int64_t *at)
{
    int64_t from[MASE_MAX_RANK];
    memcpy(from, at, sizeof from);
    from[p->n[0]] = at[p->n[0]] * p->n[1] + at[p->in.rank];
    return offset_of(p, from);
}

/* x.unfold(dimension, size, step): the windows become a last dimension. */
static enum mase_status plan_slide(const struct mase_call *c, struct mase_pick *p,
                                   struct mase_err *err)
{
    int axis;
    int64_t size;
    MASE_TRY(mase_call_axis_arg(c, &axis, &p->in, "dimension", err));
    MASE_TRY(positive(c, &size, "size", err));
    MASE_TRY(positive(c, &p->n[1], "step", err));
    MASE_TRY(mase_call_rank(c, p->in.rank + 1, err));
    if (!p->in.rank || size > p->in.dim[axis])
        return mase_call_fail(c, err, "size = %lld does not fit dim %d of %s", (long long)size,
                              axis, mase_show_shape(c, &p->in));
    p->n[0] = axis;
    p->out.dim[axis] = (p->in.dim[axis] - size) / p->n[1] + 1;
    mase_shape_push(&p->out, size);
    p->from = from_slid;
    return MASE_OK;
}

/* Column l of row (c, kh, kw): what window l sees there. */
static int64_t from_window(const struct mase_pick *p, const int64_t *at)
{
    const struct mase_window *w = &p->window;
    const int first = w->batch, row = (int)(at[first] % (w->kernel[0] * w->kernel[1]));
    const int64_t l = at[first + 1];
    const int64_t h =
        l / w->out[1] * w->stride[0] - w->pad[0] + row / w->kernel[1] * w->dilation[0];
    const int64_t v =
        l % w->out[1] * w->stride[1] - w->pad[1] + row % w->kernel[1] * w->dilation[1];
    if (h < 0 || h >= w->in[0] || v < 0 || v >= w->in[1])
        return -1;
    const int64_t channel = at[first] / (w->kernel[0] * w->kernel[1]);
    return (w->batch ? at[0] * p->view.stride[0] : 0) + channel * p->view.stride[first] +
           h * p->view.stride[first + 1] + v * p->view.stride[first + 2];
}

/* image: (N, C, H, W) or (C, H, W). */
static enum mase_status plan_windows(const struct mase_call *c, struct mase_pick *p,
                                     const struct mase_shape *image, struct mase_err *err)
{
    p->in = *image;
    p->view = mase_view_of(image);
    MASE_TRY(mase_unfold_window(c, &p->window, image, err));
    const struct mase_window *w = &p->window;
    p->out.rank = 0;
    if (w->batch)
        mase_shape_push(&p->out, image->dim[0]);
    mase_shape_push(&p->out, image->dim[w->batch] * w->kernel[0] * w->kernel[1]);
    mase_shape_push(&p->out, w->out[0] * w->out[1]);
    p->from = from_window;
    return MASE_OK;
}

/* ---- the rules ---- */

enum mase_status mase_pick_plan(const struct mase_call *c, struct mase_pick *p,
                                struct mase_err *err)
{
    *p = (struct mase_pick){ 0 };
    MASE_TRY(need_input(c, p, err));
    switch (c->node->op) {
    case MASE_OP_pixel_shuffle:
    case MASE_OP_pixel_unshuffle:
        return plan_pixels(c, p, err);
    case MASE_OP_channel_shuffle:
        return plan_channels(c, p, err);
    case MASE_OP_roll:
        return plan_roll(c, p, err);
    case MASE_OP_repeat_interleave:
        return plan_interleave(c, p, err);
    case MASE_OP_diagonal:
        return plan_diagonal(c, p, err);
    case MASE_OP_diag:
        return plan_diag(c, p, err);
    case MASE_OP_diag_embed:
        return plan_embedded(c, p, err);
    case MASE_OP_slide:
        return plan_slide(c, p, err);
    case MASE_OP_unfold:
        return plan_windows(c, p, &p->in, err);
    default:
        return plan_triangle(c, p, err);
    }
}

enum mase_status mase_shape_pick(struct mase_call *c, struct mase_err *err)
{
    struct mase_pick p;
    MASE_TRY(mase_pick_plan(c, &p, err));
    if (mase_call_count(c, &p.out) < 0)
        return mase_call_fail(c, err, "%s is too large", mase_show_shape(c, &p.out));
    mase_call_result(c, mase_call_tensor(c, "input")->dtype, &p.out);
    return MASE_OK;
}

enum mase_status mase_fold_plan(const struct mase_call *c, struct mase_pick *p,
                                struct mase_err *err)
{
    const struct mase_tensor *x;
    int64_t size[2], kernel[2];
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_ints(c, size, 2, "output_size", err));
    MASE_TRY(mase_call_ints(c, kernel, 2, "kernel_size", err));
    const struct mase_shape *s = &x->shape;
    const int first = s->rank == 3;
    const int64_t area = mase_call_count(c, &(struct mase_shape){ 2, { kernel[0], kernel[1] } });
    if ((s->rank != 2 && s->rank != 3) || area < 1 || s->dim[first] % area)
        return mase_call_fail(c, err,
                              "input must be (N, C kernel, windows) or (C kernel, windows), got %s",
                              mase_show_shape(c, s));
    struct mase_shape image = { 0 };
    if (first)
        mase_shape_push(&image, s->dim[0]);
    mase_shape_push(&image, s->dim[first] / area);
    mase_shape_push(&image, size[0]);
    mase_shape_push(&image, size[1]);
    if (mase_call_count(c, &image) < 0)
        return mase_call_fail(c, err, "output_size %s is negative or too large",
                              mase_show_ints(c, size, 2));
    *p = (struct mase_pick){ 0 };
    MASE_TRY(plan_windows(c, p, &image, err));
    if (!mase_shape_equal(&p->out, s))
        return mase_call_fail(c, err, "output_size %s has the windows of %s, got %s",
                              mase_show_ints(c, size, 2), mase_show_shape(c, &p->out),
                              mase_show_shape(c, s));
    return MASE_OK;
}

enum mase_status mase_shape_fold(struct mase_call *c, struct mase_err *err)
{
    struct mase_pick p;
    MASE_TRY(mase_fold_plan(c, &p, err));
    mase_call_result(c, mase_call_tensor(c, "input")->dtype, &p.in);
    return MASE_OK;
}
