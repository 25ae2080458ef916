/*
 * edit.c - changing a network in its place, node by node.
 *
 * What is wrong with an edit is found on a clone first, so that a refused one changes nothing. What
 * can still fail then is memory: the network is given up in that case.
 */
#include "api/objects.h"

#include <string.h>

#include "base/alloc.h"

/* An edit of g, which is the network's graph or a clone of it. */
struct edit {
    struct mase_net *net;
    enum mase_status (*change)(struct mase_graph *g, struct edit *e, struct mase_err *err);
    const struct mase_node *node, *other; /* of the network */
    const char *text, *more;
    struct mase_node *added;
};

/* The node of g that n is in the network. */
static struct mase_node *twin(const struct mase_graph *g, const struct mase_node *n)
{
    return n ? mase_graph_find(g, n->name) : NULL;
}

static enum mase_status check_node(const struct mase_net *net, const struct mase_node *n,
                                   struct mase_err *err)
{
    if (!n || n->graph == net->graph)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "the node is none of this network's");
}

/* Is the graph that came of it a graph? It may have no output yet. */
static enum mase_status check_trial(struct mase_graph *g, struct mase_err *err)
{
    struct mase_str why = { 0 };
    enum mase_status st = MASE_OK;
    bool whole = false;
    for (const struct mase_node *n = g->first; n; n = n->next)
        whole |= n->kind == MASE_OUTPUT;
    if (g->training)
        mase_graph_refuse_training(g, "it was edited");
    if (mase_graph_verify(g, &why) > (whole ? 0 : 1))
        st = mase_fail(err, MASE_EVALUE, "%.*s", (int)strcspn(mase_str_text(&why), "\n"),
                       mase_str_text(&why));
    mase_str_release(&why);
    return st;
}

static enum mase_status carry_out(void *data, struct mase_err *err)
{
    struct edit *e = data;
    struct mase_net *net = e->net;
    MASE_TRY(mase_net_use(net, err));
    MASE_TRY(check_node(net, e->node, err));
    MASE_TRY(check_node(net, e->other, err));
    struct mase_graph *trial = mase_graph_clone(net->graph);
    enum mase_status st = e->change(trial, e, err);
    if (!st)
        st = check_trial(trial, err);
    mase_graph_free(trial);
    if (st)
        return st;
    net->broken = true; /* until all is done */
    MASE_TRY(e->change(net->graph, e, err));
    if (net->graph->training)
        mase_graph_refuse_training(net->graph, "it was edited, and what it computes in training "
                                               "is another graph");
    mase_graph_drop_props(net->graph, MASE_PROP_ALL);
    net->edits++;
    net->broken = false;
    return MASE_OK;
}

static enum mase_status edit(struct edit *e, struct mase_err *err)
{
    MASE_API_NEED(e->net, err);
    return mase_api_change(e->net, carry_out, e, err);
}

/* ---- the edits ---- */

static enum mase_status add(struct mase_graph *g, struct edit *e, struct mase_err *err)
{
    return mase_graph_add_mg(g, &e->added, twin(g, e->node), e->text, err);
}

enum mase_status mase_net_add(struct mase_net *net, const struct mase_node **added,
                              const struct mase_node *before, const char *statement,
                              struct mase_err *err)
{
    struct edit e = { .net = net, .change = add, .node = before, .text = statement };
    if (added)
        *added = NULL;
    MASE_API_NEED(statement, err);
    MASE_TRY(edit(&e, err));
    if (added)
        *added = e.added;
    return MASE_OK;
}

static enum mase_status set_args(struct mase_graph *g, struct edit *e, struct mase_err *err)
{
    struct mase_node *n = twin(g, e->node);
    struct mase_arena a = { 0 };
    struct mase_arg args = n->args, kwargs = n->kwargs;
    enum mase_status st = MASE_OK;
    if (e->text)
        st = mase_graph_parse_arg(&args, &a, g, e->text, err);
    if (!st && e->more)
        st = mase_graph_parse_arg(&kwargs, &a, g, e->more, err);
    if (!st)
        st = mase_node_check_args(n, &args, &kwargs, err);
    if (!st) {
        mase_node_set_args(n, &args, &kwargs);
        st = mase_node_check_order(n, err);
    }
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_net_set_args(struct mase_net *net, const struct mase_node *n,
                                   const char *args, const char *kwargs, struct mase_err *err)
{
    struct edit e = { .net = net, .change = set_args, .node = n, .text = args, .more = kwargs };
    MASE_API_NEED(n, err);
    return edit(&e, err);
}

static enum mase_status replace(struct mase_graph *g, struct edit *e, struct mase_err *err)
{
    struct mase_node *from = twin(g, e->node), *to = twin(g, e->other);
    mase_graph_replace_uses(g, from, to, to);
    for (int i = 0; i < to->user_count; i++)
        MASE_TRY(mase_node_check_order(to->users[i], err));
    return MASE_OK;
}

enum mase_status mase_net_replace(struct mase_net *net, const struct mase_node *from,
                                  const struct mase_node *to, struct mase_err *err)
{
    struct edit e = { .net = net, .change = replace, .node = from, .other = to };
    MASE_API_NEED(from, err);
    MASE_API_NEED(to, err);
    return edit(&e, err);
}

static enum mase_status erase(struct mase_graph *g, struct edit *e, struct mase_err *err)
{
    struct mase_node *n = twin(g, e->node);
    const struct mase_module *m = mase_node_module(n);
    if (n->user_count)
        return mase_fail(err, MASE_EVALUE, "%s has users, %s the first of them", n->name,
                         n->users[0]->name);
    mase_graph_erase(g, n);
    if (m)
        mase_graph_sweep_module(g, m->path);
    return MASE_OK;
}

enum mase_status mase_net_erase(struct mase_net *net, const struct mase_node *n,
                                struct mase_err *err)
{
    struct edit e = { .net = net, .change = erase, .node = n };
    MASE_API_NEED(n, err);
    return edit(&e, err);
}

/* ---- checking ---- */

static enum mase_status check(void *data, struct mase_err *err)
{
    const struct mase_net *net = data;
    struct mase_str why = { 0 };
    MASE_TRY(mase_net_use(net, err));
    const int faults = mase_graph_verify(net->graph, &why);
    if (why.len && why.data[why.len - 1] == '\n')
        mase_str_cut(&why, why.len - 1);
    const enum mase_status st =
        faults ? mase_fail(err, MASE_EVALUE, "%s", mase_str_text(&why)) : MASE_OK;
    mase_str_release(&why);
    return st;
}

enum mase_status mase_net_check(const struct mase_net *net, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    return mase_api_run(net->session, check, (void *)net, err);
}
