/*
 * py_print.c - write a graph as a class for PyTorch. Tracing that class gives the graph again.
 */
#include <ctype.h>
#include <string.h>

#include <mase/value.h>

#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"
#include "ir/text/py.h"

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
    const struct mase_py_parts *parts;
    const struct mase_graph *graph; /* the whole: what is evaluated */
    int depth;                      /* of a statement */
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
            mase_py_string(w->out, arg->keys[i]);
            mase_str_add(w->out, ": ");
        }
        add_value(w, &arg->items[i]);
    }
    if (arg->kind == MASE_ARG_TUPLE && arg->count == 1)
        mase_str_addc(w->out, ',');
    mase_str_add(w->out, close[form]);
}

/* A trace records a parameter where it is read, a buffer where it is used. */
static bool is_met_in_use(const struct writer *w, const struct mase_node *n)
{
    const char *rest;
    const struct mase_py_part *p = mase_py_find(w->parts, n->target, &rest);
    return mase_param_is_buffer(p->param ? p->param : mase_module_param(p->module, rest));
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
        mase_py_path(w->out, w->parts, arg->node->target);
    else if (mase_arg_has_items(arg))
        add_items(w, arg);
    else
        mase_arg_write(w->out, arg, MASE_ARG_PY);
}

/* A module is put into the mode that it is called in; it stays there, so that one which is pinned
 * here and not there is put back. */
static void add_mode(const struct writer *w, const struct mase_node *n)
{
    static const char *const call[] = {
        [MASE_MODE_EVAL] = ".eval()", [MASE_MODE_TRAIN] = ".train()"
    };
    const char *rest;
    if (n->mode != MASE_MODE_FOLLOWS)
        mase_str_add(w->out, call[n->mode]);
    else if (mase_py_find(w->parts, n->target, &rest)->pinned)
        mase_str_add(w->out, ".train(self.training)");
}

static void add_call(const struct writer *w, const struct mase_node *n)
{
    int first = 0;
    if (n->kind == MASE_CALL_MODULE) {
        mase_py_path(w->out, w->parts, n->target);
        add_mode(w, n);
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
    if (mase_streq(n->target, "torch._assert") && n->args.count == 1 && !n->kwargs.count)
        mase_str_add(w->out, ", ''"); /* PyTorch demands a message; an assert has none */
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

static void indent(const struct writer *w, int more)
{
    for (int i = 0; i < w->depth + more; i++)
        mase_str_add(w->out, "    ");
}

static void add_line(const struct writer *w, const struct mase_node *n)
{
    indent(w, n->no_grad);
    if (n->kind == MASE_OUTPUT) {
        mase_str_add(w->out, "return ");
        if (n->args.count)
            add_value(w, &n->args.items[0]);
    } else {
        mase_str_printf(w->out, "%s = ", n->name);
        if (n->kind == MASE_GET_ATTR)
            mase_py_path(w->out, w->parts, n->target);
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
        if (n->no_grad && !inside) {
            indent(w, 0);
            mase_str_add(w->out, "with torch.no_grad():\n");
        }
        inside = n->no_grad;
        add_line(w, n);
    }
}

/* forward, which asks for the mode where it matters. */
static void add_forward(struct writer *w)
{
    const struct mase_graph *g = w->graph;
    add_inputs(w, g);
    if (g->training || g->untrainable)
        mase_str_add(w->out, "        if self.training:\n");
    w->depth = 3;
    if (g->training)
        add_lines(w, g->training);
    if (g->untrainable) {
        indent(w, 0);
        mase_str_add(w->out, "raise NotImplementedError(");
        mase_py_string(w->out, g->untrainable);
        mase_str_add(w->out, ")\n");
    }
    w->depth = 2;
    add_lines(w, g);
}

/* ---- the file ---- */

/* PyTorch has no classes for number formats, and Python no place for some names. */
static enum mase_status check(const struct mase_graph *g, const struct mase_py_parts *t,
                              struct mase_err *err)
{
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (mase_node_quant(n))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s is quantised, and PyTorch has no class for that: write a .mg "
                             "file or a folder",
                             n->name);
        const bool needs = n->kind == MASE_CALL_MODULE || n->kind == MASE_GET_ATTR;
        if (needs && !mase_py_is_there(t, n))
            return mase_fail(err, MASE_EVALUE, "%s: '%s' is not there", n->name, n->target);
        if (!mase_py_is_name(n->name) ||
            (n->kind == MASE_CALL_METHOD && !mase_py_is_name(n->target)))
            return mase_fail(err, MASE_EUNSUPPORTED, "'%s' is no name in Python", n->name);
    }
    return MASE_OK;
}

/* Both graphs must be one class: what only training reads is there too. */
static enum mase_status check_training(const struct mase_graph *g,
                                       const struct mase_py_parts *parts, struct mase_err *err)
{
    const struct mase_graph *t = g->training;
    for (const struct mase_module *m = t ? t->modules : NULL; m; m = m->next) {
        const struct mase_module *same = mase_graph_module(g, m->path);
        if (!same || !mase_module_equal(same, m))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "module %s is another while the network is trained: write a .mg file "
                             "or a folder",
                             m->path);
    }
    for (int i = 0; t && i < t->attr_count; i++) {
        const struct mase_param *p = mase_graph_attr(g, t->attrs[i].name);
        if (p && !mase_param_equal(p, &t->attrs[i]))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "attribute %s is another while the network is trained: write a .mg "
                             "file or a folder",
                             p->name);
    }
    return t ? check(t, parts, err) : MASE_OK;
}

static void add_head(struct mase_str *out, const struct mase_py_parts *t)
{
    mase_str_add(out, "import math\n"
                      "import operator\n\n"
                      "import torch\n"
                      "import torch.nn as nn\n"
                      "import torch.nn.functional as F\n\n\n");
    if (mase_py_has_parts(t))
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
    struct mase_py_parts t = { .arena = &a, .by_path.arena = &a };
    struct writer w = { .out = out, .parts = &t, .graph = g };
    mase_py_tree(&t, g);
    enum mase_status st = check(g, &t, err);
    if (!st)
        st = check_training(g, &t, err);
    if (!st) {
        add_head(out, &t);
        mase_str_printf(out,
                        "class %s(nn.Module):\n    def __init__(self):\n"
                        "        super().__init__()",
                        g->name && mase_py_is_name(g->name) ? g->name : "Net");
        mase_py_content(out, &t, g);
        mase_str_add(out, "\n\n");
        add_forward(&w);
    }
    mase_arena_release(&a);
    return st;
}
