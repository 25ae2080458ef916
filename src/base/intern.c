/*
 * intern.c - interned strings and the map from text to pointer.
 *
 * Both are open hash tables with linear probing, kept at most two thirds full. Outgrown tables stay
 * in the arena: together they are smaller than the last one.
 */
#include <mase/str.h>

#include <stdint.h>
#include <string.h>

#ifndef MASE_MAP_START
#define MASE_MAP_START 16 /* slots; a power of two; test builds shrink it */
#endif

struct mase_map_slot {
    const char *key; /* NULL: free */
    void *value;
};

/* FNV-1a, folded so that the low bits, which choose the slot, depend on all of it. */
static size_t hash(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return (size_t)(h ^ (h >> 32));
}

static bool too_full(size_t count, size_t cap)
{
    return (count + 1) * 3 > cap * 2;
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t intern_slot(const char *const *slots, size_t cap, const char *s, size_t n)
{
    size_t i = hash(s, n) & (cap - 1);
    while (slots[i] && !(strncmp(slots[i], s, n) == 0 && slots[i][n] == '\0'))
        i = (i + 1) & (cap - 1);
    return i;
}

static void intern_grow(struct mase_intern *in)
{
    const size_t cap = in->cap ? in->cap * 2 : MASE_MAP_START;
    const char **slots = mase_new_array(in->arena, const char *, cap);
    for (size_t i = 0; i < in->cap; i++) {
        const char *s = in->slots[i];
        if (s)
            slots[intern_slot(slots, cap, s, strlen(s))] = s;
    }
    in->slots = slots;
    in->cap = cap;
}

const char *mase_intern_n(struct mase_intern *in, const char *s, size_t n)
{
    n = strnlen(s, n);
    if (too_full(in->count, in->cap))
        intern_grow(in);
    const size_t i = intern_slot(in->slots, in->cap, s, n);
    if (!in->slots[i]) {
        in->slots[i] = mase_arena_strndup(in->arena, s, n);
        in->count++;
    }
    return in->slots[i];
}

const char *mase_intern(struct mase_intern *in, const char *s)
{
    return mase_intern_n(in, s, strlen(s));
}

static size_t map_slot(const struct mase_map_slot *slots, size_t cap, const char *key)
{
    size_t i = hash(key, strlen(key)) & (cap - 1);
    while (slots[i].key && strcmp(slots[i].key, key) != 0)
        i = (i + 1) & (cap - 1);
    return i;
}

static void map_grow(struct mase_map *m)
{
    const size_t cap = m->cap ? m->cap * 2 : MASE_MAP_START;
    struct mase_map_slot *slots = mase_new_array(m->arena, struct mase_map_slot, cap);
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].key)
            slots[map_slot(slots, cap, m->slots[i].key)] = m->slots[i];
    }
    m->slots = slots;
    m->cap = cap;
}

void *mase_map_get(const struct mase_map *m, const char *key)
{
    return m->cap ? m->slots[map_slot(m->slots, m->cap, key)].value : NULL;
}

void mase_map_put(struct mase_map *m, const char *key, void *value)
{
    if (too_full(m->count, m->cap))
        map_grow(m);
    struct mase_map_slot *slot = &m->slots[map_slot(m->slots, m->cap, key)];
    if (!slot->key) {
        slot->key = key;
        m->count++;
    }
    slot->value = value;
}
