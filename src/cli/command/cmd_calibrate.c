/*
 * cmd_calibrate.c - ch calibrate: find the parameters that a configuration leaves "auto".
 *
 *     DIR/calibrated.toml    the configuration, complete, with numbers
 *     DIR/network            the network: weights as gptq, bias_correction and transforms left them
 *     DIR/run.json
 *
 * DIR is --output, or software/calibrate of the project. The transforms of the configuration run in
 * the order of the file, as ch transform runs them; those before [passes.quantize] are part of the
 * network afterwards.
 */
#include "cli/command/cmd_calibrate.h"

#include <dirent.h>
#include <math.h>

#include <mase/calibrate.h>
#include <mase/compare.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/saved.h>

#include "cli/command/cmd_train.h"
#include "cli/command_nets.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    struct mase_opened work; /* owns its graph */
    struct mase_classes classes;
    const char *project_dir; /* for run.json */
    const char *dir;         /* for all other files */
    uint64_t started;
    struct mase_graph *before; /* owned: the loaded network, with its weights */
    struct mase_manager manager;
    struct mase_cli_samples samples;
    struct mase_cli_claim claim;
    struct mase_objective objective;
    struct mase_value *measured; /* list of tables; NULL: not measured */
};

/* ---- options ---- */

/* Let options of the command line override those of [passes.quantize.calibrate]. */
static void override(struct mase_cli *c, struct mase_value *section)
{
    static const struct {
        enum mase_cli_option_id id;
        const char *key;
    } options[] = { { MASE_CLI_method, "method" },
                    { MASE_CLI_quantile, "quantile" },
                    { MASE_CLI_rows, "rows" },
                    { MASE_CLI_gptq, "gptq" },
                    { MASE_CLI_bias_correction, "bias_correction" } };
    struct mase_arena *a = &c->arena;
    struct mase_value *v = mase_value_get(section, "calibrate");
    if (!v)
        v = mase_value_set(a, section, "calibrate", mase_value_table(a));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (c->setting[options[i].id].cmdline)
            mase_value_set(a, v, options[i].key,
                           mase_value_copy(a, c->setting[options[i].id].cmdline));
    if (!mase_value_get(v, "keep"))
        mase_value_set(a, v, "keep", mase_value_bool(a, false));
}

static enum mase_status take_options(struct mase_cli *c, struct mase_err *err)
{
    struct mase_value *v = mase_value_at(c->config, "passes.quantize");
    if (!v)
        return mase_fail_in(err, MASE_EVALUE, mase_cli_text(c, MASE_CLI_config),
                            "has no [passes.quantize]: there is nothing to calibrate");
    for (int i = 0; i < v->count && v->kind == MASE_LIST; i++)
        override(c, v->items[i]);
    if (v->kind == MASE_TABLE)
        override(c, v);
    return mase_pass_runs_bind(&c->passes, &c->arena, mase_value_get(c->config, "passes"), err);
}

/* ---- output folder ---- */

static bool has_files(const char *path)
{
    DIR *dir = opendir(path);
    bool any = false;
    for (const struct dirent *e; dir && !any && (e = readdir(dir));)
        any = !mase_streq(e->d_name, ".") && !mase_streq(e->d_name, "..");
    if (dir)
        closedir(dir);
    return any;
}

/* A folder given by the user must be empty, since nothing is overwritten. */
static enum mase_status find_folder(struct job *j, struct mase_err *err)
{
    const char *own = mase_cli_text(j->c, MASE_CLI_output);
    if (!own) {
        MASE_TRY(mase_cli_find_project(&j->project_dir, j->c, err));
        j->dir = mase_path_join(&j->c->arena, j->project_dir, "software/calibrate");
        return MASE_OK;
    }
    if (!*own)
        return mase_fail(err, MASE_EVALUE, "--output: expected a folder, got an empty name");
    if (has_files(own))
        return mase_fail_in(err, MASE_EVALUE, own, "is not empty: give --output a new folder");
    j->project_dir = j->dir = own;
    return MASE_OK;
}

static enum mase_status claim(struct job *j, struct mase_err *err)
{
    return j->dir == j->project_dir ? mase_make_dirs(j->dir, err)
                                    : mase_cli_claim(&j->claim, j->c, j->project_dir, false, err);
}

/* ---- the network ---- */

static const struct mase_data_info *data_of(const struct job *j)
{
    return &mase_dataset_info(j->samples.dataset)->data;
}

static enum mase_status build(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    mase_info("Initialising model '%s'...", j->model->name);
    mase_info("Initialising dataset '%s'...", mase_cli_text(j->c, MASE_CLI_dataset));
    MASE_TRY(mase_cli_objective(&j->objective, j->c, err));
    MASE_TRY(mase_work_open_data(&j->samples.dataset, &j->work, err));
    mase_classes_match(&j->classes, a, j->samples.dataset, &j->work.trained);
    MASE_TRY(mase_cli_build(&j->work, j->c, data_of(j), err));
    MASE_TRY(mase_cli_match_inputs(&j->samples.dataset, j->c, &j->work, err));
    mase_cli_sample_inputs(&j->manager.env, a, j->work.graph, &data_of(j)->sample);
    j->before = mase_graph_clone(j->work.graph);
    mase_graph_own_weights(j->before);
    mase_graph_drop_formats(j->before);
    const int asked = (int)mase_cli_value(j->c, MASE_CLI_threads)->i;
    j->manager.env.threads = mase_predict_threads(j->work.graph, &data_of(j)->sample, 512, asked);
    return MASE_OK;
}

