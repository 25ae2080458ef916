/*
 * ptrmap.h - what belongs to a pointer: slots to tensors, weights to parameters.
 */
#ifndef MASE_BASE_PTRMAP_H
#define MASE_BASE_PTRMAP_H

#include <mase/arena.h>

struct mase_ptrmap_entry {
    const void *key; /* NULL: free */
    void *value;
};

/* Zeroed it is empty; its memory lies in the arena it grows in. */
struct mase_ptrmap {
    struct mase_ptrmap_entry *entry;
    size_t count, cap;
};

/* NULL when absent, and for a key that is NULL. */
void *mase_ptrmap_get(const struct mase_ptrmap *m, const void *key);
/* The value replaces what the key had. */
void mase_ptrmap_put(struct mase_ptrmap *m, struct mase_arena *a, const void *key, void *value);

#endif /* MASE_BASE_PTRMAP_H */
