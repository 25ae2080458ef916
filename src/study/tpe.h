/*
 * tpe.h - the parts of the tree-structured Parzen estimator.
 *
 * Results are split into few good ones and the rest (tpe_split.c). Each of both is a mixture of
 * kernels, one around each of its points (tpe_mixture.c). Points drawn from the mixture of the good
 * ones are proposals; the one with the greatest ratio of both densities is chosen (sampler_tpe.c).
 */
#ifndef MASE_STUDY_TPE_H
#define MASE_STUDY_TPE_H

#include <mase/arena.h>
#include <mase/rng.h>

#include "study/history.h"

/* ---- splitting ---- */

struct mase_tpe_split {
    const struct mase_history *history;
    /* Results from the best to the worst: complete ones by their losses, then pruned ones, those
     * that came furthest first, then infeasible ones by violation. Kept in order as they come. */
    int32_t *order;
    int64_t count, complete, cap;
    int32_t *rank; /* (count), of results by index: room for ranks */
};

void mase_tpe_split_close(struct mase_tpe_split *s);
/* Take in the latest result of the history. */
void mase_tpe_split_add(struct mase_tpe_split *s);
/* Mark the so many best results by 1, the others by 0. */
void mase_tpe_split_best(unsigned char *best, struct mase_tpe_split *s, int64_t wanted);

/* ---- points ---- */

/* How a mixture sees a dimension. */
enum mase_tpe_kind {
    MASE_TPE_CHOICE, /* unordered: a kernel has one choice, and a little of each other */
    MASE_TPE_TABLE,  /* few numbers: normal kernels over them, as tables of densities */
    MASE_TPE_LINE,   /* normal kernels, cut at both ends */
};

enum {
    MASE_TPE_CLASSES = 64,   /* the numbers of a table at most */
    MASE_TPE_CHOICES = 65535 /* of an unordered choice */
};

struct mase_tpe_axis {
    enum mase_tpe_kind kind;
    const struct mase_dimension *dimension;
    int classes;                 /* of choices and tables */
    double low, high;            /* of a table or line, with half a step to either side */
    double at[MASE_TPE_CLASSES]; /* where the numbers of a table lie between these */
    /* Of each point: its class, or its place on the line. */
    uint16_t *class_of;
    double *place;
    double *sigma, *spread; /* of a line: a kernel as last used, and log of what it integrates to */
    int32_t *sorted;        /* of a line: results by their place */
};

/* The points that a mixture can have: results, and behind them those that are pending. */
struct mase_tpe_points {
    const struct mase_history *history;
    struct mase_tpe_axis *axis; /* (dimensions) */
    int64_t count, pending, cap;
};

void mase_tpe_points_open(struct mase_tpe_points *p, struct mase_arena *a,
                          const struct mase_history *h);
void mase_tpe_points_close(struct mase_tpe_points *p);
/* Take in the latest result of the history. */
void mase_tpe_points_add(struct mase_tpe_points *p);
/* The points of trials under way, in place of earlier ones. */
void mase_tpe_points_pend(struct mase_tpe_points *p, const double *const *pending, int64_t count);
/* The number of a dimension that is nearest to a place, and the place of a number. */
double mase_tpe_number(const struct mase_tpe_axis *a, double place);
double mase_tpe_place(const struct mase_tpe_axis *a, double number);

/* ---- mixtures (tpe_mixture.c) ---- */

struct mase_tpe_part; /* of a dimension */

struct mase_tpe_mixture {
    const struct mase_tpe_points *points;
    struct mase_tpe_part *part; /* (dimensions) */
    int64_t count, cap;         /* kernels; behind them the prior, which is spread over all */
    int32_t *member;            /* (count): points */
    double *weight;             /* (count + 1), of sum 1 */
    double *product, *exponent; /* (count + 1): room */
};

void mase_tpe_mixture_open(struct mase_tpe_mixture *m, struct mase_arena *a,
                           const struct mase_tpe_points *p);
void mase_tpe_mixture_close(struct mase_tpe_mixture *m);
/* Make the mixture of the results that are marked so, and of pending points if `pending`.
 * fading: old ones count less. */
void mase_tpe_mixture_make(struct mase_tpe_mixture *m, const unsigned char *mark,
                           unsigned char marked, bool pending, bool fading);
/* A place (dimensions) drawn from the mixture; and of one dimension, whatever the others are. */
void mase_tpe_draw(const struct mase_tpe_mixture *m, double *place, struct mase_rng *r);
double mase_tpe_draw_one(const struct mase_tpe_mixture *m, int dimension, struct mase_rng *r);
/* The logarithm of the density at a place, of all dimensions or of one; a common factor apart. */
double mase_tpe_density(struct mase_tpe_mixture *m, const double *place);
double mase_tpe_density_one(struct mase_tpe_mixture *m, int dimension, double place);

#endif /* MASE_STUDY_TPE_H */
