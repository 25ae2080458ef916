/*
 * grad_norm.c - gradients of what is normalised: with n = (x - mean) r, r = 1 / sqrt(var + eps),
 *
 *     dx = r (dn - mean(dn) - n mean(dn n))
 *
 * over the dimensions that mean and variance go over, and dn = dy weight.
 */
#include "ir/shape/shape.h"
#include "program/grad.h"

struct normal {
    struct mase_arg dims;  /* that the mean goes over */
    struct mase_arg n, r;  /* the normalised values, and what divides */
    struct mase_ptype own; /* of weight and bias, so that they broadcast to x */
};

static struct mase_arg mean_of(struct mase_backward *k, struct mase_arg x, struct mase_arg dims)
{
    return mase_g(k, mean, x, dims, mase_arg_bool(true));
}

/* Dimensions from..rank - 1, without the one that is left out (-1: none). */
static struct mase_arg dims_from(struct mase_backward *k, int from, int rank, int without)
{
    int64_t dim[MASE_MAX_RANK];
    int count = 0;
    for (int d = from; d < rank; d++)
        if (d != without)
            dim[count++] = d;
    return mase_expr_ints(&k->b, dim, count);
}

static struct mase_arg reciprocal_root(struct mase_backward *k, struct mase_arg square)
{
    const struct mase_arg eps = mase_arg_float(mase_grad_number(k, "eps", 1e-5));
    return mase_g(k, rsqrt, mase_g(k, add, square, eps));
}

/* By the values' own mean and variance. */
static void normalise(struct mase_backward *k, struct normal *of, struct mase_arg x)
{
    const struct mase_arg c = mase_g(k, sub, x, mean_of(k, x, of->dims));
    of->r = reciprocal_root(k, mean_of(k, mase_g(k, square, c), of->dims));
    of->n = mase_g(k, mul, c, of->r);
}

static struct mase_arg through(struct mase_backward *k, const struct normal *of, struct mase_arg dn)
{
    const struct mase_arg part =
        mase_g(k, mul, of->n, mean_of(k, mase_g(k, mul, dn, of->n), of->dims));
    const struct mase_arg rest = mase_g(k, sub, mase_g(k, sub, dn, mean_of(k, dn, of->dims)), part);
    return mase_g(k, mul, of->r, rest);
}

/* The sum of x that weight or bias gets: over the dimensions that `own`, its lengths beside x, has
 * not. */
static void give_sum(struct mase_backward *k, const struct mase_arg *operand,
                     const struct mase_ptype *own, struct mase_arg x)
{
    const struct mase_ptype *t = mase_type_of(&x);
    int64_t dim[MASE_MAX_RANK];
    int count = t->rank - own->rank;
    for (int d = 0; d < count; d++)
        dim[d] = d;
    for (int d = 0; d < own->rank; d++)
        if (!mase_extent_equal(own->dim[d], t->dim[t->rank - own->rank + d]))
            dim[count++] = t->rank - own->rank + d;
    if (count)
        x = mase_g(k, sum, x, mase_expr_ints(&k->b, dim, count));
    mase_grad_give(k, operand, mase_expr_reshape(&k->b, x, mase_type_of(operand)));
}

/* Gradients of weight and bias, n being the normalised values in the shape of x; returns dy weight.
 */
static struct mase_arg scale_back(struct mase_backward *k, struct mase_arg n,
                                  const struct mase_ptype *own, bool biased)
{
    const struct mase_arg dy = mase_grad_result(k, 0), w = mase_grad_param(k, "weight");
    if (mase_grad_wants(k, &w))
        give_sum(k, &w, own, mase_g(k, mul, dy, n));
    if (biased) {
        const struct mase_arg bias = mase_grad_param(k, "bias");
        if (mase_grad_wants(k, &bias))
            give_sum(k, &bias, own, dy);
    }
    return w.kind == MASE_ARG_NONE ? dy : mase_g(k, mul, dy, mase_expr_reshape(&k->b, w, own));
}

/* One length at `dim`, 1 elsewhere. */
static struct mase_ptype beside(const struct mase_ptype *x, int dim)
{
    struct mase_ptype t = *x;
    for (int d = 0; d < t.rank; d++)
        if (d != dim)
            t.dim[d] = (struct mase_extent){ 1, 0 };
    return t;
}

/* By statistics that are given. */
static void normalise_by(struct mase_backward *k, struct normal *of, struct mase_arg x)
{
    const struct mase_arg mean = mase_grad_param(k, "running_mean");
    const struct mase_arg var = mase_grad_param(k, "running_var");
    const struct mase_arg c = mase_g(k, sub, x, mase_expr_reshape(&k->b, mean, &of->own));
    of->r = reciprocal_root(k, mase_expr_reshape(&k->b, var, &of->own));
    of->n = mase_g(k, mul, c, of->r);
}

