/*
 * child.c - a program run as a filter.
 *
 * The parent feeds and drains both pipes at once, so neither side can wait for the other forever,
 * and kills what is late or loud. Limits that the kernel can hold, it holds: address space,
 * processor time, no core file, no network (base/confine.c). The child leads a process group, which
 * is killed when it has ended, and dies with us.
 */
#define _GNU_SOURCE /* close_range */

#include "frontend/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase/arena.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/progress.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/host.h"
#include "base/process.h"

enum { READ_BYTES = 1 << 16, START_MS = 60000, GRACE_MS = 2000, POLL_MS = 50, LAST_READS = 64 };

/* ---- finding it ---- */

/* The first executable file of that name in PATH, or NULL. */
static const char *find_program(struct mase_arena *a, const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        const size_t n = strcspn(path, ":");
        const char *dir = n ? mase_arena_strndup(a, path, n) : ".";
        const char *file = mase_path_join(a, dir, name);
        if (mase_is_file(file) && access(file, X_OK) == 0)
            return file;
        path += n + (path[n] == ':');
    }
    return NULL;
}

/* What a child may know of our environment: where programs are, and which Python is meant. */
static char **environment(struct mase_arena *a)
{
    static const char *const kept[] = { "PATH", "HOME", "TMPDIR", "PYENV_ROOT", "PYENV_VERSION" };
    char **env = mase_new_array(a, char *, sizeof kept / sizeof kept[0] + 2);
    int n = 0;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (getenv(kept[i]))
            env[n++] = mase_arena_printf(a, "%s=%s", kept[i], getenv(kept[i]));
    env[n++] = mase_arena_strdup(a, "LANG=C.UTF-8");
    env[n] = NULL;
    return env;
}

/* ---- the child ---- */

static void limit(int what, double value)
{
    const struct rlimit r = { (rlim_t)value, (rlim_t)value };
    setrlimit((__rlimit_resource_t)what, &r);
}

/* Files that are open here are none of its business. */
static void close_others(void)
{
#ifdef SYS_close_range
    (void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
#endif
}

static _Noreturn void become(const struct mase_child *c, const char *file, char **env,
                             const int ends[3])
{
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 3; i++)
        dup2(ends[i], i);
    limit(RLIMIT_AS, (double)c->memory);
    limit(RLIMIT_CPU, ceil(c->seconds) + 2);
    limit(RLIMIT_CORE, 0);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mase_confine_network();
    close_others();
    execve(file, (char *const *)c->argv, env);
    _exit(127);
}

/* ---- the parent ---- */

struct pipes {
    int to, from, said; /* our ends: of its input, output, errors; -1 when closed */
    const char *rest;
    size_t left;            /* of rest */
    struct mase_str reply;  /* what rest is of, after a question */
    size_t line, looked_at; /* in its output: where the last line begins, how much of it is known */
    size_t heard, too_much; /* bytes of its errors: passed on, and left out */
    struct mase_str saying; /* for a host: of its errors, the line that is not yet whole */
    struct mase_process *cleanup;
};

