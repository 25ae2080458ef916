/*
 * infer.c - walk a graph and give every node a result: shapes alone, or (through exec) values.
 */
#include <string.h>

#include <mase/call.h>

#include "base/counters.h"
#include "ir/shape/graph_types.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"

const struct mase_arg *mase_values_get(const struct mase_values *v, const struct mase_node *n)
{
    uintptr_t position = (uintptr_t)mase_map_get(&v->index, n->name);
    return position ? &v->value[position - 1] : NULL;
}

static const struct mase_arg *lookup_value(const struct mase_node *n, void *data)
{
    return mase_values_get(data, n);
}

/* ---- what comes from outside ---- */

static struct mase_arg tensor_arg(struct mase_arena *a, const struct mase_tensor *t, bool with_data)
{
    struct mase_tensor *copy = mase_arena_memdup(a, t, sizeof *t);
    if (!with_data)
        copy->data = NULL;
    return (struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = copy };
}

enum mase_status mase_missing_input(const struct mase_graph *g, const struct mase_node *n,
                                    const struct mase_input *inputs, int input_count,
                                    struct mase_err *err)
{
    struct mase_str need = { 0 }, given = { 0 };
    for (const struct mase_node *p = g->first; p; p = p->next)
        if (p->kind == MASE_PLACEHOLDER)
            mase_str_printf(&need, "%s%s", need.len ? ", " : "", p->name);
    for (int i = 0; i < input_count; i++)
        mase_str_printf(&given, "%s%s", i ? ", " : "", inputs[i].name);
    enum mase_status st =
        mase_fail(err, MASE_EVALUE, "no input for placeholder '%s': the graph takes %s; given: %s",
                  n->name, mase_str_text(&need), given.len ? mase_str_text(&given) : "nothing");
    mase_str_release(&need);
    mase_str_release(&given);
    return st;
}

static enum mase_status placeholder_value(struct mase_arg *out, struct mase_arena *a,
                                          const struct mase_graph *g, const struct mase_node *n,
                                          const struct mase_walk_plan *plan, struct mase_err *err)
{
    for (int i = 0; i < plan->input_count; i++) {
        const struct mase_input *in = &plan->inputs[i];
        if (!mase_streq(in->name, n->name))
            continue;
        if (plan->with_data && !in->tensor.data)
            return mase_fail(err, MASE_EVALUE, "input '%s' has a shape but no values", n->name);
        *out = tensor_arg(a, &in->tensor, plan->with_data);
        return MASE_OK;
    }
    if (n->args.count == 0)
        return mase_missing_input(g, n, plan->inputs, plan->input_count, err);
    *out = n->args.items[0];
    return MASE_OK;
}

static enum mase_status attr_value(struct mase_arg *out, struct mase_arena *a,
                                   const struct mase_graph *g, const struct mase_node *n,
                                   const struct mase_walk_plan *plan, struct mase_err *err)
{
    const struct mase_param *p = mase_graph_attr(g, n->target);
    if (!p)
        return mase_fail(err, MASE_EVALUE, "%s: the graph has no attribute '%s'", n->name,
                         n->target);
    if (plan->with_data && !p->tensor.data)
        return mase_fail(err, MASE_EVALUE, "%s: '%s' has no values: load or initialise the weights",
                         n->name, n->target);
    *out = tensor_arg(a, &p->tensor, plan->with_data);
    return MASE_OK;
}

/* ---- what is returned ---- */

struct mase_arg mase_values_resolve(struct mase_values *v, const struct mase_arg *arg)
{
    struct mase_resolving r = { .arena = v->arena, .lookup = lookup_value, .data = v };
    const struct mase_arg value = mase_resolve(&r, arg);
    if (r.missing)
        mase_bug("%s has no value", r.missing->name);
    return value;
}

static enum mase_status output_value(struct mase_arg *out, struct mase_values *v,
                                     const struct mase_node *n, struct mase_err *err)
{
    struct mase_resolving r = { .arena = v->arena, .lookup = lookup_value, .data = v };
    *out = n->args.count ? mase_resolve(&r, &n->args.items[0]) : mase_arg_none();
    if (r.missing)
        return mase_fail(err, MASE_EVALUE, "%s: %s has no value yet", n->name, r.missing->name);
    return MASE_OK;
}

/* ---- the walk ---- */

