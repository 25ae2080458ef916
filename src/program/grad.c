/*
 * grad.c - the gradient of a program, as a program.
 *
 * The forward part is copied, then gone through from its end. Each instruction hands the gradients
 * of its results on to its operands by the rule of its operation (GRAD in ops.def, grad_*.c); what
 * a value gets from several users is added up, the last user's first. What neither a gradient nor
 * an effect needs is dropped.
 */
#include "program/grad.h"

#include "ir/graph/bind_call.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"

/* clang-format off */
static const struct {
    enum mase_op op;
    mase_back_fn *rule;
} rows[MASE_OP_COUNT] = {
    [MASE_OP_unknown] = { .op = MASE_OP_unknown
#define OP(name, ...) }, [MASE_OP_##name] = { .op = MASE_OP_##name
#define GRAD(name) , .rule = mase_back_##name
#include <mase/ops.def>
    }
};
/* clang-format on */

mase_back_fn *mase_back_rule(enum mase_op op)
{
    const bool map = mase_unary_of(op), zip = mase_binary_of(op);
    if (rows[op].rule || !(map || zip))
        return rows[op].rule;
    return mase_op_is_flat(op) ? mase_back_none : map ? mase_back_map : mase_back_zip;
}

bool mase_op_has_gradient(enum mase_op op)
{
    return mase_back_rule(op) && mase_back_rule(op) != mase_back_none;
}

bool mase_op_stops_gradient(enum mase_op op)
{
    return mase_back_rule(op) == mase_back_none;
}

void mase_back_none(struct mase_backward *k)
{
    mase_bug("%s passes no gradient", mase_ops[k->i->op].name);
}

/* Its zeros are a value of their own in the forward part (copy_dropout), so none arrives. */
void mase_back_dropout(struct mase_backward *k)
{
    mase_bug("a gradient arrives at %s", mase_ops[k->i->op].name);
}

/* ---- what rules ask ---- */

struct mase_arg mase_grad_result(const struct mase_backward *k, int result)
{
    return k->of[k->i->result[result]->number];
}

struct mase_arg mase_grad_param(const struct mase_backward *k, const char *name)
{
    const int at = mase_sig_find(mase_op_call_sig(k->i->op), name);
    if (at < 0)
        mase_bug("%s has no parameter %s", mase_ops[k->i->op].name, name);
    return k->i->param[at];
}

bool mase_grad_flag(const struct mase_backward *k, const char *name)
{
    const struct mase_arg a = mase_grad_param(k, name);
    return mase_arg_truthy(&a);
}

int64_t mase_grad_int(const struct mase_backward *k, const char *name, int64_t otherwise)
{
    const struct mase_arg a = mase_grad_param(k, name);
    return a.kind == MASE_ARG_INT ? a.i : otherwise;
}

double mase_grad_number(const struct mase_backward *k, const char *name, double otherwise)
{
    const struct mase_arg a = mase_grad_param(k, name);
    double v;
    return mase_arg_number(&a, &v) ? v : otherwise;
}

int mase_grad_axis(const struct mase_backward *k, const char *name, int rank)
{
    const int64_t axis = mase_grad_int(k, name, 0);
    return (int)(axis < 0 ? axis + rank : axis);
}

bool mase_grad_wants(const struct mase_backward *k, const struct mase_arg *operand)
{
    const struct mase_pvalue *v = mase_pvalue_of(operand);
    return v && v->number < k->values && k->wanted[v->number];
}

void mase_grad_give(struct mase_backward *k, const struct mase_arg *operand, struct mase_arg g)
{
    struct mase_instr_builder *b = &k->b;
    if (b->status || !mase_grad_wants(k, operand))
        return;
    const struct mase_pvalue *v = mase_pvalue_of(operand);
    struct mase_arg *of = &k->of[v->number];
    g = mase_expr_sum_to(b, g, &v->type);
    *of = of->kind == MASE_ARG_NONE ? g : mase_expr(b, MASE_OP_add, *of, g);
}

struct mase_call *mase_grad_call(struct mase_backward *k)
{
    const struct mase_program *p = k->b.p;
    struct mase_arena *a = &k->scratch;
    struct mase_pcall *call = mase_new(a, struct mase_pcall);
    struct mase_tensor **t = mase_new_array(a, struct mase_tensor *, (size_t)p->value_count);
    for (int n = 0; n < p->value_count; n++) {
        const struct mase_ptype *type = &p->value[n]->type;
        const struct mase_shape shape = mase_ptype_shape(type, mase_batch_sizes[0]);
        t[n] = mase_new(a, struct mase_tensor);
        *t[n] = mase_tensor(a, type->dtype, &shape, false);
    }
    mase_pcall_init(call, a, k->i, t, mase_batch_sizes[0]);
    if (!k->b.status)
        k->b.status = mase_call_infer(&call->call, k->b.err);
    return &call->call;
}

