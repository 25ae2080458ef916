/*
 * main.c - ch: parse, dispatch, and print a failure once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <mase/log.h>

#include "base/counters.h"
#include "base/limit.h"
#include "base/number.h"
#include "base/ranks.h"
#include "cli/cli.h"
#include "cli/command/cmd_train.h"

enum { FAILED = 2 }; /* exit status of every failure */

/* Open /dev/null for closed standard streams, so that no file gets their descriptors. */
static void occupy_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static enum mase_status dispatch(struct mase_cli *c, struct mase_err *err)
{
    if (mase_cli_flag(c, MASE_CLI_version)) {
        puts("ch " MASE_VERSION);
        return MASE_OK;
    }
    if (mase_cli_flag(c, MASE_CLI_help)) {
        struct mase_str out = { 0 };
        mase_cli_help(&out, c->command);
        mase_cli_put(&out);
        mase_str_release(&out);
        return MASE_OK;
    }
    if (c->setting[MASE_CLI_info].cmdline)
        return mase_cli_info(c, mase_cli_text(c, MASE_CLI_info), err);
    if (!c->command)
        return mase_fail(err, MASE_EVALUE, "no command given; ch --help explains them");
    return c->command->run(c, err);
}

/* Check that output was written. A closed pipe needs no message. */
static enum mase_status flush_stdout(struct mase_err *err)
{
    const int fault = mase_flush_output();
    if (!fault)
        return MASE_OK;
    if (fault == EPIPE)
        return mase_fail(err, MASE_EIO, "%s", "");
    return mase_fail(err, MASE_EIO, "standard output: %s", mase_strerror(fault));
}

static void log_counters(void)
{
    mase_debug(
        "counted: %lld shape rules, %lld clones of graphs, %lld bindings of options, %lld "
        "passes, %lld fsyncs",
        (long long)mase_counted(MASE_COUNT_SHAPE_RULES), (long long)mase_counted(MASE_COUNT_CLONES),
        (long long)mase_counted(MASE_COUNT_BINDINGS), (long long)mase_counted(MASE_COUNT_PASSES),
        (long long)mase_counted(MASE_COUNT_FSYNCS));
}

int main(int argc, char **argv)
{
    struct mase_cli c = { 0 };
    struct mase_err err = { 0 };

    occupy_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    enum mase_status st = mase_limit_check(&err);
    if (!st)
        st = mase_cli_parse(&c, argc, argv, &err);
    if (st && mase_cli_is_echo(&c))
        err.msg[0] = '\0';
    if (!st)
        st = dispatch(&c, &err);
    if (st && c.command)
        mase_cli_place_loss(&c, &err);
    if (!st)
        st = flush_stdout(&err);
    else
        (void)mase_flush_output();
    if (st && err.msg[0]) {
        if (!err.path[0])
            fputs("ch: ", stderr);
        mase_err_print(stderr, &err);
    }
    log_counters();
    const int status = mase_ranks_leave(c.ranks, st ? FAILED : 0);
    mase_cli_release(&c);
    return status;
}
