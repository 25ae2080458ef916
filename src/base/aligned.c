/*
 * aligned.c - large zeroed memory that nobody touches before it is used.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { ALIGN = 64 };

/* What calloc gave stands right before the block. A large block is fresh pages, which the system
 * fills with zeros when they are written first. */
void *mase_aligned_calloc(size_t size)
{
    if (size > SIZE_MAX - 2 * ALIGN)
        mase_out_of_memory(size);
    char *given = mase_xcalloc(size + 2 * ALIGN);
    char *block = given + ALIGN + (ALIGN - (uintptr_t)given % ALIGN) % ALIGN;
    ((void **)(void *)block)[-1] = given;
    return block;
}

void mase_aligned_free(void *block)
{
    if (block)
        free(((void **)block)[-1]);
}
