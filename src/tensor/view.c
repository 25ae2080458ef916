/*
 * view.c - other ways to walk over a dense tensor: permuted, broadcast, along one dimension.
 */
#include <mase/tensor.h>

struct mase_view mase_view_of(const struct mase_shape *s)
{
    struct mase_view v = { .shape = *s };
    int64_t stride = 1;
    for (int i = s->rank - 1; i >= 0; i--) {
        v.stride[i] = stride;
        stride *= s->dim[i];
    }
    return v;
}

struct mase_view mase_view_permuted(const struct mase_shape *s, const int *order)
{
    struct mase_view dense = mase_view_of(s), v = dense;
    for (int i = 0; i < s->rank; i++) {
        v.shape.dim[i] = s->dim[order[i]];
        v.stride[i] = dense.stride[order[i]];
    }
    return v;
}

struct mase_view mase_view_broadcast(const struct mase_shape *s, const struct mase_shape *to)
{
    struct mase_view dense = mase_view_of(s), v = { .shape = *to };
    int skip = to->rank - s->rank;
    for (int i = 0; i < s->rank; i++)
        v.stride[skip + i] = s->dim[i] == 1 ? 0 : dense.stride[i];
    return v;
}

struct mase_axis mase_axis_of(const struct mase_shape *s, int axis)
{
    struct mase_axis a = { 1, s->rank ? s->dim[axis] : 1, 1 };
    for (int i = 0; i < axis; i++)
        a.outer *= s->dim[i];
    for (int i = axis + 1; i < s->rank; i++)
        a.inner *= s->dim[i];
    return a;
}
