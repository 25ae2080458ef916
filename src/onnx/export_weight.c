/*
 * export_weight.c - weights and biases of layers as codes.
 *
 * A weight that was rounded to multiples of a step is written as the codes, whatever the format
 * calls itself: the numbers are known, so the codes are. ONNX Runtime rounds the float weights and
 * biases that it finds between DequantizeLinear and QuantizeLinear to 8 and 32 bits of its own
 * choice. What has no codes must therefore stand where it does not look: a bias is added behind the
 * layer, and a Max with minus infinity parts a layer of float weights from what rounds its result.
 */
#include <math.h>
#include <string.h>

#include "ir/shape/shape.h"
#include "onnx/export_parts.h"
#include "program/program_parts.h"

/* ---- steps ---- */

/* The step of block k, whose values are known, too; false: it has none. */
typedef bool step_fn(float *step, const struct mase_rounding *how, int64_t k, const float *value,
                     int64_t n);

static bool step_of_format(float *step, const struct mase_rounding *how, int64_t k,
                           const float *value, int64_t n)
{
    return mase_format_step_of(step, how->format, k, value, n, how->sign);
}

static bool steps_of_blocks(double *step, struct mase_arena *a, const struct mase_rounding *how,
                            const struct mase_tensor *t, step_fn *step_of)
{
    const struct mase_blocks b = mase_format_blocks(how->format, &t->shape, how->role);
    int64_t *offset = mase_new_array(a, int64_t, (size_t)b.largest);
    float *value = mase_new_array(a, float, (size_t)b.largest), one;
    for (int64_t k = 0; k < b.count; k++) {
        const int64_t n = mase_blocks_offsets(&b, k, offset);
        for (int64_t j = 0; j < n; j++)
            value[j] = mase_f32(t)[offset[j]];
        if (!step_of(&one, how, k, value, n))
            return false;
        for (int64_t j = 0; j < n; j++)
            step[offset[j]] = (double)one;
    }
    return true;
}

/* The steps of values that are a magnitude of each position of the first dimension, times 1, 0 and
 * -1. */
static bool steps_of_magnitudes(double *step, const struct mase_tensor *t)
{
    const int64_t n = mase_tensor_count(t), rows = t->shape.rank ? t->shape.dim[0] : 1,
                  per = n / rows;
    for (int64_t row = 0; row < rows; row++) {
        double size = 0;
        for (int64_t k = row * per; k < (row + 1) * per; k++) {
            const double m = fabs((double)mase_f32(t)[k]);
            if (m != 0 && size != 0 && m != size)
                return false;
            size = m != 0 ? m : size;
        }
        for (int64_t k = row * per; k < (row + 1) * per; k++)
            step[k] = size == 0 ? 1 : size;
    }
    return true;
}

/* Is every value an integer multiple of its step, by float arithmetic, with an integer that floats
 * hold? */
static bool are_multiples(const double *step, const struct mase_tensor *t)
{
    for (int64_t k = 0; k < mase_tensor_count(t); k++) {
        const double code = rint((double)mase_f32(t)[k] / step[k]);
        if (!(fabs(code) <= 0x1p24) || (float)code * (float)step[k] != mase_f32(t)[k])
            return false;
    }
    return true;
}

static bool all_multiples(const float *v, int64_t n, float step)
{
    for (int64_t k = 0; k < n; k++)
        if (rintf(v[k] / step) * step != v[k])
            return false;
    return true;
}

/* The step of a block of which only the values are known: the smallest magnitude is an integer
 * multiple of it, by at most `most`. The largest magnitude gives the step except for its last bits.
 */
static bool find_common_step(float *step, const float *v, int64_t n, int64_t most)
{
    float least = INFINITY, largest = 0;
    for (int64_t k = 0; k < n; k++) {
        least = v[k] != 0 ? fminf(least, fabsf(v[k])) : least;
        largest = fmaxf(largest, fabsf(v[k]));
    }
    *step = 1;
    for (int64_t part = 1; largest > 0 && part <= most; part++) {
        const double code = rint((double)largest / ((double)least / (double)part));
        if (!(code <= (double)most))
            return false;
        *step = (float)((double)largest / code);
        for (int k = 0; k < 2; k++)
            *step = nextafterf(*step, 0.0f);
        for (int k = 0; k < 5; k++, *step = nextafterf(*step, INFINITY))
            if (all_multiples(v, n, *step))
                return true;
    }
    return largest == 0;
}

