/*
 * onnx_check_shapes.c - infer the shape of a node's result from its operands, or say what is wrong
 * with them.
 */
#include <string.h>

#include "ir/shape/shape.h"
#include "onnx/onnx_check.h"

static const struct mase_shape *shape_of(const struct mase_oc_node *n, int i)
{
    return &n->in[i]->shape;
}

static bool has(const struct mase_oc_node *n, int i)
{
    return i < n->count && n->in[i];
}

/* The elements of a constant int64 operand; NULL: it is not constant. */
static const unsigned char *constant_ints(const struct mase_oc_node *n, int i, int *count)
{
    const struct mase_onnx_tensor *t = has(n, i) ? n->in[i]->init : NULL;
    *count = t ? (int)(t->raw_data.size / sizeof(int64_t)) : 0;
    return t ? t->raw_data.data : NULL;
}

static int64_t int_at(const unsigned char *bytes, int i)
{
    uint64_t v = 0;
    for (int b = 7; b >= 0; b--)
        v = v << 8 | bytes[8 * i + b];
    return (int64_t)v;
}

/* -1: outside of the rank. */
static int axis_in(int64_t axis, int rank)
{
    return axis >= -rank && axis < rank ? (int)(axis < 0 ? axis + rank : axis) : -1;
}

bool mase_oc_same(struct mase_oc_node *n)
{
    n->out.shape = *shape_of(n, 0);
    return true;
}

bool mase_oc_clip(struct mase_oc_node *n)
{
    for (int i = 1; i < 3; i++)
        if (has(n, i) && shape_of(n, i)->rank != 0)
            return mase_oc_fail(n, "a bound is no single number");
    return mase_oc_same(n);
}

bool mase_oc_along(struct mase_oc_node *n)
{
    if (axis_in(mase_oc_int(n, "axis", -1), shape_of(n, 0)->rank) < 0)
        return mase_oc_fail(n, "axis is outside of its rank");
    return mase_oc_same(n);
}

/* ---- broadcasting ---- */

static bool broadcast(struct mase_oc_node *n, struct mase_shape *to, const struct mase_shape *s)
{
    const int rank = s->rank > to->rank ? s->rank : to->rank;
    struct mase_shape both = { .rank = rank };
    for (int d = 0; d < rank; d++) {
        const int a = d - (rank - to->rank), b = d - (rank - s->rank);
        const int64_t x = a < 0 ? 1 : to->dim[a], y = b < 0 ? 1 : s->dim[b];
        if (x != y && x != 1 && y != 1)
            return mase_oc_fail(n, "lengths %lld and %lld do not go together", (long long)x,
                                (long long)y);
        both.dim[d] = x == 1 ? y : x;
    }
    *to = both;
    return true;
}

bool mase_oc_broadcast(struct mase_oc_node *n)
{
    n->out.shape = *shape_of(n, 0);
    for (int i = 1; i < n->count; i++)
        if (!broadcast(n, &n->out.shape, shape_of(n, i)))
            return false;
    return true;
}

bool mase_oc_quant(struct mase_oc_node *n)
{
    struct mase_shape s = *shape_of(n, 0);
    for (int i = 1; i < n->count; i++)
        if (!broadcast(n, &s, shape_of(n, i)))
            return false;
    if (!mase_shape_equal(&s, shape_of(n, 0)))
        return mase_oc_fail(n, "its numbers are of more dimensions than its values");
    return mase_oc_same(n);
}

/* ---- products ---- */

bool mase_oc_gemm(struct mase_oc_node *n)
{
    const struct mase_shape *a = shape_of(n, 0), *b = shape_of(n, 1);
    const bool ta = mase_oc_int(n, "transA", 0), tb = mase_oc_int(n, "transB", 0);
    if (a->rank != 2 || b->rank != 2)
        return mase_oc_fail(n, "an operand is no matrix");
    if (a->dim[!ta] != b->dim[tb])
        return mase_oc_fail(n, "%lld columns meet %lld rows", (long long)a->dim[!ta],
                            (long long)b->dim[tb]);
    n->out.shape = (struct mase_shape){ 2, { a->dim[ta], b->dim[!tb] } };
    struct mase_shape all = n->out.shape;
    if (has(n, 2) &&
        (!broadcast(n, &all, shape_of(n, 2)) || !mase_shape_equal(&all, &n->out.shape)))
        return mase_oc_fail(n, "its bias does not fit");
    return true;
}

