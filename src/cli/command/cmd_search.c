/*
 * cmd_search.c - ch search: try out the points of [search] and keep the best.
 *
 *     PROJECT/software/search_ckpts/study.db        the study, which --resume goes on with
 *     PROJECT/software/search_ckpts/log.json        every trial
 *     PROJECT/software/search_ckpts/best.json       the best, or the Pareto front
 *     PROJECT/software/search_ckpts/trial_N.toml    a configuration for each of the best
 *     PROJECT/run.json
 *
 * Trials are chosen by the split that the configuration names, mostly validation rows. The best are
 * then measured on the test split, which no choice depends on.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/search.h>

#include "base/number.h"
#include "cli/command/cmd_train.h"
#include "cli/study_text.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    struct mase_opened work; /* its graph is owned */
    const char *project_dir, *dir;
    uint64_t started;
    struct mase_dataset *data; /* owned */
    const char *began;         /* the graph as text; NULL: of the zoo */
    struct mase_classes classes;
    struct mase_objective objective;
    struct mase_search *search; /* owned */
    struct mase_store *store;   /* owned */
    const char *storage;        /* where it is */
    struct mase_study study;    /* owned */
    int64_t *best;              /* trials of the front */
    int64_t best_count;
    struct mase_evaluation *test; // (best_count)
    struct mase_progress bar;
    struct mase_value *files;
    struct mase_cli_claim claim;
};

/* ---- opening ---- */

static enum mase_status find_section(const struct mase_value **section, const struct mase_cli *c,
                                     struct mase_err *err)
{
    *section = mase_value_get(c->config, "search");
    if (*section)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, mase_cli_text(c, MASE_CLI_config),
                        "there is no section [search], which says what is searched and how");
}

static enum mase_status open_inputs(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    mase_info("Initialising model '%s'...", j->model->name);
    mase_info("Initialising dataset '%s'...", mase_cli_text(c, MASE_CLI_dataset));
    MASE_TRY(mase_cli_objective(&j->objective, c, err));
    const enum mase_status opened = mase_work_open_data(&j->data, &j->work, err);
    if (opened)
        return mase_cli_fail_data(&j->work, opened, err);
    mase_classes_match(&j->classes, &c->arena, j->data, &j->work.trained);
    MASE_TRY(mase_cli_build(&j->work, c, &mase_dataset_info(j->data)->data, err));
    MASE_TRY(mase_cli_match_inputs(&j->data, c, &j->work, err));
    j->began = mase_cli_graph_text(&c->arena, j->model, j->work.graph);
    mase_cli_log_random(j->work.graph);
    return MASE_OK;
}

/* As Python writes it. */
static void add_python(struct mase_str *out, const struct mase_value *v)
{
    if (v->kind == MASE_NONE)
        mase_str_add(out, "None");
    else if (v->kind == MASE_BOOL)
        mase_str_add(out, v->b ? "True" : "False");
    else
        mase_json_print(out, v, 0);
}

/* net.py:Net(depth=2) and width = 16: net.py:Net(depth=2, width=16). */
static const char *with_arguments(struct mase_arena *a, const char *model,
                                  const struct mase_value *arguments)
{
    struct mase_str text = { 0 };
    const size_t n = strlen(model);
    const bool has = n && model[n - 1] == ')', empty = has && n > 1 && model[n - 2] == '(';
    mase_str_addn(&text, model, has ? n - 1 : n);
    for (int i = 0; i < arguments->count; i++) {
        mase_str_add(&text, i || (has && !empty) ? ", " : has ? "" : "(");
        mase_str_printf(&text, "%s=", arguments->keys[i]);
        add_python(&text, arguments->items[i]);
    }
    mase_str_addc(&text, ')');
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

/* Weights are drawn: no file has those of every width. */
static enum mase_status open_model(void *data, const struct mase_value *arguments,
                                   struct mase_graph **g, struct mase_err *err)
{
    struct job *j = data;
    struct mase_opened w;
    struct mase_work_choice o = j->work.choice;
    o.model = with_arguments(&j->c->arena, o.model, arguments);
    o.weights = NULL;
    MASE_TRY(mase_work_find(&w, &o, err));
    const enum mase_status st = mase_work_build(&w, &mase_dataset_info(j->data)->data, err);
    *g = st ? NULL : w.graph;
    w.graph = st ? w.graph : NULL;
    mase_work_close(&w);
    return st;
}

static int workers_of(const struct mase_cli *c)
{
    const int64_t asked = mase_cli_value(c, MASE_CLI_workers)->i;
    return asked > 0 ? (int)asked : mase_threads_allowed();
}

static enum mase_status open_search(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    struct mase_search_opts o = { .graph = j->work.graph,
                                  .data = j->data,
                                  .objective = &j->objective,
                                  .class_map = j->classes.map,
                                  .batch_size = mase_cli_value(c, MASE_CLI_batch_size)->i,
                                  .seed = (uint64_t)mase_cli_value(c, MASE_CLI_seed)->i,
                                  .training = mase_cli_training(c),
                                  .workers = workers_of(c) };
    MASE_TRY(find_section(&o.section, c, err));
    if (j->work.word.kind == MASE_WORD_SOURCE) {
        o.open_model = open_model;
        o.open_data = j;
    }
    return mase_search_new(&j->search, &o, err);
}

/* ---- the study ---- */

static const char *study_name(const struct job *j)
{
    const char *name = mase_cli_text(j->c, MASE_CLI_study);
    const char *slash = strrchr(j->project_dir, '/');
    return name ? name : slash ? slash + 1 : j->project_dir;
}

/* One that is there already is gone on with: others may be at it. */
static enum mase_status open_study(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_make_dirs(j->dir, err));
    MASE_TRY(mase_store_open(&j->store, j->storage, MASE_STORE_CREATE, err));
    return mase_search_take_study(&j->study, j->search, j->store, study_name(j), j->storage, err);
}

