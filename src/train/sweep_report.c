/*
 * sweep_report.c - the results of a sweep as tables and as a chart.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mase/plot.h>
#include <mase/sweep.h>

#include "base/number.h"
#include "data/csv.h"
#include "train/sweep_parts.h"

static const struct column {
    const char *name;
    size_t offset;
    bool score; /* the name of the task's score comes first, then this */
    const char *of_score;
    bool integer;
    bool in_table; /* shown in the table as well */
    int digits;    /* decimals in the table */
} columns[] = {
#define RESULT(f) offsetof(struct mase_sweep_result, f)
    { "epochs", RESULT(epochs), .integer = true, .in_table = true },
    { "train_loss", RESULT(train_loss), .in_table = true, .digits = 4 },
    { "train_", RESULT(train_score), true, "", .in_table = true, .digits = 4 },
    { "val_loss", RESULT(val_loss), .in_table = true, .digits = 4 },
    { "val_", RESULT(val_score), true, "", .in_table = true, .digits = 4 },
    { "best_val_loss", RESULT(best_val_loss), .in_table = false },
    { "best_epoch", RESULT(best_epoch), .integer = true },
    { "test_loss", RESULT(test_loss), .in_table = true, .digits = 4 },
    { "test_", RESULT(test_score), true, "", .in_table = true, .digits = 4 },
    { "test_", RESULT(test_error), true, "_error", .in_table = true, .digits = 4 },
    { "seconds", RESULT(seconds), .in_table = true, .digits = 1 },
#undef RESULT
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
_Static_assert(MASE_SWEEP_MAX_AXES + COLUMNS <= MASE_TABLE_MAX_COLUMNS, "a table has no room");

/* ---- tables ---- */

/* The name, built in `room` if it contains that of the score. */
static const char *name_of(const struct column *c, const struct mase_sweep *s, char room[64])
{
    if (!c->score)
        return c->name;
    mase_snprintf(room, 64, "%s%s%s", c->name, mase_sweep_task(s)->score, c->of_score);
    return room;
}

/* A sweep without epochs has no training loss and no best epoch. */
static bool is_known(const struct column *c, const void *field)
{
    return c->integer ? *(const int64_t *)field >= 0 : isfinite(*(const double *)field);
}

static void set_cell(struct mase_table *t, int row, int at, const struct column *c,
                     const struct mase_sweep_point *p, bool exact)
{
    const void *field = (const char *)&p->result + c->offset;
    struct mase_str text = { 0 };
    if (!p->done || !is_known(c, field))
        mase_str_add(&text, exact ? "" : "-");
    else if (c->integer)
        mase_str_printf(&text, "%lld", (long long)*(const int64_t *)field);
    else if (exact)
        mase_repr_float(&text, *(const double *)field);
    else
        mase_str_printf(&text, "%.*f", c->digits, *(const double *)field);
    mase_table_set(t, row, at, mase_str_text(&text));
    mase_str_release(&text);
}

static struct mase_table make_table(const struct mase_sweep *s, struct mase_arena *a, bool exact)
{
    const char *headers[MASE_TABLE_MAX_COLUMNS + 1] = { 0 };
    char room[64];
    int n = s->axis_count;
    for (int i = 0; i < s->axis_count; i++)
        headers[i] = s->axes[i].key;
    for (int i = 0; i < COLUMNS; i++)
        if (exact || columns[i].in_table)
            headers[n++] = mase_arena_strdup(a, name_of(&columns[i], s, room));
    struct mase_table t = mase_table(a, headers);
    for (int i = 0; i < s->count; i++) {
        const int row = mase_table_row(&t);
        struct mase_str text = { 0 };
        for (int axis = 0; axis < s->axis_count; axis++) {
            mase_str_clear(&text);
            mase_value_str(&text, s->points[i].value[axis]);
            mase_table_set(&t, row, axis, mase_str_text(&text));
        }
        mase_str_release(&text);
        n = s->axis_count;
        for (int c = 0; c < COLUMNS; c++)
            if (exact || columns[c].in_table)
                set_cell(&t, row, n++, &columns[c], &s->points[i], exact);
    }
    return t;
}

struct mase_table mase_sweep_table(const struct mase_sweep *s, struct mase_arena *a)
{
    return make_table(s, a, false);
}

struct mase_table mase_sweep_csv(const struct mase_sweep *s, struct mase_arena *a)
{
    return make_table(s, a, true);
}

/* ---- read a table back ---- */

static bool says(const struct mase_csv_field *f, const char *text)
{
    return f->size == strlen(text) && !memcmp(f->text, text, f->size);
}

static enum mase_status check_columns(const struct mase_csv *csv, const struct mase_sweep *s,
                                      struct mase_err *err)
{
    const int expected = s->axis_count + COLUMNS;
    if (csv->count != expected)
        return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, csv->count),
                            "%d columns, a sweep of %d options has %d", csv->count, s->axis_count,
                            expected);
    for (int i = 0; i < expected; i++) {
        char room[64];
        const char *name =
            i < s->axis_count ? s->axes[i].key : name_of(&columns[i - s->axis_count], s, room);
        if (!says(&csv->field[i], name))
            return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, i),
                                "expected the column '%s' here", name);
    }
    return MASE_OK;
}

