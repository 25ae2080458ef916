/*
 * boundary.c - find the nodes where data enters and leaves the computing part of a graph.
 *
 * nodes_in: from the placeholders along the users, past every implicit node (views, sizes,
 * constants). nodes_out: from the output backwards in the same way. What was passed over on the
 * way, the placeholders and the output itself are implicit to hardware: they cost nothing.
 */
#include "pass/support.h"

static bool is_implicit(const struct mase_node *n)
{
    return n->kind == MASE_PLACEHOLDER || n->kind == MASE_OUTPUT || n->kind == MASE_GET_ATTR ||
           n->meta->type == MASE_TYPE_IMPLICIT_FUNC;
}

struct boundary {
    struct mase_node **nodes;
    int count;
};

static void note(struct boundary *f, struct mase_node *n)
{
    for (int i = 0; i < f->count; i++)
        if (f->nodes[i] == n)
            return;
    f->nodes[f->count++] = n;
}

static enum mase_walk visit(struct mase_node *n, void *data)
{
    if (is_implicit(n)) {
        n->meta->hw.is_implicit = true;
        return MASE_WALK_ON;
    }
    note(data, n);
    return MASE_WALK_PRUNE;
}

static bool is_record_of_data(const struct mase_meta_arg *arg)
{
    return mase_starts_with(arg->name, "data_");
}

static struct mase_meta_arg *find(struct mase_meta_arg *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (mase_streq(list[i].name, name))
            return &list[i];
    return NULL;
}

/* Collect the data records of the nodes; of two with one name the later is kept. */
static int collect(struct mase_graph *g, struct mase_meta_arg **out, const struct boundary *f,
                   bool results)
{
    struct mase_meta_arg *list = NULL;
    int count = 0, cap = 0;
    for (int i = 0; i < f->count; i++) {
        const struct mase_meta *m = f->nodes[i]->meta;
        const struct mase_meta_arg *from = results ? m->results : m->args;
        for (int k = 0; k < (results ? m->result_count : m->arg_count); k++) {
            if (!is_record_of_data(&from[k]))
                continue;
            struct mase_meta_arg *slot = find(list, count, from[k].name);
            if (!slot) {
                list = mase_arena_grow(&g->arena, list, count, &cap, sizeof *list);
                slot = &list[count++];
            }
            *slot = from[k];
        }
    }
    *out = list;
    return count;
}

void mase_meta_boundary(struct mase_graph *g)
{
    struct boundary in = { mase_new_array(&g->arena, struct mase_node *, (size_t)g->node_count),
                           0 };
    struct boundary out = { mase_new_array(&g->arena, struct mase_node *, (size_t)g->node_count),
                            0 };
    for (struct mase_node *n = g->first; n; n = n->next) {
        if (n->kind == MASE_PLACEHOLDER)
            mase_walk_forward(n, visit, &in);
        if (n->kind == MASE_OUTPUT)
            mase_walk_backward(n, visit, &out);
    }
    struct mase_meta *m = g->meta;
    m->nodes_in = in.nodes;
    m->nodes_in_count = in.count;
    m->nodes_out = out.nodes;
    m->nodes_out_count = out.count;
    m->arg_count = collect(g, &m->args, &in, false);
    m->result_count = collect(g, &m->results, &out, true);
}
