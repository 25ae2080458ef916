/*
 * step.c - slots and steps while a plan is made: the functions that kinds of steps call (step.h,
 * plan_parts.h).
 */
#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "ir/shape/shape.h"

/* ---- slots ---- */

struct mase_slot *mase_plan_new_slot(struct mase_plan *p, const struct mase_tensor *t)
{
    struct mase_slot *s = mase_new(&p->arena, struct mase_slot);
    s->tensor = t;
    mase_ptrmap_put(&p->slot_of, &p->arena, t, s);
    p->slot = mase_arena_grow(&p->arena, p->slot, p->slot_count, &p->slot_cap, sizeof *p->slot);
    p->slot[p->slot_count++] = s;
    return s;
}

struct mase_slot *mase_plan_slot(const struct mase_plan *p, const struct mase_tensor *t)
{
    return mase_ptrmap_get(&p->slot_of, t);
}

struct mase_shape mase_slot_sample(const struct mase_plan *p, const struct mase_slot *s)
{
    const struct mase_shape *shape = &s->tensor->shape;
    return mase_shape_part(shape, mase_plan_first(p), shape->rank);
}

struct mase_shape mase_slot_rows(const struct mase_plan *p, const struct mase_slot *s)
{
    struct mase_shape shape = s->tensor->shape;
    if (s->lanes && mase_plan_first(p))
        shape.dim[0] = 1;
    return shape;
}

/* ---- steps ---- */

enum mase_status mase_step_input(struct mase_step *s, const struct mase_call *c, const char *name,
                                 struct mase_err *err)
{
    const struct mase_tensor *t;
    MASE_TRY(mase_call_need(c, &t, name, err));
    MASE_TRY(mase_step_operand(s, t, err));
    if (!s->in[s->in_count - 1]->lanes)
        return mase_call_fail(c, err, "'%s' does not depend on the samples, which a plan needs",
                              name);
    return MASE_OK;
}

/* The arrays of inputs and of their flags have one capacity. */
void mase_step_add_input(struct mase_step *s, struct mase_slot *slot)
{
    struct mase_arena *a = &s->plan->arena;
    int cap = s->in_cap;
    s->in = mase_arena_grow(a, s->in, s->in_count, &s->in_cap, sizeof *s->in);
    s->add = mase_arena_grow(a, s->add, s->in_count, &cap, sizeof *s->add);
    s->in[s->in_count++] = slot;
}

struct mase_slot *mase_step_slot(const struct mase_step *s, const struct mase_tensor *t)
{
    return s->plan->derived_of ? mase_derive_slot(s->plan, t) : mase_plan_slot(s->plan, t);
}

enum mase_status mase_step_operand(struct mase_step *s, const struct mase_tensor *t,
                                   struct mase_err *err)
{
    struct mase_slot *slot = mase_step_slot(s, t);
    if (!slot)
        return mase_call_fail(s->call, err, "a plan needs operands that are tensors of the graph");
    if (slot->why)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s", slot->why);
    slot = mase_rounded_for(s, slot);
    if (slot->derived && !slot->weight)
        mase_derive_numbers(s->plan, slot);
    mase_step_add_input(s, slot);
    if (slot->weight)
        mase_step_use(s, slot->weight);
    return MASE_OK;
}

/* ---- phases ---- */

static void add_phase(struct mase_step *s, struct mase_phases *to, struct mase_phase phase)
{
    to->item = mase_arena_grow(&s->plan->arena, to->item, to->count, &to->cap, sizeof *to->item);
    to->item[to->count++] = phase;
}

void mase_step_forward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items)
{
    add_phase(s, &s->forward, (struct mase_phase){ .run = run, .unit = unit, .items = items });
}

void mase_step_backward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items)
{
    add_phase(s, &s->backward, (struct mase_phase){ .run = run, .unit = unit, .items = items });
}

static void set_barrier(const struct mase_step *s, struct mase_phases *list, int part)
{
    if (!list->count)
        mase_bug("%s: no phase that could have a barrier", s->kind->name);
    list->item[list->count - 1].barrier = true;
    list->item[list->count - 1].reads = part;
}

void mase_step_barrier_forward(struct mase_step *s, int part)
{
    set_barrier(s, &s->forward, part);
}

void mase_step_barrier_backward(struct mase_step *s, int part)
{
    set_barrier(s, &s->backward, part);
}

/* ---- results ---- */

void mase_step_alias(struct mase_step *s, struct mase_slot *in)
{
    s->out->alias_of = in->alias_of ? in->alias_of : in;
}

struct mase_slot *mase_plan_add_lanes(struct mase_plan *p, const struct mase_shape *shape)
{
    const struct mase_tensor t = mase_tensor(&p->arena, MASE_F32, shape, false);
    struct mase_slot *s = mase_plan_new_slot(p, mase_arena_memdup(&p->arena, &t, sizeof t));
    s->lanes = true;
    s->rows = p->batch ? mase_shape_count(shape) / p->batch : 0;
    return s;
}

struct mase_slot *mase_plan_add_plain(struct mase_plan *p, const struct mase_tensor *t)
{
    struct mase_slot *s = mase_plan_new_slot(p, mase_arena_memdup(&p->arena, t, sizeof *t));
    s->rows = mase_tensor_count(t);
    return s;
}

void mase_plan_add_step(struct mase_plan *p, struct mase_step *s)
{
    mase_quantise_finish(s);
    bool wanted = s->trains;
    for (int i = 0; i < s->in_count; i++)
        wanted |= s->in[i]->needs_grad;
    s->out->needs_grad = p->train && wanted && !s->stops && !(s->node && s->node->no_grad);
    p->step = mase_arena_grow(&p->arena, p->step, p->step_count, &p->step_cap, sizeof *p->step);
    s->out->made_by = s;
    p->step[p->step_count++] = s;
}

struct mase_step *mase_step_before(struct mase_step *s, const struct mase_step_kind *kind,
                                   const struct mase_shape *shape)
{
    struct mase_step *before = mase_new(&s->plan->arena, struct mase_step);
    *before = (struct mase_step){ .plan = s->plan, .node = s->node, .kind = kind, .call = s->call };
    before->out = mase_plan_add_lanes(s->plan, shape);
    return before;
}
