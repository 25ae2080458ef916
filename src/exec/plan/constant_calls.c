/*
 * constant_calls.c - calls whose results have no batch axis: constants, parameters under another
 * shape, and values derived from them.
 */
#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"

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

/* Does the call read only the type or shape of this operand? */
static bool shape_only(enum mase_op op, int param)
{
    return param > 0 && (op == MASE_OP_expand_as || op == MASE_OP_type_as || op == MASE_OP_to);
}

/* Properties of the tensors of an argument. */
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
    n->live |=
        s->derived || s->unrounded || s->changes || (s->weight && s->tensor->dtype == MASE_F32);
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

void mase_plan_refuse(struct mase_plan *p, const struct mase_arg *a, const char *why)
{
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        mase_plan_refuse(p, &a->items[i], why);
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

enum mase_status mase_plan_add_constant(struct mase_plan *p, struct mase_call *c,
                                        const struct mase_arg *probe, bool *done,
                                        struct mase_err *err)
{
    bool known = true;
    for (int i = 0; i < c->sig->count; i++)
        known &= shape_only(c->node->op, i) || has_values(&c->param[i]);
    if (known)
        MASE_TRY(mase_ref_room(c, &c->result, err));
    mase_forward_fn *forward = mase_forward_of(c->node->op);
    *done = known && mase_ref_allocate(&p->arena, &c->result) && forward;
    if (!*done)
        return MASE_OK;
    MASE_TRY(forward(c, err));
    share_values(p, &c->result, probe);
    return MASE_OK;
}

/* A parameter under another shape stays the parameter. */
static bool add_view(struct mase_plan *p, const struct mase_call *c)
{
    struct mase_slot *in = mase_plan_slot(p, mase_arg_tensor(&c->param[0]));
    struct mase_slot *out = mase_plan_slot(p, mase_arg_tensor(&c->result));
    if (!in || !out || in == out || !in->weight || in->derived || c->node->no_grad ||
        mase_step_kind_of(c->node->op) != &mase_step_view)
        return false;
    out->alias_of = in->alias_of ? in->alias_of : in;
    out->weight = mase_weight_as(p, in->weight, &out->tensor->shape);
    out->x = in->x;
    out->dx = in->dx;
    out->needs_grad = in->needs_grad;
    return true;
}

/* A result whose shape does not follow the samples: a constant, a parameter, or derived from them.
 * What it really is decides, not its shape: a mean over the batch is none of these. */
enum mase_status mase_plan_add_plain_call(struct mase_plan *p, struct mase_call *c,
                                          const struct mase_arg *probe, struct mase_err *err)
{
    const struct nature n = nature_of(p, c);
    struct mase_err why = { 0 };
    bool constant = false;
    if (!p->train && mase_forward_of(c->node->op) == mase_forward_batch_norm &&
        mase_batch_has_one_value(c))
        return mase_batch_too_small(c->node, err);
    if (n.lanes || n.why) {
        mase_plan_refuse(
            p, &c->result,
            n.why ? n.why
                  : mase_arena_printf(&p->arena,
                                      "%s: %s mixes the samples of a batch, which a plan cannot",
                                      c->node->name, mase_ops[c->node->op].name));
        return MASE_OK;
    }
    if (mase_op_prim(c->node->op) != MASE_PRIM_random) /* which is another with every step */
        MASE_TRY(mase_plan_add_constant(p, c, probe, &constant, err));
    if (add_view(p, c) || (constant && !n.live))
        return MASE_OK;
    if (!mase_derive_call(p, c, &why))
        set_derived(p, &c->result);
    else if (!constant)
        mase_plan_refuse(p, &c->result, mase_arena_printf(&p->arena, "%s", why.msg));
    return MASE_OK;
}
