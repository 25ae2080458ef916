/*
 * export_ops.c - write instructions as nodes of ONNX (export.def).
 *
 * A rule reads the instruction as a call for one sample, so that numbers have their defaults and
 * shapes are known. An operation that ONNX cannot express exactly is refused.
 */
#include <math.h>

#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "onnx/export_parts.h"
#include "program/program_parts.h"

/* The operands and results of a rule. */
struct out {
    struct mase_ow_export *e;
    const struct mase_instr *i;
    struct mase_pcall k; /* the call for one sample */
    const char *onnx;
    enum mase_dtype dtype; /* type of the result */
    const char *x;         /* the first operand, in this type */
    const char *like;      /* a name for the result */
    struct mase_err *err;
};
typedef enum mase_status out_fn(struct out *o, const char **name);

static enum mase_status give(const char **name, const struct mase_onnx_node *n)
{
    *name = mase_ow_output(n);
    return MASE_OK;
}

static const struct mase_shape *shape_of(const struct out *o, int param)
{
    return &o->k.call.param[param].tensor->shape;
}

/* ---- elementwise, one operand ---- */

static enum mase_status out_unary(struct out *o, const char **name)
{
    return give(name, mase_ow_node(o->e, o->onnx, o->like, o->x, NULL));
}

static enum mase_status out_silu(struct out *o, const char **name)
{
    const char *s = mase_ow_output(mase_ow_node(o->e, "Sigmoid", "sigmoid", o->x, NULL));
    return give(name, mase_ow_node(o->e, "Mul", o->like, o->x, s, NULL));
}

static enum mase_status out_gelu(struct out *o, const char **name)
{
    const struct mase_arg *how = mase_call_arg(&o->k.call, "approximate");
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, NULL);
    mase_ow_text(o->e, n, "approximate",
                 how->kind == MASE_ARG_TEXT && mase_streq(how->s, "tanh") ? "tanh" : "none");
    return give(name, n);
}

/* A node with one attribute that is a number of the call. */
static enum mase_status with_number(struct out *o, const char **name, const char *attribute,
                                    const char *param)
{
    double v;
    MASE_TRY(mase_call_float(&o->k.call, &v, param, o->err));
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, NULL);
    mase_ow_float(o->e, n, attribute, v);
    return give(name, n);
}

static enum mase_status out_leaky_relu(struct out *o, const char **name)
{
    return with_number(o, name, "alpha", "negative_slope");
}

static enum mase_status out_elu(struct out *o, const char **name)
{
    return with_number(o, name, "alpha", "alpha");
}

/* relu6(x + 3) / 6 */
static enum mase_status out_hardsigmoid(struct out *o, const char **name)
{
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, NULL);
    mase_ow_float(o->e, n, "alpha", 1.0 / 6);
    mase_ow_float(o->e, n, "beta", 0.5);
    return give(name, n);
}

static enum mase_status clip(struct out *o, const char **name, double lo, double hi)
{
    const struct mase_arg bound[] = { mase_arg_float(lo), mase_arg_float(hi) };
    const char *least = mase_ow_number_of(o->e, o->dtype, &bound[0]),
               *most = mase_ow_number_of(o->e, o->dtype, &bound[1]);
    return give(name, mase_ow_node(o->e, o->onnx, o->like, o->x, least, most, NULL));
}

static enum mase_status out_hardtanh(struct out *o, const char **name)
{
    double lo, hi;
    MASE_TRY(mase_call_float(&o->k.call, &lo, "min_val", o->err));
    MASE_TRY(mase_call_float(&o->k.call, &hi, "max_val", o->err));
    return clip(o, name, lo, hi);
}

static enum mase_status out_relu6(struct out *o, const char **name)
{
    return clip(o, name, 0, 6);
}

/* ---- elementwise, two operands ---- */

