/*
 * int_window.c - lower layers, convolutions, pools and layouts: which rows each instruction reads.
 */
#include <math.h>

#include "exec/reference/interpret.h"
#include "exec/reference/ref.h"
#include "exec/reference/spans.h"
#include "integer/int_parts.h"
#include "ir/graph/bind_call.h"
#include "program/program_parts.h"

/* Sums of `inputs` products; the results of one output are adjacent. */
static struct mase_int_sum sums(int64_t groups, int64_t outputs, int64_t inputs, int64_t positions)
{
    return (struct mase_int_sum){ .groups = groups,
                                  .outputs = outputs,
                                  .inputs = inputs,
                                  .positions = positions,
                                  .output_stride = positions,
                                  .position_stride = 1 };
}

/* ---- weights ---- */

/* The step of a block of rounded weights; false: unknown. */
static bool step_of_block(double *step, const struct mase_format *f, int64_t block,
                          const float *value, int64_t n, enum mase_sign sign)
{
    float found;
    if (f->row->integer)
        *step = 1 / (double)mase_integer_levels(f->params, sign).scale;
    else if (mase_binary_is_sign(f))
        *step = 1;
    else if (f->row->uniform && mase_format_step_of(&found, f, block, value, n, sign))
        *step = (double)found;
    else
        return false;
    return true;
}

/* The step of each output's weights, the least if they are powers of two. */
static enum mase_status find_steps(struct mase_int_lowering *l, struct mase_int_sum_spec *s,
                                   const struct mase_pvalue *w, const struct mase_tensor *t,
                                   struct mase_err *err)
{
    const struct mase_format *f = l->format[w->number];
    const int64_t outputs = t->shape.dim[0], per = mase_tensor_count(t) / outputs;
    const struct mase_blocks blocks = mase_format_blocks(f, &t->shape, w->rounded.role);
    int64_t *offset = mase_new_array(&l->scratch, int64_t, (size_t)blocks.largest);
    float *value = mase_new_array(&l->scratch, float, (size_t)blocks.largest);
    double *step = mase_new_array(&l->scratch, double, (size_t)outputs), found;
    bool mixed = false;
    for (int64_t k = 0; k < blocks.count; k++) {
        const int64_t n = mase_blocks_offsets(&blocks, k, offset);
        for (int64_t j = 0; j < n; j++)
            value[j] = s->weight[offset[j]];
        if (!step_of_block(&found, f, k, value, n, w->rounded.sign))
            return MASE_OK; /* arbitrary numbers */
        s->scaled |= !mase_dyadic_is_power(mase_dyadic_of(found));
        for (int64_t j = 0; j < n; j++) {
            double *of = &step[offset[j] / per];
            mixed |= *of != 0 && *of != found;
            *of = *of != 0 && *of < found ? *of : found;
        }
    }
    if (s->scaled && mixed)
        return mase_int_refuse(l, err, "the weights of one sum have several scales");
    s->step = step;
    return MASE_OK;
}

/* The constant weights of a layer, and the steps of which they are multiples. */
static enum mase_status take_weights(struct mase_int_lowering *l, struct mase_int_sum_spec *s,
                                     const struct mase_instr *i, struct mase_err *err)
{
    const struct mase_pvalue *w = mase_pvalue_of(&i->param[1]), *b = mase_pvalue_of(&i->param[2]);
    const struct mase_tensor *t = w ? l->known[w->number] : NULL;
    if (!t || (b && !l->known[b->number]))
        return mase_int_refuse(l, err, "its weights are not constant");
    s->weight = mase_f32(t);
    s->bias = b ? mase_f32(l->known[b->number]) : NULL;
    return l->format[w->number] ? find_steps(l, s, w, t, err) : MASE_OK;
}

