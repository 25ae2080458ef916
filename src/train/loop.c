/*
 * loop.c - epochs and steps.
 *
 * A step depends on counters only, not on earlier steps: the order of rows is a function of seed
 * and epoch, dropout of seed and batch number, the learning rate of epoch and step. A resumed run
 * therefore computes what an uninterrupted run would.
 *
 * Processes that train together (ranks.h) take every step here; they share the tiles of a batch,
 * and the batches of a validation. Whatever may fail in one of them is followed by
 * mase_ranks_agree.
 */
#include <math.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/tiled_plan.h>

#include "base/ranks.h"
#include "exec/plan/plan_parts.h"
#include "train/trainer.h"

enum { TICK_NS = 100000000 };

/* State that a checkpoint does not keep. */
struct run {
    struct mase_trainer *t;
    const struct mase_train_env *env;
    struct mase_train_point point;
    uint64_t ticked;
    int64_t trained; /* samples trained since this run started or resumed, of this epoch */
    bool warned;
};

/* ---- one batch ---- */

static void load_inputs(const struct mase_trainer *t, struct mase_plan *tile, const uint32_t *row,
                        int64_t n)
{
    if (t->table.data) {
        mase_plan_gather(tile, t->table.data, t->table.stride, row, n);
        return;
    }
    const struct mase_lanes x = mase_plan_inputs(tile);
    mase_plan_set_samples(tile, n);
    mase_dataset_batch(t->data, &(struct mase_batch){ .row = row,
                                                      .n = n,
                                                      .x = x.data,
                                                      .feature_stride = x.stride,
                                                      .sample_stride = 1,
                                                      .augment = true,
                                                      .seed = (uint64_t)t->opts.seed,
                                                      .epoch = (uint64_t)t->state.epoch });
}

static void load(void *data, struct mase_plan *tile, struct mase_targets *targets, int number,
                 int64_t from, int64_t n)
{
    const struct mase_trainer *t = data;
    const uint32_t *row = t->order + t->state.batch * t->opts.batch_size + from;
    load_inputs(t, tile, row, n);
    *targets = mase_targets_load(&t->target[number], &t->targets, row, n, mase_plan_inputs(tile));
}

static struct mase_loss_opts loss_opts(const struct mase_trainer *t)
{
    struct mase_loss_opts o = mase_target_loss(&t->targets);
    o.own = t->own_loss;
    o.smoothing = (float)t->opts.label_smoothing;
    o.class_weight = t->class_weight;
    o.scale = 1.0f / (float)t->opts.accumulate;
    o.distill = (float)t->opts.distill;
    o.temperature = (float)t->opts.distill_temperature;
    return o;
}

static void update(void *data, int64_t from, int64_t to)
{
    const struct mase_trainer *t = data;
    mase_trainer_prune_gradients(t, from, to);
    mase_optimizer_part(&t->optim, t->lr, from, to);
    mase_trainer_prune_weights(t, from, to);
}

/* Can each thread update its part of the parameters when it has their gradients? */
static bool in_parts(const struct mase_trainer *t)
{
    return mase_optimizer_has_parts(&t->optim) && !mase_ebops_learns(t->ebops);
}

/* Does the batch under way complete the gradients of a step? */
static bool ends_step(const struct mase_trainer *t)
{
    const int64_t done = t->state.batch + 1;
    return done % t->opts.accumulate == 0 || done == t->batches;
}

/* Forward and backward of the next batch, with the update in parts if possible; add its sums to
 * those of the epoch. */
static enum mase_status run_batch(struct run *r, struct mase_err *err)
{
    struct mase_trainer *t = r->t;
    const bool parts = ends_step(t) && in_parts(t);
    struct mase_train_state *s = &t->state;
    const int64_t from = s->batch * t->opts.batch_size;
    const int64_t n = t->rows - from < t->opts.batch_size ? t->rows - from : t->opts.batch_size;
    struct mase_loss_result result;
    MASE_TRY(mase_tiled_plan_step(
        t->tiled, &result,
        &(struct mase_tiled_batch){ .samples = n,
                                    .load = load,
                                    .teach = t->teacher ? mase_trainer_teach : NULL,
                                    .update = parts ? update : NULL,
                                    .data = t,
                                    .loss = loss_opts(t),
                                    .accumulate = s->batch % t->opts.accumulate != 0,
                                    .number = (uint64_t)(s->epoch * t->batches + s->batch) + 1,
                                    .row = t->order + from },
        err));
    if (t->teacher)
        MASE_TRY(mase_ranks_agree(t->opts.ranks, mase_trainer_check_lesson(t, err), err));
    s->loss += result.loss;
    s->weight += result.weight;
    s->score_part += result.score.part;
    s->score_whole += result.score.whole;
    s->batch++;
    r->trained += n;
    r->point.loss = result.loss / result.weight;
    r->point.score = t->objective.task->of_sums(&result);
    return MASE_OK;
}

