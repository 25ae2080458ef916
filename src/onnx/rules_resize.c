/*
 * rules_resize.c - Resize and Upsample: along each axis a product with a constant matrix.
 *
 * In any mode a value of the result is a weighted sum of input values, with weights that depend on
 * the lengths only. The rule computes these weights.
 */
#include <math.h>

#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

struct resize {
    const char *mode, *coordinates, *nearest;
    double cubic, outside;
    bool exclude, antialias;
    /* the current axis */
    int64_t in, out;
    double scale, from, to; /* from, to: the region of tf_crop_and_resize */
};

/* The position in the input that position y of the result samples. */
static double source(const struct resize *r, double y)
{
    const double width = r->scale * (double)r->in, last = (double)r->in - 1;
    if (mase_streq(r->coordinates, "align_corners"))
        return width == 1 ? 0 : y * last / (width - 1);
    if (mase_streq(r->coordinates, "asymmetric"))
        return y / r->scale;
    if (mase_streq(r->coordinates, "tf_crop_and_resize"))
        return r->from * last + (width == 1 ? (r->to - r->from) * last / 2
                                            : y * (r->to - r->from) * last / (width - 1));
    if (mase_streq(r->coordinates, "pytorch_half_pixel") && width == 1)
        return -0.5;
    double offset = 0.0;
    if (mase_streq(r->coordinates, "half_pixel_symmetric"))
        offset = (double)r->in / 2 * (1 - (double)r->out / width);
    return offset + (y + 0.5) / r->scale - 0.5;
}

static double cubic(const struct resize *r, double x)
{
    const double a = r->cubic;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
}

static double linear(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0.0;
}

/* The neighbour that mode nearest takes. */
static double nearest(const struct resize *r, double x)
{
    if (mase_streq(r->nearest, "floor"))
        return floor(x);
    if (mase_streq(r->nearest, "ceil"))
        return ceil(x);
    if (mase_streq(r->nearest, "round_prefer_ceil"))
        return floor(x + 0.5);
    return ceil(x - 0.5);
}

static int64_t within(double k, int64_t n)
{
    return k < 0 ? 0 : k > (double)n - 1 ? n - 1 : (int64_t)k;
}

/* Column y of the matrix, (in): the weight of each input value. */
static void weigh(const struct resize *r, double *column, int64_t y)
{
    const double x = source(r, (double)y);
    const bool is_cubic = mase_streq(r->mode, "cubic");
    const double shrink = r->antialias && r->scale < 1 ? r->scale : 1.0;
    const double reach = (is_cubic ? 2 : 1) / shrink;
    double sum = 0.0, kept = 0.0;
    if (mase_streq(r->mode, "nearest")) {
        column[within(nearest(r, x), r->in)] = 1.0;
        return;
    }
    const int64_t first = (int64_t)ceil(x - reach), last = (int64_t)floor(x + reach);
    for (int64_t i = first; i <= last; i++) {
        const double k = (double)i;
        const double w = is_cubic ? cubic(r, (x - k) * shrink) : linear((x - k) * shrink);
        const bool inside = k >= 0 && k < (double)r->in;
        sum += w;
        kept += inside ? w : 0.0;
        if (inside || !r->exclude)
            column[within(k, r->in)] += w;
    }
    const double all = r->exclude ? kept : sum;
    for (int64_t k = 0; k < r->in && all != 0.0; k++)
        column[k] /= all;
}

/* Resize one dimension by a product with the matrix, (in, out). */
static struct mase_node *resize_axis(struct mase_ox_import *im, const struct resize *r,
                                     struct mase_node *x, int axis)
{
    const struct mase_shape s = { 2, { r->in, r->out } };
    struct mase_tensor t = mase_tensor(&im->arena, mase_ox_dtype(im, x), &s, true);
    double *column = mase_new_array(&im->arena, double, (size_t)r->in);
    const bool crops = mase_streq(r->coordinates, "tf_crop_and_resize");
    bool any_outside = false;
    for (int64_t y = 0; y < r->out; y++) {
        const double at = source(r, (double)y);
        const bool outside = crops && (at < 0 || at > (double)r->in - 1);
        any_outside |= outside;
        for (int64_t k = 0; k < r->in; k++)
            column[k] = 0.0;
        if (!outside)
            weigh(r, column, y);
        for (int64_t k = 0; k < r->in; k++)
            mase_tensor_set(&t, k * r->out + y, column[k]);
    }
    const int last = mase_ox_rank(im, x) - 1;
    x = axis == last ? x : EMIT(im, MASE_OP_transpose, ARG_NODE(x), ARG_INT(axis), ARG_INT(last));
    x = EMIT(im, MASE_OP_matmul, ARG_NODE(x), ARG_NODE(mase_ox_constant(im, &t)));
    if (any_outside) { /* positions outside get the extrapolation value */
        struct mase_tensor o =
            mase_tensor(&im->arena, MASE_DTYPE_BOOL, &(struct mase_shape){ 1, { r->out } }, true);
        for (int64_t y = 0; y < r->out; y++) {
            const double at = source(r, (double)y);
            ((uint8_t *)o.data)[y] = at < 0 || at > (double)r->in - 1;
        }
        x = EMIT(im, MASE_OP_masked_fill, ARG_NODE(x), ARG_NODE(mase_ox_constant(im, &o)),
                 ARG_FLOAT(r->outside));
    }
    return axis == last ? x
                        : EMIT(im, MASE_OP_transpose, ARG_NODE(x), ARG_INT(axis), ARG_INT(last));
}

