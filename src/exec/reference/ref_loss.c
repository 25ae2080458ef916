/*
 * ref_loss.c - losses: of classes, with weights, label smoothing and ignored positions, and of
 * numbers, each beside its target.
 */
#include <math.h>

#include "exec/reference/ref.h"

struct entropy {
    const struct mase_tensor *x, *target, *weight; /* weight: NULL for ones */
    struct mase_axis axis;                         /* of the classes */
    int64_t ignore;
    double smoothing;
    double *logp; /* (C) of the position at hand */
    bool is_log;  /* the input is that already */
};

static double class_weight(const struct entropy *e, int64_t k)
{
    return e->weight ? ref_get(e->weight, k) : 1.0;
}

static void log_softmax_at(const struct entropy *e, int64_t first)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t k = 0; k < e->axis.len; k++) {
        e->logp[k] = ref_get(e->x, first + k * e->axis.inner);
        top = fmax(top, e->logp[k]);
    }
    if (e->is_log)
        return;
    for (int64_t k = 0; k < e->axis.len; k++)
        sum += exp(e->logp[k] - top);
    for (int64_t k = 0; k < e->axis.len; k++)
        e->logp[k] -= top + log(sum);
}

/* Loss of one position whose target is a class; *share is its part of the mean's divisor. */
static enum mase_status class_loss(const struct mase_call *c, const struct entropy *e,
                                   int64_t position, double *loss, double *share,
                                   struct mase_err *err)
{
    int64_t target = ((const int64_t *)e->target->data)[position], C = e->axis.len;
    *loss = *share = 0.0;
    if (target == e->ignore)
        return MASE_OK;
    if (target < 0 || target >= C)
        return mase_call_fail(c, err, "target %lld is outside 0..%lld", (long long)target,
                              (long long)C - 1);
    double smooth = 0.0;
    for (int64_t k = 0; k < C && e->smoothing > 0.0; k++)
        smooth -= class_weight(e, k) * e->logp[k];
    *share = class_weight(e, target);
    *loss = -(1.0 - e->smoothing) * *share * e->logp[target] + e->smoothing / (double)C * smooth;
    return MASE_OK;
}

/* The loss of a position whose target has a probability for each class. */
static void share_loss(const struct entropy *e, int64_t first, double *loss, double *share)
{
    double C = (double)e->axis.len;
    *loss = 0.0;
    *share = 1.0;
    for (int64_t k = 0; k < e->axis.len; k++) {
        double p = ref_get(e->target, first + k * e->axis.inner);
        p = p * (1.0 - e->smoothing) + e->smoothing / C;
        *loss -= class_weight(e, k) * p * e->logp[k];
    }
}

static enum mase_status entropy_of(const struct mase_call *c, struct entropy *e,
                                   struct mase_err *err)
{
    e->x = mase_call_tensor(c, "input");
    e->target = mase_call_tensor(c, "target");
    e->weight = mase_call_tensor(c, "weight");
    e->axis = mase_axis_of(&e->x->shape, e->x->shape.rank > 1);
    e->logp = mase_new_array(c->arena, double, (size_t)e->axis.len);
    MASE_TRY(mase_call_int(c, &e->ignore, "ignore_index", err));
    e->is_log = c->node->op == MASE_OP_nll_loss;
    e->smoothing = 0.0;
    return e->is_log ? MASE_OK : mase_call_float(c, &e->smoothing, "label_smoothing", err);
}

enum mase_status mase_forward_cross_entropy(struct mase_call *c, struct mase_err *err)
{
    struct entropy e;
    MASE_TRY(entropy_of(c, &e, err));
    const char *reduction = mase_call_text(c, "reduction", "mean");
    bool classes = e.target->dtype == MASE_I64, each = mase_streq(reduction, "none");
    double sum = 0.0, shares = 0.0;
    for (int64_t k = 0; k < e.axis.outer * e.axis.inner; k++) {
        int64_t first = k / e.axis.inner * e.axis.len * e.axis.inner + k % e.axis.inner;
        double loss, share;
        log_softmax_at(&e, first);
        if (classes)
            MASE_TRY(class_loss(c, &e, k, &loss, &share, err));
        else
            share_loss(&e, first, &loss, &share);
        if (each)
            ref_set(ref_out(c), k, loss);
        sum += loss;
        shares += share;
    }
    if (!each)
        ref_set(ref_out(c), 0, mase_streq(reduction, "mean") ? sum / shares : sum);
    return MASE_OK;
}

