/*
 * add_common_metadata.c - operations, types, shapes and formats of every argument and result.
 *
 * Shapes come from inference: nothing is computed, and no weights are needed. With add_value the
 * graph is also run once by the plain reference, in evaluation mode, and every tensor is kept as a
 * copy: an in-place operation cannot change what another node is said to have seen.
 *
 * Arguments are named as the original names them: tensors that flow in are data_in_0, data_in_1
 * ..., parameters of a layer have their own names, plain values follow under the parameter's name.
 * The object of a method is not recorded.
 */
#include <string.h>

#include <mase/rng.h>
#include <mase/run.h>

#include "pass/support.h"

struct common_opts {
    bool add_value;
    bool force_device_meta;
    int64_t batch;
};

struct builder {
    struct mase_graph *g;
    struct mase_arena *scratch;
    const struct mase_values *values;
    bool add_value;
};

/* ---- records ---- */

static struct mase_tensor *snapshot(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_tensor *copy = mase_new(a, struct mase_tensor);
    *copy = mase_tensor(a, t->dtype, &t->shape, true);
    memcpy(copy->data, t->data, (size_t)mase_tensor_bytes(t));
    return copy;
}

static struct mase_meta_arg tensor_record(const struct builder *b, enum mase_meta_kind kind,
                                          const char *name, const struct mase_tensor *t)
{
    return (struct mase_meta_arg){
        .name = mase_intern(&b->g->intern, name),
        .kind = kind,
        .dtype = t->dtype,
        .shape = t->shape,
        .value = b->add_value && t->data ? snapshot(&b->g->arena, t) : NULL,
    };
}

static struct mase_meta_arg plain_record(const struct builder *b, enum mase_meta_kind kind,
                                         const char *name, const struct mase_arg *value)
{
    return (struct mase_meta_arg){
        .name = mase_intern(&b->g->intern, name),
        .kind = kind,
        .shape = { .rank = 1, .dim = { 1 } },
        .raw = mase_arg_copy(&b->g->arena, value),
    };
}

static bool holds_tensor(const struct mase_arg *v)
{
    if (v->kind == MASE_ARG_TENSOR)
        return true;
    for (int i = 0; v->kind >= MASE_ARG_TUPLE && i < v->count; i++)
        if (holds_tensor(&v->items[i]))
            return true;
    return false;
}

/* An argument with its nodes replaced by their values. A tensor inside a plain value (an index
 * among slices) is replaced by the name of its node: metadata holds no loose tensors. */
static struct mase_arg settled(const struct builder *b, const struct mase_arg *arg)
{
    if (arg->kind == MASE_ARG_NODE) {
        const struct mase_arg *v = mase_values_get(b->values, arg->node);
        return holds_tensor(v) ? (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = arg->node->name }
                               : *v;
    }
    struct mase_arg out = *arg;
    if (arg->kind < MASE_ARG_TUPLE)
        return out;
    out.items = mase_new_array(b->scratch, struct mase_arg, (size_t)arg->count);
    for (int i = 0; i < arg->count; i++)
        out.items[i] = settled(b, &arg->items[i]);
    return out;
}

/* The value of a node among the arguments, if it is a tensor or tensors; else NULL. */
static const struct mase_arg *tensors_of(const struct builder *b, const struct mase_arg *arg)
{
    if (arg->kind != MASE_ARG_NODE)
        return NULL;
    const struct mase_arg *v = mase_values_get(b->values, arg->node);
    return holds_tensor(v) ? v : NULL;
}

/* ---- arguments ---- */

/* Records of a node's arguments, under construction. */
struct records {
    struct mase_meta_arg *list;
    int count, cap;
};

static void add(const struct builder *b, struct records *r, struct mase_meta_arg record)
{
    r->list = mase_arena_grow(&b->g->arena, r->list, r->count, &r->cap, sizeof *r->list);
    r->list[r->count++] = record;
}

/* Add a data operand; several tensors (the result of split) are several records. */
static void add_data(const struct builder *b, struct records *r, const struct mase_arg *v)
{
    if (v->kind == MASE_ARG_TENSOR) {
        const char *name = mase_arena_printf(b->scratch, "data_in_%d", r->count);
        add(b, r, tensor_record(b, MASE_META_TENSOR, name, v->tensor));
    }
    for (int i = 0; v->kind >= MASE_ARG_TUPLE && i < v->count; i++)
        add_data(b, r, &v->items[i]);
}

static void add_other(const struct builder *b, struct records *r,
                      const struct mase_named_arg *named)
{
    const struct mase_arg *v = tensors_of(b, named->arg);
    struct mase_arg value = settled(b, named->arg);
    if (v && v->kind == MASE_ARG_TENSOR)
        add(b, r, tensor_record(b, MASE_META_TENSOR, named->name, v->tensor));
    else
        add(b, r, plain_record(b, MASE_META_RAW, named->name, &value));
}

static bool flows_in(const struct builder *b, const struct mase_named_arg *named)
{
    return mase_mark_is_data(named->role) && tensors_of(b, named->arg);
}

