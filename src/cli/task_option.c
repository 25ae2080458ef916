/*
 * task_option.c - what a run is for: as --task and --loss say, else what the weights of --load were
 * trained for, else classification.
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

int64_t mase_cli_loss_batch(const struct mase_cli *c, const struct mase_objective *o)
{
    return o->own ? mase_cli_value(c, MASE_CLI_batch_size)->i : 0;
}

/* Behind the quote; a text of several lines has no place within it. */
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

static bool is_said(const struct mase_cli *c, enum mase_cli_option_id id)
{
    return c->setting[id].cmdline || c->setting[id].file;
}

static bool trains(const struct mase_cli *c)
{
    return mase_streq(c->command->name, "train") || mase_streq(c->command->name, "sweep");
}

/* Weights are used for what they were trained for; only training may change it. */
static enum mase_status check_task(const struct mase_cli *c, const struct mase_task *trained,
                                   struct mase_err *err)
{
    const struct mase_value *said = mase_cli_value(c, MASE_CLI_task);
    const char *load = mase_cli_text(c, MASE_CLI_load_name);
    if (mase_task_find(said->s) == trained)
        return MASE_OK;
    if (trains(c)) {
        mase_info("%s was trained for task %s; from here on it is %s", load, trained->name,
                  said->s);
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EVALUE, said->at,
                        "--task %s contradicts %s, which was trained for task %s", said->s, load,
                        trained->name);
}

enum mase_status mase_cli_settle_task(struct mase_cli *c, const struct mase_checkpoint_info *info,
                                      struct mase_err *err)
{
    struct mase_arena *a = &c->arena;
    const struct mase_task *trained = info->task ? mase_task_find(info->task) : NULL;
    if (!trained)
        return MASE_OK;
    if (is_said(c, MASE_CLI_task))
        MASE_TRY(check_task(c, trained, err));
    else
        c->setting[MASE_CLI_task].dflt = mase_value_string(a, trained->name);
    if (mase_cli_task(c) != trained || is_said(c, MASE_CLI_loss))
        return MASE_OK;
    c->setting[MASE_CLI_loss].dflt =
        info->loss ? mase_value_string(a, info->loss) : mase_value_none(a);
    if (!is_said(c, MASE_CLI_loss_delta))
        c->setting[MASE_CLI_loss_delta].dflt = mase_value_float(a, info->loss_delta);
    return MASE_OK;
}

enum mase_status mase_cli_settle_load(struct mase_cli *c, enum mase_cli_weights kind,
                                      struct mase_err *err)
{
    struct mase_checkpoint_info info;
    if (kind == MASE_CLI_INITIALISED)
        return MASE_OK;
    MASE_TRY(mase_trained_on(&info, &c->arena, mase_cli_text(c, MASE_CLI_load_name), err));
    return mase_cli_settle_task(c, &info, err);
}
