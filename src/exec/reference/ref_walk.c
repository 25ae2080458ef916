/*
 * ref_walk.c - positions, strides and views for the reference forwards.
 */
#include <math.h>
#include <string.h>

#include "exec/reference/ref.h"

double mase_ref_operand(const struct mase_arg *a, int64_t off)
{
    double number = 0.0;
    if (a->kind == MASE_ARG_TENSOR)
        return ref_get(a->tensor, off);
    mase_arg_number(a, &number);
    return number;
}

struct mase_nd mase_nd_dims(const int64_t *dim, int rank)
{
    struct mase_nd w = { .rank = rank, .count = 1 };
    for (int i = 0; i < rank; i++) {
        w.dim[i] = dim[i];
        w.count *= dim[i];
    }
    return w;
}

struct mase_nd mase_nd(const struct mase_shape *shape)
{
    return mase_nd_dims(shape->dim, shape->rank);
}

void mase_nd_add_strides(struct mase_nd *w, const int64_t *stride, int64_t offset)
{
    if (w->operands == MASE_ND_OPERANDS)
        mase_bug("a walk over more than %d operands", MASE_ND_OPERANDS);
    for (int i = 0; i < w->rank; i++)
        w->stride[w->operands][i] = stride[i];
    w->off[w->operands++] = offset;
}

void mase_nd_add(struct mase_nd *w, const struct mase_shape *s)
{
    struct mase_shape to = { .rank = w->rank };
    memcpy(to.dim, w->dim, sizeof to.dim);
    struct mase_view v = mase_view_broadcast(s, &to);
    mase_nd_add_strides(w, v.stride, 0);
}

struct mase_nd mase_nd_reduced(const struct mase_shape *shape, const bool *in)
{
    struct mase_nd w = mase_nd(shape);
    struct mase_shape left = *shape;
    for (int d = 0; d < left.rank; d++)
        left.dim[d] = in[d] ? 1 : left.dim[d];
    mase_nd_add(&w, &left);
    return w;
}

void mase_nd_next(struct mase_nd *w)
{
    w->i++;
    for (int d = w->rank - 1; d >= 0; d--) {
        if (++w->at[d] < w->dim[d]) {
            for (int k = 0; k < w->operands; k++)
                w->off[k] += w->stride[k][d];
            return;
        }
        w->at[d] = 0;
        for (int k = 0; k < w->operands; k++)
            w->off[k] -= w->stride[k][d] * (w->dim[d] - 1);
    }
}

void mase_ref_gather(struct mase_tensor *out, const struct mase_tensor *in,
                     const struct mase_view *v)
{
    size_t size = (size_t)mase_dtypes[out->dtype].size;
    struct mase_nd w = mase_nd(&v->shape);
    mase_nd_add_strides(&w, v->stride, v->offset);
    for (; w.i < w.count; mase_nd_next(&w))
        memcpy((char *)out->data + (size_t)w.i * size, (char *)in->data + (size_t)w.off[0] * size,
               size);
}

void mase_ref_scatter(struct mase_tensor *out, const struct mase_view *v,
                      const struct mase_tensor *in)
{
    struct mase_nd w = mase_nd(&v->shape);
    mase_nd_add_strides(&w, v->stride, v->offset);
    for (; w.i < w.count; mase_nd_next(&w))
        ref_set(out, w.off[0], ref_get(in, w.i));
}

enum mase_status mase_ref_bad_index(const struct mase_call *c, double v, int64_t sample,
                                    int64_t len, struct mase_err *err)
{
    const bool nan = v == (double)INT64_MIN || v == (double)INT32_MIN;
    if (!(fabs(v) <= 0x1p63) || v != floor(v))
        return mase_call_fail(c, err, "index %.9g of sample %lld (counted from 0) is no integer", v,
                              (long long)sample);
    return mase_call_fail(c, err, "index %.0f%s of sample %lld (counted from 0) is outside 0..%lld",
                          v, nan ? " (what NaN becomes)" : "", (long long)sample,
                          (long long)len - 1);
}

enum mase_status mase_ref_index(const struct mase_call *c, const struct mase_tensor *index,
                                int64_t k, int64_t len, bool wrap, int64_t *at,
                                struct mase_err *err)
{
    int64_t v = index->dtype == MASE_I64 ? ((const int64_t *)index->data)[k]
                                         : ((const int32_t *)index->data)[k];
    *at = wrap && v < 0 ? v + len : v;
    if (*at >= 0 && *at < len)
        return MASE_OK;
    return mase_call_fail(c, err, "index %lld is outside 0..%lld", (long long)v,
                          (long long)len - 1);
}
