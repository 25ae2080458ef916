/*
 * cmd_sweep.c - ch sweep: train over a grid of options and compare.
 *
 *     PROJECT/software/sweep/sweep.csv      every configuration and what it came to
 *     PROJECT/software/sweep/seeds.csv      mean and deviation over seeds, where there are several
 *     PROJECT/software/sweep/sweep.svg      validation loss over the longest axis
 *     PROJECT/software/sweep/runs/KEY.json  one file per finished configuration
 *     PROJECT/run.json
 *
 * The default project has no date in its name: the same command continues where it stopped.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/sweep.h>

#include "cli/command/cmd_sweep.h"
#include "cli/command/cmd_train.h"
#include "cli/project.h"

struct job {
    struct mase_cli *c;
    uint64_t started; /* by mase_clock */
    struct mase_sweep sweep;
    struct mase_sweep_axis axes[MASE_CLI_COUNT];
    struct mase_cli_set_axis sets[MASE_SWEEP_MAX_AXES]; /* axes of --set */
    int set_count;
    const struct mase_value *models; /* a list, or a single model */
    struct mase_opened *works; /* one for each model; weights and data are those of the first */
    const struct mase_model *model; /* the model; for several, one with all names */
    int model_count;
    struct mase_graph **networks;         /* owned, one for each model and combination of sets */
    struct mase_graph **models_as_loaded; /* owned, one for each model: without formats */
    const struct mase_graph **bases;      /* by network: its model as loaded */
    int network_count;
    struct mase_dataset *data; /* owned */
    const char *project_dir, *dir;
    const char *csv, *seeds, *svg; /* paths */
    struct mase_cli_claim claim;
};

/* Separate options of training that all configurations share from those that vary. */
static enum mase_status collect_options(struct job *j, struct mase_err *err)
{
    struct mase_value *common = mase_cli_training(j->c);
    j->models = mase_cli_value(j->c, MASE_CLI_model);
    if (j->models->kind == MASE_LIST)
        j->axes[j->sweep.axis_count++] = (struct mase_sweep_axis){ "model", j->models, true };
    MASE_TRY(mase_cli_set_axes(j->sets, &j->set_count, j->c, err));
    for (int i = 0; i < j->set_count; i++)
        j->axes[j->sweep.axis_count++] = j->sets[i].axis;
    for (int i = 0; i < MASE_TRAIN_OPTION_COUNT; i++) {
        const struct mase_value *v = mase_cli_value(j->c, mase_cli_train_ids[i]);
        if (v->kind == MASE_LIST)
            j->axes[j->sweep.axis_count++] =
                (struct mase_sweep_axis){ .key = mase_train_rows[i].key, .values = v };
    }
    j->sweep.options = common;
    j->sweep.axes = j->axes;
    const struct mase_value *threads = mase_value_get(common, "threads");
    j->sweep.jobs = threads ? (int)threads->i : 0;
    return MASE_OK;
}

/* Each of several models starts from the common weights, or from the seed. */
static enum mase_status find_listed(struct mase_opened *w, struct mase_cli *c,
                                    const struct mase_work_choice *o, struct mase_err *err)
{
    if (o->weights)
        return mase_cli_find_choice(w, c, o, err);
    MASE_TRY(mase_work_find(w, o, err));
    w->source = MASE_WEIGHTS_SEED;
    w->weights = w->choice.data.weights = NULL;
    return MASE_OK;
}

/* Find the models; for several, a combined one stands for them in the records. */
static enum mase_status find_combined(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_model *combined = mase_new(a, struct mase_model);
    const char *names = "";
    for (int i = 0; i < j->models->count; i++) {
        struct mase_work_choice o;
        MASE_TRY(mase_cli_choose(&o, j->c, err));
        o.model = j->models->items[i]->s;
        o.model_at = j->models->items[i]->at;
        o.layers = NULL;
        MASE_TRY(find_listed(&j->works[i], j->c, &o, err));
        MASE_TRY(mase_cli_find_model(&j->model, j->c, &j->works[i], err));
        names = mase_arena_printf(a, "%s%s%s", names, i ? ", " : "", o.model);
    }
    *combined = *j->model;
    combined->name = names;
    j->model = combined;
    return MASE_OK;
}

