/*
 * compose_vectors.c - rules that say norms of windows and of channels, cross products, maxima put
 * back and integers drawn in the words of others (compose.h).
 */
#include "program/compose.h"

#include "ir/shape/shape.h"

/* The mean of powers, times the size of a window. */
enum mase_status mase_lower_lp_pool(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const bool one = l->op == MASE_OP_lp_pool1d;
    const struct mase_call *c = &l->call[0];
    struct mase_window w;
    double p;
    MASE_TRY(mase_pool_window(c, &w, err));
    MASE_TRY(mase_call_float(c, &p, "norm_type", err));
    const double count = (double)(w.kernel[0] * (one ? 1 : w.kernel[1]));
    const struct mase_arg size = mase_compose_ints(&k, w.kernel, w.n),
                          step = mase_compose_ints(&k, w.stride, w.n);
    struct mase_arg y = mase_compose(&k, MASE_OP_pow, l->param[0], mase_arg_float(p));
    const struct mase_arg none = mase_compose_ints(&k, (const int64_t[]){ 0 }, 1);
    y = mase_compose(&k, one ? MASE_OP_avg_pool1d : MASE_OP_avg_pool2d, y, size, step,
                     one ? none : mase_arg_int(0), mase_arg_bool(mase_call_flag(c, "ceil_mode")));
    y = mase_compose(&k, MASE_OP_mul, y, mase_arg_float(count));
    return mase_compose_last(&k, MASE_OP_pow, y, mase_arg_float(1.0 / p));
}

/* x with its last dimensions as one. */
static struct mase_arg flattened(struct mase_compose *k, struct mase_arg x, int dims)
{
    struct mase_ptype type = mase_pvalue_of(&x)->type;
    int64_t length = 1;
    for (int d = 0; d < dims; d++)
        length *= type.dim[--type.rank].plus;
    type.dim[type.rank++] = (struct mase_extent){ .plus = length };
    return mase_compose(k, MASE_OP_reshape, x, mase_lowered_sizes(k->l, &type));
}

static enum mase_status result_type(struct mase_ptype *type, const struct mase_lowered *l,
                                    struct mase_err *err)
{
    const struct mase_tensor *t[MASE_BATCH_SIZES];
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        t[s] = l->call[s].result.tensor;
    return mase_lowered_type(type, t, l->call[0].node, err);
}

enum mase_status mase_lower_max_unpool(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const int dims = l->op == MASE_OP_max_unpool1d ? 1 : l->op == MASE_OP_max_unpool2d ? 2 : 3;
    struct mase_ptype type, rows;
    MASE_TRY(result_type(&type, l, err));
    rows = type;
    int64_t length = 1;
    for (int d = 0; d < dims; d++)
        length *= rows.dim[--rows.rank].plus;
    rows.dim[rows.rank++] = (struct mase_extent){ .plus = length };
    const struct mase_arg dtype = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[type.dtype].torch };
    struct mase_arg zeros =
        mase_compose(&k, MASE_OP_full, mase_lowered_sizes(l, &rows), mase_arg_float(0.0), dtype);
    struct mase_arg x = flattened(&k, l->param[0], dims);
    struct mase_arg at = flattened(&k, l->param[1], dims);
    struct mase_arg y = mase_compose(&k, MASE_OP_scatter, zeros, mase_arg_int(-1), at, x);
    return mase_compose_last(&k, MASE_OP_reshape, y, mase_lowered_sizes(l, &type));
}

/* Values along dim, the one so many places further first. */
static struct mase_arg turned(struct mase_compose *k, struct mase_arg x, int axis, int64_t places)
{
    return mase_compose(k, MASE_OP_roll, x, mase_arg_int(-places), mase_arg_int(axis));
}

enum mase_status mase_lower_cross(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0], y = l->param[1];
    int axis;
    MASE_TRY(mase_cross_axis(&l->call[0], &axis, &l->call[0].result.tensor->shape, err));
    if (l->call[0].result.tensor->shape.dim[axis] != l->call[1].result.tensor->shape.dim[axis])
        return mase_call_fail(&l->call[0], err, "dim %d is the batch, which a program keeps", axis);
    struct mase_arg a =
        mase_compose(&k, MASE_OP_mul, turned(&k, x, axis, 1), turned(&k, y, axis, 2));
    struct mase_arg b =
        mase_compose(&k, MASE_OP_mul, turned(&k, x, axis, 2), turned(&k, y, axis, 1));
    return mase_compose_last(&k, MASE_OP_sub, a, b);
}

enum mase_status mase_lower_trace(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    return mase_compose_last(&k, MASE_OP_sum, mase_compose(&k, MASE_OP_diagonal, l->param[0]));
}

enum mase_status mase_lower_count_nonzero(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    struct mase_arg there = mase_compose(&k, MASE_OP_ne, l->param[0], mase_arg_int(0));
    return mase_compose_last(&k, MASE_OP_sum, there, mase_compose_param(&k, "dim"));
}