/* Learned numbers of formats get first values from so many samples: a single batch gives steps that
 * are off by several percent, which training with few bits does not always correct. */
enum { START_SAMPLES = 2048 };

/* Mark steps at 0 or below as unset, which older releases could train to: no gradient moves them
 * back. */
static int64_t reset_lost(const struct mase_trainer *t, const struct mase_node *n,
                          enum mase_operand o)
{
    const struct mase_quant *q = mase_node_quant(n);
    const struct mase_format *f = q && !q->bypass ? q->operand[o] : NULL;
    if (!mase_format_learned(f) || !f->row->learned->sized)
        return 0;
    const struct mase_param *p = mase_learned_param(n, o, 0);
    const struct mase_weight *w = p ? mase_plan_weight(t->plan, p) : NULL;
    int64_t lost = 0;
    for (int64_t i = 0; w && i < w->count; i++) {
        lost += w->x[i] <= 0;
        w->x[i] = w->x[i] <= 0 ? NAN : w->x[i];
    }
    if (lost)
        mase_info("'%s' is 0 or below in %lld of %lld blocks, which start anew", p->name,
                  (long long)lost, (long long)w->count);
    return lost;
}

static bool has_unset(const struct mase_trainer *t)
{
    bool unset = false;
    for (const struct mase_node *n = t->trained->first; n; n = n->next)
        for (int o = 0; o < MASE_OPERAND_COUNT; o++)
            unset |= reset_lost(t, n, (enum mase_operand)o) > 0;
    for (int i = 0; i < t->plan->weight_count; i++)
        unset |=
            t->plan->weight[i].param->init == MASE_INIT_UNSET && isnan(t->plan->weight[i].x[0]);
    return unset;
}

/* Give learned numbers without a value first values from the first samples. */
static enum mase_status start_formats(struct mase_trainer *t, struct mase_err *err)
{
    const int64_t from = t->state.batch * t->opts.batch_size;
    if (!t->quantised || from >= t->rows || !has_unset(t))
        return MASE_OK;
    const int64_t n = t->rows - from < START_SAMPLES ? t->rows - from : START_SAMPLES;
    return mase_tiled_plan_start(
        t->tiled,
        &(struct mase_tiled_batch){ .samples = n, .load = load, .data = t, .row = t->order + from },
        err);
}

static bool out_of_steps(const struct mase_trainer *t)
{
    return t->opts.max_steps > 0 && t->state.step >= t->opts.max_steps;
}

/* ---- one epoch ---- */

static enum mase_status log_step(struct run *r, struct mase_err *err)
{
    const struct mase_trainer *t = r->t;
    if (!isfinite(r->point.loss) && !r->warned) {
        mase_warn("the loss is %g at step %lld: the learning rate %g may be too large",
                  r->point.loss, (long long)t->state.step, r->point.lr);
        r->warned = true;
    }
    if (!r->env->on_step || t->opts.log_every <= 0 || t->state.step % t->opts.log_every)
        return MASE_OK;
    return r->env->on_step(r->env->data, &r->point, err);
}

static void tick(struct run *r)
{
    const uint64_t now = mase_clock();
    if (now < r->ticked + TICK_NS)
        return;
    r->ticked = now;
    r->env->on_tick(r->env->data, &r->point);
}

static struct mase_train_at stands_at(const struct mase_trainer *t)
{
    const struct mase_train_state *s = &t->state;
    return (struct mase_train_at){ s->epoch, s->step, t->steps, s->cuts };
}

double mase_trainer_lr(const struct mase_trainer *t)
{
    const struct mase_train_at at = stands_at(t);
    return mase_train_lr(&t->opts, &at);
}

double mase_trainer_momentum(const struct mase_trainer *t)
{
    const struct mase_train_at at = stands_at(t);
    return mase_train_momentum(&t->opts, &at, t->optim.usual);
}

static void step_at_once(struct mase_trainer *t)
{
    mase_trainer_prune_gradients(t, 0, t->optim.params.n);
    mase_optimizer_step(&t->optim, t->lr);
    mase_trainer_prune_weights(t, 0, t->optim.params.n);
}

