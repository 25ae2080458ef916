/*
 * derived_values.c - values that depend on parameters only: a masked weight, a bias times a number,
 * an embedding of constant positions.
 *
 * Such values form a network of their own, whose one sample is the parameters. Its plan, the
 * derived plan, has no batch axis; its steps work as on samples, backward too. The plan that it
 * belongs to reads the results as dense numbers. They are computed when weights are read, and in
 * training once in each step, however many tiles the batch has; the gradients of all tiles are
 * added in the order of the tiles, then passed back to the parameters once.
 *
 * Each number takes sixteen lanes in the derived plan, of which one is used, because steps exist
 * only for lanes. The cost is that of a batch of sixteen samples.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/plan/collective.h"
#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "ir/shape/shape.h"

/* ---- into it ---- */

/* The source that a step broadcasts over lanes. */
struct source {
    struct mase_weight *weight; /* NULL: */
    const float *constant;
};

static void read(const struct mase_step *s, long from, long to)
{
    const struct source *o = s->own;
    const float *x = o->weight ? o->weight->x : o->constant;
    for (long r = from; r < to; r++)
        s->out->x[r * s->plan->stride] = x[r];
}

static void read_back(const struct mase_step *s, long from, long to)
{
    const struct mase_weight *w = ((const struct source *)s->own)->weight;
    const bool add = mase_step_adds(s, w);
    for (long r = from; r < to; r++) {
        const float dx = s->out->dx[r * s->plan->stride];
        w->dx[r] = add ? w->dx[r] + dx : dx;
    }
}

static const struct mase_step_kind read_kind = { .name = "read" };

struct mase_slot *mase_derive_add_slot(struct mase_plan *d, const struct mase_tensor *t)
{
    struct mase_slot *s = mase_plan_new_slot(d, t);
    s->lanes = true;
    s->rows = mase_tensor_count(t);
    return s;
}

/* Add a step to d that copies a parameter or constant, whose slot in d's plan is `from`. */
static struct mase_slot *add_reading(struct mase_plan *d, const struct mase_slot *from,
                                     const struct mase_tensor *t)
{
    struct source *o = mase_new(&d->arena, struct source);
    struct mase_step *s = mase_new(&d->arena, struct mase_step);
    *s = (struct mase_step){ .plan = d, .kind = &read_kind, .own = o };
    o->constant = from->weight ? NULL : from->x;
    s->out = mase_derive_add_slot(d, t);
    mase_step_forward(s, read, MASE_UNIT_ITEMS, (long)s->out->rows);
    if (from->weight) {
        o->weight = mase_plan_weight(d, from->weight->param);
        mase_step_use(s, o->weight);
    }
    if (s->trains)
        mase_step_backward(s, read_back, MASE_UNIT_ITEMS, (long)s->out->rows);
    mase_plan_add_step(d, s);
    return s->out;
}

/* from, a value of the plan, rounded: what the plan knows as t. */
static struct mase_slot *add_rounding(struct mase_plan *d, const struct mase_tensor *t,
                                      const struct mase_slot *from,
                                      const struct mase_rounding_request *request)
{
    struct mase_slot *s = mase_quantise_lanes(d, mase_derive_slot(d, from->tensor), request);
    mase_ptrmap_put(&d->slot_of, &d->arena, t, s);
    return s;
}

struct mase_slot *mase_derive_slot(struct mase_plan *d, const struct mase_tensor *t)
{
    struct mase_slot *s = mase_plan_slot(d, t);
    const struct mase_slot *from = s ? NULL : mase_plan_slot(d->derived_of, t);
    if (from && from->unrounded)
        return add_rounding(d, t, from->unrounded, from->request);
    return from ? add_reading(d, from, t) : s;
}

/* ---- out of it ---- */

static void collect(const struct mase_step *s, long from, long to)
{
    const struct mase_weight *w = s->own;
    for (long r = from; r < to; r++)
        w->x[r] = s->in[0]->x[r * s->plan->stride];
}

static void collect_back(const struct mase_step *s, long from, long to)
{
    const struct mase_weight *w = s->own;
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++) {
        float *dx = s->in[0]->dx + r * p->stride;
        if (s->add[0]) {
            dx[0] += w->dx[r];
            continue;
        }
        memset(dx, 0, (size_t)p->n * sizeof *dx);
        dx[0] = w->dx[r];
    }
}

static const struct mase_step_kind collect_kind = { .name = "collect" };

static void add_collecting(struct mase_plan *d, struct mase_slot *from, struct mase_weight *w)
{
    struct mase_step *s = mase_new(&d->arena, struct mase_step);
    *s = (struct mase_step){ .plan = d, .kind = &collect_kind, .own = w };
    s->out = mase_plan_add_plain(d, from->tensor);
    s->out->has_grad = true; /* zero, where no step gives one */
    mase_step_add_input(s, from);
    mase_step_forward(s, collect, MASE_UNIT_ITEMS, (long)from->rows);
    if (w->dx)
        mase_step_backward(s, collect_back, MASE_UNIT_ITEMS, (long)from->rows);
    mase_plan_add_step(d, s);
}

