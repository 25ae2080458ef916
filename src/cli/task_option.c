/*
 * task_option.c - the task of a run: by --task and --loss, else that of the weights of --load, else
 * classification.
 */
#include <string.h>

#include <mase/log.h>

#include "base/number.h"
#include "cli/command/cmd_train.h"
#include "frontend/loss_source.h"

const struct mase_task *mase_cli_task(const struct mase_cli *c)
{
    return mase_task_find(mase_cli_text(c, MASE_CLI_task));
}

enum mase_status mase_cli_objective(struct mase_objective *o, const struct mase_cli *c,
                                    struct mase_err *err)
{
    const struct mase_value *task = mase_cli_value(c, MASE_CLI_task),
                            *loss = mase_cli_value(c, MASE_CLI_loss);
    if (mase_objective_find(o, task->s, mase_cli_text(c, MASE_CLI_loss),
                            mase_value_number(mase_cli_value(c, MASE_CLI_loss_delta)), err))
        return mase_place(err, loss->at.path ? loss->at : task->at);
    return MASE_OK;
}

/* Count columns from the quote; a text of several lines has no place. */
void mase_cli_place_loss(const struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *loss = mase_cli_value(c, MASE_CLI_loss);
    const int col = err->loc.col;
    if (!mase_streq(err->path, MASE_LOSS_PLACE) || !loss || !loss->at.path || !loss->at.line)
        return;
    err->loc = loss->at;
    if (!strchr(loss->s, '\n'))
        err->loc.col += col;
    err->loc.span = 0;
    mase_snprintf(err->path, sizeof err->path, "%s", loss->at.path);
    err->loc.path = err->path;
}

const char *mase_cli_capital(struct mase_arena *a, const char *word)
{
    char *copy = mase_arena_strdup(a, word);
    copy[0] = mase_to_upper(copy[0]);
    return copy;
}
