/*
 * shape_reduce.c - rules of sums, means and extremes along dimensions.
 */
#include <math.h>

#include "ir/shape/shape.h"

/* s without the flagged dimensions, or with them of length 1. */
static struct mase_shape reduced(const struct mase_shape *s, const bool *in, bool keep)
{
    struct mase_shape out = { 0 };
    for (int i = 0; i < s->rank; i++) {
        if (!in[i])
            mase_shape_push(&out, s->dim[i]);
        else if (keep)
            mase_shape_push(&out, 1);
    }
    return out;
}

/* builtins.sum of numbers. */
static enum mase_status sum_numbers(struct mase_call *c, const struct mase_arg *list,
                                    struct mase_err *err)
{
    double sum = 0.0, v;
    bool integers = true;
    for (int i = 0; i < list->count; i++) {
        if (!mase_arg_number(&list->items[i], &v))
            return mase_call_fail(c, err, "can add numbers or one tensor, got %s in a list",
                                  mase_show_arg(c, &list->items[i]));
        integers &= list->items[i].kind != MASE_ARG_FLOAT;
        sum += v;
    }
    if (integers && !(fabs(sum) <= 0x1p53))
        return mase_call_fail(c, err, "%g is too large for an integer here", sum);
    c->result = integers ? mase_arg_int((int64_t)sum) : mase_arg_float(sum);
    return MASE_OK;
}

enum mase_status mase_shape_reduce(struct mase_call *c, struct mase_err *err)
{
    if (c->node->op == MASE_OP_sum && mase_arg_is_seq(&c->param[0]))
        return sum_numbers(c, &c->param[0], err);
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    enum mase_dtype t = x->dtype;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    if (c->node->op == MASE_OP_mean && !mase_dtype_is_float(t))
        return mase_call_float_tensor(c, x, "input", err);
    if (!mase_arg_present(mase_call_arg(c, "dtype")) && !mase_dtype_is_float(t))
        t = MASE_I64; /* integers and truth values are counted in 64 bits */
    struct mase_shape out = reduced(&x->shape, in, mase_call_flag(c, "keepdim"));
    mase_call_result(c, t, &out);
    return MASE_OK;
}

static enum mase_status minmax_along(struct mase_call *c, const struct mase_tensor *x,
                                     struct mase_err *err)
{
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    if (x->shape.rank && x->shape.dim[axis] == 0)
        return mase_call_fail(c, err, "dim %d of %s is empty", axis, mase_show_shape(c, &x->shape));
    bool in[MASE_MAX_RANK] = { false };
    in[axis] = true;
    struct mase_tensor pair[2] = { { .dtype = x->dtype }, { .dtype = MASE_I64 } };
    pair[0].shape = reduced(&x->shape, in, mase_call_flag(c, "keepdim"));
    pair[1].shape = pair[0].shape;
    mase_call_result_tuple(c, pair, 2);
    return MASE_OK;
}

/* builtins.max of two numbers is one of them: max(3, 4.5) a float, min(3, 4.5) an integer. */
static bool better_number(struct mase_call *c)
{
    double x, y;
    if (!mase_arg_number(&c->param[0], &x) || !mase_arg_number(&c->param[1], &y))
        return false;
    bool second = c->node->op == MASE_OP_max ? y > x : y < x;
    c->result = c->param[second];
    return true;
}

/* max(x), max(x, dim) with indices, max(x, y); max(2, 3) of numbers. torch.maximum always has y. */
enum mase_status mase_shape_minmax(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *second = &c->param[1];
    if (better_number(c))
        return MASE_OK;
    if (!mase_arg_tensor(&c->param[0]) || mase_arg_tensor(second) || second->kind == MASE_ARG_FLOAT)
        return mase_shape_broadcast(c, err);
    const struct mase_tensor *x;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    if (mase_arg_present(second))
        return minmax_along(c, x, err);
    if (mase_tensor_count(x) == 0)
        return mase_call_fail(c, err, "%s is empty", mase_show_arg(c, &c->param[0]));
    mase_call_result(c, x->dtype, &(struct mase_shape){ 0 });
    return MASE_OK;
}

/* ---- variances, norms, extremes ---- */

/* x.var(False): the first argument may say unbiased, too. */
static bool is_unbiased_flag(const struct mase_call *c)
{
    const struct mase_arg *dim = mase_call_arg(c, "dim");
    return dim && dim->kind == MASE_ARG_BOOL;
}

enum mase_status mase_reduction_axes(const struct mase_call *c, bool *in, struct mase_err *err)
{
    const struct mase_shape *s = &mase_call_tensor(c, "input")->shape;
    if (is_unbiased_flag(c)) {
        for (int i = 0; i < s->rank; i++)
            in[i] = true;
        return MASE_OK;
    }
    return mase_call_axes(c, in, s, "dim", true, err);
}

