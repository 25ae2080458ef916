/*
 * watch.c - observers of a plan's values: phases behind the step that computes the value.
 */
#include "exec/plan/plan_parts.h"

static void show(const struct mase_step *s, mase_watch_fn *fn, long from, long to)
{
    const struct mase_watch *w = s->own;
    const struct mase_lanes value = { s->out->x, s->out->rows, s->plan->stride };
    if (from < to)
        fn(w->data, &value, from, to);
}

/* Observers do not see the padding after the last sample. */
static void show_lanes(const struct mase_step *s, long from, long to)
{
    const long samples = (long)s->plan->samples;
    show(s, ((const struct mase_watch *)s->own)->lanes, from, to < samples ? to : samples);
}

static void show_items(const struct mase_step *s, long from, long to)
{
    show(s, ((const struct mase_watch *)s->own)->items, from, to);
}

static const struct mase_step_kind watch_kind = { .name = "watch" };

/* Behind all that watch the same step already. */
static void append(struct mase_step **list, struct mase_step ***end, struct mase_step *s)
{
    if (!*end)
        *end = list;
    **end = s;
    *end = &s->next_watch;
}

bool mase_plan_watch(struct mase_plan *p, const struct mase_watch *w, struct mase_shape *sample)
{
    const struct mase_pvalue *value = mase_program_value(p->program, w->node);
    struct mase_slot *slot = value ? mase_plan_slot(p, p->tensor[value->number]) : NULL;
    if (!slot || !slot->lanes || !(slot->made_by || slot->is_input))
        return false;
    struct mase_watch *own = mase_arena_memdup(&p->arena, w, sizeof *w);
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){
        .plan = p, .node = w->node, .kind = &watch_kind, .out = slot, .own = own
    };
    if (w->lanes)
        mase_step_forward(s, show_lanes, MASE_UNIT_LANES, 0);
    if (w->items)
        mase_step_forward(s, show_items, MASE_UNIT_ITEMS, w->count);
    if (slot->made_by)
        append(&slot->made_by->watch, &slot->made_by->watch_end, s);
    else
        append(&p->watch, &p->watch_end, s);
    p->single = false;       /* there is nothing to see on that path */
    p->forward.stale = true; /* listed once, when all watchers are there */
    *sample = slot->tensor->shape;
    sample->dim[0] = 1;
    return true;
}
