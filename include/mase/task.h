/*
 * task.h - what a network is trained for: what its outputs are compared with, by which losses, and
 * by what an epoch is judged. The rows are those of tasks.def.
 */
#ifndef MASE_TASK_H
#define MASE_TASK_H

#include <mase/api.h>
#include <mase/dataset.h>
#include <mase/plan.h>

MASE_API_BEGIN

/* What the outputs for a sample are compared with. */
enum mase_task_target {
    MASE_TASK_CLASS,   /* its class; with a single output, whether that is the second of two */
    MASE_TASK_NUMBERS, /* numbers that the data has for it */
    MASE_TASK_INPUT,   /* the sample itself */
    MASE_TASK_MAP,     /* a class at each of its positions */
    MASE_TASK_NEXT,    /* at each position the next token of the sample */
};

struct mase_task {
    const char *name, *alias; /* "regression", "reg"; NULL: none */
    const char *help;
    enum mase_task_target target;
    const char *losses;      /* "mse l1 huber", the usual one first */
    const char *score;       /* in names of metrics: "acc" in train_acc_epoch */
    const char *score_title; /* "accuracy" */
    const char *score_class; /* what torchmetrics calls it */
    bool score_is_share;     /* from 0 to 1, and best there */
    mase_score_fn *sums;     /* what a batch adds; NULL: cross entropy counts right answers */
    double (*of_sums)(const struct mase_loss_result *r); /* the score of all that was added */
};

/* What training makes small, and what is told of it. */
struct mase_objective {
    const struct mase_task *task;
    enum mase_loss loss;
    double delta; /* huber: where it becomes straight */
    /* Set: one of the user's own instead, as he wrote it, and its graph, if it is at hand. Both are
     * borrowed. */
    const char *own;
    struct mase_graph *own_graph;
};

extern const struct mase_task mase_tasks[]; /* up to a NULL name; the first is the usual one */
/* By either name; NULL: the usual one. No such task: NULL. */
const struct mase_task *mase_task_find(const char *name);
/* The same; that there is none is an error, which says which there are. */
enum mase_status mase_task_need(const struct mase_task **t, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;
/* By names; NULL: the usual task, its usual loss. A loss that the task does not have is an error,
 * unless it is an expression or in a file. */
enum mase_status mase_objective_find(struct mase_objective *o, const char *task, const char *loss,
                                     double delta, struct mase_err *err) MASE_MUST_CHECK;
/* What a dataset has to be opened for. */
enum mase_target mase_task_reads(const struct mase_task *t);

/* How many outputs a network has for the data: those of the zoo are built so. */
int64_t mase_task_outputs(const struct mase_task *t, const struct mase_data_info *d);

MASE_API_END

#endif /* MASE_TASK_H */
