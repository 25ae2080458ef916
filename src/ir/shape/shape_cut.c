/*
 * shape_cut.c - rules of operations that cut a tensor into several: split, chunk, unbind.
 */
#include "ir/shape/shape.h"

static struct mase_tensor chunk(const struct mase_tensor *x, int axis, int64_t length)
{
    struct mase_tensor t = { .dtype = x->dtype, .shape = x->shape };
    t.shape.dim[axis] = length;
    return t;
}

/* Operands of split, chunk and unbind: a tensor of rank 1 or more, and a dimension. */
static enum mase_status along(struct mase_call *c, const struct mase_tensor **x, int *axis,
                              struct mase_err *err)
{
    MASE_TRY(mase_call_need(c, x, "input", err));
    MASE_TRY(mase_call_axis_arg(c, axis, &(*x)->shape, "dim", err));
    if ((*x)->shape.rank == 0)
        return mase_call_fail(c, err, "a tensor without dimensions cannot be split");
    return MASE_OK;
}

/* A tuple has an object for each of its tensors, before any value is computed. */
static enum mase_status check_count(const struct mase_call *c, int64_t count, struct mase_err *err)
{
    enum { MOST = 1 << 16 };
    if (count <= MOST)
        return MASE_OK;
    return mase_call_fail(c, err, "%lld pieces are too many; at most %d are possible",
                          (long long)count, MOST);
}

/* Pieces of that length, the last one shorter. */
static enum mase_status cut(struct mase_call *c, const struct mase_tensor *x, int axis,
                            int64_t each, struct mase_err *err)
{
    const int64_t length = x->shape.dim[axis];
    const int64_t count = length ? length / each + (length % each > 0) : 1;
    MASE_TRY(check_count(c, count, err));
    struct mase_tensor *chunks = mase_new_array(c->arena, struct mase_tensor, (size_t)count);
    for (int64_t i = 0, left = length; i < count; i++, left -= each)
        chunks[i] = chunk(x, axis, left < each ? left : each);
    mase_call_result_tuple(c, chunks, (int)count);
    return MASE_OK;
}

static enum mase_status cut_lengths(struct mase_call *c, const struct mase_tensor *x, int axis,
                                    const struct mase_arg *how, struct mase_err *err)
{
    struct mase_tensor *chunks = mase_new_array(c->arena, struct mase_tensor, (size_t)how->count);
    int64_t left = x->shape.dim[axis];
    for (int i = 0; i < how->count && left >= 0; i++) {
        const int64_t n = how->items[i].kind == MASE_ARG_INT ? how->items[i].i : -1;
        left = n < 0 || n > left ? -1 : left - n;
        chunks[i] = chunk(x, axis, n);
    }
    if (left)
        return mase_call_fail(c, err, "lengths %s do not add up to the %lld of dim %d in %s",
                              mase_show_arg(c, how), (long long)x->shape.dim[axis], axis,
                              mase_show_shape(c, &x->shape));
    mase_call_result_tuple(c, chunks, how->count);
    return MASE_OK;
}

/* A number: chunks of that length. A list: the lengths. */
enum mase_status mase_shape_split(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    MASE_TRY(along(c, &x, &axis, err));
    const struct mase_arg *how = mase_call_arg(c, "split_size_or_sections");
    if (mase_arg_is_seq(how) && how->count)
        return cut_lengths(c, x, axis, how, err);
    if (how->kind != MASE_ARG_INT || how->i < 1)
        return mase_call_fail(c, err, "split size %s must be at least 1 or a list of lengths",
                              mase_show_arg(c, how));
    return cut(c, x, axis, how->i, err);
}

enum mase_status mase_shape_chunk(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int64_t chunks;
    int axis;
    MASE_TRY(along(c, &x, &axis, err));
    MASE_TRY(mase_call_int(c, &chunks, "chunks", err));
    if (chunks < 1)
        return mase_call_fail(c, err, "chunks = %lld must be at least 1", (long long)chunks);
    const int64_t length = x->shape.dim[axis];
    const int64_t each = length / chunks + (length % chunks > 0);
    return cut(c, x, axis, each ? each : 1, err);
}

enum mase_status mase_shape_unbind(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x;
    int axis;
    MASE_TRY(along(c, &x, &axis, err));
    const int64_t count = x->shape.dim[axis];
    MASE_TRY(check_count(c, count, err));
    struct mase_tensor each = { .dtype = x->dtype, .shape = x->shape };
    each.shape.rank--;
    for (int i = axis; i < each.shape.rank; i++)
        each.shape.dim[i] = x->shape.dim[i + 1];
    struct mase_tensor *chunks = mase_new_array(c->arena, struct mase_tensor, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        chunks[i] = each;
    mase_call_result_tuple(c, chunks, (int)count);
    return MASE_OK;
}
