/*
 * quantised.c - QuantizeLinear and DequantizeLinear, QOperators, and Quant of QONNX: values that
 * are rounded to a grid.
 *
 * A value that is quantised and dequantised is remembered as its origin and the grid. A layer that
 * takes it has the format `int` of that grid on its operand; anything else gets the value rounded,
 * by the format of the result of what computes it, or spelt out. Integers of the file become the
 * floats that they stand for, and their grid the format of the weight.
 */
#include <math.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "ir/shape.h"

/* ---- grids ---- */

const struct mase_tensor *mase_ox_known_tensor(struct mase_ox_import *im, struct mase_ox_value *v)
{
    if (v && v->data)
        return v->data;
    if (v && v->init && !v->node) {
        struct mase_tensor *t = mase_arena_memdup(&im->arena, &v->like, sizeof v->like);
        t->data = mase_arena_alloc(&im->arena, (size_t)mase_tensor_bytes(t));
        mase_onnx_tensor_copy(t->data, im->file, v->init);
        return t;
    }
    const struct mase_ox_result *r = v && v->node ? mase_ox_result(im, v->node) : NULL;
    return r && r->known && r->value[0].kind == MASE_ARG_TENSOR ? r->value[0].tensor : NULL;
}

static const double *doubles(struct mase_ox_import *im, const struct mase_tensor *t)
{
    double *v = mase_new_array(&im->arena, double, (size_t)mase_tensor_count(t));
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        v[i] = mase_tensor_get(t, i);
    return v;
}

/* How many bits a type of codes has; 0: it has none that formats speak of. */
static int code_bits(enum mase_dtype t)
{
    const char kind = mase_dtypes[t].kind;
    const int bits = 8 * mase_dtypes[t].size;
    return (kind == 'i' || kind == 'u') && bits <= 16 ? bits : 0;
}

static double lowest(const struct mase_ox_grid *g)
{
    return g->is_signed ? -ldexp(1, g->bits - 1) + g->narrow : 0;
}

static double highest(const struct mase_ox_grid *g)
{
    return g->is_signed ? ldexp(1, g->bits - 1) - 1 : ldexp(1, g->bits) - 1 - g->narrow;
}

/* Scale and zero point are known numbers, one or one for each position of an axis. */
static struct mase_ox_grid *read_grid(struct mase_ox_import *im, int scale_at, int zero_at,
                                      enum mase_dtype type)
{
    struct mase_ox_value *zero_value = mase_ox_in(im, zero_at);
    const struct mase_tensor *scale = mase_ox_known_tensor(im, mase_ox_in(im, scale_at)),
                             *zero = mase_ox_known_tensor(im, zero_value);
    struct mase_ox_grid *g = mase_new(&im->arena, struct mase_ox_grid);
    if (im->status)
        return NULL;
    if (!scale || scale->dtype != MASE_F32 || scale->shape.rank > 1 || (zero_value && !zero)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "its scale and zero point must be known, float32 and for a tensor or an axis");
        return NULL;
    }
    g->count = mase_tensor_count(scale);
    g->scale = doubles(im, scale);
    g->zero = zero ? doubles(im, zero) : mase_new_array(&im->arena, double, (size_t)g->count);
    g->type = zero ? zero->dtype : type;
    g->bits = code_bits(g->type);
    g->is_signed = mase_dtypes[g->type].kind == 'i';
    if (zero && mase_tensor_count(zero) != g->count) {
        mase_ox_fail(im, MASE_EVALUE, "its scale and zero point are of different lengths");
        return NULL;
    }
    for (int64_t i = 0; i < g->count; i++)
        if (!(g->scale[i] > 0) || !isfinite(g->scale[i])) {
            mase_ox_fail(im, MASE_EVALUE, "scale %g is not above 0", g->scale[i]);
            return NULL;
        }
    return g;
}

static bool same_grid(const struct mase_ox_grid *a, const struct mase_ox_grid *b)
{
    bool same = a->count == b->count && a->type == b->type && (a->count == 1 || a->axis == b->axis);
    for (int64_t i = 0; same && i < a->count; i++)
        same = a->scale[i] == b->scale[i] && a->zero[i] == b->zero[i];
    return same;
}

/* ---- as a format ---- */

static struct mase_value *number_or_list(struct mase_arena *a, const double *v, int64_t count,
                                         bool whole)
{
    struct mase_value *list = mase_value_list(a);
    for (int64_t i = 0; i < count; i++) {
        struct mase_value *x = whole ? mase_value_int(a, (int64_t)v[i]) : mase_value_float(a, v[i]);
        if (count == 1)
            return x;
        mase_value_push(a, list, x);
    }
    return list;
}

