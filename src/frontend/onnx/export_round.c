/*
 * export_round.c - roundings as QuantizeLinear and DequantizeLinear.
 *
 * ONNX rounds to nearest, ties to even, and cuts at the range of a type; narrower ranges are cut by
 * a Clip of the codes. Weights are codes already, and a bias has 32-bit codes at the scale of the
 * products, which is what ONNX Runtime computes in integers.
 */
#include <math.h>

#include "frontend/onnx/export.h"
#include "ir/shape.h"
#include "program/program.h"

/* Codes of a tensor: one scale, or one for each position of an axis. */
struct codes {
    int type; /* ONNX's */
    int axis; /* -1: one scale */
    int64_t count;
    float *scale;         // (count)
    int64_t zero, lo, hi; /* of codes as they are stored */
    int64_t least, most;  /* of the type */
};

static const struct {
    int type, opset, size;
    int64_t least, most;
} stored[] = {
    { MASE_ONNX_INT8, 13, 1, INT8_MIN, INT8_MAX },
    { MASE_ONNX_UINT8, 13, 1, 0, UINT8_MAX },
    { MASE_ONNX_INT16, 21, 2, INT16_MIN, INT16_MAX },
    { MASE_ONNX_UINT16, 21, 2, 0, UINT16_MAX },
};

static int row_of(int type)
{
    int k = 0;
    while (stored[k].type != type)
        k++;
    return k;
}

/* The narrowest type that holds codes lo..hi, with a zero of its own if it must be. */
static bool choose_type(struct codes *c, int64_t lo, int64_t hi)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < sizeof stored / sizeof *stored; k++) {
            const int64_t zero = pass ? stored[k].least - lo : 0;
            if (lo + zero < stored[k].least || hi + zero > stored[k].most ||
                (pass && stored[k].least != 0))
                continue;
            c->type = stored[k].type;
            c->zero = zero;
            c->lo = lo + zero;
            c->hi = hi + zero;
            c->least = stored[k].least;
            c->most = stored[k].most;
            return true;
        }
    return false;
}

bool mase_ow_follows(const struct mase_exact_grid *g, const struct mase_shape *s, int axis)
{
    const struct mase_axis a = mase_axis_of(s, axis);
    for (int64_t r = 0; r < a.outer * a.len * a.inner; r++) {
        const struct mase_exact_grid *first = &g[r / a.inner % a.len * a.inner];
        if (g[r].step != first->step || g[r].lo != first->lo || g[r].hi != first->hi)
            return false;
    }
    return true;
}

/* False: no such codes. dim: the first that may be an axis. */
static bool find_codes(struct codes *c, struct mase_arena *a, const struct mase_rounding *how,
                       const struct mase_shape *s, int dim)
{
    const int64_t n = mase_shape_count(s);
    struct mase_exact_grid *g = mase_new_array(a, struct mase_exact_grid, (size_t)n);
    if (n == 0 || !mase_exact_grids(g, a, how, s))
        return false;
    bool one = true;
    for (int64_t r = 0; r < n; r++) {
        one &= g[r].step == g[0].step;
        if (g[r].direction != MASE_TO_NEAREST_EVEN || g[r].lo != g[0].lo || g[r].hi != g[0].hi)
            return false;
    }
    *c = (struct codes){ .axis = -1, .count = 1 };
    for (int d = dim; !one && d < s->rank && c->axis < 0; d++)
        c->axis = mase_ow_follows(g, s, d) ? d : -1;
    if (!one && c->axis < 0)
        return false;
    const struct mase_axis axis = mase_axis_of(s, c->axis < 0 ? 0 : c->axis);
    c->count = one ? 1 : axis.len;
    c->scale = mase_new_array(a, float, (size_t)c->count);
    for (int64_t p = 0; p < c->count; p++)
        c->scale[p] = (float)g[one ? 0 : p * axis.inner].step;
    return choose_type(c, g[0].lo, g[0].hi);
}

/* ---- constants ---- */

static const char *scale_constant(struct mase_ow_export *e, const char *like, const float *scale,
                                  int64_t count, bool one)
{
    const struct mase_shape s = { one ? 0 : 1, { count } };
    const size_t size = (size_t)count * sizeof *scale;
    return mase_ow_constant(e, mase_arena_printf(e->a, "%s_scale", like), MASE_ONNX_FLOAT32, &s,
                            mase_arena_memdup(e->a, scale, size), size);
}

/* One number of a type, as often as there are scales. */
static const char *integer_constant(struct mase_ow_export *e, const char *like, int type, int64_t v,
                                    int64_t count, bool one)
{
    const struct mase_shape s = { one ? 0 : 1, { count } };
    const int size = stored[row_of(type)].size;
    unsigned char *bytes = mase_new_array(e->a, unsigned char, (size_t)(count * size));
    for (int64_t k = 0; k < count * size; k++)
        bytes[k] = (unsigned char)((uint64_t)v >> (k % size * 8) & 0xff);
    return mase_ow_constant(e, like, type, &s, bytes, (size_t)(count * size));
}

