/*
 * ledger.h - what blocks (alloc.c) and guards (host.c) know of each other.
 */
#ifndef MASE_BASE_LEDGER_H
#define MASE_BASE_LEDGER_H

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>

#include "base/host.h"

/* A place in a guard's ledger, a ring. */
struct mase_entry {
    struct mase_entry *next, *prev; /* newer, older */
};

/* Before every block. It lies in the ledger of its guard; NULL: in none. */
struct mase_heap_block {
    struct mase_entry entry; /* first */
    struct mase_guard *guard;
    void *(*alloc)(void *user, void *p, size_t size); /* who takes it back; NULL: the C library */
    void *user;
    void (*end)(void *payload); /* a cleanup's; NULL: memory alone */
};
_Static_assert(sizeof(struct mase_heap_block) % 16 == 0,
               "what follows it is aligned for everything");

struct mase_spare {
    struct mase_spare *next;
    const struct mase_arena *arena;
};

struct mase_guard {
    jmp_buf jump;
    struct mase_guard *outer;  /* of this thread */
    struct mase_guard *parent; /* of a part: whose part it is, maybe on another thread */
    struct mase_guard *heir;   /* whose ledger gets what is left alive; NULL: none does */
    const struct mase_host *host;
    struct mase_err *err; /* may be NULL */
    enum mase_status status;
    struct mase_entry ledger;
    struct mase_spare *spares;
    pthread_mutex_t lock;    /* of the ledger: a thread may free what another allocated */
    pthread_mutex_t calling; /* one thread at a time calls the host; recursive */
};

void mase_ledger_add(struct mase_guard *g, struct mase_heap_block *b); /* g may be NULL: in none */
void mase_ledger_remove(struct mase_heap_block *b);                    /* which may be in none */

/* Where a new chunk of an arena belongs. */
struct mase_guard *mase_guard_of_chunk(const struct mase_arena *a);

/* Leave the call. There must be a guard. */
_Noreturn void mase_guard_leave(struct mase_guard *g, enum mase_status status);

#endif /* MASE_BASE_LEDGER_H */
