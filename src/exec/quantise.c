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

static void straight(const struct mase_step *s, const float *limit, float *dx, long at)
{
    const struct mase_plan *p = s->plan;
    const float *dy = s->out->dx + at;
    (void)limit;
    if (s->add[0])
        p->k->axpy(dx + at, dy, 1.0f, p->n);
    else
        memcpy(dx + at, dy, (size_t)p->n * sizeof *dx);
}

static void clipped(const struct mase_step *s, const float *limit, float *dx, long at)
{
    const struct mase_plan *p = s->plan;
    p->k->curve_back(MASE_CURVE_clamp, dx + at, s->out->dx + at, s->in[0]->x + at, limit, s->add[0],
                     p->n);
}

/* A row of the gradient, by what the format lets pass. limit: the format's. */
static void (*const gradients[])(const struct mase_step *s, const float *limit, float *dx,
                                 long at) = {
    [MASE_GRADIENT_STRAIGHT] = straight,
    [MASE_GRADIENT_CLIPPED] = clipped,
};

static void backward(const struct mase_step *s, long from, long to)
{
    const struct mase_rounding how = ((const struct mase_round *)s->own)->how;
    float limit[2];
    mase_format_limits(&limit[0], &limit[1], how.format, how.sign);
    for (long r = from; r < to && s->in[0]->dx; r++)
        gradients[mase_format_gradient(how.format)](s, limit, s->in[0]->dx, r * s->plan->stride);
}

static const struct mase_step_kind round_kind = { .name = "quantise" };

/* What parameter i of a call, or the result, asks for. Is it rounded at all? */
static bool is_asked(const struct mase_plan *p, const struct mase_node *n, int i,
                     struct mase_rounding how, struct mase_asked *asked)
{
    const bool marked = i == MASE_RESULT || mase_mark_find(mase_op_call_sig(n->op)->param[i].role);
    *asked = (struct mase_asked){ .how = how, .node = n, .operand = i };
    return how.format || (p->formats_change && marked && mase_ops[n->op].quantisable);
}

/* Parameter i of the step's call. */
static bool operand_asks(const struct mase_step *s, const struct mase_call *c, int i,
                         struct mase_asked *asked)
{
    const bool own = c->sig->param[i].role == 's'; /* the step rounds it itself */
    if (own || !mase_call_is_f32(c, i) ||
        !is_asked(s->plan, c->node, i, mase_call_rounding(c, i), asked))
        return false;
    asked->writes = i == 0 && mase_call_writes_in_float(c);
    asked->kept = asked->writes && !mase_call_writes(c);
    return true;
}

/* shape: what blocks are cut from, the batch first unless the plan is a derived one, which has
 * none. */
static void add_rounding(struct mase_step *s, struct mase_slot *in, const struct mase_asked *asked,
                         const struct mase_shape *shape)
{
    struct mase_plan *p = s->plan;
    struct mase_shape sample = *shape;
    struct mase_round *r = s->own = mase_new(&p->arena, struct mase_round);
    if (!p->of)
        sample.dim[0] = 1;
    *r = mase_round_rows(&p->arena, asked->how, &sample, p->stride);
    mase_step_add_input(s, in);
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)r->count);
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, in->rows);
    mase_plan_add_step(p, s);
    mase_site_add(&(struct mase_site){ .asked = *asked, .plan = p, .shape = sample, .step = s });
}

/* ---- operands ---- */

const char *mase_quantise_refusal(const struct mase_plan *p, struct mase_rounding how)
{
    if (!p->train || mase_format_gradient(how.format) == MASE_GRADIENT_STRAIGHT)
        return NULL;
    return mase_arena_printf(&((struct mase_plan *)p)->arena,
                             "%s clips gradients, which training does for data between layers, not "
                             "for weights or within recurrent layers",
                             how.format->row->name);
}

void mase_quantise_weight(const struct mase_plan *p, const struct mase_rounded *r)
{
    mase_round_all(&r->how, p->k, r->weight.x, r->weight.base->x);
}

static void round_weights(const struct mase_step *s, long from, long to)
{
    long i = 0;
    for (const struct mase_rounded *r = s->rounded; r; r = r->next, i++)
        if (i >= from && i < to)
            mase_quantise_weight(s->plan, r);
}

void mase_quantise_weights(struct mase_plan *p)
{
    for (const struct mase_rounded *r = p->rounded; r; r = r->next)
        mase_quantise_weight(p, r);
}

/* Training: rounded by a phase of the step's own, which comes first, since weights are asked for
 * before the step lists what it runs. */
static void round_in_step(struct mase_step *s, struct mase_rounded *r)
{
    if (!s->rounded)
        mase_step_forward(s, round_weights, MASE_UNIT_ITEMS, 0);
    s->forward.item[0].items++;
    r->next = s->rounded;
    s->rounded = r;
}

static void round_when_read(struct mase_plan *p, struct mase_rounded *r)
{
    if (!p->rounded_end)
        p->rounded_end = &p->rounded;
    *p->rounded_end = r;
    p->rounded_end = &r->next;
}

