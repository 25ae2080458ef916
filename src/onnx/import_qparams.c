/*
 * import_qparams.c - values that are rounded to integers with a scale and a zero point.
 *
 * A value that is quantised and dequantised is kept as its origin and its quantisation parameters.
 * If a layer uses it, the layer's operand gets a number format of these parameters. Any other user
 * gets rounded values: by a result format of the producer, or by nodes that divide, round and
 * clamp.
 */
#include <math.h>
#include <string.h>

#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

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

const double *mase_ox_doubles(struct mase_ox_import *im, const struct mase_tensor *t)
{
    double *v = mase_new_array(&im->arena, double, (size_t)mase_tensor_count(t));
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        v[i] = mase_tensor_get(t, i);
    return v;
}

const double *mase_ox_repeated(struct mase_ox_import *im, double value, int64_t count)
{
    double *v = mase_new_array(&im->arena, double, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        v[i] = value;
    return v;
}

/* ---- qparams as a number format ---- */

/* Arguments of the format int. */
struct form {
    int bits;
    bool is_signed, narrow;
    double zero;
};

/* Are codes lo..hi those of a number of bits? */
static bool is_range(struct form *f, double lo, double hi)
{
    int e;
    f->is_signed = lo < 0;
    f->narrow = lo == -hi && lo < 0;
    const double steps = hi + 1;
    const bool whole = steps >= 1 && frexp(steps, &e) == 0.5;
    f->bits = whole ? e - 1 + f->is_signed : 0;
    return whole && f->bits >= 1 && f->bits <= 24 && (lo == 0 || f->narrow || lo == -steps);
}

/* Prefer codes around zero: unsigned codes with a zero point in the middle are signed codes. */
static bool find_form(struct form *f, const struct mase_ox_qparams *q, int64_t i)
{
    const double z = q->zero[i];
    f->zero = 0;
    if (q->rounding != OX_NEAREST || !(q->scale[i] >= 1e-30 && q->scale[i] <= 1e30) ||
        z != rint(z) || z < q->lo[i] || z > q->hi[i] || (q->shifted && z != 0))
        return false;
    if (is_range(f, q->lo[i] - z, q->hi[i] - z))
        return true;
    f->zero = z;
    return is_range(f, q->lo[i], q->hi[i]);
}

bool mase_ox_qparams_are_format(const struct mase_ox_qparams *q)
{
    struct form first, f;
    bool same = !q->format && !q->shape && find_form(&first, q, 0);
    for (int64_t i = 1; same && i < q->count; i++)
        same = find_form(&f, q, i) && f.is_signed == first.is_signed && f.narrow == first.narrow;
    return same;
}

bool mase_ox_is_power(double x)
{
    int e;
    return x > 0 && frexp(x, &e) == 0.5;
}

/* Name of the direction in number formats, NULL: none; and the operation that rounds so. */
static const struct {
    const char *direction;
    enum mase_op op;
} directions[] = {
    [OX_NEAREST] = { "nearest_even", MASE_OP_round },
    [OX_FLOOR] = { "floor", MASE_OP_floor },
    [OX_CEIL] = { NULL, MASE_OP_ceil },
    [OX_TO_ZERO] = { "toward_zero", MASE_OP_trunc },
    [OX_AWAY] = { "nearest_away", MASE_OP_floor },
    [OX_SIGN] = { NULL, MASE_OP_sign },
};

const char *mase_ox_direction(enum mase_ox_rounding rounding)
{
    return directions[rounding].direction;
}

struct mase_node *mase_ox_round(struct mase_ox_import *im, struct mase_node *x,
                                enum mase_ox_rounding rounding)
{
    if (rounding != OX_AWAY)
        return EMIT(im, directions[rounding].op, ARG_NODE(x));
    struct mase_node *half =
        EMIT(im, MASE_OP_add, ARG_NODE(EMIT(im, MASE_OP_abs, ARG_NODE(x))), ARG_FLOAT(0.5));
    return EMIT(im, MASE_OP_mul, ARG_NODE(EMIT(im, MASE_OP_sign, ARG_NODE(x))),
                ARG_NODE(EMIT(im, MASE_OP_floor, ARG_NODE(half))));
}

/* Fixed point, as QONNX writes it: the step is a power of two. */
static bool is_fixed_of(const struct mase_ox_qparams *q, bool is_signed)
{
    return !q->format && q->shifted && q->count == 1 && q->zero[0] == 0 &&
           mase_ox_is_power(q->scale[0]) && q->scale[0] >= 0x1p-64 && q->scale[0] <= 0x1p32 &&
           q->lo[0] == (is_signed ? -(q->hi[0] + 1) : 0) && q->hi[0] >= 1 && q->hi[0] < 0x1p31 &&
           mase_ox_is_power(q->hi[0] + 1) && directions[q->rounding].direction;
}

static bool is_fixed(const struct mase_ox_qparams *q)
{
    return is_fixed_of(q, true);
}

bool mase_ox_qparams_have_zero(const struct mase_ox_qparams *q)
{
    return q->format || q->rounding != OX_SIGN;
}

static bool is_sign(const struct mase_ox_qparams *q)
{
    return !q->format && q->rounding == OX_SIGN && q->count == 1 && q->scale[0] == 1;
}

static bool is_plain_format(const struct mase_ox_qparams *q)
{
    return q->format && q->count == 1 && q->scale[0] == 1;
}

static bool layer_can_round(const struct mase_ox_qparams *q)
{
    return is_plain_format(q) || mase_ox_qparams_are_format(q) || is_fixed(q) || is_sign(q);
}

static struct mase_value *number_or_list(struct mase_arena *a, const double *v, int64_t count,
                                         bool whole)
{
    struct mase_value *list = mase_value_list(a);
    bool same = true;
    for (int64_t i = 1; i < count; i++)
        same &= v[i] == v[0];
    for (int64_t i = 0; i < count; i++) {
        struct mase_value *x = whole ? mase_value_int(a, (int64_t)v[i]) : mase_value_float(a, v[i]);
        if (count == 1 || (same && whole))
            return x;
        mase_value_push(a, list, x);
    }
    return list;
}

static const struct mase_format *format_of(struct mase_ox_import *im, enum mase_quant_kind kind,
                                           const struct mase_value *config)
{
    const struct mase_format *f = NULL;
    struct mase_err inner = { 0 };
    if (!im->status && mase_format_from_list(&f, kind, config, &inner))
        mase_ox_fail(im, inner.status, "%s", inner.msg);
    return f;
}

const struct mase_format *mase_ox_format(struct mase_ox_import *im, const struct mase_ox_qparams *q,
                                         int axis)
{
    struct mase_arena *a = &im->arena;
    struct mase_value *v = mase_value_list(a);
    double *bits = mase_new_array(a, double, (size_t)q->count),
           *zero = mase_new_array(a, double, (size_t)q->count);
    struct form f = { 0 };
    for (int64_t i = 0; i < q->count; i++) {
        find_form(&f, q, i);
        bits[i] = f.bits;
        zero[i] = f.zero;
    }
    mase_value_push(a, v, number_or_list(a, bits, q->count, true));
    mase_value_push(a, v, number_or_list(a, q->scale, q->count, false));
    mase_value_push(a, v, number_or_list(a, zero, q->count, true));
    mase_value_push(a, v, q->count > 1 ? mase_value_int(a, axis) : mase_value_none(a));
    mase_value_push(a, v, mase_value_none(a));
    mase_value_push(a, v, mase_value_bool(a, true));
    mase_value_push(a, v, mase_value_bool(a, f.narrow));
    mase_value_push(a, v, mase_value_bool(a, false));
    mase_value_push(a, v, mase_value_bool(a, f.is_signed));
    return format_of(im, MASE_QUANT_int, v);
}

/* The format integer has no sign of its own: the operand must have the sign of q. */
static const struct mase_format *fixed_format(struct mase_ox_import *im,
                                              const struct mase_ox_qparams *q)
{
    struct mase_arena *a = &im->arena;
    struct mase_value *v = mase_value_list(a);
    mase_value_push(a, v, mase_value_int(a, (int64_t)log2(q->hi[0] - q->lo[0] + 1)));
    mase_value_push(a, v, mase_value_int(a, -(int64_t)log2(q->scale[0])));
    if (q->rounding != OX_NEAREST)
        mase_value_push(a, v, mase_value_string(a, directions[q->rounding].direction));
    return format_of(im, MASE_QUANT_integer, v);
}

static const struct mase_format *sign_format(struct mase_ox_import *im)
{
    struct mase_arena *a = &im->arena;
    struct mase_value *v = mase_value_list(a);
    mase_value_push(a, v, mase_value_int(a, 1));
    mase_value_push(a, v, mase_value_bool(a, false));
    mase_value_push(a, v, mase_value_bool(a, true));
    return format_of(im, MASE_QUANT_binary, v);
}

/* The format of a layer's operand, signed unless the parameters say otherwise. */
static const struct mase_format *operand_format(struct mase_ox_import *im,
                                                const struct mase_ox_qparams *q, int axis)
{
    return q->format     ? q->format
           : is_fixed(q) ? fixed_format(im, q)
           : is_sign(q)  ? sign_format(im)
                         : mase_ox_format(im, q, axis);
}

/* ---- as nodes ---- */

/* One number, or a constant along the axis or of the shape of q. */
static struct mase_arg spread(struct mase_ox_import *im, const struct mase_ox_qparams *q,
                              const double *v, int rank)
{
    struct mase_shape s = { .rank = rank - q->axis };
    bool same = true;
    for (int64_t i = 1; i < q->count; i++)
        same &= v[i] == v[0];
    if (same)
        return ARG_FLOAT(v[0]);
    for (int d = 0; d < s.rank; d++)
        s.dim[d] = d ? 1 : q->count;
    struct mase_tensor t = mase_tensor(&im->arena, MASE_F32, q->shape ? q->shape : &s, true);
    for (int64_t i = 0; i < q->count; i++)
        mase_tensor_set(&t, i, v[i]);
    return ARG_NODE(mase_ox_constant(im, &t));
}

static bool has_zero(const struct mase_ox_qparams *q)
{
    for (int64_t i = 0; i < q->count; i++)
        if (q->zero[i] != 0)
            return true;
    return false;
}

static struct mase_node *cut(struct mase_ox_import *im, struct mase_node *y,
                             const struct mase_ox_qparams *q, int rank)
{
    const struct mase_arg lo = spread(im, q, q->lo, rank), hi = spread(im, q, q->hi, rank);
    if (lo.kind == MASE_ARG_FLOAT && hi.kind == MASE_ARG_FLOAT)
        return EMIT(im, MASE_OP_clamp, ARG_NODE(y), lo, hi);
    const struct mase_arg low = ARG_NODE(lo.kind == MASE_ARG_FLOAT
                                             ? mase_ox_scalar(im, MASE_F32, lo.f)
                                             : lo.node),
                          high = ARG_NODE(hi.kind == MASE_ARG_FLOAT
                                              ? mase_ox_scalar(im, MASE_F32, hi.f)
                                              : hi.node);
    const struct mase_arg above[] = { ARG_NODE(y), low };
    y = mase_ox_emit_target(im, MASE_CALL_FUNCTION, "torch.maximum", above, 2);
    const struct mase_arg below[] = { ARG_NODE(y), high };
    return mase_ox_emit_target(im, MASE_CALL_FUNCTION, "torch.minimum", below, 2);
}

static void round_result(struct mase_node *x, const struct mase_format *f)
{
    const struct mase_quant *now = mase_node_quant(x);
    struct mase_quant q = now ? *now : (struct mase_quant){ .kind = MASE_QUANT_int };
    q.operand[MASE_DATA_OUT] = f;
    mase_node_set_quant(x, &q);
}

struct mase_node *mase_ox_codes_of(struct mase_ox_import *im, struct mase_node *x,
                                   const struct mase_ox_qparams *q)
{
    const int rank = mase_ox_rank(im, x);
    if (q->format) { /* multiplying by 1 gives the result a place for the format */
        if (!is_plain_format(q))
            x = EMIT(im, MASE_OP_div, ARG_NODE(x), spread(im, q, q->scale, rank));
        struct mase_node *y = EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_FLOAT(1.0));
        if (y)
            round_result(y, q->format);
        return y;
    }
    if (q->rounding == OX_SIGN)
        return EMIT(im, MASE_OP_where, ARG_NODE(EMIT(im, MASE_OP_ge, ARG_NODE(x), ARG_INT(0))),
                    ARG_FLOAT(1.0), ARG_FLOAT(-1.0));
    const struct mase_arg zero = spread(im, q, q->zero, rank);
    struct mase_node *y = EMIT(im, MASE_OP_div, ARG_NODE(x), spread(im, q, q->scale, rank));
    if (q->shifted && has_zero(q))
        y = EMIT(im, MASE_OP_add, ARG_NODE(y), zero);
    y = mase_ox_round(im, y, q->rounding);
    if (!q->shifted && has_zero(q))
        y = EMIT(im, MASE_OP_add, ARG_NODE(y), zero);
    return cut(im, y, q, rank);
}