static bool small_enough(const struct mase_call *c, const struct mase_arg *a)
{
    if (a->kind == MASE_ARG_TENSOR)
        return mase_call_count(c, &a->tensor->shape) >= 0;
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        if (!small_enough(c, &a->items[i]))
            return false;
    return true;
}

static enum mase_status check_size(const struct mase_call *c, const char *what,
                                   const struct mase_arg *value, struct mase_err *err)
{
    const struct mase_node *n = c->node;
    if (small_enough(c, value))
        return MASE_OK;
    struct mase_str text = { 0 };
    mase_arg_show(&text, value);
    mase_fail(err, MASE_ELIMIT, "%s: %s: the result %s has more than 2^31 values", n->name, what,
              mase_str_text(&text));
    mase_str_release(&text);
    return MASE_ELIMIT;
}

static enum mase_status apply_rule(struct mase_call *c, struct mase_err *err)
{
    const struct mase_op_info *op = &mase_ops[c->node->op];
    if (!op->shape)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: '%s' is no operation that we know",
                         c->node->name, c->node->target);
    mase_count(MASE_COUNT_SHAPE_RULES);
    return op->shape(c, err);
}

enum mase_status mase_call_apply_rule(struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(apply_rule(c, err));
    return check_size(c, mase_ops[c->node->op].name, &c->result, err);
}

enum mase_status mase_call_infer(struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(apply_rule(c, err));
    MASE_TRY(mase_call_check_formats(c, err));
    return check_size(c, mase_ops[c->node->op].name, &c->result, err);
}

static enum mase_status node_value(struct mase_arg *out, struct mase_values *v,
                                   const struct mase_graph *g, const struct mase_node *n,
                                   const struct mase_walk_plan *plan, struct mase_err *err)
{
    struct mase_call c = { .node = n, .any_batch = plan->any_batch };
    switch (n->kind) {
    case MASE_PLACEHOLDER:
        MASE_TRY(placeholder_value(out, v->arena, g, n, plan, err));
        return check_size(&c, mase_node_kind_names[n->kind], out, err);
    case MASE_GET_ATTR:
        MASE_TRY(attr_value(out, v->arena, g, n, plan, err));
        return check_size(&c, mase_node_kind_names[n->kind], out, err);
    case MASE_OUTPUT:
        return output_value(out, v, n, err);
    default:
        break;
    }
    if (n->op == MASE_OP_unknown)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: '%s' is no operation that we know", n->name,
                         n->target);
    MASE_TRY(mase_call_init(&c, v->arena, n, lookup_value, v, err));
    c.any_batch = plan->any_batch;
    MASE_TRY(plan->step(&c, plan->data, err));
    *out = c.result;
    return MASE_OK;
}

enum mase_status mase_values_extend(struct mase_values *v, const struct mase_graph *g,
                                    const struct mase_walk_plan *plan, struct mase_err *err)
{
    const struct mase_node *n = g->first;
    struct mase_arg *value = mase_new_array(v->arena, struct mase_arg, (size_t)g->node_count);
    if (v->count)
        memcpy(value, v->value, (size_t)v->count * sizeof *value);
    v->value = value;
    for (int i = 0; i < v->count; i++)
        n = n->next;
    for (; n; n = n->next) {
        const enum mase_status st = node_value(&v->value[v->count], v, g, n, plan, err);
        v->count++;
        if (st && plan->goes_on)
            continue;
        MASE_TRY(mase_node_place(n, st, err));
        mase_map_put(&v->index, n->name, (void *)(uintptr_t)v->count);
    }
    return MASE_OK;
}

enum mase_status mase_values_walk(struct mase_values *v, struct mase_arena *a,
                                  const struct mase_graph *g, const struct mase_walk_plan *plan,
                                  struct mase_err *err)
{
    *v = (struct mase_values){ .arena = a, .index.arena = a };
    return mase_values_extend(v, g, plan, err);
}

static enum mase_status infer_step(struct mase_call *c, void *data, struct mase_err *err)
{
    (void)data;
    return mase_call_infer(c, err);
}