/* ---- running ---- */

static void show_trial(void *data, const struct mase_study *s, const struct mase_trial *t)
{
    struct job *j = data;
    if (t->state == MASE_TRIAL_FAIL) {
        const struct mase_value *why = mase_value_get(t->user, "failure");
        mase_warn("trial %lld failed: %s", (long long)t->number,
                  why && why->kind == MASE_STRING ? why->s : "no reason is known");
    }
    (void)s;
    mase_progress_step(&j->bar, j->bar.done + 1);
}

static enum mase_status run_trials(struct job *j, struct mase_err *err)
{
    const int64_t asked = mase_cli_value(j->c, MASE_CLI_trials)->i;
    const struct mase_search_run_opts o = {
        .store = j->store, .trials = asked > 0 ? asked : 0, .ended = show_trial, .data = j
    };
    mase_progress_start(&j->bar, "search, trials", mase_search_trials(j->search, &o));
    const enum mase_status st = mase_search_run(j->search, &j->study, &o, err);
    mase_progress_end(&j->bar);
    return st;
}

/* ---- files ---- */

static enum mase_status write_json(struct job *j, const char *name, const struct mase_value *v,
                                   struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_str text = { 0 };
    const char *path = mase_path_join(a, j->dir, name);
    mase_json_print(&text, v, 4);
    mase_str_addc(&text, '\n');
    const enum mase_status st = mase_file_write(path, text.data, text.len, err);
    mase_str_release(&text);
    mase_value_push(a, j->files, mase_value_string(a, path));
    return st;
}

/* ---- the best ---- */

/* Its model, with the arguments that vary. */
static struct mase_value *model_of(struct job *j, const struct mase_trial *t)
{
    struct mase_arena *a = &j->c->arena;
    const struct mase_value *arguments = mase_search_arguments(a, j->search, t);
    const char *model = mase_cli_text(j->c, MASE_CLI_model);
    return mase_value_string(a, arguments->count ? with_arguments(a, model, arguments) : model);
}

/* What ch test and ch transform take. load: the weights; NULL: none. */
static struct mase_value *configuration_of(struct job *j, const struct mase_trial *t,
                                           const struct mase_graph *g, const char *load)
{
    static const enum mase_cli_option_id ids[] = { MASE_CLI_dataset, MASE_CLI_task };
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a), *passes = mase_value_table(a);
    mase_value_set(a, v, "model",
                   load && mase_search_widens(j->search) ? mase_value_string(a, load)
                                                         : model_of(j, t));
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        mase_value_set(a, v, mase_cli_options[ids[i]].key,
                       mase_value_copy(a, mase_cli_value(j->c, ids[i])));
    if (load)
        mase_value_set(a, v, mase_cli_options[MASE_CLI_load_name].key, mase_value_string(a, load));
    mase_value_set(a, passes, "quantize", mase_cli_formats_by_name(a, g));
    mase_value_set(a, v, "passes", passes);
    return v;
}

/* A trained network, as a folder: its path. */
static enum mase_status save_network(const char **dir, struct job *j, const struct mase_trial *t,
                                     struct mase_graph *g, const struct mase_checkpoint_info *info,
                                     struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_manager m = { .env = { .files = j->files, .info_arena = a } };
    *dir = mase_path_join(a, j->dir, mase_arena_printf(a, "trial_%lld", (long long)t->number));
    mase_cli_sample_inputs(&m.env, a, g, &mase_dataset_info(j->data)->data.sample);
    const enum mase_status st = mase_work_save(&m, &g, *dir, info, err);
    mase_manager_release(&m);
    return st;
}