static enum mase_status norm_order(const struct mase_call *c, const char *name, double *p,
                                   struct mase_err *err)
{
    const struct mase_arg *order = mase_call_arg(c, name), *dim = mase_call_arg(c, "dim");
    const bool frobenius = order->kind == MASE_ARG_TEXT && mase_streq(order->s, "fro");
    *p = 2.0;
    if (!mase_arg_present(order) || frobenius)
        return MASE_OK;
    if (!mase_arg_number(order, p))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: %s: %s = %s is not available ('fro' or a number)", c->node->name,
                         mase_ops[c->node->op].name, name, mase_show_arg(c, order));
    const int rank = mase_call_tensor(c, "input")->shape.rank;
    const bool matrix = mase_arg_present(dim) ? mase_arg_is_seq(dim) && dim->count == 2 : rank == 2;
    if (c->node->op == MASE_OP_linalg_norm && matrix)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: linalg_norm: ord = %s of a matrix is not available (vector_norm is "
                         "the norm of its values)",
                         c->node->name, mase_show_arg(c, order));
    return MASE_OK;
}

enum mase_status mase_reduction_number(const struct mase_call *c, double *p, struct mase_err *err)
{
    const enum mase_op op = c->node->op;
    *p = 0.0;
    if (op == MASE_OP_norm)
        return norm_order(c, "p", p, err);
    if (op == MASE_OP_linalg_norm || op == MASE_OP_vector_norm)
        return norm_order(c, "ord", p, err);
    if (!mase_call_arg(c, "unbiased"))
        return MASE_OK;
    *p = mase_call_flag(c, "unbiased") ? 1.0 : 0.0;
    if (is_unbiased_flag(c))
        *p = mase_arg_truthy(mase_call_arg(c, "dim")) ? 1.0 : 0.0;
    if (mase_arg_present(mase_call_arg(c, "correction")))
        return mase_call_float(c, p, "correction", err);
    return MASE_OK;
}

/* The type of a result; MASE_DTYPE_COUNT: it has none. */
static enum mase_dtype reduced_type(enum mase_op op, enum mase_dtype t)
{
    switch (op) {
    case MASE_OP_amax:
    case MASE_OP_amin:
        return t;
    case MASE_OP_argmax:
    case MASE_OP_argmin:
        return MASE_I64;
    case MASE_OP_any:
    case MASE_OP_all:
        return t == MASE_U8 ? t : MASE_DTYPE_BOOL;
    case MASE_OP_prod:
        return mase_dtype_is_float(t) ? t : MASE_I64;
    default:
        return mase_dtype_is_float(t) ? t : MASE_DTYPE_COUNT;
    }
}

static bool needs_values(enum mase_op op)
{
    return op == MASE_OP_amax || op == MASE_OP_amin || op == MASE_OP_argmax || op == MASE_OP_argmin;
}

enum mase_status mase_shape_reduction(struct mase_call *c, struct mase_err *err)
{
    const enum mase_op op = c->node->op;
    const struct mase_arg *dim = mase_call_arg(c, "dim");
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK] = { false };
    double p;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    enum mase_dtype t = x->dtype;
    MASE_TRY(mase_call_dtype(c, &t, "dtype", err));
    if (mase_call_arg(c, "dtype") && t != x->dtype && op != MASE_OP_prod)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: %s: another dtype is not available",
                         c->node->name, mase_ops[op].name);
    if ((op == MASE_OP_argmax || op == MASE_OP_argmin) && mase_arg_present(dim) &&
        dim->kind != MASE_ARG_INT)
        return mase_call_fail(c, err, "dim must be one dimension, got %s", mase_show_arg(c, dim));
    t = op == MASE_OP_prod && t != x->dtype ? t : reduced_type(op, x->dtype);
    if (t == MASE_DTYPE_COUNT)
        return mase_call_float_tensor(c, x, "input", err);
    MASE_TRY(mase_reduction_axes(c, in, err));
    MASE_TRY(mase_reduction_number(c, &p, err));
    for (int d = 0; d < x->shape.rank; d++)
        if (in[d] && x->shape.dim[d] == 0 && (needs_values(op) || isinf(p)))
            return mase_call_fail(c, err, "dim %d of %s is empty", d,
                                  mase_show_shape(c, &x->shape));
    const struct mase_shape out = reduced(&x->shape, in, mase_call_flag(c, "keepdim"));
    const struct mase_tensor both[2] = { { .dtype = t, .shape = out },
                                         { .dtype = t, .shape = out } };
    if (op == MASE_OP_var_mean || op == MASE_OP_std_mean)
        mase_call_result_tuple(c, both, 2);
    else
        mase_call_result(c, t, &out);
    return MASE_OK;
}

/* normalize: x; cosine_similarity and pairwise_distance: one value for each pair of vectors. */
enum mase_status mase_shape_normalize(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    bool in[MASE_MAX_RANK];
    double p;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_float_tensor(c, x, "input", err));
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dim", true, err));
    MASE_TRY(mase_call_float(c, &p, "p", err));
    mase_call_result(c, x->dtype, &x->shape);
    return MASE_OK;
}

