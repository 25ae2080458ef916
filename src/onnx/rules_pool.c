/*
 * rules_pool.c - pooling and normalisation.
 */
#include <math.h>

#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* ---- pooling ---- */

static const enum mase_op average_ops[] = { MASE_OP_avg_pool1d, MASE_OP_avg_pool2d,
                                            MASE_OP_avg_pool3d };
static const enum mase_op max_ops[] = { MASE_OP_max_pool1d, MASE_OP_max_pool2d,
                                        MASE_OP_max_pool3d };

/* PyTorch pads by at most half a window. */
static bool pads_fit(const struct mase_ox_window *w)
{
    bool fit = mase_ox_is_symmetric(w);
    for (int i = 0; i < w->n; i++)
        fit = fit && 2 * w->before[i] <= w->kernel[i];
    return fit;
}

static bool is_dilated(const struct mase_ox_window *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->dilation[i] != 1)
            return true;
    return false;
}

static struct mase_node *average(struct mase_ox_import *im, const struct mase_ox_window *w,
                                 struct mase_node *x, int64_t ceil_mode, bool with_pads)
{
    return EMIT(im, average_ops[w->n - 1], ARG_NODE(x), mase_ox_int_list(im, w->kernel, w->n),
                mase_ox_int_list(im, w->stride, w->n), mase_ox_int_list(im, w->before, w->n),
                ARG_BOOL(ceil_mode != 0), ARG_BOOL(with_pads));
}

OX_RULE(average_pool)
{
    struct mase_ox_window w = { 0 };
    struct mase_node *x = mase_ox_x(im, 0);
    const int64_t ceil_mode = mase_ox_attr_int(im, "ceil_mode", 0);
    const int64_t with_pads = mase_ox_attr_int(im, "count_include_pad", 0);
    if (!mase_ox_read_window(im, &w, x, NULL))
        return im->status;
    if (is_dilated(&w))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "dilations are not computed");
    if (pads_fit(&w))
        return mase_ox_out(im, 0, average(im, &w, x, ceil_mode, with_pads != 0));
    if (ceil_mode)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "ceil_mode with these pads is not computed");
    struct mase_ox_window again = w;
    struct mase_node *y = average(im, &w, mase_ox_pad_window(im, &w, x, 0.0), 0, true);
    if (with_pads)
        return mase_ox_out(im, 0, y);
    /* PyTorch counts the padding: divide by the number of values in the window */
    struct mase_node *ones = EMIT(im, MASE_OP_ones_like, ARG_NODE(x));
    struct mase_node *part =
        average(im, &again, mase_ox_pad_window(im, &again, ones, 0.0), 0, true);
    return GIVE(im, MASE_OP_div, ARG_NODE(y), ARG_NODE(part));
}

OX_RULE(max_pool)
{
    struct mase_ox_window w = { 0 };
    struct mase_node *x = mase_ox_x(im, 0);
    const int64_t ceil_mode = mase_ox_attr_int(im, "ceil_mode", 0);
    (void)mase_ox_attr_int(im, "storage_order", 0); /* of indices, which are not computed */
    if (!mase_ox_read_window(im, &w, x, NULL))
        return im->status;
    if (!pads_fit(&w)) {
        if (ceil_mode || !mase_dtype_is_float(mase_ox_dtype(im, x)))
            return mase_ox_fail(im, MASE_EUNSUPPORTED, "these pads are not computed");
        x = mase_ox_pad_window(im, &w, x, -INFINITY);
    }
    return GIVE(im, max_ops[w.n - 1], ARG_NODE(x), mase_ox_int_list(im, w.kernel, w.n),
                mase_ox_int_list(im, w.stride, w.n), mase_ox_int_list(im, w.before, w.n),
                mase_ox_int_list(im, w.dilation, w.n), ARG_BOOL(ceil_mode != 0));
}

