/*
 * int_run.c - running a quantised network in integers (mase/int_program.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "integer/int_parts.h"

/* ---- decoding ---- */

struct mase_decoding mase_decoding_between(const struct mase_meaning *m, int64_t lo, int64_t hi)
{
    struct mase_decoding d = { .m = m };
    const double unit = m->scaled ? 0 : mase_meaning_unit(m);
    d.unit = (float)unit;
    d.exact = (double)d.unit == unit && unit > 0 &&
              mase_meaning_as_fraction(&d.form, m, unit, lo, hi) && d.form.div == 1;
    return d;
}

static struct mase_decoding decoding_of(const struct mase_int_value *v, int64_t row)
{
    return mase_decoding_between(&v->meaning[row], v->lo[row], v->hi[row]);
}

/* ---- memory ---- */

/* A row of memory has `lanes` numbers of eight bytes: codes, or floats in the first half. */
struct mase_int_runner {
    const struct mase_int_program *e;
    struct mase_int_dense_work *dense; /* set: run sample by sample, with x and y of samples */
    struct mase_int16_work *fast;      /* NULL: run row by row in memory */
    int64_t lanes;
    float *x, *y;
    int64_t *memory;                // (e->rows, lanes)
    int64_t *codes;                 // (lanes): codes of one row
    float *output;                  // (outputs, lanes)
    struct mase_decoding *decoding; // (outputs)
};

static int64_t *row_at(const struct mase_int_runner *w, int64_t row)
{
    return w->memory + row * w->lanes;
}

static int64_t *codes_at(const struct mase_int_runner *w, const struct mase_int_value *v,
                         int64_t row)
{
    return row_at(w, v->at + row);
}

static float *floats_at(const struct mase_int_runner *w, const struct mase_int_value *v,
                        int64_t row)
{
    return (float *)codes_at(w, v, row);
}

static void make_dense(struct mase_int_runner *w, int64_t samples)
{
    const struct mase_int_program *e = w->e;
    w->dense = mase_int_dense_work_new(e);
    w->memory = mase_xcalloc((size_t)(e->input->rows * samples) * sizeof *w->memory);
    w->x = mase_xcalloc((size_t)(e->input->rows * samples) * sizeof *w->x);
    w->y = mase_xcalloc((size_t)(e->output->rows * samples) * sizeof *w->y);
}

struct mase_int_runner *mase_int_runner_new(const struct mase_int_program *e, int64_t samples,
                                            enum mase_int_keep keep)
{
    struct mase_int_runner *w = mase_xcalloc(sizeof *w);
    *w = (struct mase_int_runner){ .e = e, .lanes = samples };
    if (e->dense && keep == MASE_INT_KEEP_OUTPUT)
        make_dense(w, samples);
    else if (e->fast)
        w->fast = mase_int16_work_new(e, samples);
    else
        w->memory = mase_xcalloc((size_t)(e->rows * samples) * sizeof *w->memory);
    w->codes = mase_xcalloc((size_t)samples * sizeof *w->codes);
    w->output = mase_xcalloc((size_t)(e->output->rows * samples) * sizeof *w->output);
    w->decoding = mase_xcalloc((size_t)e->output->rows * sizeof *w->decoding);
    for (int64_t r = 0; r < e->output->rows; r++)
        w->decoding[r] = decoding_of(e->output, r);
    return w;
}

void mase_int_runner_free(struct mase_int_runner *w)
{
    if (!w)
        return;
    mase_int_dense_work_free(w->dense);
    mase_int16_work_free(w->fast);
    mase_xfree(w->memory);
    mase_xfree(w->x);
    mase_xfree(w->y);
    mase_xfree(w->codes);
    mase_xfree(w->output);
    mase_xfree(w->decoding);
    mase_xfree(w);
}

struct mase_lanes mase_int_runner_input(struct mase_int_runner *w)
{
    if (w->fast)
        return mase_int16_input(w->fast);
    if (w->dense)
        return (struct mase_lanes){ (float *)w->memory, w->e->input->rows, 2 * w->lanes };
    return (struct mase_lanes){ floats_at(w, w->e->input, 0), w->e->input->rows, 2 * w->lanes };
}

struct mase_lanes mase_int_runner_output(struct mase_int_runner *w)
{
    return (struct mase_lanes){ w->output, w->e->output->rows, w->lanes };
}

/* ---- instructions, for all samples ---- */

static void run_affine(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    for (int64_t r = 0; r < i->out->rows; r++) {
        const float *x = floats_at(w, i->in[0], r);
        float *y = floats_at(w, i->out, r);
        const float scale = i->u.affine.scale[r], shift = i->u.affine.shift[r];
        for (int64_t k = 0; k < n; k++) {
            const float v = fmaf(scale, x[k], shift);
            y[k] = i->u.affine.relu && v < 0.0f ? 0.0f : v; /* NaN passes */
        }
    }
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

enum mase_status mase_int_fail_nan(const struct mase_int_instr *i, int64_t sample,
                                   struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "%s: sample %lld has a value that is no number: integers have none for it",
                     i->out->from, (long long)sample);
}

