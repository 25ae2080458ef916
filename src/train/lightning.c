/*
 * lightning.c - the entries of a checkpoint that Lightning reads: progress of its loops, state of
 * its callbacks.
 *
 * A fit_loop counts epochs, batches and optimiser steps, each four times: ready, started,
 * processed, completed, in total and in the epoch under way. The other loops never ran.
 */
#include "train/lightning.h"

static void set_int(struct mase_arena *a, struct mase_obj *d, const char *key, int64_t i)
{
    mase_obj_set(a, d, key, mase_obj_int(a, i));
}

/* Counters of the stages of a loop; a loop counts two, three or four of them. */
enum { STAGES_TWO, STAGES_THREE, STAGES_FOUR };
struct count {
    int64_t total, current;
    int stages;
};

static struct mase_obj *reached(struct mase_arena *a, int64_t n, int stages)
{
    struct mase_obj *d = mase_obj_dict(a);
    set_int(a, d, "ready", n);
    set_int(a, d, "completed", n);
    if (stages >= STAGES_THREE)
        set_int(a, d, "started", n);
    if (stages >= STAGES_FOUR)
        set_int(a, d, "processed", n);
    return d;
}

static struct mase_obj *progress(struct mase_arena *a, struct count c)
{
    struct mase_obj *d = mase_obj_dict(a);
    mase_obj_set(a, d, "total", reached(a, c.total, c.stages));
    mase_obj_set(a, d, "current", reached(a, c.current, c.stages));
    return d;
}

static struct mase_obj *batch_progress(struct mase_arena *a, struct count c, bool last)
{
    c.stages = STAGES_FOUR;
    struct mase_obj *d = progress(a, c);
    mase_obj_set(a, d, "is_last_batch", mase_obj_bool(a, last));
    return d;
}

/* A checkpoint is written in the validation of its epoch, before Lightning counts it as done. */
static struct mase_obj *epoch_progress(struct mase_arena *a, const struct mase_train_state *s)
{
    const int64_t begun = s->epoch + (s->batch > 0);
    struct mase_obj *d = mase_obj_dict(a);
    static const char *const scopes[] = { "total", "current" };
    for (int i = 0; i < 2; i++) {
        struct mase_obj *c = mase_obj_set(a, d, scopes[i], reached(a, begun, STAGES_FOUR));
        for (int k = 0; k < c->count; k++)
            if (mase_obj_is_text(c->keys[k], "completed"))
                c->items[k] = mase_obj_int(a, begun > 0 ? begun - 1 : 0);
    }
    return d;
}

static struct mase_obj *idle_loop(struct mase_arena *a)
{
    struct mase_obj *d = mase_obj_dict(a);
    mase_obj_set(a, d, "state_dict", mase_obj_dict(a));
    mase_obj_set(a, d, "batch_progress", batch_progress(a, (struct count){ 0 }, false));
    return d;
}

struct mase_obj *mase_lightning_loops(struct mase_arena *a, const struct mase_trainer *t)
{
    const struct mase_train_state *s = &t->state;
    const bool whole = s->batch == 0;
    const int64_t batches = s->epoch * t->batches + s->batch;
    const int64_t now = whole ? t->batches : s->batch;
    const int64_t steps_now =
        whole ? t->steps : (s->batch + t->opts.accumulate - 1) / t->opts.accumulate;
    struct mase_obj *loops = mase_obj_dict(a);
    struct mase_obj *fit = mase_obj_set(a, loops, "fit_loop", mase_obj_dict(a));
    mase_obj_set(a, fit, "state_dict", mase_obj_dict(a));
    struct mase_obj *el = mase_obj_set(a, fit, "epoch_loop.state_dict", mase_obj_dict(a));
    set_int(a, el, "_batches_that_stepped", batches);
    mase_obj_set(a, fit, "epoch_loop.batch_progress",
                 batch_progress(a, (struct count){ batches, now, 0 }, whole));
    mase_obj_set(a, fit, "epoch_loop.scheduler_progress",
                 progress(a, (struct count){ s->epoch, whole, STAGES_TWO }));
    mase_obj_set(a, fit, "epoch_loop.automatic_optimization.state_dict", mase_obj_dict(a));
    struct mase_obj *op =
        mase_obj_set(a, fit, "epoch_loop.automatic_optimization.optim_progress", mase_obj_dict(a));
    struct mase_obj *optimizer = mase_obj_set(a, op, "optimizer", mase_obj_dict(a));
    mase_obj_set(a, optimizer, "step",
                 progress(a, (struct count){ s->step, steps_now, STAGES_TWO }));
    mase_obj_set(a, optimizer, "zero_grad",
                 progress(a, (struct count){ s->step, steps_now, STAGES_THREE }));
    mase_obj_set(a, fit, "epoch_loop.manual_optimization.state_dict", mase_obj_dict(a));
    mase_obj_set(a, fit, "epoch_loop.manual_optimization.optim_step_progress",
                 progress(a, (struct count){ 0, 0, STAGES_TWO }));
    mase_obj_set(a, fit, "epoch_loop.val_loop.state_dict", mase_obj_dict(a));
    mase_obj_set(a, fit, "epoch_loop.val_loop.batch_progress",
                 batch_progress(a, (struct count){ 0 }, true));
    mase_obj_set(a, fit, "epoch_progress", epoch_progress(a, s));
    mase_obj_set(a, loops, "validate_loop", idle_loop(a));
    mase_obj_set(a, loops, "test_loop", idle_loop(a));
    mase_obj_set(a, loops, "predict_loop", idle_loop(a));
    return loops;
}

