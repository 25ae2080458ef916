/*
 * task_metrics.h - outputs and targets that an evaluation keeps, and the metrics of them.
 */
#ifndef MASE_EVALUATE_TASK_METRICS_H
#define MASE_EVALUATE_TASK_METRICS_H

#include <mase/evaluate.h>

#include "evaluate/targets.h"

/* Positions of a class that were answered so, all answers and all labels. */
struct mase_map_count {
    int64_t hits, answers, labels;
};

/* Outputs kept of every sample, or counts over batches. */
struct mase_kept_outputs {
    const struct mase_target_source *source; /* NULL: nothing is kept */
    int64_t samples, outputs, batch;
    int32_t *label;                // (samples): of one class each
    float *y, *target;             // (samples, outputs): numbers; of classes y alone
    int64_t classes;               /* of maps */
    struct mase_map_count *counts; // (batches, classes): of maps
};
/* In a; for batches of so many samples. */
void mase_kept_outputs_init(struct mase_kept_outputs *k, struct mase_arena *a,
                            const struct mase_target_source *s, int64_t outputs, int64_t samples,
                            int64_t batch);
/* n samples from `at` on, which is where a batch begins. Several threads do so for other batches.
 */
void mase_keep_outputs(const struct mase_kept_outputs *k, const struct mase_lanes *output,
                       const struct mase_targets *targets, int64_t at, int64_t n);
/* The metrics of the task; loss and score of e are set. */
void mase_task_metrics(struct mase_evaluation *e, struct mase_arena *a,
                       const struct mase_kept_outputs *k);

#endif /* MASE_EVALUATE_TASK_METRICS_H */
