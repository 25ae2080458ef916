/*
 * ref_linear.c - dense layers, matrix products, attention, embeddings.
 */
#include <math.h>
#include <string.h>

#include "exec/reference/ref.h"
#include "exec/reference/ref_whole.h"

/* sum of a[oa + k sa] b[ob + k sb] over k. */
static double dot(const struct mase_tensor *a, int64_t oa, int64_t sa, const struct mase_tensor *b,
                  int64_t ob, int64_t sb, int64_t n)
{
    double sum = 0.0;
    if (a->dtype == MASE_F32 && b->dtype == MASE_F32) {
        const float *x = mase_f32(a) + oa, *y = mase_f32(b) + ob;
        for (int64_t k = 0; k < n; k++)
            sum += (double)x[k * sa] * (double)y[k * sb];
        return sum;
    }
    for (int64_t k = 0; k < n; k++)
        sum += ref_get(a, oa + k * sa) * ref_get(b, ob + k * sb);
    return sum;
}

/* A matrix operand: a tensor and its view of shape (..., rows, columns). */
struct matrix {
    const struct mase_tensor *tensor; /* NULL: absent, counts as 0 */
    struct mase_view view;
};

/* t, whose last two dimensions are rows and columns, broadcast to leading + (rows, columns). */
static struct matrix matrix_of(const struct mase_tensor *t, const struct mase_shape *own,
                               const struct mase_shape *leading, int64_t rows, int64_t columns)
{
    struct mase_shape to = *leading;
    mase_shape_push(&to, rows);
    mase_shape_push(&to, columns);
    return (struct matrix){ t, mase_view_broadcast(own, &to) };
}

static struct matrix transposed(struct matrix m)
{
    struct mase_view *v = &m.view;
    int r = v->shape.rank - 2;
    int64_t dim = v->shape.dim[r], stride = v->stride[r];
    v->shape.dim[r] = v->shape.dim[r + 1];
    v->stride[r] = v->stride[r + 1];
    v->shape.dim[r + 1] = dim;
    v->stride[r + 1] = stride;
    return m;
}

/* A sum of products of integers, modulo 2^64. */
static uint64_t whole_dot(const struct mase_tensor *a, int64_t oa, int64_t sa,
                          const struct mase_tensor *b, int64_t ob, int64_t sb, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += mase_whole_get(a, oa + k * sa) * mase_whole_get(b, ob + k * sb);
    return sum;
}

/* out = alpha a b + beta add. All views have the same leading dimensions. */
static void product(struct mase_tensor *out, const struct matrix *a, const struct matrix *b,
                    double alpha, const struct matrix *add, double beta)
{
    int r = a->view.shape.rank - 2;
    int64_t rows = a->view.shape.dim[r], inner = a->view.shape.dim[r + 1];
    int64_t columns = b->view.shape.dim[r + 1];
    const int64_t *sa = &a->view.stride[r], *sb = &b->view.stride[r], *sc = &add->view.stride[r];
    struct mase_nd w = mase_nd_dims(a->view.shape.dim, r);
    mase_nd_add_strides(&w, a->view.stride, 0);
    mase_nd_add_strides(&w, b->view.stride, 0);
    mase_nd_add_strides(&w, add->view.stride, 0);
    const bool whole = mase_is_whole(out->dtype);
    for (; w.i < w.count; mase_nd_next(&w)) {
        for (int64_t m = 0; m < rows; m++) {
            for (int64_t n = 0; n < columns; n++) {
                if (whole) {
                    uint64_t v = (uint64_t)(int64_t)alpha *
                                 whole_dot(a->tensor, w.off[0] + m * sa[0], sa[1], b->tensor,
                                           w.off[1] + n * sb[1], sb[0], inner);
                    if (add->tensor)
                        v += (uint64_t)(int64_t)beta *
                             mase_whole_get(add->tensor, w.off[2] + m * sc[0] + n * sc[1]);
                    mase_whole_set(out, (w.i * rows + m) * columns + n, v);
                    continue;
                }
                double v = alpha * dot(a->tensor, w.off[0] + m * sa[0], sa[1], b->tensor,
                                       w.off[1] + n * sb[1], sb[0], inner);
                if (add->tensor)
                    v += beta * ref_get(add->tensor, w.off[2] + m * sc[0] + n * sc[1]);
                ref_set(out, (w.i * rows + m) * columns + n, v);
            }
        }
    }
}

