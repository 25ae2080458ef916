/*
 * recurrence.c - one layer of a recurrent network in one direction (recurrence.h).
 *
 * Samples are independent, so a thread runs its lanes through all time steps: one phase forward;
 * one backward through time, which replaces the gates by the gradients of their sums; a last one
 * adds the gradients of weights and biases over steps and lanes. In evaluation memory for the gates
 * of one time step is enough.
 *
 * Number formats are as in the reference: weights and biases rounded once, x of a step and the h
 * before it at each step, as matrices (1, C) and (1, P) of each sample, and what is projected. The
 * gradient passes roundings straight through.
 */
#include "exec/step/recurrence.h"

#include <string.h>

#include "exec/plan/plan_parts.h"
#include "exec/step/round_step.h"

enum { NONE = -1 };

/* A matrix of lanes at each step, and how it is rounded before a product. */
struct factor {
    long rows;
    struct mase_round *how; /* NULL: not at all */
    float *rounded;         // (steps kept, rows)
    const float **row;      // (T, rows): what the products read, where it is fixed
};

struct recurrence {
    enum mase_cell cell;
    bool reverse, keeps; /* keeps: every step's gates are there for backward */
    long T, C, H, P, G;  /* G: gates times units */
    int h_in, c_in;      /* the step's inputs that are the first h and c; or NONE */
    struct mase_weight *w_ih, *w_hh, *w_hr, *b_ih, *b_hh;
    float *bias; // (G): both biases where they are in one sum; NULL: none
    struct factor x, h, open;
    float *gate, *inner, *c, *tanh_c; // (steps kept, ...)
    const float **gate_row;           // (T, G)
    const float **inner_row;          // (T, H)
    float *dh, *dc, *dopen;           // (P), (H), (H): on the way backward
    float *dh_all;                    // (T, P): of projections
    const float **dh_row;             // (T, P)
};

/* ---- where things lie ---- */

static long time_of(const struct recurrence *r, long i)
{
    return r->reverse ? r->T - 1 - i : i;
}

/* Floats from the first row to those of step t. */
static int64_t at(const struct mase_step *s, long t, long rows)
{
    const struct recurrence *r = s->own;
    return (r->keeps ? t : 0) * rows * s->plan->stride;
}

static float *h_at(const struct mase_step *s, long t)
{
    const struct recurrence *r = s->own;
    return s->out->x + t * r->P * s->plan->stride;
}

/* h before the i-th step, or NULL for zeros. */
static const float *h_before(const struct mase_step *s, long i)
{
    const struct recurrence *r = s->own;
    if (i > 0)
        return h_at(s, time_of(r, i - 1));
    return r->h_in >= 0 ? s->in[r->h_in]->x : NULL;
}

static const float *c_before(const struct mase_step *s, long i)
{
    const struct recurrence *r = s->own;
    if (i > 0)
        return r->c + at(s, time_of(r, i - 1), r->H);
    return r->c_in >= 0 ? s->in[r->c_in]->x : NULL;
}

/* ---- forward ---- */

/* Both biases where they are in one sum: all of them, but for n of a GRU. */
static void add_biases(const struct mase_step *s, long from, long to)
{
    const struct recurrence *r = s->own;
    const long together = r->cell == MASE_CELL_GRU ? 2 * r->H : r->G;
    for (long o = from; o < to; o++)
        r->bias[o] = r->b_ih->x[o] + (o < together ? r->b_hh->x[o] : 0.0f);
}

static void product(const struct mase_step *s, struct mase_gemm g, long from, long to)
{
    g.y_stride = s->plan->stride;
    s->plan->k->gemm(&g, from, to);
}

static void round_factor(const struct mase_step *s, const struct factor *f, const float *x, long t,
                         long from, long to)
{
    if (f->how)
        mase_round_run(f->how, s->plan->k, f->rounded + at(s, t, f->rows) + from, x + from,
                       to - from, 0, f->how->count);
}

