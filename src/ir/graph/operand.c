/*
 * operand.c - which number format an operand has.
 *
 * A configuration speaks of groups (data_in, weight, bias, data_out), a call of the parameters of
 * its signature, metadata of arguments (data_in_0, data_in_1, weight). A parameter's mark joins the
 * three.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/call.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "quant/quant.h"

static const struct mase_mark marks[] = {
    { 'x', MASE_DATA_IN, MASE_SIGNED, MASE_ROLE_DATA },
    { 's', MASE_DATA_IN, MASE_SIGNED, MASE_ROLE_DATA },
    { 'u', MASE_DATA_IN, MASE_UNSIGNED, MASE_ROLE_DATA },
    { 'p', MASE_DATA_IN, MASE_SIGNED, MASE_ROLE_DATA }, /* unless what is passed on has none */
    { 'y', MASE_WEIGHT, MASE_SIGNED, MASE_ROLE_WEIGHT },
    { 'w', MASE_WEIGHT, MASE_SIGNED, MASE_ROLE_WEIGHT },
    { 'b', MASE_BIAS, MASE_SIGNED, MASE_ROLE_WEIGHT },
};

const struct mase_mark *mase_mark_find(char mark)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].mark == mark)
            return &marks[i];
    return NULL;
}

bool mase_mark_is_data(char mark)
{
    return mark == 'x' || mark == 'u' || mark == 'p' || mark == 'y' || mark == 's';
}

static const struct mase_rounding none = { 0 };

/* A value that cannot be negative is unsigned, if its mark or its format allows. */
static enum mase_sign sign_of(const struct mase_node *n, const struct mase_mark *m,
                              const struct mase_format *f)
{
    const bool asks = m->mark == 'p' || (m->operand == MASE_DATA_IN && f->row->by_values);
    return asks && mase_data_never_negative(n) ? MASE_UNSIGNED : m->sign;
}

struct mase_rounding mase_mark_rounding(const struct mase_node *n, char mark)
{
    const struct mase_quant *q = mase_node_quant(n);
    const struct mase_mark *m = mase_mark_find(mark);
    if (!q || q->bypass || !m || !q->operand[m->operand])
        return none;
    const struct mase_format *f = q->operand[m->operand];
    return (struct mase_rounding){ f, sign_of(n, m, f), m->role };
}

struct mase_rounding mase_operand_rounding(const struct mase_node *n, int i)
{
    return mase_mark_rounding(n, mase_op_call_sig(n->op)->param[i].role);
}

char mase_param_mark(const struct mase_module *m, const struct mase_param *p)
{
    const struct mase_sig *sig = mase_op_call_sig(m->op);
    for (int i = 0; i < sig->count; i++)
        if (mase_streq(sig->param[i].name, p->name))
            return sig->param[i].role;
    return mase_starts_with(p->name, "weight_") ? 'w'
           : mase_starts_with(p->name, "bias_") ? 'b'
                                                : 0;
}

/* data_in_1 is the second of the parameters that are data, or of a list of tensors; weight and bias
 * go by their names. */
char mase_named_mark(const struct mase_node *n, const char *name)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    int wanted = -1, seen = 0;
    char last = 'x';
    if (mase_starts_with(name, "data_in_") && mase_is_digit(name[strlen("data_in_")]))
        wanted = (int)strtol(name + strlen("data_in_"), NULL, 10);
    for (int i = 0; i < sig->count; i++) {
        const char mark = sig->param[i].role;
        if (wanted < 0 ? mase_streq(sig->param[i].name, name)
                       : mase_mark_is_data(mark) && seen++ == wanted)
            return mark;
        last = mase_mark_is_data(mark) ? mark : last;
    }
    if (wanted >= 0)
        return last;
    const struct mase_module *m = mase_node_module(n);
    const struct mase_param *p = m ? mase_module_param(m, name) : NULL;
    return p ? mase_param_mark(m, p) : 0;
}