static const char *dequantize(struct mase_ow_export *e, const char *like, const char *codes,
                              const char *scale, const char *zero, int axis)
{
    struct mase_onnx_node *n =
        mase_ow_node(e, "DequantizeLinear", like, codes, scale, zero ? zero : "", NULL);
    if (axis >= 0)
        mase_ow_int(e, n, "axis", axis);
    return mase_ow_output(n);
}

/* ---- data ---- */

enum mase_status mase_ow_export_round(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i, struct mase_err *err)
{
    const struct mase_format *f = mase_instr_format(i, e->known);
    const struct mase_shape whole = mase_ptype_shape(&i->result[0]->type, 1),
                            s = mase_shape_to_rank(&whole, i->round_rank);
    const struct mase_rounding how = { f, i->round.sign, i->round.role };
    const char *x = mase_ow_value(e, &i->param[0]), *like = i->from ? i->from : "value";
    struct codes c;
    *out = x;
    if (!f)
        return MASE_OK;
    e->refused = !find_codes(&c, &e->scratch, &how, &s, 1);
    if (e->refused)
        return mase_ow_refuse(e, err,
                              "%s is none of the roundings of QuantizeLinear: to nearest, ties to "
                              "even, up to 16 bits, with a scale or one for each channel",
                              f->row->name);
    const int opset = stored[row_of(c.type)].opset;
    e->opset = opset > e->opset ? opset : e->opset;
    const char *base = mase_arena_printf(e->a, "%s_data_in", like);
    const char *scale = scale_constant(e, base, c.scale, c.count, c.axis < 0);
    const char *zero = integer_constant(e, mase_arena_printf(e->a, "%s_zero_point", base), c.type,
                                        c.zero, c.count, c.axis < 0);
    struct mase_onnx_node *q = mase_ow_node(
        e, "QuantizeLinear", mase_arena_printf(e->a, "%s_codes", base), x, scale, zero, NULL);
    if (c.axis >= 0)
        mase_ow_int(e, q, "axis", c.axis);
    const char *codes = mase_ow_output(q);
    if (c.lo > c.least || c.hi < c.most) {
        const char *lo = integer_constant(e, "least", c.type, c.lo, 1, true),
                   *hi = integer_constant(e, "most", c.type, c.hi, 1, true);
        codes = mase_ow_output(
            mase_ow_node(e, "Clip", mase_arena_printf(e->a, "%s_cut", base), codes, lo, hi, NULL));
    }
    *out = dequantize(e, base, codes, scale, zero, c.axis);
    return MASE_OK;
}

/* ---- weights ---- */

/* Codes of a known value that was rounded; false: it has none that a type of 8 or 16 bits holds. */
static bool weight_codes(struct mase_ow_export *e, struct codes *c, const struct mase_pvalue *v)
{
    const struct mase_rounding how = { v && e->known[v->number] ? e->format[v->number] : NULL,
                                       v ? v->rounded.sign : MASE_SIGNED, MASE_ROLE_WEIGHT };
    return how.format && find_codes(c, &e->scratch, &how, &e->known[v->number]->shape, 0);
}

static int64_t code_at(const struct codes *c, const struct mase_tensor *t, int64_t k)
{
    const struct mase_axis axis = mase_axis_of(&t->shape, c->axis < 0 ? 0 : c->axis);
    const double scale = (double)c->scale[c->axis < 0 ? 0 : k / axis.inner % axis.len];
    return (int64_t)rint((double)mase_f32(t)[k] / scale) + c->zero;
}

/* The sum of the two largest of codes in a row, or, times -1, of the two smallest. */
static int64_t largest_pair(const struct codes *c, const struct mase_tensor *t, int64_t from,
                            int64_t to, int64_t sign)
{
    int64_t first = 0, second = 0;
    for (int64_t k = from; k < to; k++) {
        const int64_t w = sign * code_at(c, t, k);
        second = w > first ? first : w > second ? w : second;
        first = w > first ? w : first;
    }
    return first + second;
}

/* Processors without VNNI add two products of unsigned data and signed weights in 16 bits, and
 * ONNX Runtime lets them: sums that do not fit come out wrong. It widens unsigned weights before it
 * multiplies. */
static bool could_saturate(const struct codes *c, const struct mase_tensor *t)
{
    const int64_t rows = t->shape.rank ? t->shape.dim[0] : 1, per = mase_tensor_count(t) / rows;
    bool could = false;
    for (int64_t k = 0; k < rows * per; k += per)
        could |= largest_pair(c, t, k, k + per, 1) * UINT8_MAX > INT16_MAX ||
                 largest_pair(c, t, k, k + per, -1) * UINT8_MAX > -INT16_MIN;
    return could;
}

