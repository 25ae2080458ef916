/*
 * fx_print.c - a graph as torch.fx prints it.
 */
#include <string.h>

#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

/* ---- targets ---- */

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* "mult.mult_integer": file and function of a quantised call. */
static void quantised_function(struct mase_str *out, const struct mase_node *n)
{
    const struct mase_op_info *op = &mase_ops[n->op];
    if (op->quant_func && *op->quant_func)
        mase_str_add(out, op->quant_func);
    else
        mase_str_printf(out, "%s.%s", op->name, op->name);
    mase_str_printf(out, "_%s", mase_quants[n->quant->kind]->func);
}

void mase_node_target(struct mase_str *out, const struct mase_node *n)
{
    if (!n->quant) {
        mase_str_add(out, n->target);
        return;
    }
    mase_str_add(out, "chop.passes.graph.transforms.quantize.quantized_funcs.");
    quantised_function(out, n);
}

void mase_node_type_name(struct mase_str *out, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (m) {
        mase_module_class(out, m);
    } else if (n->quant) {
        struct mase_str target = { 0 };
        quantised_function(&target, n);
        mase_str_add(out, last_part(mase_str_text(&target)));
        mase_str_release(&target);
    } else {
        mase_str_add(out, n->kind == MASE_CALL_FUNCTION ? last_part(n->target) : n->target);
    }
}

/* ---- lines ---- */

/* The call's keywords; a quantised function's end with its configuration. */
static void print_kwargs(struct mase_str *out, const struct mase_node *n)
{
    struct mase_arena scratch = { 0 };
    struct mase_arg kwargs = n->kwargs;

    if (n->quant) {
        kwargs.count++;
        kwargs.items = mase_new_array(&scratch, struct mase_arg, (size_t)kwargs.count);
        kwargs.keys = mase_new_array(&scratch, const char *, (size_t)kwargs.count);
        for (int i = 0; i < n->kwargs.count; i++) {
            kwargs.items[i] = n->kwargs.items[i];
            kwargs.keys[i] = n->kwargs.keys[i];
        }
        kwargs.items[kwargs.count - 1] = mase_quant_config(&scratch, n->quant);
        kwargs.keys[kwargs.count - 1] = "config";
    }
    mase_arg_write(out, &kwargs, MASE_ARG_FX);
    mase_arena_release(&scratch);
}

static void print_call(struct mase_str *out, const struct mase_node *n)
{
    mase_str_add(out, "(args = ");
    mase_arg_write(out, &n->args, MASE_ARG_FX);
    mase_str_add(out, ", kwargs = ");
    print_kwargs(out, n);
    mase_str_addc(out, ')');
}

static void print_default(struct mase_str *out, const struct mase_node *n)
{
    if (!n->args.count)
        return;
    mase_str_add(out, "(default=");
    mase_arg_write(out, &n->args.items[0], MASE_ARG_STR);
    mase_str_addc(out, ')');
}

void mase_node_print(struct mase_str *out, const struct mase_node *n)
{
    if (n->kind == MASE_OUTPUT) {
        mase_str_add(out, "return ");
        if (n->args.count)
            mase_arg_write(out, &n->args.items[0], MASE_ARG_STR);
        return;
    }
    mase_str_printf(out, "%%%s : %s%s[num_users=%d] = %s[target=", n->name,
                    n->annotation ? n->annotation : "", n->annotation ? " " : "", n->user_count,
                    mase_node_kind_names[n->kind]);
    mase_node_target(out, n);
    mase_str_addc(out, ']');
    if (n->kind == MASE_PLACEHOLDER)
        print_default(out, n);
    else if (n->kind != MASE_GET_ATTR)
        print_call(out, n);
}

void mase_graph_print(struct mase_str *out, const struct mase_graph *g)
{
    mase_str_add(out, "graph():");
    for (const struct mase_node *n = g->first; n; n = n->next) {
        mase_str_add(out, "\n    ");
        mase_node_print(out, n);
    }
}