static enum mase_status write_configuration(struct job *j, const struct mase_trial *t,
                                            const struct mase_graph *g, const char *load,
                                            struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_str text = { 0 };
    const char *path =
        mase_path_join(a, j->dir, mase_arena_printf(a, "trial_%lld.toml", (long long)t->number));
    mase_toml_print(&text, configuration_of(j, t, g, load));
    const enum mase_status st = mase_file_write(path, text.data, text.len, err);
    mase_str_release(&text);
    mase_value_push(a, j->files, mase_value_string(a, path));
    return st;
}

/* Measure one of the best on rows that did not choose it, and write what it takes to have it. */
static enum mase_status finish_trial(struct job *j, const struct mase_trial *t,
                                     struct mase_evaluation *test, struct mase_err *err)
{
    struct mase_graph *g;
    struct mase_checkpoint_info info;
    const char *load = mase_cli_text(j->c, MASE_CLI_load_name);
    MASE_TRY(mase_search_network(&g, &info, j->search, t, err));
    MASE_TRY(mase_search_evaluate(test, j->search, MASE_SPLIT_TEST, err));
    if (mase_search_trains(j->search))
        MASE_TRY(save_network(&load, j, t, g, &info, err));
    return write_configuration(j, t, g, load, err);
}

static enum mase_status finish_best(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    j->best = mase_new_array(a, int64_t, (size_t)j->study.trials);
    j->best_count = mase_search_distinct(j->best, mase_search_setup(j->search), &j->study);
    j->test = mase_new_array(a, struct mase_evaluation, (size_t)j->best_count);
    for (int64_t i = 0; i < j->best_count; i++)
        MASE_TRY(finish_trial(j, &j->study.trial[j->best[i]], &j->test[i], err));
    return MASE_OK;
}

/* A server by its address, a file by its whole path. */
static const char *where(const struct job *j)
{
    return strstr(j->storage, "://") ? j->storage : mase_path_absolute(&j->c->arena, j->storage);
}

static struct mase_value *results(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a), *best = mase_value_list(a);
    char hash[65];
    mase_study_hash(hash, &j->study);
    mase_value_set(a, v, "trials", mase_value_int(a, j->study.trials));
    mase_value_set(a, v, "study", mase_value_string(a, j->study.name));
    if (mase_cli_text(j->c, MASE_CLI_storage))
        mase_value_set(a, v, "storage", mase_value_string(a, where(j)));
    mase_value_set(a, v, "study_hash", mase_value_string(a, hash));
    for (int64_t i = 0; i < j->best_count; i++) {
        const struct mase_trial *t = &j->study.trial[j->best[i]];
        struct mase_value *row = mase_value_table(a);
        mase_value_set(a, row, "number", mase_value_int(a, t->number));
        mase_value_set(a, row, "scaled_metrics", mase_value_get(t->user, "scaled_metrics"));
        mase_value_set(a, row, "test_loss", mase_value_measured(a, j->test[i].loss));
        mase_value_set(a, row, mase_arena_printf(a, "test_%s", j->objective.task->score),
                       mase_value_measured(a, j->test[i].score));
        mase_value_push(a, best, row);
    }
    mase_value_set(a, v, "best", best);
    return v;
}

static enum mase_status write_files(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    MASE_TRY(write_json(j, "log.json", mase_search_log(a, &j->study), err));
    MASE_TRY(write_json(j, "best.json",
                        mase_search_best(a, mase_search_setup(j->search), &j->study), err));
    MASE_TRY(mase_cli_save_graph(a, j->began, j->dir, j->files, err));
    return mase_cli_record(&(struct mase_cli_record){ .c = j->c,
                                                      .project_dir = j->project_dir,
                                                      .name = "run.json",
                                                      .model = j->model,
                                                      .graph = j->work.graph,
                                                      .weights = j->work.source,
                                                      .dataset = mase_cli_data_record(a, j->data),
                                                      .threads = workers_of(j->c),
                                                      .results = results(j),
                                                      .files = j->files,
                                                      .started = j->started },
                           err);
}

/* ---- tables ---- */

/* Metrics that the configuration names, and what every network is judged by; log.json has them all.
 */
static bool is_shown(const char *metric, const struct mase_value *scaled)
{
    return mase_value_get(scaled, metric) || mase_streq(metric, "loss") ||
           mase_streq(metric, "accuracy");
}

