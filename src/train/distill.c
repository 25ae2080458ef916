/*
 * distill.c - a quantised network learns from its float version (Hinton et al., 2015).
 *
 *     loss = (1 - distill) cross entropy + distill T T KL(softmax(teacher / T) || softmax(own / T))
 *
 * The teacher is the network without its number formats, with the weights that it had when they
 * came on, or their average if there was one: a copy, which nothing trains. It computes as in
 * evaluation, batch norms by their running statistics and nothing dropped, on the very samples that
 * the network has loaded, changed by chance or not. Each tile has a plan of its own, run by the
 * thread that loads the tile. Checkpoints have the copy: a run that is resumed has the same
 * teacher.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/torch.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"
#include "train/trainer.h"

enum mase_status mase_train_check_distill(const struct mase_train_opts *o,
                                          const struct mase_graph *g, struct mase_loc at,
                                          struct mase_err *err)
{
    if (!(o->distill >= 0 && o->distill <= 1))
        return mase_fail_at(err, MASE_EVALUE, at, "distill = %g is outside 0..1", o->distill);
    if (!(o->distill_temperature > 0))
        return mase_fail_at(err, MASE_EVALUE, at, "distill_temperature = %g is not above 0",
                            o->distill_temperature);
    if (o->distill > 0 && !mase_graph_is_quantised(g))
        return mase_fail_at(err, MASE_EVALUE, at,
                            "distill = %g: the network has no number formats, and so no float "
                            "network to learn from; [passes.quantize] gives it some",
                            o->distill);
    return MASE_OK;
}

/* ---- create, free ---- */

void mase_trainer_drop_teacher(struct mase_trainer *t)
{
    struct mase_teacher *e = t->teacher;
    t->teacher = NULL;
    if (!e)
        return;
    for (int k = e->tiles - 1; k >= 0; k--) /* the other tiles share the buffers of the first */
        mase_plan_free(e->plan[k]);
    mase_graph_free(e->graph);
    mase_xfree(e->plan);
    mase_xfree(e->fault);
    mase_xfree(e);
}

static enum mase_status make_plans(struct mase_teacher *e, const struct mase_trainer *t,
                                   struct mase_err *err)
{
    struct mase_plan_opts o = { .batch = t->plan->batch, /* batch of a tile */
                                .threads = e->tiles > 1 ? 1 : t->threads,
                                .inputs = t->validator->inputs.item,
                                .input_count = t->validator->inputs.count };
    for (int k = 0; k < e->tiles; k++) {
        const enum mase_status st = mase_plan_new(&e->plan[k], e->graph, &o, err);
        if (st)
            return mase_wrap(err, "the float network that distill is to compare with");
        o.like = e->plan[0];
        if (k == 0)
            MASE_TRY(mase_plan_check_size(e->plan[0], e->tiles, err));
    }
    return MASE_OK;
}

/* Make the teacher from the weights that the graph has now. */
static enum mase_status make_teacher(struct mase_trainer *t, struct mase_err *err)
{
    const int64_t batch = t->opts.batch_size < t->rows ? t->opts.batch_size : t->rows;
    struct mase_teacher *e = mase_xcalloc(sizeof *e);
    mase_trainer_drop_teacher(t);
    t->teacher = e;
    e->graph = mase_graph_clone(t->graph);
    e->tiles = mase_tiled_plan_tiles(batch);
    e->plan = mase_xcalloc((size_t)e->tiles * sizeof *e->plan);
    e->fault = mase_xcalloc((size_t)e->tiles * sizeof *e->fault);
    mase_graph_drop_formats(e->graph);
    MASE_TRY(mase_graph_learn(e->graph, err)); /* and what formats have learned */
    mase_graph_own_weights(e->graph);
    return make_plans(e, t, err);
}

enum mase_status mase_trainer_make_teacher(struct mase_trainer *t, struct mase_err *err)
{
    mase_trainer_write_weights(t);
    return make_teacher(t, err);
}

/* ---- a batch ---- */

