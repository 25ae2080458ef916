/*
 * grad_windows.c - gradients of convolutions, pools and resampling.
 *
 * The transpose of a convolution is a transposed one, and the other way round. The gradient of a
 * weight is again a convolution: of the data with channels and samples swapped, by the gradient of
 * the result with its samples as channels, the stride being its dilation.
 */
#include <string.h>

#include "ir/graph/bind_call.h"
#include "ir/shape/shape.h"
#include "program/grad.h"

static struct mase_arg ints(struct mase_backward *k, const int64_t *v, int n)
{
    return mase_expr_ints(&k->b, v, n);
}

/* Data (N, G C, ...) becomes (C, G N, ...), a kernel (N, C, ...) becomes (C, N, ...): the samples
 * stand where the channels were, those of each group apart. */
static struct mase_arg samples_as_channels(struct mase_backward *k, struct mase_arg x,
                                           int64_t groups, bool data)
{
    struct mase_ptype t = *mase_type_of(&x);
    const int n = t.rank - 2;
    int order[MASE_MAX_RANK] = { 1, 0 };
    for (int d = 2; d < t.rank + 1; d++)
        order[d] = d;
    if (!data || groups == 1)
        return mase_expr_permute(&k->b, x, order);
    for (int d = t.rank; d > 2; d--)
        t.dim[d] = t.dim[d - 1];
    t.dim[2] = (struct mase_extent){ t.dim[1].plus / groups, 0 };
    t.dim[1] = (struct mase_extent){ groups, 0 };
    t.rank++;
    order[0] = 2, order[1] = 1, order[2] = 0;
    for (int d = 0; d < n; d++)
        order[3 + d] = 3 + d;
    const struct mase_arg y = mase_expr_permute(&k->b, mase_expr_reshape(&k->b, x, &t), order);
    struct mase_ptype merged = *mase_type_of(&y);
    mase_ptype_merge(&merged, 1, 3);
    return mase_expr_reshape(&k->b, y, &merged);
}

static enum mase_op conv_of(int n, bool transposed)
{
    static const enum mase_op ops[2][3] = {
        { MASE_OP_conv1d, MASE_OP_conv2d, MASE_OP_conv3d },
        { MASE_OP_convtranspose1d, MASE_OP_convtranspose2d, MASE_OP_convtranspose3d },
    };
    return ops[transposed][n - 1];
}

/* The gradient of the weight: data convolved with `kernel`, whose elements are a stride apart. The
 * result is (C, O, ...); where the window left a rest of the data, it is longer than the weight. */
static struct mase_arg weight_back(struct mase_backward *k, const struct mase_window *w,
                                   struct mase_arg data, struct mase_arg kernel,
                                   const struct mase_ptype *weight)
{
    const struct mase_arg x = samples_as_channels(k, data, w->groups, true);
    const struct mase_arg y = samples_as_channels(k, kernel, w->groups, false);
    const struct mase_arg args[] = { x,
                                     y,
                                     mase_arg_none(),
                                     ints(k, w->dilation, w->n),
                                     ints(k, w->pad, w->n),
                                     ints(k, w->stride, w->n),
                                     mase_arg_int(w->groups) };
    struct mase_arg d = mase_expr_call(&k->b, conv_of(w->n, false), args, 7);
    int order[MASE_MAX_RANK] = { 1, 0 };
    for (int i = 0; i < w->n && !k->b.status; i++) {
        d = mase_expr_narrow(&k->b, d, 2 + i, (struct mase_extent){ 0, 0 }, weight->dim[2 + i]);
        order[2 + i] = 2 + i;
    }
    return k->b.status ? d : mase_expr_permute(&k->b, d, order);
}

/* Without a batch dimension: a batch of one. */
static struct mase_arg batched(struct mase_backward *k, struct mase_arg x, bool batch)
{
    return batch ? x : mase_expr_unsqueeze(&k->b, x, 0);
}

/* Padding that differs at both ends becomes an instruction of its own in front of the window. */
static struct mase_arg pad_evenly(struct mase_backward *k, struct mase_window *w, struct mase_arg x)
{
    int64_t width[6];
    bool even = true;
    for (int d = 0; d < w->n; d++)
        even &= w->pad[d] == w->pad_end[d];
    if (even)
        return x;
    for (int d = 0; d < w->n; d++) {
        width[2 * (w->n - 1 - d)] = w->pad[d];
        width[2 * (w->n - 1 - d) + 1] = w->pad_end[d];
        w->in[d] += w->pad[d] + w->pad_end[d];
        w->pad[d] = w->pad_end[d] = 0;
    }
    return mase_g(k, pad, x, ints(k, width, 2 * w->n));
}