/* The elements of a constant input. */
static const double *numbers(struct mase_ox_import *im, struct mase_ox_value *v, int *count)
{
    struct mase_node *n = v ? mase_ox_node_of(im, v) : NULL;
    const struct mase_ox_result *r = n ? mase_ox_result(im, n) : NULL;
    *count = 0;
    if (!r)
        return NULL;
    if (!r->known || r->value[0].kind != MASE_ARG_TENSOR) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its input '%s' is known only when the network runs",
                     v->name);
        return NULL;
    }
    *count = (int)mase_tensor_count(r->value[0].tensor);
    double *out = mase_new_array(&im->arena, double, (size_t)*count);
    for (int i = 0; i < *count; i++)
        out[i] = mase_tensor_get(r->value[0].tensor, i);
    return out;
}

struct lengths {
    const double *scales, *sizes, *roi;
    const int64_t *axes;
    int count; /* number of axes */
};

static bool read_lengths(struct mase_ox_import *im, struct lengths *l, int rank)
{
    const bool old = im->scope->opset < 11;
    int scales = 0, sizes = 0, roi = 0;
    l->axes = mase_ox_attr_ints(im, "axes", &l->count);
    l->count = l->axes ? l->count : rank;
    l->roi = old ? NULL : numbers(im, mase_ox_in(im, 1), &roi);
    l->scales = numbers(im, mase_ox_in(im, old ? 1 : 2), &scales);
    l->sizes = old ? NULL : numbers(im, mase_ox_in(im, 3), &sizes);
    l->scales = scales ? l->scales : NULL;
    l->sizes = sizes ? l->sizes : NULL;
    l->roi = roi ? l->roi : NULL;
    if (im->status)
        return false;
    if (!l->scales == !l->sizes || (l->scales && scales != l->count) ||
        (l->sizes && sizes != l->count) || (l->roi && roi != 2 * l->count)) {
        mase_ox_fail(im, MASE_EVALUE, "it needs a scale, or a size, for each axis");
        return false;
    }
    return true;
}

/* One scale for all axes, so that none exceeds, or falls below, the requested size. */
static double common_scale(struct mase_ox_import *im, const struct lengths *l, struct mase_node *x,
                           bool larger)
{
    double scale = larger ? 0.0 : INFINITY;
    for (int i = 0; i < l->count; i++) {
        const int d = mase_ox_axis(im, l->axes ? l->axes[i] : i, mase_ox_rank(im, x));
        const double s = l->sizes[i] / (double)mase_ox_tensor(im, x)->shape.dim[d];
        scale = larger ? fmax(scale, s) : fmin(scale, s);
    }
    return scale;
}

