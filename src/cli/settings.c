/*
 * settings.c - read the configuration file, apply --set, and merge both with the command line. The
 * top level of a file has options by name and the sections below; anything else is an error.
 * Relative paths in it are relative to the current directory, as on the command line. "NA" means
 * None.
 */
#include <string.h>

#include <mase/log.h>
#include <mase/pass.h>
#include <mase/plugin.h>
#include <mase/search.h>

#include "cli/command/cmd_sweep.h"
#include "cli/project.h"

static const char *const sections[] = { "passes", "search", "cf_args", "transform" };
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static bool is_section(const char *key)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        if (mase_streq(sections[i], key))
            return true;
    return false;
}

/* ---- --set ---- */

/* A plain word, which is no TOML value, is a string: by=name. */
static bool is_word(const char *s)
{
    return *s &&
           s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")] ==
               '\0';
}

static enum mase_status parse_set(struct mase_value **root, struct mase_arena *a, const char *text,
                                  struct mase_err *err)
{
    const char *eq = strchr(text, '=');
    if (!eq)
        return mase_fail(err, MASE_EVALUE, "--set: expected KEY=VALUE, got '%s'", text);
    enum mase_status st = mase_toml_parse(root, a, text, strlen(text), "--set", err);
    if (!st || !is_word(eq + 1))
        return st;
    const char *quoted = mase_arena_printf(a, "%.*s=\"%s\"", (int)(eq - text), text, eq + 1);
    return mase_toml_parse(root, a, quoted, strlen(quoted), "--set", err);
}

/* Merge `from` into `to`: tables recursively, other values replace. */
static enum mase_status overlay(struct mase_arena *a, struct mase_value *to,
                                const struct mase_value *from, struct mase_err *err)
{
    for (int i = 0; i < from->count; i++) {
        struct mase_value *old = mase_value_get(to, from->keys[i]), *new = from->items[i];
        if (old && old->kind == MASE_TABLE && new->kind == MASE_TABLE) {
            MASE_TRY(overlay(a, old, new, err));
            continue;
        }
        if (old && old->kind == MASE_LIST && new->kind == MASE_TABLE)
            return mase_fail_at(err, MASE_EVALUE, from->key_at[i],
                                "'%s' stands %d times in the file: --set cannot say which is meant",
                                from->keys[i], old->count);
        mase_value_set(a, to, from->keys[i], new);
        to->key_at[mase_value_find(to, from->keys[i])] = from->key_at[i];
    }
    return MASE_OK;
}

enum mase_status mase_cli_set(struct mase_cli *c, const char *text, struct mase_err *err)
{
    struct mase_value *root = NULL;
    MASE_TRY(parse_set(&root, &c->arena, text, err));
    mase_value_resolve_na(root);
    return overlay(&c->arena, c->config, root, err);
}

/* Apply every --set; of several values of a sweep, the first. */
static enum mase_status apply_sets(struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *sets = mase_cli_value(c, MASE_CLI_set);
    for (int i = 0; i < sets->count; i++) {
        const char *text = sets->items[i]->s;
        if (c->command->kind == MASE_CLI_GRID && mase_cli_is_set_axis(text))
            MASE_TRY(mase_cli_first_set(&text, &c->arena, text, err));
        MASE_TRY(mase_cli_set(c, text, err));
    }
    return MASE_OK;
}

/* ---- the file's keys ---- */

static enum mase_status fail_unknown_key(const struct mase_value *root, int at,
                                         struct mase_err *err)
{
    const char *names[MASE_CLI_COUNT + SECTION_COUNT];
    int n = 0;
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        if (mase_cli_options[i].flags & MASE_CLI_KEY)
            names[n++] = mase_cli_options[i].key;
    for (int i = 0; i < SECTION_COUNT; i++)
        names[n++] = sections[i];

    return mase_fail_unknown(
        err, root->key_at[at],
        &(struct mase_unknown){ root->keys[at], names, n,
                                .otherwise = "; ch transform --help lists the options, and the "
                                             "sections are passes, search, cf_args, transform" },
        "unknown key '%s'", root->keys[at]);
}

/* A repeatable option is a list in a file. */
static enum mase_status merge_list(struct mase_cli *c, enum mase_cli_option_id id,
                                   const struct mase_value *v, struct mase_err *err)
{
    const char *key = mase_cli_options[id].key;
    struct mase_value *list = mase_value_list(&c->arena);
    if (v->kind != MASE_LIST)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a list, got %s", key,
                            mase_value_kind_names[v->kind]);
    for (int i = 0; i < v->count; i++) {
        struct mase_value *item;
        MASE_TRY(mase_cli_option_check(&item, &c->arena, id, key, v->items[i], err));
        mase_value_push(&c->arena, list, item);
    }
    c->setting[id].file = list;
    return MASE_OK;
}

