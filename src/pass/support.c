/*
 * support.c - functions that several passes share.
 */
#include <string.h>

#include "pass/support.h"

struct mase_graph *mase_side_tables(const struct mase_graph *g)
{
    struct mase_graph *writable = (struct mase_graph *)g;
    writable->notes++;
    return writable;
}

/* A name for the file of a later run: report_graph_2.txt. */
static const char *renamed(struct mase_arena *a, const char *name, const char *again)
{
    const char *dot = strrchr(name, '.');
    const int stem = (int)(dot ? dot - name : (long)strlen(name));
    return mase_arena_printf(a, "%.*s%s%s", stem, name, again, dot ? dot : "");
}

const char *mase_pass_path(struct mase_pass_env *env, const char *path, const char *dflt)
{
    if (path)
        return mase_path_join(env->scratch, env->out_dir ? env->out_dir : ".", path);
    if (!env->out_dir)
        return NULL;
    return mase_path_join(env->scratch, env->out_dir,
                          env->again ? renamed(env->scratch, dflt, env->again) : dflt);
}

void mase_pass_wrote(struct mase_pass_env *env, const char *path)
{
    if (env->files)
        mase_value_push(env->info_arena, env->files, mase_value_string(env->info_arena, path));
}

enum mase_status mase_pass_files_close(struct mase_pass_files *late, struct mase_err *err)
{
    const int count = late->count;
    late->count = 0;
    return mase_writers_close(late->file, count, err);
}

static enum mase_status write_late(struct mase_pass_files *late, const char *path,
                                   const struct mase_str *text, struct mase_err *err)
{
    if (late->count == sizeof late->file / sizeof *late->file)
        MASE_TRY(mase_pass_files_close(late, err));
    struct mase_writer *w = &late->file[late->count];
    MASE_TRY(mase_writer_open(w, path, err));
    late->count++;
    return mase_writer_put(w, mase_str_text(text), text->len, err);
}

enum mase_status mase_pass_write(struct mase_pass_env *env, const char *path,
                                 const struct mase_str *text, struct mase_err *err)
{
    for (int i = 0; env->again && env->files && i < env->files->count; i++)
        if (mase_streq(env->files->items[i]->s, path))
            return mase_fail(err, MASE_EVALUE, "a pass before has written %s: give another name",
                             path);
    MASE_TRY(env->late ? write_late(env->late, path, text, err)
                       : mase_file_write(path, mase_str_text(text), text->len, err));
    mase_pass_wrote(env, path);
    return MASE_OK;
}

void mase_pass_print(struct mase_pass_env *env, const struct mase_str *text)
{
    if (env->sheets)
        mase_sheets_say(env->sheets, "%s\n", mase_str_text(text));
    else if (env->out)
        mase_pass_say(env, "%s\n", mase_str_text(text));
}

const char *const mase_pass_formats[] = { "simple", "grid", "pretty", "orgtbl",
                                          "github", "csv",  "json",   NULL };

/* Print as the pass's own option says, instead of the global one. */
static void show_own(struct mase_pass_env *env, const char *heading, const struct mase_sheet *sheet,
                     const char *own, const struct mase_value *json)
{
    struct mase_str text = { 0 };
    struct mase_sheets unseen = { .arena = mase_pass_arena(env),
                                  .tables = env->sheets ? env->sheets->tables : NULL };
    mase_sheets_add(&unseen, sheet);
    if (mase_streq(own, "json"))
        mase_json_print(&text, json ? json : mase_sheet_rows(env->scratch, &sheet->table), 2);
    else
        mase_str_add(&text, heading ? heading : "");
    for (int i = 0; mase_table_style_names[i]; i++)
        if (mase_streq(mase_table_style_names[i], own))
            mase_table_render(&sheet->table, (enum mase_table_style)i, &text);
    mase_pass_print(env, &text);
    mase_str_release(&text);
}

struct mase_arena *mase_pass_arena(const struct mase_pass_env *env)
{
    return env->info_arena ? env->info_arena : env->sheets ? env->sheets->arena : env->scratch;
}

void mase_pass_show(struct mase_pass_env *env, const char *heading, const struct mase_sheet *sheet,
                    const char *own, struct mase_value *json)
{
    struct mase_sheets plain = { .arena = env->scratch, .out = env->out };
    struct mase_sheets *s = env->sheets ? env->sheets : &plain;
    if (own && !mase_sheets_for_programs(s)) {
        show_own(env, heading, sheet, own, json);
        return;
    }
    if (heading)
        mase_sheets_say(s, "%s", heading);
    mase_sheets_add(s, sheet);
    if (json)
        mase_sheets_set(s, sheet->key, json);
}

void mase_pass_note(struct mase_pass_env *env, const char *pass, struct mase_value *value)
{
    if (!env->info)
        return;
    if (env->again)
        pass = mase_arena_printf(env->info_arena, "%s%s", pass, env->again);
    mase_value_set(env->info_arena, env->info, pass, value);
}

void mase_pass_put_table(struct mase_pass_env *env, const struct mase_sheet *sheet)
{
    mase_pass_show(env, NULL, sheet, NULL, NULL);
}

void mase_pass_say(struct mase_pass_env *env, const char *fmt, ...)
{
    struct mase_sheets plain = { .arena = env->scratch, .out = env->out };
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    mase_sheets_say(env->sheets ? env->sheets : &plain, "%s", mase_str_text(&text));
    mase_str_release(&text);
}

static struct mase_meta_arg *without_values(struct mase_arena *a, const struct mase_meta_arg *list,
                                            int count)
{
    struct mase_meta_arg *copy = mase_new_array(a, struct mase_meta_arg, (size_t)count);
    for (int i = 0; i < count; i++) {
        copy[i] = list[i];
        copy[i].value = NULL;
    }
    return copy;
}

struct mase_value *mase_meta_table(struct mase_arena *a, const struct mase_graph *g)
{
    struct mase_value *table = mase_value_table(a);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        struct mase_value *node = mase_value_set(a, table, n->name, mase_value_table(a));
        struct mase_meta m = *n->meta;
        m.args = without_values(a, m.args, m.arg_count);
        m.results = without_values(a, m.results, m.result_count);
        for (int s = 0; s < MASE_SECTION_COUNT; s++)
            mase_value_set(a, node, mase_section_names[s],
                           mase_meta_value(a, &m, (enum mase_section)s));
    }
    return table;
}

enum mase_status mase_section_config(const struct mase_value **config, const char *key,
                                     struct mase_loc at, const struct mase_value *section,
                                     struct mase_err *err)
{
    if (section->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, section->at,
                            "'%s' must be a table with a config, not %s", key,
                            mase_value_kind_names[section->kind]);
    for (int i = 0; i < section->count; i++)
        if (!mase_streq(section->keys[i], "config"))
            return mase_fail_at(err, MASE_EVALUE, section->key_at[i],
                                "'%s' may hold only 'config', not '%s'", key, section->keys[i]);
    *config = mase_value_get(section, "config");
    if (!*config)
        return mase_fail_at(err, MASE_EVALUE, at, "'%s' has no config", key);
    if ((*config)->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, (*config)->at, "config must be a table, not %s",
                            mase_value_kind_names[(*config)->kind]);
    return MASE_OK;
}
