/*
 * reader_main.c - the reader program: answers requests of reader.c, one after the other, until the
 * socket is closed. The socket is descriptor 3.
 *
 * It is told its limits first. Before it looks at a byte that it cannot trust it gives up whatever
 * else a process may do: for pictures at once, for HDF5, which is opened by its path, when that
 * file is open.
 */
#define _GNU_SOURCE /* close_range */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/number.h"
#include "base/sanitized.h"
#include "data/hdf5.h"
#include "data/picture.h"
#include "data/reader.h"

enum { SOCKET = 3, SETS_MAX = 64, BYTES_MAX = INT32_MAX, BROKEN = 3 };

struct server {
    struct mase_reader_limits limits;
    bool sealed;
    struct mase_arena arena;
    struct mase_hdf5 file;
    struct mase_hdf5_set set[SETS_MAX]; /* by handle; 0 is none */
    const struct mase_reader_request *q;
    char *data; /* of the request, zero-terminated */
    struct mase_str reply;
    int64_t number;
};

/* ---- limits ---- */

/* Memory in use at the start, in bytes. */
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

/* Soft limit `most`, hard limit a little later; lower limits stay. */
static void limit(int what, uint64_t most, uint64_t grace)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) != 0)
        return;
    if (now.rlim_max == RLIM_INFINITY || most + grace < now.rlim_max)
        (void)!setrlimit((__rlimit_resource_t)what,
                         &(struct rlimit){ (rlim_t)most, (rlim_t)(most + grace) });
}

static void begin(const struct mase_reader_limits *l)
{
#ifdef SYS_close_range
    (void)syscall(SYS_close_range, SOCKET + 1, ~0U, 0);
#endif
    limit(RLIMIT_CORE, 0, 0);
    if (!MASE_SANITIZED)
        limit(RLIMIT_AS, own_memory() + l->memory, 0);
    if (!l->each)
        limit(RLIMIT_CPU, l->seconds, 5);
}

/* Allow so many seconds of CPU time from now on. */
static void renew(uint64_t seconds)
{
    struct rusage used;
    struct rlimit now;
    if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &now))
        return;
    const rlim_t most = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + seconds;
    if (now.rlim_max == RLIM_INFINITY || most < now.rlim_max)
        (void)!setrlimit(RLIMIT_CPU, &(struct rlimit){ most, now.rlim_max });
}

/* Enter the sandbox: open files stay open, no others can be opened. */
static void seal(struct server *v)
{
    if (v->sealed)
        return;
    limit(RLIMIT_NOFILE, 0, 0);
    if (!MASE_SANITIZED) /* sanitizers open files for their reports */
        mase_confine_reader();
    v->sealed = true;
}

/* ---- answers ---- */

/* Buffer for an answer. */
static void *make_room(struct server *v, uint64_t bytes)
{
    if (bytes > BYTES_MAX)
        exit(BROKEN);
    mase_str_pad(&v->reply, 0, (long)bytes);
    return v->reply.data;
}

static enum mase_status picture(struct server *v, struct mase_err *err)
{
    const struct mase_reader_request *q = v->q;
    const struct mase_picture_want want = { q->set, (int)q->first, (int)q->count };
    seal(v);
    void *to = make_room(v, (uint64_t)q->set * (uint64_t)q->first * (uint64_t)q->count);
    return mase_picture_decode(to, &want, v->data, q->bytes, err);
}

static enum mase_status open_file(struct server *v, struct mase_err *err)
{
    const char *path = mase_arena_strdup(&v->arena, v->data);
    const enum mase_status st = mase_hdf5_open(&v->file, path, (uint64_t)v->q->count, err);
    seal(v);
    return st;
}

static enum mase_status has(struct server *v, struct mase_err *err)
{
    (void)err;
    v->number = mase_hdf5_has(&v->file, v->data);
    return MASE_OK;
}

static enum mase_status names(struct server *v, struct mase_err *err)
{
    (void)err;
    mase_hdf5_names(&v->file, &v->reply);
    return MASE_OK;
}

static enum mase_status table(struct server *v, struct mase_err *err)
{
    (void)err;
    const char *name = mase_hdf5_find_table(&v->file, &v->arena, v->data);
    mase_str_add(&v->reply, name ? name : "");
    return MASE_OK;
}

static enum mase_status set_open(struct server *v, struct mase_err *err)
{
    int free = 1;
    while (free < SETS_MAX && v->set[free].path)
        free++;
    if (free == SETS_MAX)
        return mase_fail(err, MASE_ELIMIT, "more than %d datasets at once", SETS_MAX - 1);
    struct mase_hdf5_set *s = &v->set[free];
    const enum mase_status st =
        mase_hdf5_set_open(s, &v->file, mase_arena_strdup(&v->arena, v->data), err);
    if (st)
        s->path = NULL;
    v->number = free;
    mase_str_addn(&v->reply, (const char *)&s->facts, sizeof s->facts);
    return st;
}

static struct mase_hdf5_set *set_of(struct server *v)
{
    if (v->q->set < 1 || v->q->set >= SETS_MAX || !v->set[v->q->set].path)
        exit(BROKEN);
    return &v->set[v->q->set];
}

