/*
 * host.h - the program around the library: whose memory it takes, who hears its log, and what
 * becomes of a call that cannot go on.
 *
 * A guarded call ends by a status whatever happens. Without memory, or at a fault of our own, it is
 * left from wherever it is, and a ledger says what is to be undone: every block that was allocated
 * within it and every cleanup that was registered (alloc.h). Without a guard, as on the command
 * line, the first ends the process and the second aborts it.
 *
 * What an object needs that is older than the call does not belong to the call: a chunk of an arena
 * that has chunks already, or a block that grows, stays where its elder is. Only an empty arena
 * must be named (mase_guard_keep_arena). What an older object is given as its own follows it
 * (mase_aligned_give), or comes from a heap of its own.
 */
#ifndef MASE_BASE_HOST_H
#define MASE_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/log.h>

struct mase_pass;

/* What the program around the library gave, for the length of a call; borrowed. log and progress
 * are called by one thread at a time, which need not be the one that called. */
struct mase_host {
    void *user;
    /* realloc's contract; a size of 0 frees and gives NULL; NULL: the C library's. Several threads
     * may call it at once, and blocks are freed by it after the call, too. */
    void *(*alloc)(void *user, void *p, size_t size);
    void (*log)(void *user, enum mase_log_level level,
                const char *message); /* NULL: nobody listens */
    enum mase_log_level level;        /* below it, log is not called */
    void (*progress)(void *user, const char *title, int64_t done,
                     int64_t total); /* NULL: nobody looks */
    const struct mase_pass *const
        *passes; /* further passes that mase_pass_find finds, NULL-terminated; NULL: none */
};

typedef enum mase_status mase_guarded_fn(void *data, struct mase_err *err);

/* Run fn(data, err) for this host. Without memory, everything that it allocated and has not given
 * back is freed, files it opened are closed, unfinished files removed, children ended: MASE_ENOMEM.
 * Our own fault (mase_bug) ends the same way as MASE_EBUG, with file, line and sentence. Calls may
 * be nested (a callback may call again): what such a call leaves alive is its caller's, and no
 * ledger's. host and err may be NULL. */
enum mase_status mase_guarded(const struct mase_host *host, mase_guarded_fn *fn, void *data,
                              struct mase_err *err);

/* The host of the call under way on this thread; NULL: none, the command line. */
const struct mase_host *mase_host_current(void);

/* Within a guarded call: chunks of this arena, which is older than the call, stay the arena's when
 * the call fails. */
void mase_guard_keep_arena(const struct mase_arena *a);

/* ---- parts of a call ---- */

/* The guard in force on this thread; NULL: none. */
struct mase_guard *mase_guard_current(void);

/* Run a part of a call that must not be left by a jump: a thread's share of a parallel region, or
 * what is done under a lock. It fails alone, and what it leaves alive is parent's, the guard of the
 * thread that began the region. Without one, fn is just called. */
enum mase_status mase_guarded_part(struct mase_guard *parent, mase_guarded_fn *fn, void *data,
                                   struct mase_err *err);

/* Of a part, or of a nested call of our own: out of memory and our own fault end the call, or the
 * process where there is none; other statuses are returned. */
enum mase_status mase_guard_propagate(enum mase_status status, const struct mase_err *err);

/* Around a parallel region whose threads wait for each other: none of them can be left behind, so
 * no jump may lead out of it. Nothing in it asks for memory; a bug there aborts. */
struct mase_guard *mase_guard_suspend(void);
void mase_guard_resume(struct mase_guard *g);

/* Make what all calls of the process share, mostly under a lock, with the C library's memory. It
 * fails alone, and there is no host: once the lock is given back, mase_guard_propagate. */
enum mase_status mase_process_run(mase_guarded_fn *fn, void *data, struct mase_err *err);

/* ---- objects that live through several calls ---- */

/* The memory of an object that calls change: what they leave alive is the heap's, not the caller's.
 * A call that fails may leave pointers in the object to what it took back, so the object is broken
 * then: nothing but freeing it is allowed, and the heap does that without looking at it. */
struct mase_heap;

struct mase_heap *mase_heap_new(void);
/* Run a call on the object. Where there is no guard, fn is just called. */
enum mase_status mase_heap_run(struct mase_heap *p, mase_guarded_fn *fn, void *data,
                               struct mase_err *err);
bool mase_heap_broken(const struct mase_heap *p);
/* With all that is left in it; NULL is none. */
void mase_heap_free(struct mase_heap *p);

/* ---- calling the host, for log.c and progress.c ---- */

void mase_host_log(enum mase_log_level level, const char *message);
void mase_host_progress(const char *title, int64_t done, int64_t total);

#endif /* MASE_BASE_HOST_H */
