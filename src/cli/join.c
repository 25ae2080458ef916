/*
 * join.c - ch as one of the processes of a job (base/ranks.h): rank 0 prints and writes, the others
 * are silent unless they fail alone.
 */
#include <stdio.h>

#include <mase/log.h>

#include "base/ranks.h"
#include "cli/cli.h"
#include "evaluate/predictor.h"

enum mase_status mase_cli_join(struct mase_cli *c, struct mase_err *err)
{
    MASE_TRY(mase_ranks_join(&c->ranks, err));
    if (!c->ranks)
        return MASE_OK;
    mase_threads_take(c->ranks->threads);
    if (mase_ranks_speaks(c->ranks))
        return MASE_OK;
    if (!freopen("/dev/null", "w", stdout))
        return mase_fail_errno(err, "/dev/null", "cannot open");
    mase_log_set_stream(stdout);
    return MASE_OK;
}

bool mase_cli_is_echo(const struct mase_cli *c)
{
    const char *name = c->command ? c->command->name : c->operand_count ? c->operands[0] : NULL;
    return mase_streq(name, "train") && mase_ranks_is_follower();
}
