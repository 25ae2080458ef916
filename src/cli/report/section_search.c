/*
 * section_search.c - the study of a search: how its trials ended, their front, their course, and
 * the best as a table, with what they came to on the test split.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "cli/study_charts.h"
#include "search/attributes.h"
#include "study/study_statistics.h"

enum { MOST_EARLY = 50 };

/* ---- reading ---- */

static const char *list_names(struct mase_arena *a, const char *const *names, int count)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < count; i++)
        mase_str_printf(&text, "%s%s", i ? ", " : "", names[i]);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

/* The study of this name; without one, the only study. */
static enum mase_status choose_study(const char **name, struct mase_report *r,
                                     struct mase_store *store, const char *path,
                                     struct mase_err *err)
{
    const char *const *names;
    int count;
    MASE_TRY(mase_store_list(store, r->arena, &names, &count, err));
    for (int i = 0; i < count && *name; i++)
        if (mase_streq(names[i], *name))
            return MASE_OK;
    if (*name)
        return mase_fail_in(err, MASE_EVALUE, path, "holds no study '%s', but: %s", *name,
                            list_names(r->arena, names, count));
    if (count != 1)
        return mase_fail_in(err, MASE_EVALUE, path, "holds %d studies, expected one%s%s", count,
                            count ? ": " : "", list_names(r->arena, names, count));
    *name = names[0];
    return MASE_OK;
}

static enum mase_status read_store(struct mase_report *r, struct mase_store *store,
                                   const char *path, const char *name, struct mase_err *err)
{
    MASE_TRY(choose_study(&name, r, store, path, err));
    r->study = mase_new(r->arena, struct mase_study);
    return mase_store_read(store, r->study, name, err);
}

enum mase_status mase_report_open_study(struct mase_report *r, const char *path, const char *name,
                                        struct mase_err *err)
{
    struct mase_store *store;
    MASE_TRY(mase_store_open(&store, path, MASE_STORE_READ, err));
    const enum mase_status st = read_store(r, store, path, name, err);
    mase_store_close(store);
    return st;
}

/* Files are opened, servers are not: a record that others made must not make us call on one. */
enum mase_status mase_report_read_search(struct mase_report *r, struct mase_err *err)
{
    const char *path = mase_report_path(r, "software/search_ckpts/study.db");
    const char *storage = mase_report_text(r, "results.storage");
    if (!mase_streq(r->action, "search"))
        return MASE_OK;
    path = storage ? storage : path;
    if (mase_is_file(path))
        return mase_report_open_study(r, path, mase_report_text(r, "results.study"), err);
    if (strstr(path, "://")) /* which may have a password */
        mase_report_note(r, "the trials are not shown: a server has the study");
    else
        mase_report_note(r, "the trials are not shown: %s is gone", path);
    return MASE_OK;
}

/* ---- charts ---- */

static void put_chart(struct mase_str *out, struct mase_plot p)
{
    p.embedded = true;
    mase_report_chart(out, &p);
}

static void put_charts(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_study *s = r->study;
    mase_str_add(out, "<div class=\"charts trials\">\n");
    for (int y = 0; y < s->objectives; y++)
        for (int x = y + 1; x < s->objectives; x++)
            put_chart(out, mase_cli_front_chart(r->arena, s, x, y, true));
    for (int i = 0; i < s->objectives; i++)
        put_chart(out, mase_cli_course_chart(r->arena, s, i));
    mase_str_add(out, "</div>\n");
}

/* ---- the best ---- */

/* What run.json has of a trial: its row, or NULL. */
static const struct mase_value *record_of(const struct mase_report *r, int64_t number)
{
    const struct mase_value *best = mase_report_value(r, "results.best");
    for (int i = 0; best && best->kind == MASE_LIST && i < best->count; i++)
        if (mase_report_real(best->items[i], "number") == (double)number)
            return best->items[i];
    return NULL;
}

static void put_value(struct mase_str *out, const struct mase_study *s, const struct mase_trial *t,
                      int objective)
{
    const double spread = mase_search_spread(s, t, objective);
    mase_str_printf(out, "<td class=\"n\" data-v=\"%.17g\">%.5g", t->value[objective],
                    t->value[objective]);
    if (!isnan(spread))
        mase_str_printf(out, " ± %.1g", spread);
    mase_str_add(out, "</td>");
}