/* The transposed convolution of dy gives the gradient of the padded data; the padding is cut off.
 */
static struct mase_arg data_back(struct mase_backward *k, const struct mase_window *w,
                                 const struct mase_window *given, struct mase_arg dy)
{
    int64_t rest[3];
    for (int d = 0; d < w->n; d++)
        rest[d] =
            (w->in[d] + 2 * w->pad[d] - w->dilation[d] * (w->kernel[d] - 1) - 1) % w->stride[d];
    const struct mase_arg args[] = { dy,
                                     k->i->param[1],
                                     mase_arg_none(),
                                     ints(k, w->stride, w->n),
                                     ints(k, w->pad, w->n),
                                     ints(k, rest, w->n),
                                     mase_arg_int(w->groups),
                                     ints(k, w->dilation, w->n) };
    struct mase_arg d = mase_expr_call(&k->b, conv_of(w->n, true), args, 8);
    for (int i = 0; i < w->n && !k->b.status; i++)
        d = mase_expr_narrow(&k->b, d, 2 + i, (struct mase_extent){ given->pad[i] - w->pad[i], 0 },
                             (struct mase_extent){ given->in[i], 0 });
    return d;
}

static void bias_back(struct mase_backward *k, struct mase_arg dy, int n)
{
    const struct mase_arg *bias = &k->i->param[2];
    int64_t dim[MASE_MAX_RANK] = { 0 };
    for (int d = 0; d < n; d++)
        dim[1 + d] = 2 + d;
    if (mase_grad_wants(k, bias))
        mase_grad_give(k, bias, mase_g(k, sum, dy, ints(k, dim, 1 + n)));
}

void mase_back_conv(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0], *weight = &k->i->param[1];
    struct mase_window given, w;
    const struct mase_call *c = mase_grad_call(k);
    if (!k->b.status)
        k->b.status = mase_conv_window(c, &given, k->b.err);
    if (k->b.status)
        return;
    w = given;
    const struct mase_arg dy = batched(k, mase_grad_result(k, 0), w.batch);
    const struct mase_arg data = pad_evenly(k, &w, batched(k, *x, w.batch));
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x,
                       mase_expr_reshape(&k->b, data_back(k, &w, &given, dy), mase_type_of(x)));
    if (mase_grad_wants(k, weight))
        mase_grad_give(k, weight, weight_back(k, &w, data, dy, mase_type_of(weight)));
    bias_back(k, dy, w.n);
}

void mase_back_conv_transpose(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0], *weight = &k->i->param[1];
    struct mase_window w;
    const struct mase_call *c = mase_grad_call(k);
    if (!k->b.status)
        k->b.status = mase_conv_transpose_window(c, &w, k->b.err);
    if (k->b.status)
        return;
    const struct mase_arg dy = batched(k, mase_grad_result(k, 0), w.batch);
    const struct mase_arg data = batched(k, *x, w.batch);
    const struct mase_arg args[] = { dy,
                                     *weight,
                                     mase_arg_none(),
                                     ints(k, w.stride, w.n),
                                     ints(k, w.pad, w.n),
                                     ints(k, w.dilation, w.n),
                                     mase_arg_int(w.groups) };
    if (mase_grad_wants(k, x)) {
        struct mase_arg dx = mase_expr_call(&k->b, conv_of(w.n, false), args, 7);
        for (int d = 0; d < w.n && !k->b.status; d++)
            dx = mase_expr_narrow(&k->b, dx, 2 + d, (struct mase_extent){ 0, 0 },
                                  mase_type_of(&data)->dim[2 + d]);
        mase_grad_give(k, x, mase_expr_reshape(&k->b, dx, mase_type_of(x)));
    }
    if (mase_grad_wants(k, weight))
        mase_grad_give(k, weight, weight_back(k, &w, dy, data, mase_type_of(weight)));
    bias_back(k, dy, w.n);
}

/* ---- pools ---- */