/* The sums of the gates: the products with x, and those with h. */
static void sum_gates(const struct mase_step *s, long i, long from, long to)
{
    const struct recurrence *r = s->own;
    const long t = time_of(r, i), together = r->cell == MASE_CELL_GRU ? 2 * r->H : r->G;
    const float *before = h_before(s, i);
    float *gate = r->gate + at(s, t, r->G);
    round_factor(s, &r->x, s->in[0]->x + t * r->C * s->plan->stride, t, from, to);
    if (before)
        round_factor(s, &r->h, before, t, from, to);
    product(s,
            (struct mase_gemm){ .y = gate,
                                .w = r->w_ih->x,
                                .bias = r->bias,
                                .rows = r->x.row + t * r->C,
                                .O = r->G,
                                .K = r->C,
                                .w_stride = r->C },
            from, to);
    const struct mase_gemm h = {
        .w = r->w_hh->x, .rows = r->h.row + t * r->P, .K = before ? r->P : 0, .w_stride = r->P
    };
    struct mase_gemm g = h;
    g.y = gate;
    g.O = together;
    g.add = true;
    if (before)
        product(s, g, from, to);
    if (r->cell != MASE_CELL_GRU)
        return;
    g = h;
    g.y = r->inner + at(s, t, r->H);
    g.w += 2 * r->H * r->P;
    g.bias = r->b_hh ? r->b_hh->x + 2 * r->H : NULL;
    g.O = r->H;
    product(s, g, from, to);
}

/* Unit j at the i-th step. */
static struct mase_unit_rows unit_of(const struct mase_step *s, long i, long j, long from)
{
    const struct recurrence *r = s->own;
    const long t = time_of(r, i), stride = s->plan->stride, lane = j * stride + from;
    const float *before = r->cell == MASE_CELL_LSTM ? c_before(s, i) : h_before(s, i);
    struct mase_unit_rows u = { .before = before ? before + lane : NULL };
    for (long k = 0; k < r->G / r->H; k++)
        u.gate[k] = r->gate + at(s, t, r->G) + k * r->H * stride + lane;
    if (r->inner)
        u.inner = r->inner + at(s, t, r->H) + lane;
    if (r->c) {
        u.c = r->c + at(s, t, r->H) + lane;
        u.tanh_c = r->tanh_c + at(s, t, r->H) + lane;
    }
    return u;
}

static void run_unit(const struct mase_step *s, long i, long j, long from, long n)
{
    const struct recurrence *r = s->own;
    const struct mase_kernels *k = s->plan->k;
    struct mase_unit_rows u = unit_of(s, i, j, from);
    float *open = r->w_hr ? r->open.rounded + at(s, time_of(r, i), r->H) : h_at(s, time_of(r, i));
    u.h = open + j * s->plan->stride + from;
    if (r->cell == MASE_CELL_LSTM)
        k->lstm_unit(&u, n);
    else if (r->cell == MASE_CELL_GRU)
        k->gru_unit(&u, n);
    else if (r->cell == MASE_CELL_TANH)
        k->curve(MASE_CURVE_tanh, u.h, u.gate[0], (const float[2]){ 0 }, n);
    else
        k->affine(u.h, u.gate[0], 1.0f, 0.0f, true, n);
}

static void project(const struct mase_step *s, long t, long from, long to)
{
    const struct recurrence *r = s->own;
    if (r->open.how) /* in place: nothing else looks at it */
        round_factor(s, &r->open, r->open.rounded + at(s, t, r->H), t, from, to);
    product(s,
            (struct mase_gemm){ .y = h_at(s, t),
                                .w = r->w_hr->x,
                                .rows = r->open.row + t * r->H,
                                .O = r->P,
                                .K = r->H,
                                .w_stride = r->H },
            from, to);
}