/* Log that a bias is rounded, if the program itself does not round it. */
static void tell_rounded_bias(struct mase_int_lowering *l, const struct mase_int_sum_spec *s,
                              const struct mase_instr *i, const struct mase_int_value *y)
{
    const struct mase_pvalue *b = mase_pvalue_of(&i->param[2]);
    bool rounded = false;
    if (b && b->rounded.format && b->rounded.format->kind == MASE_QUANT_products)
        return;
    const int64_t outputs = s->shape.groups * s->shape.outputs;
    for (int64_t o = 0; s->bias && o < outputs; o++)
        rounded |= y->meaning[o * s->shape.output_stride].scaled && s->step && s->bias[o] != 0.0f;
    l->e->rounded_biases += rounded;
}

static enum mase_status add_layer(struct mase_int_lowering *l, const struct mase_instr *i,
                                  const struct mase_int_value *x, struct mase_int_sum_spec *s,
                                  struct mase_err *err)
{
    const struct mase_int_operands rows = { { x }, 1 };
    const struct mase_int_value *y;
    MASE_TRY(take_weights(l, s, i, err));
    MASE_TRY(mase_int_add_sum(l, &y, &rows, s, err));
    tell_rounded_bias(l, s, i, y);
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

/* The last dimension of the data is contracted with that of the weight. */
enum mase_status mase_int_lower_linear(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err)
{
    const struct mase_int_value *x;
    MASE_TRY(mase_int_require_codes(l, &x, &i->param[0], err));
    MASE_TRY(mase_int_materialise(l, &x, err));
    const struct mase_ptype *w = &mase_pvalue_of(&i->param[1])->type;
    const int64_t outputs = w->dim[0].plus, inputs = w->dim[1].plus, positions = x->rows / inputs;
    struct mase_int_sum_spec s = { .shape = sums(1, outputs, inputs, positions) };
    s.shape.output_stride = 1; /* the outputs of one position are adjacent */
    s.shape.position_stride = outputs;
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)x->rows);
    for (int64_t r = 0; r < x->rows; r++)
        from[r] = (int32_t)(x->at + r);
    s.shape.from = from;
    return add_layer(l, i, x, &s, err);
}

/* ---- windows ---- */

/* NULL: three dimensions. */
static const struct mase_int_window *keep_window(struct mase_int_lowering *l,
                                                 const struct mase_window *w)
{
    struct mase_int_window flat;
    return mase_int_window_of(&flat, w) ? mase_arena_memdup(l->a, &flat, sizeof flat) : NULL;
}

static int64_t volume(const int64_t *v)
{
    return v[0] * v[1] * v[2];
}

/* The row of a channel under kernel element k at an output position; -1: padding. */
static int64_t seen(const struct mase_window *w, const int64_t *out, const int64_t *k)
{
    int64_t row = 0;
    for (int d = 0; d < 3; d++) {
        const int64_t at = out[d] * w->stride[d] + k[d] * w->dilation[d] - w->pad[d];
        if (at < 0 || at >= w->in[d])
            return -1;
        row = row * w->in[d] + at;
    }
    return row;
}

static void fill_conv(int32_t *from, const struct mase_int_value *x, const struct mase_window *w,
                      int64_t channels)
{
    const int64_t size = volume(w->in);
    for (int64_t g = 0; g < w->groups; g++)
        for (struct mase_nd o = mase_nd_dims(w->out, 3); o.i < o.count; mase_nd_next(&o))
            for (int64_t c = 0; c < channels; c++)
                for (struct mase_nd k = mase_nd_dims(w->kernel, 3); k.i < k.count;
                     mase_nd_next(&k)) {
                    const int64_t at = seen(w, o.at, k.at);
                    *from++ = at < 0 ? -1 : (int32_t)(x->at + (g * channels + c) * size + at);
                }
}

