/*
 * int16.c - run integer programs with 16-bit codes and 32-bit sums by kernels.
 *
 * Results equal those of int_run.c, since integers are exact. Sums are of pairs of 16-bit products;
 * a rounding over a power of two is a shift, or an affine function in double, where no number has
 * more than 53 bits; scaled codes are rounded in float32, as specified. Other programs run in
 * int_run.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "integer/int_parts.h"
#include "kern/kern.h"

enum type { FLOAT, SHORT, LONG }; /* type of a value's rows */
static const int sizes[] = { 4, 2, 4 };

typedef void affine_fn(int16_t *y, const int32_t *x, const struct mase_int_affine *l, long n);

struct step {
    const struct mase_int_instr *i;
    struct mase_int_affine *affine; // (rows): encode, round, scale
    bool *shift;                    // (rows): round: the function is x / 2^shift
    int32_t *weight, *bias;         // (outputs, pairs), (outputs)
    long pairs;
};

struct mase_int16_plan {
    struct step *step;
    int count;
    enum type *type; // (rows of memory)
    int64_t *place;  // (rows of memory): byte offset of a row, for one lane
    int64_t bytes;   /* bytes of all rows for one lane, with the zeros */
};

/* ---- checks ---- */

static void set_type(struct mase_int16_plan *f, const struct mase_int_value *v, enum type t)
{
    for (int64_t r = v->at; r < v->at + v->rows; r++)
        f->type[r] = t;
}

bool mase_int_format_has_kernel(const struct mase_int_format *g)
{
    const double factor = g->scaled ? g->step : 1 / g->step;
    return (g->direction == MASE_TO_NEAREST_EVEN || g->direction == MASE_TO_FLOOR) &&
           factor >= (double)0x1p-126f && factor <= (double)0x1p127f;
}

static bool prepare_encode(struct step *s, struct mase_int16_plan *f, struct mase_arena *a)
{
    const struct mase_int_value *y = s->i->out;
    s->affine = mase_new_array(a, struct mase_int_affine, (size_t)y->rows);
    set_type(f, y, SHORT);
    for (int64_t r = 0; r < y->rows; r++) {
        const struct mase_int_format *g = &s->i->u.encode[r];
        const double factor = g->scaled ? g->step : 1 / g->step;
        if (!mase_int_format_has_kernel(g))
            return false;
        s->affine[r] = (struct mase_int_affine){ .lo = (double)g->lo,
                                                 .hi = (double)g->hi,
                                                 .factor = (float)factor,
                                                 .divides = g->scaled,
                                                 .floor = g->direction == MASE_TO_FLOOR };
    }
    return mase_int_value_within(y, INT16_MIN, INT16_MAX);
}

/* Does the sum of the magnitudes of all products stay below 2^31, so that the order does not
 * matter? */
static bool sums_fit(const struct mase_int_sum *g, int64_t output, int64_t most)
{
    double sum = fabs((double)g->bias[output]);
    for (int64_t k = 0; k < g->inputs; k++) {
        const int64_t w = g->weight[output * g->inputs + k];
        if (w < INT16_MIN || w > INT16_MAX)
            return false;
        sum += fabs((double)w) * (double)most;
    }
    return sum < 0x1p31;
}

static void pack_weights(struct step *s, struct mase_arena *a)
{
    const struct mase_int_sum *g = &s->i->u.sum;
    const int64_t outputs = g->groups * g->outputs;
    s->pairs = (long)(g->inputs + 1) / 2;
    s->weight = mase_new_array(a, int32_t, (size_t)(outputs * s->pairs));
    s->bias = mase_new_array(a, int32_t, (size_t)outputs);
    for (int64_t o = 0; o < outputs; o++) {
        const int64_t *w = g->weight + o * g->inputs;
        s->bias[o] = (int32_t)g->bias[o];
        for (int64_t k = 0; k < g->inputs; k++) {
            const uint32_t half = (uint16_t)(int16_t)w[k];
            int32_t *pair = &s->weight[o * s->pairs + k / 2];
            *pair = (int32_t)((uint32_t)*pair | half << (k % 2 * 16));
        }
    }
}

static int64_t magnitude(const struct mase_int_program *e)
{
    int64_t most = 0;
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        for (int64_t r = 0; i->out->codes && r < i->out->rows; r++) {
            const int64_t m = -i->out->lo[r] > i->out->hi[r] ? -i->out->lo[r] : i->out->hi[r];
            most = m <= INT16_MAX + 1 && m > most ? m : most;
        }
    return most;
}

