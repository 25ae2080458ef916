/*
 * prune_config.c - read the configuration of pruning, and list the parameters to prune (prune.h).
 */
#include <mase/call.h>
#include <mase/log.h>
#include <mase/program.h>
#include <mase/prune.h>

#include "base/ptrmap.h"
#include "ir/graph/graph_parts.h"

const char *const mase_prune_methods[] = {
    [MASE_PRUNE_RANDOM] = "random",   [MASE_PRUNE_L1] = "l1-norm",
    [MASE_PRUNE_L2] = "l2-norm",      [MASE_PRUNE_MOVEMENT] = "movement",
    [MASE_PRUNE_METHOD_COUNT] = NULL,
};

/* ---- the section ---- */

static const char *const scopes[] = { "local", "global", NULL };
static const char *const granularities[] = { "elementwise", "channel", NULL };
static const char *const units[] = { "epochs", "steps", NULL };

const struct mase_opt mase_prune_rows[] = {
    MASE_OPT_VALUE(
        struct mase_prune_opts, sparsity, "sparsity",
        "share of the weights that become zero, 0 to 1; or a table of shares by node, in "
        "which default is that of the others"),
    MASE_OPT_CHOICE(struct mase_prune_opts, method, "method", "l1-norm", mase_prune_methods,
                    "which go first: any, those of the smallest magnitude or square, or, in "
                    "training, those that move towards zero"),
    MASE_OPT_CHOICE(struct mase_prune_opts, scope, "scope", "local", scopes,
                    "each layer by itself, or all compared with each other"),
    MASE_OPT_CHOICE(struct mase_prune_opts, granularity, "granularity", "elementwise",
                    granularities, "single weights, or channels of the output, with their bias"),
    MASE_OPT_INT(struct mase_prune_opts, begin, "begin", 0, 0, 0x1p53,
                 "in training: when the first weights go"),
    MASE_OPT_INT(struct mase_prune_opts, end, "end", 0, 0, 0x1p53,
                 "in training: when the last have gone, by a cubic curve from begin on; not after "
                 "begin: all at once"),
    MASE_OPT_INT(struct mase_prune_opts, every, "every", 1, 1, 0x1p53,
                 "in training: from one choice of weights to the next"),
    MASE_OPT_CHOICE(struct mase_prune_opts, unit, "unit", "epochs", units,
                    "what begin, end and every count"),
    MASE_OPT_FLOAT(struct mase_prune_opts, initial_sparsity, "initial_sparsity", 0, 0, 1,
                   "in training: the share at begin, where end comes later"),
    MASE_OPT_VALUE(struct mase_prune_opts, weight, "weight",
                   "a table with the keys above, as the original has it"),
    MASE_OPT_VALUE(struct mase_prune_opts, activation, "activation",
                   "the original's; its sparsity must be 0"),
    { 0 },
};

static double number(const struct mase_value *v)
{
    return v->kind == MASE_INT ? (double)v->i : v->f;
}

static enum mase_status check_share(double *out, const struct mase_value *v, const char *of,
                                    struct mase_err *err)
{
    if (v->kind != MASE_INT && v->kind != MASE_FLOAT)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a number from 0 to 1, not %s", of,
                            mase_value_kind_names[v->kind]);
    if (!(number(v) >= 0 && number(v) <= 1))
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s = %g must be between 0 and 1", of,
                            number(v));
    *out = number(v);
    return MASE_OK;
}

static enum mase_status resolve_shares(struct mase_pruning *p, const struct mase_value *v,
                                       struct mase_err *err)
{
    double share;
    if (!v)
        return mase_fail(err, MASE_EVALUE,
                         "there is no sparsity: the share of the weights that become zero, 0 to 1");
    if (v->kind != MASE_TABLE)
        return check_share(&p->sparsity, v, "sparsity", err);
    p->shares = v;
    if (p->global)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "scope = \"global\" has one sparsity for all layers, not a table");
    for (int i = 0; i < v->count; i++) {
        MASE_TRY(check_share(&share, v->items[i], v->keys[i], err));
        if (mase_streq(v->keys[i], "default"))
            p->sparsity = share;
    }
    return MASE_OK;
}

static enum mase_prune_method find_method(const char *name)
{
    int m = 0;
    while (!mase_streq(mase_prune_methods[m], name))
        m++;
    return (enum mase_prune_method)m;
}