/* The row must be of this configuration. */
static enum mase_status check_row(const struct mase_csv *csv, const struct mase_sweep *s,
                                  const struct mase_sweep_point *p, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    if (csv->count != s->axis_count + COLUMNS)
        return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, csv->count),
                            "%d fields, expected %d", csv->count, s->axis_count + COLUMNS);
    for (int i = 0; i < s->axis_count && !st; i++) {
        struct mase_str text = { 0 };
        mase_value_str(&text, p->value[i]);
        if (!says(&csv->field[i], mase_str_text(&text)))
            st = mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, i), "expected %s = %s here",
                              s->axes[i].key, mase_str_text(&text));
        mase_str_release(&text);
    }
    return st;
}

/* A configuration that failed has no results. */
static enum mase_status read_row(struct mase_sweep_point *p, const struct mase_csv *csv, int first,
                                 struct mase_err *err)
{
    p->done = csv->field[first].size > 0;
    for (int c = 0; c < COLUMNS && p->done; c++) {
        void *field = (char *)&p->result + columns[c].offset;
        double x = columns[c].integer ? -1 : NAN;
        const bool known = csv->field[first + c].size && !says(&csv->field[first + c], "nan") &&
                           !says(&csv->field[first + c], "inf"); /* as older versions wrote */
        if (known)
            MASE_TRY(mase_csv_number(csv, first + c, &x, columns[c].name, err));
        if (!columns[c].integer)
            *(double *)field = x;
        else if ((x >= 0 && x <= 0x1p53) || (x == -1 && c > 0)) /* -1: no best epoch */
            *(int64_t *)field = (int64_t)x;
        else
            return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, first + c), "%s must be a count",
                                columns[c].name);
    }
    return MASE_OK;
}

static enum mase_status read_rows(struct mase_sweep *s, struct mase_csv *csv, struct mase_err *err)
{
    MASE_TRY(mase_csv_next(csv, err));
    MASE_TRY(check_columns(csv, s, err));
    for (int i = 0; i < s->count; i++) {
        MASE_TRY(mase_csv_next(csv, err));
        if (!csv->count)
            return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, 0),
                                "%d rows, the sweep has %d configurations", i, s->count);
        MASE_TRY(check_row(csv, s, &s->points[i], err));
        MASE_TRY(read_row(&s->points[i], csv, s->axis_count, err));
    }
    return MASE_OK;
}

enum mase_status mase_sweep_read_csv(struct mase_sweep *s, const char *path, struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    struct mase_csv csv = mase_csv_of(&f);
    const enum mase_status st = read_rows(s, &csv, err);
    mase_csv_release(&csv);
    mase_file_close(&f);
    return st;
}

/* ---- the chart ---- */

bool mase_sweep_is_plain(const struct mase_sweep *s, const struct mase_sweep_point *p)
{
    for (int i = 0; i < s->axis_count; i++) {
        const struct mase_value *v = p->value[i];
        if (s->axes[i].network && !mase_streq(s->axes[i].key, "model") && v->kind == MASE_STRING &&
            mase_streq(v->s, MASE_SWEEP_PLAIN))
            return true;
    }
    return false;
}

