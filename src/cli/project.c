/*
 * project.c - functions that every action on a network begins with.
 */
#include "cli/command/cmd_train.h"

#include <string.h>
#include <time.h>

#include <mase/file.h>
#include <mase/log.h>

/* Print the configuration, unless the output is for programs, which find it in run.json. */
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

/* The last part of a path, without trailing slashes. */
static const char *last_part(struct mase_arena *a, const char *path)
{
    size_t end = strlen(path), from;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (from = end; from > 0 && path[from - 1] != '/';)
        from--;
    return mase_arena_strndup(a, path + from, end - from);
}

/* A short name for folders and classes: "Test" of "nets/net.py:Test", "net" of "net.mg", "run" of
 * "out/run/". */
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

const struct mase_model *mase_cli_named_model(struct mase_cli *c, const struct mase_opened *w)
{
    if (w->word.kind == MASE_WORD_ZOO)
        return w->word.model;
    struct mase_model *own = mase_new(&c->arena, struct mase_model);
    own->name = w->word.text;
    own->class_name = short_name(&c->arena, w->word.text);
    own->task = mase_cli_text(c, MASE_CLI_task);
    own->help = "a model of one's own";
    return own;
}

enum mase_status mase_cli_find_model(const struct mase_model **m, struct mase_cli *c,
                                     struct mase_opened *w, struct mase_err *err)
{
    if (w->word.kind == MASE_WORD_NONE)
        return mase_fail(err, MASE_EVALUE, "No model and/or dataset provided! These are required.");
    *m = mase_cli_named_model(c, w);
    if (mase_cli_value(c, MASE_CLI_dataset)->kind != MASE_NONE)
        return MASE_OK;
    if (mase_cli_is_given(c, MASE_CLI_dataset) /* the value may be "NA" */ || !(*m)->dataset ||
        w->weights) /* weights may be of other data */
        return mase_fail(err, MASE_EVALUE, "No model and/or dataset provided! These are required.");
    mase_info("No dataset is named: %s, the usual one of %s", (*m)->dataset, (*m)->name);
    w->choice.data.dataset = (*m)->dataset;
    c->setting[MASE_CLI_dataset].dflt = mase_value_string(&c->arena, (*m)->dataset);
    return MASE_OK;
}

/* ---- project folder ---- */

/* MODEL_TASK_DATASET_YYYY-MM-DD, with slashes replaced by dashes. */
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
