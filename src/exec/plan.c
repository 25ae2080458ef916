/*
 * plan.c - make a plan: follow the graph once, give every value a slot and every call a step.
 *
 * Which values vary with the batch is found by inferring all shapes twice, for two batch sizes: a
 * value whose shape stays is plain, one of whose dimensions one alone follows the batch has lanes,
 * anything else mixes samples and cannot be planned.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/plan.h"
#include "exec/quantise.h"
#include "exec/ref.h"
#include "exec/step.h"
#include "ir/infer.h"

/* ---- slots ---- */

/* lanes or plain, by the shapes for two batch sizes. */
static enum mase_status classify(struct mase_slot *s, struct mase_plan *p,
                                 const struct mase_tensor *other, const struct mase_node *n,
                                 struct mase_err *err)
{
    const struct mase_shape *a = &s->tensor->shape, *b = &other->shape;
    s->rows = mase_shape_count(a);
    if (mase_shape_equal(a, b))
        return MASE_OK;
    struct mase_shape grown = *a;
    int axis = 0;
    while (axis < a->rank && axis < b->rank && a->dim[axis] == b->dim[axis])
        axis++;
    if (axis < a->rank && a->dim[axis] == p->batch) {
        grown.dim[axis]++;
        s->lanes = true;
        s->rows = p->batch ? s->rows / p->batch : 0;
    }
    if (!s->lanes || !mase_shape_equal(&grown, b))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: its result mixes the samples of a batch, which a plan cannot run",
                         n->name);
    if (s->rows == 0)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: its result is empty, which a plan cannot run",
                         n->name);
    if (s->tensor->dtype == MASE_F64) /* integers and truth values are floats in a plan */
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan computes in %s only, not %s", n->name,
                         mase_dtypes[MASE_F32].name, mase_dtypes[s->tensor->dtype].name);
    mase_slot_set_axis(p, s, axis);
    return MASE_OK;
}

/* Slots for every tensor of a result. */
static enum mase_status add_slots(struct mase_plan *p, const struct mase_node *n,
                                  const struct mase_arg *value, const struct mase_arg *other,
                                  struct mase_err *err)
{
    if (value->kind != other->kind || (mase_arg_is_seq(value) && value->count != other->count))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: what %s gives depends on the number of samples, which a plan cannot",
                         n->name, mase_ops[n->op].name);
    if (value->kind == MASE_ARG_TENSOR && !mase_plan_slot(p, value->tensor))
        return classify(mase_plan_new_slot(p, value->tensor), p, other->tensor, n, err);
    if (value->kind != MASE_ARG_TUPLE && value->kind != MASE_ARG_LIST)
        return MASE_OK;
    for (int i = 0; i < value->count; i++)
        MASE_TRY(add_slots(p, n, &value->items[i], &other->items[i], err));
    return MASE_OK;
}

/* ---- steps ---- */

struct building {
    struct mase_plan *plan;
    struct mase_values other; /* results for batch + 1; those for batch are the plan's */
    struct mase_values probe; /* results for two samples */
};

static const struct mase_arg *lookup(const struct mase_node *n, void *data)
{
    return mase_values_get(data, n);
}

/* One step for one tensor of the result. */
static enum mase_status add_result(struct mase_plan *p, struct mase_call *c,
                                   struct mase_call *probe, struct mase_slot *out, int index,
                                   struct mase_err *err)
{
    const struct mase_step_kind *kind = mase_step_kind_of(c->node->op);
    if (!kind || (p->of && !kind->derives))
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan cannot run %s%s", c->node->name,
                         mase_ops[c->node->op].name, kind ? " on parameters alone" : "");
    MASE_TRY(mase_axis_check(p, kind, c, out, err));
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){
        .plan = p, .node = c->node, .kind = kind, .out = out, .result_index = index
    };
    s->call = mase_arena_memdup(&p->arena, c, sizeof *c);
    s->probe = probe;
    mase_quantise_inputs(s);
    struct mase_slot *result = mase_quantised_result(s);
    MASE_TRY(kind->prepare(s, s->call, err));
    mase_plan_add_step(p, s);
    if (result)
        mase_quantise_output(s, result);
    return MASE_OK;
}

