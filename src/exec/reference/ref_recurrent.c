/*
 * ref_recurrent.c - recurrent layers and cells, as torch.nn defines them.
 *
 * Layer by layer, direction by direction, step by step; h and c are float32 after each time step,
 * intermediate results are double. In a quantised layer weights and biases are rounded once; their
 * factors are rounded to the format of data_in before each product: x of a time step, (N, C), the
 * previous h, (N, H), and the value that an LSTM projects. Gates, c, and h where it is not a factor
 * are not rounded. Blocks are cut from these matrices, so no block spans two time steps.
 */
#include <math.h>
#include <string.h>

#include "exec/reference/ref.h"
#include "ir/graph/recurrent.h"

/* One layer in one direction. */
struct pass {
    const struct mase_sequence *q;
    struct mase_arena *work;
    struct mase_rounding data;
    const float *w_ih, *w_hh, *w_hr; // (G H, C), (G H, P), (P, H) or NULL
    const float *b_ih, *b_hh;        // (G H) or NULL
    int64_t features;
    float *x, *h, *h_rounded; // (N, C), (N, P), (N, P)
    float *c, *open;          // (N, H): an LSTM's c, and what it projects
    double *from_x, *from_h;  // (G H): the two sums of one sample
};

static int64_t rows_of(const struct mase_recurrent *r)
{
    return r->gates * r->hidden;
}

static void round_to(float *y, const float *x, struct mase_rounding how, int64_t n, int64_t columns)
{
    const struct mase_shape s = { 2, { n, columns } };
    if (how.format)
        mase_quantize(how.format, y, x, &s, how.role, how.sign);
    else if (y != x)
        memcpy(y, x, (size_t)(n * columns) * sizeof *y);
}

/* A parameter as floats, rounded as its formats say; NULL when the layer has none. */
static const float *param_of(struct mase_arena *a, const struct mase_call *c,
                             const struct mase_sequence *q, const char *what, int layer,
                             int direction)
{
    const struct mase_tensor *t = mase_sequence_param(q, c, what, layer, direction);
    if (!t)
        return NULL;
    const struct mase_rounding how =
        mase_mark_rounding(c->node, mase_starts_with(what, "weight") ? 'w' : 'b');
    const int64_t n = mase_tensor_count(t);
    float *x = mase_new_array(a, float, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)mase_tensor_get(t, i);
    if (how.format)
        mase_quantize(how.format, x, x, &t->shape, how.role, how.sign);
    return x;
}

/* ---- one step of one sample ---- */

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static void sums(double *y, const float *w, const float *b, const float *x, int64_t rows,
                 int64_t columns)
{
    for (int64_t o = 0; o < rows; o++) {
        y[o] = b ? (double)b[o] : 0.0;
        for (int64_t k = 0; k < columns; k++)
            y[o] += (double)w[o * columns + k] * (double)x[k];
    }
}

static void plain_step(const struct pass *p, float *h)
{
    const bool relu = p->q->layer.cell == MASE_CELL_RELU;
    for (int64_t j = 0; j < p->q->layer.hidden; j++) {
        const double v = p->from_x[j] + p->from_h[j];
        h[j] = (float)(relu ? (v < 0.0 ? 0.0 : v) : tanh(v));
    }
}

/* The gates are i, f, g, o. */
static void lstm_step(const struct pass *p, float *h, float *c)
{
    const int64_t H = p->q->layer.hidden;
    const double *x = p->from_x, *s = p->from_h;
    for (int64_t j = 0; j < H; j++) {
        const double i = sigmoid(x[j] + s[j]), f = sigmoid(x[H + j] + s[H + j]);
        const double g = tanh(x[2 * H + j] + s[2 * H + j]);
        const double o = sigmoid(x[3 * H + j] + s[3 * H + j]);
        c[j] = (float)(f * (double)c[j] + i * g);
        h[j] = (float)(o * tanh((double)c[j]));
    }
}

/* The gates are r, z, n. */
static void gru_step(const struct pass *p, float *h)
{
    const int64_t H = p->q->layer.hidden;
    const double *x = p->from_x, *s = p->from_h;
    for (int64_t j = 0; j < H; j++) {
        const double r = sigmoid(x[j] + s[j]), z = sigmoid(x[H + j] + s[H + j]);
        const double n = tanh(x[2 * H + j] + r * s[2 * H + j]);
        h[j] = (float)((1.0 - z) * n + z * (double)h[j]);
    }
}

/* ---- one step of all samples ---- */

static void project(const struct pass *p)
{
    const struct mase_recurrent *r = &p->q->layer;
    double *y = p->from_x; /* its sums have been used */
    round_to(p->open, p->open, p->data, p->q->samples, r->hidden);
    for (int64_t n = 0; n < p->q->samples; n++) {
        sums(y, p->w_hr, NULL, p->open + n * r->hidden, r->state, r->hidden);
        for (int64_t k = 0; k < r->state; k++)
            p->h[n * r->state + k] = (float)y[k];
    }
}