static bool prepare_affine(struct step *s, struct mase_int16_plan *f, struct mase_arena *a,
                           int64_t most)
{
    const struct mase_int_sum *g = &s->i->u.sum;
    set_type(f, s->i->out, LONG);
    for (int64_t k = 0; k < g->groups * g->positions * g->inputs; k++)
        if (g->from[k] >= 0 && f->type[g->from[k]] != SHORT)
            return false;
    for (int64_t o = 0; o < g->groups * g->outputs; o++)
        if (!sums_fit(g, o, most))
            return false;
    pack_weights(s, a);
    return true;
}

/* floor(n / d) is (n - (d - 1) / 2) / d rounded to nearest, where no tie occurs. */
bool mase_int_round_as_affine(struct mase_int_affine *l, bool *shift,
                              const struct mase_int_round *r, int64_t most)
{
    const bool floor = r->direction == MASE_TO_FLOOR;
    const int bits = __builtin_ctzll((uint64_t)r->div);
    if ((r->div & (r->div - 1)) || (!floor && r->direction != MASE_TO_NEAREST_EVEN))
        return false;
    if (fabs((double)r->mul) * (double)most + fabs((double)r->add) + (double)r->div >= 0x1p51)
        return false;
    const double add = (double)r->add - (floor ? (double)(r->div - 1) / 2 : 0);
    *l = (struct mase_int_affine){ .mul = (double)r->mul / (double)r->div,
                                   .add = add / (double)r->div,
                                   .lo = (double)r->lo,
                                   .hi = (double)r->hi,
                                   .shift = bits };
    *shift =
        r->mul == 1 && r->add == 0 && !floor && bits < 30 && (double)most + (double)r->div < 0x1p31;
    return true;
}

static bool prepare_round(struct step *s, struct mase_int16_plan *f, struct mase_arena *a)
{
    const struct mase_int_value *x = s->i->in[0], *y = s->i->out;
    s->affine = mase_new_array(a, struct mase_int_affine, (size_t)y->rows);
    s->shift = mase_new_array(a, bool, (size_t)y->rows);
    set_type(f, y, SHORT);
    for (int64_t r = 0; r < y->rows; r++) {
        struct mase_int_affine *l = &s->affine[r];
        const int64_t most = -x->lo[r] > x->hi[r] ? -x->lo[r] : x->hi[r];
        if (s->i->op == MASE_INT_OP_ROUND) {
            if (!mase_int_round_as_affine(l, &s->shift[r], &s->i->u.round[r], most))
                return false;
        } else {
            const struct mase_int_scale *g = &s->i->u.scale[r];
            *l = (struct mase_int_affine){
                .lo = (double)g->lo, .hi = (double)g->hi, .factor = g->factor, .offset = g->offset
            };
        }
        if (l->lo < INT16_MIN || l->hi > INT16_MAX)
            return false;
    }
    return f->type[x->at] == LONG && mase_int_value_within(y, INT16_MIN, INT16_MAX);
}

/* MAX and PICK: all rows have one type. */
static bool prepare_rows(struct step *s, struct mase_int16_plan *f)
{
    const struct mase_int_rows *g = &s->i->u.rows;
    const struct mase_int_value *y = s->i->out;
    const int64_t n = s->i->op == MASE_INT_OP_MAX ? g->first[y->rows] : y->rows;
    const enum type t = f->type[s->i->in[0]->at];
    set_type(f, y, t);
    for (int64_t k = 0; k < n; k++)
        if (g->from[k] >= 0 && f->type[g->from[k]] != t)
            return false;
    return true;
}

static bool prepare(struct step *s, struct mase_int16_plan *f, struct mase_arena *a, int64_t most)
{
    switch (s->i->op) {
    case MASE_INT_OP_AFFINE:
        set_type(f, s->i->out, FLOAT);
        return true;
    case MASE_INT_OP_ENCODE:
        return prepare_encode(s, f, a);
    case MASE_INT_OP_SUM:
        return prepare_affine(s, f, a, most);
    case MASE_INT_OP_ROUND:
    case MASE_INT_OP_SCALE:
        return prepare_round(s, f, a);
    case MASE_INT_OP_MAX:
    case MASE_INT_OP_PICK:
        return prepare_rows(s, f);
    default:
        return false;
    }
}

/* Rows of zeros lie after all others. */
static void place_rows(struct mase_int16_plan *f, const struct mase_int_program *e)
{
    for (int64_t r = 0; r < e->rows; r++) {
        f->place[r] = f->bytes;
        f->bytes += sizes[f->type[r]];
    }
    f->bytes += sizes[FLOAT];
}

