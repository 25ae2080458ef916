/*
 * tie.c - parameters under several names (head.weight = embed.weight, a module in two places).
 *
 * Every name is a mase_param of its own, in a module or in the graph, and all share one memory. The
 * first name in the order of the state dict is the parameter: it is initialised, counted, trained
 * and numbered. The others are tied: they hold its name.
 *
 * While names are being tied, a tie may lead to another tied name; mase_graph_settle_ties makes
 * every tie point at the parameter.
 */
#include "ir/graph/graph_parts.h"
#include "ir/graph/module_tree.h"

struct mase_param *mase_param_root(const struct mase_graph *g, const struct mase_param *p)
{
    return p->tied ? mase_graph_attr(g, p->tied) : (struct mase_param *)p;
}

/* The name at the end of the ties that begin at path; they are shortened on the way. */
static const char *last_name(const struct mase_graph *g, const char *path)
{
    struct mase_param *p = mase_graph_attr(g, path);
    while (p && p->tied) {
        struct mase_param *next = mase_graph_attr(g, p->tied);
        path = p->tied;
        if (next && next->tied)
            p->tied = next->tied;
        p = next;
    }
    return path;
}

/* ---- which name is the first ---- */

struct name {
    struct mase_param *param;
    const char *full, *group;
};

struct settling {
    struct mase_graph *g;
    struct mase_arena scratch;
    struct name *name;
    int count, cap;
    bool any;
};

static bool list(const char *full, struct mase_param *p, const struct mase_module *m, void *data)
{
    struct settling *s = data;
    (void)m;
    s->any |= p->tied != NULL;
    s->name = mase_arena_grow(&s->scratch, s->name, s->count, &s->cap, sizeof *s->name);
    const char *name = mase_intern(&s->g->intern, full);
    s->name[s->count++] = (struct name){ p, name, p->tied ? last_name(s->g, p->tied) : name };
    return true;
}

/* Give p the memory, kind and initial values of the parameter that it is tied to. */
static void start_as(struct mase_param *p, const struct mase_param *root)
{
    p->tensor.data = root->tensor.data;
    if (!mase_param_is_buffer(root))
        p->kind = root->kind;
    p->init = root->init;
    p->scale = root->scale;
    p->centre = root->centre;
    p->values = root->values;
    p->zero_row = root->zero_row;
}

void mase_graph_settle_ties(struct mase_graph *g)
{
    struct settling s = { .g = g };
    struct mase_map first = { .arena = &s.scratch };
    mase_tree_walk(g, list, &s);
    for (int i = 0; s.any && i < s.count; i++) {
        const struct mase_param *root = mase_graph_attr(g, s.name[i].group);
        if (root) /* else it is gone, and its names have been settled before */
            start_as(s.name[i].param, root);
    }
    for (int i = 0; s.any && i < s.count; i++) {
        const struct name *n = &s.name[i];
        n->param->tied = mase_map_get(&first, n->group);
        if (!n->param->tied)
            mase_map_put(&first, n->group, (void *)n->full);
    }
    mase_arena_release(&s.scratch);
}

/* ---- tying ---- */

static void print_type(struct mase_str *out, const struct mase_tensor *t)
{
    mase_str_add(out, mase_dtypes[t->dtype].name);
    mase_shape_print(out, &t->shape);
}

static enum mase_status check_types(const char *path, const struct mase_param *p, const char *to,
                                    const struct mase_param *root, struct mase_err *err)
{
    if (p->tensor.dtype == root->tensor.dtype &&
        mase_shape_equal(&p->tensor.shape, &root->tensor.shape))
        return MASE_OK;
    struct mase_str own = { 0 }, other = { 0 };
    print_type(&own, &p->tensor);
    print_type(&other, &root->tensor);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "'%s' is %s and cannot be tied to '%s', which is %s", path,
                  mase_str_text(&own), to, mase_str_text(&other));
    mase_str_release(&own);
    mase_str_release(&other);
    return st;
}

static enum mase_status check(const char *path, const struct mase_param *p, const char *to,
                              const struct mase_param *root, struct mase_err *err)
{
    if (!p || !root)
        return mase_fail(err, MASE_EVALUE, "there is no parameter '%s'", p ? to : path);
    if (p == root)
        return mase_fail(err, MASE_EVALUE, "'%s' is tied to itself", path);
    if (p->kind == MASE_PARAM_CONSTANT || root->kind == MASE_PARAM_CONSTANT ||
        mase_param_is_buffer(p) != mase_param_is_buffer(root))
        return mase_fail(err, MASE_EVALUE,
                         "'%s' cannot be tied to '%s': both must be parameters, or both buffers",
                         path, to);
    if (p->kind == MASE_PARAM_FROZEN && root->kind != MASE_PARAM_FROZEN)
        return mase_fail(err, MASE_EVALUE, "'%s' is frozen, and '%s', to which it is tied, is not",
                         path, to);
    return check_types(path, p, to, root, err);
}

enum mase_status mase_graph_add_tie(struct mase_graph *g, const char *path, const char *to,
                                    struct mase_err *err)
{
    const char *from = last_name(g, path), *root = last_name(g, to);
    struct mase_param *p = mase_graph_attr(g, from);
    MASE_TRY(check(path, p, to, mase_graph_attr(g, root), err));
    p->tied = mase_intern(&g->intern, root);
    g->edits++;
    return MASE_OK;
}

enum mase_status mase_graph_tie(struct mase_graph *g, const char *path, const char *to,
                                struct mase_err *err)
{
    MASE_TRY(mase_graph_add_tie(g, path, to, err));
    mase_graph_settle_ties(g);
    return MASE_OK;
}
