/*
 * report_node_shape.c - print the shapes of the operands and results of every node.
 */
#include "pass/support.h"

/* Print data as its shape, other arguments (a weight, a plain value) as the whole record. */
static void add_entries(struct mase_str *out, const struct mase_value *records, bool is_result)
{
    for (int i = 0; records && i < records->count; i++) {
        const struct mase_value *shape = mase_value_get(records->items[i], "shape");
        bool is_data = is_result || mase_starts_with(records->keys[i], "data_in");
        mase_str_printf(out, "%s = ", records->keys[i]);
        mase_repr(out, is_data && shape ? shape : records->items[i]);
        mase_str_addc(out, '\n');
    }
}

static enum mase_status run(const struct mase_graph *g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)opts, (void)err;
    struct mase_str text = { 0 };
    mase_str_add(&text, "Inspecting graph [add_common_node_shape_analysis_pass]\n");
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_value *common = mase_meta_value(env->scratch, n->meta, MASE_COMMON);
        mase_str_printf(&text, "%s:\nin:\n", n->name);
        add_entries(&text, mase_value_get(common, "args"), false);
        mase_str_add(&text, "out:\n");
        add_entries(&text, mase_value_get(common, "results"), true);
        mase_str_addc(&text, '\n');
    }
    mase_pass_print(env, &text);
    mase_str_release(&text);
    return MASE_OK;
}

const struct mase_pass mase_pass_report_node_shape = {
    .name = "report_node_shape",
    .help = "print the shapes that go into and come out of every node",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .analyse = run,
};