/* The squares of each channel and its neighbours: with zeros around them, as many slices. */
static struct mase_arg squares_around(struct mase_compose *k, struct mase_arg x, int64_t size)
{
    const struct mase_shape s = mase_compose_shape(&x);
    int64_t width[2 * MASE_MAX_RANK] = { 0 };
    struct mase_arg pad[2 * MASE_MAX_RANK], sum = mase_arg_none();
    const int pads = 2 * (s.rank - 1);
    width[pads - 2] = size / 2;
    width[pads - 1] = (size - 1) / 2;
    for (int i = 0; i < pads; i++)
        pad[i] = mase_arg_int(width[i]);
    struct mase_arg wide =
        mase_compose(k, MASE_OP_pad, mase_compose(k, MASE_OP_square, x),
                     mase_arg_seq(&k->l->program->arena, MASE_ARG_TUPLE, pad, pads));
    for (int64_t i = 0; i < size; i++) {
        struct mase_arg part = mase_compose(k, MASE_OP_slice, wide, mase_arg_int(1),
                                            mase_arg_int(i), mase_arg_int(i + s.dim[1]));
        sum = i ? mase_compose(k, MASE_OP_add, sum, part) : part;
    }
    return sum;
}

enum mase_status mase_lower_response_norm(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_call *c = &l->call[0];
    int64_t size;
    double alpha, beta, add;
    MASE_TRY(mase_call_int(c, &size, "size", err));
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    MASE_TRY(mase_call_float(c, &beta, "beta", err));
    MASE_TRY(mase_call_float(c, &add, "k", err));
    struct mase_arg y = squares_around(&k, l->param[0], size);
    y = mase_compose(&k, MASE_OP_mul, y, mase_arg_float(alpha / (double)size));
    y = mase_compose(&k, MASE_OP_add, y, mase_arg_float(add));
    y = mase_compose(&k, MASE_OP_pow, y, mase_arg_float(beta));
    return mase_compose_last(&k, MASE_OP_div, l->param[0], y);
}

/* ---- tensors made ---- */

/* torch.tensor([a, b]) of traced values: they are stacked, and no gradient passes. */
enum mase_status mase_lower_tensor(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    struct mase_arena *a = &l->program->arena;
    const struct mase_arg data = mase_compose_param(&k, "data");
    const struct mase_arg dtype = { .kind = MASE_ARG_ATOM,
                                    .s = mase_dtypes[l->call[0].result.tensor->dtype].torch };
    bool traced = mase_pvalue_of(&data);
    for (int i = 0; mase_arg_is_seq(&data) && i < data.count; i++)
        traced |= mase_pvalue_of(&data.items[i]) != NULL;
    if (!traced && l->op == MASE_OP_tensor)
        return MASE_OK;
    if (!traced)
        return mase_compose_last(&k, MASE_OP_tensor, data, dtype);
    if (!mase_arg_is_seq(&data)) /* a copy */
        return mase_compose_last(
            &k, MASE_OP_detach,
            mase_compose(&k, MASE_OP_cast, data, mase_arg_seq(a, MASE_ARG_TUPLE, &dtype, 1)));
    struct mase_arg *item = mase_new_array(a, struct mase_arg, (size_t)data.count);
    for (int i = 0; i < data.count; i++) {
        if (mase_pvalue_of(&data.items[i]))
            item[i] =
                mase_compose(&k, MASE_OP_reshape, data.items[i], mase_compose_ints(&k, NULL, 0));
        else
            item[i] = mase_compose(&k, MASE_OP_tensor, data.items[i]);
        item[i] =
            mase_compose(&k, MASE_OP_cast, item[i], mase_arg_seq(a, MASE_ARG_TUPLE, &dtype, 1));
    }
    struct mase_arg all = mase_arg_seq(a, MASE_ARG_LIST, item, data.count);
    return mase_compose_last(&k, MASE_OP_detach,
                             mase_compose(&k, MASE_OP_stack, all, mase_arg_int(0)));
}

/* The whole part of what is drawn, times how many there are; floats may come to the end. */
enum mase_status mase_lower_randint(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg real = { .kind = MASE_ARG_ATOM, .s = mase_dtypes[MASE_F32].torch };
    const struct mase_arg own = { .kind = MASE_ARG_ATOM,
                                  .s = mase_dtypes[l->call[0].result.tensor->dtype].torch };
    struct mase_ptype type;
    struct mase_shape size;
    int64_t low, high;
    MASE_TRY(result_type(&type, l, err));
    MASE_TRY(mase_randint_read(&l->call[0], &low, &high, &size, err));
    const double count = (double)(high - low);
    struct mase_arg y = mase_compose(&k, MASE_OP_rand, mase_lowered_sizes(l, &type), real);
    y = mase_compose(&k, MASE_OP_floor, mase_compose(&k, MASE_OP_mul, y, mase_arg_float(count)));
    y = mase_compose(&k, MASE_OP_clamp, y, mase_arg_none(), mase_arg_float(count - 1.0));
    y = mase_compose(&k, MASE_OP_add, y, mase_arg_float((double)low));
    return mase_compose_last(&k, MASE_OP_cast, y,
                             mase_arg_seq(&l->program->arena, MASE_ARG_TUPLE, &own, 1));
}
