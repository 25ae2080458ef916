/*
 * cmd_info.c - ch --info: list networks and datasets. Graphs are built without
 * weights, so that even large networks are counted at once.
 */
#include <inttypes.h>

#include <mase/zoo.h>

#include "cli/cli.h"

static enum mase_status count_params(int64_t *count, const struct mase_model *m,
                                     struct mase_err *err)
{
    const struct mase_data_info *data;
    struct mase_graph *g = NULL;
    MASE_TRY(mase_data_find(&data, m->dataset, err));
    MASE_TRY(m->build(&g, data, err));
    *count = mase_graph_param_count(g);
    mase_graph_free(g);
    return MASE_OK;
}

static enum mase_status models_json(struct mase_arena *a, struct mase_value *out,
                                    struct mase_err *err)
{
    for (const struct mase_model *m = mase_zoo; m->name; m++) {
        struct mase_value *v = mase_value_table(a);
        int64_t count;
        if (count_params(&count, m, err))
            return mase_wrap(err, "%s", m->name);
        mase_value_set(a, v, "name", mase_value_string(a, m->name));
        mase_value_set(a, v, "task", mase_value_string(a, m->task));
        mase_value_set(a, v, "dataset", mase_value_string(a, m->dataset));
        mase_value_set(a, v, "parameters", mase_value_int(a, count));
        mase_value_set(a, v, "help", mase_value_string(a, m->help));
        mase_value_push(a, out, v);
    }
    return MASE_OK;
}

void mase_cli_datasets_json(struct mase_arena *a, struct mase_value *out)
{
    for (const struct mase_data_info *d = mase_datasets; d->name; d++) {
        struct mase_value *v = mase_value_table(a);
        mase_value_set(a, v, "name", mase_value_string(a, d->name));
        mase_value_set(a, v, "sample", mase_value_ints(a, d->sample.dim, d->sample.rank));
        mase_value_set(a, v, "classes", mase_value_int(a, d->classes));
        mase_value_set(a, v, "help", mase_value_string(a, d->help));
        mase_value_push(a, out, v);
    }
}

/* Print a list of tables with equal keys as a text table, one column per key. */
static void put_rows(struct mase_cli *c, const char *title, const char *const *headers,
                     const struct mase_value *rows)
{
    struct mase_table t = mase_table(&c->arena, headers);
    struct mase_str text = { 0 };
    for (int i = 0; i < rows->count; i++) {
        const int row = mase_table_row(&t);
        for (int j = 0; j < t.columns; j++) {
            mase_str_clear(&text);
            mase_value_str(&text, rows->items[i]->items[j]);
            mase_table_set(&t, row, j, mase_str_text(&text));
        }
    }
    mase_str_release(&text);
    mase_sheets_say(&c->sheets, "%s\n", title);
    mase_cli_put_table(c, &t);
}

enum mase_status mase_cli_info(struct mase_cli *c, const char *what, struct mase_err *err)
{
    static const char *const model_headers[] = { "Name",       "Task",    "Dataset",
                                                 "Parameters", "Network", NULL };
    static const char *const dataset_headers[] = { "Name", "Sample", "Classes", "Data", NULL };
    struct mase_arena *a = &c->arena;
    struct mase_value *models = mase_value_list(a), *datasets = mase_value_list(a);
    const bool all = mase_streq(what, "all");
    const bool with_models = all || mase_streq(what, "model");
    const bool with_datasets = all || mase_streq(what, "dataset");

    if (with_models)
        MASE_TRY(models_json(a, models, err));
    if (with_datasets)
        mase_cli_datasets_json(a, datasets);
    if (mase_cli_wants_json(c)) {
        struct mase_value *root = mase_value_table(a);
        if (with_models)
            mase_value_set(a, root, "models", models);
        if (with_datasets)
            mase_value_set(a, root, "datasets", datasets);
        mase_cli_put_json(root);
        return MASE_OK;
    }
    if (with_models)
        put_rows(c, "Supported Models", model_headers, models);
    if (all)
        mase_sheets_say(&c->sheets, "\n");
    if (with_datasets)
        put_rows(c, "Supported Datasets", dataset_headers, datasets);
    return MASE_OK;
}
