/*
 * plan.c - make a plan: follow the graph once, give every value a slot and every call a step.
 *
 * Which values vary with the batch is found by inferring all shapes twice, for two batch sizes: a
 * value whose shape stays is plain, one whose first dimension alone follows the batch has lanes,
 * anything else mixes samples and cannot be planned.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/plan.h"
#include "exec/step.h"
#include "ir/infer.h"

/* ---- slots ---- */

static struct mase_slot *new_slot(struct mase_plan *p, struct mase_tensor *t)
{
    struct mase_slot *s = mase_new(&p->arena, struct mase_slot);
    s->tensor = t;
    p->slot = mase_arena_grow(&p->arena, p->slot, p->slot_count, &p->slot_cap, sizeof *p->slot);
    p->slot[p->slot_count++] = s;
    return s;
}

struct mase_slot *mase_plan_slot(const struct mase_plan *p, const struct mase_tensor *t)
{
    for (int i = p->slot_count - 1; t && i >= 0; i--)
        if (p->slot[i]->tensor == t)
            return p->slot[i];
    return NULL;
}

/* lanes or plain, by the shapes for two batch sizes. */
static enum mase_status classify(struct mase_slot *s, const struct mase_plan *p,
                                 const struct mase_tensor *other, const struct mase_node *n,
                                 struct mase_err *err)
{
    const struct mase_shape *a = &s->tensor->shape, *b = &other->shape;
    s->rows = mase_shape_count(a);
    if (mase_shape_equal(a, b))
        return MASE_OK;
    struct mase_shape grown = *a;
    if (a->rank > 0 && a->dim[0] == p->batch) {
        grown.dim[0]++;
        s->lanes = true;
        s->rows = p->batch ? s->rows / p->batch : 0;
    }
    if (!s->lanes || !mase_shape_equal(&grown, b))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: its result mixes the samples of a batch, which a plan cannot run",
                         n->name);
    if (s->tensor->dtype != MASE_F32)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan computes in %s only, not %s", n->name,
                         mase_dtypes[MASE_F32].name, mase_dtypes[s->tensor->dtype].name);
    return MASE_OK;
}

/* Slots for every tensor of a result. */
static enum mase_status add_slots(struct mase_plan *p, const struct mase_node *n,
                                  const struct mase_arg *value, const struct mase_arg *other,
                                  struct mase_err *err)
{
    if (value->kind == MASE_ARG_TENSOR && !mase_plan_slot(p, value->tensor))
        return classify(new_slot(p, value->tensor), p, other->tensor, n, err);
    if (value->kind != MASE_ARG_TUPLE && value->kind != MASE_ARG_LIST)
        return MASE_OK;
    for (int i = 0; i < value->count; i++)
        MASE_TRY(add_slots(p, n, &value->items[i], &other->items[i], err));
    return MASE_OK;
}

/* ---- weights ---- */