enum mase_status mase_forward_linear(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *w = mase_call_tensor(c, "weight");
    int64_t out = w->shape.dim[0], in = w->shape.dim[1];
    struct mase_shape flat = { .rank = 2, .dim = { 1, in } };
    for (int i = 0; i < x->shape.rank - 1; i++)
        flat.dim[0] *= x->shape.dim[i];
    struct mase_shape none = { 0 };
    struct matrix a = matrix_of(x, &flat, &none, flat.dim[0], in);
    struct matrix b = transposed(matrix_of(w, &w->shape, &none, out, in));
    const struct mase_tensor *bias = mase_call_tensor(c, "bias");
    struct matrix add = { 0 };
    if (bias)
        add = matrix_of(bias, &bias->shape, &none, flat.dim[0], out);
    product(ref_out(c), &a, &b, 1.0, &add, 1.0);
    return MASE_OK;
}

enum mase_status mase_forward_bilinear(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *x1 = mase_call_tensor(c, "input1");
    const struct mase_tensor *x2 = mase_call_tensor(c, "input2");
    const struct mase_tensor *w = mase_call_tensor(c, "weight"); // (O, I1, I2)
    const struct mase_tensor *bias = mase_call_tensor(c, "bias");
    int64_t O = w->shape.dim[0], I1 = w->shape.dim[1], I2 = w->shape.dim[2];
    int64_t count = mase_tensor_count(ref_out(c));
    for (int64_t k = 0; k < count; k++) {
        int64_t n = k / O, o = k % O;
        double sum = bias ? ref_get(bias, o) : 0.0;
        for (int64_t i = 0; i < I1; i++)
            sum += ref_get(x1, n * I1 + i) * dot(w, (o * I1 + i) * I2, 1, x2, n * I2, 1, I2);
        ref_set(ref_out(c), k, sum);
    }
    return MASE_OK;
}

/* matmul and bmm: a vector is a matrix of one row (on the left) or one column (on the right). */
enum mase_status mase_forward_matmul(struct mase_call *c, struct mase_err *err)
{
    (void)err;
    const struct mase_tensor *a = mase_arg_tensor(&c->param[0]);
    const struct mase_tensor *b = mase_arg_tensor(&c->param[1]);
    struct mase_shape sa = a->shape, sb = b->shape;
    if (sa.rank == 1)
        sa = (struct mase_shape){ .rank = 2, .dim = { 1, a->shape.dim[0] } };
    if (sb.rank == 1)
        sb = (struct mase_shape){ .rank = 2, .dim = { b->shape.dim[0], 1 } };
    struct mase_shape leading = mase_shape_part(&sa, 0, sa.rank - 2);
    struct mase_shape leading_b = mase_shape_part(&sb, 0, sb.rank - 2);
    mase_shape_widen(&leading, &leading_b);
    struct matrix ma = matrix_of(a, &sa, &leading, sa.dim[sa.rank - 2], sa.dim[sa.rank - 1]);
    struct matrix mb = matrix_of(b, &sb, &leading, sb.dim[sb.rank - 2], sb.dim[sb.rank - 1]);
    product(ref_out(c), &ma, &mb, 1.0, &(struct matrix){ 0 }, 0.0);
    return MASE_OK;
}

/* addmm and baddbmm. */
enum mase_status mase_forward_addmm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *t = mase_arg_tensor(&c->param[0]);
    const struct mase_tensor *a = mase_arg_tensor(&c->param[1]);
    const struct mase_tensor *b = mase_arg_tensor(&c->param[2]);
    double alpha, beta;
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    MASE_TRY(mase_call_float(c, &beta, "beta", err));
    struct matrix ma = { a, mase_view_of(&a->shape) }, mb = { b, mase_view_of(&b->shape) };
    struct matrix add = { t, mase_view_broadcast(&t->shape, &ref_out(c)->shape) };
    if (beta == 0.0)
        add.tensor = NULL; /* not even its NaNs count */
    product(ref_out(c), &ma, &mb, alpha, &add, beta);
    return MASE_OK;
}

