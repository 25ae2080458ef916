/*
 * qoperators.c - operations on integers with scales: QLinearMatMul, QLinearConv and those of ONNX
 * Runtime, which are an operation between DequantizeLinear and QuantizeLinear; MatMulInteger and
 * ConvInteger, whose sums are integers; DynamicQuantizeLinear.
 */
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

static struct mase_ox_value *keep(struct mase_ox_import *im, struct mase_ox_value v,
                                  const char *name)
{
    struct mase_ox_value *own = mase_arena_memdup(&im->arena, &v, sizeof v);
    own->name = name;
    return own;
}

/* Read two operands, which must be present. */
static bool operands(struct mase_ox_import *im, struct mase_ox_value **a, int a_at,
                     struct mase_ox_value **b, int b_at)
{
    *a = mase_ox_in(im, a_at);
    *b = mase_ox_in(im, b_at);
    if ((!*a || !*b) && !im->status)
        mase_ox_fail(im, MASE_EVALUE, "an operand is missing");
    return !im->status;
}

/* Quantise the result. */
static enum mase_status requantise(struct mase_ox_import *im, struct mase_node *y, int scale_at,
                                   int zero_at)
{
    if (im->status || !y)
        return im->status;
    struct mase_ox_qparams *q =
        mase_ox_read_qparams(im, scale_at, zero_at, MASE_ONNX_UINT8, 1, mase_ox_rank(im, y));
    if (!q)
        return im->status;
    struct mase_ox_value *base =
        keep(im, (struct mase_ox_value){ .node = y }, im->node->output.items[0]);
    return mase_ox_set_value(
        im, 0, (struct mase_ox_value){ .base = base, .qparams = q, .is_codes = true });
}

OX_RULE(qlinear_matmul)
{
    struct mase_ox_value *a, *b;
    if (!operands(im, &a, 0, &b, 3))
        return im->status;
    struct mase_ox_value *x = keep(im, mase_ox_dequantise(im, a, 1, 2, -2), a->name);
    struct mase_ox_value *w = keep(im, mase_ox_dequantise(im, b, 4, 5, -1), b->name);
    return im->status ? im->status : requantise(im, mase_ox_matmul(im, x, w, NULL), 6, 7);
}

/* A bias of integers, whose scale is the product of both scales. */
static struct mase_ox_value *read_bias(struct mase_ox_import *im, int at, int x_scale, int w_scale)
{
    struct mase_ox_value *b = mase_ox_in(im, at);
    const struct mase_tensor *t = mase_ox_known_tensor(im, b),
                             *x = mase_ox_known_tensor(im, mase_ox_in(im, x_scale)),
                             *w = mase_ox_known_tensor(im, mase_ox_in(im, w_scale));
    if (b && (!t || t->dtype != MASE_I32 || !x || !w || mase_tensor_count(x) != 1 ||
              (mase_tensor_count(w) != 1 && mase_tensor_count(w) != mase_tensor_count(t))))
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its bias is not known");
    if (!b || im->status)
        return NULL;
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    *y = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_f32(y)[i] = (float)(mase_tensor_get(t, i) * mase_tensor_get(x, 0) *
                                 mase_tensor_get(w, mase_tensor_count(w) > 1 ? i : 0));
    return keep(im, (struct mase_ox_value){ .data = y, .like = *y }, b->name);
}

OX_RULE(qlinear_conv)
{
    struct mase_ox_value *a, *b;
    if (!operands(im, &a, 0, &b, 3))
        return im->status;
    struct mase_ox_value *x = keep(im, mase_ox_dequantise(im, a, 1, 2, 1), a->name);
    struct mase_ox_value *w = keep(im, mase_ox_dequantise(im, b, 4, 5, 0), b->name);
    MASE_TRY(im->status);
    struct mase_ox_value *bias = read_bias(im, 8, 1, 4);
    return im->status ? im->status : requantise(im, mase_ox_conv(im, x, w, bias), 6, 7);
}

/* Gemm with an integer bias; the result is float if no scale for it is given. */
OX_RULE(qgemm)
{
    struct mase_ox_value *a, *b;
    const double alpha = mase_ox_attr_float(im, "alpha", 1.0);
    const int64_t ta = mase_ox_attr_int(im, "transA", 0), tb = mase_ox_attr_int(im, "transB", 0);
    if (!operands(im, &a, 0, &b, 3))
        return im->status;
    struct mase_ox_value *x = keep(im, mase_ox_dequantise(im, a, 1, 2, 1), a->name);
    struct mase_ox_value *w = keep(im, mase_ox_dequantise(im, b, 4, 5, tb ? 0 : 1), b->name);
    MASE_TRY(im->status);
    struct mase_ox_value *bias = read_bias(im, 6, 1, 4);
    if (!im->status && (alpha != 1.0 || ta))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "alpha must be 1, and transA 0");
    struct mase_node *y = im->status ? NULL : mase_ox_gemm(im, x, w, bias, 1.0, 1.0, 0, tb);
    return mase_ox_in(im, 7) && !im->status ? requantise(im, y, 7, 8) : mase_ox_out(im, 0, y);
}

