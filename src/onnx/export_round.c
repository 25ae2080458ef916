/*
 * export_round.c - roundings of data as QuantizeLinear and DequantizeLinear, and types of codes.
 *
 * ONNX rounds to nearest, ties to even, adds a zero point and cuts at the range of a type. Narrower
 * ranges of 8 bits are clipped as codes, those of 16 bits as values before rounding, since ONNX
 * Runtime has no Clip of 16-bit integers. export_weight.c writes weights.
 */
#include <math.h>

#include "ir/shape/shape.h"
#include "onnx/export_parts.h"
#include "program/program_parts.h"

/* ---- types of codes ---- */

/* By width, ascending. */
static const struct mase_ow_type types[] = {
    { MASE_ONNX_INT8, 13, 1, INT8_MIN, INT8_MAX },    { MASE_ONNX_UINT8, 13, 1, 0, UINT8_MAX },
    { MASE_ONNX_INT16, 21, 2, INT16_MIN, INT16_MAX }, { MASE_ONNX_UINT16, 21, 2, 0, UINT16_MAX },
    { MASE_ONNX_INT32, 13, 4, INT32_MIN, INT32_MAX }, /* weights and biases only */
};

const struct mase_ow_type *mase_ow_type_row(int type)
{
    const struct mase_ow_type *t = types;
    while (t->type != type)
        t++;
    return t;
}

/* Set the type, and a zero point if needed; false: the type does not hold codes lo..hi. */
static bool fit_type(struct mase_ow_codes *c, const struct mase_ow_type *t, int64_t lo, int64_t hi)
{
    const int64_t zero = t->least == 0 && lo < 0 ? -lo : 0;
    if (lo + zero < t->least || hi + zero > t->most || zero > t->most)
        return false;
    c->type = t;
    c->lo = lo + zero;
    c->hi = hi + zero;
    for (int64_t p = 0; p < c->count; p++)
        c->zero[p] = zero;
    return true;
}

bool mase_ow_choose_type(struct mase_ow_codes *c, int64_t lo, int64_t hi, enum mase_ow_use use)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if ((use == MASE_OW_WEIGHT || types[k].size <= 2) && fit_type(c, &types[k], lo, hi))
            return true;
    return false;
}

void mase_ow_use_unsigned(struct mase_ow_codes *c)
{
    c->type = mase_ow_type_row(MASE_ONNX_UINT8);
    for (int64_t p = 0; p < c->count; p++)
        c->zero[p] -= INT8_MIN;
}

void mase_ow_put_code(unsigned char *bytes, int64_t at, const struct mase_ow_type *t, int64_t code)
{
    for (int b = 0; b < t->size; b++)
        bytes[at * t->size + b] = (unsigned char)((uint64_t)code >> (8 * b) & 0xff);
}

/* ---- constants ---- */

static const char *scale_constant(struct mase_ow_export *e, const char *like,
                                  const struct mase_ow_codes *c)
{
    const struct mase_shape s = { c->axis < 0 ? 0 : 1, { c->count } };
    const size_t size = (size_t)c->count * sizeof *c->scale;
    return mase_ow_constant(e, mase_arena_printf(e->a, "%s_scale", like), MASE_ONNX_FLOAT32, &s,
                            mase_arena_memdup(e->a, c->scale, size), size);
}

static const char *code_constant(struct mase_ow_export *e, const char *like,
                                 const struct mase_ow_type *t, const int64_t *v,
                                 const struct mase_shape *s)
{
    const int64_t n = mase_shape_count(s);
    unsigned char *bytes = mase_new_array(e->a, unsigned char, (size_t)(n * t->size));
    for (int64_t k = 0; k < n; k++)
        mase_ow_put_code(bytes, k, t, v[k]);
    return mase_ow_constant(e, like, t->type, s, bytes, (size_t)(n * t->size));
}

/* Names of the constants for scale and zero point. */
struct constants {
    const char *scale, *zero;
};

static struct constants constants_of(struct mase_ow_export *e, const char *like,
                                     const struct mase_ow_codes *c)
{
    const struct mase_shape s = { c->axis < 0 ? 0 : 1, { c->count } };
    struct constants k = { .scale = scale_constant(e, like, c), .zero = "" };
    if (c->zero)
        k.zero =
            code_constant(e, mase_arena_printf(e->a, "%s_zero_point", like), c->type, c->zero, &s);
    e->opset = c->type->opset > e->opset ? c->type->opset : e->opset;
    return k;
}

static const char *dequantize_by(struct mase_ow_export *e, const char *like, const char *codes,
                                 const struct constants *k, int axis)
{
    struct mase_onnx_node *n =
        mase_ow_node(e, "DequantizeLinear", like, codes, k->scale, k->zero, NULL);
    if (axis >= 0)
        mase_ow_int(e, n, "axis", axis);
    return mase_ow_output(n);
}