/* (mean of |x|^p times the window)^(1/p) */
OX_RULE(lp_pool)
{
    struct mase_ox_window w = { 0 };
    struct mase_node *x = mase_ox_x(im, 0);
    const int64_t p = mase_ox_attr_int(im, "p", 2),
                  ceil_mode = mase_ox_attr_int(im, "ceil_mode", 0);
    double size = 1.0;
    if (!mase_ox_read_window(im, &w, x, NULL))
        return im->status;
    if (is_dilated(&w) || ceil_mode || p < 1)
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "dilations, ceil_mode and p below 1 are not computed");
    for (int i = 0; i < w.n; i++)
        size *= (double)w.kernel[i];
    x = EMIT(im, MASE_OP_pow, ARG_NODE(EMIT(im, MASE_OP_abs, ARG_NODE(x))), ARG_INT(p));
    x = average(im, &w, mase_ox_pad_window(im, &w, x, 0.0), 0, true);
    x = EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_FLOAT(size));
    return GIVE(im, MASE_OP_pow, ARG_NODE(x), ARG_FLOAT(1.0 / (double)p));
}

OX_RULE(global_pool)
{
    static const enum mase_op average[] = { MASE_OP_adaptive_avg_pool1d,
                                            MASE_OP_adaptive_avg_pool2d,
                                            MASE_OP_adaptive_avg_pool3d },
                              max[] = { MASE_OP_adaptive_max_pool1d, MASE_OP_adaptive_max_pool2d,
                                        MASE_OP_adaptive_max_pool3d };
    const enum mase_op *ops = im->rule->op == average[1] ? average : max;
    struct mase_node *x = mase_ox_x(im, 0);
    const int n = mase_ox_rank(im, x) - 2;
    MASE_TRY(im->status);
    if (n < 1 || n > 3)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "expected 1 to 3 spatial dimensions");
    return GIVE(im, ops[n - 1], ARG_NODE(x), ARG_INT(1));
}

OX_RULE(global_lp_pool)
{
    const int64_t p = mase_ox_attr_int(im, "p", 2);
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_arg axes[MASE_MAX_RANK];
    const int rank = mase_ox_rank(im, x);
    for (int d = 2; d < rank; d++)
        axes[d - 2] = ARG_INT(d);
    x = EMIT(im, MASE_OP_pow, ARG_NODE(EMIT(im, MASE_OP_abs, ARG_NODE(x))), ARG_INT(p));
    x = EMIT(im, MASE_OP_sum, ARG_NODE(x), mase_ox_list(im, axes, rank - 2), ARG_BOOL(true));
    return GIVE(im, MASE_OP_pow, ARG_NODE(x), ARG_FLOAT(1.0 / (double)p));
}

/* ---- normalisation ---- */

static const char *const norm_params[] = { "weight", "bias", "running_mean", "running_var" };

static enum mase_status batch_norm_layer(struct mase_ox_import *im, struct mase_node *x,
                                         struct mase_ox_value **v, double momentum, double eps)
{
    static const enum mase_op ops[] = { MASE_OP_batch_norm1d, MASE_OP_batch_norm1d,
                                        MASE_OP_batch_norm2d, MASE_OP_batch_norm3d };
    static const char *const keys[] = { "eps", "momentum" };
    const char *path =
        mase_ox_layer_path(im, (const struct mase_ox_value *const *)v, norm_params, 4);
    const struct mase_arg channels = ARG_INT(mase_ox_tensor(im, x)->shape.dim[1]);
    const struct mase_arg values[] = { ARG_FLOAT(eps),
                                       ARG_FLOAT(mase_ox_as_written((float)(1.0 - momentum))) };
    if (!mase_ox_add_layer(im, path, ops[mase_ox_rank(im, x) - 2], &channels, 1, keys, values, 2))
        return im->status;
    for (int i = 0; i < 4; i++)
        mase_ox_fill(im, path, norm_params[i], v[i], false);
    return mase_ox_out(im, 0, mase_ox_emit_layer(im, path, x));
}

