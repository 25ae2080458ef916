/*
 * alloc.c - blocks of memory with a header that records their allocator and their ledger
 * (ledger.h). No other file of the library calls malloc, calloc or realloc.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ledger.h"
#include "base/number.h"

enum { LINE = 64 };

void mase_out_of_memory(size_t wanted)
{
    struct mase_guard *g = mase_guard_current();
    if (g) {
        mase_fail(g->err, MASE_ENOMEM, "out of memory: %zu bytes", wanted);
        mase_guard_leave(g, MASE_ENOMEM);
    }
    mase_fprintf(stderr, "out of memory: %zu bytes\n", wanted);
    exit(1);
}

static struct mase_heap_block *block_of(const void *p)
{
    return (struct mase_heap_block *)((uintptr_t)p - sizeof(struct mase_heap_block));
}

/* NULL without memory. The host's allocator gives what was there; zeros are written. */
static struct mase_heap_block *take(size_t size, bool zeroed)
{
    if (size > PTRDIFF_MAX - sizeof(struct mase_heap_block))
        return NULL;
    const struct mase_host *host = mase_host_current();
    const size_t whole = sizeof(struct mase_heap_block) + size;
    if (!host || !host->alloc)
        return zeroed ? calloc(1, whole) : malloc(whole);
    struct mase_heap_block *b = host->alloc(host->user, NULL, whole);
    if (b && zeroed)
        memset(b, 0, whole);
    return b;
}

static void *enter(struct mase_heap_block *b, struct mase_guard *g, void (*end)(void *))
{
    const struct mase_host *host = mase_host_current();
    *b = (struct mase_heap_block){ .end = end };
    if (host && host->alloc) {
        b->alloc = host->alloc;
        b->user = host->user;
    }
    mase_ledger_add(g, b);
    return b + 1;
}

void *mase_xcalloc(size_t size)
{
    struct mase_heap_block *b = take(size, true);
    if (!b)
        mase_out_of_memory(size);
    return enter(b, mase_guard_current(), NULL);
}

void *mase_xcalloc_with_cleanup(size_t size, void (*end)(void *block))
{
    struct mase_heap_block *b = take(size, true);
    if (!b)
        mase_out_of_memory(size);
    return enter(b, mase_guard_current(), end);
}

void *mase_xcalloc_chunk(const struct mase_arena *a, size_t size)
{
    struct mase_heap_block *b = take(size, true);
    if (!b)
        mase_out_of_memory(size);
    return enter(b, mase_guard_of_chunk(a), NULL);
}

void *mase_xrealloc(void *p, size_t size)
{
    if (!p) {
        struct mase_heap_block *new = take(size, false);
        if (!new)
            mase_out_of_memory(size);
        return enter(new, mase_guard_current(), NULL);
    }
    if (size > PTRDIFF_MAX - sizeof(struct mase_heap_block))
        mase_out_of_memory(size);
    /* The block may move, so it is out of the ledger while realloc runs. */
    struct mase_heap_block *b = block_of(p);
    struct mase_guard *g = b->guard;
    const size_t whole = sizeof *b + size;
    mase_ledger_remove(b);
    struct mase_heap_block *moved = b->alloc ? b->alloc(b->user, b, whole) : realloc(b, whole);
    mase_ledger_add(g, moved ? moved : b);
    if (!moved)
        mase_out_of_memory(size);
    return moved + 1;
}

void mase_xfree(void *p)
{
    if (!p)
        return;
    struct mase_heap_block *b = block_of(p);
    mase_ledger_remove(b);
    if (b->alloc)
        b->alloc(b->user, b, 0);
    else
        free(b);
}

char *mase_xstrdup(const char *s)
{
    const size_t size = strlen(s) + 1;
    return memcpy(mase_xrealloc(NULL, size), s, size);
}

/* ---- as other libraries ask ---- */

void *mase_zlib_alloc(void *unused, unsigned n, unsigned size)
{
    (void)unused;
    return mase_xrealloc(NULL, (size_t)n * size);
}

void mase_zlib_free(void *unused, void *p)
{
    (void)unused;
    mase_xfree(p);
}

void *mase_pcre2_alloc(size_t size, void *unused)
{
    (void)unused;
    return mase_xrealloc(NULL, size);
}

void mase_pcre2_free(void *p, void *unused)
{
    (void)unused;
    mase_xfree(p);
}

/* ---- aligned ---- */

/* What mase_xcalloc gave stands right before the block. A large block is fresh pages, which the
 * system fills with zeros when they are written first. */
void *mase_aligned_calloc(size_t size)
{
    if (size > PTRDIFF_MAX - 2 * LINE)
        mase_out_of_memory(size);
    char *given = mase_xcalloc(size + 2 * LINE);
    char *block = given + LINE + (LINE - (uintptr_t)given % LINE) % LINE;
    ((void **)(void *)block)[-1] = given;
    return block;
}

static void *given_for(void *block)
{
    return block ? ((void **)block)[-1] : NULL;
}

void mase_aligned_free(void *block)
{
    mase_xfree(given_for(block));
}

/* ---- whose a block is ---- */

static void move(void *block, struct mase_guard *g)
{
    if (!block || block_of(block)->guard == g)
        return;
    mase_ledger_remove(block_of(block));
    mase_ledger_add(g, block_of(block));
}

void mase_aligned_give(void *block, const void *owner)
{
    move(given_for(block), block_of(owner)->guard);
}

void mase_block_give_to_arena(void *block, const struct mase_arena *a)
{
    move(block, mase_guard_of_chunk(a));
}

void mase_aligned_give_to_arena(void *block, const struct mase_arena *a)
{
    move(given_for(block), mase_guard_of_chunk(a));
}

void mase_block_disown(void *block)
{
    move(block, NULL);
}

/* ---- beside memory ---- */

void *mase_cleanup(size_t size, void (*end)(void *record))
{
    return mase_guard_current() ? mase_xcalloc_with_cleanup(size, end) : NULL;
}

static void close_fd(void *record)
{
    if (*(int *)record >= 0)
        close(*(int *)record);
}

int *mase_cleanup_fd(void)
{
    int *fd = mase_cleanup(sizeof *fd, close_fd);
    if (fd)
        *fd = -1;
    return fd;
}

static void close_dir(void *record)
{
    if (*(DIR **)record)
        closedir(*(DIR **)record);
}

struct mase_dir mase_dir_open(const char *path)
{
    DIR **record = mase_cleanup(sizeof *record, close_dir);
    const struct mase_dir d = { opendir(path), record };
    if (record)
        *record = d.dir;
    return d;
}

void mase_dir_close(struct mase_dir *d)
{
    if (d->dir)
        closedir(d->dir);
    mase_xfree(d->cleanup);
    *d = (struct mase_dir){ 0 };
}

char *mase_real_path(const char *path)
{
    char *real = mase_xrealloc(NULL, PATH_MAX);
    if (realpath(path, real))
        return real;
    const int why = errno;
    mase_xfree(real);
    errno = why;
    return NULL;
}