bool mase_ox_grid_is_format(const struct mase_ox_grid *g)
{
    bool zero = false;
    for (int64_t i = 0; i < g->count; i++)
        zero |= g->zero[i] != 0;
    return g->bits >= 1 && g->bits <= 24 && !(g->narrow && !g->is_signed) &&
           !(g->shifted && zero) && g->rounding == MASE_OP_round && g->scale[0] >= 1e-30;
}

const struct mase_format *mase_ox_format(struct mase_ox_import *im, const struct mase_ox_grid *g,
                                         int axis)
{
    struct mase_arena *a = &im->arena;
    struct mase_value *v = mase_value_list(a);
    const struct mase_format *f = NULL;
    struct mase_err inner = { 0 };
    if (im->status)
        return NULL;
    mase_value_push(a, v, mase_value_int(a, g->bits));
    mase_value_push(a, v, number_or_list(a, g->scale, g->count, false));
    mase_value_push(a, v, number_or_list(a, g->zero, g->count, true));
    mase_value_push(a, v, g->count > 1 ? mase_value_int(a, axis) : mase_value_none(a));
    mase_value_push(a, v, mase_value_none(a));
    mase_value_push(a, v, mase_value_bool(a, true));
    mase_value_push(a, v, mase_value_bool(a, g->narrow));
    mase_value_push(a, v, mase_value_bool(a, false));
    mase_value_push(a, v, mase_value_bool(a, g->is_signed));
    if (mase_format_from_list(&f, MASE_QUANT_int, v, &inner))
        mase_ox_fail(im, inner.status, "%s", inner.msg);
    return f;
}

/* ---- spelt out ---- */

/* One number, or a constant that lies along the axis. */
static struct mase_arg spread(struct mase_ox_import *im, const struct mase_ox_grid *g,
                              const double *v, int rank)
{
    struct mase_shape s = { .rank = rank - g->axis };
    if (g->count == 1)
        return F(v[0]);
    for (int d = 0; d < s.rank; d++)
        s.dim[d] = d ? 1 : g->count;
    struct mase_tensor t = mase_tensor(&im->arena, MASE_F32, &s, true);
    for (int64_t i = 0; i < g->count; i++)
        mase_tensor_set(&t, i, v[i]);
    return N(mase_ox_constant(im, &t));
}

static bool has_zero(const struct mase_ox_grid *g)
{
    for (int64_t i = 0; i < g->count; i++)
        if (g->zero[i] != 0)
            return true;
    return false;
}

/* The codes of x, as floats. */
static struct mase_node *codes_of(struct mase_ox_import *im, struct mase_node *x,
                                  const struct mase_ox_grid *g)
{
    const int rank = mase_ox_rank(im, x);
    const struct mase_arg zero = spread(im, g, g->zero, rank);
    struct mase_node *y = EMIT(im, MASE_OP_div, N(x), spread(im, g, g->scale, rank));
    if (g->shifted && has_zero(g))
        y = EMIT(im, MASE_OP_add, N(y), zero);
    y = EMIT(im, g->rounding, N(y));
    if (!g->shifted && has_zero(g))
        y = EMIT(im, MASE_OP_add, N(y), zero);
    return EMIT(im, MASE_OP_clamp, N(y), F(lowest(g)), F(highest(g)));
}

static struct mase_node *values_of(struct mase_ox_import *im, struct mase_node *codes,
                                   const struct mase_ox_grid *g)
{
    const int rank = mase_ox_rank(im, codes);
    if (has_zero(g))
        codes = EMIT(im, MASE_OP_sub, N(codes), spread(im, g, g->zero, rank));
    return EMIT(im, MASE_OP_mul, N(codes), spread(im, g, g->scale, rank));
}

/* Does nobody see the value before it is rounded? Then what computes it can round it. */
static bool rounds_itself(struct mase_ox_import *im, const struct mase_ox_value *v,
                          const struct mase_node *x)
{
    const struct mase_ox_use *u = mase_map_get(&im->uses, v->base->name);
    const bool call = x->kind == MASE_CALL_FUNCTION || x->kind == MASE_CALL_MODULE;
    const struct mase_quant *q = mase_node_quant(x);
    return call && mase_ops[x->op].quantisable && !mase_op_is_recurrent(x->op) &&
           !im->scope->call && u && u->count == 1 && !x->user_count && v->grid->count == 1 &&
           mase_ox_grid_is_format(v->grid) && !(q && q->operand[MASE_DATA_OUT]) &&
           mase_ox_dtype(im, x) == MASE_F32 && !mase_ox_result(im, x)->known;
}