enum mase_status mase_int_lower_conv(struct mase_int_lowering *l, const struct mase_instr *i,
                                     struct mase_err *err)
{
    const struct mase_int_value *x;
    struct mase_pcall k;
    struct mase_window w;
    MASE_TRY(mase_int_require_codes(l, &x, &i->param[0], err));
    MASE_TRY(mase_int_materialise(l, &x, err));
    MASE_TRY(mase_instr_call(&k, i, &l->scratch, l->e->program, l->known, err));
    MASE_TRY(mase_conv_window(&k.call, &w, err));
    mase_ref_lift_window(&w);
    const struct mase_shape *weight = &mase_call_tensor(&k.call, "weight")->shape;
    const int64_t channels = weight->dim[1], inputs = channels * volume(w.kernel),
                  positions = volume(w.out);
    struct mase_int_sum_spec s = { .shape = sums(w.groups, weight->dim[0] / w.groups, inputs,
                                                 positions) };
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)(w.groups * positions * inputs));
    fill_conv(from, x, &w, channels);
    s.shape.from = from;
    s.shape.window = keep_window(l, &w);
    return add_layer(l, i, x, &s, err);
}

/* ---- pools ---- */

/* The rows of a channel under each output. */
struct pooled {
    struct mase_window w;
    mase_span_fn *span;
    int64_t most;            /* rows under an output, at most */
    int64_t *count, *padded; // (positions)
    int64_t *row;            // (positions, most)
};

static void find_pooled(struct mase_int_lowering *l, struct pooled *p)
{
    const int64_t positions = volume(p->w.out);
    p->count = mase_new_array(&l->scratch, int64_t, (size_t)positions);
    p->padded = mase_new_array(&l->scratch, int64_t, (size_t)positions);
    for (int pass = 0; pass < 2; pass++) {
        for (struct mase_nd o = mase_nd_dims(p->w.out, 3); o.i < o.count; mase_nd_next(&o)) {
            struct mase_span s[3];
            int64_t n = 0;
            for (int d = 0; d < 3; d++)
                s[d] = p->span(&p->w, d, o.at[d]);
            for (int64_t d = s[0].first; d < s[0].end; d += s[0].step)
                for (int64_t h = s[1].first; h < s[1].end; h += s[1].step)
                    for (int64_t v = s[2].first; v < s[2].end; v += s[2].step, n++)
                        if (pass)
                            p->row[o.i * p->most + n] = (d * p->w.in[1] + h) * p->w.in[2] + v;
            p->count[o.i] = n;
            p->padded[o.i] = s[0].padded * s[1].padded * s[2].padded;
            p->most = n > p->most ? n : p->most;
        }
        if (!pass)
            p->row = mase_new_array(&l->scratch, int64_t, (size_t)(positions * p->most));
    }
}

/* NULL for adaptive outputs whose windows differ in length. */
static const struct mase_int_window *pool_window(struct mase_int_lowering *l,
                                                 const struct pooled *p)
{
    struct mase_window w = p->w;
    if (p->span == mase_adaptive_span && !mase_window_adapt(&w))
        return NULL;
    return keep_window(l, &w);
}

/* A window with padding only has no maximum, and no mean unless padding counts. */
static enum mase_status check_pooled(struct mase_int_lowering *l, const struct pooled *p,
                                     const int64_t *parts, struct mase_err *err)
{
    for (int64_t o = 0; o < volume(p->w.out); o++)
        if (parts[o] == 0)
            return mase_int_refuse(l, err, "a window of it lies in the padding");
    return MASE_OK;
}

/* Do larger codes mean larger values, equally for all rows of a channel? */
static bool is_ordered(const struct mase_int_value *x, int64_t per)
{
    for (int64_t r = 0; r < x->rows; r++)
        if (!(x->meaning[r].scale > 0.0f) ||
            !mase_meaning_equal(&x->meaning[r], &x->meaning[r / per * per]))
            return false;
    return true;
}