/* The next copy of the plan that p is like: they ask in the same order. */
static float *copy_of_like(struct mase_plan *p)
{
    const struct mase_rounded *from = p->like_next;
    if (!from)
        mase_bug("a plan rounds more weights than the one it is like");
    p->like_next = from->next;
    return from->weight.x;
}

static struct mase_weight *rounded_copy(struct mase_step *s, struct mase_weight *w,
                                        const struct mase_asked *asked,
                                        const struct mase_shape *shape)
{
    struct mase_plan *p = s->plan;
    struct mase_rounded *r = mase_new(&p->arena, struct mase_rounded);
    *r = (struct mase_rounded){ .weight = *w };
    r->weight.views = NULL;
    r->weight.base = w->base ? w->base : w;
    if (p->like) {
        r->weight.x = copy_of_like(p);
        return &r->weight;
    }
    const size_t n = (size_t)(w->count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    r->weight.x = mase_new_array(&p->arena, float, n);
    r->how = mase_round_dense(&p->arena, asked->how, shape);
    if (p->train)
        round_in_step(s, r);
    else
        round_when_read(p, r);
    mase_site_add(&(struct mase_site){ .asked = *asked, .plan = p, .shape = *shape, .rounded = r });
    return &r->weight;
}

struct mase_weight *mase_quantised_weight(struct mase_step *s, const struct mase_call *c,
                                          const char *name, struct mase_weight *w)
{
    const int i = mase_sig_find(c->sig, name);
    struct mase_asked asked;
    if (i >= 0)
        return operand_asks(s, c, i, &asked) ? rounded_copy(s, w, &asked, &w->shape) : w;
    /* weight_ih_l0 stands in no signature: its rounding cannot change */
    asked = (struct mase_asked){ .how = mase_named_rounding(c->node, name), .node = c->node };
    return asked.how.format ? rounded_copy(s, w, &asked, &w->shape) : w;
}

/* A plain operand: a weight gets a rounded copy, what is derived is rounded where it is computed, a
 * constant once and for all. */
static void round_plain(struct mase_step *s, struct mase_slot *from, const struct mase_asked *asked)
{
    struct mase_plan *p = s->plan;
    const int i = asked->operand;
    struct mase_slot *to = mase_plan_add_plain(p, from->tensor);
    const struct mase_shape shape = mase_call_shape(s->call, i);
    s->call->param[i].tensor = (struct mase_tensor *)to->tensor;
    to->why = from->why;
    if (from->weight && from->weight->dx && !to->why)
        to->why = mase_quantise_refusal(p, asked->how);
    if (from->derived || from->weight) {
        to->weight = from->derived ? mase_derive_numbers(p, from, asked, &shape)
                                   : rounded_copy(s, from->weight, asked, &shape);
        to->x = to->weight->x;
        to->dx = to->weight->dx;
        to->needs_grad = to->dx != NULL;
    } else if (from->x) {
        to->x = mase_new_array(&p->arena, float, (size_t)from->rows);
        const struct mase_site site = {
            .asked = *asked, .plan = p, .shape = shape, .to = to->x, .from = from->x
        };
        mase_site_constant(&site);
        mase_site_add(&site);
    }
}

struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      const struct mase_asked *asked,
                                      const struct mase_shape *shape)
{
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){ .plan = p, .kind = &round_kind };
    s->out = mase_plan_add_lanes(p, &from->tensor->shape);
    add_rounding(s, from, asked, shape);
    return s->out;
}

void mase_quantise_inputs(struct mase_step *s)
{
    struct mase_call *c = s->call;
    for (int i = 0; i < c->sig->count; i++) {
        struct mase_asked asked;
        struct mase_slot *from =
            operand_asks(s, c, i, &asked) ? mase_step_slot(s, c->param[i].tensor) : NULL;
        if (!from)
            continue;
        if (!from->lanes) {
            if (!c->module)
                round_plain(s, from, &asked);
            continue;
        }
        const struct mase_shape shape = s->plan->of ? mase_call_shape(c, i) : from->tensor->shape;
        struct mase_step *before = mase_step_before(s, &round_kind, &from->tensor->shape);
        add_rounding(before, from, &asked, &shape);
        c->param[i].tensor = (struct mase_tensor *)before->out->tensor;
    }
}

/* ---- results ---- */

static bool result_asks(const struct mase_step *s, struct mase_asked *asked)
{
    return is_asked(s->plan, s->node, MASE_RESULT, mase_result_rounding(s->node), asked);
}

struct mase_slot *mase_quantised_result(struct mase_step *s)
{
    struct mase_slot *result = s->out;
    struct mase_asked asked;
    if (result->tensor->dtype != MASE_F32 || !result_asks(s, &asked))
        return NULL;
    s->out = mase_plan_add_lanes(s->plan, &result->tensor->shape);
    return result;
}

void mase_quantise_output(struct mase_step *s, struct mase_slot *result)
{
    struct mase_step *after = mase_new(&s->plan->arena, struct mase_step);
    struct mase_asked asked;
    *after = (struct mase_step){ .plan = s->plan, .node = s->node, .kind = &round_kind };
    after->out = result;
    result_asks(s, &asked);
    add_rounding(after, s->out, &asked, &result->tensor->shape);
}
