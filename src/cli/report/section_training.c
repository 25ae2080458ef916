/*
 * section_training.c - metrics.csv as curves: loss, score, learning rate over the epochs.
 *
 * A row of a step and a row of an epoch fill different columns (train_files.c). Steps are averaged,
 * so that a curve has a bounded number of points.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mase/file.h>
#include <mase/plot.h>

#include "base/number.h"
#include "cli/report/html.h"
#include "cli/report/report.h"
#include "data/csv.h"

enum { MOST_POINTS = 240, MOST_ROWS = 1 << 22 };

/* ---- reading ---- */

/* Columns of the file; the name of a learning rate contains its optimiser. */
static const struct {
    const char *name;
    size_t offset;
    bool prefix, needed;
    const char *behind; /* suffix after the name of the task's score; NULL: a fixed name */
} fields[] = {
#define METRIC(f) offsetof(struct mase_report_metrics, f)
    { "epoch", METRIC(epoch), false, true, NULL },
    { "step", METRIC(step), false, true, NULL },
    { "lr-", METRIC(rate), true, false, NULL },
    { "train_loss_step", METRIC(train_loss_step), false, false, NULL },
    { "train_", METRIC(train_score_step), false, false, "_step" },
    { "train_loss_epoch", METRIC(train_loss), false, false, NULL },
    { "train_", METRIC(train_score), false, false, "_epoch" },
    { "val_loss_epoch", METRIC(val_loss), false, false, NULL },
    { "val_", METRIC(val_score), false, false, "_epoch" },
    { "ebops", METRIC(ebops), false, false, NULL },
#undef METRIC
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* The numbers of a field, growing, and their column; -1: missing. */
struct series {
    double *value;
    int cap, column;
};

static bool is_named(const struct mase_csv_field *f, const char *name, bool prefix)
{
    const size_t n = strlen(name);
    return (prefix ? f->size >= n : f->size == n) && !memcmp(f->text, name, n);
}

static enum mase_status find_columns(struct series *s, const struct mase_csv *csv,
                                     const struct mase_task *task, struct mase_err *err)
{
    for (int k = 0; k < FIELDS; k++) {
        char name[64];
        mase_snprintf(name, sizeof name, "%s%s%s", fields[k].name,
                      fields[k].behind ? task->score : "",
                      fields[k].behind ? fields[k].behind : "");
        s[k].column = -1;
        for (int i = 0; i < csv->count; i++)
            if (is_named(&csv->field[i], name, fields[k].prefix))
                s[k].column = i;
        if (s[k].column < 0 && fields[k].needed)
            return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, 0),
                                "the header has no column '%s'", fields[k].name);
    }
    return MASE_OK;
}

/* An empty field is NaN, as are numbers of a diverged run: nan, -nan, inf. */
static enum mase_status read_number(double *x, const struct mase_csv *csv, int column,
                                    const char *name, struct mase_err *err)
{
    const struct mase_csv_field *f = &csv->field[column];
    const bool sign = f->size && f->text[0] == '-';
    *x = NAN;
    if (!f->size || (f->size == 3u + sign &&
                     (!memcmp(f->text + sign, "nan", 3) || !memcmp(f->text + sign, "inf", 3))))
        return MASE_OK;
    return mase_csv_number(csv, column, x, name, err);
}

static enum mase_status read_row(struct series *s, int row, int columns, const struct mase_csv *csv,
                                 struct mase_arena *a, struct mase_err *err)
{
    if (csv->count != columns)
        return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, csv->count),
                            "has %d fields, the header %d", csv->count, columns);
    if (row == MOST_ROWS)
        return mase_fail_at(err, MASE_ELIMIT, mase_csv_at(csv, 0), "more than %d rows", MOST_ROWS);
    for (int k = 0; k < FIELDS; k++) {
        s[k].value = mase_arena_grow(a, s[k].value, row, &s[k].cap, sizeof *s[k].value);
        s[k].value[row] = NAN;
        if (s[k].column >= 0)
            MASE_TRY(read_number(&s[k].value[row], csv, s[k].column, fields[k].name, err));
    }
    return MASE_OK;
}

static enum mase_status read_rows(struct mase_report_metrics *m, struct mase_csv *csv,
                                  const struct mase_task *task, struct mase_arena *a,
                                  struct mase_err *err)
{
    struct series s[FIELDS] = { 0 };
    MASE_TRY(mase_csv_next(csv, err));
    const int columns = csv->count;
    MASE_TRY(find_columns(s, csv, task, err));
    for (;;) {
        MASE_TRY(mase_csv_next(csv, err));
        if (!csv->count)
            break;
        MASE_TRY(read_row(s, m->rows, columns, csv, a, err));
        m->rows++;
    }
    for (int k = 0; k < FIELDS; k++)
        memcpy((char *)m + fields[k].offset, &s[k].value, sizeof s[k].value);
    return MASE_OK;
}