static bool step_of_values(float *step, const struct mase_rounding *how, int64_t k,
                           const float *value, int64_t n)
{
    const int bits = mase_format_bits(how->format);
    (void)k;
    return find_common_step(step, value, n, INT64_C(1) << (bits < 12 ? bits : 12));
}

/* The steps of which rounded constants are multiples; false: unknown. by_format: the format gives
 * them. */
static bool find_steps(double *step, bool *by_format, struct mase_arena *a,
                       const struct mase_rounding *how, const struct mase_tensor *t)
{
    const int64_t n = mase_tensor_count(t);
    struct mase_int_format *g = mase_new_array(a, struct mase_int_format, (size_t)n);
    if (n == 0 || t->dtype != MASE_F32)
        return false;
    if (mase_int_formats(g, a, how, &t->shape)) {
        for (int64_t k = 0; k < n; k++)
            step[k] = g[k].step;
        *by_format = how->format->row->uniform != NULL;
        if (are_multiples(step, t))
            return true;
    }
    *by_format = steps_of_blocks(step, a, how, t, step_of_format) && are_multiples(step, t);
    return *by_format || (steps_of_magnitudes(step, t) && are_multiples(step, t)) ||
           (how->format->row->uniform && steps_of_blocks(step, a, how, t, step_of_values) &&
            are_multiples(step, t));
}

/* ---- sharing scales ---- */

/* One step for each position of the axis, -1: one for all; false: they differ. Zero is a multiple
 * of any step. */
static bool agree_along(struct mase_ow_codes *c, struct mase_arena *a, const double *step,
                        const struct mase_tensor *t, int d)
{
    const struct mase_axis axis = mase_axis_of(&t->shape, d < 0 ? 0 : d);
    c->axis = d;
    c->count = d < 0 ? 1 : axis.len;
    c->scale = mase_new_array(a, float, (size_t)c->count);
    for (int64_t k = 0; k < mase_tensor_count(t); k++) {
        float *scale = &c->scale[d < 0 ? 0 : k / axis.inner % axis.len];
        if (mase_f32(t)[k] == 0)
            continue;
        if (*scale != 0 && (double)*scale != step[k])
            return false;
        *scale = (float)step[k];
    }
    for (int64_t k = 0; k < mase_tensor_count(t);
         k++) { /* a position of zeros takes the step of one */
        float *scale = &c->scale[d < 0 ? 0 : k / axis.inner % axis.len];
        *scale = *scale != 0 ? *scale : step[k] > 0 ? (float)step[k] : 1;
    }
    return true;
}

/* Steps that are powers of two have a common divisor for each output. */
static bool share_powers(struct mase_ow_codes *c, struct mase_arena *a, double *step,
                         const struct mase_tensor *t)
{
    const int64_t n = mase_tensor_count(t), rows = t->shape.rank ? t->shape.dim[0] : 1,
                  per = n / rows;
    for (int64_t row = 0; row < rows; row++) {
        double least = 0;
        for (int64_t k = row * per; k < (row + 1) * per; k++) {
            if (mase_f32(t)[k] == 0)
                continue;
            if (!mase_dyadic_is_power(mase_dyadic_of(step[k])))
                return false;
            least = least == 0 || step[k] < least ? step[k] : least;
        }
        for (int64_t k = row * per; k < (row + 1) * per; k++)
            step[k] = least;
    }
    return are_multiples(step, t) && agree_along(c, a, step, t, t->shape.rank ? 0 : -1);
}

static int64_t code_at(const struct mase_ow_codes *c, const struct mase_tensor *t, int64_t k)
{
    const struct mase_axis axis = mase_axis_of(&t->shape, c->axis < 0 ? 0 : c->axis);
    const int64_t at = c->axis < 0 ? 0 : k / axis.inner % axis.len;
    return (int64_t)rint((double)mase_f32(t)[k] / (double)c->scale[at]) + c->zero[at];
}

