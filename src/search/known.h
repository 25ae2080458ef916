/*
 * known.h - what was measured already, by what decides it: a network that another trial had is not
 * measured again. Threads share it.
 */
#ifndef MASE_SEARCH_KNOWN_H
#define MASE_SEARCH_KNOWN_H

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/str.h>

struct mase_known {
    int slots; /* numbers of each */
    struct mase_map of;
    struct mase_arena arena;
};

void mase_known_init(struct mase_known *k, int slots);
void mase_known_release(struct mase_known *k);
/* Copy the numbers. False: they are not known. */
bool mase_known_get(struct mase_known *k, const char *key, double *found);
void mase_known_put(struct mase_known *k, const char *key, const double *found);

#endif /* MASE_SEARCH_KNOWN_H */
