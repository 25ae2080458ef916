/*
 * ref_loss.c - cross entropy, with class weights, label smoothing and ignored positions.
 */
#include <math.h>

#include "exec/ref.h"

struct entropy {
    const struct mase_tensor *x, *target, *weight; /* weight: NULL for ones */
    struct mase_axis axis;                         /* of the classes */
    int64_t ignore;
    double smoothing;
    double *logp; /* (C) of the position at hand */
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

/* The same when the target gives a probability for each class. */
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
    return mase_call_float(c, &e->smoothing, "label_smoothing", err);
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