/* The narrowest type that holds all codes. */
static bool choose_weight_type(struct mase_ow_codes *c, struct mase_arena *a,
                               const struct mase_tensor *t)
{
    int64_t lo = 0, hi = 0;
    c->zero = mase_new_array(a, int64_t, (size_t)c->count);
    for (int64_t k = 0; k < mase_tensor_count(t); k++) {
        const int64_t code = code_at(c, t, k);
        lo = code < lo ? code : lo;
        hi = code > hi ? code : hi;
    }
    return mase_ow_choose_type(c, lo, hi, MASE_OW_WEIGHT);
}

bool mase_ow_weight_codes(struct mase_ow_export *e, struct mase_ow_codes *c,
                          const struct mase_pvalue *v)
{
    struct mase_arena *a = &e->scratch;
    const struct mase_tensor *t = v ? e->known[v->number] : NULL;
    if (!t || !e->format[v->number] || mase_tensor_count(t) == 0)
        return false;
    const struct mase_rounding how = { e->format[v->number], v->rounded.sign, v->rounded.role };
    double *step = mase_new_array(a, double, (size_t)mase_tensor_count(t));
    *c = (struct mase_ow_codes){ 0 };
    bool found = find_steps(step, &c->by_format, a, &how, t);
    for (int d = -1; found && d < t->shape.rank; d++)
        if (agree_along(c, a, step, t, d))
            return choose_weight_type(c, a, t);
    return found && share_powers(c, a, step, t) && choose_weight_type(c, a, t);
}

/* ---- weights ---- */

/* The sum of the two largest adjacent codes; with sign -1, of the two smallest. */
static int64_t largest_pair(const struct mase_ow_codes *c, const struct mase_tensor *t,
                            int64_t from, int64_t to, int64_t sign)
{
    int64_t first = 0, second = 0;
    for (int64_t k = from; k < to; k++) {
        const int64_t w = sign * code_at(c, t, k);
        second = w > first ? first : w > second ? w : second;
        first = w > first ? w : first;
    }
    return first + second;
}

/* Processors without VNNI add two products of unsigned data and signed weights in 16 bits, which
 * saturates; ONNX Runtime accepts that. It widens unsigned weights before it multiplies. */
static bool could_saturate(const struct mase_ow_codes *c, const struct mase_tensor *t)
{
    const int64_t rows = t->shape.rank ? t->shape.dim[0] : 1, per = mase_tensor_count(t) / rows;
    bool could = false;
    for (int64_t k = 0; k < rows * per; k += per)
        could |= largest_pair(c, t, k, k + per, 1) * UINT8_MAX > INT16_MAX ||
                 largest_pair(c, t, k, k + per, -1) * UINT8_MAX > -INT16_MIN;
    return could;
}

/* The shape of a transposed matrix, and the index of its element k. */
static struct mase_shape transposed_shape(const struct mase_shape *s, bool turned)
{
    return turned ? (struct mase_shape){ 2, { s->dim[1], s->dim[0] } } : *s;
}

static int64_t turned_place(const struct mase_shape *s, int64_t k, bool turned)
{
    return turned ? k % s->dim[1] * s->dim[0] + k / s->dim[1] : k;
}

static const char *write_weight(struct mase_ow_export *e, const struct mase_pvalue *v,
                                struct mase_ow_codes *c, bool turned)
{
    const struct mase_tensor *t = e->known[v->number];
    const struct mase_shape s = transposed_shape(&t->shape, turned);
    const int64_t n = mase_tensor_count(t);
    if (c->type->type == MASE_ONNX_INT8 && could_saturate(c, t))
        mase_ow_use_unsigned(c);
    unsigned char *bytes = mase_new_array(e->a, unsigned char, (size_t)(n * c->type->size));
    for (int64_t k = 0; k < n; k++)
        mase_ow_put_code(bytes, turned_place(&t->shape, k, turned), c->type, code_at(c, t, k));
    c->axis = turned && c->axis >= 0 ? 1 - c->axis : c->axis;
    const struct mase_pvalue *from = v->made_by ? mase_pvalue_of(&v->made_by->param[0]) : NULL;
    const char *like = from && from->name ? from->name : "weight";
    const char *codes = mase_ow_constant(e, mase_arena_printf(e->a, "%s_codes", like),
                                         c->type->type, &s, bytes, (size_t)(n * c->type->size));
    return mase_ow_dequantize(e, like, codes, c);
}