void mase_grad_refuse(struct mase_backward *k, const char *why)
{
    const char *name = k->i->from ? k->i->from : "the program";
    if (!k->b.status)
        k->b.status = mase_fail(k->b.err, MASE_EUNSUPPORTED, "%s: the gradient of %s %s", name,
                                mase_ops[k->i->op].name, why);
}

struct mase_arg mase_grad_slope(struct mase_backward *k, int operand)
{
    const enum mase_prim prim = operand ? MASE_PRIM_slope_y : MASE_PRIM_slope;
    if (k->b.status)
        return mase_arg_none();
    const struct mase_ptype type = mase_slope_type(k->i);
    return mase_pvalue_arg(
        mase_expr_instr(&k->b, prim, k->i->op, k->i->param, &type, 1)->result[0]);
}

struct mase_arg mase_grad_adjoint(struct mase_backward *k, struct mase_arg dy)
{
    if (k->b.status)
        return mase_arg_none();
    struct mase_instr *i = mase_expr_instr(&k->b, MASE_PRIM_adjoint, k->i->op, k->i->param,
                                           mase_type_of(&k->i->param[0]), 1);
    i->param[0] = dy;
    return mase_pvalue_arg(i->result[0]);
}

/* ---- the forward part ---- */

struct copying {
    struct mase_program *to;
    struct mase_pvalue **value; /* of the copy, by the original's number */
    enum mase_status status;
};

static struct mase_node *copy_of(struct mase_node *n, void *data)
{
    const struct copying *c = data;
    return &c->value[((struct mase_pvalue *)n)->number]->handle;
}

static struct mase_arg copy_arg(const struct copying *c, const struct mase_arg *a)
{
    struct mase_arena scratch = { 0 };
    const struct mase_arg mapped = mase_arg_map(&scratch, a, copy_of, (void *)c);
    const struct mase_arg copy = mase_arg_copy(&c->to->arena, &mapped);
    mase_arena_release(&scratch);
    return copy;
}

static struct mase_pvalue *copy_value(struct copying *c, const struct mase_pvalue *v)
{
    struct mase_pvalue *w = mase_program_add_value(c->to, v->source, &v->type, v->name);
    w->param = v->param;
    w->rounded = v->rounded;
    if (v->data) {
        const struct mase_shape shape = mase_ptype_shape(&v->type, 0);
        const struct mase_tensor t = { v->type.dtype, shape, (void *)v->data };
        w->data = mase_arena_memdup(&c->to->arena, v->data, (size_t)mase_tensor_bytes(&t));
    }
    return c->value[v->number] = w;
}

static void copy_instr(struct copying *c, const struct mase_instr *i)
{
    struct mase_program *p = c->to;
    struct mase_instr *j = mase_program_add_instr(p, i->prim, i->op, i->result_count);
    struct mase_instr *next = j->next;
    struct mase_arg *param = j->param;
    struct mase_pvalue **result = j->result;
    *j = *i;
    j->next = next;
    j->param = param;
    j->result = result;
    j->from = i->from ? mase_arena_strdup(&p->arena, i->from) : NULL;
    if (i->form) {
        const struct mase_arg form = mase_arg_copy(&p->arena, i->form);
        j->form = mase_arena_memdup(&p->arena, &form, sizeof form);
    }
    for (int n = 0; n < mase_instr_params(i); n++)
        j->param[n] = copy_arg(c, &i->param[n]);
    for (int k = 0; k < 2 && i->of[k]; k++)
        j->of[k] = c->value[i->of[k]->result[0]->number]->made_by;
    for (int n = 0; n < i->result_count; n++) {
        j->result[n] = copy_value(c, i->result[n]);
        j->result[n]->made_by = j;
    }
}

/* Split dropout into a scaled mask and a product, since the gradient is multiplied by the mask,
 * too. */
static void copy_dropout(struct copying *c, const struct mase_instr *i, struct mase_err *err)
{
    struct mase_instr_builder b = { .p = c->to, .err = err, .from = i->from, .node = i->node };
    struct mase_arg param[MASE_MAX_PARAMS];
    for (int n = 0; n < mase_instr_params(i); n++)
        param[n] = copy_arg(c, &i->param[n]);
    const struct mase_arg x = param[0];
    param[0] = mase_expr(&b, MASE_OP_ones, mase_expr_sizes(&b, &i->result[0]->type));
    const struct mase_arg mask = mase_expr_call(&b, i->op, param, mase_instr_params(i));
    const struct mase_arg y = mase_expr(&b, MASE_OP_mul, x, mask);
    c->status = b.status;
    c->value[i->result[0]->number] = mase_pvalue_of(&y);
}

