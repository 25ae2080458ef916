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
    const char *name, *title; /* ours, and that of PyTorch's class */
    const char *m, *v;        /* what its moments are called there; NULL: it has none */
    bool counts;              /* its states have the number of steps */
    bool decoupled;           /* weights decay by themselves, not by their gradients */
    void (*set)(struct mase_optim *k, const struct mase_optimizer *o, double lr);
    void (*run)(const struct mase_kernels *k, const struct mase_optim *o);
};
const struct mase_optim_row *mase_optim_row(const char *name);

/* Neighbours among the flat parameters: weights, or what number formats learn, which are none and
 * do not decay; steps and bounds among these move by factors. */
struct mase_optim_span {
    int64_t from, to;
    bool learned, sizes;
};

struct mase_optimizer {
    const struct mase_optim_row *row;
    const struct mase_kernels *k;
    struct mase_plan_params params; /* borrowed from the plan */
    float *m, *v;                   /* owned; NULL where it has none */
    struct mase_optim_span *span;   /* owned: the parameters that have gradients; the others, which
                                     * the loss does not depend on, do not even decay */
    int span_count;
    double weight_decay, clip_value, clip_norm;
    double usual; /* the momentum of sgd, or beta1, unless a schedule moves it */
    double beta1; /* that of the next step */
    bool nesterov;
    int64_t step; /* steps done */
    double mu;    /* nadam: the product of all momenta so far */
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
void mase_optimizer_count(struct mase_optimizer *o);
/* So many steps were done, by a run before this one, with so many in each epoch. */
void mase_optimizer_set_steps(struct mase_optimizer *o, int64_t steps,
                              const struct mase_train_opts *opts, int64_t steps_per_epoch);
bool mase_optimizer_has_parts(const struct mase_optimizer *o);
void mase_optimizer_part(const struct mase_optimizer *o, double lr, int64_t from, int64_t to);

#endif /* MASE_TRAIN_OPTIM_H */
