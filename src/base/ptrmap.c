/*
 * ptrmap.c - an open hash table with linear probing, at most two thirds full (ptrmap.h).
 */
#include "base/ptrmap.h"

#include <stdint.h>

enum { START = 16 }; /* entries; a power of two */

/* The entry that holds the key, or the free one where it belongs. Pointers end in zeros: the
 * product brings all their bits to the top, the shift back down. */
static size_t find(const struct mase_ptrmap_entry *entry, size_t cap, const void *key)
{
    size_t i = (size_t)((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cap - 1);
    while (entry[i].key && entry[i].key != key)
        i = (i + 1) & (cap - 1);
    return i;
}

void *mase_ptrmap_get(const struct mase_ptrmap *m, const void *key)
{
    return key && m->cap ? m->entry[find(m->entry, m->cap, key)].value : NULL;
}

static void grow(struct mase_ptrmap *m, struct mase_arena *a)
{
    const size_t cap = m->cap ? 2 * m->cap : START;
    struct mase_ptrmap_entry *entry = mase_new_array(a, struct mase_ptrmap_entry, cap);
    for (size_t i = 0; i < m->cap; i++)
        if (m->entry[i].key)
            entry[find(entry, cap, m->entry[i].key)] = m->entry[i];
    m->entry = entry;
    m->cap = cap;
}

void mase_ptrmap_put(struct mase_ptrmap *m, struct mase_arena *a, const void *key, void *value)
{
    if ((m->count + 1) * 3 > m->cap * 2)
        grow(m, a);
    struct mase_ptrmap_entry *e = &m->entry[find(m->entry, m->cap, key)];
    m->count += !e->key;
    *e = (struct mase_ptrmap_entry){ key, value };
}
