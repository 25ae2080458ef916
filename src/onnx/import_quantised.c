/*
 * import_quantised.c - QuantizeLinear and DequantizeLinear: values as integers with a scale, and
 * back.
 *
 * A quantised value is kept with its quantisation parameters (import_qparams.c) until it is used.
 * Integer weights of the file become the floats that they stand for; their parameters become the
 * format of the weight.
 */
#include <math.h>

#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* ---- types of codes ---- */

static const struct {
    int type;
    double lo, hi;
} code_types[] = {
    { MASE_ONNX_UINT8, 0, UINT8_MAX },
    { MASE_ONNX_INT8, INT8_MIN, INT8_MAX },
    { MASE_ONNX_UINT16, 0, UINT16_MAX },
    { MASE_ONNX_INT16, INT16_MIN, INT16_MAX },
    { MASE_ONNX_UINT4, 0, 15 },
    { MASE_ONNX_INT4, -8, 7 },
    { MASE_ONNX_UINT2, 0, 3 },
    { MASE_ONNX_INT2, -2, 1 },
    { MASE_ONNX_INT32, INT32_MIN, INT32_MAX },
};

static bool code_range(int type, double *lo, double *hi)
{
    for (size_t k = 0; k < sizeof code_types / sizeof *code_types; k++)
        if (code_types[k].type == type) {
            *lo = code_types[k].lo;
            *hi = code_types[k].hi;
            return true;
        }
    return false;
}

int mase_ox_value_type(struct mase_ox_import *im, const struct mase_ox_value *v)
{
    return v->is_codes           ? v->qparams->type
           : v->init && !v->node ? (int)v->init->data_type
                                 : mase_onnx_type_of(mase_ox_like(im, v)->dtype);
}

/* ---- quantisation parameters ---- */

static struct mase_ox_qparams *fail_qparams(struct mase_ox_import *im, const char *what)
{
    mase_ox_fail(im, MASE_EUNSUPPORTED, "%s", what);
    return NULL;
}

static bool scales_are_positive(struct mase_ox_import *im, const struct mase_ox_qparams *q)
{
    for (int64_t i = 0; i < q->count; i++)
        if (!(q->scale[i] > 0) || !isfinite(q->scale[i])) {
            mase_ox_fail(im, MASE_EVALUE, "scale %g is not above 0", q->scale[i]);
            return false;
        }
    return true;
}

struct mase_ox_qparams *mase_ox_read_qparams(struct mase_ox_import *im, int scale_at, int zero_at,
                                             int type, int64_t axis, int rank)
{
    struct mase_ox_value *zero_value = mase_ox_in(im, zero_at);
    const struct mase_tensor *scale = mase_ox_known_tensor(im, mase_ox_in(im, scale_at)),
                             *zero = mase_ox_known_tensor(im, zero_value);
    struct mase_ox_qparams *q = mase_new(&im->arena, struct mase_ox_qparams);
    double lo, hi;
    if (im->status)
        return NULL;
    if (!scale || scale->dtype != MASE_F32 || (zero_value && !zero))
        return fail_qparams(im, "its scale and zero point must be known, and the scale float32");
    q->count = mase_tensor_count(scale);
    q->scale = mase_ox_doubles(im, scale);
    q->zero = zero ? mase_ox_doubles(im, zero) : mase_ox_repeated(im, 0, q->count);
    q->type = zero ? mase_ox_value_type(im, zero_value) : type;
    if (!code_range(q->type, &lo, &hi)) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is no type of codes",
                     mase_onnx_type_name(q->type));
        return NULL;
    }
    q->lo = mase_ox_repeated(im, lo, q->count);
    q->hi = mase_ox_repeated(im, hi, q->count);
    if (zero && mase_tensor_count(zero) != q->count) {
        mase_ox_fail(im, MASE_EVALUE, "its scale and zero point are of different lengths");
        return NULL;
    }
    if (q->count > 1 && scale->shape.rank == 1)
        q->axis = mase_ox_axis(im, axis, rank);
    else if (q->count > 1)
        q->shape = mase_arena_memdup(&im->arena, &scale->shape, sizeof scale->shape);
    return im->status || !scales_are_positive(im, q) ? NULL : q;
}

static bool same_qparams(const struct mase_ox_qparams *a, const struct mase_ox_qparams *b)
{
    bool same = a->count == b->count && a->type == b->type && !a->shape == !b->shape &&
                (a->count == 1 || a->axis == b->axis);
    for (int64_t i = 0; same && i < a->count; i++)
        same = a->scale[i] == b->scale[i] && a->zero[i] == b->zero[i];
    return same;
}

