/*
 * alloc.h - the one place where memory runs out.
 *
 * A size that a file asked for is checked by its reader; what arrives here is our own need, and
 * without it nothing useful can be done: one line on stderr, exit status 1.
 */
#ifndef MASE_BASE_ALLOC_H
#define MASE_BASE_ALLOC_H

#include <stddef.h>

_Noreturn void mase_out_of_memory(size_t wanted);

/* realloc and zeroed malloc that never return NULL; caller frees. */
void *mase_xrealloc(void *p, size_t size);
void *mase_xcalloc(size_t size);
/* Zeroed memory, 64-byte aligned; of a large block, pages stay untouched until written. */
void *mase_aligned_calloc(size_t size);
void mase_aligned_free(void *block); /* may be NULL */

#endif /* MASE_BASE_ALLOC_H */
