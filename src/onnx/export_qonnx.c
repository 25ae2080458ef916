/*
 * export_qonnx.c - roundings as QONNX: Quant and BipolarQuant.
 *
 * Quant has any width, fixed point of any fraction, and directions of rounding. Readers of QONNX
 * take one width for a tensor, so weights of several widths get one that holds them all, with the
 * steps of an axis if there is one, else with the smallest step. Weights are written rounded, so
 * rounding them again changes nothing.
 */
#include <math.h>

#include "ir/shape/shape.h"
#include "onnx/export_parts.h"
#include "program/program_parts.h"

/* A Quant with parameters for the tensor, or for each position of an axis. */
struct quant {
    const char *rounding; /* NULL: BipolarQuant */
    int axis;             /* -1: the whole tensor */
    int64_t count;
    float *scale; // (count)
    float *bits;  // (count); all equal except for data of several widths
    bool is_signed, narrow;
};

static const char *const rounding_names[] = {
    [MASE_TO_NEAREST_EVEN] = "ROUND",
    [MASE_TO_NEAREST_AWAY] = "HALF_UP",
    [MASE_TO_FLOOR] = "FLOOR",
    [MASE_TO_ZERO] = "DOWN",
};

/* The width whose codes are exactly lo..hi; false: there is none. */
static bool find_width(struct quant *q, float *bits, int64_t lo, int64_t hi)
{
    int b = 0;
    while (b < 32 && (INT64_C(1) << b) <= hi)
        b++;
    const bool full = hi == (INT64_C(1) << b) - 1;
    q->is_signed = lo < 0;
    q->narrow = lo == -hi && lo < 0;
    *bits = (float)(b + q->is_signed);
    return full && (lo == 0 || lo == -hi || lo == -hi - 1);
}

/* Fill q from codes; returns why QONNX cannot express them, or NULL. from: the first dimension that
 * may be an axis. */
static const char *read_steps(struct quant *q, struct mase_arena *a,
                              const struct mase_int_format *g, const struct mase_shape *s, int from)
{
    bool same = true;
    for (int64_t r = 1; r < mase_shape_count(s); r++) {
        same &= g[r].step == g[0].step && g[r].lo == g[0].lo && g[r].hi == g[0].hi;
        if (g[r].direction != g[0].direction)
            return "its values are rounded in several directions";
    }
    q->axis = -1;
    for (int d = from; !same && d < s->rank && q->axis < 0; d++)
        q->axis = mase_ow_follows(g, s, d) ? d : -1;
    if (!same && q->axis < 0)
        return "single values have steps or widths of their own";
    const struct mase_axis axis = mase_axis_of(s, same ? 0 : q->axis);
    q->count = same ? 1 : axis.len;
    q->scale = mase_new_array(a, float, (size_t)q->count);
    q->bits = mase_new_array(a, float, (size_t)q->count);
    q->rounding = NULL;
    if (g[0].direction == (int)MASE_TO_SIGN) {
        q->scale[0] = 1.0f;
        return NULL;
    }
    q->rounding = rounding_names[g[0].direction];
    for (int64_t p = 0; p < q->count; p++) {
        const struct mase_int_format *at = &g[same ? 0 : p * axis.inner];
        struct quant first = *q;
        q->scale[p] = (float)at->step;
        if (!find_width(q, &q->bits[p], at->lo, at->hi))
            return "its codes have a zero point, or no whole number of bits";
        if (q->bits[p] < 1 || (q->is_signed && q->bits[p] == 1))
            return "no bit is no width there, and one bit with a sign is 1 or -1, not 0 or -1";
        if (p && (first.is_signed != q->is_signed || first.narrow != q->narrow))
            return "some of its channels have a sign, others none";
    }
    return NULL;
}

/* ---- nodes ---- */

/* A constant along an axis of a tensor of this rank; one number if all are equal. */
static const char *numbers(struct mase_ow_export *e, const char *like, const float *v,
                           const struct quant *q, int rank)
{
    struct mase_shape s = { .rank = 0 };
    bool same = true;
    for (int64_t p = 1; p < q->count; p++)
        same &= v[p] == v[0];
    for (int d = 0; !same && d < rank; d++)
        s.dim[s.rank++] = d == q->axis ? q->count : 1;
    const size_t size = (same ? 1 : (size_t)q->count) * sizeof *v;
    return mase_ow_constant(e, like, MASE_ONNX_FLOAT32, &s, mase_arena_memdup(e->a, v, size), size);
}

