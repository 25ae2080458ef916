/*
 * section_testing.c - results on the test split: by class, and the confusion matrix.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/report/html.h"
#include "cli/report/report.h"

enum {
    SHADES = 10,
    MOST_CLASSES = 64, /* of a readable matrix */
    READ_CLASSES = 1 << 20,
    MOST_COLUMNS = 16,
    MOST_OUTPUTS = 256
};

/* ---- read the results of ch test ---- */

/* Read one count of class c, for answer k. */
static enum mase_status read_count(struct mase_evaluation *e, int c, int64_t k,
                                   const struct mase_value *n, const struct mase_value *of,
                                   struct mase_err *err)
{
    MASE_TRY(mase_report_expect(n, MASE_INT, of, "answers", err));
    if (n->i < 0 || n->i > INT64_C(1) << 53)
        return mase_fail_at(err, MASE_EPARSE, n->at, "%" PRId64 " samples cannot be", n->i);
    if (k < 0 || k >= e->classes)
        return mase_fail_at(err, MASE_EPARSE, n->at, "an answer for a class that is not there");
    e->support[c] += n->i;
    if (e->confusion)
        e->confusion[c * e->classes + k] = n->i;
    return MASE_OK;
}

/* The class of a key; -1: none. */
static int64_t class_of(const char *key)
{
    int64_t k = *key ? 0 : -1;
    for (; *key && k >= 0; key++)
        k = mase_is_digit(*key) && k < READ_CLASSES ? 10 * k + (*key - '0') : -1;
    return k;
}

/* Read a count for each class, or a table of nonzero counts. */
static enum mase_status read_answers(struct mase_evaluation *e, int c, const struct mase_value *v,
                                     struct mase_err *err)
{
    const struct mase_value *answers = mase_value_get(v, "answers");
    const bool few = answers && answers->kind == MASE_TABLE;
    if (!few)
        MASE_TRY(mase_report_expect(answers, MASE_LIST, v, "answers", err));
    if (!few && answers->count != e->classes)
        return mase_fail_at(err, MASE_EPARSE, answers->at, "%d answers, for %d classes",
                            answers->count, e->classes);
    for (int i = 0; i < answers->count; i++) {
        const int64_t k = few ? class_of(answers->keys[i]) : i;
        MASE_TRY(read_count(e, c, k, answers->items[i], answers, err));
    }
    return MASE_OK;
}

static enum mase_status read_class(struct mase_report_test *t, const char **names, int c,
                                   const struct mase_value *v, struct mase_err *err)
{
    const struct mase_value *name = mase_value_get(v, "name");
    MASE_TRY(mase_report_expect(v, MASE_TABLE, v, "classes", err));
    MASE_TRY(mase_report_expect(name, MASE_STRING, v, "name", err));
    names[c] = name->s;
    MASE_TRY(mase_report_expect_number(&t->e.precision[c], v, "precision", err));
    MASE_TRY(mase_report_expect_number(&t->e.recall[c], v, "recall", err));
    MASE_TRY(mase_report_expect_number(&t->e.auc[c], v, "auc", err));
    return read_answers(&t->e, c, v, err);
}

static enum mase_status read_classes(struct mase_report_test *t, struct mase_arena *a,
                                     const struct mase_value *results, struct mase_err *err)
{
    const struct mase_value *list = mase_value_get(results, "classes");
    struct mase_evaluation *e = &t->e;
    MASE_TRY(mase_report_expect(list, MASE_LIST, results, "classes", err));
    if (list->count > READ_CLASSES)
        return mase_fail_at(err, MASE_ELIMIT, list->at, "%d classes, at most %d can be reported",
                            list->count, READ_CLASSES);
    const size_t n = (size_t)list->count;
    const char **names = mase_new_array(a, const char *, n);
    e->classes = list->count;
    e->confusion = list->count > MOST_CLASSES ? NULL : mase_new_array(a, int64_t, n * n);
    e->support = mase_new_array(a, int64_t, n);
    e->precision = mase_new_array(a, double, n);
    e->recall = mase_new_array(a, double, n);
    e->auc = mase_new_array(a, double, n);
    t->names = names;
    for (int c = 0; c < list->count; c++)
        MASE_TRY(read_class(t, names, c, list->items[c], err));
    return MASE_OK;
}

