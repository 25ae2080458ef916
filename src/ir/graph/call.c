/*
 * call.c - resolve a node's call: arguments to parameters, nodes to their results, the rest from
 * the module or the defaults.
 */
#include <stdarg.h>
#include <stdio.h>

#include <mase/call.h>

#include "base/number.h"
#include "ir/graph/bind_call.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"

/* ---- nodes to results ---- */

struct mase_arg mase_resolve(struct mase_resolving *r, const struct mase_arg *arg)
{
    if (arg->kind == MASE_ARG_NODE) {
        const struct mase_arg *v = r->lookup(arg->node, r->data);
        if (!v && !r->missing)
            r->missing = arg->node;
        return v ? *v : mase_arg_none();
    }
    if (!mase_arg_has_items(arg))
        return *arg;
    struct mase_arg out = mase_arg_seq(r->arena, arg->kind, arg->items, arg->count);
    out.keys = arg->kind == MASE_ARG_DICT ? arg->keys : NULL;
    for (int i = 0; i < out.count; i++)
        out.items[i] = mase_resolve(r, &arg->items[i]);
    return out;
}

/* ---- what the module gives ---- */

static struct mase_arg tensor_arg(struct mase_arena *a, const struct mase_tensor *t)
{
    return (struct mase_arg){ .kind = MASE_ARG_TENSOR,
                              .tensor = mase_arena_memdup(a, t, sizeof *t) };
}

/* A tensor operand is a parameter (a Linear's bias is not its flag `bias`), a plain value an
 * attribute. */
static void fill_from_module(struct mase_call *c, struct mase_binding *b)
{
    const struct mase_sig *ctor = mase_op_ctor_sig(c->module->op);
    for (int i = 0; i < c->sig->count; i++) {
        const struct mase_sig_param *p = &c->sig->param[i];
        const struct mase_param *param = mase_module_param(c->module, p->name);
        int attr = mase_sig_find(ctor, p->name);

        if (b->bound[i] || (p->role ? !param : attr < 0))
            continue;
        b->bound[i] = true;
        b->value[i] = p->role ? tensor_arg(c->arena, &param->tensor) : c->module->attrs[attr];
    }
}

/* ---- resolving ---- */

static const char *op_title(const struct mase_call *c)
{
    return c->module ? mase_ops[c->module->op].module : mase_ops[c->node->op].name;
}

static enum mase_status bind_call(struct mase_call *c, struct mase_resolving *r,
                                  struct mase_err *err)
{
    struct mase_arg args = mase_resolve(r, &c->node->args),
                    kwargs = mase_resolve(r, &c->node->kwargs);
    struct mase_binding b;

    if (r->missing)
        return mase_fail(err, MASE_EVALUE, "%s has no value yet", r->missing->name);
    MASE_TRY(mase_bind(&b, c->arena, c->sig, &args, &kwargs, err));
    if (c->module)
        fill_from_module(c, &b);
    MASE_TRY(mase_bind_defaults(&b, c->arena, c->sig, err));
    for (int i = 0; i < c->sig->count; i++)
        c->param[i] = b.value[i];
    return MASE_OK;
}

enum mase_status mase_call_init(struct mase_call *c, struct mase_arena *a,
                                const struct mase_node *n, mase_lookup_fn *lookup, void *data,
                                struct mase_err *err)
{
    struct mase_resolving r = { .arena = a, .lookup = lookup, .data = data };

    *c = (struct mase_call){ .arena = a, .node = n, .module = mase_node_module(n) };
    c->sig = mase_op_call_sig(n->op);
    if (mase_op_is_recurrent(n->op))
        c->factors = mase_mark_rounding(n, 's');
    if (n->op == MASE_OP_unknown)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: unknown %s '%s'", n->name,
                         mase_node_kind_names[n->kind], n->target);
    if (!mase_ops[n->op].call) /* placeholder, get_attr, output: nothing to bind */
        return MASE_OK;
    enum mase_status st = bind_call(c, &r, err);
    if (st)
        return err ? mase_wrap(err, "%s: %s", n->name, op_title(c)) : st;
    const bool indexes = n->op == MASE_OP_getitem || n->op == MASE_OP_setitem;
    return indexes ? mase_index_masks(c, err) : MASE_OK;
}

/* ---- asking ---- */

const struct mase_arg *mase_call_arg(const struct mase_call *c, const char *name)
{
    int i = mase_sig_find(c->sig, name);
    if (i >= 0)
        return &c->param[i];
    i = c->module ? mase_sig_find(mase_op_ctor_sig(c->module->op), name) : -1;
    return i >= 0 ? &c->module->attrs[i] : NULL;
}

const struct mase_tensor *mase_call_tensor(const struct mase_call *c, const char *name)
{
    int i = mase_sig_find(c->sig, name);
    if (i >= 0)
        return c->param[i].kind == MASE_ARG_TENSOR ? c->param[i].tensor : NULL;
    const struct mase_param *p = c->module ? mase_module_param(c->module, name) : NULL;
    return p ? &p->tensor : NULL;
}

