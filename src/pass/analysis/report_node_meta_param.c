/*
 * report_node_meta_param.c - the metadata of every node as a table, or as JSON for programs.
 */
#include <mase/log.h>
#include <mase/table.h>

#include "pass/support.h"

struct meta_opts {
    const struct mase_value *which;
    const char *save_path;
    const char *format;
};

/* By column. */
static const struct {
    const char *word, *header;
    enum mase_section section;
} columns[] = {
    { "common", "Common Param", MASE_COMMON },
    { "hardware", "Hardware Param", MASE_HARDWARE },
    { "software", "Software Param", MASE_SOFTWARE },
};

enum { COLUMNS = sizeof columns / sizeof columns[0], ALL = (1 << COLUMNS) - 1 };

static enum mase_status add_word(unsigned *set, const struct mase_value *v, struct mase_err *err)
{
    if (v->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "which must hold strings, not %s: all, common, hardware or software",
                            mase_value_kind_names[v->kind]);
    if (mase_streq(v->s, "all")) {
        *set |= ALL;
        return MASE_OK;
    }
    for (int i = 0; i < COLUMNS; i++)
        if (mase_streq(v->s, columns[i].word)) {
            *set |= 1u << i;
            return MASE_OK;
        }
    return mase_fail_at(err, MASE_EVALUE, v->at,
                        "which = '%s' is none of all, common, hardware, software", v->s);
}

/* The columns to print: a list of words, or one word; NULL: all. */
static enum mase_status selection(unsigned *set, const struct meta_opts *o, struct mase_err *err)
{
    *set = 0;
    if (!o->which)
        *set = ALL;
    else if (o->which->kind != MASE_LIST)
        return add_word(set, o->which, err);
    for (int i = 0; o->which && i < o->which->count; i++)
        MASE_TRY(add_word(set, o->which->items[i], err));
    if (!*set)
        return mase_fail_at(err, MASE_EVALUE, o->which->at,
                            "which is empty: it takes all, common, hardware, software");
    return MASE_OK;
}

static enum mase_status check(const void *options, struct mase_err *err)
{
    unsigned set;
    return selection(&set, options, err);
}

static const char *cell(struct mase_arena *a, const struct mase_meta *m, enum mase_section s)
{
    struct mase_str text = { 0 };
    mase_pformat(&text, mase_meta_value(a, m, s));
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

static struct mase_table make_table(struct mase_arena *a, const struct mase_graph *g, unsigned set)
{
    const char *headers[4 + COLUMNS + 1] = { "Node name", "Fx Node op", "Mase type", "Mase op" };
    int n_headers = 4;
    for (int i = 0; i < COLUMNS; i++)
        if (set & 1u << i)
            headers[n_headers++] = columns[i].header;
    struct mase_table t = mase_table(a, headers);
    t.lines = true;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const char *cells[4 + COLUMNS] = { n->name, mase_node_kind_names[n->kind],
                                           mase_op_type_names[n->meta->type],
                                           mase_ops[n->meta->op].name };
        int column = 4;
        for (int i = 0; i < COLUMNS; i++)
            if (set & 1u << i)
                cells[column++] = cell(a, n->meta, columns[i].section);
        mase_table_add(&t, cells);
    }
    return t;
}

static struct mase_value *as_value(struct mase_arena *a, const struct mase_graph *g, unsigned set)
{
    struct mase_value *all = mase_value_table(a);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        struct mase_value *node = mase_value_set(a, all, n->name, mase_value_table(a));
        for (int i = 0; i < COLUMNS; i++)
            if (set & 1u << i)
                mase_value_set(a, node, columns[i].word,
                               mase_meta_value(a, n->meta, columns[i].section));
    }
    return all;
}

/* The format of the file follows the pass's option, not that of the terminal. */
static void add_text(struct mase_str *out, const struct meta_opts *o, const struct mase_table *t,
                     const struct mase_value *json)
{
    const char *format = o->format ? o->format : "grid";
    if (mase_streq(format, "json"))
        mase_json_print(out, json, 2);
    for (int i = 0; mase_table_style_names[i]; i++)
        if (mase_streq(mase_table_style_names[i], format))
            mase_table_render(t, (enum mase_table_style)i, out);
}

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct meta_opts *o = options;
    unsigned set;
    MASE_TRY(selection(&set, o, err));
    const struct mase_table t = make_table(env->scratch, g, set);
    struct mase_value *json = as_value(mase_pass_arena(env), g, set);
    mase_pass_show(env, "Inspecting graph [add_common_meta_param_analysis_pass]\n\n",
                   &(struct mase_sheet){
                       .key = "report_node_meta_param", .table = t, .style = MASE_TABLE_GRID },
                   o->format, json);
    const char *path = mase_pass_path(env, o->save_path, "report");
    if (!path)
        return MASE_OK;
    struct mase_str text = { 0 };
    add_text(&text, o, &t, json);
    enum mase_status st = mase_pass_write(env, path, &text, err);
    if (!st)
        mase_info("Node meta param table is saved to %s", path);
    mase_str_release(&text);
    return st;
}

static const struct mase_opt opts[] = {
    MASE_OPT_VALUE(struct meta_opts, which, "which",
                   "sections to show: a list of all, common, hardware, software"),
    MASE_OPT_PATH(struct meta_opts, save_path, "save_path", NULL, "also write the table here"),
    MASE_OPT_CHOICE(struct meta_opts, format, "format", NULL, mase_pass_formats,
                    "how the table looks; none: as all tables, and a grid in the file"),
    { 0 },
};

const struct mase_pass mase_pass_report_node_meta_param = {
    .name = "report_node_meta_param",
    .help = "print the metadata of every node",
    .needs = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = opts,
    .opts_size = sizeof(struct meta_opts),
    .check = check,
    .analyse = run,
};
