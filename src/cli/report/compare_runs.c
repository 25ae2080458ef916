/*
 * compare_runs.c - ch report A B ...: runs side by side on one page.
 *
 * Their numbers as a table, their curves in common charts, and what their configurations have
 * different. Nothing is measured: the page shows what the runs left.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "cli/study_charts.h"
#include "search/attributes.h"

enum { DEEPEST = 16 };

struct comparison {
    struct mase_arena *arena;
    struct mase_report *run; // (count)
    const char **name;       // (count)
    int count;
};

/* ---- opening ---- */

/* The last part of a path. */
static const char *base_of(struct mase_arena *a, const char *path)
{
    const char *whole = mase_path_absolute(a, path), *slash = strrchr(whole, '/');
    return slash && slash[1] ? slash + 1 : whole;
}

/* By the last part of their paths; by the whole paths where two would be the same. */
static void name_runs(struct comparison *c, const struct mase_cli *cli)
{
    bool distinct = true;
    for (int i = 0; i < c->count; i++) {
        c->name[i] = base_of(c->arena, cli->operands[i]);
        for (int k = 0; k < i; k++)
            distinct = distinct && !mase_streq(c->name[i], c->name[k]);
    }
    for (int i = 0; i < c->count && !distinct; i++)
        c->name[i] = cli->operands[i];
}

/* Options that a run's record puts into force are those of this run alone. */
static enum mase_status open_runs(struct comparison *c, struct mase_cli *cli, struct mase_err *err)
{
    struct mase_cli_setting kept[MASE_CLI_COUNT];
    memcpy(kept, cli->setting, sizeof kept);
    enum mase_status st = MASE_OK;
    for (int i = 0; i < c->count && !st; i++) {
        struct mase_report *r = &c->run[i];
        *r = (struct mase_report){ .c = cli, .arena = c->arena, .dir = cli->operands[i] };
        st = mase_report_read_brief(r, err);
        r->task = mase_report_task(r);
        memcpy(cli->setting, kept, sizeof kept);
    }
    return st;
}

/* ---- side by side ---- */

typedef const char *fact_fn(const struct mase_report *r);

static const char *fact_kind(const struct mase_report *r)
{
    return r->action;
}

static const char *fact_network(const struct mase_report *r)
{
    return r->run ? r->model : NULL;
}

static const char *fact_data(const struct mase_report *r)
{
    return r->data.name;
}

static const char *fact_formats(const struct mase_report *r)
{
    return mase_report_text(r, "model.quantised");
}

static const char *fact_finished(const struct mase_report *r)
{
    const char *iso = mase_report_text(r, "finished");
    return iso ? mase_report_time(r->arena, iso) : NULL;
}

static const char *fact_seed(const struct mase_report *r)
{
    const double seed = mase_report_number(r, "seed");
    return isnan(seed) ? NULL : mase_arena_printf(r->arena, "%.0f", seed);
}

static const struct {
    const char *name;
    fact_fn *of;
} facts[] = {
    { "kind", fact_kind }, { "network", fact_network }, { "formats", fact_formats },
    { "data", fact_data }, { "seed", fact_seed },       { "finished", fact_finished },
};

/* The first column has names of rows, the others are the runs. */
static void table_begin(struct mase_str *out, const struct comparison *c, const char *label,
                        const char *rows)
{
    struct mase_html_column *column =
        mase_new_array(c->arena, struct mase_html_column, (size_t)c->count + 1);
    column[0] = (struct mase_html_column){ rows, NULL, true };
    for (int i = 0; i < c->count; i++)
        column[1 + i] = (struct mase_html_column){ c->name[i], NULL, true };
    mase_html_table(out, label, column, c->count + 1);
}

static void put_facts(struct mase_str *out, const struct comparison *c)
{
    for (size_t k = 0; k < sizeof facts / sizeof facts[0]; k++) {
        const char *text[MASE_REPORT_RUNS];
        bool any = false;
        for (int i = 0; i < c->count; i++) {
            text[i] = facts[k].of(&c->run[i]);
            any = any || text[i];
        }
        if (!any)
            continue;
        mase_html_row(out, NULL, NULL, facts[k].name);
        for (int i = 0; i < c->count; i++)
            mase_html_cell(out, text[i] ? text[i] : "–");
        mase_html_row_end(out);
    }
}

struct numbers {
    struct mase_report_number item[MASE_REPORT_NUMBERS];
    int count;
};

static const struct mase_report_number *find_number(const struct numbers *n, const char *name)
{
    for (int i = 0; i < n->count; i++)
        if (mase_streq(n->item[i].name, name))
            return &n->item[i];
    return NULL;
}

static void number_row(struct mase_str *out, const struct comparison *c, const struct numbers *all,
                       const char *name)
{
    mase_html_row(out, NULL, NULL, name);
    for (int i = 0; i < c->count; i++) {
        const struct mase_report_number *n = find_number(&all[i], name);
        struct mase_str text = { 0 };
        if (n)
            mase_report_put_number(&text, n);
        mase_html_cell(out, n ? mase_str_text(&text) : "–");
        mase_str_release(&text);
    }
    mase_html_row_end(out);
}