static enum mase_status out_binary(struct out *o, const char **name)
{
    const char *y = mase_ow_value_as(o->e, &o->i->param[1], o->dtype);
    if (!y)
        return mase_ow_refuse(o->e, o->err, "an operand that follows the number of samples");
    return give(name, mase_ow_node(o->e, o->onnx, o->like, o->x, y, NULL));
}

static enum mase_status out_sum(struct out *o, const char **name)
{
    const struct mase_arg *alpha = mase_call_arg(&o->k.call, "alpha");
    if (!(alpha->kind == MASE_ARG_INT && alpha->i == 1) &&
        !(alpha->kind == MASE_ARG_FLOAT && alpha->f == 1.0))
        return mase_ow_refuse(o->e, o->err, "alpha is not 1");
    return out_binary(o, name);
}

static enum mase_status out_div(struct out *o, const char **name)
{
    const struct mase_arg *mode = mase_call_arg(&o->k.call, "rounding_mode");
    if (mode && mase_arg_present(mode))
        return mase_ow_refuse(o->e, o->err, "a division that rounds");
    return out_binary(o, name);
}

/* ONNX leaves floats beyond the integer range open; its runtime on x86 gives PyTorch's result. */
static enum mase_status out_cast(struct out *o, const char **name)
{
    const char *x = mase_ow_value(o->e, &o->i->param[0]);
    if (!x)
        return mase_ow_refuse(o->e, o->err, "what it casts is no tensor");
    *name = mase_ow_cast(o->e, o->like, x, o->dtype);
    return MASE_OK;
}

/* ---- layers ---- */

/* The name of a layer's node; a node that follows it takes the layer's name instead. */
static const char *layer_like(const struct out *o, const struct mase_ow_operands *w)
{
    return w->bias_after || w->block_fusion ? "product" : o->like;
}

/* The nodes that follow a layer (export_weight.c). */
static enum mase_status give_layer(struct out *o, const char **name,
                                   const struct mase_ow_operands *w, struct mase_onnx_node *n)
{
    const char *y = mase_ow_output(n);
    if (w->bias_after)
        y = mase_ow_output(
            mase_ow_node(o->e, "Add", w->block_fusion ? "sum" : o->like, y, w->bias_after, NULL));
    if (w->block_fusion)
        y = mase_ow_block_fusion(o->e, o->like, y);
    *name = y;
    return MASE_OK;
}

static enum mase_status out_linear(struct out *o, const char **name)
{
    const bool matrix = shape_of(o, 0)->rank == 2;
    struct mase_ow_operands w =
        mase_ow_layer(o->e, o->i, (struct mase_ow_layout){ .transposed = !matrix });
    if (matrix) {
        struct mase_onnx_node *n = mase_ow_node(o->e, "Gemm", layer_like(o, &w), o->x, w.weight,
                                                w.bias ? w.bias : "", NULL);
        mase_ow_int(o->e, n, "transB", 1);
        return give_layer(o, name, &w, n);
    }
    w.bias_after = w.bias ? w.bias : w.bias_after;
    return give_layer(o, name, &w,
                      mase_ow_node(o->e, "MatMul", layer_like(o, &w), o->x, w.weight, NULL));
}

/* Set kernel, strides and pads of a window. */
static void set_window(struct out *o, struct mase_onnx_node *n, const struct mase_window *w)
{
    int64_t pads[6];
    for (int d = 0; d < w->n; d++) {
        pads[d] = w->pad[d];
        pads[w->n + d] = w->pad_end[d];
    }
    mase_ow_ints(o->e, n, "kernel_shape", w->kernel, w->n);
    mase_ow_ints(o->e, n, "strides", w->stride, w->n);
    mase_ow_ints(o->e, n, "pads", pads, 2 * w->n);
}

