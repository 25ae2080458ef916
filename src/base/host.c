/*
 * host.c - guards: where a failing call jumps back to, and the ledger of what it must free.
 */
#include "base/host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ledger.h"
#include "base/number.h"

static const struct mase_host silent_host = { .level = MASE_CRITICAL };

static _Thread_local struct mase_guard *current_guard; /* in force on this thread */

struct mase_guard *mase_guard_current(void)
{
    return current_guard;
}

const struct mase_host *mase_host_current(void)
{
    return current_guard ? current_guard->host : NULL;
}

/* ---- the ledger ---- */

void mase_ledger_add(struct mase_guard *g, struct mase_heap_block *b)
{
    b->guard = g;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    struct mase_entry *head = &g->ledger, *last = head->prev;
    b->entry = (struct mase_entry){ .next = head, .prev = last };
    last->next = head->prev = &b->entry;
    pthread_mutex_unlock(&g->lock);
}

void mase_ledger_remove(struct mase_heap_block *b)
{
    struct mase_guard *g = b->guard;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    b->entry.prev->next = b->entry.next;
    b->entry.next->prev = b->entry.prev;
    pthread_mutex_unlock(&g->lock);
    b->guard = NULL;
}

static struct mase_heap_block *block_of(struct mase_entry *e)
{
    return (struct mase_heap_block *)(void *)e; /* its first member */
}

/* Blocks that are still alive belong to their holders from here on. */
static void disown_blocks(struct mase_guard *g)
{
    for (struct mase_entry *e = g->ledger.next; e != &g->ledger; e = e->next)
        block_of(e)->guard = NULL;
}

/* Move the blocks that are still alive to the ledger of g->adopt_to. */
static void give_to_adopter(struct mase_guard *g)
{
    struct mase_entry *head = &g->ledger, *first = head->next, *last = head->prev;
    if (first == head)
        return;
    for (struct mase_entry *e = first; e != head; e = e->next)
        block_of(e)->guard = g->adopt_to;
    struct mase_entry *to = &g->adopt_to->ledger;
    pthread_mutex_lock(&g->adopt_to->lock);
    first->prev = to->prev;
    to->prev->next = first;
    last->next = to;
    to->prev = last;
    pthread_mutex_unlock(&g->adopt_to->lock);
}

/* Run the cleanups, newest first, then free the memory, which a cleanup may read. */
static void undo(struct mase_guard *g)
{
    for (struct mase_entry *e = g->ledger.prev; e != &g->ledger; e = e->prev) {
        struct mase_heap_block *b = block_of(e);
        if (b->end)
            b->end(b + 1);
    }
    while (g->ledger.prev != &g->ledger)
        mase_xfree(block_of(g->ledger.prev) + 1);
}

/* ---- guards ---- */

static void open_guard(struct mase_guard *g)
{
    g->ledger = (struct mase_entry){ &g->ledger, &g->ledger };
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&g->calling, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void close_guard(struct mase_guard *g)
{
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->calling);
}

static void begin(struct mase_guard *g, const struct mase_host *host, struct mase_guard *parent,
                  struct mase_guard *adopt_to, struct mase_err *err)
{
    memset(g, 0, sizeof *g);
    g->outer = current_guard;
    g->parent = parent;
    g->adopt_to = adopt_to;
    g->host = host ? host : &silent_host;
    g->err = err;
    open_guard(g);
    current_guard = g;
}

static void end(struct mase_guard *g)
{
    current_guard = g->outer;
    for (struct mase_kept_arena *s = g->kept_arenas, *next; s; s = next) {
        next = s->next;
        mase_xfree(s);
    }
    if (g->status)
        undo(g);
    else if (g->adopt_to)
        give_to_adopter(g);
    else
        disown_blocks(g);
    close_guard(g);
}

/* The only function that a jump returns to; it has no locals that change after setjmp. */
static enum mase_status run(struct mase_guard *g, mase_guarded_fn *fn, void *data,
                            struct mase_err *err)
{
    if (setjmp(g->jump))
        return g->status;
    return fn(data, err);
}

enum mase_status mase_guarded(const struct mase_host *host, mase_guarded_fn *fn, void *data,
                              struct mase_err *err)
{
    struct mase_guard g;
    begin(&g, host, NULL, NULL, err);
    const enum mase_status st = run(&g, fn, data, err);
    end(&g);
    return st;
}

enum mase_status mase_guarded_part(struct mase_guard *parent, mase_guarded_fn *fn, void *data,
                                   struct mase_err *err)
{
    if (!parent)
        return fn(data, err);
    struct mase_guard g;
    begin(&g, parent->host, parent, parent, err);
    const enum mase_status st = run(&g, fn, data, err);
    end(&g);
    return st;
}

