/*
 * sign.c - can a result be negative?
 *
 * A relu's cannot, and so cannot what views, pools or joins it: a format of it needs no sign. The
 * answer follows from operations alone, not from formats: no format makes a negative number of one
 * that is none. Where it is not known a result may be negative, which is always right.
 */
#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"

/* Limit of visited results, as for a chain of y = cat(x, x); beyond it the sign is unknown. */
enum { BUDGET = 1000 };

static bool never_negative(const struct mase_node *n, int *budget);

static bool arg_never_negative(const struct mase_arg *a, int *budget)
{
    if (a->kind == MASE_ARG_NODE)
        return never_negative(a->node, budget);
    bool never = mase_arg_is_seq(a);
    for (int i = 0; never && i < a->count; i++)
        never = arg_never_negative(&a->items[i], budget);
    return never;
}

static bool is_data(const struct mase_sig *sig, int i)
{
    return i >= 0 && i < sig->count && mase_mark_is_data(sig->param[i].role);
}

static bool operands_never_negative(const struct mase_node *n, int *budget)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    bool never = true;
    int data = 0;
    for (int i = 0; never && i < n->args.count && i < sig->count; i++)
        if (is_data(sig, i) && ++data)
            never = arg_never_negative(&n->args.items[i], budget);
    for (int i = 0; never && i < n->kwargs.count; i++)
        if (is_data(sig, mase_sig_find(sig, n->kwargs.keys[i])) && ++data)
            never = arg_never_negative(&n->kwargs.items[i], budget);
    return never && data > 0;
}

/* A mean may be told what to divide by: a negative number, too. */
static bool divides_by_its_own(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (n->op != MASE_OP_avg_pool2d)
        return false;
    const struct mase_arg *by =
        m ? mase_module_attr(m, "divisor_override") : mase_node_argument(n, "divisor_override");
    return by && mase_arg_present(by);
}

static bool makes_no_negative(const struct mase_node *n, int *budget)
{
    switch (mase_ops[n->op].nonnegative) {
    case MASE_NONNEGATIVE_ALWAYS:
        return true;
    case MASE_NONNEGATIVE_KEPT:
        return !divides_by_its_own(n) && operands_never_negative(n, budget);
    default:
        return false;
    }
}

/* Later readers of what is written in place see what was written. */
static bool never_negative(const struct mase_node *n, int *budget)
{
    if (--*budget < 0 || !makes_no_negative(n, budget))
        return false;
    for (int i = 0; i < n->user_count; i++) {
        const struct mase_node *u = n->users[i];
        if (mase_node_written(u) == n && mase_ops[u->op].nonnegative != MASE_NONNEGATIVE_ALWAYS)
            return false;
    }
    return true;
}

bool mase_node_never_negative(const struct mase_node *n)
{
    int budget = BUDGET;
    return mase_ops[n->op].call && never_negative(n, &budget);
}

bool mase_data_never_negative(const struct mase_node *n)
{
    int budget = BUDGET;
    return operands_never_negative(n, &budget);
}