/* Append what a message says of a wrong value. */
static enum mase_status fail_kind(const struct mase_call *c, const char *name, const char *wanted,
                                  struct mase_err *err)
{
    const struct mase_arg *v = mase_call_arg(c, name);
    struct mase_str text = { 0 };
    if (v)
        mase_arg_print(&text, v, true);
    enum mase_status st = mase_fail(err, MASE_EVALUE, "%s: %s needs %s '%s', got %s", c->node->name,
                                    op_title(c), wanted, name, v ? mase_str_text(&text) : "none");
    mase_str_release(&text);
    return st;
}

static const struct mase_arg *must_have(const struct mase_call *c, const char *name)
{
    const struct mase_arg *v = mase_call_arg(c, name);
    if (!v)
        mase_bug("%s: %s has no argument '%s'", c->node->name, op_title(c), name);
    return v;
}

enum mase_status mase_call_need(const struct mase_call *c, const struct mase_tensor **t,
                                const char *name, struct mase_err *err)
{
    *t = mase_call_tensor(c, name);
    return *t ? MASE_OK : fail_kind(c, name, "a tensor", err);
}

enum mase_status mase_call_int(const struct mase_call *c, int64_t *v, const char *name,
                               struct mase_err *err)
{
    const struct mase_arg *arg = must_have(c, name);
    if (arg->kind != MASE_ARG_INT && arg->kind != MASE_ARG_BOOL)
        return fail_kind(c, name, "an integer", err);
    *v = arg->kind == MASE_ARG_BOOL ? arg->b : arg->i;
    return MASE_OK;
}

enum mase_status mase_call_float(const struct mase_call *c, double *v, const char *name,
                                 struct mase_err *err)
{
    const struct mase_arg *arg = must_have(c, name);
    if (arg->kind != MASE_ARG_FLOAT && arg->kind != MASE_ARG_INT)
        return fail_kind(c, name, "a number", err);
    *v = arg->kind == MASE_ARG_FLOAT ? arg->f : (double)arg->i;
    return MASE_OK;
}

bool mase_call_flag(const struct mase_call *c, const char *name)
{
    return mase_arg_truthy(must_have(c, name));
}

bool mase_call_training(const struct mase_call *c, const char *name, bool training)
{
    if (c->module)
        return c->node->mode == MASE_MODE_FOLLOWS ? training : c->node->mode == MASE_MODE_TRAIN;
    const struct mase_arg *arg = must_have(c, name);
    const bool follows = arg->kind == MASE_ARG_ATOM && mase_streq(arg->s, MASE_FOLLOWS_MODE);
    return follows ? training : mase_arg_truthy(arg);
}

enum mase_status mase_call_ints(const struct mase_call *c, int64_t *v, int n, const char *name,
                                struct mase_err *err)
{
    const struct mase_arg *arg = must_have(c, name);
    bool seq = arg->kind == MASE_ARG_TUPLE || arg->kind == MASE_ARG_LIST;
    int count = seq ? arg->count : 1;
    const struct mase_arg *items = seq ? arg->items : arg;
    char wanted[48];

    mase_snprintf(wanted, sizeof wanted, "an integer or %d of them as", n);
    if (count != 1 && count != n)
        return fail_kind(c, name, wanted, err);
    for (int i = 0; i < n; i++) {
        const struct mase_arg *item = &items[count == 1 ? 0 : i];
        if (item->kind != MASE_ARG_INT)
            return fail_kind(c, name, wanted, err);
        v[i] = item->i;
    }
    return MASE_OK;
}

void mase_call_result(struct mase_call *c, enum mase_dtype dtype, const struct mase_shape *shape)
{
    struct mase_tensor t = mase_tensor(c->arena, dtype, shape, false);
    c->result = tensor_arg(c->arena, &t);
}

enum mase_status mase_call_fail(const struct mase_call *c, struct mase_err *err, const char *fmt,
                                ...)
{
    struct mase_str text = { 0 };
    va_list ap;

    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    enum mase_status st = mase_fail(err, MASE_EVALUE, "%s: %s: %s", c->node->name,
                                    mase_ops[c->node->op].name, mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

/* ---- operations that write into their operand ---- */

/* Writes in place to an operand with other users, which see the change. x[i] = y has no other
 * result. */
bool mase_call_writes_in_float(const struct mase_call *c)
{
    const struct mase_node *x = mase_node_written(c->node);
    return x && (c->node->op == MASE_OP_setitem || x->user_count > 1);
}

/* A quantised call writes into its quantised copy. */
bool mase_call_writes(const struct mase_call *c)
{
    const struct mase_quant *q = mase_node_quant(c->node);
    return !(q && !q->bypass) && mase_call_writes_in_float(c);
}