static void step(const struct pass *p)
{
    const struct mase_recurrent *r = &p->q->layer;
    const int64_t N = p->q->samples, H = r->hidden, P = r->state;
    round_to(p->x, p->x, p->data, N, p->features);
    round_to(p->h_rounded, p->h, p->data, N, P);
    for (int64_t n = 0; n < N; n++) {
        float *h = p->h + n * P;
        sums(p->from_x, p->w_ih, p->b_ih, p->x + n * p->features, rows_of(r), p->features);
        sums(p->from_h, p->w_hh, p->b_hh, p->h_rounded + n * P, rows_of(r), P);
        if (r->cell == MASE_CELL_LSTM)
            lstm_step(p, p->w_hr ? p->open + n * H : h, p->c + n * H);
        else if (r->cell == MASE_CELL_GRU)
            gru_step(p, h);
        else
            plain_step(p, h);
    }
    if (p->w_hr)
        project(p);
}

/* ---- the sequence ---- */

/* The offset of step t of sample n in a sequence with so many features. */
static int64_t place(const struct mase_sequence *q, int64_t t, int64_t n, int64_t features)
{
    const bool samples_first = q->layer.batch_first || q->layer.single;
    return (samples_first && q->batched ? n * q->steps + t : t * q->samples + n) * features;
}

/* The state of a layer and direction: from hx, or zeros. */
static float *first_state(struct mase_arena *a, const struct mase_tensor *hx, int64_t count, int at)
{
    float *s = mase_new_array(a, float, (size_t)count);
    for (int64_t i = 0; hx && i < count; i++)
        s[i] = (float)ref_get(hx, at * count + i);
    return s;
}

static void keep_state(struct mase_tensor *to, const float *s, int64_t count, int at)
{
    for (int64_t i = 0; to && i < count; i++)
        ref_set(to, at * count + i, (double)s[i]);
}

/* Tensors of the results. */
struct results {
    struct mase_tensor *h, *c;
};

static void run_direction(const struct mase_call *call, const struct mase_sequence *q, float *out,
                          const float *in, int layer, int direction, const struct results *to)
{
    const struct mase_recurrent *r = &q->layer;
    const int64_t N = q->samples, P = r->state, at = layer * r->directions + direction;
    struct mase_arena a = { 0 };
    struct pass p = { .q = q, .work = &a, .features = mase_recurrent_features(r, layer) };
    p.data = call->factors;
    p.w_ih = param_of(&a, call, q, "weight_ih", layer, direction);
    p.w_hh = param_of(&a, call, q, "weight_hh", layer, direction);
    p.w_hr = param_of(&a, call, q, "weight_hr", layer, direction);
    p.b_ih = param_of(&a, call, q, "bias_ih", layer, direction);
    p.b_hh = param_of(&a, call, q, "bias_hh", layer, direction);
    p.x = mase_new_array(&a, float, (size_t)(N * p.features));
    p.h = first_state(&a, q->h, N * P, (int)at);
    p.c = first_state(&a, q->c, N * r->hidden, (int)at);
    p.h_rounded = mase_new_array(&a, float, (size_t)(N * P));
    p.open = mase_new_array(&a, float, (size_t)(N * r->hidden));
    p.from_x = mase_new_array(&a, double, (size_t)rows_of(r));
    p.from_h = mase_new_array(&a, double, (size_t)rows_of(r));
    for (int64_t i = 0; i < q->steps; i++) {
        const int64_t t = direction ? q->steps - 1 - i : i;
        for (int64_t n = 0; n < N; n++)
            memcpy(p.x + n * p.features, in + place(q, t, n, p.features),
                   (size_t)p.features * sizeof *p.x);
        step(&p);
        for (int64_t n = 0; n < N; n++)
            memcpy(out + place(q, t, n, P * r->directions) + direction * P, p.h + n * P,
                   (size_t)P * sizeof *p.h);
    }
    keep_state(to->h, p.h, N * P, (int)at);
    keep_state(to->c, p.c, N * r->hidden, (int)at);
    mase_arena_release(&a);
}

/* Dropout between layers is for training; where it would be on in evaluation it is refused. */
static enum mase_status check_mode(const struct mase_call *c, const struct mase_recurrent *r,
                                   struct mase_err *err)
{
    if (r->dropout == 0.0 || r->layers == 1 || !mase_call_training(c, "training", false))
        return MASE_OK;
    return mase_call_fail(c, err, "drops out in evaluation too, so results would be random");
}

enum mase_status mase_forward_recurrent(struct mase_call *c, struct mase_err *err)
{
    struct mase_sequence q;
    struct mase_arena a = { 0 };
    MASE_TRY(mase_sequence_read(&q, c, err));
    const struct mase_recurrent *r = &q.layer;
    MASE_TRY(check_mode(c, r, err));
    const struct mase_arg *state = r->single ? &c->result : &c->result.items[1];
    const bool lstm = r->cell == MASE_CELL_LSTM;
    const struct results to = { (lstm ? &state->items[0] : state)->tensor,
                                lstm ? state->items[1].tensor : NULL };
    const int64_t positions = q.samples * q.steps;
    float *in = mase_new_array(&a, float, (size_t)(positions * r->input));
    for (int64_t i = 0; i < positions * r->input; i++)
        in[i] = (float)ref_get(q.x, i);
    for (int l = 0; l < r->layers; l++) {
        float *out = mase_new_array(&a, float, (size_t)(positions * r->state * r->directions));
        for (int d = 0; d < r->directions; d++)
            run_direction(c, &q, out, in, l, d, &to);
        in = out;
    }
    for (int64_t i = 0; !r->single && i < positions * r->state * r->directions; i++)
        ref_set(c->result.items[0].tensor, i, (double)in[i]);
    mase_arena_release(&a);
    return MASE_OK;
}
