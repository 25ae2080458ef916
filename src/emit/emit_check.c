/*
 * emit_check.c - run the steps from which C is written, and compare with their source.
 *
 * Before files are written, samples run through the steps, with the memory slots and types of the C
 * code. Integers must equal those of the integer engine, floats must be close to the program's
 * reference. A difference is a bug, reported as an error.
 */
#include <math.h>

#include <mase/rng.h>

#include "base/alloc.h"
#include "emit/emit_parts.h"
#include "integer/int_parts.h"

enum { DRAWN = 4 }; /* samples, if none are given */
static const double WORK =
    3e8; /* multiply-adds of all samples, about; larger networks run fewer samples */
static const double TOLERANCE = 1e-3; /* of floats, relative to the largest output */

/* An element of the C code's memory: an integer or a float. */
union cell {
    int64_t i;
    float f;
};

/* Memory of a slot, which holds one value at a time. */
struct place {
    union cell *cell;
    int64_t rows;
    const struct mase_emit_value *owner;
};

struct running {
    const struct mase_emit_net *n;
    struct place *slot, x, y;
    const char *from, *what; /* the first wrong step, and what is wrong; NULL: nothing */
};

static void wrong(struct running *r, const char *what)
{
    r->what = r->what ? r->what : what;
}

/* ---- memory ---- */

static struct place *place_of(struct running *r, const struct mase_emit_value *v)
{
    return v->slot >= 0 ? &r->slot[v->slot] : v == r->n->input ? &r->x : &r->y;
}

static union cell get(struct running *r, const struct mase_emit_value *v, int64_t row)
{
    const struct place *p = place_of(r, v);
    if (p->owner == v && row >= 0 && row < v->rows && row < p->rows)
        return p->cell[row];
    wrong(r, "it reads what is not there");
    return (union cell){ 0 };
}

static bool holds(enum mase_emit_type t, mase_int_wide x)
{
    return x >= mase_emit_types[t].lo && x <= mase_emit_types[t].hi;
}

static void put(struct running *r, const struct mase_emit_value *v, int64_t row, union cell x)
{
    struct place *p = place_of(r, v);
    if (row < 0 || row >= v->rows || row >= p->rows)
        wrong(r, "it writes beside its memory");
    else if (v->type != MASE_EMIT_F32 && !holds(v->type, x.i))
        wrong(r, "a code does not fit its type");
    else
        p->cell[row] = x;
}

/* ---- functions of single numbers ---- */

static int64_t whole(const struct mase_emit_numbers *n, int64_t i)
{
    return n->number[n->count == 1 ? 0 : i / n->per];
}

static float real(const struct mase_emit_numbers *n, int64_t i)
{
    return n->real[n->count == 1 ? 0 : i / n->per];
}

/* a b + c with the overflow of a C type, in any order. */
static int64_t multiply_add(struct running *r, enum mase_emit_type t, int64_t a, int64_t b,
                            int64_t c)
{
    const mase_int_wide product = (mase_int_wide)a * b, sum = product + c;
    if (!holds(t, product) || !holds(t, sum))
        wrong(r, "a sum does not fit its type");
    return (int64_t)sum;
}

static int64_t limited(const struct mase_emit_map *m, int64_t q, int64_t i)
{
    if (m->lo.count && q < whole(&m->lo, i))
        q = whole(&m->lo, i);
    if (m->hi.count && q > whole(&m->hi, i))
        q = whole(&m->hi, i);
    return q;
}

static int64_t rounded(struct running *r, const struct mase_emit_map *m, int64_t x, int64_t i)
{
    const int64_t v = multiply_add(r, m->work, x, whole(&m->mul, i), whole(&m->add, i)),
                  by = whole(&m->div, i);
    return limited(m, mase_divide_rounded(v, m->shift ? INT64_C(1) << by : by, m->direction), i);
}

/* Clamp and round to nearest or by the direction of a format; NaN becomes the lower bound. */
static int64_t bounded(const struct mase_emit_map *m, double v, int64_t i, float x)
{
    const double lo = (double)whole(&m->lo, i), hi = (double)whole(&m->hi, i);
    v = v > lo ? v : lo;
    v = v < hi ? v : hi;
    return (int64_t)(m->op == MASE_EMIT_SCALE
                         ? rint(v)
                         : mase_direct(v, (enum mase_direction)m->direction, x));
}

static int64_t encoded(const struct mase_emit_map *m, float x, int64_t i)
{
    if (m->direction == MASE_TO_SIGN)
        return x >= 0 ? 1 : -1;
    const float by = real(&m->factor, i);
    return bounded(m,
                   m->scaled    ? x / by
                   : m->doubles ? (double)x * (double)by
                                : (double)(x * by),
                   i, x);
}