static void round_result(struct mase_ox_import *im, struct mase_node *x,
                         const struct mase_format *f)
{
    const struct mase_quant *now = mase_node_quant(x);
    struct mase_quant q = now ? *now : (struct mase_quant){ .kind = MASE_QUANT_int };
    q.operand[MASE_DATA_OUT] = f;
    if (x->kind == MASE_CALL_MODULE)
        mase_module_set_quant(im->g, mase_node_module(x), &q);
    else
        mase_node_set_quant(x, &q);
}

struct mase_node *mase_ox_rounded(struct mase_ox_import *im, struct mase_ox_value *v)
{
    struct mase_node *x = mase_ox_node_of(im, v->base);
    if (im->status)
        return NULL;
    if (v->is_codes && v->grid->type != MASE_U8) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "'%s' is of type %s, which is not computed with",
                     v->name, mase_dtypes[v->grid->type].name);
        return NULL;
    }
    if (v->is_codes)
        return v->node = mase_ox_cast(im, codes_of(im, x, v->grid), MASE_U8);
    if (rounds_itself(im, v, x)) {
        const struct mase_format *f = mase_ox_format(im, v->grid, 0);
        if (f)
            round_result(im, x, f);
        return v->node = x;
    }
    return v->node = values_of(im, codes_of(im, x, v->grid), v->grid);
}

/* ---- operands of layers ---- */

struct mase_node *mase_ox_data_in(struct mase_ox_import *im, struct mase_ox_value *v,
                                  const struct mase_ox_grid **g)
{
    *g = NULL;
    if (v->node || !v->grid || v->is_codes || !v->base || v->grid->count > 1 ||
        !mase_ox_grid_is_format(v->grid))
        return mase_ox_node_of(im, v);
    *g = v->grid;
    return mase_ox_node_of(im, v->base);
}

struct mase_ox_value *mase_ox_weight(struct mase_ox_import *im, struct mase_ox_value *v,
                                     const struct mase_ox_grid **g)
{
    *g = NULL;
    if (!v || !v->grid || v->is_codes || !mase_ox_grid_is_format(v->grid))
        return v;
    if (!v->data && (!v->base || !mase_ox_is_param(im, v->base)))
        return v;
    *g = v->grid;
    return v->data ? v : v->base;
}

void mase_ox_quantise_layer(struct mase_ox_import *im, struct mase_module *m,
                            const struct mase_ox_grid *data, const struct mase_ox_grid *weight,
                            int axis)
{
    struct mase_quant q = { .kind = MASE_QUANT_int };
    if (!m || (!data && !weight))
        return;
    q.operand[MASE_DATA_IN] = data ? mase_ox_format(im, data, 0) : NULL;
    q.operand[MASE_WEIGHT] = weight ? mase_ox_format(im, weight, axis) : NULL;
    if (!im->status)
        mase_module_set_quant(im->g, m, &q);
}

/* ---- QuantizeLinear, DequantizeLinear ---- */

static enum mase_status set_value(struct mase_ox_import *im, int i, struct mase_ox_value v)
{
    if (im->status || !mase_ox_has_out(im, i))
        return im->status;
    v.name = im->node->output.items[i];
    if (mase_map_get(&im->scope->values, v.name))
        return mase_ox_fail(im, MASE_EVALUE, "its result '%s' has a name that is taken", v.name);
    *mase_ox_new_value(im, v.name) = v;
    return MASE_OK;
}

static int value_rank(struct mase_ox_import *im, struct mase_ox_value *v)
{
    return mase_ox_like(im, v)->shape.rank;
}

static bool read_blocks(struct mase_ox_import *im)
{
    if (mase_ox_attr_int(im, "block_size", 0))
        mase_ox_fail(im, MASE_EUNSUPPORTED, "blocks are not read");
    (void)mase_ox_attr_int(im, "saturate", 1); /* of 8-bit floats alone */
    return !im->status;
}

OX_RULE(quantize)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    const int64_t asked = mase_ox_attr_int(im, "axis", 1),
                  out = mase_ox_attr_int(im, "output_dtype", 0);
    enum mase_dtype type = MASE_U8;
    if (!x || !read_blocks(im))
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no input");
    if ((out && !mase_onnx_dtype(&type, out)) || mase_ox_attr_int(im, "precision", 0) > 1)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is not computed with",
                            mase_onnx_type_name(out));
    const int rank = value_rank(im, x);
    struct mase_ox_grid *g = read_grid(im, 1, 2, type);
    if (g && g->count > 1)
        g->axis = mase_ox_axis(im, asked, rank);
    if (g && !g->bits)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is no type of codes",
                            mase_dtypes[g->type].name);
    if (g && mase_ox_like(im, x)->dtype != MASE_F32)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "only float32 is quantised");
    if (g)
        g->rounding = MASE_OP_round;
    return set_value(im, 0, (struct mase_ox_value){ .base = x, .grid = g, .is_codes = true });
}