/* Update the parameters; without accumulation, their parts have been updated already. */
static void finish_step(struct mase_trainer *t)
{
    const int64_t step = t->state.step;
    const bool learns = mase_ebops_learns(t->ebops);
    if (learns) {
        mase_ebops_hold(t->ebops);
        mase_ebops_add_gradient(t->ebops, mase_ebops_weight(&t->opts, step, t->steps));
    }
    if (in_parts(t))
        mase_optimizer_count(&t->optim);
    else
        step_at_once(t);
    if (learns && mase_ebops_holds(&t->opts, step, t->steps))
        mase_ebops_put_back(t->ebops);
    mase_trainer_average(t);
}

static enum mase_status train_step(struct run *r, struct mase_err *err)
{
    struct mase_trainer *t = r->t;
    struct mase_train_state *s = &t->state;
    bool last;
    t->lr = mase_trainer_lr(t);
    t->optim.beta1 = mase_trainer_momentum(t);
    mase_trainer_prune(t);
    do {
        last = ends_step(t);
        MASE_TRY(run_batch(r, err));
    } while (!last);
    finish_step(t);
    s->step++;
    r->point.lr = t->lr;
    r->point.epoch = s->epoch;
    r->point.batch = s->batch;
    r->point.step = s->step;
    if (r->env->on_tick)
        tick(r);
    return log_step(r, err);
}

static bool is_stopped(const struct run *r)
{
    return r->env->stop && *r->env->stop;
}

static enum mase_status train_epoch(struct run *r, struct mase_err *err)
{
    struct mase_trainer *t = r->t;
    if (t->shuffled != t->state.epoch) {
        const struct mase_split_rows rows = mase_dataset_split(t->data, MASE_SPLIT_TRAIN);
        mase_train_shuffle(t->order, rows.row, rows.count, (uint64_t)t->opts.seed,
                           (uint64_t)t->state.epoch);
        t->shuffled = t->state.epoch;
    }
    r->trained = 0;
    MASE_TRY(mase_ranks_agree(t->opts.ranks, start_formats(t, err), err));
    while (t->state.batch < t->batches && !out_of_steps(t) && !is_stopped(r))
        MASE_TRY(train_step(r, err));
    return MASE_OK;
}

/* ---- between epochs ---- */

static double metric(const struct mase_evaluation *v, const char *name)
{
    for (int i = 0; i < v->metrics; i++)
        if (mase_streq(v->metric[i].name, name))
            return v->metric[i].value;
    return NAN;
}

/* Label maps are also counted by class, since their accuracy hides rare classes. */
static enum mase_status validate(struct mase_trainer *t, struct mase_train_epoch *e,
                                 struct mase_err *err)
{
    struct mase_evaluation v;
    struct mase_arena detail = { 0 };
    const bool maps = t->objective.task->target == MASE_TASK_MAP;
    mase_trainer_write_weights(t);
    mase_predictor_read_weights(t->validator);
    struct mase_evaluate_opts o = { .rows = mase_dataset_split(t->data, MASE_SPLIT_VALIDATION),
                                    .objective = &t->objective,
                                    .detail = maps ? &detail : NULL,
                                    .ranks = t->opts.ranks };
    const int64_t limit = mase_predictor_batch(t->validator);
    if (t->opts.dev_run && limit < o.rows.count)
        o.rows.count = limit;
    const enum mase_status st = mase_evaluate_rows(&v, t->validator, t->data, &o, err);
    if (!st) {
        e->val_loss = v.loss;
        e->val_score = v.score;
        e->val_iou = maps ? metric(&v, "mean_iou") : NAN;
    }
    mase_arena_release(&detail);
    return st;
}

static void judge(struct mase_trainer *t, struct mase_train_epoch *e)
{
    struct mase_train_state *s = &t->state;
    s->val_loss = e->val_loss;
    /* the first epoch is the best so far even if it is NaN, which replaces an older best.ckpt */
    e->best = s->best_epoch < 0 || e->val_loss < s->best_loss - t->opts.min_delta;
    if (e->best) {
        s->best_loss = isnan(e->val_loss) ? INFINITY : e->val_loss;
        s->best_epoch = e->epoch;
        s->waited = 0;
    } else {
        s->waited++;
    }
    if (mase_streq(t->opts.schedule, "plateau") && s->batch == 0) /* the epoch is complete */
        mase_train_check_plateau(s, &t->opts);
}

static const char *reason_to_stop(const struct mase_trainer *t)
{
    if (t->state.epoch >= t->opts.max_epochs)
        return "all epochs done";
    if (out_of_steps(t))
        return "all steps done";
    if (t->opts.patience && t->state.waited >= t->opts.patience && t->quantised)
        return "no better validation loss";
    return NULL;
}

/* Write best.ckpt first: if the run is stopped between both files, the resumed run repeats the
 * epoch and writes both again. */