static void add_args(const struct builder *b, struct mase_node *n)
{
    struct records r = { 0 };
    struct mase_named_arg *args;
    const struct mase_module *module = mase_node_module(n);
    int count = mase_named_args(b->scratch, n, &args);
    for (int i = 0; i < count; i++)
        if (flows_in(b, &args[i]))
            add_data(b, &r, tensors_of(b, args[i].arg));
    for (int i = 0; module && i < module->param_count; i++)
        if (!mase_param_is_buffer(&module->params[i]))
            add(b, &r,
                tensor_record(b, MASE_META_PARAM, module->params[i].name,
                              &module->params[i].tensor));
    for (int i = 0; i < count; i++)
        if (!flows_in(b, &args[i]))
            add_other(b, &r, &args[i]);
    n->meta->args = r.list;
    n->meta->arg_count = r.count;
}

/* ---- results ---- */

static struct mase_meta_arg result_record(const struct builder *b, int i, const struct mase_arg *v)
{
    const char *name = mase_arena_printf(b->scratch, "data_out_%d", i);
    return v->kind == MASE_ARG_TENSOR ? tensor_record(b, MASE_META_TENSOR, name, v->tensor)
                                      : plain_record(b, MASE_META_OBJECT, name, v);
}

/* Several tensors, also in nested tuples, are several results; a tuple of numbers, such as a shape,
 * is one. */
static void add_results(const struct builder *b, struct records *r, const struct mase_arg *v)
{
    if (v->kind < MASE_ARG_TUPLE || !holds_tensor(v)) {
        add(b, r, result_record(b, r->count, v));
        return;
    }
    for (int i = 0; i < v->count; i++)
        add_results(b, r, &v->items[i]);
}

static void describe(const struct builder *b, struct mase_node *n)
{
    struct mase_meta *m = n->meta;
    struct records results = { 0 };
    bool is_call =
        n->kind == MASE_CALL_FUNCTION || n->kind == MASE_CALL_METHOD || n->kind == MASE_CALL_MODULE;
    m->op = n->op;
    m->type = mase_node_op_type(n);
    m->has_common = true;
    m->arg_count = 0;
    if (is_call)
        add_args(b, n);
    add_results(b, &results, mase_values_get(b->values, n));
    m->results = results.list;
    m->result_count = results.count;
    mase_meta_set_formats(n);
}

/* ---- values ---- */

/* Inputs without data get standard normal values, each from its own stream. */
static const struct mase_input *with_data(struct mase_pass_env *env, const struct mase_input *given)
{
    struct mase_input *inputs =
        mase_new_array(env->scratch, struct mase_input, (size_t)env->input_count);
    for (int i = 0; i < env->input_count; i++) {
        inputs[i] = given[i];
        struct mase_tensor *t = &inputs[i].tensor;
        if (t->data)
            continue;
        *t = mase_tensor(env->scratch, t->dtype, &t->shape, true);
        struct mase_rng r = mase_rng(env->seed, MASE_STREAM_DUMMY, mase_rng_name(inputs[i].name));
        for (int64_t k = 0; k < mase_tensor_count(t); k++)
            mase_tensor_set(t, k, mase_rng_normal(&r));
    }
    return inputs;
}

/* The inputs for another batch size, without values. */
static const struct mase_input *batched(struct mase_pass_env *env, int64_t batch)
{
    struct mase_input *inputs =
        mase_arena_memdup(env->scratch, env->inputs, (size_t)env->input_count * sizeof *inputs);
    for (int i = 0; i < env->input_count; i++) {
        struct mase_tensor *t = &inputs[i].tensor;
        if (!t->shape.rank || t->shape.dim[0] == batch)
            continue;
        t->shape.dim[0] = batch;
        t->data = NULL;
    }
    return inputs;
}

static enum mase_status run(const struct mase_graph *graph, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct common_opts *o = options;
    bool add_value = o->add_value && !o->force_device_meta;
    struct mase_values values;
    const struct mase_input *inputs = o->batch ? batched(env, o->batch) : env->inputs;
    if (add_value)
        MASE_TRY(mase_run_reference(&values, env->scratch, graph, with_data(env, inputs),
                                    env->input_count, err));
    else
        MASE_TRY(mase_infer_shapes(&values, env->scratch, graph, inputs, env->input_count, err));
    struct builder b = { mase_side_tables(graph), env->scratch, &values, add_value };
    for (struct mase_node *n = b.g->first; n; n = n->next)
        describe(&b, n);
    b.g->meta->has_common = true;
    mase_meta_boundary(b.g);
    return MASE_OK;
}

static const struct mase_opt opts[] = {
    MASE_OPT_BOOL(struct common_opts, add_value, "add_value", false,
                  "run the graph once and keep every tensor"),
    MASE_OPT_BOOL(struct common_opts, force_device_meta, "force_device_meta", false,
                  "shapes only, whatever add_value says"),
    MASE_OPT_INT(struct common_opts, batch, "batch", 0, 0, 1 << 20,
                 "samples in the shapes; 0: as many as the inputs have"),
    { 0 },
};

const struct mase_pass mase_pass_add_common_metadata = {
    .name = "add_common_metadata",
    .help = "operations, types, shapes and formats of every argument and result",
    .needs = MASE_PROP_META,
    .drops = MASE_PROP_HARDWARE,
    .gives = MASE_PROP_COMMON,
    .opts = opts,
    .opts_size = sizeof(struct common_opts),
    .analyse = run,
};
