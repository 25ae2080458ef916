/*
 * project_index.c - ch report mase_output: the projects of a folder, a line each.
 *
 * A record that cannot be read has a line that says why; it is no reason to hide the others.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>

#include "base/number.h"
#include "cli/report/html.h"
#include "cli/report/report.h"

struct project {
    const char *name, *dir;
    struct mase_report run;
    const char *why; /* it could not be read; NULL: it was */
};

struct projects {
    struct mase_arena *arena;
    const char *dir;
    struct project *item;
    int count, cap;
};

static bool is_run(struct mase_arena *a, const char *dir)
{
    return mase_is_file(mase_path_join(a, dir, "run.json")) ||
           mase_is_file(mase_path_join(a, dir, "software/test/run.json"));
}

/* ---- finding ---- */

static int compare_projects(const void *a, const void *b)
{
    return strcmp(((const struct project *)a)->name, ((const struct project *)b)->name);
}

/* The runs among what lies in the folder, by name. */
static void find_projects(struct projects *p)
{
    DIR *dir = opendir(p->dir);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const char *path = mase_path_join(p->arena, p->dir, e->d_name);
        if (e->d_name[0] == '.' || !is_run(p->arena, path))
            continue;
        p->item = mase_arena_grow(p->arena, p->item, p->count, &p->cap, sizeof *p->item);
        p->item[p->count++] =
            (struct project){ .name = mase_arena_strdup(p->arena, e->d_name), .dir = path };
    }
    if (dir)
        closedir(dir);
    if (p->count)
        qsort(p->item, (size_t)p->count, sizeof *p->item, compare_projects);
}

bool mase_report_is_index(struct mase_arena *a, const char *dir)
{
    struct projects p = { .arena = a, .dir = dir };
    if (!mase_is_dir(dir) || is_run(a, dir))
        return false;
    find_projects(&p);
    return p.count > 0;
}

static void read_project(struct project *p, struct mase_cli *c)
{
    struct mase_err why = { 0 };
    p->run = (struct mase_report){ .c = c, .arena = &c->arena, .dir = p->dir };
    if (mase_report_read_record(&p->run, &why) || mase_report_read_test(&p->run, &why))
        p->why = mase_arena_printf(&c->arena, "%s: %s", why.path, why.msg);
    p->run.task = mase_report_task(&p->run);
}

/* ---- the page ---- */

/* A link to the page of a project, below the index: a name may have characters that end a path. */
static const char *link_of(struct mase_arena *a, const char *name)
{
    struct mase_str out = { 0 };
    mase_str_add(&out, "./");
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (mase_is_alnum((char)*c) || strchr("-_.", *c))
            mase_str_addc(&out, (char)*c);
        else
            mase_str_printf(&out, "%%%02X", *c);
    mase_str_add(&out, "/report.html");
    const char *copy = mase_arena_strdup(a, mase_str_text(&out));
    mase_str_release(&out);
    return copy;
}

static const char *numbers_of(struct mase_arena *a, const struct mase_report *r)
{
    struct mase_report_number n[MASE_REPORT_NUMBERS];
    struct mase_str out = { 0 };
    const int count = mase_report_numbers(n, r);
    for (int i = 0; i < count; i++) {
        mase_str_printf(&out, "%s%s ", i ? ", " : "", n[i].name);
        mase_report_put_number(&out, &n[i]);
    }
    const char *copy = mase_arena_strdup(a, mase_str_text(&out));
    mase_str_release(&out);
    return copy;
}

static void project_row(struct mase_str *out, struct mase_arena *a, const struct project *p)
{
    const char *page = mase_path_join(a, p->dir, "report.html");
    const char *finished = p->why ? NULL : mase_report_text(&p->run, "finished");
    mase_html_row(out, NULL, mase_is_file(page) ? link_of(a, p->name) : NULL, p->name);
    mase_html_cell(out, p->why ? "–" : p->run.action);
    mase_html_cell(out, p->why ? "–" : mase_report_title(&p->run));
    mase_html_cell(out, finished ? mase_report_time(a, finished) : "–");
    mase_html_cell(out, p->why ? p->why : numbers_of(a, &p->run));
    mase_html_row_end(out);
}

static void put_body(struct mase_str *out, const void *data)
{
    static const struct mase_html_column columns[] = { { "Project", NULL, true },
                                                       { "Kind", NULL, true },
                                                       { "Network", NULL, true },
                                                       { "Finished", NULL, true },
                                                       { "Numbers", NULL, true } };
    const struct projects *p = data;
    mase_str_add(out, "<header>\n<p class=\"kind\">Projects</p>\n");
    mase_html_element(out, "h1", NULL, p->dir);
    mase_str_add(out, "</header>\n<main>\n<section id=\"projects\">\n"
                      "<p>A name leads to the project's page, where ch report has made one.</p>\n");
    mase_html_table(out, "Projects", columns, 5);
    for (int i = 0; i < p->count; i++)
        project_row(out, p->arena, &p->item[i]);
    mase_html_table_end(out, false);
    mase_str_add(out, "</section>\n</main>\n");
}

enum mase_status mase_report_index(struct mase_cli *c, const char *dir, struct mase_err *err)
{
    struct projects p = { .arena = &c->arena, .dir = dir };
    struct mase_cli_setting kept[MASE_CLI_COUNT];
    const char *given = mase_cli_text(c, MASE_CLI_output);
    memcpy(kept, c->setting, sizeof kept);
    find_projects(&p);
    for (int i = 0; i < p.count; i++) {
        read_project(&p.item[i], c);
        memcpy(c->setting, kept, sizeof kept);
    }
    return mase_report_write(c, given ? given : mase_path_join(p.arena, dir, "index.html"), dir,
                             put_body, &p, err);
}
