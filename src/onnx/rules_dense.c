/*
 * rules_dense.c - products and convolutions. Weights that are tensors of the model give layers,
 * others give function calls.
 */
#include <math.h>
#include <string.h>

#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

static const struct mase_shape *shape_of(struct mase_ox_import *im, const struct mase_ox_value *v)
{
    return &mase_ox_like(im, v)->shape;
}

/* ---- products ---- */

/* The user of output 0, if it has one use, by this operation; else NULL. */
static const struct mase_onnx_node *only_use(struct mase_ox_import *im, const char *op)
{
    const struct mase_ox_use *u = mase_map_get(&im->uses, im->node->output.items[0]);
    return !im->scope->call && u && u->count == 1 && u->by && mase_streq(u->by->op_type, op) &&
                   !u->by->domain[0]
               ? u->by
               : NULL;
}

static bool weight_fits(struct mase_ox_import *im, struct mase_ox_value *v, int rank)
{
    const struct mase_ox_qparams *unused;
    return mase_ox_fits_layer(im, mase_ox_weight(im, v, &unused), rank);
}

/* Must the bias stay exact when the layer is computed in integers? Integers round a bias to the
 * scale of the products if a scale is not a power of two (int_sum.c); a bias that is added after
 * the layer is not rounded. */
static bool keeps_bias(struct mase_ox_import *im, struct mase_ox_value *data,
                       struct mase_ox_value *weight, struct mase_ox_value *bias)
{
    const struct mase_ox_qparams *x, *w;
    mase_ox_data_in(im, data, &x);
    mase_ox_weight(im, weight, &w);
    if (!w || w->format || (x && x->format))
        return true;
    const struct mase_tensor *b = x ? mase_ox_known_tensor(im, bias) : NULL;
    bool scaled = x && !mase_ox_is_power(x->scale[0]), whole = true;
    for (int64_t k = 0; k < w->count; k++)
        scaled |= !mase_ox_is_power(w->scale[k]);
    if (!x) /* sums without rounding, whose scale is unknown */
        return !scaled;
    for (int64_t k = 0; b && k < mase_tensor_count(b); k++) {
        const double step = x->scale[0] * w->scale[k < w->count ? k : 0],
                     value = mase_tensor_get(b, k);
        whole &= (double)((float)rint(value / step) * (float)step) == value;
    }
    if (scaled && !whole)
        return false;
    return b != NULL;
}

/* The operand that the next node adds to the result, one number for each output: a vector, or for a
 * convolution one with trailing dimensions of length 1. */
static struct mase_ox_value *bias_after(struct mase_ox_import *im, struct mase_ox_value *data,
                                        struct mase_ox_value *weight,
                                        const struct mase_onnx_node *add, int64_t outputs,
                                        int spatial)
{
    const char *own = im->node->output.items[0];
    if (!add || add->input.count != 2)
        return NULL;
    const char *other = add->input.items[mase_streq(add->input.items[0], own)];
    struct mase_ox_value *v = mase_map_get(&im->scope->values, other);
    return v && (v->init || v->data || v->base) && weight_fits(im, v, 1 + spatial) &&
                   shape_of(im, v)->dim[0] == outputs &&
                   mase_shape_count(shape_of(im, v)) == outputs && keeps_bias(im, data, weight, v)
               ? v
               : NULL;
}

