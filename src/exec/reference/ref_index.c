/*
 * ref_index.c - picking and placing by index.
 */
#include <string.h>

#include "exec/reference/ref.h"

/* A walk over x[index]: operand 0 is the view without the picked dimensions, the next are the
 * tensors that pick. */
static struct mase_nd walk_index(const struct mase_index *x)
{
    int64_t view[MASE_MAX_RANK] = { 0 };
    for (int d = 0, to = 0; d < x->view.shape.rank; d++) {
        if (mase_index_picks(x, d))
            continue;
        view[to < x->at || !x->picks ? to : to + x->picked.rank] = x->view.stride[d];
        to++;
    }
    struct mase_nd w = mase_nd(&x->shape);
    mase_nd_add_strides(&w, view, x->view.offset);
    for (int i = 0; i < x->picks; i++) {
        const struct mase_view by = mase_view_broadcast(&x->pick[i].by->shape, &x->picked);
        int64_t pick[MASE_MAX_RANK] = { 0 };
        for (int d = 0; d < x->picked.rank; d++)
            pick[x->at + d] = by.stride[d];
        mase_nd_add_strides(&w, pick, 0);
    }
    return w;
}

/* The offset in the indexed tensor at the walk's position. */
static enum mase_status place(const struct mase_call *c, const struct mase_index *x,
                              const struct mase_nd *w, int64_t *off, struct mase_err *err)
{
    *off = w->off[0];
    for (int i = 0; i < x->picks; i++) {
        const int d = x->pick[i].dim;
        int64_t at;
        MASE_TRY(mase_ref_index(c, x->pick[i].by, w->off[i + 1], x->view.shape.dim[d], x->wrap, &at,
                                err));
        *off += at * x->view.stride[d];
    }
    return MASE_OK;
}

/* out = t at the places of x. */
static enum mase_status take(struct mase_call *c, const struct mase_tensor *t,
                             const struct mase_index *x, struct mase_err *err)
{
    size_t size = (size_t)mase_dtypes[t->dtype].size;
    struct mase_nd w = walk_index(x);
    for (; w.i < w.count; mase_nd_next(&w)) {
        int64_t off;
        MASE_TRY(place(c, x, &w, &off, err));
        memcpy((char *)ref_out(c)->data + (size_t)w.i * size,
               (const char *)t->data + (size_t)off * size, size);
    }
    return MASE_OK;
}

enum mase_status mase_forward_getitem(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *t = mase_arg_tensor(&c->param[0]);
    struct mase_index x;
    MASE_TRY(mase_index_plan(c, &x, t, &c->param[1], err));
    return take(c, t, &x, err);
}

enum mase_status mase_forward_setitem(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *before = c->param[0].tensor;
    struct mase_tensor *t = ref_out(c);
    const struct mase_tensor *value = mase_arg_tensor(&c->param[2]);
    struct mase_index x;
    MASE_TRY(mase_index_plan(c, &x, t, &c->param[1], err));
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        ref_set(t, i, ref_get(before, i));
    struct mase_nd w = walk_index(&x);
    mase_nd_add(&w, value ? &value->shape : &(struct mase_shape){ 0 });
    for (; w.i < w.count; mase_nd_next(&w)) {
        int64_t off;
        MASE_TRY(place(c, &x, &w, &off, err));
        ref_set(t, off, mase_ref_operand(&c->param[2], w.off[1 + x.picks]));
    }
    return MASE_OK;
}

enum mase_status mase_forward_slice(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_arg slice = { .kind = MASE_ARG_SLICE, .items = &c->param[2], .count = 3 };
    int64_t first, count, step;
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    MASE_TRY(mase_slice_plan(c, &slice, x->shape.dim[axis], &first, &count, &step, err));
    struct mase_view v = mase_view_of(&x->shape);
    v.shape.dim[axis] = count;
    v.offset = first * v.stride[axis];
    v.stride[axis] *= step;
    mase_ref_gather(ref_out(c), x, &v);
    return MASE_OK;
}

enum mase_status mase_forward_gather(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    const struct mase_tensor *index = mase_call_tensor(c, "index");
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    struct mase_view v = mase_view_of(&x->shape);
    int64_t step = v.stride[axis], len = x->shape.rank ? x->shape.dim[axis] : 1;
    v.stride[axis] = 0;
    struct mase_nd w = mase_nd(&index->shape);
    mase_nd_add_strides(&w, v.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w)) {
        int64_t at;
        MASE_TRY(mase_ref_index(c, index, w.i, len, false, &at, err));
        ref_set(ref_out(c), w.i, ref_get(x, w.off[0] + at * step));
    }
    return MASE_OK;
}

