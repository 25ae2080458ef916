/*
 * instr_builder.c - instructions written like expressions (instr_builder.h).
 */
#include "program/instr_builder.h"

#include <string.h>

#include "ir/graph/bind_call.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"

/* ---- types ---- */

struct operands {
    struct mase_arena *arena;
    struct mase_tensor **tensor;
    int64_t samples;
};

static void add_tensor(struct mase_pvalue *v, void *data)
{
    const struct operands *o = data;
    const struct mase_shape s = mase_ptype_shape(&v->type, o->samples);
    o->tensor[v->number] = mase_new(o->arena, struct mase_tensor);
    *o->tensor[v->number] = mase_tensor(o->arena, v->type.dtype, &s, false);
}

/* Append the tensors of a result, in order; t NULL: count them only. */
static void list_tensors(const struct mase_arg *a, const struct mase_tensor **t, int *count)
{
    if (a->kind == MASE_ARG_TENSOR && t)
        t[*count] = a->tensor;
    *count += a->kind == MASE_ARG_TENSOR;
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        list_tensors(&a->items[i], t, count);
}

enum mase_status mase_instr_types(const struct mase_program *p, const struct mase_instr *i,
                                  const struct mase_node *node, struct mase_arena *a,
                                  struct mase_ptype **type, int *count, struct mase_err *err)
{
    const struct mase_tensor **t[MASE_BATCH_SIZES];
    for (int s = 0; s < MASE_BATCH_SIZES; s++) {
        const struct operands o = { a,
                                    mase_new_array(a, struct mase_tensor *, (size_t)p->value_count),
                                    mase_batch_sizes[s] };
        struct mase_pcall *call = mase_new(a, struct mase_pcall);
        for (int n = 0; n < mase_instr_params(i); n++)
            mase_each_pvalue(&i->param[n], add_tensor, (void *)&o);
        mase_pcall_init(call, a, i, o.tensor, o.samples);
        call->node.name = node->name;
        call->call.any_batch = mase_batch_is_any(s);
        MASE_TRY(mase_call_infer(&call->call, err));
        int all = 0, listed = 0;
        list_tensors(&call->call.result, NULL, &all);
        t[s] = mase_new_array(a, const struct mase_tensor *, (size_t)all + 1);
        list_tensors(&call->call.result, t[s], &listed);
        *count = s && *count < all ? *count : all;
    }
    *type = mase_new_array(a, struct mase_ptype, (size_t)*count + 1);
    for (int k = 0; k < *count; k++) {
        const struct mase_tensor *at[MASE_BATCH_SIZES];
        for (int s = 0; s < MASE_BATCH_SIZES; s++)
            at[s] = t[s][k];
        MASE_TRY(mase_lowered_type(&(*type)[k], at, node, err));
    }
    return MASE_OK;
}

const struct mase_ptype *mase_type_of(const struct mase_arg *a)
{
    static const struct mase_ptype scalar = { .dtype = MASE_F32 };
    const struct mase_pvalue *v = mase_pvalue_of(a);
    return v ? &v->type : &scalar;
}

bool mase_ptype_merge(struct mase_ptype *t, int from, int to)
{
    struct mase_extent e = { 1, 0 };
    if (to > t->rank)
        return false;
    for (int d = from; d < to; d++) {
        const struct mase_extent f = t->dim[d];
        if (e.times && f.times)
            return false;
        e = (struct mase_extent){ e.plus * f.plus, e.plus * f.times + e.times * f.plus };
    }
    memmove(&t->dim[from + 1], &t->dim[to], (size_t)(t->rank - to) * sizeof *t->dim);
    t->dim[from] = e;
    t->rank -= to - from - 1;
    return true;
}

/* ---- instructions ---- */

struct mase_instr *mase_expr_instr(struct mase_instr_builder *b, enum mase_prim prim,
                                   enum mase_op op, const struct mase_arg *param,
                                   const struct mase_ptype *type, int results)
{
    struct mase_instr *i = mase_program_add_instr(b->p, prim, op, results);
    i->from = b->from ? mase_arena_strdup(&b->p->arena, b->from) : NULL;
    i->node = b->node;
    if (param)
        memcpy(i->param, param, (size_t)mase_instr_params(i) * sizeof *param);
    for (int k = 0; k < results; k++) {
        i->result[k] = mase_program_add_value(b->p, MASE_PSOURCE_RESULT, &type[k], NULL);
        i->result[k]->made_by = i;
    }
    if (param)
        i->sum = mase_instr_sum(i);
    return i;
}