static int64_t padded(int64_t count)
{
    return (count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

static float *floats(struct mase_plan *p, int64_t count)
{
    return mase_new_array(&p->arena, float, (size_t)padded(count));
}

/* Numbers of p that the first tile has computed: with a gradient of p's own. */
static struct mase_weight *numbers_of_first(struct mase_plan *p, const struct mase_plan *first)
{
    const struct mase_weight *from = first->numbers[p->number_count];
    struct mase_weight *w = mase_new(&p->arena, struct mase_weight);
    *w = (struct mase_weight){ .shape = from->shape, .count = from->count, .x = from->x };
    w->dx = from->dx ? floats(p, w->count) : NULL;
    return w;
}

static struct mase_weight *new_numbers(struct mase_plan *p, const struct mase_slot *slot)
{
    struct mase_plan *d = p->derived_of ? p : p->derived;
    struct mase_slot *from = mase_plan_slot(d, slot->tensor);
    struct mase_weight *w = mase_new(&p->arena, struct mase_weight);
    *w = (struct mase_weight){ .shape = slot->tensor->shape, .count = from->rows };
    w->x = floats(p, w->count);
    w->dx = from->needs_grad ? floats(p, w->count) : NULL;
    add_collecting(d, from, w);
    return w;
}

struct mase_weight *mase_derive_numbers(struct mase_plan *p, struct mase_slot *slot)
{
    const struct mase_plan *first = mase_plan_first_tile(p);
    struct mase_weight *w = first ? numbers_of_first(p, first) : new_numbers(p, slot);
    w->derived = true;
    w->part = mase_collective_add(p, w->dx, (size_t)padded(w->count) * sizeof *w->dx);
    p->numbers = mase_arena_grow(&p->arena, p->numbers, p->number_count, &p->number_cap,
                                 sizeof(struct mase_weight *));
    p->numbers[p->number_count++] = w;
    if (slot->lanes) /* a derived plan's own */
        return w;
    slot->weight = w;
    slot->x = w->x;
    slot->dx = w->dx;
    slot->needs_grad = w->dx != NULL;
    return w;
}

/* ---- making ---- */

/* It has the parameters of p, and notes by itself who uses them. */
struct mase_plan *mase_derive_plan(struct mase_plan *p)
{
    struct mase_plan *d = mase_xcalloc(sizeof *d);
    *d = (struct mase_plan){ .graph = p->graph, .k = p->k, .derived_of = p, .train = p->train };
    d->batch = d->samples = 1;
    d->stride = d->n = MASE_LANES;
    d->threads = 1;
    d->seed = p->seed;
    d->formats_change = p->formats_change;
    d->accumulate = true; /* the plan's own gradients come first */
    d->weight_count = p->weight_count;
    d->weight = mase_new_array(&d->arena, struct mase_weight, (size_t)d->weight_count);
    for (int i = 0; i < d->weight_count; i++) {
        d->weight[i] = p->weight[i];
        d->weight[i].uses = NULL;
        d->weight[i].views = NULL;
        mase_ptrmap_put(&d->weight_of, &d->arena, d->weight[i].param, &d->weight[i]);
    }
    return d;
}

static enum mase_status add_results(struct mase_plan *d, const struct mase_call *c,
                                    const struct mase_arg *value, struct mase_err *err)
{
    if (value->kind == MASE_ARG_TENSOR && !mase_plan_slot(d, value->tensor)) {
        if (mase_tensor_count(value->tensor) == 0)
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: its result is empty, which a plan cannot run", c->node->name);
        if (value->tensor->dtype == MASE_F64)
            return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan computes in %s only, not %s",
                             c->node->name, mase_dtypes[MASE_F32].name, mase_dtypes[MASE_F64].name);
        mase_derive_add_slot(d, value->tensor);
    }
    for (int i = 0; mase_arg_is_seq(value) && i < value->count; i++)
        MASE_TRY(add_results(d, c, &value->items[i], err));
    return MASE_OK;
}

enum mase_status mase_derive_add(struct mase_plan *d, struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(add_results(d, c, &c->result, err));
    return mase_plan_add_call(d, c, c, err);
}

enum mase_status mase_derive_call(struct mase_plan *p, struct mase_call *c, struct mase_err *err)
{
    if (mase_plan_first_tile(p))
        return MASE_OK; /* the first tile derives it */
    if (!p->derived)
        p->derived = mase_derive_plan(p);
    return mase_derive_add(p->derived, c, err);
}

void mase_derive_round(struct mase_plan *p, struct mase_slot *to, const struct mase_slot *from,
                       const struct mase_rounding_request *request)
{
    to->derived = true;
    if (mase_plan_first_tile(p))
        return;
    if (!p->derived)
        p->derived = mase_derive_plan(p);
    add_rounding(p->derived, to->tensor, from, request);
}

void mase_derive_plan_free(struct mase_plan *d)
{
    if (!d)
        return;
    mase_aligned_free(d->memory);
    mase_arena_release(&d->arena);
    mase_xfree(d);
}

void mase_derive_free(struct mase_plan *p)
{
    mase_derive_plan_free(p->derived);
}

/* ---- running ---- */

void mase_derive_forward(struct mase_plan *p, int threads)
{
    if (!p->derived)
        return;
    p->derived->number = p->number;
    p->derived->warm_up_pass = p->warm_up_pass;
    mase_quantise_weights(p->derived);
    mase_works_run(&p->derived->forward, threads);
}

/* The gradients of all tiles, in their order. */
static void add_tiles(const struct mase_plan *p)
{
    for (int i = 0; i < p->number_count; i++) {
        const struct mase_weight *w = p->numbers[i];
        if (w->dx)
            mase_collective_total(p, w->part, padded(w->count));
    }
}

void mase_derive_backward(struct mase_plan *p, int threads)
{
    const struct mase_plan *d = p->derived;
    if (!d)
        return;
    add_tiles(p);
    for (int i = 0; i < p->weight_count && !p->accumulate; i++) {
        const struct mase_weight *w = &p->weight[i];
        if (w->dx && d->weight[i].uses && !w->last) /* no step of p stores its gradient */
            memset(w->dx, 0, (size_t)w->count * sizeof *w->dx);
    }
    mase_works_run(&d->backward, threads);
}
