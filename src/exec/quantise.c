/*
 * quantise.c - number formats in a plan (quantise.h).
 */
#include "exec/quantise.h"

#include <math.h>
#include <string.h>

#include "exec/plan.h"
#include "exec/ref.h"
#include "ir/bind.h"
#include "quant/quant.h"

/* ---- rounding rows ---- */

struct mase_rounding {
    struct mase_format format;
    enum mase_sign sign;
};

/* integer has a kernel (its arithmetic is quant/integer.c's); any other format its reference. */
static void round_lanes(const struct mase_plan *p, const struct mase_rounding *r, float *y,
                        const float *x, long n)
{
    if (r->format.kind != MASE_QUANT_integer) {
        mase_quantize(&r->format, y, x, n, r->sign);
        return;
    }
    const struct mase_integer_grid g = mase_integer_grid(&r->format, r->sign);
    p->k->quantize_integer(y, x, g.scale, 1.0f / g.scale, g.lo, g.hi, n);
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++)
        round_lanes(p, s->own, s->out->x + r * p->stride, s->in[0]->x + r * p->stride, p->n);
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

static void add_rounding(struct mase_step *s, struct mase_slot *in, const struct mase_format *f,
                         enum mase_sign sign)
{
    struct mase_rounding *r = s->own = mase_new(&s->plan->arena, struct mase_rounding);
    *r = (struct mase_rounding){ *f, sign };
    mase_step_add_input(s, in);
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, in->rows);
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, in->rows);
    mase_plan_add_step(s->plan, s);
}

/* ---- operands ---- */

/* A weight's copy, and how it is rounded. */
struct mase_rounded {
    struct mase_weight weight;
    struct mase_rounding how;
    struct mase_rounded *next;
};

static void round_weight(const struct mase_plan *p, const struct mase_rounded *r)
{
    const int64_t n = (r->weight.count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    round_lanes(p, &r->how, r->weight.x, r->weight.base->x, n);
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
                                        const struct mase_rounding *how)
{
    struct mase_plan *p = s->plan;
    struct mase_rounded *r = mase_new(&p->arena, struct mase_rounded);
    *r = (struct mase_rounded){ .weight = *w, .how = *how };
    r->weight.base = w->base ? w->base : w;
    const size_t n = (size_t)(w->count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    r->weight.x = mase_new_array(&p->arena, float, n);
    struct mase_rounded **list = p->train ? &s->rounded : &p->rounded;
    if (p->train && !s->rounded)
        mase_step_forward(s, round_weights, MASE_UNIT_ITEMS, 0);
    if (p->train)
        s->forward[0].items++; /* its own phase came first: weights are asked for before running */
    r->next = *list;
    *list = r;
    round_weight(p, r);
    return &r->weight;
}

struct mase_weight *mase_quantised_weight(struct mase_step *s, const struct mase_call *c,
                                          const char *name, struct mase_weight *w)
{
    const int i = mase_sig_find(c->sig, name);
    struct mase_rounding how;
    const struct mase_format *f = i >= 0 ? mase_ref_format(c, i, &how.sign) : NULL;
    if (!f || f->kind == MASE_QUANT_float)
        return w;
    how.format = *f;
    return rounded_copy(s, w, &how);
}

/* A plain operand: a weight gets a rounded copy, what is derived is rounded where it is computed, a
 * constant once and for all. */
static void round_plain(struct mase_step *s, struct mase_arg *operand, struct mase_slot *from,
                        const struct mase_rounding *how)
{
    struct mase_plan *p = s->plan;
    struct mase_slot *to = mase_plan_add_plain(p, from->tensor);
    operand->tensor = (struct mase_tensor *)to->tensor;
    to->why = from->why;
    if (from->derived || from->weight) {
        to->weight =
            from->derived ? mase_derive_numbers(p, from, how) : rounded_copy(s, from->weight, how);
        to->x = to->weight->x;
        to->dx = to->weight->dx;
        to->needs_grad = to->dx != NULL;
    } else if (from->x) {
        to->x = mase_new_array(&p->arena, float, (size_t)from->rows);
        mase_quantize(&how->format, to->x, from->x, from->rows, how->sign);
    }
}

struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      const struct mase_rounding *how)
{
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){ .plan = p, .kind = &round_kind };
    s->out = mase_plan_add_lanes(p, &from->tensor->shape);
    add_rounding(s, from, &how->format, how->sign);
    return s->out;
}

void mase_quantise_inputs(struct mase_step *s)
{
    struct mase_call *c = s->call;
    for (int i = 0; i < c->sig->count; i++) {
        struct mase_rounding how;
        const struct mase_format *f = mase_ref_format(c, i, &how.sign);
        struct mase_slot *from = f ? mase_step_slot(s, c->param[i].tensor) : NULL;
        if (!from || f->kind == MASE_QUANT_float)
            continue;
        how.format = *f;
        if (!from->lanes) {
            if (!c->module)
                round_plain(s, &c->param[i], from, &how);
            continue;
        }
        struct mase_step *before = mase_step_before(s, &round_kind, &from->tensor->shape);
        add_rounding(before, from, f, how.sign);
        c->param[i].tensor = (struct mase_tensor *)before->out->tensor;
    }
}

/* ---- results ---- */

static const struct mase_format *result_format(const struct mase_step *s)
{
    const struct mase_quant *q = mase_node_quant(s->node);
    return q && !q->bypass ? &q->operand[MASE_DATA_OUT] : NULL;
}

struct mase_slot *mase_quantised_result(struct mase_step *s)
{
    const struct mase_format *f = result_format(s);
    struct mase_slot *result = s->out;
    if (!f || f->kind == MASE_QUANT_float || result->tensor->dtype != MASE_F32)
        return NULL;
    s->out = mase_plan_add_lanes(s->plan, &result->tensor->shape);
    return result;
}

void mase_quantise_output(struct mase_step *s, struct mase_slot *result)
{
    struct mase_step *after = mase_new(&s->plan->arena, struct mase_step);
    *after = (struct mase_step){ .plan = s->plan, .node = s->node, .kind = &round_kind };
    after->out = result;
    add_rounding(after, s->out, result_format(s), MASE_SIGNED);
}
