/*
 * alloc.h - every block of memory of the library, and the one place where memory runs out.
 *
 * A size that a file asked for is checked by its reader; what arrives here is our own need, and
 * without it nothing useful can be done: a guarded call (host.h) ends with MASE_ENOMEM; on the
 * command line it is one line on stderr, exit status 1.
 *
 * A block knows whose it is: it may be freed by any thread, in any call or none.
 */
#ifndef MASE_BASE_ALLOC_H
#define MASE_BASE_ALLOC_H

#include <dirent.h>
#include <stddef.h>

#include <mase/arena.h>

_Noreturn void mase_out_of_memory(size_t wanted);

/* realloc and zeroed malloc that never return NULL; freed by mase_xfree. Of a large block, pages
 * stay untouched until written. */
void *mase_xrealloc(void *p, size_t size);
void *mase_xcalloc(size_t size);
char *mase_xstrdup(const char *s);
void mase_xfree(void *p); /* may be NULL */
/* Zeroed memory, 64-byte aligned; of a large block, pages stay untouched until written. */
void *mase_aligned_calloc(size_t size);
void mase_aligned_free(void *block); /* may be NULL */
/* As zlib and PCRE2 call them: their memory is ours, and so is its end. */
void *mase_zlib_alloc(void *unused, unsigned n, unsigned size);
void mase_zlib_free(void *unused, void *p);
void *mase_pcre2_alloc(size_t size, void *unused);
void mase_pcre2_free(void *p, void *unused);

/* For chunks of an arena: a block that belongs to the same owner as the others. */
void *mase_xcalloc_chunk(const struct mase_arena *a, size_t size);

/* The block is given to an object that lies in another, which may be older than the call: it goes
 * where that one goes when the call fails. NULL is no block. */
void mase_aligned_give(void *block, const void *owner);
/* As mase_aligned_give, for an object in an arena. */
void mase_aligned_give_to_arena(void *block, const struct mase_arena *a);
void mase_block_give_to_arena(void *block, const struct mase_arena *a);

/* For an object that lies completely in an arena of its own. */
void mase_arena_give_to_arena(const struct mase_arena *a, const struct mase_arena *owner);

/* A block that the program around the library owns from here on, whatever becomes of the call; NULL
 * is none. */
void mase_block_disown(void *block);

/* mase_xcalloc; end is called on the block when the call fails, before memory is given back. */
void *mase_xcalloc_with_cleanup(size_t size, void (*end)(void *block));

/* What must be undone when a call fails, beside memory: a zeroed record, on which end is called
 * then. It is freed like any block once the thing has been undone in the usual way; NULL where
 * there is no guard. Made before the thing, which then cannot get lost. end must not allocate. */
void *mase_cleanup(size_t size, void (*end)(void *record));
/* The usual one: closes the descriptor that it says, unless that is negative. */
int *mase_cleanup_fd(void);

/* opendir(3), with a cleanup of its own. */
struct mase_dir {
    DIR *dir; /* NULL: errno says why */
    void *cleanup;
};
struct mase_dir mase_dir_open(const char *path);
void mase_dir_close(struct mase_dir *d); /* which may not be open */

/* The path without links, as realpath(3); freed by mase_xfree; NULL and errno if there is none. */
char *mase_real_path(const char *path);

#endif /* MASE_BASE_ALLOC_H */