static void best_row(struct mase_str *out, const struct mase_report *r, int64_t index,
                     const char *score)
{
    const struct mase_trial *t = &r->study->trial[index];
    const struct mase_value *record = record_of(r, index);
    mase_html_row(out, NULL, NULL, mase_arena_printf(r->arena, "%lld", (long long)t->number));
    for (int i = 0; i < r->study->objectives; i++)
        put_value(out, r->study, t, i);
    if (score)
        mase_html_cell_real(out, mase_report_real(record, score), 4);
    mase_html_row_end(out);
}

static void put_best(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_study *s = r->study;
    struct mase_html_column *column =
        mase_new_array(r->arena, struct mase_html_column, (size_t)s->objectives + 2);
    int64_t *front;
    const int count = mase_cli_front(&front, r->arena, s);
    const char *score = mase_arena_printf(r->arena, "test_%s", mase_report_task(r)->score);
    const bool tested = count && record_of(r, front[0]);
    if (!count)
        return;
    column[0] = (struct mase_html_column){ "Trial", NULL, true };
    for (int i = 0; i < s->objectives; i++)
        column[1 + i] = (struct mase_html_column){ mase_search_label(r->arena, s, i),
                                                   s->objective[i].direction == MASE_MAXIMIZE
                                                       ? "the more, the better"
                                                       : "the less, the better",
                                                   false };
    column[1 + s->objectives] =
        (struct mase_html_column){ mase_arena_printf(r->arena, "Test %s",
                                                     mase_report_task(r)->score_title),
                                   "on rows that no trial was chosen by", false };
    mase_html_element(out, "h3", NULL, s->objectives > 1 ? "The front" : "The best");
    mase_html_table(out, "The best trials", column, s->objectives + 1 + tested);
    for (int i = 0; i < count; i++)
        best_row(out, r, front[i], tested ? score : NULL);
    mase_html_table_end(out, false);
}

/* ---- trials that ended early ---- */

static const char *failure_of(const struct mase_trial *t)
{
    const struct mase_value *why = mase_value_get(t->user, "failure");
    return why && why->kind == MASE_STRING ? why->s : "no reason is known";
}

static void early_row(struct mase_str *out, struct mase_arena *a, const struct mase_trial *t)
{
    const bool pruned = t->state == MASE_TRIAL_PRUNED;
    mase_html_row(out, NULL, NULL, mase_arena_printf(a, "%lld", (long long)t->number));
    mase_html_cell(out, pruned ? "pruned" : "failed");
    if (!pruned)
        mase_html_cell(out, failure_of(t));
    else if (t->readings)
        mase_html_cell(out, mase_arena_printf(a, "after step %lld, at %.5g",
                                              (long long)t->reading[t->readings - 1].step,
                                              t->reading[t->readings - 1].value));
    else
        mase_html_cell(out, "before its first step");
    mase_html_row_end(out);
}

static void put_early(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column column[] = { { "Trial", NULL, true },
                                                      { "End", NULL, true },
                                                      { "Why", NULL, true } };
    int64_t count[MASE_TRIAL_STATES], shown = 0;
    mase_study_count_states(count, r->study);
    const int64_t all = count[MASE_TRIAL_FAIL] + count[MASE_TRIAL_PRUNED];
    if (!all)
        return;
    mase_html_element(out, "h3", NULL,
                      all > MOST_EARLY
                          ? mase_arena_printf(r->arena, "The first %d of %lld that ended early",
                                              MOST_EARLY, (long long)all)
                          : "Ended early");
    mase_html_table(out, "Trials that ended early", column, 3);
    for (int64_t i = 0; i < r->study->trials && shown < MOST_EARLY; i++) {
        const struct mase_trial *t = &r->study->trial[i];
        if (t->state != MASE_TRIAL_FAIL && t->state != MASE_TRIAL_PRUNED)
            continue;
        early_row(out, r->arena, t);
        shown++;
    }
    mase_html_table_end(out, false);
}

/* ---- the section ---- */

bool mase_report_has_search(const struct mase_report *r)
{
    return r->study != NULL;
}

void mase_report_search(struct mase_str *out, const struct mase_report *r)
{
    const char *states = mase_cli_study_states(r->arena, r->study);
    mase_html_element(out, "p", NULL, mase_arena_printf(r->arena, "%s.", states));
    if (!r->study->trials)
        return;
    put_charts(out, r);
    put_best(out, r);
    put_early(out, r);
}
