/*
 * runner_train.c - train the network of a trial, and measure what it has become.
 *
 * Options that the original does not have are those of ch train. Formats of the trial are on from
 * the first step, unless quantize_after says otherwise.
 */
#include <math.h>

#include <mase/train.h>

#include "base/host.h"
#include "search/runner.h"
#include "search/search_parts.h"

struct train_opts {
    int64_t num_samples, max_epochs, num_warmup_steps, gradient_accumulation_steps;
    double learning_rate, weight_decay;
    const char *optimizer, *lr_scheduler, *data_loader, *dataloader;
    struct mase_value *more; /* options of ch train */
};

static const char *const optimizers[] = { "adam", "adamw", "sgd", NULL };

/* The original's words, and the schedules that they are. */
static const char *const schedulers[] = { "linear",     "cosine",   "cosine_with_restarts",
                                          "polynomial", "constant", "constant_with_warmup",
                                          NULL };
static const char *const schedules[] = { "polynomial", "cosine",   "restarts",
                                         "polynomial", "constant", "constant" };

static const struct mase_opt options[] = {
    MASE_OPT_INT(struct train_opts, num_samples, "num_samples", -1, -1, 0x1p53,
                 "samples to train on in all; -1: no limit"),
    MASE_OPT_INT(struct train_opts, max_epochs, "max_epochs", -1, -1, 0x1p31,
                 "passes over the data; -1: no limit"),
    MASE_OPT_CHOICE(struct train_opts, optimizer, "optimizer", "adam", optimizers, "optimiser"),
    MASE_OPT_FLOAT(struct train_opts, learning_rate, "learning_rate", 1e-5, 0, 1e6,
                   "learning rate"),
    MASE_OPT_FLOAT(struct train_opts, weight_decay, "weight_decay", 0, 0, 1e6, "weight decay"),
    MASE_OPT_CHOICE(struct train_opts, lr_scheduler, "lr_scheduler", "linear", schedulers,
                    "how the learning rate falls"),
    MASE_OPT_INT(struct train_opts, num_warmup_steps, "num_warmup_steps", 0, 0, 0x1p31,
                 "steps of rising learning rate"),
    MASE_OPT_INT(struct train_opts, gradient_accumulation_steps, "gradient_accumulation_steps", 1,
                 1, 0x1p20, "batches for one step"),
    MASE_OPT_CHOICE(struct train_opts, data_loader, "data_loader", NULL, mase_search_loaders,
                    "the split to measure on: val_dataloader"),
    MASE_OPT_CHOICE(struct train_opts, dataloader, "dataloader", NULL, mase_search_loaders,
                    "the same by another name"),
    MASE_OPT_REST(struct train_opts, more, "KEY", "a further option of ch train"),
    { 0 },
};

/* ---- options of ch train ---- */

static const char *schedule_of(const char *scheduler)
{
    int i = 0;
    while (!mase_streq(schedulers[i], scheduler))
        i++;
    return schedules[i];
}

static void set_int(struct mase_value *table, struct mase_arena *a, const char *key, int64_t n)
{
    mase_value_set(a, table, key, mase_value_int(a, n));
}

/* Of the search, of this runner, and of the trial: the last that says something decides. */
static struct mase_value *training_of(struct mase_arena *a, const struct mase_candidate *c,
                                      const struct train_opts *o)
{
    const struct mase_search *s = c->search;
    struct mase_value *t =
        s->opts.training ? mase_value_copy(a, s->opts.training) : mase_value_table(a);
    set_int(t, a, "max_epochs", o->max_epochs > 0 ? o->max_epochs : 1 << 20);
    set_int(t, a, "warmup_steps", o->num_warmup_steps);
    set_int(t, a, "accumulate_grad_batches", o->gradient_accumulation_steps);
    mase_value_set(a, t, "training_optimizer", mase_value_string(a, o->optimizer));
    mase_value_set(a, t, "learning_rate", mase_value_float(a, o->learning_rate));
    mase_value_set(a, t, "weight_decay", mase_value_float(a, o->weight_decay));
    mase_value_set(a, t, "lr_schedule", mase_value_string(a, schedule_of(o->lr_scheduler)));
    if (!mase_streq(o->lr_scheduler, "cosine"))
        mase_value_set(a, t, "lr_min", mase_value_float(a, 0));
    for (int i = 0; i < o->more->count; i++)
        mase_value_set(a, t, o->more->keys[i], o->more->items[i]);
    mase_option_space_set(t, a, &s->training, &s->space, c->x);
    return t;
}

/* What prunes while a trial trains; NULL: nothing. */
static enum mase_status bind_pruning(const struct mase_prune_opts **out, struct mase_arena *a,
                                     const struct mase_candidate *c, struct mase_err *err)
{
    const struct mase_search *s = c->search;
    struct mase_prune_opts *o = mase_new(a, struct mase_prune_opts);
    struct mase_value *table = mase_value_table(a);
    struct mase_pruning resolved;
    *out = s->pruning.count ? o : NULL;
    mase_option_space_set(table, a, &s->pruning, &s->space, c->x);
    MASE_TRY(mase_opts_bind(o, sizeof *o, mase_prune_rows, table, a, err));
    return *out ? mase_prune_resolve(&resolved, o, err) : MASE_OK;
}