struct mase_node *mase_ox_values_of(struct mase_ox_import *im, struct mase_node *codes,
                                    const struct mase_ox_qparams *q)
{
    const int rank = mase_ox_rank(im, codes);
    if (is_plain_format(q))
        return codes;
    if (!q->format && has_zero(q))
        codes = EMIT(im, MASE_OP_sub, ARG_NODE(codes), spread(im, q, q->zero, rank));
    return EMIT(im, MASE_OP_mul, ARG_NODE(codes), spread(im, q, q->scale, rank));
}

/* A fixed-point format takes its sign from the operation. */
static bool rounds_fixed(const struct mase_ox_qparams *q, const struct mase_node *x)
{
    return is_fixed(q) && !mase_node_never_negative(x);
}

/* Is the unrounded value used by this rounding only? Then its producer can round its result. */
static bool rounds_itself(struct mase_ox_import *im, const struct mase_ox_value *v,
                          const struct mase_node *x)
{
    const struct mase_ox_use *u = mase_map_get(&im->uses, v->base->name);
    const bool call = x->kind == MASE_CALL_FUNCTION || x->kind == MASE_CALL_MODULE;
    const struct mase_quant *q = mase_node_quant(x);
    return call && mase_ops[x->op].quantisable && !mase_op_is_recurrent(x->op) &&
           !im->scope->call && u && u->count == 1 && !v->base->shared && !x->user_count &&
           v->qparams->count == 1 &&
           (mase_ox_qparams_are_format(v->qparams) || rounds_fixed(v->qparams, x)) &&
           !(q && q->operand[MASE_DATA_OUT]) && mase_ox_dtype(im, x) == MASE_F32 &&
           !mase_ox_result(im, x)->known;
}