/* The points along one axis, for the lines of a chart: a line starts at each configuration whose
 * index on that axis is 0. */
struct axis_curves {
    int axis, length, stride; /* -1: none; distance in s->points */
    int values;   /* values of the axis; the plain network, if it is the last, is not a point of the
                     line */
    bool formats; /* the axis is one of formats */
    bool numeric;
    double *x;  // (length) ascending, or 0, 1, 2 ...
    int *order; // (length) index of the value at x
};

static struct axis_curves longest_axis(const struct mase_sweep *s)
{
    const int seeds = mase_sweep_seed_axis(s);
    struct axis_curves c = { .axis = -1, .length = 1, .stride = 1 };
    for (int i = 0; i < s->axis_count; i++) {
        const bool formats = s->axes[i].network && !mase_streq(s->axes[i].key, "model");
        const int count = s->axes[i].values->count;
        if (i == seeds || formats < c.formats)
            continue;
        if (formats > c.formats || count > c.length || c.length == 1)
            c.axis = i, c.length = count, c.formats = formats;
    }
    c.values = c.length;
    if (c.axis >= 0)
        c.stride = mase_sweep_stride(s, c.axis);
    if (c.formats && c.length > 1 && mase_sweep_is_plain(s, &s->points[(c.length - 1) * c.stride]))
        c.length--;
    return c;
}

/* Numbers in ascending order, names as they were given. */
static void order_axis(struct axis_curves *c, const struct mase_sweep *s, struct mase_arena *a)
{
    const struct mase_value *values = c->axis >= 0 ? s->axes[c->axis].values : NULL;
    c->x = mase_new_array(a, double, (size_t)c->length);
    c->order = mase_new_array(a, int, (size_t)c->length);
    c->numeric = values && !isnan(mase_value_number(values->items[0]));
    for (int i = 0; i < c->length; i++) {
        const double x = c->numeric ? mase_value_number(values->items[i]) : i;
        int at = i;
        for (; at > 0 && c->x[at - 1] > x; at--)
            c->x[at] = c->x[at - 1], c->order[at] = c->order[at - 1];
        c->x[at] = x;
        c->order[at] = i;
    }
}

/* The options that distinguish this line from the others. */
static const char *others_of(const struct mase_sweep *s, const struct axis_curves *c, int first,
                             struct mase_arena *a)
{
    struct mase_str text = { 0 };
    const int seeds = mase_sweep_seed_axis(s);
    for (int i = 0; i < s->axis_count; i++) {
        if (i == c->axis || i == seeds || s->axes[i].values->count == 1)
            continue;
        mase_str_printf(&text, "%s%s ", text.len ? ", " : "", s->axes[i].key);
        mase_value_str(&text, s->points[first].value[i]);
    }
    const char *name = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return name;
}

/* The name of a line; beside the line of the plain network, never empty. */
static const char *series_name(const struct mase_sweep *s, const struct axis_curves *c, int first,
                               struct mase_arena *a)
{
    const char *others = others_of(s, c, first, a);
    return *others || c->length == c->values ? others : "quantised";
}

/* The quantity to show: accuracy for an axis of formats, the loss for options of training. */
static size_t measure(const struct axis_curves *c)
{
    return c->formats ? offsetof(struct mase_sweep_result, test_score)
                      : offsetof(struct mase_sweep_result, val_loss);
}

/* A horizontal line for the plain network, beside the line that begins at `first`. */
static struct mase_plot_series make_level_series(const struct mase_sweep *s,
                                                 const struct axis_curves *c, int first,
                                                 struct mase_arena *a)
{
    const char *name = others_of(s, c, first, a);
    double *y = mase_new_array(a, double, (size_t)c->length);
    for (int i = 0; i < c->length; i++)
        y[i] = mase_sweep_spread(s, first + c->length * c->stride, measure(c)).mean;
    return (struct mase_plot_series){ .name = mase_arena_printf(a, "%s%s" MASE_SWEEP_PLAIN, name,
                                                                *name ? ", " : ""),
                                      .x = c->x,
                                      .y = y,
                                      .n = c->length,
                                      .dashed = true };
}

