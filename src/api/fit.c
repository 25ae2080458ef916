/*
 * fit.c - training a network: on a copy, which takes its place when all went well.
 */
#include "api/objects.h"

#include <math.h>
#include <string.h>

struct fit {
    struct mase_net *net;
    struct mase_epoch *last;
    const struct mase_rows *rows;
    const struct mase_training *given;
    /* made of these */
    struct mase_training t;
    struct mase_arena arena; /* options, copies */
    struct mase_graph *graph;
    struct mase_trainer *trainer;
    int64_t max_epochs;
    struct mase_epoch epoch;
    struct mase_kept best; /* the weights when it was at its best */
    bool stop;
};

/* ---- while it runs ---- */

static enum mase_status on_epoch(void *data, const struct mase_train_epoch *e, struct mase_err *err)
{
    struct fit *f = data;
    (void)err;
    f->epoch = (struct mase_epoch){
        .size = sizeof f->epoch,
        .epoch = e->epoch,
        .epochs = f->max_epochs,
        .step = e->step,
        .learning_rate = e->lr,
        .train_loss = e->train_loss,
        .train_score = e->train_score,
        .val_loss = e->val_loss,
        .val_score = e->val_score,
        .seconds = e->seconds,
        .samples = e->samples,
        .best = e->best,
        .ebops = e->ebops,
        .stop = e->stop,
    };
    if (e->best && !f->t.keep_last)
        mase_keep_values(&f->best, f->graph);
    if (f->t.on_epoch && !f->t.on_epoch(f->t.user, &f->epoch)) {
        f->stop = true;
        f->epoch.stop = "stopped";
    }
    return MASE_OK;
}

static void on_tick(void *data, const struct mase_train_point *p)
{
    struct fit *f = data;
    if (!f->t.on_batch(f->t.user, p->epoch, p->batch, p->batches, p->loss))
        f->stop = true;
}

/* ---- options ---- */

/* A field, which options do not say otherwise. */
static enum mase_status set(struct mase_value *v, struct mase_arena *a, const char *key,
                            struct mase_value *field, struct mase_err *err)
{
    const struct mase_value *said = mase_value_get(v, key);
    if (said)
        return mase_fail_at(err, MASE_EVALUE, said->at, "%s is a field that is set, too", key);
    mase_value_set(a, v, key, field);
    return MASE_OK;
}

static enum mase_status set_int(struct mase_value *v, struct mase_arena *a, const char *key,
                                int64_t i, struct mase_err *err)
{
    return i ? set(v, a, key, mase_value_int(a, i), err) : MASE_OK;
}

static enum mase_status bind(struct mase_train_opts *o, struct fit *f, struct mase_err *err)
{
    struct mase_arena *a = &f->arena;
    struct mase_value *v;
    MASE_TRY(mase_api_options(&v, a, f->t.options, err));
    MASE_TRY(set_int(v, a, "max_epochs", f->t.max_epochs, err));
    MASE_TRY(set_int(v, a, "batch_size", f->t.batch_size, err));
    MASE_TRY(set_int(v, a, "threads", f->t.threads, err));
    if (f->t.learning_rate != 0)
        MASE_TRY(set(v, a, "learning_rate", mase_value_float(a, f->t.learning_rate), err));
    if (f->t.seed > INT64_MAX)
        return mase_fail(err, MASE_EVALUE, "no seed is as large as %llu",
                         (unsigned long long)f->t.seed);
    if (f->t.seed || !mase_value_get(v, "seed"))
        MASE_TRY(set(v, a, "seed", mase_value_int(a, (int64_t)f->t.seed), err));
    MASE_TRY(mase_opts_bind(o, sizeof *o, mase_train_rows, v, a, err));
    f->max_epochs = o->max_epochs;
    return MASE_OK;
}

/* ---- the weights it has learnt ---- */

/* The network has them where its weights lie, since programs may look there. */
static void take_over(struct fit *f)
{
    struct mase_graph *g = mase_graph_clone(f->net->graph);
    struct mase_arena a = { 0 };
    mase_graph_take_learned(g, f->graph);
    mase_graph_alloc(g);
    const struct mase_checkpoint_info by = mase_trainer_trained(f->trainer),
                                      trained = mase_copy_trained(&a, &by);
    mase_net_become_trained(f->net, g, f->graph, &a, &trained, "memory");
}

/* ---- the call ---- */

static enum mase_status train(struct fit *f, struct mase_err *err)
{
    const struct mase_dataset *d = f->rows->dataset;
    struct mase_train_opts opts;
    MASE_TRY(mase_net_fits(f->net, f->graph, f->rows, err));
    MASE_TRY(bind(&opts, f, err));
    MASE_TRY(mase_train_check_distill(&opts, f->graph, MASE_NOWHERE, err));
    MASE_TRY(mase_trainer_new(&f->trainer, f->graph, d, &opts, err));
    if (f->t.resume)
        MASE_TRY(mase_trainer_resume(f->trainer, f->t.resume, err));
    const struct mase_train_env env = { .checkpoint_dir = f->t.checkpoint_dir,
                                        .stop = &f->stop,
                                        .data = f,
                                        .on_tick = f->t.on_batch ? on_tick : NULL,
                                        .on_epoch = on_epoch };
    MASE_TRY(mase_trainer_run(f->trainer, &env, err));
    mase_put_back(&f->best);
    take_over(f);
    return MASE_OK;
}

static enum mase_status fit(void *data, struct mase_err *err)
{
    struct fit *f = data;
    if (f->given) {
        MASE_TRY(mase_api_size(f->given->size, offsetof(struct mase_training, max_epochs),
                               "mase_training", err));
        MASE_API_COPY(f->t, f->given);
    }
    MASE_TRY(mase_api_text(f->t.checkpoint_dir, "checkpoint_dir", err));
    MASE_TRY(mase_api_text(f->t.resume, "resume", err));
    if (f->last)
        MASE_TRY(mase_api_size(f->last->size, sizeof *f->last, "mase_epoch", err));
    MASE_TRY(mase_net_need_values(f->net, err));
    f->epoch = (struct mase_epoch){ .size = sizeof f->epoch,
                                    .epoch = -1,
                                    .learning_rate = NAN,
                                    .train_loss = NAN,
                                    .train_score = NAN,
                                    .val_loss = NAN,
                                    .val_score = NAN,
                                    .ebops = NAN,
                                    .stop = "nothing to do" };
    f->graph = mase_graph_clone(f->net->graph);
    mase_graph_own_weights(f->graph);
    const enum mase_status st = train(f, err);
    mase_trainer_free(f->trainer);
    mase_graph_free(f->graph);
    mase_arena_release(&f->arena);
    if (!st && f->last)
        MASE_API_GIVE(f->last, f->epoch);
    return st;
}

enum mase_status mase_net_train(struct mase_net *net, struct mase_epoch *last,
                                const struct mase_rows *rows, const struct mase_training *training,
                                struct mase_err *err)
{
    struct fit f = { .net = net, .last = last, .rows = rows, .given = training };
    f.best.arena = &f.arena;
    MASE_API_NEED(net, err);
    MASE_API_NEED(rows, err);
    return mase_api_change(net, fit, &f, err);
}
