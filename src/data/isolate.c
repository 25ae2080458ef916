/*
 * isolate.c - a child process that reads a table and writes it to a socket:
 *
 *     struct reply     status, error and sizes; on failure nothing follows
 *     names            a 32-bit length and the bytes, for each feature and the label
 *     numbers          doubles (rows, features), 32-bit labels (rows), and the groups as doubles
 *                      (rows) if there are any
 *
 * Both ends are one program, so structs travel as they are. The parent still checks the sizes: a
 * child that has gone wrong may have written anything. The child has limits of memory and time, and
 * once it has opened the file it can open no other.
 */
#include "data/isolate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/host.h"
#include "base/process.h"

enum {
    NAME_MAX_BYTES = 1 << 16,
    FEATURES_LIMIT = 1 << 20,
    CLASSES_LIMIT = 1 << 16,
    SECONDS = 60, /* of computing, and one more for each megabyte of the file */
    WAITS = 20,   /* times as long, computing or not */
};

/* A sanitizer's own memory is far beyond any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct reply {
    enum mase_status status;
    struct mase_err err;
    struct mase_shape sample;
    struct mase_raw raw; /* whose pointers mean nothing here */
};

bool mase_isolate_send(int fd, const void *data, size_t size)
{
    for (const char *p = data; size;) {
        const ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

bool mase_isolate_receive(int fd, void *data, size_t size)
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

static size_t group_bytes(const struct mase_raw *r)
{
    return (size_t)r->rows * sizeof *r->group;
}

uint64_t mase_data_memory(uint64_t file_size)
{
    return ((uint64_t)4 << 30) + 16 * file_size;
}

static uint64_t file_size(const char *path)
{
    struct mase_file f;
    if (mase_file_open(&f, path, NULL))
        return 0;
    const uint64_t size = f.size;
    mase_file_close(&f);
    return size;
}

/* ---- the child ---- */

/* What this process has already, in bytes. */
static uint64_t own_memory(void)
{
    char text[64] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return (uint64_t)1 << 30;
    const uint64_t pages = fgets(text, sizeof text, f) ? strtoull(text, NULL, 10) : 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Signals come at `most`, the end a little later. A limit that is lower already stays. */
static void limit(int what, uint64_t most, uint64_t grace)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0)
        return;
    if (now.rlim_max == RLIM_INFINITY || most + grace < now.rlim_max)
        (void)!setrlimit(what, &(struct rlimit){ (rlim_t)most, (rlim_t)(most + grace) });
}

/* A crash must end the child, whatever handlers the program has. */
static void reset_signals(void)
{
    static const int crashes[] = { SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                   SIGABRT, SIGPIPE, SIGXCPU, SIGALRM };
    sigset_t all;
    sigemptyset(&all);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        signal(crashes[i], SIG_DFL);
        sigaddset(&all, crashes[i]);
    }
    sigprocmask(SIG_UNBLOCK, &all, NULL); /* whatever this thread of the program holds back */
}

void mase_isolate_limit(uint64_t file_bytes)
{
    reset_signals();
    limit(RLIMIT_CORE, 0, 0);
    if (!SANITIZED)
        limit(RLIMIT_AS, own_memory() + mase_data_memory(file_bytes), 0);
}

static uint64_t seconds_for(const struct mase_isolated *t, uint64_t size)
{
    return (t->seconds ? t->seconds : SECONDS) + (size >> 20);
}

void mase_isolate_seal(void)
{
    limit(RLIMIT_NOFILE, 0, 0);
}

static bool send_name(int fd, const char *name)
{
    const uint32_t n = name ? (uint32_t)strlen(name) : 0;
    return mase_isolate_send(fd, &n, sizeof n) && (!n || mase_isolate_send(fd, name, n));
}

static bool send_table(int fd, const struct mase_raw *r)
{
    bool ok = true;
    for (int64_t f = 0; ok && f < r->features; f++)
        ok = send_name(fd, r->feature_names[f]);
    for (int k = 0; ok && r->class_names && k < r->classes; k++)
        ok = send_name(fd, r->class_names[k]);
    return ok && send_name(fd, r->label_name) && mase_isolate_send(fd, r->x, number_bytes(r)) &&
           mase_isolate_send(fd, r->label, label_bytes(r)) &&
           (!r->grouped || mase_isolate_send(fd, r->group, group_bytes(r)));
}

