/*
 * graph_equal.c - are two graphs equal? If not, a sentence says the first difference.
 */
#include <math.h>

#include "ir/graph/graph_parts.h"

/* Append a sentence to why, if anyone wants it; false, so that `return differ(...)` reads well. */
static bool differ(struct mase_str *why, const char *fmt, ...) MASE_PRINTF(2, 3);
static bool differ(struct mase_str *why, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (why)
        mase_str_vprintf(why, fmt, ap);
    va_end(ap);
    return false;
}

static const char *or_none(const char *s)
{
    return s ? s : "none";
}

/* ---- nodes ---- */

static bool same_args(const struct mase_node *a, const struct mase_node *b, struct mase_str *why)
{
    struct mase_str left = { 0 }, right = { 0 };
    bool same = mase_arg_equal(&a->args, &b->args) && mase_arg_equal(&a->kwargs, &b->kwargs);

    if (!same) {
        mase_arg_print(&left, &a->args, true);
        mase_arg_print(&left, &a->kwargs, true);
        mase_arg_print(&right, &b->args, true);
        mase_arg_print(&right, &b->kwargs, true);
        differ(why, "node %s: arguments %s and %s", a->name, mase_str_text(&left),
               mase_str_text(&right));
    }
    mase_str_release(&left);
    mase_str_release(&right);
    return same;
}

/* What is compared. */
enum depth {
    NETWORK, /* what is computed from which parameters */
    FORMATS, /* and in which formats, and what of it is trained */
    ALL      /* and how parameters start, and annotations */
};

static bool same_node(const struct mase_node *a, const struct mase_node *b, enum depth depth,
                      struct mase_str *why)
{
    if (!mase_streq(a->name, b->name))
        return differ(why, "node %s stands where the other graph has %s", a->name, b->name);
    if (a->kind != b->kind)
        return differ(why, "node %s: %s and %s", a->name, mase_node_kind_names[a->kind],
                      mase_node_kind_names[b->kind]);
    if (!mase_streq(a->target, b->target))
        return differ(why, "node %s: targets %s and %s", a->name, a->target, b->target);
    if (a->op != b->op)
        return differ(why, "node %s: operations %s and %s", a->name, mase_ops[a->op].name,
                      mase_ops[b->op].name);
    if (depth == ALL && !mase_streq(a->annotation, b->annotation))
        return differ(why, "node %s: annotations %s and %s", a->name, or_none(a->annotation),
                      or_none(b->annotation));
    if (depth >= FORMATS && !mase_quant_equal(a->quant, b->quant))
        return differ(why, "node %s: different number formats", a->name);
    if (depth >= FORMATS && a->no_grad != b->no_grad)
        return differ(why, "node %s: gradients pass in one graph only", a->name);
    if (a->mode != b->mode)
        return differ(why, "node %s: modes %s and %s", a->name, mase_mode_names[a->mode],
                      mase_mode_names[b->mode]);
    return same_args(a, b, why);
}

static bool same_nodes(const struct mase_graph *a, const struct mase_graph *b, enum depth depth,
                       struct mase_str *why)
{
    const struct mase_node *n = a->first, *m = b->first;
    for (; n && m; n = n->next, m = m->next)
        if (!same_node(n, m, depth, why))
            return false;
    if (n || m)
        return differ(why, "node %s is in one graph only", (n ? n : m)->name);
    return true;
}

/* ---- modules and attributes ---- */

static bool same_values(const struct mase_param *a, const struct mase_param *b)
{
    for (int64_t i = 0, n = mase_tensor_count(&a->tensor); i < n; i++)
        if (a->values[i] != b->values[i] && !(isnan(a->values[i]) && isnan(b->values[i])))
            return false;
    return true;
}

static bool same_start(const struct mase_param *a, const struct mase_param *b)
{
    return mase_param_starts_as(a, b) && (a->init != MASE_INIT_VALUES || same_values(a, b));
}

static bool same_kind(enum mase_param_kind a, enum mase_param_kind b, enum depth depth)
{
    if (depth < ALL) {
        a = a == MASE_PARAM_FIXED ? MASE_PARAM_BUFFER : a;
        b = b == MASE_PARAM_FIXED ? MASE_PARAM_BUFFER : b;
    }
    if (depth < FORMATS) {
        a = a == MASE_PARAM_FROZEN ? MASE_PARAM_TRAINED : a;
        b = b == MASE_PARAM_FROZEN ? MASE_PARAM_TRAINED : b;
    }
    return a == b;
}

