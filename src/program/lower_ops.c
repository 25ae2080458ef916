/*
 * lower_ops.c - what calls become: the rules that LOWER in ops.def names.
 *
 * A rule is given a call whose parameters are merged and rounded already, l->param, and whose
 * operation is its own. Most have nothing to do: the call is its primitive. The others say the same
 * in the words of another operation, so that fewer are left to know.
 */
#include <string.h>

#include "ir/graph/bind_call.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"

enum mase_status mase_lower_same(struct mase_lowered *l, struct mase_err *err)
{
    (void)l;
    (void)err;
    return MASE_OK;
}

static bool is_truth(const struct mase_lowered *l)
{
    const struct mase_arg *result = &l->call[0].result;
    return result->kind == MASE_ARG_TENSOR && result->tensor->dtype == MASE_DTYPE_BOOL;
}

/* A sum of truth values is a truth value: true if one of them is. */
enum mase_status mase_lower_add(struct mase_lowered *l, struct mase_err *err)
{
    double alpha;
    if (!is_truth(l))
        return MASE_OK;
    if (mase_arg_number(&l->param[2], &alpha) && alpha == 0)
        return mase_call_fail(&l->call[0], err, "alpha = 0 beside truth values has no program");
    l->op = MASE_OP_logical_or;
    return MASE_OK;
}

enum mase_status mase_lower_add_parts(struct mase_lowered *l, struct mase_err *err)
{
    return is_truth(l) ? mase_call_fail(&l->call[0], err, "a sum of truth values has no program")
                       : MASE_OK;
}

/* bmm is matmul of three dimensions. */
enum mase_status mase_lower_matmul(struct mase_lowered *l, struct mase_err *err)
{
    (void)err;
    l->op = MASE_OP_matmul;
    return MASE_OK;
}

/* x.where(condition, y) */
enum mase_status mase_lower_where(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_arg x = l->param[0];
    (void)err;
    l->op = MASE_OP_where;
    l->param[0] = l->param[1];
    l->param[1] = x;
    return MASE_OK;
}

/* With two operands it is no reduction. */
enum mase_status mase_lower_minmax(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_arg *first = &l->call[0].param[0], *second = &l->call[0].param[1];
    (void)err;
    if (!mase_arg_tensor(first) || mase_arg_tensor(second) || second->kind == MASE_ARG_FLOAT)
        l->prim = MASE_PRIM_zip;
    return MASE_OK;
}

/* ---- windows ---- */

/* Edges that are not zeros are an instruction of their own, as in PyTorch. */
enum mase_status mase_lower_conv(struct mase_lowered *l, struct mase_err *err)
{
    static const char *const modes[] = { "constant", "reflect", "replicate", "circular" };
    const struct mase_call *c = &l->call[0];
    const struct mase_sig *pad = mase_op_call_sig(MASE_OP_pad);
    struct mase_arg param[MASE_MAX_PARAMS] = { l->param[0] }, width[6], zero[3];
    struct mase_arena *a = &l->program->arena;
    struct mase_window w;
    MASE_TRY(mase_conv_window(c, &w, err));
    if (w.mode == MASE_PAD_ZEROS)
        return MASE_OK;
    struct mase_ptype type = mase_pvalue_of(&l->param[0])->type;
    for (int d = 0; d < w.n; d++) { /* the last dimension comes first */
        width[2 * (w.n - 1 - d)] = mase_arg_int(w.pad[d]);
        width[2 * (w.n - 1 - d) + 1] = mase_arg_int(w.pad_end[d]);
        type.dim[type.rank - w.n + d].plus += w.pad[d] + w.pad_end[d];
        zero[d] = mase_arg_int(0);
    }
    param[mase_sig_find(pad, "pad")] = mase_arg_seq(a, MASE_ARG_TUPLE, width, 2 * w.n);
    param[mase_sig_find(pad, "mode")] = mase_arg_text(modes[w.mode]);
    l->param[0] = mase_pvalue_arg(mase_lowered_emit(l, MASE_OP_pad, param, &type));
    l->param[mase_sig_find(c->sig, "padding")] = mase_arg_seq(a, MASE_ARG_TUPLE, zero, w.n);
    return MASE_OK;
}

/* ---- the same values ---- */

/* A result of the same type as its operand. Gradients stop at detach. */
enum mase_status mase_lower_copy(struct mase_lowered *l, struct mase_err *err)
{
    (void)err;
    l->alias = l->op != MASE_OP_detach || !l->program->training;
    return MASE_OK;
}

struct mase_arg mase_lowered_sizes(struct mase_lowered *l, const struct mase_ptype *type)
{
    struct mase_arg item[MASE_MAX_RANK];
    struct mase_arena *a = &l->program->arena;
    for (int d = 0; d < type->rank; d++) {
        item[d] = mase_arg_int(type->dim[d].plus);
        if (type->dim[d].times)
            item[d] =
                (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = mase_extent_text(a, type->dim[d]) };
    }
    return mase_arg_seq(a, MASE_ARG_TUPLE, item, type->rank);
}

/* view, flatten, squeeze ...: reshape to the shape that comes out. */
enum mase_status mase_lower_reshape(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    struct mase_ptype type;
    const struct mase_pvalue *x = mase_pvalue_of(&l->param[0]);
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        t[s] = l->call[s].result.tensor;
    MASE_TRY(mase_lowered_type(&type, t, l->call[0].node, err));
    l->alias = mase_ptype_equal(&type, &x->type);
    l->op = MASE_OP_reshape;
    l->param[1] = mase_lowered_sizes(l, &type);
    return MASE_OK;
}

