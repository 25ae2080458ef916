/*
 * follow.c - the network of a checkpoint: read its graph; compare a given graph with it, and copy
 * its number formats to a graph that has none.
 */
#include <mase/trained.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/log.h>

enum mase_status mase_checkpoint_need_graph(struct mase_graph **g, const char *path,
                                            struct mase_err *err)
{
    MASE_TRY(mase_checkpoint_graph(g, path, err));
    if (*g)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, path,
                        "holds weights without their network, as earlier versions wrote them: name "
                        "the network, and this file with --load");
}

static void copy_formats(struct mase_graph *g, const struct mase_graph *from)
{
    const struct mase_module *k = from->modules;
    for (struct mase_module *m = g->modules; m; m = m->next, k = k->next)
        mase_module_set_quant(g, m, k->quant);
    const struct mase_node *x = from->first;
    for (struct mase_node *n = g->first; n; n = n->next, x = x->next)
        if (n->kind == MASE_CALL_FUNCTION)
            mase_node_set_quant(n, x->quant);
}

/* Compare g with the trained network, and copy formats and learned numbers. */
static enum mase_status follow(struct mase_graph *g, const struct mase_graph *trained,
                               const char *path, struct mase_err *err)
{
    struct mase_str why = { 0 };
    enum mase_status st = MASE_OK;
    const bool same = mase_graph_same_network(g, trained, &why);
    const bool quantised = mase_graph_is_quantised(trained);
    if (!same && !quantised) {
        mase_warn("the weights of %s were trained in another network: %s", path,
                  mase_str_text(&why));
    } else if (!same || (quantised && mase_graph_is_quantised(g) &&
                         !mase_graph_same_formats(g, trained, &why))) {
        st =
            mase_fail_in(err, MASE_EVALUE, path,
                         "was trained quantised, in another network: %s; to use it name its run or "
                         "it as the model; ch convert takes its weights alone to a .safetensors "
                         "file",
                         mase_str_text(&why));
    } else if (quantised && !mase_graph_is_quantised(g)) {
        mase_info("%s was trained quantised: its number formats are used", path);
        copy_formats(g, trained);
    }
    if (!st && same)
        mase_graph_take_learned(g, trained);
    mase_str_release(&why);
    return st;
}

enum mase_status mase_checkpoint_follow(struct mase_graph *g, const char *path,
                                        struct mase_err *err)
{
    struct mase_graph *trained = NULL;
    enum mase_file_kind kind;
    if (!mase_is_file(path)) /* a stream can be read once only */
        return MASE_OK;
    MASE_TRY(mase_file_kind_find(&kind, path, err));
    if (kind != MASE_KIND_TORCH)
        return MASE_OK;
    MASE_TRY(mase_checkpoint_graph(&trained, path, err));
    const enum mase_status st = trained ? follow(g, trained, path, err) : MASE_OK;
    mase_graph_free(trained);
    return st;
}