/* x w^T + b as a layer. The model's weight may be transposed, and rounded as x may be. */
static struct mase_node *linear_layer(struct mase_ox_import *im, struct mase_ox_value *data,
                                      struct mase_ox_value *weight, struct mase_ox_value *bias,
                                      bool transposed)
{
    struct mase_ox_layer_qparams q;
    struct mase_node *x = mase_ox_data_in(im, data, &q.data);
    struct mase_ox_value *w = mase_ox_weight(im, weight, &q.weight),
                         *b = mase_ox_weight(im, bias, &q.bias);
    const struct mase_shape *s = shape_of(im, w);
    const struct mase_ox_value *params[] = { w, b };
    const char *names[] = { "weight", "bias" }, *key = "bias";
    const char *path = mase_ox_layer_path(im, params, names, b ? 2 : 1);
    const struct mase_arg args[] = { ARG_INT(s->dim[transposed ? 0 : 1]),
                                     ARG_INT(s->dim[transposed ? 1 : 0]) };
    const struct mase_arg has_bias = ARG_BOOL(b != NULL);
    struct mase_module *m =
        mase_ox_add_layer(im, path, MASE_OP_linear, args, 2, &key, &has_bias, 1);
    if (!m)
        return NULL;
    const int axis = q.weight ? q.weight->axis : 0;
    q.weight_axis = transposed ? 1 - axis : axis;
    mase_ox_quantise_layer(im, m, &q);
    mase_ox_fill(im, path, "weight", w, transposed);
    if (b)
        mase_ox_fill(im, path, "bias", b, false);
    return mase_ox_emit_layer(im, path, x);
}

/* Is it float32 data of rank 2 or more, not a constant? */
static bool is_data(struct mase_ox_import *im, struct mase_ox_value *v)
{
    const struct mase_ox_qparams *unused;
    struct mase_node *x = mase_ox_data_in(im, v, &unused);
    return x && mase_ox_dtype(im, x) == MASE_F32 && mase_ox_rank(im, x) >= 2 &&
           !mase_ox_result(im, x)->known;
}

struct mase_node *mase_ox_gemm(struct mase_ox_import *im, struct mase_ox_value *x,
                               struct mase_ox_value *w, struct mase_ox_value *c, double alpha,
                               double beta, bool ta, bool tb)
{
    const int64_t outputs = shape_of(im, w)->dim[tb ? 0 : 1];
    const bool bias_fits =
        !c || (c != w && shape_of(im, c)->rank > 0 && weight_fits(im, c, shape_of(im, c)->rank) &&
               shape_of(im, c)->dim[shape_of(im, c)->rank - 1] == outputs &&
               mase_shape_count(shape_of(im, c)) == outputs);
    if (alpha == 1.0 && (beta == 1.0 || !c) && !ta && bias_fits && weight_fits(im, w, 2) &&
        is_data(im, x))
        return linear_layer(im, x, w, c, !tb);
    struct mase_node *a = mase_ox_node_of(im, x), *b = mase_ox_node_of(im, w),
                     *bias = c ? mase_ox_node_of(im, c) : NULL;
    return EMIT(im, MASE_OP_gemm, ARG_NODE(a), ARG_NODE(b), ARG_NODE(bias), ARG_FLOAT(alpha),
                ARG_FLOAT(beta), ARG_INT(ta), ARG_INT(tb));
}

OX_RULE(gemm)
{
    const double alpha = mase_ox_attr_float(im, "alpha", 1.0),
                 beta = mase_ox_attr_float(im, "beta", 1.0);
    const int64_t ta = mase_ox_attr_int(im, "transA", 0), tb = mase_ox_attr_int(im, "transB", 0);
    struct mase_ox_value *x = mase_ox_in(im, 0), *w = mase_ox_in(im, 1), *c = mase_ox_in(im, 2);
    if (im->scope->opset < 7)
        (void)mase_ox_attr_int(im, "broadcast",
                               0); /* operands that do not fit without it are refused */
    if (im->status || !x || !w)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "an operand is missing");
    const struct mase_onnx_node *add = only_use(im, "Add");
    struct mase_ox_value *b = NULL;
    if (!c && alpha == 1.0 && !ta && weight_fits(im, w, 2) && is_data(im, x))
        b = bias_after(im, x, w, add, shape_of(im, w)->dim[tb ? 0 : 1], 0);
    struct mase_node *y =
        mase_ox_gemm(im, x, w, b ? b : c, alpha, b ? 1.0 : beta, ta != 0, tb != 0);
    if (b && y)
        mase_ptrmap_put(&im->absorbed, &im->arena, add, y);
    return mase_ox_out(im, 0, y);
}