struct mase_rounding mase_named_rounding(const struct mase_node *n, const char *name)
{
    return mase_mark_rounding(n, mase_named_mark(n, name));
}

struct mase_rounding mase_result_rounding(const struct mase_node *n)
{
    const struct mase_quant *q = mase_node_quant(n);
    if (!q || q->bypass || !q->operand[MASE_DATA_OUT])
        return none;
    return (struct mase_rounding){ q->operand[MASE_DATA_OUT],
                                   mase_node_never_negative(n) ? MASE_UNSIGNED : MASE_SIGNED,
                                   MASE_ROLE_DATA };
}

/* ---- of a call ---- */

static bool is_f32(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_TENSOR && a->tensor->dtype == MASE_F32;
}

bool mase_call_is_f32(const struct mase_call *c, int i)
{
    const struct mase_arg *a = &c->param[i];
    bool found = is_f32(a);
    for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
        found |= is_f32(&a->items[k]);
    return found;
}

struct mase_rounding mase_call_rounding(const struct mase_call *c, int i)
{
    const bool own = c->sig->param[i].role == 's'; /* the operation rounds it itself */
    return mase_call_is_f32(c, i) && !own ? mase_operand_rounding(c->node, i) : none;
}

/* Operands broadcast from the last dimension on: w of x * w has ones before its own, as in x. So a
 * block of it is what it would be after broadcasting. */
struct mase_shape mase_call_shape(const struct mase_call *c, int i, const struct mase_tensor *t)
{
    const struct mase_shape *own = &t->shape;
    int rank = own->rank;
    for (int k = 0; c->param[i].kind == MASE_ARG_TENSOR && k < c->sig->count &&
                    mase_mark_is_data(c->sig->param[i].role);
         k++)
        if (mase_mark_is_data(c->sig->param[k].role) && is_f32(&c->param[k]) &&
            c->param[k].tensor->shape.rank > rank)
            rank = c->param[k].tensor->shape.rank;
    return mase_shape_to_rank(own, rank);
}

/* ---- do blocks fit? ---- */

static enum mase_status fits(const struct mase_node *n, const char *operand,
                             struct mase_rounding how, const struct mase_shape *shape,
                             struct mase_err *err)
{
    const enum mase_status st = mase_format_fits(how.format, shape, how.role, err);
    return st ? mase_wrap(err, "%s (%s): %s", n->name, mase_ops[n->op].name, operand) : MASE_OK;
}

/* Layers over sequences return states whose samples stand in the second dimension. */
static bool returns_states(enum mase_op op)
{
    return op == MASE_OP_rnn || op == MASE_OP_lstm || op == MASE_OP_gru;
}

bool mase_op_is_transposed(enum mase_op op)
{
    return op == MASE_OP_convtranspose1d || op == MASE_OP_convtranspose2d ||
           op == MASE_OP_convtranspose3d;
}

bool mase_op_adds_products(enum mase_op op)
{
    static const char roles[] = "xwb";
    const struct mase_sig *sig = mase_op_call_sig(op);
    bool fits = sig->count >= 3;
    for (int i = 0; fits && roles[i]; i++)
        fits = sig->param[i].role == roles[i];
    return fits;
}

enum mase_status mase_products_refuse(const struct mase_node *n, struct mase_err *err)
{
    return mase_fail(
        err, MASE_EUNSUPPORTED,
        "%s (%s): bias: products needs data_in and weight that are codes times scales: "
        "lsq, lsq_plus, pact, or int with a scale",
        n->name, mase_ops[n->op].name);
}

bool mase_op_is_recurrent(enum mase_op op)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    return sig->count && sig->param[0].role == 's';
}