const char *mase_ow_dequantize(struct mase_ow_export *e, const char *like, const char *codes,
                               const struct mase_ow_codes *c)
{
    const struct constants k = constants_of(e, like, c);
    return dequantize_by(e, like, codes, &k, c->axis);
}

/* ---- steps and bounds ---- */

bool mase_ow_follows(const struct mase_int_format *g, const struct mase_shape *s, int axis)
{
    const struct mase_axis a = mase_axis_of(s, axis);
    for (int64_t r = 0; r < a.outer * a.len * a.inner; r++) {
        const struct mase_int_format *first = &g[r / a.inner % a.len * a.inner];
        if (g[r].step != first->step || g[r].lo != first->lo || g[r].hi != first->hi)
            return false;
    }
    return true;
}

/* A zero point for each position whose lowest code differs. */
static bool place_zeros(struct mase_ow_codes *c, const int64_t *lo, int64_t width)
{
    bool same = true;
    for (int64_t p = 1; p < c->count; p++)
        same &= lo[p] == lo[0];
    if (same)
        return mase_ow_choose_type(c, lo[0], lo[0] + width, MASE_OW_DATA);
    if (!mase_ow_choose_type(c, -width, 0, MASE_OW_DATA)) /* 0..width, unsigned */
        return false;
    c->type = mase_ow_type_row(width <= UINT8_MAX ? MASE_ONNX_UINT8 : MASE_ONNX_UINT16);
    c->lo = 0;
    c->hi = width;
    for (int64_t p = 0; p < c->count; p++) {
        c->zero[p] = -lo[p];
        if (c->zero[p] < 0 || c->zero[p] > c->type->most)
            return false;
    }
    return true;
}

/* Codes by these formats; false: no type has such codes. Samples are no axis of data. */
static bool find_codes(struct mase_ow_codes *c, struct mase_arena *a,
                       const struct mase_rounding *how, const struct mase_shape *s)
{
    const int64_t n = mase_shape_count(s);
    struct mase_int_format *g = mase_new_array(a, struct mase_int_format, (size_t)n);
    if (n == 0 || !mase_int_formats(g, a, how, s))
        return false;
    bool one = true;
    for (int64_t r = 0; r < n; r++) {
        one &= g[r].step == g[0].step && g[r].lo == g[0].lo;
        if (g[r].direction != MASE_TO_NEAREST_EVEN || g[r].hi - g[r].lo != g[0].hi - g[0].lo)
            return false;
    }
    *c = (struct mase_ow_codes){ .axis = -1, .count = 1 };
    for (int d = 1; !one && d < s->rank && c->axis < 0; d++)
        c->axis = mase_ow_follows(g, s, d) ? d : -1;
    if (!one && c->axis < 0)
        return false;
    const struct mase_axis axis = mase_axis_of(s, c->axis < 0 ? 0 : c->axis);
    c->count = one ? 1 : axis.len;
    c->scale = mase_new_array(a, float, (size_t)c->count);
    c->zero = mase_new_array(a, int64_t, (size_t)c->count);
    int64_t *lo = mase_new_array(a, int64_t, (size_t)c->count);
    for (int64_t p = 0; p < c->count; p++) {
        c->scale[p] = (float)g[one ? 0 : p * axis.inner].step;
        lo[p] = g[one ? 0 : p * axis.inner].lo;
    }
    return place_zeros(c, lo, g[0].hi - g[0].lo);
}

/* ---- data ---- */

/* ONNX Runtime fuses operations with the roundings around them, even where it then has no kernel:
 * with scales for each channel, or weights that it rounds first. It does not fuse across a Max,
 * which here changes nothing. */
const char *mase_ow_block_fusion(struct mase_ow_export *e, const char *like, const char *x)
{
    return mase_ow_output(mase_ow_node(e, "Max", like, x, mase_ow_number(e, -INFINITY), NULL));
}

/* Codes of an instruction's rounding; false: none. */
static bool codes_of(struct mase_ow_export *e, struct mase_ow_codes *c, const struct mase_instr *i)
{
    const struct mase_shape whole = mase_ptype_shape(&i->result[0]->type, 1),
                            s = mase_shape_to_rank(&whole, i->round_rank);
    const struct mase_rounding how = { mase_instr_format(i, e->known), i->round.sign,
                                       i->round.role };
    return how.format && find_codes(c, &e->scratch, &how, &s);
}

double mase_ow_data_scale(struct mase_ow_export *e, const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    const struct mase_instr *i = v ? v->made_by : NULL;
    struct mase_ow_codes c;
    return i && i->prim == MASE_PRIM_round && codes_of(e, &c, i) && c.axis < 0 ? (double)c.scale[0]
                                                                               : 0;
}