/* A power of two divides exactly; other steps divide as the formats do. */
int64_t mase_int_encode(float x, const struct mase_int_format *g)
{
    if (g->direction == MASE_TO_SIGN)
        return x >= 0.0f ? 1 : -1;
    const double v = g->scaled ? (double)rintf(x / (float)g->step)
                               : mase_direct((double)(x * (float)(1 / g->step)),
                                             (enum mase_direction)g->direction, x);
    return v <= (double)g->lo ? g->lo : v >= (double)g->hi ? g->hi : (int64_t)v;
}

static enum mase_status run_encode(const struct mase_int_runner *w, const struct mase_int_instr *i,
                                   int64_t n, struct mase_err *err)
{
    for (int64_t r = 0; r < i->out->rows; r++) {
        const float *x = floats_at(w, i->in[0], r);
        int64_t *y = codes_at(w, i->out, r);
        for (int64_t k = 0; k < n; k++) {
            if (isnan(x[k]))
                return mase_int_fail_nan(i, k, err);
            y[k] = mase_int_encode(x[k], &i->u.encode[r]);
        }
    }
    return MASE_OK;
}

static void affine_row(const struct mase_int_runner *w, const struct mase_int_instr *i,
                       int64_t output, int64_t position, int64_t n)
{
    const struct mase_int_sum *f = &i->u.sum;
    const int64_t group = output / f->outputs, *weight = f->weight + output * f->inputs;
    const int32_t *from = f->from + (group * f->positions + position) * f->inputs;
    int64_t *y = codes_at(w, i->out, output * f->output_stride + position * f->position_stride);
    for (int64_t s = 0; s < n; s++)
        y[s] = f->bias[output];
    for (int64_t k = 0; k < f->inputs; k++) {
        if (from[k] < 0 || weight[k] == 0)
            continue;
        const int64_t *x = row_at(w, from[k]);
        for (int64_t s = 0; s < n; s++)
            y[s] += weight[k] * x[s];
    }
}

static void run_sum(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    const struct mase_int_sum *f = &i->u.sum;
    for (int64_t o = 0; o < f->groups * f->outputs; o++)
        for (int64_t p = 0; p < f->positions; p++)
            affine_row(w, i, o, p, n);
}

static void run_round(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    for (int64_t r = 0; r < i->out->rows; r++) {
        const struct mase_int_round *f = &i->u.round[r];
        const int64_t *x = codes_at(w, i->in[0], r);
        int64_t *y = codes_at(w, i->out, r);
        for (int64_t k = 0; k < n; k++)
            y[k] = clamp(mase_divide_rounded(x[k] * f->mul + f->add, f->div, f->direction), f->lo,
                         f->hi);
    }
}

static void run_scale(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    for (int64_t r = 0; r < i->out->rows; r++) {
        const struct mase_int_scale *f = &i->u.scale[r];
        const float lo = (float)f->lo, hi = (float)f->hi;
        const int64_t *x = codes_at(w, i->in[0], r);
        int64_t *y = codes_at(w, i->out, r);
        for (int64_t k = 0; k < n; k++) {
            const float v = rintf(fmaf((float)x[k], f->factor, f->offset));
            y[k] = (int64_t)(v < lo ? lo : v > hi ? hi : v);
        }
    }
}

static void run_table(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    const struct mase_int_table *t = &i->u.table;
    for (int64_t r = 0; r < i->out->rows; r++) {
        const int64_t *x = codes_at(w, i->in[0], r);
        const int64_t *code = t->code[t->table[r]], lo = t->lo[t->table[r]];
        int64_t *y = codes_at(w, i->out, r);
        for (int64_t k = 0; k < n; k++)
            y[k] = code[x[k] - lo];
    }
}

static void run_max(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    const struct mase_int_rows *f = &i->u.rows;
    for (int64_t r = 0; r < i->out->rows; r++) {
        int64_t *y = codes_at(w, i->out, r);
        memcpy(y, row_at(w, f->from[f->first[r]]), (size_t)n * sizeof *y);
        for (int64_t j = f->first[r] + 1; j < f->first[r + 1]; j++) {
            const int64_t *x = row_at(w, f->from[j]);
            for (int64_t k = 0; k < n; k++)
                y[k] = x[k] > y[k] ? x[k] : y[k];
        }
    }
}