/* max and min of two operands are no reductions. */
static enum mase_prim prim_of(enum mase_op op, const struct mase_arg *param)
{
    const bool extreme = op == MASE_OP_max || op == MASE_OP_min;
    return extreme && (mase_pvalue_of(&param[1]) || param[1].kind == MASE_ARG_FLOAT)
               ? MASE_PRIM_zip
               : mase_op_prim(op);
}

void mase_expr_results(struct mase_instr_builder *b, enum mase_op op, const struct mase_arg *arg,
                       int args, struct mase_arg *result, int count)
{
    struct mase_arena a = { 0 };
    struct mase_arg param[MASE_MAX_PARAMS];
    struct mase_instr i = { .prim = prim_of(op, arg), .op = op, .param = param };
    const struct mase_node node = { .name = b->from ? b->from : mase_ops[op].name };
    const struct mase_sig *sig = mase_op_call_sig(op);
    struct mase_ptype *type;
    int found = 0;
    for (int k = 0; k < count; k++)
        result[k] = mase_arg_none();
    if (b->status)
        return;
    for (int k = 0; k < sig->count; k++)
        param[k] = k < args ? arg[k] : mase_bind_default(&b->p->arena, sig, k, param);
    b->status = mase_instr_types(b->p, &i, &node, &a, &type, &found, b->err);
    if (!b->status && found < count)
        mase_bug("%s has %d results, not %d", mase_ops[op].name, found, count);
    if (!b->status) {
        const struct mase_instr *made = mase_expr_instr(b, i.prim, op, param, type, found);
        for (int k = 0; k < count; k++)
            result[k] = mase_pvalue_arg(made->result[k]);
    }
    mase_arena_release(&a);
}

struct mase_arg mase_expr_call(struct mase_instr_builder *b, enum mase_op op,
                               const struct mase_arg *arg, int args)
{
    struct mase_arg result;
    mase_expr_results(b, op, arg, args, &result, 1);
    return result;
}

/* ---- arguments ---- */

struct mase_arg mase_expr_tuple(struct mase_instr_builder *b, const struct mase_arg *item,
                                int count)
{
    return mase_arg_seq(&b->p->arena, MASE_ARG_TUPLE, item, count);
}

struct mase_arg mase_expr_ints(struct mase_instr_builder *b, const int64_t *v, int count)
{
    struct mase_arg item[2 * MASE_MAX_RANK];
    for (int i = 0; i < count; i++)
        item[i] = mase_arg_int(v[i]);
    return mase_expr_tuple(b, item, count);
}

struct mase_arg mase_expr_length(struct mase_instr_builder *b, struct mase_extent e)
{
    if (!e.times)
        return mase_arg_int(e.plus);
    return (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = mase_extent_text(&b->p->arena, e) };
}

struct mase_arg mase_expr_sizes(struct mase_instr_builder *b, const struct mase_ptype *t)
{
    struct mase_arg item[MASE_MAX_RANK];
    for (int d = 0; d < t->rank; d++)
        item[d] = mase_expr_length(b, t->dim[d]);
    return mase_expr_tuple(b, item, t->rank);
}

struct mase_arg mase_expr_constant(struct mase_instr_builder *b, enum mase_dtype dtype,
                                   const struct mase_shape *shape, const double *v)
{
    struct mase_ptype type = { .dtype = dtype, .rank = shape->rank };
    for (int d = 0; d < shape->rank; d++)
        type.dim[d].plus = shape->dim[d];
    struct mase_tensor t = mase_tensor(&b->p->arena, dtype, shape, true);
    for (int64_t i = 0; i < mase_tensor_count(&t); i++)
        mase_tensor_set(&t, i, v[i]);
    struct mase_pvalue *c = mase_program_add_value(b->p, MASE_PSOURCE_CONST, &type, NULL);
    c->data = t.data;
    return mase_pvalue_arg(c);
}

/* ---- in other shapes ---- */