/* The last c follows all h. */
static void keep_cell(const struct mase_step *s, long from, long to)
{
    const struct recurrence *r = s->own;
    const float *last = r->c + at(s, time_of(r, r->T - 1), r->H);
    for (long j = 0; j < r->H; j++)
        memcpy(s->out->x + (r->T * r->P + j) * s->plan->stride + from,
               last + j * s->plan->stride + from, (size_t)(to - from) * sizeof(float));
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct recurrence *r = s->own;
    for (long i = 0; i < r->T; i++) {
        sum_gates(s, i, from, to);
        for (long j = 0; j < r->H; j++)
            run_unit(s, i, j, from, to - from);
        if (r->w_hr)
            project(s, time_of(r, i), from, to);
    }
    if (r->cell == MASE_CELL_LSTM)
        keep_cell(s, from, to);
}

/* ---- backward through time ---- */

/* dh: the gradient of the result of step t, plus that of the next step unless t is the last. */
static float *take_dh(const struct mase_step *s, long t, bool last, long from, long n)
{
    const struct recurrence *r = s->own;
    const struct mase_plan *p = s->plan;
    for (long j = 0; j < r->P; j++) {
        float *dh = r->dh + j * p->stride + from;
        const float *dy = s->out->dx + (t * r->P + j) * p->stride + from;
        if (last)
            memcpy(dh, dy, (size_t)n * sizeof *dh);
        else
            p->k->axpy(dh, dy, 1.0f, n);
        if (r->dh_all)
            memcpy(r->dh_all + (t * r->P + j) * p->stride + from, dh, (size_t)n * sizeof *dh);
    }
    return r->dh;
}

static void unit_back(const struct mase_step *s, long i, long j, float *dh, long from, long n)
{
    const struct recurrence *r = s->own;
    const struct mase_kernels *k = s->plan->k;
    const long lane = j * s->plan->stride + from;
    struct mase_unit_rows u = unit_of(s, i, j, from);
    u.dh = dh + lane;
    u.dc = r->dc ? r->dc + lane : NULL;
    if (r->cell == MASE_CELL_LSTM)
        k->lstm_unit_back(&u, n);
    else if (r->cell == MASE_CELL_GRU)
        k->gru_unit_back(&u, n);
    else if (r->cell == MASE_CELL_TANH)
        k->curve_back(MASE_CURVE_tanh, u.gate[0], u.dh, u.gate[0], (const float[2]){ 0 }, false, n);
    else
        k->relu_back(u.gate[0], u.dh, h_at(s, time_of(r, i)) + lane, false, n);
}

/* Add the gradient of the previous h, from the gradients of the gates' sums, to r->dh. */
static void carry(const struct mase_step *s, long t, long from, long to)
{
    const struct recurrence *r = s->own;
    struct mase_gemm g = { .y = r->dh,
                           .w = r->w_hh->x,
                           .rows = r->gate_row + t * r->G,
                           .O = r->P,
                           .K = r->G,
                           .w_stride = 1,
                           .w_step = r->P };
    if (r->cell == MASE_CELL_GRU) {
        g.K = 2 * r->H;
        g.add = true; /* to what z has passed */
        product(s, g, from, to);
        g.w += 2 * r->H * r->P;
        g.rows = r->inner_row + t * r->H;
        g.K = r->H;
    }
    product(s, g, from, to);
}

