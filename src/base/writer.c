/*
 * writer.c - write files atomically: a file is complete or absent.
 *
 * The text is written to a file without a name, flushed to disk, and then named: by linkat(2), or,
 * to replace another file, by a temporary name and rename(2). So a process that is killed leaves
 * nothing behind. On file systems without nameless files, a temporary file beside the final name is
 * used from the beginning. When several files are closed at once, all are flushed before the first
 * is named, so the disk is waited for once. A new file keeps the permission bits of the file that
 * it replaces; if the name is a symbolic link, the link stays and its target is replaced, unless
 * another user made the link. Devices, pipes, and the descriptors behind /dev/stdout, /dev/stderr
 * and /dev/fd/N are written directly.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include <mase/file.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/host.h"
#include "base/number.h"

enum { TEMP_TRIES = 100 };

/* What is unfinished, should the call end within it. */
struct unfinished {
    int fd;
    const char *temp; /* NULL: no file is to be removed */
};

static void end_unfinished(void *record)
{
    const struct unfinished *u = record;
    if (u->fd >= 0)
        close(u->fd);
    if (u->temp)
        unlink(u->temp);
}

static void set_unfinished(const struct mase_writer *w)
{
    if (w->cleanup)
        *(struct unfinished *)w->cleanup =
            (struct unfinished){ w->fd, w->fd >= 0 ? w->temp : NULL };
}

/* The directory a path lies in; caller frees. */
static char *parent_of(const char *path)
{
    char *copy = mase_xstrdup(path); /* dirname writes into it and may return a constant */
    char *parent = mase_xstrdup(dirname(copy));
    mase_xfree(copy);
    return parent;
}

/* The descriptor that a path stands for, or -1. Opening /dev/stdout would start anew at offset 0
 * when it is a file, over what has been printed so far. */
