/*
 * run.c - the plain reference: each node's operands quantised as its formats say, its shape rule,
 * memory for the result, its forward.
 */
#include <string.h>

#include <mase/run.h>

#include "base/limit.h"
#include "exec/reference/ref.h"
#include "exec/reference/ref_whole.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/infer.h"
#include "quant/quant.h"

/* ---- number formats ---- */

static bool is_f32(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_TENSOR && a->tensor->dtype == MASE_F32;
}

/* A copy of operand i, or of a tensor in its list, rounded. Numbers stay as they are. */
static enum mase_status quantise_tensor(struct mase_call *c, int i, struct mase_arg *a,
                                        struct mase_rounding r, struct mase_err *err)
{
    if (!is_f32(a))
        return MASE_OK;
    const struct mase_tensor *x = a->tensor;
    const struct mase_shape shape = mase_call_shape(c, i, x);
    struct mase_tensor t = mase_tensor(c->arena, MASE_F32, &x->shape, false);
    struct mase_arg copy = { .kind = MASE_ARG_TENSOR, .tensor = &t };
    MASE_TRY(mase_ref_room(c, &copy, err));
    mase_ref_allocate(c->arena, &copy);
    mase_quantize(r.format, mase_f32(&t), mase_f32(x), &shape, r.role, r.sign);
    a->tensor = mase_arena_memdup(c->arena, &t, sizeof t);
    return MASE_OK;
}

/* Replace the float32 tensors among the operands by quantised copies. */
static enum mase_status quantise_operands(struct mase_call *c, struct mase_err *err)
{
    for (int i = 0; i < c->sig->count; i++) {
        const struct mase_rounding r = mase_call_rounding_now(c, i);
        struct mase_arg *a = &c->param[i];
        if (!r.format)
            continue;
        if (mase_format_is_open(r.format))
            return mase_products_refuse(c->node, err);
        if (mase_arg_is_seq(a))
            *a = mase_arg_seq(c->arena, a->kind, a->items, a->count);
        for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
            MASE_TRY(quantise_tensor(c, i, &a->items[k], r, err));
        MASE_TRY(quantise_tensor(c, i, a, r, err));
    }
    return MASE_OK;
}

static void quantise_results(const struct mase_arg *a, struct mase_rounding r)
{
    for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
        quantise_results(&a->items[k], r);
    if (is_f32(a))
        mase_quantize(r.format, mase_f32(a->tensor), mase_f32(a->tensor), &a->tensor->shape, r.role,
                      r.sign);
}

static void quantise_result(const struct mase_call *c)
{
    const struct mase_rounding r = mase_result_rounding(c->node);
    if (r.format)
        quantise_results(&c->result, mase_rounding_now(c->node, MASE_DATA_OUT, r));
}

/* ---- operations that write into their operand ---- */

/* Give the first operand memory of its own when it lies in the caller's inputs or the weights. */
static void own_operand(struct mase_call *c)
{
    const struct mase_node *from = mase_node_written(c->node);
    bool borrowed = from->kind == MASE_PLACEHOLDER || from->kind == MASE_GET_ATTR;
    if (!borrowed || c->param[0].kind != MASE_ARG_TENSOR)
        return;
    struct mase_tensor *t = c->param[0].tensor; /* shared with the operand's node */
    t->data = mase_arena_memdup(c->arena, t->data, (size_t)mase_tensor_bytes(t));
}

static void write_back(struct mase_call *c)
{
    struct mase_arg *x = &c->param[0], *y = &c->result;
    if (x->kind == MASE_ARG_TENSOR && y->kind == MASE_ARG_TENSOR &&
        x->tensor->dtype == y->tensor->dtype &&
        mase_shape_equal(&x->tensor->shape, &y->tensor->shape))
        memcpy(x->tensor->data, y->tensor->data, (size_t)mase_tensor_bytes(y->tensor));
}

/* ---- one call ---- */

static enum mase_status need_values(const struct mase_call *c, struct mase_err *err)
{
    for (int i = 0; c->module && i < c->module->param_count; i++)
        if (!c->module->params[i].tensor.data)
            return mase_fail(err, MASE_EVALUE,
                             "%s: '%s.%s' has no values: load or initialise the weights",
                             c->node->name, c->module->path, c->module->params[i].name);
    return MASE_OK;
}

static uint64_t missing_bytes(const struct mase_arg *result)
{
    uint64_t bytes = 0;
    if (result->kind == MASE_ARG_TENSOR && !result->tensor->data)
        bytes = (uint64_t)mase_tensor_bytes(result->tensor);
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        bytes += missing_bytes(&result->items[i]);
    return bytes;
}

enum mase_status mase_ref_room(const struct mase_call *c, const struct mase_arg *value,
                               struct mase_err *err)
{
    const uint64_t bytes = missing_bytes(value), all = c->arena->used + bytes;
    if (all <= mase_limit_of_network())
        return MASE_OK;
    struct mase_str text = { 0 };
    mase_arg_show(&text, value);
    const enum mase_status st =
        mase_limit_network(all, err, "%s: its result %s of %s, with all before it,", c->node->name,
                           mase_str_text(&text), mase_size_text(bytes).s);
    mase_str_release(&text);
    return st;
}

