/*
 * graph.c - nodes: make, link, rewire, erase.
 *
 * users and inputs are kept here and nowhere else: link_inputs() and unlink_inputs() are the only
 * writers.
 */
#include <string.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "ir/graph/node_names.h"
#include "ir/shape/graph_types.h"
#include "ir/text/arg.h"

const char *const mase_node_kind_names[] = {
    [MASE_PLACEHOLDER] = "placeholder",     [MASE_GET_ATTR] = "get_attr",
    [MASE_CALL_FUNCTION] = "call_function", [MASE_CALL_METHOD] = "call_method",
    [MASE_CALL_MODULE] = "call_module",     [MASE_OUTPUT] = "output",
};

struct mase_graph *mase_graph_new(const char *name)
{
    struct mase_arena arena = { 0 };
    struct mase_graph *g = mase_new(&arena, struct mase_graph);

    g->arena = arena; /* the graph lives in the arena it owns */
    g->intern.arena = g->module_map.arena = g->attr_map.arena = &g->arena;
    g->name = name ? mase_arena_strdup(&g->arena, name) : NULL;
    g->names = mase_names_new(&g->arena, &g->intern);
    g->types = mase_new(&g->arena, struct mase_graph_types *);
    return g;
}

void mase_graph_free(struct mase_graph *g)
{
    if (!g)
        return;
    mase_graph_free(g->training);
    mase_weights_free(g);
    mase_graph_types_free(g);
    struct mase_arena arena = g->arena;
    mase_arena_release(&arena);
}

/* ---- inputs and users ---- */

static void collect_input(struct mase_node *in, void *data)
{
    struct mase_node *n = data;
    struct mase_arena *a = &n->graph->arena;

    if (in->graph != n->graph)
        mase_bug("node %s uses %s, a node of another graph", n->name, in->name);
    /* a node that is mentioned a second time has n as its newest user already */
    if (in->user_count && in->users[in->user_count - 1] == n)
        return;
    in->users = mase_arena_grow(a, in->users, in->user_count, &in->user_cap, sizeof *in->users);
    in->users[in->user_count++] = n;
    n->inputs[n->input_count++] = in;
}

static void count_mention(struct mase_node *in, void *data)
{
    (void)in;
    ++*(int *)data;
}

static void link_inputs(struct mase_node *n)
{
    int mentions = 0;
    mase_arg_each_node(&n->args, count_mention, &mentions);
    mase_arg_each_node(&n->kwargs, count_mention, &mentions);
    n->inputs = mase_new_array(&n->graph->arena, struct mase_node *, (size_t)mentions);
    n->input_count = 0;
    mase_arg_each_node(&n->args, collect_input, n);
    mase_arg_each_node(&n->kwargs, collect_input, n);
}

static void drop_user(struct mase_node *in, const struct mase_node *user)
{
    for (int i = 0; i < in->user_count; i++) {
        if (in->users[i] != user)
            continue;
        in->user_count--;
        memmove(in->users + i, in->users + i + 1, (size_t)(in->user_count - i) * sizeof *in->users);
        return;
    }
}

static void unlink_inputs(struct mase_node *n)
{
    for (int i = 0; i < n->input_count; i++)
        drop_user(n->inputs[i], n);
    n->input_count = 0;
}

/* ---- making nodes ---- */

bool mase_is_tensor_constant(const char *target)
{
    static const char prefix[] = "_tensor_constant";
    return mase_starts_with(target, prefix) && mase_is_digit(target[sizeof prefix - 1]);
}

enum mase_op mase_graph_resolve(const struct mase_graph *g, enum mase_node_kind kind,
                                const char *target)
{
    const struct mase_module *m;
    switch (kind) {
    case MASE_PLACEHOLDER:
        return MASE_OP_placeholder;
    case MASE_GET_ATTR:
        return MASE_OP_constant;
    case MASE_CALL_FUNCTION:
        return mase_op_of_function(target);
    case MASE_CALL_METHOD:
        return mase_op_of_method(target);
    case MASE_CALL_MODULE:
        m = mase_graph_module(g, target);
        return m ? m->op : MASE_OP_unknown;
    case MASE_OUTPUT:
        return MASE_OP_output;
    case MASE_NODE_KIND_COUNT:
        break;
    }
    mase_bug("node kind %d does not exist", kind);
}

static void copy_args(struct mase_node *n, const struct mase_arg *args,
                      const struct mase_arg *kwargs)
{
    const struct mase_arg no_args = { .kind = MASE_ARG_TUPLE },
                          no_kwargs = { .kind = MASE_ARG_DICT };

    if ((args && args->kind != MASE_ARG_TUPLE) || (kwargs && kwargs->kind != MASE_ARG_DICT))
        mase_bug("node %s: args must be a tuple and kwargs a dict", n->name);
    n->args = mase_arg_copy(&n->graph->arena, args ? args : &no_args);
    n->kwargs = mase_arg_copy(&n->graph->arena, kwargs ? kwargs : &no_kwargs);
}

