/*
 * alias.c - what an operation that writes in place changes beside its operand.
 *
 * In PyTorch a slice, a reshaped tensor and the result of x.add_(1) lie in the memory of x. A graph
 * has values: after x.add_(1) only later readers of x see the result. If another value in the same
 * memory is read afterwards, the graph would differ from PyTorch, so such a write is refused.
 */
#include "base/ptrmap.h"
#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

/* ---- who writes ---- */

const struct mase_arg *mase_node_argument(const struct mase_node *n, const char *name)
{
    const int i = mase_sig_find(mase_op_call_sig(n->op), name);
    for (int k = 0; k < n->kwargs.count; k++)
        if (mase_streq(n->kwargs.keys[k], name))
            return &n->kwargs.items[k];
    return i >= 0 && i < n->args.count ? &n->args.items[i] : NULL;
}

/* The flag of a function, or of a layer. */
static bool has_inplace(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    const struct mase_arg *flag = NULL;
    if (!m)
        flag = mase_node_argument(n, "inplace");
    else if (mase_sig_find(mase_op_ctor_sig(m->op), "inplace") >= 0)
        flag = mase_module_attr(m, "inplace");
    return flag && mase_arg_truthy(flag);
}

static bool is_inplace_operator(const char *target)
{
    static const char *const names[] = { "iadd", "isub", "imul", "itruediv" };
    if (!mase_starts_with(target, "operator."))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mase_streq(target + sizeof "operator." - 1, names[i]))
            return true;
    return false;
}

/* add_, torch.relu_; operator.and_ has its underscore because of the keyword. */
static bool is_inplace_name(const char *target)
{
    return mase_ends_with(target, "_") && !mase_ends_with(target, "__") &&
           !mase_starts_with(target, "operator.");
}

/* x.add_(y), relu_(x), relu(x, inplace=True), x[i] = y. */
static bool writes(const struct mase_node *n)
{
    if (!mase_ops[n->op].call)
        return false;
    if (n->op == MASE_OP_setitem)
        return true;
    if (n->kind == MASE_CALL_METHOD)
        return is_inplace_name(n->target);
    return (n->kind == MASE_CALL_FUNCTION &&
            (is_inplace_operator(n->target) || is_inplace_name(n->target))) ||
           has_inplace(n);
}

/* The first operand, where it is a node. */
static struct mase_node *operand(const struct mase_node *n)
{
    const struct mase_sig *sig = mase_ops[n->op].call ? mase_op_call_sig(n->op) : NULL;
    const struct mase_arg *x = n->args.count ? &n->args.items[0] : NULL;
    if (!x && sig && sig->count)
        x = mase_node_argument(n, sig->param[0].name);
    return x && x->kind == MASE_ARG_NODE ? x->node : NULL;
}

struct mase_node *mase_node_written(const struct mase_node *n)
{
    return writes(n) ? operand(n) : NULL;
}

/* ---- who lies in whose memory ---- */

struct value {
    struct mase_node *node;
    int at, last_use;   /* positions; of the last node that reads it */
    struct value *base; /* whose memory it may lie in, or NULL */
    int depth;          /* of bases below it */
    bool is_number;     /* x.size(0) + 1: no tensor, and never changed in place */
    bool is_assigned;   /* x += y, though the graph says add */
    struct value *next; /* in the same memory, of those that are read later; the latest first */
    struct value *same; /* of the one that has no base: the first of them */
};

struct memory {
    struct mase_arena arena;
    struct mase_ptrmap of;       /* values by their nodes */
    struct mase_ptrmap assigned; /* nodes that stand for x += y */
    bool is_source;              /* of a .py, whose parameters are PyTorch's */
};

static bool is_number_of_tensor(const char *attribute)
{
    return mase_streq(attribute, "shape") || mase_streq(attribute, "ndim") ||
           mase_streq(attribute, "dtype") || mase_streq(attribute, "device");
}

static bool asks_for_number(const struct mase_node *n)
{
    return n->op == MASE_OP_size || n->op == MASE_OP_shape || n->op == MASE_OP_dim ||
           (n->op == MASE_OP_getattr && n->args.count > 1 &&
            n->args.items[1].kind == MASE_ARG_TEXT && is_number_of_tensor(n->args.items[1].s));
}

static bool makes_tensor(enum mase_op op)
{
    return op == MASE_OP_full || op == MASE_OP_ones || op == MASE_OP_zeros ||
           op == MASE_OP_arange || op == MASE_OP_range || op == MASE_OP_tensor;
}

