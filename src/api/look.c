/*
 * look.c - looking at a network: its texts, its nodes, its weights.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/draw.h>
#include <mase/int_program.h>
#include <mase/meta.h>
#include <mase/program.h>

/* ---- texts ---- */

static enum mase_status print_graph(struct mase_str *out, struct mase_net *net,
                                    struct mase_err *err)
{
    (void)err;
    mase_graph_print(out, net->graph);
    return MASE_OK;
}

static enum mase_status print_mg(struct mase_str *out, struct mase_net *net, struct mase_err *err)
{
    (void)err;
    mase_graph_print_mg(out, net->graph);
    return MASE_OK;
}

static enum mase_status print_py(struct mase_str *out, struct mase_net *net, struct mase_err *err)
{
    return mase_graph_print_py(out, net->graph, err);
}

static enum mase_status print_program(struct mase_str *out, struct mase_net *net,
                                      struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_inputs in;
    struct mase_program *p = NULL;
    MASE_TRY(mase_net_need_output(net, err));
    enum mase_status st = mase_net_inputs(&in, &a, net, err);
    if (!st)
        st = mase_program_lower(
            &p, net->graph, &(struct mase_lower_opts){ .inputs = in.item, .input_count = in.count },
            err);
    if (!st)
        mase_program_print(out, p);
    mase_program_free(p);
    mase_arena_release(&a);
    return st;
}

static enum mase_status print_integers(struct mase_str *out, struct mase_net *net,
                                       struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_inputs in;
    struct mase_int_program *e = NULL;
    MASE_TRY(mase_net_need_values(net, err));
    enum mase_status st = mase_net_inputs(&in, &a, net, err);
    if (!st)
        st = mase_int_program_new(&e, net->graph, in.item, in.count, err);
    if (!st)
        mase_int_program_print(out, e);
    mase_int_program_free(e);
    mase_arena_release(&a);
    return st;
}

static enum mase_status draw_svg(struct mase_str *out, struct mase_net *net, struct mase_err *err)
{
    if (mase_draw_svg(out, net->graph, &(struct mase_draw){ .title = net->graph->name }))
        return MASE_OK;
    return mase_fail(err, MASE_ELIMIT, "the graph is too large to be drawn");
}

static enum mase_status draw_dot(struct mase_str *out, struct mase_net *net, struct mase_err *err)
{
    (void)err;
    mase_draw_dot(out, net->graph, &(struct mase_draw){ .title = net->graph->name });
    return MASE_OK;
}

static enum mase_status print_json(struct mase_str *out, struct mase_net *net, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    (void)err;
    mase_json_print(out, mase_json_graph(&a, net), 0);
    mase_arena_release(&a);
    return MASE_OK;
}

static const struct {
    const char *name;
    enum mase_status (*print)(struct mase_str *out, struct mase_net *net, struct mase_err *err);
} texts[] = {
    { "graph", print_graph },       { "mg", print_mg },     { "py", print_py },
    { "program", print_program },   { "svg", draw_svg },    { "dot", draw_dot },
    { "integers", print_integers }, { "json", print_json },
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

enum mase_status mase_net_describe(struct mase_str *out, struct mase_net *net, const char *what,
                                   struct mase_err *err)
{
    const char *names[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        names[i] = texts[i].name;
        if (mase_streq(what, texts[i].name))
            return texts[i].print(out, net, err);
    }
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ what, names, TEXTS, .tail = "but as ", .lists = true },
        "a network is not printed as '%s'", what);
}

struct print {
    struct mase_net *net;
    struct mase_text *out;
    const char *what;
};

static enum mase_status print_net(void *data, struct mase_err *err)
{
    const struct print *p = data;
    struct mase_str s = { 0 };
    MASE_TRY(mase_net_use(p->net, err));
    const enum mase_status st = mase_net_describe(&s, p->net, p->what, err);
    if (st)
        mase_str_release(&s);
    else
        mase_text_take(p->out, &s);
    return st;
}

enum mase_status mase_net_print(struct mase_net *net, struct mase_text *out, const char *what,
                                struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(out, err);
    MASE_API_NEED(what, err);
    return mase_api_run(net->session, print_net, &(struct print){ net, out, what }, err);
}

/* ---- nodes ---- */

/* Can nodes be listed? Not after an edit that failed half-way. */
static bool can_walk(const struct mase_net *net)
{
    return net && !net->broken;
}

const struct mase_node *mase_net_next(const struct mase_net *net, const struct mase_node *after)
{
    if (!can_walk(net) || (after && after->graph != net->graph))
        return NULL;
    return after ? after->next : net->graph->first;
}