OX_RULE(batch_norm)
{
    const double eps = mase_ox_attr_float(im, "epsilon", 1e-5f),
                 momentum = mase_ox_attr_float(im, "momentum", 0.9f);
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *v[4] = { mase_ox_in(im, 1), mase_ox_in(im, 2), mase_ox_in(im, 3),
                                   mase_ox_in(im, 4) };
    if (im->scope->opset < 7 && !mase_ox_attr_int(im, "is_test", 0))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "is_test is 0: it would train");
    if (mase_ox_attr_int(im, "training_mode", 0) || mase_ox_attr_int(im, "spatial", 1) != 1)
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "training_mode and spatial = 0 are not computed");
    const int rank = mase_ox_rank(im, x);
    bool layer = rank >= 2 && rank <= 5 && mase_ox_dtype(im, x) == MASE_F32;
    for (int i = 0; i < 4 && !im->status; i++) {
        if (!v[i])
            return mase_ox_fail(im, MASE_EVALUE, "input %d is missing", i + 1);
        layer = layer && mase_ox_fits_layer(im, v[i], 1);
        for (int k = 0; k < i; k++)
            layer = layer && v[i] != v[k];
    }
    MASE_TRY(im->status);
    if (layer)
        return batch_norm_layer(im, x, v, momentum, eps);
    struct mase_node *scale = mase_ox_node_of(im, v[0]), *bias = mase_ox_node_of(im, v[1]);
    struct mase_node *mean = mase_ox_node_of(im, v[2]), *var = mase_ox_node_of(im, v[3]);
    return GIVE(im, MASE_OP_batch_norm, ARG_NODE(x), ARG_NODE(mean), ARG_NODE(var), ARG_NODE(scale),
                ARG_NODE(bias), ARG_BOOL(false),
                ARG_FLOAT(mase_ox_as_written((float)(1.0 - momentum))), ARG_FLOAT(eps));
}

OX_RULE(instance_norm)
{
    const double eps = mase_ox_attr_float(im, "epsilon", 1e-5f);
    struct mase_node *x = mase_ox_x(im, 0), *scale = mase_ox_x(im, 1), *bias = mase_ox_x(im, 2);
    MASE_TRY(im->status);
    const struct mase_arg args[] = { ARG_NODE(x),     ARG_NONE,       ARG_NONE,
                                     ARG_NODE(scale), ARG_NODE(bias), ARG_BOOL(true),
                                     ARG_FLOAT(0.1),  ARG_FLOAT(eps) };
    return mase_ox_out(
        im, 0,
        mase_ox_emit_target(im, MASE_CALL_FUNCTION, "torch.nn.functional.instance_norm", args, 8));
}

/* The dimensions of x from axis on. */
static struct mase_arg trailing(struct mase_ox_import *im, struct mase_node *x, int axis)
{
    const struct mase_shape *s = &mase_ox_tensor(im, x)->shape;
    for (int d = axis; d < s->rank; d++)
        if (!mase_ox_dim_is_fixed(im, x, d))
            mase_ox_fail(im, MASE_EUNSUPPORTED, "it normalises over the samples");
    return mase_ox_int_list(im, s->dim + axis, s->rank - axis);
}

/* mean and 1 / sqrt(var + eps) along the trailing dimensions, kept with length 1. */
static enum mase_status norm_statistics(struct mase_ox_import *im, struct mase_node *x, int axis,
                                        double eps)
{
    struct mase_arg axes[MASE_MAX_RANK];
    const int rank = mase_ox_rank(im, x);
    for (int d = axis; d < rank; d++)
        axes[d - axis] = ARG_INT(d);
    const struct mase_arg dims = mase_ox_list(im, axes, rank - axis);
    if (mase_ox_has_out(im, 1))
        mase_ox_out(im, 1, EMIT(im, MASE_OP_mean, ARG_NODE(x), dims, ARG_BOOL(true)));
    if (mase_ox_has_out(im, 2)) {
        struct mase_node *var =
            EMIT(im, MASE_OP_var, ARG_NODE(x), dims, ARG_BOOL(false), ARG_BOOL(true));
        mase_ox_out(im, 2,
                    EMIT(im, MASE_OP_rsqrt,
                         ARG_NODE(EMIT(im, MASE_OP_add, ARG_NODE(var), ARG_FLOAT(eps)))));
    }
    return im->status;
}

static bool has_shape(struct mase_ox_import *im, struct mase_node *n, const struct mase_arg *dims)
{
    const struct mase_shape *s = &mase_ox_tensor(im, n)->shape;
    bool same = s->rank == dims->count;
    for (int d = 0; same && d < s->rank; d++)
        same = s->dim[d] == dims->items[d].i;
    return same;
}