static struct mase_obj *scalar(struct mase_arena *a, double value)
{
    struct mase_tensor t = mase_tensor(a, MASE_F32, &(struct mase_shape){ 0 }, true);
    mase_f32(&t)[0] = (float)value;
    return mase_obj_tensor(a, &t);
}

/* File names without folders, so that a run writes equal bytes in any folder. */
struct mase_obj *mase_lightning_callbacks(struct mase_arena *a, const struct mase_trainer *t)
{
    struct mase_obj *callbacks = mase_obj_dict(a);
    struct mase_obj *c = mase_obj_set(
        a, callbacks,
        "ModelCheckpoint{'monitor': 'val_loss_epoch', 'mode': 'min', 'every_n_train_steps': 0, "
        "'every_n_epochs': 1, 'train_time_interval': None}",
        mase_obj_dict(a));
    const double best = t->state.best_loss;
    mase_obj_set(a, c, "monitor", mase_obj_text(a, "val_loss_epoch"));
    mase_obj_set(a, c, "best_model_score", scalar(a, best));
    mase_obj_set(a, c, "best_model_path", mase_obj_text(a, "best.ckpt"));
    mase_obj_set(a, c, "current_score", scalar(a, t->state.val_loss));
    mase_obj_set(a, c, "dirpath", mase_obj_text(a, ""));
    struct mase_obj *k = mase_obj_set(a, c, "best_k_models", mase_obj_dict(a));
    mase_obj_set(a, k, "best.ckpt", scalar(a, best));
    mase_obj_set(a, c, "kth_best_model_path", mase_obj_text(a, "best.ckpt"));
    mase_obj_set(a, c, "kth_value", scalar(a, best));
    mase_obj_set(a, c, "last_model_path", mase_obj_text(a, "last.ckpt"));
    return callbacks;
}

/* ---- torch.optim ---- */

static struct mase_obj *view(struct mase_arena *a, const struct mase_train_param *p, float *data)
{
    struct mase_tensor t = p->param->tensor;
    t.dtype = MASE_F32;
    t.data = data + p->at;
    return mase_obj_tensor(a, &t);
}

/* Kinds of hyper-parameters of an optimiser in torch.optim's param_groups. */
enum field_kind { END, NUMBER, WHOLE, YES, NO, NONE, BETAS, MOMENTUM, NESTEROV };
struct field {
    const char *key;
    enum field_kind kind;
    double value;
};
enum { MOST_FIELDS = 8 };
static const struct {
    const char *optimizer;
    struct field field[MOST_FIELDS];
} group_fields[] = {
    { "adam",
      { { "betas", BETAS, 0.999 },
        { "eps", NUMBER, 1e-8 },
        { "amsgrad", NO, 0 },
        { "capturable", NO, 0 },
        { "decoupled_weight_decay", NO, 0 },
        { "fused", NONE, 0 } } },
    { "adamw",
      { { "betas", BETAS, 0.999 },
        { "eps", NUMBER, 1e-8 },
        { "amsgrad", NO, 0 },
        { "capturable", NO, 0 },
        { "decoupled_weight_decay", YES, 0 },
        { "fused", NONE, 0 } } },
    { "sgd",
      { { "momentum", MOMENTUM, 0 },
        { "dampening", WHOLE, 0 },
        { "nesterov", NESTEROV, 0 },
        { "fused", NONE, 0 } } },
    { "nadam",
      { { "betas", BETAS, 0.999 },
        { "eps", NUMBER, 1e-8 },
        { "momentum_decay", NUMBER, 4e-3 },
        { "decoupled_weight_decay", NO, 0 },
        { "capturable", NO, 0 } } },
    { "rmsprop",
      { { "momentum", WHOLE, 0 },
        { "alpha", NUMBER, 0.99 },
        { "eps", NUMBER, 1e-8 },
        { "centered", NO, 0 },
        { "capturable", NO, 0 } } },
    { "adagrad",
      { { "lr_decay", WHOLE, 0 },
        { "eps", NUMBER, 1e-10 },
        { "initial_accumulator_value", WHOLE, 0 },
        { "fused", NONE, 0 } } },
    { "lion", { { "betas", BETAS, 0.99 } } },
};

