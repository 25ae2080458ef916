/*
 * err.h - a failure is data: a status, a place and a sentence, carried to main and printed once.
 *
 * A function that can fail for an outside reason (a file, a configuration, a model we cannot run)
 * returns enum mase_status and takes struct mase_err * last. The function that notices the failure
 * fills err in; callers add context with mase_wrap and pass the status on. On success err is
 * untouched, so calls chain:
 *
 *     if ((st = read_header(&h, &in, err)) || (st = read_body(&b, &in, err)))
 *         goto out;
 *
 * No function returns the last two statuses itself. When memory runs out, or at a fault of this
 * library (mase_bug, in release builds too), control jumps out of the whole library call, and that
 * call returns MASE_ENOMEM or MASE_EBUG. The command line prints one line and exits, or aborts.
 */
#ifndef MASE_ERR_H
#define MASE_ERR_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <mase/api.h>

MASE_API_BEGIN

enum mase_status {
    MASE_OK = 0,
    MASE_EVALUE,       /* a value is wrong: type, range, unknown name */
    MASE_EPARSE,       /* a file is not what its format demands */
    MASE_EIO,          /* the system refused: open, read, write, rename */
    MASE_EUNSUPPORTED, /* understood, but not available here */
    MASE_ELIMIT,       /* larger or deeper than a stated limit */
    MASE_ENOMEM,       /* memory ran out; the call has released everything it made */
    MASE_EBUG,         /* a fault of this library: the message says where; please report it */
};

#define MASE_MUST_CHECK        __attribute__((warn_unused_result))
#define MASE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* A place in a file. Text: line and col count from 1 (col in bytes). Binary: line is 0 and off is
 * the byte offset. Neither: line 0, off -1. path is borrowed and may be NULL. */
struct mase_loc {
    const char *path;
    int line, col;
    int span;    /* bytes to underline, 0 or 1: just the caret */
    int64_t off; /* byte offset of a binary file, else -1 */
};

#define MASE_NOWHERE ((struct mase_loc){ .off = -1 })

struct mase_err {
    enum mase_status status;
    struct mase_loc loc; /* loc.path points into path below */
    char path[512];
    char msg[1024];
};

/* Fill err (may be NULL) and return status, so that `return mase_fail(...)` reads well. */
MASE_API enum mase_status mase_fail(struct mase_err *err, enum mase_status status, const char *fmt,
                                    ...) MASE_PRINTF(3, 4);
MASE_API enum mase_status mase_fail_at(struct mase_err *err, enum mase_status status,
                                       struct mase_loc at, const char *fmt, ...) MASE_PRINTF(4, 5);
/* Place the error in a file, without a line. */
MASE_API enum mase_status mase_fail_in(struct mase_err *err, enum mase_status status,
                                       const char *path, const char *fmt, ...) MASE_PRINTF(4, 5);
/* "path: what: strerror(errno)". */
MASE_API enum mase_status mase_fail_errno(struct mase_err *err, const char *path, const char *what);

/* Put "context: " before the message; the place stays. Returns err->status. */
MASE_API enum mase_status mase_wrap(struct mase_err *err, const char *fmt, ...) MASE_PRINTF(2, 3);
/* Give an error that has no place yet this one. Returns err->status. */
MASE_API enum mase_status mase_place(struct mase_err *err, struct mase_loc at);

/* "path:line:col: message", and for text files the line with a caret under the fault. */
MASE_API void mase_err_print(FILE *out, const struct mase_err *err);

/* "path:line:col: message" into buffer, as snprintf does. */
MASE_API size_t mase_err_text(const struct mase_err *err, char *buffer, size_t size);

/* Return from a function that owns nothing when call fails. */
#define MASE_TRY(call)                          \
    do {                                        \
        enum mase_status mase_try_st_ = (call); \
        if (mase_try_st_)                       \
            return mase_try_st_;                \
    } while (0)

/* Report a fault of this library: the library call ends with MASE_EBUG, file:line and the message;
 * on the command line the message is printed and the process aborts. */
#define mase_bug(...) mase_bug_at(__FILE__, __LINE__, __VA_ARGS__)
void mase_bug_at(const char *file, int line, const char *fmt, ...) MASE_PRINTF(3, 4)
    __attribute__((noreturn));

MASE_API_END

#endif /* MASE_ERR_H */
