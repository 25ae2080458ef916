/*
 * headline.c - the numbers of a run that matter most, for tables of several runs.
 */
#include <math.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "search/attributes.h"
#include "study/study_statistics.h"

struct list {
    struct mase_report_number *number;
    int count;
};

/* A number that is not there is not listed. */
static void add(struct list *l, const char *name, double value, double error, bool is_share)
{
    if (!isnan(value) && l->count < MASE_REPORT_NUMBERS)
        l->number[l->count++] = (struct mase_report_number){ name, value, error, is_share };
}

static void add_training(struct list *l, const struct mase_report *r, const struct mase_task *task)
{
    add(l, mase_arena_printf(r->arena, "validation %s", task->score_title),
        mase_report_number(r, mase_arena_printf(r->arena, "results.val_%s_epoch", task->score)),
        NAN, task->score_is_share);
    add(l, "best validation loss", mase_report_number(r, "results.best_val_loss"), NAN, false);
}

static void add_test(struct list *l, const struct mase_report *r)
{
    if (!r->tested)
        return;
    const struct mase_evaluation *e = &r->tested->e;
    add(l, mase_arena_printf(r->arena, "test %s", e->task->score_title), e->score,
        e->task->score_is_share ? e->accuracy_error : NAN, e->task->score_is_share);
    add(l, "test loss", e->loss, NAN, false);
}

/* Of the trials of the front, on rows that none was chosen by; scores that are shares are better
 * the higher they are. */
static double best_test(const struct mase_report *r, const struct mase_task *task)
{
    const struct mase_value *best = mase_report_value(r, "results.best");
    const char *key = mase_arena_printf(r->arena, "test_%s", task->score);
    double most = NAN;
    for (int i = 0; best && best->kind == MASE_LIST && i < best->count && task->score_is_share; i++)
        most = fmax(most, mase_report_real(best->items[i], key));
    return most;
}

/* The study itself knows more than the record, where it was opened. */
static void add_search(struct list *l, const struct mase_report *r, const struct mase_task *task)
{
    const struct mase_study *s = r->study;
    add(l, "trials", s ? (double)s->trials : mase_report_number(r, "results.trials"), NAN, false);
    add(l, mase_arena_printf(r->arena, "best test %s", task->score_title), best_test(r, task), NAN,
        true);
    if (!s || !s->trials)
        return;
    double *best = mase_new_array(r->arena, double, (size_t)s->trials);
    for (int k = 0; k < s->objectives; k++) {
        mase_study_best_so_far(best, s, k);
        add(l, mase_arena_printf(r->arena, "best %s", mase_search_label(r->arena, s, k)),
            best[s->trials - 1], NAN, false);
    }
}

int mase_report_numbers(struct mase_report_number *out, const struct mase_report *r)
{
    struct list l = { .number = out };
    const struct mase_task *task = mase_report_task(r);
    if (mase_streq(r->action, "search"))
        add_search(&l, r, task);
    else
        add_training(&l, r, task);
    add_test(&l, r);
    add(&l, "parameters", mase_report_number(r, "model.parameters"), NAN, false);
    add(&l, "seconds", mase_report_number(r, "seconds"), NAN, false);
    return l.count;
}

void mase_report_put_number(struct mase_str *out, const struct mase_report_number *n)
{
    if (n->is_share && !isnan(n->error))
        mase_str_printf(out, "%.2f ± %.2f %%", 100 * n->value, 100 * n->error);
    else if (n->is_share)
        mase_str_printf(out, "%.2f %%", 100 * n->value);
    else if (n->value == floor(n->value) && fabs(n->value) < 1e15)
        mase_html_count(out, (int64_t)n->value);
    else
        mase_str_printf(out, "%.4g", n->value);
}
