/*
 * ptrmap.h - a map from pointers to pointers: from tensors to slots, from parameters to weights.
 */
#ifndef MASE_BASE_PTRMAP_H
#define MASE_BASE_PTRMAP_H

#include <mase/arena.h>

struct mase_ptrmap_entry {
    const void *key; /* NULL: free */
    void *value;
};

/* A zeroed map is empty; its memory is allocated in the arena given to mase_ptrmap_put. */
struct mase_ptrmap {
    struct mase_ptrmap_entry *entry;
    size_t count, cap;
};

/* NULL when absent, and for a key that is NULL. */
void *mase_ptrmap_get(const struct mase_ptrmap *m, const void *key);
/* Set the value of a key, replacing an earlier one. */
void mase_ptrmap_put(struct mase_ptrmap *m, struct mase_arena *a, const void *key, void *value);

#endif /* MASE_BASE_PTRMAP_H */