void mase_int_find_int16(struct mase_int_program *e)
{
    struct mase_arena *a = &e->arena;
    struct mase_int16_plan *f = mase_new(a, struct mase_int16_plan);
    int count = 0;
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        count++;
    f->step = mase_new_array(a, struct step, (size_t)count);
    f->type = mase_new_array(a, enum type, (size_t)e->rows);
    f->place = mase_new_array(a, int64_t, (size_t)e->rows);
    const int64_t most = magnitude(e);
    for (const struct mase_int_instr *i = e->first; i; i = i->next) {
        struct step *s = &f->step[f->count++];
        s->i = i;
        if (!prepare(s, f, a, most))
            return;
    }
    place_rows(f, e);
    e->fast = f;
}

/* ---- memory ---- */

/* Memory of a thread: the rows, and for each sum pointers to the rows that it reads and writes. */
struct mase_int16_work {
    const struct mase_int_program *e;
    const struct mase_kernels *k;
    char *memory;
    int64_t lanes;
    const int16_t ***read; /* by step: (groups, positions, 2 * pairs) */
    int32_t ***write;      /* by step: (positions, groups * outputs) */
};

static void *row_at(const struct mase_int16_work *w, int64_t row)
{
    const struct mase_int16_plan *f = w->e->fast;
    const int64_t place = row < 0 ? f->bytes - sizes[FLOAT] : f->place[row];
    return w->memory + place * w->lanes;
}

static void list_rows(struct mase_int16_work *w, int n)
{
    const struct step *s = &w->e->fast->step[n];
    const struct mase_int_sum *g = &s->i->u.sum;
    const int64_t outputs = g->groups * g->outputs, all = g->groups * g->positions;
    w->read[n] = mase_xcalloc((size_t)(all * 2 * s->pairs) * sizeof **w->read);
    w->write[n] = mase_xcalloc((size_t)(outputs * g->positions) * sizeof **w->write);
    for (int64_t p = 0; p < all; p++)
        for (int64_t k = 0; k < 2 * s->pairs; k++)
            w->read[n][p * 2 * s->pairs + k] =
                row_at(w, k < g->inputs ? g->from[p * g->inputs + k] : -1);
    for (int64_t p = 0; p < g->positions; p++)
        for (int64_t o = 0; o < outputs; o++)
            w->write[n][p * outputs + o] =
                row_at(w, s->i->out->at + o * g->output_stride + p * g->position_stride);
}

struct mase_int16_work *mase_int16_work_new(const struct mase_int_program *e, int64_t samples)
{
    const struct mase_int16_plan *f = e->fast;
    struct mase_int16_work *w = mase_xcalloc(sizeof *w);
    struct mase_err err;
    w->e = e;
    if (mase_kernels_select(&w->k, &err))
        w->k = mase_kernels_of(MASE_ISA_SCALAR);
    w->lanes = (samples + 31) / 32 * 32; /* rows of shorts begin at multiples of 64 bytes as well */
    w->memory = mase_aligned_calloc((size_t)(f->bytes * w->lanes));
    w->read = mase_xcalloc((size_t)f->count * sizeof *w->read);
    w->write = mase_xcalloc((size_t)f->count * sizeof *w->write);
    for (int n = 0; n < f->count; n++)
        if (f->step[n].i->op == MASE_INT_OP_SUM)
            list_rows(w, n);
    return w;
}

void mase_int16_work_free(struct mase_int16_work *w)
{
    if (!w)
        return;
    for (int n = 0; n < w->e->fast->count; n++) {
        mase_xfree(w->read[n]);
        mase_xfree(w->write[n]);
    }
    mase_xfree(w->read);
    mase_xfree(w->write);
    mase_aligned_free(w->memory);
    mase_xfree(w);
}

struct mase_lanes mase_int16_input(const struct mase_int16_work *w)
{
    const struct mase_int_value *in = w->e->input;
    return (struct mase_lanes){ row_at(w, in->at), in->rows, w->lanes };
}

void mase_int16_codes(const struct mase_int16_work *w, int64_t *code,
                      const struct mase_int_value *v, int64_t row, int64_t samples)
{
    const void *x = row_at(w, v->at + row);
    const bool is_short = w->e->fast->type[v->at + row] == SHORT;
    for (int64_t k = 0; k < samples; k++)
        code[k] = is_short ? ((const int16_t *)x)[k] : ((const int32_t *)x)[k];
}

const float *mase_int16_floats(const struct mase_int16_work *w, const struct mase_int_value *v,
                               int64_t row)
{
    return row_at(w, v->at + row);
}

/* ---- running ---- */