static _Noreturn void run_child(int fd, struct mase_isolated *t, const char *path, uint64_t size,
                                mase_isolated_fn *read_table, const void *user)
{
    struct mase_arena a = { 0 };
    struct reply reply = { 0 };
    /* A small file may unpack to anything, and a damaged one keep the library busy for ever. */
    mase_isolate_limit(size);
    limit(RLIMIT_CPU, seconds_for(t, size), 5);
    alarm(WAITS * (unsigned)seconds_for(t, size)); /* a lock that another thread held at the fork */
    reply.status = read_table(t, &a, path, user, &reply.err);
    reply.sample = t->sample;
    reply.raw = t->raw;
    const bool ok =
        mase_isolate_send(fd, &reply, sizeof reply) && (reply.status || send_table(fd, &t->raw));
    _exit(ok ? 0 : 1); /* no handlers, no flushing of what the parent has buffered */
}

/* ---- the parent ---- */

static bool receive_name(int fd, const char **name, struct mase_arena *a)
{
    uint32_t n;
    if (!mase_isolate_receive(fd, &n, sizeof n) || n > NAME_MAX_BYTES)
        return false;
    char *text = mase_arena_alloc(a, n + 1);
    *name = text;
    return mase_isolate_receive(fd, text, n);
}

/* r->class_names: whether the child has any. */
static bool receive_classes(int fd, struct mase_raw *r, struct mase_arena *a)
{
    if (!r->class_names)
        return true;
    if (r->classes < 0 || r->classes > CLASSES_LIMIT)
        return false;
    const char **names = mase_new_array(a, const char *, (size_t)r->classes + 1);
    for (int k = 0; k < r->classes; k++)
        if (!receive_name(fd, &names[k], a))
            return false;
    r->class_names = names;
    return true;
}

static bool receive_names(int fd, struct mase_raw *r, struct mase_arena *a)
{
    const char **names = mase_new_array(a, const char *, (size_t)r->features);
    for (int64_t f = 0; f < r->features; f++)
        if (!receive_name(fd, &names[f], a))
            return false;
    r->feature_names = names;
    return receive_classes(fd, r, a) && receive_name(fd, &r->label_name, a);
}

/* The shape of the targets is that of so many. */
static bool fits_targets(const struct mase_raw *r)
{
    const struct mase_shape *s = &r->target_shape;
    int64_t left = r->targets;
    if (s->rank < 0 || s->rank > MASE_MAX_RANK || (s->rank == 0) != (r->targets == 0))
        return false;
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 1 || left % s->dim[i])
            return false;
        left /= s->dim[i];
    }
    return left <= 1;
}

/* The values of a sample of this shape; -1: it is none. */
static int64_t count_of(const struct mase_shape *s)
{
    int64_t count = 1;
    if (s->rank < 0 || s->rank >= MASE_MAX_RANK)
        return -1;
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 1 || s->dim[i] > FEATURES_LIMIT)
            return -1;
        count *= s->dim[i];
        if (count > FEATURES_LIMIT)
            return -1;
    }
    return count;
}

/* The shapes of the inputs are those of the features, and names are texts. */
static bool fits_inputs(const struct mase_raw *r, const struct mase_shape *sample)
{
    if (r->more_count < 0 || r->more_count > MASE_MORE_INPUTS || r->other_count < 0 ||
        r->other_count > MASE_RAW_OTHERS || !memchr(r->array, 0, sizeof r->array))
        return false;
    for (int i = 0; i < r->other_count; i++)
        if (!memchr(r->other[i].name, 0, sizeof r->other[i].name) || r->other[i].sample.rank < 0 ||
            r->other[i].sample.rank >= MASE_MAX_RANK)
            return false;
    int64_t left = r->features - r->targets;
    for (int i = 0; i <= r->more_count && r->more_count; i++) {
        const int64_t count = count_of(i ? &r->more[i - 1] : sample);
        if (count < 0)
            return false;
        left -= count;
    }
    return !r->more_count || left == 0;
}

