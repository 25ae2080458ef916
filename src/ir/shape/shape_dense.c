/*
 * shape_dense.c - rules of dense layers, matrix products, attention and embeddings.
 */
#include "ir/shape/shape.h"

static int64_t last(const struct mase_shape *s)
{
    return s->dim[s->rank - 1];
}

/* The shape without its last n dimensions. */
static struct mase_shape leading(const struct mase_shape *s, int n)
{
    return mase_shape_part(s, 0, s->rank - n);
}

static enum mase_status need_rank(const struct mase_call *c, const struct mase_tensor *t,
                                  const char *name, int rank, struct mase_err *err)
{
    if (t->shape.rank == rank)
        return MASE_OK;
    return mase_call_fail(c, err, "%s must have %d dimensions, got %s", name, rank,
                          mase_show_shape(c, &t->shape));
}

/* A bias, if there is one, has one value per output feature. */
static enum mase_status check_bias(const struct mase_call *c, int64_t features,
                                   struct mase_err *err)
{
    const struct mase_tensor *b = mase_call_tensor(c, "bias");
    struct mase_shape want = { .rank = 1, .dim = { features } };
    if (!b || mase_shape_equal(&b->shape, &want))
        return MASE_OK;
    return mase_call_fail(c, err, "bias %s does not fit %lld output features",
                          mase_show_shape(c, &b->shape), (long long)features);
}

