/*
 * int_dense.c - run chains of dense layers in integers by kernels, sample by sample.
 *
 * Floats are rounded to codes, every layer sums products (int_pack.c) and rounds them to codes, and
 * the last codes are decoded to floats. Results equal those of int_run.c. Other programs run by
 * int16.c or int_run.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "integer/int_parts.h"
#include "kern/kern.h"

enum { TILE = 16, CHUNK = MASE_INT_SAMPLES }; /* outputs of a tile; samples of a chunk */
enum { MOST_STEPS = 1024 };

struct mase_int_dense {
    const struct mase_kernels *k;                 /* kernels that the weights are packed for */
    const struct mase_int_instr *affine, *encode; /* the first may be NULL */
    bool relu;                                    /* after the affine step */
    struct mase_int_encoding encoding;
    struct mase_int_layer *layer;
    int layers;
    struct mase_int_decoding decoding; /* per tile, from tile 0: the decoding of each output */
    int64_t features, outputs;
    int64_t widest; /* bytes of a sample's widest layer */
};

static long tiles_of(int64_t rows)
{
    return (long)((rows + TILE - 1) / TILE);
}

/* Constants without effect, which keep the padding of the last tile zero. */
static struct mase_int_finish *new_finish(struct mase_arena *a, long tiles)
{
    struct mase_int_finish *f = mase_new_array(a, struct mase_int_finish, (size_t)tiles);
    for (long i = 0; i < tiles * TILE; i++)
        f[i / TILE].factor[i % TILE] = f[i / TILE].parts[i % TILE] = 1;
    return f;
}

/* ---- checks ---- */

static bool is_dense(const struct mase_int_instr *i)
{
    const struct mase_int_sum *g = &i->u.sum;
    if (i->op != MASE_INT_OP_SUM || g->groups != 1 || g->positions != 1 ||
        (g->output_stride != 1 && g->outputs > 1) || g->inputs != i->in[0]->rows)
        return false;
    for (int64_t k = 0; k < g->inputs; k++)
        if (g->from[k] != i->in[0]->at + k)
            return false;
    return mase_int_value_within(i->out, INT32_MIN,
                                 INT32_MAX); /* intermediate sums may wrap around */
}

/* Does the instruction use all rows of the last result, in order? */
static bool follows(const struct mase_int_instr *i, const struct mase_int_value *last)
{
    return i->in[0]->at == last->at && i->in[0]->rows == last->rows;
}

/* ---- roundings ---- */

static int64_t rounded(const struct mase_int_round *r, int64_t code)
{
    const int64_t v = mase_divide_rounded(code * r->mul + r->add, r->div, r->direction);
    return v < r->lo ? r->lo : v > r->hi ? r->hi : v;
}

static int64_t rounded_by_float(const struct mase_int_finish *f, int lane, int64_t code)
{
    const float v = fmaf((float)code, f->factor[lane], f->offset[lane]);
    return (int64_t)rintf(fminf(fmaxf(v, f->lo[lane]), f->hi[lane]));
}

/* Does float32 give the right code for all sums lo..hi? If no number has more than 24 bits, yes.
 * Otherwise both roundings are monotone: they agree everywhere if they agree on both sides of each
 * step. */
static bool float_is_exact(const struct mase_int_finish *f, int lane,
                           const struct mase_int_round *r, int64_t lo, int64_t hi)
{
    const int64_t most = -lo > hi ? -lo : hi;
    int64_t at = lo;
    if (2 * (fabs((double)r->mul) * (double)most + fabs((double)r->add) + (double)r->div) < 0x1p24)
        return true;
    if (r->hi - r->lo > MOST_STEPS)
        return false;
    const bool falls = r->mul < 0;
    for (;;) {
        const int64_t now = rounded(r, at);
        int64_t same = at, other = hi + 1; /* bisect for the last sum with the same code */
        while (other - same > 1) {
            const int64_t middle = same + (other - same) / 2;
            const int64_t v = rounded(r, middle);
            *((falls ? v < now : v > now) ? &other : &same) = middle;
        }
        if (rounded_by_float(f, lane, at) != now || rounded_by_float(f, lane, same) != now)
            return false;
        if (other > hi)
            return true;
        at = other;
    }
}