/* A constant has no file: its initial values are its values. */
static bool same_param(const struct mase_param *a, const struct mase_param *b, enum depth depth)
{
    return mase_streq(a->name, b->name) && same_kind(a->kind, b->kind, depth) &&
           mase_streq(a->tied, b->tied) && a->tensor.dtype == b->tensor.dtype &&
           mase_shape_equal(&a->tensor.shape, &b->tensor.shape) &&
           (depth < FORMATS || a->after == b->after) &&
           (!(depth == ALL || a->kind == MASE_PARAM_CONSTANT) || same_start(a, b));
}

bool mase_param_equal(const struct mase_param *a, const struct mase_param *b)
{
    return same_param(a, b, ALL);
}

static bool same_module(const struct mase_module *a, const struct mase_module *b, enum depth depth,
                        struct mase_str *why)
{
    if (!mase_streq(a->path, b->path))
        return differ(why, "module %s stands where the other graph has %s", a->path, b->path);
    if (a->op != b->op)
        return differ(why, "module %s: classes %s and %s", a->path, mase_ops[a->op].module,
                      mase_ops[b->op].module);
    const struct mase_sig *sig = mase_op_ctor_sig(a->op);
    for (int i = 0; i < sig->count; i++)
        if (!mase_arg_equal(&a->attrs[i], &b->attrs[i]))
            return differ(why, "module %s: different %s", a->path, sig->param[i].name);
    if (a->param_count != b->param_count)
        return differ(why, "module %s: %d and %d parameters", a->path, a->param_count,
                      b->param_count);
    for (int i = 0; i < a->param_count; i++)
        if (!same_param(&a->params[i], &b->params[i], depth))
            return differ(why, "module %s: different parameter %s", a->path, a->params[i].name);
    if (depth >= FORMATS && !mase_quant_equal(a->quant, b->quant))
        return differ(why, "module %s: different number formats", a->path);
    return true;
}

bool mase_module_equal(const struct mase_module *a, const struct mase_module *b)
{
    return same_module(a, b, ALL, NULL);
}

static bool same_modules(const struct mase_graph *a, const struct mase_graph *b, enum depth depth,
                         struct mase_str *why)
{
    const struct mase_module *m = a->modules, *k = b->modules;
    for (; m && k; m = m->next, k = k->next)
        if (!same_module(m, k, depth, why))
            return false;
    if (m || k)
        return differ(why, "module %s is in one graph only", (m ? m : k)->path);
    return true;
}

/* The next attribute from i on, without learned numbers of formats, which formats add. */
static const struct mase_param *attr_from(const struct mase_graph *g, int *i, enum depth depth)
{
    while (*i < g->attr_count && depth < ALL && g->attrs[*i].init == MASE_INIT_UNSET)
        ++*i;
    return *i < g->attr_count ? &g->attrs[(*i)++] : NULL;
}

static bool same_attrs(const struct mase_graph *a, const struct mase_graph *b, enum depth depth,
                       struct mase_str *why)
{
    int i = 0, k = 0;
    for (;;) {
        const struct mase_param *x = attr_from(a, &i, depth), *y = attr_from(b, &k, depth);
        if (!x != !y)
            return differ(why, "attribute %s is in one graph only", (x ? x : y)->name);
        if (!x)
            return true;
        if (!same_param(x, y, depth))
            return differ(why, "attribute %s is another in the other graph", x->name);
    }
}

static bool same(const struct mase_graph *a, const struct mase_graph *b, enum depth depth,
                 struct mase_str *why)
{
    return same_modules(a, b, depth, why) && same_attrs(a, b, depth, why) &&
           same_nodes(a, b, depth, why);
}

bool mase_graph_equal(const struct mase_graph *a, const struct mase_graph *b, struct mase_str *why)
{
    if (!mase_streq(a->name, b->name))
        return differ(why, "names %s and %s", or_none(a->name), or_none(b->name));
    if (a->batch != b->batch)
        return differ(why, "batches of %lld and %lld", (long long)a->batch, (long long)b->batch);
    return same(a, b, ALL, why);
}

bool mase_graph_same_network(const struct mase_graph *a, const struct mase_graph *b,
                             struct mase_str *why)
{
    return same(a, b, NETWORK, why);
}

bool mase_graph_same_formats(const struct mase_graph *a, const struct mase_graph *b,
                             struct mase_str *why)
{
    return same(a, b, FORMATS, why);
}
