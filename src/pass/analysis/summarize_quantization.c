/*
 * summarize_quantization.c - tables of what quantisation changed, by node and by type.
 *
 * The two graphs are walked side by side. A node counts as changed when what it calls has another
 * class or function, or computes in other number formats, than before.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/table.h>

#include "ir/graph/graph_parts.h"
#include "pass/support.h"

struct summary_opts {
    const char *save_dir;
};

struct row {
    const char *name, *new_name, *type, *op;
    const char *was, *is;
    bool changed;
};

static const char *type_name(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    mase_node_type_name(&text, n);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

static struct row compare(struct mase_arena *a, const struct mase_node *was,
                          const struct mase_node *is)
{
    struct row r = {
        .name = was->name,
        .new_name = is->name,
        .type = mase_op_type_names[mase_node_op_type(was)],
        .op = mase_ops[was->op].name,
        .was = type_name(a, was),
        .is = type_name(a, is),
    };
    r.changed =
        !mase_streq(r.was, r.is) || !mase_quant_equal(mase_node_quant(was), mase_node_quant(is));
    return r;
}

/* ---- the two tables ---- */

static struct mase_table node_table(struct mase_arena *a, const struct row *rows, int count)
{
    static const char *const headers[] = {
        "Ori name",      "New name",       "MASE_TYPE", "Mase_OP",
        "Original type", "Quantized type", "Changed",   NULL,
    };
    struct mase_table t = mase_table(a, headers);
    for (int i = 0; i < count; i++)
        mase_table_add(&t, (const char *const[]){ rows[i].name, rows[i].new_name, rows[i].type,
                                                  rows[i].op, rows[i].was, rows[i].is,
                                                  rows[i].changed ? "True" : "False" });
    return t;
}

struct group {
    const char *was, *op;
    int total, changed;
};

static int by_type(const void *a, const void *b)
{
    return strcmp(((const struct group *)a)->was, ((const struct group *)b)->was);
}

static int group_rows(struct group *groups, const struct row *rows, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < n && !mase_streq(groups[k].was, rows[i].was))
            k++;
        if (k == n)
            groups[n++] = (struct group){ .was = rows[i].was, .op = rows[i].op };
        groups[k].total++;
        groups[k].changed += rows[i].changed;
    }
    qsort(groups, (size_t)n, sizeof groups[0], by_type);
    return n;
}

static struct mase_table histogram(struct mase_arena *a, const struct row *rows, int count)
{
    static const char *const headers[] = { "Original type", "OP",        "Total",
                                           "Changed",       "Unchanged", NULL };
    struct mase_table t = mase_table(a, headers);
    struct group *groups = mase_new_array(a, struct group, (size_t)count);
    int n = group_rows(groups, rows, count);
    for (int i = 0; i < n; i++) {
        const struct group *g = &groups[i];
        int r = mase_table_row(&t);
        mase_table_set(&t, r, 0, g->was);
        mase_table_set(&t, r, 1, g->op);
        mase_table_setf(&t, r, 2, "%d", g->total);
        mase_table_setf(&t, r, 3, "%d", g->changed);
        mase_table_setf(&t, r, 4, "%d", g->total - g->changed);
    }
    return t;
}

/* ---- output ---- */

static void show(struct mase_pass_env *env, const char *key, const char *heading,
                 const struct mase_table *t)
{
    mase_pass_show(env, heading,
                   &(struct mase_sheet){ .key = key, .table = *t, .style = MASE_TABLE_ORGTBL },
                   NULL, NULL);
}

static enum mase_status save(struct mase_pass_env *env, const char *dir, const char *name,
                             const struct mase_table *t, struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_table_render(t, MASE_TABLE_CSV, &text);
    mase_str_addc(&text, '\n');
    enum mase_status st = mase_pass_write(env, mase_path_join(env->scratch, dir, name), &text, err);
    mase_str_release(&text);
    return st;
}

static void note(struct mase_pass_env *env, const struct row *rows, int count)
{
    if (!env->info)
        return;
    struct mase_arena *a = env->info_arena;
    struct mase_value *result = mase_value_table(a), *list = mase_value_list(a);
    for (int i = 0; i < count; i++)
        if (rows[i].changed)
            mase_value_push(a, list, mase_value_string(a, rows[i].new_name));
    mase_value_set(a, result, "nodes", mase_value_int(a, count));
    mase_value_set(a, result, "changed", list);
    mase_pass_note(env, "summarize_quantization", result);
}

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct summary_opts *o = options;
    struct mase_arena *a = env->scratch;
    if (!env->original)
        return mase_fail(err, MASE_EVALUE,
                         "there is no original to compare with: run it after a transform, "
                         "such as quantize");
    struct row *rows = mase_new_array(a, struct row, (size_t)g->node_count);
    int count = 0;
    const struct mase_node *was = env->original->first;
    for (const struct mase_node *is = g->first; was && is; was = was->next, is = is->next)
        rows[count++] = compare(a, was, is);
    struct mase_table nodes = node_table(a, rows, count), file = mase_table_indexed(a, &nodes);
    struct mase_table types = histogram(a, rows, count);
    show(env, "compare_nodes", "Compare nodes:\n", &nodes);
    show(env, "quantized_graph_histogram", "Quantized graph histogram:\n", &types);
    note(env, rows, count);
    const char *dir = mase_pass_path(env, o->save_dir, "quantize");
    if (!dir)
        return MASE_OK;
    MASE_TRY(save(env, dir, "quantize_table.csv", &file, err));
    return save(env, dir, "quantize_histogram.csv", &types, err);
}

static const struct mase_opt opts[] = {
    MASE_OPT_PATH(struct summary_opts, save_dir, "save_dir", NULL,
                  "folder for quantize_table.csv and quantize_histogram.csv"),
    { 0 },
};

const struct mase_pass mase_pass_summarize_quantization = {
    .name = "summarize_quantization",
    .help = "compare the graph with the one before the newest transform, by node and by type",
    .opts = opts,
    .opts_size = sizeof(struct summary_opts),
    .analyse = run,
};