/* ---- of numbers ---- */

/* Arguments of an elementwise loss. */
struct number {
    double x, target, positive; /* positive: the weight of positive targets */
    double bound;
    bool log_target;
};

static double mse_loss(const struct number *n)
{
    return (n->x - n->target) * (n->x - n->target);
}

static double l1_loss(const struct number *n)
{
    return fabs(n->x - n->target);
}

static double huber_loss(const struct number *n)
{
    const double d = fabs(n->x - n->target);
    return d < n->bound ? 0.5 * d * d : n->bound * (d - 0.5 * n->bound);
}

static double smooth_l1_loss(const struct number *n)
{
    return n->bound > 0.0 ? huber_loss(n) / n->bound : l1_loss(n);
}

static double binary_cross_entropy(const struct number *n)
{
    return -n->target * fmax(log(n->x), -100.0) - (1.0 - n->target) * fmax(log1p(-n->x), -100.0);
}

static double bce_with_logits(const struct number *n)
{
    const double log_sigmoid = fmin(n->x, 0.0) - log1p(exp(-fabs(n->x)));
    return (1.0 - n->target) * n->x - (1.0 + (n->positive - 1.0) * n->target) * log_sigmoid;
}

static double kl_div(const struct number *n)
{
    if (n->log_target)
        return exp(n->target) * (n->target - n->x);
    return n->target > 0.0 ? n->target * (log(n->target) - n->x) : 0.0 * n->x;
}

static double (*const pointwise[MASE_OP_COUNT])(const struct number *n) = {
    [MASE_OP_mse_loss] = mse_loss,
    [MASE_OP_l1_loss] = l1_loss,
    [MASE_OP_smooth_l1_loss] = smooth_l1_loss,
    [MASE_OP_huber_loss] = huber_loss,
    [MASE_OP_binary_cross_entropy] = binary_cross_entropy,
    [MASE_OP_bce_with_logits] = bce_with_logits,
    [MASE_OP_kl_div] = kl_div,
};

enum { WEIGHT, POSITIVE, WEIGHTS };

/* Weights are broadcast to the input. */
static struct mase_nd walk(const struct mase_tensor *const weight[WEIGHTS],
                           const struct mase_shape *shape)
{
    struct mase_nd w = mase_nd(shape);
    const struct mase_shape none = { 0 };
    for (int i = 0; i < WEIGHTS; i++)
        mase_nd_add(&w, weight[i] ? &weight[i]->shape : &none);
    return w;
}

/* The fields of n that are the same for all numbers. */
static enum mase_status number_of(const struct mase_call *c, struct number *n, struct mase_err *err)
{
    const struct mase_arg *logs = mase_call_arg(c, "log_target");
    *n = (struct number){ .log_target = logs && mase_arg_truthy(logs) };
    if (c->node->op == MASE_OP_smooth_l1_loss)
        return mase_call_float(c, &n->bound, "beta", err);
    return c->node->op == MASE_OP_huber_loss ? mase_call_float(c, &n->bound, "delta", err)
                                             : MASE_OK;
}

enum mase_status mase_forward_pointwise_loss(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(c, "input");
    const struct mase_tensor *target = mase_call_tensor(c, "target");
    const struct mase_tensor *const weight[WEIGHTS] = { mase_call_tensor(c, "weight"),
                                                        mase_call_tensor(c, "pos_weight") };
    const char *reduction = mase_call_text(c, "reduction", "mean");
    const bool each = mase_streq(reduction, "none");
    struct number n;
    double sum = 0.0;
    MASE_TRY(number_of(c, &n, err));
    struct mase_nd w = walk(weight, &x->shape);
    for (; w.i < w.count; mase_nd_next(&w)) {
        n.x = ref_get(x, w.i);
        n.target = ref_get(target, w.i);
        n.positive = weight[POSITIVE] ? ref_get(weight[POSITIVE], w.off[POSITIVE]) : 1.0;
        const double loss = pointwise[c->node->op](&n) *
                            (weight[WEIGHT] ? ref_get(weight[WEIGHT], w.off[WEIGHT]) : 1.0);
        if (each)
            ref_set(ref_out(c), w.i, loss);
        sum += loss;
    }
    const double divisor = mase_streq(reduction, "mean")        ? (double)w.count
                           : mase_streq(reduction, "batchmean") ? (double)x->shape.dim[0]
                                                                : 1.0;
    if (!each)
        ref_set(ref_out(c), 0, sum / divisor);
    return MASE_OK;
}