static enum mase_status run_transforms(struct job *j, struct mase_err *err)
{
    const struct mase_pass_runs *runs = &j->c->passes;
    mase_info("Calibrating model '%s'...", j->model->name);
    for (int i = 0; i < runs->count; i++) {
        const struct mase_pass *p = runs->items[i].pass;
        if (p->transform && mase_streq(mase_pass_kind(p), "transform"))
            MASE_TRY(mase_manager_run_bound(&j->manager, &j->work.graph, &runs->items[i], err));
    }
    return MASE_OK;
}

/* ---- measure ---- */

/* The key of the score: "accuracy", or the name that the task has in files. */
static const char *score_key(const struct job *j)
{
    const struct mase_task *t = j->objective.task;
    return mase_streq(t->score, "acc") ? "accuracy" : t->score;
}

static enum mase_status measure(struct job *j, struct mase_graph *g, const char *which,
                                enum mase_split split, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_measurement found;
    struct mase_value *v = mase_value_table(a);
    const struct mase_measure how = {
        .data = j->samples.dataset,
        .rows = mase_dataset_split(j->samples.dataset, split),
        .objective = &j->objective,
        .class_map = j->classes.map,
        .batch_size = mase_cli_value(j->c, MASE_CLI_batch_size)->i,
        .threads = j->manager.env.threads,
    };
    MASE_TRY(mase_work_measure(&found, g, &how, err));
    mase_value_set(a, v, "network", mase_value_string(a, which));
    mase_value_set(a, v, "split", mase_value_string(a, mase_split_names[split]));
    mase_value_set(a, v, "samples", mase_value_int(a, found.e.samples));
    mase_value_set(a, v, score_key(j), mase_value_float(a, found.e.score));
    mase_value_set(a, v, "loss", mase_value_float(a, found.e.loss));
    mase_value_push(a, j->measured, v);
    return MASE_OK;
}

static enum mase_status measure_both(struct job *j, struct mase_err *err)
{
    const char *which = mase_cli_text(j->c, MASE_CLI_measure);
    if (mase_streq(which, "none"))
        return MASE_OK;
    const enum mase_split split =
        mase_streq(which, "test") ? MASE_SPLIT_TEST : MASE_SPLIT_VALIDATION;
    j->measured = mase_value_list(&j->c->arena);
    MASE_TRY(measure(j, j->before, "float", split, err));
    return measure(j, j->work.graph, "quantised", split, err);
}

/* ---- print ---- */

static const struct mase_value *list_in(const struct mase_value *results, int i, const char *key)
{
    return mase_starts_with(results->keys[i], "calibrate") ? mase_value_get(results->items[i], key)
                                                           : NULL;
}

static void set_figure(struct mase_table *t, int row, int column, const struct mase_value *v,
                       const char *key)
{
    const double x = mase_value_number(mase_value_get(v, key));
    if (isnan(x))
        mase_table_set(t, row, column, "-");
    else
        mase_table_setf(t, row, column, "%.4g", x);
}

static void put_operands(struct job *j)
{
    static const char *const headers[] = { "Node", "Operand", "Format", "Min",     "Max", "Low",
                                           "High", "MSE",     "SQNR",   "Outside", NULL };
    static const char *const keys[] = { "node", "operand", "format", "min",     "max",
                                        "low",  "high",    "mse",    "sqnr_db", "saturated" };
    const struct mase_value *results = j->manager.env.info;
    struct mase_table t = mase_table(&j->c->arena, headers);
    for (int i = 0; i < results->count; i++) {
        const struct mase_value *list = list_in(results, i, "operands");
        for (int k = 0; list && k < list->count; k++) {
            const int row = mase_table_row(&t);
            for (int c = 0; c < 10; c++)
                if (c < 3)
                    mase_table_set(&t, row, c, mase_value_get(list->items[k], keys[c])->s);
                else
                    set_figure(&t, row, c, list->items[k], keys[c]);
        }
    }
    if (t.rows)
        mase_sheets_add(
            &j->c->sheets,
            &(struct mase_sheet){ .key = "operands", .table = t, .style = MASE_TABLE_SIMPLE });
}