static void put_numbers(struct mase_str *out, const struct comparison *c)
{
    struct numbers *all = mase_new_array(c->arena, struct numbers, (size_t)c->count);
    for (int i = 0; i < c->count; i++)
        all[i].count = mase_report_numbers(all[i].item, &c->run[i]);
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < all[i].count; k++) {
            bool shown = false;
            for (int j = 0; j < i; j++)
                shown = shown || find_number(&all[j], all[i].item[k].name);
            if (!shown)
                number_row(out, c, all, all[i].item[k].name);
        }
}

static void put_runs(struct mase_str *out, const struct comparison *c)
{
    table_begin(out, c, "Runs side by side", "Run");
    put_facts(out, c);
    put_numbers(out, c);
    mase_html_table_end(out, false);
}

/* ---- curves ---- */

static void put_chart(struct mase_str *out, const char *title, const char *x_label,
                      const struct mase_plot_series *series, int count)
{
    if (count)
        mase_report_chart(out, &(struct mase_plot){ .title = title,
                                                    .x_label = x_label,
                                                    .series = series,
                                                    .count = count,
                                                    .embedded = true });
}

/* A curve of each run whose metrics have this column. */
static void put_curves(struct mase_str *out, const struct comparison *c, const char *title,
                       size_t column)
{
    struct mase_plot_series series[MASE_REPORT_RUNS];
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        const double *values;
        if (!c->run[i].metrics)
            continue;
        memcpy(&values, (const char *)c->run[i].metrics + column, sizeof values);
        series[count] = mase_report_curve(&c->run[i], c->name[i], i + 1, values);
        count += series[count].n > 0;
    }
    put_chart(out, title, "epoch", series, count);
}

/* Whose study has the objectives of the first study. */
static bool is_comparable(const struct comparison *c, int run)
{
    const struct mase_study *s = c->run[run].study, *first = NULL;
    for (int i = 0; i < c->count && !first; i++)
        first = c->run[i].study;
    if (!s || s->objectives != first->objectives)
        return false;
    for (int k = 0; k < s->objectives; k++)
        if (!mase_streq(s->objective[k].name, first->objective[k].name))
            return false;
    return true;
}

static void put_fronts(struct mase_str *out, const struct comparison *c)
{
    struct mase_plot_series series[MASE_REPORT_RUNS];
    const struct mase_study *s = NULL;
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        if (!is_comparable(c, i) || c->run[i].study->objectives < 2)
            continue;
        s = c->run[i].study;
        series[count] = mase_cli_front_series(c->arena, s, 1, 0, c->name[i]);
        series[count].colour = i + 1;
        count += series[count].n > 0;
    }
    if (count)
        put_chart(out, mase_arena_printf(c->arena, "Fronts: %s", mase_search_label(c->arena, s, 0)),
                  mase_search_label(c->arena, s, 1), series, count);
}

static void put_courses(struct mase_str *out, const struct comparison *c)
{
    struct mase_plot_series series[MASE_REPORT_RUNS];
    const struct mase_study *s = NULL;
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        if (!is_comparable(c, i))
            continue;
        s = c->run[i].study;
        series[count] = mase_cli_course_series(c->arena, s, 0, c->name[i]);
        series[count].colour = i + 1;
        count += series[count].n > 0;
    }
    if (count)
        put_chart(out,
                  mase_arena_printf(c->arena, "Best %s so far", mase_search_label(c->arena, s, 0)),
                  "trial", series, count);
}

/* "Validation accuracy" where all that trained have that score. */
static const char *score_title(const struct comparison *c)
{
    const struct mase_task *task = NULL;
    for (int i = 0; i < c->count; i++) {
        if (!c->run[i].metrics)
            continue;
        if (task && task != c->run[i].task)
            return "Validation score";
        task = c->run[i].task;
    }
    return task ? mase_arena_printf(c->arena, "Validation %s", task->score_title) : "";
}

static void put_charts(struct mase_str *out, const struct comparison *c)
{
    mase_str_add(out, "<div class=\"charts\">\n");
    put_curves(out, c, "Validation loss", offsetof(struct mase_report_metrics, val_loss));
    put_curves(out, c, score_title(c), offsetof(struct mase_report_metrics, val_score));
    put_curves(out, c, "Training loss", offsetof(struct mase_report_metrics, train_loss));
    put_fronts(out, c);
    put_courses(out, c);
    mase_str_add(out, "</div>\n");
}

static bool has_charts(const struct comparison *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->run[i].metrics || c->run[i].study)
            return true;
    return false;
}

/* ---- configurations ---- */

/* What every run has at a path. */
struct setting {
    const char *path;
    const char **text; /* (runs): NULL: nothing */
};

struct settings {
    const struct comparison *c;
    struct setting *item;
    struct mase_map by_path; /* index + 1 of each */
    int count, cap;
};

