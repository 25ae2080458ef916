/*
 * json.c - a network as a value: what programs read in one go.
 */
#include "api/objects.h"

#include <math.h>

#include <mase/meta.h>

#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

/* The text of a str, which is released. */
static struct mase_value *text_of(struct mase_arena *a, struct mase_str *s)
{
    struct mase_value *v = mase_value_string(a, mase_str_text(s));
    mase_str_release(s);
    return v;
}

/* ---- arguments ---- */

static struct mase_value *wrapped(struct mase_arena *a, const char *key, struct mase_value *v)
{
    struct mase_value *t = mase_value_table(a);
    mase_value_set(a, t, key, v);
    return t;
}

static struct mase_value *argument(struct mase_arena *a, const struct mase_arg *arg);

static struct mase_value *items(struct mase_arena *a, const struct mase_arg *arg)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < arg->count; i++)
        mase_value_push(a, list, argument(a, &arg->items[i]));
    return list;
}

static struct mase_value *pairs(struct mase_arena *a, const struct mase_arg *arg)
{
    struct mase_value *table = mase_value_table(a);
    for (int i = 0; i < arg->count; i++)
        mase_value_set(a, table, arg->keys[i], argument(a, &arg->items[i]));
    return table;
}

static struct mase_value *number(struct mase_arena *a, double f)
{
    struct mase_str s = { 0 };
    if (isfinite(f))
        return mase_value_float(a, f);
    mase_repr_float(&s, f);
    return wrapped(a, "float", text_of(a, &s));
}

static struct mase_value *argument(struct mase_arena *a, const struct mase_arg *arg)
{
    switch (arg->kind) {
    case MASE_ARG_BOOL:
        return mase_value_bool(a, arg->b);
    case MASE_ARG_INT:
        return mase_value_int(a, arg->i);
    case MASE_ARG_FLOAT:
        return number(a, arg->f);
    case MASE_ARG_TEXT:
        return mase_value_string(a, arg->s);
    case MASE_ARG_ATOM:
        return wrapped(a, "atom", mase_value_string(a, arg->s));
    case MASE_ARG_NODE:
        return wrapped(a, "%", mase_value_string(a, arg->node->name));
    case MASE_ARG_TUPLE:
        return wrapped(a, "tuple", items(a, arg));
    case MASE_ARG_LIST:
        return items(a, arg);
    case MASE_ARG_DICT:
        return wrapped(a, "dict", pairs(a, arg));
    case MASE_ARG_SLICE:
        return wrapped(a, "slice", items(a, arg));
    default:
        return mase_value_none(a);
    }
}

/* ---- formats ---- */

struct mase_value *mase_json_formats(struct mase_arena *a, const struct mase_quant *q)
{
    if (!q)
        return mase_value_none(a);
    struct mase_value *v = mase_value_table(a);
    for (int o = 0; o < MASE_OPERAND_COUNT; o++) {
        struct mase_str s = { 0 };
        if (!q->operand[o])
            continue;
        mase_format_print(&s, q->operand[o]);
        mase_value_set(a, v, mase_operand_names[o], text_of(a, &s));
    }
    return v;
}

struct mase_value *mase_json_config(struct mase_arena *a, const struct mase_quant *q)
{
    if (!q)
        return mase_value_none(a);
    const struct mase_arg config = mase_quant_config(a, q);
    return mase_arg_to_value(a, &config);
}

/* ---- nodes ---- */

static struct mase_value *names(struct mase_arena *a, struct mase_node *const *nodes, int n)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < n; i++)
        mase_value_push(a, list, mase_value_string(a, nodes[i]->name));
    return list;
}

static struct mase_value *metadata(struct mase_arena *a, const struct mase_meta *m)
{
    struct mase_value *v = mase_value_table(a);
    for (int s = 0; s < MASE_SECTION_COUNT; s++)
        mase_value_set(a, v, mase_section_names[s],
                       m ? mase_meta_value(a, m, (enum mase_section)s) : mase_value_table(a));
    return v;
}

static struct mase_value *place(struct mase_arena *a, const struct mase_loc *at)
{
    if (!at->line)
        return mase_value_none(a);
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "file", mase_value_text(a, at->path));
    mase_value_set(a, v, "line", mase_value_int(a, at->line));
    mase_value_set(a, v, "col", mase_value_int(a, at->col));
    return v;
}