static enum mase_status find_models(struct job *j, struct mase_err *err)
{
    const bool several = j->models->kind == MASE_LIST;
    j->model_count = several ? j->models->count : 1;
    j->works = mase_new_array(&j->c->arena, struct mase_opened, (size_t)j->model_count);
    if (several)
        return find_combined(j, err);
    MASE_TRY(mase_cli_find_work(j->works, j->c, err));
    return mase_cli_find_model(&j->model, j->c, j->works, err);
}

/* The models in the name of a folder: "jsc-tiny,jsc-toy". */
static const char *folder_name(struct job *j)
{
    struct mase_str text = { 0 };
    for (int i = 0; j->models->kind == MASE_LIST && i < j->models->count; i++)
        mase_str_printf(&text, "%s%s", i ? "," : "", j->models->items[i]->s);
    const char *name =
        text.len ? mase_arena_strdup(&j->c->arena, mase_str_text(&text)) : j->models->s;
    mase_str_release(&text);
    return name;
}

static enum mase_status find_folders(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    if (mase_cli_value(c, MASE_CLI_project)->kind == MASE_NONE) {
        char *name =
            mase_arena_printf(&c->arena, "%s_%s_%s_sweep", folder_name(j),
                              mase_cli_text(c, MASE_CLI_task), mase_cli_text(c, MASE_CLI_dataset));
        for (char *p = name; (p = strchr(p, '/'));)
            *p = '-';
        mase_cli_settle(c, MASE_CLI_project, mase_value_string(&c->arena, name));
    }
    MASE_TRY(mase_cli_find_project(&j->project_dir, c, err));
    j->dir = mase_path_join(&c->arena, j->project_dir, "software/sweep");
    j->sweep.dir = mase_path_join(&c->arena, j->dir, "runs");
    j->csv = mase_path_join(&c->arena, j->dir, "sweep.csv");
    j->seeds = mase_path_join(&c->arena, j->dir, "seeds.csv");
    j->svg = mase_path_join(&c->arena, j->dir, "sweep.svg");
    return MASE_OK;
}

/* Open model number i, and load weights. */
static enum mase_status open_base(struct mase_graph **g, struct job *j, int i, struct mase_err *err)
{
    struct mase_opened *w = &j->works[i];
    w->choice.data = j->works->choice.data; /* which arrays were read */
    MASE_TRY(mase_work_graph(w, &mase_dataset_info(j->data)->data, err));
    MASE_TRY(mase_cli_match_inputs(&j->data, j->c, w, err));
    j->works->choice.data = w->choice.data;
    j->sweep.data = j->data;
    MASE_TRY(mase_work_check_size(w->graph, &w->sample, err));
    *g = w->graph;
    w->graph = NULL;
    return j->sweep.weights ? mase_checkpoint_follow(*g, j->sweep.weights, err) : MASE_OK;
}

static bool has_value(const struct mase_value *list, const char *text)
{
    for (int i = 0; i < list->count; i++)
        if (list->items[i]->kind == MASE_STRING && mase_streq(list->items[i]->s, text))
            return true;
    return false;
}

/* For an axis of one format parameter, add the float network as a value, if the models have no
 * formats. */
static void add_plain(struct job *j, struct mase_graph **bases)
{
    struct mase_cli_set_axis *axis = &j->sets[0];
    bool plain = j->set_count == 1 && !has_value(axis->values, MASE_SWEEP_PLAIN);
    for (int i = 0; i < j->model_count; i++)
        plain = plain && !mase_graph_is_quantised(bases[i]);
    axis->plain = plain;
    if (plain)
        mase_value_push(&j->c->arena, axis->values,
                        mase_value_string(&j->c->arena, MASE_SWEEP_PLAIN));
}

