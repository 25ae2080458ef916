/*
 * int_round.c - lower roundings to integers: of floats, of codes, and of functions of codes, which
 * become tables.
 */
#include <math.h>
#include <string.h>

#include "exec/reference/interpret.h"
#include "integer/int_parts.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"

/* ---- steps and bounds of codes ---- */

/* Set the format of each row from that of its block. */
static bool formats_of_blocks(struct mase_int_format *g, struct mase_arena *a,
                              const struct mase_rounding *how, const struct mase_shape *s)
{
    const struct mase_blocks b = mase_format_blocks(how->format, s, how->role);
    int64_t *offset = mase_new_array(a, int64_t, (size_t)b.largest);
    for (int64_t k = 0; k < b.count; k++) {
        struct mase_uniform u;
        if (!mase_format_uniform(&u, how->format, k, how->sign))
            return false;
        const int64_t n = mase_blocks_offsets(&b, k, offset);
        for (int64_t r = 0; r < n; r++)
            g[offset[r]] =
                (struct mase_int_format){ (double)u.scale, (int64_t)u.lo, (int64_t)u.hi,
                                          MASE_TO_NEAREST_EVEN,
                                          !mase_dyadic_is_power(mase_dyadic_of((double)u.scale)) };
    }
    return true;
}

bool mase_int_formats(struct mase_int_format *g, struct mase_arena *a,
                      const struct mase_rounding *how, const struct mase_shape *s)
{
    const struct mase_format *f = how->format;
    const int64_t rows = mase_shape_count(s);
    struct mase_int_format each;
    if (f->row->by_chance && f->row->by_chance(f->params))
        return false;
    if (f->row->integer) {
        const struct mase_integer_levels k = mase_integer_levels(f->params, how->sign);
        each = (struct mase_int_format){ 1.0 / (double)k.scale, (int64_t)k.lo, (int64_t)k.hi,
                                         (int)k.direction, false };
    } else if (mase_binary_is_sign(f)) {
        each = (struct mase_int_format){ 1, -1, 1, MASE_TO_SIGN, false };
    } else {
        return formats_of_blocks(g, a, how, s);
    }
    for (int64_t r = 0; r < rows; r++)
        g[r] = each;
    return true;
}

static enum mase_status formats_of(struct mase_int_lowering *l, struct mase_int_format **out,
                                   const struct mase_instr *i, const struct mase_format *f,
                                   struct mase_err *err)
{
    const struct mase_shape whole = mase_ptype_shape(&i->result[0]->type, 1),
                            s = mase_shape_to_rank(&whole, i->round_rank);
    const struct mase_rounding how = { f, i->round.sign, i->round.role };
    *out = mase_new_array(l->a, struct mase_int_format, (size_t)mase_shape_count(&s));
    if (mase_int_formats(*out, &l->scratch, &how, &s))
        return MASE_OK;
    if (f->row->by_chance && f->row->by_chance(f->params))
        return mase_int_refuse(l, err, "%s rounds by chance", f->row->name);
    return mase_int_refuse(l, err,
                           "the codes of %s are no multiples of a step that is known before the "
                           "data; integer, fixed and int with a scale are, and binary with "
                           "bipolar",
                           f->row->name);
}

/* A value that holds codes of these formats. */
static struct mase_int_value *add_codes(struct mase_int_lowering *l,
                                        const struct mase_int_format *g, int64_t rows)
{
    struct mase_int_value *v = mase_int_add_value(l, true, rows, NULL);
    struct mase_meaning *m = mase_int_own_meanings(l, v);
    int64_t *lo = mase_int_own_bounds(l, v), *hi = lo + rows;
    for (int64_t r = 0; r < rows; r++) {
        m[r].step = g[r].step;
        m[r].scaled = g[r].scaled;
        lo[r] = g[r].lo;
        hi[r] = g[r].hi;
    }
    return v;
}

/* The least code after a relu. A zero point can lie beyond all codes, which are then all negative:
 * the largest code. */
static int64_t least_code(const struct mase_meaning *m, const struct mase_int_format *g)
{
    return !m->relu || g->lo >= 0 ? g->lo : g->hi < 0 ? g->hi : 0;
}

/* Round codes in integers; lo and hi of the result narrow to the codes that occur. */
static bool round_row(struct mase_int_round *f, const struct mase_meaning *m,
                      const struct mase_int_format *g, int64_t *lo, int64_t *hi)
{
    struct mase_int_fraction fraction;
    if (!mase_meaning_as_fraction(&fraction, m, g->step, *lo, *hi))
        return false;
    *f = (struct mase_int_round){ fraction.mul,     fraction.add, fraction.div,
                                  least_code(m, g), g->hi,        g->direction };
    int64_t end[2];
    for (int k = 0; k < 2; k++) {
        const int64_t v =
            mase_divide_rounded((k ? *hi : *lo) * f->mul + f->add, f->div, f->direction);
        end[k] = v < f->lo ? f->lo : v > f->hi ? f->hi : v;
    }
    *lo = end[0] < end[1] ? end[0] : end[1];
    *hi = end[0] < end[1] ? end[1] : end[0];
    return true;
}