static int64_t padded(int64_t count)
{
    return (count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

static bool count_weight(const char *full, struct mase_param *param, void *data)
{
    struct mase_plan *p = data;
    (void)full;
    (void)param;
    p->weight_count++;
    return true;
}

static bool add_weight(const char *full, struct mase_param *param, void *data)
{
    struct mase_plan *p = data;
    (void)full;
    p->weight[p->weight_count++] =
        (struct mase_weight){ .param = param, .count = mase_tensor_count(&param->tensor) };
    return true;
}

/* Trainable parameters first, so that an optimiser is one loop; then buffers. */
static void place_weights(struct mase_plan *p)
{
    mase_graph_each_param(p->graph, count_weight, p);
    p->weight = mase_new_array(&p->arena, struct mase_weight, (size_t)p->weight_count);
    p->weight_count = 0;
    mase_graph_each_param(p->graph, add_weight, p);
    int64_t buffers = 0;
    for (int i = 0; i < p->weight_count; i++)
        *(p->weight[i].param->is_buffer ? &buffers : &p->param_size) += padded(p->weight[i].count);
    p->params = mase_plan_floats(p->param_size + buffers);
    p->grads = p->train ? mase_plan_floats(p->param_size) : NULL;
    int64_t at[2] = { 0, p->param_size };
    for (int i = 0; i < p->weight_count; i++) {
        struct mase_weight *w = &p->weight[i];
        int64_t *next = &at[w->param->is_buffer];
        w->x = p->params + *next;
        w->dx = p->train && !w->param->is_buffer ? p->grads + *next : NULL;
        *next += padded(w->count);
    }
}

static struct mase_weight *weight_of(const struct mase_plan *p, const struct mase_param *param)
{
    for (int i = 0; i < p->weight_count; i++)
        if (p->weight[i].param == param)
            return &p->weight[i];
    return NULL;
}

struct mase_weight *mase_step_weight(struct mase_step *s, const struct mase_call *c,
                                     const char *name)
{
    const struct mase_param *param = c->module ? mase_module_param(c->module, name) : NULL;
    if (!param) {
        const struct mase_slot *slot = mase_plan_slot(s->plan, mase_call_tensor(c, name));
        param = slot ? slot->param : NULL;
    }
    return param ? weight_of(s->plan, param) : NULL;
}

void mase_plan_read_weights(struct mase_plan *p)
{
    for (int i = 0; i < p->weight_count; i++) {
        const struct mase_weight *w = &p->weight[i];
        for (int64_t j = 0; j < w->count; j++)
            w->x[j] = (float)mase_tensor_get(&w->param->tensor, j);
    }
    for (int i = 0; i < p->step_count && !p->train; i++)
        if (p->step[i]->kind->refresh)
            p->step[i]->kind->refresh(p->step[i]);
}

void mase_plan_write_weights(const struct mase_plan *p)
{
    for (int i = 0; i < p->weight_count; i++) {
        const struct mase_weight *w = &p->weight[i];
        for (int64_t j = 0; j < w->count; j++)
            mase_tensor_set(&w->param->tensor, j, w->x[j]);
    }
}

/* ---- steps ---- */

enum mase_status mase_step_input(struct mase_step *s, const struct mase_call *c, const char *name,
                                 struct mase_err *err)
{
    const struct mase_tensor *t;
    MASE_TRY(mase_call_need(c, &t, name, err));
    struct mase_slot *slot = mase_plan_slot(s->plan, t);
    if (!slot)
        return mase_call_fail(c, err, "'%s' is a parameter where a plan needs a computed value",
                              name);
    s->in[s->in_count++] = slot;
    return MASE_OK;
}

void mase_step_forward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items)
{
    s->forward[s->forward_count++] = (struct mase_phase){ run, unit, items };
}

void mase_step_backward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items)
{
    s->backward[s->backward_count++] = (struct mase_phase){ run, unit, items };
}

void mase_step_alias(struct mase_step *s, struct mase_slot *in)
{
    s->out->same = in->same ? in->same : in;
}

struct building {
    struct mase_plan *plan;
    struct mase_values value, other; /* results for batch and for batch + 1 */
};

static const struct mase_arg *lookup(const struct mase_node *n, void *data)
{
    return mase_values_get(data, n);
}

/* Does anything the step reads carry a gradient? A parameter does. */
static bool wants_gradient(const struct mase_step *s, const struct mase_call *c)
{
    for (int i = 0; i < s->in_count; i++)
        if (s->in[i]->needs_grad)
            return true;
    return c->module && c->module->param_count > 0;
}

static enum mase_status add_step(struct building *b, struct mase_node *n, struct mase_call *c,
                                 struct mase_err *err)
{
    struct mase_plan *p = b->plan;
    if (c->result.kind != MASE_ARG_TENSOR || !mase_plan_slot(p, c->result.tensor)->lanes)
        return MASE_OK; /* a number, a constant: known already */
    const struct mase_step_kind *kind = mase_step_kind_of(n->op);
    if (!kind)
        return mase_call_fail(c, err, "a plan cannot run this operation");
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){ .plan = p, .node = n, .kind = kind };
    s->out = mase_plan_slot(p, c->result.tensor);
    s->call = mase_arena_memdup(&p->arena, c, sizeof *c);
    MASE_TRY(kind->prepare(s, s->call, err));
    s->out->needs_grad = p->train && wants_gradient(s, c);
    p->step = mase_arena_grow(&p->arena, p->step, p->step_count, &p->step_cap, sizeof *p->step);
    p->step[p->step_count++] = s;
    return MASE_OK;
}