int mase_ref_allocate(struct mase_arena *a, struct mase_arg *result)
{
    int count = 0;
    if (result->kind == MASE_ARG_TENSOR && !result->tensor->data) {
        *result->tensor = mase_tensor(a, result->tensor->dtype, &result->tensor->shape, true);
        return 1;
    }
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        count += mase_ref_allocate(a, &result->items[i]);
    return count;
}

/* Integers by arithmetic of their own, or through double as all else. */
static enum mase_status compute(struct mase_call *c, struct mase_err *err)
{
    bool done;
    MASE_TRY(mase_ref_whole(c, &done, err));
    if (done)
        return MASE_OK;
    MASE_TRY(mase_ref_check_whole(c, err));
    return mase_forward_of(c->node->op)(c, err);
}

enum mase_status mase_ref_forward(const struct mase_call *c, struct mase_err *err)
{
    struct mase_call own = *c; /* whose operands become copies */
    MASE_TRY(quantise_operands(&own, err));
    MASE_TRY(compute(&own, err));
    quantise_result(&own);
    return MASE_OK;
}

static enum mase_status run_step(struct mase_call *c, void *data, struct mase_err *err)
{
    (void)data;
    const struct mase_quant *q = mase_node_quant(c->node);
    bool quantised = q && !q->bypass;
    bool in_place = mase_call_writes(c);
    MASE_TRY(need_values(c, err));
    if (in_place)
        own_operand(c);
    if (quantised)
        MASE_TRY(quantise_operands(c, err));
    MASE_TRY(mase_call_infer(c, err));

    /* Numbers, and pieces of earlier results, are complete already; None is there for an effect. */
    mase_forward_fn *forward = mase_forward_of(c->node->op);
    MASE_TRY(mase_ref_room(c, &c->result, err));
    bool todo = mase_ref_allocate(c->arena, &c->result) || c->result.kind == MASE_ARG_NONE;
    if (todo && forward)
        MASE_TRY(compute(c, err));
    if (quantised)
        quantise_result(c);
    if (in_place)
        write_back(c);
    return MASE_OK;
}

/* Bytes of the tensors that no earlier result has. Data that are never read mark them. */
static uint64_t count_new(const struct mase_arg *result)
{
    uint64_t bytes = 0;
    if (result->kind == MASE_ARG_TENSOR && !result->tensor->data) {
        bytes = (uint64_t)mase_tensor_bytes(result->tensor);
        result->tensor->data = result->tensor;
    }
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        bytes += count_new(&result->items[i]);
    return bytes;
}

/* All results are kept to the end: would they be too many? Shapes alone tell, before anything is
 * computed. What cannot be inferred without values is found out on the way. */
static enum mase_status check_total(const struct mase_graph *g, const struct mase_input *inputs,
                                    int input_count, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_err why = { 0 };
    const struct mase_node *n = g->first;
    enum mase_status st = mase_infer_shapes(&v, &a, g, inputs, input_count, &why);
    uint64_t all = 0;
    const bool inferred = !st;
    if (st)
        st = st == MASE_ELIMIT ? mase_fail_at(err, st, why.loc, "%s", why.msg) : MASE_OK;
    for (int i = 0; inferred && !st && i < v.count; i++, n = n->next) {
        const uint64_t bytes = count_new(&v.value[i]);
        all += n->kind == MASE_PLACEHOLDER || n->kind == MASE_GET_ATTR ? 0 : bytes;
        st = mase_node_place(
            n, mase_limit_network(all, err, "%s: its result, with all before it,", n->name), err);
    }
    mase_arena_release(&a);
    return st;
}

/* With another number of samples a network of one size of batch may fail, or give other numbers. */
static enum mase_status check_samples(const struct mase_graph *g, const struct mase_input *inputs,
                                      int input_count, struct mase_err *err)
{
    const struct mase_shape *s = input_count ? &inputs[0].tensor.shape : NULL;
    if (!g->batch || !s || (s->rank && s->dim[0] == g->batch))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "the network takes batches of %lld samples alone, got %lld",
                     (long long)g->batch, (long long)(s->rank ? s->dim[0] : 0));
}

enum mase_status mase_run_reference(struct mase_values *v, struct mase_arena *a,
                                    const struct mase_graph *g, const struct mase_input *inputs,
                                    int input_count, struct mase_err *err)
{
    struct mase_walk_plan plan = {
        .inputs = inputs, .input_count = input_count, .with_data = true, .step = run_step
    };
    MASE_TRY(mase_graph_check_writes(g, err));
    MASE_TRY(mase_graph_need_learned(g, err));
    MASE_TRY(check_samples(g, inputs, input_count, err));
    MASE_TRY(check_total(g, inputs, input_count, err));
    return mase_values_walk(v, a, g, &plan, err);
}

const struct mase_arg *mase_run_output(const struct mase_values *v, const struct mase_graph *g)
{
    return mase_values_get(v, mase_graph_output(g));
}