/* Rounded weights as codes and their scale. */
static const char *write_weight(struct mase_ow_export *e, const struct mase_pvalue *v,
                                struct codes *c)
{
    const struct mase_tensor *t = e->known[v->number];
    const int64_t n = mase_tensor_count(t);
    if (c->type == MASE_ONNX_INT8 && n && could_saturate(c, t)) {
        c->type = MASE_ONNX_UINT8;
        c->zero -= INT8_MIN;
    }
    const int row = row_of(c->type), size = stored[row].size;
    unsigned char *bytes = mase_new_array(e->a, unsigned char, (size_t)(n * size));
    for (int64_t k = 0; k < n; k++)
        for (int b = 0; b < size; b++)
            bytes[k * size + b] = (unsigned char)((uint64_t)code_at(c, t, k) >> (8 * b) & 0xff);
    const struct mase_pvalue *from = v->made_by ? mase_pvalue_of(&v->made_by->param[0]) : NULL;
    const char *like = from && from->name ? from->name : "weight";
    const char *codes = mase_ow_constant(e, mase_arena_printf(e->a, "%s_codes", like), c->type,
                                         &t->shape, bytes, (size_t)(n * size));
    const char *scale = scale_constant(e, like, c->scale, c->count, c->axis < 0);
    const char *zero = integer_constant(e, mase_arena_printf(e->a, "%s_zero_point", like), c->type,
                                        c->zero, c->count, c->axis < 0);
    e->opset = stored[row].opset > e->opset ? stored[row].opset : e->opset;
    return dequantize(e, like, codes, scale, zero, c->axis);
}

/* The scale of the data of a layer; 0: it has none, or several. */
static double data_scale(struct mase_ow_export *e, const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    const struct mase_instr *i = v ? v->made_by : NULL;
    struct codes c;
    if (!i || i->prim != MASE_PRIM_round)
        return 0;
    const struct mase_shape whole = mase_ptype_shape(&v->type, 1),
                            s = mase_shape_to_rank(&whole, i->round_rank);
    const struct mase_rounding how = { mase_instr_format(i, e->known), i->round.sign,
                                       i->round.role };
    if (!how.format || !find_codes(&c, &e->scratch, &how, &s, 1) || c.axis >= 0)
        return 0;
    return (double)c.scale[0];
}

/* A channel whose learned scale came to nothing has weights that are nothing beside its bias: a
 * scale at which the bias has 30 bits leaves them so. False: 32 bits do not hold a bias. */
static bool widen_scales(struct codes *c, const struct mase_tensor *bias, double data)
{
    for (int64_t k = 0; k < mase_tensor_count(bias); k++) {
        const double b = fabs((double)mase_f32(bias)[k]);
        float *scale = &c->scale[c->count == 1 ? 0 : k];
        if (b / (data * (double)*scale) <= INT32_MAX)
            continue;
        if (c->count == 1 || !isfinite(b))
            return false;
        *scale = (float)(b / data * 0x1p-30);
    }
    return true;
}

/* 32-bit codes at the scale of the products. */
static const char *write_bias(struct mase_ow_export *e, const struct mase_instr *layer,
                              const struct codes *c, double data)
{
    const struct mase_pvalue *b = mase_pvalue_of(&layer->param[2]);
    const struct mase_tensor *t = e->known[b->number];
    const int64_t n = mase_tensor_count(t);
    const bool one = c->count == 1;
    float *scale = mase_new_array(e->a, float, (size_t)n);
    int32_t *code = mase_new_array(e->a, int32_t, (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        const double step = data * (double)c->scale[one ? 0 : k];
        scale[k] = (float)step;
        code[k] = (int32_t)rint((double)mase_f32(t)[k] / step);
    }
    const char *like = b->name ? b->name : mase_arena_printf(e->a, "%s_bias", layer->from);
    const char *codes =
        mase_ow_constant(e, mase_arena_printf(e->a, "%s_codes", like), MASE_ONNX_INT32, &t->shape,
                         code, (size_t)n * sizeof *code);
    return dequantize(e, like, codes, scale_constant(e, like, scale, one ? 1 : n, one), NULL,
                      one ? -1 : 0);
}

void mase_ow_layer(struct mase_ow_export *e, const char **weight, const char **bias,
                   const struct mase_instr *layer)
{
    const struct mase_pvalue *w = mase_pvalue_of(&layer->param[1]),
                             *b = mase_pvalue_of(&layer->param[2]);
    const double data = data_scale(e, &layer->param[0]);
    struct codes c;
    if (e->dialect == MASE_ONNX_QONNX) {
        mase_ow_quant_layer(e, weight, bias, layer);
        return;
    }
    if (!weight_codes(e, &c, w)) {
        *weight = mase_ow_value(e, &layer->param[1]);
        *bias = mase_ow_value(e, &layer->param[2]);
        return;
    }
    const bool known = b && e->known[b->number] && data > 0 && c.axis <= 0;
    const bool whole = known && widen_scales(&c, e->known[b->number], data);
    *weight = write_weight(e, w, &c);
    *bias = whole ? write_bias(e, layer, &c, data) : mase_ow_value(e, &layer->param[2]);
}
