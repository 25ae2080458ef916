/*
 * grad_reduce.c - gradients of sums, of other results out of many values, of running ones, and of
 * softmax.
 */
#include "ir/shape/shape.h"
#include "program/grad.h"

/* The type of x with length 1 along the dimensions that it is reduced along. */
static struct mase_ptype kept_type(struct mase_backward *k, const bool *in)
{
    struct mase_ptype t = *mase_type_of(&k->i->param[0]);
    for (int d = 0; d < t.rank; d++)
        if (in[d])
            t.dim[d] = (struct mase_extent){ 1, 0 };
    return t;
}

/* The dimensions of sum and mean, or of what mase_reduction_axes reads. */
static void find_axes(struct mase_backward *k, bool *in)
{
    const struct mase_call *c = mase_grad_call(k);
    const bool sums = k->i->op == MASE_OP_sum || k->i->op == MASE_OP_mean;
    for (int d = 0; d < MASE_MAX_RANK; d++)
        in[d] = false;
    if (k->b.status)
        return;
    k->b.status = sums ? mase_call_axes(c, in, &c->param[0].tensor->shape, "dim", true, k->b.err)
                       : mase_reduction_axes(c, in, k->b.err);
}

/* The gradient of a result in the shape that broadcasts to x. */
static struct mase_arg kept_gradient(struct mase_backward *k, int result, const bool *in)
{
    const struct mase_ptype kept = kept_type(k, in);
    return mase_expr_reshape(&k->b, mase_grad_result(k, result), &kept);
}

static struct mase_arg spread(struct mase_backward *k, struct mase_arg dy)
{
    const struct mase_ptype *t = mase_type_of(&k->i->param[0]);
    if (mase_ptype_equal(mase_type_of(&dy), t))
        return dy;
    return mase_g(k, expand, dy, mase_expr_sizes(&k->b, t));
}

/* How many values one result is made of, as a number or a tensor of one. */
static struct mase_arg count_of(struct mase_backward *k, const bool *in)
{
    const struct mase_ptype *t = mase_type_of(&k->i->param[0]);
    struct mase_ptype all = { .rank = 0 };
    for (int d = 0; d < t->rank; d++)
        if (in[d])
            all.dim[all.rank++] = t->dim[d];
    if (!mase_ptype_merge(&all, 0, all.rank))
        mase_grad_refuse(k, "is over a number of values that does not follow the samples");
    if (!all.dim[0].times)
        return mase_arg_int(all.dim[0].plus);
    const struct mase_arg type = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[MASE_F32].torch };
    return mase_g(k, full, mase_expr_tuple(&k->b, NULL, 0), mase_expr_length(&k->b, all.dim[0]),
                  type);
}

void mase_back_sum(struct mase_backward *k)
{
    bool in[MASE_MAX_RANK];
    find_axes(k, in);
    mase_grad_give(k, &k->i->param[0], spread(k, kept_gradient(k, 0, in)));
}

/* dy / count, of result 0 or 1. */
static struct mase_arg mean_back(struct mase_backward *k, int result, const bool *in)
{
    return spread(k, mase_g(k, div, kept_gradient(k, result, in), count_of(k, in)));
}

void mase_back_mean(struct mase_backward *k)
{
    bool in[MASE_MAX_RANK];
    find_axes(k, in);
    mase_grad_give(k, &k->i->param[0], mean_back(k, 0, in));
}

void mase_back_reduction(struct mase_backward *k)
{
    bool in[MASE_MAX_RANK];
    find_axes(k, in);
    mase_grad_give(k, &k->i->param[0],
                   mase_g(k, mul, kept_gradient(k, 0, in), mase_grad_slope(k, 0)));
}

/* A variance or deviation, and the mean. */
void mase_back_moments(struct mase_backward *k)
{
    bool in[MASE_MAX_RANK];
    find_axes(k, in);
    if (mase_grad_result(k, 0).kind != MASE_ARG_NONE)
        mase_back_reduction(k);
    if (mase_grad_result(k, 1).kind != MASE_ARG_NONE)
        mase_grad_give(k, &k->i->param[0], mean_back(k, 1, in));
}

/* ---- running results ---- */

