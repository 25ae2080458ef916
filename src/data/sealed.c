/*
 * sealed.c - a question is a 64-bit size and the bytes; the answer a status, an error, and on
 * success the reply.
 */
#include "data/sealed.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/host.h"
#include "base/process.h"
#include "data/isolate.h"

enum { SECONDS = 60 }; /* of computing, for one file */

struct verdict {
    enum mase_status status;
    struct mase_err err;
};

/* ---- the child ---- */

/* From now on so many seconds of computing. */
static void limit_time(void)
{
    struct rusage used;
    struct rlimit now;
    if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &now))
        return;
    const rlim_t most = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + SECONDS;
    if (now.rlim_max == RLIM_INFINITY || most < now.rlim_max)
        (void)!setrlimit(RLIMIT_CPU, &(struct rlimit){ most, now.rlim_max });
}

static _Noreturn void serve(int fd, size_t reply_size, mase_sealed_fn *answer, const void *user)
{
    unsigned char *data = NULL;
    void *reply = mase_xcalloc(reply_size + 1);
    uint64_t size;
    mase_isolate_limit(0);
    mase_isolate_seal();
    while (mase_isolate_receive(fd, &size, sizeof size)) {
        struct verdict v = { 0 };
        limit_time();
        data = mase_xrealloc(data, (size_t)size + 1);
        if (!mase_isolate_receive(fd, data, (size_t)size))
            break;
        v.status = answer(reply, data, (size_t)size, user, &v.err);
        if (!mase_isolate_send(fd, &v, sizeof v) ||
            (!v.status && !mase_isolate_send(fd, reply, reply_size)))
            break;
    }
    _exit(0);
}

/* ---- the parent ---- */

/* It has ended in the usual way. */
static void forget(struct mase_sealed *w)
{
    mase_xfree(w->cleanup);
    w->cleanup = NULL;
}

enum mase_status mase_sealed_start(struct mase_sealed *w, mase_sealed_fn *answer, const void *user,
                                   struct mase_err *err)
{
    int ends[2];
    w->fd = -1;
    w->cleanup = mase_process_cleanup();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        const enum mase_status st = mase_fail_errno(err, NULL, "cannot make a pair of sockets");
        forget(w);
        return st;
    }
    w->child = fork();
    if (w->child == 0) {
        mase_guard_forked();
        close(ends[0]);
        serve(ends[1], w->reply_size, answer, user);
    }
    close(ends[1]);
    w->fd = ends[0];
    if (w->cleanup) {
        w->cleanup->fd[0] = w->fd;
        w->cleanup->child = w->child > 0 ? w->child : 0;
    }
    if (w->child > 0)
        return MASE_OK;
    const enum mase_status st = mase_fail_errno(err, NULL, "cannot start a process");
    close(w->fd);
    w->fd = -1;
    forget(w);
    return st;
}

/* It is gone: by which signal? */
static enum mase_status fail_dead(struct mase_sealed *w, const char *path, struct mase_err *err)
{
    int how = 0;
    while (waitpid(w->child, &how, 0) < 0 && errno == EINTR)
        continue;
    close(w->fd);
    w->fd = -1;
    forget(w);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        return mase_fail_in(err, MASE_ELIMIT, path,
                            "reading it took more than %d seconds of computing", SECONDS);
    if (WIFSIGNALED(how))
        return mase_fail_in(err, MASE_EPARSE, path, "damaged file: %s fails on it (signal %d)",
                            w->library, WTERMSIG(how));
    return mase_fail_in(err, MASE_EIO, path, "the process that reads the file ended with status %d",
                        WEXITSTATUS(how));
}

enum mase_status mase_sealed_ask(struct mase_sealed *w, void *reply, const void *data, size_t size,
                                 const char *path, struct mase_err *err)
{
    struct verdict v;
    const uint64_t bytes = size;
    if (!mase_isolate_send(w->fd, &bytes, sizeof bytes) || !mase_isolate_send(w->fd, data, size) ||
        !mase_isolate_receive(w->fd, &v, sizeof v))
        return fail_dead(w, path, err);
    if (v.status) {
        struct mase_loc at = v.err.loc;
        at.path = path;
        v.err.msg[sizeof v.err.msg - 1] = 0;
        return mase_fail_at(err, v.status, at, "%s", v.err.msg);
    }
    return mase_isolate_receive(w->fd, reply, w->reply_size) ? MASE_OK : fail_dead(w, path, err);
}

void mase_sealed_stop(struct mase_sealed *w)
{
    if (w->fd < 0)
        return;
    close(w->fd); /* it ends when there is nothing to take any more */
    while (waitpid(w->child, NULL, 0) < 0 && errno == EINTR)
        continue;
    w->fd = -1;
    forget(w);
}