/* The gradient of a first state. */
static void give(const struct mase_step *s, int input, const float *d, long rows, long from, long n)
{
    const struct mase_plan *p = s->plan;
    float *to = input >= 0 ? s->in[input]->dx : NULL;
    for (long j = 0; to && j < rows; j++) {
        float *dx = to + j * p->stride + from;
        if (s->add[input])
            p->k->axpy(dx, d + j * p->stride + from, 1.0f, n);
        else
            memcpy(dx, d + j * p->stride + from, (size_t)n * sizeof *dx);
    }
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct recurrence *r = s->own;
    const struct mase_plan *p = s->plan;
    for (long j = 0; r->dc && j < r->H; j++)
        memcpy(r->dc + j * p->stride + from, s->out->dx + (r->T * r->P + j) * p->stride + from,
               (size_t)(to - from) * sizeof(float));
    for (long i = r->T - 1; i >= 0; i--) {
        const long t = time_of(r, i);
        float *dh = take_dh(s, t, i == r->T - 1, from, to - from);
        if (r->w_hr) {
            product(s,
                    (struct mase_gemm){ .y = r->dopen,
                                        .w = r->w_hr->x,
                                        .rows = r->dh_row + t * r->P,
                                        .O = r->H,
                                        .K = r->P,
                                        .w_stride = 1,
                                        .w_step = r->H },
                    from, to);
            dh = r->dopen;
        }
        for (long j = 0; j < r->H; j++)
            unit_back(s, i, j, dh, from, to - from);
        carry(s, t, from, to);
        if (s->in[0]->dx)
            product(s,
                    (struct mase_gemm){ .y = s->in[0]->dx + t * r->C * p->stride,
                                        .w = r->w_ih->x,
                                        .rows = r->gate_row + t * r->G,
                                        .O = r->C,
                                        .K = r->G,
                                        .w_stride = 1,
                                        .w_step = r->C,
                                        .add = s->add[0] },
                    from, to);
    }
    give(s, r->h_in, r->dh, r->P, from, to - from);
    give(s, r->c_in, r->dc, r->H, from, to - from);
}

/* ---- gradients of weights ---- */

/* Rows from..to of w's gradient; dy: (T, rows). skip: the first step had no factor. */
static void weight_gradient(const struct mase_step *s, struct mase_weight *w, const float *dy,
                            long rows, const struct factor *f, bool skip, long from, long to)
{
    const struct recurrence *r = s->own;
    const struct mase_plan *p = s->plan;
    const long first = skip && !r->reverse ? 1 : 0;
    const struct mase_grad g = { .dw = w->dx,
                                 .dy = dy + first * rows * p->stride,
                                 .rows = f->row + first * f->rows,
                                 .O = rows,
                                 .K = f->rows,
                                 .P = r->T - (skip ? 1 : 0),
                                 .n = p->n,
                                 .dw_stride = f->rows,
                                 .dy_stride = p->stride,
                                 .dy_pos = rows * p->stride,
                                 .add = mase_step_adds(s, w) };
    if (from < to)
        p->k->grad(&g, from, to);
}

static void bias_gradient(const struct mase_step *s, struct mase_weight *b, long o, const float *dy,
                          long rows)
{
    const struct recurrence *r = s->own;
    const struct mase_plan *p = s->plan;
    const struct mase_channel c = { dy, r->T, rows * p->stride, p->n, p->samples };
    p->k->row_sum(&b->dx[o], &c, mase_step_adds(s, b));
}

/* Rows of weight_hh from 2 H on are a GRU's gate n, whose gradients are stored separately. */
static void backward_weights(const struct mase_step *s, long from, long to)
{
    const struct recurrence *r = s->own;
    const long stride = s->plan->stride, own = r->cell == MASE_CELL_GRU ? 2 * r->H : r->G;
    const bool skip = r->h_in < 0;
    if (r->w_ih->dx)
        weight_gradient(s, r->w_ih, r->gate, r->G, &r->x, false, from, to);
    if (r->w_hh->dx) {
        struct mase_weight inner = *r->w_hh;
        inner.dx += own * r->P;
        inner.base = r->w_hh->base ? r->w_hh->base : r->w_hh;
        weight_gradient(s, r->w_hh, r->gate, r->G, &r->h, skip, from, to < own ? to : own);
        if (r->inner && to > own)
            weight_gradient(s, &inner, r->inner, r->H, &r->h, skip, from > own ? from - own : 0,
                            to - own);
    }
    for (long o = from; r->b_ih && o < to; o++) {
        if (r->b_ih->dx)
            bias_gradient(s, r->b_ih, o, r->gate + o * stride, r->G);
        if (r->b_hh->dx && o < own)
            bias_gradient(s, r->b_hh, o, r->gate + o * stride, r->G);
        else if (r->b_hh->dx)
            bias_gradient(s, r->b_hh, o, r->inner + (o - own) * stride, r->H);
    }
}

static void backward_projection(const struct mase_step *s, long from, long to)
{
    const struct recurrence *r = s->own;
    if (r->w_hr->dx)
        weight_gradient(s, r->w_hr, r->dh_all, r->P, &r->open, false, from, to);
}