const struct mase_node *mase_net_find(const struct mase_net *net, const char *name)
{
    return can_walk(net) && name ? mase_graph_find(net->graph, name) : NULL;
}

const char *mase_node_name(const struct mase_node *n)
{
    return n ? n->name : NULL;
}

const char *mase_node_op(const struct mase_node *n)
{
    return n ? mase_node_kind_names[n->kind] : NULL;
}

const char *mase_node_path(const struct mase_node *n)
{
    return n ? n->target : NULL;
}

const char *mase_node_mase_op(const struct mase_node *n)
{
    return n ? mase_ops[n->op].name : NULL;
}

const char *mase_node_mase_type(const struct mase_node *n)
{
    return n ? mase_op_type_names[mase_node_op_type(n)] : NULL;
}

const struct mase_node *mase_node_input(const struct mase_node *n, int i)
{
    return n && i >= 0 && i < n->input_count ? n->inputs[i] : NULL;
}

const struct mase_node *mase_node_user(const struct mase_node *n, int i)
{
    return n && i >= 0 && i < n->user_count ? n->users[i] : NULL;
}

struct node_json {
    struct mase_net *net;
    struct mase_text *out;
    const struct mase_node *node;
};

static enum mase_status print_node(void *data, struct mase_err *err)
{
    const struct node_json *c = data;
    struct mase_arena a = { 0 };
    MASE_TRY(mase_net_use(c->net, err));
    if (c->node->graph != c->net->graph)
        return mase_fail(err, MASE_EVALUE, "the node is none of this network's");
    mase_text_json(c->out, mase_json_node(&a, c->node));
    mase_arena_release(&a);
    return MASE_OK;
}

enum mase_status mase_node_json(struct mase_net *net, struct mase_text *out,
                                const struct mase_node *n, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(out, err);
    MASE_API_NEED(n, err);
    return mase_api_run(net->session, print_node, &(struct node_json){ net, out, n }, err);
}

/* ---- weights ---- */

/* As NumPy calls them. */
static const char *const dtypes[MASE_STORED_DTYPE_COUNT] = {
    [MASE_F32] = "float32", [MASE_F64] = "float64",   [MASE_I64] = "int64",
    [MASE_I32] = "int32",   [MASE_U8] = "uint8",      [MASE_DTYPE_BOOL] = "bool",
    [MASE_F16] = "float16", [MASE_BF16] = "bfloat16", [MASE_I16] = "int16",
    [MASE_I8] = "int8",     [MASE_U64] = "uint64",    [MASE_U32] = "uint32",
    [MASE_U16] = "uint16",
};

struct find_weight {
    struct mase_net *net;
    struct mase_weight_info *out;
    int at, wanted;
    struct mase_param *found;
    const char *name;
};

static bool find_weight(const char *full, struct mase_param *p, void *data)
{
    struct find_weight *f = data;
    if (f->at++ != f->wanted)
        return true;
    f->found = p;
    f->name = mase_intern(&f->net->graph->intern, full);
    return false;
}

static enum mase_status give_weight(void *data, struct mase_err *err)
{
    struct find_weight *f = data;
    struct mase_weight_info w = { 0 };
    MASE_TRY(mase_net_use(f->net, err));
    MASE_TRY(mase_api_size(f->out->size, sizeof w, "mase_weight_info", err));
    mase_graph_each_param(f->net->graph, find_weight, f);
    if (!f->found)
        return mase_fail(err, MASE_EVALUE, "there is no weight number %d", f->wanted);
    const struct mase_param *p = f->found;
    w.name = f->name;
    w.dtype = dtypes[p->tensor.dtype];
    w.rank = p->tensor.shape.rank;
    memcpy(w.dim, p->tensor.shape.dim, sizeof w.dim);
    w.data = p->tensor.data;
    w.buffer = mase_param_is_buffer(p);
    w.trained = mase_param_is_trained(p);
    w.constant = p->kind == MASE_PARAM_CONSTANT;
    MASE_API_GIVE(f->out, w);
    return MASE_OK;
}

enum mase_status mase_net_weight(struct mase_net *net, int i, struct mase_weight_info *w,
                                 struct mase_err *err)
{
    struct find_weight f = { .net = net, .out = w, .wanted = i };
    MASE_API_NEED(net, err);
    MASE_API_NEED(w, err);
    return mase_api_run(net->session, give_weight, &f, err);
}

static bool count_one(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    (void)p;
    ++*(int *)data;
    return true;
}

int mase_net_weights(const struct mase_net *net)
{
    int count = 0;
    if (can_walk(net))
        mase_graph_each_param(net->graph, count_one, &count);
    return count;
}

int64_t mase_net_params(const struct mase_net *net)
{
    return can_walk(net) ? mase_graph_param_count(net->graph) : 0;
}
