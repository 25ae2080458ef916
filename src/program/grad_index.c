/*
 * grad_index.c - gradients of what is read or written at places that another tensor holds: places
 * that were read get what comes from them, added up.
 */
#include "program/grad.h"

/* dy added to zeros where values were read along a dimension. */
static struct mase_arg gathered_back(struct mase_backward *k, const struct mase_arg *x,
                                     struct mase_arg dim, struct mase_arg index, struct mase_arg dy)
{
    return mase_g(k, scatter_add, mase_expr_zeros(&k->b, mase_type_of(x)), dim, index, dy);
}

void mase_back_gather(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    mase_grad_give(k, &param[0],
                   gathered_back(k, &param[0], param[1], param[2], mase_grad_result(k, 0)));
}

void mase_back_index_select(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    mase_grad_give(k, &param[0],
                   mase_g(k, index_add, mase_expr_zeros(&k->b, mase_type_of(&param[0])), param[1],
                          param[2], mase_grad_result(k, 0)));
}

/* Gradients of scatter's src: for the values that have an index, the first ones along each
 * dimension. */
static void give_source(struct mase_backward *k, const struct mase_arg *src, struct mase_arg dim,
                        struct mase_arg index)
{
    struct mase_arg d = mase_g(k, gather, mase_grad_result(k, 0), dim, index);
    const struct mase_ptype *t = mase_type_of(src);
    for (int n = 0; n < t->rank && !k->b.status; n++)
        d = mase_expr_embed(&k->b, d, n, (struct mase_extent){ 0, 0 }, t);
    mase_grad_give(k, src, d);
}

void mase_back_scatter(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param, dy = mase_grad_result(k, 0);
    const struct mase_arg src = mase_grad_param(k, "src");
    if (mase_grad_wants(k, &param[0]))
        mase_grad_give(
            k, &param[0],
            mase_g(k, scatter, dy, param[1], param[2], mase_arg_none(), mase_arg_float(0.0)));
    if (mase_grad_wants(k, &src))
        give_source(k, &src, param[1], param[2]);
    const struct mase_arg value = mase_grad_param(k, "value");
    if (mase_grad_wants(k, &value))
        give_source(k, &value, param[1], param[2]);
}

void mase_back_scatter_add(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    mase_grad_give(k, &param[0], mase_grad_result(k, 0));
    if (mase_grad_wants(k, &param[3]))
        give_source(k, &param[3], param[1], param[2]);
}

void mase_back_index_add(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param, dy = mase_grad_result(k, 0);
    const double alpha = mase_grad_number(k, "alpha", 1.0);
    mase_grad_give(k, &param[0], dy);
    if (!mase_grad_wants(k, &param[3]))
        return;
    const struct mase_arg d = mase_g(k, index_select, dy, param[1], param[2]);
    mase_grad_give(k, &param[3], alpha == 1.0 ? d : mase_g(k, mul, d, mase_arg_float(alpha)));
}

/* The row of the padding learns nothing. */
void mase_back_embedding(struct mase_backward *k)
{
    const struct mase_arg *index = &k->i->param[0], *w = &k->i->param[1];
    const int64_t padding = mase_grad_int(k, "padding_idx", -1);
    struct mase_arg dy = mase_grad_result(k, 0);
    struct mase_ptype places = *mase_type_of(index), rows = *mase_type_of(&dy);
    if (mase_grad_flag(k, "scale_grad_by_freq"))
        mase_grad_refuse(k, "by frequency has no rule");
    if (!mase_ptype_merge(&places, 0, places.rank) || !mase_ptype_merge(&rows, 0, rows.rank - 1))
        mase_grad_refuse(k, "has rows whose number does not follow the samples");
    struct mase_arg dw =
        mase_g(k, index_add, mase_expr_zeros(&k->b, mase_type_of(w)), mase_arg_int(0),
               mase_expr_reshape(&k->b, *index, &places), mase_expr_reshape(&k->b, dy, &rows));
    if (padding >= 0)
        dw = mase_g(k, setitem, dw, mase_arg_int(padding), mase_arg_float(0.0));
    mase_grad_give(k, w, dw);
}

/* ---- values in their order ---- */

/* Results are values and the places where they lay along dim. */
static void order_back(struct mase_backward *k, bool kept)
{
    const struct mase_arg *x = &k->i->param[0];
    const int axis = mase_grad_axis(k, "dim", mase_type_of(x)->rank);
    struct mase_arg dy = mase_grad_result(k, 0), index = mase_pvalue_arg(k->i->result[1]);
    if (dy.kind == MASE_ARG_NONE)
        return;
    if (!kept) {
        dy = mase_expr_unsqueeze(&k->b, dy, axis);
        index = mase_expr_unsqueeze(&k->b, index, axis);
    }
    mase_grad_give(k, x, gathered_back(k, x, mase_arg_int(axis), index, dy));
}

void mase_back_order(struct mase_backward *k)
{
    order_back(k, true);
}

/* One value of many, equal ones sharing its gradient. */
static void share(struct mase_backward *k)
{
    const struct mase_arg x = k->i->param[0], y = mase_pvalue_arg(k->i->result[0]);
    const struct mase_arg target = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[MASE_F32].torch };
    const struct mase_arg equal = mase_g(k, eq, x, y);
    const struct mase_arg ones = mase_g(k, cast, equal, mase_expr_tuple(&k->b, &target, 1));
    const struct mase_arg part = mase_g(k, div, mase_grad_result(k, 0), mase_g(k, sum, ones));
    mase_grad_give(k, &x, mase_g(k, mul, ones, part));
}

/* kthvalue and median; the latter, of all values, is the first that has its value. */
void mase_back_order_one(struct mase_backward *k)
{
    if (k->i->result_count == 2)
        order_back(k, mase_grad_flag(k, "keepdim"));
    else
        share(k);
}

/* max and min: of two tensors, along a dimension, or of all values. */
void mase_back_extreme(struct mase_backward *k)
{
    if (k->i->prim == MASE_PRIM_zip)
        mase_back_zip(k);
    else if (k->i->result_count == 2)
        order_back(k, mase_grad_flag(k, "keepdim"));
    else
        share(k);
}
