/*
 * quantise.c - number formats in a plan (quantise.h).
 */
#include "exec/quantise.h"

#include <string.h>

#include "exec/plan.h"
#include "exec/ref.h"
#include "exec/round.h"
#include "ir/bind.h"

/* ---- rounding rows ---- */

static void forward(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    mase_round_run(s->own, p->k, s->out->x, s->in[0]->x, p->n, from, to);
}

/* Straight through. */
static void backward(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to && s->in[0]->dx; r++) {
        float *dx = s->in[0]->dx + r * p->stride;
        const float *dy = s->out->dx + r * p->stride;
        if (s->add[0])
            p->k->axpy(dx, dy, 1.0f, p->n);
        else
            memcpy(dx, dy, (size_t)p->n * sizeof *dx);
    }
}

static const struct mase_step_kind round_kind = { .name = "quantise" };

/* shape: what blocks are cut from, the batch first unless the plan is a derived one, which has
 * none. */
static void add_rounding(struct mase_step *s, struct mase_slot *in, struct mase_rounding how,
                         const struct mase_shape *shape)
{
    struct mase_plan *p = s->plan;
    struct mase_shape sample = *shape;
    struct mase_round *r = s->own = mase_new(&p->arena, struct mase_round);
    if (!p->of)
        sample.dim[0] = 1;
    *r = mase_round_rows(&p->arena, how, &sample, p->stride);
    mase_step_add_input(s, in);
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)r->count);
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, in->rows);
    mase_plan_add_step(p, s);
}

/* ---- operands ---- */

/* A weight's copy, and how it is rounded. */
struct mase_rounded {
    struct mase_weight weight;
    struct mase_round how;
    struct mase_rounded *next;
};

static void round_weight(const struct mase_plan *p, const struct mase_rounded *r)
{
    mase_round_all(&r->how, p->k, r->weight.x, r->weight.base->x);
}

static void round_weights(const struct mase_step *s, long from, long to)
{
    long i = 0;
    for (const struct mase_rounded *r = s->rounded; r; r = r->next, i++)
        if (i >= from && i < to)
            round_weight(s->plan, r);
}

void mase_quantise_weights(struct mase_plan *p)
{
    for (const struct mase_rounded *r = p->rounded; r; r = r->next)
        round_weight(p, r);
}

static struct mase_weight *rounded_copy(struct mase_step *s, struct mase_weight *w,
                                        struct mase_rounding how, const struct mase_shape *shape)
{
    struct mase_plan *p = s->plan;
    struct mase_rounded *r = mase_new(&p->arena, struct mase_rounded);
    *r = (struct mase_rounded){ .weight = *w };
    r->weight.views = NULL;
    r->how = mase_round_dense(&p->arena, how, shape);
    r->weight.base = w->base ? w->base : w;
    const size_t n = (size_t)(w->count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    r->weight.x = mase_new_array(&p->arena, float, n);
    struct mase_rounded **list = p->train ? &s->rounded : &p->rounded;
    if (p->train && !s->rounded)
        mase_step_forward(s, round_weights, MASE_UNIT_ITEMS, 0);
    if (p->train)
        s->forward.item[0]
            .items++; /* its own phase came first: weights are asked for before running */
    r->next = *list;
    *list = r;
    return &r->weight;
}

struct mase_weight *mase_quantised_weight(struct mase_step *s, const struct mase_call *c,
                                          const char *name, struct mase_weight *w)
{
    const int i = mase_sig_find(c->sig, name);
    const struct mase_rounding how =
        i >= 0 ? mase_call_rounding(c, i) : (struct mase_rounding){ 0 };
    return how.format ? rounded_copy(s, w, how, &w->shape) : w;
}

/* A plain operand: a weight gets a rounded copy, what is derived is rounded where it is computed, a
 * constant once and for all. */
static void round_plain(struct mase_step *s, int i, struct mase_slot *from,
                        struct mase_rounding how)
{
    struct mase_plan *p = s->plan;
    struct mase_slot *to = mase_plan_add_plain(p, from->tensor);
    const struct mase_shape shape = mase_call_shape(s->call, i);
    s->call->param[i].tensor = (struct mase_tensor *)to->tensor;
    to->why = from->why;
    if (from->derived || from->weight) {
        to->weight = from->derived ? mase_derive_numbers(p, from, &how, &shape)
                                   : rounded_copy(s, from->weight, how, &shape);
        to->x = to->weight->x;
        to->dx = to->weight->dx;
        to->needs_grad = to->dx != NULL;
    } else if (from->x) {
        to->x = mase_new_array(&p->arena, float, (size_t)from->rows);
        mase_quantize(how.format, to->x, from->x, &shape, how.role, how.sign);
    }
}

struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      struct mase_rounding how, const struct mase_shape *shape)
{
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){ .plan = p, .kind = &round_kind };
    s->out = mase_plan_add_lanes(p, &from->tensor->shape);
    add_rounding(s, from, how, shape);
    return s->out;
}

void mase_quantise_inputs(struct mase_step *s)
{
    struct mase_call *c = s->call;
    for (int i = 0; i < c->sig->count; i++) {
        const struct mase_rounding how = mase_call_rounding(c, i);
        struct mase_slot *from = how.format ? mase_step_slot(s, c->param[i].tensor) : NULL;
        if (!from)
            continue;
        if (!from->lanes) {
            if (!c->module)
                round_plain(s, i, from, how);
            continue;
        }
        const struct mase_shape shape = s->plan->of ? mase_call_shape(c, i) : from->tensor->shape;
        struct mase_step *before = mase_step_before(s, &round_kind, &from->tensor->shape);
        add_rounding(before, from, how, &shape);
        c->param[i].tensor = (struct mase_tensor *)before->out->tensor;
    }
}

/* ---- results ---- */

struct mase_slot *mase_quantised_result(struct mase_step *s)
{
    struct mase_slot *result = s->out;
    if (!mase_result_rounding(s->node).format || result->tensor->dtype != MASE_F32)
        return NULL;
    s->out = mase_plan_add_lanes(s->plan, &result->tensor->shape);
    return result;
}

void mase_quantise_output(struct mase_step *s, struct mase_slot *result)
{
    struct mase_step *after = mase_new(&s->plan->arena, struct mase_step);
    *after = (struct mase_step){ .plan = s->plan, .node = s->node, .kind = &round_kind };
    after->out = result;
    add_rounding(after, s->out, mase_result_rounding(s->node), &result->tensor->shape);
}