/* Can v be a parameter of the layer: a tensor of the model with these dimensions? */
static bool norm_fits(struct mase_ox_import *im, struct mase_ox_value *v,
                      const struct mase_arg *dims)
{
    if (!v || !mase_ox_fits_layer(im, v, dims->count))
        return false;
    const struct mase_shape *s = &mase_ox_like(im, v)->shape;
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] != dims->items[d].i)
            return false;
    return true;
}

OX_RULE(layer_norm)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", -1), mase_ox_rank(im, x));
    const double eps = mase_ox_attr_float(im, "epsilon", 1e-5f);
    struct mase_ox_value *w = mase_ox_in(im, 1), *b = mase_ox_in(im, 2);
    (void)mase_ox_attr_int(im, "stash_type", 1); /* the reference computes in double */
    MASE_TRY(im->status);
    const struct mase_arg dims = trailing(im, x, axis);
    MASE_TRY(norm_statistics(im, x, axis, eps));
    if (norm_fits(im, w, &dims) && norm_fits(im, b, &dims) && w != b &&
        mase_ox_dtype(im, x) == MASE_F32) {
        const struct mase_ox_value *params[] = { w, b };
        const char *path = mase_ox_layer_path(im, params, norm_params, 2), *key = "eps";
        const struct mase_arg value = ARG_FLOAT(eps);
        if (!mase_ox_add_layer(im, path, MASE_OP_layer_norm, &dims, 1, &key, &value, 1))
            return im->status;
        mase_ox_fill(im, path, "weight", w, false);
        mase_ox_fill(im, path, "bias", b, false);
        return mase_ox_out(im, 0, mase_ox_emit_layer(im, path, x));
    }
    struct mase_node *scale = w ? mase_ox_node_of(im, w) : NULL,
                     *bias = b ? mase_ox_node_of(im, b) : NULL;
    MASE_TRY(im->status);
    if (scale && has_shape(im, scale, &dims) && (!bias || has_shape(im, bias, &dims)))
        return GIVE(im, MASE_OP_layer_norm, ARG_NODE(x), dims, ARG_NODE(scale), ARG_NODE(bias),
                    ARG_FLOAT(eps));
    struct mase_node *y =
        EMIT(im, MASE_OP_layer_norm, ARG_NODE(x), dims, ARG_NONE, ARG_NONE, ARG_FLOAT(eps));
    y = scale ? EMIT(im, MASE_OP_mul, ARG_NODE(y), ARG_NODE(scale)) : y;
    return mase_ox_out(im, 0, bias ? EMIT(im, MASE_OP_add, ARG_NODE(y), ARG_NODE(bias)) : y);
}

OX_RULE(rms_norm)
{
    struct mase_node *x = mase_ox_x(im, 0), *scale = mase_ox_x(im, 1);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", -1), mase_ox_rank(im, x));
    const double eps = mase_ox_attr_float(im, "epsilon", 1e-5f);
    (void)mase_ox_attr_int(im, "stash_type", 1);
    MASE_TRY(im->status);
    const struct mase_arg dims = trailing(im, x, axis);
    if (has_shape(im, scale, &dims))
        return GIVE(im, MASE_OP_rms_norm, ARG_NODE(x), dims, ARG_NODE(scale), ARG_FLOAT(eps));
    struct mase_node *y = EMIT(im, MASE_OP_rms_norm, ARG_NODE(x), dims, ARG_NONE, ARG_FLOAT(eps));
    return GIVE(im, MASE_OP_mul, ARG_NODE(y), ARG_NODE(scale));
}

/* Scale and bias are for each channel; until opset 20, for each group. */
OX_RULE(group_norm)
{
    const double eps = mase_ox_attr_float(im, "epsilon", 1e-5f);
    const int64_t groups = mase_ox_attr_int(im, "num_groups", 0);
    struct mase_node *x = mase_ox_x(im, 0), *scale = mase_ox_x(im, 1), *bias = mase_ox_x(im, 2);
    if (im->scope->opset >= 21) {
        (void)mase_ox_attr_int(im, "stash_type", 1);
    } else {
        if (im->status || groups < 1)
            return mase_ox_fail(im, MASE_EVALUE, "num_groups must be at least 1");
        const int64_t each = mase_ox_tensor(im, x)->shape.dim[1] / groups;
        scale = EMIT(im, MASE_OP_repeat_interleave, ARG_NODE(scale), ARG_INT(each));
        bias = EMIT(im, MASE_OP_repeat_interleave, ARG_NODE(bias), ARG_INT(each));
    }
    return GIVE(im, MASE_OP_group_norm, ARG_NODE(x), ARG_INT(groups), ARG_NODE(scale),
                ARG_NODE(bias), ARG_FLOAT(eps));
}

