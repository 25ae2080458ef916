/*
 * section_config.c - the command line, the configuration file, the options in force, and run.json.
 */
#include <string.h>

#include <mase/file.h>

#include "cli/report/html.h"
#include "cli/report/report.h"

/* ---- command line and file ---- */

/* Quote a word for the shell if necessary. */
static void put_word(struct mase_str *out, const char *word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        mase_str_add(out, word);
        return;
    }
    mase_str_addc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            mase_str_add(out, "'\\''");
        else
            mase_str_addc(out, *word);
    mase_str_addc(out, '\'');
}

static void put_command(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_value *words = mase_report_value(r, "command");
    struct mase_str text = { 0 };
    for (int i = 0; i < words->count; i++) {
        const struct mase_value *v = words->items[i];
        const char *word = v->kind == MASE_STRING ? v->s : "";
        const char *slash = i ? NULL : strrchr(word, '/');
        mase_str_add(&text, i ? " " : "");
        put_word(&text, slash ? slash + 1 : word); /* the program without its path */
    }
    mase_str_add(out, "<h3>As given</h3>\n");
    mase_html_element(out, "pre", "command", mase_str_text(&text));
    mase_str_release(&text);
}

/* The text of the file, if it is unchanged since the run. */
static void put_file(struct mase_str *out, const struct mase_report *r)
{
    const char *path = mase_report_text(r, "configuration.file.path");
    const char *sum = mase_report_text(r, "configuration.file.sha256");
    struct mase_file f;
    char hex[65];
    if (!path || !sum)
        return;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (!mase_is_file(path) || mase_file_open(&f, path, NULL)) {
        mase_html_element(out, "p", NULL,
                          mase_arena_printf(r->arena, "The configuration file is gone: %s", path));
        return;
    }
    mase_sha256(hex, f.data, f.size);
    if (mase_streq(hex, sum))
        mase_html_details(out, name, mase_arena_strndup(r->arena, (const char *)f.data, f.size),
                          false);
    else
        mase_html_element(
            out, "p", NULL,
            mase_arena_printf(r->arena, "The configuration file has changed since: %s", path));
    mase_file_close(&f);
}

/* ---- options in force ---- */

static void put_options(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column columns[] = { { "Option", NULL, true },
                                                       { "Value", NULL, true } };
    const struct mase_value *options = mase_report_value(r, "configuration.options");
    mase_str_add(out, "<h3>As understood</h3>\n<details><summary>Options</summary>\n");
    mase_html_table(out, "Options", columns, 2);
    for (int i = 0; i < options->count; i++) {
        struct mase_str text = { 0 };
        mase_value_str(&text, options->items[i]);
        mase_html_row(out, NULL, NULL, options->keys[i]);
        mase_html_cell(out, mase_str_text(&text));
        mase_html_row_end(out);
        mase_str_release(&text);
    }
    mase_html_table_end(out, false);
    mase_str_add(out, "</details>\n");
}

/* The sections of the configuration, as TOML. */
static void put_sections(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_value *all = mase_report_value(r, "configuration");
    struct mase_value *sections = mase_value_table(r->arena);
    struct mase_str text = { 0 };
    for (int i = 0; i < all->count; i++)
        if (!mase_streq(all->keys[i], "options") && !mase_streq(all->keys[i], "file"))
            mase_value_set(r->arena, sections, all->keys[i], all->items[i]);
    if (!sections->count)
        return;
    mase_toml_print(&text, sections);
    mase_html_details(out, "Sections", mase_str_text(&text), true);
    mase_str_release(&text);
}

bool mase_report_has_configuration(const struct mase_report *r)
{
    return mase_report_value(r, "configuration") != NULL;
}

void mase_report_configuration(struct mase_str *out, const struct mase_report *r)
{
    put_command(out, r);
    put_file(out, r);
    put_options(out, r);
    put_sections(out, r);
}

/* ---- run.json ---- */

static void put_files(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column columns[] = { { "File", NULL, true },
                                                       { "Bytes", NULL, false },
                                                       { "SHA-256", NULL, true } };
    const struct mase_value *files = mase_report_value(r, "files");
    if (!files || files->kind != MASE_LIST || !files->count)
        return;
    mase_str_add(out, "<details><summary>Files that the run wrote</summary>\n");
    mase_html_table(out, "Files that the run wrote", columns, 3);
    for (int i = 0; i < files->count; i++) {
        const struct mase_value *path = mase_value_get(files->items[i], "path");
        const struct mase_value *sum = mase_value_get(files->items[i], "sha256");
        mase_html_row(out, NULL, NULL, path && path->kind == MASE_STRING ? path->s : "");
        mase_html_cell_real(out, mase_report_real(files->items[i], "bytes"), 0);
        mase_html_cell(out, sum && sum->kind == MASE_STRING ? sum->s : "");
        mase_html_row_end(out);
    }
    mase_html_table_end(out, false);
    mase_str_add(out, "</details>\n");
}

static void put_json(struct mase_str *out, const char *name, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    mase_json_print(&text, v, 2);
    mase_html_details(out, name, mase_str_text(&text), false);
    mase_str_release(&text);
}

bool mase_report_has_record(const struct mase_report *r)
{
    return r->run != NULL;
}

void mase_report_record(struct mase_str *out, const struct mase_report *r)
{
    put_files(out, r);
    if (r->run != r->test)
        put_json(out, "run.json", r->run);
    if (r->test)
        put_json(out, "software/test/run.json", r->test);
}
