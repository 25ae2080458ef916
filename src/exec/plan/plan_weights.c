/*
 * plan_weights.c - weights of a plan: parameters and buffers of the graph, values derived from
 * them, constants.
 *
 * The graph owns the weights. A plan for evaluation reads them in place. A plan for training has a
 * copy, one for all tiles of a batch, which mase_plan_write_weights copies back to the graph: one
 * plan for training and any number of plans for evaluation hold two copies in all. Rounded copies
 * and derived values belong to the plan that made them; a plan with opts.like reads those of that
 * plan. Numbers other than float32 (counters) are copied, since steps read floats.
 */
#include <string.h>

#include "base/limit.h"
#include "exec/plan/collective.h"
#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "ir/shape/shape.h"

/* ---- memory ---- */

const struct mase_plan *mase_plan_first_tile(const struct mase_plan *p)
{
    return !p->tiling ? p->like : p->tiling->tile[0] != p ? p->tiling->tile[0] : NULL;
}

enum mase_status mase_plan_check_like(const struct mase_graph *g, const struct mase_plan_opts *o,
                                      struct mase_err *err)
{
    const struct mase_plan *like = o->like;
    if (!like)
        return MASE_OK;
    if (o->train || like->train || o->formats_change || like->formats_change || like->like)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "plans share what they make of weights in evaluation alone, with formats "
                         "that stay, and with a plan that has its own");
    if (like->graph != g || like->edits != g->edits)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "a plan can be like another of the same graph, if that has not changed");
    return MASE_OK;
}