static void run_pick(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n)
{
    const int32_t *from = i->u.rows.from;
    for (int64_t r = 0; r < i->out->rows; r++) {
        int64_t *y = codes_at(w, i->out, r);
        if (from[r] < 0) /* zero is code 0 and float 0 */
            memset(y, 0, (size_t)n * sizeof *y);
        else
            memcpy(y, row_at(w, from[r]), (size_t)n * sizeof *y);
    }
}

typedef void run_fn(const struct mase_int_runner *w, const struct mase_int_instr *i, int64_t n);
static run_fn *const runs[MASE_INT_OP_COUNT] = {
    [MASE_INT_OP_AFFINE] = run_affine, [MASE_INT_OP_SUM] = run_sum,
    [MASE_INT_OP_ROUND] = run_round,   [MASE_INT_OP_SCALE] = run_scale,
    [MASE_INT_OP_TABLE] = run_table,   [MASE_INT_OP_MAX] = run_max,
    [MASE_INT_OP_PICK] = run_pick,
};

static enum mase_status run_all(const struct mase_int_runner *w, int64_t samples,
                                struct mase_err *err)
{
    for (const struct mase_int_instr *i = w->e->first; i; i = i->next) {
        if (i->op == MASE_INT_OP_ENCODE)
            MASE_TRY(run_encode(w, i, samples, err));
        else
            runs[i->op](w, i, samples);
    }
    return MASE_OK;
}

enum mase_status mase_int_runner_run_array(struct mase_int_runner *w, float *y, const float *x,
                                           int64_t samples, struct mase_err *err)
{
    if (w->dense)
        return mase_int_dense_run(w->dense, y, x, samples, err);
    mase_to_lanes(mase_int_runner_input(w), x, samples);
    MASE_TRY(mase_int_runner_run(w, samples, err));
    mase_from_lanes(y, mase_int_runner_output(w), samples);
    return MASE_OK;
}

enum mase_status mase_int_runner_run(struct mase_int_runner *w, int64_t samples,
                                     struct mase_err *err)
{
    if (w->dense) {
        mase_from_lanes(w->x, mase_int_runner_input(w), samples);
        MASE_TRY(mase_int_dense_run(w->dense, w->y, w->x, samples, err));
        mase_to_lanes(mase_int_runner_output(w), w->y, samples);
        return MASE_OK;
    }
    MASE_TRY(w->fast ? mase_int16_run(w->fast, samples, err) : run_all(w, samples, err));
    mase_int_runner_read(w, w->output, w->lanes, w->e->output, samples);
    return MASE_OK;
}

/* ---- decoded results ---- */

static float decode_scaled(int64_t code, const struct mase_meaning *m)
{
    const float v = (float)code * (float)m->step / (float)m->parts;
    return m->scale == 1.0f && m->shift == 0.0f && m->bias == 0.0f
               ? v
               : fmaf(v + m->bias, m->scale, m->shift);
}

float mase_decoded(int64_t code, const struct mase_decoding *d)
{
    const struct mase_meaning *m = d->m;
    float v;
    if (d->exact)
        v = (float)(code * d->form.mul + d->form.add) * d->unit;
    else if (m->scaled)
        v = decode_scaled(code, m);
    else
        v = (float)(((double)code * m->step / (double)m->parts + (double)m->bias) *
                        (double)m->scale +
                    (double)m->shift);
    return m->relu && v < 0.0f ? 0.0f : v;
}

float mase_int_decode(int64_t code, const struct mase_meaning *m)
{
    const struct mase_decoding d = mase_decoding_between(m, code, code);
    return mase_decoded(code, &d);
}

static const float *floats_of(const struct mase_int_runner *w, const struct mase_int_value *v,
                              int64_t row)
{
    return w->fast ? mase_int16_floats(w->fast, v, row) : floats_at(w, v, row);
}

static const int64_t *codes_of(const struct mase_int_runner *w, const struct mase_int_value *v,
                               int64_t row, int64_t samples)
{
    if (!w->fast)
        return codes_at(w, v, row);
    mase_int16_codes(w->fast, w->codes, v, row, samples);
    return w->codes;
}

void mase_int_runner_read(const struct mase_int_runner *w, float *y, int64_t stride,
                          const struct mase_int_value *v, int64_t samples)
{
    for (int64_t r = 0; r < v->rows; r++) {
        if (!v->codes) {
            memcpy(y + r * stride, floats_of(w, v, r), (size_t)samples * sizeof *y);
            continue;
        }
        const struct mase_decoding d = v == w->e->output ? w->decoding[r] : decoding_of(v, r);
        const int64_t *code = codes_of(w, v, r, samples);
        for (int64_t k = 0; k < samples; k++)
            y[r * stride + k] = mase_decoded(code[k], &d);
    }
}

void mase_int_program_free(struct mase_int_program *e)
{
    if (!e)
        return;
    mase_program_free(e->program);
    mase_arena_release(&e->arena);
    mase_xfree(e);
}