/* Build every model with every combination of formats. */
static enum mase_status vary_formats(struct job *j, struct mase_err *err)
{
    int variants = 1;
    add_plain(j, j->models_as_loaded);
    for (int i = 0; i < j->set_count; i++) {
        variants *= j->sets[i].values->count;
        if (variants > MASE_SWEEP_MAX_RUNS)
            return mase_fail(err, MASE_ELIMIT, "a sweep has at most %d configurations",
                             MASE_SWEEP_MAX_RUNS);
    }
    j->network_count = j->model_count * variants;
    j->networks = mase_new_array(&j->c->arena, struct mase_graph *, (size_t)j->network_count);
    for (int i = 0; i < j->model_count; i++)
        MASE_TRY(mase_cli_set_networks(j->networks + i * variants, j->c, j->models_as_loaded[i],
                                       j->sets, j->set_count, j->works, err));
    return MASE_OK;
}

/* Give the models the formats of the configuration, if any. */
static enum mase_status give_formats(struct job *j, struct mase_err *err)
{
    j->network_count = j->model_count;
    j->networks = mase_new_array(&j->c->arena, struct mase_graph *, (size_t)j->network_count);
    for (int i = 0; i < j->model_count; i++) {
        j->networks[i] = mase_graph_clone(j->models_as_loaded[i]);
        MASE_TRY(mase_cli_need_weights(j->networks[i], j->c, err));
        MASE_TRY(mase_cli_quantise(&j->networks[i], j->c, j->works, err));
    }
    return MASE_OK;
}

static enum mase_status open_networks(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    j->models_as_loaded = mase_new_array(a, struct mase_graph *, (size_t)j->model_count);
    for (int i = 0; i < j->model_count; i++)
        MASE_TRY(open_base(&j->models_as_loaded[i], j, i, err));
    j->works->sample = mase_dataset_info(j->data)->data.sample;
    MASE_TRY(j->set_count ? vary_formats(j, err) : give_formats(j, err));
    j->bases = mase_new_array(a, const struct mase_graph *, (size_t)j->network_count);
    for (int i = 0; i < j->network_count; i++) {
        j->bases[i] = j->models_as_loaded[i / (j->network_count / j->model_count)];
        MASE_TRY(mase_cli_freeze(j->networks[i], j->c, err));
    }
    const bool several = j->models->kind == MASE_LIST || j->set_count;
    j->sweep.network = several ? NULL : j->networks[0];
    j->sweep.networks = several ? (const struct mase_graph *const *)j->networks : NULL;
    j->sweep.bases = j->bases;
    return MASE_OK;
}

static enum mase_status open_inputs(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    const struct mase_opened *w = j->works;
    if (w->source == MASE_WEIGHTS_SAVED)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "a sweep starts from initial weights or a file of weights, not from a "
                         "saved graph");
    j->sweep.weights = w->source == MASE_WEIGHTS_FILE ? w->weights : NULL;
    j->sweep.load = w->choice.load;
    MASE_TRY(mase_cli_pruning(&j->sweep.prune, c, err));
    MASE_TRY(mase_work_open_data(&j->data, j->works, err));
    j->sweep.data = j->data;
    MASE_TRY(open_networks(j, err));
    mase_cli_log_weights(c, j->networks[0], j->sweep.weights);
    j->sweep.data_variant = mase_cli_data_variant(c);
    return MASE_OK;
}

/* ---- resume ---- */

/* The axes of --set, which are no options. */
static struct mase_value *format_axes(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < j->set_count; i++)
        mase_value_set(a, v, j->sets[i].axis.key, mase_value_copy(a, j->sets[i].values));
    return v;
}

/* Numbers compare by value: 1e-2 equals 0.01. */
static bool is_same_option(const struct job *j, const struct mase_value *was,
                           enum mase_cli_option_id id)
{
    const struct mase_value *before = mase_value_get(was, mase_cli_options[id].key);
    return before && mase_value_equal(before, mase_cli_value(j->c, id));
}

static bool is_same_value(const struct mase_value *was, const struct mase_value *is)
{
    return was && is ? mase_value_equal(was, is) : was == is;
}

