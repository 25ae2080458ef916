/*
 * integer_maps.c - roundings, lines and tables of exact integers as functions of single numbers.
 */
#include <math.h>
#include <string.h>

#include "emit/integer_maps.h"
#include "integer/int_parts.h"

/* ---- parameters of rows ---- */

static struct mase_emit_numbers spread(struct mase_arena *a, struct mase_emit_numbers n,
                                       int64_t rows)
{
    if (n.count == 1 || n.per == 1)
        return n;
    int64_t *number = n.number ? mase_new_array(a, int64_t, (size_t)rows) : NULL;
    float *real = n.real ? mase_new_array(a, float, (size_t)rows) : NULL;
    for (int64_t k = 0; k < rows; k++) {
        if (number)
            number[k] = n.number[k / n.per];
        else
            real[k] = n.real[k / n.per];
    }
    return (struct mase_emit_numbers){ .count = rows, .per = 1, .number = number, .real = real };
}

static struct mase_emit_numbers take(struct mase_arena *a, const int64_t *number, const float *real,
                                     const struct mase_emit_rows *w)
{
    const struct mase_emit_numbers n =
        number ? mase_emit_numbers(a, number, w->count) : mase_emit_reals(a, real, w->count);
    return w->each ? spread(a, n, w->count) : n;
}

/* ---- maps ---- */

static int exponent_of(int64_t x)
{
    int e = 0;
    while (x > 1 && x % 2 == 0) {
        x /= 2;
        e++;
    }
    return x == 1 ? e : -1;
}

enum mase_status mase_emit_map_round(struct mase_arena *a, struct mase_emit_map *m,
                                     const struct mase_int_instr *i, const struct mase_emit_rows *w,
                                     struct mase_err *err)
{
    const size_t n = (size_t)w->count;
    int64_t *mul = mase_new_array(a, int64_t, n), *add = mase_new_array(a, int64_t, n),
            *div = mase_new_array(a, int64_t, n), *lo = mase_new_array(a, int64_t, n),
            *hi = mase_new_array(a, int64_t, n);
    bool below = false, above = false;
    *m = (struct mase_emit_map){ .op = MASE_EMIT_ROUND,
                                 .direction = i->u.round[0].direction,
                                 .shift = true };
    for (int64_t row = 0; row < i->out->rows; row++) {
        const struct mase_int_round *f = &i->u.round[row];
        if (f->direction != m->direction)
            return mase_emit_refuse(i->out->from, err,
                                    "its rows are rounded in several directions");
        m->shift &= exponent_of(f->div) >= 0;
        for (int k = 0; k < 2; k++) { /* monotone: check the ends only */
            const int64_t v =
                mase_divide_rounded((k ? i->in[0]->hi[row] : i->in[0]->lo[row]) * f->mul + f->add,
                                    f->div, f->direction);
            below |= v < f->lo;
            above |= v > f->hi;
        }
    }
    for (int64_t k = 0; k < w->count; k++) {
        const struct mase_int_round *f = &i->u.round[k * w->stride];
        mul[k] = f->mul;
        add[k] = f->add;
        div[k] = m->shift ? exponent_of(f->div) : f->div;
        lo[k] = f->lo;
        hi[k] = f->hi;
    }
    m->work = mase_emit_type_for(mase_int_round_type(i), MASE_EMIT_I32);
    m->mul = take(a, mul, NULL, w);
    m->add = take(a, add, NULL, w);
    m->div = take(a, div, NULL, w);
    m->lo = below ? take(a, lo, NULL, w) : (struct mase_emit_numbers){ 0 };
    m->hi = above ? take(a, hi, NULL, w) : (struct mase_emit_numbers){ 0 };
    return MASE_OK;
}

enum { FLOAT_INTEGERS = 1 << 24 }; /* float32 represents all integers up to here */

static bool float_holds(int64_t lo, int64_t hi)
{
    return lo >= -FLOAT_INTEGERS && hi <= FLOAT_INTEGERS;
}

enum mase_status mase_emit_map_scale(struct mase_arena *a, struct mase_emit_map *m,
                                     const struct mase_int_instr *i, const struct mase_emit_rows *w,
                                     struct mase_err *err)
{
    const size_t n = (size_t)w->count;
    float *factor = mase_new_array(a, float, n), *offset = mase_new_array(a, float, n);
    int64_t *lo = mase_new_array(a, int64_t, n), *hi = mase_new_array(a, int64_t, n);
    *m = (struct mase_emit_map){ .op = MASE_EMIT_SCALE };
    for (int64_t k = 0; k < w->count; k++) {
        const struct mase_int_scale *f = &i->u.scale[k * w->stride];
        if (!float_holds(f->lo, f->hi))
            return mase_emit_refuse(i->out->from, err, "codes of more than 24 bits with scales");
        factor[k] = f->factor;
        offset[k] = f->offset;
        lo[k] = f->lo;
        hi[k] = f->hi;
    }
    m->factor = take(a, NULL, factor, w);
    m->offset = take(a, NULL, offset, w);
    m->lo = take(a, lo, NULL, w);
    m->hi = take(a, hi, NULL, w);
    return MASE_OK;
}

