/*
 * cmd_test.c - ch test: measure a network on the test split by the metrics of its task.
 *
 * A checkpoint records the scaling of its training data and the names of classes. Features are
 * scaled accordingly; classes in another order are matched by name.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>

#include "base/number.h"
#include "cli/command/cmd_train.h"
#include "pass/support.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    struct mase_opened work; /* owns its graph */
    const char *project_dir;
    uint64_t started;
    struct mase_dataset *data; /* owned */
    const char *began; /* text of the graph before it was quantised; NULL: a model of the zoo */
    struct mase_classes classes;
    struct mase_objective objective;
    struct mase_measurement found;
    double seen; /* share of the test rows that the network was trained on */
};

/* Longer tables are printed for programs only. */
enum { ROWS_SHOWN = 64 };

struct mase_split_rows mase_cli_rows_to_test(struct mase_cli *c, const struct mase_dataset *d)
{
    const int64_t n = mase_dataset_info(d)->rows;
    if (!mase_cli_flag(c, MASE_CLI_all_rows))
        return mase_dataset_split(d, MASE_SPLIT_TEST);
    uint32_t *row = mase_new_array(&c->arena, uint32_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        row[i] = (uint32_t)i;
    return (struct mase_split_rows){ row, n };
}

static struct mase_split_rows rows_of(const struct job *j)
{
    return mase_cli_rows_to_test(j->c, j->data);
}

static enum mase_status set_up(struct job *j, struct mase_err *err)
{
    mase_info("Initialising model '%s'...", j->model->name);
    mase_info("Initialising dataset '%s'...", mase_cli_text(j->c, MASE_CLI_dataset));
    MASE_TRY(mase_cli_objective(&j->objective, j->c, err));
    const enum mase_status opened = mase_work_open_data(&j->data, &j->work, err);
    if (opened)
        return mase_cli_fail_data(&j->work, opened, err);
    mase_classes_match(&j->classes, &j->c->arena, j->data, &j->work.trained);
    MASE_TRY(mase_cli_build(&j->work, j->c, &mase_dataset_info(j->data)->data, err));
    MASE_TRY(mase_cli_match_inputs(&j->data, j->c, &j->work, err));
    j->began = mase_cli_graph_text(&j->c->arena, j->model, j->work.graph);
    MASE_TRY(mase_cli_quantise(&j->work.graph, j->c, &j->work, err));
    mase_cli_log_random(j->work.graph);
    return MASE_OK;
}

/* ---- tables ---- */

static void put_table(const struct job *j, const char *key, const struct mase_table *t)
{
    mase_sheets_add(&j->c->sheets,
                    &(struct mase_sheet){ .key = key, .table = *t, .style = MASE_TABLE_PRETTY });
}

static void add_number(struct mase_table *t, const char *name, const char *format, double value)
{
    const int row = mase_table_row(t);
    char text[64];
    mase_snprintf(text, sizeof text, format, value);
    mase_table_set(t, row, 0, name);
    mase_table_set(t, row, 1, text);
}

/* "test_acc_epoch" */
static const char *score_key(const struct job *j)
{
    return mase_arena_printf(&j->c->arena, "test_%s_epoch", j->objective.task->score);
}

/* The metrics that Lightning prints, then others. */
static void put_overall(struct job *j)
{
    static const char *const headers[] = { "Test metric", "DataLoader 0", NULL };
    static const char *const more[] = { "Also", "Value", NULL };
    const struct mase_evaluation *e = &j->found.e;
    const struct mase_dataset_info *info = mase_dataset_info(j->data);
    struct mase_table t = mase_table(&j->c->arena, headers);
    add_number(&t, score_key(j), "%.9g", e->score);
    add_number(&t, "test_loss_epoch", "%.9g", e->loss);
    put_table(j, "metrics", &t);
    t = mase_table(&j->c->arena, more);
    add_number(&t, "samples", "%.0f", (double)e->samples);
    if (e->support) {
        add_number(&t, "standard error of accuracy", "%.2g", e->accuracy_error);
        add_number(&t, "macro accuracy", "%.6f", e->macro_accuracy);
    }
    for (int i = 0; i < e->metrics; i++)
        add_number(&t, e->metric[i].title, isnan(e->metric[i].value) ? "-" : "%.6g",
                   e->metric[i].value);
    add_number(&t, "samples per second", "%.0f", (double)e->samples / e->seconds);
    t.align[0] = MASE_ALIGN_LEFT;
    put_table(j, "also", &t);
    mase_sheets_line(&j->c->sheets, "%s on %s of %s%s", j->model->name,
                     mase_cli_flag(j->c, MASE_CLI_all_rows) ? "all rows" : "the test split",
                     info->data.name, mase_graph_is_quantised(j->work.graph) ? ", quantised" : "");
    if (info->notice)
        mase_sheets_line(&j->c->sheets, "%s", info->notice);
}

static void set_rate(struct mase_table *t, int row, int column, double rate)
{
    if (isnan(rate))
        mase_table_set(t, row, column, "-");
    else
        mase_table_setf(t, row, column, "%.4f", rate);
}

static void put_classes(struct job *j)
{
    static const char *const headers[] = { "Class", "Samples", "Precision", "Recall", "AUC", NULL };
    const struct mase_evaluation *e = &j->found.e;
    struct mase_table t = mase_table(&j->c->arena, headers);
    t.align[0] = MASE_ALIGN_LEFT;
    for (int c = 0; c < e->classes; c++) {
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, j->classes.names[c]);
        mase_table_setf(&t, row, 1, "%lld", (long long)e->support[c]);
        set_rate(&t, row, 2, e->precision[c]);
        set_rate(&t, row, 3, e->recall[c]);
        set_rate(&t, row, 4, e->auc[c]);
    }
    put_table(j, "classes", &t);
}