enum mase_status mase_forward_index_select(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_tensor index = *mase_call_tensor(c, "index");
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    index.shape = (struct mase_shape){ .rank = 1, .dim = { mase_tensor_count(&index) } };
    struct mase_index plan = { .view = mase_view_of(&x->shape),
                               .pick = { { .by = &index, .dim = axis } },
                               .picks = 1 };
    MASE_TRY(mase_index_shape(c, &plan, err));
    return take(c, x, &plan, err);
}

/* ---- putting and adding ---- */

static void copy_input(struct mase_call *c, const struct mase_tensor *x)
{
    memmove(ref_out(c)->data, x->data,
            (size_t)mase_tensor_count(x) * (size_t)mase_dtypes[x->dtype].size);
}

/* scatter and scatter_add. */
enum mase_status mase_forward_scatter(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    const struct mase_tensor *index = mase_call_tensor(c, "index");
    const struct mase_arg *source = mase_scatter_source(c);
    const bool adds = c->node->op == MASE_OP_scatter_add;
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    struct mase_view v = mase_view_of(&x->shape), from = { 0 };
    if (mase_arg_tensor(source))
        from = mase_view_of(&source->tensor->shape);
    const int64_t step = v.stride[axis];
    v.stride[axis] = 0;
    copy_input(c, x);
    struct mase_nd w = mase_nd(&index->shape);
    mase_nd_add_strides(&w, v.stride, 0);
    mase_nd_add_strides(&w, from.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w)) {
        int64_t at;
        MASE_TRY(mase_ref_index(c, index, w.i, x->shape.dim[axis], false, &at, err));
        at = w.off[0] + at * step;
        ref_set(ref_out(c), at,
                mase_ref_operand(source, w.off[1]) + (adds ? ref_get(ref_out(c), at) : 0.0));
    }
    return MASE_OK;
}

enum mase_status mase_forward_index_add(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    const struct mase_tensor *index = mase_call_tensor(c, "index");
    const struct mase_tensor *source = mase_call_tensor(c, "source");
    double alpha;
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    struct mase_view v = mase_view_of(&x->shape);
    const int64_t step = v.stride[axis];
    v.stride[axis] = 0;
    copy_input(c, x);
    struct mase_nd w = mase_nd(&source->shape);
    mase_nd_add_strides(&w, v.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w)) {
        int64_t at;
        MASE_TRY(mase_ref_index(c, index, w.at[axis], x->shape.dim[axis], false, &at, err));
        at = w.off[0] + at * step;
        ref_set(ref_out(c), at, ref_get(ref_out(c), at) + alpha * ref_get(source, w.i));
    }
    return MASE_OK;
}

enum mase_status mase_forward_one_hot(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "tensor");
    int64_t classes, at;
    MASE_TRY(mase_call_int(c, &classes, "num_classes", err));
    for (int64_t i = 0; i < mase_tensor_count(x); i++) {
        MASE_TRY(mase_ref_index(c, x, i, classes, false, &at, err));
        for (int64_t k = 0; k < classes; k++)
            ref_set(ref_out(c), i * classes + k, k == at);
    }
    return MASE_OK;
}

/* ---- bags of rows ---- */

/* Column k of what a sample's rows are joined to. */
static enum mase_status join_rows(const struct mase_call *c, enum mase_bag mode, int64_t padding,
                                  int64_t sample, int64_t k, double *y, struct mase_err *err)
{
    const struct mase_tensor *index = mase_call_tensor(c, "input");
    const struct mase_tensor *w = mase_call_tensor(c, "weight");
    const struct mase_tensor *scale = mase_call_tensor(c, "per_sample_weights");
    const int64_t length = index->shape.dim[1];
    int64_t count = 0, row;
    *y = 0.0;
    for (int64_t i = sample * length; i < (sample + 1) * length; i++) {
        MASE_TRY(mase_ref_index(c, index, i, w->shape.dim[0], false, &row, err));
        if (row == padding)
            continue;
        const double v = ref_get(w, row * w->shape.dim[1] + k) * (scale ? ref_get(scale, i) : 1.0);
        const bool best = !count || v > *y || v != v;
        *y = mode != MASE_BAG_MAX ? *y + v : best ? v : *y;
        count++;
    }
    *y /= mode == MASE_BAG_MEAN && count ? (double)count : 1.0;
    return MASE_OK;
}

enum mase_status mase_forward_embedding_bag(struct mase_call *c, struct mase_err *err)
{
    const int64_t columns = mase_call_tensor(c, "weight")->shape.dim[1];
    enum mase_bag mode;
    int64_t padding;
    double y;
    MASE_TRY(mase_bag_mode(c, &mode, err));
    MASE_TRY(mase_bag_padding(c, &padding, err));
    for (int64_t i = 0; i < mase_tensor_count(ref_out(c)); i++) {
        MASE_TRY(join_rows(c, mode, padding, i / columns, i % columns, &y, err));
        ref_set(ref_out(c), i, y);
    }
    return MASE_OK;
}
