/*
 * rules_reduce.c - operations along axes: reductions, softmax, sorting.
 */
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* ---- reductions ---- */

struct reduction {
    struct mase_node *x;
    struct mase_arg axes;
    bool keep, nothing; /* nothing: reduces no axis */
};

static bool read_reduction(struct mase_ox_import *im, struct reduction *r)
{
    struct mase_ox_value *v = mase_ox_in(im, 1);
    const bool noop = mase_ox_attr_int(im, "noop_with_empty_axes", 0) != 0;
    int count = 0;
    const int64_t *axes = v ? mase_ox_ints(im, v, &count) : mase_ox_attr_ints(im, "axes", &count);
    r->x = mase_ox_x(im, 0);
    r->keep = mase_ox_attr_int(im, "keepdims", 1) != 0;
    const int rank = mase_ox_rank(im, r->x);
    struct mase_arg items[MASE_MAX_RANK];
    if (im->status)
        return false;
    if (count > MASE_MAX_RANK) {
        mase_ox_fail(im, MASE_EVALUE, "there are more axes than dimensions");
        return false;
    }
    r->nothing = !count && (noop || !rank);
    for (int i = 0; i < count; i++)
        items[i] = ARG_INT(mase_ox_axis(im, axes[i], rank));
    for (int d = 0; !count && d < rank; d++)
        items[d] = ARG_INT(d);
    r->axes = mase_ox_list(im, items, count ? count : rank);
    return !im->status;
}

/* Reduce y by op. */
static struct mase_node *reduce(struct mase_ox_import *im, const struct reduction *r,
                                enum mase_op op, struct mase_node *y)
{
    return r->nothing ? y : EMIT(im, op, ARG_NODE(y), r->axes, ARG_BOOL(r->keep));
}

OX_RULE(reduce)
{
    struct reduction r;
    if (!read_reduction(im, &r))
        return im->status;
    const enum mase_dtype dtype = mase_ox_dtype(im, r.x);
    return mase_ox_out(im, 0, mase_ox_cast(im, reduce(im, &r, im->rule->op, r.x), dtype));
}

/* One dimension at a time, from the last, since prod takes one. */
OX_RULE(reduce_prod)
{
    struct reduction r;
    bool gone[MASE_MAX_RANK] = { false };
    if (!read_reduction(im, &r))
        return im->status;
    const enum mase_dtype dtype = mase_ox_dtype(im, r.x);
    struct mase_node *y = r.x;
    for (int i = 0; !r.nothing && i < r.axes.count; i++)
        gone[r.axes.items[i].i] = true;
    for (int d = MASE_MAX_RANK - 1; d >= 0; d--)
        if (gone[d])
            y = EMIT(im, MASE_OP_prod, ARG_NODE(y), ARG_INT(d), ARG_BOOL(r.keep));
    return mase_ox_out(im, 0, mase_ox_cast(im, y, dtype));
}

/* The sum of a function of the values. */
static struct mase_node *sum_of(struct mase_ox_import *im, const struct reduction *r,
                                struct mase_node *made)
{
    return mase_ox_cast(im, reduce(im, r, MASE_OP_sum, made), mase_ox_dtype(im, r->x));
}

OX_RULE(reduce_l1)
{
    struct reduction r;
    if (!read_reduction(im, &r))
        return im->status;
    return mase_ox_out(im, 0, sum_of(im, &r, EMIT(im, MASE_OP_abs, ARG_NODE(r.x))));
}

OX_RULE(reduce_sum_square)
{
    struct reduction r;
    if (!read_reduction(im, &r))
        return im->status;
    return mase_ox_out(im, 0, sum_of(im, &r, EMIT(im, MASE_OP_mul, ARG_NODE(r.x), ARG_NODE(r.x))));
}

OX_RULE(reduce_l2)
{
    struct reduction r;
    if (!read_reduction(im, &r))
        return im->status;
    const enum mase_dtype dtype = mase_ox_dtype(im, r.x);
    struct mase_node *sum =
        reduce(im, &r, MASE_OP_sum, EMIT(im, MASE_OP_mul, ARG_NODE(r.x), ARG_NODE(r.x)));
    return mase_ox_out(im, 0, mase_ox_cast(im, EMIT(im, MASE_OP_sqrt, ARG_NODE(sum)), dtype));
}

