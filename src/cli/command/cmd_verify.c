/*
 * cmd_verify.c - ch verify: compare a quantised network in float, as trained, with its integers, as
 * deployed: value by value, node by node, over the test split.
 */
#include <mase/log.h>
#include <mase/verify.h>

#include "cli/command/cmd_train.h"

struct job {
    struct mase_cli *c;
    const struct mase_model *model;
    struct mase_opened work;   /* owns its graph */
    struct mase_dataset *data; /* owned */
    struct mase_verification v;
};

static enum mase_status set_up(struct job *j, struct mase_err *err)
{
    MASE_TRY(mase_work_open_data(&j->data, &j->work, err));
    MASE_TRY(mase_cli_build(&j->work, j->c, &mase_dataset_info(j->data)->data, err));
    MASE_TRY(mase_cli_match_inputs(&j->data, j->c, &j->work, err));
    MASE_TRY(mase_cli_quantise(&j->work.graph, j->c, &j->work, err));
    if (mase_graph_is_quantised(j->work.graph))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "%s has no number formats: give --config with [passes.quantize], or load a "
                     "quantised network",
                     j->model->name);
}

/* ---- results ---- */

static void put_nodes(const struct job *j)
{
    static const char *const headers[] = { "Node",    "Bits",       "Values", "Different",
                                           "Largest", "First here", "Why",    NULL };
    struct mase_table t = mase_table(&j->c->arena, headers);
    t.align[0] = t.align[6] = MASE_ALIGN_LEFT;
    for (int i = 0; i < j->v.count; i++) {
        const struct mase_verified_node *n = &j->v.node[i];
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, n->node->name);
        if (n->codes)
            mase_table_setf(&t, row, 1, "%d", n->bits);
        else
            mase_table_set(&t, row, 1, "float");
        mase_table_setf(&t, row, 2, "%lld", (long long)n->values);
        mase_table_setf(&t, row, 3, "%lld", (long long)n->differ);
        mase_table_setf(&t, row, 4, n->differ ? "%.3g" : "0", n->most);
        mase_table_setf(&t, row, 5, "%lld", (long long)n->first);
        mase_table_set(&t, row, 6, !n->differ ? "exact" : !n->first ? "of what comes in" : n->why);
    }
    mase_sheets_add(&j->c->sheets, &(struct mase_sheet){ .key = "nodes",
                                                         .title = "float32 beside exact integers",
                                                         .table = t,
                                                         .style = MASE_TABLE_PRETTY });
}

static void put_overall(const struct job *j)
{
    const struct mase_verification *v = &j->v;
    mase_sheets_line(&j->c->sheets,
                     "%s on %lld samples of %s: %lld of %lld outputs differ, %lld decisions change",
                     j->model->name, (long long)v->samples, mase_dataset_info(j->data)->data.name,
                     (long long)v->differ, (long long)v->outputs, (long long)v->decisions);
    if (v->rounded_biases)
        mase_sheets_line(
            &j->c->sheets,
            "biases of %d layers are integers at the scale of their products, in float "
            "they are not: with float biases %lld outputs would differ, %lld "
            "decisions change",
            v->rounded_biases, (long long)v->differ_float_biases,
            (long long)v->decisions_float_biases);
}

static void put_json(const struct job *j)
{
    struct mase_arena *a = &j->c->arena;
    struct mase_value *t = mase_value_table(a);
    const struct mase_verification *v = &j->v;
    mase_value_set(a, t, "model", mase_value_string(a, j->model->name));
    mase_value_set(a, t, "dataset", mase_cli_data_record(a, j->data));
    mase_value_set(a, t, "samples", mase_value_int(a, v->samples));
    mase_value_set(a, t, "outputs", mase_value_int(a, v->outputs));
    mase_value_set(a, t, "different", mase_value_int(a, v->differ));
    mase_value_set(a, t, "decisions", mase_value_int(a, v->decisions));
    mase_value_set(a, t, "rounded_biases", mase_value_int(a, v->rounded_biases));
    mase_value_set(a, t, "different_float_biases", mase_value_int(a, v->differ_float_biases));
    mase_value_set(a, t, "decisions_float_biases", mase_value_int(a, v->decisions_float_biases));
    mase_value_set(a, t, "seconds", mase_value_float(a, v->seconds));
    mase_value_set(a, t, "nodes", mase_verification_nodes(a, v));
    mase_cli_put_json(t);
}

static enum mase_status run(struct job *j, struct mase_err *err)
{
    MASE_TRY(set_up(j, err));
    const struct mase_split_rows rows = mase_cli_rows_to_test(j->c, j->data);
    if (rows.count == 0)
        return mase_fail(err, MASE_EVALUE, "%s has no rows to verify the network on",
                         mase_dataset_info(j->data)->data.name);
    mase_info("Verifying model '%s' on %lld samples...", j->model->name, (long long)rows.count);
    MASE_TRY(mase_verify(&j->v, &j->c->arena, j->work.graph, j->data, rows, err));
    if (mase_cli_wants_json(j->c)) {
        put_json(j);
        return MASE_OK;
    }
    put_nodes(j);
    put_overall(j);
    return MASE_OK;
}

enum mase_status mase_cli_verify(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c };
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_find_work(&j.work, c, err));
    if (!j.work.weights)
        return mase_fail(err, MASE_EVALUE,
                         "verify needs --load PATH: the weights, or a folder that "
                         "was saved");
    MASE_TRY(mase_cli_find_model(&j.model, c, &j.work, err));
    const enum mase_status st = run(&j, err);
    mase_work_close(&j.work);
    mase_dataset_close(j.data);
    return st;
}
