/*
 * op_matmul.c - matrix products: within each sample, or of samples with a parameter or constant.
 *
 * addmm and its kin are a product, then a weighted sum; bilinear is an outer product within each
 * sample, then a dense layer.
 */
#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"
#include "exec/step/corr_step.h"
#include "exec/step/product.h"
#include "exec/step/rowmap.h"

static const struct mase_step_kind inner_kind = { .name = "product" };

/* ---- with a plain matrix ---- */

/* Give the step's correlation the weights of plain input 1. */
static void use_plain(struct mase_step *s, struct mase_corr_step *k)
{
    k->weight = s->in[1]->weight;
    k->constant = k->weight ? NULL : s->in[1]->x;
    k->dw = k->weight ? k->weight->dx : NULL;
}

/* x (.., K) times w (K, J), or w (J, K) when turned. */
static void times_plain(struct mase_step *s, bool turned)
{
    struct mase_corr_step *k = s->own = mase_new(&s->plan->arena, struct mase_corr_step);
    const struct mase_shape *x = &s->in[0]->tensor->shape;
    const long K = (long)x->dim[x->rank - 1], J = (long)s->in[1]->rows / K;
    struct mase_corr *r = &k->corr;
    use_plain(s, k);
    k->scatter = !turned;
    mase_corr_positions(s, r, (long)s->in[0]->rows / K);
    r->O = turned ? J : K;
    r->C = turned ? K : J;
    r->a_step = r->b_step = 1;
    for (long p = 0; p < r->P; p++) {
        r->a_row[p] = (int32_t)(p * r->O);
        r->b_row[p] = (int32_t)(p * r->C);
    }
    mase_corr_step_set(s);
}

/* w (I, K) times x (.., K, J): a position is a column. */
static void plain_times(struct mase_step *s)
{
    struct mase_corr_step *k = s->own = mase_new(&s->plan->arena, struct mase_corr_step);
    const struct mase_shape *x = &s->in[0]->tensor->shape;
    const long J = (long)x->dim[x->rank - 1], K = (long)x->dim[x->rank - 2];
    struct mase_corr *r = &k->corr;
    use_plain(s, k);
    mase_corr_positions(s, r, (long)s->in[0]->rows / K);
    r->O = (long)s->in[1]->rows / K;
    r->C = K;
    r->a_step = r->b_step = J;
    for (long p = 0; p < r->P; p++) {
        r->a_row[p] = (int32_t)(p / J * r->O * J + p % J);
        r->b_row[p] = (int32_t)(p / J * K * J + p % J);
    }
    mase_corr_step_set(s);
}

/* ---- any product ---- */

static enum mase_status plain_matrix(struct mase_step *s, const struct mase_tensor *w, int least,
                                     struct mase_err *err)
{
    if (w->shape.rank < least || w->shape.rank > 2)
        return mase_call_fail(s->call, err, "a plan multiplies by a matrix, got %s",
                              mase_show_shape(s->call, &w->shape));
    return mase_step_operand(s, w, err);
}

/* Both have lanes: a product within each sample. A vector among parameters is a matrix of one row
 * or column; among samples it has a component of each, which is no product within one. */
static enum mase_status times_lanes(struct mase_step *s, const struct mase_tensor *a,
                                    const struct mase_tensor *b, bool turned, struct mase_err *err)
{
    const int first = mase_plan_first(s->plan);
    struct mase_shape left = mase_shape_part(&a->shape, first, a->shape.rank);
    struct mase_shape right = mase_shape_part(&b->shape, first, b->shape.rank);
    if (first == 0 && left.rank == 1)
        left = (struct mase_shape){ 2, { 1, left.dim[0] } };
    if (first == 0 && right.rank == 1)
        mase_shape_push(&right, 1);
    if (left.rank < 2 || right.rank < 2 || (first == 1 && left.rank != right.rank))
        return mase_call_fail(s->call, err, "mixes the samples of a batch, which a plan cannot");
    struct mase_shape leading = mase_shape_part(&left, 0, left.rank - 2);
    const struct mase_shape other = mase_shape_part(&right, 0, right.rank - 2);
    if (!mase_shape_widen(&leading, &other))
        return mase_call_fail(s->call, err, "the leading dimensions differ");
    MASE_TRY(mase_step_operand(s, a, err));
    MASE_TRY(mase_step_operand(s, b, err));
    mase_product_set(s, &left, &right, &leading, turned && b->shape.rank > 1, 1.0f);
    return MASE_OK;
}

/* s computes a times b; turned: b's last two dimensions are swapped. */
static enum mase_status multiply(struct mase_step *s, const struct mase_tensor *a,
                                 const struct mase_tensor *b, bool turned, struct mase_err *err)
{
    const struct mase_slot *left = mase_step_slot(s, a), *right = mase_step_slot(s, b);
    if (left && left->lanes && right && right->lanes)
        return times_lanes(s, a, b, turned, err);
    if (left && left->lanes) {
        if (a->shape.rank < 2)
            return mase_call_fail(s->call, err,
                                  "mixes the samples of a batch, which a plan cannot");
        MASE_TRY(mase_step_operand(s, a, err));
        MASE_TRY(plain_matrix(s, b, 1, err));
        times_plain(s, turned && b->shape.rank == 2);
        return MASE_OK;
    }
    if (b->shape.rank < 3 || turned)
        return mase_call_fail(s->call, err, "mixes the samples of a batch, which a plan cannot");
    MASE_TRY(mase_step_operand(s, b, err));
    MASE_TRY(plain_matrix(s, a, 2, err));
    plain_times(s);
    return MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    return multiply(s, mase_arg_tensor(&c->param[0]), mase_arg_tensor(&c->param[1]), false, err);
}

