/*
 * checkpoint.c - a run to a file that PyTorch and Lightning read.
 *
 *     epoch                        of the last batch, from 0
 *     global_step                  optimiser steps
 *     pytorch-lightning_version    whose layout this is
 *     state_dict                   OrderedDict, names with "model." before them
 *     teacher_state_dict           the same of the float network that distill compares with
 *     loops, callbacks             lightning.c
 *     optimizer_states             [torch.optim's state dict]
 *     lr_schedulers                [the scheduler's state dict]
 *     hyper_parameters             the options of training
 *     mase                         what only we need:
 *         version, seed, loss_sha256 (of a loss of one's own)
 *         state                    struct mase_train_state, field by field
 *         graph                    the network as .mg has it, number formats and all
 *         graph_to_come            before quantize_after: the same with its formats, which are not
 *                                  on yet
 *         weights                  what training goes on with, where state_dict is an average
 *         prune                    [passes.prune]: section, masks (uint8, 0: pruned), scores of
 *                                  movement
 *         data                     name, sample, classes, class_names, checksum, rows, simulated,
 *                                  notice, scaling (none for images),
 *                                  mean, std (float64[features]; none: not scaled),
 *                                  labels, features (columns of one's own table; none: not by
 *                                  name), drop_nan,
 *                                  split (float64[3]), split_by (none: as usual), split_seed,
 *                                  of pictures: image_channels, image_height, image_width (0: as
 *                                  they were), image_mean, image_std (float64[3]; none: as usual
 *                                  for the dataset), crop, flip;
 *                                  seen: rows, hashed, all, hashes (int64) of what trained (seen.c)
 */
#include <math.h>

#include "file/obj_value.h"
#include "train/lightning.h"
#include "train/trained_file.h"

static void set_int(struct mase_arena *a, struct mase_obj *d, const char *key, int64_t i)
{
    mase_obj_set(a, d, key, mase_obj_int(a, i));
}

static void set_float(struct mase_arena *a, struct mase_obj *d, const char *key, double f)
{
    mase_obj_set(a, d, key, mase_obj_float(a, f));
}

static void set_text(struct mase_arena *a, struct mase_obj *d, const char *key, const char *text)
{
    mase_obj_set(a, d, key, text ? mase_obj_text(a, text) : mase_obj_none(a));
}

static struct mase_obj *state_dict(struct mase_arena *a, const struct mase_trainer *t)
{
    struct mase_obj *d = mase_obj_ordered_dict(a);
    int count;
    const struct mase_train_param *p = mase_trainer_params(t, a, &count);
    for (int i = 0; i < count; i++)
        if (p[i].param->kind != MASE_PARAM_CONSTANT)
            mase_obj_set(a, d, mase_arena_printf(a, "model.%s", p[i].name),
                         mase_obj_tensor(a, &p[i].param->tensor));
    return d;
}

/* The options as Python values, by their names. */
static struct mase_obj *hyper_parameters(struct mase_arena *a, const struct mase_train_opts *o)
{
    struct mase_obj *d = mase_obj_dict(a);
    for (const struct mase_opt *row = mase_train_rows; row->key; row++)
        mase_obj_set(a, d, row->key, mase_obj_of_value(a, mase_opt_value(a, o, row)));
    return d;
}

static struct mase_obj *counters(struct mase_arena *a, const struct mase_train_state *s)
{
    struct mase_obj *d = mase_obj_dict(a);
#define COUNT(f) set_int(a, d, #f, s->f);
#define VALUE(f) set_float(a, d, #f, s->f);
#include "train/state.def"
    return d;
}

/* Numbers are a tensor, as PyTorch saves them. */
static struct mase_obj *data_entry(struct mase_arena *a, const struct mase_value *v)
{
    const bool numbers = v->kind == MASE_LIST && v->count && v->items[0]->kind == MASE_FLOAT;
    if (!numbers)
        return mase_obj_of_value(a, v);
    struct mase_tensor t = mase_tensor(a, MASE_F64, &(struct mase_shape){ 1, { v->count } }, true);
    for (int i = 0; i < v->count; i++)
        mase_tensor_set(&t, i, v->items[i]->f);
    return mase_obj_tensor(a, &t);
}