static int64_t padded(int64_t count)
{
    return (count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

static bool count_weight(const char *full, struct mase_param *param, void *data)
{
    struct mase_plan *p = data;
    (void)full;
    p->weight_count += !param->tied;
    return true;
}

static bool add_weight(const char *full, struct mase_param *param, void *data)
{
    struct mase_plan *p = data;
    (void)full;
    if (param->tied)
        return true;
    struct mase_weight *w = &p->weight[p->weight_count++];
    *w = (struct mase_weight){ .param = param,
                               .shape = param->tensor.shape,
                               .count = mase_tensor_count(&param->tensor) };
    mase_ptrmap_put(&p->weight_of, &p->arena, param, w);
    return true;
}

/* Does the plan read the graph's own numbers? They lie as a plan wants them: aligned, and followed
 * by zeros up to a whole vector. */
static bool is_borrowed(const struct mase_plan *p, const struct mase_param *param)
{
    return !p->train && param->tensor.dtype == MASE_F32;
}

/* Floats of the plan's own copies, trained or not. */
static int64_t count_copies(const struct mase_plan *p, bool trained)
{
    int64_t count = 0;
    for (int i = 0; i < p->weight_count; i++) {
        const struct mase_param *param = p->weight[i].param;
        if (mase_param_is_trained(param) == trained && !is_borrowed(p, param))
            count += padded(p->weight[i].count);
    }
    return count;
}

/* Trained parameters come first, so that an optimiser is one loop; then others. */
enum mase_status mase_plan_place_weights(struct mase_plan *p, struct mase_err *err)
{
    const struct mase_plan *first = mase_plan_first_tile(p);
    mase_graph_each_param(p->graph, count_weight, p);
    p->weight = mase_new_array(&p->arena, struct mase_weight, (size_t)p->weight_count);
    p->weight_count = 0;
    mase_graph_each_param(p->graph, add_weight, p);
    p->param_size = count_copies(p, true);
    const int64_t rest = count_copies(p, false);
    const int64_t floats = p->param_size * (p->train ? 2 : 1) + rest;
    MASE_TRY(mase_limit_network((uint64_t)floats * sizeof(float), err,
                                "the plan's copy of the weights"));
    p->params = first ? first->params : mase_plan_floats(p->param_size + rest);
    p->grads = p->train ? mase_plan_floats(p->param_size) : NULL;
    p->grads_part = mase_collective_add(p, p->grads, (size_t)p->param_size * sizeof *p->grads);
    int64_t at[2] = { 0, p->param_size };
    for (int i = 0; i < p->weight_count; i++) {
        struct mase_weight *w = &p->weight[i];
        const bool trained = mase_param_is_trained(w->param);
        int64_t *next = &at[trained ? 0 : 1];
        if (is_borrowed(p, w->param)) {
            w->x = mase_f32(&w->param->tensor);
            continue;
        }
        w->x = p->params + *next;
        w->dx = p->train && trained ? p->grads + *next : NULL;
        *next += padded(w->count);
    }
    return MASE_OK;
}

struct mase_weight *mase_plan_weight(const struct mase_plan *p, const struct mase_param *param)
{
    return mase_ptrmap_get(&p->weight_of, mase_param_root(p->graph, param));
}

bool mase_plan_reaches(const struct mase_plan *p, const struct mase_weight *w)
{
    return w->last || (p->derived && p->derived->weight[w - p->weight].last);
}

/* ---- copies ---- */

static struct mase_weight *root(struct mase_weight *w)
{
    return w->base ? w->base : w;
}

struct mase_weight *mase_weight_as(struct mase_plan *p, struct mase_weight *w,
                                   const struct mase_shape *shape)
{
    if (mase_shape_equal(&w->shape, shape))
        return w;
    struct mase_weight *other = mase_arena_memdup(&p->arena, w, sizeof *w);
    other->shape = *shape;
    other->base = root(w);
    if (other->x == other->base->x) { /* not rounded */
        other->next_view = other->base->views;
        other->base->views = other;
    }
    return other;
}

static struct mase_weight *constant(struct mase_plan *p, const struct mase_slot *s)
{
    struct mase_weight *w = mase_new(&p->arena, struct mase_weight);
    *w = (struct mase_weight){ .shape = s->tensor->shape, .x = s->x, .count = s->rows };
    return w;
}

/* ---- uses of weights ---- */

void mase_step_use(struct mase_step *s, struct mase_weight *w)
{
    struct mase_use *use = mase_new(&s->plan->arena, struct mase_use);
    *use = (struct mase_use){ s, root(w)->uses };
    root(w)->uses = use;
    s->trains |= w->dx != NULL;
}

/* A slot's numbers, which do not follow the samples. */
static enum mase_status numbers_of(struct mase_step *s, struct mase_weight **w,
                                   struct mase_slot *slot, const char *name, struct mase_err *err)
{
    struct mase_plan *p = s->plan;
    if (slot->why)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s", slot->why);
    if (slot->lanes && !p->derived_of)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: %s: '%s' follows the samples of a batch; a plan needs one that does "
                         "not",
                         s->node->name, mase_ops[s->node->op].name, name);
    if (slot->lanes || (slot->derived && !slot->weight))
        *w = mase_derive_numbers(p, slot);
    else
        *w = slot->weight ? mase_weight_as(p, slot->weight, &slot->tensor->shape)
                          : constant(p, slot);
    return MASE_OK;
}

/* In a derived plan: the slot of t, a parameter or constant, in the plan that it belongs to; NULL:
 * neither. */
static struct mase_weight *numbers_outside(struct mase_plan *d, const struct mase_tensor *t)
{
    const struct mase_slot *slot = mase_plan_slot(d->derived_of, t);
    if (slot->unrounded || slot->derived)
        return NULL;
    if (!slot->weight)
        return constant(d, slot);
    return mase_weight_as(d, mase_plan_weight(d, slot->weight->param), &t->shape);
}

enum mase_status mase_step_weight_of(struct mase_step *s, struct mase_weight **w,
                                     const struct mase_tensor *t, const char *name,
                                     struct mase_err *err)
{
    struct mase_plan *p = s->plan;
    *w = NULL;
    if (!t)
        return MASE_OK;
    if (p->derived_of && !mase_plan_slot(p, t))
        *w = numbers_outside(p, t);
    if (!*w)
        MASE_TRY(numbers_of(s, w, mase_rounded_for(s, mase_step_slot(s, t)), name, err));
    mase_step_use(s, *w);
    return MASE_OK;
}

enum mase_status mase_step_weight(struct mase_step *s, struct mase_weight **w, const char *name,
                                  struct mase_err *err)
{
    return mase_step_weight_of(s, w, mase_call_tensor(s->call, name), name, err);
}

enum mase_status mase_step_need_weight(struct mase_step *s, struct mase_weight **w,
                                       const char *name, struct mase_err *err)
{
    MASE_TRY(mase_step_weight(s, w, name, err));
    return *w ? MASE_OK : mase_call_fail(s->call, err, "needs a tensor '%s'", name);
}

bool mase_step_adds(const struct mase_step *s, const struct mase_weight *w)
{
    const struct mase_weight *from = w->base ? w->base : w;
    return (s->plan->accumulate && !from->derived) || from->last != s;
}

bool mase_step_adds_input(const struct mase_step *s, int i)
{
    struct mase_weight *w = s->in[i]->weight;
    if (!w)
        return s->add[i];
    for (int j = 0; j < i; j++)
        if (s->in[j]->weight && root(s->in[j]->weight) == root(w))
            return true;
    return mase_step_adds(s, w);
}

/* ---- values ---- */

/* The graph's weights lie elsewhere (mase_graph_own_weights). */
static void move(struct mase_weight *w, float *x)
{
    w->x = x;
    for (struct mase_weight *view = w->views; view; view = view->next_view)
        view->x = x;
}

/* Borrowed weights are looked up again; says whether any has moved. */
static bool find_borrowed(struct mase_plan *p)
{
    bool moved = false;
    for (int i = 0; i < p->weight_count; i++) {
        struct mase_weight *w = &p->weight[i];
        if (!is_borrowed(p, w->param) || w->x == mase_f32(&w->param->tensor))
            continue;
        move(w, mase_f32(&w->param->tensor));
        moved = true;
    }
    for (int i = 0; moved && i < p->slot_count; i++)
        if (p->slot[i]->weight)
            p->slot[i]->x = p->slot[i]->weight->x;
    return moved;
}

static void copy_in(const struct mase_weight *w)
{
    const struct mase_tensor *t = &w->param->tensor;
    if (t->dtype == MASE_F32) {
        memcpy(w->x, mase_f32(t), (size_t)w->count * sizeof *w->x);
        return;
    }
    for (int64_t j = 0; j < w->count; j++)
        w->x[j] = (float)mase_tensor_get(t, j);
}

static void copy_out(const struct mase_weight *w)
{
    struct mase_tensor *t = &w->param->tensor;
    if (t->dtype == MASE_F32) {
        memcpy(mase_f32(t), w->x, (size_t)w->count * sizeof *w->x);
        return;
    }
    for (int64_t j = 0; j < w->count; j++)
        mase_tensor_set(t, j, w->x[j]);
}

void mase_plan_refresh(struct mase_plan *p)
{
    p->single_stale = true;
    for (int i = 0; i < p->step_count && !p->train; i++)
        if (p->step[i]->kind->refresh)
            p->step[i]->kind->refresh(p->step[i]);
}

void mase_plan_read_weights(struct mase_plan *p)
{
    if (find_borrowed(p) && p->derived)
        find_borrowed(p->derived);
    for (int i = 0; i < p->weight_count && !mase_plan_first_tile(p); i++)
        if (!is_borrowed(p, p->weight[i].param))
            copy_in(&p->weight[i]);
    mase_derive_forward(p, 1);
    mase_quantise_weights(p);
    mase_plan_refresh(p);
}

void mase_plan_write_weights(const struct mase_plan *p)
{
    for (int i = 0; i < p->weight_count; i++)
        if (!is_borrowed(p, p->weight[i].param))
            copy_out(&p->weight[i]);
}
