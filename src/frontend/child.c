/*
 * child.c - a program run as a filter.
 *
 * The parent writes the child's input and reads its output and errors in one poll loop, so neither
 * side can wait for the other forever; it kills a child that runs too long or writes too much. The
 * kernel limits address space and processor time, and refuses core files and the network
 * (base/confine.c). The child leads a process group, which is killed when the child has ended; the
 * child is killed when our process dies.
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

/* ---- the program ---- */

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

/* The variables of our environment that the child gets: where programs are, and which Python to
 * use.
 */
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

/* The child inherits no open file beside its standard streams. */
static void close_other_files(void)
{
#ifdef SYS_close_range
    (void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
#endif
}

static _Noreturn void exec_child(const struct mase_child *c, const char *file, char **env,
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
    close_other_files();
    execve(file, (char *const *)c->argv, env);
    _exit(127);
}

/* ---- the parent ---- */

struct pipes {
    int input, output, errors; /* our ends; -1: closed */
    const char *rest;          /* unwritten part of the input */
    size_t rest_size;
    struct mase_str reply;        /* holds `rest` after a question */
    size_t line, scanned;         /* offsets in the output: last line, unread part */
    size_t forwarded, dropped;    /* bytes of the error stream */
    struct mase_str error_line;   /* for a host: unfinished last line of the error stream */
    struct mase_process *cleanup; /* has copies of the descriptors */
};

static void close_pipe(struct pipes *p, int *fd)
{
    for (int i = 0; p->cleanup && i < 6; i++)
        if (p->cleanup->fd[i] == *fd)
            p->cleanup->fd[i] = -1;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* write(2) to a pipe that may have lost its reader. How the process handles SIGPIPE is not ours to
 * change, so this thread blocks the signal and consumes one that its write raised. */
static ssize_t write_without_sigpipe(int fd, const char *data, size_t size)
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

static void write_input(struct pipes *p, bool asks)
{
    const ssize_t n = write_without_sigpipe(p->input, p->rest, p->rest_size);
    if (n > 0) {
        p->rest += n;
        p->rest_size -= (size_t)n;
    }
    if ((n < 0 && errno != EINTR && errno != EAGAIN) || (!p->rest_size && !asks))
        close_pipe(p, &p->input); /* a child that stops reading reports why in its output */
}

/* Read up to READ_BYTES. 0: the pipe has nothing now, or it has ended and is closed. */
static size_t read_pipe(struct pipes *p, int *fd, char *buffer)
{
    const ssize_t n = read(*fd, buffer, READ_BYTES);
    if (n > 0)
        return (size_t)n;
    if (n == 0 || (errno != EINTR && errno != EAGAIN))
        close_pipe(p, fd);
    return 0;
}

static void read_output(struct pipes *p, struct mase_str *out)
{
    char buffer[READ_BYTES];
    mase_str_addn(out, buffer, read_pipe(p, &p->output, buffer));
}

/* If the output ends with a whole line that is a question, cut it off and answer it. */
static void read_question(struct pipes *p, struct mase_str *out, const struct mase_child *c)
{
    const char *text = mase_str_text(out);
    for (; p->scanned < out->len; p->scanned++) {
        if (text[p->scanned] != '\n')
            continue;
        if (text[p->line] == '?' && p->scanned + 1 == out->len) {
            mase_str_clear(&p->reply);
            c->ask(&p->reply, text + p->line + 1, p->scanned - p->line - 1, c->data);
            p->rest = mase_str_text(&p->reply);
            p->rest_size = p->reply.len;
            mase_str_cut(out, p->line);
            p->scanned = p->line;
            return;
        }
        p->line = p->scanned + 1;
    }
}

/* Log each line of the error stream as a warning, for a host program. */
static void warn_lines(struct pipes *p, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n') {
            mase_str_addc(&p->error_line, text[i]);
            continue;
        }
        mase_warn("%s", mase_str_text(&p->error_line));
        mase_str_clear(&p->error_line);
    }
}

static void write_errors(const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t written = write(STDERR_FILENO, text + at, n - at);
        if (written < 0 && errno != EINTR)
            break; /* our standard error is closed */
        at += written > 0 ? (size_t)written : 0;
    }
}

static void forward_errors(struct pipes *p, size_t most)
{
    char buffer[READ_BYTES];
    const size_t n = read_pipe(p, &p->errors, buffer);
    const size_t room = most - p->forwarded, passed = n < room ? n : room;
    if (mase_host_current())
        warn_lines(p, buffer, passed);
    else
        write_errors(buffer, passed);
    p->forwarded += passed;
    p->dropped += n - passed;
}

static bool has_ended(pid_t child)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

/* Move bytes until the child closes its output, ends, or exceeds a limit. A child may end while its
 * output stays open, because a process that it started holds it. Its time starts with its first
 * output, so that the start of a program does not count. */
