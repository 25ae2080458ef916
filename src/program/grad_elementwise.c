/*
 * grad_elementwise.c - gradients of functions of one or two values, of choices and of casts.
 *
 * dx = dy slope(x): the slope is an instruction of its own, which computes what MAP and ZIP in
 * ops.def write beside the value.
 */
#include "program/grad.h"

void mase_back_map(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0],
                   mase_g(k, mul, mase_grad_result(k, 0), mase_grad_slope(k, 0)));
}

void mase_back_neg(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0], mase_g(k, neg, mase_grad_result(k, 0)));
}

void mase_back_zip(struct mase_backward *k)
{
    for (int n = 0; n < 2; n++)
        if (mase_grad_wants(k, &k->i->param[n]))
            mase_grad_give(k, &k->i->param[n],
                           mase_g(k, mul, mase_grad_result(k, 0), mase_grad_slope(k, n)));
}

/* times dy; 1 times is dy itself. */
static struct mase_arg scaled(struct mase_backward *k, struct mase_arg dy, double times)
{
    if (times == 1.0)
        return dy;
    return times == -1.0 ? mase_g(k, neg, dy) : mase_g(k, mul, dy, mase_arg_float(times));
}

/* x + alpha y */
static void sum_back(struct mase_backward *k, double sign)
{
    const struct mase_arg dy = mase_grad_result(k, 0);
    const double alpha = mase_grad_number(k, "alpha", 1.0);
    mase_grad_give(k, &k->i->param[0], dy);
    if (mase_grad_wants(k, &k->i->param[1]))
        mase_grad_give(k, &k->i->param[1], scaled(k, dy, sign * alpha));
}

void mase_back_add(struct mase_backward *k)
{
    sum_back(k, 1.0);
}

void mase_back_sub(struct mase_backward *k)
{
    sum_back(k, -1.0);
}

void mase_back_mul(struct mase_backward *k)
{
    const struct mase_arg dy = mase_grad_result(k, 0);
    for (int n = 0; n < 2; n++)
        if (mase_grad_wants(k, &k->i->param[n]))
            mase_grad_give(k, &k->i->param[n], mase_g(k, mul, dy, k->i->param[1 - n]));
}

/* A quotient that is rounded has no slope. */
void mase_back_div(struct mase_backward *k)
{
    const struct mase_arg mode = mase_grad_param(k, "rounding_mode");
    const struct mase_arg dy = mase_grad_result(k, 0), y = k->i->param[1];
    if (mode.kind != MASE_ARG_NONE)
        return;
    if (mase_grad_wants(k, &k->i->param[0]))
        mase_grad_give(k, &k->i->param[0], mase_g(k, div, dy, y));
    if (mase_grad_wants(k, &k->i->param[1]))
        mase_grad_give(k, &k->i->param[1], mase_g(k, mul, dy, mase_grad_slope(k, 1)));
}

/* ---- choices ---- */

static struct mase_arg chosen(struct mase_backward *k, struct mase_arg condition, bool holds)
{
    const struct mase_arg dy = mase_grad_result(k, 0), zero = mase_arg_float(0.0);
    return holds ? mase_g(k, where, condition, dy, zero) : mase_g(k, where, condition, zero, dy);
}

void mase_back_where(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    for (int n = 1; n < 3; n++)
        if (mase_grad_wants(k, &param[n]))
            mase_grad_give(k, &param[n], chosen(k, param[0], n == 1));
}

void mase_back_masked_fill(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    if (mase_grad_wants(k, &param[0]))
        mase_grad_give(k, &param[0], chosen(k, param[1], false));
    if (mase_grad_wants(k, &param[2]))
        mase_grad_give(k, &param[2], chosen(k, param[1], true));
}

/* ---- types ---- */

static struct mase_arg as_type(struct mase_backward *k, struct mase_arg x, enum mase_dtype dtype)
{
    const struct mase_arg target = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[dtype].torch };
    if (mase_type_of(&x)->dtype == dtype)
        return x;
    return mase_g(k, cast, x, mase_expr_tuple(&k->b, &target, 1));
}

void mase_back_cast(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x, as_type(k, mase_grad_result(k, 0), mase_type_of(x)->dtype));
}

/* Straight through, but not where a value lay outside of its format's limits; what a format has
 * learned has the gradient that the format defines (quants.def). */
void mase_back_round(struct mase_backward *k)
{
    const struct mase_instr *i = k->i;
    const struct mase_arg dy = mase_grad_result(k, 0);
    const int learned = mase_format_learned(i->round.format);
    struct mase_ptype type[1 + MASE_LEARNED_MAX];
    if (mase_format_gradient(i->round.format) == MASE_GRADIENT_STRAIGHT && !learned) {
        mase_grad_give(k, &i->param[0], dy);
        return;
    }
    for (int j = 0; j <= learned; j++)
        type[j] = *mase_type_of(&i->param[j]);
    struct mase_instr *back =
        mase_expr_instr(&k->b, MASE_PRIM_round_back, MASE_OP_unknown, NULL, type, 1 + learned);
    back->round = i->round;
    back->round_rank = i->round_rank;
    back->param[0] = dy;
    for (int j = 0; j <= learned; j++) {
        back->param[1 + j] = i->param[j];
        mase_grad_give(k, &i->param[j], mase_pvalue_arg(back->result[j]));
    }
}