void mase_guard_leave(struct mase_guard *g, enum mase_status status)
{
    g->status = status;
    longjmp(g->jump, 1);
}

enum mase_status mase_guard_propagate(enum mase_status status, const struct mase_err *err)
{
    if (status != MASE_ENOMEM && status != MASE_EBUG)
        return status;
    if (!current_guard) {
        mase_fprintf(stderr, "%s\n", err->msg);
        status == MASE_EBUG ? abort() : exit(1);
    }
    if (current_guard->err && current_guard->err != err) {
        *current_guard->err = *err;
        current_guard->err->loc.path = err->loc.path
                                           ? current_guard->err->path
                                           : NULL; /* loc.path points into its own struct */
    }
    mase_guard_leave(current_guard, status);
}

struct mase_guard *mase_guard_suspend(void)
{
    struct mase_guard *g = current_guard;
    current_guard = NULL;
    return g;
}

void mase_guard_resume(struct mase_guard *g)
{
    current_guard = g;
}

/* ---- memory that lives as long as the process ---- */

static struct mase_guard process = { .ledger = { &process.ledger, &process.ledger },
                                     .lock = PTHREAD_MUTEX_INITIALIZER };

enum mase_status mase_process_run(mase_guarded_fn *fn, void *data, struct mase_err *err)
{
    struct mase_guard g;
    begin(&g, NULL, NULL, &process, err);
    const enum mase_status st = run(&g, fn, data, err);
    end(&g);
    return st;
}

/* ---- objects that live through several calls ---- */

struct mase_heap {
    struct mase_guard held; /* used for its ledger only, never the current guard */
    bool broken;
};

static void end_heap(void *record)
{
    struct mase_heap *p = record;
    undo(&p->held);
    close_guard(&p->held);
}

struct mase_heap *mase_heap_new(void)
{
    struct mase_heap *p = mase_xcalloc_with_cleanup(sizeof *p, end_heap);
    open_guard(&p->held);
    return p;
}

enum mase_status mase_heap_run(struct mase_heap *p, mase_guarded_fn *fn, void *data,
                               struct mase_err *err)
{
    if (!current_guard)
        return fn(data, err);
    struct mase_guard g;
    struct mase_err own;
    begin(&g, current_guard->host, current_guard, &p->held, &own);
    const enum mase_status st = run(&g, fn, data, err);
    end(&g);
    if (!g.status)
        return st;
    p->broken = true;
    return mase_guard_propagate(g.status, &own);
}

bool mase_heap_broken(const struct mase_heap *p)
{
    return p->broken;
}

void mase_heap_free(struct mase_heap *p)
{
    if (!p)
        return;
    end_heap(p);
    mase_xfree(p);
}

/* ---- arenas that existed before the call ---- */

static bool is_kept_arena(const struct mase_arena *a)
{
    for (const struct mase_guard *g = current_guard; g; g = g->outer ? g->outer : g->parent)
        for (const struct mase_kept_arena *s = g->kept_arenas; s; s = s->next)
            if (s->arena == a)
                return true;
    return false;
}

void mase_guard_keep_arena(const struct mase_arena *a)
{
    if (!current_guard)
        return;
    struct mase_kept_arena *s = mase_xcalloc(sizeof *s);
    *s = (struct mase_kept_arena){ current_guard->kept_arenas, a };
    current_guard->kept_arenas = s;
}

struct mase_guard *mase_guard_of_chunk(const struct mase_arena *a)
{
    if (a->last)
        return ((const struct mase_heap_block *)(const void *)a->last)[-1].guard;
    return current_guard && is_kept_arena(a) ? NULL : current_guard;
}

/* ---- calling the host ---- */

/* The guard of the whole call, also on a thread that runs a part of it. */
static struct mase_guard *outermost_guard(void)
{
    struct mase_guard *g = current_guard;
    while (g && g->parent)
        g = g->parent;
    return g;
}

void mase_host_log(enum mase_log_level level, const char *message)
{
    struct mase_guard *g = outermost_guard();
    if (!g->host->log || level < g->host->level)
        return;
    pthread_mutex_lock(&g->calling);
    g->host->log(g->host->user, level, message);
    pthread_mutex_unlock(&g->calling);
}

void mase_host_progress(const char *title, int64_t done, int64_t total)
{
    struct mase_guard *g = outermost_guard();
    if (!g->host->progress)
        return;
    pthread_mutex_lock(&g->calling);
    g->host->progress(g->host->user, title, done, total);
    pthread_mutex_unlock(&g->calling);
}
