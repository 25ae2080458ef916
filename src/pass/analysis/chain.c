/*
 * chain.c - a network run by the engine node by node.
 */
#include <stdlib.h>
#include <string.h>

#include "pass/analysis/chain.h"

/* A node and what computes it; the input's link has no plan. */
struct link {
    const struct mase_node *node;
    struct mase_graph *graph; /* of the node alone */
    struct mase_plan *plan;
    struct mase_lanes value;
    struct mase_shape shape;    /* of a sample, with a batch of one */
    const struct link **source; /* one for each input of the plan */
    int source_count;
};

struct mase_chain {
    struct mase_arena arena;
    struct link *link; /* in the order of the graph; the input first */
    int count;
};

static struct link *find(const struct mase_chain *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (mase_streq(c->link[i].node->name, name))
            return &c->link[i];
    return NULL;
}

/* ---- making ---- */

static bool says_in_place(const struct mase_node *n)
{
    const struct mase_module *module = mase_node_module(n);
    if (module) {
        const struct mase_sig *sig = mase_op_ctor_sig(n->op);
        for (int i = 0; i < sig->count; i++)
            if (mase_streq(sig->param[i].name, "inplace"))
                return mase_arg_truthy(&module->attrs[i]);
    }
    for (int i = 0; i < n->args.count; i++)
        if (n->args.items[i].kind == MASE_ARG_BOOL && n->args.items[i].b)
            return true; /* perhaps; the reference is never wrong */
    for (int i = 0; i < n->kwargs.count; i++)
        if (mase_streq(n->kwargs.keys[i], "inplace"))
            return true;
    return n->op == MASE_OP_setitem ||
           (n->kind == MASE_CALL_METHOD && mase_ends_with(n->target, "_")) ||
           (n->kind == MASE_CALL_FUNCTION && mase_starts_with(n->target, "operator.i"));
}

static bool writes_into_shared(const struct mase_node *n)
{
    return n->input_count && n->inputs[0]->user_count > 1 && says_in_place(n);
}

/* The node, and the constants it reads. */
static bool is_part(const struct mase_node *n, void *data)
{
    const struct mase_node *node = data;
    return n == node || (n->kind == MASE_GET_ATTR && mase_node_uses(node, n));
}

/* The shape of a value that follows the batch. */
static enum mase_status shape_of(struct mase_shape *shape, const struct mase_values *values,
                                 const struct mase_node *n, int64_t batch, struct mase_err *err)
{
    const struct mase_arg *v = mase_values_get(values, n);
    if (v->kind != MASE_ARG_TENSOR || v->tensor->dtype != MASE_F32 || !v->tensor->shape.rank ||
        v->tensor->shape.dim[0] != batch)
        return mase_fail(err, MASE_EUNSUPPORTED, "'%s' does not follow the batch", n->name);
    *shape = v->tensor->shape;
    shape->dim[0] = 1;
    return MASE_OK;
}

static enum mase_status make_plan(struct mase_chain *c, struct link *l, int64_t batch,
                                  struct mase_err *err)
{
    l->graph = mase_graph_extract(l->node->graph, is_part, (void *)l->node);
    const size_t room = (size_t)l->graph->node_count;
    struct mase_input *inputs = mase_new_array(&c->arena, struct mase_input, room);
    l->source = mase_new_array(&c->arena, const struct link *, room);
    for (const struct mase_node *n = l->graph->first; n; n = n->next) {
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        const struct link *from = find(c, n->name);
        if (!from)
            return mase_fail(err, MASE_EUNSUPPORTED, "'%s' is not computed in lanes", n->name);
        struct mase_input *in = &inputs[l->source_count];
        in->name = n->name;
        in->tensor = mase_tensor(&c->arena, MASE_F32, &from->shape, false);
        in->tensor.shape.dim[0] = batch;
        l->source[l->source_count++] = from;
    }
    const struct mase_plan_opts opts = { .batch = batch,
                                         .inputs = inputs,
                                         .input_count = l->source_count };
    MASE_TRY(mase_plan_new(&l->plan, l->graph, &opts, err));
    l->value = mase_plan_output(l->plan);
    return MASE_OK;
}

static void make_input(struct mase_chain *c, struct link *l, int64_t batch)
{
    const int64_t rows = mase_shape_count(&l->shape);
    l->value = (struct mase_lanes){
        .data = mase_new_array(&c->arena, float, (size_t)(rows * batch)),
        .rows = rows,
        .stride = batch,
    };
}

static enum mase_status add_links(struct mase_chain *c, const struct mase_graph *g,
                                  const struct mase_values *values, int64_t batch,
                                  struct mase_err *err)
{
    c->link = mase_new_array(&c->arena, struct link, (size_t)g->node_count);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (n->kind == MASE_OUTPUT || n->kind == MASE_GET_ATTR)
            continue;
        if (writes_into_shared(n))
            return mase_fail(err, MASE_EUNSUPPORTED, "'%s' writes into what others read", n->name);
        struct link *l = &c->link[c->count];
        l->node = n;
        MASE_TRY(shape_of(&l->shape, values, n, batch, err));
        c->count++; /* from here on it is freed */
        if (n->kind == MASE_PLACEHOLDER)
            make_input(c, l, batch);
        else
            MASE_TRY(make_plan(c, l, batch, err));
    }
    return MASE_OK;
}

enum mase_status mase_chain_new(struct mase_chain **out, const struct mase_graph *g,
                                const struct mase_input *input, int64_t batch, struct mase_err *err)
{
    struct mase_chain *c = calloc(1, sizeof *c);
    struct mase_input x = *input;
    struct mase_values values;
    if (!c)
        return mase_fail(err, MASE_ELIMIT, "no memory for a chain of plans");
    x.tensor.shape.dim[0] = batch;
    enum mase_status st = mase_infer_shapes(&values, &c->arena, g, &x, 1, err);
    if (!st)
        st = add_links(c, g, &values, batch, err);
    if (st)
        mase_chain_free(c);
    else
        *out = c;
    return st;
}

void mase_chain_free(struct mase_chain *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->count; i++) {
        mase_plan_free(c->link[i].plan);
        mase_graph_free(c->link[i].graph);
    }
    mase_arena_release(&c->arena);
    free(c);
}

/* ---- running ---- */

static void fill_input(const struct link *l, const float *x, int64_t n)
{
    const struct mase_lanes *v = &l->value;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < v->rows; r++)
            v->data[r * v->stride + i] = x[i * v->rows + r];
}

static void run_link(const struct link *l, int64_t n)
{
    mase_plan_set_samples(l->plan, n);
    for (int k = 0; k < l->source_count; k++) {
        const struct mase_lanes to = mase_plan_input(l->plan, k), *from = &l->source[k]->value;
        for (int64_t r = 0; r < from->rows; r++)
            memcpy(to.data + r * to.stride, from->data + r * from->stride,
                   (size_t)n * sizeof *to.data);
    }
    mase_plan_forward(l->plan);
}

void mase_chain_run(struct mase_chain *c, const float *x, int64_t n)
{
    for (int i = 0; i < c->count; i++)
        if (c->link[i].plan)
            run_link(&c->link[i], n);
        else
            fill_input(&c->link[i], x, n);
}

bool mase_chain_value(const struct mase_chain *c, const struct mase_node *n,
                      struct mase_lanes *value, struct mase_shape *shape)
{
    const struct link *l = find(c, n->name);
    if (!l)
        return false;
    *value = l->value;
    *shape = l->shape;
    return true;
}
