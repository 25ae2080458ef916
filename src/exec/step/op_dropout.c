/*
 * op_dropout.c - dropout, where it is not nothing: values (2d: whole channels) are zeroed with
 * probability p and the rest divided by 1 - p.
 *
 * Whether a value stays is one number of a random stream chosen by the plan's seed, the step's
 * number and the node's name, at a place given by row and sample: neither threads, tiles nor the
 * batch's size change it.
 */
#include <mase/rng.h>

#include "exec/reference/ref.h"
#include "exec/step/dropout.h"
#include "ir/shape/shape.h"

struct dropout {
    uint64_t name;
    long run;       /* rows that share a decision */
    uint32_t limit; /* stays when the random number is not below */
    float scale;
};

/* Four lanes' decisions are one block of Philox. */
static void decide(const struct mase_step *s, float *mask, long decision)
{
    const struct dropout *d = s->own;
    const struct mase_plan *p = s->plan;
    const uint64_t stream = d->name ^ (p->number * UINT64_C(0x9e3779b97f4a7c15));
    const uint32_t key[2] = { (uint32_t)p->seed ^ MASE_STREAM_DROPOUT, (uint32_t)(p->seed >> 32) };
    for (long i = 0; i < p->n; i += 4) {
        uint32_t r[4];
        const uint32_t counter[4] = { (uint32_t)((p->first + i) / 4), (uint32_t)decision,
                                      (uint32_t)stream, (uint32_t)(stream >> 32) };
        mase_philox(r, counter, key);
        for (int j = 0; j < 4; j++)
            mask[i + j] = r[j] < d->limit ? 0.0f : d->scale;
    }
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct dropout *d = s->own;
    const struct mase_plan *p = s->plan;
    for (long i = from; i < to; i++) {
        float *mask = s->scratch + i * p->stride;
        decide(s, mask, i);
        for (long r = i * d->run; r < (i + 1) * d->run; r++) {
            const struct mase_pair v = { .f = MASE_MUL,
                                         .a = s->in[0]->x + r * p->stride,
                                         .b = mask };
            p->k->binary(s->out->x + r * p->stride, &v, p->n);
        }
    }
}

static void backward(const struct mase_step *s, long from, long to)
{
    const struct dropout *d = s->own;
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to && s->in[0]->dx; r++) {
        const struct mase_pair v = { .f = MASE_MUL,
                                     .a = s->in[0]->x + r * p->stride,
                                     .b = s->scratch + r / d->run * p->stride };
        p->k->binary_back(s->in[0]->dx + r * p->stride, s->out->dx + r * p->stride, &v, false,
                          s->add[0], p->n);
    }
}

static enum mase_status check_p(const struct mase_call *c, double p, struct mase_err *err)
{
    return p >= 0.0 && p <= 1.0 ? MASE_OK : mase_call_fail(c, err, "p = %g is outside 0..1", p);
}

enum mase_status mase_dropout_set(struct mase_step *s, double p, long run, struct mase_err *err)
{
    struct dropout *d = s->own = mase_new(&s->plan->arena, struct dropout);
    MASE_TRY(check_p(s->call, p, err));
    d->run = run;
    d->name =
        mase_rng_name(s->node->name) + (uint64_t)s->result_index; /* a node may drop out twice */
    d->limit = p < 1.0 ? (uint32_t)(p * 0x1p32) : UINT32_MAX;
    d->scale = p < 1.0 ? (float)(1.0 / (1.0 - p)) : 0.0f;
    s->scratch_size = s->in[0]->rows / run * s->plan->stride;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)s->in[0]->rows / run);
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, (long)s->in[0]->rows);
    return MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    double p;
    MASE_TRY(mase_call_float(c, &p, "p", err));
    MASE_TRY(check_p(c, p, err));
    MASE_TRY(mase_check_dropout(c, s->plan->train, err));
    MASE_TRY(mase_step_input(s, c, "input", err));
    const struct mase_shape *shape = &s->in[0]->tensor->shape;
    const bool channels = c->node->op != MASE_OP_dropout && shape->rank > 2;
    if (channels && s->in[0]->axis)
        return mase_call_fail(c, err, "a plan needs the samples in the first dimension");
    const struct mase_shape plane = mase_shape_part(shape, channels ? 2 : 0, shape->rank);
    return mase_dropout_set(s, p, channels ? (long)mase_shape_count(&plane) : 1, err);
}

const struct mase_step_kind mase_step_dropout = {
    .name = "dropout", .prepare = prepare, .axes = MASE_AXES_KEPT, .derives = true
};