static bool set_rounding(struct mase_int_layer *l, struct mase_int_finish *finish,
                         const struct mase_int_instr *i)
{
    bool by_float = true;
    for (int64_t r = 0; r < i->out->rows; r++) {
        struct mase_int_finish *f = &finish[r / TILE];
        const int lane = mase_int_lane((int)(r % TILE));
        const int64_t most =
            -i->in[0]->lo[r] > i->in[0]->hi[r] ? -i->in[0]->lo[r] : i->in[0]->hi[r];
        struct mase_int_affine affine;
        bool shift;
        if (!mase_int_round_as_affine(&affine, &shift, &i->u.round[r], most))
            return false;
        f->mul[lane] = affine.mul;
        f->add[lane] = affine.add;
        f->lowest[lane] = affine.lo;
        f->highest[lane] = affine.hi;
        f->factor[lane] = (float)affine.mul;
        f->offset[lane] = (float)affine.add;
        f->lo[lane] = (float)affine.lo;
        f->hi[lane] = (float)affine.hi;
        by_float =
            by_float && float_is_exact(f, lane, &i->u.round[r], i->in[0]->lo[r], i->in[0]->hi[r]);
    }
    l->how = by_float ? MASE_INT_BY_FLOAT : MASE_INT_BY_DOUBLE;
    return true;
}

static bool set_scaling(struct mase_int_layer *l, struct mase_int_finish *finish,
                        const struct mase_int_instr *i)
{
    for (int64_t r = 0; r < i->out->rows; r++) {
        const struct mase_int_scale *s = &i->u.scale[r];
        struct mase_int_finish *f = &finish[r / TILE];
        const int lane = mase_int_lane((int)(r % TILE));
        f->factor[lane] = s->factor;
        f->offset[lane] = s->offset;
        f->lo[lane] = (float)s->lo;
        f->hi[lane] = (float)s->hi;
    }
    l->how = MASE_INT_BY_FLOAT;
    return true;
}

static void set_base(struct mase_int_finish *finish, const struct mase_int_value *v)
{
    for (int64_t r = 0; r < v->rows; r++)
        finish[r / TILE].base[mase_int_lane((int)(r % TILE))] = (int32_t)v->lo[r];
}

/* ---- build the chain ---- */

static bool add_encoding(struct mase_int_dense *d, const struct mase_int_instr *i,
                         struct mase_arena *a)
{
    const struct mase_int_format *first = &i->u.encode[0];
    const long tiles = tiles_of(i->out->rows);
    struct mase_int_finish *f = new_finish(a, tiles);
    for (int64_t r = 0; r < i->out->rows; r++) {
        const struct mase_int_format *g = &i->u.encode[r];
        const double factor = g->scaled ? g->step : 1 / g->step;
        if (!mase_int_format_has_kernel(g) || g->scaled != first->scaled ||
            g->direction != first->direction)
            return false;
        f[r / TILE].factor[r % TILE] = (float)factor;
        f[r / TILE].lo[r % TILE] = (float)g->lo;
        f[r / TILE].hi[r % TILE] = (float)g->hi;
        if (d->affine) {
            f[r / TILE].scale[r % TILE] = d->affine->u.affine.scale[r];
            f[r / TILE].shift[r % TILE] = d->affine->u.affine.shift[r];
        }
    }
    set_base(f, i->out);
    d->encode = i;
    d->features = i->out->rows;
    d->encoding = (struct mase_int_encoding){ .tiles = tiles,
                                              .x_stride = TILE * tiles,
                                              .finish = f,
                                              .affine = d->affine,
                                              .relu = d->relu,
                                              .divides = first->scaled,
                                              .floor = first->direction == MASE_TO_FLOOR };
    return true;
}

/* Add a layer and the rounding after it, if any. The previous layer stores what this one reads. */
static bool add_layer(struct mase_int_dense *d, const struct mase_int_instr *i,
                      const struct mase_int_instr *round, struct mase_arena *a)
{
    const struct mase_int_value *out = round ? round->out : i->out;
    struct mase_int_layer *l = &d->layer[d->layers];
    const long tiles = tiles_of(out->rows);
    struct mase_int_finish *f = new_finish(a, tiles);
    *l = (struct mase_int_layer){ .tiles = tiles, .finish = f, .to = MASE_INT_LONGS };
    if (d->layers && l[-1].how == MASE_INT_SUMS) /* stored as sums */
        return false;
    if (!mase_int_pack(l, i, d->k, a))
        return false;
    if (round && !mase_int_value_within(out, -(1 << 24), 1 << 24)) /* bounds are floats */
        return false;
    if (round &&
        !(round->op == MASE_INT_OP_ROUND ? set_rounding(l, f, round) : set_scaling(l, f, round)))
        return false;
    set_base(f, out);
    if (d->layers) {
        l[-1].to = l->from;
        l[-1].y_stride = l->x_stride;
    } else {
        d->encoding.to = l->from;
        d->encoding.y_stride = l->x_stride;
    }
    l->y_stride = TILE * tiles * (long)sizeof(int32_t);
    d->widest = l->y_stride > d->widest ? l->y_stride : d->widest;
    d->widest = l->x_stride > d->widest ? l->x_stride : d->widest;
    d->layers++;
    return true;
}