struct mase_lanes mase_trainer_teach(void *data, const struct mase_plan *tile, int number)
{
    const struct mase_teacher *e = ((const struct mase_trainer *)data)->teacher;
    struct mase_plan *p = e->plan[number];
    const struct mase_lanes from = mase_plan_inputs(tile), to = mase_plan_inputs(p);
    mase_plan_set_samples(p, tile->samples);
    p->first = tile->first;
    p->row = tile->row;
    for (int64_t r = 0; r < to.rows; r++)
        memcpy(to.data + r * to.stride, from.data + r * from.stride, (size_t)p->n * sizeof(float));
    e->fault[number].status = MASE_OK;
    (void)!mase_plan_forward(p,
                             &e->fault[number]); /* mase_trainer_check_lesson reports the fault */
    return mase_plan_output(p);
}

enum mase_status mase_trainer_check_lesson(const struct mase_trainer *t, struct mase_err *err)
{
    for (int k = 0; t->teacher && k < t->teacher->tiles; k++) {
        const struct mase_err *f = &t->teacher->fault[k];
        if (f->status)
            return mase_fail_at(err, f->status, f->loc, "%s", f->msg);
    }
    return MASE_OK;
}

/* ---- checkpoints ---- */

struct keeping {
    struct mase_arena *arena;
    struct mase_obj *to;         /* to save into, or NULL */
    const struct mase_obj *from; /* to load from, or NULL */
    bool copy;                   /* false: only check that `from` is complete */
    const char *missing;         /* the first missing entry or wrong shape; NULL: none */
};

/* The name of a parameter in checkpoints. */
static const char *key_of(struct mase_arena *a, const char *full)
{
    return mase_arena_printf(a, "model.%s", full);
}

static bool save_param(const char *full, struct mase_param *p, void *data)
{
    const struct keeping *k = data;
    if (p->kind != MASE_PARAM_CONSTANT)
        mase_obj_set(k->arena, k->to, key_of(k->arena, full),
                     mase_obj_tensor(k->arena, &p->tensor));
    return true;
}

struct mase_obj *mase_trainer_save_teacher(struct mase_arena *a, const struct mase_trainer *t)
{
    struct keeping k = { .arena = a, .to = mase_obj_ordered_dict(a) };
    mase_graph_each_param(t->teacher->graph, save_param, &k);
    return k.to;
}

static bool load_param(const char *full, struct mase_param *p, void *data)
{
    struct keeping *k = data;
    if (p->kind == MASE_PARAM_CONSTANT || p->init == MASE_INIT_UNSET)
        return true;
    const struct mase_obj *o = mase_obj_get(k->from, key_of(k->arena, full));
    if (!o || o->kind != MASE_OBJ_TENSOR || o->tensor->dtype != p->tensor.dtype ||
        !mase_shape_equal(&o->tensor->shape, &p->tensor.shape)) {
        k->missing = mase_arena_strdup(k->arena, full);
        return false;
    }
    if (k->copy)
        memcpy(p->tensor.data, o->tensor->data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

/* Does a run in this state have a teacher? */
static bool has_teacher(const struct mase_trainer *t, const struct mase_train_state *s)
{
    const int64_t since = t->opts.quantize_after;
    return t->opts.distill > 0 && (s->epoch > since || (s->epoch == since && s->batch > 0));
}

enum mase_status mase_trainer_check_teacher(const struct mase_trainer *t,
                                            const struct mase_train_state *s,
                                            const struct mase_obj *saved, const char *path,
                                            struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct keeping k = { .arena = &a, .from = saved };
    enum mase_status st = MASE_OK;
    if (has_teacher(t, s))
        mase_graph_each_param(t->graph, load_param, &k);
    if (k.missing)
        st = mase_fail_in(err, MASE_EPARSE, path,
                          "no checkpoint to resume from: '%s' of teacher_state_dict is missing or "
                          "of another type or shape",
                          k.missing);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_trainer_load_teacher(struct mase_trainer *t, const struct mase_obj *saved,
                                           struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct keeping k = { .arena = &a, .from = saved, .copy = true };
    if (!has_teacher(t, &t->state))
        return MASE_OK;
    MASE_TRY(make_teacher(t, err));
    mase_graph_each_param(t->teacher->graph, load_param, &k);
    for (int i = 0; i < t->teacher->tiles; i++)
        mase_plan_read_weights(t->teacher->plan[i]);
    mase_arena_release(&a);
    return MASE_OK;
}
