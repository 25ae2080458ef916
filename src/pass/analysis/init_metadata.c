/*
 * init_metadata.c - fresh, empty metadata for every node and for the graph.
 */
#include "pass/support.h"

static enum mase_status run(const struct mase_graph *graph, const void *opts,
                            struct mase_pass_env *env, struct mase_err *err)
{
    (void)opts, (void)env, (void)err;
    struct mase_graph *g = mase_side_tables(graph);
    g->meta = mase_new(&g->arena, struct mase_meta);
    for (struct mase_node *n = g->first; n; n = n->next) {
        n->meta = mase_new(&g->arena, struct mase_meta);
        n->meta->op = n->op;
        n->meta->type = mase_node_op_type(n);
    }
    return MASE_OK;
}

const struct mase_pass mase_pass_init_metadata = {
    .name = "init_metadata",
    .help = "give every node fresh, empty metadata; what was there is lost",
    .drops = MASE_PROP_ALL,
    .gives = MASE_PROP_META,
    .analyse = run,
};
