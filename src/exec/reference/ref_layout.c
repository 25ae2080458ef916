/*
 * ref_layout.c - the same values in another shape, order or type. Most are one gather through a
 * view.
 */
#include <string.h>

#include "exec/reference/ref.h"

enum mase_status mase_forward_identity(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    memcpy(ref_out(c)->data, x->data, (size_t)mase_tensor_bytes(x));
    return MASE_OK;
}

enum mase_status mase_check_dropout(const struct mase_call *c, bool training, struct mase_err *err)
{
    const bool attention = c->node->op == MASE_OP_scaled_dot_product_attention;
    double p;
    MASE_TRY(mase_call_float(c, &p, attention ? "dropout_p" : "p", err));
    if (training || p == 0.0 || (!attention && !mase_call_training(c, "training", false)))
        return MASE_OK;
    return mase_call_fail(c, err,
                          "drops out in evaluation too, so results would be random: write %s",
                          attention ? "dropout_p=P if self.training else 0.0"
                                    : "training=self.training (F.dropout's default is True)");
}

enum mase_status mase_forward_dropout(struct mase_call *c, struct mase_err *err)
{
    MASE_TRY(mase_check_dropout(c, false, err));
    return mase_forward_identity(c, err);
}

enum mase_status mase_forward_cast(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    if (x->dtype == ref_out(c)->dtype)
        return mase_forward_identity(c, err); /* bit for bit, however large */
    int64_t n = mase_tensor_count(x);
    for (int64_t i = 0; i < n; i++)
        mase_tensor_convert(ref_out(c), i, x, i);
    return MASE_OK;
}

enum mase_status mase_forward_copy_into(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *src = mase_call_arg(c, "src");
    struct mase_nd w = mase_nd(&ref_out(c)->shape);
    (void)err;
    mase_nd_add(&w, mase_arg_tensor(src) ? &src->tensor->shape : &(struct mase_shape){ 0 });
    for (; w.i < w.count; mase_nd_next(&w))
        ref_set(ref_out(c), w.i, mase_ref_operand(src, w.off[0]));
    return MASE_OK;
}

enum mase_status mase_forward_permute(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int order[MASE_MAX_RANK];
    MASE_TRY(mase_layout_order(c, order, &x->shape, err));
    struct mase_view v = mase_view_permuted(&x->shape, order);
    mase_ref_gather(ref_out(c), x, &v);
    return MASE_OK;
}

/* T and mT; the other attributes are no tensors. */
enum mase_status mase_forward_getattr(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int order[MASE_MAX_RANK];
    mase_attr_order(order, &x->shape, mase_streq(mase_call_text(c, "b", ""), "T"));
    struct mase_view v = mase_view_permuted(&x->shape, order);
    mase_ref_gather(ref_out(c), x, &v);
    return MASE_OK;
}

enum mase_status mase_forward_expand(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_view v = mase_view_broadcast(&x->shape, &ref_out(c)->shape);
    mase_ref_gather(ref_out(c), x, &v);
    return MASE_OK;
}

/* Each result dimension is a pair: which copy (stride 0), and where in it. */
enum mase_status mase_forward_repeat(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    const struct mase_shape *s = &ref_out(c)->shape;
    struct mase_view from = mase_view_of(&x->shape);
    int64_t dim[MASE_ND_RANK], stride[MASE_ND_RANK] = { 0 };
    int skip = s->rank - x->shape.rank;
    for (int i = 0; i < s->rank; i++) {
        int64_t own = i < skip ? 1 : x->shape.dim[i - skip];
        dim[2 * i] = own ? s->dim[i] / own : 0;
        dim[2 * i + 1] = own;
        stride[2 * i + 1] = i < skip ? 0 : from.stride[i - skip];
    }
    struct mase_nd w = mase_nd_dims(dim, 2 * s->rank);
    mase_nd_add_strides(&w, stride, 0);
    for (; w.i < w.count; mase_nd_next(&w))
        ref_set(ref_out(c), w.i, ref_get(x, w.off[0]));
    return MASE_OK;
}

enum mase_status mase_forward_flip(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    bool in[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, in, &x->shape, "dims", false, err));
    struct mase_view v = mase_view_of(&x->shape);
    for (int i = 0; i < x->shape.rank; i++) {
        if (!in[i])
            continue;
        v.offset += v.stride[i] * (x->shape.dim[i] - 1);
        v.stride[i] = -v.stride[i];
    }
    mase_ref_gather(ref_out(c), x, &v);
    return MASE_OK;
}

/* The index that element `at` of the padded tensor copies; -1: padding. */
static int64_t pad_source(const struct mase_pads *p, const struct mase_view *x, const int64_t *at)
{
    int64_t off = 0;
    for (int d = 0; d < x->shape.rank; d++) {
        const int64_t n = x->shape.dim[d];
        int64_t i = at[d] - p->before[d];
        if (p->mode != MASE_PAD_ZEROS)
            i = mase_ref_pad_source(p->mode, i, n);
        if (i < 0 || i >= n)
            return -1;
        off += i * x->stride[d];
    }
    return off;
}