static enum mase_child_end pump(struct pipes *p, struct mase_str *out, const struct mase_child *c,
                                pid_t child)
{
    uint64_t start = mase_clock();
    const double own_ms =
        c->seconds * 1000 + GRACE_MS; /* the child's own alarm, which reports a line, fires first */
    bool begun = false, ended = false;
    while (p->output >= 0) {
        const double spent = (double)(mase_clock() - start) / 1e6;
        if (spent >= (begun ? own_ms : START_MS + own_ms))
            return MASE_CHILD_TIMEOUT;
        struct pollfd fds[3] = { { .fd = p->output, .events = POLLIN },
                                 { .fd = p->rest_size || !c->ask ? p->input : -1,
                                   .events = POLLOUT },
                                 { .fd = p->errors, .events = POLLIN } };
        const int ready = poll(fds, 3, ended ? 0 : POLL_MS);
        if (ready == 0 && ended)
            return MASE_CHILD_DONE;
        if (ready == 0)
            ended = has_ended(child); /* it may have written after poll, so read once more */
        if (ready <= 0)
            continue;
        if (fds[1].revents)
            write_input(p, c->ask != NULL);
        if (fds[2].revents)
            forward_errors(p, c->max_errors);
        if (fds[0].revents) {
            read_output(p, out);
            if (c->ask)
                read_question(p, out, c);
        }
        if (!begun && out->len) {
            begun = true;
            start = mase_clock();
        }
        if (out->len > c->max_output)
            return MASE_CHILD_OUTPUT_LIMIT;
    }
    return MASE_CHILD_DONE;
}

/* Forward what arrives within so many milliseconds; false when nothing does. */
static bool forward_errors_within(struct pipes *p, size_t most, int ms)
{
    struct pollfd fd = { .fd = p->errors, .events = POLLIN };
    if (poll(&fd, 1, ms) <= 0)
        return false;
    forward_errors(p, most);
    return true;
}

/* The child has closed its output and should end at once. Its errors are read until then: Python
 * flushes its buffers when it ends, and fails if the pipe is full. Then its process group is
 * killed, whose number stays taken until the child is waited for. */
static int reap(pid_t child, struct pipes *p, size_t most)
{
    const uint64_t start = mase_clock();
    int how = 0;
    while (!has_ended(child) && (double)(mase_clock() - start) / 1e6 < GRACE_MS)
        forward_errors_within(p, most, 1);
    kill(-child, SIGKILL);
    for (int i = 0; i < LAST_READS && p->errors >= 0 && forward_errors_within(p, most, 0); i++)
        continue; /* what is left in the pipe; another process may hold it open */
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        continue;
    if (p->cleanup)
        p->cleanup->child = 0;
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

static enum mase_child_end wait_for_child(int *code, struct mase_str *out,
                                          const struct mase_child *c, pid_t child, struct pipes *p)
{
    fcntl(p->input, F_SETFL, O_NONBLOCK);
    const enum mase_child_end end = pump(p, out, c, child);
    close_pipe(p, &p->input);
    close_pipe(p, &p->output);
    if (end != MASE_CHILD_DONE)
        kill(-child, SIGKILL);
    *code = reap(child, p, c->max_errors);
    close_pipe(p, &p->errors);
    return end;
}

/* Where our process has closed its standard streams, pipe2 returns their numbers, which dup2 in the
 * child would overwrite. */
static bool move_above_stderr(int *fd)
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

/* Both ends of standard input, output and error. */
static bool open_pipes(int ends[3][2])
{
    for (int i = 0; i < 3; i++)
        ends[i][0] = ends[i][1] = -1;
    for (int i = 0; i < 3; i++) {
        if (pipe2(ends[i], O_CLOEXEC) != 0 || !move_above_stderr(&ends[i][0]) ||
            !move_above_stderr(&ends[i][1])) {
            for (int k = 0; k < 6; k++)
                if (ends[k / 2][k % 2] >= 0)
                    close(ends[k / 2][k % 2]);
            return false;
        }
    }
    return true;
}

enum mase_status mase_child_run(enum mase_child_end *end, int *code, struct mase_str *out,
                                size_t *dropped, const struct mase_child *c, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    int ends[3][2];
    const char *file = find_program(&a, c->program);
    char **env = environment(&a);
    struct mase_process *cleanup = mase_process_cleanup();
    enum mase_status st = MASE_OK;

    *end = MASE_CHILD_NOT_FOUND;
    *dropped = 0;
    if (!file)
        goto out;
    if (!open_pipes(ends)) {
        st = mase_fail_errno(err, c->program, "cannot make a pipe");
        goto out;
    }
    const int child_ends[3] = { ends[0][0], ends[1][1], ends[2][1] };
    struct pipes p = { .input = ends[0][1], .output = ends[1][0], .errors = ends[2][0] };
    p.rest = c->input;
    p.rest_size = c->input_size;
    p.cleanup = cleanup;
    const pid_t child = fork();
    if (child == 0)
        exec_child(c, file, env, child_ends);
    for (int i = 0; cleanup && i < 3; i++) {
        cleanup->fd[i] = ends[i][i ? 0 : 1];
        cleanup->child = child > 0 ? child : 0;
        cleanup->group = true;
    }
    if (child > 0)
        setpgid(child, child); /* parent and child both set it: either may run first */
    if (child < 0)
        st = mase_fail_errno(err, c->program, "cannot start a process");
    for (int i = 0; i < 3; i++)
        close(child_ends[i]);
    if (child > 0)
        *end = wait_for_child(code, out, c, child, &p);
    close_pipe(&p, &p.input);
    close_pipe(&p, &p.output);
    close_pipe(&p, &p.errors);
    if (p.error_line.len)
        mase_warn("%s", mase_str_text(&p.error_line));
    mase_str_release(&p.error_line);
    mase_str_release(&p.reply);
    *dropped = p.dropped;
out:
    mase_xfree(cleanup);
    mase_arena_release(&a);
    return st;
}