struct mase_node *mase_ox_matmul(struct mase_ox_import *im, struct mase_ox_value *a,
                                 struct mase_ox_value *w, struct mase_ox_value *b)
{
    if (weight_fits(im, w, 2) && is_data(im, a))
        return linear_layer(im, a, w, b, true);
    struct mase_node *x = mase_ox_node_of(im, a), *y = mase_ox_node_of(im, w);
    return EMIT(im, MASE_OP_matmul, ARG_NODE(x), ARG_NODE(y));
}

OX_RULE(matmul)
{
    struct mase_ox_value *a = mase_ox_in(im, 0), *w = mase_ox_in(im, 1), *b = NULL;
    if (im->status || !a || !w)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "an operand is missing");
    const struct mase_onnx_node *add = only_use(im, "Add");
    if (weight_fits(im, w, 2) && is_data(im, a))
        b = bias_after(im, a, w, add, shape_of(im, w)->dim[1], 0);
    struct mase_node *y = mase_ox_matmul(im, a, w, b);
    if (b && y)
        mase_ptrmap_put(&im->absorbed, &im->arena, add, y);
    return mase_ox_out(im, 0, y);
}

OX_RULE(einsum)
{
    struct mase_arg args[OX_OPERANDS + 1];
    const int count = im->node->input.count;
    if (count > OX_OPERANDS)
        return mase_ox_fail(im, MASE_ELIMIT, "more than %d operands", OX_OPERANDS);
    args[0] = ARG_TEXT(mase_ox_attr_text(im, "equation", ""));
    for (int i = 0; i < count; i++)
        args[i + 1] = ARG_NODE(mase_ox_x(im, i));
    return mase_ox_out(im, 0, mase_ox_emit(im, MASE_OP_einsum, args, count + 1));
}

/* ---- windows ---- */

static bool read_each(struct mase_ox_import *im, const char *name, int64_t *v, int n, int64_t dflt)
{
    int count = 0;
    const int64_t *given = mase_ox_attr_ints(im, name, &count);
    if (given && count != n) {
        mase_ox_fail(im, MASE_EVALUE, "%s has %d entries, expected %d", name, count, n);
        return false;
    }
    for (int i = 0; i < n; i++)
        v[i] = given ? given[i] : dflt;
    return !im->status;
}

/* Pads that give one result for each stride. */
static void same_pads(struct mase_ox_import *im, struct mase_ox_window *w, struct mase_node *x,
                      bool upper)
{
    for (int i = 0; i < w->n; i++) {
        const int64_t in = mase_ox_tensor(im, x)->shape.dim[i + 2];
        const int64_t out = (in + w->stride[i] - 1) / w->stride[i];
        const int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
        int64_t all = (out - 1) * w->stride[i] + reach - in;
        all = all < 0 ? 0 : all;
        w->before[i] = upper ? all / 2 : all - all / 2;
        w->after[i] = all - w->before[i];
        if (!mase_ox_dim_is_fixed(im, x, i + 2))
            mase_ox_fail(im, MASE_EUNSUPPORTED, "auto_pad along the samples");
    }
}

