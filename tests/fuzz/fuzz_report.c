/*
 * fuzz_report.c - any bytes as the folder of a run, for ch report: a page, or a cause. Nothing that
 * a record names is executed: python3 is not to be found.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>

#include <mase/log.h>

#include "cli/cli.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "run.json",
                                     "software/test/run.json",
                                     "software/metrics.csv",
                                     "software/bits.csv",
                                     "software/sweep/sweep.csv",
                                     "software/sweep/graph.mg",
                                     NULL };

/* Pages are told on stdout. */
static void set_up(const char *dir)
{
    static bool done;
    struct mase_arena a = { 0 };
    if (!done) {
        done = true;
        setenv("PATH", "", 1);
        mase_log_set_level(MASE_CRITICAL);
        if (!freopen("/dev/null", "w", stdout) ||
            mase_make_dirs(mase_path_join(&a, dir, "software/test"), NULL) ||
            mase_make_dirs(mase_path_join(&a, dir, "software/sweep"), NULL))
            abort();
    }
    mase_arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *dir = fuzz_folder();
    struct mase_cli c = { 0 };
    struct mase_err err = { 0 };
    char *argv[] = { "ch",    "report",   (char *)dir, "--samples",   "0",        "--test",
                     "never", "--output", "/dev/null", "--log-level", "critical", NULL };
    set_up(dir);
    fuzz_write_parts(dir, names, data, size);
    if (mase_cli_parse(&c, 11, argv, &err))
        mase_bug("%s", err.msg);
    if (c.command->run(&c, &err) && !err.msg[0])
        mase_bug("refused without cause");
    mase_cli_release(&c);
    return 0;
}