struct model_section {
    const char *name;
    struct mase_value *layers;
};
static const struct mase_opt model_rows[] = {
    MASE_OPT_TEXT(struct model_section, name, "name", "own", "what the network is called"),
    MASE_OPT_VALUE(struct model_section, layers, "layers", "its layers, as \"Linear(16, 64)\""),
    { 0 },
};

/* [model] with layers: its name becomes the option. */
static enum mase_status take_model_section(const struct mase_value **v, struct mase_arena *a,
                                           struct mase_err *err)
{
    struct model_section s;
    MASE_TRY(mase_opts_bind(&s, sizeof s, model_rows, *v, a, err));
    if (!s.layers)
        return mase_fail_at(err, MASE_EVALUE, (*v)->at, "[model] needs layers = [\"...\"]");
    struct mase_value *name = mase_value_string(a, s.name);
    name->at = (*v)->at;
    *v = name;
    return MASE_OK;
}

static enum mase_status merge_key(struct mase_cli *c, const struct mase_value *root, int at,
                                  struct mase_err *err)
{
    const char *key = root->keys[at];
    const struct mase_value *v = root->items[at];
    if (is_section(key)) {
        if (v->kind != MASE_TABLE)
            return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a section [%s], got %s", key,
                                key, mase_value_kind_names[v->kind]);
        return MASE_OK;
    }
    if (mase_streq(key, "model") && v->kind == MASE_TABLE)
        MASE_TRY(take_model_section(&v, &c->arena, err));
    int id = mase_cli_option_by_name(key);
    if (id < 0 || !(mase_cli_options[id].flags & MASE_CLI_KEY))
        return fail_unknown_key(root, at, err);
    if (mase_cli_options[id].flags & MASE_CLI_MANY)
        return merge_list(c, (enum mase_cli_option_id)id, v, err);
    if (mase_cli_is_axis(c, (enum mase_cli_option_id)id, v))
        return mase_cli_merge_axis(c, (enum mase_cli_option_id)id, v, err);
    return mase_cli_option_check(&c->setting[id].file, &c->arena, (enum mase_cli_option_id)id, key,
                                 v, err);
}

struct transform_section {
    const char *style;
};
static const char *const styles[] = { "graph", NULL };
static const struct mase_opt transform_rows[] = {
    MASE_OPT_CHOICE(struct transform_section, style, "style", "graph", styles,
                    "what is transformed"),
    { 0 },
};

static enum mase_status check_sections(struct mase_cli *c, struct mase_err *err)
{
    struct transform_section t;
    const struct mase_value *passes = mase_value_get(c->config, "passes");
    const struct mase_value *search = mase_value_get(c->config, "search");
    MASE_TRY(mase_pass_runs_bind(&c->passes, &c->arena, passes, err));
    if (search)
        MASE_TRY(mase_search_check(search, err));
    return mase_opts_bind(&t, sizeof t, transform_rows, mase_value_get(c->config, "transform"),
                          &c->arena, err);
}

/* ---- plugins ---- */

static enum mase_status load_list(const struct mase_value *paths, struct mase_err *err)
{
    for (int i = 0; paths && i < paths->count; i++)
        if (mase_plugin_load(paths->items[i]->s, err))
            return mase_wrap(err, "--plugin");
    return MASE_OK;
}

enum mase_status mase_cli_load_plugins(const struct mase_cli *c, struct mase_err *err)
{
    MASE_TRY(load_list(c->setting[MASE_CLI_plugins].file, err));
    return load_list(c->setting[MASE_CLI_plugins].cmdline, err);
}

/* ---- after merging ---- */

static void drop_nonpositive(struct mase_value *v)
{
    if (!v || v->kind != MASE_INT || v->i > 0)
        return;
    mase_warn("%lld is ignored because it is not a positive integer, and is set to None",
              (long long)v->i);
    v->kind = MASE_NONE;
}