/* x / |x| along axis, 0 where the norm is 0. */
OX_RULE(lp_normalization)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", -1), mase_ox_rank(im, x));
    const int64_t p = mase_ox_attr_int(im, "p", 2);
    if (!im->status && p != 1 && p != 2)
        return mase_ox_fail(im, MASE_EVALUE, "p is neither 1 nor 2");
    struct mase_node *n =
        EMIT(im, MASE_OP_vector_norm, ARG_NODE(x), ARG_INT(p), ARG_INT(axis), ARG_BOOL(true));
    struct mase_node *zero = EMIT(im, MASE_OP_eq, ARG_NODE(n), ARG_FLOAT(0.0));
    struct mase_node *y =
        EMIT(im, MASE_OP_div, ARG_NODE(x),
             ARG_NODE(EMIT(im, MASE_OP_masked_fill, ARG_NODE(n), ARG_NODE(zero), ARG_FLOAT(1.0))));
    return mase_ox_out(im, 0, y);
}

/* x / (bias + alpha / size * the sum of squares of size channels around)^beta */
OX_RULE(lrn)
{
    const double alpha = mase_ox_attr_float(im, "alpha", 1e-4f),
                 beta = mase_ox_attr_float(im, "beta", 0.75);
    const double bias = mase_ox_attr_float(im, "bias", 1.0);
    const int64_t size = mase_ox_attr_int(im, "size", 0);
    struct mase_node *x = mase_ox_x(im, 0);
    int64_t before[MASE_MAX_RANK] = { 0 }, after[MASE_MAX_RANK] = { 0 };
    struct mase_node *sum = NULL;
    if (im->status || size < 1 || mase_ox_rank(im, x) < 2)
        return mase_ox_fail(im, MASE_EVALUE, "size must be at least 1, of 2 dimensions or more");
    const int64_t channels = mase_ox_tensor(im, x)->shape.dim[1];
    if (size > 64)
        return mase_ox_fail(im, MASE_ELIMIT, "size is above 64");
    before[1] = (size - 1) / 2;
    after[1] = size / 2;
    struct mase_node *squares = mase_ox_pad(im, EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_NODE(x)),
                                            before, after, "constant", 0.0);
    for (int64_t k = 0; k < size; k++) {
        struct mase_node *part =
            EMIT(im, MASE_OP_narrow, ARG_NODE(squares), ARG_INT(1), ARG_INT(k), ARG_INT(channels));
        sum = sum ? EMIT(im, MASE_OP_add, ARG_NODE(sum), ARG_NODE(part)) : part;
    }
    sum = EMIT(im, MASE_OP_add,
               ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(sum), ARG_FLOAT(alpha / (double)size))),
               ARG_FLOAT(bias));
    return GIVE(im, MASE_OP_div, ARG_NODE(x),
                ARG_NODE(EMIT(im, MASE_OP_pow, ARG_NODE(sum), ARG_FLOAT(beta))));
}

OX_RULE(mean_variance_norm)
{
    static const int64_t usual[] = { 0, 2, 3 };
    int count = 0;
    const int64_t *given = mase_ox_attr_ints(im, "axes", &count);
    const struct mase_arg axes =
        given ? mase_ox_int_list(im, given, count) : mase_ox_int_list(im, usual, 3);
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_node *centred =
        EMIT(im, MASE_OP_sub, ARG_NODE(x),
             ARG_NODE(EMIT(im, MASE_OP_mean, ARG_NODE(x), axes, ARG_BOOL(true))));
    struct mase_node *var = EMIT(
        im, MASE_OP_mean, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(centred), ARG_NODE(centred))),
        axes, ARG_BOOL(true));
    struct mase_node *std =
        EMIT(im, MASE_OP_add, ARG_NODE(EMIT(im, MASE_OP_sqrt, ARG_NODE(var))), ARG_FLOAT(1e-9f));
    return GIVE(im, MASE_OP_div, ARG_NODE(centred), ARG_NODE(std));
}
