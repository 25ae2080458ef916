/*
 * py_print.c - writes a graph as a class for PyTorch, whose tracing gives the graph again.
 *
 * What the class holds is a tree: the paths of modules and parameters, cut at their dots. Children
 * that are numbered from 0 make a list; any other inner node of the tree is a bare module, which
 * only holds what it is given. Buffers follow one by one, since an expression cannot register them.
 */
#include <ctype.h>
#include <string.h>

#include <mase/value.h>

#include "ir/arg.h"
#include "ir/graph.h"

/* ---- the tree ---- */

struct part {
    const char *name;
    const struct mase_module *module; /* a leaf: a layer */
    const struct mase_param *param;   /* a leaf: a parameter, buffer or constant */
    struct part *first, *last, *next; /* children, in order of registration */
    const struct part *parent;
};

struct parts {
    struct mase_arena *arena;
    struct mase_map by_path;
    struct part root;
};

static struct part *add_child(struct parts *t, struct part *p, const char *path)
{
    struct part *c = mase_new(t->arena, struct part);
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
static struct part *place(struct parts *t, const char *path, size_t n)
{
    if (!n)
        return &t->root;
    const char *key = mase_arena_strndup(t->arena, path, n);
    struct part *p = mase_map_get(&t->by_path, key);
    if (p)
        return p;
    const char *dot = strrchr(key, '.');
    return add_child(t, place(t, path, dot ? (size_t)(dot - key) : 0), key);
}

static void make_tree(struct parts *t, const struct mase_graph *g)
{
    for (const struct mase_module *m = g->modules; m; m = m->next)
        place(t, m->path, strlen(m->path))->module = m;
    for (int i = 0; i < g->attr_count; i++)
        place(t, g->attrs[i].name, strlen(g->attrs[i].name))->param = &g->attrs[i];
}

/* The outermost layer around p, or p itself. */
static const struct part *outermost(const struct part *p)
{
    const struct part *found = p;
    for (; p; p = p->parent)
        found = p->module ? p : found;
    return found;
}

static const char *behind(const char *path, const struct part *p)
{
    for (; p->parent; p = p->parent) {
        const char *dot = strchr(path, '.');
        path = dot ? dot + 1 : "";
    }
    return path;
}

/* Where a path leads; what is left of it behind a layer is a parameter's name, or nothing. */
static const struct part *find(const struct parts *t, const char *path, const char **rest)
{
    const struct part *p = mase_map_get(&t->by_path, path);
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

/* What a node reads or calls is there. */
static bool is_there(const struct parts *t, const struct mase_node *n)
{
    const char *rest;
    const struct part *p = find(t, n->target, &rest);
    if (!p || n->kind == MASE_CALL_MODULE)
        return p && p->module && !*rest;
    return p->param || (p->module && mase_module_param(p->module, rest));
}

/* ---- names ---- */

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
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

static bool is_name(const char *s)
{
    return is_identifier(s) && !is_keyword(s);
}

static void add_string(struct mase_str *out, const char *s)
{
    mase_repr_string(out, s, strlen(s));
}

/* Are the children numbered from 0, and all parameters or all modules? */
static bool is_list(const struct part *p)
{
    int i = 0;
    const bool params = p->first && p->first->param;
    for (const struct part *c = p->first; c; c = c->next, i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        if (!mase_streq(c->name, number) || (c->param != NULL) != params ||
            (params && c->param->is_buffer))
            return false;
    }
    return p->parent && i > 0;
}

/* self.blocks[0].fc */
static void add_place(struct mase_str *out, const struct part *p)
{
    if (!p->parent) {
        mase_str_add(out, "self");
        return;
    }
    if (is_list(p->parent)) {
        add_place(out, p->parent);
        mase_str_printf(out, "[%s]", p->name);
    } else if (is_name(p->name)) {
        add_place(out, p->parent);
        mase_str_printf(out, ".%s", p->name);
    } else {
        mase_str_add(out, "getattr(");
        add_place(out, p->parent);
        mase_str_add(out, ", ");
        add_string(out, p->name);
        mase_str_addc(out, ')');
    }
}

static void add_path(struct mase_str *out, const struct parts *t, const char *path)
{
    const char *rest;
    add_place(out, find(t, path, &rest));
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
    mase_str_addc(out, '(');
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

static bool is_registered_later(const struct part *p)
{
    return p->param && p->param->is_buffer;
}

static void add_part(struct mase_str *out, const struct part *p, int depth);

/* _part(**{'a': ..., 'b': ...}), or a list of them. */
static void add_children(struct mase_str *out, const struct part *p, int depth)
{
    const bool list = is_list(p);
    mase_str_add(out, !list             ? "_part(**{"
                      : p->first->param ? "nn.ParameterList(["
                                        : "nn.ModuleList([");
    int count = 0;
    for (const struct part *c = p->first; c; c = c->next) {
        if (is_registered_later(c))
            continue;
        count++;
        new_line(out, depth + 1);
        if (!list) {
            add_string(out, c->name);
            mase_str_add(out, ": ");
        }
        add_part(out, c, depth + 1);
        mase_str_addc(out, ',');
    }
    if (count)
        new_line(out, depth);
    mase_str_add(out, list ? "])" : "})");
}

static void add_part(struct mase_str *out, const struct part *p, int depth)
{
    if (p->module) {
        add_layer(out, p->module);
    } else if (p->param) {
        mase_str_add(out, "nn.Parameter(");
        add_tensor(out, p->param);
        mase_str_add(out, p->param->is_frozen ? ", requires_grad=False)" : ")");
    } else {
        add_children(out, p, depth);
    }
}

static void add_fields(struct mase_str *out, const struct part *root)
{
    for (const struct part *c = root->first; c; c = c->next) {
        if (is_registered_later(c))
            continue;
        new_line(out, 2);
        if (is_name(c->name)) {
            mase_str_printf(out, "self.%s = ", c->name);
            add_part(out, c, 2);
        } else {
            mase_str_add(out, c->param ? "self.register_parameter(" : "self.add_module(");
            add_string(out, c->name);
            mase_str_add(out, ", ");
            add_part(out, c, 2);
            mase_str_addc(out, ')');
        }
    }
}

/* A constant is an attribute like any other; a buffer belongs to the state. */
static void add_buffers(struct mase_str *out, const struct part *p)
{
    for (const struct part *c = p->first; c; c = c->next)
        add_buffers(out, c);
    if (!is_registered_later(p))
        return;
    new_line(out, 2);
    if (p->param->is_constant && is_name(p->name)) {
        add_place(out, p);
        mase_str_add(out, " = ");
        add_tensor(out, p->param);
        return;
    }
    add_place(out, p->parent);
    mase_str_add(out, ".register_buffer(");
    add_string(out, p->name);
    mase_str_add(out, ", ");
    add_tensor(out, p->param);
    mase_str_add(out, p->param->is_constant ? ", persistent=False)" : ")");
}

/* Parameters of layers that do not start as PyTorch's would. */
static void add_starts(struct mase_str *out, const struct parts *t, const struct mase_module *m)
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
        if ((p->init == d->init && p->scale == d->scale && p->centre == d->centre) ||
            p->init == MASE_INIT_VALUES)
            continue;
        new_line(out, 2);
        mase_str_printf(out, "nn.init.%s(", how[p->init]);
        add_path(out, t, m->path);
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
static void add_frozen(struct mase_str *out, const struct parts *t, const struct mase_module *m)
{
    int params = 0, frozen = 0;
    for (int i = 0; i < m->param_count; i++) {
        params += !m->params[i].is_buffer;
        frozen += m->params[i].is_frozen;
    }
    for (int i = 0; i < m->param_count && frozen; i++) {
        if (!m->params[i].is_frozen)
            continue;
        new_line(out, 2);
        add_path(out, t, m->path);
        if (frozen < params)
            mase_str_printf(out, ".%s", m->params[i].name);
        mase_str_add(out, ".requires_grad_(False)");
        if (frozen == params)
            return;
    }
}

/* ---- what it computes ---- */

/* The name under which users call what torch.fx names by where it lies. */
static void add_function(struct mase_str *out, const char *target)
{
    static const struct {
        const char *where, *call;
    } known[] = {
        { "torch._C._nn.log_sigmoid", "F.logsigmoid" },
        { "torch._C._nn.", "F." },
        { "torch.nn.functional.", "F." },
        { "torch.functional.", "torch." },
        { "builtins.", "" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (mase_starts_with(target, known[i].where)) {
            mase_str_printf(out, "%s%s", known[i].call, target + strlen(known[i].where));
            return;
        }
    mase_str_add(out, target);
}

struct writer {
    struct mase_str *out;
    const struct parts *parts;
};

static void add_value(const struct writer *w, const struct mase_arg *arg);

static void add_items(const struct writer *w, const struct mase_arg *arg)
{
    static const char *const open[] = { "(", "[", "{", "slice(" };
    static const char *const close[] = { ")", "]", "}", ")" };
    const int form = (int)arg->kind - MASE_ARG_TUPLE;
    mase_str_add(w->out, open[form]);
    for (int i = 0; i < arg->count; i++) {
        mase_str_add(w->out, i ? ", " : "");
        if (arg->kind == MASE_ARG_DICT) {
            add_string(w->out, arg->keys[i]);
            mase_str_add(w->out, ": ");
        }
        add_value(w, &arg->items[i]);
    }
    if (arg->kind == MASE_ARG_TUPLE && arg->count == 1)
        mase_str_addc(w->out, ',');
    mase_str_add(w->out, close[form]);
}

/* Tracing meets a parameter where it is asked for, a buffer where it is used. */
static bool is_met_in_use(const struct writer *w, const struct mase_node *n)
{
    const char *rest;
    const struct part *p = find(w->parts, n->target, &rest);
    return (p->param ? p->param : mase_module_param(p->module, rest))->is_buffer;
}

/* An argument has the name its caller knows, which may be another than its node's. */
static void add_value(const struct writer *w, const struct mase_arg *arg)
{
    if (arg->kind == MASE_ARG_NODE && arg->node->kind == MASE_PLACEHOLDER) {
        mase_str_add(w->out, arg->node->target + strspn(arg->node->target, "*"));
        return;
    }
    if (arg->kind == MASE_ARG_NODE && arg->node->kind == MASE_GET_ATTR &&
        is_met_in_use(w, arg->node))
        add_path(w->out, w->parts, arg->node->target);
    else if (mase_arg_has_items(arg))
        add_items(w, arg);
    else
        mase_arg_write(w->out, arg, MASE_ARG_PY);
}

static void add_call(const struct writer *w, const struct mase_node *n)
{
    int first = 0;
    if (n->kind == MASE_CALL_MODULE) {
        add_path(w->out, w->parts, n->target);
    } else if (n->kind == MASE_CALL_FUNCTION) {
        add_function(w->out, n->target);
    } else {
        add_value(w, &n->args.items[first++]);
        mase_str_printf(w->out, ".%s", n->target);
    }
    const char *sep = "(";
    for (int i = first; i < n->args.count; i++, sep = ", ") {
        mase_str_add(w->out, sep);
        add_value(w, &n->args.items[i]);
    }
    for (int i = 0; i < n->kwargs.count; i++, sep = ", ") {
        mase_str_printf(w->out, "%s%s=", sep, n->kwargs.keys[i]);
        add_value(w, &n->kwargs.items[i]);
    }
    mase_str_add(w->out, *sep == '(' ? "()" : ")");
}

/* Other annotations would need what the source imported; one in quotes is a string. */
static bool is_known_type(const char *type)
{
    return *type == '\'' || mase_starts_with(type, "torch.") || mase_streq(type, "float") ||
           mase_streq(type, "int") || mase_streq(type, "bool") || mase_streq(type, "str");
}

static void add_inputs(const struct writer *w, const struct mase_graph *g)
{
    mase_str_add(w->out, "    def forward(self");
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        mase_str_printf(w->out, ", %s", n->target);
        if (n->annotation && is_known_type(n->annotation))
            mase_str_printf(w->out, ": %s", n->annotation);
        if (n->args.count) {
            mase_str_add(w->out, "=");
            add_value(w, &n->args.items[0]);
        }
    }
    mase_str_add(w->out, "):\n");
}

static bool has_line(const struct writer *w, const struct mase_node *n)
{
    return n->kind != MASE_PLACEHOLDER && !(n->kind == MASE_GET_ATTR && is_met_in_use(w, n));
}

static void add_line(const struct writer *w, const struct mase_node *n)
{
    mase_str_add(w->out, n->no_grad ? "            " : "        ");
    if (n->kind == MASE_OUTPUT) {
        mase_str_add(w->out, "return ");
        if (n->args.count)
            add_value(w, &n->args.items[0]);
    } else {
        mase_str_printf(w->out, "%s = ", n->name);
        if (n->kind == MASE_GET_ATTR)
            add_path(w->out, w->parts, n->target);
        else
            add_call(w, n);
    }
    mase_str_addc(w->out, '\n');
}

/* Neighbours without gradients share a block. */
static void add_lines(const struct writer *w, const struct mase_graph *g)
{
    bool inside = false;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (!has_line(w, n))
            continue;
        if (n->no_grad && !inside)
            mase_str_add(w->out, "        with torch.no_grad():\n");
        inside = n->no_grad;
        add_line(w, n);
    }
}

/* ---- the file ---- */

/* PyTorch has no classes for number formats, and Python no place for some names. */
static enum mase_status check(const struct mase_graph *g, const struct parts *t,
                              struct mase_err *err)
{
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (mase_node_quant(n))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s is quantised, and PyTorch has no class for that: write a .mg "
                             "file or a folder",
                             n->name);
        const bool needs = n->kind == MASE_CALL_MODULE || n->kind == MASE_GET_ATTR;
        if (needs && !is_there(t, n))
            return mase_fail(err, MASE_EVALUE, "%s: '%s' is not there", n->name, n->target);
        if (!is_name(n->name) || (n->kind == MASE_CALL_METHOD && !is_name(n->target)))
            return mase_fail(err, MASE_EUNSUPPORTED, "'%s' is no name in Python", n->name);
    }
    return MASE_OK;
}

static bool has_inner(const struct part *p, bool root)
{
    if (!root && !p->module && !p->param && !is_list(p))
        return true;
    for (const struct part *c = p->first; c; c = c->next)
        if (has_inner(c, false))
            return true;
    return false;
}

static void add_head(struct mase_str *out, const struct part *root)
{
    mase_str_add(out, "import math\n"
                      "import operator\n\n"
                      "import torch\n"
                      "import torch.nn as nn\n"
                      "import torch.nn.functional as F\n\n\n");
    if (has_inner(root, true))
        mase_str_add(out, "def _part(**children):\n"
                          "    \"\"\"A module that holds others under their names.\"\"\"\n"
                          "    part = nn.Module()\n"
                          "    for name, child in children.items():\n"
                          "        setattr(part, name, child)\n"
                          "    return part\n\n\n");
}

enum mase_status mase_graph_print_py(struct mase_str *out, const struct mase_graph *g,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct parts t = { .arena = &a, .by_path.arena = &a };
    const struct writer w = { out, &t };
    make_tree(&t, g);
    const enum mase_status st = check(g, &t, err);
    if (!st) {
        add_head(out, &t.root);
        mase_str_printf(out,
                        "class %s(nn.Module):\n    def __init__(self):\n"
                        "        super().__init__()",
                        g->name && is_name(g->name) ? g->name : "Net");
        add_fields(out, &t.root);
        add_buffers(out, &t.root);
        for (const struct mase_module *m = g->modules; m; m = m->next)
            add_starts(out, &t, m);
        for (const struct mase_module *m = g->modules; m; m = m->next)
            add_frozen(out, &t, m);
        mase_str_add(out, "\n\n");
        add_inputs(&w, g);
        add_lines(&w, g);
    }
    mase_arena_release(&a);
    return st;
}