static int descriptor_named(const char *path)
{
    static const char folder[] = "/dev/fd/";
    if (mase_streq(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (mase_streq(path, "/dev/stderr"))
        return STDERR_FILENO;
    const char *digits = path + strlen(folder);
    if (!mase_starts_with(path, folder) || !mase_is_digit(*digits))
        return -1;
    char *end;
    const long fd = strtol(digits, &end, 10);
    return *end || fd > INT_MAX ? -1 : (int)fd;
}

static enum mase_status open_direct(struct mase_writer *w, struct mase_err *err)
{
    const int named = descriptor_named(w->path);
    if (!mase_host_current())
        fflush(NULL); /* keep the order with what is still in stdio's buffers */
    w->fd = named >= 0 ? dup(named) : mase_sys_open(w->path, O_WRONLY | O_CLOEXEC, 0);
    set_unfinished(w);
    return w->fd >= 0 ? MASE_OK : mase_fail_errno(err, w->path, "cannot open for writing");
}

/* A name beside the final one that no other writer takes; caller frees. */
static char *own_name(const char *dir)
{
    static atomic_uint serial; /* threads write side by side, each under a name of its own */
    const size_t size = strlen(dir) + 64;
    char *name = mase_xcalloc(size);
    mase_snprintf(name, size, "%s/.mase-%ld-%u.tmp", dir, (long)getpid(),
                  atomic_fetch_add(&serial, 1));
    return name;
}

/* A file without a name, if there are such here and it can get one; else -1, with errno 0 where one
 * with a name may still be made. */
static int open_nameless(const char *dir)
{
    char self[40];
    const int fd = mase_sys_open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) {
        const bool none = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ||
                          errno == ENOENT || errno == ENOSYS;
        errno = none ? 0 : errno;
        return -1;
    }
    mase_snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (access(self, F_OK) == 0)
        return fd;
    close(fd);
    errno = 0;
    return -1;
}

/* An empty file beside w->path, without a name or under one of its own. */
static enum mase_status open_temp(struct mase_writer *w, struct mase_err *err)
{
    char *dir = parent_of(w->path);
    w->fd = open_nameless(dir);
    w->nameless = w->fd >= 0;
    for (int i = 0; w->fd < 0 && (i == 0 ? errno == 0 : errno == EEXIST) && i < TEMP_TRIES; i++) {
        mase_xfree(w->temp);
        w->temp = own_name(dir);
        w->fd = mase_sys_open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    set_unfinished(w);
    mase_xfree(dir);
    if (w->fd >= 0)
        return MASE_OK;
    const enum mase_status st = mase_fail_errno(err, w->path, "cannot create");
    mase_xfree(w->temp);
    w->temp = NULL;
    return st;
}

/* The file gets the final name if that is free, else one beside it. */
static enum mase_status name_file(struct mase_writer *w, const char *dir, struct mase_err *err)
{
    if (mase_sys_link_open(w->fd, w->path) == 0)
        return MASE_OK;
    for (int i = 0; errno == EEXIST && i < TEMP_TRIES; i++) {
        mase_xfree(w->temp);
        w->temp = own_name(dir);
        if (mase_sys_link_open(w->fd, w->temp) == 0)
            return MASE_OK;
    }
    const enum mase_status st = mase_fail_errno(err, w->path, "cannot put the new file in place");
    mase_xfree(w->temp);
    w->temp = NULL;
    return st;
}

static enum mase_status open_replacement(struct mase_writer *w, const struct stat *old,
                                         struct mase_err *err)
{
    char *target = old ? mase_real_path(w->path) : NULL; /* through links */
    if (target) {
        mase_xfree(w->path);
        w->path = target;
    }
    MASE_TRY(open_temp(w, err));
    if (old && mase_sys_fchmod(w->fd, old->st_mode & 0777) != 0)
        return mase_fail_errno(err, w->path, "cannot keep the permissions");
    return MASE_OK;
}

/* A file of a save under way: its folder has a name of its own until the whole save is flushed and
 * takes its place (swap.h). */
static enum mase_status open_part(struct mase_writer *w, struct mase_err *err)
{
    w->fd = mase_sys_open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    set_unfinished(w);
    return w->fd >= 0 ? MASE_OK : mase_fail_errno(err, w->path, "cannot create");
}

static bool is_part_of_save(const char *path)
{
    char *dir = parent_of(path);
    const bool is_part = mase_is_unfinished(dir);
    mase_xfree(dir);
    return is_part;
}

static enum mase_status open_output(struct mase_writer *w, struct mase_err *err)
{
    struct stat old;
    if (is_part_of_save(w->path))
        return open_part(w, err);
    MASE_TRY(mase_check_links(w->path, err));
    const bool exists = stat(w->path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return mase_fail_in(err, MASE_EIO, w->path, "is a directory, expected a file");
    if (descriptor_named(w->path) >= 0 || (exists && !S_ISREG(old.st_mode)))
        return open_direct(w, err);
    if (exists)
        return open_replacement(w, &old, err);
    char *dir = parent_of(w->path);
    enum mase_status st = mase_make_dirs(dir, err);
    mase_xfree(dir);
    return st ? st : open_replacement(w, NULL, err);
}

enum mase_status mase_writer_open(struct mase_writer *w, const char *path, struct mase_err *err)
{
    *w = (struct mase_writer){ .fd = -1 };
    if (!path[0])
        return mase_fail(err, MASE_EIO, "cannot write to a file without a name");
    w->path = mase_xstrdup(path);
    w->cleanup = mase_cleanup(sizeof(struct unfinished), end_unfinished);
    set_unfinished(w);
    const enum mase_status st = open_output(w, err);
    if (st)
        mase_writer_abort(w);
    return st;
}

enum mase_status mase_writer_put(struct mase_writer *w, const void *data, size_t size,
                                 struct mase_err *err)
{
    const char *p = data;
    while (size && !w->status) {
        const ssize_t n = mase_sys_write(w->fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            w->status = mase_fail_errno(err, w->path, "cannot write");
            break;
        }
        p += n;
        size -= (size_t)n;
        w->size += (size_t)n;
    }
    return w->status;
}

/* fsync, except where there is nothing to flush to. */
static int flush_to_disk(int fd)
{
    return mase_sys_fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}

enum mase_status mase_flush(const char *path, struct mase_err *err)
{
    const int fd = mase_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    enum mase_status st = MASE_OK;
    if (fd < 0 && errno != EACCES) /* a directory may be writable and not readable */
        st = mase_fail_errno(err, path, "cannot open to flush it");
    if (fd >= 0 && flush_to_disk(fd) != 0)
        st = mase_fail_errno(err, path, "cannot flush");
    if (fd >= 0)
        mase_sys_close(fd);
    return st;
}

/* The file takes its final name; the descriptor is gone afterwards, whatever happened. dir: the
 * folder of the file. Nothing is allocated once the name is taken. */
static enum mase_status take_name(struct mase_writer *w, const char *dir, struct mase_err *err)
{
    enum mase_status st = w->nameless ? name_file(w, dir, err) : MASE_OK;
    if (mase_sys_close(w->fd) != 0 && !st) {
        st = mase_fail_errno(err, w->path, "cannot close");
        if (w->nameless && !w->temp)
            unlink(w->path); /* which was not there before */
    }
    w->fd = -1;
    if (w->cleanup)
        ((struct unfinished *)w->cleanup)->fd = -1; /* the file is still to be removed */
    if (!st && w->temp && mase_sys_rename(w->temp, w->path) != 0)
        st = mase_fail_errno(err, w->path, "cannot put the new file in place");
    if (st)
        return st;
    mase_xfree(w->temp);
    w->temp = NULL; /* from here on nothing is to be removed */
    set_unfinished(w);
    return MASE_OK;
}

/* Do two streams hold the same? Either may be NULL: then not. Closes both. */
static bool same_content(FILE *a, FILE *b)
{
    char x[4096], y[sizeof x];
    bool same = a && b;
    for (size_t n = sizeof x; same && n == sizeof x;) {
        n = fread(x, 1, sizeof x, a);
        same = fread(y, 1, sizeof y, b) == n && memcmp(x, y, n) == 0;
    }
    same = same && !ferror(a) && !ferror(b);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return same;
}

static FILE *open_regular(const char *path, size_t size)
{
    struct stat st;
    const bool fits = stat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == size;
    return fits ? fopen(path, "rb") : NULL;
}

/* Is what was written what the file holds already? */
static bool changes_nothing(const struct mase_writer *w)
{
    char self[40];
    FILE *old = w->status || !(w->temp || w->nameless) ? NULL : open_regular(w->path, w->size);
    mase_snprintf(self, sizeof self, "/proc/self/fd/%d", w->fd);
    return old && same_content(old, fopen(w->temp ? w->temp : self, "rb"));
}

/* Is it a file that is still to take its name, not a pipe or device? */
static bool is_pending(const struct mase_writer *w)
{
    return w->path && (w->temp || w->nameless);
}

/* Data first, so that no name ever stands for a part of a file. */
static enum mase_status flush_data(struct mase_writer *w, struct mase_err *err)
{
    if (!w->status && is_pending(w) && flush_to_disk(w->fd) != 0)
        w->status = mase_fail_errno(err, w->path, "cannot flush");
    return w->status;
}

/* The folders of the files that have their names now, each once. */
static enum mase_status flush_dirs(char *const *dir, int count, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    for (int i = 0; i < count && !st; i++) {
        int first = 0;
        while (dir[i] && !(dir[first] && mase_streq(dir[first], dir[i])))
            first++;
        if (dir[i] && first == i)
            st = mase_flush(dir[i], err);
    }
    return st;
}

enum mase_status mase_writers_close(struct mase_writer *w, int count, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    char **dir = mase_xcalloc((size_t)count * sizeof *dir);
    for (int i = 0; i < count; i++) {
        if (!w[i].path)
            mase_bug("closing a writer that is not open");
        if (changes_nothing(&w[i]))
            mase_writer_abort(&w[i]);
        else if (is_pending(&w[i]))
            dir[i] = parent_of(w[i].path);
    }
    for (int i = 0; i < count; i++)
        if (w[i].path) /* also a part of a save, which is flushed with the others */
            mase_sys_start_flush(w[i].fd);
    for (int i = 0; i < count && !st; i++)
        st = w[i].path ? flush_data(&w[i], err) : MASE_OK;
    for (int i = 0; i < count && !st; i++)
        st = w[i].path ? take_name(&w[i], dir[i], err) : MASE_OK;
    if (!st)
        st = flush_dirs(dir, count, err);
    for (int i = 0; i < count; i++) {
        mase_writer_abort(&w[i]);
        mase_xfree(dir[i]);
    }
    mase_xfree(dir);
    return st;
}

enum mase_status mase_writer_close(struct mase_writer *w, struct mase_err *err)
{
    return mase_writers_close(w, 1, err);
}

void mase_writer_abort(struct mase_writer *w)
{
    if (!w->path)
        return;
    if (w->fd >= 0)
        mase_sys_close(w->fd);
    if (w->temp)
        unlink(w->temp);
    mase_xfree(w->cleanup);
    mase_xfree(w->temp);
    mase_xfree(w->path);
    *w = (struct mase_writer){ .fd = -1 };
}

enum mase_status mase_file_write(const char *path, const void *data, size_t size,
                                 struct mase_err *err)
{
    struct mase_writer w;
    MASE_TRY(mase_writer_open(&w, path, err));
    const enum mase_status st = mase_writer_put(&w, data, size, err);
    if (st) {
        mase_writer_abort(&w);
        return st;
    }
    return mase_writer_close(&w, err);
}