enum mase_status mase_report_read_metrics(struct mase_report *r, struct mase_err *err)
{
    struct mase_file f;
    const char *path = mase_report_path(r, "software/metrics.csv");
    if (!mase_is_file(path))
        return MASE_OK;
    struct mase_report_metrics *m = mase_new(r->arena, struct mase_report_metrics);
    MASE_TRY(mase_file_open(&f, path, err));
    struct mase_csv csv = mase_csv_of(&f);
    const enum mase_status st = read_rows(m, &csv, mase_report_task(r), r->arena, err);
    mase_csv_release(&csv);
    mase_file_close(&f);
    if (!st && m->rows)
        r->metrics = m;
    return st;
}

/* ---- curves ---- */

/* Steps of an epoch, by the first row that ends one; 0 if no row does. */
static double steps_per_epoch(const struct mase_report_metrics *m)
{
    for (int i = 0; i < m->rows; i++)
        if (!isnan(m->val_loss[i]) && m->epoch[i] >= 0 && m->step[i] >= 0)
            return (m->step[i] + 1) / (m->epoch[i] + 1);
    return 0;
}

/* Rows that have a number in this column, against epochs; averaged if there are many. */
struct mase_plot_series mase_report_curve(const struct mase_report *r, const char *name, int colour,
                                          const double *column)
{
    const struct mase_report_metrics *m = r->metrics;
    const double each = steps_per_epoch(m);
    int present = 0, n = 0, in_bucket = 0;
    for (int i = 0; i < m->rows; i++)
        present += !isnan(column[i]);
    const int bucket = (present + MOST_POINTS - 1) / MOST_POINTS;
    const size_t cap = (size_t)(present < MOST_POINTS ? present : MOST_POINTS);
    double *x = mase_new_array(r->arena, double, cap), *y = mase_new_array(r->arena, double, cap);
    for (int i = 0, seen = 0; i < m->rows; i++) {
        if (isnan(column[i]))
            continue;
        x[n] = each > 0 ? (m->step[i] + 1) / each : m->step[i];
        y[n] += (column[i] - y[n]) / ++in_bucket;
        seen++;
        if (in_bucket == bucket || seen == present) {
            n++;
            in_bucket = 0;
        }
    }
    return (struct mase_plot_series){ .name = name, .x = x, .y = y, .n = n, .colour = colour };
}

static void curves(struct mase_str *out, const char *title, const struct mase_plot_series *series,
                   int count, bool by_epochs)
{
    struct mase_plot_series drawn[4];
    struct mase_plot p = {
        .title = title, .x_label = by_epochs ? "epoch" : "step", .series = drawn, .embedded = true
    };
    for (int i = 0; i < count; i++)
        if (series[i].n)
            drawn[p.count++] = series[i];
    if (p.count)
        mase_report_chart(out, &p);
}

bool mase_report_has_training(const struct mase_report *r)
{
    return r->metrics != NULL;
}

void mase_report_training(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_report_metrics *m = r->metrics;
    const bool by_epochs = steps_per_epoch(m) > 0;
    const struct mase_plot_series loss[] = {
        mase_report_curve(r, "validation", MASE_COLOUR_VALIDATION, m->val_loss),
        mase_report_curve(r, "training", MASE_COLOUR_TRAINING, m->train_loss),
        mase_report_curve(r, "training, by step", MASE_COLOUR_STEPS, m->train_loss_step)
    };
    const struct mase_plot_series score[] = {
        mase_report_curve(r, "validation", MASE_COLOUR_VALIDATION, m->val_score),
        mase_report_curve(r, "training", MASE_COLOUR_TRAINING, m->train_score),
        mase_report_curve(r, "training, by step", MASE_COLOUR_STEPS, m->train_score_step)
    };
    const struct mase_plot_series rate = mase_report_curve(r, "learning rate", 0, m->rate);
    mase_str_add(out, "<div class=\"charts training\">\n");
    curves(out, "Loss", loss, 3, by_epochs);
    curves(out, mase_cli_capital(r->arena, mase_report_task(r)->score_title), score, 3, by_epochs);
    curves(out, "Learning rate", &rate, 1, by_epochs);
    mase_str_add(out, "</div>\n");
}
