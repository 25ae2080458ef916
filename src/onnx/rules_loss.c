/*
 * rules_loss.c - losses within a model.
 */
#include "onnx/import_parts.h"

/* Weights of positions; NULL: all count alike. */
struct counting {
    struct mase_node *target; /* ignored targets are class 0 */
    struct mase_node *weight, *valid;
};

static void read_counting(struct mase_ox_import *im, struct counting *c)
{
    const bool ignores = mase_ox_has_attr(im, "ignore_index");
    const int64_t ignored = mase_ox_attr_int(im, "ignore_index", 0);
    struct mase_ox_value *w = mase_ox_in(im, 2);
    c->target = mase_ox_cast(im, mase_ox_x(im, 1), MASE_I64);
    c->valid = ignores ? EMIT(im, MASE_OP_ne, ARG_NODE(c->target), ARG_INT(ignored)) : NULL;
    if (ignores)
        c->target =
            EMIT(im, MASE_OP_masked_fill, ARG_NODE(c->target),
                 ARG_NODE(EMIT(im, MASE_OP_eq, ARG_NODE(c->target), ARG_INT(ignored))), ARG_INT(0));
    c->weight =
        w ? EMIT(im, MASE_OP_getitem, ARG_NODE(mase_ox_node_of(im, w)), ARG_NODE(c->target)) : NULL;
}

/* -x at the target, weighted and reduced; x: logarithms of probabilities. */
static enum mase_status likelihood(struct mase_ox_import *im, struct mase_node *x,
                                   const struct counting *c)
{
    const char *reduction = mase_ox_attr_text(im, "reduction", "mean");
    struct mase_node *at = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(c->target), ARG_INT(1));
    struct mase_node *picked = EMIT(im, MASE_OP_gather, ARG_NODE(x), ARG_INT(1), ARG_NODE(at));
    struct mase_node *loss =
        EMIT(im, MASE_OP_neg, ARG_NODE(EMIT(im, MASE_OP_squeeze, ARG_NODE(picked), ARG_INT(1))));
    struct mase_node *weight = c->weight;
    if (weight)
        loss = EMIT(im, MASE_OP_mul, ARG_NODE(loss), ARG_NODE(weight));
    if (c->valid) {
        struct mase_node *invalid = EMIT(im, MASE_OP_not, ARG_NODE(c->valid));
        loss = EMIT(im, MASE_OP_masked_fill, ARG_NODE(loss), ARG_NODE(invalid), ARG_FLOAT(0.0));
        weight = weight ? EMIT(im, MASE_OP_masked_fill, ARG_NODE(weight), ARG_NODE(invalid),
                               ARG_FLOAT(0.0))
                        : mase_ox_cast(im, c->valid, mase_ox_dtype(im, x));
    }
    if (mase_streq(reduction, "none"))
        return mase_ox_out(im, 0, loss);
    if (mase_streq(reduction, "sum"))
        return GIVE(im, MASE_OP_sum, ARG_NODE(loss));
    if (!mase_streq(reduction, "mean"))
        return mase_ox_fail(im, MASE_EVALUE, "reduction '%s' is none of none, sum and mean",
                            reduction);
    if (!weight)
        return GIVE(im, MASE_OP_mean, ARG_NODE(loss));
    return GIVE(im, MASE_OP_div, ARG_NODE(EMIT(im, MASE_OP_sum, ARG_NODE(loss))),
                ARG_NODE(EMIT(im, MASE_OP_sum, ARG_NODE(weight))));
}

OX_RULE(nll_loss)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct counting c = { 0 };
    read_counting(im, &c);
    return likelihood(im, x, &c);
}

OX_RULE(softmax_loss)
{
    struct mase_node *x = EMIT(im, MASE_OP_log_softmax, ARG_NODE(mase_ox_x(im, 0)), ARG_INT(1));
    struct counting c = { 0 };
    read_counting(im, &c);
    mase_ox_out(im, 1, x);
    return likelihood(im, x, &c);
}