/* Also for the cleanup, which has the same descriptors. */
static void shut(struct pipes *p, int *fd)
{
    for (int i = 0; p->cleanup && i < 6; i++)
        if (p->cleanup->fd[i] == *fd)
            p->cleanup->fd[i] = -1;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* write(2) to a pipe that nobody may read any more. What the process does about SIGPIPE is its own
 * affair, so the signal is held back from this thread, and taken if it came. */
static ssize_t write_quietly(int fd, const char *data, size_t size)
{
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    const ssize_t n = write(fd, data, size);
    const int why = errno;
    if (n < 0 && why == EPIPE && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe_only, NULL, &(struct timespec){ 0 }) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return n;
}

static void feed(struct pipes *p, bool asks)
{
    const ssize_t n = write_quietly(p->to, p->rest, p->left);
    if (n > 0) {
        p->rest += n;
        p->left -= (size_t)n;
    }
    if ((n < 0 && errno != EINTR && errno != EAGAIN) || (!p->left && !asks))
        shut(p, &p->to); /* a child that does not read to the end says why in its answer */
}

/* Up to READ_BYTES of what a pipe has; 0: nothing now, or nothing more and it is shut. */
static size_t take(struct pipes *p, int *fd, char *buffer)
{
    const ssize_t n = read(*fd, buffer, READ_BYTES);
    if (n > 0)
        return (size_t)n;
    if (n == 0 || (errno != EINTR && errno != EAGAIN))
        shut(p, fd);
    return 0;
}

static void drain(struct pipes *p, struct mase_str *out)
{
    char buffer[READ_BYTES];
    mase_str_addn(out, buffer, take(p, &p->from, buffer));
}

/* The last line, when it has come to its end, may be a question. */
static void hear(struct pipes *p, struct mase_str *out, const struct mase_child *c)
{
    const char *text = mase_str_text(out);
    for (; p->looked_at < out->len; p->looked_at++) {
        if (text[p->looked_at] != '\n')
            continue;
        if (text[p->line] == '?' && p->looked_at + 1 == out->len) {
            mase_str_clear(&p->reply);
            c->ask(&p->reply, text + p->line + 1, p->looked_at - p->line - 1, c->data);
            p->rest = mase_str_text(&p->reply);
            p->left = p->reply.len;
            mase_str_cut(out, p->line);
            p->looked_at = p->line;
            return;
        }
        p->line = p->looked_at + 1;
    }
}

/* A program around the library hears its lines as warnings; else it shares our standard error. */
static void log_lines(struct pipes *p, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n') {
            mase_str_addc(&p->saying, text[i]);
            continue;
        }
        mase_warn("%s", mase_str_text(&p->saying));
        mase_str_clear(&p->saying);
    }
}

static void write_errors(const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t written = write(STDERR_FILENO, text + at, n - at);
        if (written < 0 && errno != EINTR)
            break; /* nobody listens */
        at += written > 0 ? (size_t)written : 0;
    }
}

static void pass_on(struct pipes *p, size_t most)
{
    char buffer[READ_BYTES];
    const size_t n = take(p, &p->said, buffer);
    const size_t room = most - p->heard, passed = n < room ? n : room;
    if (mase_host_current())
        log_lines(p, buffer, passed);
    else
        write_errors(buffer, passed);
    p->heard += passed;
    p->too_much += n - passed;
}

static bool has_ended(pid_t child)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

/* Until the child closes its output or ends, or must be stopped. It may end with its output open: a
 * process that it has started can hold it. Its time begins with its first output: how long a
 * program takes to start is not its fault. */
static enum mase_child_end converse(struct pipes *p, struct mase_str *out,
                                    const struct mase_child *c, pid_t child)
{
    uint64_t start = mase_clock();
    const double own_ms = c->seconds * 1000 + GRACE_MS; /* it has its own alarm, which says where */
    bool begun = false;
    while (p->from >= 0) {
        const double spent = (double)(mase_clock() - start) / 1e6;
        if (spent >= (begun ? own_ms : START_MS + own_ms))
            return MASE_CHILD_LATE;
        struct pollfd fds[3] = { { .fd = p->from, .events = POLLIN },
                                 { .fd = p->left || !c->ask ? p->to : -1, .events = POLLOUT },
                                 { .fd = p->said, .events = POLLIN } };
        const int ready = poll(fds, 3, POLL_MS);
        if (ready == 0 && has_ended(child))
            return MASE_CHILD_DONE;
        if (ready <= 0)
            continue;
        if (fds[1].revents)
            feed(p, c->ask != NULL);
        if (fds[2].revents)
            pass_on(p, c->max_said);
        if (fds[0].revents) {
            drain(p, out);
            if (c->ask)
                hear(p, out, c);
        }
        if (!begun && out->len) {
            begun = true;
            start = mase_clock();
        }
        if (out->len > c->max_output)
            return MASE_CHILD_LOUD;
    }
    return MASE_CHILD_DONE;
}

/* Pass on what it says within so many milliseconds; false when that is nothing. */
static bool listen_for(struct pipes *p, size_t most, int ms)
{
    struct pollfd fd = { .fd = p->said, .events = POLLIN };
    if (poll(&fd, 1, ms) <= 0)
        return false;
    pass_on(p, most);
    return true;
}

