/*
 * graph_verify.c - check the invariants of a graph, with one line for each violation.
 *
 * All invariants are checked, and only pointers are assumed to be valid, so a pass that breaks two
 * invariants gets two lines.
 */
#include <stdlib.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/graph/node_names.h"
#include "ir/text/arg.h"

/* Nodes sorted by address: a fan of ten thousand must not make checking quadratic. */
struct set {
    const struct mase_node **node;
    int count;
};

struct place {
    const struct mase_node *node;
    int position;
    struct set mentioned, inputs, users;
};

struct check {
    const struct mase_graph *g;
    struct mase_str *out;
    int faults;
    struct mase_arena scratch;
    struct place *places; /* sorted by address */
    int count;
};

static void say(struct check *c, const char *fmt, ...) MASE_PRINTF(2, 3);
static void say(struct check *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(c->out, fmt, ap);
    va_end(ap);
    mase_str_addc(c->out, '\n');
    c->faults++;
}

/* ---- sets ---- */

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const struct mase_node *const *)a;
    uintptr_t y = (uintptr_t) * (const struct mase_node *const *)b;
    return (x > y) - (x < y);
}

static void sort(struct set *s)
{
    if (s->count)
        qsort(s->node, (size_t)s->count, sizeof *s->node, by_address);
}

static bool has(const struct set *s, const struct mase_node *n)
{
    return s->count && bsearch(&n, s->node, (size_t)s->count, sizeof *s->node, by_address);
}

static struct set set_of(struct check *c, struct mase_node *const *nodes, int count)
{
    struct set s = { mase_new_array(&c->scratch, const struct mase_node *, (size_t)count), count };
    for (int i = 0; i < count; i++)
        s.node[i] = nodes[i];
    sort(&s);
    return s;
}

static void count_node(struct mase_node *n, void *data)
{
    (void)n;
    ++*(int *)data;
}

static void add_node(struct mase_node *n, void *data)
{
    struct set *s = data;
    s->node[s->count++] = n;
}

static struct set mentioned_by(struct check *c, const struct mase_node *n)
{
    struct set s = { 0 };
    int count = 0;
    mase_arg_each_node(&n->args, count_node, &count);
    mase_arg_each_node(&n->kwargs, count_node, &count);
    s.node = mase_new_array(&c->scratch, const struct mase_node *, (size_t)count);
    mase_arg_each_node(&n->args, add_node, &s);
    mase_arg_each_node(&n->kwargs, add_node, &s);
    sort(&s);
    return s;
}

/* ---- where nodes stand ---- */

/* NULL when n is not in the graph. A place begins with its node, so the order is that of sets. */
static const struct place *place_of(const struct check *c, const struct mase_node *n)
{
    return c->count ? bsearch(&n, c->places, (size_t)c->count, sizeof *c->places, by_address)
                    : NULL;
}

/* Follow the list once; false when it has no end. */
static bool check_list(struct check *c)
{
    const struct mase_graph *g = c->g;
    const struct mase_node *prev = NULL;
    int cap = 0;

    for (const struct mase_node *n = g->first; n; prev = n, n = n->next) {
        if (c->count > g->node_count) {
            say(c, "the list has more nodes than the %d that the graph counts", g->node_count);
            return false;
        }
        if (n->prev != prev)
            say(c, "node %s: its prev is not the node before it", n->name);
        if (n->graph != g)
            say(c, "node %s belongs to another graph", n->name);
        c->places = mase_arena_grow(&c->scratch, c->places, c->count, &cap, sizeof *c->places);
        c->places[c->count] =
            (struct place){ n, c->count, mentioned_by(c, n), set_of(c, n->inputs, n->input_count),
                            set_of(c, n->users, n->user_count) };
        c->count++;
    }
    if (g->last != prev)
        say(c, "the last node is not the end of the list");
    if (g->node_count != c->count)
        say(c, "the graph counts %d nodes, the list has %d", g->node_count, c->count);
    if (c->count)
        qsort(c->places, (size_t)c->count, sizeof *c->places, by_address);
    return true;
}

/* ---- edges ---- */

static void check_twice(struct check *c, const struct mase_node *n, const char *what,
                        const struct set *s)
{
    for (int i = 1; i < s->count; i++)
        if (s->node[i] == s->node[i - 1])
            say(c, "node %s lists the %s %s twice", n->name, what, s->node[i]->name);
}