static enum mase_status save(const struct run *r, bool best, struct mase_err *err)
{
    const char *dir = r->env->checkpoint_dir;
    struct mase_arena a = { 0 };
    enum mase_status st = MASE_OK;
    if (dir && best)
        st = mase_trainer_save(r->t, mase_path_join(&a, dir, "best.ckpt"), err);
    if (dir && !st)
        st = mase_trainer_save(r->t, mase_path_join(&a, dir, "last.ckpt"), err);
    mase_arena_release(&a);
    return st;
}

/* Call after validation, which writes the parameters to the graph. */
static void count_bits(struct mase_trainer *t, struct mase_train_epoch *e)
{
    e->ebops = NAN;
    if (!t->bits)
        return;
    const double ebops = mase_ebops(t->ebops);
    if (mase_ebops_learns(t->ebops))
        e->ebops = ebops;
    e->bit_rows = mase_bits_count(t->bits, t->ebops, &e->bits);
}

/* Fill the report of the epoch from its sums; advance the counters. */
static void close_epoch(struct mase_trainer *t, struct mase_train_epoch *e)
{
    struct mase_train_state *s = &t->state;
    e->epoch = s->epoch;
    e->step = s->step;
    e->train_loss = s->weight > 0 ? s->loss / s->weight : NAN;
    e->train_score = t->objective.task->of_sums(&(struct mase_loss_result){
        .loss = s->loss, .weight = s->weight, .score = { s->score_part, s->score_whole } });
    if (s->batch < t->batches)
        return; /* stopped within the epoch; a resumed run may complete it */
    s->epoch++;
    s->batch = 0;
    s->loss = s->weight = s->score_part = s->score_whole = 0;
}

static void warn_of_validation(struct run *r, double loss)
{
    if (isfinite(loss) || r->warned)
        return;
    mase_warn("the validation loss is %g after step %lld", loss, (long long)r->t->state.step);
    r->warned = true;
}

static enum mase_status begin_epoch(struct mase_trainer *t, struct mase_err *err)
{
    MASE_TRY(mase_trainer_enter_phase(t, err));
    return mase_trainer_begin_formats(t, err);
}

/* If the run stops before the epoch is saved, a resumed run repeats and reports it. */
static enum mase_status tell_epoch(struct run *r, struct mase_train_epoch *e, struct mase_err *err)
{
    if (r->env->on_epoch)
        MASE_TRY(r->env->on_epoch(r->env->data, e, err));
    if (is_stopped(r))
        e->stop = "stopped";
    return save(r, e->best, err);
}

static enum mase_status run_epoch(struct run *r, struct mase_train_epoch *e, struct mase_err *err)
{
    struct mase_trainer *t = r->t;
    const uint64_t started = mase_clock();
    MASE_TRY(mase_ranks_agree(t->opts.ranks, begin_epoch(t, err), err));
    *e = (struct mase_train_epoch){ .plain = !t->quantised };
    MASE_TRY(train_epoch(r, err));
    e->train_seconds = 1e-9 * (double)(mase_clock() - started);
    e->samples = r->trained;
    e->lr = r->point.lr;
    e->sparsity = mase_trainer_sparsity(t);
    mase_tiled_plan_match(t->tiled);
    MASE_TRY(mase_trainer_compare(t, "the beginning of the epoch", err));
    MASE_TRY(validate(t, e, err));
    warn_of_validation(r, e->val_loss);
    count_bits(t, e);
    close_epoch(t, e);
    judge(t, e);
    e->stop = is_stopped(r) ? "stopped" : reason_to_stop(t);
    e->seconds = 1e-9 * (double)(mase_clock() - started);
    return mase_ranks_agree(t->opts.ranks, tell_epoch(r, e, err), err);
}

static enum mase_status run_epochs(void *data, struct mase_err *err)
{
    struct run *r = data;
    struct mase_train_epoch e = { .stop = reason_to_stop(r->t) };
    r->point.batches = r->t->batches;
    MASE_TRY(mase_trainer_compare(r->t, "the start", err));
    while (!e.stop)
        MASE_TRY(run_epoch(r, &e, err));
    mase_trainer_write_weights(r->t);
    mase_trainer_end_pruning(r->t);
    return MASE_OK;
}

enum mase_status mase_trainer_run(struct mase_trainer *t, const struct mase_train_env *env,
                                  struct mase_err *err)
{
    const struct mase_train_env none = { 0 };
    struct run r = { .t = t, .env = env ? env : &none };
    MASE_TRY(mase_trainer_check(t, err));
    if (t->opts.ranks && r.env->stop)
        mase_bug("one process of several would stop by itself");
    return mase_heap_run(t->heap, run_epochs, &r, err);
}