static enum mase_status add_call(struct building *b, struct mase_node *n, struct mase_arg *value,
                                 struct mase_err *err)
{
    struct mase_call c;
    MASE_TRY(mase_call_init(&c, &b->plan->arena, n, lookup, &b->value, err));
    MASE_TRY(mase_call_infer(&c, err));
    *value = c.result;
    MASE_TRY(add_slots(b->plan, n, value, mase_values_get(&b->other, n), err));
    return add_step(b, n, &c, err);
}

static void add_input(struct mase_plan *p, struct mase_slot *s)
{
    p->input =
        mase_arena_grow(&p->arena, p->input, p->input_count, &p->input_cap, sizeof *p->input);
    p->input[p->input_count++] = s;
}

static enum mase_status set_output(struct building *b, const struct mase_arg *returned,
                                   struct mase_err *err)
{
    const struct mase_arg *value =
        returned->kind == MASE_ARG_NODE ? mase_values_get(&b->value, returned->node) : returned;
    const bool tensor = value->kind == MASE_ARG_TENSOR;
    b->plan->output = tensor ? mase_plan_slot(b->plan, value->tensor) : NULL;
    if (!b->plan->output || !b->plan->output->lanes)
        return mase_fail(err, MASE_EUNSUPPORTED, "output: a plan returns one tensor of samples");
    return MASE_OK;
}

static enum mase_status add_node(struct building *b, struct mase_node *n, struct mase_arg *value,
                                 struct mase_err *err)
{
    struct mase_plan *p = b->plan;
    switch (n->kind) {
    case MASE_PLACEHOLDER:
        MASE_TRY(add_slots(p, n, value, mase_values_get(&b->other, n), err));
        add_input(p, mase_plan_slot(p, value->tensor));
        return MASE_OK;
    case MASE_GET_ATTR:
        MASE_TRY(add_slots(p, n, value, mase_values_get(&b->other, n), err));
        mase_plan_slot(p, value->tensor)->param = mase_graph_attr(p->graph, n->target);
        return MASE_OK;
    case MASE_OUTPUT:
        return set_output(b, &n->args.items[0], err);
    default:
        return add_call(b, n, value, err);
    }
}

/* The inputs' shapes with this many samples. */
static struct mase_input *resized(struct mase_plan *p, const struct mase_plan_opts *o,
                                  int64_t batch)
{
    struct mase_input *in =
        mase_arena_memdup(&p->arena, o->inputs, (size_t)o->input_count * sizeof *in);
    for (int i = 0; i < o->input_count; i++) {
        in[i].tensor.shape.dim[0] = batch;
        in[i].tensor.data = NULL;
    }
    return in;
}

static enum mase_status build(struct mase_plan *p, const struct mase_plan_opts *o,
                              struct mase_err *err)
{
    struct building b = { .plan = p };
    MASE_TRY(mase_infer_shapes(&b.value, &p->arena, p->graph, resized(p, o, o->batch),
                               o->input_count, err));
    MASE_TRY(mase_infer_shapes(&b.other, &p->arena, p->graph, resized(p, o, o->batch + 1),
                               o->input_count, err));
    int i = 0;
    for (struct mase_node *n = p->graph->first; n; n = n->next)
        MASE_TRY(add_node(&b, n, &b.value.value[i++], err));
    return MASE_OK;
}

/* ---- life ---- */

enum mase_status mase_plan_new(struct mase_plan **out, struct mase_graph *g,
                               const struct mase_plan_opts *o, struct mase_err *err)
{
    const struct mase_kernels *k;
    MASE_TRY(mase_kernels_select(&k, err));
    struct mase_plan *p = mase_xcalloc(sizeof *p);
    *p = (struct mase_plan){
        .graph = g, .k = k, .batch = o->batch, .train = o->train, .seed = o->seed
    };
    p->threads = o->threads > 1 ? o->threads : 1;
    p->stride = padded(o->batch);
    place_weights(p);
    const enum mase_status st = build(p, o, err);
    if (st) {
        mase_plan_free(p);
        return st;
    }
    mase_plan_place(p);
    mase_plan_read_weights(p);
    mase_plan_set_samples(p, o->batch);
    *out = p;
    return MASE_OK;
}

void mase_plan_free(struct mase_plan *p)
{
    if (!p)
        return;
    free(p->memory);
    free(p->params);
    free(p->grads);
    mase_arena_release(&p->arena);
    free(p);
}
