/*
 * training_graph.c - a network that is another while it is trained: two graphs, one set of
 * parameters.
 *
 * The graph that is evaluated owns the other (graph->training), and both have the same parameters
 * by name. Passes see the first.
 */
#include "base/alloc.h"
#include "ir/graph/graph_parts.h"

const char *const mase_mode_names[] = {
    [MASE_MODE_FOLLOWS] = "follows",
    [MASE_MODE_EVAL] = "eval",
    [MASE_MODE_TRAIN] = "train",
};

/* ---- do they agree? ---- */

struct comparing {
    struct mase_arena arena;
    const char **name;
    const struct mase_param **param;
    int count, cap, at;
    const char *differs;
};

/* Constants are numbers of the code, of which each graph has its own. */
static bool list_param(const char *full, struct mase_param *p, void *data)
{
    struct comparing *c = data;
    int cap = c->cap;
    if (p->kind == MASE_PARAM_CONSTANT)
        return true;
    c->name = mase_arena_grow(&c->arena, c->name, c->count, &cap, sizeof *c->name);
    c->param = mase_arena_grow(&c->arena, c->param, c->count, &c->cap, sizeof *c->param);
    c->name[c->count] = mase_arena_strdup(&c->arena, full);
    c->param[c->count++] = p;
    return true;
}

static bool same_param(const struct mase_param *a, const struct mase_param *b)
{
    return mase_param_is_buffer(a) == mase_param_is_buffer(b) &&
           mase_param_is_trained(a) == mase_param_is_trained(b) && mase_streq(a->tied, b->tied) &&
           a->tensor.dtype == b->tensor.dtype &&
           mase_shape_equal(&a->tensor.shape, &b->tensor.shape);
}

static bool compare_param(const char *full, struct mase_param *p, void *data)
{
    struct comparing *c = data;
    if (p->kind == MASE_PARAM_CONSTANT)
        return true;
    if (c->at == c->count || !mase_streq(c->name[c->at], full) || !same_param(c->param[c->at], p)) {
        c->differs = mase_arena_strdup(&c->arena, full);
        return false;
    }
    c->at++;
    return true;
}

static const struct mase_node *next_input(const struct mase_node *n)
{
    while (n && n->kind != MASE_PLACEHOLDER)
        n = n->next;
    return n;
}

/* Do both take the same inputs? */
static bool same_inputs(const struct mase_graph *a, const struct mase_graph *b)
{
    const struct mase_node *n = next_input(a->first), *m = next_input(b->first);
    while (n && m && mase_streq(n->name, m->name)) {
        n = next_input(n->next);
        m = next_input(m->next);
    }
    return !n && !m;
}

enum mase_status mase_graph_set_training(struct mase_graph *g, struct mase_graph *training,
                                         struct mase_err *err)
{
    struct comparing c = { 0 };
    enum mase_status st = MASE_OK;
    mase_graph_free(g->training);
    g->training = training;
    mase_arena_give_to_arena(&training->arena, &g->arena); /* which may be older than this call */
    mase_graph_each_param(g, list_param, &c);
    mase_graph_each_param(training, compare_param, &c);
    if (!c.differs && c.at < c.count)
        c.differs = c.name[c.at];
    if (c.differs)
        st = mase_fail(err, MASE_EVALUE, "'%s' is another parameter while the network is trained",
                       c.differs);
    else if (!same_inputs(g, training))
        st = mase_fail(err, MASE_EVALUE, "the network has other inputs while it is trained");
    mase_arena_release(&c.arena);
    g->edits++;
    return st;
}

void mase_graph_refuse_training(struct mase_graph *g, const char *why)
{
    mase_graph_free(g->training);
    g->training = NULL;
    g->untrainable = mase_arena_strdup(&g->arena, why);
}

/* ---- one set of weights ---- */

static bool share(const char *full, struct mase_param *p, void *data)
{
    if (p->kind != MASE_PARAM_CONSTANT)
        p->tensor.data = mase_graph_attr(data, full)->tensor.data;
    return true;
}

enum mase_status mase_graph_to_train(struct mase_graph **out, struct mase_graph *g,
                                     struct mase_err *err)
{
    *out = g;
    if (g->untrainable)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s", g->untrainable);
    if (!g->training)
        return MASE_OK;
    *out = g->training;
    mase_graph_each_param(g->training, share, g);
    mase_graph_alloc(g->training);
    mase_graph_init_constants(g->training);
    return MASE_OK;
}