struct mase_node *mase_ox_rounded(struct mase_ox_import *im, struct mase_ox_value *v)
{
    struct mase_node *x = v->base ? mase_ox_node_of(im, v->base) : NULL;
    enum mase_dtype dtype = MASE_U8;
    if (im->status)
        return NULL;
    if (v->is_codes && (!mase_onnx_dtype(&dtype, v->qparams->type) || dtype >= MASE_DTYPE_COUNT)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "'%s' is of type %s, which is not computed with",
                     v->name, mase_onnx_type_name(v->qparams->type));
        return NULL;
    }
    if (v->is_codes)
        return v->node = mase_ox_cast(
                   im, x ? mase_ox_codes_of(im, x, v->qparams) : mase_ox_constant(im, v->data),
                   dtype);
    if (rounds_itself(im, v, x)) {
        const struct mase_format *f = rounds_fixed(v->qparams, x)
                                          ? fixed_format(im, v->qparams)
                                          : mase_ox_format(im, v->qparams, 0);
        if (f)
            round_result(x, f);
        return v->node = x;
    }
    return v->node = mase_ox_values_of(im, mase_ox_codes_of(im, x, v->qparams), v->qparams);
}

/* ---- operands of layers ---- */

/* One scale, or one for each channel of dimension 1. */
static bool fits_data(const struct mase_ox_qparams *q)
{
    return layer_can_round(q) && (q->count == 1 || q->axis == 1);
}

