/*
 * ledger.h - the list of blocks that a guard frees when its call fails; shared by alloc.c and
 * host.c.
 */
#ifndef MASE_BASE_LEDGER_H
#define MASE_BASE_LEDGER_H

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>

#include "base/host.h"

/* A link of a guard's ledger, a circular list. */
struct mase_entry {
    struct mase_entry *next, *prev; /* newer, older */
};

/* The header before every block. guard NULL: the block is in no ledger. */
struct mase_heap_block {
    struct mase_entry entry; /* first */
    struct mase_guard *guard;
    void *(*alloc)(void *user, void *p,
                   size_t size); /* frees the block; NULL: the C library does */
    void *user;
    void (*end)(void *payload); /* cleanup beyond freeing memory; NULL: none */
};
_Static_assert(sizeof(struct mase_heap_block) % 16 == 0,
               "what follows it is aligned for everything");

struct mase_kept_arena {
    struct mase_kept_arena *next;
    const struct mase_arena *arena;
};

struct mase_guard {
    jmp_buf jump;
    struct mase_guard *outer; /* the guard that was current on this thread before */
    struct mase_guard
        *parent; /* for a part of a call: the guard of the whole call, perhaps on another thread */
    struct mase_guard
        *adopt_to; /* on success this guard gets the blocks that are still alive; NULL: none does */
    const struct mase_host *host;
    struct mase_err *err; /* may be NULL */
    enum mase_status status;
    struct mase_entry ledger;
    struct mase_kept_arena *kept_arenas;
    pthread_mutex_t lock;    /* for the ledger: a thread may free blocks of another */
    pthread_mutex_t calling; /* one thread at a time calls the host; recursive */
};

void mase_ledger_add(struct mase_guard *g, struct mase_heap_block *b); /* g may be NULL: in none */
void mase_ledger_remove(struct mase_heap_block *b);                    /* which may be in none */

/* The guard in whose ledger a new chunk of an arena goes. */
struct mase_guard *mase_guard_of_chunk(const struct mase_arena *a);

/* Leave the call. There must be a guard. */
_Noreturn void mase_guard_leave(struct mase_guard *g, enum mase_status status);

#endif /* MASE_BASE_LEDGER_H */