/* x[:, [0, 2]]: elements one by one, which are a copy. */
static bool picks(const struct mase_arg *index)
{
    bool found = index->kind == MASE_ARG_LIST;
    for (int i = 0; index->kind == MASE_ARG_TUPLE && i < index->count; i++)
        found |= index->items[i].kind == MASE_ARG_LIST;
    return found;
}

static const struct mase_node *base_of(const struct mase_node *n)
{
    if ((!writes(n) && !mase_ops[n->op].shares) || asks_for_number(n))
        return NULL;
    if (n->op == MASE_OP_getitem && n->args.count > 1 && picks(&n->args.items[1]))
        return NULL;
    return operand(n);
}

const struct mase_node *mase_node_memory(const struct mase_node *n, bool *whole)
{
    const struct mase_node *base;
    for (*whole = true; (base = base_of(n)); n = base)
        *whole &= writes(n) || n->op == MASE_OP_detach;
    return n;
}

static struct value *root(struct value *v)
{
    while (v->base)
        v = v->base;
    return v;
}

static void add_value(struct memory *m, struct mase_node *n, int at)
{
    struct value *v = mase_new(&m->arena, struct value);
    *v = (struct value){ .node = n, .at = at, .last_use = at };
    v->is_number = asks_for_number(n) || (n->input_count && !makes_tensor(n->op));
    for (int i = 0; i < n->input_count; i++) {
        struct value *in = mase_ptrmap_get(&m->of, n->inputs[i]);
        v->is_number &= asks_for_number(n) || (in && in->is_number);
        if (in)
            in->last_use = at;
    }
    v->is_assigned = mase_ptrmap_get(&m->assigned, n) && !v->is_number;
    const struct mase_node *base = v->is_assigned ? operand(n) : base_of(n);
    v->base = base ? mase_ptrmap_get(&m->of, base) : NULL;
    v->depth = v->base ? v->base->depth + 1 : 0;
    mase_ptrmap_put(&m->of, &m->arena, n, v);
}

/* ---- disjoint slices ---- */

/* Start and end of a slice in one dimension; negative: from the end. */
struct span {
    int64_t from, to;
};

static bool number_or(const struct mase_arg *a, int64_t otherwise, int64_t *out)
{
    *out = a->kind == MASE_ARG_INT ? a->i : otherwise;
    return a->kind == MASE_ARG_INT || a->kind == MASE_ARG_NONE;
}

/* Returns false when the span is unknown. */
static bool get_span(const struct mase_arg *a, struct span *s)
{
    if (a->kind == MASE_ARG_INT) {
        *s = (struct span){ a->i, a->i == -1 ? INT64_MAX : a->i + 1 };
        return true;
    }
    int64_t step;
    return a->kind == MASE_ARG_SLICE && number_or(&a->items[0], 0, &s->from) &&
           number_or(&a->items[1], INT64_MAX, &s->to) && number_or(&a->items[2], 1, &step) &&
           step > 0;
}

/* Does the first end where the second begins, or before? Both must count from the same end. */
static bool is_before(const struct span *a, const struct span *b)
{
    return a->to <= b->from && (a->to < 0) == (b->from < 0);
}

static const struct mase_arg *dimension(const struct mase_arg *index, int d)
{
    if (index->kind != MASE_ARG_TUPLE)
        return d ? NULL : index;
    return d < index->count ? &index->items[d] : NULL;
}

/* x[:, :2] and x[:, 2:]; pieces[0] and pieces[1]. Dimensions are compared as long as both have no
 * None and no ... before them. */
static bool are_apart(const struct mase_node *a, const struct mase_node *b)
{
    if (a->op != MASE_OP_getitem || b->op != MASE_OP_getitem || a->args.count < 2 ||
        b->args.count < 2)
        return false;
    for (int d = 0;; d++) {
        const struct mase_arg *i = dimension(&a->args.items[1], d);
        const struct mase_arg *k = dimension(&b->args.items[1], d);
        struct span s, t;
        if (!i || !k || !get_span(i, &s) || !get_span(k, &t))
            return false;
        if (is_before(&s, &t) || is_before(&t, &s))
            return true;
    }
}

/* May two values of one memory have an element in common? */
static bool meet(const struct value *a, const struct value *b)
{
    const struct value *below_a = NULL, *below_b = NULL;
    for (; a->depth > b->depth; a = a->base)
        below_a = a;
    for (; b->depth > a->depth; b = b->base)
        below_b = b;
    for (; a != b; a = a->base, b = b->base) {
        below_a = a;
        below_b = b;
    }
    return !below_a || !below_b || !are_apart(below_a->node, below_b->node);
}

/* ---- the check ---- */

static const struct mase_node *reader_after(const struct memory *m, const struct value *v, int at)
{
    for (int i = 0; i < v->node->user_count; i++) {
        const struct value *user = mase_ptrmap_get(&m->of, v->node->users[i]);
        if (user && user->at > at)
            return v->node->users[i];
    }
    return NULL;
}