OX_RULE(reduce_log_sum)
{
    struct reduction r;
    if (!read_reduction(im, &r))
        return im->status;
    return GIVE(im, MASE_OP_log, ARG_NODE(reduce(im, &r, MASE_OP_sum, r.x)));
}

OX_RULE(reduce_log_sum_exp)
{
    struct reduction r;
    if (!read_reduction(im, &r))
        return im->status;
    if (r.nothing)
        return mase_ox_out(im, 0, r.x);
    return GIVE(im, MASE_OP_logsumexp, ARG_NODE(r.x), r.axes, ARG_BOOL(r.keep));
}

static struct mase_node *flip(struct mase_ox_import *im, struct mase_node *x, int axis)
{
    return EMIT(im, MASE_OP_flip, ARG_NODE(x), mase_ox_int_list(im, (int64_t[]){ axis }, 1));
}

OX_RULE(arg_extreme)
{
    struct mase_node *x = mase_ox_x(im, 0);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", 0), mase_ox_rank(im, x));
    const bool keep = mase_ox_attr_int(im, "keepdims", 1) != 0;
    if (!mase_ox_attr_int(im, "select_last_index", 0))
        return GIVE(im, im->rule->op, ARG_NODE(x), ARG_INT(axis), ARG_BOOL(keep));
    if (!im->status && !mase_ox_dim_is_fixed(im, x, axis))
        return mase_ox_fail(im, MASE_EUNSUPPORTED, "it goes along the samples");
    const int64_t n = mase_ox_tensor(im, x)->shape.dim[axis];
    struct mase_node *at =
        EMIT(im, im->rule->op, ARG_NODE(flip(im, x, axis)), ARG_INT(axis), ARG_BOOL(keep));
    at = EMIT(im, MASE_OP_add, ARG_NODE(EMIT(im, MASE_OP_neg, ARG_NODE(at))), ARG_INT(n - 1));
    return mase_ox_out(im, 0, at);
}

/* ---- softmax ---- */

/* Until opset 12 softmax flattens all dimensions from axis on, and axis is 1 by default. */
static enum mase_status along_axis(struct mase_ox_import *im,
                                   struct mase_node *(*f)(struct mase_ox_import *,
                                                          struct mase_node *, int))
{
    const bool flattens = im->scope->opset < 13;
    struct mase_node *x = mase_ox_x(im, 0);
    const int rank = mase_ox_rank(im, x);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", flattens ? 1 : -1), rank);
    struct mase_arg dims[MASE_MAX_RANK];
    MASE_TRY(im->status);
    MASE_TRY(mase_ox_refuse_samples(im, x, axis));
    if (!flattens || axis == rank - 1)
        return mase_ox_out(im, 0, f(im, x, axis));
    for (int d = 0; d < rank; d++)
        dims[d] = mase_ox_dim(im, x, d);
    struct mase_node *y = f(im, EMIT(im, MASE_OP_flatten, ARG_NODE(x), ARG_INT(axis)), axis);
    return mase_ox_out(im, 0, mase_ox_reshape(im, y, dims, rank));
}

static struct mase_node *soft(struct mase_ox_import *im, struct mase_node *x, int axis)
{
    return EMIT(im, im->rule->op, ARG_NODE(x), ARG_INT(axis));
}

OX_RULE(softmax)
{
    return along_axis(im, soft);
}

/* 1 for the first of the largest values, else 0. */
static struct mase_node *hard(struct mase_ox_import *im, struct mase_node *x, int axis)
{
    const int rank = mase_ox_rank(im, x);
    const int64_t n = mase_ox_tensor(im, x)->shape.dim[axis];
    int order[MASE_MAX_RANK];
    for (int d = 0; d < rank; d++)
        order[d] = d < axis ? d : d == axis ? rank - 1 : d - 1;
    struct mase_node *best = EMIT(im, MASE_OP_argmax, ARG_NODE(x), ARG_INT(axis));
    struct mase_node *y = EMIT(im, MASE_OP_one_hot, ARG_NODE(best), ARG_INT(n));
    return mase_ox_cast(im, mase_ox_permute(im, y, order, rank), mase_ox_dtype(im, x));
}

OX_RULE(hardmax)
{
    return along_axis(im, hard);
}

/* ---- order and running sums ---- */