/* ---- making ---- */

static enum mase_status find_weight(struct mase_step *s, struct mase_weight **w,
                                    const struct mase_sequence *q, const char *what, int layer,
                                    int direction, struct mase_err *err)
{
    return mase_step_weight_of(s, w, mase_sequence_param(q, s->call, what, layer, direction), what,
                               err);
}

static struct factor factor_of(struct mase_step *s, long rows)
{
    const struct mase_rounding how = s->call->factors;
    struct factor f = { .rows = rows };
    if (!how.format)
        return f;
    struct mase_arena *a = &s->plan->arena;
    f.how = mase_new(a, struct mase_round);
    *f.how = mase_round_rows(a, how, &(struct mase_shape){ 2, { 1, rows } }, s->plan->stride);
    return f;
}

static void add_phases(struct mase_step *s)
{
    struct recurrence *r = s->own;
    const struct mase_weight *const all[] = { r->w_ih, r->w_hh, r->b_ih, r->b_hh };
    bool trained = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        trained |= all[i] && all[i]->dx;
    if (r->b_ih) {
        r->bias = mase_new_array(&s->plan->arena, float, (size_t)r->G);
        mase_step_forward(s, add_biases, MASE_UNIT_ITEMS, r->G);
    }
    mase_step_forward(s, forward, MASE_UNIT_LANES, 0);
    mase_step_backward(s, backward, MASE_UNIT_LANES, 0);
    if (trained)
        mase_step_backward(s, backward_weights, MASE_UNIT_ITEMS, r->G);
    if (r->w_hr)
        mase_step_backward(s, backward_projection, MASE_UNIT_ITEMS, r->P);
}

/* Floats that a step asks for, or, with memory, where each part of them lies. */
static int64_t lay_out(struct recurrence *r, int64_t stride, float *scratch, float *work,
                       int64_t *work_size)
{
    const long kept = r->keeps ? r->T : 1;
    const bool lstm = r->cell == MASE_CELL_LSTM;
    struct {
        float **to;
        long rows;
    } parts[] = { { &r->gate, kept * r->G },
                  { &r->inner, r->cell == MASE_CELL_GRU ? kept * r->H : 0 },
                  { &r->c, lstm ? kept * r->H : 0 },
                  { &r->tanh_c, lstm ? kept * r->H : 0 },
                  { &r->x.rounded, r->x.how ? kept * r->C : 0 },
                  { &r->h.rounded, r->h.how ? kept * r->P : 0 },
                  { &r->open.rounded, r->w_hr ? kept * r->H : 0 } };
    struct {
        float **to;
        long rows;
    } works[] = { { &r->dh, r->P },
                  { &r->dc, lstm ? r->H : 0 },
                  { &r->dopen, r->w_hr ? r->H : 0 },
                  { &r->dh_all, r->w_hr ? r->T * r->P : 0 } };
    int64_t size = 0;
    *work_size = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = scratch && parts[i].rows ? scratch + size : NULL;
        size += parts[i].rows * stride;
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        *works[i].to = work && works[i].rows ? work + *work_size : NULL;
        *work_size += works[i].rows * stride;
    }
    return size;
}

static const float **rows_at(struct mase_step *s, const float *x, long count)
{
    const float **row = mase_new_array(&s->plan->arena, const float *, (size_t)count);
    for (long i = 0; x && i < count; i++)
        row[i] = x + i * s->plan->stride;
    return row;
}

/* Rows of the (T, rows) values that products read: rounded ones, of which evaluation keeps one
 * step's, or those at x. */
static void bind_factor(struct mase_step *s, struct factor *f, const float *x)
{
    const struct recurrence *r = s->own;
    if (!f->rounded) {
        f->row = rows_at(s, x, r->T * f->rows);
        return;
    }
    f->row = mase_new_array(&s->plan->arena, const float *, (size_t)(r->T * f->rows));
    for (long t = 0; t < r->T; t++)
        for (long j = 0; j < f->rows; j++)
            f->row[t * f->rows + j] = f->rounded + at(s, t, f->rows) + j * s->plan->stride;
}

