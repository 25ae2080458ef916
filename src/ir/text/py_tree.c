/*
 * py_tree.c - the attributes of a class for PyTorch (py.h).
 *
 * The paths of modules and parameters, cut at their dots, are a tree. Children that are numbered
 * from 0 make a list; any other inner node of the tree is a bare module with attributes. Buffers
 * follow as statements, since an expression cannot register them, and so do second names of
 * parameters and layers, which are assigned after all attributes exist.
 */
#include "ir/text/py.h"

#include <string.h>

#include <mase/value.h>

#include "base/number.h"
#include "ir/text/arg.h"

/* ---- the tree ---- */

static struct mase_py_part *add_child(struct mase_py_parts *t, struct mase_py_part *p,
                                      const char *path)
{
    struct mase_py_part *c = mase_new(t->arena, struct mase_py_part);
    const char *dot = strrchr(path, '.');
    c->name = dot ? dot + 1 : path;
    c->parent = p;
    if (p->last)
        p->last->next = c;
    else
        p->first = c;
    p->last = c;
    mase_map_put(&t->by_path, path, c);
    return c;
}

/* The place of a dotted path of n letters, made if it is not there. */
static struct mase_py_part *place(struct mase_py_parts *t, const char *path, size_t n)
{
    if (!n)
        return &t->root;
    const char *key = mase_arena_strndup(t->arena, path, n);
    struct mase_py_part *p = mase_map_get(&t->by_path, key);
    if (p)
        return p;
    const char *dot = strrchr(key, '.');
    return add_child(t, place(t, path, dot ? (size_t)(dot - key) : 0), key);
}

/* Layers that a node keeps in one mode. */
static void note_pinned(struct mase_py_parts *t, const struct mase_graph *g)
{
    for (const struct mase_node *n = g ? g->first : NULL; n; n = n->next)
        if (n->kind == MASE_CALL_MODULE && n->mode != MASE_MODE_FOLLOWS)
            place(t, n->target, strlen(n->target))->pinned = true;
}

/* The layer whose parameters and buffers, all of them and no others, p has as second names. */
static const struct mase_module *same_layer(const struct mase_py_part *p,
                                            const struct mase_graph *g)
{
    const char *tied = p->first && p->first->param ? p->first->param->tied : NULL;
    const char *dot = tied ? strrchr(tied, '.') : NULL;
    struct mase_str text = { 0 };
    if (dot)
        mase_str_addn(&text, tied, (size_t)(dot - tied));
    const struct mase_module *m = dot ? mase_graph_module(g, mase_str_text(&text)) : NULL;
    int count = 0;
    for (const struct mase_py_part *c = p->first; c && m; c = c->next, count++) {
        mase_str_clear(&text);
        mase_str_printf(&text, "%s.%s", m->path, c->name);
        if (!c->param || !mase_streq(c->param->tied, mase_str_text(&text)))
            m = NULL;
    }
    mase_str_release(&text);
    return m && m->param_count == count ? m : NULL;
}

static void note_places(struct mase_py_part *p, const struct mase_graph *g)
{
    p->same = p->parent && !p->module && !p->param ? same_layer(p, g) : NULL;
    for (struct mase_py_part *c = p->first; c; c = c->next)
        note_places(c, g);
}

void mase_py_tree(struct mase_py_parts *t, const struct mase_graph *g)
{
    const struct mase_graph *training = g->training;
    for (struct mase_registered r = { 0 }; mase_graph_next_registered(g, &r);)
        if (r.module)
            place(t, r.module->path, strlen(r.module->path))->module = r.module;
        else
            place(t, r.attr->name, strlen(r.attr->name))->param = r.attr;
    note_places(&t->root, g);
    for (int i = 0; training && i < training->attr_count; i++) {
        const struct mase_param *param = &training->attrs[i];
        struct mase_py_part *p = place(t, param->name, strlen(param->name));
        if (!p->param && !p->module) /* a constant of training alone */
            p->param = param;
    }
    note_pinned(t, g);
    note_pinned(t, training);
}