static void put_layers(struct job *j)
{
    static const char *const headers[] = { "Node", "Error to nearest", "Error", "Correction",
                                           NULL };
    const struct mase_value *results = j->manager.env.info;
    struct mase_table t = mase_table(&j->c->arena, headers);
    for (int i = 0; i < results->count; i++) {
        const struct mase_value *list = list_in(results, i, "layers");
        for (int k = 0; list && k < list->count; k++) {
            const int row = mase_table_row(&t);
            mase_table_set(&t, row, 0, mase_value_get(list->items[k], "node")->s);
            set_figure(&t, row, 1, list->items[k], "error_nearest");
            set_figure(&t, row, 2, list->items[k], "error_gptq");
            set_figure(&t, row, 3, list->items[k], "largest_correction");
        }
    }
    if (t.rows)
        mase_sheets_add(&j->c->sheets,
                        &(struct mase_sheet){ .key = "layers",
                                              .title = "Mean squared error of the layers' results",
                                              .table = t,
                                              .style = MASE_TABLE_SIMPLE });
}

static void put_score(struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    const char *title = mase_cli_capital(a, j->objective.task->score_title);
    const char *const headers[] = { "Network", "Split", "Samples", title, "Loss", NULL };
    struct mase_table t = mase_table(&j->c->arena, headers);
    for (int i = 0; j->measured && i < j->measured->count; i++) {
        const struct mase_value *v = j->measured->items[i];
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, mase_value_get(v, "network")->s);
        mase_table_set(&t, row, 1, mase_value_get(v, "split")->s);
        mase_table_setf(&t, row, 2, "%lld", (long long)mase_value_get(v, "samples")->i);
        mase_table_setf(&t, row, 3, "%.4f", mase_value_get(v, score_key(j))->f);
        mase_table_setf(&t, row, 4, "%.4f", mase_value_get(v, "loss")->f);
    }
    if (j->measured)
        mase_sheets_add(&j->c->sheets, &(struct mase_sheet){
                                           .key = score_key(j),
                                           .title = mase_arena_printf(
                                               a, "%s on samples that were not trained on", title),
                                           .table = t,
                                           .style = MASE_TABLE_SIMPLE });
}

/* ---- files ---- */

static enum mase_status write_configuration(struct job *j, const char *network,
                                            struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    const char *path = mase_path_join(a, j->dir, "calibrated.toml");
    struct mase_str text = { 0 };
    mase_cli_calibrated_print(
        &text, &(struct mase_cli_calibrated){
                   .c = j->c,
                   .graph = j->work.graph,
                   .results = j->manager.env.info,
                   .network = network,
                   .own_model = !mase_graph_same_network(j->before, j->work.graph, NULL) });
    const enum mase_status st = mase_file_write(path, mase_str_text(&text), text.len, err);
    mase_str_release(&text);
    MASE_TRY(st);
    mase_value_push(a, j->manager.env.files, mase_value_string(a, path));
    mase_sheets_line(&j->c->sheets, "The configuration is %s", path);
    return MASE_OK;
}

static enum mase_status record(const struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    if (j->measured)
        mase_value_set(a, j->manager.env.info, score_key(j), j->measured);
    return mase_cli_record_passes(
        &(struct mase_cli_record){ .c = j->c,
                                   .project_dir = j->project_dir,
                                   .name = j->dir == j->project_dir ? "run.json"
                                                                    : "software/calibrate/run.json",
                                   .model = j->model,
                                   .graph = j->work.graph,
                                   .weights = j->work.source,
                                   .dataset = mase_cli_data_record(a, j->samples.dataset),
                                   .started = j->started },
        &j->manager, err);
}

static enum mase_status write_files(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    const char *network = mase_path_join(a, j->dir, "network");
    MASE_TRY(claim(j, err));
    MASE_TRY(mase_work_save(&j->manager, &j->work.graph, network, &j->work.trained, err));
    MASE_TRY(write_configuration(j, network, err));
    return record(j, err);
}

/* ---- the run ---- */

static enum mase_status run(struct job *j, struct mase_err *err)
{
    MASE_TRY(build(j, err));
    MASE_TRY(run_transforms(j, err));
    MASE_TRY(measure_both(j, err));
    put_operands(j);
    put_layers(j);
    put_score(j);
    MASE_TRY(write_files(j, err));
    mase_sheets_set(&j->c->sheets, "results", j->manager.env.info);
    mase_sheets_end(&j->c->sheets);
    mase_info("Calibration is completed");
    return MASE_OK;
}

enum mase_status mase_cli_calibrate(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock(), .claim = { .lock = -1 } };
    if (!mase_cli_text(c, MASE_CLI_config))
        return mase_fail(err, MASE_EVALUE, "expected configuration via --config, got None");
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(take_options(c, err));
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    if (!j.work.weights)
        return mase_fail(err, MASE_EVALUE, "expected trained weights via --load, got None");
    MASE_TRY(mase_cli_find_model(&j.model, c, &j.work, err));
    mase_cli_announce(c);
    MASE_TRY(find_folder(&j, err));
    mase_cli_manager_init(&j.manager, c, &j.samples, &j.work);
    const enum mase_status st = run(&j, err);
    mase_cli_unclaim(&j.claim);
    mase_manager_release(&j.manager);
    mase_graph_free(j.before);
    mase_work_close(&j.work);
    mase_cli_samples_close(&j.samples);
    return st;
}