static const char *write_quant(struct mase_ow_export *e, const char *like, const char *x,
                               const struct quant *q, int rank)
{
    const char *scale = numbers(e, mase_arena_printf(e->a, "%s_scale", like), q->scale, q, rank);
    struct mase_onnx_node *n;
    e->qonnx = true;
    if (!q->rounding) {
        n = mase_ow_node(e, "BipolarQuant", like, x, scale, NULL);
    } else {
        const char *zero = mase_ow_number(e, 0),
                   *bits = numbers(e, mase_arena_printf(e->a, "%s_bits", like), q->bits, q, rank);
        n = mase_ow_node(e, "Quant", like, x, scale, zero, bits, NULL);
        mase_ow_int(e, n, "signed", q->is_signed);
        mase_ow_int(e, n, "narrow", q->narrow);
        mase_ow_text(e, n, "rounding_mode", q->rounding);
    }
    n->domain = MASE_OW_QONNX;
    return mase_ow_output(n);
}

/* ---- data ---- */

enum mase_status mase_ow_export_quant(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i, struct mase_err *err)
{
    const struct mase_format *f = mase_instr_format(i, e->known);
    const struct mase_shape whole = mase_ptype_shape(&i->result[0]->type, 1),
                            s = mase_shape_to_rank(&whole, i->round_rank);
    const struct mase_rounding how = { f, i->round.sign, i->round.role };
    const int64_t n = mase_shape_count(&s);
    struct mase_int_format *g = mase_new_array(&e->scratch, struct mase_int_format, (size_t)n);
    struct quant q;
    *out = mase_ow_value(e, &i->param[0]);
    if (!f)
        return MASE_OK;
    const char *why = !n || !mase_int_formats(g, &e->scratch, &how, &s)
                          ? "its values are no multiples of a step that is known before the data"
                          : read_steps(&q, &e->scratch, g, &s, 1);
    if (why)
        return mase_ow_refuse(e, err, "%s is no Quant of QONNX: %s", f->row->name, why);
    const char *like = mase_arena_printf(e->a, "%s_data_in", i->from ? i->from : "value");
    *out = write_quant(e, like, *out, &q, whole.rank);
    return MASE_OK;
}

/* ---- weights ---- */

/* One width for codes of a weight up to `most`; false: there is none. */
static bool share_width(struct quant *q, double most)
{
    int bits = 2;
    while (bits < 24 && ldexp(1, bits - 1) - 1 < most)
        bits++;
    q->rounding = "ROUND";
    q->is_signed = true;
    for (int64_t p = 0; p < q->count; p++)
        q->bits[p] = (float)bits;
    return bits < 24;
}

/* Keep the steps of each position of an axis, whose widths may differ; false: there is no such
 * axis. */
static bool keep_steps(struct quant *q, struct mase_arena *a, const struct mase_int_format *g,
                       const struct mase_tensor *t)
{
    double most = 0;
    int d = 0;
    while (d < t->shape.rank && !mase_ow_follows(g, &t->shape, d))
        d++;
    if (d == t->shape.rank)
        return false;
    const struct mase_axis axis = mase_axis_of(&t->shape, d);
    *q = (struct quant){ .axis = d, .count = axis.len };
    q->scale = mase_new_array(a, float, (size_t)q->count);
    q->bits = mase_new_array(a, float, (size_t)q->count);
    for (int64_t k = 0; k < mase_tensor_count(t); k++) {
        if (g[k].scaled || g[k].step <= 0)
            return false;
        q->scale[k / axis.inner % axis.len] = (float)g[k].step;
        most = fmax(most, fabs((double)mase_f32(t)[k]) / g[k].step);
    }
    return share_width(q, most);
}

/* The smallest step, if all are powers of two; false: there is none. */
static bool share_step(struct quant *q, struct mase_arena *a, const struct mase_int_format *g,
                       const struct mase_tensor *t)
{
    double step = 0, most = 0;
    for (int64_t k = 0; k < mase_tensor_count(t); k++) {
        const double w = (double)mase_f32(t)[k];
        if (g[k].scaled || (w != 0 && g[k].step <= 0))
            return false;
        step = w != 0 && (step == 0 || g[k].step < step) ? g[k].step : step;
        most = fmax(most, w < 0 ? -w : w);
    }
    step = step == 0 ? 1 : step;
    *q = (struct quant){ .axis = -1, .count = 1 };
    q->scale = mase_new_array(a, float, 1);
    q->bits = mase_new_array(a, float, 1);
    q->scale[0] = (float)step;
    return share_width(q, most / step);
}

