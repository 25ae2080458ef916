/*
 * known.c - measurements by the text that decides them.
 */
#include "search/known.h"

#include <string.h>

#include "base/host.h"

void mase_known_init(struct mase_known *k, int slots)
{
    *k = (struct mase_known){ .slots = slots };
    k->of.arena = &k->arena;
    (void)mase_arena_alloc(&k->arena, 1); /* what workers add belongs to the call that this does */
}

void mase_known_release(struct mase_known *k)
{
    mase_arena_release(&k->arena);
}

bool mase_known_get(struct mase_known *k, const char *key, double *found)
{
    const double *known;
#pragma omp critical(mase_search_known)
    known = mase_map_get(&k->of, key);
    if (known)
        memcpy(found, known, (size_t)k->slots * sizeof *found);
    return known != NULL;
}

struct entry {
    struct mase_known *known;
    const char *key;
    const double *found;
};

static enum mase_status put(void *data, struct mase_err *err)
{
    const struct entry *e = data;
    struct mase_arena *a = &e->known->arena;
    (void)err;
    if (!mase_map_get(&e->known->of, e->key))
        mase_map_put(&e->known->of, mase_arena_strdup(a, e->key),
                     mase_arena_memdup(a, e->found, (size_t)e->known->slots * sizeof *e->found));
    return MASE_OK;
}

void mase_known_put(struct mase_known *k, const char *key, const double *found)
{
    struct entry e = { k, key, found };
    struct mase_guard *guard = mase_guard_current();
    struct mase_err err;
    enum mase_status st;
#pragma omp critical(mase_search_known)
    st = mase_guarded_part(guard, put, &e, &err);
    (void)mase_guard_propagate(st, &err);
}