/* A tuple takes a step for each of its tensors, those in tuples within it too. */
static enum mase_status add_results(struct mase_plan *p, struct mase_call *c,
                                    struct mase_call *probe, const struct mase_arg *value,
                                    int *index, struct mase_err *err)
{
    for (int i = 0; mase_arg_is_seq(value) && i < value->count; i++)
        MASE_TRY(add_results(p, c, probe, &value->items[i], index, err));
    if (mase_arg_is_seq(value))
        return MASE_OK;
    struct mase_slot *out = mase_plan_slot(p, mase_arg_tensor(value));
    const int number = (*index)++;
    return out && out->lanes ? add_result(p, c, probe, out, number, err) : MASE_OK;
}

enum mase_status mase_plan_add_call(struct mase_plan *p, struct mase_call *c,
                                    struct mase_call *probe, struct mase_err *err)
{
    int index = 0;
    return add_results(p, c, probe, &c->result, &index, err);
}

/* ---- values that do not follow the samples ---- */

/* Are all tensors of an argument there with values? */
static bool has_values(const struct mase_arg *a)
{
    if (a->kind == MASE_ARG_TENSOR)
        return a->tensor->data != NULL;
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        if (!has_values(&a->items[i]))
            return false;
    return true;
}

/* The values of a plain tensor, where they are known when the plan is made. */
static void set_constant(struct mase_plan *p, struct mase_slot *s, const struct mase_tensor *t)
{
    s->x = mase_new_array(&p->arena, float, (size_t)s->rows);
    for (int64_t i = 0; i < s->rows; i++)
        s->x[i] = (float)mase_tensor_get(t, i);
}

/* Give the tensors of `to` the values of `from`'s: plain results do not depend on the batch. */
static void share_values(struct mase_plan *p, struct mase_arg *from, const struct mase_arg *to)
{
    if (from->kind == MASE_ARG_TENSOR && from->tensor->data) {
        set_constant(p, mase_plan_slot(p, from->tensor), from->tensor);
        to->tensor->data = from->tensor->data;
    }
    for (int i = 0; mase_arg_is_seq(from) && i < from->count; i++)
        share_values(p, &from->items[i], &to->items[i]);
}

/* Does the call look at no more than the type or shape of this operand? */
static bool shape_only(enum mase_op op, int param)
{
    return param > 0 && (op == MASE_OP_expand_as || op == MASE_OP_type_as || op == MASE_OP_to);
}

/* What the tensors of an argument are like. */
struct nature {
    bool lanes;      /* some follow the samples */
    bool live;       /* some change with the parameters */
    const char *why; /* one cannot be used */
};

static void add_nature(const struct mase_plan *p, const struct mase_arg *a, struct nature *n)
{
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        add_nature(p, &a->items[i], n);
    const struct mase_slot *s = mase_plan_slot(p, mase_arg_tensor(a));
    if (!s)
        return;
    n->lanes |= s->lanes;
    n->live |= s->derived || (s->weight && s->tensor->dtype == MASE_F32);
    n->why = n->why ? n->why : s->why;
}

static struct nature nature_of(const struct mase_plan *p, const struct mase_call *c)
{
    struct nature n = { 0 };
    for (int i = 0; i < c->sig->count; i++)
        if (!shape_only(c->node->op, i))
            add_nature(p, &c->param[i], &n);
    return n;
}

/* No step may use the result: say why to the one that would. */
static void refuse(struct mase_plan *p, const struct mase_arg *a, const char *why)
{
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        refuse(p, &a->items[i], why);
    struct mase_slot *s = mase_plan_slot(p, mase_arg_tensor(a));
    if (s && !s->lanes)
        s->why = why;
}

static void set_derived(struct mase_plan *p, const struct mase_arg *a)
{
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        set_derived(p, &a->items[i]);
    struct mase_slot *s = mase_plan_slot(p, mase_arg_tensor(a));
    if (s && !s->weight) /* a piece of an earlier result is what it was */
        s->derived = true;
}

/* The result of constants alone, now. */
static enum mase_status add_constant(struct building *b, struct mase_call *c,
                                     const struct mase_arg *probe, bool *done, struct mase_err *err)
{
    struct mase_plan *p = b->plan;
    bool known = !c->module || c->module->param_count == 0;
    for (int i = 0; i < c->sig->count; i++)
        known &= shape_only(c->node->op, i) || has_values(&c->param[i]);
    if (known)
        MASE_TRY(mase_ref_room(c, &c->result, err));
    *done = known && mase_ref_allocate(&p->arena, &c->result) && mase_forward_of(c->node->op);
    if (!*done)
        return MASE_OK;
    MASE_TRY(mase_ref_forward(c, err));
    share_values(p, &c->result, probe);
    return MASE_OK;
}