enum mase_status mase_forward_gemm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *a = mase_call_tensor(c, "a"), *b = mase_call_tensor(c, "b");
    const struct mase_tensor *t = mase_call_tensor(c, "c");
    double alpha, beta;
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    MASE_TRY(mase_call_float(c, &beta, "beta", err));
    struct matrix ma = { a, mase_view_of(&a->shape) }, mb = { b, mase_view_of(&b->shape) };
    struct matrix add = { 0 };
    if (mase_call_flag(c, "transA"))
        ma = transposed(ma);
    if (mase_call_flag(c, "transB"))
        mb = transposed(mb);
    if (t)
        add = (struct matrix){ t, mase_view_broadcast(&t->shape, &ref_out(c)->shape) };
    product(ref_out(c), &ma, &mb, alpha, &add, beta);
    return MASE_OK;
}

/* ---- attention ---- */

/* Scores of one query row to weights, in place. A row that is masked everywhere gives zeros. */
static void softmax_row(double *score, int64_t n)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t s = 0; s < n; s++)
        top = score[s] > top ? score[s] : top;
    for (int64_t s = 0; s < n; s++) {
        score[s] = top == -INFINITY ? 0.0 : exp(score[s] - top);
        sum += score[s];
    }
    for (int64_t s = 0; s < n && sum > 0.0; s++)
        score[s] /= sum;
}

static double mask_value(const struct mase_tensor *mask, int64_t off)
{
    double v = ref_get(mask, off);
    if (mask->dtype == MASE_DTYPE_BOOL)
        return v != 0.0 ? 0.0 : -INFINITY;
    return v;
}

struct attention {
    struct matrix q, k, v, mask; // (..., L, E) (..., S, E) (..., S, V) (..., L, S)
    int64_t L, S, E, V;
    double scale;
    bool causal;
    double *score; // (S) of the row at hand
};

static enum mase_status attention_of(const struct mase_call *c, struct attention *a,
                                     const struct mase_shape *leading, struct mase_err *err)
{
    const struct mase_tensor *q = mase_call_tensor(c, "query"), *k = mase_call_tensor(c, "key");
    const struct mase_tensor *v = mase_call_tensor(c, "value");
    const struct mase_tensor *mask = mase_call_tensor(c, "attn_mask");
    *a = (struct attention){
        .L = q->shape.dim[q->shape.rank - 2],
        .S = k->shape.dim[k->shape.rank - 2],
        .E = q->shape.dim[q->shape.rank - 1],
        .V = v->shape.dim[v->shape.rank - 1],
        .causal = mase_call_flag(c, "is_causal"),
    };
    a->q = matrix_of(q, &q->shape, leading, a->L, a->E);
    a->k = matrix_of(k, &k->shape, leading, a->S, a->E);
    a->v = matrix_of(v, &v->shape, leading, a->S, a->V);
    if (mask)
        a->mask = matrix_of(mask, &mask->shape, leading, a->L, a->S);
    a->score = mase_new_array(c->arena, double, (size_t)a->S);
    a->scale = 1.0 / sqrt((double)a->E);
    if (mase_arg_present(mase_call_arg(c, "scale")))
        return mase_call_float(c, &a->scale, "scale", err);
    return MASE_OK;
}

/* Weights of one query row; the walk says where its matrices start. */
static void attend(const struct attention *a, const struct mase_nd *w, int64_t l)
{
    const int64_t *step = &a->mask.view.stride[w->rank];
    for (int64_t s = 0; s < a->S; s++) {
        double score = a->scale * dot(a->q.tensor, w->off[0] + l * a->E, 1, a->k.tensor,
                                      w->off[1] + s * a->E, 1, a->E);
        if (a->mask.tensor)
            score += mask_value(a->mask.tensor, w->off[3] + l * step[0] + s * step[1]);
        a->score[s] = a->causal && s > l ? -INFINITY : score;
    }
    softmax_row(a->score, a->S);
}