/* Choose how the codes of a row are decoded, and set the constants of that way. */
static enum mase_decode_how set_decoding(struct mase_int_finish *f, int at,
                                         const struct mase_int_value *v, int64_t r, bool *known)
{
    const struct mase_meaning *m = &v->meaning[r];
    const struct mase_decoding d = mase_decoding_between(m, v->lo[r], v->hi[r]);
    const double most = (double)(-v->lo[r] > v->hi[r] ? -v->lo[r] : v->hi[r]),
                 size = fabs((double)d.form.mul) * most + fabs((double)d.form.add);
    f->lo[at] = m->relu ? 0.0f : -INFINITY;
    f->mul[at] = (double)d.form.mul;
    f->add[at] = (double)d.form.add;
    f->parts[at] = (float)m->parts;
    f->scale[at] = m->scale;
    f->shift[at] = m->shift;
    f->factor[at] = m->scaled ? (float)m->step : d.unit;
    f->offset[at] = m->scaled ? m->bias : 0.0f;
    *known &= m->scaled || (d.exact && size < 0x1p53);
    return m->scaled ? MASE_DECODE_SCALED : MASE_DECODE_BY_DOUBLE;
}

/* If float32 represents its constants and the codes, a fused multiply-add is exactly rounded, too.
 */
static bool decode_by_float(struct mase_int_finish *f, const struct mase_int_value *v)
{
    if (!mase_int_value_within(v, -(1 << 24), 1 << 24))
        return false;
    for (int64_t r = 0; r < v->rows; r++) {
        const struct mase_int_finish *c = &f[r / TILE];
        const double mul = c->mul[r % TILE], add = c->add[r % TILE];
        if ((double)(float)mul != mul || (double)(float)add != add)
            return false;
    }
    for (int64_t r = 0; r < v->rows; r++) {
        struct mase_int_finish *c = &f[r / TILE];
        c->offset[r % TILE] = (float)c->add[r % TILE] * c->factor[r % TILE];
        c->factor[r % TILE] *= (float)c->mul[r % TILE];
    }
    return true;
}

static void add_decoding(struct mase_int_dense *d, const struct mase_int_value *v,
                         struct mase_arena *a)
{
    const long tiles = tiles_of(v->rows);
    struct mase_int_finish *f = new_finish(a, tiles);
    enum mase_decode_how how = MASE_DECODE_SCALED;
    bool known = true;
    for (int64_t r = 0; r < v->rows; r++) {
        const enum mase_decode_how this = set_decoding(&f[r / TILE], (int)(r % TILE), v, r, &known);
        known &= r == 0 || this == how;
        how = this;
    }
    if (known && how == MASE_DECODE_BY_DOUBLE && decode_by_float(f, v))
        how = MASE_DECODE_BY_FLOAT;
    d->outputs = v->rows;
    d->decoding = (struct mase_int_decoding){ .tiles = known ? tiles : 0,
                                              .outputs = v->rows,
                                              .x_stride = TILE * tiles,
                                              .finish = f,
                                              .how = how };
}

/* Nothing but relu? */
static bool is_relu(const struct mase_int_instr *i)
{
    bool plain = i->u.affine.relu;
    for (int64_t r = 0; r < i->out->rows; r++)
        plain &= i->u.affine.scale[r] == 1.0f && i->u.affine.shift[r] == 0.0f;
    return plain;
}

/* Steps on the floats before they are encoded: one affine function, then perhaps a relu. */
static bool take_affine(struct mase_int_dense *d, const struct mase_int_instr **i,
                        const struct mase_int_value *last)
{
    for (; *i && (*i)->op == MASE_INT_OP_AFFINE; *i = (*i)->next) {
        if (!follows(*i, last) || (d->affine && !is_relu(*i)))
            return false;
        d->affine = d->affine ? d->affine : *i;
        d->relu |= (*i)->u.affine.relu;
        last = (*i)->out;
    }
    return *i && (*i)->op == MASE_INT_OP_ENCODE && follows(*i, last);
}

static bool is_rounding(const struct mase_int_instr *i)
{
    return i && (i->op == MASE_INT_OP_ROUND || i->op == MASE_INT_OP_SCALE);
}

static bool build(struct mase_int_dense *d, const struct mase_int_program *e, struct mase_arena *a)
{
    const struct mase_int_instr *i = e->first;
    if (!take_affine(d, &i, e->input) || !i->next || !add_encoding(d, i, a))
        return false;
    const struct mase_int_value *last = i->out;
    for (i = i->next; i;) {
        const struct mase_int_instr *round = is_rounding(i->next) ? i->next : NULL;
        const struct mase_int_instr *next = round ? round->next : i->next;
        if (!is_dense(i) || !follows(i, last) || (round && !follows(round, i->out)) ||
            !add_layer(d, i, round, a))
            return false;
        last = round ? round->out : i->out;
        i = next;
    }
    if (!e->output->codes || e->output->at != last->at || e->output->rows != last->rows)
        return false;
    add_decoding(d, e->output, a);
    return true;
}

