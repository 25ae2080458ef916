/*
 * grad_attention.c - attention as the products, the mask and the softmax that it is made of; their
 * gradients are its own.
 */
#include <math.h>

#include "program/grad.h"

/* Scores of keys that are hidden: as low as float32 goes, so that a row of nothing else has a sum.
 */
static const double lowest = -3e38;

/* Ones on and below the diagonal of (L, S). */
static struct mase_arg causal_mask(struct mase_backward *k, struct mase_arg scores)
{
    const struct mase_ptype *t = mase_type_of(&scores);
    struct mase_ptype square = { .dtype = MASE_F32, .rank = 2 };
    square.dim[0] = t->dim[t->rank - 2];
    square.dim[1] = t->dim[t->rank - 1];
    const struct mase_arg ones = mase_g(k, ones, mase_expr_sizes(&k->b, &square));
    return mase_g(k, ne, mase_g(k, tril, ones), mase_arg_float(0.0));
}

static struct mase_arg masked(struct mase_backward *k, struct mase_arg scores)
{
    const struct mase_arg mask = mase_grad_param(k, "attn_mask"), low = mase_arg_float(lowest);
    if (mask.kind != MASE_ARG_NONE && mase_type_of(&mask)->dtype == MASE_DTYPE_BOOL)
        scores = mase_g(k, where, mask, scores, low);
    else if (mask.kind != MASE_ARG_NONE)
        scores = mase_g(k, clamp, mase_g(k, add, scores, mask), low);
    if (mase_grad_flag(k, "is_causal"))
        scores = mase_g(k, where, causal_mask(k, scores), scores, low);
    return scores;
}

void mase_back_attention(struct mase_backward *k)
{
    const struct mase_instr *before = k->b.p->last;
    const struct mase_arg q = mase_grad_param(k, "query"), key = mase_grad_param(k, "key");
    const struct mase_ptype *t = mase_type_of(&q);
    const double scale = mase_grad_number(k, "scale", 1.0 / sqrt((double)t->dim[t->rank - 1].plus));
    const bool hides =
        mase_grad_param(k, "attn_mask").kind != MASE_ARG_NONE || mase_grad_flag(k, "is_causal");
    if (k->b.p->training && mase_grad_number(k, "dropout_p", 0.0) != 0.0)
        mase_grad_refuse(k, "with dropout has no rule: its zeros are no value of the program");
    const struct mase_arg all = mase_g(k, matmul, q, mase_expr_transpose(&k->b, key));
    const struct mase_arg scores = masked(k, mase_g(k, mul, all, mase_arg_float(scale)));
    struct mase_arg weights = mase_g(k, softmax, scores, mase_arg_int(-1));
    if (hides)
        weights = mase_g(k, masked_fill, weights, mase_g(k, le, scores, mase_arg_float(lowest)),
                         mase_arg_float(0.0));
    const struct mase_arg y = mase_g(k, matmul, weights, mase_grad_param(k, "value"));
    mase_grad_expand(k, before, &y, 1);
}