struct mase_value *mase_json_node(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_value *v = mase_value_table(a);
    struct mase_str type = { 0 };
    mase_node_type_name(&type, n);
    mase_value_set(a, v, "name", mase_value_text(a, n->name));
    mase_value_set(a, v, "op", mase_value_text(a, mase_node_kind_names[n->kind]));
    mase_value_set(a, v, "target", mase_value_text(a, n->target));
    mase_value_set(a, v, "annotation", mase_value_text(a, n->annotation));
    mase_value_set(a, v, "args", items(a, &n->args));
    mase_value_set(a, v, "kwargs", pairs(a, &n->kwargs));
    mase_value_set(a, v, "inputs", names(a, n->inputs, n->input_count));
    mase_value_set(a, v, "users", names(a, n->users, n->user_count));
    mase_value_set(a, v, "mase_op", mase_value_text(a, mase_ops[n->op].name));
    mase_value_set(a, v, "mase_type", mase_value_text(a, mase_op_type_names[mase_node_op_type(n)]));
    mase_value_set(a, v, "type_name", text_of(a, &type));
    mase_value_set(a, v, "module",
                   mase_value_text(a, n->kind == MASE_CALL_MODULE ? n->target : NULL));
    mase_value_set(a, v, "formats", mase_json_formats(a, mase_node_quant(n)));
    mase_value_set(a, v, "config", mase_json_config(a, mase_node_quant(n)));
    mase_value_set(a, v, "at", place(a, &n->at));
    mase_value_set(a, v, "meta", metadata(a, n->meta));
    return v;
}

/* ---- layers ---- */

static struct mase_value *param_names(struct mase_arena *a, const struct mase_module *m,
                                      bool buffers)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < m->param_count; i++)
        if (mase_param_is_buffer(&m->params[i]) == buffers)
            mase_value_push(a, list, mase_value_string(a, m->params[i].name));
    return list;
}

static struct mase_value *layer(struct mase_arena *a, const struct mase_module *m)
{
    struct mase_value *v = mase_value_table(a), *attrs = mase_value_table(a);
    const struct mase_sig *sig = mase_op_ctor_sig(m->op);
    struct mase_str class = { 0 }, repr = { 0 };
    mase_module_class(&class, m);
    mase_module_repr(&repr, m);
    for (int i = 0; sig && i < sig->count; i++)
        mase_value_set(a, attrs, sig->param[i].name, argument(a, &m->attrs[i]));
    mase_value_set(a, v, "path", mase_value_text(a, m->path));
    mase_value_set(a, v, "class", text_of(a, &class));
    mase_value_set(a, v, "base", mase_value_text(a, mase_ops[m->op].module));
    mase_value_set(a, v, "repr", text_of(a, &repr));
    mase_value_set(a, v, "mase_op", mase_value_text(a, mase_ops[m->op].name));
    mase_value_set(a, v, "attrs", attrs);
    mase_value_set(a, v, "parameters", param_names(a, m, false));
    mase_value_set(a, v, "buffers", param_names(a, m, true));
    mase_value_set(a, v, "formats", mase_json_formats(a, m->quant));
    mase_value_set(a, v, "config", mase_json_config(a, m->quant));
    return v;
}

struct mase_value *mase_json_graph(struct mase_arena *a, const struct mase_net *net)
{
    const struct mase_graph *g = net->graph;
    struct mase_value *v = mase_value_table(a), *nodes = mase_value_list(a),
                      *modules = mase_value_list(a);
    for (const struct mase_node *n = g->first; n; n = n->next)
        mase_value_push(a, nodes, mase_json_node(a, n));
    for (const struct mase_module *m = g->modules; m; m = m->next)
        mase_value_push(a, modules, layer(a, m));
    mase_value_set(a, v, "name", mase_value_text(a, g->name));
    mase_value_set(a, v, "edits", mase_value_int(a, (int64_t)net->edits));
    mase_value_set(a, v, "quantised", mase_value_bool(a, mase_graph_is_quantised(g)));
    mase_value_set(a, v, "sample",
                   net->has_sample ? mase_value_ints(a, net->sample.dim, net->sample.rank)
                                   : mase_value_none(a));
    mase_value_set(a, v, "nodes", nodes);
    mase_value_set(a, v, "modules", modules);
    mase_value_set(a, v, "meta", metadata(a, g->meta));
    return v;
}
