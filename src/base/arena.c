/*
 * arena.c - chunks of memory, handed out from the front, freed together.
 *
 * Small requests share the newest chunk; each is twice the one before it, up to a limit, so that an
 * arena for a few words costs little to make. A request that would waste much of a chunk gets one
 * of its own, put behind the newest so that the latter stays in use. Under AddressSanitizer what
 * has not been handed out is poisoned and a gap follows every allocation, so running over an arena
 * object is seen like running over a malloc'd one.
 */
#include <mase/arena.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

#ifndef MASE_ARENA_CHUNK
#define MASE_ARENA_CHUNK 65536 /* payload bytes, at most; test builds shrink it */
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
enum { GAP = 0 };
#endif

/* Arrays that vectors go over lie on whole lines of the cache. */
enum { ALIGN = 16, LINE = 64, ARRAY = 256 };

struct mase_chunk {
    struct mase_chunk *next; /* older */
    size_t size, used;       /* of the payload, which follows the header */
};

enum { HEADER = (sizeof(struct mase_chunk) + ALIGN - 1) / ALIGN * ALIGN };
_Static_assert(_Alignof(max_align_t) >= ALIGN, "malloc must give 16-byte alignment");

static unsigned char *payload(struct mase_chunk *c)
{
    return (unsigned char *)c + HEADER;
}

static struct mase_chunk *new_chunk(const struct mase_arena *a, size_t size)
{
    struct mase_chunk *c = mase_xcalloc_chunk(a, HEADER + size);
    c->size = size;
    ASAN_POISON_MEMORY_REGION(payload(c), size);
    return c;
}

enum { FIRST_CHUNK = 2048 };

/* The size of the next chunk for small requests, one of which needs `need`. */
static size_t next_size(const struct mase_chunk *last, size_t need)
{
    size_t size = last ? 2 * last->size : FIRST_CHUNK;
    while (size < 4 * need)
        size *= 2;
    return size < MASE_ARENA_CHUNK ? size : MASE_ARENA_CHUNK;
}

/* A chunk with room for need bytes: the newest, or a new one. */
static struct mase_chunk *chunk_for(struct mase_arena *a, size_t need)
{
    struct mase_chunk *last = a->last;
    if (last && last->size - last->used >= need)
        return last;
    const bool large = need > MASE_ARENA_CHUNK / 4;
    struct mase_chunk *c = new_chunk(a, large ? need : next_size(last, need));
    if (last && large) {
        c->next = last->next;
        last->next = c;
    } else {
        c->next = last;
        a->last = c;
    }
    return c;
}

void *mase_arena_alloc(struct mase_arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        mase_out_of_memory(size);
    /* Even an empty object gets an address of its own. */
    const size_t need = ((size ? size : 1) + ALIGN - 1) / ALIGN * ALIGN + GAP;
    const size_t line = size >= ARRAY ? LINE : ALIGN;
    struct mase_chunk *c = chunk_for(a, need + line - ALIGN);
    unsigned char *p = payload(c) + c->used;
    const size_t skip = (line - (uintptr_t)p % line) % line;
    p += skip;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    c->used += skip + need;
    a->used += size;
    return p;
}

void *mase_arena_alloc_array(struct mase_arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        mase_out_of_memory(SIZE_MAX);
    return mase_arena_alloc(a, n * size);
}

void mase_arena_release(struct mase_arena *a)
{
    for (struct mase_chunk *c = a->last, *next; c; c = next) {
        next = c->next;
        ASAN_UNPOISON_MEMORY_REGION(payload(c), c->size);
        mase_xfree(c);
    }
    *a = (struct mase_arena){ 0 };
}

void mase_arena_give_to_arena(const struct mase_arena *a, const struct mase_arena *owner)
{
    for (struct mase_chunk *c = a->last; c; c = c->next)
        mase_block_give_to_arena(c, owner);
}

void *mase_arena_memdup(struct mase_arena *a, const void *p, size_t size)
{
    void *copy = mase_arena_alloc(a, size);
    if (size)
        memcpy(copy, p, size);
    return copy;
}

char *mase_arena_strndup(struct mase_arena *a, const char *s, size_t n)
{
    const size_t len = strnlen(s, n);
    char *copy = mase_arena_alloc(a, len + 1);
    memcpy(copy, s, len);
    return copy;
}

char *mase_arena_strdup(struct mase_arena *a, const char *s)
{
    return mase_arena_memdup(a, s, strlen(s) + 1);
}

char *mase_arena_printf(struct mase_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int len = mase_vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len < 0)
        mase_bug("cannot format \"%s\"", fmt);
    char *text = mase_arena_alloc(a, (size_t)len + 1);
    mase_vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}

void *mase_arena_grow(struct mase_arena *a, void *p, int n, int *cap, size_t size)
{
    if (n < *cap)
        return p;
    if (*cap > INT_MAX / 2)
        mase_out_of_memory(SIZE_MAX);
    const int doubled = *cap ? *cap * 2 : 4;
    void *bigger = mase_arena_alloc_array(a, (size_t)doubled, size);
    *cap = doubled; /* not before there is so much */
    if (n)
        memcpy(bigger, p, (size_t)n * size);
    return bigger;
}