enum mase_status mase_shape_pairs(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *y;
    const bool distance = c->node->op == MASE_OP_pairwise_distance;
    bool in[MASE_MAX_RANK] = { false };
    int axis;
    MASE_TRY(mase_call_need(c, &x, "x1", err));
    MASE_TRY(mase_call_need(c, &y, "x2", err));
    MASE_TRY(mase_call_float_tensor(c, x, "x1", err));
    MASE_TRY(mase_call_float_tensor(c, y, "x2", err));
    struct mase_shape both = x->shape;
    if (!mase_shape_widen(&both, &y->shape) || !both.rank)
        return mase_call_fail(c, err, "shapes %s and %s cannot be broadcast together",
                              mase_show_shape(c, &x->shape), mase_show_shape(c, &y->shape));
    if (distance)
        axis = both.rank - 1;
    else
        MASE_TRY(mase_call_axis_arg(c, &axis, &both, "dim", err));
    in[axis] = true;
    const struct mase_shape out = reduced(&both, in, distance && mase_call_flag(c, "keepdim"));
    mase_call_result(c, mase_dtype_promote(x->dtype, y->dtype), &out);
    return MASE_OK;
}

/* ---- order ---- */

static enum mase_status one_of_order(const struct mase_call *c, struct mase_order *o,
                                     const struct mase_shape *s, struct mase_err *err)
{
    const bool median = c->node->op == MASE_OP_median;
    int64_t k;
    *o = (struct mase_order){ .axis = -1, .count = 1, .nan_wins = median };
    if (!median || mase_arg_present(mase_call_arg(c, "dim")))
        MASE_TRY(mase_call_axis_arg(c, &o->axis, s, "dim", err));
    const int64_t length = o->axis < 0 ? mase_shape_count(s) : s->rank ? s->dim[o->axis] : 1;
    if (length == 0)
        return mase_call_fail(c, err, "%s has no values along it", mase_show_shape(c, s));
    o->first = (length - 1) / 2;
    if (median)
        return MASE_OK;
    MASE_TRY(mase_call_int(c, &k, "k", err));
    if (k < 1 || k > length)
        return mase_call_fail(c, err, "k = %lld is outside 1..%lld", (long long)k,
                              (long long)length);
    o->first = k - 1;
    return MASE_OK;
}

enum mase_status mase_order_read(const struct mase_call *c, struct mase_order *o,
                                 struct mase_err *err)
{
    const struct mase_shape *s = &mase_call_tensor(c, "input")->shape;
    const bool topk = c->node->op == MASE_OP_topk;
    if (c->node->op == MASE_OP_median || c->node->op == MASE_OP_kthvalue)
        return one_of_order(c, o, s, err);
    MASE_TRY(mase_call_axis_arg(c, &o->axis, s, "dim", err));
    const int64_t length = s->rank ? s->dim[o->axis] : 1;
    *o = (struct mase_order){ .axis = o->axis, .count = length };
    o->descending = mase_call_flag(c, topk ? "largest" : "descending");
    if (topk)
        MASE_TRY(mase_call_int(c, &o->count, "k", err));
    if (o->count < 0 || o->count > length)
        return mase_call_fail(c, err, "k = %lld is outside 0..%lld", (long long)o->count,
                              (long long)length);
    return MASE_OK;
}

/* Results of median and kthvalue: a value, and its index unless the whole tensor is reduced. */
static enum mase_status shape_one(struct mase_call *c, const struct mase_tensor *x,
                                  const struct mase_order *o)
{
    bool in[MASE_MAX_RANK] = { false };
    if (o->axis < 0) {
        mase_call_result(c, x->dtype, &(struct mase_shape){ 0 });
        return MASE_OK;
    }
    in[o->axis] = true;
    struct mase_tensor pair[2] = { { .dtype = x->dtype }, { .dtype = MASE_I64 } };
    pair[0].shape = pair[1].shape = reduced(&x->shape, in, mase_call_flag(c, "keepdim"));
    mase_call_result_tuple(c, pair, 2);
    return MASE_OK;
}

enum mase_status mase_shape_order(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    struct mase_order o;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_order_read(c, &o, err));
    if (c->node->op == MASE_OP_median || c->node->op == MASE_OP_kthvalue)
        return shape_one(c, x, &o);
    struct mase_tensor pair[2] = { { .dtype = x->dtype, .shape = x->shape },
                                   { .dtype = MASE_I64 } };
    if (x->shape.rank)
        pair[0].shape.dim[o.axis] = o.count;
    pair[1].shape = pair[0].shape;
    if (c->node->op == MASE_OP_argsort)
        mase_call_result(c, MASE_I64, &pair[1].shape);
    else
        mase_call_result_tuple(c, pair, 2);
    return MASE_OK;
}