/* One magnitude for each position of the first dimension, or for all: values are 1 and -1, 0 and 1,
 * or all three of them, times it. */
static bool by_magnitude(struct quant *q, struct mase_arena *a, const struct mase_tensor *t)
{
    const int64_t n = mase_tensor_count(t), rows = t->shape.rank ? t->shape.dim[0] : 1,
                  per = n / (rows ? rows : 1);
    bool zeros = false, negative = false, several = false;
    *q =
        (struct quant){ .axis = 0, .count = rows, .scale = mase_new_array(a, float, (size_t)rows) };
    for (int64_t k = 0; k < n; k++) {
        const float w = mase_f32(t)[k], m = fabsf(w);
        float *scale = &q->scale[k / per];
        if (m != 0 && *scale != 0 && m != *scale)
            return false;
        *scale = m != 0 ? m : *scale;
        zeros |= m == 0;
        negative |= w < 0;
    }
    for (int64_t p = 0; p < rows; p++) {
        q->scale[p] = q->scale[p] == 0 ? 1 : q->scale[p]; /* a position of zeros only */
        several |= q->scale[p] != q->scale[0];
    }
    q->count = several ? rows : 1;
    q->axis = several ? 0 : -1;
    if (!zeros)
        return n > 0;
    q->rounding = "ROUND";
    q->is_signed = q->narrow = negative;
    q->bits = mase_new_array(a, float, (size_t)q->count);
    for (int64_t p = 0; p < q->count; p++)
        q->bits[p] = negative ? 2 : 1;
    return n > 0;
}

/* Integer multiples of a step that is computed from the values. */
static bool by_codes(struct quant *q, struct mase_ow_export *e, const struct mase_pvalue *v)
{
    struct mase_ow_codes c;
    int bits = 2;
    if (!mase_ow_weight_codes(e, &c, v))
        return false;
    const int64_t lo = c.lo - c.zero[0], hi = c.hi - c.zero[0];
    while (bits < 24 && (hi >= INT64_C(1) << (bits - 1) || -lo > INT64_C(1) << (bits - 1)))
        bits++;
    *q = (struct quant){ "ROUND", c.axis, c.count, .scale = c.scale, .is_signed = true };
    q->bits = mase_new_array(&e->scratch, float, (size_t)c.count);
    for (int64_t p = 0; p < c.count; p++)
        q->bits[p] = (float)bits;
    return bits < 24;
}

static bool same_bits(const struct quant *q)
{
    for (int64_t p = 1; q->rounding && p < q->count; p++)
        if (q->bits[p] != q->bits[0])
            return false;
    return true;
}

/* A rounded constant; as plain floats if no Quant expresses it. */
static const char *write_weight(struct mase_ow_export *e, const struct mase_arg *arg, bool turned)
{
    const struct mase_pvalue *v = mase_pvalue_of(arg);
    const struct mase_format *f = v && e->known[v->number] ? e->format[v->number] : NULL;
    const char *x = mase_ow_transposed(e, arg, turned);
    if (!f)
        return x;
    const struct mase_tensor *t = e->known[v->number];
    const int64_t n = mase_tensor_count(t);
    const struct mase_rounding how = { f, v->rounded.sign, MASE_ROLE_WEIGHT };
    struct mase_int_format *g = mase_new_array(&e->scratch, struct mase_int_format, (size_t)n);
    const bool known = n && mase_int_formats(g, &e->scratch, &how, &t->shape);
    struct quant q;
    const bool found =
        (known && !read_steps(&q, &e->scratch, g, &t->shape, 0) && same_bits(&q)) ||
        (known              ? keep_steps(&q, &e->scratch, g, t) || share_step(&q, &e->scratch, g, t)
         : !f->row->uniform ? by_magnitude(&q, &e->scratch, t)
                            : false) ||
        by_codes(&q, e, v);
    if (!found)
        return x;
    q.axis = turned && q.axis >= 0 ? 1 - q.axis : q.axis;
    const struct mase_pvalue *from = v->made_by ? mase_pvalue_of(&v->made_by->param[0]) : NULL;
    return write_quant(e,
                       mase_arena_printf(e->a, "%s_rounded", from && from->name ? from->name : x),
                       x, &q, t->shape.rank);
}

void mase_ow_quant_layer(struct mase_ow_export *e, const char **weight, const char **bias,
                         const struct mase_instr *layer, bool transposed)
{
    *weight = write_weight(e, &layer->param[1], transposed);
    *bias = write_weight(e, &layer->param[2], false);
}
