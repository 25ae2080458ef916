/*
 * python.h - what repr (python.c) and pformat (pformat.c) share.
 */
#ifndef MASE_VALUE_PYTHON_H
#define MASE_VALUE_PYTHON_H

#include <mase/value.h>

struct mase_entry {
    const char *key;
    const struct mase_value *value;
};

/* The entries of a table, ordered by the code points of their keys. */
struct mase_entry *mase_sorted_entries(struct mase_arena *a, const struct mase_value *table);

/* repr with the keys of every table sorted. */
void mase_repr_sorted(struct mase_str *out, const struct mase_value *v);

#endif /* MASE_VALUE_PYTHON_H */
