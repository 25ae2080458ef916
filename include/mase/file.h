/*
 * file.h - reading whole files by mapping them, writing whole files atomically.
 *
 * A file gets its name when it is written and flushed to disk: readers see the old content or the
 * new, never a part, and neither a failure nor a kill leaves anything behind.
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

/* The same in pieces: open, any number of writes, then close (rename) or abort (remove). */
struct mase_writer {
    char *path, *temp; /* owned */
    int fd;
    bool nameless; /* the file gets a name when it is whole */
    size_t size;
    enum mase_status status; /* first failure; later writes are skipped */
    void *cleanup;           /* private */
};
enum mase_status mase_writer_open(struct mase_writer *w, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_writer_put(struct mase_writer *w, const void *data, size_t size,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_writer_close(struct mase_writer *w, struct mase_err *err) MASE_MUST_CHECK;
/* Several at once, which waits for the disk once: all are flushed, then each takes its name, then
 * their folders are flushed. On a failure those that have their names keep them. */
enum mase_status mase_writers_close(struct mase_writer *w, int count,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_writer_abort(struct mase_writer *w); /* does nothing after close */
/* Wait until a file or a directory has reached the disk. */
enum mase_status mase_flush(const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* Is this the name of what is still being written, .mase-PID-....tmp? Files in a folder of such a
 * name are not flushed when they are closed, but all together when the save is whole (swap.h). */
bool mase_is_unfinished(const char *path);
/* Remove what processes that were killed left half written in this directory: .mase-PID-....tmp of
 * those that are gone. */
void mase_remove_leftovers(const char *dir);

/* A symbolic link on the way to what is to be written must be one's own, or root's: whoever may
 * write to a folder could have put it there. Files and directories are made only behind such. */
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