void mase_back_cumsum(struct mase_backward *k)
{
    const struct mase_arg dim = mase_grad_param(k, "dim");
    const struct mase_arg back = mase_g(k, flip, mase_grad_result(k, 0), dim);
    mase_grad_give(k, &k->i->param[0], mase_g(k, flip, mase_g(k, cumsum, back, dim), dim));
}

/* The dimension of a scan last. */
static struct mase_arg last(struct mase_backward *k, struct mase_arg x, bool back)
{
    int order[MASE_MAX_RANK], inverse[MASE_MAX_RANK];
    const int rank = mase_type_of(&x)->rank, axis = mase_grad_axis(k, "dim", rank);
    for (int d = 0; d < rank; d++)
        order[d] = d < axis ? d : d == rank - 1 ? axis : d + 1;
    for (int d = 0; d < rank; d++)
        inverse[order[d]] = d;
    return mase_expr_permute(&k->b, x, back ? inverse : order);
}

/* The derivative of result i by value j at (.., j, i), zero where i < j; dy is summed over i. */
static void scan_back(struct mase_backward *k, struct mase_arg slope)
{
    struct mase_arg dy = last(k, mase_grad_result(k, 0), false);
    dy = mase_expr_unsqueeze(&k->b, dy, mase_type_of(&dy)->rank - 1);
    const struct mase_arg both = mase_g(k, mul, mase_g(k, triu, slope), dy);
    mase_grad_give(k, &k->i->param[0], last(k, mase_g(k, sum, both, mase_arg_int(-1)), true));
}

/* The running product without value j: with 1 in its place. */
void mase_back_cumprod(struct mase_backward *k)
{
    const struct mase_arg x = last(k, k->i->param[0], false);
    const int rank = mase_type_of(&x)->rank;
    const struct mase_arg length = mase_expr_length(&k->b, mase_type_of(&x)->dim[rank - 1]);
    const struct mase_arg ones = mase_g(k, ones, mase_expr_tuple(&k->b, &length, 1));
    const struct mase_arg diagonal = mase_g(k, ne, mase_g(k, diag, ones), mase_arg_float(0.0));
    const struct mase_arg others =
        mase_g(k, where, diagonal, mase_arg_float(1.0), mase_expr_unsqueeze(&k->b, x, rank - 1));
    scan_back(k, mase_g(k, cumprod, others, mase_arg_int(-1)));
}

/* e^(x[j] - y[i]) */
void mase_back_logcumsumexp(struct mase_backward *k)
{
    const struct mase_arg x = last(k, k->i->param[0], false);
    const struct mase_arg y = last(k, mase_pvalue_arg(k->i->result[0]), false);
    const int rank = mase_type_of(&x)->rank;
    scan_back(k, mase_g(k, exp,
                        mase_g(k, sub, mase_expr_unsqueeze(&k->b, x, rank),
                               mase_expr_unsqueeze(&k->b, y, rank - 1))));
}

/* ---- softmax ---- */

/* Without a dim PyTorch takes 0 for 0, 1 and 3 dimensions, else 1. */
static struct mase_arg softmax_dim(struct mase_backward *k)
{
    const struct mase_arg dim = mase_grad_param(k, "dim");
    const int rank = k->i->result[0]->type.rank;
    return dim.kind != MASE_ARG_NONE ? dim : mase_arg_int(rank < 2 || rank == 3 ? 0 : 1);
}

static struct mase_arg kept_sum(struct mase_backward *k, struct mase_arg x)
{
    return mase_g(k, sum, x, softmax_dim(k), mase_arg_bool(true));
}

/* y (dy - sum y dy) */
void mase_back_softmax(struct mase_backward *k)
{
    const struct mase_arg dy = mase_grad_result(k, 0), y = mase_pvalue_arg(k->i->result[0]);
    const struct mase_arg mean = kept_sum(k, mase_g(k, mul, dy, y));
    mase_grad_give(k, &k->i->param[0], mase_g(k, mul, y, mase_g(k, sub, dy, mean)));
}

/* dy - e^y sum dy */
void mase_back_log_softmax(struct mase_backward *k)
{
    const struct mase_arg dy = mase_grad_result(k, 0), y = mase_pvalue_arg(k->i->result[0]);
    const struct mase_arg part = mase_g(k, mul, mase_g(k, exp, y), kept_sum(k, dy));
    mase_grad_give(k, &k->i->param[0], mase_g(k, sub, dy, part));
}