bool mase_ox_read_window(struct mase_ox_import *im, struct mase_ox_window *w, struct mase_node *x,
                         const int64_t *kernel)
{
    const char *mode = mase_ox_attr_text(im, "auto_pad", "NOTSET");
    int count = 0;
    const int64_t *given = mase_ox_attr_ints(im, "kernel_shape", &count), *pads = NULL;
    w->n = mase_ox_rank(im, x) - 2;
    if (im->status)
        return false;
    if (w->n < 1 || w->n > 3 || (given && count != w->n) || (!given && !kernel)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "expected 1 to 3 spatial dimensions, and a kernel_shape of as many");
        return false;
    }
    for (int i = 0; i < w->n; i++) {
        w->kernel[i] = given ? given[i] : kernel[i];
        if (w->kernel[i] < 1 || (kernel && w->kernel[i] != kernel[i])) {
            mase_ox_fail(im, MASE_EVALUE, "kernel_shape is not that of the weight");
            return false;
        }
    }
    if (!read_each(im, "strides", w->stride, w->n, 1) ||
        !read_each(im, "dilations", w->dilation, w->n, 1))
        return false;
    for (int i = 0; i < w->n; i++)
        if (w->stride[i] < 1 || w->dilation[i] < 1) {
            mase_ox_fail(im, MASE_EVALUE, "strides and dilations must be at least 1");
            return false;
        }
    pads = mase_ox_attr_ints(im, "pads", &count);
    if (pads && count != 2 * w->n) {
        mase_ox_fail(im, MASE_EVALUE, "pads has %d entries, expected %d", count, 2 * w->n);
        return false;
    }
    w->is_same = mase_starts_with(mode, "SAME_");
    w->is_upper = mase_streq(mode, "SAME_UPPER");
    for (int i = 0; i < w->n; i++) {
        const bool use = pads && mase_streq(mode, "NOTSET");
        w->before[i] = use ? pads[i] : 0;
        w->after[i] = use ? pads[i + w->n] : 0;
    }
    if (w->is_same && !w->transposed)
        same_pads(im, w, x, w->is_upper);
    else if (!w->is_same && !mase_streq(mode, "NOTSET") && !mase_streq(mode, "VALID"))
        mase_ox_fail(im, MASE_EVALUE,
                     "auto_pad '%s' is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER", mode);
    return !im->status;
}

bool mase_ox_is_symmetric(const struct mase_ox_window *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->before[i] != w->after[i] || w->before[i] < 0)
            return false;
    return true;
}

/* Pad x explicitly. */
struct mase_node *mase_ox_pad_window(struct mase_ox_import *im, struct mase_ox_window *w,
                                     struct mase_node *x, double value)
{
    int64_t before[MASE_MAX_RANK] = { 0 }, after[MASE_MAX_RANK] = { 0 };
    for (int i = 0; i < w->n; i++) {
        before[i + 2] = w->before[i];
        after[i + 2] = w->after[i];
        w->before[i] = w->after[i] = 0;
    }
    return mase_ox_pad(im, x, before, after, "constant", value);
}

/* ---- convolutions ---- */

struct conv {
    struct mase_ox_window w;
    int64_t groups, output_padding[3];
    struct mase_ox_value *data, *weight, *bias;
    struct mase_node *x;
    const struct mase_ox_qparams *x_qparams; /* of the layer */
};

static const enum mase_op conv_ops[] = { MASE_OP_conv1d, MASE_OP_conv2d, MASE_OP_conv3d };
static const enum mase_op transposed_ops[] = { MASE_OP_convtranspose1d, MASE_OP_convtranspose2d,
                                               MASE_OP_convtranspose3d };

static bool conv_fits_layer(struct mase_ox_import *im, const struct conv *c)
{
    return weight_fits(im, c->weight, c->w.n + 2) &&
           (!c->bias || weight_fits(im, c->bias, shape_of(im, c->bias)->rank)) &&
           is_data(im, c->data);
}

