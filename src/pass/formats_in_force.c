/*
 * formats_in_force.c - the number formats in force at a node, in its metadata.
 */
#include "pass/support.h"

const struct mase_format *mase_meta_format_of(const struct mase_node *n,
                                              const struct mase_meta_arg *arg, bool is_result)
{
    if (is_result)
        return mase_result_rounding(n).format;
    if (arg->kind == MASE_META_RAW || arg->kind == MASE_META_OBJECT)
        return NULL;
    return mase_named_rounding(n, arg->name).format;
}

void mase_meta_set_formats(struct mase_node *n)
{
    struct mase_meta *m = n->meta;
    for (int i = 0; i < m->arg_count; i++)
        m->args[i].format = mase_meta_format_of(n, &m->args[i], false);
    for (int i = 0; i < m->result_count; i++)
        m->results[i].format = mase_meta_format_of(n, &m->results[i], true);
}