/* It has closed its output and should be gone at once. It is listened to until then: Python writes
 * what its buffers hold when it ends, and fails if nobody reads that. What it has left behind goes
 * too: its group keeps its number until it is waited for. */
static int wait_for(pid_t child, struct pipes *p, size_t most)
{
    const uint64_t start = mase_clock();
    int how = 0;
    while (!has_ended(child) && (double)(mase_clock() - start) / 1e6 < GRACE_MS)
        listen_for(p, most, 1);
    kill(-child, SIGKILL);
    for (int i = 0; i < LAST_READS && p->said >= 0 && listen_for(p, most, 0); i++)
        continue; /* a pipe's worth; whoever else holds it may go on for ever */
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        continue;
    if (p->cleanup)
        p->cleanup->child = 0;
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

static enum mase_child_end attend(int *code, struct mase_str *out, const struct mase_child *c,
                                  pid_t child, struct pipes *p)
{
    fcntl(p->to, F_SETFL, O_NONBLOCK);
    const enum mase_child_end end = converse(p, out, c, child);
    shut(p, &p->to);
    shut(p, &p->from);
    if (end != MASE_CHILD_DONE)
        kill(-child, SIGKILL);
    *code = wait_for(child, p, c->max_said);
    shut(p, &p->said);
    return end;
}

/* A program that has closed its standard streams gets their numbers for our pipes: out of the way.
 */
static bool lift(int *fd)
{
    if (*fd > STDERR_FILENO)
        return true;
    const int higher = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (higher < 0)
        return false;
    close(*fd);
    *fd = higher;
    return true;
}

/* Its standard input, output and errors: both ends of each. */
static bool open_pipes(int ends[3][2])
{
    for (int i = 0; i < 3; i++)
        ends[i][0] = ends[i][1] = -1;
    for (int i = 0; i < 3; i++) {
        if (pipe2(ends[i], O_CLOEXEC) != 0 || !lift(&ends[i][0]) || !lift(&ends[i][1])) {
            for (int k = 0; k < 6; k++)
                if (ends[k / 2][k % 2] >= 0)
                    close(ends[k / 2][k % 2]);
            return false;
        }
    }
    return true;
}

enum mase_status mase_child_run(enum mase_child_end *end, int *code, struct mase_str *out,
                                size_t *left_out, const struct mase_child *c, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    int ends[3][2];
    const char *file = find_program(&a, c->program);
    char **env = environment(&a);
    struct mase_process *cleanup = mase_process_cleanup();
    enum mase_status st = MASE_OK;

    *end = MASE_CHILD_ABSENT;
    *left_out = 0;
    if (!file)
        goto out;
    if (!open_pipes(ends)) {
        st = mase_fail_errno(err, c->program, "cannot make a pipe");
        goto out;
    }
    const int its[3] = { ends[0][0], ends[1][1], ends[2][1] };
    struct pipes p = { .to = ends[0][1], .from = ends[1][0], .said = ends[2][0] };
    p.rest = c->input;
    p.left = c->input_size;
    p.cleanup = cleanup;
    const pid_t child = fork();
    if (child == 0)
        become(c, file, env, its);
    for (int i = 0; cleanup && i < 3; i++) {
        cleanup->fd[i] = ends[i][i ? 0 : 1];
        cleanup->child = child > 0 ? child : 0;
        cleanup->group = true;
    }
    if (child > 0)
        setpgid(child, child); /* whoever is first: both need it */
    if (child < 0)
        st = mase_fail_errno(err, c->program, "cannot start a process");
    for (int i = 0; i < 3; i++)
        close(its[i]);
    if (child > 0)
        *end = attend(code, out, c, child, &p);
    shut(&p, &p.to);
    shut(&p, &p.from);
    shut(&p, &p.said);
    if (p.saying.len)
        mase_warn("%s", mase_str_text(&p.saying));
    mase_str_release(&p.saying);
    mase_str_release(&p.reply);
    *left_out = p.too_much;
out:
    mase_xfree(cleanup);
    mase_arena_release(&a);
    return st;
}
