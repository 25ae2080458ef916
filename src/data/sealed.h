/*
 * sealed.h - a process that answers questions about bytes that cannot be trusted.
 *
 * Libraries that decode files can be made to misbehave by them. Such a process is given the bytes
 * through a socket and gives back a result of a fixed size; it can open nothing, and has limits of
 * memory and time. If it dies, the file that it was given gets a sentence like any other.
 */
#ifndef MASE_DATA_SEALED_H
#define MASE_DATA_SEALED_H

#include <sys/types.h>

#include <mase/err.h>

/* Fill reply from the bytes. user is the caller's, as it was when the process was started. */
typedef enum mase_status mase_sealed_fn(void *reply, const void *data, size_t size,
                                        const void *user, struct mase_err *err);

struct mase_process;

struct mase_sealed {
    int fd;
    pid_t child;
    struct mase_process *cleanup;
    size_t reply_size;
    const char *library; /* what it calls, for messages */
};

enum mase_status mase_sealed_start(struct mase_sealed *w, mase_sealed_fn *answer, const void *user,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* A place without a path that the answer gives is one of the file called path. */
enum mase_status mase_sealed_ask(struct mase_sealed *w, void *reply, const void *data, size_t size,
                                 const char *path, struct mase_err *err) MASE_MUST_CHECK;
void mase_sealed_stop(struct mase_sealed *w);

#endif /* MASE_DATA_SEALED_H */
