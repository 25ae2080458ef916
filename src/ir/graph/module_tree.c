/*
 * module_tree.c - the walk through containers, leaf modules and attributes.
 */
#include <string.h>

#include "ir/graph/graph_parts.h"
#include "ir/graph/module_tree.h"

struct leaf {
    struct mase_param *param;
    struct leaf *next;
};

struct branch {
    const struct mase_module *module;
    struct leaf *attrs, **attrs_end;
    struct branch *first, *last, *next;
};

struct tree {
    struct mase_arena arena;
    struct mase_map branches; /* by path */
    struct branch root;
};

/* The branch at a path of n characters, its containers made on the way. */
static struct branch *branch_at(struct tree *t, const char *path, size_t n)
{
    if (!n)
        return &t->root;
    const char *key = mase_arena_strndup(&t->arena, path, n);
    struct branch *b = mase_map_get(&t->branches, key);
    if (b)
        return b;

    const char *dot = strrchr(key, '.');
    struct branch *parent = branch_at(t, path, dot ? (size_t)(dot - key) : 0);
    b = mase_new(&t->arena, struct branch);
    *(parent->last ? &parent->last->next : &parent->first) = b;
    parent->last = b;
    mase_map_put(&t->branches, key, b);
    return b;
}

static void add_attr(struct tree *t, struct mase_param *p)
{
    const char *dot = strrchr(p->name, '.');
    struct branch *b = branch_at(t, p->name, dot ? (size_t)(dot - p->name) : 0);
    struct leaf *leaf = mase_new(&t->arena, struct leaf);

    leaf->param = p;
    if (!b->attrs_end)
        b->attrs_end = &b->attrs;
    *b->attrs_end = leaf;
    b->attrs_end = &leaf->next;
}

static void make_tree(struct tree *t, const struct mase_graph *g)
{
    t->branches.arena = &t->arena;
    for (struct mase_registered r = { 0 }; mase_graph_next_registered(g, &r);)
        if (r.module)
            branch_at(t, r.module->path, strlen(r.module->path))->module = r.module;
        else
            add_attr(t, r.attr);
}

/* ---- visiting ---- */

struct visit {
    mase_tree_fn *fn;
    void *data;
    struct mase_str name;
};

static bool visit_module(struct visit *v, const struct mase_module *m)
{
    for (int i = 0; i < m->param_count; i++) {
        mase_str_clear(&v->name);
        mase_str_printf(&v->name, "%s.%s", m->path, m->params[i].name);
        if (!v->fn(mase_str_text(&v->name), &m->params[i], m, v->data))
            return false;
    }
    return true;
}

static bool visit_attrs(struct visit *v, const struct branch *b, bool buffers)
{
    for (const struct leaf *l = b->attrs; l; l = l->next)
        if (mase_param_is_buffer(l->param) == buffers &&
            !v->fn(l->param->name, l->param, NULL, v->data))
            return false;
    return true;
}

static bool visit_branch(struct visit *v, const struct branch *b)
{
    if (b->module && !visit_module(v, b->module))
        return false;
    if (!visit_attrs(v, b, false) || !visit_attrs(v, b, true))
        return false;
    for (const struct branch *child = b->first; child; child = child->next)
        if (!visit_branch(v, child))
            return false;
    return true;
}

void mase_tree_walk(const struct mase_graph *g, mase_tree_fn *fn, void *data)
{
    struct tree tree = { 0 };
    struct visit visit = { .fn = fn, .data = data };

    make_tree(&tree, g);
    visit_branch(&visit, &tree.root);
    mase_str_release(&visit.name);
    mase_arena_release(&tree.arena);
}
