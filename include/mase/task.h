/*
 * task.h - tasks: what a network's outputs are compared with, by which losses, and by which score
 * an epoch is judged. The rows are those of tasks.def.
 */
#ifndef MASE_TASK_H
#define MASE_TASK_H

#include <mase/api.h>
#include <mase/dataset.h>
#include <mase/plan.h>

MASE_API_BEGIN

/* The target of a sample. */
enum mase_task_target {
    MASE_TASK_CLASS, /* its class; with a single output, whether it is the second of two classes */
    MASE_TASK_NUMBERS, /* numbers in the data */
    MASE_TASK_INPUT,   /* the sample itself */
    MASE_TASK_MAP,     /* a class at each position */
    MASE_TASK_NEXT,    /* the next token of the sample at each position */
};

struct mase_task {
    const char *name, *alias; /* "regression", "reg"; NULL: none */
    const char *help;
    enum mase_task_target target;
    const char *losses;      /* "mse l1 huber", the usual one first */
    const char *score;       /* in names of metrics: "acc" in train_acc_epoch */
    const char *score_title; /* "accuracy" */
    const char *score_class; /* what torchmetrics calls it */
    bool score_is_share;     /* the score goes from 0 to 1, the best */
    mase_score_fn *sums; /* adds a batch to the score; NULL: cross entropy counts right answers */
    double (*of_sums)(const struct mase_loss_result *r); /* the score of the sums */
};

/* A task with its loss. */
struct mase_objective {
    const struct mase_task *task;
    enum mase_loss loss;
    double delta; /* huber: the difference beyond which it is linear */
    /* Set: the user's own loss instead, as text, and its graph, if it has been built. Both are
     * borrowed. */
    const char *own;
    struct mase_graph *own_graph;
};

extern const struct mase_task mase_tasks[]; /* ended by a NULL name; the first is the default */
/* Find a task by name or alias; NULL: the default task. Returns NULL for an unknown name. */
const struct mase_task *mase_task_find(const char *name);
/* Find a task; an unknown name is an error that lists the tasks. */
enum mase_status mase_task_need(const struct mase_task **t, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Find task and loss by their names; NULL: the default task, the task's default loss. A loss that
 * the task does not have is an error, unless it is an expression or a file. */
enum mase_status mase_objective_find(struct mase_objective *o, const char *task, const char *loss,
                                     double delta, struct mase_err *err) MASE_MUST_CHECK;
/* The target that a dataset is opened with for this task. */
enum mase_target_kind mase_task_reads(const struct mase_task *t);

/* The number of outputs of a network for this task and data; networks of the zoo are built with it.
 */
int64_t mase_task_outputs(const struct mase_task *t, const struct mase_data_info *d);

MASE_API_END

#endif /* MASE_TASK_H */