/* An operation of two operands between dequantising and quantising. */
OX_RULE(qlinear_binary)
{
    struct mase_ox_value *a, *b;
    if (!operands(im, &a, 0, &b, 3))
        return im->status;
    struct mase_ox_value *x = keep(im, mase_ox_dequantise(im, a, 1, 2, 1), a->name);
    struct mase_ox_value *y = keep(im, mase_ox_dequantise(im, b, 4, 5, 1), b->name);
    MASE_TRY(im->status);
    return requantise(
        im,
        EMIT(im, im->rule->op, ARG_NODE(mase_ox_node_of(im, x)), ARG_NODE(mase_ox_node_of(im, y))),
        6, 7);
}

/* Means over all dimensions but samples and channels, which keep length 1. */
static struct mase_node *global_mean(struct mase_ox_import *im, struct mase_node *x)
{
    struct mase_arg dims[MASE_MAX_RANK];
    const int rank = mase_ox_rank(im, x);
    if (mase_ox_attr_int(im, "channels_last", 0) || rank < 3)
        mase_ox_fail(im, MASE_EUNSUPPORTED, "channels must come behind the samples");
    for (int d = 2; d < rank; d++)
        dims[d - 2] = ARG_INT(d);
    return im->status ? NULL
                      : EMIT(im, MASE_OP_mean, ARG_NODE(x), mase_ox_list(im, dims, rank - 2),
                             ARG_BOOL(true));
}

/* An operation of one operand between dequantising and quantising. */
OX_RULE(qlinear_unary)
{
    struct mase_ox_value *a = mase_ox_in(im, 0);
    const enum mase_op op = im->rule->op;
    if (!a)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no input");
    struct mase_ox_value *v = keep(im, mase_ox_dequantise(im, a, 1, 2, 1), a->name);
    struct mase_node *x = im->status ? NULL : mase_ox_node_of(im, v), *y;
    if (op == MASE_OP_leaky_relu) {
        y = EMIT(im, op, ARG_NODE(x), ARG_FLOAT(mase_ox_attr_float(im, "alpha", 0.01f)));
    } else if (op == MASE_OP_softmax) {
        const int64_t axis = mase_ox_attr_int(im, "axis", -1),
                      opset = mase_ox_attr_int(im, "opset", 13);
        if (!im->status && opset < 13)
            return mase_ox_fail(im, MASE_EUNSUPPORTED, "softmax of opsets before 13");
        y = EMIT(im, op, ARG_NODE(x), ARG_INT(mase_ox_axis(im, axis, mase_ox_rank(im, x))));
    } else {
        y = op == MASE_OP_mean ? global_mean(im, x) : EMIT(im, op, ARG_NODE(x));
    }
    return requantise(im, y, 3, 4);
}

/* ---- integers without scales ---- */

/* Integers as floats. */
static struct mase_node *as_floats(struct mase_ox_import *im, struct mase_ox_value *v)
{
    const struct mase_tensor *t = v->node ? NULL : mase_ox_known_tensor(im, v);
    if (v->is_codes && !v->node)
        return mase_ox_codes_of(im, mase_ox_node_of(im, v->base), v->qparams);
    if (!t)
        return mase_ox_cast(im, mase_ox_node_of(im, v), MASE_F32);
    struct mase_tensor f = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(&f, i, mase_tensor_get(t, i));
    return mase_ox_constant(im, &f);
}

/* Is it an 8-bit type? */
static bool is_byte(struct mase_ox_import *im, const struct mase_ox_value *v)
{
    const int type = mase_ox_value_type(im, v);
    return type == MASE_ONNX_UINT8 || type == MASE_ONNX_INT8;
}

/* Input i minus its zero point. rows: a zero point for each row, or each channel of a weight, is
 * allowed. */
static struct mase_node *centred(struct mase_ox_import *im, int at, int zero_at, bool rows)
{
    struct mase_ox_value *v = mase_ox_in(im, at), *z = mase_ox_in(im, zero_at);
    if (!v || im->status || !is_byte(im, v) || (z && !is_byte(im, z))) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its operands must be there, and of 8 bits");
        return NULL;
    }
    struct mase_node *x = as_floats(im, v);
    if (!z || im->status)
        return x;
    struct mase_node *zero = as_floats(im, z);
    const struct mase_ox_result *r = zero ? mase_ox_result(im, zero) : NULL;
    const struct mase_shape *s = &mase_ox_tensor(im, zero)->shape;
    if (r && r->known && mase_shape_count(s) == 1 && mase_tensor_get(r->value[0].tensor, 0) == 0)
        return x;
    if (s->rank == 1 && s->dim[0] == 1)
        zero = EMIT(im, MASE_OP_reshape, ARG_NODE(zero), mase_ox_list(im, NULL, 0));
    else if (s->rank == 1 && rows) /* broadcast along the trailing dimensions */
        for (int d = 1; d < mase_ox_rank(im, x); d++)
            zero = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(zero), ARG_INT(-1));
    return EMIT(im, MASE_OP_sub, ARG_NODE(x), ARG_NODE(zero));
}