enum mase_status mase_emit_map_encode(struct mase_arena *a, struct mase_emit_map *m,
                                      const struct mase_int_instr *i, struct mase_err *err)
{
    const struct mase_emit_rows w = { i->out->rows, 1, false };
    const size_t n = (size_t)w.count;
    float *step = mase_new_array(a, float, n);
    int64_t *lo = mase_new_array(a, int64_t, n), *hi = mase_new_array(a, int64_t, n);
    const struct mase_int_format *g = i->u.encode;
    *m = (struct mase_emit_map){ .op = MASE_EMIT_ENCODE,
                                 .direction = g[0].direction,
                                 .scaled = g[0].scaled };
    for (int64_t k = 0; k < w.count; k++) {
        if (g[k].direction != m->direction)
            return mase_emit_refuse(i->out->from, err,
                                    "its rows are rounded in several directions");
        m->scaled |= g[k].scaled;
    }
    for (int64_t k = 0; k < w.count; k++) {
        /* a power of two divides as its inverse multiplies, exactly but for tiny results */
        const double by = m->scaled ? g[k].step : 1 / g[k].step;
        step[k] = (float)by;
        if ((double)step[k] != by)
            return mase_emit_refuse(i->out->from, err, "a step of %g is no float", g[k].step);
        m->doubles |= !float_holds(g[k].lo, g[k].hi) || (!m->scaled && by < 1);
        lo[k] = g[k].lo;
        hi[k] = g[k].hi;
    }
    m->factor = take(a, NULL, step, &w);
    m->lo = take(a, lo, NULL, &w);
    m->hi = take(a, hi, NULL, &w);
    return MASE_OK;
}

void mase_emit_map_affine(struct mase_arena *a, struct mase_emit_map *m,
                          const struct mase_int_instr *i)
{
    const struct mase_emit_rows w = { i->out->rows, 1, false };
    *m = (struct mase_emit_map){ .op = MASE_EMIT_AFFINE, .relu = i->u.affine.relu };
    m->factor = take(a, NULL, i->u.affine.scale, &w);
    m->offset = take(a, NULL, i->u.affine.shift, &w);
    if (mase_emit_all(&m->factor, 1) && mase_emit_all(&m->offset, 0) && m->relu)
        m->op = MASE_EMIT_RELU;
}

void mase_emit_map_table(struct mase_arena *a, struct mase_emit_map *m,
                         const struct mase_int_instr *i)
{
    const struct mase_int_table *t = &i->u.table;
    const struct mase_emit_rows w = { i->out->rows, 1, false };
    int64_t *first = mase_new_array(a, int64_t, (size_t)t->count), length = 0;
    *m = (struct mase_emit_map){ .op = MASE_EMIT_TABLE };
    for (int k = 0; k < t->count; k++) {
        first[k] = length;
        length += t->length[k];
    }
    int64_t *code = mase_new_array(a, int64_t, (size_t)length),
            *start = mase_new_array(a, int64_t, (size_t)w.count);
    for (int k = 0; k < t->count; k++)
        memcpy(code + first[k], t->code[k], (size_t)t->length[k] * sizeof *code);
    for (int64_t k = 0; k < length; k++) {
        m->table_lo = k == 0 || code[k] < m->table_lo ? code[k] : m->table_lo;
        m->table_hi = k == 0 || code[k] > m->table_hi ? code[k] : m->table_hi;
    }
    for (int64_t k = 0; k < w.count; k++)
        start[k] = first[t->table[k]] - t->lo[t->table[k]];
    m->table = code;
    m->table_length = length;
    m->start = take(a, start, NULL, &w);
}

/* ---- decoding ---- */

enum mase_status mase_emit_map_decode(struct mase_arena *a, struct mase_emit_map *m,
                                      const struct mase_int_value *v, struct mase_err *err)
{
    const struct mase_emit_rows w = { v->rows, 1, false };
    const size_t n = (size_t)v->rows;
    int64_t *mul = mase_new_array(a, int64_t, n), *add = mase_new_array(a, int64_t, n),
            *parts = mase_new_array(a, int64_t, n);
    float *factor = mase_new_array(a, float, n), *offset = mase_new_array(a, float, n),
          *bias = mase_new_array(a, float, n), *step = mase_new_array(a, float, n);
    struct mase_int_range work = { 0, 0 };
    *m = (struct mase_emit_map){ .op = MASE_EMIT_DECODE, .relu = v->meaning[0].relu };
    for (int64_t k = 0; k < v->rows; k++) {
        const struct mase_meaning *t = &v->meaning[k];
        const struct mase_decoding d = mase_decoding_between(t, v->lo[k], v->hi[k]);
        if (k == 0) {
            m->exact = d.exact;
            m->scaled = t->scaled;
        }
        if (t->relu != m->relu || d.exact != m->exact || t->scaled != m->scaled)
            return mase_emit_refuse(v->from, err, "the numbers it returns are of several kinds");
        mul[k] = d.form.mul;
        add[k] = d.form.add;
        parts[k] = t->parts;
        step[k] = d.exact ? d.unit : (float)t->step;
        factor[k] = t->scale;
        offset[k] = t->shift;
        bias[k] = t->bias;
        if (!(step[k] > 0 && isfinite(step[k])) ||
            (!d.exact && !t->scaled && (double)step[k] != t->step))
            return mase_emit_refuse(v->from, err, "a step of %g is no float", t->step);
        if (d.exact)
            mase_int_range_add(&work, v, k, mul[k], add[k], 0);
    }
    m->work = mase_emit_type_for(mase_int_range_type(&work), MASE_EMIT_I32);
    m->mul = take(a, mul, NULL, &w);
    m->add = take(a, add, NULL, &w);
    m->div = take(a, NULL, step, &w);
    m->parts = take(a, parts, NULL, &w);
    m->factor = take(a, NULL, factor, &w);
    m->offset = take(a, NULL, offset, &w);
    m->bias = take(a, NULL, bias, &w);
    return MASE_OK;
}