static enum mase_status read_classification(struct mase_report_test *t, struct mase_arena *a,
                                            const struct mase_value *results, struct mase_err *err)
{
    MASE_TRY(mase_report_expect_number(&t->e.accuracy, results, "test_acc_epoch", err));
    MASE_TRY(
        mase_report_expect_number(&t->e.accuracy_error, results, "accuracy_standard_error", err));
    MASE_TRY(mase_report_expect_number(&t->e.macro_accuracy, results, "macro_accuracy", err));
    t->e.score = t->e.accuracy;
    return read_classes(t, a, results, err);
}

/* Read the numbers of every output: a table for each, with equal keys. */
static enum mase_status read_outputs(struct mase_metric_table *m, struct mase_arena *a,
                                     const struct mase_value *list, struct mase_err *err)
{
    MASE_TRY(mase_report_expect(list, MASE_LIST, list, "outputs", err));
    if (list->count == 0)
        return MASE_OK;
    MASE_TRY(mase_report_expect(list->items[0], MASE_TABLE, list, "outputs", err));
    const struct mase_value *first = list->items[0];
    const char **columns = mase_new_array(a, const char *, (size_t)first->count);
    const char **names = mase_new_array(a, const char *, (size_t)list->count);
    m->columns = columns;
    m->names = names;
    for (int k = 0; k < first->count && m->column_count < MOST_COLUMNS; k++)
        if (!mase_streq(first->keys[k], "name"))
            columns[m->column_count++] = first->keys[k];
    m->value = mase_new_array(a, double, (size_t)list->count *(size_t)m->column_count);
    for (; m->rows < list->count; m->rows++) {
        const struct mase_value *v = list->items[m->rows], *name = mase_value_get(v, "name");
        MASE_TRY(mase_report_expect(v, MASE_TABLE, list, "outputs", err));
        MASE_TRY(mase_report_expect(name, MASE_STRING, v, "name", err));
        names[m->rows] = name->s;
        for (int k = 0; k < m->column_count; k++)
            MASE_TRY(mase_report_expect_number(&m->value[m->rows * m->column_count + k], v,
                                               columns[k], err));
    }
    return MASE_OK;
}

/* Keys that every test has, of any task. */
static bool is_common(const char *key)
{
    static const char *const common[] = {
        "split", "task", "samples", "test_loss_epoch", "seconds", "outputs", "samples_per_second"
    };
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (mase_streq(key, common[i]))
            return true;
    return false;
}

static enum mase_status read_metrics(struct mase_report_test *t, struct mase_arena *a,
                                     const struct mase_value *results, struct mase_err *err)
{
    const char *score = mase_arena_printf(a, "test_%s_epoch", t->e.task->score);
    struct mase_metric *list = mase_new_array(a, struct mase_metric, (size_t)results->count);
    const struct mase_value *outputs = mase_value_get(results, "outputs");
    MASE_TRY(mase_report_expect_number(&t->e.score, results, score, err));
    t->e.accuracy_error = NAN;
    for (int i = 0; i < results->count; i++) {
        const char *key = results->keys[i];
        if (is_common(key) || mase_streq(key, score))
            continue;
        struct mase_metric *m = &list[t->e.metrics++];
        m->name = m->title = key;
        MASE_TRY(mase_report_expect_number(&m->value, results, key, err));
        if (mase_streq(key, "accuracy_standard_error"))
            t->e.accuracy_error = m->value;
    }
    t->e.metric = list;
    return outputs ? read_outputs(&t->e.by_output, a, outputs, err) : MASE_OK;
}

