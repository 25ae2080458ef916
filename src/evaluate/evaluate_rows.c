/*
 * evaluate_rows.c - a split through a predictor: loss and score, and on request the fuller metrics.
 */
#include <math.h>

#include <mase/progress.h>

#include "base/ranks.h"
#include "evaluate/predictor.h"
#include "evaluate/task_metrics.h"
#include "exec/plan/plan_parts.h"

/* State of an evaluation. */
struct work {
    const struct mase_evaluate_opts *opts;
    struct mase_target_source source;
    struct mase_target_buffer *buffer; // (workers)
    struct mase_own_loss **own;        // (workers): NULL: the task's loss
    struct mase_split_rows rows;       /* that this process evaluates */
    struct mase_loss_result *result;   // (batches): of those rows
    struct mase_kept_outputs kept;     /* nothing unless details are asked for */
};

static void fill(const struct mase_predictor *p, struct mase_worker *s, int64_t at, void *data)
{
    const struct work *w = data;
    const uint32_t *row = w->rows.row + at;
    const struct mase_table_view table = mase_dataset_table(w->source.data);
    if (!mase_worker_gather(p, s, table.data, table.stride, row))
        mase_dataset_batch(w->source.data, &(struct mase_batch){ .row = row,
                                                                 .n = s->samples,
                                                                 .x = s->x.data,
                                                                 .feature_stride = s->x.stride,
                                                                 .sample_stride = 1 });
    struct mase_target_buffer *b = &w->buffer[s - p->worker];
    if (b->stride < s->samples) { /* the samples depend on each other: more are taken at once */
        mase_target_buffer_release(b);
        mase_target_buffer_init(b, &w->source, s->samples);
    }
    /* here, since the memory of the samples is used again for what comes of them */
    s->targets = mase_targets_load(b, &w->source, row, s->samples, s->x);
}

/* Its value for the batch, made ready for batches of this size if it is not. */
static enum mase_status own_loss(const struct work *w, struct mase_own_loss **own,
                                 const struct mase_predictor *p, const struct mase_worker *s,
                                 struct mase_loss_result *r, const uint32_t *row,
                                 struct mase_err *err)
{
    const struct mase_loss_opts o = mase_target_loss(&w->source);
    if (!*own)
        MASE_TRY(mase_target_own_loss(own, &w->source, p->batch, 1, false, err));
    MASE_TRY(mase_own_loss_begin(*own, s->samples, 1, err));
    mase_own_loss_tile(*own, 0, 0, s->samples, &s->y, &s->targets);
    MASE_TRY(mase_own_loss_check(*own, row, err));
    r->weight = (double)s->samples;
    r->loss = r->weight * mase_own_loss_end(*own, 1.0f);
    mase_loss_score(r, &s->y, &s->targets, &o, s->samples);
    return MASE_OK;
}

static void take(const struct mase_predictor *p, struct mase_worker *s, int64_t at, void *data)
{
    const struct work *w = data;
    const struct mase_loss_opts o = mase_target_loss(&w->source);
    struct mase_loss_result *r = &w->result[at / p->batch];
    if (w->source.own) {
        if (s->fault < 0 && own_loss(w, &w->own[s - p->worker], p, s, r, w->rows.row + at, &s->err))
            s->fault = at;
    } else if (p->engine->loss)
        p->engine->loss(s, r, &o);
    else
        mase_reference_loss(r, &s->y, &s->targets, &o, s->samples);
    mase_keep_outputs(&w->kept, &s->y, &s->targets, at, s->samples);
}

static void set_result(struct mase_evaluation *e, const struct work *w,
                       const struct mase_loss_result *result, int64_t batches)
{
    const struct mase_task *task = w->source.objective.task;
    const int64_t n = w->opts->rows.count;
    struct mase_loss_result sum = { 0 };
    for (int64_t i = 0; i < batches; i++) {
        sum.loss += result[i].loss;
        sum.weight += result[i].weight;
        sum.score.part += result[i].score.part;
        sum.score.whole += result[i].score.whole;
    }
    e->task = task;
    e->samples = n;
    e->loss = sum.loss / sum.weight;
    e->score = task->of_sums(&sum);
    e->hits = task->sums ? NAN : sum.score.part / sum.score.whole;
    e->accuracy = task->target == MASE_TASK_CLASS ? e->score : NAN;
    e->accuracy_error = sqrt(e->accuracy * (1 - e->accuracy) / (double)n);
}

/* Can processes share the batches? Not where samples decide about each other, nor where outputs are
 * kept. */