static struct mase_obj *field_value(struct mase_arena *a, const struct mase_trainer *t,
                                    const struct field *f)
{
    struct mase_obj *betas;
    switch (f->kind) {
    case NUMBER:
        return mase_obj_float(a, f->value);
    case MOMENTUM:
        return mase_obj_float(a, mase_trainer_momentum(t));
    case WHOLE:
        return mase_obj_int(a, (int64_t)f->value);
    case YES:
    case NO:
        return mase_obj_bool(a, f->kind == YES);
    case NESTEROV:
        return mase_obj_bool(a, t->optim.nesterov);
    case BETAS:
        betas = mase_obj_tuple(a);
        mase_obj_push(a, betas, mase_obj_float(a, mase_trainer_momentum(t)));
        mase_obj_push(a, betas, mase_obj_float(a, f->value));
        return betas;
    case END:
    case NONE:
        break;
    }
    return mase_obj_none(a);
}

static void set_fields(struct mase_arena *a, struct mase_obj *g, const struct mase_trainer *t)
{
    for (size_t i = 0; i < sizeof group_fields / sizeof *group_fields; i++) {
        const struct field *f = group_fields[i].field;
        for (; mase_streq(group_fields[i].optimizer, t->opts.optimizer) && f->kind != END; f++)
            mase_obj_set(a, g, f->key, field_value(a, t, f));
    }
}

/* initial_lr of a param_group, which schedulers start from. */
static double initial_lr(const struct mase_trainer *t)
{
    return mase_streq(t->opts.schedule, "onecycle") ? mase_train_cycle(&t->opts).first
                                                    : t->opts.learning_rate;
}

static void set_cycle(struct mase_arena *a, struct mase_obj *g, const struct mase_trainer *t)
{
    const struct mase_train_cycle c = mase_train_cycle(&t->opts);
    mase_obj_set(a, g, "max_lr", mase_obj_float(a, t->opts.learning_rate));
    mase_obj_set(a, g, "min_lr", mase_obj_float(a, c.last));
    if (!c.momentum)
        return;
    mase_obj_set(a, g, "max_momentum", mase_obj_float(a, c.max_momentum));
    mase_obj_set(a, g, "base_momentum", mase_obj_float(a, c.base_momentum));
}

/* params: the numbers of the parameters in the group. */
static struct mase_obj *param_group(struct mase_arena *a, const struct mase_trainer *t,
                                    double weight_decay, struct mase_obj *params)
{
    struct mase_obj *g = mase_obj_dict(a);
    mase_obj_set(a, g, "lr", mase_obj_float(a, mase_trainer_lr(t)));
    set_fields(a, g, t);
    mase_obj_set(a, g, "weight_decay", mase_obj_float(a, weight_decay));
    mase_obj_set(a, g, "maximize", mase_obj_bool(a, false));
    mase_obj_set(a, g, "foreach", mase_obj_none(a));
    mase_obj_set(a, g, "differentiable", mase_obj_bool(a, false));
    mase_obj_set(a, g, "initial_lr", mase_obj_float(a, initial_lr(t)));
    if (mase_streq(t->opts.schedule, "onecycle"))
        set_cycle(a, g, t);
    mase_obj_set(a, g, "params", params);
    return g;
}

/* What PyTorch's optimiser keeps of a parameter. */
static struct mase_obj *param_state(struct mase_arena *a, const struct mase_trainer *t,
                                    const struct mase_train_param *p)
{
    const struct mase_optim_row *row = t->optim.row;
    struct mase_obj *s = mase_obj_dict(a);
    if (row->counts)
        mase_obj_set(a, s, "step", scalar(a, (double)t->optim.step));
    if (mase_streq(row->name, "nadam"))
        mase_obj_set(a, s, "mu_product", scalar(a, t->optim.mu));
    if (row->m)
        mase_obj_set(a, s, row->m, view(a, p, t->optim.m));
    if (row->v)
        mase_obj_set(a, s, row->v, view(a, p, t->optim.v));
    return s;
}