static enum mase_status lower_largest(struct mase_int_lowering *l, const struct mase_instr *i,
                                      const struct mase_int_value *x, const struct pooled *p,
                                      struct mase_err *err)
{
    const int64_t size = volume(p->w.in), positions = volume(p->w.out), channels = x->rows / size;
    MASE_TRY(check_pooled(l, p, p->count, err));
    if (!is_ordered(x, size))
        MASE_TRY(mase_int_materialise(l, &x, err));
    if (!is_ordered(x, size))
        return mase_int_refuse(l, err, "the rows of a channel have several scales");
    struct mase_int_value *y = mase_int_add_value(l, true, channels * positions, NULL);
    struct mase_meaning *m = mase_int_own_meanings(l, y);
    int64_t *lo = mase_int_own_bounds(l, y), *hi = lo + y->rows, n = 0;
    int64_t *first = mase_new_array(l->a, int64_t, (size_t)(y->rows + 1));
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)(y->rows * p->most));
    for (int64_t r = 0; r < y->rows; r++) {
        const int64_t c = r / positions, o = r % positions;
        m[r] = x->meaning[c * size];
        first[r] = n;
        for (int64_t k = 0; k < p->count[o]; k++) {
            const int64_t row = c * size + p->row[o * p->most + k];
            from[n++] = (int32_t)(x->at + row);
            lo[r] = k == 0 || x->lo[row] > lo[r] ? x->lo[row] : lo[r];
            hi[r] = k == 0 || x->hi[row] > hi[r] ? x->hi[row] : hi[r];
        }
    }
    first[y->rows] = n;
    struct mase_int_instr *max =
        mase_int_add_instr(l, MASE_INT_OP_MAX, &(struct mase_int_operands){ { x }, 1 }, y);
    max->u.rows =
        (struct mase_int_rows){ .first = first, .from = from, .window = pool_window(l, p) };
    mase_int_find_max_access(l, max);
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

/* A sum over the rows of a window; the next rounding divides. */
static enum mase_status lower_average(struct mase_int_lowering *l, const struct mase_instr *i,
                                      const struct mase_int_value *x, const struct pooled *p,
                                      const int64_t *parts, struct mase_err *err)
{
    const int64_t size = volume(p->w.in), positions = volume(p->w.out);
    const struct mase_int_value *y;
    MASE_TRY(check_pooled(l, p, parts, err));
    MASE_TRY(mase_int_materialise(l, &x, err));
    const int64_t channels = x->rows / size;
    const struct mase_int_operands rows = { { x }, 1 };
    struct mase_int_sum_spec s = { .shape = sums(channels, 1, p->most, positions), .parts = parts };
    s.shape.window = pool_window(l, p);
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)(channels * positions * p->most));
    s.shape.from = from;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t o = 0; o < positions; o++)
            for (int64_t k = 0; k < p->most; k++)
                *from++ =
                    k < p->count[o] ? (int32_t)(x->at + c * size + p->row[o * p->most + k]) : -1;
    MASE_TRY(mase_int_add_sum(l, &y, &rows, &s, err));
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

enum mase_status mase_int_lower_window(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err)
{
    const struct mase_int_value *x;
    struct mase_pcall k;
    struct pooled p = { .span = NULL };
    const struct mase_pool *pool = mase_pool_of(i->op);
    if (!pool || i->result_count != 1)
        return mase_int_refuse(l, err, "%s has none", mase_ops[i->op].name);
    MASE_TRY(mase_int_require_codes(l, &x, &i->param[0], err));
    MASE_TRY(mase_instr_call(&k, i, &l->scratch, l->e->program, l->known, err));
    MASE_TRY(pool->adaptive ? mase_adaptive_window(&k.call, &p.w, err)
                            : mase_pool_window(&k.call, &p.w, err));
    mase_ref_lift_window(&p.w);
    p.span = pool->adaptive ? mase_adaptive_span : mase_window_span;
    find_pooled(l, &p);
    if (pool->largest)
        return lower_largest(l, i, x, &p, err);
    const bool padded = !pool->adaptive && mase_call_flag(&k.call, "count_include_pad");
    const struct mase_arg *divisor =
        pool->adaptive ? NULL : mase_call_arg(&k.call, "divisor_override");
    if (divisor && mase_arg_present(divisor))
        return mase_int_refuse(l, err, "divisor_override has none");
    return lower_average(l, i, x, &p, padded ? p.padded : p.count, err);
}