enum mase_status mase_forward_pad(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_pads p;
    double value = 0;
    MASE_TRY(mase_pads_plan(c, &p, &x->shape, err));
    if (mase_arg_present(mase_call_arg(c, "value")))
        MASE_TRY(mase_call_float(c, &value, "value", err));
    const struct mase_view from = mase_view_of(&x->shape);
    for (struct mase_nd w = mase_nd(&ref_out(c)->shape); w.i < w.count; mase_nd_next(&w)) {
        const int64_t off = pad_source(&p, &from, w.at);
        ref_set(ref_out(c), w.i, off < 0 ? value : ref_get(x, off));
    }
    return MASE_OK;
}

/* ---- values that are picked by a rule (shape_pick.c) ---- */

enum mase_status mase_forward_pick(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    struct mase_pick p;
    MASE_TRY(mase_pick_plan(c, &p, err));
    for (struct mase_nd w = mase_nd(&p.out); w.i < w.count; mase_nd_next(&w)) {
        const int64_t from = p.from(&p, w.at);
        ref_set(ref_out(c), w.i, from < 0 ? 0.0 : ref_get(x, from));
    }
    return MASE_OK;
}

enum mase_status mase_forward_fold(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const int64_t n = mase_tensor_count(ref_out(c));
    double *sum = mase_new_array(c->arena, double, (size_t)n);
    struct mase_pick p;
    MASE_TRY(mase_fold_plan(c, &p, err));
    for (struct mase_nd w = mase_nd(&p.out); w.i < w.count; mase_nd_next(&w)) {
        const int64_t to = p.from(&p, w.at);
        if (to >= 0)
            sum[to] += ref_get(x, w.i);
    }
    for (int64_t i = 0; i < n; i++)
        ref_set(ref_out(c), i, sum[i]);
    return MASE_OK;
}

/* ---- joining and cutting ---- */

/* narrow and select. */
enum mase_status mase_forward_narrow(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    int axis;
    int64_t start, length;
    MASE_TRY(mase_narrow_plan(c, &axis, &start, &length, err));
    struct mase_view v = mase_view_of(&x->shape);
    v.shape.dim[axis] = length;
    v.offset += start * v.stride[axis];
    mase_ref_gather(ref_out(c), x, &v);
    return MASE_OK;
}

enum mase_status mase_forward_cat(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *items;
    int count, axis;
    MASE_TRY(mase_call_tensors(c, &items, &count, "tensors", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &ref_out(c)->shape, "dim", err));
    struct mase_view v = mase_view_of(&ref_out(c)->shape);
    for (int i = 0; i < count; i++) {
        v.shape = items[i].tensor->shape;
        if (mase_cat_skips(&v.shape))
            continue;
        mase_ref_scatter(ref_out(c), &v, items[i].tensor);
        v.offset += v.shape.dim[axis] * v.stride[axis];
    }
    return MASE_OK;
}

enum mase_status mase_forward_stack(struct mase_call *c, struct mase_err *err)
{
    const struct mase_arg *items;
    int count, axis;
    MASE_TRY(mase_call_tensors(c, &items, &count, "tensors", err));
    MASE_TRY(mase_call_axis_arg(c, &axis, &ref_out(c)->shape, "dim", err));
    struct mase_view v = mase_view_of(&ref_out(c)->shape);
    int64_t step = v.stride[axis];
    v.shape = items[0].tensor->shape;
    for (int i = axis; i < v.shape.rank; i++)
        v.stride[i] = v.stride[i + 1];
    for (int i = 0; i < count; i++, v.offset += step)
        mase_ref_scatter(ref_out(c), &v, items[i].tensor);
    return MASE_OK;
}

enum mase_status mase_forward_split(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    struct mase_view v = mase_view_of(&x->shape);
    for (int i = 0; i < c->result.count; i++) {
        struct mase_tensor *out = c->result.items[i].tensor;
        v.shape = out->shape;
        mase_ref_gather(out, x, &v);
        v.offset += v.shape.dim[axis] * v.stride[axis];
    }
    return MASE_OK;
}

enum mase_status mase_forward_unbind(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    int axis;
    MASE_TRY(mase_call_axis_arg(c, &axis, &x->shape, "dim", err));
    struct mase_view v = mase_view_of(&x->shape);
    const int64_t step = v.stride[axis];
    v.shape.rank--;
    for (int i = axis; i < v.shape.rank; i++) {
        v.shape.dim[i] = x->shape.dim[i + 1];
        v.stride[i] = v.stride[i + 1];
    }
    for (int i = 0; i < c->result.count; i++, v.offset += step)
        mase_ref_gather(c->result.items[i].tensor, x, &v);
    return MASE_OK;
}