static enum mase_status out_conv(struct out *o, const char **name)
{
    struct mase_window w;
    MASE_TRY(mase_conv_window(&o->k.call, &w, o->err));
    if (!w.batch || w.mode != MASE_PAD_ZEROS)
        return mase_ow_refuse(o->e, o->err, "a convolution without a batch, or with such edges");
    struct mase_ow_operands p =
        mase_ow_layer(o->e, o->i, (struct mase_ow_layout){ .spatial = w.n });
    struct mase_onnx_node *n =
        mase_ow_node(o->e, o->onnx, layer_like(o, &p), o->x, p.weight, p.bias ? p.bias : "", NULL);
    set_window(o, n, &w);
    mase_ow_ints(o->e, n, "dilations", w.dilation, w.n);
    mase_ow_int(o->e, n, "group", w.groups);
    return give_layer(o, name, &p, n);
}

/* Ones or zeros, if a layer has no scale or shift. */
static const char *filled(struct out *o, const char *like, const struct mase_shape *s, double v)
{
    struct mase_tensor t = mase_tensor(o->e->a, o->dtype, s, true);
    for (int64_t k = 0; k < mase_tensor_count(&t); k++)
        mase_tensor_set(&t, k, v);
    return mase_ow_constant(o->e, like, mase_onnx_type_of(o->dtype), s, t.data,
                            (size_t)mase_tensor_bytes(&t));
}

static enum mase_status out_batch_norm(struct out *o, const char **name)
{
    const struct mase_shape *s = shape_of(o, 0);
    double eps;
    MASE_TRY(mase_call_float(&o->k.call, &eps, "eps", o->err));
    const char *mean = mase_ow_value(o->e, &o->i->param[1]),
               *var = mase_ow_value(o->e, &o->i->param[2]),
               *scale = mase_ow_value(o->e, &o->i->param[3]),
               *shift = mase_ow_value(o->e, &o->i->param[4]);
    if (!mean || !var || mase_call_training(&o->k.call, "training", false))
        return mase_ow_refuse(o->e, o->err, "batch norm by the statistics of the batch");
    const struct mase_shape channels = { 1, { s->rank > 1 ? s->dim[1] : 1 } };
    scale = scale ? scale : filled(o, "ones", &channels, 1);
    shift = shift ? shift : filled(o, "zeros", &channels, 0);
    struct mase_onnx_node *n =
        mase_ow_node(o->e, o->onnx, o->like, o->x, scale, shift, mean, var, NULL);
    mase_ow_float(o->e, n, "epsilon", eps);
    return give(name, n);
}

static enum mase_status out_layer_norm(struct out *o, const char **name)
{
    const struct mase_arg *shape = mase_call_arg(&o->k.call, "normalized_shape");
    const int count = mase_arg_is_seq(shape) ? shape->count : 1;
    double eps;
    MASE_TRY(mase_call_float(&o->k.call, &eps, "eps", o->err));
    const struct mase_sig *sig = mase_op_call_sig(o->i->op);
    const char *scale = NULL, *shift = NULL;
    for (int p = 0; p < sig->count; p++) {
        if (mase_streq(sig->param[p].name, "weight"))
            scale = mase_ow_value(o->e, &o->i->param[p]);
        if (mase_streq(sig->param[p].name, "bias"))
            shift = mase_ow_value(o->e, &o->i->param[p]);
    }
    if (!scale) {
        const struct mase_shape *s = shape_of(o, 0);
        struct mase_shape last = { .rank = count };
        for (int d = 0; d < count; d++)
            last.dim[d] = s->dim[s->rank - count + d];
        scale = filled(o, "ones", &last, 1);
    }
    struct mase_onnx_node *n =
        mase_ow_node(o->e, o->onnx, o->like, o->x, scale, shift ? shift : "", NULL);
    mase_ow_int(o->e, n, "axis", -count);
    mase_ow_float(o->e, n, "epsilon", eps);
    return give(name, n);
}

