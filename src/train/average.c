/*
 * average.c - a running average of the weights, which is evaluated and saved instead of the last
 * weights (option average_weights).
 *
 *     average += (1 - decay) (weight - average)      after every step
 *
 * Rounded weights jump between the values of their format until the end; their average does not.
 * The optimiser keeps updating the weights themselves. Buffers, such as the statistics of batch
 * norms, are not averaged. A pruned weight is zero in the average. The average restarts when
 * quantisation starts.
 */
#include <string.h>

#include <mase/torch.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"
#include "train/trainer.h"

static bool is_on(const struct mase_trainer *t)
{
    return t->opts.average_weights > 0;
}

void mase_trainer_average(struct mase_trainer *t)
{
    const struct mase_plan_params p = t->optim.params;
    const float take = (float)(1 - t->opts.average_weights);
    if (!is_on(t))
        return;
    if (!t->average) {
        t->average = mase_plan_floats(p.n);
        memcpy(t->average, p.w, (size_t)p.n * sizeof *p.w);
        return;
    }
    for (int64_t i = 0; i < p.n; i++)
        t->average[i] += take * (p.w[i] - t->average[i]);
    mase_trainer_prune_values(t, t->average, 0, p.n);
}

void mase_trainer_forget_average(struct mase_trainer *t)
{
    mase_aligned_free(t->average);
    t->average = NULL;
}

void mase_trainer_write_weights(const struct mase_trainer *t)
{
    struct mase_arena a = { 0 };
    int count;
    mase_plan_write_weights(t->plan);
    if (!t->average)
        return;
    const struct mase_train_param *p = mase_trainer_params(t, &a, &count);
    for (int i = 0; i < count; i++)
        if (p[i].at >= 0)
            memcpy(mase_f32(&p[i].param->tensor), t->average + p[i].at,
                   (size_t)mase_tensor_bytes(&p[i].param->tensor));
    mase_arena_release(&a);
}

/* ---- checkpoints: state_dict has the average, a second entry the weights to resume with ---- */

struct mase_obj *mase_trainer_save_weights(struct mase_arena *a, const struct mase_trainer *t)
{
    struct mase_obj *d = mase_obj_ordered_dict(a);
    int count;
    const struct mase_train_param *p = mase_trainer_params(t, a, &count);
    for (int i = 0; i < count; i++) {
        if (p[i].at < 0)
            continue;
        struct mase_tensor *own = mase_arena_memdup(a, &p[i].param->tensor, sizeof *own);
        own->data = t->optim.params.w + p[i].at;
        mase_obj_set(a, d, p[i].name, mase_obj_tensor(a, own));
    }
    return d;
}

static enum mase_status take(float *to, const struct mase_train_param *p, const struct mase_obj *d,
                             const char *path, struct mase_err *err)
{
    const struct mase_obj *o = mase_obj_get(d, p->name);
    if (!o || o->kind != MASE_OBJ_TENSOR || o->tensor->dtype != MASE_F32 ||
        !mase_shape_equal(&o->tensor->shape, &p->param->tensor.shape))
        return mase_fail_in(err, MASE_EPARSE, path,
                            "no checkpoint to resume from: beside the averages, '%s' is missing or "
                            "of another shape",
                            p->name);
    memcpy(to, mase_f32(o->tensor), (size_t)mase_tensor_bytes(o->tensor));
    return MASE_OK;
}

enum mase_status mase_trainer_load_weights(struct mase_trainer *t, const struct mase_obj *saved,
                                           const char *path, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const struct mase_plan_params params = t->optim.params;
    enum mase_status st = MASE_OK;
    int count;
    if (!is_on(t) || !saved)
        return MASE_OK;
    mase_trainer_forget_average(t);
    mase_trainer_average(t); /* the weights of the checkpoint */
    const struct mase_train_param *p = mase_trainer_params(t, &a, &count);
    for (int i = 0; i < count && !st; i++)
        if (p[i].at >= 0)
            st = take(params.w + p[i].at, &p[i], saved, path, err);
    mase_arena_release(&a);
    return st;
}
