/*
 * shape_loss.c - what losses give: a number for each position, or their mean or sum.
 */
#include "ir/shape/shape.h"

/* ---- reductions ---- */

/* The loss of each position, or what the call reduces them to. */
static enum mase_status set_reduced(struct mase_call *c, enum mase_dtype type,
                                    const struct mase_shape *positions, struct mase_err *err)
{
    static const char *const gone[] = { "size_average", "reduce" };
    const char *reduction = mase_call_text(c, "reduction", "mean");
    const bool none = mase_streq(reduction, "none"), kl = c->node->op == MASE_OP_kl_div;
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        if (mase_arg_present(mase_call_arg(c, gone[i])))
            return mase_call_fail(c, err, "'%s' is not known any more: reduction says it", gone[i]);
    if (!none && !mase_streq(reduction, "mean") && !mase_streq(reduction, "sum") &&
        !(kl && mase_streq(reduction, "batchmean")))
        return mase_call_fail(c, err, "reduction = '%s' is none of none, mean, sum%s", reduction,
                              kl ? ", batchmean" : "");
    mase_call_result(c, type, none ? positions : &(struct mase_shape){ 0 });
    return MASE_OK;
}

/* ---- cross entropy ---- */

/* input (N, C, d...) or (C); target the same without C (class numbers), or just like the input
 * (probabilities). */
static enum mase_status check_target(const struct mase_call *c, const struct mase_tensor *x,
                                     const struct mase_tensor *target,
                                     const struct mase_shape *positions, struct mase_err *err)
{
    bool classes = target->dtype == MASE_I64 && mase_shape_equal(&target->shape, positions);
    bool shares = mase_dtype_is_float(target->dtype) && mase_shape_equal(&target->shape, &x->shape);
    if (classes || shares)
        return MASE_OK;
    return mase_call_fail(c, err,
                          "target %s%s fits the input %s neither as classes (i64%s) nor as "
                          "probabilities (f32%s)",
                          mase_dtypes[target->dtype].name, mase_show_shape(c, &target->shape),
                          mase_show_shape(c, &x->shape), mase_show_shape(c, positions),
                          mase_show_shape(c, &x->shape));
}

/* The operands that cross_entropy and nll_loss have in common, and the shape of a loss for each. */
static enum mase_status entropy(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *target, *weight = mase_call_tensor(c, "weight");
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &target, "target", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    if (x->shape.rank < 1)
        return mase_call_fail(c, err, "the input has no dimension of classes");
    int axis = x->shape.rank > 1;
    struct mase_shape positions = { 0 };
    for (int i = 0; i < x->shape.rank; i++)
        if (i != axis)
            mase_shape_push(&positions, x->shape.dim[i]);
    MASE_TRY(check_target(c, x, target, &positions, err));
    struct mase_shape want = { .rank = 1, .dim = { x->shape.dim[axis] } };
    if (weight && !mase_shape_equal(&weight->shape, &want))
        return mase_call_fail(c, err, "weight %s does not fit %lld classes",
                              mase_show_shape(c, &weight->shape), (long long)want.dim[0]);
    return set_reduced(c, x->dtype, &positions, err);
}

enum mase_status mase_shape_cross_entropy(struct mase_call *c, struct mase_err *err)
{
    double smoothing;
    MASE_TRY(entropy(c, err));
    MASE_TRY(mase_call_float(c, &smoothing, "label_smoothing", err));
    if (!(smoothing >= 0.0 && smoothing <= 1.0))
        return mase_call_fail(c, err, "label_smoothing = %g is outside 0..1", smoothing);
    return MASE_OK;
}

enum mase_status mase_shape_nll_loss(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *target = mase_call_tensor(c, "target");
    MASE_TRY(entropy(c, err));
    if (target->dtype != MASE_I64)
        return mase_call_fail(c, err, "the target must be classes, i64, not %s",
                              mase_dtypes[target->dtype].name);
    return MASE_OK;
}

/* ---- of each number ---- */

/* PyTorch would broadcast, and warn that this is seldom meant: (N) beside (N, 1) is (N, N). */
static enum mase_status check_same(const struct mase_call *c, const struct mase_tensor *x,
                                   const char *name, bool broadcasts, struct mase_err *err)
{
    const struct mase_tensor *t = mase_call_tensor(c, name);
    if (!t || mase_shape_equal(&t->shape, &x->shape))
        return MASE_OK;
    if (broadcasts && mase_shape_fits(&t->shape, &x->shape))
        return MASE_OK;
    return mase_call_fail(c, err, "input %s and %s %s must have one shape",
                          mase_show_shape(c, &x->shape), name, mase_show_shape(c, &t->shape));
}

enum mase_status mase_shape_pointwise_loss(struct mase_call *c, struct mase_err *err)
{
    static const char *const bounds[] = { "beta", "delta" };
    const struct mase_tensor *x, *target;
    double bound;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &target, "target", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, target, "target", err));
    MASE_TRY(check_same(c, x, "target", false, err));
    MASE_TRY(check_same(c, x, "weight", true, err));
    MASE_TRY(check_same(c, x, "pos_weight", true, err));
    for (int i = 0; i < 2; i++) {
        if (!mase_call_arg(c, bounds[i]))
            continue;
        MASE_TRY(mase_call_float(c, &bound, bounds[i], err));
        if (!(bound > 0.0) && !(i == 0 && bound == 0.0))
            return mase_call_fail(c, err, "%s = %g is not above 0", bounds[i], bound);
    }
    return set_reduced(c, x->dtype, &x->shape, err);
}