/* h before each step lies one step off. */
static void bind_states(struct mase_step *s)
{
    struct recurrence *r = s->own;
    bind_factor(s, &r->h, NULL);
    for (long i = 0; !r->h.rounded && i < r->T; i++) {
        const float *before = h_before(s, i);
        for (long j = 0; before && j < r->P; j++)
            r->h.row[time_of(r, i) * r->P + j] = before + j * s->plan->stride;
    }
}

static void bind(struct mase_step *s)
{
    struct recurrence *r = s->own;
    int64_t work;
    lay_out(r, s->plan->stride, s->scratch, s->work, &work);
    bind_factor(s, &r->x, s->in[0]->x);
    bind_states(s);
    if (r->w_hr)
        bind_factor(s, &r->open, NULL);
    if (!r->keeps)
        return;
    r->gate_row = rows_at(s, r->gate, r->T * r->G);
    if (r->inner)
        r->inner_row = rows_at(s, r->inner, r->T * r->H);
    if (r->dh_all)
        r->dh_row = rows_at(s, r->dh_all, r->T * r->P);
}

static const struct mase_step_kind recurrence_kind = { .name = "recurrence", .bind = bind };

bool mase_is_recurrence(const struct mase_step *s)
{
    return s->kind == &recurrence_kind;
}

static struct recurrence *new_recurrence(struct mase_step *s, const struct mase_sequence *q,
                                         int layer, int direction)
{
    const struct mase_recurrent *l = &q->layer;
    struct recurrence *r = mase_new(&s->plan->arena, struct recurrence);
    *r = (struct recurrence){ .cell = l->cell,
                              .reverse = direction == 1,
                              .keeps = s->plan->train,
                              .T = (long)q->steps,
                              .C = (long)mase_recurrent_features(l, layer),
                              .H = (long)l->hidden,
                              .P = (long)l->state,
                              .G = (long)(l->gates * l->hidden),
                              .h_in = NONE,
                              .c_in = NONE };
    r->x = factor_of(s, r->C);
    r->h = factor_of(s, r->P);
    r->open = factor_of(s, r->H);
    return r;
}

static int add_state(struct mase_step *s, struct mase_slot *state)
{
    if (!state)
        return NONE;
    mase_step_add_input(s, state);
    return s->in_count - 1;
}

enum mase_status mase_recurrence_add(struct mase_step *before, struct mase_slot **out,
                                     const struct mase_sequence *q,
                                     const struct mase_recurrence_inputs *in, int layer,
                                     int direction, struct mase_err *err)
{
    struct mase_plan *p = before->plan;
    const struct mase_recurrent *l = &q->layer;
    const int64_t cell = l->cell == MASE_CELL_LSTM ? l->hidden : 0;
    const struct mase_shape shape = { 2, { p->batch, q->steps * l->state + cell } };
    struct mase_step *s = mase_step_before(before, &recurrence_kind, &shape);
    struct recurrence *r = s->own = new_recurrence(s, q, layer, direction);
    mase_step_add_input(s, in->x);
    r->h_in = add_state(s, in->h);
    r->c_in = add_state(s, in->c);
    MASE_TRY(find_weight(s, &r->w_ih, q, "weight_ih", layer, direction, err));
    MASE_TRY(find_weight(s, &r->w_hh, q, "weight_hh", layer, direction, err));
    MASE_TRY(find_weight(s, &r->w_hr, q, "weight_hr", layer, direction, err));
    MASE_TRY(find_weight(s, &r->b_ih, q, "bias_ih", layer, direction, err));
    MASE_TRY(find_weight(s, &r->b_hh, q, "bias_hh", layer, direction, err));
    s->scratch_size = lay_out(r, p->stride, NULL, NULL, &s->work_size);
    add_phases(s);
    mase_plan_add_step(p, s);
    *out = s->out;
    return MASE_OK;
}
