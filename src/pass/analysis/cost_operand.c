/*
 * cost_operand.c - operands of a call by the parameters of its operation (cost_operand.h).
 */
#include "pass/analysis/cost_operand.h"

#include <mase/meta.h>

#include "pass/support.h"

static const struct mase_cost_operand nothing = { 0 };

/* What a node gives, read by a parameter with that mark of n. */
static struct mase_cost_operand of_node(const struct mase_node *n, const struct mase_node *from,
                                        char mark)
{
    const struct mase_meta *m = from->meta;
    const struct mase_meta_arg *r = m && m->result_count == 1 ? m->results : NULL;
    if (!r || r->kind != MASE_META_TENSOR)
        return nothing;
    struct mase_cost_operand o = { .shape = &r->shape, .dtype = r->dtype };
    if (r->dtype == MASE_F32)
        o.how = mase_mark_rounding(n, mark);
    if (from->kind == MASE_GET_ATTR)
        o.param = mase_graph_attr(n->graph, from->target);
    return o;
}

static const struct mase_node *object_of(const struct mase_node *n)
{
    const bool has = n->kind == MASE_CALL_METHOD && n->args.count;
    return has && n->args.items[0].kind == MASE_ARG_NODE ? n->args.items[0].node : NULL;
}

/* The argument of a parameter of the signature. */
static struct mase_cost_operand argument(const struct mase_node *n,
                                         const struct mase_sig_param *param, bool first)
{
    struct mase_arena a = { 0 };
    struct mase_named_arg *args;
    struct mase_cost_operand o = nothing;
    if (first && object_of(n))
        return of_node(n, object_of(n), param->role);
    const int count = mase_named_args(&a, n, &args);
    for (int i = 0; i < count && !o.shape; i++)
        if (mase_streq(args[i].name, param->name) && args[i].arg->kind == MASE_ARG_NODE)
            o = of_node(n, args[i].arg->node, param->role);
    mase_arena_release(&a);
    return o;
}

static struct mase_cost_operand of_module(const struct mase_node *n, const char *name)
{
    const struct mase_module *m = mase_node_module(n);
    const struct mase_param *p = m ? mase_module_param(m, name) : NULL;
    if (!p)
        return nothing;
    return (struct mase_cost_operand){ .shape = &p->tensor.shape,
                                       .dtype = p->tensor.dtype,
                                       .how = mase_named_rounding(n, name),
                                       .param = p };
}

struct mase_cost_operand mase_cost_data(const struct mase_node *n, int k)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    for (int i = 0; i < sig->count; i++)
        if (mase_mark_is_data(sig->param[i].role) && !k--)
            return argument(n, &sig->param[i], i == 0);
    return nothing;
}

struct mase_cost_operand mase_cost_named(const struct mase_node *n, const char *name)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    struct mase_cost_operand o = of_module(n, name);
    for (int i = 0; i < sig->count && !o.shape; i++)
        if (mase_streq(sig->param[i].name, name))
            o = argument(n, &sig->param[i], i == 0);
    return o;
}

struct mase_rounding mase_cost_reads(const struct mase_node *n, const struct mase_node *operand)
{
    struct mase_arena a = { 0 };
    struct mase_named_arg *args;
    struct mase_rounding how = { 0 };
    if (!mase_node_quant(n))
        return how;
    if (object_of(n) == operand)
        return mase_operand_rounding(n, 0);
    const int count = mase_named_args(&a, n, &args);
    for (int i = 0; i < count && !how.format; i++)
        if (args[i].arg->kind == MASE_ARG_NODE && args[i].arg->node == operand)
            how = mase_mark_rounding(n, args[i].role);
    mase_arena_release(&a);
    return how;
}

int64_t mase_cost_elements(const struct mase_cost_operand *o)
{
    return o->shape ? mase_shape_count(o->shape) : 0;
}

int64_t mase_cost_last_dim(const struct mase_cost_operand *o)
{
    return o->shape && o->shape->rank ? o->shape->dim[o->shape->rank - 1] : 1;
}

int mase_cost_bits(const struct mase_cost_operand *o)
{
    if (!o->shape)
        return 32;
    return o->how.format ? mase_format_bits(o->how.format) : 8 * mase_dtypes[o->dtype].size;
}

int64_t mase_cost_stored_bits(const struct mase_cost_operand *o)
{
    if (!o->how.format)
        return mase_cost_elements(o) * mase_cost_bits(o);
    return mase_format_stored_bits(o->how.format, o->shape, o->how.role);
}