/* The floats that integers of the file stand for. */
static struct mase_tensor *dequantised(struct mase_ox_import *im, const struct mase_tensor *t,
                                       const struct mase_ox_grid *g)
{
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    const struct mase_axis a = mase_axis_of(&t->shape, g->count > 1 ? g->axis : 0);
    *y = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++) {
        const int64_t c = g->count > 1 ? i / a.inner % a.len : 0;
        mase_f32(y)[i] = (float)(mase_tensor_get(t, i) - g->zero[c]) * (float)g->scale[c];
    }
    return y;
}

/* Input x of the node, by scale and zero point at these inputs, as a value in float. */
static struct mase_ox_value dequantise(struct mase_ox_import *im, struct mase_ox_value *x,
                                       int scale_at, int zero_at, int64_t axis)
{
    const struct mase_ox_value none = { 0 };
    const enum mase_dtype type = x->is_codes ? x->grid->type : mase_ox_like(im, x)->dtype;
    struct mase_ox_grid *g = read_grid(im, scale_at, zero_at, type);
    const struct mase_tensor *t = x->is_codes ? NULL : mase_ox_known_tensor(im, x);
    if (!g)
        return none;
    g->rounding = MASE_OP_round;
    if (g->count > 1)
        g->axis = mase_ox_axis(im, axis, value_rank(im, x));
    if (x->is_codes && same_grid(g, x->grid))
        return (struct mase_ox_value){ .base = x->base, .grid = x->grid };
    if (im->status || (t && g->count > 1 && t->shape.dim[g->axis] != g->count)) {
        mase_ox_fail(im, MASE_EVALUE, "there are %lld scales for its axis", (long long)g->count);
        return none;
    }
    if (t) {
        const struct mase_tensor *y = dequantised(im, t, g);
        return (struct mase_ox_value){ .data = y, .like = *y, .grid = g->bits ? g : NULL };
    }
    struct mase_node *n = mase_ox_node_of(im, x);
    return (struct mase_ox_value){ .node = values_of(im, mase_ox_cast(im, n, MASE_F32), g) };
}

OX_RULE(dequantize)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    const int64_t axis = mase_ox_attr_int(im, "axis", 1),
                  out = mase_ox_attr_int(im, "output_dtype", 1);
    if (!x || !read_blocks(im))
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no input");
    if (out > 1)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is not computed with",
                            mase_onnx_type_name(out));
    return set_value(im, 0, dequantise(im, x, 1, 2, axis));
}

/* ---- QOperators: both, around an operation ---- */

static struct mase_ox_value *keep(struct mase_ox_import *im, struct mase_ox_value v,
                                  const char *name)
{
    struct mase_ox_value *own = mase_arena_memdup(&im->arena, &v, sizeof v);
    own->name = name;
    return own;
}

/* The result is codes again. */
static enum mase_status requantise(struct mase_ox_import *im, struct mase_node *y, int scale_at,
                                   int zero_at)
{
    struct mase_ox_grid *g = read_grid(im, scale_at, zero_at, MASE_U8);
    if (!g || !y)
        return im->status;
    g->rounding = MASE_OP_round;
    struct mase_ox_value *base =
        keep(im, (struct mase_ox_value){ .node = y }, im->node->output.items[0]);
    return set_value(im, 0, (struct mase_ox_value){ .base = base, .grid = g, .is_codes = true });
}

OX_RULE(qlinear_matmul)
{
    struct mase_ox_value *a = mase_ox_in(im, 0), *b = mase_ox_in(im, 3);
    if (!a || !b)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "an operand is missing");
    struct mase_ox_value *x = keep(im, dequantise(im, a, 1, 2, -2), a->name);
    struct mase_ox_value *w = keep(im, dequantise(im, b, 4, 5, -1), b->name);
    return im->status ? im->status : requantise(im, mase_ox_matmul(im, x, w, NULL), 6, 7);
}

/* Integers at the product of both scales. */
static struct mase_ox_value *read_bias(struct mase_ox_import *im, const struct mase_ox_grid *x,
                                       const struct mase_ox_grid *w)
{
    struct mase_ox_value *b = mase_ox_in(im, 8);
    const struct mase_tensor *t = mase_ox_known_tensor(im, b);
    if (b && (!t || t->dtype != MASE_I32 || !x || !w || x->count > 1))
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its bias is not known");
    if (!b || im->status)
        return NULL;
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    *y = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_f32(y)[i] = (float)(mase_tensor_get(t, i) * x->scale[0] *
                                 w->scale[w->count > 1 && i < w->count ? i : 0]);
    return keep(im, (struct mase_ox_value){ .data = y, .like = *y }, b->name);
}