const char *mase_ow_transposed(struct mase_ow_export *e, const struct mase_arg *arg, bool turned)
{
    const struct mase_pvalue *v = mase_pvalue_of(arg);
    const struct mase_tensor *t = v ? e->known[v->number] : NULL;
    if (!turned)
        return mase_ow_value(e, arg);
    if (!t || t->dtype != MASE_F32) {
        struct mase_onnx_node *n =
            mase_ow_node(e, "Transpose", "transposed", mase_ow_value(e, arg), NULL);
        mase_ow_ints(e, n, "perm", (const int64_t[]){ 1, 0 }, 2);
        return mase_ow_output(n);
    }
    const struct mase_shape s = transposed_shape(&t->shape, true);
    const size_t size = (size_t)mase_tensor_bytes(t);
    float *f = mase_arena_alloc(e->a, size);
    for (int64_t k = 0; k < mase_tensor_count(t); k++)
        f[turned_place(&t->shape, k, true)] = mase_f32(t)[k];
    return mase_ow_constant(e, v->name ? v->name : "weight", MASE_ONNX_FLOAT32, &s, f, size);
}

/* ---- biases ---- */

static bool is_power(double x)
{
    return mase_dyadic_is_power(mase_dyadic_of(x));
}

/* A bias at the scale of the products, as integers compute it (int_sum.c): the nearest multiple
 * that 32 bits hold beside codes with arbitrary scales, else the number itself. */
struct bias {
    int32_t *code;
    float *scale, *value; // (outputs)
    bool coded;           /* all outputs have codes */
    double off;           /* largest error of one of them */
};

static struct bias round_bias(struct mase_arena *a, const struct mase_tensor *t,
                              const struct mase_ow_codes *c, double data)
{
    const int64_t n = mase_tensor_count(t);
    struct bias b = { .code = mase_new_array(a, int32_t, (size_t)n),
                      .scale = mase_new_array(a, float, (size_t)n),
                      .value = mase_new_array(a, float, (size_t)n),
                      .coded = true };
    for (int64_t k = 0; k < n; k++) {
        const double weight = (double)c->scale[c->count == 1 ? 0 : k], step = data * weight,
                     wanted = (double)mase_f32(t)[k], steps = rint(wanted / step);
        const bool scaled = !is_power(data) || (c->by_format && !is_power(weight)),
                   fits = fabs(steps) <= INT32_MAX && (scaled || steps * step == wanted);
        b.coded &= fits;
        b.scale[k] = (float)step;
        b.code[k] = fits ? (int32_t)steps : 0;
        b.value[k] = fits ? (float)(steps * step) : mase_f32(t)[k];
        const double off = fits ? fabs(steps * step - wanted) : 0;
        if (off > 0x1p-22 * fabs(wanted)) /* smaller differences are how float32 represents
                                             multiples of a step */
            b.off = fmax(b.off, off);
    }
    return b;
}

/* 32-bit codes. */
static const char *write_bias_codes(struct mase_ow_export *e, const char *like,
                                    const struct mase_tensor *t, const struct mase_ow_codes *c,
                                    const struct bias *b)
{
    const int64_t n = mase_tensor_count(t);
    const struct mase_ow_codes as = { .type = mase_ow_type_row(MASE_ONNX_INT32),
                                      .axis = c->count == 1 ? -1 : 0,
                                      .count = c->count == 1 ? 1 : n,
                                      .scale = b->scale };
    unsigned char *bytes = mase_new_array(e->a, unsigned char, (size_t)(n * as.type->size));
    for (int64_t k = 0; k < n; k++)
        mase_ow_put_code(bytes, k, as.type, b->code[k]);
    const char *codes =
        mase_ow_constant(e, mase_arena_printf(e->a, "%s_codes", like), as.type->type, &t->shape,
                         bytes, (size_t)(n * as.type->size));
    return mase_ow_dequantize(e, like, codes, &as);
}