static struct mase_plot_series make_series(const struct mase_sweep *s, const struct axis_curves *c,
                                           int first, struct mase_arena *a)
{
    double *y = mase_new_array(a, double, (size_t)c->length);
    double *spread = mase_new_array(a, double, (size_t)c->length);
    for (int i = 0; i < c->length; i++) {
        const struct mase_sweep_spread v =
            mase_sweep_spread(s, first + c->order[i] * c->stride, measure(c));
        y[i] = v.mean;
        spread[i] = v.deviation;
    }
    return (struct mase_plot_series){ .name = series_name(s, c, first, a),
                                      .x = c->x,
                                      .y = y,
                                      .n = c->length,
                                      .spread = mase_sweep_has_seeds(s) ? spread : NULL };
}

static const char *const *category_names(const struct mase_sweep *s, const struct axis_curves *c,
                                         struct mase_arena *a)
{
    const char **names = mase_new_array(a, const char *, (size_t)c->length);
    for (int i = 0; i < c->length; i++) {
        struct mase_str text = { 0 };
        if (c->axis >= 0)
            mase_value_str(&text, s->axes[c->axis].values->items[i]);
        names[i] = mase_arena_strdup(a, mase_str_text(&text));
        mase_str_release(&text);
    }
    return names;
}

static const char *y_label(const struct mase_sweep *s, const struct axis_curves *c,
                           struct mase_arena *a)
{
    const char *what = c->formats ? mase_arena_printf(a, "test %s", mase_sweep_task(s)->score_title)
                                  : "validation loss";
    if (!mase_sweep_has_seeds(s))
        return what;
    return mase_arena_printf(a, "%s, mean ± deviation", what);
}

/* The label of the x axis, and what its points are means of. */
static const char *x_label(const struct mase_sweep *s, const struct axis_curves *c,
                           struct mase_arena *a)
{
    const char *key = c->axis >= 0 ? s->axes[c->axis].key : NULL;
    if (!mase_sweep_has_seeds(s))
        return key;
    return mase_arena_printf(a, "%s%s%d seeds", key ? key : "", key ? ", " : "",
                             s->axes[mase_sweep_seed_axis(s)].values->count);
}

struct mase_plot mase_sweep_plot(const struct mase_sweep *s, struct mase_arena *a)
{
    struct axis_curves c = longest_axis(s);
    order_axis(&c, s, a);
    struct mase_plot_series *series =
        mase_new_array(a, struct mase_plot_series, 2 * (size_t)(s->count / c.values));
    int n = 0;
    for (int i = 0; i < s->count; i++) {
        if (i / c.stride % c.values != 0 || !mase_sweep_is_first_seed(s, i))
            continue;
        series[n++] = make_series(s, &c, i, a);
        if (c.length < c.values)
            series[n++] = make_level_series(s, &c, i, a);
    }
    const double least = c.x[0], most = c.x[c.length - 1];
    return (struct mase_plot){
        .x_label = x_label(s, &c, a),
        .y_label = y_label(s, &c, a),
        .series = series,
        .count = n,
        .log_x = c.numeric && least > 0 && most / least >= 16,
        .categories = c.numeric ? NULL : category_names(s, &c, a),
        .category_count = c.length,
    };
}

void mase_sweep_svg(struct mase_str *out, const struct mase_sweep *s)
{
    struct mase_arena a = { 0 };
    struct mase_plot p = mase_sweep_plot(s, &a);
    const struct mase_dataset_info *info = mase_dataset_info(s->data);
    const bool models = s->axis_count && mase_streq(s->axes[0].key, "model");
    const char *name = s->points[0].network->name; /* NULL for a graph file without a name */
    p.title = mase_arena_printf(&a, "%s on %s%s",
                                models ? "models"
                                : name ? name
                                       : "network",
                                info->data.name, info->simulated ? " (simulated)" : "");
    mase_plot_svg(out, &p);
    mase_arena_release(&a);
}
