/*
 * tasks.c - the table of tasks and how each is scored while it trains.
 */
#include <mase/task.h>

#include <math.h>
#include <string.h>

#include "frontend/loss_source.h"

/* ---- what a batch adds ---- */

static float at(const struct mase_lanes *l, int64_t row, int64_t sample)
{
    return l->data[row * l->stride + sample];
}

/* Answers on the right side of 0, of all. */
static void signs(struct mase_score *s, const struct mase_lanes *y, const struct mase_lanes *target,
                  const struct mase_loss_opts *o, int64_t samples)
{
    (void)o;
    for (int64_t r = 0; r < y->rows; r++)
        for (int64_t i = 0; i < samples; i++)
            s->part += (at(y, r, i) > 0) == (at(target, r, i) > 0.5f);
    s->whole += (double)(samples * y->rows);
}

/* F1 over all labels: twice the hits, of hits, answers and labels. */
static void hits(struct mase_score *s, const struct mase_lanes *y, const struct mase_lanes *target,
                 const struct mase_loss_opts *o, int64_t samples)
{
    (void)o;
    for (int64_t r = 0; r < y->rows; r++)
        for (int64_t i = 0; i < samples; i++) {
            const int answer = at(y, r, i) > 0, truth = at(target, r, i) > 0.5f;
            s->part += 2 * (answer && truth);
            s->whole += answer + truth;
        }
}

/* Squared differences from the targets, and of the targets from their mean, in the measure of the
 * data: scaled targets count by what they were. */
static void squares(struct mase_score *s, const struct mase_lanes *y,
                    const struct mase_lanes *target, const struct mase_loss_opts *o,
                    int64_t samples)
{
    for (int64_t r = 0; r < y->rows; r++) {
        const double unit = o->target_unit ? o->target_unit[r] : 1;
        for (int64_t i = 0; i < samples; i++) {
            const double t = at(target, r, i), off = unit * (at(y, r, i) - t),
                         spread = unit * (t - o->target_mean[r]);
            s->part += off * off;
            s->whole += spread * spread;
        }
    }
}

/* ---- the score of the sums ---- */

static double ratio(const struct mase_loss_result *r)
{
    return r->score.whole > 0 ? r->score.part / r->score.whole : NAN;
}

static double explained(const struct mase_loss_result *r)
{
    return r->score.whole > 0 ? 1 - r->score.part / r->score.whole : NAN;
}

static double perplexity(const struct mase_loss_result *r)
{
    return r->weight > 0 ? exp(r->loss / r->weight) : NAN;
}

/* ---- the table ---- */

const struct mase_task mase_tasks[] = {
#define ALIAS(alias) alias
#define NO_ALIAS     NULL
#define TASK(name_, alias_, target_, losses_, score_, title_, class_, share_, sums_, of_sums_, \
             ...)                                                                              \
    { .name = name_,                                                                           \
      .alias = alias_,                                                                         \
      .help = TASK_HELP(__VA_ARGS__),                                                          \
      .target = MASE_TASK_##target_,                                                           \
      .losses = losses_,                                                                       \
      .score = score_,                                                                         \
      .score_title = title_,                                                                   \
      .score_class = class_,                                                                   \
      .score_is_share = share_,                                                                \
      .sums = sums_,                                                                           \
      .of_sums = of_sums_ },
#define TASK_HELP(metrics, help) help
#include "evaluate/tasks.def"
    { 0 },
};

const struct mase_task *mase_task_find(const char *name)
{
    for (const struct mase_task *t = mase_tasks; t->name; t++)
        if (!name || mase_streq(t->name, name) || (t->alias && mase_streq(t->alias, name)))
            return t;
    return NULL;
}

enum mase_status mase_task_need(const struct mase_task **t, const char *name, struct mase_err *err)
{
    struct mase_str all = { 0 };
    *t = mase_task_find(name);
    if (*t)
        return MASE_OK;
    for (const struct mase_task *k = mase_tasks; k->name; k++)
        mase_str_printf(&all, "%s%s", k == mase_tasks ? "" : ", ", k->name);
    const enum mase_status st = mase_fail(
        err, MASE_EUNSUPPORTED, "task %s is not trained or tested by this version; it knows %s",
        name, mase_str_text(&all));
    mase_str_release(&all);
    return st;
}

static bool has_loss(const struct mase_task *t, const char *name)
{
    for (const char *p = t->losses; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        if (strlen(name) == n && !memcmp(p, name, n))
            return true;
        p += n;
    }
    return false;
}

static enum mase_status check_own(const struct mase_task *t, const char *loss, struct mase_err *err)
{
    if (t->target == MASE_TASK_NEXT)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "task %s is judged by its perplexity, e to the cross entropy: it has no "
                         "loss of one's own",
                         t->name);
    return mase_loss_check(loss, err);
}

enum mase_status mase_objective_find(struct mase_objective *o, const char *task, const char *loss,
                                     double delta, struct mase_err *err)
{
    *o = (struct mase_objective){ .delta = delta };
    MASE_TRY(mase_task_need(&o->task, task, err));
    if (loss && mase_loss_is_own(loss)) {
        MASE_TRY(check_own(o->task, loss, err));
        o->own = loss;
        loss = NULL;
    }
    if (loss && !has_loss(o->task, loss))
        return mase_fail(err, MASE_EVALUE,
                         "loss = %s: task %s has %s; or say an expression of output and target, or "
                         "FILE.py:NAME",
                         loss, o->task->name, o->task->losses);
    const size_t n = loss ? strlen(loss) : strcspn(o->task->losses, " ");
    const char *name = loss ? loss : o->task->losses;
    for (int i = 0; i < MASE_LOSS_COUNT; i++)
        if (strlen(mase_loss_names[i]) == n && !memcmp(mase_loss_names[i], name, n))
            o->loss = (enum mase_loss)i;
    return MASE_OK;
}

enum mase_target_kind mase_task_reads(const struct mase_task *t)
{
    static const enum mase_target_kind reads[] = {
        [MASE_TASK_CLASS] = MASE_TARGET_CLASS, [MASE_TASK_NUMBERS] = MASE_TARGET_NUMBERS,
        [MASE_TASK_INPUT] = MASE_TARGET_NONE,  [MASE_TASK_MAP] = MASE_TARGET_MAP,
        [MASE_TASK_NEXT] = MASE_TARGET_NONE,
    };
    return reads[t->target];
}

int64_t mase_task_outputs(const struct mase_task *t, const struct mase_data_info *d)
{
    switch (t->target) {
    case MASE_TASK_NUMBERS:
        return d->targets;
    case MASE_TASK_INPUT:
        return mase_shape_count(&d->sample);
    default:
        return t->sums ? 1 : d->classes; /* of two classes one is reported */
    }
}
