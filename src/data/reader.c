/*
 * reader.c - start the reader process, send requests, and report how it ended.
 *
 * The program lies in an anonymous file (memfd_create) and is started by posix_spawn: no fork
 * handler of the host runs, and the child sees none of its memory. The child gets one end of a
 * socket as descriptor 3, and /dev/null as standard input, output and, without sanitizers, error.
 * It closes every other descriptor that it inherits.
 */
#define _GNU_SOURCE /* memfd_create */
#include "data/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/process.h"
#include "base/sanitized.h"
#include "data/reader_image.h"

extern char **environ;

enum { CHILD_END = 3, NO_MEMORY = 1, NOT_STARTED = 127, MFD_EXEC_BIT = 0x10 };

/* ---- start ---- */

/* The program in an anonymous file; -1, and errno: impossible. */
static int open_program(void)
{
    int fd = memfd_create("mase-reader", MFD_CLOEXEC | MFD_EXEC_BIT);
    if (fd < 0 && errno == EINVAL) /* an old kernel without MFD_EXEC */
        fd = memfd_create("mase-reader", MFD_CLOEXEC);
    const unsigned char *p = mase_reader_image;
    while (fd >= 0 && p < mase_reader_image_end) {
        const ssize_t n = write(fd, p, (size_t)(mase_reader_image_end - p));
        if (n < 0 && errno != EINTR) {
            const int why = errno;
            close(fd);
            errno = why;
            return -1;
        }
        p += n > 0 ? n : 0;
    }
    return fd;
}

/* Move a descriptor above those that the child gets. */
static int move_above_child_end(int fd)
{
    if (fd < 0 || fd > CHILD_END)
        return fd;
    const int higher = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_END + 1), why = errno;
    close(fd);
    errno = why;
    return higher;
}