/* ---- alpha a b + beta c ---- */

/* s = alpha times its input 0 + beta times t, broadcast; t may be NULL. */
static enum mase_status weighted_sum(struct mase_step *s, const struct mase_tensor *t, double alpha,
                                     double beta, struct mase_err *err)
{
    struct mase_term_list terms = { 0 };
    for (int64_t r = 0; r < s->out->rows; r++)
        mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)r, (int32_t)r, (float)alpha });
    if (t && beta != 0.0) {
        MASE_TRY(mase_step_operand(s, t, err));
        const struct mase_shape out = mase_slot_rows(s->plan, s->out);
        const struct mase_shape own = mase_slot_rows(s->plan, s->in[1]);
        struct mase_nd w = mase_nd(&out);
        mase_nd_add(&w, &own);
        for (; w.i < w.count; mase_nd_next(&w))
            mase_rowmap_add(s, &terms,
                            (struct mase_term){ 1, (int32_t)w.i, (int32_t)w.off[0], (float)beta });
    }
    mase_rowmap_set(s, &terms, 1, NULL);
    return MASE_OK;
}

static enum mase_status prepare_sum(struct mase_step *s, struct mase_call *c, int a, int b, int t,
                                    bool turned, struct mase_err *err)
{
    double alpha, beta;
    MASE_TRY(mase_call_float(c, &alpha, "alpha", err));
    MASE_TRY(mase_call_float(c, &beta, "beta", err));
    struct mase_step *product = mase_step_before(s, &inner_kind, &s->out->tensor->shape);
    MASE_TRY(multiply(product, mase_arg_tensor(&c->param[a]), mase_arg_tensor(&c->param[b]), turned,
                      err));
    mase_plan_add_step(s->plan, product);
    mase_step_add_input(s, product->out);
    return weighted_sum(s, mase_arg_tensor(&c->param[t]), alpha, beta, err);
}

static enum mase_status prepare_addmm(struct mase_step *s, struct mase_call *c,
                                      struct mase_err *err)
{
    return prepare_sum(s, c, 1, 2, 0, false, err);
}

static enum mase_status prepare_gemm(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    if (mase_call_flag(c, "transA"))
        return mase_call_fail(c, err, "transA mixes the samples of a batch, which a plan cannot");
    return prepare_sum(s, c, 0, 1, 2, mase_call_flag(c, "transB"), err);
}

/* ---- bilinear ---- */

static enum mase_status prepare_bilinear(struct mase_step *s, struct mase_call *c,
                                         struct mase_err *err)
{
    struct mase_corr_step *k = mase_new(&s->plan->arena, struct mase_corr_step);
    MASE_TRY(mase_step_need_weight(s, &k->weight, "weight", err));
    MASE_TRY(mase_step_weight(s, &k->b, "bias", err));
    const struct mase_shape *w = &k->weight->shape; // (O, I1, I2)
    const long positions = (long)(s->out->rows / w->dim[0]);
    /* At each position the product of a column (I1, 1) and a row (1, I2). */
    const struct mase_shape leading = { 1, { positions } };
    const struct mase_shape outer = { 4, { s->plan->batch, positions, w->dim[1], w->dim[2] } };
    struct mase_step *product = mase_step_before(s, &inner_kind, &outer);
    MASE_TRY(mase_step_input(product, c, "input1", err));
    MASE_TRY(mase_step_input(product, c, "input2", err));
    mase_outer_set(product, &leading, (long)w->dim[1], (long)w->dim[2]);
    mase_plan_add_step(s->plan, product);
    mase_step_add_input(s, product->out);
    k->dw = k->weight->dx;
    k->corr.O = (long)w->dim[0];
    k->corr.C = (long)(w->dim[1] * w->dim[2]);
    mase_corr_positions(s, &k->corr, positions);
    k->corr.a_step = k->corr.b_step = 1;
    for (long p = 0; p < positions; p++) {
        k->corr.a_row[p] = (int32_t)(p * k->corr.O);
        k->corr.b_row[p] = (int32_t)(p * k->corr.C);
    }
    s->own = k;
    mase_corr_step_set(s);
    return MASE_OK;
}

const struct mase_step_kind mase_step_matmul = { .name = "matmul",
                                                 .prepare = prepare,
                                                 .derives = true };
const struct mase_step_kind mase_step_addmm = { .name = "addmm",
                                                .prepare = prepare_addmm,
                                                .derives = true };
const struct mase_step_kind mase_step_gemm = { .name = "gemm",
                                               .prepare = prepare_gemm,
                                               .derives = true };
const struct mase_step_kind mase_step_bilinear = { .name = "bilinear",
                                                   .prepare = prepare_bilinear };