static void run_affine(const struct mase_int16_work *w, const struct mase_int_instr *i, long n)
{
    for (int64_t r = 0; r < i->out->rows; r++)
        w->k->affine(row_at(w, i->out->at + r), row_at(w, i->in[0]->at + r), i->u.affine.scale[r],
                     i->u.affine.shift[r], i->u.affine.relu, n);
}

static bool has_nan(const float *x, int64_t samples, int64_t *at)
{
    bool wrong = false;
    for (int64_t k = 0; k < samples; k++)
        wrong |= x[k] != x[k];
    for (*at = 0; wrong && !isnan(x[*at]);)
        ++*at;
    return wrong;
}

static enum mase_status run_encode(const struct mase_int16_work *w, const struct step *s, long n,
                                   int64_t samples, struct mase_err *err)
{
    for (int64_t r = 0; r < s->i->out->rows; r++) {
        const float *x = row_at(w, s->i->in[0]->at + r);
        int64_t at;
        if (has_nan(x, samples, &at))
            return mase_int_fail_nan(s->i, at, err);
        w->k->int_encode(row_at(w, s->i->out->at + r), x, &s->affine[r], n);
    }
    return MASE_OK;
}

static void run_sum(const struct mase_int16_work *w, const struct step *s, int number, long n)
{
    const struct mase_int_sum *g = &s->i->u.sum;
    const int64_t outputs = g->groups * g->outputs;
    for (int64_t group = 0; group < g->groups; group++)
        for (int64_t p = 0; p < g->positions; p++) {
            const struct mase_int_gemm gemm = {
                .y = w->write[number] + p * outputs + group * g->outputs,
                .w = s->weight + group * g->outputs * s->pairs,
                .bias = s->bias + group * g->outputs,
                .rows = w->read[number] + (group * g->positions + p) * 2 * s->pairs,
                .O = (long)g->outputs,
                .pairs = s->pairs,
            };
            w->k->int_gemm(&gemm, 0, n);
        }
}

static void run_round(const struct mase_int16_work *w, const struct step *s, long n)
{
    for (int64_t r = 0; r < s->i->out->rows; r++) {
        affine_fn *f = s->i->op == MASE_INT_OP_SCALE ? w->k->int_scale
                       : s->shift[r]                 ? w->k->int_shift
                                                     : w->k->int_affine;
        f(row_at(w, s->i->out->at + r), row_at(w, s->i->in[0]->at + r), &s->affine[r], n);
    }
}

static void larger16(int16_t *y, const int16_t *x, long n)
{
    for (long k = 0; k < n; k++)
        y[k] = x[k] > y[k] ? x[k] : y[k];
}

static void larger32(int32_t *y, const int32_t *x, long n)
{
    for (long k = 0; k < n; k++)
        y[k] = x[k] > y[k] ? x[k] : y[k];
}

static void run_max(const struct mase_int16_work *w, const struct mase_int_instr *i, long n)
{
    const struct mase_int_rows *g = &i->u.rows;
    const enum type t = w->e->fast->type[i->out->at];
    for (int64_t r = 0; r < i->out->rows; r++) {
        void *y = row_at(w, i->out->at + r);
        memcpy(y, row_at(w, g->from[g->first[r]]), (size_t)(n * sizes[t]));
        for (int64_t j = g->first[r] + 1; j < g->first[r + 1]; j++) {
            if (t == SHORT)
                larger16(y, row_at(w, g->from[j]), n);
            else
                larger32(y, row_at(w, g->from[j]), n);
        }
    }
}

static void run_pick(const struct mase_int16_work *w, const struct mase_int_instr *i, long n)
{
    const size_t bytes = (size_t)(n * sizes[w->e->fast->type[i->out->at]]);
    for (int64_t r = 0; r < i->out->rows; r++)
        memcpy(row_at(w, i->out->at + r), row_at(w, i->u.rows.from[r]), bytes);
}

enum mase_status mase_int16_run(struct mase_int16_work *w, int64_t samples, struct mase_err *err)
{
    const struct mase_int16_plan *f = w->e->fast;
    const long n = (long)(samples + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    for (int number = 0; number < f->count; number++) {
        const struct step *s = &f->step[number];
        switch (s->i->op) {
        case MASE_INT_OP_AFFINE:
            run_affine(w, s->i, n);
            break;
        case MASE_INT_OP_ENCODE:
            MASE_TRY(run_encode(w, s, n, samples, err));
            break;
        case MASE_INT_OP_SUM:
            run_sum(w, s, number, n);
            break;
        case MASE_INT_OP_MAX:
            run_max(w, s->i, n);
            break;
        case MASE_INT_OP_PICK:
            run_pick(w, s->i, n);
            break;
        default:
            run_round(w, s, n);
        }
    }
    return MASE_OK;
}