static struct mase_int_scale scale_row(const struct mase_meaning *m,
                                       const struct mase_int_format *g)
{
    const float step = (float)g->step;
    struct mase_int_scale f = { .lo = least_code(m, g), .hi = g->hi };
    f.factor = (float)m->step * m->scale / step / (float)m->parts;
    f.offset = (float)(((double)m->bias * (double)m->scale + (double)m->shift) / g->step);
    return f;
}

/* The sign of relu(x) for binary formats: always that of 0, so relu is dropped. */
static void cut_sign(struct mase_meaning *m, const struct mase_int_format *g)
{
    if (g->direction == MASE_TO_SIGN && m->relu) {
        m->relu = false;
        m->scale = 0.0f;
        m->shift = m->bias = 0.0f;
    }
}

static enum mase_status round_codes(struct mase_int_lowering *l, const struct mase_int_value **out,
                                    const struct mase_int_value *x, const struct mase_int_format *g,
                                    struct mase_err *err)
{
    struct mase_int_value *y = add_codes(l, g, x->rows);
    int64_t *lo = (int64_t *)y->lo, *hi = (int64_t *)y->hi;
    struct mase_int_round *round = mase_new_array(l->a, struct mase_int_round, (size_t)x->rows);
    struct mase_int_scale *scale = mase_new_array(l->a, struct mase_int_scale, (size_t)x->rows);
    const struct mase_int_operands in = { { x }, 1 };
    bool scaled = false;
    for (int64_t r = 0; r < x->rows; r++)
        scaled |= x->meaning[r].scaled || g[r].scaled;
    for (int64_t r = 0; r < x->rows; r++) {
        struct mase_meaning m = x->meaning[r];
        if (scaled && g[r].direction != MASE_TO_NEAREST_EVEN)
            return mase_int_refuse(l, err, "scaled integers are rounded to nearest, ties to even");
        if (scaled) {
            scale[r] = scale_row(&m, &g[r]);
            lo[r] = scale[r].lo;
            continue;
        }
        cut_sign(&m, &g[r]);
        lo[r] = x->lo[r];
        hi[r] = x->hi[r];
        if (!round_row(&round[r], &m, &g[r], &lo[r], &hi[r]))
            return mase_int_refuse(l, err, "rounding needs more than %d bits", MASE_INT_LIMIT_BITS);
    }
    struct mase_int_instr *i =
        mase_int_add_instr(l, scaled ? MASE_INT_OP_SCALE : MASE_INT_OP_ROUND, &in, y);
    if (scaled)
        i->u.scale = scale;
    else
        i->u.round = round;
    *out = y;
    return MASE_OK;
}

enum mase_status mase_int_materialise(struct mase_int_lowering *l, const struct mase_int_value **v,
                                      struct mase_err *err)
{
    const struct mase_int_value *x = *v;
    struct mase_int_format *g =
        mase_new_array(&l->scratch, struct mase_int_format, (size_t)x->rows);
    bool plain = true;
    for (int64_t r = 0; r < x->rows; r++) {
        const struct mase_meaning *m = &x->meaning[r];
        plain &= mase_meaning_is_code(m);
        const double unit = m->scaled ? 0 : mase_meaning_unit(m);
        g[r] =
            (struct mase_int_format){ unit, -MASE_INT_LIMIT, MASE_INT_LIMIT, MASE_TO_FLOOR, false };
    }
    for (int64_t r = 0; !plain && r < x->rows; r++)
        if (g[r].step == 0)
            return mase_int_refuse(l, err,
                                   "what comes in is neither rounded nor a whole number "
                                   "of steps");
    return plain ? MASE_OK : round_codes(l, v, x, g, err);
}

/* ---- tables ---- */

enum { TABLE_BITS = 16 };