static struct mase_ranks *sharers(const struct work *w, const struct mase_predictor *p)
{
    const bool apart = !p->engine->is_reference && !(p->engine->mixes && p->engine->mixes(p));
    return apart && !w->opts->detail ? w->opts->ranks : NULL;
}

/* All batches, or this process's, whose results become those of all. */
static enum mase_status run_batches(struct work *w, struct mase_predictor *p,
                                    struct mase_loss_result *result, struct mase_err *err)
{
    struct mase_ranks *ranks = sharers(w, p);
    const int64_t n = w->opts->rows.count, batches = (n + p->batch - 1) / p->batch;
    int64_t from = 0, to = batches;
    enum mase_status st = MASE_OK;
    if (ranks)
        to = mase_ranks_share(&from, batches, ranks->rank, ranks->count);
    w->rows.row = w->opts->rows.row + from * p->batch;
    w->rows.count = (to * p->batch < n ? to * p->batch : n) - from * p->batch;
    w->result = result + from;
    if (w->rows.count > 0)
        st = mase_predictor_each(p, w->rows.count, fill, take, w, err);
    MASE_TRY(mase_ranks_agree(w->opts->ranks, st, err));
    mase_ranks_gather(ranks, result, sizeof *result, batches);
    return MASE_OK;
}

static enum mase_status evaluate(struct mase_evaluation *e, struct mase_predictor *p,
                                 struct work *w, struct mase_arena *a, struct mase_err *err)
{
    const uint64_t started = mase_clock();
    /* samples that depend on each other are taken so many at a time */
    const int64_t least =
        p->coupled_batch && p->coupled_batch < p->batch ? p->coupled_batch : p->batch;
    const int64_t n = w->opts->rows.count, batches = (n + least - 1) / least;
    w->buffer = mase_new_array(a, struct mase_target_buffer, (size_t)p->workers);
    struct mase_loss_result *result = mase_new_array(a, struct mase_loss_result, (size_t)batches);
    w->own = mase_new_array(a, struct mase_own_loss *, (size_t)p->workers);
    mase_target_source_score(&w->source, w->opts->rows);
    for (int i = 0; i < p->workers; i++)
        mase_target_buffer_init(&w->buffer[i], &w->source, p->batch);
    if (w->opts->detail)
        mase_kept_outputs_init(&w->kept, a, &w->source, p->outputs, n, p->batch);
    const enum mase_status st = run_batches(w, p, result, err);
    for (int i = 0; i < p->workers; i++) {
        mase_target_buffer_release(&w->buffer[i]);
        mase_own_loss_free(w->own[i]);
    }
    if (st)
        return st;
    e->seconds = 1e-9 * (double)(mase_clock() - started);
    e->classes = w->source.positions == 1 ? (int)p->outputs : 0;
    set_result(e, w, result, batches);
    if (w->opts->detail)
        mase_task_metrics(e, w->opts->detail, &w->kept);
    return MASE_OK;
}

enum mase_status mase_evaluate_rows(struct mase_evaluation *e, struct mase_predictor *p,
                                    const struct mase_dataset *d,
                                    const struct mase_evaluate_opts *o, struct mase_err *err)
{
    struct mase_objective usual = { 0 };
    struct mase_arena a = { 0 };
    struct work w = { .opts = o };
    MASE_TRY(mase_objective_find(&usual, NULL, NULL, 0, err));
    MASE_TRY(mase_target_source_init(&w.source, o->objective ? o->objective : &usual, d, &p->result,
                                     err));
    w.source.class_map = o->class_map;
    if (o->rows.count == 0)
        return mase_fail(err, MASE_EVALUE, "%s has no rows to evaluate the network on",
                         mase_dataset_info(d)->data.name);
    *e = (struct mase_evaluation){ 0 };
    const enum mase_status st = evaluate(e, p, &w, &a, err);
    mase_target_source_release(&w.source);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_evaluate(struct mase_evaluation *e, struct mase_predictor *p,
                               const struct mase_dataset *d, const struct mase_objective *o,
                               enum mase_split split, int64_t limit, struct mase_arena *detail,
                               struct mase_err *err)
{
    struct mase_split_rows rows = mase_dataset_split(d, split);
    if (limit > 0 && limit < rows.count)
        rows.count = limit;
    const struct mase_evaluate_opts opts = { .rows = rows, .objective = o, .detail = detail };
    return mase_evaluate_rows(e, p, d, &opts, err);
}