static enum mase_status copy_program(struct mase_program *to, const struct mase_program *p,
                                     struct mase_arena *a, struct mase_err *err)
{
    struct copying c = { to, mase_new_array(a, struct mase_pvalue *, (size_t)p->value_count),
                         MASE_OK };
    for (int n = 0; n < p->value_count; n++)
        if (p->value[n]->source != MASE_PSOURCE_RESULT)
            copy_value(&c, p->value[n]);
    for (const struct mase_instr *i = p->first; i && !c.status; i = i->next) {
        if (i->prim == MASE_PRIM_dropout)
            copy_dropout(&c, i, err);
        else
            copy_instr(&c, i);
    }
    if (!c.status)
        to->output = copy_arg(&c, &p->output);
    return c.status;
}

/* ---- what a gradient is wanted of ---- */

static bool is_trained(const struct mase_pvalue *v)
{
    return v->source == MASE_PSOURCE_PARAM && mase_dtype_is_float(v->type.dtype) &&
           (!v->param || mase_param_is_trained(v->param));
}

struct wanting {
    const struct mase_backward *k;
    bool any;
};

static void look_for_wanted(struct mase_pvalue *v, void *data)
{
    struct wanting *w = data;
    w->any |= w->k->wanted[v->number];
}

/* Room for what is known of every value that the program has by now. */
static void make_room(struct mase_backward *k)
{
    const int count = k->b.p->value_count;
    bool *wanted = mase_new_array(&k->scratch, bool, (size_t)count);
    struct mase_arg *of = mase_new_array(&k->scratch, struct mase_arg, (size_t)count);
    for (int n = 0; n < k->values; n++) {
        wanted[n] = k->wanted[n];
        of[n] = k->of[n];
    }
    k->wanted = wanted;
    k->of = of;
    k->values = count;
}

/* Under no_grad only what lies in an operand's place passes its gradient on, to that operand. */
static int passing_params(const struct mase_instr *i)
{
    if (i->no_grad)
        return i->in_place ? 1 : 0;
    return i->op != MASE_OP_unknown && mase_op_stops_gradient(i->op) ? 0 : mase_instr_params(i);
}

/* Instructions from i on, whose operands' gradients may be wanted. */
static void pass_wanted(struct mase_backward *k, const struct mase_instr *i)
{
    for (; i; i = i->next) {
        struct wanting w = { k, false };
        for (int n = 0; n < passing_params(i); n++)
            mase_each_pvalue(&i->param[n], look_for_wanted, &w);
        for (int n = 0; n < i->result_count && w.any; n++)
            k->wanted[i->result[n]->number] = mase_dtype_is_float(i->result[n]->type.dtype);
    }
}

static void find_wanted(struct mase_backward *k, bool inputs)
{
    const struct mase_program *p = k->b.p;
    make_room(k);
    for (int n = 0; n < k->values; n++) {
        const struct mase_pvalue *v = p->value[n];
        k->wanted[n] = is_trained(v) || (inputs && v->source == MASE_PSOURCE_INPUT &&
                                         mase_dtype_is_float(v->type.dtype));
    }
    pass_wanted(k, p->first);
}

/* ---- backward ---- */

/* The gradient of the output comes from outside: one input for each of its tensors. */
static void seed(struct mase_backward *k, const struct mase_arg *output, int *count)
{
    const struct mase_pvalue *v = mase_pvalue_of(output);
    struct mase_program *p = k->b.p;
    for (int i = 0; mase_arg_has_items(output) && i < output->count; i++)
        seed(k, &output->items[i], count);
    if (!v || !mase_dtype_is_float(v->type.dtype))
        return;
    const char *name =
        *count ? mase_arena_printf(&p->arena, "output.grad.%d", *count) : "output.grad";
    ++*count;
    struct mase_pvalue *g = mase_program_add_value(p, MASE_PSOURCE_INPUT, &v->type, name);
    mase_grad_give(k, output, mase_pvalue_arg(g));
}

static bool arrives(const struct mase_backward *k, const struct mase_instr *i)
{
    bool any = false;
    for (int n = 0; n < i->result_count; n++)
        any |= k->of[i->result[n]->number].kind != MASE_ARG_NONE;
    return any;
}