/* Blocks of values along an axis that share a scale; the last may be shorter. */
struct blocks {
    int64_t size; /* 0: no blocks */
    int axis;
};

/* The block size of the current node; an error if the scales do not fit. */
static bool read_blocks(struct mase_ox_import *im, struct blocks *b,
                        const struct mase_ox_qparams *q, int64_t axis, const struct mase_shape *x)
{
    *b = (struct blocks){ .size = mase_ox_attr_int(im, "block_size", 0) };
    if (!q || (!b->size && !q->shape))
        return !im->status;
    const struct mase_shape *s = q->shape;
    b->axis = mase_ox_axis(im, axis, x->rank);
    bool fits = b->size > 0 && s && s->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++)
        fits = s->dim[d] ==
               (d == b->axis ? x->dim[d] / b->size + (x->dim[d] % b->size != 0) : x->dim[d]);
    if (!fits) {
        im->batch_matters = true; /* the file's own batch size may fit */
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its scales do not fit its blocks, or there are none");
    }
    return fits;
}

/* The block of element i of x. */
static int64_t block_of(const struct blocks *b, const struct mase_shape *s,
                        const struct mase_shape *x, int64_t i)
{
    const struct mase_axis from = mase_axis_of(s, b->axis), to = mase_axis_of(x, b->axis);
    return (i / to.inner / to.len * from.len + i / to.inner % to.len / b->size) * from.inner +
           i % to.inner;
}

/* One scale for each value, for an expression as nodes. */
static bool spread_blocks(struct mase_ox_import *im, struct mase_ox_qparams *q,
                          const struct blocks *b, const struct mase_shape *x)
{
    enum { MOST = 1 << 20 };
    const double **of[] = { &q->scale, &q->zero, &q->lo, &q->hi };
    const int64_t n = mase_shape_count(x);
    if (!b->size)
        return true;
    if (n > MOST) {
        mase_ox_fail(im, MASE_ELIMIT, "blocks of more than %d values are not computed", MOST);
        return false;
    }
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        double *v = mase_new_array(&im->arena, double, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            v[i] = (*of[k])[block_of(b, q->shape, x, i)];
        *of[k] = v;
    }
    q->count = n;
    q->shape = mase_arena_memdup(&im->arena, x, sizeof *x);
    return true;
}

/* Has the axis of x as many positions as there are scales? */
static bool fits_axis(struct mase_ox_import *im, const struct mase_ox_qparams *q,
                      const struct mase_shape *x)
{
    if (q->count == 1 || q->shape || x->dim[q->axis] == q->count)
        return true;
    mase_ox_fail(im, MASE_EVALUE, "there are %lld scales for %lld positions of its axis",
                 (long long)q->count, (long long)x->dim[q->axis]);
    return false;
}

enum mase_status mase_ox_set_value(struct mase_ox_import *im, int i, struct mase_ox_value v)
{
    if (im->status || !mase_ox_has_out(im, i))
        return im->status;
    v.name = im->node->output.items[i];
    if (mase_map_get(&im->scope->values, v.name))
        return mase_ox_fail(im, MASE_EVALUE, "its result '%s' has a name that is taken", v.name);
    *mase_ox_new_value(im, v.name) = v;
    return MASE_OK;
}

/* ---- QuantizeLinear ---- */

void mase_ox_remember_clip(struct mase_ox_import *im, double lo, double hi)
{
    struct mase_ox_value *x = mase_ox_in(im, 0), *y = mase_ox_find(im, im->node->output.items[0]);
    struct mase_ox_clip *clip = mase_new(&im->arena, struct mase_ox_clip);
    *clip = (struct mase_ox_clip){ x, lo, hi };
    if (x && y && x->node && lo <= hi)
        y->clip = clip;
}

/* The code of a number, by ONNX's rounding. */
static double code_of(const struct mase_ox_qparams *q, int64_t i, double x)
{
    const double code = rint((double)((float)x / (float)q->scale[i])) + q->zero[i];
    return fmin(fmax(code, q->lo[i]), q->hi[i]);
}

/* A value that is clipped before rounding has the codes between those of the bounds. If these are
 * all codes of a format, drop the Clip and round by the format. */
static void round_unclipped(struct mase_ox_import *im, struct mase_ox_value **x,
                            struct mase_ox_qparams **q)
{
    const struct mase_ox_clip *clip = (*x)->clip;
    struct mase_ox_qparams *narrow = mase_arena_memdup(&im->arena, *q, sizeof **q);
    double *lo = mase_new_array(&im->arena, double, (size_t)narrow->count),
           *hi = mase_new_array(&im->arena, double, (size_t)narrow->count);
    for (int64_t i = 0; clip && i < narrow->count; i++) {
        lo[i] = code_of(*q, i, clip->lo);
        hi[i] = code_of(*q, i, clip->hi);
    }
    narrow->lo = lo;
    narrow->hi = hi;
    if (!clip || !mase_ox_qparams_are_format(narrow))
        return;
    *x = clip->of;
    *q = narrow;
}