/* The original prunes activations, too; a section that asks for no such pruning passes. */
static enum mase_status check_activation(const struct mase_value *v, struct mase_err *err)
{
    const struct mase_value *s = v && v->kind == MASE_TABLE ? mase_value_get(v, "sparsity") : NULL;
    const bool is_number = s && (s->kind == MASE_INT || s->kind == MASE_FLOAT);
    if (!v || (is_number && number(s) == 0))
        return MASE_OK;
    return mase_fail_at(err, MASE_EUNSUPPORTED, v->at,
                        "activations are not pruned: leave this out, or say sparsity = 0");
}

/* The original's table `weight` has the options of the section itself. */
static enum mase_status take_weight(struct mase_prune_opts *o, struct mase_err *err)
{
    const struct mase_value *weight = o->weight;
    struct mase_arena a = { 0 };
    if (o->sparsity)
        return mase_fail_at(err, MASE_EVALUE, weight->at,
                            "sparsity stands beside 'weight' as well as in it: keep one of them");
    const enum mase_status st = mase_opts_bind(o, sizeof *o, mase_prune_rows, weight, &a, err);
    mase_arena_release(&a); /* these rows allocate no text */
    MASE_TRY(st);
    const struct mase_value *nested = o->weight ? o->weight : o->activation;
    return nested ? mase_fail_at(err, MASE_EVALUE, nested->at, "a table within 'weight'") : MASE_OK;
}

enum mase_status mase_prune_resolve(struct mase_pruning *p, const struct mase_prune_opts *given,
                                    struct mase_err *err)
{
    struct mase_prune_opts o = *given;
    MASE_TRY(check_activation(o.activation, err));
    if (o.weight)
        MASE_TRY(take_weight(&o, err));
    *p = (struct mase_pruning){ .method = find_method(o.method),
                                .global = mase_streq(o.scope, "global"),
                                .channels = mase_streq(o.granularity, "channel"),
                                .by_steps = mase_streq(o.unit, "steps"),
                                .begin = o.begin,
                                .end = o.end > o.begin ? o.end : o.begin,
                                .every = o.every,
                                .initial_sparsity = o.initial_sparsity };
    return resolve_shares(p, o.sparsity, err);
}

/* ---- targets ---- */

struct listing {
    struct mase_arena *arena;
    const struct mase_graph *graph;
    const struct mase_pruning *how;
    struct mase_prune_target *items;
    int count, cap;
    struct mase_ptrmap seen; /* parameters already listed: one may have several names and calls */
    bool *used;              /* by share: whether its pattern matched a node */
};

static bool can_prune(const struct mase_node *n)
{
    const enum mase_prim prim = mase_op_prim(n->op);
    return prim == MASE_PRIM_dot || prim == MASE_PRIM_conv || prim == MASE_PRIM_recur;
}

/* Is the first dimension of its weight that of the output? */
static bool has_channels(const struct mase_node *n)
{
    return mase_op_prim(n->op) != MASE_PRIM_recur && !mase_op_is_transposed(n->op);
}

static double share_of(struct listing *l, const struct mase_node *n)
{
    const struct mase_value *t = l->how->shares;
    for (int i = 0; t && i < t->count; i++)
        if (mase_streq(t->keys[i], n->name)) {
            l->used[i] = true;
            return number(t->items[i]);
        }
    return l->how->sparsity;
}

/* A format without zero cannot be pruned. */
static enum mase_status check_format(const struct mase_node *n, struct mase_err *err)
{
    const struct mase_format *f = mase_mark_rounding(n, 'w').format;
    if (!f || mase_format_keeps_zero(f))
        return MASE_OK;
    struct mase_str text = { 0 };
    mase_format_print(&text, f);
    mase_fail(err, MASE_EVALUE,
              "%s: its weights are in %s, which has no zero: what is pruned would come back",
              n->name, mase_str_text(&text));
    mase_str_release(&text);
    return MASE_EVALUE;
}

static int add(struct listing *l, const struct mase_node *n, const char *name, struct mase_param *p,
               int bias_of)
{
    p = mase_param_root(l->graph, p);
    if (mase_param_is_buffer(p) || p->tensor.dtype != MASE_F32 || mase_ptrmap_get(&l->seen, p))
        return -1;
    mase_ptrmap_put(&l->seen, l->arena, p, p);
    l->items = mase_arena_grow(l->arena, l->items, l->count, &l->cap, sizeof *l->items);
    struct mase_prune_target *t = &l->items[l->count];
    *t = (struct mase_prune_target){ .name = name,
                                     .node = n,
                                     .param = p,
                                     .count = mase_tensor_count(&p->tensor),
                                     .channels = p->tensor.shape.dim[0],
                                     .sparsity = share_of(l, n),
                                     .bias_of = bias_of };
    t->kept = mase_new_array(l->arena, uint8_t, (size_t)t->count);
    for (int64_t i = 0; i < t->count; i++)
        t->kept[i] = 1;
    return l->count++;
}

