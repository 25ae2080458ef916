/*
 * sharing.c - does anything else use a module or its parameters?
 */
#include "pass/support.h"

int mase_module_calls(const struct mase_graph *g, const struct mase_module *m)
{
    int calls = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        calls += mase_node_module(n) == m;
    return calls;
}

struct sharing {
    const struct mase_graph *g;
    const struct mase_module *m;
    bool found;
};

static bool is_of(const struct mase_module *m, const struct mase_param *p)
{
    return p >= m->params && p < m->params + m->param_count;
}

/* Is the parameter tied to one of m's, or one of m's to it? */
static bool find_sharing(const char *full, struct mase_param *p, void *data)
{
    struct sharing *s = data;
    (void)full;
    if (p->tied)
        s->found |= is_of(s->m, p) || is_of(s->m, mase_param_root(s->g, p));
    return !s->found;
}

bool mase_module_is_shared(const struct mase_graph *g, const struct mase_module *m)
{
    struct sharing s = { g, m, false };
    mase_graph_each_param(g, find_sharing, &s);
    for (const struct mase_node *n = g->first; n && !s.found; n = n->next)
        s.found = n->kind == MASE_GET_ATTR && is_of(m, mase_graph_attr(g, n->target));
    return s.found;
}