static struct mase_node *conv_layer(struct mase_ox_import *im, const struct conv *c,
                                    enum mase_op op)
{
    struct mase_ox_layer_qparams q = { .data = c->x_qparams };
    struct mase_ox_value *weight = mase_ox_weight(im, c->weight, &q.weight),
                         *bias = mase_ox_weight(im, c->bias, &q.bias);
    static const char *const keys[] = { "stride", "padding", "dilation",
                                        "groups", "bias",    "output_padding" };
    const struct mase_shape *s = shape_of(im, weight);
    const struct mase_ox_value *params[] = { weight, bias };
    const char *names[] = { "weight", "bias" };
    const char *path = mase_ox_layer_path(im, params, names, c->bias ? 2 : 1);
    const int64_t in = c->w.transposed ? s->dim[0] : s->dim[1] * c->groups;
    const int64_t out = c->w.transposed ? s->dim[1] * c->groups : s->dim[0];
    const struct mase_arg args[] = { ARG_INT(in), ARG_INT(out),
                                     mase_ox_int_list(im, c->w.kernel, c->w.n) };
    const struct mase_arg values[] = { mase_ox_int_list(im, c->w.stride, c->w.n),
                                       mase_ox_int_list(im, c->w.before, c->w.n),
                                       mase_ox_int_list(im, c->w.dilation, c->w.n),
                                       ARG_INT(c->groups),
                                       ARG_BOOL(c->bias != NULL),
                                       mase_ox_int_list(im, c->output_padding, c->w.n) };
    struct mase_module *m =
        mase_ox_add_layer(im, path, op, args, 3, keys, values, c->w.transposed ? 6 : 5);
    if (!m)
        return NULL;
    q.weight_axis = q.weight ? q.weight->axis : 0;
    mase_ox_quantise_layer(im, m, &q);
    mase_ox_fill(im, path, "weight", weight, false);
    if (bias)
        mase_ox_fill(im, path, "bias", bias, false);
    return mase_ox_emit_layer(im, path, c->x);
}

static struct mase_node *conv_call(struct mase_ox_import *im, const struct conv *c, enum mase_op op)
{
    struct mase_node *w = mase_ox_node_of(im, c->weight),
                     *b = c->bias ? mase_ox_node_of(im, c->bias) : NULL;
    const struct mase_arg stride = mase_ox_int_list(im, c->w.stride, c->w.n),
                          padding = mase_ox_int_list(im, c->w.before, c->w.n),
                          dilation = mase_ox_int_list(im, c->w.dilation, c->w.n);
    if (!c->w.transposed)
        return EMIT(im, op, ARG_NODE(c->x), ARG_NODE(w), ARG_NODE(b), stride, padding, dilation,
                    ARG_INT(c->groups));
    return EMIT(im, op, ARG_NODE(c->x), ARG_NODE(w), ARG_NODE(b), stride, padding,
                mase_ox_int_list(im, c->output_padding, c->w.n), ARG_INT(c->groups), dilation);
}

static bool read_conv(struct mase_ox_import *im, struct conv *c, bool transposed)
{
    const struct mase_ox_qparams *unused;
    c->w.transposed = transposed;
    c->groups = mase_ox_attr_int(im, "group", 1);
    if (!c->data || !c->weight) {
        mase_ox_fail(im, MASE_EVALUE, "an operand is missing");
        return false;
    }
    c->x = mase_ox_data_in(im, c->data, &unused);
    if (im->status)
        return false;
    if (shape_of(im, c->weight)->rank != mase_ox_rank(im, c->x) || c->groups < 1) {
        mase_ox_fail(im, MASE_EVALUE,
                     "its weight has not the rank of its input, or group is below 1");
        return false;
    }
    return mase_ox_read_window(im, &c->w, c->x, shape_of(im, c->weight)->dim + 2);
}

/* The data operand: a layer rounds it after padding. */
static bool take_data(struct mase_ox_import *im, struct conv *c)
{
    const bool layer = conv_fits_layer(im, c);
    c->x = layer ? mase_ox_data_in(im, c->data, &c->x_qparams) : mase_ox_node_of(im, c->data);
    return layer;
}