static void check_input(struct check *c, const struct place *at, const struct mase_node *in)
{
    const char *name = at->node->name;
    const struct place *from = place_of(c, in);

    if (!has(&at->mentioned, in))
        say(c, "node %s lists the input %s, but does not mention it", name, in->name);
    if (!from) {
        say(c, "node %s uses %s, which is not in the graph", name, in->name);
        return;
    }
    if (from->position >= at->position)
        say(c, "node %s uses %s, which does not stand before it", name, in->name);
    if (!has(&from->users, at->node))
        say(c, "node %s uses %s, but is not among its users", name, in->name);
}

static void check_edges(struct check *c, const struct mase_node *n)
{
    const struct place *at = place_of(c, n);
    for (int i = 0; i < at->mentioned.count; i++) {
        const struct mase_node *in = at->mentioned.node[i];
        if (!has(&at->inputs, in) && (!i || in != at->mentioned.node[i - 1]))
            say(c, "node %s mentions %s, which is not among its inputs", n->name, in->name);
    }
    for (int i = 0; i < n->input_count; i++)
        check_input(c, at, n->inputs[i]);
    for (int i = 0; i < n->user_count; i++) {
        const struct place *user = place_of(c, n->users[i]);
        if (!user || !has(&user->inputs, n))
            say(c, "node %s lists the user %s, which %s", n->name, n->users[i]->name,
                user ? "does not use it" : "is not in the graph");
    }
    check_twice(c, n, "input", &at->inputs);
    check_twice(c, n, "user", &at->users);
}

/* ---- arguments ---- */

static bool has_tensor(const struct mase_arg *arg)
{
    if (arg->kind == MASE_ARG_TENSOR)
        return true;
    for (int i = 0; mase_arg_has_items(arg) && i < arg->count; i++)
        if (has_tensor(&arg->items[i]))
            return true;
    return false;
}

static void check_signature(struct check *c, const struct mase_node *n)
{
    struct mase_err err = { 0 };
    if (mase_bind_check(&c->scratch, n->op, n->kind, &n->args, &n->kwargs, &err))
        say(c, "node %s: %s: %s", n->name, mase_ops[n->op].name, err.msg);
}

static void check_args(struct check *c, const struct mase_node *n)
{
    static const struct {
        int min, max; /* positional arguments; -1: as many as its signature allows */
    } allowed[] = {
        [MASE_PLACEHOLDER] = { 0, 1 },    [MASE_GET_ATTR] = { 0, 0 },
        [MASE_CALL_FUNCTION] = { 0, -1 }, [MASE_CALL_METHOD] = { 0, -1 },
        [MASE_CALL_MODULE] = { 0, -1 },   [MASE_OUTPUT] = { 1, 1 },
    };
    const int min = allowed[n->kind].min, max = allowed[n->kind].max;

    if (n->args.kind != MASE_ARG_TUPLE || n->kwargs.kind != MASE_ARG_DICT) {
        say(c, "node %s: its arguments are not a tuple and a dict", n->name);
        return;
    }
    if (n->args.count < min || (max >= 0 && n->args.count > max))
        say(c, "node %s: a %s cannot have %d arguments", n->name, mase_node_kind_names[n->kind],
            n->args.count);
    if (max >= 0 && n->kwargs.count)
        say(c, "node %s: a %s takes no keywords", n->name, mase_node_kind_names[n->kind]);
    if (has_tensor(&n->args) || has_tensor(&n->kwargs))
        say(c, "node %s: an argument holds a tensor, not a node", n->name);
    if (max < 0 && n->op != MASE_OP_unknown && mase_ops[n->op].call)
        check_signature(c, n);
}

/* ---- targets, names, formats ---- */

static void check_target(struct check *c, const struct mase_node *n)
{
    if (n->kind == MASE_CALL_MODULE && !mase_graph_module(c->g, n->target)) {
        say(c, "node %s calls module '%s', which does not exist", n->name, n->target);
        return;
    }
    if (n->kind == MASE_GET_ATTR && !mase_graph_attr(c->g, n->target))
        say(c, "node %s reads '%s', which does not exist", n->name, n->target);

    enum mase_op op = mase_graph_resolve(c->g, n->kind, n->target);
    if (op == MASE_OP_unknown)
        say(c, "node %s: no operation is known as %s '%s'", n->name, mase_node_kind_names[n->kind],
            n->target);
    else if (op != n->op)
        say(c, "node %s: its operation is %s, its target '%s' is %s", n->name, mase_ops[n->op].name,
            n->target, mase_ops[op].name);
}

