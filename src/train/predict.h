/*
 * predict.h - one batch through a predictor, for those who fill the input themselves.
 */
#ifndef MASE_TRAIN_PREDICT_H
#define MASE_TRAIN_PREDICT_H

#include <mase/call.h>
#include <mase/train.h>

struct mase_predictor {
    struct mase_arena arena;
    struct mase_graph *graph; /* borrowed */
    struct mase_plan *plan;   /* NULL: the reference runs it */
    const struct mase_scaling *scaling;
    struct mase_input input; /* the shape of a whole batch */
    int64_t batch, features, outputs;
    struct mase_lanes x, y; /* the plan's, or the reference's own */
    int64_t samples;        /* in x */
};

/* Take n rows of a table, or of images, of a dataset as the input. */
void mase_predictor_take(struct mase_predictor *p, const struct mase_dataset *d,
                         const uint32_t *row, int64_t n);
/* Run what was taken; p->y has the outputs. */
enum mase_status mase_predictor_forward(struct mase_predictor *p,
                                        struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_TRAIN_PREDICT_H */
