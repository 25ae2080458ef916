/*
 * leftover.c - remove unfinished files of processes that were killed.
 *
 * An unfinished file or folder is called .mase-PID-....tmp and lies beside its final name. The
 * process number in the name tells whether its writer still runs.
 */
#include <mase/file.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/alloc.h"

static const char prefix[] = ".mase-";

bool mase_is_unfinished(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return mase_starts_with(name, prefix) && mase_ends_with(name, ".tmp");
}

static bool is_dead(const char *name)
{
    if (!mase_is_unfinished(name))
        return false;
    char *end;
    const long pid = strtol(name + sizeof prefix - 1, &end, 10);
    return pid > 0 && *end == '-' && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* A folder of files, or a file. What else such a folder holds is not ours: then it stays. */
static void remove_leftover(const char *path)
{
    if (unlink(path) == 0)
        return;
    struct mase_arena a = { 0 };
    struct mase_dir d = mase_dir_open(path);
    for (const struct dirent *e; d.dir && (e = readdir(d.dir));)
        if (!mase_streq(e->d_name, ".") && !mase_streq(e->d_name, ".."))
            unlink(mase_path_join(&a, path, e->d_name));
    mase_dir_close(&d);
    rmdir(path);
    mase_arena_release(&a);
}

void mase_remove_leftovers(const char *path)
{
    struct mase_arena a = { 0 };
    struct mase_dir d = mase_dir_open(path);
    for (const struct dirent *e; d.dir && (e = readdir(d.dir));)
        if (is_dead(e->d_name))
            remove_leftover(mase_path_join(&a, path, e->d_name));
    mase_dir_close(&d);
    mase_arena_release(&a);
}