OX_RULE(qlinear_conv)
{
    struct mase_ox_value *a = mase_ox_in(im, 0), *b = mase_ox_in(im, 3);
    if (!a || !b)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "an operand is missing");
    struct mase_ox_value *x = keep(im, dequantise(im, a, 1, 2, 1), a->name);
    struct mase_ox_value *w = keep(im, dequantise(im, b, 4, 5, 0), b->name);
    if (im->status)
        return im->status;
    struct mase_ox_value *bias = read_bias(im, read_grid(im, 1, 2, MASE_U8), w->grid);
    return im->status ? im->status : requantise(im, mase_ox_conv(im, x, w, bias), 6, 7);
}

/* ---- QONNX ---- */

/* The only dimension of the numbers that is longer than 1; -1: there are several. */
static int only_axis(const struct mase_shape *s)
{
    int axis = 0, long_ones = 0;
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] > 1) {
            axis = d;
            long_ones++;
        }
    return long_ones > 1 ? -1 : axis;
}

static struct mase_ox_grid *read_qonnx_grid(struct mase_ox_import *im, struct mase_ox_value *x)
{
    static const struct {
        const char *name;
        enum mase_op op;
    } roundings[] = { { "ROUND", MASE_OP_round },
                      { "FLOOR", MASE_OP_floor },
                      { "CEIL", MASE_OP_ceil },
                      { "ROUND_TO_ZERO", MASE_OP_trunc },
                      { "DOWN", MASE_OP_trunc } };
    const char *rounding = mase_ox_attr_text(im, "rounding_mode", "ROUND");
    const struct mase_tensor *scale = mase_ox_known_tensor(im, mase_ox_in(im, 1)),
                             *zero = mase_ox_known_tensor(im, mase_ox_in(im, 2)),
                             *bits = mase_ox_known_tensor(im, mase_ox_in(im, 3));
    struct mase_ox_grid *g = mase_new(&im->arena, struct mase_ox_grid);
    g->is_signed = mase_ox_attr_int(im, "signed", 1) != 0;
    g->narrow = mase_ox_attr_int(im, "narrow", 0) != 0;
    g->shifted = true;
    if (im->status)
        return NULL;
    if (!scale || !zero || !bits || mase_tensor_count(bits) != 1) {
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "its scale, zero point and width must be known, the width one number");
        return NULL;
    }
    const int rank = value_rank(im, x), own = scale->shape.rank, axis = only_axis(&scale->shape);
    const double width = mase_tensor_get(bits, 0);
    g->count = mase_tensor_count(scale);
    g->axis = rank - own + axis;
    g->scale = doubles(im, scale);
    for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++)
        if (mase_streq(rounding, roundings[i].name))
            g->rounding = roundings[i].op;
    if (axis < 0 || own > rank || (g->count > 1 && g->axis < 0) || !g->rounding ||
        !(width >= 1 && width <= 32) || width != rint(width) ||
        (mase_tensor_count(zero) != 1 && mase_tensor_count(zero) != g->count)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "its rounding mode, width or shape of scale is not read");
        return NULL;
    }
    double *z = mase_new_array(&im->arena, double, (size_t)g->count);
    for (int64_t i = 0; i < g->count; i++) {
        z[i] = mase_tensor_get(zero, mase_tensor_count(zero) == 1 ? 0 : i);
        if (!(g->scale[i] > 0))
            mase_ox_fail(im, MASE_EVALUE, "scale %g is not above 0", g->scale[i]);
    }
    g->zero = z;
    g->bits = (int)width;
    return im->status ? NULL : g;
}

OX_RULE(quant)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    if (!x)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no input");
    struct mase_ox_grid *g = read_qonnx_grid(im, x);
    return set_value(im, 0, (struct mase_ox_value){ .base = x, .grid = g });
}

OX_RULE(bipolar_quant)
{
    struct mase_node *x = mase_ox_x(im, 0), *scale = mase_ox_x(im, 1);
    struct mase_node *sign =
        EMIT(im, MASE_OP_where, N(EMIT(im, MASE_OP_ge, N(x), I(0))), F(1.0), F(-1.0));
    return mase_ox_out(im, 0, EMIT(im, MASE_OP_mul, N(sign), N(scale)));
}
