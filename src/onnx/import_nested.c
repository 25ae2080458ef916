/*
 * import_nested.c - graphs within graphs: inline function calls, and the branch of an If whose
 * condition is constant.
 */
#include "onnx/import_parts.h"

enum { MOST_DEEP = 20 };

/* Inline a function: add its nodes in a scope of their own. */
enum mase_status mase_ox_inline(struct mase_ox_import *im, const struct mase_onnx_function *f)
{
    const struct mase_onnx_node *call = im->node;
    struct mase_ox_scope *outer = im->scope;
    struct mase_ox_scope inner = { .values.arena = &im->arena, .outer = outer, .call = call };
    inner.prefix = mase_arena_printf(&im->arena, "%s%s_", outer->prefix,
                                     call->name[0] ? call->name : call->op_type);
    if (++im->depth > MOST_DEEP)
        return mase_ox_fail(im, MASE_ELIMIT, "functions call one another more than %d deep",
                            MOST_DEEP);
    if (call->input.count > f->input.count || call->output.count > f->output.count)
        return mase_ox_fail(im, MASE_EVALUE, "it has more inputs or outputs than its function");
    MASE_TRY(mase_ox_find_opset(im, f->opset_import.items, f->opset_import.count, &inner.opset));
    MASE_TRY(mase_ox_check_operations(im, f->node.items, f->node.count, inner.opset));
    for (int i = 0; i < f->input.count; i++) {
        struct mase_ox_value *v = mase_ox_in(im, i),
                             *own = mase_new(&im->arena, struct mase_ox_value);
        mase_map_put(&inner.values, f->input.items[i], v ? v : own);
    }
    MASE_TRY(im->status);
    im->scope = &inner;
    MASE_TRY(mase_ox_import_nodes(im, f->node.items, f->node.count));
    im->scope = outer;
    im->node = call;
    for (int i = 0; i < call->output.count; i++) {
        struct mase_ox_value *v = mase_map_get(&inner.values, f->output.items[i]);
        if (!v)
            return mase_ox_fail(im, MASE_EVALUE, "its function does not make '%s'",
                                f->output.items[i]);
        if (call->output.items[i][0])
            mase_map_put(&outer->values, call->output.items[i], v);
    }
    im->depth--;
    return MASE_OK;
}

/* Add the nodes of one branch, which can use values of the outer graph. Its outputs get the names
 * of the outputs of the If, whose uses are counted. */
static enum mase_status take_branch(struct mase_ox_import *im, const struct mase_onnx_graph *g)
{
    const struct mase_onnx_node *node = im->node;
    struct mase_ox_scope *outer = im->scope;
    struct mase_ox_scope inner = {
        .values.arena = &im->arena, .outer = outer, .prefix = outer->prefix, .opset = outer->opset
    };
    if (++im->depth > MOST_DEEP)
        return mase_ox_fail(im, MASE_ELIMIT, "graphs stand in one another more than %d deep",
                            MOST_DEEP);
    if (node->output.count > g->output.count || g->input.count)
        return mase_ox_fail(im, MASE_EVALUE, "its branch has other inputs or outputs");
    MASE_TRY(mase_ox_check_operations(im, g->node.items, g->node.count, inner.opset));
    im->scope = &inner;
    MASE_TRY(mase_ox_add_tensors(im, g));
    MASE_TRY(mase_ox_import_nodes(im, g->node.items, g->node.count));
    im->node = node;
    for (int i = 0; i < node->output.count; i++) {
        const struct mase_ox_value *v = mase_ox_find(im, g->output.items[i].name);
        if (!v)
            return mase_ox_fail(im, MASE_EVALUE, "its branch does not make '%s'",
                                g->output.items[i].name);
        im->scope = outer;
        MASE_TRY(mase_ox_set_value(im, i, *v));
        im->scope = &inner;
    }
    im->scope = outer;
    im->depth--;
    return MASE_OK;
}

OX_RULE(branch)
{
    const struct mase_onnx_attribute *yes = mase_ox_attr(im, "then_branch"),
                                     *no = mase_ox_attr(im, "else_branch");
    const uint64_t read = im->attributes_read;
    struct mase_ox_value *condition = mase_ox_in(im, 0);
    double holds = 0;
    if (!condition || !yes || !no || !yes->g || !no->g)
        return im->status ? im->status
                          : mase_ox_fail(im, MASE_EVALUE, "its condition or a branch is missing");
    if (!mase_ox_number(im, condition, &holds))
        return im->status;
    MASE_TRY(take_branch(im, holds != 0 ? yes->g : no->g));
    im->attributes_read = read;
    return MASE_OK;
}