/* Are the results in the folder those of this sweep? Then the new table includes them. */
static bool is_same_sweep(const struct job *j, const char *dir)
{
    static const enum mase_cli_option_id ids[] = { MASE_CLI_model, MASE_CLI_dataset,
                                                   MASE_CLI_load_name };
    struct mase_arena *a = &j->c->arena;
    struct mase_value *run;
    if (mase_json_read(&run, a, mase_path_join(a, dir, "run.json"), NULL))
        return false;
    const struct mase_value *was = mase_value_at(run, "configuration.options");
    const struct mase_value *action = mase_value_get(run, "action");
    bool same = was && action && action->kind == MASE_STRING && mase_streq(action->s, "sweep");
    for (size_t i = 0; same && i < sizeof ids / sizeof ids[0]; i++)
        same = is_same_option(j, was, ids[i]);
    same = same && is_same_value(mase_value_at(run, "configuration.passes"),
                                 mase_value_get(j->c->config, "passes"));
    same = same && is_same_value(mase_value_at(run, "results.format_axes"),
                                 j->set_count ? format_axes(j) : NULL);
    for (int i = 0; same && i < MASE_DATA_WORD_COUNT; i++)
        same = i == MASE_DATA_data_dir || i == MASE_DATA_require_real_data ||
               is_same_option(j, was, mase_cli_data_ids[i]);
    for (int i = 0; same && i < MASE_TRAIN_OPTION_COUNT; i++)
        same = i == MASE_TRAIN_threads || is_same_option(j, was, mase_cli_train_ids[i]);
    return same;
}

/* ---- reports ---- */

static enum mase_status write_csv(const struct mase_table *t, const char *path,
                                  struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_table_render(t, MASE_TABLE_CSV, &text);
    mase_str_addc(&text, '\n');
    const enum mase_status st = mase_file_write(path, text.data, text.len, err);
    mase_str_release(&text);
    return st;
}

static enum mase_status write_reports(const struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_str text = { 0 };
    const struct mase_table csv = mase_sweep_csv(&j->sweep, a);
    enum mase_status st = write_csv(&csv, j->csv, err);
    if (!st && mase_sweep_has_seeds(&j->sweep)) {
        const struct mase_table seeds = mase_sweep_seeds_csv(&j->sweep, a);
        st = write_csv(&seeds, j->seeds, err);
    }
    mase_sweep_svg(&text, &j->sweep);
    if (!st)
        st = mase_file_write(j->svg, text.data, text.len, err);
    mase_str_release(&text);
    return st;
}

/* Print what configurations share: a line as text, a table for programs. */
static void print_head(const struct job *j)
{
    struct mase_sheets *s = &j->c->sheets;
    const struct mase_dataset_info *info = mase_dataset_info(j->data);
    struct mase_str fixed = { 0 };
    mase_sweep_fixed(&fixed, &j->sweep);
    mase_sheets_line(s, "%s on %s%s: %lld test samples", j->model->name, info->data.name,
                     mase_graph_is_quantised(j->networks[0]) ? ", quantised" : "",
                     (long long)mase_dataset_split(j->data, MASE_SPLIT_TEST).count);
    if (info->notice)
        mase_sheets_line(s, "%s", info->notice);
    if (fixed.len)
        mase_sheets_line(s, "fixed: %s", mase_str_text(&fixed));
    mase_str_release(&fixed);
    if (mase_sheets_for_programs(s))
        mase_sheets_add(
            s, &(struct mase_sheet){ .key = "fixed",
                                     .table = mase_sweep_fixed_table(&j->sweep, &j->c->arena) });
}

static void print_tables(const struct job *j)
{
    struct mase_sheets *s = &j->c->sheets;
    struct mase_arena *a = &j->c->arena;
    const bool exact = mase_sheets_for_programs(s);
    print_head(j);
    mase_sheets_add(
        s, &(struct mase_sheet){ .key = "configurations",
                                 .table = (exact ? mase_sweep_csv : mase_sweep_table)(&j->sweep, a),
                                 .style = MASE_TABLE_PRETTY });
    if (mase_sweep_has_seeds(&j->sweep))
        mase_sheets_add(
            s, &(struct mase_sheet){
                   .key = "seeds",
                   .title = "mean ± sample standard deviation over n seeds",
                   .table = (exact ? mase_sweep_seeds_csv : mase_sweep_seeds_table)(&j->sweep, a),
                   .style = MASE_TABLE_PRETTY });
    mase_sheets_end(s);
}

/* ---- run.json ---- */