/* {'loss': 0.668}: numbers to three decimals, as the original prints them. */
static const char *rounded(struct mase_arena *a, const struct mase_value *metrics,
                           const struct mase_value *scaled)
{
    struct mase_value *v = mase_value_table(a);
    struct mase_str text = { 0 };
    for (int i = 0; metrics && i < metrics->count; i++)
        if (is_shown(metrics->keys[i], scaled))
            mase_value_set(
                a, v, metrics->keys[i],
                mase_value_float(a, rint(mase_value_number(metrics->items[i]) * 1e3) / 1e3));
    mase_value_str(&text, v);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

static void put_best(struct job *j)
{
    static const char *const headers[] = { "number", "software_metrics", "hardware_metrics",
                                           "scaled_metrics", NULL };
    struct mase_arena *a = &j->c->arena;
    struct mase_table t = mase_table(a, headers);
    for (int64_t i = 0; i < j->best_count; i++) {
        const struct mase_trial *trial = &j->study.trial[j->best[i]];
        const int row = mase_table_row(&t);
        mase_table_setf(&t, row, 0, "%lld", (long long)trial->number);
        for (int k = 1; k < 4; k++)
            mase_table_set(&t, row, k,
                           rounded(a, mase_value_get(trial->user, headers[k]),
                                   mase_value_get(trial->user, "scaled_metrics")));
    }
    t = mase_table_indexed(a, &t);
    mase_sheets_add(
        &j->c->sheets,
        &(struct mase_sheet){
            .key = "best", .title = "Best trial(s):", .table = t, .style = MASE_TABLE_ORGTBL });
}

static void put_test(struct job *j)
{
    static const char *const headers[] = { "number", "loss", "score", "standard error", NULL };
    struct mase_table t = mase_table(&j->c->arena, headers);
    if (!j->best_count)
        return;
    t.header[2] = j->objective.task->score;
    for (int64_t i = 0; i < j->best_count; i++) {
        const struct mase_evaluation *e = &j->test[i];
        const int row = mase_table_row(&t);
        mase_table_setf(&t, row, 0, "%lld", (long long)j->study.trial[j->best[i]].number);
        mase_table_setf(&t, row, 1, "%.6f", e->loss);
        mase_table_setf(&t, row, 2, "%.6f", e->score);
        mase_table_set(&t, row, 3, "");
        if (!isnan(e->accuracy_error))
            mase_table_setf(&t, row, 3, "%.2g", e->accuracy_error);
    }
    mase_sheets_add(&j->c->sheets,
                    &(struct mase_sheet){ .key = "test",
                                          .title = "On the test split, by which none was chosen:",
                                          .table = t,
                                          .style = MASE_TABLE_ORGTBL });
}

static void print_tables(struct job *j)
{
    struct mase_sheets *s = &j->c->sheets;
    const struct mase_dataset_info *info = mase_dataset_info(j->data);
    mase_sheets_line(s, "%s on %s: %lld trials, %lld of them best", j->model->name, info->data.name,
                     (long long)j->study.trials, (long long)j->best_count);
    if (info->notice)
        mase_sheets_line(s, "%s", info->notice);
    put_best(j);
    put_test(j);
    mase_cli_put_study(j->c, &j->study);
    mase_sheets_set(s, "results", results(j));
    mase_sheets_end(s);
}

/* ---- the run ---- */

static enum mase_status run(struct job *j, struct mase_err *err)
{
    MASE_TRY(open_inputs(j, err));
    MASE_TRY(open_search(j, err));
    MASE_TRY(
        mase_cli_claim(&j->claim, j->c, j->project_dir, mase_cli_flag(j->c, MASE_CLI_resume), err));
    MASE_TRY(open_study(j, err));
    mase_cli_on_interrupt("\nch: interrupted; the same command with --resume goes on\n");
    MASE_TRY(run_trials(j, err));
    MASE_TRY(finish_best(j, err));
    MASE_TRY(write_files(j, err));
    print_tables(j);
    mase_info("Searching is completed");
    return MASE_OK;
}

enum mase_status mase_cli_search(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock(), .claim = { .lock = -1 } };
    const struct mase_value *section;
    if (!mase_cli_text(c, MASE_CLI_config))
        return mase_fail(err, MASE_EVALUE, "expected configuration via --config, got None");
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(find_section(&section, c, err));
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    MASE_TRY(mase_cli_find_model(&j.model, c, &j.work, err));
    mase_cli_announce(c);
    MASE_TRY(mase_cli_find_project(&j.project_dir, c, err));
    j.dir = mase_path_join(&c->arena, j.project_dir, "software/search_ckpts");
    j.storage = mase_cli_text(c, MASE_CLI_storage);
    if (!j.storage)
        j.storage = mase_path_join(&c->arena, j.dir, "study.db");
    j.files = mase_value_list(&c->arena);
    const enum mase_status st = run(&j, err);
    mase_cli_unclaim(&j.claim);
    mase_search_free(j.search);
    mase_store_close(j.store);
    mase_study_release(&j.study);
    mase_work_close(&j.work);
    mase_dataset_close(j.data);
    return st;
}
