/*
 * op_attention.c - scaled dot product attention as the steps it is made of: scores, mask, softmax,
 * and a product with the values.
 */
#include <math.h>

#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"
#include "exec/step/dropout.h"
#include "exec/step/product.h"
#include "exec/step/rowmap.h"
#include "exec/step/softmax.h"

static const struct mase_step_kind inner_kind = { .name = "attention" };

/* The scores with the mask added: -inf where a key is hidden. */
static enum mase_status add_mask(struct mase_step *s, const struct mase_tensor *mask, bool causal,
                                 struct mase_err *err)
{
    struct mase_term_list terms = { 0 };
    struct mase_shape all = s->out->tensor->shape;
    const int64_t S = all.dim[all.rank - 1], L = all.dim[all.rank - 2];
    float *shift = mase_new_array(&s->plan->arena, float, (size_t)s->out->rows);
    const bool truth = mask && mask->dtype == MASE_DTYPE_BOOL;
    if (mask && !truth)
        MASE_TRY(mase_step_operand(s, mask, err));
    if (truth && !mask->data)
        return mase_call_fail(s->call, err, "a plan needs a mask that is constant");
    all.dim[0] = 1;
    struct mase_nd w = mase_nd(&all);
    struct mase_shape own = mask ? mask->shape : (struct mase_shape){ 0 };
    if (mask && !truth)
        own = mase_slot_rows(s->plan, s->in[1]);
    mase_nd_add(&w, &own);
    for (; w.i < w.count; mase_nd_next(&w)) {
        const bool hidden =
            (causal && w.i % S > w.i / S % L) || (truth && mase_tensor_get(mask, w.off[0]) == 0.0);
        shift[w.i] = hidden ? -INFINITY : 0.0f;
        mase_rowmap_add(s, &terms, (struct mase_term){ 0, (int32_t)w.i, (int32_t)w.i, 1.0f });
        if (mask && !truth)
            mase_rowmap_add(s, &terms,
                            (struct mase_term){ 1, (int32_t)w.i, (int32_t)w.off[0], 1.0f });
    }
    mase_rowmap_set(s, &terms, 1, shift);
    return MASE_OK;
}

static enum mase_status scale_of(const struct mase_call *c, const struct mase_tensor *q,
                                 double *scale, struct mase_err *err)
{
    *scale = 1.0 / sqrt((double)q->shape.dim[q->shape.rank - 1]);
    if (mase_arg_present(mase_call_arg(c, "scale")))
        return mase_call_float(c, scale, "scale", err);
    return MASE_OK;
}

/* Samples must be apart from each other: of two dimensions the first is the length of a sequence,
 * even if it follows the batch. */
static enum mase_status check_ranks(const struct mase_call *c, const struct mase_shape *out,
                                    struct mase_err *err)
{
    static const char *const names[] = { "query", "key", "value" };
    for (int i = 0; i < 3; i++) {
        const struct mase_tensor *t;
        MASE_TRY(mase_call_need(c, &t, names[i], err));
        if (t->shape.rank < 3 || t->shape.rank != out->rank)
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: a plan attends within samples: query, key and value need the "
                             "same 3 or more dimensions, '%s' has %d",
                             c->node->name, names[i], t->shape.rank);
    }
    return MASE_OK;
}

/* A step of its own between two others. */
static struct mase_step *next_step(struct mase_step *s, const struct mase_shape *scores,
                                   struct mase_slot *in)
{
    struct mase_step *at = mase_step_before(s, &inner_kind, scores);
    mase_step_add_input(at, in);
    return at;
}

/* The scores as weights of the values: masked, normalised, dropped out. */
static enum mase_status weigh(struct mase_step *s, struct mase_slot **weights,
                              const struct mase_shape *scores, struct mase_err *err)
{
    const struct mase_tensor *mask = mase_call_tensor(s->call, "attn_mask");
    const bool causal = mase_call_flag(s->call, "is_causal");
    double p;
    MASE_TRY(mase_check_dropout(s->call, s->plan->train, err));
    MASE_TRY(mase_call_float(s->call, &p, "dropout_p", err));
    if (mask || causal) {
        struct mase_step *at = next_step(s, scores, *weights);
        MASE_TRY(add_mask(at, mask, causal, err));
        mase_plan_add_step(s->plan, at);
        *weights = at->out;
    }
    struct mase_step *at = next_step(s, scores, *weights);
    mase_softmax_set(at, scores->rank - 1, false, -3e38f);
    mase_plan_add_step(s->plan, at);
    *weights = at->out;
    if (s->plan->train && p != 0.0) {
        at = next_step(s, scores, *weights);
        MASE_TRY(mase_dropout_set(at, p, 1, err));
        mase_plan_add_step(s->plan, at);
        *weights = at->out;
    }
    return MASE_OK;
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    const struct mase_shape out = s->out->tensor->shape;
    MASE_TRY(check_ranks(c, &out, err));
    const struct mase_tensor *q = mase_call_tensor(c, "query"), *k = mase_call_tensor(c, "key");
    const struct mase_tensor *v = mase_call_tensor(c, "value");
    const struct mase_shape leading = mase_shape_part(&out, 1, out.rank - 2);
    const struct mase_shape qs = mase_shape_part(&q->shape, 1, out.rank);
    const struct mase_shape ks = mase_shape_part(&k->shape, 1, out.rank);
    const struct mase_shape vs = mase_shape_part(&v->shape, 1, out.rank);
    struct mase_shape scores = out;
    double scale;
    scores.dim[out.rank - 1] = k->shape.dim[out.rank - 2];
    MASE_TRY(scale_of(c, q, &scale, err));
    struct mase_step *at = mase_step_before(s, &inner_kind, &scores);
    MASE_TRY(mase_step_input(at, c, "query", err));
    MASE_TRY(mase_step_input(at, c, "key", err));
    mase_product_set(at, &qs, &ks, &leading, true, (float)scale);
    mase_plan_add_step(s->plan, at);
    struct mase_slot *weights = at->out;
    MASE_TRY(weigh(s, &weights, &scores, err));
    const struct mase_shape ws = mase_shape_part(&scores, 1, scores.rank);
    mase_step_add_input(s, weights);
    MASE_TRY(mase_step_input(s, c, "value", err));
    mase_product_set(s, &ws, &vs, &leading, false, 1.0f);
    return MASE_OK;
}

const struct mase_step_kind mase_step_attention = { .name = "attention", .prepare = prepare };