static void put_before(struct mase_graph *g, struct mase_node *n, struct mase_node *at)
{
    n->next = at;
    n->prev = at ? at->prev : g->last;
    *(n->prev ? &n->prev->next : &g->first) = n;
    *(at ? &at->prev : &g->last) = n;
    g->node_count++;
}

static struct mase_node *insert(struct mase_graph *g, struct mase_node *at,
                                enum mase_node_kind kind, const char *name, const char *target,
                                const struct mase_arg *args, const struct mase_arg *kwargs)
{
    if (at && at->graph != g)
        mase_bug("node %s: cannot go before %s, a node of another graph", name, at->name);
    if (kind == MASE_CALL_MODULE && !mase_graph_module(g, target))
        mase_bug("node %s calls module '%s', which is not registered", name, target);

    struct mase_node *n = mase_new(&g->arena, struct mase_node);
    n->kind = kind;
    n->op = mase_graph_resolve(g, kind, target);
    n->name = name;
    n->target = mase_intern(&g->intern, target);
    n->graph = g;
    copy_args(n, args, kwargs);
    link_inputs(n);
    put_before(g, n, at);
    mase_names_set_node(g->names, name, n);
    g->edits++;
    return n;
}

struct mase_node *mase_graph_insert_exact(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *name,
                                          const char *target, const struct mase_arg *args,
                                          const struct mase_arg *kwargs)
{
    const char *taken = mase_names_take(g->names, name);
    if (!taken)
        mase_bug("the name %s is taken", name);
    return insert(g, at, kind, taken, target, args, kwargs);
}

struct mase_node *mase_graph_insert_named(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *name,
                                          const char *target, const struct mase_arg *args,
                                          const struct mase_arg *kwargs)
{
    if (!at && kind != MASE_OUTPUT)
        at = mase_graph_output(g);
    return insert(g, at, kind, mase_names_make(g->names, name), target, args, kwargs);
}

struct mase_node *mase_graph_insert(struct mase_graph *g, struct mase_node *at,
                                    enum mase_node_kind kind, const char *target,
                                    const struct mase_arg *args, const struct mase_arg *kwargs)
{
    struct mase_str candidate = { 0 };
    mase_names_candidate(&candidate, kind, target);
    struct mase_node *n =
        mase_graph_insert_named(g, at, kind, mase_str_text(&candidate), target, args, kwargs);
    mase_str_release(&candidate);
    return n;
}

/* Is one of the names, separated by spaces, this one, or does it end with a dot and this one? */
static bool has_name(const char *names, const char *name)
{
    for (const char *at = names; at && *at; at += strcspn(at, " "), at += *at == ' ') {
        const size_t n = strcspn(at, " "), own = strlen(name);
        if (n >= own && memcmp(at + n - own, name, own) == 0 &&
            (n == own || at[n - own - 1] == '.'))
            return true;
    }
    return false;
}

/* A method of the operation's own name goes before functions that all have others, and may want
 * their arguments otherwise (x.expand(2, 3), torch.broadcast_to(x, (2, 3))). */
static bool is_called_as_function(const struct mase_op_info *row)
{
    return row->functions && *row->functions &&
           (has_name(row->functions, row->name) || !has_name(row->methods, row->name));
}

struct mase_node *mase_graph_insert_op(struct mase_graph *g, struct mase_node *at, enum mase_op op,
                                       const struct mase_arg *args, const struct mase_arg *kwargs)
{
    const struct mase_op_info *row = &mase_ops[op];
    const bool function = is_called_as_function(row);
    const char *names = function ? row->functions : row->methods;
    if (!names || !*names)
        mase_bug("%s is called by modules alone", row->name);
    const char *target = mase_intern_n(&g->intern, names, strcspn(names, " "));
    return mase_graph_insert(g, at, function ? MASE_CALL_FUNCTION : MASE_CALL_METHOD, target, args,
                             kwargs);
}

struct mase_node *mase_graph_insert_after(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *target,
                                          const struct mase_arg *args,
                                          const struct mase_arg *kwargs)
{
    return mase_graph_insert(g, at->next, kind, target, args, kwargs);
}

/* ---- changing them ---- */

void mase_node_set_args(struct mase_node *n, const struct mase_arg *args,
                        const struct mase_arg *kwargs)
{
    unlink_inputs(n);
    copy_args(n, args, kwargs);
    link_inputs(n);
    n->graph->edits++;
}