/* The outermost layer around p, or p itself. */
static const struct mase_py_part *outermost(const struct mase_py_part *p)
{
    const struct mase_py_part *found = p;
    for (; p; p = p->parent)
        found = p->module ? p : found;
    return found;
}

static const char *behind(const char *path, const struct mase_py_part *p)
{
    for (; p->parent; p = p->parent) {
        const char *dot = strchr(path, '.');
        path = dot ? dot + 1 : "";
    }
    return path;
}

const struct mase_py_part *mase_py_find(const struct mase_py_parts *t, const char *path,
                                        const char **rest)
{
    const struct mase_py_part *p = mase_map_get(&t->by_path, path);
    const char *dot = strrchr(path, '.');
    if (!p && dot) {
        struct mase_str owner = { 0 };
        mase_str_addn(&owner, path, (size_t)(dot - path));
        p = mase_map_get(&t->by_path, mase_str_text(&owner));
        mase_str_release(&owner);
        p = p && outermost(p)->module ? p : NULL;
    }
    if (!p)
        return NULL;
    p = outermost(p);
    *rest = behind(path, p);
    return p;
}

bool mase_py_is_there(const struct mase_py_parts *t, const struct mase_node *n)
{
    const char *rest;
    const struct mase_py_part *p = mase_py_find(t, n->target, &rest);
    if (!p || n->kind == MASE_CALL_MODULE)
        return p && p->module && !*rest;
    return p->param || (p->module && mase_module_param(p->module, rest));
}

/* ---- names ---- */

static bool is_identifier(const char *s)
{
    if (!mase_is_alpha(*s) && *s != '_')
        return false;
    for (; *s; s++)
        if (!mase_is_alnum(*s) && *s != '_')
            return false;
    return true;
}