struct mase_node *mase_ox_data_in(struct mase_ox_import *im, struct mase_ox_value *v,
                                  const struct mase_ox_qparams **q)
{
    *q = NULL;
    if (v->node || !v->qparams || v->is_codes || !v->base || !fits_data(v->qparams))
        return mase_ox_node_of(im, v);
    *q = v->qparams;
    return mase_ox_node_of(im, v->base);
}

struct mase_ox_value *mase_ox_weight(struct mase_ox_import *im, struct mase_ox_value *v,
                                     const struct mase_ox_qparams **q)
{
    *q = NULL;
    if (!v || !v->qparams || v->is_codes || !layer_can_round(v->qparams))
        return v;
    if (!v->data && (!v->base || !mase_ox_is_param(im, v->base)))
        return v;
    *q = v->qparams;
    return v->data ? v : v->base;
}

struct mase_node *mase_ox_relu(struct mase_ox_import *im, struct mase_ox_value *v)
{
    const bool rounds = v && !v->node && v->base && !v->is_codes && is_fixed_of(v->qparams, false);
    struct mase_node *x = v ? mase_ox_node_of(im, rounds ? v->base : v) : NULL;
    struct mase_node *y = EMIT(im, MASE_OP_relu, ARG_NODE(x));
    struct mase_quant q = { .kind = MASE_QUANT_integer };
    if (!y || !rounds)
        return y;
    q.operand[MASE_DATA_IN] = fixed_format(im, v->qparams);
    if (!im->status)
        mase_node_set_quant(y, &q);
    return y;
}

void mase_ox_quantise_layer(struct mase_ox_import *im, struct mase_module *m,
                            const struct mase_ox_layer_qparams *p)
{
    struct mase_quant q = { .kind = MASE_QUANT_int };
    if (!m || (!p->data && !p->weight && !p->bias))
        return;
    q.operand[MASE_DATA_IN] = p->data ? operand_format(im, p->data, 1) : NULL;
    q.operand[MASE_WEIGHT] = p->weight ? operand_format(im, p->weight, p->weight_axis) : NULL;
    q.operand[MASE_BIAS] = p->bias ? operand_format(im, p->bias, 0) : NULL;
    if (!im->status)
        mase_module_set_quant(im->g, m, &q);
}