static enum mase_status bind(struct mase_train_opts *t, struct mase_arena *a,
                             const struct mase_candidate *c, const struct train_opts *o,
                             struct mase_err *err)
{
    const struct mase_search *s = c->search;
    MASE_TRY(mase_opts_bind(t, sizeof *t, mase_train_rows, training_of(a, c, o), a, err));
    t->threads = mase_threads_allowed() / s->workers;
    t->threads = t->threads > 1 ? t->threads : 1;
    t->seed = (int64_t)s->opts.seed;
    MASE_TRY(bind_pruning(&t->prune, a, c, err));
    if (o->num_samples > 0) {
        const int64_t step = t->batch_size * t->accumulate;
        t->max_steps = (o->num_samples + step - 1) / step;
    }
    return MASE_OK;
}

static enum mase_status check(const void *opts, struct mase_arena *a, struct mase_err *err)
{
    const struct train_opts *o = opts;
    struct mase_train_opts t;
    if (o->num_samples < 0 && o->max_epochs < 0)
        return mase_fail(err, MASE_EVALUE, "max_epochs or num_samples must say when training ends");
    return mase_opts_bind(&t, sizeof t, mase_train_rows, o->more, a, err);
}

/* Every choice of some options, or both ends of a range; x has the first of all others. */
static enum mase_status check_options(struct mase_candidate *c, const struct train_opts *opts,
                                      const struct mase_option_space *o, double *x,
                                      struct mase_arena *a, struct mase_err *err)
{
    struct mase_train_opts t;
    enum mase_status st = MASE_OK;
    for (int i = o->first; i < o->first + o->count && !st; i++) {
        const struct mase_dimension *d = &c->search->space.dimension[i];
        const double step = d->kind == MASE_DIMENSION_CHOICE ? 1 : d->high - d->low;
        for (x[i] = d->low; x[i] <= d->high && !st; x[i] += step > 0 ? step : 1)
            st = bind(&t, a, c, opts, err);
        x[i] = d->low;
    }
    return st;
}

static enum mase_status prepare(struct mase_candidate *c, const void *opts, struct mase_err *err)
{
    const struct mase_search *s = c->search;
    struct mase_arena a = { 0 };
    struct mase_train_opts t;
    double *x = mase_new_array(&a, double, (size_t)s->space.count);
    for (int i = 0; i < s->space.count; i++)
        x[i] = s->space.dimension[i].low;
    c->x = x;
    enum mase_status st = bind(&t, &a, c, opts, err);
    if (!st)
        st = check_options(c, opts, &s->training, x, &a, err);
    if (!st)
        st = check_options(c, opts, &s->pruning, x, &a, err);
    c->x = NULL;
    mase_arena_release(&a);
    return st;
}

/* ---- training ---- */

struct fit {
    struct mase_candidate *c;
    const struct mase_train_opts *opts;
    struct mase_trainer *trainer;
    bool stop;
};

/* The first objective that validation gives decides whether the trial goes on. */
static enum mase_status on_epoch(void *data, const struct mase_train_epoch *e, struct mase_err *err)
{
    struct fit *f = data;
    const struct mase_search_config *config = &f->c->search->config;
    (void)err;
    if (!config->pruner)
        return MASE_OK;
    const bool of_loss = mase_streq(config->reading, "loss");
    f->stop =
        mase_study_report(f->c->run, f->c->trial, e->epoch, of_loss ? e->val_loss : e->val_score);
    return MASE_OK;
}

/* It may say something: one thread at a time. */
static enum mase_status make_trainer(void *data, struct mase_err *err)
{
    struct fit *f = data;
    MASE_TRY(mase_graph_learn(f->c->trained, err));
    return mase_trainer_new(&f->trainer, f->c->trained, f->c->search->opts.data, f->opts, err);
}

static enum mase_status fit(struct fit *f, struct mase_err *err)
{
    const struct mase_train_env env = { .data = f, .on_epoch = on_epoch, .stop = &f->stop };
    struct mase_guard *guard = mase_guard_current();
    enum mase_status st;
#pragma omp critical(mase_search_train)
    st = mase_guarded_part(guard, make_trainer, f, err);
    if (mase_guard_propagate(st, err))
        return st;
    st = mase_trainer_run(f->trainer, &env, err);
    f->c->trained_on = mase_trainer_trained(f->trainer);
    mase_trainer_free(f->trainer);
    return st;
}

static enum mase_status measure(double *found, struct mase_candidate *c, const void *opts,
                                struct mase_err *err)
{
    const struct train_opts *o = opts;
    struct mase_train_opts t;
    struct mase_arena a = { 0 };
    struct fit f = { .c = c, .opts = &t };
    mase_candidate_copy(c);
    enum mase_status st = bind(&t, &a, c, o, err);
    if (!st)
        st = fit(&f, err);
    if (!st)
        st =
            mase_runner_evaluate(found, c, o->data_loader ? o->data_loader : o->dataloader, 0, err);
    mase_arena_release(&a);
    return st;
}

const struct mase_runner_functions mase_runner_basic_train = {
    .options = options,
    .options_size = sizeof(struct train_opts),
    .metrics = mase_evaluation_metrics,
    .check = check,
    .prepare = prepare,
    .trains = true,
    .measure = measure,
};
