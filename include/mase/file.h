/*
 * file.h - reading whole files by mapping them, writing whole files atomically.
 *
 * A file gets its name after it is written and flushed to disk: readers see the old content or the
 * new, never a part of it, and neither a failure nor a kill leaves an unfinished file.
 */
#ifndef MASE_FILE_H
#define MASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/err.h>

MASE_API_BEGIN

/* A file mapped for reading; a pipe or device is read to its end instead (at most 1 GiB). data is
 * never NULL after a successful open, and data[size] need not exist. A directory, a missing or an
 * unreadable file is an error that says which. */
struct mase_file {
    const char *path; /* borrowed */
    const unsigned char *data;
    size_t size;
    void *map;     /* private */
    bool on_heap;  /* private: read from a stream, not mapped */
    void *cleanup; /* private */
};
enum mase_status mase_file_open(struct mase_file *f, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_file_close(struct mase_file *f);

/* Write a whole file atomically; the parent directories are made. Pipes, devices and /dev/stdout
 * are written directly. */
enum mase_status mase_file_write(const char *path, const void *data, size_t size,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* Write a file atomically in pieces: open, any number of writes, then close (rename) or abort
 * (remove). */
struct mase_writer {
    char *path, *temp; /* owned */
    int fd;
    bool nameless; /* the unfinished file has no name (O_TMPFILE) */
    size_t size;
    enum mase_status status; /* first failure; later writes are skipped */
    void *cleanup;           /* private */
};
enum mase_status mase_writer_open(struct mase_writer *w, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_writer_put(struct mase_writer *w, const void *data, size_t size,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_writer_close(struct mase_writer *w, struct mase_err *err) MASE_MUST_CHECK;
/* Close several writers and wait for the disk once: flush all files, then give each its name, then
 * flush their folders. On a failure the files that have their names keep them. */
enum mase_status mase_writers_close(struct mase_writer *w, int count,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_writer_abort(struct mase_writer *w); /* does nothing after close */
/* Wait until a file or a directory has reached the disk. */
enum mase_status mase_flush(const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* Is this the name of an unfinished file or folder, .mase-PID-....tmp? Files in such a folder are
 * not flushed when they are closed, but all at once when the save is complete (swap.h). */
bool mase_is_unfinished(const char *path);
/* Remove unfinished files and folders, .mase-PID-....tmp, of processes that no longer exist, from
 * this directory. */
void mase_remove_leftovers(const char *dir);

/* Check that every symbolic link in a path belongs to this user or to root, before a file or
 * directory is made there: anyone who may write to a folder could have placed a link in it. */
enum mase_status mase_check_links(const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* mkdir -p. */
enum mase_status mase_make_dirs(const char *path, struct mase_err *err) MASE_MUST_CHECK;
bool mase_is_dir(const char *path);
bool mase_is_file(const char *path);
/* dir/name; an absolute name stays as it is. */
char *mase_path_join(struct mase_arena *a, const char *dir, const char *name);
/* Absolute form of an existing or future path, without resolving links. */
char *mase_path_absolute(struct mase_arena *a, const char *path);

/* SHA-256 of a buffer as 64 hex digits and a NUL. */
void mase_sha256(char hex[65], const void *data, size_t size);

MASE_API_END

#endif /* MASE_FILE_H */
