/*
 * targets.h - what a task compares the outputs of a network with, sample by sample.
 */
#ifndef MASE_EVALUATE_TARGETS_H
#define MASE_EVALUATE_TARGETS_H

#include <mase/task.h>

#include "exec/loss/own_loss.h"

/* Source of targets. */
struct mase_target_source {
    struct mase_objective objective;
    const struct mase_dataset *data; /* borrowed, like class_map */
    const int32_t *class_map;        /* (classes): the network's class for each; NULL: the same */
    int64_t positions;               /* labels of a sample; 0: it has numbers */
    int64_t width;                   /* these numbers */
    struct mase_shape result;        /* what the network gives for a sample */
    struct mase_graph *own;          /* the loss of one's own; NULL: none */
    struct mase_graph *to_free;      /* that, if it is the source's */
    double *mean; /* (width): of the numbers of the rows that are scored; owned; NULL: not wanted */
};

/* Does a network that gives this for a sample fit task and data? Then the source of its targets. */
enum mase_status mase_target_source_init(struct mase_target_source *s,
                                         const struct mase_objective *o,
                                         const struct mase_dataset *d,
                                         const struct mase_shape *result,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Compute the mean of these rows that the score needs, if any. */
void mase_target_source_score(struct mase_target_source *s, struct mase_split_rows rows);
void mase_target_source_release(struct mase_target_source *s);
/* (width): what 1 of a number is in the measure of the data; NULL: 1. */
const double *mase_target_unit(const struct mase_target_source *s);
/* Options of the loss for a plan. */
struct mase_loss_opts mase_target_loss(const struct mase_target_source *s);
/* The loss of one's own, made ready for batches of tiles of so many samples; *out = NULL: the
 * task's is used. The caller frees it before the source. */
enum mase_status mase_target_own_loss(struct mase_own_loss **out,
                                      const struct mase_target_source *s, int64_t batch, int tiles,
                                      bool train, struct mase_err *err) MASE_MUST_CHECK;

/* Room for the targets of some samples. */
struct mase_target_buffer {
    int32_t *label; // (positions, stride), or
    float *y;       // (width, stride)
    int64_t stride;
};
void mase_target_buffer_init(struct mase_target_buffer *b, const struct mase_target_source *s,
                             int64_t samples);
void mase_target_buffer_release(struct mase_target_buffer *b);
/* The targets of n rows of the data, whose features have been loaded to x. */
struct mase_targets mase_targets_load(const struct mase_target_buffer *b,
                                      const struct mase_target_source *s, const uint32_t *row,
                                      int64_t n, struct mase_lanes x);

#endif /* MASE_EVALUATE_TARGETS_H */