static enum mase_status out_embedding(struct out *o, const char **name)
{
    const struct mase_arg *norm = mase_call_arg(&o->k.call, "max_norm");
    const char *weight = mase_ow_value(o->e, &o->i->param[1]);
    if (norm && mase_arg_present(norm))
        return mase_ow_refuse(o->e, o->err, "an embedding with max_norm");
    const char *at = mase_ow_value_as(o->e, &o->i->param[0], MASE_I64);
    if (!weight || !at)
        return mase_ow_refuse(o->e, o->err, "what it looks up is no tensor");
    return give(name, mase_ow_node(o->e, o->onnx, o->like, weight, at, NULL));
}

/* ---- windows ---- */

/* ceil_mode, if a window extends beyond the input. */
static enum mase_status out_pool(struct out *o, const char **name)
{
    struct mase_window w;
    const bool average = mase_streq(o->onnx, "AveragePool");
    MASE_TRY(mase_pool_window(&o->k.call, &w, o->err));
    const struct mase_arg *divisor = average ? mase_call_arg(&o->k.call, "divisor_override") : NULL;
    if (!w.batch || (divisor && mase_arg_present(divisor)))
        return mase_ow_refuse(o->e, o->err, "a pool without a batch, or with divisor_override");
    if (mase_call_flag(&o->k.call, "ceil_mode"))
        return mase_ow_refuse(o->e, o->err,
                              "ceil_mode, whose last window other programs take "
                              "otherwise");
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, NULL);
    for (int d = 0; d < w.n; d++)
        w.pad_end[d] = w.pad[d];
    set_window(o, n, &w);
    if (average)
        mase_ow_int(o->e, n, "count_include_pad", mase_call_flag(&o->k.call, "count_include_pad"));
    else
        mase_ow_ints(o->e, n, "dilations", w.dilation, w.n);
    return give(name, n);
}

static enum mase_status out_adaptive(struct out *o, const char **name)
{
    struct mase_window w;
    MASE_TRY(mase_adaptive_window(&o->k.call, &w, o->err));
    for (int d = 0; d < w.n; d++)
        if (w.out[d] != 1 || !w.batch)
            return mase_ow_refuse(o->e, o->err, "an adaptive pool to more than one place");
    return out_unary(o, name);
}

/* ---- along dimensions ---- */

static enum mase_status out_softmax(struct out *o, const char **name)
{
    const struct mase_shape *s = shape_of(o, 0);
    const struct mase_arg *dim = mase_call_arg(&o->k.call, "dim");
    const int axis = dim->kind == MASE_ARG_INT ? mase_shape_axis(s, dim->i) : -1;
    if (axis < 0)
        return mase_ow_refuse(o->e, o->err, "softmax without dim");
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, NULL);
    mase_ow_int(o->e, n, "axis", axis);
    return give(name, n);
}

static enum mase_status out_reduce(struct out *o, const char **name)
{
    const struct mase_shape *s = shape_of(o, 0);
    const struct mase_arg *dim = mase_call_arg(&o->k.call, "dim");
    int64_t axes[MASE_MAX_RANK];
    int count = 0;
    for (int k = 0; mase_arg_is_seq(dim) && k < dim->count && k < MASE_MAX_RANK; k++)
        axes[count++] = dim->items[k].kind == MASE_ARG_INT ? dim->items[k].i : INT64_MAX;
    if (dim->kind == MASE_ARG_INT)
        axes[count++] = dim->i;
    for (int k = 0; k < count; k++) {
        axes[k] = mase_shape_axis(s, axes[k]);
        if (axes[k] < 0)
            return mase_ow_refuse(o->e, o->err, "dimensions that are not there");
    }
    if (count == 0)
        return mase_ow_refuse(o->e, o->err, "all dimensions at once, that of the samples included");
    const char *which = mase_ow_lengths(o->e, axes, count);
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, which, NULL);
    mase_ow_int(o->e, n, "keepdims", mase_call_flag(&o->k.call, "keepdim"));
    return give(name, n);
}