/* own: by the statistics of x over these dimensions, else by the running ones. */
static void channels_back(struct mase_backward *k, int channel, int from, bool own)
{
    const struct mase_arg *x = &k->i->param[0];
    const struct mase_ptype *t = mase_type_of(x);
    struct normal of = { .own = beside(t, channel), .dims = dims_from(k, from, t->rank, channel) };
    if (own)
        normalise(k, &of, *x);
    else
        normalise_by(k, &of, *x);
    const struct mase_arg dn = scale_back(k, of.n, &of.own, true);
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x, own ? through(k, &of, dn) : mase_g(k, mul, dn, of.r));
}

void mase_back_batch_norm(struct mase_backward *k)
{
    const bool given = mase_grad_param(k, "running_mean").kind != MASE_ARG_NONE;
    channels_back(k, 1, 0, mase_grad_flag(k, "training") || !given);
}

void mase_back_instance_norm(struct mase_backward *k)
{
    const bool given = mase_grad_param(k, "running_mean").kind != MASE_ARG_NONE;
    const struct mase_call *c = mase_grad_call(k);
    if (k->b.status)
        return;
    const int channel = mase_norm_channel_dim(c, &c->param[0].tensor->shape);
    channels_back(k, channel, channel + 1, mase_grad_flag(k, "use_input_stats") || !given);
}

/* How many of the last dimensions are normalised. */
static int normalised_dims(const struct mase_backward *k)
{
    const struct mase_arg shape = mase_grad_param(k, "normalized_shape");
    return mase_arg_is_seq(&shape) ? shape.count : 1;
}

/* The lengths of the normalised dimensions. */
static struct mase_ptype last_dims(const struct mase_ptype *t, int count)
{
    struct mase_ptype own = { .dtype = t->dtype, .rank = count };
    for (int d = 0; d < count; d++)
        own.dim[d] = t->dim[t->rank - count + d];
    return own;
}

void mase_back_layer_norm(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    const struct mase_ptype *t = mase_type_of(x);
    const int last = normalised_dims(k);
    struct normal of = { .own = last_dims(t, last),
                         .dims = dims_from(k, t->rank - last, t->rank, -1) };
    normalise(k, &of, *x);
    const struct mase_arg dn = scale_back(k, of.n, &of.own, true);
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x, through(k, &of, dn));
}

/* n = x r with r = 1 / sqrt(mean(x x) + eps): dx = r (dn - n mean(dn n)). eps: the step of the type
 * at 1 where none is given. */
void mase_back_rms_norm(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    const struct mase_ptype *t = mase_type_of(x);
    const int last = normalised_dims(k);
    const double step = t->dtype == MASE_F64 ? 0x1p-52 : 0x1p-23;
    const struct mase_ptype own = last_dims(t, last);
    const struct mase_arg dims = dims_from(k, t->rank - last, t->rank, -1);
    const struct mase_arg eps = mase_arg_float(mase_grad_number(k, "eps", step));
    const struct mase_arg square = mean_of(k, mase_g(k, square, *x), dims);
    const struct mase_arg r = mase_g(k, rsqrt, mase_g(k, add, square, eps));
    const struct mase_arg n = mase_g(k, mul, *x, r);
    const struct mase_arg dn = scale_back(k, n, &own, false);
    if (!mase_grad_wants(k, x))
        return;
    const struct mase_arg part = mase_g(k, mul, n, mean_of(k, mase_g(k, mul, dn, n), dims));
    mase_grad_give(k, x, mase_g(k, mul, r, mase_g(k, sub, dn, part)));
}

/* (N, C, ...) as (N, groups, C / groups, ...), the channels of a group and their values together.
 */
void mase_back_group_norm(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    const struct mase_ptype *t = mase_type_of(x);
    const int64_t groups = mase_grad_int(k, "num_groups", 1);
    const struct mase_ptype own = beside(t, 1);
    struct mase_ptype grouped = *t;
    grouped.dim[1].plus /= groups;
    mase_ptype_merge(&grouped, 1, grouped.rank);
    grouped.dim[2] = grouped.dim[1];
    grouped.dim[1] = (struct mase_extent){ groups, 0 };
    grouped.rank = 3;
    struct normal of = { .dims = mase_expr_ints(&k->b, (int64_t[]){ 2 }, 1) };
    normalise(k, &of, mase_expr_reshape(&k->b, *x, &grouped));
    struct mase_arg dn = scale_back(k, mase_expr_reshape(&k->b, of.n, t), &own, true);
    dn = mase_expr_reshape(&k->b, dn, &grouped);
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x, mase_expr_reshape(&k->b, through(k, &of, dn), t));
}