/* The words that cannot be names. */
static bool is_keyword(const char *s)
{
    static const char words[] =
        " False None True and as assert async await break class continue def del elif else except "
        "finally for from global if import in is lambda nonlocal not or pass raise return try "
        "while with yield ";
    const size_t n = strlen(s);
    for (const char *at = words; (at = strstr(at, s)); at += n)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

bool mase_py_is_name(const char *s)
{
    return is_identifier(s) && !is_keyword(s);
}

void mase_py_string(struct mase_str *out, const char *s)
{
    mase_repr_string(out, s, strlen(s));
}

/* Are the children numbered from 0, and all parameters or all modules? */
static bool is_list(const struct mase_py_part *p)
{
    int i = 0;
    const bool params = p->first && p->first->param;
    for (const struct mase_py_part *c = p->first; c; c = c->next, i++) {
        char number[16];
        mase_snprintf(number, sizeof number, "%d", i);
        if (!mase_streq(c->name, number) || (c->param != NULL) != params ||
            (params && mase_param_is_buffer(c->param)))
            return false;
    }
    return p->parent && i > 0;
}

/* self.blocks[0].fc */
static void add_place(struct mase_str *out, const struct mase_py_part *p)
{
    if (!p->parent) {
        mase_str_add(out, "self");
        return;
    }
    if (is_list(p->parent)) {
        add_place(out, p->parent);
        mase_str_printf(out, "[%s]", p->name);
    } else if (mase_py_is_name(p->name)) {
        add_place(out, p->parent);
        mase_str_printf(out, ".%s", p->name);
    } else {
        mase_str_add(out, "getattr(");
        add_place(out, p->parent);
        mase_str_add(out, ", ");
        mase_py_string(out, p->name);
        mase_str_addc(out, ')');
    }
}

void mase_py_path(struct mase_str *out, const struct mase_py_parts *t, const char *path)
{
    const char *rest;
    add_place(out, mase_py_find(t, path, &rest));
    if (*rest)
        mase_str_printf(out, ".%s", rest);
}

/* ---- what a class holds ---- */

static void add_layer(struct mase_str *out, const struct mase_module *m)
{
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    const char *sep = "";
    mase_str_printf(out, "nn.%s(", mase_ops[m->op].module);
    for (int i = 0; i < sig->count; i++) {
        if (mase_module_attr_is_default(m, i))
            continue;
        mase_str_printf(out, "%s%s=", sep, sig->param[i].name);
        mase_arg_write(out, &m->attrs[i], MASE_ARG_PY);
        sep = ", ";
    }
    mase_str_addc(out, ')');
}

static void add_shape(struct mase_str *out, const struct mase_param *p)
{
    mase_str_add(out, p->tensor.shape.rank ? "(" : "(()"); /* of a single number */
    for (int i = 0; i < p->tensor.shape.rank; i++)
        mase_str_printf(out, "%lld,%s", (long long)p->tensor.shape.dim[i],
                        i + 1 < p->tensor.shape.rank ? " " : "");
    mase_str_addc(out, ')');
}

static void add_values(struct mase_str *out, const struct mase_param *p)
{
    mase_str_add(out, "torch.tensor([");
    for (int64_t i = 0, n = mase_tensor_count(&p->tensor); i < n; i++) {
        mase_str_add(out, i ? ", " : "");
        mase_repr_float(out, p->values[i]);
    }
    mase_str_printf(out, "], dtype=%s).reshape", mase_dtypes[p->tensor.dtype].torch);
    add_shape(out, p);
}

static void add_random(struct mase_str *out, const struct mase_param *p)
{
    const bool normal = p->init == MASE_INIT_NORMAL;
    if (!normal && p->scale == 0) { /* a single number, which integers may be, too */
        mase_str_add(out, ".fill_(");
        mase_repr_float(out, (double)p->centre);
        mase_str_addc(out, ')');
        return;
    }
    mase_str_add(out, normal ? ".normal_(" : ".uniform_(");
    mase_repr_float(out, normal ? (double)p->centre : (double)p->centre - (double)p->scale);
    mase_str_add(out, ", ");
    mase_repr_float(out, normal ? (double)p->scale : (double)p->centre + (double)p->scale);
    mase_str_addc(out, ')');
}

/* A tensor as it is before training. */
static void add_tensor(struct mase_str *out, const struct mase_param *p)
{
    if (p->init == MASE_INIT_VALUES) {
        add_values(out, p);
        return;
    }
    mase_str_printf(out, "torch.%s(", p->init == MASE_INIT_ONES ? "ones" : "zeros");
    add_shape(out, p);
    if (p->tensor.dtype != MASE_F32)
        mase_str_printf(out, ", dtype=%s", mase_dtypes[p->tensor.dtype].torch);
    mase_str_addc(out, ')');
    if (p->init == MASE_INIT_UNIFORM || p->init == MASE_INIT_NORMAL)
        add_random(out, p);
}

static void new_line(struct mase_str *out, int depth)
{
    mase_str_addc(out, '\n');
    for (int i = 0; i < depth; i++)
        mase_str_add(out, "    ");
}

static bool is_registered_later(const struct mase_py_part *p)
{
    return p->param && mase_param_is_buffer(p->param);
}

/* The first name of p if p is tied, or NULL. */
static const char *first_name(const struct mase_py_part *p)
{
    return p->same ? p->same->path : p->param ? p->param->tied : NULL;
}

/* The class itself may name what it has above; inside of an expression that is not there yet. */
static bool is_named_at_once(const struct mase_py_part *p)
{
    return first_name(p) && !p->parent->parent;
}

static void add_part(struct mase_str *out, const struct mase_py_parts *t,
                     const struct mase_py_part *p, int depth);

/* _part(**{'a': ..., 'b': ...}), or a list of them. */
static void add_children(struct mase_str *out, const struct mase_py_parts *t,
                         const struct mase_py_part *p, int depth)
{
    const bool list = is_list(p);
    mase_str_add(out, !list             ? "_part(**{"
                      : p->first->param ? "nn.ParameterList(["
                                        : "nn.ModuleList([");
    int count = 0;
    for (const struct mase_py_part *c = p->first; c; c = c->next) {
        if (is_registered_later(c))
            continue;
        count++;
        new_line(out, depth + 1);
        if (!list) {
            mase_py_string(out, c->name);
            mase_str_add(out, ": ");
        }
        add_part(out, t, c, depth + 1);
        mase_str_addc(out, ',');
    }
    if (count)
        new_line(out, depth);
    mase_str_add(out, list ? "])" : "})");
}

static void add_part(struct mase_str *out, const struct mase_py_parts *t,
                     const struct mase_py_part *p, int depth)
{
    if (p->module) {
        add_layer(out, p->module);
    } else if (is_named_at_once(p)) {
        mase_py_path(out, t, first_name(p));
    } else if (p->same) {
        mase_str_add(out, "nn.Identity()"); /* until add_seconds */
    } else if (p->param) {
        mase_str_add(out, "nn.Parameter(");
        add_tensor(out, p->param);
        mase_str_add(out, p->param->kind == MASE_PARAM_FROZEN ? ", requires_grad=False)" : ")");
    } else {
        add_children(out, t, p, depth);
    }
}

static void add_fields(struct mase_str *out, const struct mase_py_parts *t)
{
    for (const struct mase_py_part *c = t->root.first; c; c = c->next) {
        if (is_registered_later(c))
            continue;
        new_line(out, 2);
        if (mase_py_is_name(c->name)) {
            mase_str_printf(out, "self.%s = ", c->name);
            add_part(out, t, c, 2);
        } else {
            mase_str_add(out, c->param ? "self.register_parameter(" : "self.add_module(");
            mase_py_string(out, c->name);
            mase_str_add(out, ", ");
            add_part(out, t, c, 2);
            mase_str_addc(out, ')');
        }
    }
}

/* self.blocks[1] = self.blocks[0] */
static void add_second(struct mase_str *out, const struct mase_py_parts *t,
                       const struct mase_py_part *p)
{
    const bool plain = is_list(p->parent) || mase_py_is_name(p->name);
    new_line(out, 2);
    if (plain) {
        add_place(out, p);
        mase_str_add(out, " = ");
    } else {
        mase_str_add(out, "setattr(");
        add_place(out, p->parent);
        mase_str_add(out, ", ");
        mase_py_string(out, p->name);
        mase_str_add(out, ", ");
    }
    mase_py_path(out, t, first_name(p));
    mase_str_add(out, plain ? "" : ")");
}

/* Second names of what is there by now. */
static void add_seconds(struct mase_str *out, const struct mase_py_parts *t,
                        const struct mase_py_part *p)
{
    for (int i = 0; p->module && i < p->module->param_count; i++) {
        const struct mase_param *param = &p->module->params[i];
        if (!param->tied)
            continue;
        new_line(out, 2);
        add_place(out, p);
        mase_str_printf(out, ".%s = ", param->name);
        mase_py_path(out, t, param->tied);
    }
    if (p->parent && first_name(p) && !is_named_at_once(p) && !is_registered_later(p))
        add_second(out, t, p);
    for (const struct mase_py_part *c = p->same ? NULL : p->first; c; c = c->next)
        add_seconds(out, t, c);
}

/* A constant is an attribute like any other; a buffer belongs to the state. */
static void add_buffers(struct mase_str *out, const struct mase_py_parts *t,
                        const struct mase_py_part *p)
{
    for (const struct mase_py_part *c = p->same ? NULL : p->first; c; c = c->next)
        add_buffers(out, t, c);
    if (!is_registered_later(p))
        return;
    new_line(out, 2);
    if (p->param->kind == MASE_PARAM_CONSTANT && mase_py_is_name(p->name)) {
        add_place(out, p);
        mase_str_add(out, " = ");
        add_tensor(out, p->param);
        return;
    }
    add_place(out, p->parent);
    mase_str_add(out, ".register_buffer(");
    mase_py_string(out, p->name);
    mase_str_add(out, ", ");
    if (p->param->tied)
        mase_py_path(out, t, p->param->tied);
    else
        add_tensor(out, p->param);
    mase_str_add(out, p->param->kind == MASE_PARAM_CONSTANT ? ", persistent=False)" : ")");
}

/* Parameters of layers that do not start as PyTorch's would. */
static void add_starts(struct mase_str *out, const struct mase_py_parts *t,
                       const struct mase_module *m)
{
    static const char *const how[] = { [MASE_INIT_ZEROS] = "zeros_",
                                       [MASE_INIT_ONES] = "ones_",
                                       [MASE_INIT_UNIFORM] = "uniform_",
                                       [MASE_INIT_NORMAL] = "normal_" };
    struct mase_arena scratch = { 0 };
    struct mase_module plain = { .path = m->path, .op = m->op, .attrs = m->attrs };
    if (mase_params_make(&plain, &scratch, NULL))
        mase_bug("module %s: its attributes do not make it again", m->path);
    for (int i = 0; i < m->param_count; i++) {
        const struct mase_param *p = &m->params[i], *d = &plain.params[i];
        if (p->tied || mase_param_starts_as(p, d) || p->init == MASE_INIT_VALUES)
            continue;
        new_line(out, 2);
        mase_str_printf(out, "nn.init.%s(", how[p->init]);
        mase_py_path(out, t, m->path);
        mase_str_printf(out, ".%s", p->name);
        if (p->init >= MASE_INIT_UNIFORM) {
            const bool normal = p->init == MASE_INIT_NORMAL;
            const double centre = p->centre, scale = p->scale;
            mase_str_add(out, ", ");
            mase_repr_float(out, normal ? centre : centre - scale);
            mase_str_add(out, ", ");
            mase_repr_float(out, normal ? scale : centre + scale);
        }
        mase_str_addc(out, ')');
    }
    mase_arena_release(&scratch);
}

/* fc.weight.requires_grad_(False), or fc.requires_grad_(False) when that says it all. */
static void add_frozen(struct mase_str *out, const struct mase_py_parts *t,
                       const struct mase_module *m)
{
    int params = 0, frozen = 0;
    for (int i = 0; i < m->param_count; i++) {
        params += !mase_param_is_buffer(&m->params[i]);
        frozen += m->params[i].kind == MASE_PARAM_FROZEN;
    }
    for (int i = 0; i < m->param_count && frozen; i++) {
        if (m->params[i].kind != MASE_PARAM_FROZEN)
            continue;
        new_line(out, 2);
        mase_py_path(out, t, m->path);
        if (frozen < params)
            mase_str_printf(out, ".%s", m->params[i].name);
        mase_str_add(out, ".requires_grad_(False)");
        if (frozen == params)
            return;
    }
}

static bool has_inner(const struct mase_py_part *p, bool root)
{
    if (p->same)
        return false;
    if (!root && !p->module && !p->param && !is_list(p))
        return true;
    for (const struct mase_py_part *c = p->first; c; c = c->next)
        if (has_inner(c, false))
            return true;
    return false;
}

bool mase_py_has_parts(const struct mase_py_parts *t)
{
    return has_inner(&t->root, true);
}

void mase_py_content(struct mase_str *out, const struct mase_py_parts *t,
                     const struct mase_graph *g)
{
    add_fields(out, t);
    add_seconds(out, t, &t->root);
    add_buffers(out, t, &t->root);
    for (const struct mase_module *m = g->modules; m; m = m->next)
        add_starts(out, t, m);
    for (const struct mase_module *m = g->modules; m; m = m->next)
        add_frozen(out, t, m);
}
