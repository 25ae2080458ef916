/*
 * arena.h - memory that is freed all at once.
 *
 * An arena hands out zeroed memory and frees nothing until it is released. It never returns NULL:
 * when memory runs out, a library call ends with MASE_ENOMEM, and the command line prints one line
 * and exits with status 1. A reader checks every size that comes from a file first (MASE_ELIMIT),
 * so that no file can exhaust the memory.
 *
 *     struct mase_arena a = { 0 };
 *     int *v = mase_new_array(&a, int, n);
 *     const char *s = mase_arena_printf(&a, "%s_%d", base, i);
 *     mase_arena_release(&a);
 */
#ifndef MASE_ARENA_H
#define MASE_ARENA_H

#include <stddef.h>

#include <mase/api.h>
#include <mase/err.h>

MASE_API_BEGIN

struct mase_arena {
    struct mase_chunk *last; /* chunks, newest first; NULL while empty */
    size_t used;             /* bytes handed out, for reports */
};

void mase_arena_release(struct mase_arena *a);

/* Zeroed, aligned to 16 bytes. A size of 0 gives a valid pointer. */
void *mase_arena_alloc(struct mase_arena *a, size_t size);
/* n * size bytes, likewise. An n * size that overflows counts as out of memory. */
void *mase_arena_alloc_array(struct mase_arena *a, size_t n, size_t size);

#define mase_new(a, T)          ((T *)mase_arena_alloc((a), sizeof(T)))
#define mase_new_array(a, T, n) ((T *)mase_arena_alloc_array((a), (n), sizeof(T)))

char *mase_arena_strdup(struct mase_arena *a, const char *s);
char *mase_arena_strndup(struct mase_arena *a, const char *s, size_t n);
char *mase_arena_printf(struct mase_arena *a, const char *fmt, ...) MASE_PRINTF(2, 3);
void *mase_arena_memdup(struct mase_arena *a, const void *p, size_t size);

/* Make room for one more element in an array of n elements of this size, with room for *cap:
 * returns p, or a copy with twice the room. */
void *mase_arena_grow(struct mase_arena *a, void *p, int n, int *cap, size_t size);

MASE_API_END

#endif /* MASE_ARENA_H */
