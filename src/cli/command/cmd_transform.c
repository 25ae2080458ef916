/*
 * cmd_transform.c - ch transform: run the passes of a configuration file on a network, and save the
 * result.
 *
 * Errors are found before anything is written: in options, sections, names, the file to load, and,
 * by a dry run of the transforms on a copy of the graph, those that depend on the graph. Passes are
 * given the shape of one sample; the dataset is opened when a pass asks for samples, and not
 * before.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>
#include <mase/saved.h>
#include <mase/train.h>

#include "cli/command/cmd_train.h"
#include "pass/support.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    const struct mase_data_info *data;
    struct mase_opened work;   /* owns its graph */
    const char *project_dir;   /* .../mase_output/jsc-tiny */
    const char *transform_dir; /* its software/transform */
    uint64_t started;          /* by mase_clock */
    struct mase_manager manager;
    struct mase_cli_samples samples; /* access of passes to the dataset */
    struct mase_cli_claim claim;
};

/* ---- checks ---- */

static enum mase_status find_model(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_cli_find_model(&j->model, j->c, &j->work, err));
    if (mase_work_data_info(&j->data, &j->work, j->work.choice.data.dataset, err))
        return mase_place(err, j->work.choice.data.at);
    return MASE_OK;
}

static enum mase_status find_project(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_cli_find_project(&j->project_dir, j->c, err));
    j->transform_dir = mase_path_join(&j->c->arena, j->project_dir, "software/transform");
    return MASE_OK;
}

/* A growing list of names, ended by NULL. */
struct names {
    struct mase_arena *arena;
    const char **items;
    int count, cap;
};

static void add_name(struct names *n, const char *name)
{
    n->items = mase_arena_grow(n->arena, n->items, n->count, &n->cap, sizeof *n->items);
    n->items[n->count++] = name;
}

/* Read --dump-after a,b --dump-after c. */
static enum mase_status find_dumps(struct job *j, struct mase_err *err)
{
    const struct mase_value *given = mase_cli_value(j->c, MASE_CLI_dump_after);
    struct names names = { .arena = &j->c->arena };
    const struct mase_pass *pass;
    for (int i = 0; i < given->count; i++) {
        char *rest = NULL, *text = mase_arena_strdup(names.arena, given->items[i]->s);
        for (char *s = strtok_r(text, ",", &rest); s; s = strtok_r(NULL, ",", &rest)) {
            if (!mase_streq(s, "all") && mase_cli_find_pass(&pass, s, err))
                return mase_wrap(err, "--dump-after");
            add_name(&names, s);
        }
    }
    add_name(&names, NULL);
    j->manager.dump_after = names.items;
    j->manager.dump_dir = mase_path_join(names.arena, j->transform_dir, "dump");
    return MASE_OK;
}

/* ---- the graph ---- */

static enum mase_status build(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_cli_build(&j->work, j->c, j->data, err));
    MASE_TRY(mase_cli_match_data(&j->data, j->c, &j->work, err));
    mase_cli_sample_inputs(&j->manager.env, &j->c->arena, j->work.graph, &j->data->sample);
    const int64_t asked = mase_cli_value(j->c, MASE_CLI_threads)->i;
    j->manager.env.threads = mase_predict_threads(j->work.graph, &j->data->sample,
                                                  j->samples.source.batch_size, (int)asked);
    return MASE_OK;
}

/* Dry run: run the transforms on a copy, silently and without files, up to a pass that loads a
 * graph or is a plugin's, which may have side effects. Errors appear before the first file is
 * written. */
static enum mase_status dry_run(const struct job *j, struct mase_err *err)
{
    struct mase_manager m = { .env = { .inputs = j->manager.env.inputs,
                                       .input_count = j->manager.env.input_count,
                                       .seed = j->manager.env.seed,
                                       .dry_run = true } };
    struct mase_graph *copy = mase_graph_clone(j->work.graph);
    const enum mase_log_level level = mase_log_get_level();
    const struct mase_pass_runs *runs = &j->c->passes;
    enum mase_status st = MASE_OK;