/* The known types of the graph as values. Formats may have been set since. */
static enum mase_status take_results(struct mase_values *v, struct mase_arena *a,
                                     const struct mase_graph *g,
                                     const struct mase_arg *const *result, struct mase_err *err)
{
    *v = (struct mase_values){ .arena = a, .index.arena = a };
    v->value = mase_new_array(a, struct mase_arg, (size_t)g->node_count);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        struct mase_call c;
        v->value[v->count] = *result[v->count];
        if (mase_node_quant(n)) {
            MASE_TRY(mase_node_place(n, mase_call_init(&c, a, n, lookup_value, v, err), err));
            c.result = *result[v->count];
            MASE_TRY(mase_node_place(n, mase_call_check_formats(&c, err), err));
        }
        v->count++;
        mase_map_put(&v->index, n->name, (void *)(uintptr_t)v->count);
    }
    return MASE_OK;
}

enum mase_status mase_infer_shapes(struct mase_values *v, struct mase_arena *a,
                                   const struct mase_graph *g, const struct mase_input *inputs,
                                   int input_count, struct mase_err *err)
{
    const struct mase_arg *const *known = mase_graph_results(g, a, inputs, input_count);
    if (known)
        return take_results(v, a, g, known, err);
    struct mase_walk_plan plan = { .inputs = inputs,
                                   .input_count = input_count,
                                   .step = infer_step };
    return mase_values_walk(v, a, g, &plan, err);
}

/* ---- inputs ---- */

static bool fits(const struct mase_input *in, int count, const struct mase_graph *g)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_err err;
    const bool fit = mase_infer_shapes(&v, &a, g, in, count, &err) == MASE_OK;
    mase_arena_release(&a);
    return fit;
}

/* Try every way to make `left` of the inputs from `first` on something else than floats. */
static bool try_types(struct mase_input *in, int count, int first, int left,
                      const struct mase_graph *g)
{
    static const enum mase_dtype others[] = { MASE_I64, MASE_DTYPE_BOOL };
    if (!left)
        return fits(in, count, g);
    for (int i = first; i + left <= count; i++) {
        for (int k = 0; k < 2; k++) {
            in[i].tensor.dtype = others[k];
            if (try_types(in, count, i + 1, left - 1, g))
                return true;
        }
        in[i].tensor.dtype = MASE_F32;
    }
    return false;
}

void mase_inputs_find_type(struct mase_input *in, int count, const struct mase_graph *g)
{
    enum { MOST_TRIED = 5 }; /* of more inputs there are too many ways */
    for (int i = 0; i < count; i++)
        in[i].tensor.dtype = MASE_F32;
    for (int others = 0; others <= count; others++)
        if ((count <= MOST_TRIED || others < 2) && try_types(in, count, 0, others, g))
            return;
}

struct mase_inputs mase_graph_inputs(struct mase_arena *a, const struct mase_graph *g,
                                     const struct mase_shape *sample, int64_t batch)
{
    struct mase_input *in = mase_new_array(a, struct mase_input, (size_t)g->node_count);
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        const struct mase_shape *own = mase_graph_sample(g, count, sample);
        struct mase_tensor t = { .dtype = MASE_F32, .shape = { own->rank + 1, { batch } } };
        memcpy(t.shape.dim + 1, own->dim, sizeof t.shape.dim - sizeof t.shape.dim[0]);
        in[count++] = (struct mase_input){ mase_arena_strdup(a, n->name), t };
    }
    mase_inputs_find_type(in, count, g);
    return (struct mase_inputs){ in, count };
}

int64_t mase_inputs_features(const struct mase_inputs *in)
{
    int64_t features = 0;
    for (int i = 0; i < in->count; i++) {
        struct mase_shape one = in->item[i].tensor.shape;
        one.dim[0] = 1;
        features += mase_shape_count(&one);
    }
    return features;
}

struct mase_input *mase_inputs_fill(struct mase_arena *a, const struct mase_inputs *in,
                                    const float *x, int64_t n)
{
    const int64_t features = mase_inputs_features(in);
    struct mase_input *out = mase_arena_memdup(a, in->item, (size_t)in->count * sizeof *in->item);
    for (int k = 0; k < in->count; k++) {
        struct mase_tensor *t = &out[k].tensor;
        t->shape.dim[0] = n;
        *t = mase_tensor(a, t->dtype, &t->shape, true);
        const int64_t each = n ? mase_tensor_count(t) / n : 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t f = 0; f < each; f++)
                mase_tensor_set(t, i * each + f, (double)x[i * features + f]);
        x += each;
    }
    return out;
}
