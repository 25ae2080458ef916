/*
 * batch_axis.c - values whose batch axis is not the first: (T, N, C).
 *
 * Rows of lanes are the elements of a sample in order, whatever the batch axis, so a slot keeps its
 * tensor with the batch axis moved to the front, and records the original axis. Most kinds of steps
 * read only rows or that tensor; a kind declares which axes it supports (step.h).
 */
#include "exec/plan/plan_parts.h"
#include "ir/shape/shape.h"

void mase_slot_set_axis(struct mase_plan *p, struct mase_slot *s, int axis)
{
    const struct mase_shape *shape = &s->tensor->shape;
    const struct mase_shape behind = mase_shape_part(shape, axis + 1, shape->rank);
    s->axis = axis;
    s->behind = mase_shape_count(&behind);
    if (!axis)
        return;
    struct mase_tensor *t = mase_arena_memdup(&p->arena, s->tensor, sizeof *t);
    for (int d = axis; d > 0; d--)
        t->shape.dim[d] = shape->dim[d - 1];
    t->shape.dim[0] = shape->dim[axis];
    s->tensor = t;
    mase_ptrmap_put(&p->slot_of, &p->arena, t, s);
}

int mase_slot_dim(const struct mase_slot *s, int dim)
{
    return dim == s->axis ? 0 : dim < s->axis ? dim + 1 : dim;
}

int64_t mase_slot_element(const struct mase_slot *s, int64_t row, int64_t sample, int64_t samples)
{
    if (!s->lanes)
        return row;
    const int64_t behind = mase_slot_behind(s);
    return (row / behind * samples + sample) * behind + row % behind;
}

int64_t mase_slot_row(const struct mase_slot *s, int64_t element, int64_t samples)
{
    if (!s->lanes)
        return element;
    const int64_t behind = mase_slot_behind(s);
    return element / (behind * samples) * behind + element % behind;
}

/* ---- what a kind can do ---- */

/* Dimensions from the batch to the last: operands are broadcast from there. */
static int from_end(const struct mase_slot *s)
{
    return s->tensor->shape.rank - s->axis;
}

/* Properties that the slots of a call share. */
struct common {
    int axis; /* the first that is not 0 */
    bool differ;
};

static void compare(const struct mase_plan *p, const struct mase_arg *a,
                    const struct mase_slot *out, struct common *c)
{
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        compare(p, &a->items[i], out, c);
    const struct mase_slot *s = mase_plan_slot(p, mase_arg_tensor(a));
    if (!s || !s->lanes)
        return;
    c->axis = c->axis ? c->axis : s->axis;
    c->differ |= from_end(s) != from_end(out);
}

enum mase_status mase_axis_check(const struct mase_plan *p, const struct mase_step_kind *kind,
                                 const struct mase_call *c, const struct mase_slot *out,
                                 struct mase_err *err)
{
    struct common found = { .axis = out->axis };
    for (int i = 0; i < c->sig->count; i++)
        compare(p, &c->param[i], out, &found);
    if (!found.axis)
        return MASE_OK;
    if (kind->axes == MASE_AXES_ANY || (kind->axes == MASE_AXES_KEPT && !found.differ))
        return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "%s: a plan runs %s with the samples in the first dimension, here they are in "
                     "dimension %d: transpose them before it",
                     c->node->name, mase_ops[c->node->op].name, found.axis);
}