enum mase_status mase_forward_attention(struct mase_call *c, struct mase_err *err)
{
    struct mase_tensor *out = ref_out(c);
    struct mase_shape leading = mase_shape_part(&out->shape, 0, out->shape.rank - 2);
    struct attention a;
    MASE_TRY(mase_check_dropout(c, false, err));
    MASE_TRY(attention_of(c, &a, &leading, err));
    struct mase_nd w = mase_nd(&leading);
    mase_nd_add_strides(&w, a.q.view.stride, 0);
    mase_nd_add_strides(&w, a.k.view.stride, 0);
    mase_nd_add_strides(&w, a.v.view.stride, 0);
    mase_nd_add_strides(&w, a.mask.view.stride, 0);
    for (; w.i < w.count; mase_nd_next(&w)) {
        for (int64_t l = 0; l < a.L; l++) {
            attend(&a, &w, l);
            for (int64_t j = 0; j < a.V; j++) {
                double sum = 0.0;
                for (int64_t s = 0; s < a.S; s++)
                    sum += a.score[s] * ref_get(a.v.tensor, w.off[2] + s * a.V + j);
                ref_set(out, (w.i * a.L + l) * a.V + j, sum);
            }
        }
    }
    return MASE_OK;
}

/* ---- embedding ---- */

enum mase_status mase_forward_embedding(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *index = mase_call_tensor(c, "input");
    const struct mase_tensor *w = mase_call_tensor(c, "weight");
    size_t row = (size_t)w->shape.dim[1] * (size_t)mase_dtypes[w->dtype].size;
    int64_t n = mase_tensor_count(index);
    const int64_t each = index->shape.rank ? n / index->shape.dim[0] : 1; /* of a sample */
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = index->dtype == MASE_I64 ? ((const int64_t *)index->data)[i]
                                                    : ((const int32_t *)index->data)[i];
        if (at < 0 || at >= w->shape.dim[0])
            return mase_ref_bad_index(c, (double)at, i / each, w->shape.dim[0], err);
        memcpy((char *)ref_out(c)->data + (size_t)i * row, (char *)w->data + (size_t)at * row, row);
    }
    return MASE_OK;
}

enum mase_status mase_forward_outer(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input"), *y = mase_call_tensor(c, "vec2");
    const int64_t columns = y->shape.dim[0];
    (void)err;
    for (int64_t i = 0; i < mase_tensor_count(ref_out(c)); i++)
        ref_set(ref_out(c), i, ref_get(x, i / columns) * ref_get(y, i % columns));
    return MASE_OK;
}

/* ---- einsum ---- */

/* All labels: those of the result, then those that are summed over. */
static int all_labels(const struct mase_einsum *e, int *label)
{
    int count = e->out_rank;
    memcpy(label, e->out, sizeof e->out);
    for (int i = 0; i < e->operands; i++)
        for (int d = 0; d < e->rank[i]; d++) {
            int k = 0;
            while (k < count && label[k] != e->label[i][d])
                k++;
            label[k] = e->label[i][d];
            count += k == count;
        }
    return count;
}

enum mase_status mase_forward_einsum(struct mase_call *c, struct mase_err *err)
{
    struct mase_einsum e;
    int label[MASE_EINSUM_OPERANDS * MASE_MAX_RANK];
    int64_t dim[MASE_EINSUM_OPERANDS * MASE_MAX_RANK], inner = 1;
    MASE_TRY(mase_einsum_read(c, &e, err));
    const int labels = all_labels(&e, label);
    for (int i = 0; i < labels; i++) {
        dim[i] = e.size[label[i]];
        inner *= i < e.out_rank ? 1 : dim[i];
    }
    struct mase_nd w = mase_nd_dims(dim, labels);
    for (int i = 0; i < e.operands; i++) {
        const struct mase_view v = mase_view_of(&c->param[1].items[i].tensor->shape);
        int64_t stride[MASE_ND_RANK] = { 0 };
        for (int k = 0; k < labels; k++)
            for (int d = 0; d < e.rank[i]; d++)
                if (e.label[i][d] == label[k] && v.shape.dim[d] != 1)
                    stride[k] += v.stride[d];
        mase_nd_add_strides(&w, stride, 0);
    }
    double sum = 0.0;
    for (int64_t i = 0; inner == 0 && i < mase_tensor_count(ref_out(c)); i++)
        ref_set(ref_out(c), i, 0.0);
    for (; w.i < w.count; mase_nd_next(&w)) {
        double product = 1.0;
        for (int i = 0; i < e.operands; i++)
            product *= ref_get(c->param[1].items[i].tensor, w.off[i]);
        sum = w.i % inner ? sum + product : product;
        if (w.i % inner == inner - 1)
            ref_set(ref_out(c), w.i / inner, sum);
    }
    return MASE_OK;
}