struct mase_arg mase_expr_reshape(struct mase_instr_builder *b, struct mase_arg x,
                                  const struct mase_ptype *t)
{
    struct mase_ptype same = *t;
    if (b->status)
        return mase_arg_none();
    same.dtype = mase_type_of(&x)->dtype;
    if (mase_ptype_equal(mase_type_of(&x), &same))
        return x;
    return mase_expr(b, MASE_OP_reshape, x, mase_expr_sizes(b, t));
}

struct mase_arg mase_expr_permute(struct mase_instr_builder *b, struct mase_arg x, const int *order)
{
    int64_t to[MASE_MAX_RANK];
    bool moves = false;
    const int rank = mase_type_of(&x)->rank;
    if (b->status)
        return mase_arg_none();
    for (int d = 0; d < rank; d++) {
        to[d] = order[d];
        moves |= order[d] != d;
    }
    return moves ? mase_expr(b, MASE_OP_permute, x, mase_expr_ints(b, to, rank)) : x;
}

struct mase_arg mase_expr_transpose(struct mase_instr_builder *b, struct mase_arg x)
{
    int order[MASE_MAX_RANK];
    const int rank = mase_type_of(&x)->rank;
    for (int d = 0; d < rank; d++)
        order[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return mase_expr_permute(b, x, order);
}

struct mase_arg mase_expr_narrow(struct mase_instr_builder *b, struct mase_arg x, int dim,
                                 struct mase_extent start, struct mase_extent length)
{
    if (!start.plus && !start.times && mase_extent_equal(mase_type_of(&x)->dim[dim], length))
        return x;
    return mase_expr(b, MASE_OP_narrow, x, mase_arg_int(dim), mase_expr_length(b, start),
                     mase_expr_length(b, length));
}

struct mase_arg mase_expr_embed(struct mase_instr_builder *b, struct mase_arg x, int dim,
                                struct mase_extent start, const struct mase_ptype *t)
{
    const struct mase_extent own = mase_type_of(&x)->dim[dim], all = t->dim[dim];
    const struct mase_extent behind = { all.plus - start.plus - own.plus,
                                        all.times - start.times - own.times };
    struct mase_arg width[2 * MASE_MAX_RANK]; /* the last dimension comes first */
    const int count = 2 * (t->rank - dim);
    if (mase_extent_equal(own, all))
        return x;
    for (int i = 0; i < count; i++)
        width[i] = mase_arg_int(0);
    width[count - 2] = mase_expr_length(b, start);
    width[count - 1] = mase_expr_length(b, behind);
    return mase_expr(b, MASE_OP_pad, x, mase_expr_tuple(b, width, count));
}

struct mase_arg mase_expr_zeros(struct mase_instr_builder *b, const struct mase_ptype *t)
{
    return mase_expr(b, MASE_OP_zeros, mase_expr_sizes(b, t));
}

struct mase_arg mase_expr_unsqueeze(struct mase_instr_builder *b, struct mase_arg x, int dim)
{
    struct mase_ptype t = *mase_type_of(&x);
    if (!b->status && t.rank == MASE_MAX_RANK)
        b->status = mase_fail(b->err, MASE_ELIMIT, "%s: would need more than %d dimensions",
                              b->from ? b->from : "the program", MASE_MAX_RANK);
    if (b->status)
        return mase_arg_none();
    memmove(&t.dim[dim + 1], &t.dim[dim], (size_t)(t.rank - dim) * sizeof *t.dim);
    t.dim[dim] = (struct mase_extent){ 1, 0 };
    t.rank++;
    return mase_expr_reshape(b, x, &t);
}

struct mase_arg mase_expr_sum_to(struct mase_instr_builder *b, struct mase_arg x,
                                 const struct mase_ptype *t)
{
    const struct mase_ptype *own = mase_type_of(&x);
    const int lead = own->rank - t->rank;
    const struct mase_extent one = { 1, 0 };
    int64_t dim[MASE_MAX_RANK];
    int count = 0;
    for (int d = 0; d < own->rank; d++)
        if (d < lead ||
            (mase_extent_equal(t->dim[d - lead], one) && !mase_extent_equal(own->dim[d], one)))
            dim[count++] = d;
    if (b->status)
        return x;
    if (count == 0)
        return mase_expr_reshape(b, x, t); /* only ones in front may be missing */
    const bool keep = count > lead;
    x = mase_expr(b, MASE_OP_sum, x, mase_expr_ints(b, dim, count), mase_arg_bool(keep));
    return mase_expr_reshape(b, x, t);
}