/* Recompute the positions of maxima; one position may be the maximum of several windows. */
void mase_back_max_pool(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    const int n = mase_ops[k->i->op].name[strcspn(mase_ops[k->i->op].name, "123")] - '0';
    struct mase_arg param[MASE_MAX_PARAMS], found[2], dy = mase_grad_result(k, 0);
    struct mase_ptype plane = *mase_type_of(x), flat = *mase_type_of(&dy);
    const int lead = plane.rank - n, count = mase_instr_params(k->i);
    for (int i = 0; i < count; i++)
        param[i] = k->i->param[i];
    if (dy.kind == MASE_ARG_NONE)
        return;
    if (k->i->result_count == 2) {
        found[1] = mase_pvalue_arg(k->i->result[1]);
    } else {
        param[mase_sig_find(mase_op_call_sig(k->i->op), "return_indices")] = mase_arg_bool(true);
        mase_expr_results(&k->b, k->i->op, param, count, found, 2);
    }
    mase_ptype_merge(&plane, lead, plane.rank);
    mase_ptype_merge(&flat, lead, flat.rank);
    const struct mase_arg zeros = mase_expr_zeros(&k->b, &plane);
    const struct mase_arg dx =
        mase_g(k, scatter_add, zeros, mase_arg_int(lead), mase_expr_reshape(&k->b, found[1], &flat),
               mase_expr_reshape(&k->b, dy, &flat));
    mase_grad_give(k, x, mase_expr_reshape(&k->b, dx, mase_type_of(x)));
}

/* ---- places of pixels ---- */

/* The grid of theta (N, d, d + 1) is base theta^T, where the base has 1 in its last column: it is
 * the grid of the identity. */
void mase_back_affine_grid(struct mase_backward *k)
{
    const struct mase_arg *theta = &k->i->param[0], dy = mase_grad_result(k, 0);
    const struct mase_ptype *t = mase_type_of(theta);
    const int64_t d = t->dim[1].plus;
    const struct mase_arg given = mase_grad_param(k, "size");
    struct mase_arg size[MASE_MAX_RANK];
    double eye[12] = { 0 };
    for (int64_t i = 0; i < d; i++)
        eye[i * (d + 1) + i] = 1.0;
    for (int i = 0; i < given.count; i++)
        size[i] = i ? given.items[i] : mase_arg_int(1);
    const struct mase_shape one = { 3, { 1, d, d + 1 } };
    const struct mase_arg base =
        mase_g(k, affine_grid, mase_expr_constant(&k->b, MASE_F32, &one, eye),
               mase_expr_tuple(&k->b, size, given.count), mase_grad_param(k, "align_corners"));
    struct mase_ptype rows = *mase_type_of(&base), moved = *mase_type_of(&dy);
    if (k->b.status)
        return;
    mase_ptype_merge(&rows, 0, rows.rank - 1);
    mase_ptype_merge(&moved, 1, moved.rank - 1);
    struct mase_ptype last = rows;
    last.dim[1] = (struct mase_extent){ 1, 0 };
    const struct mase_arg parts[2] = { mase_expr_reshape(&k->b, base, &rows),
                                       mase_g(k, ones, mase_expr_sizes(&k->b, &last)) };
    const struct mase_arg places =
        mase_g(k, cat, mase_expr_tuple(&k->b, parts, 2), mase_arg_int(1));
    const struct mase_arg turned = mase_expr_transpose(&k->b, mase_expr_reshape(&k->b, dy, &moved));
    mase_grad_give(k, theta, mase_g(k, matmul, turned, places));
}

/* ---- grid_sample ---- */

/* The result's slopes by the coordinates (N, C, ..., d), summed over channels. */
void mase_back_grid_sample(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0], *grid = &k->i->param[1];
    const struct mase_arg dy = mase_grad_result(k, 0);
    if (mase_grad_wants(k, x))
        mase_grad_give(k, x, mase_grad_adjoint(k, dy));
    if (mase_grad_wants(k, grid)) {
        const struct mase_arg each = mase_expr_unsqueeze(&k->b, dy, mase_type_of(&dy)->rank);
        const struct mase_arg both = mase_g(k, mul, each, mase_grad_slope(k, 1));
        mase_grad_give(k, grid, mase_g(k, sum, both, mase_arg_int(1)));
    }
}