static struct setting *setting_of(struct settings *s, const char *path)
{
    const int *index = mase_map_get(&s->by_path, path);
    if (index)
        return &s->item[*index];
    struct mase_arena *a = s->c->arena;
    int *place = mase_new(a, int);
    *place = s->count;
    s->item = mase_arena_grow(a, s->item, s->count, &s->cap, sizeof *s->item);
    s->item[s->count] =
        (struct setting){ path, mase_new_array(a, const char *, (size_t)s->c->count) };
    mase_map_put(&s->by_path, path, place);
    return &s->item[s->count++];
}

static void take_value(struct settings *s, int run, const char *path, const struct mase_value *v,
                       int depth)
{
    struct mase_arena *a = s->c->arena;
    struct mase_str text = { 0 };
    if (v->kind == MASE_TABLE && v->count && depth < DEEPEST) {
        for (int i = 0; i < v->count; i++)
            take_value(s, run, *path ? mase_arena_printf(a, "%s.%s", path, v->keys[i]) : v->keys[i],
                       v->items[i], depth + 1);
        return;
    }
    mase_value_str(&text, v);
    setting_of(s, path)->text[run] = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
}

/* Options go by their names; of the rest the file's path and checksum say nothing, and names of
 * projects always differ. */
static void take_configuration(struct settings *s, int run)
{
    const struct mase_value *all = mase_report_value(&s->c->run[run], "configuration");
    for (int i = 0; all && i < all->count; i++) {
        const bool options = mase_streq(all->keys[i], "options");
        if (!mase_streq(all->keys[i], "file"))
            take_value(s, run, options ? "" : all->keys[i], all->items[i], 1);
    }
}

static bool differs(const struct settings *s, const struct setting *item)
{
    for (int i = 1; i < s->c->count; i++)
        if (!mase_streq(item->text[i], item->text[0]))
            return !mase_streq(item->path, "project");
    return false;
}

static void put_differences(struct mase_str *out, const struct comparison *c)
{
    struct settings s = { .c = c, .by_path.arena = c->arena };
    int shown = 0;
    for (int i = 0; i < c->count; i++)
        take_configuration(&s, i);
    for (int i = 0; i < s.count; i++) {
        if (!differs(&s, &s.item[i]))
            continue;
        if (!shown++)
            table_begin(out, c, "Differences of configuration", "Setting");
        mase_html_row(out, NULL, NULL, s.item[i].path);
        for (int k = 0; k < c->count; k++)
            mase_html_cell(out, s.item[i].text[k] ? s.item[i].text[k] : "–");
        mase_html_row_end(out);
    }
    if (shown)
        mase_html_table_end(out, false);
    else
        mase_html_element(out, "p", NULL, "The configurations are the same.");
}

/* ---- the page ---- */

static void put_body(struct mase_str *out, const void *data)
{
    const struct comparison *c = data;
    mase_str_add(out, "<header>\n<p class=\"kind\">Comparison</p>\n");
    mase_html_element(out, "h1", NULL, mase_arena_printf(c->arena, "%d runs", c->count));
    mase_str_add(out, "</header>\n<main>\n<section id=\"runs\">\n<h2>Runs</h2>\n");
    put_runs(out, c);
    mase_str_add(out, "</section>\n");
    if (has_charts(c)) {
        mase_str_add(out, "<section id=\"curves\">\n<h2>Curves</h2>\n");
        put_charts(out, c);
        mase_str_add(out, "</section>\n");
    }
    mase_str_add(out, "<section id=\"differences\">\n<h2>Differences of configuration</h2>\n");
    put_differences(out, c);
    mase_str_add(out, "</section>\n</main>\n");
}

/* Beside the first run. */
static const char *default_path(struct mase_arena *a, const char *first)
{
    size_t n = strlen(first);
    while (n > 1 && first[n - 1] == '/')
        n--;
    while (n && first[n - 1] != '/')
        n--;
    return mase_arena_printf(a, "%.*scomparison.html", (int)n, first);
}

static enum mase_status write_comparison(const struct comparison *c, struct mase_cli *cli,
                                         struct mase_err *err)
{
    const char *given = mase_cli_text(cli, MASE_CLI_output);
    const char *title = c->name[0];
    for (int i = 1; i < c->count; i++)
        title = mase_arena_printf(c->arena, "%s, %s", title, c->name[i]);
    return mase_report_write(cli, given ? given : default_path(c->arena, cli->operands[0]), title,
                             put_body, c, err);
}

enum mase_status mase_report_compare(struct mase_cli *cli, struct mase_err *err)
{
    struct comparison c = { .arena = &cli->arena, .count = cli->operand_count };
    if (c.count > MASE_REPORT_RUNS)
        return mase_fail(err, MASE_EVALUE, "%d runs cannot be compared on one page, at most %d",
                         c.count, MASE_REPORT_RUNS);
    c.run = mase_new_array(c.arena, struct mase_report, (size_t)c.count);
    c.name = mase_new_array(c.arena, const char *, (size_t)c.count);
    name_runs(&c, cli);
    enum mase_status st = open_runs(&c, cli, err);
    if (!st)
        st = write_comparison(&c, cli, err);
    for (int i = 0; i < c.count; i++)
        if (c.run[i].study)
            mase_study_release(c.run[i].study);
    return st;
}