/* slope, adjoint and round_back stand for an operation's rule, not for the operation. */
static void refuse_second(struct mase_backward *k)
{
    k->b.status = mase_fail(k->b.err, MASE_EUNSUPPORTED, "%s: %s has no gradient of its own",
                            k->i->from ? k->i->from : "the program", mase_prims[k->i->prim].name);
}

static void go_back(struct mase_backward *k, const struct mase_instr *i)
{
    k->i = i;
    k->b.from = i->from;
    k->b.node = i->node;
    if (i->no_grad)
        mase_grad_give(k, &i->param[0], mase_grad_result(k, 0));
    else if (i->prim == MASE_PRIM_round)
        mase_back_round(k);
    else if (i->prim == MASE_PRIM_round_back || mase_prim_is_derived(i->prim))
        refuse_second(k);
    else if (mase_back_rule(i->op))
        mase_back_rule(i->op)(k);
    else
        mase_grad_refuse(k, "has no rule");
}

/* From `last` to `first`. */
static void go_back_between(struct mase_backward *k, struct mase_instr *last,
                            struct mase_instr *first)
{
    int count = 0, n = 0;
    if (!first || !last)
        return;
    for (const struct mase_instr *i = first; i != last->next; i = i->next)
        count++;
    struct mase_instr **list = mase_new_array(&k->scratch, struct mase_instr *, (size_t)count);
    for (struct mase_instr *i = first; n < count; i = i->next)
        list[n++] = i;
    while (count-- > 0 && !k->b.status)
        if (arrives(k, list[count]))
            go_back(k, list[count]);
}

void mase_grad_expand(struct mase_backward *k, const struct mase_instr *before,
                      const struct mase_arg *result, int results)
{
    const struct mase_instr *i = k->i;
    struct mase_instr *const last = k->b.p->last;
    if (k->b.status)
        return;
    make_room(k);
    pass_wanted(k, before->next);
    for (int n = 0; n < results; n++)
        if (mase_grad_result(k, n).kind != MASE_ARG_NONE)
            mase_grad_give(k, &result[n], mase_grad_result(k, n));
    go_back_between(k, last, before->next);
    k->i = i;
}

/* ---- the result ---- */

/* The requested gradients of a source's values: a dict by name. */
static struct mase_arg gradients_of(struct mase_backward *k, enum mase_psource source)
{
    struct mase_program *p = k->b.p;
    struct mase_arg *item = mase_new_array(&p->arena, struct mase_arg, (size_t)k->values);
    const char **key = mase_new_array(&p->arena, const char *, (size_t)k->values);
    int count = 0;
    k->b.from = NULL;
    k->b.node = NULL;
    for (int n = 0; n < k->values; n++) {
        const struct mase_pvalue *v = p->value[n];
        if (v->source != source || !k->wanted[n])
            continue;
        key[count] = v->name;
        item[count++] =
            k->of[n].kind == MASE_ARG_NONE ? mase_expr_zeros(&k->b, &v->type) : k->of[n];
    }
    return (struct mase_arg){ .kind = MASE_ARG_DICT, .items = item, .keys = key, .count = count };
}

static void set_output(struct mase_backward *k, bool inputs)
{
    const struct mase_arg both[2] = { gradients_of(k, MASE_PSOURCE_PARAM),
                                      gradients_of(k, MASE_PSOURCE_INPUT) };
    k->b.p->output = inputs ? mase_expr_tuple(&k->b, both, 2) : both[0];
}

static void differentiate(struct mase_backward *k, bool inputs)
{
    const struct mase_program *p = k->b.p;
    struct mase_instr *const first = p->first, *const last = p->last;
    int outputs = 0;
    find_wanted(k, inputs);
    seed(k, &p->output, &outputs);
    go_back_between(k, last, first);
    set_output(k, inputs);
}

enum mase_status mase_program_grad(struct mase_program **out, const struct mase_program *p,
                                   const struct mase_grad_opts *opts, struct mase_err *err)
{
    struct mase_backward k = { .b = { .p = mase_program_new(p->name, p->training), .err = err } };
    *out = NULL;
    k.b.status = copy_program(k.b.p, p, &k.scratch, err);
    if (!k.b.status)
        differentiate(&k, opts && opts->inputs);
    mase_arena_release(&k.scratch);
    if (k.b.status) {
        mase_program_free(k.b.p);
        return k.b.status;
    }
    mase_program_drop_unused(k.b.p);
    mase_program_renumber(k.b.p);
    *out = k.b.p;
    return MASE_OK;
}