static void put_outputs(struct job *j)
{
    const struct mase_metric_table *m = &j->found.e.by_output;
    const char *headers[MASE_TABLE_MAX_COLUMNS + 1] = { m->title };
    if (m->rows > ROWS_SHOWN) {
        mase_sheets_line(&j->c->sheets, "by output: %lld rows, which --json and run.json have",
                         (long long)m->rows);
        return;
    }
    for (int k = 0; k < m->column_count; k++)
        headers[k + 1] = m->columns[k];
    struct mase_table t = mase_table(&j->c->arena, headers);
    t.align[0] = MASE_ALIGN_LEFT;
    for (int64_t r = 0; r < m->rows; r++) {
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, mase_metric_row(&j->c->arena, m, r));
        for (int k = 0; k < m->column_count; k++) {
            const double x = m->value[r * m->column_count + k];
            if (isnan(x))
                mase_table_set(&t, row, k + 1, "-");
            else
                mase_table_setf(&t, row, k + 1, "%.5g", x);
        }
    }
    put_table(j, "outputs", &t);
}

/* The confusion matrix, if it has few classes. */
static void put_confusion(struct job *j)
{
    const char *const *names = j->classes.names;
    const char *headers[MASE_TABLE_MAX_COLUMNS + 1] = { "Truth \\ answer" };
    const int C = j->found.e.classes;
    if (C >= MASE_TABLE_MAX_COLUMNS || !j->found.e.confusion)
        return;
    for (int c = 0; c < C; c++)
        headers[c + 1] = names[c];
    struct mase_table t = mase_table(&j->c->arena, headers);
    t.align[0] = MASE_ALIGN_LEFT;
    for (int c = 0; c < C; c++) {
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, names[c]);
        for (int k = 0; k < C; k++)
            mase_table_setf(&t, row, k + 1, "%lld", (long long)j->found.e.confusion[c * C + k]);
    }
    put_table(j, "confusion", &t);
}

/* ---- values for run.json ---- */

static struct mase_value *results(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a);
    const struct mase_evaluation *e = &j->found.e;
    mase_value_set(a, v, "split",
                   mase_value_string(a, mase_cli_flag(j->c, MASE_CLI_all_rows) ? "all" : "test"));
    if (!e->support)
        mase_value_set(a, v, "task", mase_value_string(a, e->task->name));
    mase_value_set(a, v, "samples", mase_value_int(a, e->samples));
    if (j->seen > 0)
        mase_value_set(a, v, "trained_on", mase_value_float(a, j->seen));
    mase_value_set(a, v, "test_loss_epoch", mase_value_measured(a, e->loss));
    mase_value_set(a, v, score_key(j), mase_value_measured(a, e->score));
    mase_evaluation_set(a, v, e, j->classes.names);
    struct mase_value *lost = mase_rounding_loss(a, j->work.graph);
    if (lost)
        mase_value_set(a, v, "rounded_weights", lost);
    return v;
}

static void put_json(const struct job *j, struct mase_value *found)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "model", mase_value_string(a, j->model->name));
    mase_value_set(a, v, "dataset", mase_cli_data_record(a, j->data));
    mase_value_set(a, v, "weights", mase_value_string(a, mase_cli_text(j->c, MASE_CLI_load_name)));
    const char *formats = mase_cli_formats_in(a, j->work.graph);
    mase_value_set(a, v, "quantised", formats ? mase_value_string(a, formats) : mase_value_none(a));
    for (int i = 0; i < found->count; i++)
        mase_value_set(a, v, found->keys[i], found->items[i]);
    mase_cli_put_json(v);
}