/* Products of bytes, so many that float32 holds every sum. */
enum { MOST_PRODUCTS = (1 << 24) / (255 * 255) };

OX_RULE(matmul_integer)
{
    struct mase_node *a = centred(im, 0, 2, true), *b = centred(im, 1, 3, false), *sum = NULL;
    const int ra = mase_ox_rank(im, a), rb = mase_ox_rank(im, b);
    if (!im->status && (ra < 2 || rb < 2))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "operands of less than two dimensions");
    const int64_t terms = im->status ? 0 : mase_ox_tensor(im, b)->shape.dim[rb - 2];
    for (int64_t from = 0; from < terms && !im->status; from += MOST_PRODUCTS) {
        const int64_t to = from + MOST_PRODUCTS < terms ? from + MOST_PRODUCTS : terms;
        const bool all = to - from == terms;
        struct mase_node *x = all ? a : mase_ox_slice(im, a, ra - 1, ARG_INT(from), ARG_INT(to), 1),
                         *y = all ? b : mase_ox_slice(im, b, rb - 2, ARG_INT(from), ARG_INT(to), 1);
        struct mase_node *part =
            mase_ox_cast(im, EMIT(im, MASE_OP_matmul, ARG_NODE(x), ARG_NODE(y)), MASE_I32);
        sum = sum ? EMIT(im, MASE_OP_add, ARG_NODE(sum), ARG_NODE(part)) : part;
    }
    return mase_ox_out(im, 0, sum);
}

OX_RULE(conv_integer)
{
    struct mase_node *x = centred(im, 0, 2, false), *w = centred(im, 1, 3, true);
    MASE_TRY(im->status);
    const struct mase_shape *s = &mase_ox_tensor(im, w)->shape;
    const int64_t products = s->dim[0] ? mase_shape_count(s) / s->dim[0] : 0;
    if (products > MOST_PRODUCTS)
        return mase_ox_fail(im, MASE_EUNSUPPORTED,
                            "sums of %lld products of bytes do not fit float32, at most %d do",
                            (long long)products, MOST_PRODUCTS);
    struct mase_ox_value *data = keep(im, (struct mase_ox_value){ .node = x }, "x"),
                         *weight = keep(im, (struct mase_ox_value){ .node = w }, "w");
    return mase_ox_out(im, 0, mase_ox_cast(im, mase_ox_conv(im, data, weight, NULL), MASE_I32));
}

/* ---- scales from the values ---- */

static struct mase_node *extreme(struct mase_ox_import *im, struct mase_node *x, enum mase_op op,
                                 const char *name)
{
    struct mase_arg dims[MASE_MAX_RANK];
    const int rank = mase_ox_rank(im, x);
    for (int d = 0; d < rank; d++)
        dims[d] = ARG_INT(d);
    const struct mase_arg args[] = { ARG_NODE(
                                         EMIT(im, op, ARG_NODE(x), mase_ox_list(im, dims, rank))),
                                     ARG_NODE(mase_ox_scalar(im, MASE_F32, 0)) };
    return mase_ox_emit_target(im, MASE_CALL_FUNCTION, name, args, 2);
}

OX_RULE(dynamic_quantize)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_node *most = extreme(im, x, MASE_OP_amax, "torch.maximum"),
                     *least = extreme(im, x, MASE_OP_amin, "torch.minimum");
    struct mase_node *range = EMIT(im, MASE_OP_sub, ARG_NODE(most), ARG_NODE(least));
    struct mase_node *scale = EMIT(im, MASE_OP_div, ARG_NODE(range), ARG_FLOAT(255.0));
    scale = EMIT(im, MASE_OP_where, ARG_NODE(EMIT(im, MASE_OP_eq, ARG_NODE(scale), ARG_FLOAT(0.0))),
                 ARG_FLOAT(1.0), ARG_NODE(scale));
    struct mase_node *zero =
        EMIT(im, MASE_OP_div, ARG_NODE(EMIT(im, MASE_OP_neg, ARG_NODE(least))), ARG_NODE(scale));
    zero = EMIT(im, MASE_OP_clamp, ARG_NODE(EMIT(im, MASE_OP_round, ARG_NODE(zero))),
                ARG_FLOAT(0.0), ARG_FLOAT(255.0));
    struct mase_node *codes =
        EMIT(im, MASE_OP_round, ARG_NODE(EMIT(im, MASE_OP_div, ARG_NODE(x), ARG_NODE(scale))));
    codes =
        EMIT(im, MASE_OP_clamp, ARG_NODE(EMIT(im, MASE_OP_add, ARG_NODE(codes), ARG_NODE(zero))),
             ARG_FLOAT(0.0), ARG_FLOAT(255.0));
    mase_ox_out(im, 0, mase_ox_cast(im, codes, MASE_U8));
    mase_ox_out(im, 1, scale);
    return mase_ox_out(im, 2, mase_ox_cast(im, zero, MASE_U8));
}