OX_RULE(quantize)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    const int64_t axis = mase_ox_attr_int(im, "axis", 1),
                  out = mase_ox_attr_int(im, "output_dtype", 0);
    (void)mase_ox_attr_int(im, "saturate", 1); /* for 8-bit floats only */
    if (!x)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no input");
    if (mase_ox_attr_int(im, "precision", 0) > 1)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "another precision than float32");
    const struct mase_tensor *like = mase_ox_like(im, x);
    if (like->dtype != MASE_F32)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "only float32 is quantised");
    struct mase_ox_qparams *q =
        mase_ox_read_qparams(im, 1, 2, out ? (int)out : MASE_ONNX_UINT8, axis, like->shape.rank);
    struct blocks b;
    if (!read_blocks(im, &b, q, axis, &like->shape) || !spread_blocks(im, q, &b, &like->shape) ||
        !fits_axis(im, q, &like->shape))
        return im->status;
    if (q->type == MASE_ONNX_INT32)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "type INT32 is no type of codes");
    round_unclipped(im, &x, &q);
    return mase_ox_set_value(im, 0,
                             (struct mase_ox_value){ .base = x, .qparams = q, .is_codes = true });
}

/* These parameters with tighter bounds. */
static struct mase_ox_qparams *clipped_qparams(struct mase_ox_import *im,
                                               const struct mase_ox_qparams *from,
                                               const struct mase_tensor *lo,
                                               const struct mase_tensor *hi)
{
    struct mase_ox_qparams *q = mase_arena_memdup(&im->arena, from, sizeof *from);
    double *least = mase_new_array(&im->arena, double, (size_t)q->count),
           *most = mase_new_array(&im->arena, double, (size_t)q->count);
    for (int64_t i = 0; i < q->count; i++) {
        least[i] = lo ? fmax(q->lo[i], mase_tensor_get(lo, 0)) : q->lo[i];
        most[i] = hi ? fmin(q->hi[i], mase_tensor_get(hi, 0)) : q->hi[i];
        least[i] = fmin(least[i], most[i]); /* as in Clip, the upper bound wins */
    }
    q->lo = least;
    q->hi = most;
    return q;
}

/* Integer tensors have the range of their type. */
static const struct mase_ox_qparams *qparams_of_type(struct mase_ox_import *im, int type)
{
    double lo, hi;
    struct mase_ox_qparams *q = mase_new(&im->arena, struct mase_ox_qparams);
    if (type == MASE_ONNX_INT32 || !code_range(type, &lo, &hi))
        return NULL;
    *q = (struct mase_ox_qparams){ .count = 1, .type = type };
    q->lo = mase_ox_repeated(im, lo, 1);
    q->hi = mase_ox_repeated(im, hi, 1);
    return q;
}

/* The tensor as floats, clipped. */
static const struct mase_tensor *clip_tensor(struct mase_ox_import *im, const struct mase_tensor *t,
                                             const struct mase_ox_qparams *q)
{
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    *y = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(y, i, fmin(fmax(mase_tensor_get(t, i), q->lo[0]), q->hi[0]));
    return y;
}

bool mase_ox_clip_codes(struct mase_ox_import *im)
{
    struct mase_ox_value *x = mase_ox_in(im, 0), *low = mase_ox_in(im, 1),
                         *high = mase_ox_in(im, 2);
    const struct mase_tensor *lo = mase_ox_known_tensor(im, low),
                             *hi = mase_ox_known_tensor(im, high);
    if (!x || x->node || (low && !lo) || (high && !hi) || (lo && mase_tensor_count(lo) != 1) ||
        (hi && mase_tensor_count(hi) != 1))
        return false;
    if (x->is_codes && x->base) {
        mase_ox_set_value(
            im, 0,
            (struct mase_ox_value){ .base = x->base,
                                    .qparams = clipped_qparams(im, x->qparams, lo, hi),
                                    .is_codes = true });
        return true;
    }
    const struct mase_ox_qparams *type = qparams_of_type(im, mase_ox_value_type(im, x));
    const struct mase_tensor *t = type ? mase_ox_known_tensor(im, x) : NULL;
    if (!t)
        return false;
    const struct mase_ox_qparams *q = clipped_qparams(im, type, lo, hi);
    const struct mase_tensor *y = clip_tensor(im, t, q);
    mase_ox_set_value(
        im, 0, (struct mase_ox_value){ .data = y, .like = *y, .qparams = q, .is_codes = true });
    return true;
}