enum mase_status mase_recurrent_check(enum mase_op op, const struct mase_quant *q,
                                      struct mase_err *err)
{
    const struct mase_format *out = q->operand[MASE_DATA_OUT];
    for (int o = 0; o < MASE_OPERAND_COUNT && !q->bypass; o++)
        if (mase_format_learned(q->operand[o]))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: %s cannot be learned in a recurrent layer, whose formats must be "
                             "given",
                             mase_operand_names[o], q->operand[o]->row->name);
    if (!q->bypass && out && returns_states(op) && mase_format_has_blocks(out))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "data_out: %s has blocks, which would span samples in the states that are "
                         "returned: a format without blocks is needed",
                         out->row->name);
    return MASE_OK;
}

/* Signatures do not list weights of recurrent layers; each is as wide as its operand, which is
 * rounded at each step. */
static enum mase_status check_recurrent(const struct mase_call *c, struct mase_err *err)
{
    const struct mase_rounding data = mase_mark_rounding(c->node, 's');
    if (mase_recurrent_check(c->node->op, mase_node_quant(c->node), err))
        return mase_wrap(err, "%s (%s)", c->node->name, mase_ops[c->node->op].name);
    for (int i = 0; c->module && i < c->module->param_count; i++) {
        const struct mase_param *p = &c->module->params[i];
        const struct mase_rounding how = mase_named_rounding(c->node, p->name);
        const struct mase_shape *s = &p->tensor.shape, step = { 2, { 1, s->dim[1] } };
        MASE_TRY(fits(c->node, p->name, how, s, err));
        if (s->rank == 2)
            MASE_TRY(fits(c->node, "data", data, &step, err));
    }
    return MASE_OK;
}

static enum mase_status check_tensor(const struct mase_call *c, int i, const struct mase_arg *a,
                                     struct mase_rounding how, struct mase_err *err)
{
    const char *name = c->sig->param[i].name;
    if (!is_f32(a))
        return MASE_OK;
    const struct mase_shape shape = mase_call_shape(c, i, a->tensor);
    const bool factor =
        how.role == MASE_ROLE_WEIGHT && c->sig->param[i].role == 'y' && shape.rank > 2;
    if (factor && mase_format_blocks(how.format, &shape, how.role).length[0] > 1)
        return mase_call_fail(c, err, "the blocks of %s would span samples", name);
    if (factor && how.format->row->looks_around == MASE_LOOKS_FOR_MOST)
        return mase_call_fail(c, err, "%s takes one scale from the whole of %s, all samples of it",
                              how.format->row->name, name);
    return fits(c->node, name, how, &shape, err);
}

static enum mase_status check_operand(const struct mase_call *c, int i, struct mase_err *err)
{
    const struct mase_rounding how = mase_call_rounding(c, i);
    const struct mase_arg *a = &c->param[i];
    if (!how.format)
        return MASE_OK;
    for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
        MASE_TRY(check_tensor(c, i, &a->items[k], how, err));
    return check_tensor(c, i, a, how, err);
}

static enum mase_status check_result(const struct mase_call *c, const struct mase_arg *a,
                                     struct mase_err *err)
{
    for (int k = 0; mase_arg_is_seq(a) && k < a->count; k++)
        MASE_TRY(check_result(c, &a->items[k], err));
    if (!is_f32(a))
        return MASE_OK;
    return fits(c->node, "result", mase_result_rounding(c->node), &a->tensor->shape, err);
}

enum mase_status mase_call_check_formats(const struct mase_call *c, struct mase_err *err)
{
    if (!mase_node_quant(c->node))
        return MASE_OK;
    const struct mase_quant *q = mase_node_quant(c->node);
    for (int o = 0; o < MASE_OPERAND_COUNT && !q->bypass; o++)
        if (mase_format_is_open(q->operand[o]) &&
            (o != MASE_BIAS || !mase_op_adds_products(c->node->op)))
            return mase_products_refuse(c->node, err);
    if (mase_op_is_recurrent(c->node->op))
        MASE_TRY(check_recurrent(c, err));
    for (int i = 0; i < c->sig->count; i++)
        MASE_TRY(check_operand(c, i, err));
    return mase_result_rounding(c->node).format ? check_result(c, &c->result, err) : MASE_OK;
}