    mase_log_set_level(MASE_CRITICAL);
    for (int i = 0; !st && i < runs->count; i++) {
        const struct mase_pass *p = runs->items[i].pass;
        if (!p->transform)
            continue;
        if (mase_streq(mase_pass_kind(p), "interface") || mase_pass_is_plugin(p))
            break;
        st = mase_manager_run_bound(&m, &copy, &runs->items[i], err);
    }
    mase_log_set_level(level);
    mase_manager_release(&m);
    mase_graph_free(copy);
    return st;
}

/* ---- the run ---- */

static enum mase_status save(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    const char *dir = mase_path_join(a, j->transform_dir, "transformed_ckpt");
    return mase_work_save(&j->manager, &j->work.graph, dir, &j->work.trained, err);
}

/* Describe the data for run.json; if no pass asked for samples, by its shape only. */
static struct mase_value *describe_data(const struct job *j)
{
    return j->samples.dataset ? mase_cli_data_record(&j->c->arena, j->samples.dataset)
                              : mase_cli_data_shape(&j->c->arena, j->data);
}

static enum mase_status record(const struct job *j, struct mase_err *err)
{
    return mase_cli_record_passes(&(struct mase_cli_record){ .c = j->c,
                                                             .project_dir = j->project_dir,
                                                             .name = "run.json",
                                                             .model = j->model,
                                                             .graph = j->work.graph,
                                                             .weights = j->work.source,
                                                             .dataset = describe_data(j),
                                                             .started = j->started },
                                  &j->manager, err);
}

static enum mase_status run(struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;

    mase_info("Initialising model '%s'...", j->model->name);
    mase_info("Initialising dataset '%s'...", j->data->name);
    MASE_TRY(mase_work_read_scaling(&j->work, err));
    MASE_TRY(build(j, err));
    MASE_TRY(dry_run(j, err));
    MASE_TRY(mase_cli_claim(&j->claim, j->c, j->project_dir, false, err));
    mase_info("Project will be created at %s", j->project_dir);
    mase_info("Transforming model '%s'...", j->model->name);
    if (!j->c->passes.count)
        mase_warn("the configuration has no pass; the network is saved as it is");
    const char *before = mase_cli_graph_text(a, j->model, j->work.graph);
    MASE_TRY(mase_manager_run_list(&j->manager, &j->work.graph, &j->c->passes, err));
    mase_rounding_loss_log(j->work.graph, false);
    MASE_TRY(save(j, err));
    MASE_TRY(mase_cli_save_graph(a, before, j->transform_dir, j->manager.env.files, err));
    MASE_TRY(mase_make_dirs(mase_path_join(a, j->project_dir, "hardware"), err));
    MASE_TRY(record(j, err));
    mase_sheets_set(&j->c->sheets, "results", j->manager.env.info);
    mase_sheets_end(&j->c->sheets);
    mase_info("Transformation is completed");
    return MASE_OK;
}

static void set_up_manager(struct job *j)
{
    struct mase_sheets *sheets = &j->c->sheets;
    mase_cli_manager_init(&j->manager, j->c, &j->samples, &j->work);
    j->manager.env.out =
        mase_sheets_for_programs(sheets) ? stderr : stdout; /* this output is for people */
    j->manager.env.sheets = sheets;
    j->manager.env.out_dir = j->transform_dir;
}

enum mase_status mase_cli_transform(struct mase_cli *c, struct mase_err *err)
{
    if (!mase_cli_text(c, MASE_CLI_config))
        return mase_fail(err, MASE_EVALUE, "expected configuration via --config, got None");
    MASE_TRY(mase_cli_merge(c, err));
    return mase_cli_run_passes(c, err);
}

enum mase_status mase_cli_run_passes(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c, .started = mase_clock(), .claim = { .lock = -1 } };
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    MASE_TRY(find_model(&j, err));
    mase_cli_announce(c);
    MASE_TRY(find_project(&j, err));
    MASE_TRY(find_dumps(&j, err));
    set_up_manager(&j);
    enum mase_status st = run(&j, err);
    mase_cli_unclaim(&j.claim);
    mase_manager_release(&j.manager);
    mase_work_close(&j.work);
    mase_cli_samples_close(&j.samples);
    return st;
}