/* ---- layouts ---- */

/* The length that depends on the samples is -1, which the reader infers. */
static enum mase_status out_reshape(struct out *o, const char **name)
{
    const struct mase_ptype *t = &o->i->result[0]->type;
    int64_t v[MASE_MAX_RANK];
    int open = 0;
    for (int d = 0; d < t->rank; d++) {
        v[d] = t->dim[d].times ? -1 : t->dim[d].plus;
        open += t->dim[d].times != 0;
    }
    if (open > 1)
        return mase_ow_refuse(o->e, o->err, "two lengths that follow the number of samples");
    const char *lengths = mase_ow_lengths(o->e, v, t->rank);
    return give(name, mase_ow_node(o->e, o->onnx, o->like, o->x, lengths, NULL));
}

static enum mase_status out_permute(struct out *o, const char **name)
{
    const int rank = shape_of(o, 0)->rank;
    int64_t v[MASE_MAX_RANK];
    MASE_TRY(mase_call_ints(&o->k.call, v, rank, "dims", o->err));
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, o->x, NULL);
    mase_ow_ints(o->e, n, "perm", v, rank);
    return give(name, n);
}

static enum mase_status out_cat(struct out *o, const char **name)
{
    const struct mase_arg *list = &o->i->param[0];
    const struct mase_shape *s = NULL;
    int64_t dim;
    MASE_TRY(mase_call_int(&o->k.call, &dim, "dim", o->err));
    if (!mase_arg_is_seq(list) || list->count < 1 || list->count > 64)
        return mase_ow_refuse(o->e, o->err, "a list of another length than 1 to 64");
    const char **input = mase_new_array(o->e->a, const char *, (size_t)list->count);
    for (int k = 0; k < list->count; k++) { /* write the nodes that cast them first */
        input[k] = mase_ow_value_as(o->e, &list->items[k], o->dtype);
        if (!input[k])
            return mase_ow_refuse(o->e, o->err, "a part that is no tensor");
        s = &o->k.call.param[0].items[k].tensor->shape;
    }
    struct mase_onnx_node *n = mase_ow_node(o->e, o->onnx, o->like, NULL);
    n->input.items = input;
    n->input.count = list->count;
    mase_ow_int(o->e, n, "axis", mase_shape_axis(s, dim));
    return give(name, n);
}

/* ---- table of rules ---- */

static const struct {
    enum mase_op op;
    const char *onnx;
    int opset;
    out_fn *write;
} rules[] = {
#define EXPORT(op, onnx, opset, rule) { MASE_OP_##op, onnx, opset, out_##rule },
#include "onnx/export.def"
};

enum mase_status mase_ow_export_call(struct mase_ow_export *e, const char **out,
                                     const struct mase_instr *i, struct mase_err *err)
{
    for (size_t n = 0; n < sizeof rules / sizeof *rules; n++) {
        if (rules[n].op != i->op)
            continue;
        struct out o = { .e = e, .i = i, .onnx = rules[n].onnx, .err = err };
        o.like = i->from ? i->from : mase_ops[i->op].name;
        MASE_TRY(mase_instr_call(&o.k, i, &e->scratch, e->program, e->known, err));
        o.dtype = i->result[0]->type.dtype;
        if (!mase_arg_is_seq(&i->param[0]) && rules[n].write != out_embedding &&
            rules[n].write != out_cast)
            o.x = mase_ow_value_as(e, &i->param[0], o.dtype);
        if (!o.x && !mase_arg_is_seq(&i->param[0]) && rules[n].write != out_embedding &&
            rules[n].write != out_cast)
            return mase_ow_refuse(e, err, "an operand that follows the number of samples");
        e->opset = rules[n].opset > e->opset ? rules[n].opset : e->opset;
        return rules[n].write(&o, out);
    }
    return mase_ow_refuse(e, err, "%s is not known there, or not to us", mase_ops[i->op].name);
}
