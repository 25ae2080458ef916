/*
 * slope.c - the instructions that only gradients have: what they derive, and of which type it is.
 */
#include "ir/shape/shape.h"
#include "program/grad.h"

bool mase_prim_is_derived(enum mase_prim prim)
{
    return prim == MASE_PRIM_slope || prim == MASE_PRIM_slope_y || prim == MASE_PRIM_adjoint;
}

static bool has_adjoint(enum mase_op op)
{
    static mase_back_fn *const rules[] = { mase_back_adjoint, mase_back_pad, mase_back_getitem,
                                           mase_back_grid_sample };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (mase_back_rule(op) == rules[i])
            return true;
    return false;
}

bool mase_prim_derives(enum mase_prim prim, enum mase_op op)
{
    mase_back_fn *const rule = mase_back_rule(op);
    if (!mase_op_has_gradient(op))
        return false;
    if (prim == MASE_PRIM_slope)
        return mase_unary_of(op) || mase_binary_of(op) || rule == mase_back_map ||
               rule == mase_back_reduction || rule == mase_back_moments;
    if (prim == MASE_PRIM_slope_y)
        return mase_binary_of(op) || op == MASE_OP_grid_sample;
    return prim == MASE_PRIM_adjoint && has_adjoint(op);
}

/* Broadcast the shapes of two operands of zip. */
static void widen(struct mase_ptype *t, const struct mase_ptype *by)
{
    const int more = by->rank - t->rank;
    for (int d = t->rank - 1; d >= 0 && more > 0; d--)
        t->dim[d + more] = t->dim[d];
    for (int d = 0; d < more; d++)
        t->dim[d] = (struct mase_extent){ 1, 0 };
    t->rank += more > 0 ? more : 0;
    for (int d = 0; d < by->rank; d++) {
        struct mase_extent *e = &t->dim[t->rank - by->rank + d];
        if (mase_extent_equal(*e, (struct mase_extent){ 1, 0 }))
            *e = by->dim[d];
    }
}

struct mase_ptype mase_slope_type(const struct mase_instr *i)
{
    const struct mase_pvalue *x = mase_pvalue_of(&i->param[0]), *y = NULL;
    struct mase_ptype t = { .dtype = MASE_F32 };
    const bool two = mase_op_call_sig(i->op)->count > 1;
    if (two && mase_op_prim(i->op) != MASE_PRIM_map)
        y = mase_pvalue_of(&i->param[1]);
    if (x)
        t = x->type;
    if (i->op == MASE_OP_grid_sample && y) { /* by each coordinate */
        for (int d = 2; d < t.rank; d++)
            t.dim[d] = y->type.dim[d - 1];
        t.dim[t.rank++] = y->type.dim[y->type.rank - 1];
    } else if (y) {
        widen(&t, &y->type);
    }
    t.dtype =
        (x && x->type.dtype == MASE_F64) || (y && y->type.dtype == MASE_F64) ? MASE_F64 : MASE_F32;
    return t;
}
