/*
 * optim.h - an optimiser over the flat parameters of a plan.
 */
#ifndef MASE_TRAIN_OPTIM_H
#define MASE_TRAIN_OPTIM_H

#include <mase/train.h>

#include "kern/kern.h"

enum mase_optim_kind { MASE_OPTIM_ADAM, MASE_OPTIM_ADAMW, MASE_OPTIM_SGD };

/* Neighbours among the flat parameters: weights, or what number formats learn, which are none and
 * do not decay. */
struct mase_optim_span {
    int64_t from, to;
    bool learned;
};

struct mase_optimizer {
    enum mase_optim_kind kind;
    const struct mase_kernels *k;
    struct mase_plan_params params; /* borrowed from the plan */
    float *m, *v;                   /* owned; v is NULL for sgd */
    struct mase_optim_span *span;   /* owned: the parameters that have gradients; the others, which
                                     * the loss does not depend on, do not even decay */
    int span_count;
    double weight_decay, momentum, clip_value, clip_norm;
    bool nesterov;
    int64_t step; /* steps done */
};

enum mase_status mase_optimizer_init(struct mase_optimizer *o, const struct mase_plan *p,
                                     const struct mase_train_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Go on with another plan of the same parameters. */
void mase_optimizer_move(struct mase_optimizer *o, const struct mase_plan *p);
void mase_optimizer_release(struct mase_optimizer *o);
/* One step with the gradients that the plan holds (clipped in place by value). */
void mase_optimizer_step(struct mase_optimizer *o, double lr);
/* The same in parts, each parameters from..to, whole vectors; the caller counts the step behind the
 * last. Not when gradients are clipped by the length of all of them. */
bool mase_optimizer_has_parts(const struct mase_optimizer *o);
void mase_optimizer_part(const struct mase_optimizer *o, double lr, int64_t from, int64_t to);

#endif /* MASE_TRAIN_OPTIM_H */