/* ---- the run ---- */

static enum mase_status write_files(const struct job *j, struct mase_value *found,
                                    struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *files = mase_value_list(a);
    MASE_TRY(mase_cli_save_graph(a, j->began, mase_path_join(a, j->project_dir, "software/test"),
                                 files, err));
    return mase_cli_record(&(struct mase_cli_record){ .c = j->c,
                                                      .project_dir = j->project_dir,
                                                      .name = "software/test/run.json",
                                                      .model = j->model,
                                                      .graph = j->work.graph,
                                                      .weights = j->work.source,
                                                      .dataset = mase_cli_data_record(a, j->data),
                                                      .isa = j->found.isa,
                                                      .threads = j->found.threads,
                                                      .results = found,
                                                      .files = files,
                                                      .started = j->started },
                           err);
}

static enum mase_status record(const struct job *j, struct mase_value *found, struct mase_err *err)
{
    struct mase_cli_claim claim;
    const char *path = mase_path_join(&j->c->arena, j->project_dir, "software/test/run.json");
    const bool again = mase_cli_is_recorded(j->c, path, found); /* the existing record is equal */
    MASE_TRY(mase_cli_claim(&claim, j->c, j->project_dir, again, err));
    const enum mase_status st = write_files(j, found, err);
    mase_cli_unclaim(&claim);
    return st;
}

/* Warn if rows of the test split are among those trained on. */
static void warn_of_trained_rows(struct job *j)
{
    const double some = 0.01;
    const struct mase_split_rows rows = rows_of(j);
    j->seen = mase_seen_share(&j->work.trained.seen, j->data, rows);
    if (j->seen < some)
        return;
    const char *text = mase_arena_printf(
        &j->c->arena,
        "%s%.0f %% of the %lld rows that are tested were trained on: of new ones the network may "
        "know less than the test says",
        j->work.trained.seen.all ? "" : "about ", fmax(100 * j->seen, 1), (long long)rows.count);
    if (mase_cli_flag(j->c, MASE_CLI_all_rows)) /* requested */
        mase_info("%s", text);
    else
        mase_warn("%s", text);
}

static enum mase_status run(struct job *j, struct mase_err *err)
{
    MASE_TRY(set_up(j, err));
    warn_of_trained_rows(j);
    mase_info("Testing model '%s'...", j->model->name);
    const struct mase_measure how = {
        .data = j->data,
        .rows = rows_of(j),
        .objective = &j->objective,
        .class_map = j->classes.map,
        .batch_size = mase_cli_value(j->c, MASE_CLI_batch_size)->i,
        .threads = (int)mase_cli_value(j->c, MASE_CLI_threads)->i,
        .engine = mase_engine_find(mase_cli_text(j->c, MASE_CLI_engine)),
        .seed = (uint64_t)mase_cli_value(j->c, MASE_CLI_seed)->i,
        .detail = &j->c->arena,
    };
    MASE_TRY(mase_work_measure(&j->found, j->work.graph, &how, err));
    if (!isfinite(j->found.e.loss))
        mase_warn("the loss is %g: some outputs of the network are NaN or infinite",
                  j->found.e.loss);
    struct mase_value *found = results(j);
    if (mase_cli_wants_json(j->c)) {
        put_json(j, found);
    } else {
        put_overall(j);
        if (j->found.e.support) {
            put_classes(j);
            put_confusion(j);
        } else if (j->found.e.by_output.rows) {
            put_outputs(j);
        }
    }
    MASE_TRY(record(j, found, err));
    mase_info("Testing is completed");
    return MASE_OK;
}

static enum mase_status fail_no_checkpoint(const struct mase_cli *c, struct mase_err *err)
{
    const char *model = mase_cli_text(c, MASE_CLI_model);
    const char *dataset = mase_cli_text(c, MASE_CLI_dataset);
    return mase_fail(
        err, MASE_EVALUE,
        "expected checkpoint via --load, got None; 'ch train %s %s --project mine' makes "
        "mase_output/mine/software/training_ckpts/best.ckpt",
        model ? model : "MODEL", dataset ? dataset : "DATASET");
}

enum mase_status mase_cli_test(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock() };
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    if (!j.work.weights)
        return fail_no_checkpoint(c, err);
    MASE_TRY(mase_cli_find_model(&j.model, c, &j.work, err));
    mase_cli_announce(c);
    MASE_TRY(mase_cli_find_project(&j.project_dir, c, err));
    const enum mase_status st = run(&j, err);
    mase_work_close(&j.work);
    mase_dataset_close(j.data);
    return st;
}
