/*
 * report_node_hardware_type.c - a table of the tool chain and device of every node that computes.
 */
#include <mase/table.h>

#include "pass/support.h"

static const char *result_type(const struct mase_node *n)
{
    const struct mase_meta_arg *out = mase_meta_result(n->meta, "data_out_0");
    bool is_tensor = out && out->kind != MASE_META_OBJECT;
    return is_tensor ? mase_format_name(out->format) : "NA";
}

static enum mase_status run(const struct mase_graph *g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)opts, (void)err;
    static const char *const headers[] = { "Node name",  "Fx Node op", "Type",
                                           "Tool Chain", "Device ID",  NULL };
    struct mase_table t = mase_table(env->scratch, headers);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_meta_hw *hw = &n->meta->hw;
        if (hw->is_implicit)
            continue;
        mase_table_add(
            &t, (const char *const[]){ n->name, mase_node_kind_names[n->kind], result_type(n),
                                       hw->toolchain,
                                       mase_arena_printf(env->scratch, "%d", hw->device_id) });
    }
    mase_pass_show(env, "Inspecting graph [add_common_node_hardware_type_analysis_pass]\n\n",
                   &(struct mase_sheet){ .key = "report_node_hardware_type", .table = t }, NULL,
                   NULL);
    return MASE_OK;
}

const struct mase_pass mase_pass_report_node_hardware_type = {
    .name = "report_node_hardware_type",
    .help = "print a table of the tool chain and device of every node that computes",
    .needs = MASE_PROP_ALL & ~MASE_PROP_SOFTWARE,
    .analyse = run,
};