/* Run the instruction on row numbers, to see which rows it moves where. */
static enum mase_status number_rows(struct mase_int_lowering *l, struct mase_tensor **out,
                                    const struct mase_instr *i, struct mase_err *err)
{
    return mase_instr_rows(out, i, &l->scratch, l->known, l->e->program->value_count, err);
}

/* ---- sums of two, means ---- */

enum mase_status mase_int_lower_add(struct mase_int_lowering *l, const struct mase_instr *i,
                                    struct mase_err *err)
{
    const struct mase_int_value *x[2], *y;
    if (!mase_int_operand(l, &i->param[0]) || !mase_int_operand(l, &i->param[1]))
        return mase_int_refuse(l, err, "it adds what is no code");
    for (int k = 0; k < 2; k++) {
        MASE_TRY(mase_int_require_codes(l, &x[k], &i->param[k], err));
        MASE_TRY(mase_int_materialise(l, &x[k], err));
    }
    const int scale = mase_sig_find(mase_op_call_sig(i->op), "alpha");
    if (x[0]->rows != x[1]->rows ||
        !mase_ptype_equal(&mase_pvalue_of(&i->param[0])->type, &i->result[0]->type) ||
        (scale >= 0 && mase_arg_present(&i->param[scale]) &&
         !(i->param[scale].kind == MASE_ARG_INT && i->param[scale].i == 1)))
        return mase_int_refuse(l, err, "it adds tensors of other shapes, or a multiple");
    const struct mase_int_operands rows = { { x[0], x[1] }, 2 };
    struct mase_int_sum_spec s = { .shape = sums(x[0]->rows, 1, 2, 1) };
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)(2 * x[0]->rows));
    s.shape.from = from;
    for (int64_t r = 0; r < x[0]->rows; r++)
        for (int k = 0; k < 2; k++)
            *from++ = (int32_t)(x[k]->at + r);
    MASE_TRY(mase_int_add_sum(l, &y, &rows, &s, err));
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

/* Is each result the mean of equally many adjacent rows? The means of row numbers tell: the first
 * mean fixes the first rows, the second the next, and so on. */
static enum mase_status check_runs(struct mase_int_lowering *l, const struct mase_instr *i,
                                   int64_t inputs, struct mase_err *err)
{
    struct mase_tensor *out;
    MASE_TRY(number_rows(l, &out, i, err));
    for (int64_t r = 0; r < mase_tensor_count(out); r++)
        if (mase_f32(out)[r] != (float)(r * inputs) + (float)(inputs + 1) / 2)
            return mase_int_refuse(l, err, "a mean over other than the last dimensions has none");
    return MASE_OK;
}

enum mase_status mase_int_lower_mean(struct mase_int_lowering *l, const struct mase_instr *i,
                                     struct mase_err *err)
{
    const struct mase_shape out = mase_ptype_shape(&i->result[0]->type, 1);
    const struct mase_int_value *x, *y;
    MASE_TRY(mase_int_require_codes(l, &x, &i->param[0], err));
    const int64_t positions = mase_shape_count(&out), inputs = x->rows / positions;
    MASE_TRY(check_runs(l, i, inputs, err));
    MASE_TRY(mase_int_materialise(l, &x, err));
    const struct mase_int_operands rows = { { x }, 1 };
    struct mase_int_sum_spec s = { .shape = sums(positions, 1, inputs, 1), .parts = &inputs };
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)x->rows);
    s.shape.from = from;
    for (int64_t r = 0; r < x->rows; r++)
        from[r] = (int32_t)(x->at + r);
    MASE_TRY(mase_int_add_sum(l, &y, &rows, &s, err));
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

/* ---- layouts ---- */