bool mase_oc_matmul(struct mase_oc_node *n)
{
    const struct mase_shape *a = shape_of(n, 0), *b = shape_of(n, 1);
    struct mase_shape left = { .rank = a->rank - 2 }, right = { .rank = b->rank - 2 };
    if (a->rank < 2 || b->rank < 2)
        return mase_oc_fail(n, "an operand is no matrix");
    if (a->dim[a->rank - 1] != b->dim[b->rank - 2])
        return mase_oc_fail(n, "%lld columns meet %lld rows", (long long)a->dim[a->rank - 1],
                            (long long)b->dim[b->rank - 2]);
    memcpy(left.dim, a->dim, sizeof left.dim);
    memcpy(right.dim, b->dim, sizeof right.dim);
    if (!broadcast(n, &left, &right))
        return false;
    left.dim[left.rank++] = a->dim[a->rank - 2];
    left.dim[left.rank++] = b->dim[b->rank - 1];
    n->out.shape = left;
    return true;
}

/* ---- windows ---- */

/* Attributes of a window: one number for each spatial dimension, or two for edges. */
static bool read_each(struct mase_oc_node *n, const char *name, int64_t *v, int count, int64_t dflt)
{
    int given;
    const int64_t *ints = mase_oc_ints(n, name, &given);
    for (int d = 0; d < count; d++)
        v[d] = ints && d < given ? ints[d] : dflt;
    return !ints || given == count ||
           mase_oc_fail(n, "%s has %d entries, not %d", name, given, count);
}

/* kernel: the weight's spatial shape, or NULL. */
static bool slide(struct mase_oc_node *n, const int64_t *kernel)
{
    enum { MOST = MASE_MAX_RANK };
    const struct mase_shape *x = shape_of(n, 0);
    const int spatial = x->rank - 2;
    int64_t size[MOST], stride[MOST], dilation[MOST], pad[2 * MOST];
    if (spatial < 1)
        return mase_oc_fail(n, "there is nothing to slide over");
    if (!read_each(n, "kernel_shape", size, spatial, -1) ||
        !read_each(n, "strides", stride, spatial, 1) ||
        !read_each(n, "dilations", dilation, spatial, 1) ||
        !read_each(n, "pads", pad, 2 * spatial, 0))
        return false;
    for (int d = 0; d < spatial; d++) {
        const int64_t k = size[d] < 0 && kernel ? kernel[d] : size[d];
        const int64_t room =
            x->dim[2 + d] + pad[d] + pad[spatial + d] - (dilation[d] * (k - 1) + 1);
        if (k < 1 || stride[d] < 1 || dilation[d] < 1 || (kernel && k != kernel[d]) || room < 0)
            return mase_oc_fail(n, "its window does not fit");
        n->out.shape.dim[2 + d] = room / stride[d] + 1;
    }
    return true;
}

bool mase_oc_conv(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0), *w = shape_of(n, 1);
    const int64_t groups = mase_oc_int(n, "group", 1);
    if (x->rank < 3 || w->rank != x->rank || groups < 1 || w->dim[1] * groups != x->dim[1] ||
        w->dim[0] % groups != 0)
        return mase_oc_fail(n, "its weight does not fit its input");
    if (has(n, 2) && (shape_of(n, 2)->rank != 1 || shape_of(n, 2)->dim[0] != w->dim[0]))
        return mase_oc_fail(n, "its bias does not fit");
    n->out.shape = *x;
    n->out.shape.dim[1] = w->dim[0];
    return slide(n, w->dim + 2);
}

bool mase_oc_pool(struct mase_oc_node *n)
{
    n->out.shape = *shape_of(n, 0);
    if (mase_oc_int(n, "ceil_mode", 0))
        return mase_oc_fail(n, "ceil_mode is not what we write");
    return slide(n, NULL);
}

bool mase_oc_global(struct mase_oc_node *n)
{
    n->out.shape = *shape_of(n, 0);
    for (int d = 2; d < n->out.shape.rank; d++)
        n->out.shape.dim[d] = 1;
    return n->out.shape.rank > 2 || mase_oc_fail(n, "there are no places to pool");
}

/* ---- along dimensions ---- */

bool mase_oc_batch_norm(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0);
    for (int i = 1; i < 5; i++)
        if (x->rank < 2 || shape_of(n, i)->rank != 1 || shape_of(n, i)->dim[0] != x->dim[1])
            return mase_oc_fail(n, "its numbers are not one for each channel");
    return mase_oc_same(n);
}

bool mase_oc_layer_norm(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0);
    if (axis_in(mase_oc_int(n, "axis", -1), x->rank) < 0)
        return mase_oc_fail(n, "axis is outside of its rank");
    for (int i = 1; i < n->count; i++) {
        struct mase_shape all = *x;
        if (has(n, i) && (!broadcast(n, &all, shape_of(n, i)) || !mase_shape_equal(&all, x)))
            return mase_oc_fail(n, "its scale or bias does not fit");
    }
    return mase_oc_same(n);
}

