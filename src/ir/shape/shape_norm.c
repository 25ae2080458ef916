/*
 * shape_norm.c - rules of normalisations and the loss: the result has the input's shape (the loss
 * its target's), the work is checking that the parameters fit.
 */
#include <string.h>

#include "ir/shape/shape.h"

/* Each of these tensors, when present, must have the wanted shape. */
static enum mase_status check_params(const struct mase_call *c, const char *const *names, int n,
                                     const struct mase_shape *want, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    for (int i = 0; i < n; i++) {
        const struct mase_tensor *p = mase_call_tensor(c, names[i]);
        if (p && !mase_shape_equal(&p->shape, want))
            return mase_call_fail(c, err, "%s %s does not fit the input %s, which needs %s",
                                  names[i], mase_show_shape(c, &p->shape),
                                  mase_show_shape(c, &x->shape), mase_show_shape(c, want));
    }
    return MASE_OK;
}

/* The ranks an input may have. */
static enum mase_status check_rank(const struct mase_call *c, const struct mase_shape *s, int low,
                                   int high, struct mase_err *err)
{
    if (s->rank >= low && s->rank <= high)
        return MASE_OK;
    if (low == high)
        return mase_call_fail(c, err, "input must have %d dimensions, got %s", low,
                              mase_show_shape(c, s));
    return mase_call_fail(c, err, "input must have %d to %d dimensions, got %s", low, high,
                          mase_show_shape(c, s));
}

static enum mase_status batch_norm_rank(const struct mase_call *c, const struct mase_shape *s,
                                        struct mase_err *err)
{
    switch (c->node->op) {
    case MASE_OP_batch_norm1d:
    case MASE_OP_instance_norm1d:
        return check_rank(c, s, 2, 3, err);
    case MASE_OP_batch_norm2d:
        return check_rank(c, s, 4, 4, err);
    case MASE_OP_batch_norm3d:
        return check_rank(c, s, 5, 5, err);
    case MASE_OP_instance_norm3d:
        return check_rank(c, s, 4, 5, err);
    case MASE_OP_instance_norm2d:
        return check_rank(c, s, 3, c->module ? 4 : MASE_MAX_RANK, err);
    default:
        return check_rank(c, s, 2, MASE_MAX_RANK, err);
    }
}

int mase_norm_channel_dim(const struct mase_call *c, const struct mase_shape *s)
{
    bool unbatched = (c->node->op == MASE_OP_instance_norm1d && s->rank == 2) ||
                     (c->node->op == MASE_OP_instance_norm2d && c->module && s->rank == 3) ||
                     (c->node->op == MASE_OP_instance_norm3d && s->rank == 4);
    return unbatched ? 0 : 1;
}

enum mase_status mase_shape_batch_norm(struct mase_call *c, struct mase_err *err)
{
    static const char *const params[] = { "weight", "bias", "running_mean", "running_var" };
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(batch_norm_rank(c, &x->shape, err));
    int64_t channels = x->shape.dim[mase_norm_channel_dim(c, &x->shape)];
    struct mase_shape want = { .rank = 1, .dim = { channels } };
    MASE_TRY(check_params(c, params, 4, &want, err));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_layer_norm(struct mase_call *c, struct mase_err *err)
{
    static const char *const params[] = { "weight", "bias" };
    const struct mase_tensor *x;
    struct mase_shape over;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_sizes(c, &over, "normalized_shape", err));
    int skip = x->shape.rank - over.rank;
    struct mase_shape tail = { 0 };
    if (skip >= 0)
        tail = mase_shape_part(&x->shape, skip, x->shape.rank);
    if (skip < 0 || over.rank == 0 || !mase_shape_equal(&tail, &over))
        return mase_call_fail(c, err, "input %s must end in normalized_shape %s",
                              mase_show_shape(c, &x->shape), mase_show_shape(c, &over));
    MASE_TRY(check_params(c, params, 2, &over, err));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_group_norm(struct mase_call *c, struct mase_err *err)
{
    static const char *const params[] = { "weight", "bias" };
    const struct mase_tensor *x;
    int64_t groups;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_int(c, &groups, "num_groups", err));
    MASE_TRY(check_rank(c, &x->shape, 2, MASE_MAX_RANK, err));
    if (groups < 1 || x->shape.dim[1] % groups)
        return mase_call_fail(c, err, "num_groups = %lld does not divide the %lld channels of %s",
                              (long long)groups, (long long)x->shape.dim[1],
                              mase_show_shape(c, &x->shape));
    struct mase_shape want = { .rank = 1, .dim = { x->shape.dim[1] } };
    MASE_TRY(check_params(c, params, 2, &want, err));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}
