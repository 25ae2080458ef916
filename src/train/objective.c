/*
 * objective.c - task, loss and score from the options of training, and whether they fit together.
 */
#include <mase/train.h>

static enum mase_status refuse(const struct mase_objective *objective, const char *option,
                               const char *why, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE, "%s is not for task %s: %s", option, objective->task->name,
                     why);
}

enum mase_status mase_train_objective(struct mase_objective *objective,
                                      const struct mase_train_opts *o, struct mase_err *err)
{
    MASE_TRY(mase_objective_find(objective, o->task, o->loss, o->loss_delta, err));
    const bool classes = objective->loss == MASE_LOSS_cross_entropy;
    const enum mase_task_target target = objective->task->target;
    if (objective->loss == MASE_LOSS_huber && !(o->loss_delta > 0))
        return mase_fail(err, MASE_EVALUE, "loss_delta = %g is not above 0", o->loss_delta);
    if (objective->own && (o->class_weights || o->label_smoothing > 0 || o->distill > 0))
        return mase_fail(err, MASE_EVALUE, "%s is not for a loss of one's own, which says all",
                         o->class_weights         ? "class_weights"
                         : o->label_smoothing > 0 ? "label_smoothing"
                                                  : "distill");
    if (o->class_weights && (!classes || target == MASE_TASK_NEXT))
        return refuse(objective, "class_weights",
                      "its samples have no classes that could be weighed", err);
    if (o->label_smoothing > 0 && (!classes || target == MASE_TASK_NEXT))
        return refuse(objective, "label_smoothing", "its targets are taken as they are", err);
    if (o->distill > 0 && (!classes || target != MASE_TASK_CLASS))
        return refuse(objective, "distill", "it compares the shares that two networks give classes",
                      err);
    return MASE_OK;
}