enum mase_status mase_lower_permute(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    const struct mase_shape *x = &c->param[0].tensor->shape;
    struct mase_arg item[MASE_MAX_RANK];
    int order[MASE_MAX_RANK];
    MASE_TRY(mase_layout_order(c, order, x, err));
    for (int d = 0; d < x->rank; d++)
        item[d] = mase_arg_int(order[d]);
    l->op = MASE_OP_permute;
    l->param[1] = mase_arg_seq(&l->program->arena, MASE_ARG_TUPLE, item, x->rank);
    return MASE_OK;
}

/* float(), type_as(), to(device) ...: to the type that comes out, if it is another. */
enum mase_status mase_lower_cast(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    struct mase_arg target = { .kind = MASE_ARG_ATOM,
                               .s = mase_dtypes[c->result.tensor->dtype].torch };
    (void)err;
    l->alias = c->result.tensor->dtype == c->param[0].tensor->dtype;
    l->op = MASE_OP_cast;
    l->param[1] = mase_arg_seq(&l->program->arena, MASE_ARG_TUPLE, &target, 1);
    return MASE_OK;
}

/* ---- what differs in training ---- */

/* The parameter of l->op that says so. */
static void set_training(struct mase_lowered *l, const char *name)
{
    const bool training = mase_call_training(&l->call[0], name, l->program->training);
    l->param[mase_sig_find(mase_op_call_sig(l->op), name)] = mase_arg_bool(training);
}

enum mase_status mase_lower_dropout(struct mase_lowered *l, struct mase_err *err)
{
    double p;
    MASE_TRY(mase_call_float(&l->call[0], &p, "p", err));
    set_training(l, "training");
    l->alias = p == 0 || !mase_call_training(&l->call[0], "training", l->program->training);
    return MASE_OK;
}

/* A layer's parameters become one tuple, each rounded as its format says. */
enum mase_status mase_lower_recurrent(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    const struct mase_module *m = c->module;
    struct mase_arena *a = &l->program->arena;
    const int at = mase_sig_find(c->sig, "weights");
    (void)err;
    if (m) {
        struct mase_arg *item = mase_new_array(a, struct mase_arg, (size_t)m->param_count);
        for (int i = 0; i < m->param_count; i++) {
            const struct mase_param *p = &m->params[i];
            item[i] = mase_lowered_round(l, mase_lowered_tensor(l, &p->tensor, p->name), at,
                                         mase_mark_rounding(c->node, mase_param_mark(m, p)));
        }
        l->param[at] = mase_arg_seq(a, MASE_ARG_TUPLE, item, m->param_count);
    }
    if (mase_sig_find(c->sig, "training") >= 0)
        set_training(l, "training");
    return MASE_OK;
}

/* The call computes with a single sample as a batch of one. */
static void make_batch_of_one(struct mase_lowered *l)
{
    const struct mase_ptype own = mase_pvalue_of(&l->param[0])->type;
    struct mase_ptype batch = own;
    batch.dim[0] = (struct mase_extent){ .plus = 1 };
    memcpy(batch.dim + 1, own.dim, (size_t)own.rank * sizeof *own.dim);
    batch.rank++;
    struct mase_arg reshape[MASE_MAX_PARAMS] = { l->param[0], mase_lowered_sizes(l, &batch) };
    l->param[0] = mase_pvalue_arg(mase_lowered_emit(l, MASE_OP_reshape, reshape, &batch));
    l->param[0] = mase_pvalue_arg(mase_lowered_emit(l, l->op, l->param, &batch));
    l->param[1] = mase_lowered_sizes(l, &own);
    l->op = MASE_OP_reshape;
    l->prim = MASE_PRIM_reshape;
}

/* Batch and instance norm as functions, and the latter as layers: a layer that keeps no statistics
 * of its own takes the input's. */
enum mase_status mase_lower_stateful(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    const bool single =
        l->op == MASE_OP_instance_norm2d && c->module && c->param[0].tensor->shape.rank == 3;
    if (single && mase_pvalue_of(&l->param[0])->type.dim[0].times)
        return mase_call_fail(c, err, "of a single sample: a program has a batch of them");
    set_training(l, l->op == MASE_OP_batch_norm ? "training" : "use_input_stats");
    if (single)
        make_batch_of_one(l);
    return MASE_OK;
}

/* A layer has as attributes and parameters what a function has as arguments. */
enum mase_status mase_lower_batch_norm(struct mase_lowered *l, struct mase_err *err)
{
    const struct mase_call *c = &l->call[0];
    const bool counts = l->program->training && mase_module_param(c->module, "num_batches_tracked");
    struct mase_arg given[MASE_MAX_PARAMS]; /* rounded */
    (void)err;
    memcpy(given, l->param, sizeof given);
    l->op = counts ? MASE_OP_counted_batch_norm : MASE_OP_batch_norm;
    const struct mase_sig *sig = mase_op_call_sig(l->op);
    for (int i = 0; i < sig->count; i++) {
        const char *name = sig->param[i].name;
        const struct mase_arg *attr = mase_call_arg(c, name);
        const int at = mase_sig_find(c->sig, name);
        if (at >= 0)
            l->param[i] = given[at];
        else if (sig->param[i].role)
            l->param[i] = mase_lowered_tensor(l, mase_call_tensor(c, name), name);
        else
            l->param[i] = attr ? mase_arg_copy(&l->program->arena, attr) : mase_arg_none();
    }
    set_training(l, "training");
    return MASE_OK;
}
