/*
 * watch.c - looking at the values of a plan: work of its own behind the step that computes each.
 */
#include "exec/plan.h"

/* What the own of a watching step is. */
struct watcher {
    struct mase_watch watch;
    int step; /* behind which it runs; -1: before the first */
};

static void show(const struct mase_step *s, mase_watch_fn *fn, long from, long to)
{
    const struct watcher *w = s->own;
    const struct mase_lanes value = { s->out->x, s->out->rows, s->plan->stride };
    if (from < to)
        fn(w->watch.data, &value, from, to);
}

/* The padding behind the last sample is nobody's. */
static void show_lanes(const struct mase_step *s, long from, long to)
{
    const long samples = (long)s->plan->samples;
    show(s, ((const struct watcher *)s->own)->watch.lanes, from, to < samples ? to : samples);
}

static void show_items(const struct mase_step *s, long from, long to)
{
    show(s, ((const struct watcher *)s->own)->watch.items, from, to);
}

static const struct mase_step_kind watch_kind = { .name = "watch" };

/* The last step whose result this is; -1 for an input, step_count when nobody computes it. */
static int step_of(const struct mase_plan *p, const struct mase_slot *s)
{
    for (int i = p->step_count - 1; i >= 0; i--)
        if (p->step[i]->out == s)
            return i;
    for (int i = 0; i < p->input_count; i++)
        if (p->input[i] == s)
            return -1;
    return p->step_count;
}

static int place_of(const struct mase_plan *p, const struct mase_step *s)
{
    int i = 0;
    if (s->kind == &watch_kind)
        return ((const struct watcher *)s->own)->step;
    while (p->step[i] != s)
        i++;
    return i;
}

/* The phases of s behind the work of all steps up to `step`. */
static void insert(struct mase_plan *p, const struct mase_step *s, int step)
{
    struct mase_works *f = &p->forward;
    const int count = f->count + s->forward_count;
    struct mase_work *item = mase_new_array(&p->arena, struct mase_work, (size_t)count);
    int at = 0;
    for (; at < f->count && place_of(p, f->item[at].step) <= step; at++)
        item[at] = f->item[at];
    for (int i = 0; i < s->forward_count; i++)
        item[at + i] = (struct mase_work){ s, &s->forward[i] };
    for (int i = at; i < f->count; i++)
        item[i + s->forward_count] = f->item[i];
    *f = (struct mase_works){ item, count };
}

bool mase_plan_watch(struct mase_plan *p, const struct mase_watch *w, struct mase_shape *sample)
{
    const struct mase_arg *value = mase_values_get(&p->value, w->node);
    const bool tensor = value && value->kind == MASE_ARG_TENSOR;
    struct mase_slot *slot = tensor ? mase_plan_slot(p, value->tensor) : NULL;
    const int step = slot && slot->lanes ? step_of(p, slot) : p->step_count;
    if (step == p->step_count)
        return false;
    struct watcher *own = mase_new(&p->arena, struct watcher);
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *own = (struct watcher){ *w, step };
    *s = (struct mase_step){
        .plan = p, .node = w->node, .kind = &watch_kind, .out = slot, .own = own
    };
    if (w->lanes)
        mase_step_forward(s, show_lanes, MASE_UNIT_LANES, 0);
    if (w->items)
        mase_step_forward(s, show_items, MASE_UNIT_ITEMS, w->count);
    insert(p, s, step);
    p->one = false; /* there is nothing to see on that path */
    *sample = slot->tensor->shape;
    sample->dim[0] = 1;
    return true;
}