bool mase_oc_reduce(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0);
    bool gone[MASE_MAX_RANK] = { false };
    const bool keep = mase_oc_int(n, "keepdims", 1) != 0;
    int count;
    const unsigned char *axes = constant_ints(n, 1, &count);
    if (!axes || count == 0)
        return mase_oc_fail(n, "its axes are no constant");
    for (int k = 0; k < count; k++) {
        const int d = axis_in(int_at(axes, k), x->rank);
        if (d < 0)
            return mase_oc_fail(n, "an axis is outside of its rank");
        gone[d] = true;
    }
    n->out.shape.rank = 0;
    for (int d = 0; d < x->rank; d++)
        if (keep || !gone[d])
            n->out.shape.dim[n->out.shape.rank++] = gone[d] ? 1 : x->dim[d];
    return true;
}

/* ---- layouts ---- */

bool mase_oc_reshape(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0);
    struct mase_shape *y = &n->out.shape;
    int64_t known = 1;
    int open = -1;
    const unsigned char *lengths = constant_ints(n, 1, &y->rank);
    if (!lengths || y->rank > MASE_MAX_RANK)
        return mase_oc_fail(n, "its shape is no constant");
    for (int d = 0; d < y->rank; d++) {
        y->dim[d] = int_at(lengths, d);
        if (y->dim[d] == 0 && !mase_oc_int(n, "allowzero", 0))
            y->dim[d] = d < x->rank ? x->dim[d] : 0;
        if (y->dim[d] < -1 || (y->dim[d] == -1 && open >= 0))
            return mase_oc_fail(n, "its shape has lengths below zero");
        if (y->dim[d] == -1)
            open = d;
        else
            known *= y->dim[d];
    }
    if (open >= 0)
        y->dim[open] = known ? mase_shape_count(x) / known : 0;
    return mase_shape_count(y) == mase_shape_count(x) ||
           mase_oc_fail(n, "%lld values do not fill its shape", (long long)mase_shape_count(x));
}

bool mase_oc_transpose(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0);
    bool seen[MASE_MAX_RANK] = { false };
    int count;
    const int64_t *order = mase_oc_ints(n, "perm", &count);
    n->out.shape.rank = x->rank;
    for (int d = 0; d < x->rank; d++) {
        const int64_t from = order ? d < count ? order[d] : -1 : x->rank - 1 - d;
        if (from < 0 || from >= x->rank || seen[from] || (order && count != x->rank))
            return mase_oc_fail(n, "perm is no order of its dimensions");
        seen[from] = true;
        n->out.shape.dim[d] = x->dim[from];
    }
    return true;
}

bool mase_oc_concat(struct mase_oc_node *n)
{
    struct mase_shape all = *shape_of(n, 0);
    const int axis = axis_in(mase_oc_int(n, "axis", 0), all.rank);
    for (int i = 1; i < n->count; i++) {
        const struct mase_shape *s = shape_of(n, i);
        for (int d = 0; d < all.rank; d++)
            if (s->rank != all.rank || (d != axis && s->dim[d] != all.dim[d]))
                return mase_oc_fail(n, "its parts are of different shapes");
        all.dim[axis < 0 ? 0 : axis] += s->dim[axis < 0 ? 0 : axis];
    }
    n->out.shape = all;
    return axis >= 0 || mase_oc_fail(n, "axis is outside of its rank");
}

bool mase_oc_gather(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0), *at = shape_of(n, 1);
    const int axis = axis_in(mase_oc_int(n, "axis", 0), x->rank);
    struct mase_shape *y = &n->out.shape;
    y->rank = 0;
    if (axis < 0 || x->rank + at->rank - 1 > MASE_MAX_RANK)
        return mase_oc_fail(n, "axis is outside of its rank");
    for (int d = 0; d < axis; d++)
        y->dim[y->rank++] = x->dim[d];
    for (int d = 0; d < at->rank; d++)
        y->dim[y->rank++] = at->dim[d];
    for (int d = axis + 1; d < x->rank; d++)
        y->dim[y->rank++] = x->dim[d];
    return true;
}

/* ---- codes ---- */

bool mase_oc_codes(struct mase_oc_node *n)
{
    const struct mase_shape *x = shape_of(n, 0), *scale = shape_of(n, 1);
    const int axis = axis_in(mase_oc_int(n, "axis", 1), x->rank);
    if (scale->rank > 1 || (scale->rank == 1 && (axis < 0 || scale->dim[0] != x->dim[axis])))
        return mase_oc_fail(n, "its scales are not one for each position of its axis");
    if (has(n, 2) && !mase_shape_equal(scale, shape_of(n, 2)))
        return mase_oc_fail(n, "its zero points are not as many as its scales");
    return mase_oc_same(n);
}