static struct mase_node *resize_all(struct mase_ox_import *im, struct resize *r,
                                    const struct lengths *l, struct mase_node *x,
                                    const char *policy)
{
    const bool stretch = mase_streq(policy, "stretch");
    const double common =
        l->sizes && !stretch ? common_scale(im, l, x, mase_streq(policy, "not_smaller")) : 0.0;
    const bool crops = mase_streq(r->coordinates, "tf_crop_and_resize");
    for (int i = 0; i < l->count && !im->status; i++) {
        const int d = mase_ox_axis(im, l->axes ? l->axes[i] : i, mase_ox_rank(im, x));
        r->in = mase_ox_tensor(im, x)->shape.dim[d];
        r->scale = l->scales ? l->scales[i] : stretch ? l->sizes[i] / (double)r->in : common;
        r->from = l->roi ? l->roi[i] : 0.0;
        r->to = l->roi ? l->roi[i + l->count] : 1.0;
        const double out = l->scales ? floor((double)r->in * r->scale)
                           : stretch ? l->sizes[i]
                                     : floor(common * (double)r->in + 0.5);
        const bool whole = !crops || (r->from == 0.0 && r->to == 1.0);
        if (out == (double)r->in && r->scale == 1.0 && whole)
            continue;
        if (!(fabs(r->from) <= 1e6 && fabs(r->to) <= 1e6)) {
            mase_ox_fail(im, MASE_EVALUE, "its roi is not within 1e6 of the input");
            return NULL;
        }
        if (!(out >= 1 && out <= 1 << 16) || r->in > 1 << 16 || !mase_ox_dim_is_fixed(im, x, d)) {
            mase_ox_fail(im, MASE_EUNSUPPORTED,
                         "axis %d becomes %g long, or is that of the samples", d, out);
            return NULL;
        }
        r->out = (int64_t)out;
        x = resize_axis(im, r, x, d);
    }
    return x;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && !mase_streq(word, *words))
        words++;
    return *words != NULL;
}

OX_RULE(resize)
{
    static const char *const modes[] = { "nearest", "linear", "cubic", NULL };
    static const char *const coordinates[] = { "half_pixel",
                                               "half_pixel_symmetric",
                                               "pytorch_half_pixel",
                                               "align_corners",
                                               "asymmetric",
                                               "tf_crop_and_resize",
                                               NULL };
    static const char *const nearests[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil", NULL };
    static const char *const policies[] = { "stretch", "not_larger", "not_smaller", NULL };
    const bool old = im->scope->opset < 11; /* as Upsample: asymmetric, floor */
    struct resize r = { .mode = mase_ox_attr_text(im, "mode", "nearest") };
    r.coordinates =
        old ? "asymmetric" : mase_ox_attr_text(im, "coordinate_transformation_mode", "half_pixel");
    r.nearest = old ? "floor" : mase_ox_attr_text(im, "nearest_mode", "round_prefer_floor");
    r.cubic = mase_ox_attr_float(im, "cubic_coeff_a", -0.75);
    r.outside = mase_ox_attr_float(im, "extrapolation_value", 0.0);
    r.exclude = mase_ox_attr_int(im, "exclude_outside", 0) != 0;
    r.antialias = mase_ox_attr_int(im, "antialias", 0) != 0;
    const char *policy = mase_ox_attr_text(im, "keep_aspect_ratio_policy", "stretch");
    struct mase_node *x = mase_ox_x(im, 0);
    struct lengths l = { 0 };
    MASE_TRY(im->status);
    if (!is_one_of(r.mode, modes) || !is_one_of(r.coordinates, coordinates) ||
        !is_one_of(r.nearest, nearests) || !is_one_of(policy, policies))
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "mode '%s', '%s', '%s' or policy '%s' is not known", r.mode,
                            r.coordinates, r.nearest, policy);
    if (!mase_dtype_is_float(mase_ox_dtype(im, x)))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "integers are not resized");
    if (!read_lengths(im, &l, mase_ox_rank(im, x)))
        return im->status;
    return mase_ox_out(im, 0, resize_all(im, &r, &l, x, policy));
}

/* ---- sampling at given positions ---- */

/* PyTorch's grid_sample; ONNX has renamed the modes. */
OX_RULE(grid_sample)
{
    const char *mode = mase_ox_attr_text(im, "mode", im->scope->opset < 20 ? "bilinear" : "linear"),
               *edges = mase_ox_attr_text(im, "padding_mode", "zeros");
    const bool corners = mase_ox_attr_int(im, "align_corners", 0) != 0;
    struct mase_node *x = mase_ox_x(im, 0), *grid = mase_ox_x(im, 1);
    if (mase_streq(mode, "linear"))
        mode = "bilinear";
    return GIVE(im, MASE_OP_grid_sample, ARG_NODE(x), ARG_NODE(grid), ARG_TEXT(mode),
                ARG_TEXT(edges), ARG_BOOL(corners));
}

OX_RULE(affine_grid)
{
    const bool corners = mase_ox_attr_int(im, "align_corners", 0) != 0;
    struct mase_node *theta = mase_ox_x(im, 0);
    struct mase_ox_value *size = mase_ox_in(im, 1);
    int count = 0;
    const struct mase_arg *dims = size ? mase_ox_sizes(im, size, &count) : NULL;
    if (im->status || !dims)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no size");
    return GIVE(im, MASE_OP_affine_grid, ARG_NODE(theta), mase_ox_list(im, dims, count),
                ARG_BOOL(corners));
}
