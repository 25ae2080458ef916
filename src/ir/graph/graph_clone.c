/*
 * graph_clone.c - copy a graph: everything but the weights.
 */
#include <mase/meta.h>

#include "base/counters.h"
#include "ir/graph/graph_parts.h"
#include "ir/graph/node_names.h"
#include "ir/shape/graph_types.h"
#include "ir/text/arg.h"

/* The node of the same name in the graph that is being made. */
static struct mase_node *twin(struct mase_node *n, void *data)
{
    return mase_graph_find(data, n->name);
}

struct mase_node *mase_graph_copy_node(struct mase_graph *g, const struct mase_node *src)
{
    struct mase_arg args = mase_arg_map(&g->arena, &src->args, twin, g);
    struct mase_arg kwargs = mase_arg_map(&g->arena, &src->kwargs, twin, g);
    struct mase_node *n =
        mase_graph_insert_exact(g, NULL, src->kind, src->name, src->target, &args, &kwargs);

    n->annotation = src->annotation ? mase_intern(&g->intern, src->annotation) : NULL;
    n->quant = src->quant ? mase_quant_copy(&g->arena, src->quant) : NULL;
    n->no_grad = src->no_grad;
    n->mode = src->mode;
    mase_node_set_place(n, src->at);
    return n;
}

/* Users in the order of the original, which edits may have made another than that of the nodes. */
static void copy_users(struct mase_node *n, const struct mase_node *src)
{
    for (int i = 0; i < src->user_count; i++)
        n->users[i] = twin(src->users[i], n->graph);
}

struct mase_graph *mase_graph_clone(const struct mase_graph *src)
{
    struct mase_graph *g = mase_graph_new(src->name);

    mase_count(MASE_COUNT_CLONES);
    for (const struct mase_module *m = src->modules; m; m = m->next)
        mase_graph_copy_module(g, m);
    for (int i = 0; i < src->attr_count; i++)
        mase_graph_copy_attr(g, &src->attrs[i]);
    for (const struct mase_node *n = src->first; n; n = n->next)
        mase_graph_copy_node(g, n);
    for (const struct mase_node *n = src->first; n; n = n->next) {
        struct mase_node *copy = mase_graph_find(g, n->name);
        copy_users(copy, n);
        copy->meta = n->meta ? mase_meta_copy(g, n->meta) : NULL;
    }
    g->meta = src->meta ? mase_meta_copy(g, src->meta) : NULL;
    mase_names_copy(g->names, src->names);
    mase_graph_set_more(g, src->more, src->more_count);
    g->training = src->training ? mase_graph_clone(src->training) : NULL;
    g->untrainable = src->untrainable ? mase_arena_strdup(&g->arena, src->untrainable) : NULL;
    g->batch = src->batch;
    g->weights = src->weights;
    g->weights_borrowed = src->weights;
    g->props = src->props;
    g->edits = src->edits;
    g->format_edits = src->format_edits;
    mase_graph_types_copy(g, src);
    return g;
}