enum mase_status mase_report_read_test(struct mase_report *r, struct mase_err *err)
{
    if (!r->test)
        return MASE_OK;
    const struct mase_value *results = mase_value_get(r->test, "results");
    const struct mase_value *split = mase_value_get(results, "split");
    const struct mase_value *weights = mase_value_at(r->test, "model.weights");
    struct mase_report_test *t = mase_new(r->arena, struct mase_report_test);
    double samples;
    MASE_TRY(mase_report_expect(split, MASE_STRING, results, "split", err));
    MASE_TRY(mase_report_expect_number(&samples, results, "samples", err));
    MASE_TRY(mase_report_expect_number(&t->e.loss, results, "test_loss_epoch", err));
    const struct mase_value *task = mase_value_get(results, "task");
    t->e.task = mase_task_find(task && task->kind == MASE_STRING ? task->s : NULL);
    if (!t->e.task)
        return mase_fail_at(err, MASE_EPARSE, task->at, "no task is called '%s'", task->s);
    MASE_TRY(t->e.task == mase_tasks ? read_classification(t, r->arena, results, err)
                                     : read_metrics(t, r->arena, results, err));
    t->e.samples = (int64_t)samples;
    t->split = split->s;
    t->weights =
        weights && weights->kind == MASE_STRING ? mase_report_relative(r, weights->s) : NULL;
    r->tested = t;
    return MASE_OK;
}

/* ---- tables ---- */

static void class_table(struct mase_str *out, const struct mase_report_test *t)
{
    static const struct mase_html_column columns[] = {
        { "Class", NULL, true },
        { "Samples", NULL, false },
        { "Precision", "of those called so, how many are", false },
        { "Recall", "of those that are, how many are called so", false },
        { "F1", "harmonic mean of precision and recall", false },
        { "AUC", "chance that a sample of the class scores above one of another", false },
    };
    mase_html_table(out, "Scores by class", columns, 6);
    for (int c = 0; c < t->e.classes; c++) {
        const double p = t->e.precision[c], q = t->e.recall[c];
        mase_html_row(out, NULL, NULL, t->names[c]);
        mase_html_cell_count(out, t->e.support[c]);
        mase_html_cell_real(out, p, 4);
        mase_html_cell_real(out, q, 4);
        mase_html_cell_real(out, p + q > 0 ? 2 * p * q / (p + q) : NAN, 4);
        mase_html_cell_real(out, t->e.auc[c], 4);
        mase_html_row_end(out);
    }
    mase_html_table_end(out, false);
}

static void matrix_cell(struct mase_str *out, const struct mase_report_test *t, int c, int k,
                        int64_t total)
{
    const int64_t n = t->e.confusion[c * t->e.classes + k];
    const double share = total ? (double)n / (double)total : 0;
    const int shade = (int)fmin(SHADES - 1, share * SHADES);
    mase_str_printf(out, "<td class=\"s%d\" title=\"", shade);
    mase_html_count(out, n);
    mase_str_add(out, " samples of ");
    mase_markup_add(out, t->names[c]);
    mase_str_add(out, " were called ");
    mase_markup_add(out, t->names[k]);
    mase_str_add(out, "\">");
    mase_html_count(out, n);
    mase_str_printf(out, "<small>%.1f %%</small></td>", 100 * share);
}

static void matrix(struct mase_str *out, const struct mase_report_test *t)
{
    mase_str_add(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                      "aria-label=\"Confusion matrix\">\n<table class=\"matrix\">\n"
                      "<caption>Rows are what samples are, columns what they were called; shares "
                      "are of the row</caption>\n<thead><tr><td></td>");
    for (int k = 0; k < t->e.classes; k++) {
        mase_str_add(out, "<th scope=\"col\">");
        mase_markup_add(out, t->names[k]);
        mase_str_add(out, "</th>");
    }
    mase_str_add(out, "</tr></thead>\n<tbody>\n");
    for (int c = 0; c < t->e.classes; c++) {
        const int64_t total = t->e.support[c];
        mase_html_row(out, NULL, NULL, t->names[c]);
        for (int k = 0; k < t->e.classes; k++)
            matrix_cell(out, t, c, k, total);
        mase_html_row_end(out);
    }
    mase_str_add(out, "</tbody>\n</table>\n</div>\n");
}