static float decoded(struct running *r, const struct mase_emit_map *m, int64_t x, int64_t i)
{
    const float step = real(&m->div, i);
    if (m->exact)
        return (float)multiply_add(r, m->work, x, whole(&m->mul, i), whole(&m->add, i)) * step;
    const struct mase_meaning t = { .step = (double)step,
                                    .parts = whole(&m->parts, i),
                                    .bias = real(&m->bias, i),
                                    .scale = real(&m->factor, i),
                                    .shift = real(&m->offset, i),
                                    .scaled = m->scaled };
    return mase_decoded(x, &(struct mase_decoding){ .m = &t });
}

static union cell mapped(struct running *r, const struct mase_emit_map *m, union cell x, int64_t i)
{
    union cell y = x;
    switch (m->op) {
    case MASE_EMIT_STORE:
        break;
    case MASE_EMIT_AFFINE:
        y.f = fmaf(x.f, real(&m->factor, i), real(&m->offset, i));
        break;
    case MASE_EMIT_AXPY:
        y.f = x.f * real(&m->factor, i) + real(&m->offset, i);
        break;
    case MASE_EMIT_RELU:
        y.f = x.f < 0 ? 0 : x.f;
        break;
    case MASE_EMIT_ENCODE:
        y.i = encoded(m, x.f, i);
        break;
    case MASE_EMIT_ROUND:
        y.i = rounded(r, m, x.i, i);
        break;
    case MASE_EMIT_SCALE:
        y.i = bounded(m, (double)fmaf((float)x.i, real(&m->factor, i), real(&m->offset, i)), i, 0);
        break;
    case MASE_EMIT_TABLE: {
        const int64_t at = x.i + whole(&m->start, i);
        if (at < 0 || at >= m->table_length)
            wrong(r, "it reads beside its table");
        else
            y.i = m->table[at];
        break;
    }
    case MASE_EMIT_DECODE:
        y.f = decoded(r, m, x.i, i);
        break;
    }
    if (m->relu && m->op != MASE_EMIT_RELU)
        y.f = y.f < 0 ? 0 : y.f;
    return y;
}

/* ---- steps ---- */

/* The rows of a channel under the window of a step; NULL: the step has no window. */
static int64_t *new_window_rows(const struct mase_int_window *w)
{
    return w ? mase_xcalloc((size_t)mase_int_window_area(w) * sizeof(int64_t)) : NULL;
}

/* The row that input k of a sum reads; -1: zero. window: rows under the window at position p. */
static int64_t row_of(const struct mase_emit_sum *f, const int64_t *window, int64_t g, int64_t p,
                      int64_t k)
{
    if (f->access == MASE_INT_ACCESS_ROWS)
        return g * f->group_rows + p * f->inputs + k;
    if (f->access == MASE_INT_ACCESS_LIST)
        return f->list[(g * f->positions + p) * f->inputs + k];
    const int64_t area = mase_int_window_area(f->window), at = window[k % area];
    return at < 0 ? -1 : g * f->group_rows + k / area * mase_int_window_channel(f->window) + at;
}

static union cell sum_of(struct running *r, const struct mase_emit_sum *f, const union cell *x,
                         int64_t o)
{
    union cell s;
    if (!f->weight) {
        s.f = f->fbias[o];
        for (int64_t k = 0; k < f->inputs; k++)
            s.f += f->fweight[o * f->inputs + k] * x[k].f;
        return s;
    }
    mase_int_wide sum = f->bias[o], size = sum < 0 ? -sum : sum;
    for (int64_t k = 0; k < f->inputs; k++) {
        const mase_int_wide product = (mase_int_wide)f->weight[o * f->inputs + k] * x[k].i;
        sum += product;
        size += product < 0 ? -product : product;
    }
    if (!holds(f->acc, sum) || size > (mase_int_wide)mase_emit_types[f->acc].hi + 1)
        wrong(r, "a sum does not fit its type");
    s.i = (int64_t)sum;
    return s;
}

static void run_sum(struct running *r, const struct mase_emit_step *s)
{
    const struct mase_emit_sum *f = &s->sum;
    union cell *x = mase_xcalloc((size_t)f->inputs * sizeof *x);
    int64_t *window = new_window_rows(f->window);
    for (int64_t g = 0; g < f->groups; g++)
        for (int64_t p = 0; p < f->positions; p++) {
            if (window)
                mase_int_window_rows(window, f->window, p);
            for (int64_t k = 0; k < f->inputs; k++) {
                const int64_t row = row_of(f, window, g, p, k);
                x[k] = row < 0 ? (union cell){ 0 } : get(r, s->in[0], row);
            }
            if (f->tiled && f->access == MASE_INT_ACCESS_ROWS && f->inputs % 2 &&
                row_of(f, NULL, g, p, f->inputs) >= mase_emit_room(s->in[0]))
                wrong(r, "a pair of rows lies behind its memory");
            for (int64_t o = g * f->outputs; o < (g + 1) * f->outputs; o++)
                put(r, s->out, o * f->output_stride + p * f->position_stride,
                    mapped(r, &s->map, sum_of(r, f, x, o), o));
        }
    mase_xfree(x);
    mase_xfree(window);
}