/* A row of zeros takes the steps of the channel that it is added to. */
static void step_zeros(struct mase_meaning *m, const int32_t *from, const struct mase_shape *s,
                       const struct mase_int_value *x)
{
    const int64_t rows = mase_shape_count(s), per = s->rank > 2 ? rows / s->dim[1] : rows;
    for (int64_t at = 0; at < rows; at += per) {
        int64_t k = at;
        while (k < at + per && from[k] < 0)
            k++;
        const struct mase_meaning *like = k < at + per ? &m[k] : &x->meaning[0];
        const double step = like->step;
        const bool scaled = like->scaled;
        for (k = at; k < at + per; k++)
            if (from[k] < 0) {
                m[k].step = step;
                m[k].scaled = scaled;
            }
    }
}

/* Row numbers continue over the operands; 0 stands for a new row of zeros. */
static enum mase_status pick_rows(struct mase_int_lowering *l, const struct mase_instr *i,
                                  const struct mase_int_operands *x, struct mase_err *err)
{
    const bool codes = x->value[0]->codes;
    struct mase_tensor *out;
    MASE_TRY(number_rows(l, &out, i, err));
    struct mase_int_value *y = mase_int_add_value(l, codes, mase_tensor_count(out), NULL);
    struct mase_meaning *m = codes ? mase_int_own_meanings(l, y) : NULL;
    int64_t *lo = codes ? mase_int_own_bounds(l, y) : NULL;
    int32_t *from = mase_new_array(l->a, int32_t, (size_t)y->rows);
    for (int64_t r = 0; r < y->rows; r++) {
        const float number = mase_f32(out)[r];
        int64_t row = (int64_t)number - 1;
        int k = 0;
        while (k < x->count && row >= x->value[k]->rows)
            row -= x->value[k++]->rows;
        if (row < -1 || k == x->count || (float)(int64_t)number != number)
            return mase_int_refuse(l, err, "%s computes", mase_ops[i->op].name);
        const struct mase_int_value *v = x->value[k];
        from[r] = row < 0 ? -1 : (int32_t)(v->at + row);
        if (!codes || row < 0)
            continue;
        m[r] = v->meaning[row];
        lo[r] = v->lo[row];
        lo[y->rows + r] = v->hi[row];
    }
    if (codes)
        step_zeros(m, from, &out->shape, x->value[0]);
    mase_int_add_instr(l, MASE_INT_OP_PICK, x, y)->u.rows = (struct mase_int_rows){ .from = from };
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

enum mase_status mase_int_lower_layout(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err)
{
    const struct mase_int_operands x = { { mase_int_operand(l, &i->param[0]) }, 1 };
    if (!x.value[0] || i->result_count != 1)
        return mase_int_refuse(l, err, "%s of what is no code", mase_ops[i->op].name);
    return pick_rows(l, i, &x, err);
}

/* Concatenate codes; an operand that occurs twice is one value. */
enum mase_status mase_int_lower_join(struct mase_int_lowering *l, const struct mase_instr *i,
                                     struct mase_err *err)
{
    const struct mase_arg *list = &i->param[0];
    struct mase_int_operands x = { .count = 0 };
    if (!mase_arg_is_seq(list) || i->result_count != 1)
        return mase_int_refuse(l, err, "%s has none", mase_ops[i->op].name);
    for (int k = 0; k < list->count; k++) {
        const struct mase_int_value *v;
        bool seen = false;
        MASE_TRY(mase_int_require_codes(l, &v, &list->items[k], err));
        for (int j = 0; j < k; j++)
            seen |= mase_pvalue_of(&list->items[j]) == mase_pvalue_of(&list->items[k]);
        if (!seen && x.count == MASE_INT_OPERANDS_MAX)
            return mase_int_refuse(l, err, "it joins more than %d values", MASE_INT_OPERANDS_MAX);
        if (!seen)
            x.value[x.count++] = v;
    }
    return pick_rows(l, i, &x, err);
}
