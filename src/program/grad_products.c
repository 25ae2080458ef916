/*
 * grad_products.c - gradients of sums of products, and of attention.
 *
 * Of y = a b: da = dy b^T, db = a^T dy. Samples of a batch are rows of one matrix, so what a
 * parameter gets from them is one product.
 */
#include "program/grad.h"

#include <math.h>

/* All dimensions but the last as rows. */
static struct mase_arg rows_of(struct mase_backward *k, struct mase_arg x)
{
    struct mase_ptype t = *mase_type_of(&x);
    if (!mase_ptype_merge(&t, 0, t.rank - 1))
        mase_grad_refuse(k, "has rows whose number does not follow the samples");
    return mase_expr_reshape(&k->b, x, &t);
}

static struct mase_arg product(struct mase_backward *k, struct mase_arg a, struct mase_arg b)
{
    return mase_g(k, matmul, a, b);
}

static struct mase_arg transposed(struct mase_backward *k, struct mase_arg a)
{
    return mase_expr_transpose(&k->b, a);
}

static struct mase_arg times(struct mase_backward *k, struct mase_arg x, double by)
{
    return by == 1.0 ? x : mase_g(k, mul, x, mase_arg_float(by));
}

/* x (.., in), weight (out, in), bias (out) */
void mase_back_linear(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0], *w = &k->i->param[1], *b = &k->i->param[2];
    const struct mase_arg dy = mase_grad_result(k, 0);
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x, product(k, dy, *w));
    if (mase_grad_wants(k, w))
        mase_grad_give(k, w, product(k, transposed(k, rows_of(k, dy)), rows_of(k, *x)));
    mase_grad_give(k, b, dy);
}

/* a b of matrices, batched or not. */
static void product_back(struct mase_backward *k, const struct mase_arg *x,
                         const struct mase_arg *y, struct mase_arg dy)
{
    const struct mase_arg own[2] = { *x, *y };
    struct mase_arg a = *x, b = *y;
    if (mase_type_of(&own[1])->rank == 1) {
        b = mase_expr_unsqueeze(&k->b, b, 1);
        dy = mase_expr_unsqueeze(&k->b, dy, mase_type_of(&dy)->rank);
    }
    if (mase_type_of(&own[0])->rank == 1) {
        a = mase_expr_unsqueeze(&k->b, a, 0);
        dy = mase_expr_unsqueeze(&k->b, dy, mase_type_of(&dy)->rank - 1);
    }
    if (mase_grad_wants(k, x)) {
        const struct mase_arg d = product(k, dy, transposed(k, b));
        mase_grad_give(k, x,
                       mase_expr_reshape(&k->b, mase_expr_sum_to(&k->b, d, mase_type_of(&a)),
                                         mase_type_of(x)));
    }
    if (mase_grad_wants(k, y)) {
        const struct mase_arg d = product(k, transposed(k, a), dy);
        mase_grad_give(k, y,
                       mase_expr_reshape(&k->b, mase_expr_sum_to(&k->b, d, mase_type_of(&b)),
                                         mase_type_of(y)));
    }
}

void mase_back_matmul(struct mase_backward *k)
{
    product_back(k, &k->i->param[0], &k->i->param[1], mase_grad_result(k, 0));
}

/* beta c + alpha a b */
void mase_back_addmm(struct mase_backward *k)
{
    const struct mase_arg *c = &k->i->param[0], dy = mase_grad_result(k, 0);
    if (mase_grad_wants(k, c))
        mase_grad_give(k, c, times(k, dy, mase_grad_number(k, "beta", 1.0)));
    product_back(k, &k->i->param[1], &k->i->param[2],
                 times(k, dy, mase_grad_number(k, "alpha", 1.0)));
}

/* alpha a b + beta c, either operand transposed */
void mase_back_gemm(struct mase_backward *k)
{
    const struct mase_arg *a = &k->i->param[0], *b = &k->i->param[1], *c = &k->i->param[2];
    const struct mase_arg dy = mase_grad_result(k, 0);
    const struct mase_arg d = times(k, dy, mase_grad_number(k, "alpha", 1.0));
    const bool turned_a = mase_grad_flag(k, "transA"), turned_b = mase_grad_flag(k, "transB");
    if (mase_grad_wants(k, a)) {
        const struct mase_arg da = product(k, d, turned_b ? *b : transposed(k, *b));
        mase_grad_give(k, a, turned_a ? transposed(k, da) : da);
    }
    if (mase_grad_wants(k, b)) {
        const struct mase_arg db = product(k, turned_a ? *a : transposed(k, *a), d);
        mase_grad_give(k, b, turned_b ? transposed(k, db) : db);
    }
    if (mase_grad_wants(k, c))
        mase_grad_give(k, c, times(k, dy, mase_grad_number(k, "beta", 1.0)));
}

/* ---- x1 W x2 ---- */

/* Row m of a times row m of W (rows, outputs, others), summed over the rows: (M, outputs, others).
 */
static struct mase_arg through_weight(struct mase_backward *k, struct mase_arg a, int rows)
{
    static const int orders[2][3] = { { 2, 0, 1 }, { 1, 0, 2 } };
    const struct mase_arg w = mase_expr_permute(&k->b, k->i->param[2], orders[rows == 1]);
    const struct mase_ptype *t = mase_type_of(&w);
    struct mase_ptype flat = *t, out = *t;
    mase_ptype_merge(&flat, 1, 3);
    const struct mase_arg y = product(k, a, mase_expr_reshape(&k->b, w, &flat));
    out.dim[0] = mase_type_of(&a)->dim[0];
    return mase_expr_reshape(&k->b, y, &out);
}

/* The sum over outputs of dy (M, outputs) times t (M, outputs, others). */
static struct mase_arg over_outputs(struct mase_backward *k, struct mase_arg dy, struct mase_arg t)
{
    const struct mase_arg both = mase_g(k, mul, mase_expr_unsqueeze(&k->b, dy, 2), t);
    return mase_g(k, sum, both, mase_arg_int(1));
}

void mase_back_bilinear(struct mase_backward *k)
{
    const struct mase_arg *x1 = &k->i->param[0], *x2 = &k->i->param[1], *w = &k->i->param[2];
    const struct mase_arg dy = mase_grad_result(k, 0);
    const struct mase_arg d = rows_of(k, dy), a = rows_of(k, *x1), b = rows_of(k, *x2);
    if (mase_grad_wants(k, x1))
        mase_grad_give(k, x1,
                       mase_expr_reshape(&k->b, over_outputs(k, d, through_weight(k, b, 2)),
                                         mase_type_of(x1)));
    if (mase_grad_wants(k, x2))
        mase_grad_give(k, x2,
                       mase_expr_reshape(&k->b, over_outputs(k, d, through_weight(k, a, 1)),
                                         mase_type_of(x2)));
    if (mase_grad_wants(k, w)) {
        struct mase_arg both =
            mase_g(k, mul, mase_expr_unsqueeze(&k->b, a, 2), mase_expr_unsqueeze(&k->b, b, 1));
        struct mase_ptype flat = *mase_type_of(&both);
        mase_ptype_merge(&flat, 1, 3);
        both = mase_expr_reshape(&k->b, both, &flat);
        const struct mase_arg dw = product(k, transposed(k, d), both);
        mase_grad_give(k, w, mase_expr_reshape(&k->b, dw, mase_type_of(w)));
    }
    mase_grad_give(k, &k->i->param[3], dy);
}