static void run_add(struct running *r, const struct mase_emit_step *s)
{
    for (int64_t i = 0; i < s->out->rows; i++) {
        const union cell a = get(r, s->in[0], i), b = get(r, s->in[1], i);
        union cell sum;
        if (s->acc == MASE_EMIT_F32)
            sum.f = a.f + b.f;
        else
            sum.i = multiply_add(
                r, s->acc, b.i, whole(&s->weight[1], i),
                multiply_add(r, s->acc, a.i, whole(&s->weight[0], i), whole(&s->bias, i)));
        put(r, s->out, i, mapped(r, &s->map, sum, i));
    }
}

static void run_pool(struct running *r, const struct mase_emit_step *s)
{
    const struct mase_int_window *w = s->window;
    const int64_t positions = mase_int_window_positions(w), size = mase_int_window_channel(w),
                  area = mase_int_window_area(w);
    const bool floats = s->out->type == MASE_EMIT_F32;
    int64_t *row = new_window_rows(w);
    for (int64_t p = 0; p < positions; p++) {
        mase_int_window_rows(row, w, p);
        for (int64_t c = 0; c < s->channels; c++) {
            union cell v = { 0 };
            bool some = false;
            for (int64_t k = 0; k < area; k++) {
                if (row[k] < 0)
                    continue;
                const union cell x = get(r, s->in[0], c * size + row[k]);
                if (!s->largest && floats)
                    v.f += x.f;
                else if (!s->largest)
                    v.i = multiply_add(r, s->acc, v.i, 1, x.i);
                else if (!some || (floats ? x.f > v.f : x.i > v.i))
                    v = x;
                some = true;
            }
            if (floats && !s->largest)
                v.f /= (float)s->parts;
            put(r, s->out, c * positions + p, v);
        }
    }
    mase_xfree(row);
}

static void run_pick(struct running *r, const struct mase_emit_step *s)
{
    for (int64_t i = 0; i < s->out->rows; i++) {
        const int64_t row = s->list[i];
        put(r, s->out, i,
            row == -1 ? (union cell){ 0 }
            : row < 0 ? get(r, s->in[1], -2 - row)
                      : get(r, s->in[0], row));
    }
}

static void run_largest(struct running *r, const struct mase_emit_step *s)
{
    for (int64_t i = 0; i < s->out->rows; i++) {
        union cell v = get(r, s->in[0], s->list[s->first[i]]);
        for (int64_t k = s->first[i] + 1; k < s->first[i + 1]; k++) {
            const union cell x = get(r, s->in[0], s->list[k]);
            v = x.i > v.i ? x : v;
        }
        put(r, s->out, i, v);
    }
}

static void run_map(struct running *r, const struct mase_emit_step *s)
{
    for (int64_t i = 0; i < s->out->rows; i++)
        put(r, s->out, i, mapped(r, &s->map, get(r, s->in[0], i), i));
}

static void run_steps(struct running *r)
{
    static void (*const runs[MASE_EMIT_KINDS])(struct running * r,
                                               const struct mase_emit_step *s) = {
        [MASE_EMIT_SUM] = run_sum,   [MASE_EMIT_ADD] = run_add, [MASE_EMIT_POOL] = run_pool,
        [MASE_EMIT_PICK] = run_pick, [MASE_EMIT_MAP] = run_map, [MASE_EMIT_LARGEST] = run_largest,
    };
    for (const struct mase_emit_step *s = r->n->first; s && !r->what; s = s->next) {
        r->from = s->from;
        for (int k = 0; k < 2; k++)
            if (s->in[k] && place_of(r, s->in[k]) == place_of(r, s->out))
                wrong(r, "it writes over what it reads");
        place_of(r, s->out)->owner = s->out;
        runs[s->kind](r, s);
    }
}

/* ---- samples ---- */

static int64_t products(const struct mase_emit_net *n)
{
    int64_t count = 1;
    for (const struct mase_emit_step *s = n->first; s; s = s->next)
        count += s->kind == MASE_EMIT_SUM
                     ? s->sum.groups * s->sum.outputs * s->sum.inputs * s->sum.positions
                     : s->out->rows;
    return count;
}

