/*
 * optim.h - an optimiser over the flat parameters of a plan.
 */
#ifndef MASE_TRAIN_OPTIM_H
#define MASE_TRAIN_OPTIM_H

#include <mase/train.h>

#include "kern/kern.h"

struct mase_optimizer;

/* One of mase_optimizer_names. */
struct mase_optim_row {
    const char *name, *title; /* our name, and that of PyTorch's class */
    const char *m, *v;        /* keys of the moments in PyTorch's state; NULL: no such moment */
    bool counts;              /* PyTorch's state has the number of steps */
    bool decoupled;           /* weight decay is decoupled from the gradient (AdamW) */
    void (*set)(struct mase_optim *k, const struct mase_optimizer *o, double lr);
    void (*run)(const struct mase_kernels *k, const struct mase_optim *o);
};
const struct mase_optim_row *mase_optim_row(const char *name);

/* Adjacent flat parameters of one kind: weights, or learned numbers of formats, which do not decay.
 * Steps and bounds among the latter are updated by factors. */
struct mase_optim_span {
    int64_t from, to;
    bool learned, sizes;
};

struct mase_optimizer {
    const struct mase_optim_row *row;
    const struct mase_kernels *k;
    struct mase_plan_params params; /* borrowed from the plan */
    float *m, *v;                   /* owned; NULL where it has none */
    struct mase_optim_span *span;   /* owned: only these are updated */
    int span_count;
    double weight_decay, clip_value, clip_norm;
    double usual; /* momentum of sgd, or beta1, while no schedule changes it */
    double beta1; /* beta1 of the next step */
    bool nesterov;
    int64_t step; /* steps done */
    double mu;    /* nadam: the product of all momenta so far */
};

enum mase_status mase_optimizer_init(struct mase_optimizer *o, const struct mase_plan *p,
                                     const struct mase_train_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Use another plan of equal parameters from now on. */
void mase_optimizer_move(struct mase_optimizer *o, const struct mase_plan *p);
void mase_optimizer_release(struct mase_optimizer *o);
/* One step with the gradients of the plan, which clipping by value changes in place. */
void mase_optimizer_step(struct mase_optimizer *o, double lr);
/* A step in parts, each of the parameters from..to in whole vectors; the caller counts the step
 * after the last part. Not possible when gradients are clipped by their norm. */
void mase_optimizer_count(struct mase_optimizer *o);
/* Set the number of steps, and steps per epoch, of a run that is resumed. */
void mase_optimizer_set_steps(struct mase_optimizer *o, int64_t steps,
                              const struct mase_train_opts *opts, int64_t steps_per_epoch);
bool mase_optimizer_has_parts(const struct mase_optimizer *o);
void mase_optimizer_part(const struct mase_optimizer *o, double lr, int64_t from, int64_t to);

#endif /* MASE_TRAIN_OPTIM_H */