/* A constant to add after a layer of so many spatial dimensions. */
static const char *write_after(struct mase_ow_export *e, const char *like, const float *v,
                               int64_t n, int spatial)
{
    struct mase_shape s = { .rank = 1 + spatial, .dim = { n } };
    for (int d = 1; d < s.rank; d++)
        s.dim[d] = 1;
    const size_t size = (size_t)n * sizeof *v;
    return mase_ow_constant(e, like, MASE_ONNX_FLOAT32, &s, mase_arena_memdup(e->a, v, size), size);
}

static const char *bias_name(struct mase_ow_export *e, const struct mase_instr *layer,
                             const struct mase_pvalue *v)
{
    return v->name ? v->name : mase_arena_printf(e->a, "%s_bias", layer->from);
}

static void write_bias(struct mase_ow_export *e, struct mase_ow_operands *o,
                       const struct mase_instr *layer, const struct mase_ow_codes *c, double data,
                       int spatial)
{
    const struct mase_pvalue *v = mase_pvalue_of(&layer->param[2]);
    const struct mase_tensor *t = e->known[v->number];
    const struct bias b = round_bias(&e->scratch, t, c, data);
    const char *like = bias_name(e, layer, v);
    if (b.off > 0) {
        e->rounded_biases++;
        e->bias_off = fmax(e->bias_off, b.off);
    }
    if (b.coded) {
        o->bias = write_bias_codes(e, like, t, c, &b);
        return;
    }
    e->float_biases++;
    o->bias_after = write_after(e, like, b.value, mase_tensor_count(t), spatial);
}

/* QONNX has one magnitude for each output as a scale. A program that computes such a layer in
 * integers rounds a bias to the scale of the products, as ch does (int_sum.c), so a bias that is
 * not a multiple of it is added after the layer. */
static void split_bias(struct mase_ow_export *e, struct mase_ow_operands *o,
                       const struct mase_instr *layer, const struct mase_ow_codes *c, double data,
                       int spatial)
{
    const struct mase_pvalue *v = mase_pvalue_of(&layer->param[2]);
    const struct mase_tensor *t = e->known[v->number];
    bool powers = true;
    for (int64_t p = 0; p < c->count; p++)
        powers &= is_power((double)c->scale[p]);
    if (powers || c->axis > 0 || (data > 0 && round_bias(&e->scratch, t, c, data).coded))
        return;
    o->bias = NULL;
    o->bias_after =
        write_after(e, bias_name(e, layer, v), mase_f32(t), mase_tensor_count(t), spatial);
}

/* ---- layers ---- */

struct mase_ow_operands mase_ow_layer(struct mase_ow_export *e, const struct mase_instr *layer,
                                      struct mase_ow_layout lie)
{
    const struct mase_pvalue *w = mase_pvalue_of(&layer->param[1]),
                             *b = mase_pvalue_of(&layer->param[2]);
    const struct mase_tensor *known = b ? e->known[b->number] : NULL;
    struct mase_ow_operands o = { 0 };
    struct mase_ow_codes c;
    bool coded = mase_ow_weight_codes(e, &c, w);
    const double data = mase_ow_data_scale(e, &layer->param[0]);
    if (e->dialect == MASE_ONNX_QONNX) {
        mase_ow_quant_layer(e, &o.weight, &o.bias, layer, lie.transposed);
        if (coded && known && !c.by_format)
            split_bias(e, &o, layer, &c, data, lie.spatial);
        return o;
    }
    coded = coded && c.type->size <=
                         2; /* wider codes are written as floats, which ONNX Runtime multiplies */
    if (coded && known && data > 0 && c.axis <= 0)
        write_bias(e, &o, layer, &c, data, lie.spatial);
    else if (coded && known && e->rounds)
        o.bias_after = write_after(e, bias_name(e, layer, b), mase_f32(known),
                                   mase_tensor_count(known), lie.spatial);
    else
        o.bias = mase_ow_value(e, &layer->param[2]);
    o.weight = coded ? write_weight(e, w, &c, lie.transposed)
                     : mase_ow_transposed(e, &layer->param[1], lie.transposed);
    if (coded && data == 0 && lie.transposed)
        o.weight = mase_ow_block_fusion(e, "weight", o.weight);
    o.block_fusion = !coded && e->rounds;
    e->float_weights += !coded && w && e->format[w->number];
    return o;
}