static void add_module(struct listing *l, const struct mase_node *n, struct mase_module *m)
{
    int weight = -1;
    for (int i = 0; i < m->param_count; i++) {
        struct mase_param *p = &m->params[i];
        const char mark = mase_param_mark(m, p);
        const char *name =
            p->tied ? p->tied : mase_arena_printf(l->arena, "%s.%s", m->path, p->name);
        if (mark == 'w')
            weight = add(l, n, name, p, -1);
        else if (mark == 'b' && l->how->channels && weight >= 0)
            add(l, n, name, p, weight);
    }
}

/* List the weight of a function, a parameter that get_attr reads. */
static void add_function(struct listing *l, const struct mase_node *n)
{
    int weight = -1;
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    for (int i = 0; i < sig->count; i++) {
        const char mark = sig->param[i].role;
        const struct mase_arg *arg = mase_node_argument(n, sig->param[i].name);
        if (!arg || arg->kind != MASE_ARG_NODE || arg->node->kind != MASE_GET_ATTR)
            continue;
        struct mase_param *p = mase_graph_attr(l->graph, arg->node->target);
        if (p && mark == 'w')
            weight = add(l, n, arg->node->target, p, -1);
        else if (p && mark == 'b' && l->how->channels && weight >= 0)
            add(l, n, arg->node->target, p, weight);
    }
}

static enum mase_status add_node(struct listing *l, const struct mase_node *n, struct mase_err *err)
{
    struct mase_module *m = mase_node_module(n);
    if (!can_prune(n))
        return MASE_OK;
    if (l->how->channels && !has_channels(n)) {
        mase_warn("prune: %s stays: channels of %s are not pruned", n->name, mase_ops[n->op].name);
        return MASE_OK;
    }
    MASE_TRY(check_format(n, err));
    if (m)
        add_module(l, n, m);
    else
        add_function(l, n);
    return MASE_OK;
}

static enum mase_status check_used(const struct listing *l, struct mase_err *err)
{
    const struct mase_value *t = l->how->shares;
    for (int i = 0; t && i < t->count; i++) {
        if (l->used[i] || mase_streq(t->keys[i], "default"))
            continue;
        const char **names = mase_new_array(l->arena, const char *, (size_t)l->count + 1);
        for (int k = 0; k < l->count; k++)
            names[k] = l->items[k].node->name;
        return mase_fail_unknown(err, t->key_at[i],
                                 &(struct mase_unknown){ t->keys[i], names, l->count,
                                                         .tail = "allowed: default, ",
                                                         .lists = true, .list_bytes = 300 },
                                 "no node with weights to prune is called '%s'", t->keys[i]);
    }
    return MASE_OK;
}

enum mase_status mase_prune_targets(struct mase_prune_target **list, int *count,
                                    struct mase_arena *a, const struct mase_graph *g,
                                    const struct mase_pruning *p, struct mase_err *err)
{
    struct listing l = { .arena = a, .graph = g, .how = p };
    l.used = mase_new_array(a, bool, p->shares ? (size_t)p->shares->count : 1);
    for (const struct mase_node *n = g->first; n; n = n->next)
        MASE_TRY(mase_node_place(n, add_node(&l, n, err), err));
    MASE_TRY(check_used(&l, err));
    *list = l.items;
    *count = l.count;
    return MASE_OK;
}

/* ---- how much is zero ---- */

struct mase_sparsity mase_tensor_sparsity(const struct mase_tensor *t)
{
    struct mase_sparsity s = { 0, t->data ? mase_tensor_count(t) : 0 };
    for (int64_t i = 0; i < s.values; i++)
        s.zeros += mase_tensor_get(t, i) == 0;
    return s;
}

struct mase_sparsity mase_graph_sparsity(const struct mase_graph *g)
{
    struct mase_arena a = { 0 };
    const struct mase_pruning none = { 0 };
    struct listing l = { .arena = &a, .graph = g, .how = &none };
    struct mase_sparsity sum = { 0 };
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (can_prune(n) && mase_node_module(n))
            add_module(&l, n, mase_node_module(n));
        else if (can_prune(n))
            add_function(&l, n);
    for (int i = 0; i < l.count; i++) {
        const struct mase_sparsity s = mase_tensor_sparsity(&l.items[i].param->tensor);
        sum.zeros += s.zeros;
        sum.values += s.values;
    }
    mase_arena_release(&a);
    return sum;
}
