/*
 * stored_buffers.c - buffers that forward changes in training: a count of batches, the vectors of a
 * spectral norm.
 *
 * Their new values depend on parameters and buffers only, so the derived plan computes them
 * (derived_values.c), at the beginning of a step. They are stored at the end of the step: until
 * then every reader gets the old values, as in the graph.
 */
#include <string.h>

#include "exec/plan/plan_parts.h"

struct mase_stored_buffer {
    const struct mase_weight *to;
    const float *from;
    float *between; /* from may be another buffer, which changes, too */
    struct mase_stored_buffer *next;
};

enum mase_status mase_plan_add_store(struct mase_plan *p, const struct mase_pvalue *buffer,
                                     struct mase_slot *value, const char *name,
                                     struct mase_err *err)
{
    const struct mase_weight *to = mase_plan_weight(p, buffer->param);
    if (value->lanes || value->why)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: '%s' would take what the samples of a batch decide, which is not "
                         "followed in training",
                         name, buffer->name);
    if (!p->train)
        return MASE_OK;
    if (value->derived && !value->weight)
        mase_derive_numbers(p, value);
    if (mase_plan_first_tile(p))
        return MASE_OK; /* one of them is enough */
    struct mase_stored_buffer *s = mase_new(&p->arena, struct mase_stored_buffer);
    *s = (struct mase_stored_buffer){ .to = to, .next = p->store };
    s->from = value->weight ? value->weight->x : value->x;
    s->between = mase_new_array(&p->arena, float, (size_t)to->count);
    p->store = s;
    return MASE_OK;
}

void mase_plan_store(const struct mase_plan *p)
{
    for (const struct mase_stored_buffer *s = p->store; s; s = s->next)
        memcpy(s->between, s->from, (size_t)s->to->count * sizeof *s->from);
    for (const struct mase_stored_buffer *s = p->store; s; s = s->next)
        memcpy(s->to->x, s->between, (size_t)s->to->count * sizeof *s->from);
}