struct swap {
    struct mase_node *from, *to;
};

static struct mase_node *swap_node(struct mase_node *n, void *data)
{
    const struct swap *s = data;
    return n == s->from ? s->to : n;
}

int mase_graph_replace_uses(struct mase_graph *g, struct mase_node *from, struct mase_node *to,
                            const struct mase_node *keep)
{
    struct swap swap = { from, to };
    struct mase_node **users = from->users;
    int count = from->user_count, moved = 0;

    if (from == to)
        return 0;
    /* The list is rebuilt as a whole: taking users out one by one would be quadratic. */
    from->users = NULL;
    from->user_count = from->user_cap = 0;
    for (int i = 0; i < count; i++) {
        struct mase_node *user = users[i];
        if (user == to && user != keep)
            mase_bug("%s uses %s: replacing all uses would make it use itself", to->name,
                     from->name);
        unlink_inputs(user);
        if (user != keep) {
            user->args = mase_arg_map(&g->arena, &user->args, swap_node, &swap);
            user->kwargs = mase_arg_map(&g->arena, &user->kwargs, swap_node, &swap);
            moved++;
        }
        link_inputs(user);
    }
    g->edits++;
    return moved;
}

void mase_graph_erase(struct mase_graph *g, struct mase_node *n)
{
    if (n->user_count)
        mase_bug("cannot erase %s: %s uses it", n->name, n->users[0]->name);
    unlink_inputs(n);
    *(n->prev ? &n->prev->next : &g->first) = n->next;
    *(n->next ? &n->next->prev : &g->last) = n->prev;
    n->graph = NULL;
    mase_names_set_node(g->names, n->name, NULL);
    g->node_count--;
    g->edits++;
}

void mase_node_set_quant(struct mase_node *n, const struct mase_quant *q)
{
    struct mase_module *m = mase_node_module(n);
    if (m) {
        mase_module_set_quant(n->graph, m, q);
        return;
    }
    if (n->kind != MASE_CALL_FUNCTION)
        mase_bug("%s is a %s: only calls of functions and modules have number formats", n->name,
                 mase_node_kind_names[n->kind]);
    n->quant = q ? mase_quant_copy(&n->graph->arena, q) : NULL;
    n->graph->edits++;
    n->graph->format_edits++;
}

/* ---- asking ---- */

bool mase_graph_is_quantised(const struct mase_graph *g)
{
    for (const struct mase_module *m = g->modules; m; m = m->next)
        if (m->quant)
            return true;
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->quant)
            return true;
    return false;
}

void mase_graph_drop_formats(struct mase_graph *g)
{
    for (struct mase_module *m = g->modules; m; m = m->next)
        mase_module_set_quant(g, m, NULL);
    for (struct mase_node *n = g->first; n; n = n->next)
        if (n->quant)
            mase_node_set_quant(n, NULL);
}

struct mase_node *mase_graph_find(const struct mase_graph *g, const char *name)
{
    return mase_names_node(g->names, name);
}

struct mase_node *mase_graph_output(const struct mase_graph *g)
{
    return g->last && g->last->kind == MASE_OUTPUT ? g->last : NULL;
}

struct mase_module *mase_node_module(const struct mase_node *n)
{
    return n->kind == MASE_CALL_MODULE ? mase_graph_module(n->graph, n->target) : NULL;
}

struct mase_quant *mase_node_quant(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    return m ? m->quant : n->quant;
}

enum mase_op_type mase_node_op_type(const struct mase_node *n)
{
    if (n->kind == MASE_CALL_MODULE)
        return mase_ops[n->op].module_type;
    if (n->kind == MASE_GET_ATTR && !mase_is_tensor_constant(n->target))
        return MASE_TYPE_GET_ATTR;
    return mase_ops[n->op].type;
}

void mase_node_set_place(struct mase_node *n, struct mase_loc at)
{
    n->at = at;
    n->at.path = at.path ? mase_intern(&n->graph->intern, at.path) : NULL;
}

enum mase_status mase_node_place(const struct mase_node *n, enum mase_status st,
                                 struct mase_err *err)
{
    return st && err && n->at.line ? mase_place(err, n->at) : st;
}

void mase_graph_set_more(struct mase_graph *g, const struct mase_shape *more, int count)
{
    g->more = count ? mase_arena_memdup(&g->arena, more, (size_t)count * sizeof *more) : NULL;
    g->more_count = count;
}

const struct mase_shape *mase_graph_sample(const struct mase_graph *g, int i,
                                           const struct mase_shape *first)
{
    return i > 0 && i <= g->more_count ? &g->more[i - 1] : first;
}
