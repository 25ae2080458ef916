/*
 * variants.h - the networks of a search whose constructor's arguments vary.
 *
 *     [search.search_space.model]
 *     width = [16, 32, 64]
 *
 * All of them are opened at the beginning, since only then it is known which nodes there are.
 */
#ifndef MASE_SEARCH_VARIANTS_H
#define MASE_SEARCH_VARIANTS_H

#include <mase/search.h>

#include "search/option_space.h"

enum { MASE_VARIANTS_MOST = 256 };

struct mase_variants {
    struct mase_option_space arguments;
    struct mase_graph **graph; // (count)
    int count;
    bool owned; /* else the one graph is borrowed */
};

/* The dimensions of `model` (NULL: nothing varies), and a network for each point of them. */
enum mase_status mase_variants_open(struct mase_variants *v, struct mase_space *space,
                                    struct mase_arena *a, const struct mase_search_opts *o,
                                    const struct mase_value *model,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_variants_close(struct mase_variants *v);
/* Which of them a point has. */
int mase_variants_index(const struct mase_variants *v, const struct mase_space *space,
                        const double *x);

#endif /* MASE_SEARCH_VARIANTS_H */