/* Metrics of tasks other than classification, in total and by output. */
static void metrics_tables(struct mase_str *out, const struct mase_evaluation *e)
{
    static const struct mase_html_column overall[] = { { "Metric", NULL, true },
                                                       { "Value", NULL, false } };
    const struct mase_metric_table *m = &e->by_output;
    struct mase_html_column columns[MOST_COLUMNS + 1] = { { "Output", NULL, true } };
    if (e->metrics)
        mase_html_table(out, "Metrics", overall, 2);
    for (int i = 0; i < e->metrics; i++) {
        mase_html_row(out, NULL, NULL, e->metric[i].title);
        mase_html_cell_real(out, e->metric[i].value, 6);
        mase_html_row_end(out);
    }
    if (e->metrics)
        mase_html_table_end(out, false);
    if (!m->rows || m->rows > MOST_OUTPUTS)
        return;
    for (int k = 0; k < m->column_count; k++)
        columns[k + 1] = (struct mase_html_column){ m->columns[k], NULL, false };
    mase_html_table(out, "By output", columns, m->column_count + 1);
    for (int64_t r = 0; r < m->rows; r++) {
        char number[24];
        mase_snprintf(number, sizeof number, "%" PRId64, r);
        mase_html_row(out, NULL, NULL, m->names ? m->names[r] : number);
        for (int k = 0; k < m->column_count; k++)
            mase_html_cell_real(out, m->value[r * m->column_count + k], 5);
        mase_html_row_end(out);
    }
    mase_html_table_end(out, m->rows > 12);
}

/* ---- the section ---- */

bool mase_report_has_testing(const struct mase_report *r)
{
    return r->tested != NULL;
}

/* Compares texts: both times are UTC in one form. */
static bool is_older(const struct mase_report *r)
{
    const struct mase_value *tested = mase_value_get(r->test, "finished");
    const char *run = mase_report_text(r, "finished");
    return tested && tested->kind == MASE_STRING && run && strcmp(tested->s, run) < 0;
}

static void summary(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_report_test *t = r->tested;
    const struct mase_task *task = t->e.task;
    mase_str_printf(out, "<p>%s <b>", mase_cli_capital(r->arena, task->score_title));
    mase_report_score(out, task, t->e.score);
    mase_str_add(out, "</b>");
    if (!isnan(t->e.accuracy_error))
        mase_str_printf(out, " ± %.2f %% (standard error)", 100 * t->e.accuracy_error);
    mase_str_printf(out, ", loss %.4f, over ", t->e.loss);
    mase_html_count(out, t->e.samples);
    mase_str_add(out, mase_streq(t->split, "all") ? " samples, all there are"
                                                  : " samples of the test split");
    if (t->weights) {
        mase_str_add(out, "; weights: ");
        mase_markup_add(out, t->weights);
    }
    mase_str_add(out, t->measured ? ". Measured for this report.</p>\n" : ".</p>\n");
    if (t->before.samples) {
        const double change = t->e.score - t->before.score;
        mase_str_printf(out, "<p>Before the transforms the %s was ", task->score_title);
        mase_report_score(out, task, t->before.score);
        mase_str_printf(out, " and the loss %.4f: ", t->before.loss);
        if (task->score_is_share)
            mase_str_printf(out, "%.2f percentage points", 100 * fabs(change));
        else
            mase_str_printf(out, "%.4g", fabs(change));
        mase_str_printf(out, " %s now.</p>\n", change < 0 ? "less" : "more");
    }
    if (!t->measured && r->run != r->test && is_older(r))
        mase_html_element(out, "p", "warning", "This test is older than the run.");
}

void mase_report_testing(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_report_test *t = r->tested;
    summary(out, r);
    if (t->e.task != mase_tasks) {
        metrics_tables(out, &t->e);
        return;
    }
    mase_str_add(out, "<div class=\"beside\">\n");
    if (t->e.classes <= MOST_CLASSES)
        matrix(out, t);
    class_table(out, t);
    mase_str_add(out, "</div>\n");
}
