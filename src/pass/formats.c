/*
 * formats.c - the number formats of a node's quantisation, seen from its metadata.
 *
 * The configuration speaks of operand groups (data_in, weight, bias, data_out), the metadata of
 * arguments (data_in_0, data_in_1, weight). A parameter's role in the signature joins the two: x
 * takes the format of data_in, y and w that of weight, b that of bias.
 */
#include "pass/support.h"

static bool is_data(const struct mase_meta_arg *arg)
{
    return mase_starts_with(arg->name, "data_in_");
}

/* data_in_1 of a matrix product is its weight: the role of the j-th data parameter says so. */
static char data_role(enum mase_op op, int j)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    for (int i = 0, seen = 0; i < sig->count; i++) {
        char role = sig->param[i].role;
        if ((role == 'x' || role == 'y') && seen++ == j)
            return role;
    }
    return 'x';
}

static int operand_of(const struct mase_node *n, const struct mase_meta_arg *arg)
{
    if (arg->kind == MASE_META_RAW || arg->kind == MASE_META_OBJECT)
        return -1;
    if (is_data(arg)) {
        int j = 0;
        sscanf(arg->name, "data_in_%d", &j);
        return data_role(n->op, j) == 'y' ? MASE_WEIGHT : MASE_DATA_IN;
    }
    if (mase_streq(arg->name, "weight"))
        return MASE_WEIGHT;
    return mase_streq(arg->name, "bias") ? MASE_BIAS : -1;
}

struct mase_format mase_meta_format_of(const struct mase_node *n, const struct mase_meta_arg *arg,
                                       bool is_result)
{
    const struct mase_quant *q = mase_node_quant(n);
    int operand = is_result ? MASE_DATA_OUT : operand_of(n, arg);
    if (!q || q->bypass || operand < 0)
        return (struct mase_format){ 0 };
    return q->operand[operand];
}

void mase_meta_set_formats(struct mase_node *n)
{
    struct mase_meta *m = n->meta;
    for (int i = 0; i < m->arg_count; i++)
        m->args[i].format = mase_meta_format_of(n, &m->args[i], false);
    for (int i = 0; i < m->result_count; i++)
        m->results[i].format = mase_meta_format_of(n, &m->results[i], true);
}
