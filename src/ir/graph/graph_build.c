/*
 * graph_build.c - calls appended to a graph, with arguments by position.
 */
#include "ir/graph/graph_build.h"

struct mase_node *mase_build_input(struct mase_graph *g, const char *name, const char *annotation)
{
    struct mase_node *n = mase_graph_insert(g, NULL, MASE_PLACEHOLDER, name, NULL, NULL);
    n->annotation = annotation ? mase_intern(&g->intern, annotation) : NULL;
    return n;
}

struct mase_module *mase_build_module(struct mase_graph *g, enum mase_op op, const char *path,
                                      const struct mase_arg *args, int count)
{
    const struct mase_arg tuple = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, args, count);
    struct mase_module *m = NULL;
    struct mase_err err;
    if (mase_graph_add_module(g, &m, path, op, &tuple, NULL, &err))
        mase_bug("layer %s: %s", path, err.msg);
    return m;
}

struct mase_node *mase_build_call(struct mase_graph *g, enum mase_node_kind kind,
                                  const char *target, const struct mase_arg *args, int count)
{
    const struct mase_arg tuple = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, args, count);
    return mase_graph_insert(g, NULL, kind, target, &tuple, NULL);
}

struct mase_node *mase_build_layer(struct mase_graph *g, struct mase_node *x, enum mase_op op,
                                   const char *path, const struct mase_arg *args, int count)
{
    const struct mase_module *m = mase_build_module(g, op, path, args, count);
    return mase_build_call(g, MASE_CALL_MODULE, m->path, MASE_ARGS(mase_arg_node(x)));
}

void mase_build_output(struct mase_graph *g, struct mase_node *x)
{
    mase_build_call(g, MASE_OUTPUT, "output", MASE_ARGS(mase_arg_node(x)));
}