/* A parameter under another shape stays the parameter. */
static bool add_view(struct mase_plan *p, const struct mase_call *c)
{
    const struct mase_quant *q = mase_node_quant(c->node);
    struct mase_slot *in = mase_plan_slot(p, mase_arg_tensor(&c->param[0]));
    struct mase_slot *out = mase_plan_slot(p, mase_arg_tensor(&c->result));
    if (!in || !out || in == out || !in->weight || in->derived || (q && !q->bypass) ||
        c->node->no_grad || mase_step_kind_of(c->node->op) != &mase_step_view)
        return false;
    out->same = in->same ? in->same : in;
    out->weight = mase_weight_as(p, in->weight, &out->tensor->shape);
    out->x = in->x;
    out->dx = in->dx;
    out->needs_grad = in->needs_grad;
    return true;
}

/* A result whose shape does not follow the samples: a constant, a parameter, or derived from them.
 * What it really is decides, not its shape: a mean over the batch is none of these. */
static enum mase_status add_plain(struct building *b, struct mase_call *c,
                                  const struct mase_arg *probe, struct mase_err *err)
{
    struct mase_plan *p = b->plan;
    const struct nature n = nature_of(p, c);
    struct mase_err why = { 0 };
    bool constant = false;
    if (n.lanes || n.why) {
        refuse(p, &c->result,
               n.why ? n.why
                     : mase_arena_printf(&p->arena,
                                         "%s: %s mixes the samples of a batch, which a plan cannot",
                                         c->node->name, mase_ops[c->node->op].name));
        return MASE_OK;
    }
    MASE_TRY(add_constant(b, c, probe, &constant, err));
    if (add_view(p, c) || (constant && !n.live))
        return MASE_OK;
    if (!mase_derive_call(p, c, &why))
        set_derived(p, &c->result);
    else if (!constant)
        refuse(p, &c->result, mase_arena_printf(&p->arena, "%s", why.msg));
    return MASE_OK;
}

/* ---- calls ---- */

/* x.add_(y), x[i] = y: later users of x see the result. */
static enum mase_status follow_writes(struct building *b, const struct mase_call *c,
                                      const struct mase_call *probe, struct mase_err *err)
{
    if (!mase_call_writes(c))
        return MASE_OK;
    if (c->result.kind != MASE_ARG_TENSOR || c->param[0].kind != MASE_ARG_TENSOR)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan cannot run %s", c->node->name,
                         mase_ops[c->node->op].name);
    const struct mase_node *x = c->node->args.items[0].node;
    const struct mase_tensor *from = c->param[0].tensor, *to = c->result.tensor;
    if (!mase_shape_equal(&from->shape, &to->shape) || from->dtype != to->dtype)
        return mase_call_fail(c, err, "writes into an operand of another shape or type");
    const struct mase_slot *slot = mase_plan_slot(b->plan, from);
    if (c->node->no_grad && (slot->needs_grad || (slot->derived && b->plan->train)))
        return mase_call_fail(
            c, err, "writes under no_grad into a value that has a gradient: a plan cannot");
    ((struct mase_arg *)mase_values_get(&b->plan->value, x))->tensor = c->result.tensor;
    ((struct mase_arg *)mase_values_get(&b->probe, x))->tensor = probe->result.tensor;
    return MASE_OK;
}

