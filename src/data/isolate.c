/*
 * isolate.c - a child process that reads a table and writes it to a pipe:
 *
 *     struct reply     status, error and sizes; on failure nothing follows
 *     names            a 32-bit length and the bytes, for each feature
 *     numbers          doubles (rows, features), then 32-bit labels (rows)
 *
 * Both ends are one program, so structs travel as they are. The parent still checks the sizes: a
 * child that has gone wrong may have written anything.
 */
#include "data/isolate.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

enum { NAME_MAX_BYTES = 1 << 16, FEATURES_LIMIT = 1 << 20 };

struct reply {
    enum mase_status status;
    struct mase_err err;
    struct mase_shape sample;
    int64_t rows, features;
    int classes;
    bool single;
};

/* All of it, or false. */
static bool send(int fd, const void *data, size_t size)
{
    for (const char *p = data; size;) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool receive(int fd, void *data, size_t size)
{
    for (char *p = data; size;) {
        const ssize_t n = read(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static size_t number_bytes(const struct mase_raw *r)
{
    return (size_t)(r->rows * r->features) * sizeof *r->x;
}

static size_t label_bytes(const struct mase_raw *r)
{
    return (size_t)r->rows * sizeof *r->label;
}

/* ---- the child ---- */

static bool send_table(int fd, const struct mase_raw *r)
{
    bool ok = true;
    for (int64_t f = 0; ok && f < r->features; f++) {
        const uint32_t n = (uint32_t)strlen(r->feature_names[f]);
        ok = send(fd, &n, sizeof n) && send(fd, r->feature_names[f], n);
    }
    return ok && send(fd, r->x, number_bytes(r)) && send(fd, r->label, label_bytes(r));
}

/* A crash must end the child, whatever handlers the program has. */
static void reset_signals(void)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE };
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        signal(crashes[i], SIG_DFL);
}

static _Noreturn void run_child(int fd, const char *path, mase_isolated_fn *read_table,
                                const void *user)
{
    struct mase_arena a = { 0 };
    struct mase_isolated t = { 0 };
    struct reply reply = { 0 };
    reset_signals();
    reply.status = read_table(&t, &a, path, user, &reply.err);
    reply.sample = t.sample;
    reply.rows = t.raw.rows;
    reply.features = t.raw.features;
    reply.classes = t.raw.classes;
    reply.single = t.raw.single;
    const bool ok = send(fd, &reply, sizeof reply) && (reply.status || send_table(fd, &t.raw));
    _exit(ok ? 0 : 1); /* no handlers, no flushing of what the parent has buffered */
}

/* ---- the parent ---- */

static bool receive_names(int fd, struct mase_raw *r, struct mase_arena *a)
{
    const char **names = mase_new_array(a, const char *, (size_t)r->features);
    for (int64_t f = 0; f < r->features; f++) {
        uint32_t n;
        if (!receive(fd, &n, sizeof n) || n > NAME_MAX_BYTES)
            return false;
        char *name = mase_arena_alloc(a, n + 1);
        if (!receive(fd, name, n))
            return false;
        names[f] = name;
    }
    r->feature_names = names;
    return true;
}

static bool receive_table(int fd, struct mase_raw *r, struct mase_arena *a)
{
    if (r->rows < 0 || r->rows > UINT32_MAX || r->features < 1 || r->features > FEATURES_LIMIT ||
        !receive_names(fd, r, a))
        return false;
    r->cap = r->rows;
    r->x = mase_xrealloc(NULL, number_bytes(r) + 1);
    r->label = mase_xrealloc(NULL, label_bytes(r) + 1);
    return receive(fd, r->x, number_bytes(r)) && receive(fd, r->label, label_bytes(r));
}

/* What the child has to say; false: it did not finish. */
static bool take_reply(int fd, struct mase_isolated *t, struct mase_arena *a,
                       enum mase_status *status, struct mase_err *err)
{
    struct reply reply;
    if (!receive(fd, &reply, sizeof reply))
        return false;
    *status = reply.status;
    if (reply.status) {
        struct mase_loc at = reply.err.loc;
        at.path = at.path ? reply.err.path : NULL; /* it pointed into the child's copy */
        mase_fail_at(err, reply.status, at, "%s", reply.err.msg);
        return true;
    }
    t->sample = reply.sample;
    t->raw = (struct mase_raw){ .rows = reply.rows,
                                .features = reply.features,
                                .classes = reply.classes,
                                .single = reply.single };
    return receive_table(fd, &t->raw, a);
}

static enum mase_status run_parent(int fd, pid_t child, struct mase_isolated *t,
                                   struct mase_arena *a, const char *path, struct mase_err *err)
{
    enum mase_status status = MASE_OK;
    const bool whole = take_reply(fd, t, a, &status, err);
    close(fd);
    int how = 0;
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        continue;
    if (whole)
        return status;
    mase_raw_release(&t->raw);
    if (WIFSIGNALED(how))
        return mase_fail_in(err, MASE_EPARSE, path,
                            "damaged HDF5 file: libhdf5 fails on it (signal %d)", WTERMSIG(how));
    return mase_fail_in(err, MASE_EIO, path, "the process that reads the file ended with status %d",
                        WEXITSTATUS(how));
}

enum mase_status mase_isolate(struct mase_isolated *t, struct mase_arena *a, const char *path,
                              mase_isolated_fn *read_table, const void *user, struct mase_err *err)
{
    int ends[2];
    if (pipe(ends) != 0)
        return mase_fail_errno(err, path, "cannot make a pipe");
    const pid_t child = fork();
    if (child < 0) {
        const enum mase_status st = mase_fail_errno(err, path, "cannot start a process to read it");
        close(ends[0]);
        close(ends[1]);
        return st;
    }
    if (child == 0) {
        close(ends[0]);
        run_child(ends[1], path, read_table, user);
    }
    close(ends[1]);
    return run_parent(ends[0], child, t, a, path, err);
}