/* Reset handlers and the signal mask, so that signals end the child. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static int set_files(posix_spawn_file_actions_t *actions, int child_end)
{
    for (int fd = 0; fd < (MASE_SANITIZED ? 2 : 3); fd++) {
        const int why =
            posix_spawn_file_actions_addopen(actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
        if (why)
            return why;
    }
    return posix_spawn_file_actions_adddup2(actions, child_end, CHILD_END);
}

/* Returns 0 or an errno. */
static int spawn(pid_t *child, int program, int child_end)
{
    char path[32], name[] = "mase-reader", *argv[] = { name, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    mase_snprintf(path, sizeof path, "/proc/self/fd/%d", program);
    int why = posix_spawn_file_actions_init(&actions);
    if (why)
        return why;
    why = posix_spawnattr_init(&attributes);
    if (!why) {
        why = set_signals(&attributes);
        why = why ? why : set_files(&actions, child_end);
        why = why ? why : posix_spawn(child, path, &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

static enum mase_status fail_start(const struct mase_reader *w, const char *what, int why,
                                   struct mase_err *err)
{
    return mase_fail_in(err, MASE_EIO, w->path,
                        "the process that reads a %s cannot be started: %s: %s", w->kind, what,
                        mase_strerror(why));
}

/* The process has ended normally. */
static void forget(struct mase_reader *w)
{
    if (w->fd > 0)
        close(w->fd);
    mase_xfree(w->cleanup);
    w->cleanup = NULL;
    w->fd = 0;
}

static enum mase_status start(struct mase_reader *w, int child_end, struct mase_err *err)
{
    const int program = move_above_child_end(open_program());
    if (program < 0)
        return fail_start(w, "memfd_create", errno, err);
    const int why = spawn(&w->child, program, child_end);
    close(program);
    if (why)
        return fail_start(w, "/proc/self/fd", why, err);
    if (w->cleanup)
        w->cleanup->child = w->child;
    return MASE_OK;
}

enum mase_status mase_reader_start(struct mase_reader *w, struct mase_err *err)
{
    int ends[2];
    w->cleanup = mase_process_cleanup();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        const enum mase_status st = fail_start(w, "socketpair", errno, err);
        forget(w);
        return st;
    }
    w->fd = move_above_child_end(ends[0]);
    const int child_end = move_above_child_end(ends[1]);
    if (w->cleanup && w->fd > 0)
        w->cleanup->fd[0] = w->fd;
    enum mase_status st =
        w->fd < 0 || child_end < 0 ? fail_start(w, "fcntl", errno, err) : start(w, child_end, err);
    if (child_end >= 0)
        close(child_end);
    if (st)
        forget(w);
    else /* waitpid tells if it has ended already */
        (void)mase_reader_send(w->fd, &w->limits, sizeof w->limits);
    return st;
}

/* ---- requests ---- */

/* Describe how the process ended. */
static void find_end(const struct mase_reader *w, int how, struct mase_err *err)
{
    const int seconds = (int)w->limits.seconds;
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        mase_fail_in(err, MASE_ELIMIT, w->path,
                     "reading this %s took more than %d second%s of computing", w->kind, seconds,
                     seconds == 1 ? "" : "s");
    else if (WIFSIGNALED(how))
        mase_fail_in(err, MASE_EPARSE, w->path, "damaged %s: %s fails on it (signal %d)", w->kind,
                     w->library, WTERMSIG(how));
    else if (WEXITSTATUS(how) == NOT_STARTED)
        mase_fail_in(err, MASE_EUNSUPPORTED, w->path,
                     "the process that reads a %s cannot be started: libpng16.so.16 or "
                     "libjpeg.so.62 (Debian: libpng16-16, libjpeg62-turbo) is not here",
                     w->kind);
    else if (WEXITSTATUS(how) == NO_MEMORY)
        mase_fail_in(err, MASE_ELIMIT, w->path,
                     "reading this %s takes more than the %llu bytes of memory that it may",
                     w->kind, (unsigned long long)w->limits.memory);
    else
        mase_fail_in(err, MASE_EIO, w->path, "the process that reads the file ended with status %d",
                     WEXITSTATUS(how));
}

/* Fail with the reason why the process ended; later requests fail alike. */
static enum mase_status fail_with_end(const struct mase_reader *w, struct mase_err *err)
{
    return mase_fail_in(err, w->end.status, w->path, "%s", w->end.msg);
}

static enum mase_status fail_ended(struct mase_reader *w, struct mase_err *err)
{
    int how = 0;
    while (waitpid(w->child, &how, 0) < 0 && errno == EINTR)
        continue;
    w->child = 0;
    forget(w);
    find_end(w, how, &w->end);
    return fail_with_end(w, err);
}

/* Fail: the answer is impossible or too large. */
static enum mase_status fail_bad_answer(struct mase_reader *w, struct mase_err *err)
{
    mase_reader_stop(w);
    mase_fail_in(&w->end, MASE_EPARSE, w->path, "damaged %s: what %s says of it is impossible",
                 w->kind, w->library);
    return fail_with_end(w, err);
}

/* An error that the process reports is about its file. */
static enum mase_status pass_on(const struct mase_reader *w, struct mase_reader_reply *v,
                                struct mase_err *err)
{
    struct mase_loc at = { .path = w->path, .off = v->err.loc.off };
    v->err.msg[sizeof v->err.msg - 1] = 0;
    const bool known = v->status > MASE_OK && v->status < MASE_ENOMEM;
    return mase_fail_at(err, known ? v->status : MASE_EPARSE, at, "%s", v->err.msg);
}

static enum mase_status ask(struct mase_reader *w, struct mase_reader_reply *v,
                            const struct mase_reader_request *q, const void *data,
                            struct mase_err *err)
{
    if (w->fd <= 0)
        return fail_with_end(w, err);
    if (!mase_reader_send(w->fd, q, sizeof *q) || !mase_reader_send(w->fd, data, q->bytes) ||
        !mase_reader_receive(w->fd, v, sizeof *v))
        return fail_ended(w, err);
    return v->status ? pass_on(w, v, err) : MASE_OK;
}

enum mase_status mase_reader_call(struct mase_reader *w, struct mase_reader_request q,
                                  const void *data, void *reply, size_t size, int64_t *number,
                                  struct mase_err *err)
{
    struct mase_reader_reply v;
    MASE_TRY(ask(w, &v, &q, data, err));
    if (v.bytes != size)
        return fail_bad_answer(w, err);
    if (number)
        *number = v.number;
    return mase_reader_receive(w->fd, reply, size) ? MASE_OK : fail_ended(w, err);
}

enum mase_status mase_reader_call_any(struct mase_reader *w, struct mase_reader_request q,
                                      const void *data, const char **reply, size_t *size,
                                      uint64_t most, struct mase_arena *a, struct mase_err *err)
{
    struct mase_reader_reply v;
    MASE_TRY(ask(w, &v, &q, data, err));
    if (v.bytes > most)
        return fail_bad_answer(w, err);
    char *text = mase_arena_alloc(a, (size_t)v.bytes + 1);
    text[v.bytes] = 0;
    *reply = text;
    *size = (size_t)v.bytes;
    return mase_reader_receive(w->fd, text, *size) ? MASE_OK : fail_ended(w, err);
}

void mase_reader_stop(struct mase_reader *w)
{
    if (w->fd <= 0)
        return;
    close(w->fd); /* end of input ends the process */
    w->fd = 0;
    if (w->cleanup)
        w->cleanup->fd[0] = -1;
    while (waitpid(w->child, NULL, 0) < 0 && errno == EINTR)
        continue;
    forget(w);
}
