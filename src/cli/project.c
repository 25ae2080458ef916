/*
 * project.c - the beginning of every action on a network.
 */
#include "cli/command/cmd_train.h"

#include <string.h>
#include <time.h>

#include <mase/file.h>
#include <mase/log.h>

/* Programs find the configuration in run.json. */
static void put_configuration(struct mase_cli *c)
{
    const bool colour = c->sheets.format == MASE_SHEET_TEXT && mase_use_colour(stdout);
    if (mase_sheets_for_programs(&c->sheets))
        return;
    mase_sheets_add(&c->sheets,
                    &(struct mase_sheet){ .key = "configuration",
                                          .table = mase_cli_config_table(&c->arena, c, colour),
                                          .style = MASE_TABLE_PRETTY });
}

void mase_cli_announce(struct mase_cli *c)
{
    mase_info("Seed set to %lld", (long long)mase_cli_value(c, MASE_CLI_seed)->i);
    mase_info("Set logging level to %s", mase_log_level_names[mase_log_get_level()]);
    put_configuration(c);
}

/* ---- the model ---- */

/* The layers of the file's [model], unless the command line names another model. */
static const struct mase_value *own_layers(const struct mase_cli *c)
{
    return c->setting[MASE_CLI_model].cmdline ? NULL : mase_value_at(c->config, "model.layers");
}

bool mase_cli_is_trained_model(const struct mase_cli *c, const char *spec)
{
    const struct mase_model *m;
    const bool there = mase_is_dir(spec) || (mase_ends_with(spec, ".ckpt") && mase_is_file(spec));
    return !own_layers(c) && !mase_model_is_file(spec) && there && mase_zoo_find(&m, spec, NULL);
}

static bool is_own(const struct mase_cli *c, const char *spec)
{
    return own_layers(c) || mase_model_is_file(spec) || mase_cli_is_trained_model(c, spec);
}

/* The last part of a path, whatever slashes it ends with. */
static const char *last_part(struct mase_arena *a, const char *path)
{
    size_t end = strlen(path), from;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (from = end; from > 0 && path[from - 1] != '/';)
        from--;
    return mase_arena_strndup(a, path + from, end - from);
}

/* "Test" of "nets/net.py:Test", "net" of "net.mg", "run" of "out/run/": what folders and classes
 * are called. */
static const char *short_name(struct mase_arena *a, const char *spec)
{
    if (!mase_model_is_file(spec))
        return last_part(a, spec);
    const char *class_name = mase_model_class(a, spec);
    if (class_name)
        return class_name;
    const char *slash = strrchr(spec, '/'), *base = slash ? slash + 1 : spec;
    return mase_arena_strndup(a, base, (size_t)(strrchr(base, '.') - base));
}

enum mase_status mase_cli_named_model(const struct mase_model **m, struct mase_cli *c,
                                      struct mase_err *err)
{
    const struct mase_value *spec = mase_cli_value(c, MASE_CLI_model);
    if (is_own(c, spec->s)) {
        struct mase_model *own = mase_new(&c->arena, struct mase_model);
        own->name = spec->s;
        own->class_name = short_name(&c->arena, spec->s);
        own->task = mase_cli_text(c, MASE_CLI_task);
        own->help = "a model of one's own";
        *m = own;
        return MASE_OK;
    }
    if (mase_zoo_find(m, spec->s, err))
        return mase_place(err, spec->at);
    return MASE_OK;
}

enum mase_status mase_cli_find_model(const struct mase_model **m, struct mase_cli *c,
                                     struct mase_err *err)
{
    const struct mase_value *model = mase_cli_value(c, MASE_CLI_model);
    if (model->kind == MASE_NONE)
        return mase_fail(err, MASE_EVALUE, "No model and/or dataset provided! These are required.");
    MASE_TRY(mase_cli_named_model(m, c, err));
    if (mase_cli_value(c, MASE_CLI_dataset)->kind != MASE_NONE)
        return MASE_OK;
    const struct mase_cli_setting *dataset = &c->setting[MASE_CLI_dataset];
    if (dataset->cmdline || dataset->file /* which say "NA" */ || !(*m)->dataset ||
        mase_cli_text(c, MASE_CLI_load_name) /* weights may be of other data */)
        return mase_fail(err, MASE_EVALUE, "No model and/or dataset provided! These are required.");
    mase_info("No dataset is named: %s, the usual one of %s", (*m)->dataset, (*m)->name);
    c->setting[MASE_CLI_dataset].dflt = mase_value_string(&c->arena, (*m)->dataset);
    return MASE_OK;
}

enum mase_status mase_cli_open_model(struct mase_graph **g, const struct mase_cli *c,
                                     const char *name, const struct mase_data_info *data,
                                     struct mase_err *err)
{
    const struct mase_model_opts opts = {
        .seconds = (double)mase_cli_value(c, MASE_CLI_trace_seconds)->i,
    };
    struct mase_data_info fitted = data ? *data : (struct mase_data_info){ 0 };
    if (data && mase_cli_task(c))
        fitted.classes = (int)mase_task_outputs(mase_cli_task(c), data);
    if (own_layers(c))
        return mase_model_layers(g, name, own_layers(c), err);
    if (mase_cli_is_trained_model(c, name))
        return mase_network_graph(g, name, err);
    return mase_model_open(g, name, data ? &fitted : NULL, &opts, err);
}

/* ---- the folder ---- */

/* MODEL_TASK_DATASET_YYYY-MM-DD, slashes made dashes. */
static const char *default_project(struct mase_cli *c)
{
    const time_t t = time(NULL);
    struct tm tm;
    char date[16];
    strftime(date, sizeof date, "%Y-%m-%d", localtime_r(&t, &tm));
    char *name = mase_arena_printf(
        &c->arena, "%s_%s_%s_%s", short_name(&c->arena, mase_cli_text(c, MASE_CLI_model)),
        mase_cli_text(c, MASE_CLI_task), mase_cli_text(c, MASE_CLI_dataset), date);
    for (char *p = name; (p = strchr(p, '/')) != NULL;)
        *p = '-';
    return name;
}

enum mase_status mase_cli_find_project(const char **dir, struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *project = mase_cli_value(c, MASE_CLI_project);
    const char *name = project->kind == MASE_NONE ? default_project(c) : project->s;
    if (!*name || strchr(name, '/') || mase_streq(name, ".") || mase_streq(name, ".."))
        return mase_fail_at(err, MASE_EVALUE, project->at,
                            "project '%s': expected the name of a folder, without '/'", name);
    *dir = mase_path_join(&c->arena, mase_cli_text(c, MASE_CLI_project_dir), name);
    return MASE_OK;
}