/* A constant along the axis of a tensor of this rank. */
static const char *along_axis(struct mase_ow_export *e, const char *like, const float *v,
                              const struct mase_ow_codes *c, int rank)
{
    struct mase_shape s = { .rank = c->axis < 0 ? 0 : rank - c->axis };
    for (int d = 0; d < s.rank; d++)
        s.dim[d] = d ? 1 : c->count;
    return mase_ow_constant(e, like, MASE_ONNX_FLOAT32, &s, v, (size_t)c->count * sizeof *v);
}

/* Clip values to those of the first and last code before they are rounded. */
static const char *clip_values(struct mase_ow_export *e, const char *like, const char *x,
                               const struct mase_ow_codes *c, int rank)
{
    float *lo = mase_new_array(e->a, float, (size_t)c->count),
          *hi = mase_new_array(e->a, float, (size_t)c->count);
    for (int64_t p = 0; p < c->count; p++) {
        lo[p] = (float)(c->lo - c->zero[p]) * c->scale[p];
        hi[p] = (float)(c->hi - c->zero[p]) * c->scale[p];
    }
    const char *least = along_axis(e, "least", lo, c, rank),
               *most = along_axis(e, "most", hi, c, rank);
    if (c->axis < 0)
        return mase_ow_output(mase_ow_node(e, "Clip", like, x, least, most, NULL));
    return mase_ow_output(mase_ow_node(
        e, "Min", like, mase_ow_output(mase_ow_node(e, "Max", like, x, least, NULL)), most, NULL));
}

/* Was the value rounded, and then only moved? ONNX Runtime would merge two roundings in sequence.
 */
static bool is_rounded(const struct mase_arg *a)
{
    static const enum mase_prim moves[] = {
        MASE_PRIM_reshape, MASE_PRIM_permute,   MASE_PRIM_expand, MASE_PRIM_flip,   MASE_PRIM_pad,
        MASE_PRIM_join,    MASE_PRIM_rearrange, MASE_PRIM_cut,    MASE_PRIM_gather, MASE_PRIM_window
    };
    const struct mase_arg *at = mase_arg_is_seq(a) && a->count ? &a->items[0] : a;
    const struct mase_pvalue *v = mase_pvalue_of(at);
    const struct mase_instr *by = v ? v->made_by : NULL;
    bool moved = false;
    for (size_t k = 0; by && k < sizeof moves / sizeof *moves; k++)
        moved |= by->prim == moves[k];
    return by && (by->prim == MASE_PRIM_round || (moved && is_rounded(&by->param[0])));
}

enum mase_status mase_ow_export_round(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i, struct mase_err *err)
{
    const struct mase_format *f = mase_instr_format(i, e->known);
    const struct mase_shape one = { 0 };
    const char *x = mase_ow_value(e, &i->param[0]), *like = i->from ? i->from : "value";
    struct mase_ow_codes c;
    *out = x;
    if (!f)
        return MASE_OK;
    e->refused = !codes_of(e, &c, i);
    if (e->refused)
        return mase_ow_refuse(e, err,
                              "%s is none of the roundings of QuantizeLinear: to nearest, ties to "
                              "even, up to 16 bits, with a scale and zero point or one for each "
                              "channel",
                              f->row->name);
    const char *base = mase_arena_printf(e->a, "%s_data_in", like),
               *cut = mase_arena_printf(e->a, "%s_cut", base);
    if (e->unsigned_bytes && c.type->type == MASE_ONNX_INT8) {
        mase_ow_use_unsigned(&c);
        c.lo -= INT8_MIN;
        c.hi -= INT8_MIN;
    }
    const struct constants k = constants_of(e, base, &c);
    const bool narrow = c.lo > c.type->least || c.hi<c.type->most, wide = c.type->size> 1;
    e->rounds = true;
    if (c.axis >= 0 || is_rounded(&i->param[0]))
        x = mase_ow_block_fusion(e, base, x);
    if (narrow && wide)
        x = clip_values(e, cut, x, &c, i->result[0]->type.rank);
    struct mase_onnx_node *q = mase_ow_node(
        e, "QuantizeLinear", mase_arena_printf(e->a, "%s_codes", base), x, k.scale, k.zero, NULL);
    if (c.axis >= 0)
        mase_ow_int(e, q, "axis", c.axis);
    const char *codes = mase_ow_output(q);
    if (narrow && !wide) {
        const char *lo = code_constant(e, "least", c.type, &c.lo, &one),
                   *hi = code_constant(e, "most", c.type, &c.hi, &one);
        codes = mase_ow_output(mase_ow_node(e, "Clip", cut, codes, lo, hi, NULL));
    }
    *out = dequantize_by(e, base, codes, &k, c.axis);
    if (c.axis >= 0)
        *out = mase_ow_block_fusion(e, base, *out);
    return MASE_OK;
}