static void set_log_level(const struct mase_cli *c)
{
    const char *name = mase_cli_text(c, MASE_CLI_log_level);
    int level = 0;
    while (!mase_streq(mase_log_level_names[level], name))
        level++;
    if (mase_cli_flag(c, MASE_CLI_to_debug))
        level = MASE_DEBUG;
    if (mase_cli_flag(c, MASE_CLI_no_warnings) && level < MASE_ERROR)
        level = MASE_ERROR;
    mase_log_set_level((enum mase_log_level)level);
}

static enum mase_status fail_two_shapes(const struct mase_value *shape, const char *dataset,
                                        struct mase_err *err)
{
    return mase_fail_at(err, MASE_EVALUE, shape->at,
                        "input_shape = %s beside dataset = %s, which has a shape of its own: give "
                        "one of them",
                        shape->s, dataset);
}

enum mase_status mase_cli_name_dataset(struct mase_cli *c, const char *name, struct mase_err *err)
{
    const struct mase_value *shape = mase_cli_value(c, MASE_CLI_input_shape);
    if (shape->kind == MASE_STRING)
        return fail_two_shapes(shape, name, err);
    mase_cli_settle(c, MASE_CLI_dataset, mase_value_string(&c->arena, name));
    return MASE_OK;
}

/* --input-shape becomes a dataset without samples. */
static enum mase_status take_input_shape(struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *shape = mase_cli_value(c, MASE_CLI_input_shape);
    const struct mase_value *dataset = mase_cli_value(c, MASE_CLI_dataset);
    if (shape->kind != MASE_STRING)
        return MASE_OK;
    if (dataset->kind != MASE_NONE)
        return fail_two_shapes(shape, dataset->kind == MASE_STRING ? dataset->s : "a list", err);
    struct mase_value *named =
        mase_value_string(&c->arena, mase_arena_printf(&c->arena, "shape:%s", shape->s));
    named->at = shape->at;
    mase_cli_settle(c, MASE_CLI_dataset, named);
    return MASE_OK;
}

enum mase_status mase_cli_merge(struct mase_cli *c, struct mase_err *err)
{
    const char *path = mase_cli_text(c, MASE_CLI_config);
    if (!path && mase_cli_value(c, MASE_CLI_set)->count)
        return mase_fail(err, MASE_EVALUE,
                         "--set changes a value of a configuration file: give --config FILE, too");
    if (path) {
        MASE_TRY(mase_toml_read(&c->config, &c->arena, path, err));
        MASE_TRY(apply_sets(c, err));
        mase_value_resolve_na(c->config);
        for (int i = 0; i < c->config->count; i++)
            MASE_TRY(merge_key(c, c->config, i, err));
    }
    MASE_TRY(mase_cli_load_plugins(c, err)); /* they provide passes for sections */
    if (c->config)
        MASE_TRY(check_sections(c, err));
    set_log_level(c);
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        if (mase_cli_options[i].positive) {
            drop_nonpositive(c->setting[i].file);
            drop_nonpositive(c->setting[i].cmdline);
        }
    MASE_TRY(take_input_shape(c, err));
    if (c->command->kind >= MASE_CLI_ACTION)
        mase_cli_warn_unused_options(c);
    return MASE_OK;
}

const struct mase_value *mase_cli_value(const struct mase_cli *c, enum mase_cli_option_id id)
{
    return mase_cli_effective(&c->setting[id]);
}

void mase_cli_settle(struct mase_cli *c, enum mase_cli_option_id id, struct mase_value *v)
{
    c->setting[id].settled = v;
}

bool mase_cli_is_given(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_cli_setting *s = &c->setting[id];
    return s->cmdline || s->file || s->settled;
}

const char *mase_cli_text(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_value *v = mase_cli_value(c, id);
    return v->kind == MASE_STRING ? v->s : NULL;
}

bool mase_cli_flag(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_value *v = mase_cli_value(c, id);
    return v->kind == MASE_BOOL && v->b;
}

struct mase_value *mase_cli_training(struct mase_cli *c)
{
    struct mase_value *table = mase_value_table(&c->arena);
    for (int i = 0; i < MASE_TRAIN_OPTION_COUNT; i++) {
        const struct mase_value *v = mase_cli_value(c, mase_cli_train_ids[i]);
        if (v->kind != MASE_NONE && v->kind != MASE_LIST)
            mase_value_set(&c->arena, table, mase_train_rows[i].key, mase_value_copy(&c->arena, v));
        else if (v->kind == MASE_NONE && i == MASE_TRAIN_log_every_n_steps)
            mase_value_set(&c->arena, table, mase_train_rows[i].key, mase_value_int(&c->arena, 0));
    }
    return table;
}