/* The configuration with the lowest validation loss; NULL if none has finished. */
static const struct mase_sweep_point *best(const struct mase_sweep *s)
{
    const struct mase_sweep_point *p = NULL;
    for (int i = 0; i < s->count; i++)
        if (s->points[i].done && !mase_sweep_is_plain(s, &s->points[i]) &&
            (!p || s->points[i].result.val_loss < p->result.val_loss))
            p = &s->points[i];
    return p;
}

static struct mase_value *results(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *v = mase_value_table(a), *options = mase_value_table(a);
    const struct mase_sweep *s = &j->sweep;
    const struct mase_sweep_point *p = best(s);
    mase_value_set(a, v, "configurations", mase_value_int(a, s->count));
    if (j->set_count)
        mase_value_set(a, v, "format_axes", format_axes(j));
    if (!p)
        return v;
    for (int i = 0; i < s->axis_count; i++)
        mase_value_set(a, options, s->axes[i].key, mase_value_copy(a, p->value[i]));
    mase_value_set(a, v, "best", options);
    mase_value_set(a, v, "best_val_loss", mase_value_float(a, p->result.val_loss));
    mase_value_set(a, v, mase_arena_printf(a, "best_test_%s", mase_sweep_task(&j->sweep)->score),
                   mase_value_float(a, p->result.test_score));
    if (mase_sweep_has_seeds(s)) {
        const struct mase_table seeds = mase_sweep_seeds_csv(s, a);
        mase_value_set(a, v, "seeds", mase_sheet_rows(a, &seeds));
    }
    return v;
}

static enum mase_status record(const struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *files = mase_value_list(a);
    mase_value_push(a, files, mase_value_string(a, j->csv));
    if (mase_sweep_has_seeds(&j->sweep))
        mase_value_push(a, files, mase_value_string(a, j->seeds));
    mase_value_push(a, files, mase_value_string(a, j->svg));
    if (j->sweep.network)
        MASE_TRY(mase_cli_save_graph(a, mase_cli_graph_text(a, j->model, j->sweep.network), j->dir,
                                     files, err));
    return mase_cli_record(&(struct mase_cli_record){ .c = j->c,
                                                      .project_dir = j->project_dir,
                                                      .name = "run.json",
                                                      .model = j->model,
                                                      .graph = j->sweep.network,
                                                      .weights = j->works->source,
                                                      .dataset = mase_cli_data_record(a, j->data),
                                                      .threads = 1, /* for each configuration */
                                                      .results = results(j),
                                                      .files = files,
                                                      .started = j->started },
                           err);
}

static enum mase_status run(struct job *j, struct mase_err *err)
{
    int reused = 0;
    MASE_TRY(mase_sweep_expand(&j->sweep, &j->c->arena, err));
    for (int i = 0; i < j->sweep.count; i++)
        reused += j->sweep.points[i].done;
    const bool again = is_same_sweep(j, j->project_dir) || is_same_sweep(j, j->dir);
    MASE_TRY(mase_cli_claim(&j->claim, j->c, j->project_dir, again, err));
    mase_info("%d configurations, %d done before; results in %s", j->sweep.count, reused, j->dir);
    mase_cli_on_interrupt("\nch: interrupted; the same command goes on with what is missing\n");
    const enum mase_status st = mase_sweep_run(&j->sweep, err);
    struct mase_err *next = st ? NULL : err; /* report the first failure, keep the others */
    MASE_TRY(write_reports(j, next));
    MASE_TRY(record(j, next));
    print_tables(j);
    return st;
}

enum mase_status mase_cli_sweep(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock(), .claim = { .lock = -1 } };
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(collect_options(&j, err));
    MASE_TRY(find_models(&j, err));
    MASE_TRY(find_folders(&j, err));
    mase_cli_announce(c);
    enum mase_status st = open_inputs(&j, err);
    if (!st)
        st = run(&j, err);
    mase_cli_unclaim(&j.claim);
    for (int i = 0; j.networks && i < j.network_count; i++)
        mase_graph_free(j.networks[i]);
    for (int i = 0; i < j.model_count; i++)
        mase_work_close(&j.works[i]);
    for (int i = 0; i < j.model_count && j.models_as_loaded; i++)
        mase_graph_free(j.models_as_loaded[i]);
    mase_dataset_close(j.data);
    return st;
}