static void check_name(struct check *c, const struct mase_node *n)
{
    const struct mase_node *known = mase_graph_find(c->g, n->name);
    if (!mase_name_is_identifier(n->name))
        say(c, "node '%s': its name is no identifier", n->name);
    if (!known)
        say(c, "node %s is not known by its name", n->name);
    else if (known != n)
        say(c, "the name %s belongs to two nodes", n->name);
}

static void check_quant(struct check *c, const char *what, const char *name, enum mase_op op,
                        const struct mase_quant *q)
{
    if (!mase_ops[op].quantisable)
        say(c, "%s %s: %s cannot be quantised", what, name, mase_ops[op].name);
    if (q->kind <= MASE_QUANT_float || q->kind >= MASE_QUANT_COUNT) {
        say(c, "%s %s: its quantisation names no number format", what, name);
        return;
    }
}

static void check_node(struct check *c, const struct mase_node *n)
{
    check_name(c, n);
    check_target(c, n);
    check_args(c, n);
    check_edges(c, n);
    if (n->kind == MASE_OUTPUT && n->next)
        say(c, "node %s: an output that is not the last node", n->name);
    if (n->kind == MASE_OUTPUT && n->user_count)
        say(c, "node %s: an output with users", n->name);
    if (n->mode != MASE_MODE_FOLLOWS && n->kind != MASE_CALL_MODULE)
        say(c, "node %s: a %s is in no mode of its own", n->name, mase_node_kind_names[n->kind]);
    if (n->quant && n->kind != MASE_CALL_FUNCTION)
        say(c, "node %s: a %s carries no number formats of its own", n->name,
            mase_node_kind_names[n->kind]);
    else if (n->quant)
        check_quant(c, "node", n->name, n->op, n->quant);
}

/* ---- modules ---- */

static void check_modules(struct check *c)
{
    const struct mase_module *last = NULL;
    int count = 0;
    for (const struct mase_module *m = c->g->modules; m; last = m, m = m->next, count++) {
        if (mase_graph_module(c->g, m->path) != m)
            say(c, "module %s is not known by its path", m->path);
        if (!mase_ops[m->op].module)
            say(c, "module %s: %s has no layer", m->path, mase_ops[m->op].name);
        if (m->quant)
            check_quant(c, "module", m->path, m->op, m->quant);
    }
    if (c->g->modules_last != last)
        say(c, "the last module is not the end of the list");
    if (c->g->module_count != count)
        say(c, "the graph counts %d modules, the list has %d", c->g->module_count, count);
}

/* ---- ties ---- */

struct tie_check {
    struct check *c;
    struct mase_map seen; /* names that stand before, and are not tied */
};

static bool check_tie(const char *full, struct mase_param *p, void *data)
{
    struct tie_check *t = data;
    const struct mase_param *root = p->tied ? mase_map_get(&t->seen, p->tied) : NULL;
    if (!p->tied)
        mase_map_put(&t->seen, mase_arena_strdup(t->seen.arena, full), p);
    else if (!root)
        say(t->c, "'%s' is tied to '%s', which is no earlier parameter", full, p->tied);
    else if (mase_param_is_buffer(p) != mase_param_is_buffer(root) ||
             mase_param_is_trained(p) != mase_param_is_trained(root) ||
             p->tensor.dtype != root->tensor.dtype || p->tensor.data != root->tensor.data ||
             !mase_shape_equal(&p->tensor.shape, &root->tensor.shape))
        say(t->c, "'%s' is tied to '%s', which is another", full, p->tied);
    return true;
}

int mase_graph_verify(const struct mase_graph *g, struct mase_str *out)
{
    struct check c = { .g = g, .out = out };
    struct tie_check ties = { .c = &c, .seen.arena = &c.scratch };
    int outputs = 0;

    if (check_list(&c)) {
        for (const struct mase_node *n = g->first; n; n = n->next) {
            outputs += n->kind == MASE_OUTPUT;
            check_node(&c, n);
        }
        if (outputs != 1)
            say(&c, "a graph has one output, this one has %d", outputs);
        check_modules(&c);
        mase_graph_each_param(g, check_tie, &ties);
    }
    mase_arena_release(&c.scratch);
    return c.faults + (g->training ? mase_graph_verify(g->training, out) : 0);
}