bool mase_ox_move_codes(struct mase_ox_import *im)
{
    const struct mase_onnx_node *node = im->node;
    const struct mase_ox_value *v =
        im->rule->moves && node->input.count ? mase_ox_find(im, node->input.items[0]) : NULL;
    if (!v || !v->is_codes || !v->base || v->node || v->qparams->count > 1 ||
        (node->output.count > 1 && im->rule->op != MASE_OP_split))
        return false;
    struct mase_ox_scope *outer = im->scope;
    struct mase_ox_scope inner = *outer;
    inner.values = (struct mase_map){ .arena = &im->arena };
    inner.outer = outer;
    mase_map_put(&inner.values, node->input.items[0], v->base);
    im->scope = &inner;
    if (!im->rule->apply(im)) {
        im->scope = outer;
        for (int i = 0; i < node->output.count; i++) {
            struct mase_ox_value *moved = mase_map_get(&inner.values, node->output.items[i]);
            if (moved)
                mase_ox_set_value(im, i,
                                  (struct mase_ox_value){
                                      .base = moved, .qparams = v->qparams, .is_codes = true });
        }
    }
    im->scope = outer;
    return true;
}

/* ---- DequantizeLinear ---- */

/* The floats that integer tensors of the file stand for. */
static struct mase_tensor *dequantised(struct mase_ox_import *im, const struct mase_tensor *t,
                                       const struct mase_ox_qparams *q, const struct blocks *b)
{
    struct mase_tensor *y = mase_new(&im->arena, struct mase_tensor);
    const struct mase_axis a = mase_axis_of(&t->shape, q->count > 1 ? q->axis : 0);
    *y = mase_tensor(&im->arena, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++) {
        const int64_t c = b->size        ? block_of(b, q->shape, &t->shape, i)
                          : q->count > 1 ? i / a.inner % a.len
                                         : 0;
        mase_f32(y)[i] = (float)(mase_tensor_get(t, i) - q->zero[c]) * (float)q->scale[c];
    }
    return y;
}

/* Integers too wide for codes, as biases are. */
static bool is_wide(const struct mase_ox_qparams *q)
{
    return q->type == MASE_ONNX_INT32;
}

struct mase_ox_value mase_ox_dequantise(struct mase_ox_import *im, struct mase_ox_value *x,
                                        int scale_at, int zero_at, int64_t axis)
{
    const struct mase_ox_value none = { 0 };
    const struct mase_shape *s = &mase_ox_like(im, x)->shape;
    struct mase_ox_qparams *q =
        mase_ox_read_qparams(im, scale_at, zero_at, mase_ox_value_type(im, x), axis, s->rank);
    const struct mase_tensor *t = x->base ? NULL : mase_ox_known_tensor(im, x);
    struct blocks b;
    if (!read_blocks(im, &b, q, axis, s) || (!t && !spread_blocks(im, q, &b, s)) ||
        !fits_axis(im, q, s))
        return none;
    if (x->is_codes && x->base && same_qparams(q, x->qparams))
        return (struct mase_ox_value){ .base = x->base, .qparams = x->qparams };
    if (x->is_codes && x->base) {
        struct mase_node *codes = mase_ox_codes_of(im, mase_ox_node_of(im, x->base), x->qparams);
        return (struct mase_ox_value){ .node = mase_ox_values_of(im, codes, q) };
    }
    if (t) {
        const struct mase_tensor *y = dequantised(im, t, q, &b);
        if (x->is_codes) {
            q->lo = mase_ox_repeated(im, x->qparams->lo[0], q->count);
            q->hi = mase_ox_repeated(im, x->qparams->hi[0], q->count);
        }
        return (struct mase_ox_value){ .data = y,
                                       .like = *y,
                                       .qparams = is_wide(q) || q->shape ? NULL : q };
    }
    struct mase_node *n = mase_ox_cast(im, mase_ox_node_of(im, x), MASE_F32);
    return (struct mase_ox_value){ .node = mase_ox_values_of(im, n, q) };
}

OX_RULE(dequantize)
{
    struct mase_ox_value *x = mase_ox_in(im, 0);
    const int64_t axis = mase_ox_attr_int(im, "axis", 1),
                  out = mase_ox_attr_int(im, "output_dtype", 1);
    if (!x)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no input");
    if (out > 1)
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "type %s is not computed with",
                            mase_onnx_type_name(out));
    return mase_ox_set_value(im, 0, mase_ox_dequantise(im, x, 1, 2, axis));
}
