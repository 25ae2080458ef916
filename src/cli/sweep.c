/*
 * sweep.c - ch sweep: train over a grid of options and compare.
 *
 *     PROJECT/software/sweep/sweep.csv      every configuration and what it came to
 *     PROJECT/software/sweep/sweep.svg      validation loss over the longest axis
 *     PROJECT/software/sweep/runs/KEY.json  one file per finished configuration
 *
 * The default project has no date in its name: the same command continues where it stopped.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/sweep.h>

#include "cli/cli.h"

struct job {
    struct mase_cli *c;
    struct mase_sweep sweep;
    struct mase_sweep_axis axes[MASE_CLI_COUNT];
    struct mase_dataset *data; /* owned */
    const char *dir;
};

/* Options of training into what all configurations share and what varies. */
static void collect_options(struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *common = mase_value_table(a);
    for (const struct mase_opt *row = mase_train_rows; row->key; row++) {
        const int id = mase_cli_option_by_name(row->key);
        if (id < 0)
            continue;
        const struct mase_value *v = mase_cli_value(j->c, (enum mase_cli_option_id)id);
        if (v->kind == MASE_LIST)
            j->axes[j->sweep.axis_count++] = (struct mase_sweep_axis){ row->key, v };
        else if (v->kind != MASE_NONE)
            mase_value_set(a, common, row->key, mase_value_copy(a, v));
    }
    j->sweep.options = common;
    j->sweep.axes = j->axes;
}

static enum mase_status find_project(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    const struct mase_value *project = mase_cli_value(c, MASE_CLI_project);
    char *name = project->kind == MASE_STRING
                     ? mase_arena_strdup(&c->arena, project->s)
                     : mase_arena_printf(
                           &c->arena, "%s_%s_%s_sweep", mase_cli_text(c, MASE_CLI_model),
                           mase_cli_text(c, MASE_CLI_task), mase_cli_text(c, MASE_CLI_dataset));
    for (char *p = name; project->kind == MASE_NONE && (p = strchr(p, '/')); p++)
        *p = '-';
    if (!*name || strchr(name, '/') || mase_streq(name, ".") || mase_streq(name, ".."))
        return mase_fail_at(err, MASE_EVALUE, project->at,
                            "project '%s': expected the name of a folder, without '/'", name);
    j->dir = mase_arena_printf(&c->arena, "%s/%s/software/sweep",
                               mase_cli_text(c, MASE_CLI_project_dir), name);
    j->sweep.dir = mase_path_join(&c->arena, j->dir, "runs");
    return MASE_OK;
}

static enum mase_status open_inputs(struct job *j, struct mase_err *err)
{
    const struct mase_value *model = mase_cli_value(j->c, MASE_CLI_model);
    const struct mase_value *dataset = mase_cli_value(j->c, MASE_CLI_dataset);
    if (model->kind == MASE_NONE || dataset->kind == MASE_NONE)
        return mase_fail(err, MASE_EVALUE, "No model and/or dataset provided! These are required.");
    if (mase_zoo_find(&j->sweep.model, model->s, err))
        return mase_place(err, model->at);
    MASE_TRY(find_project(j, err));
    j->sweep.weights = mase_cli_text(j->c, MASE_CLI_load_name);
    if (mase_dataset_open(&j->data, dataset->s, NULL, err))
        return mase_place(err, dataset->at);
    j->sweep.data = j->data;
    return MASE_OK;
}

/* ---- reports ---- */

static enum mase_status write_reports(const struct job *j, struct mase_err *err)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_str text = { 0 };
    const struct mase_table csv = mase_sweep_csv(&j->sweep, a);
    mase_table_render(&csv, MASE_TABLE_CSV, &text);
    mase_str_addc(&text, '\n');
    enum mase_status st =
        mase_file_write(mase_path_join(a, j->dir, "sweep.csv"), text.data, text.len, err);
    mase_str_clear(&text);
    mase_sweep_svg(&text, &j->sweep);
    if (!st)
        st = mase_file_write(mase_path_join(a, j->dir, "sweep.svg"), text.data, text.len, err);
    mase_str_release(&text);
    return st;
}

static void print_table(const struct job *j)
{
    struct mase_str text = { 0 };
    const struct mase_dataset_info *info = mase_dataset_info(j->data);
    const struct mase_table table = mase_sweep_table(&j->sweep, &j->c->arena);
    mase_str_printf(&text, "%s on %s: %lld test samples\n", j->sweep.model->name, info->data.name,
                    (long long)mase_dataset_split(j->data, MASE_SPLIT_TEST).count);
    if (info->notice)
        mase_str_printf(&text, "%s\n", info->notice);
    mase_table_render(&table, MASE_TABLE_PRETTY, &text);
    mase_str_addc(&text, '\n');
    mase_cli_put(&text);
    mase_str_release(&text);
}

static enum mase_status run(struct job *j, struct mase_err *err)
{
    int reused = 0;
    MASE_TRY(mase_sweep_expand(&j->sweep, &j->c->arena, err));
    for (int i = 0; i < j->sweep.count; i++)
        reused += j->sweep.points[i].done;
    mase_info("%d configurations, %d done before; results in %s", j->sweep.count, reused, j->dir);
    const enum mase_status st = mase_sweep_run(&j->sweep, err);
    MASE_TRY(write_reports(j, st ? NULL : err)); /* of those that did not fail, too */
    print_table(j);
    return st;
}

enum mase_status mase_cli_sweep(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c };
    MASE_TRY(mase_cli_merge(c, err));
    collect_options(&j);
    enum mase_status st = open_inputs(&j, err);
    if (!st)
        st = run(&j, err);
    mase_dataset_close(j.data);
    return st;
}