static struct mase_obj *data_info(struct mase_arena *a, const struct mase_trainer *t)
{
    const struct mase_checkpoint_info info = mase_trainer_trained(t);
    const struct mase_value *v = mase_trained_table(a, &info);
    struct mase_obj *o = mase_obj_dict(a);
    for (int i = 0; i < v->count; i++)
        mase_obj_set(a, o, v->keys[i], data_entry(a, v->items[i]));
    return o;
}

static struct mase_obj *seen_rows(struct mase_arena *a, const struct mase_seen_rows *seen)
{
    const struct mase_tensor hashes = { MASE_I64,
                                        { 1, { seen->count } },
                                        (void *)(uintptr_t)seen->hash };
    struct mase_obj *o = mase_obj_dict(a);
    set_int(a, o, "rows", seen->rows);
    set_int(a, o, "hashed", seen->hashed);
    mase_obj_set(a, o, "all", mase_obj_bool(a, seen->all));
    mase_obj_set(a, o, "hashes", mase_obj_tensor(a, &hashes));
    return o;
}

enum mase_status mase_trainer_save(const struct mase_trainer *t, const char *path,
                                   struct mase_err *err)
{
    struct mase_arena arena = { 0 }, *a = &arena;
    const struct mase_train_state *s = &t->state;
    MASE_TRY(mase_trainer_check(t, err));
    struct mase_obj *root = mase_obj_dict(a);
    mase_trainer_write_weights(t);
    set_int(a, root, "epoch", s->batch || !s->epoch ? s->epoch : s->epoch - 1);
    set_int(a, root, "global_step", s->step);
    set_text(a, root, "pytorch-lightning_version", "2.1.0");
    mase_obj_set(a, root, "state_dict", state_dict(a, t));
    if (t->teacher)
        mase_obj_set(a, root, "teacher_state_dict", mase_trainer_save_teacher(a, t));
    mase_obj_set(a, root, "loops", mase_lightning_loops(a, t));
    mase_obj_set(a, root, "callbacks", mase_lightning_callbacks(a, t));
    struct mase_obj *list = mase_obj_set(a, root, "optimizer_states", mase_obj_list(a));
    mase_obj_push(a, list, mase_torch_optimizer(a, t));
    list = mase_obj_set(a, root, "lr_schedulers", mase_obj_list(a));
    if (!mase_streq(t->opts.schedule, "constant"))
        mase_obj_push(a, list, mase_torch_schedule(a, t));
    mase_obj_set(a, root, "hyper_parameters", hyper_parameters(a, &t->opts));
    struct mase_obj *ours = mase_obj_set(a, root, "mase", mase_obj_dict(a));
    set_text(a, ours, "version", MASE_VERSION);
    set_int(a, ours, "seed", t->opts.seed);
    if (t->loss_hash[0])
        set_text(a, ours, "loss_sha256", t->loss_hash);
    mase_obj_set(a, ours, "state", counters(a, s));
    struct mase_obj *data = mase_obj_set(a, ours, "data", data_info(a, t));
    mase_obj_set(a, data, "seen", seen_rows(a, &t->seen));
    if (t->average)
        mase_obj_set(a, ours, "weights", mase_trainer_save_weights(a, t));
    if (t->pruning.on)
        mase_obj_set(a, ours, "prune", mase_trainer_save_pruning(a, t));
    set_text(a, ours, "graph", t->network);
    if (t->network_to_come)
        set_text(a, ours, "graph_to_come", t->network_to_come);
    const enum mase_status st = mase_torch_write(root, path, err);
    mase_arena_release(a);
    return st;
}
