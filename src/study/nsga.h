/*
 * nsga.h - what the genetic samplers NSGA-II and NSGA-III share: generations, parents, children.
 *
 * Trial n is of generation n / population_size. The parents of a generation are the best of those
 * of the generation before and of their children; so a generation needs all results before it, and
 * may be measured in parallel. The samplers differ in how they choose among equals.
 */
#ifndef MASE_STUDY_NSGA_H
#define MASE_STUDY_NSGA_H

#include "study/history.h"
#include "study/sampler.h"

struct mase_nsga_options {
    int64_t population, dividing;
    double mutation, crossover, swapping;
};

/* The rows that both have; a table of options begins with them. */
#define MASE_NSGA_ROWS                                                                    \
    MASE_OPT_INT(struct mase_nsga_options, population, "population_size", 50, 2, 1000000, \
                 "trials of a generation"),                                               \
        { .key = "mutation_prob",                                                         \
          .type = MASE_OPT_TYPE_FLOAT,                                                    \
          .offset = offsetof(struct mase_nsga_options, mutation),                         \
          .may_be_none = true,                                                            \
          .num = (double)MASE_NA,                                                         \
          .max = 1,                                                                       \
          .help = "how often a dimension is drawn anew; none: one of all dimensions" },   \
        MASE_OPT_FLOAT(struct mase_nsga_options, crossover, "crossover_prob", 0.9, 0, 1,  \
                       "how often a child has two parents"),                              \
        MASE_OPT_FLOAT(struct mase_nsga_options, swapping, "swapping_prob", 0.5, 0, 1,    \
                       "how often it takes a dimension from the second")

struct mase_nsga_member {
    int32_t result;  /* of the history */
    int32_t rank;    /* of its front: 0 is the best */
    double crowding; /* how far its neighbours in the front are */
};

struct mase_nsga {
    struct mase_sampler base;
    struct mase_history history;
    struct mase_nsga_member *parent;
    int64_t parents, first; /* first: the first result of the generation that is being told */
    /* Put those of a front (n) that are kept, `wanted` of them, before the others. Parents chosen
     * before it are in `parent`. */
    void (*choose)(struct mase_nsga *g, struct mase_nsga_member *front, int64_t n, int64_t wanted,
                   struct mase_rng *r);
    void *data; /* of choose */
};

void mase_nsga_open(struct mase_nsga *g);
void mase_nsga_close(struct mase_sampler *s);
int64_t mase_nsga_needs(const struct mase_sampler *s, int64_t n);
void mase_nsga_tell(struct mase_sampler *s, const struct mase_trial *t);
void mase_nsga_ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                   int64_t pending_count);

#endif /* MASE_STUDY_NSGA_H */