enum mase_status mase_shape_linear(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *w;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &w, "weight", err));
    MASE_TRY(need_rank(c, w, "weight", 2, err));
    if (x->shape.rank == 0 || last(&x->shape) != w->shape.dim[1])
        return mase_call_fail(c, err, "input %s must end in the weight's %lld features (weight %s)",
                              mase_show_shape(c, &x->shape), (long long)w->shape.dim[1],
                              mase_show_shape(c, &w->shape));
    MASE_TRY(check_bias(c, w->shape.dim[0], err));
    struct mase_shape out = leading(&x->shape, 1);
    mase_shape_push(&out, w->shape.dim[0]);
    mase_call_result(c, x->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_bilinear(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x1, *x2, *w;
    MASE_TRY(mase_call_need(c, &x1, "input1", err));
    MASE_TRY(mase_call_need(c, &x2, "input2", err));
    MASE_TRY(mase_call_need(c, &w, "weight", err));
    MASE_TRY(need_rank(c, w, "weight", 3, err));
    struct mase_shape lead1 = x1->shape.rank ? leading(&x1->shape, 1) : x1->shape;
    struct mase_shape lead2 = x2->shape.rank ? leading(&x2->shape, 1) : x2->shape;
    bool fit = x1->shape.rank && x2->shape.rank && mase_shape_equal(&lead1, &lead2) &&
               last(&x1->shape) == w->shape.dim[1] && last(&x2->shape) == w->shape.dim[2];
    if (!fit)
        return mase_call_fail(c, err, "inputs %s and %s do not fit the weight %s (out, in1, in2)",
                              mase_show_shape(c, &x1->shape), mase_show_shape(c, &x2->shape),
                              mase_show_shape(c, &w->shape));
    MASE_TRY(check_bias(c, w->shape.dim[0], err));
    mase_shape_push(&lead1, w->shape.dim[0]);
    mase_call_result(c, x1->dtype, &lead1);
    return MASE_OK;
}

static enum mase_status product_error(const struct mase_call *c, const struct mase_shape *a,
                                      const struct mase_shape *b, struct mase_err *err)
{
    return mase_call_fail(c, err, "matrices %s and %s cannot be multiplied", mase_show_shape(c, a),
                          mase_show_shape(c, b));
}

/* The shape of a @ b: leading dimensions broadcast, a vector counts as a row or a column. */
static enum mase_status product(const struct mase_call *c, struct mase_shape *out,
                                const struct mase_shape *a, const struct mase_shape *b,
                                struct mase_err *err)
{
    if (a->rank == 0 || b->rank == 0)
        return mase_call_fail(c, err, "operands need at least one dimension, got %s and %s",
                              mase_show_shape(c, a), mase_show_shape(c, b));
    int64_t inner = b->dim[b->rank == 1 ? 0 : b->rank - 2];
    if (last(a) != inner)
        return product_error(c, a, b, err);
    struct mase_shape lead_b = leading(b, b->rank > 1 ? 2 : 1);
    *out = leading(a, a->rank > 1 ? 2 : 1);
    if (!mase_shape_widen(out, &lead_b))
        return product_error(c, a, b, err);
    if (a->rank > 1)
        mase_shape_push(out, a->dim[a->rank - 2]);
    if (b->rank > 1)
        mase_shape_push(out, last(b));
    return MASE_OK;
}

static enum mase_status product_type(const struct mase_call *c, const struct mase_tensor *a,
                                     const struct mase_tensor *b, struct mase_err *err)
{
    if (a->dtype == b->dtype)
        return MASE_OK;
    return mase_call_fail(c, err, "operands must have one type, got %s and %s",
                          mase_dtypes[a->dtype].name, mase_dtypes[b->dtype].name);
}

enum mase_status mase_shape_matmul(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *a, *b;
    struct mase_shape out;
    MASE_TRY(mase_call_need(c, &a, "input", err));
    MASE_TRY(mase_call_need(c, &b, "other", err));
    MASE_TRY(product_type(c, a, b, err));
    MASE_TRY(product(c, &out, &a->shape, &b->shape, err));
    mase_call_result(c, a->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_bmm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *a, *b;
    struct mase_shape out;
    MASE_TRY(mase_call_need(c, &a, "input", err));
    MASE_TRY(mase_call_need(c, &b, "mat2", err));
    MASE_TRY(need_rank(c, a, "input", 3, err));
    MASE_TRY(need_rank(c, b, "mat2", 3, err));
    MASE_TRY(product_type(c, a, b, err));
    if (a->shape.dim[0] != b->shape.dim[0])
        return product_error(c, &a->shape, &b->shape, err);
    MASE_TRY(product(c, &out, &a->shape, &b->shape, err));
    mase_call_result(c, a->dtype, &out);
    return MASE_OK;
}

/* addmm and baddbmm: parameters 1 and 2 are the product, 0 is added. */
enum mase_status mase_shape_addmm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *t, *a, *b;
    const char *name[2] = { c->sig->param[1].name, c->sig->param[2].name };
    int rank = c->node->op == MASE_OP_baddbmm ? 3 : 2;
    struct mase_shape out;
    MASE_TRY(mase_call_need(c, &t, "input", err));
    MASE_TRY(mase_call_need(c, &a, name[0], err));
    MASE_TRY(mase_call_need(c, &b, name[1], err));
    MASE_TRY(need_rank(c, a, name[0], rank, err));
    MASE_TRY(need_rank(c, b, name[1], rank, err));
    MASE_TRY(product_type(c, a, b, err));
    MASE_TRY(product(c, &out, &a->shape, &b->shape, err));
    if (!mase_shape_fits(&t->shape, &out))
        return mase_call_fail(c, err, "input %s cannot be broadcast to the product %s",
                              mase_show_shape(c, &t->shape), mase_show_shape(c, &out));
    mase_call_result(c, a->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_gemm(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *a, *b, *add = mase_call_tensor(c, "c");
    MASE_TRY(mase_call_need(c, &a, "a", err));
    MASE_TRY(mase_call_need(c, &b, "b", err));
    MASE_TRY(need_rank(c, a, "a", 2, err));
    MASE_TRY(need_rank(c, b, "b", 2, err));
    MASE_TRY(product_type(c, a, b, err));
    bool ta = mase_call_flag(c, "transA"), tb = mase_call_flag(c, "transB");
    if (a->shape.dim[!ta] != b->shape.dim[tb])
        return mase_call_fail(c, err, "matrices %s%s and %s%s cannot be multiplied",
                              mase_show_shape(c, &a->shape), ta ? " transposed" : "",
                              mase_show_shape(c, &b->shape), tb ? " transposed" : "");
    struct mase_shape out = { .rank = 2, .dim = { a->shape.dim[ta], b->shape.dim[!tb] } };
    if (add && !mase_shape_fits(&add->shape, &out))
        return mase_call_fail(c, err, "c %s cannot be broadcast to the product %s",
                              mase_show_shape(c, &add->shape), mase_show_shape(c, &out));
    mase_call_result(c, a->dtype, &out);
    return MASE_OK;
}

static enum mase_status check_mask(const struct mase_call *c, const struct mase_shape *scores,
                                   struct mase_err *err)
{
    const struct mase_tensor *mask = mase_call_tensor(c, "attn_mask");
    if (!mask)
        return MASE_OK;
    if (mase_call_flag(c, "is_causal"))
        return mase_call_fail(c, err, "attn_mask and is_causal exclude each other");
    if (!mase_shape_fits(&mask->shape, scores))
        return mase_call_fail(c, err, "attn_mask %s cannot be broadcast to the scores %s",
                              mase_show_shape(c, &mask->shape), mase_show_shape(c, scores));
    return MASE_OK;
}

enum mase_status mase_shape_attention(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *t[3]; // query (..., L, E), key (..., S, E), value (..., S, V)
    static const char *const name[3] = { "query", "key", "value" };
    struct mase_shape lead = { 0 };
    for (int i = 0; i < 3; i++) {
        MASE_TRY(mase_call_need(c, &t[i], name[i], err));
        MASE_TRY(mase_call_float_tensor(c, t[i], name[i], err));
        if (t[i]->shape.rank < 2)
            return mase_call_fail(c, err, "%s needs at least 2 dimensions, got %s", name[i],
                                  mase_show_shape(c, &t[i]->shape));
    }
    const struct mase_shape *q = &t[0]->shape, *k = &t[1]->shape, *v = &t[2]->shape;
    bool fit = last(q) == last(k) && k->dim[k->rank - 2] == v->dim[v->rank - 2];
    for (int i = 0; i < 3; i++) {
        struct mase_shape own = leading(&t[i]->shape, 2);
        fit = fit && mase_shape_widen(&lead, &own);
    }
    if (!fit)
        return mase_call_fail(c, err, "query %s, key %s and value %s do not fit together",
                              mase_show_shape(c, q), mase_show_shape(c, k), mase_show_shape(c, v));
    mase_shape_push(&lead, q->dim[q->rank - 2]);
    struct mase_shape scores = lead;
    mase_shape_push(&scores, k->dim[k->rank - 2]);
    MASE_TRY(check_mask(c, &scores, err));
    mase_shape_push(&lead, last(v));
    mase_call_result(c, t[0]->dtype, &lead);
    return MASE_OK;
}

enum mase_status mase_shape_embedding(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *index, *w;
    MASE_TRY(mase_call_need(c, &index, "input", err));
    MASE_TRY(mase_call_need(c, &w, "weight", err));
    MASE_TRY(need_rank(c, w, "weight", 2, err));
    if (index->dtype != MASE_I64 && index->dtype != MASE_I32)
        return mase_call_fail(c, err, "input must be integers, got %s%s",
                              mase_dtypes[index->dtype].name, mase_show_shape(c, &index->shape));
    if (mase_arg_present(mase_call_arg(c, "padding_idx"))) {
        int64_t pad;
        MASE_TRY(mase_call_int(c, &pad, "padding_idx", err));
        if (pad < -w->shape.dim[0] || pad >= w->shape.dim[0])
            return mase_call_fail(c, err, "padding_idx = %lld is outside the %lld rows",
                                  (long long)pad, (long long)w->shape.dim[0]);
    }
    if (mase_arg_present(mase_call_arg(c, "max_norm")))
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: embedding: max_norm is not available",
                         c->node->name);
    struct mase_shape out = index->shape;
    MASE_TRY(mase_call_rank(c, out.rank + 1, err));
    mase_shape_push(&out, w->shape.dim[1]);
    mase_call_result(c, w->dtype, &out);
    return MASE_OK;
}

enum mase_status mase_shape_outer(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *y;
    MASE_TRY(mase_call_need(c, &x, "input", err));
    MASE_TRY(mase_call_need(c, &y, "vec2", err));
    MASE_TRY(need_rank(c, x, "input", 1, err));
    MASE_TRY(need_rank(c, y, "vec2", 1, err));
    const struct mase_shape out = { .rank = 2, .dim = { x->shape.dim[0], y->shape.dim[0] } };
    mase_call_result(c, mase_dtype_promote(x->dtype, y->dtype), &out);
    return MASE_OK;
}

/* ---- bags of rows ---- */

enum mase_status mase_bag_mode(const struct mase_call *c, enum mase_bag *mode, struct mase_err *err)
{
    static const char *const names[] = { "sum", "mean", "max" };
    const struct mase_arg *given = mase_call_arg(c, "mode");
    for (int i = 0; i < 3 && given->kind == MASE_ARG_TEXT; i++)
        if (mase_streq(given->s, names[i])) {
            *mode = (enum mase_bag)i;
            return MASE_OK;
        }
    return mase_call_fail(c, err, "mode must be 'sum', 'mean' or 'max', got %s",
                          mase_show_arg(c, given));
}

enum mase_status mase_bag_padding(const struct mase_call *c, int64_t *row, struct mase_err *err)
{
    const int64_t rows = mase_call_tensor(c, "weight")->shape.dim[0];
    *row = -1;
    if (!mase_arg_present(mase_call_arg(c, "padding_idx")))
        return MASE_OK;
    MASE_TRY(mase_call_int(c, row, "padding_idx", err));
    if (*row < -rows || *row >= rows)
        return mase_call_fail(c, err, "padding_idx = %lld is outside the %lld rows",
                              (long long)*row, (long long)rows);
    *row += *row < 0 ? rows : 0;
    return MASE_OK;
}

/* Refuse unsupported arguments. */
static enum mase_status check_bag(const struct mase_call *c, enum mase_bag mode, int64_t padding,
                                  struct mase_err *err)
{
    const char *why = NULL;
    if (mase_call_tensor(c, "offsets"))
        why = "offsets are not available: give rows of one length, (samples, length)";
    else if (mase_arg_present(mase_call_arg(c, "max_norm")))
        why = "max_norm is not available";
    else if (mase_call_flag(c, "scale_grad_by_freq"))
        why = "scale_grad_by_freq is not available";
    else if (mode == MASE_BAG_MAX && padding >= 0)
        why = "padding_idx is not available for mode = 'max'";
    else if (mode != MASE_BAG_SUM && mase_call_tensor(c, "per_sample_weights"))
        why = "per_sample_weights are for mode = 'sum'";
    if (!why)
        return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED, "%s: embedding_bag: %s", c->node->name, why);
}

enum mase_status mase_shape_embedding_bag(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *index, *w, *scale = mase_call_tensor(c, "per_sample_weights");
    enum mase_bag mode;
    int64_t padding;
    MASE_TRY(mase_call_need(c, &index, "input", err));
    MASE_TRY(mase_call_need(c, &w, "weight", err));
    MASE_TRY(need_rank(c, w, "weight", 2, err));
    MASE_TRY(mase_bag_mode(c, &mode, err));
    MASE_TRY(mase_bag_padding(c, &padding, err));
    MASE_TRY(check_bag(c, mode, padding, err));
    MASE_TRY(need_rank(c, index, "input", 2, err));
    if (index->dtype != MASE_I64 && index->dtype != MASE_I32)
        return mase_call_fail(c, err, "input must be integers, got %s%s",
                              mase_dtypes[index->dtype].name, mase_show_shape(c, &index->shape));
    if (index->shape.dim[1] < 1)
        return mase_call_fail(c, err, "input %s has no rows to join",
                              mase_show_shape(c, &index->shape));
    if (scale && (!mase_shape_equal(&scale->shape, &index->shape) || scale->dtype != w->dtype))
        return mase_call_fail(c, err, "per_sample_weights %s must have the shape of the input %s",
                              mase_show_shape(c, &scale->shape), mase_show_shape(c, &index->shape));
    const struct mase_shape out = { .rank = 2, .dim = { index->shape.dim[0], w->shape.dim[1] } };
    mase_call_result(c, w->dtype, &out);
    return MASE_OK;
}