static enum mase_status set_close(struct server *v, struct mase_err *err)
{
    (void)err;
    mase_hdf5_set_close(set_of(v));
    return MASE_OK;
}

static enum mase_status rows(struct server *v, struct mase_err *err)
{
    const struct mase_hdf5_set *s = set_of(v);
    const uint64_t n = (uint64_t)v->q->count * (uint64_t)mase_hdf5_width(s);
    double *to = make_room(v, n * sizeof *to);
    return mase_hdf5_rows(s, to, v->q->first, v->q->count, err);
}

static enum mase_status texts(struct server *v, struct mase_err *err)
{
    return mase_hdf5_texts(&v->reply, set_of(v), err);
}

static enum mase_status columns(struct server *v, struct mase_err *err)
{
    (void)err;
    mase_hdf5_columns(set_of(v), &v->reply);
    return MASE_OK;
}

static enum mase_status choose(struct server *v, struct mase_err *err)
{
    const int n = (int)v->q->count;
    const char **list = mase_new_array(&v->arena, const char *, (size_t)n + 1);
    char *text = mase_arena_memdup(&v->arena, v->data, v->q->bytes + 1);
    for (int i = 0; i < n; i++, text += strlen(text) + 1)
        list[i] = text;
    return mase_hdf5_select(set_of(v), list, n, err);
}

static enum mase_status records(struct server *v, struct mase_err *err)
{
    const struct mase_hdf5_set *s = set_of(v);
    double *to = make_room(v, sizeof(double) * s->columns * (uint64_t)v->q->count);
    return mase_hdf5_records(s, to, v->q->first, v->q->count, err);
}

static enum mase_status words(struct server *v, struct mase_err *err)
{
    return mase_hdf5_column_texts(&v->reply, set_of(v), v->data, err);
}

/* For tests: report what the process is still able to do. */
static enum mase_status misbehave(struct server *v, struct mase_err *err)
{
    const char *how = v->data;
    for (volatile unsigned i = 0; mase_streq(how, "spin"); i++)
        continue;
    if (mase_streq(how, "die"))
        raise(SIGKILL);
    if (mase_streq(how, "end"))
        exit(7);
    if (mase_streq(how, "lie"))
        mase_str_add(&v->reply, "more than was asked for");
    if (!mase_streq(how, "try"))
        return MASE_OK;
    const bool before = open("/dev/null", O_RDONLY) >= 0;
    seal(v);
    const bool after = open("/dev/null", O_RDONLY) >= 0, started = MASE_SANITIZED || fork() >= 0;
    /* volatile, since compilers remove an unused malloc */
    void *volatile much =
        mmap(NULL, (size_t)1 << 36, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mase_fail_at(err, MASE_ELIMIT, (struct mase_loc){ .off = 77 }, "%s %s %s %s",
                        before ? "opened" : "-", after ? "opened" : "sealed",
                        started ? "two" : "alone", much == MAP_FAILED ? "no more" : "much");
}

typedef enum mase_status answer_fn(struct server *v, struct mase_err *err);
static answer_fn *const answers[MASE_READER_VERBS] = {
    [MASE_READER_PICTURE] = picture,
    [MASE_READER_OPEN] = open_file,
    [MASE_READER_HAS] = has,
    [MASE_READER_NAMES] = names,
    [MASE_READER_TABLE] = table,
    [MASE_READER_SET_OPEN] = set_open,
    [MASE_READER_SET_CLOSE] = set_close,
    [MASE_READER_ROWS] = rows,
    [MASE_READER_TEXTS] = texts,
    [MASE_READER_COLUMNS] = columns,
    [MASE_READER_SELECT] = choose,
    [MASE_READER_RECORDS] = records,
    [MASE_READER_COLUMN_TEXTS] = words,
    [MASE_READER_MISBEHAVE] = misbehave,
};

/* Returns false at the end of input. */
static bool serve(struct server *v)
{
    struct mase_reader_request q;
    struct mase_reader_reply a = { 0 };
    if (!mase_reader_receive(SOCKET, &q, sizeof q) || q.verb >= MASE_READER_VERBS)
        return false;
    if (v->limits.each)
        renew(v->limits.seconds);
    v->q = &q;
    v->number = 0;
    v->data = mase_xrealloc(v->data, (size_t)q.bytes + 1);
    v->data[q.bytes] = 0;
    if (!mase_reader_receive(SOCKET, v->data, (size_t)q.bytes))
        return false;
    mase_str_clear(&v->reply);
    a.status = answers[q.verb](v, &a.err);
    a.number = v->number;
    a.bytes = a.status ? 0 : v->reply.len;
    return mase_reader_send(SOCKET, &a, sizeof a) &&
           mase_reader_send(SOCKET, mase_str_text(&v->reply), (size_t)a.bytes);
}

int main(void)
{
    struct server v = { 0 };
    if (!mase_reader_receive(SOCKET, &v.limits, sizeof v.limits))
        return BROKEN;
    begin(&v.limits);
    while (serve(&v))
        continue;
    _exit(0); /* skip libhdf5's exit handlers */
}