/* The codes in format g of the functions' values for codes lo..hi of m. */
static enum mase_status fill_table(struct mase_int_lowering *l, int64_t *code,
                                   const struct mase_int_pending *by, const struct mase_meaning *m,
                                   const struct mase_int_format *g, int64_t lo, int64_t n,
                                   struct mase_err *err)
{
    const struct mase_shape s = { 1, { n } };
    struct mase_tensor x = mase_tensor(&l->scratch, MASE_F32, &s, true);
    for (int64_t k = 0; k < n; k++)
        mase_f32(&x)[k] = mase_int_decode(lo + k, m);
    struct mase_tensor **t =
        mase_new_array(&l->scratch, struct mase_tensor *, (size_t)l->e->program->value_count);
    memcpy(t, l->known, (size_t)l->e->program->value_count * sizeof *t);
    t[mase_pvalue_of(&by->by[0]->param[0])->number] = &x;
    for (int k = 0; k < by->count; k++) {
        struct mase_instr i = *by->by[k];
        i.form = NULL; /* types are for one sample, but x has all codes */
        MASE_TRY(mase_instr_run(&i, &l->scratch, t, 1, err));
    }
    const float *y = mase_f32(t[by->by[by->count - 1]->result[0]->number]);
    for (int64_t k = 0; k < n; k++) {
        if (isnan(y[k]))
            return mase_int_refuse(l, err, "%s of %g is no number", by->by[0]->from,
                                   (double)mase_int_decode(lo + k, m));
        code[k] = mase_int_encode(y[k], g);
    }
    return MASE_OK;
}

static bool same_format(const struct mase_int_format *a, const struct mase_int_format *b)
{
    return a->step == b->step && a->lo == b->lo && a->hi == b->hi && a->direction == b->direction;
}

/* The row before r whose table equals that of r; r: none. */
static int64_t row_like(const struct mase_int_value *x, const struct mase_int_format *g, int64_t r)
{
    for (int64_t k = r - 1; k >= 0 && k >= r - 1; k--) /* rows of a channel are adjacent */
        if (mase_meaning_equal(&x->meaning[k], &x->meaning[r]) && x->lo[k] == x->lo[r] &&
            x->hi[k] == x->hi[r] && same_format(&g[k], &g[r]))
            return k;
    return r;
}

static enum mase_status round_mapped(struct mase_int_lowering *l, const struct mase_int_value **out,
                                     const struct mase_int_pending *by,
                                     const struct mase_int_format *g, struct mase_err *err)
{
    const struct mase_int_value *x = by->of;
    struct mase_int_value *y = add_codes(l, g, x->rows);
    struct mase_int_instr *i =
        mase_int_add_instr(l, MASE_INT_OP_TABLE, &(struct mase_int_operands){ { x }, 1 }, y);
    struct mase_int_table *t = &i->u.table;
    if (mase_int_value_bits(x) > TABLE_BITS)
        return mase_int_refuse(l, err,
                               "%s is a table, for which what comes in has %d bits: at most %d, "
                               "so round its data_in",
                               by->by[0]->from, mase_int_value_bits(x), TABLE_BITS);
    t->table = mase_new_array(l->a, int32_t, (size_t)x->rows);
    t->lo = mase_new_array(l->a, int64_t, (size_t)x->rows);
    t->length = mase_new_array(l->a, int64_t, (size_t)x->rows);
    t->code = mase_new_array(l->a, int64_t *, (size_t)x->rows);
    for (int64_t r = 0; r < x->rows; r++) {
        const int64_t like = row_like(x, g, r);
        t->table[r] = like < r ? t->table[like] : t->count++;
        if (like < r)
            continue;
        const int k = t->table[r];
        t->lo[k] = x->lo[r];
        t->length[k] = x->hi[r] - x->lo[r] + 1;
        t->code[k] = mase_new_array(l->a, int64_t, (size_t)t->length[k]);
        MASE_TRY(fill_table(l, t->code[k], by, &x->meaning[r], &g[r], t->lo[k], t->length[k], err));
    }
    *out = y;
    return MASE_OK;
}

enum mase_status mase_int_lower_round(struct mase_int_lowering *l, const struct mase_instr *i,
                                      struct mase_err *err)
{
    const struct mase_format *f = mase_instr_format(i, l->known);
    const struct mase_int_value *x = mase_int_operand(l, &i->param[0]), *y = NULL;
    const struct mase_int_pending *by = &l->mapped[mase_pvalue_of(&i->param[0])->number];
    struct mase_int_format *g;
    if (!f) {
        if (!x)
            return mase_int_refuse(l, err, "what comes in is not rounded");
        mase_int_set_result(l, i, x);
        return MASE_OK;
    }
    MASE_TRY(formats_of(l, &g, i, f, err));
    if (by->of) {
        MASE_TRY(round_mapped(l, &y, by, g, err));
    } else if (x->codes) {
        MASE_TRY(round_codes(l, &y, x, g, err));
    } else {
        y = add_codes(l, g, x->rows);
        mase_int_add_instr(l, MASE_INT_OP_ENCODE, &(struct mase_int_operands){ { x }, 1 }, y)
            ->u.encode = g;
    }
    mase_int_set_result(l, i, y);
    return MASE_OK;
}