void mase_int_find_dense(struct mase_int_program *e)
{
    struct mase_int_dense *d = mase_new(&e->arena, struct mase_int_dense);
    struct mase_err err;
    int count = 0;
    if (mase_kernels_select(&d->k, &err))
        d->k = mase_kernels_of(MASE_ISA_SCALAR);
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        count++;
    d->layer = mase_new_array(&e->arena, struct mase_int_layer, (size_t)count);
    if (build(d, e, &e->arena))
        e->dense = d;
}

/* ---- running ---- */

/* Memory of a thread: floats of a chunk of samples, and two buffers of codes that layers alternate
 * between. */
struct mase_int_dense_work {
    const struct mase_int_program *e;
    float *x;
    char *codes[2];
    struct mase_decoding *decoding; // (outputs)
};

struct mase_int_dense_work *mase_int_dense_work_new(const struct mase_int_program *e)
{
    const struct mase_int_dense *d = e->dense;
    struct mase_int_dense_work *w = mase_xcalloc(sizeof *w);
    w->e = e;
    w->x = mase_aligned_calloc((size_t)(CHUNK * d->encoding.x_stride) * sizeof *w->x);
    for (int i = 0; i < 2; i++)
        w->codes[i] = mase_aligned_calloc((size_t)(CHUNK * d->widest));
    w->decoding = mase_xcalloc((size_t)d->outputs * sizeof *w->decoding);
    for (int64_t r = 0; r < d->outputs; r++)
        w->decoding[r] =
            mase_decoding_between(&e->output->meaning[r], e->output->lo[r], e->output->hi[r]);
    return w;
}

void mase_int_dense_work_free(struct mase_int_dense_work *w)
{
    if (!w)
        return;
    mase_aligned_free(w->x);
    mase_aligned_free(w->codes[0]);
    mase_aligned_free(w->codes[1]);
    mase_xfree(w->decoding);
    mase_xfree(w);
}

/* Fail with the first sample that has a NaN after its batch norm. */
static enum mase_status fail_encoding(const struct mase_int_dense *d, const float *sample,
                                      int64_t before, int64_t samples, struct mase_err *err)
{
    const struct mase_int_encoding *c = &d->encoding;
    for (int64_t i = 0; i < samples; i++)
        for (int64_t r = 0; r < d->features; r++) {
            const struct mase_int_finish *f = &c->finish[r / TILE];
            const float x = sample[i * c->x_stride + r];
            if (isnan(c->affine ? fmaf(f->scale[r % TILE], x, f->shift[r % TILE]) : x))
                return mase_int_fail_nan(d->encode, before + i, err);
        }
    return MASE_OK;
}

static void decode_samples(const struct mase_int_dense_work *w, float *y, const int32_t *code,
                           int64_t samples)
{
    const struct mase_int_dense *d = w->e->dense;
    if (d->decoding.tiles) {
        d->k->int_decode_samples(&d->decoding, y, code, (long)samples);
        return;
    }
    for (int64_t i = 0; i < samples; i++)
        for (int64_t r = 0; r < d->outputs; r++)
            y[i * d->outputs + r] =
                mase_decoded(code[i * d->decoding.x_stride + r], &w->decoding[r]);
}

static enum mase_status run_chunk(const struct mase_int_dense_work *w, float *y, const float *x,
                                  int64_t before, int64_t samples, struct mase_err *err)
{
    const struct mase_int_dense *d = w->e->dense;
    long wrong = 0;
    if (d->features != d->encoding.x_stride) { /* kernels read whole tiles */
        for (int64_t i = 0; i < samples; i++)
            memcpy(w->x + i * d->encoding.x_stride, x + i * d->features,
                   (size_t)d->features * sizeof *x);
        x = w->x;
    }
    d->k->int_encode_samples(&d->encoding, w->codes[0], x, (long)samples, &wrong);
    if (wrong)
        return fail_encoding(d, x, before, samples, err);
    for (int n = 0; n < d->layers; n++)
        d->k->int_layer(&d->layer[n], w->codes[(n + 1) % 2], w->codes[n % 2], (long)samples);
    decode_samples(w, y, (const int32_t *)(const void *)w->codes[d->layers % 2], samples);
    return MASE_OK;
}

enum mase_status mase_int_dense_run(const struct mase_int_dense_work *w, float *y, const float *x,
                                    int64_t samples, struct mase_err *err)
{
    const struct mase_int_dense *d = w->e->dense;
    for (int64_t at = 0; at < samples; at += CHUNK) {
        const int64_t n = samples - at < CHUNK ? samples - at : CHUNK;
        MASE_TRY(run_chunk(w, y + at * d->outputs, x + at * d->features, at, n, err));
    }
    return MASE_OK;
}
