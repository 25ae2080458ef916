/*
 * extract.c - a part of a graph as a graph of its own.
 */
#include <mase/meta.h>

#include "ir/graph/graph_parts.h"

struct extraction {
    const struct mase_graph *from;
    struct mase_graph *to;
    struct mase_arena scratch;
    struct mase_map kept; /* by name */
};

static bool is_kept(const struct extraction *x, const struct mase_node *n)
{
    return mase_map_get(&x->kept, n->name);
}

/* The output is made anew, whatever keep says of it. */
static void ask_all(struct extraction *x, mase_keep_fn *keep, void *data)
{
    for (const struct mase_node *n = x->from->first; n; n = n->next)
        if (n->kind != MASE_OUTPUT && keep(n, data))
            mase_map_put(&x->kept, n->name, (void *)n);
}

static bool has_user(const struct extraction *x, const struct mase_node *n, bool kept)
{
    for (int i = 0; i < n->user_count; i++)
        if (is_kept(x, n->users[i]) == kept)
            return true;
    return false;
}

/* What a value from outside is known to be: its result, no longer how it was made. */
static struct mase_meta *outside_meta(struct mase_graph *g, const struct mase_meta *src)
{
    struct mase_meta *m = mase_meta_copy(g, src);
    m->type = MASE_TYPE_PLACEHOLDER;
    m->op = MASE_OP_placeholder;
    m->arg_count = m->sw_arg_count = 0;
    m->has_software = false;
    m->hw = (struct mase_meta_hw){ 0 };
    return m;
}

static void add_inputs(struct extraction *x)
{
    for (const struct mase_node *n = x->from->first; n; n = n->next) {
        bool kept = is_kept(x, n);
        if (kept ? n->kind != MASE_PLACEHOLDER : !has_user(x, n, true))
            continue;
        if (kept) {
            struct mase_node *copy = mase_graph_copy_node(x->to, n);
            copy->meta = n->meta ? mase_meta_copy(x->to, n->meta) : NULL;
            continue;
        }
        struct mase_node *in =
            mase_graph_insert_exact(x->to, NULL, MASE_PLACEHOLDER, n->name, n->name, NULL, NULL);
        in->meta = n->meta ? outside_meta(x->to, n->meta) : NULL;
    }
}

static void add_kept(struct extraction *x)
{
    for (const struct mase_node *n = x->from->first; n; n = n->next) {
        if (!is_kept(x, n) || n->kind == MASE_PLACEHOLDER)
            continue;
        const struct mase_param *attr =
            n->kind == MASE_GET_ATTR ? mase_graph_attr(x->from, n->target) : NULL;
        if (attr && !mase_graph_attr(x->to, n->target))
            mase_graph_copy_attr(x->to, attr)->after = x->to->module_count;
        struct mase_node *copy = mase_graph_copy_node(x->to, n);
        copy->meta = n->meta ? mase_meta_copy(x->to, n->meta) : NULL;
    }
}

/* What the rest of the graph needs; if it needs nothing, the last kept node. */
static void add_output(struct extraction *x)
{
    struct mase_arg *out = mase_new_array(&x->scratch, struct mase_arg, x->kept.count + 1);
    int count = 0;

    for (const struct mase_node *n = x->from->first; n; n = n->next)
        if (is_kept(x, n) && has_user(x, n, false))
            out[count++] = mase_arg_node(mase_graph_find(x->to, n->name));
    if (!count && x->to->last)
        out[count++] = mase_arg_node(x->to->last);

    struct mase_arg tuple = mase_arg_seq(&x->scratch, MASE_ARG_TUPLE, out, count);
    struct mase_arg args =
        count == 1 ? tuple : mase_arg_seq(&x->scratch, MASE_ARG_TUPLE, &tuple, 1);
    mase_graph_insert(x->to, NULL, MASE_OUTPUT, "output", &args, NULL);
}

struct mase_graph *mase_graph_extract(const struct mase_graph *g, mase_keep_fn *keep, void *data)
{
    struct extraction x = { .from = g, .to = mase_graph_new(g->name) };

    x.kept.arena = &x.scratch;
    ask_all(&x, keep, data);
    for (const struct mase_module *m = g->modules; m; m = m->next)
        mase_graph_copy_module(x.to, m);
    add_inputs(&x);
    add_kept(&x);
    add_output(&x);
    mase_graph_sweep(x.to);
    mase_graph_settle_ties(x.to);
    x.to->weights = g->weights;
    x.to->weights_borrowed = g->weights;
    mase_arena_release(&x.scratch);
    return x.to;
}
