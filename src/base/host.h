/*
 * host.h - the host program: its allocator, its log and progress functions, and the guard around
 * its calls.
 *
 * A guarded call always returns a status. When memory runs out, or at a fault of the library, a
 * jump leaves the call from anywhere, and its ledger lists what to undo: every block that was
 * allocated in it and every cleanup that was registered (alloc.h). Without a guard, as on the
 * command line, running out of memory ends the process and a fault aborts it.
 *
 * Memory of an object that is older than the call does not belong to the call: a chunk of an arena
 * that has chunks already, or a block that grows, is listed where the older chunk or block is. Only
 * an empty arena must be named (mase_guard_keep_arena). A block that is given to an older object
 * moves to that object's ledger (mase_aligned_give), or comes from a heap of its own.
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

/* The functions of the host program, borrowed for the length of a call. log and progress are called
 * by one thread at a time, which may differ from the thread that called the library. */
struct mase_host {
    void *user;
    /* As realloc; a size of 0 frees and returns NULL; NULL: the C library's. Several threads may
     * call it at the same time, and it also frees blocks after the call. */
    void *(*alloc)(void *user, void *p, size_t size);
    void (*log)(void *user, enum mase_log_level level,
                const char *message); /* NULL: messages are dropped */
    enum mase_log_level level;        /* below it, log is not called */
    void (*progress)(void *user, const char *title, int64_t done,
                     int64_t total); /* NULL: progress is not reported */
    const struct mase_pass *const
        *passes; /* further passes that mase_pass_find finds, NULL-terminated; NULL: none */
};

typedef enum mase_status mase_guarded_fn(void *data, struct mase_err *err);

/* Run fn(data, err) for this host. When memory runs out, everything that fn allocated and has not
 * freed is freed, its files are closed, unfinished files removed, children ended, and the result is
 * MASE_ENOMEM. A fault of the library (mase_bug) ends likewise as MASE_EBUG, with file, line and
 * message. Calls may be nested (a callback may call the library): blocks that such a call leaves
 * alive belong to its caller and are in no ledger. host and err may be NULL. */
enum mase_status mase_guarded(const struct mase_host *host, mase_guarded_fn *fn, void *data,
                              struct mase_err *err);

/* The host of this thread's current call; NULL: no call, or the command line. */
const struct mase_host *mase_host_current(void);

/* In a guarded call: keep chunks of this arena, which is older than the call, when the call fails.
 */
void mase_guard_keep_arena(const struct mase_arena *a);

/* ---- parts of a call ---- */

/* The current guard of this thread; NULL: none. */
struct mase_guard *mase_guard_current(void);

/* Run a part of a call that a jump must not leave: a thread's share of a parallel region, or code
 * that holds a lock. The part has a guard of its own; blocks that it leaves alive go to parent, the
 * guard of the thread that began the region. parent NULL: only call fn. */
enum mase_status mase_guarded_part(struct mase_guard *parent, mase_guarded_fn *fn, void *data,
                                   struct mase_err *err);

/* Pass on the status of a part, or of the library's own nested call: MASE_ENOMEM and MASE_EBUG end
 * the current call, or the process outside of calls; other statuses are returned. */
enum mase_status mase_guard_propagate(enum mase_status status, const struct mase_err *err);

/* Suspend the guard around a parallel region with barriers, which no thread may leave by a jump.
 * Code in the region does not allocate; a bug in it aborts. */
struct mase_guard *mase_guard_suspend(void);
void mase_guard_resume(struct mase_guard *g);

/* Run fn to make data that all calls of the process share, mostly under a lock, with the C
 * library's allocator and without a host. A failure ends fn only: unlock, then call
 * mase_guard_propagate. */
enum mase_status mase_process_run(mase_guarded_fn *fn, void *data, struct mase_err *err);

/* ---- objects that live through several calls ---- */

/* The heap of an object that several calls change: blocks that they leave alive belong to the heap.
 * A call that fails may leave dangling pointers in the object; then it may only be freed, which the
 * heap does without reading the object. */
struct mase_heap;

struct mase_heap *mase_heap_new(void);
/* Run a call on the object. Without a guard, only call fn. */
enum mase_status mase_heap_run(struct mase_heap *p, mase_guarded_fn *fn, void *data,
                               struct mase_err *err);
bool mase_heap_broken(const struct mase_heap *p);
/* Free the heap with all its blocks; NULL is allowed. */
void mase_heap_free(struct mase_heap *p);

/* ---- calling the host, for log.c and progress.c ---- */

void mase_host_log(enum mase_log_level level, const char *message);
void mase_host_progress(const char *title, int64_t done, int64_t total);

#endif /* MASE_BASE_HOST_H */