static enum mase_status refuse(const struct memory *m, const struct value *w,
                               const struct mase_node *x, const struct value *other,
                               struct mase_err *err)
{
    const struct mase_node *reader = reader_after(m, other, w->at);
    mase_fail(
        err, MASE_EUNSUPPORTED,
        "%s changes %s in place, and with it %s, which may lie in the same memory and is read "
        "by %s afterwards; that is not followed: compute a new value, as x = x + 1 does, or "
        "clone() first",
        w->node->name, x->name, other->node->name, reader ? reader->name : "another");
    return mase_node_place(w->node, MASE_EUNSUPPORTED, err);
}

/* x += y whose x is read later: from now on a call that writes. */
static bool make_operator(struct mase_node *n)
{
    struct mase_graph *g = n->graph;
    const char *name = n->target + sizeof "operator." - 1;
    const char *target =
        mase_intern(&g->intern, mase_arena_printf(&g->arena, "operator.i%s", name));
    if (!is_inplace_operator(target) || mase_op_of_function(target) != n->op)
        return false;
    n->target = target;
    g->edits++;
    return true;
}

/* self.fc.weight.data.mul_(2) in a .py, or a slice of it: PyTorch's next call, its optimiser and
 * its files find the parameter changed, whereas a graph changes a value of its own. Lowering stores
 * buffers. */
static enum mase_status check_parameter(const struct mase_node *w, const struct mase_node *x,
                                        struct mase_err *err)
{
    bool whole;
    const struct mase_node *home = mase_node_memory(x, &whole);
    const struct mase_param *p =
        home->kind == MASE_GET_ATTR ? mase_graph_attr(w->graph, home->target) : NULL;
    if (!p || mase_param_is_buffer(p))
        return MASE_OK;
    mase_fail(err, MASE_EUNSUPPORTED,
              "forward changes '%s' in place, which the next call would find changed: that is not "
              "followed; compute with a new value, as self.w * self.mask is one",
              home->target);
    return mase_node_place(w, MASE_EUNSUPPORTED, err);
}

/* A write at w: does anyone but later readers of its operand see it? Values that are not read any
 * more are dropped from the list on the way. */
static enum mase_status check_write(const struct memory *m, struct value *w, struct mase_err *err)
{
    const struct mase_node *x = operand(w->node);
    struct value *written = x ? mase_ptrmap_get(&m->of, x) : NULL;
    if (!written)
        return MASE_OK;
    if (m->is_source)
        MASE_TRY(check_parameter(w->node, x, err));
    for (struct value **link = &root(written)->same; *link;) {
        struct value *v = *link;
        if (v->last_use <= w->at) {
            *link = v->next;
            continue;
        }
        if (v != written && v->at < w->at && meet(v, written))
            return refuse(m, w, x, v, err);
        link = &v->next;
    }
    if (w->is_assigned && written->last_use > w->at && !make_operator(w->node))
        return refuse(m, w, x, written, err);
    return MASE_OK;
}

static bool is_quantised(const struct mase_node *n)
{
    const struct mase_quant *q = mase_node_quant(n);
    return q && !q->bypass;
}

static enum mase_status check(const struct mase_graph *g, struct memory *m, struct mase_err *err)
{
    int at = 0;
    for (struct mase_node *n = g->first; n; n = n->next)
        add_value(m, n, at++);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        struct value *v = mase_ptrmap_get(&m->of, n), *first = root(v);
        v->next = first->same;
        first->same = v;
        if (v->is_assigned || (writes(n) && !is_quantised(n))) /* else into a copy of its own */
            MASE_TRY(check_write(m, v, err));
    }
    return MASE_OK;
}

enum mase_status mase_graph_check_writes(const struct mase_graph *g, struct mase_err *err)
{
    struct memory m = { 0 };
    bool any = false;
    for (const struct mase_node *n = g->first; n && !any; n = n->next)
        any = writes(n);
    enum mase_status st = any ? check(g, &m, err) : MASE_OK;
    mase_arena_release(&m.arena);
    if (!st && g->training)
        st = mase_graph_check_writes(g->training, err);
    return st;
}

enum mase_status mase_graph_follow_assigned(struct mase_graph *g, struct mase_node *const *nodes,
                                            int count, struct mase_err *err)
{
    struct memory m = { .is_source = true };
    for (int i = 0; i < count; i++)
        mase_ptrmap_put(&m.assigned, &m.arena, nodes[i], nodes[i]);
    const enum mase_status st = check(g, &m, err);
    mase_arena_release(&m.arena);
    return st;
}
