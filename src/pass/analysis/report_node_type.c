/*
 * report_node_type.c - a table of every node's kind, type and operation.
 */
#include <mase/table.h>

#include "pass/support.h"

static const char *value_type(const struct mase_node *n)
{
    const struct mase_meta_arg *arg = mase_meta_arg(n->meta, "data_in_0");
    return arg ? mase_format_name(arg->format) : "NA";
}

static enum mase_status run(const struct mase_graph *g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)opts, (void)err;
    static const char *const headers[] = { "Node name", "Fx Node op", "Mase type",
                                           "Mase op",   "Value type", NULL };
    struct mase_table t = mase_table(env->scratch, headers);
    for (const struct mase_node *n = g->first; n; n = n->next)
        mase_table_add(&t, (const char *const[]){ n->name, mase_node_kind_names[n->kind],
                                                  mase_op_type_names[n->meta->type],
                                                  mase_ops[n->meta->op].name, value_type(n) });
    mase_pass_show(env, "Inspecting graph [add_common_node_type_analysis_pass]\n\n",
                   &(struct mase_sheet){ .key = "report_node_type", .table = t }, NULL, NULL);
    return MASE_OK;
}

const struct mase_pass mase_pass_report_node_type = {
    .name = "report_node_type",
    .help = "print a table of every node's kind, type and operation",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .analyse = run,
};