OX_RULE(top_k)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *v = mase_ox_in(im, 1);
    double k = (double)mase_ox_attr_int(im, "k", 0);
    const int axis = mase_ox_axis(im, mase_ox_attr_int(im, "axis", -1), mase_ox_rank(im, x));
    const bool largest = mase_ox_attr_int(im, "largest", 1) != 0,
               sorted = mase_ox_attr_int(im, "sorted", 1) != 0;
    if (v)
        mase_ox_number(im, v, &k);
    struct mase_node *top = EMIT(im, MASE_OP_topk, ARG_NODE(x), ARG_INT(mase_ox_whole(k)),
                                 ARG_INT(axis), ARG_BOOL(largest), ARG_BOOL(sorted));
    mase_ox_out(im, 0, mase_ox_item(im, top, 0));
    return mase_ox_out(im, 1, mase_ox_item(im, top, 1));
}

OX_RULE(cumsum)
{
    struct mase_node *x = mase_ox_x(im, 0);
    struct mase_ox_value *v = mase_ox_in(im, 1);
    const bool exclusive = mase_ox_attr_int(im, "exclusive", 0) != 0;
    const bool reverse = mase_ox_attr_int(im, "reverse", 0) != 0;
    double asked = 0.0;
    if (!v || !mase_ox_number(im, v, &asked))
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "it has no axis");
    const int axis = mase_ox_axis(im, (int64_t)asked, mase_ox_rank(im, x));
    const enum mase_dtype dtype = mase_ox_dtype(im, x);
    if (!im->status)
        MASE_TRY(mase_ox_refuse_samples(im, x, axis));
    struct mase_node *from = reverse ? flip(im, x, axis) : x;
    struct mase_node *y =
        mase_ox_cast(im, EMIT(im, MASE_OP_cumsum, ARG_NODE(from), ARG_INT(axis)), dtype);
    if (exclusive) { /* exclusive sums lie one position further */
        int64_t before[MASE_MAX_RANK] = { 0 }, after[MASE_MAX_RANK] = { 0 };
        before[axis] = 1;
        after[axis] = -1;
        y = mase_ox_pad(im, y, before, after, "constant", 0.0);
    }
    return mase_ox_out(im, 0, reverse ? flip(im, y, axis) : y);
}

OX_RULE(one_hot)
{
    struct mase_node *index = mase_ox_cast(im, mase_ox_x(im, 0), MASE_I64),
                     *values = mase_ox_x(im, 2);
    struct mase_ox_value *v = mase_ox_in(im, 1);
    double depth = 0.0;
    const int64_t asked = mase_ox_attr_int(im, "axis", -1);
    const int rank = mase_ox_rank(im, index) + 1, axis = mase_ox_axis(im, asked, rank);
    int order[MASE_MAX_RANK];
    if (!v || !mase_ox_number(im, v, &depth) || depth < 1)
        return im->status ? im->status : mase_ox_fail(im, MASE_EVALUE, "its depth is below 1");
    /* an index out of range belongs to no class, so compare instead of indexing */
    const char *key = "dtype";
    const struct mase_arg n = ARG_INT(mase_ox_whole(depth)), type = mase_ox_type(MASE_I64);
    struct mase_node *classes = mase_ox_emit_kw(im, MASE_OP_arange, &n, 1, &key, &type, 1);
    struct mase_node *below = EMIT(im, MASE_OP_lt, ARG_NODE(index), ARG_INT(0));
    index = EMIT(im, MASE_OP_where, ARG_NODE(below),
                 ARG_NODE(EMIT(im, MASE_OP_add, ARG_NODE(index), n)), ARG_NODE(index));
    struct mase_node *is =
        EMIT(im, MASE_OP_eq, ARG_NODE(EMIT(im, MASE_OP_unsqueeze, ARG_NODE(index), ARG_INT(-1))),
             ARG_NODE(classes));
    struct mase_node *off = EMIT(im, MASE_OP_select, ARG_NODE(values), ARG_INT(0), ARG_INT(0));
    struct mase_node *on = EMIT(im, MASE_OP_select, ARG_NODE(values), ARG_INT(0), ARG_INT(1));
    struct mase_node *y = EMIT(im, MASE_OP_where, ARG_NODE(is), ARG_NODE(on), ARG_NODE(off));
    for (int d = 0; d < rank; d++)
        order[d] = d < axis ? d : d == axis ? rank - 1 : d - 1;
    return mase_ox_out(im, 0, mase_ox_permute(im, y, order, rank));
}