struct mase_obj *mase_torch_optimizer(struct mase_arena *a, const struct mase_trainer *t)
{
    struct mase_obj *o = mase_obj_dict(a);
    struct mase_obj *state = mase_obj_set(a, o, "state", mase_obj_dict(a));
    struct mase_obj *weights = mase_obj_list(a), *learned = mase_obj_list(a);
    int count, params = 0;
    const struct mase_train_param *p = mase_trainer_params(t, a, &count);
    for (int i = 0; i < count; i++) {
        const int number = params;
        const bool apart = t->opts.weight_decay > 0 && p[i].param->init == MASE_INIT_UNSET;
        if (!mase_param_is_buffer(p[i].param) && !p[i].param->tied)
            mase_obj_push(a, apart ? learned : weights, mase_obj_int(a, params++));
        if (p[i].at < 0) /* a frozen parameter is in the group, and has no state */
            continue;
        if (t->optim.step > 0)
            mase_obj_set_key(a, state, mase_obj_int(a, number), param_state(a, t, &p[i]));
    }
    struct mase_obj *groups = mase_obj_set(a, o, "param_groups", mase_obj_list(a));
    mase_obj_push(a, groups, param_group(a, t, t->opts.weight_decay, weights));
    if (learned->count) /* learned numbers of formats do not decay */
        mase_obj_push(a, groups, param_group(a, t, 0, learned));
    return o;
}

static struct mase_obj *float_list(struct mase_arena *a, double f)
{
    struct mase_obj *list = mase_obj_list(a);
    mase_obj_push(a, list, mase_obj_float(a, f));
    return list;
}

static void set_float(struct mase_arena *a, struct mase_obj *d, const char *key, double f)
{
    mase_obj_set(a, d, key, mase_obj_float(a, f));
}

static void set_cosine(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t)
{
    const bool by_steps = mase_train_lr_by_steps(&t->opts);
    set_int(a, s, "T_max", t->opts.max_epochs * (by_steps ? t->steps : 1));
    set_float(a, s, "eta_min", mase_train_lr_min(&t->opts));
}

static void set_step(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t)
{
    set_int(a, s, "step_size", t->opts.lr_step_size);
    set_float(a, s, "gamma", t->opts.lr_gamma);
}

static void set_polynomial(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t)
{
    const bool by_steps = mase_train_lr_by_steps(&t->opts);
    set_int(a, s, "total_iters", t->opts.max_epochs * (by_steps ? t->steps : 1));
    set_float(a, s, "power", t->opts.lr_power);
}

static void set_restarts(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t)
{
    set_int(a, s, "T_0", t->opts.lr_step_size);
    set_int(a, s, "T_mult", t->opts.lr_mult);
    set_float(a, s, "eta_min", mase_train_lr_min(&t->opts));
}

static void set_onecycle(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t)
{
    const bool moves = mase_train_cycle(&t->opts).momentum;
    set_int(a, s, "total_steps", t->opts.max_epochs * t->steps);
    mase_obj_set(a, s, "cycle_momentum", mase_obj_bool(a, moves));
    if (moves)
        mase_obj_set(a, s, "use_beta1", mase_obj_bool(a, !mase_streq(t->opts.optimizer, "sgd")));
}

static void set_plateau(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t)
{
    set_float(a, s, "factor", t->opts.lr_gamma);
    set_int(a, s, "patience", t->opts.lr_patience);
    set_float(a, s, "best", t->state.plateau_loss);
    set_int(a, s, "num_bad_epochs", t->state.plateau_waited);
}

/* State of a scheduler, beside the fields that all schedulers have. */
static const struct {
    const char *name;
    void (*set)(struct mase_arena *a, struct mase_obj *s, const struct mase_trainer *t);
} schedule_fields[] = {
    { "cosine", set_cosine },     { "step", set_step },         { "polynomial", set_polynomial },
    { "restarts", set_restarts }, { "onecycle", set_onecycle }, { "plateau", set_plateau },
};

struct mase_obj *mase_torch_schedule(struct mase_arena *a, const struct mase_trainer *t)
{
    const int64_t at = mase_train_lr_by_steps(&t->opts) ? t->state.step : t->state.epoch;
    struct mase_obj *s = mase_obj_dict(a);
    for (size_t i = 0; i < sizeof schedule_fields / sizeof *schedule_fields; i++)
        if (mase_streq(schedule_fields[i].name, t->opts.schedule))
            schedule_fields[i].set(a, s, t);
    mase_obj_set(a, s, "base_lrs", float_list(a, initial_lr(t)));
    set_int(a, s, "last_epoch", at);
    set_int(a, s, "_step_count", at + 1);
    mase_obj_set(a, s, "_get_lr_called_within_step", mase_obj_bool(a, false));
    mase_obj_set(a, s, "_last_lr", float_list(a, mase_trainer_lr(t)));
    return s;
}