struct mase_node *mase_ox_conv(struct mase_ox_import *im, struct mase_ox_value *x,
                               struct mase_ox_value *w, struct mase_ox_value *b)
{
    struct conv c = { .data = x, .weight = w, .bias = b };
    if (!read_conv(im, &c, false))
        return NULL;
    const bool layer = take_data(im, &c), even = mase_ox_is_symmetric(&c.w);
    if (!even && c.x_qparams && !mase_ox_qparams_have_zero(c.x_qparams)) {
        c.x = mase_ox_node_of(im, c.data); /* padding is not rounded */
        c.x_qparams = NULL;
    }
    if (!even)
        c.x = mase_ox_pad_window(im, &c.w, c.x, 0.0);
    const enum mase_op op = conv_ops[c.w.n - 1];
    return im->status ? NULL : layer ? conv_layer(im, &c, op) : conv_call(im, &c, op);
}

OX_RULE(conv)
{
    struct mase_ox_value *x = mase_ox_in(im, 0), *w = mase_ox_in(im, 1), *b = mase_ox_in(im, 2),
                         *behind = NULL;
    const struct mase_onnx_node *add = only_use(im, "Add");
    if (x && w && !b && weight_fits(im, w, shape_of(im, w)->rank) && is_data(im, x))
        behind = bias_after(im, x, w, add, shape_of(im, w)->dim[0], shape_of(im, w)->rank - 2);
    struct mase_node *y = mase_ox_conv(im, x, w, behind ? behind : b);
    if (behind && y)
        mase_ptrmap_put(&im->absorbed, &im->arena, add, y);
    return mase_ox_out(im, 0, y);
}

/* Pads that give the requested shape, or for SAME the input times the stride. */
static bool solve_transposed(struct mase_ox_import *im, struct conv *c)
{
    int count = 0;
    const int64_t *shape = mase_ox_attr_ints(im, "output_shape", &count);
    struct mase_ox_window *w = &c->w;
    if (!read_each(im, "output_padding", c->output_padding, w->n, 0))
        return false;
    if (shape && count != w->n) {
        mase_ox_fail(im, MASE_EVALUE, "output_shape has %d entries, expected %d", count, w->n);
        return false;
    }
    for (int i = 0; i < w->n && (shape || w->is_same); i++) {
        const int64_t in = mase_ox_tensor(im, c->x)->shape.dim[i + 2];
        const int64_t out = shape ? shape[i] : in * w->stride[i];
        const int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
        int64_t all = w->stride[i] * (in - 1) + c->output_padding[i] + reach - out;
        if (all < 0) {
            c->output_padding[i] -= all;
            all = 0;
        }
        w->before[i] = w->is_upper ? all / 2 : all - all / 2;
        w->after[i] = all - w->before[i];
    }
    return !im->status;
}

/* Slice positions before..n - after of the spatial dimensions. */
static struct mase_node *cut(struct mase_ox_import *im, struct mase_node *y,
                             const struct mase_ox_window *w)
{
    for (int i = 0; i < w->n; i++)
        if (w->before[i] || w->after[i])
            y = mase_ox_slice(im, y, i + 2, ARG_INT(w->before[i]),
                              w->after[i] ? ARG_INT(-w->after[i]) : ARG_NONE, 1);
    return y;
}

OX_RULE(conv_transpose)
{
    struct conv c = { .data = mase_ox_in(im, 0),
                      .weight = mase_ox_in(im, 1),
                      .bias = mase_ox_in(im, 2) };
    if (!read_conv(im, &c, true) || !solve_transposed(im, &c))
        return im->status;
    struct mase_ox_window cuts = { .n = c.w.n };
    if (!mase_ox_is_symmetric(&c.w)) {
        cuts = c.w;
        for (int i = 0; i < c.w.n; i++)
            c.w.before[i] = c.w.after[i] = 0;
    }
    const enum mase_op op = transposed_ops[c.w.n - 1];
    const bool layer = take_data(im, &c);
    struct mase_node *y = im->status ? NULL
                          : layer    ? conv_layer(im, &c, op)
                                     : conv_call(im, &c, op);
    return mase_ox_out(im, 0, cut(im, y, &cuts));
}