static enum mase_status fail(const struct running *r, int64_t sample, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "%s: its C is wrong for sample %lld: %s; nothing is written, this is a fault "
                     "of mase",
                     r->from ? r->from : "the network", (long long)sample, r->what);
}

/* y: expected output. */
static enum mase_status check_sample(struct running *r, const float *x, const float *y,
                                     int64_t sample, struct mase_err *err)
{
    const struct mase_emit_net *n = r->n;
    double most = 1;
    r->x.owner = n->input;
    for (int64_t k = 0; k < n->input->rows; k++) {
        if (n->encode)
            r->x.cell[k].i = mase_int_encode(x[k], &n->encode[k]);
        else
            r->x.cell[k].f = x[k];
    }
    run_steps(r);
    for (int64_t k = 0; k < n->output->rows; k++)
        most = fmax(most, fabs((double)y[k]));
    for (int64_t k = 0; k < n->output->rows && !r->what; k++) {
        union cell v = get(r, n->output, k), want = { 0 };
        if (n->output->type != MASE_EMIT_F32)
            v = mapped(r, &n->decode, v, k);
        want.f = y[k];
        const bool same = n->floats ? !(fabs((double)v.f - (double)want.f) > TOLERANCE * most)
                                    : v.f == want.f && !signbit(v.f) == !signbit(want.f);
        r->from = NULL;
        if (!same)
            wrong(r, "its results are others than those it was made from");
    }
    return r->what ? fail(r, sample, err) : MASE_OK;
}

static struct place new_place(int64_t rows)
{
    return (struct place){ .cell = mase_xcalloc((size_t)(rows + 1) * sizeof(union cell)),
                           .rows = rows };
}

static void start(struct running *r, const struct mase_emit_net *n)
{
    *r = (struct running){ .n = n };
    r->slot = mase_xcalloc((size_t)(n->slot_count + 1) * sizeof *r->slot);
    for (int s = 0; s < n->slot_count; s++) {
        int64_t rows = 0;
        for (int i = 0; i < n->value_count; i++)
            if (n->value[i]->slot == s && n->value[i]->rows > rows)
                rows = n->value[i]->rows;
        r->slot[s] = new_place(rows);
    }
    r->x = new_place(n->input->rows);
    r->y = new_place(n->output->rows);
}

static void end(struct running *r)
{
    for (int s = 0; s < r->n->slot_count; s++)
        mase_xfree(r->slot[s].cell);
    mase_xfree(r->slot);
    mase_xfree(r->x.cell);
    mase_xfree(r->y.cell);
}

/* The expected outputs (samples, outputs), by the integer engine or the reference. */
static enum mase_status make_wanted(float *y, const float *x, int64_t samples,
                                    const struct mase_emit_source *from, int64_t rows,
                                    struct mase_err *err)
{
    if (from->exact) {
        struct mase_int_runner *w = mase_int_runner_new(from->exact, samples, MASE_INT_KEEP_OUTPUT);
        const enum mase_status st = mase_int_runner_run_array(w, y, x, samples, err);
        mase_int_runner_free(w);
        return st;
    }
    struct mase_arena a = { 0 };
    struct mase_arg out;
    struct mase_input in = *from->input;
    in.tensor.shape.dim[0] = samples;
    in.tensor.data = (void *)x;
    const enum mase_status st = mase_program_run(&out, &a, from->program, &in, 1, err);
    for (int64_t k = 0; !st && k < samples * rows; k++)
        y[k] = mase_f32(out.tensor)[k];
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_emit_check(const struct mase_emit_net *n, const struct mase_emit_source *from,
                                 const float *x, int64_t samples, struct mase_err *err)
{
    const int64_t given = samples ? samples : DRAWN, inputs = n->input->rows,
                  outputs = n->output->rows, most = 1 + (int64_t)(WORK / (double)products(n)),
                  count = given < most ? given : most;
    float *drawn = mase_xcalloc((size_t)(count * inputs) * sizeof *drawn),
          *y = mase_xcalloc((size_t)(count * outputs) * sizeof *y);
    struct mase_rng rng = mase_rng(0, MASE_STREAM_DUMMY, mase_rng_name("emit"));
    struct running r;
    for (int64_t k = 0; !samples && k < count * inputs; k++)
        drawn[k] = mase_rng_normal(&rng);
    if (!samples)
        x = drawn;
    enum mase_status st = make_wanted(y, x, count, from, outputs, err);
    start(&r, n);
    for (int64_t i = 0; !st && i < count; i++)
        st = check_sample(&r, x + i * inputs, y + i * outputs, i, err);
    end(&r);
    mase_xfree(drawn);
    mase_xfree(y);
    return st;
}