static bool receive_table(int fd, struct mase_raw *r, struct mase_arena *a, uint64_t size)
{
    if (r->rows < 0 || r->rows > UINT32_MAX || r->training < 0 || r->training > r->rows ||
        r->validation < 0 || r->validation > r->rows - r->training || r->features < 1 ||
        r->features > FEATURES_LIMIT || r->targets < 0 || r->targets >= r->features ||
        !fits_targets(r) || number_bytes(r) > mase_data_memory(size) || !receive_names(fd, r, a))
        return false;
    r->cap = r->rows;
    r->x = mase_xrealloc(NULL, number_bytes(r) + 1);
    r->label = mase_xrealloc(NULL, label_bytes(r) + 1);
    if (r->grouped)
        r->group = mase_xrealloc(NULL, group_bytes(r) + 1);
    return mase_isolate_receive(fd, r->x, number_bytes(r)) &&
           mase_isolate_receive(fd, r->label, label_bytes(r)) &&
           (!r->grouped || mase_isolate_receive(fd, r->group, group_bytes(r)));
}

/* What the child has to say; false: it did not finish. */
static bool take_reply(int fd, struct mase_isolated *t, struct mase_arena *a, uint64_t size,
                       enum mase_status *status, struct mase_err *err)
{
    struct reply reply;
    if (!mase_isolate_receive(fd, &reply, sizeof reply))
        return false;
    *status = reply.status;
    if (reply.status) {
        struct mase_loc at = reply.err.loc;
        at.path = at.path ? reply.err.path : NULL; /* it pointed into the child's copy */
        mase_fail_at(err, reply.status, at, "%s", reply.err.msg);
        return true;
    }
    t->sample = reply.sample;
    const struct mase_raw *r = &reply.raw;
    t->raw = (struct mase_raw){ .rows = r->rows,
                                .features = r->features,
                                .classes = r->classes,
                                .single = r->single,
                                .named = r->named,
                                .grouped = r->grouped,
                                .drop = t->raw.drop,
                                .target = t->raw.target,
                                .targets = r->targets,
                                .target_shape = r->target_shape,
                                .training = r->training,
                                .validation = r->validation,
                                .guessed = r->guessed,
                                .class_names = r->class_names,
                                .more_count = r->more_count,
                                .other_count = r->other_count };
    memcpy(t->raw.more, r->more, sizeof r->more);
    memcpy(t->raw.integers, r->integers, sizeof r->integers);
    memcpy(t->raw.array, r->array, sizeof r->array);
    memcpy(t->raw.other, r->other, sizeof r->other);
    return fits_inputs(&t->raw, &t->sample) && receive_table(fd, &t->raw, a, size);
}

static enum mase_status run_parent(int fd, pid_t child, struct mase_process *cleanup,
                                   struct mase_isolated *t, struct mase_arena *a, const char *path,
                                   uint64_t size, struct mase_err *err)
{
    enum mase_status status = MASE_OK;
    const bool whole = take_reply(fd, t, a, size, &status, err);
    close(fd);
    int how = 0;
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        continue;
    mase_xfree(cleanup);
    if (whole)
        return status;
    mase_raw_release(&t->raw);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        return mase_fail_in(err, MASE_ELIMIT, path,
                            "reading this HDF5 file took more than %d second%s of computing",
                            (int)seconds_for(t, size), seconds_for(t, size) == 1 ? "" : "s");
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM)
        return mase_fail_in(err, MASE_EIO, path, "reading this HDF5 file did not end in %d seconds",
                            WAITS * (int)seconds_for(t, size));
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
    const uint64_t size = file_size(path);
    struct mase_process *cleanup = mase_process_cleanup();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        const enum mase_status st = mase_fail_errno(err, path, "cannot make a socket");
        mase_xfree(cleanup);
        return st;
    }
    const pid_t child = fork();
    if (child < 0) {
        const enum mase_status st = mase_fail_errno(err, path, "cannot start a process to read it");
        close(ends[0]);
        close(ends[1]);
        mase_xfree(cleanup);
        return st;
    }
    if (child == 0) {
        mase_guard_forked();
        close(ends[0]);
        run_child(ends[1], t, path, size, read_table, user);
    }
    close(ends[1]);
    if (cleanup) {
        cleanup->fd[0] = ends[0];
        cleanup->child = child;
    }
    return run_parent(ends[0], child, cleanup, t, a, path, size, err);
}