/* Equal but for their tensors? */
static bool same_numbers(const struct mase_arg *a, const struct mase_arg *b)
{
    double x, y;
    if (a->kind == MASE_ARG_TENSOR || b->kind == MASE_ARG_TENSOR)
        return a->kind == b->kind;
    if (mase_arg_number(a, &x) && mase_arg_number(b, &y))
        return x == y || (x != x && y != y);
    if (!mase_arg_is_seq(a) && a->kind != MASE_ARG_SLICE)
        return a->kind == b->kind;
    if (a->kind != b->kind || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!same_numbers(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* Among the arguments may be numbers computed from the size of the batch. As lengths of the result
 * they do no harm; x / x.size(0) would be a plan for full batches alone. */
static enum mase_status check_numbers(const struct mase_call *c, const struct mase_call *other,
                                      struct mase_err *err)
{
    static const char *const lengths[] = { "shape", "size", "repeats", "dims" };
    for (int i = 0; i < c->sig->count; i++) {
        bool length = false;
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            length |= mase_streq(c->sig->param[i].name, lengths[k]);
        if (!length && !same_numbers(&c->param[i], &other->param[i]))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: '%s' of %s depends on the number of samples, which a plan cannot",
                             c->node->name, c->sig->param[i].name, mase_ops[c->node->op].name);
    }
    return MASE_OK;
}

static bool any_lanes(const struct mase_plan *p, const struct mase_arg *a)
{
    struct nature n = { 0 };
    add_nature(p, a, &n);
    return n.lanes;
}

/* The call for three sizes of the batch: the plan's, one more, and two. */
struct sizes {
    struct mase_call c, other, probe;
};

static enum mase_status call_of(struct building *b, struct mase_call *c, struct mase_node *n,
                                struct mase_values *values, struct mase_err *err)
{
    MASE_TRY(mase_call_init(c, &b->plan->arena, n, lookup, values, err));
    return mase_call_infer(c, err);
}

static enum mase_status add_call(struct building *b, struct mase_node *n, struct mase_arg *value,
                                 struct mase_err *err)
{
    struct mase_plan *p = b->plan;
    struct sizes *s = mase_new(&p->arena, struct sizes);
    MASE_TRY(call_of(b, &s->c, n, &p->value, err));
    MASE_TRY(call_of(b, &s->other, n, &b->other, err));
    MASE_TRY(call_of(b, &s->probe, n, &b->probe, err));
    *value = s->c.result;
    *(struct mase_arg *)mase_values_get(&b->other, n) = s->other.result;
    *(struct mase_arg *)mase_values_get(&b->probe, n) = s->probe.result;
    const int before = p->slot_count;
    MASE_TRY(add_slots(p, n, value, &s->other.result, err));
    if (n->op == MASE_OP_setitem)
        return follow_writes(b, &s->c, &s->probe, err);
    if (p->slot_count == before)
        return MASE_OK; /* numbers, or a piece of an earlier result */
    MASE_TRY(check_numbers(&s->c, &s->other, err));
    if (any_lanes(p, value))
        MASE_TRY(mase_plan_add_call(p, &s->c, &s->probe, err));
    else
        MASE_TRY(add_plain(b, &s->c, &s->probe.result, err));
    return follow_writes(b, &s->c, &s->probe, err);
}

static void add_input(struct mase_plan *p, struct mase_slot *s)
{
    p->input =
        mase_arena_grow(&p->arena, p->input, p->input_count, &p->input_cap, sizeof *p->input);
    p->input[p->input_count++] = s;
    s->is_input = true;
    s->needs_grad = p->train && p->input_gradients && s->tensor->dtype == MASE_F32;
}

/* A parameter is trained unless it is frozen, a buffer is a constant. */
static void add_attr(struct building *b, const struct mase_node *n, struct mase_arg *value)
{
    struct mase_plan *p = b->plan;
    struct mase_slot *s = mase_plan_slot(p, value->tensor);
    const struct mase_param *param = mase_graph_attr(p->graph, n->target);
    s->weight = mase_plan_weight(p, param);
    s->x = s->weight->x;
    s->dx = s->weight->dx;
    s->needs_grad = s->dx != NULL;
    if (param->is_buffer) {
        value->tensor->data = param->tensor.data;
        mase_values_get(&b->probe, n)->tensor->data = param->tensor.data;
    }
}

static enum mase_status set_output(struct building *b, const struct mase_arg *returned,
                                   struct mase_err *err)
{
    const struct mase_arg *value = returned->kind == MASE_ARG_NODE
                                       ? mase_values_get(&b->plan->value, returned->node)
                                       : returned;
    const bool tensor = value->kind == MASE_ARG_TENSOR;
    b->plan->output = tensor ? mase_plan_slot(b->plan, value->tensor) : NULL;
    if (!b->plan->output || !b->plan->output->lanes || b->plan->output->axis)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "output: a plan returns one tensor whose first dimension is the samples");
    return MASE_OK;
}

static enum mase_status add_node(struct building *b, struct mase_node *n, struct mase_arg *value,
                                 struct mase_err *err)
{
    struct mase_plan *p = b->plan;
    switch (n->kind) {
    case MASE_PLACEHOLDER:
        if (value->kind != MASE_ARG_TENSOR)
            return MASE_OK; /* a default that is a number */
        MASE_TRY(add_slots(p, n, value, mase_values_get(&b->other, n), err));
        add_input(p, mase_plan_slot(p, value->tensor));
        return MASE_OK;
    case MASE_GET_ATTR:
        MASE_TRY(add_slots(p, n, value, mase_values_get(&b->other, n), err));
        add_attr(b, n, value);
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
    MASE_TRY(mase_infer_shapes(&p->value, &p->arena, p->graph, resized(p, o, o->batch),
                               o->input_count, err));
    MASE_TRY(mase_infer_shapes(&b.other, &p->arena, p->graph, resized(p, o, o->batch + 1),
                               o->input_count, err));
    MASE_TRY(
        mase_infer_shapes(&b.probe, &p->arena, p->graph, resized(p, o, 2), o->input_count, err));
    MASE_TRY(mase_plan_place_weights(p, err)); /* not before the shapes agree */
    int i = 0;
    for (struct mase_node *n = p->graph->first; n; n = n->next)
        MASE_TRY(mase_node_place(n, add_node(&b, n, &p->value.value[i++], err), err));
    return MASE_OK;
}

/* ---- life ---- */

static int64_t padded(int64_t count)
{
    return (count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

/* Rows a power of two apart fall on the same few lines of the nearest cache: one vector more keeps
 * them apart. */
static int64_t row_stride(int64_t batch)
{
    const int64_t lanes = padded(batch);
    return lanes % 64 == 0 ? lanes + MASE_LANES : lanes;
}

enum mase_status mase_plan_finish(struct mase_plan *p, struct mase_err *err)
{
    MASE_TRY(mase_plan_place(p, err));
    mase_plan_list_forward(p);
    mase_plan_list_backward(p);
    return MASE_OK;
}

static enum mase_status make(struct mase_plan *p, const struct mase_plan_opts *o,
                             struct mase_err *err)
{
    MASE_TRY(build(p, o, err));
    if (p->derived)
        MASE_TRY(mase_plan_finish(p->derived, err));
    MASE_TRY(mase_plan_finish(p, err));
    mase_plan_read_weights(p);
    mase_plan_set_samples(p, o->batch);
    return p->derived ? mase_plan_check(p->derived, err) : MASE_OK;
}

enum mase_status mase_plan_new_tile(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    const struct mase_tiling *tiling, struct mase_err *err)
{
    const struct mase_kernels *k;
    if (o->train && o->formats_change) /* gradients would be summed in another order */
        return mase_fail(err, MASE_EUNSUPPORTED, "formats can change in evaluation alone");
    MASE_TRY(mase_plan_check_like(g, o, err));
    MASE_TRY(mase_kernels_select(&k, err));
    struct mase_plan *p = mase_xcalloc(sizeof *p);
    *p = (struct mase_plan){
        .graph = g, .k = k, .batch = o->batch, .train = o->train, .seed = o->seed, .tiling = tiling
    };
    *out = p; /* a tile is known to the others of its batch from the beginning */
    p->threads = o->threads > 1 ? o->threads : 1;
    p->input_gradients = o->input_gradients;
    p->formats_change = o->formats_change;
    p->like = o->like;
    p->like_next = o->like ? o->like->rounded : NULL;
    p->edits = g->edits;
    p->stride = row_stride(o->batch);
    const enum mase_status st = make(p, o, err);
    if (st) {
        mase_plan_free(p);
        *out = NULL;
    }
    return st;
}

enum mase_status mase_plan_new(struct mase_plan **out, struct mase_graph *g,
                               const struct mase_plan_opts *o, struct mase_err *err)
{
    return mase_plan_new_tile(out, g, o, NULL, err);
}

void mase_plan_free(struct mase_plan *p)
{
    if (!p)
        return;
    mase_derive_free(p);
    mase_aligned_free(p->memory);
    if (!mase_plan_first_tile(p))
        mase_aligned_free(p->params);
    mase_aligned_free(p->grads);
    mase_arena_release(&p->arena);
    free(p);
}
