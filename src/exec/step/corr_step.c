/*
 * corr_step.c - the phases of a correlation as a step (corr_step.h).
 */
#include "exec/step/corr_step.h"

static const float *weights(const struct mase_corr_step *k)
{
    return k->weight ? k->weight->x : k->constant;
}

static float *turned_weights(const struct mase_step *s)
{
    const struct mase_corr_step *k = s->own;
    return k->scatter ? s->scratch : s->work;
}

/* The weights as gather wants them. */
static const float *arranged_weights(const struct mase_step *s)
{
    const struct mase_corr_step *k = s->own;
    if (k->corr.T == 1)
        return weights(k);
    return k->scatter ? s->work : s->scratch;
}

static void arrange(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    mase_corr_arrange(&k->corr, k->scatter ? s->work : s->scratch, weights(k), from, to);
}

static void turn(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    mase_corr_turn(&k->corr, turned_weights(s), weights(k), from, to);
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    const float *bias = k->b ? k->b->x : NULL;
    if (k->scatter)
        mase_corr_scatter(s, &k->corr, s->out->x, s->in[0]->x, turned_weights(s), bias, false, from,
                          to);
    else
        mase_corr_gather(s, &k->corr, s->out->x, s->in[0]->x, arranged_weights(s), bias, false,
                         from, to);
}

static void backward_data(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    if (!s->in[0]->dx)
        return;
    if (k->scatter)
        mase_corr_gather(s, &k->corr, s->in[0]->dx, s->out->dx, arranged_weights(s), NULL,
                         s->add[0], from, to);
    else
        mase_corr_scatter(s, &k->corr, s->in[0]->dx, s->out->dx, turned_weights(s), NULL, s->add[0],
                          from, to);
}

static float *grad_work(const struct mase_step *s)
{
    const struct mase_corr *c = &((const struct mase_corr_step *)s->own)->corr;
    return s->work + (c->groups * c->O * c->C * c->T + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

static void backward_weights(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    const float *A = k->scatter ? s->in[0]->x : s->out->dx;
    const float *B = k->scatter ? s->out->dx : s->in[0]->x;
    mase_corr_grad(s, &k->corr, k->dw, grad_work(s), A, B, mase_step_adds(s, k->weight), from, to);
}

static void backward_weights_end(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    mase_corr_grad_end(&k->corr, k->dw, grad_work(s), mase_step_adds(s, k->weight), from, to);
}

/* The sum of a result channel over positions and samples; its positions lie at regular distances.
 */
static void backward_bias(const struct mase_step *s, long from, long to)
{
    const struct mase_corr_step *k = s->own;
    const struct mase_corr *c = &k->corr;
    const int32_t *row = k->scatter ? c->b_row : c->a_row;
    const long step = k->scatter ? c->b_step : c->a_step, count = k->scatter ? c->Q : c->P;
    const long stride = s->plan->stride;
    for (long o = from; o < to; o++) {
        const struct mase_channel dy = { s->out->dx + (row[0] + o * step) * stride, count,
                                         count > 1 ? (row[1] - row[0]) * stride : 0, s->plan->n,
                                         s->plan->samples };
        s->plan->k->row_sum(&k->b->dx[o], &dy, mase_step_adds(s, k->b));
    }
}

void mase_corr_step_set(struct mase_step *s)
{
    struct mase_corr_step *k = s->own;
    struct mase_corr *c = &k->corr;
    const int64_t weights = (int64_t)c->groups * c->O * c->C * c->T;
    mase_corr_init(s, c, k->scatter || s->in[0]->needs_grad);
    if (k->scatter || c->T > 1)
        s->scratch_size = weights;
    if (k->scatter)
        mase_step_forward(s, turn, MASE_UNIT_ITEMS, c->groups * c->C);
    else if (c->T > 1)
        mase_step_forward(s, arrange, MASE_UNIT_ITEMS, c->groups * c->O);
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, k->scatter ? c->Q : c->P);
    s->work_size = (weights + MASE_LANES - 1) / MASE_LANES * MASE_LANES + mase_corr_grad_work(c);
    if (k->dw) {
        mase_step_backward(s, backward_weights, MASE_UNIT_ITEMS, mase_corr_grad_items(c));
        mase_step_backward(s, backward_weights_end, MASE_UNIT_ITEMS, c->groups * c->O);
    }
    if (k->b && k->b->dx)
        mase_step_backward(s, backward_bias, MASE_UNIT_ITEMS,
                           c->groups * (k->scatter ? c->C : c->O));
    if (!s->in[0]->needs_grad)
        return;
    if (!k->scatter)
        mase_step_backward(s, turn, MASE_UNIT_ITEMS, c->groups * c->C);
    else if (c->T > 1)
        mase_step_backward(s, arrange, MASE_UNIT_ITEMS, c->groups * c->O);
    mase_step_backward(s, backward_data, MASE_UNIT_ITEMS, k->scatter ? c->P : c->Q);
}

void mase_corr_positions(struct mase_step *s, struct mase_corr *c, long positions)
{
    struct mase_arena *a = &s->plan->arena;
    c->groups = c->T = 1;
    c->P = c->Q = positions;
    c->a_row = mase_new_array(a, int32_t, (size_t)positions);
    c->b_row = mase_new_array(a, int32_t, (size_t)positions);
    c->place = mase_new_array(a, int32_t, (size_t)positions);
    c->class_of = mase_new_array(a, int32_t, (size_t)positions);
    c->class_count = 1;
    for (long p = 0; p < positions; p++)
        c->place[p] = (int32_t)p;
}
