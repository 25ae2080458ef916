/*
 * file.c - whole files for reading. A regular file is mapped; a descriptor that the program was
 * given, /dev/stdin or what a shell makes of <(...), may be a pipe or a device, which has no size
 * to map and is read to its end, up to MASE_STREAM_LIMIT. Pipes and devices with a name of their
 * own are refused: opening a pipe without a writer would block for ever.
 *
 * If another process shortens a mapped file, its reader is killed (SIGBUS). So files are replaced
 * by renaming, as writer.c does, not rewritten in place.
 */
#include <mase/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/alloc.h"
#include "base/fault.h"

#ifndef MASE_STREAM_LIMIT
#define MASE_STREAM_LIMIT ((size_t)1 << 30) /* bytes; test builds shrink it */
#endif

bool mase_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool mase_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum mase_status fail_open(const char *path, struct mase_err *err)
{
    switch (errno) {
    case ENOENT:
        return mase_fail_in(err, MASE_EIO, path, "file not found");
    case ENOTDIR:
        return mase_fail_in(err, MASE_EIO, path,
                            "file not found: a part of the path is no directory");
    case EACCES:
        return mase_fail_in(err, MASE_EIO, path, "not allowed to read this file");
    default:
        return mase_fail_errno(err, path, "cannot open");
    }
}

/* What is open, should the call end within it. */
struct opened {
    int fd;
    void *map;
    size_t size;
};

static void end_opened(void *record)
{
    const struct opened *o = record;
    if (o->fd >= 0)
        close(o->fd);
    if (o->map)
        munmap(o->map, o->size);
}

static enum mase_status map_regular(struct mase_file *f, int fd, off_t size, struct mase_err *err)
{
    if ((uintmax_t)size > SIZE_MAX / 2)
        return mase_fail_in(err, MASE_ELIMIT, f->path, "file of %lld bytes is too large to map",
                            (long long)size);
    f->data = (const unsigned char *)"";
    if (size == 0)
        return MASE_OK;
    f->map = mase_sys_map(fd, (size_t)size);
    if (!f->map)
        return mase_fail_errno(err, f->path, "cannot map");
    f->data = f->map;
    f->size = (size_t)size;
    if (f->cleanup)
        *(struct opened *)f->cleanup = (struct opened){ fd, f->map, f->size };
    return MASE_OK;
}

static enum mase_status read_stream(struct mase_file *f, int fd, struct mase_err *err)
{
    enum { PIECE = 65536 };
    size_t cap = 0;
    f->on_heap = true;
    for (;;) {
        if (f->size + PIECE > cap) {
            cap = cap ? cap * 2 : 2 * PIECE;
            f->map = mase_xrealloc(f->map, cap);
        }
        const ssize_t n = mase_sys_read(fd, (unsigned char *)f->map + f->size, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mase_fail_errno(err, f->path, "cannot read");
        if (n == 0)
            break;
        f->size += (size_t)n;
        if (f->size > MASE_STREAM_LIMIT)
            return mase_fail_in(err, MASE_ELIMIT, f->path, "more than %zu bytes from a stream",
                                (size_t)MASE_STREAM_LIMIT);
    }
    f->data = f->map;
    return MASE_OK;
}

/* A name for something that is open already. */
static bool is_descriptor(const char *path)
{
    return mase_streq(path, "/dev/stdin") || mase_starts_with(path, "/dev/fd/") ||
           (mase_starts_with(path, "/proc/") && strstr(path, "/fd/"));
}

static enum mase_status check_stream(const char *path, int fd, mode_t mode, struct mase_err *err)
{
    if (is_descriptor(path)) { /* its writer may be slow */
        const int flags = fcntl(fd, F_GETFL);
        return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0
                   ? MASE_OK
                   : mase_fail_errno(err, path, "cannot wait for");
    }
    return mase_streq(path, "/dev/null")
               ? MASE_OK
               : mase_fail_in(err, MASE_EIO, path, "is %s, expected a file",
                              S_ISFIFO(mode)   ? "a named pipe"
                              : S_ISSOCK(mode) ? "a socket"
                                               : "a device");
}

static enum mase_status load(struct mase_file *f, int fd, struct mase_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return mase_fail_errno(err, f->path, "cannot look at");
    if (S_ISDIR(st.st_mode))
        return mase_fail_in(err, MASE_EIO, f->path, "is a directory, expected a file");
    /* Files of /proc are regular, say they are empty, and are not. */
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        return map_regular(f, fd, st.st_size, err);
    if (!S_ISREG(st.st_mode))
        MASE_TRY(check_stream(f->path, fd, st.st_mode, err));
    return read_stream(f, fd, err);
}

enum mase_status mase_file_open(struct mase_file *f, const char *path, struct mase_err *err)
{
    *f = (struct mase_file){ .path = path };
    struct opened *o = f->cleanup = mase_cleanup(sizeof *o, end_opened);
    const int fd = mase_sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (o)
        o->fd = fd;
    const enum mase_status st = fd < 0 ? fail_open(path, err) : load(f, fd, err);
    if (o)
        o->fd = -1;
    if (fd >= 0)
        mase_sys_close(fd);
    if (st)
        mase_file_close(f);
    return st;
}

void mase_file_close(struct mase_file *f)
{
    if (f->on_heap)
        mase_xfree(f->map);
    else if (f->map)
        munmap(f->map, f->size);
    mase_xfree(f->cleanup);
    *f = (struct mase_file){ 0 };
}
