/*
 * channel_space.h - widths of layers in a search.
 *
 *     [search.search_space.channels]
 *     seq_blocks_2 = [1, 2, 4]
 *
 * A choice multiplies the outputs of the layer; whatever reads them follows.
 */
#ifndef MASE_SEARCH_CHANNEL_SPACE_H
#define MASE_SEARCH_CHANNEL_SPACE_H

#include <mase/graph.h>

#include "search/option_space.h"

struct mase_channel_space {
    struct mase_option_space layers; /* by the name of their first call */
    struct mase_widths *widths;      /* of the network, owned; NULL: none vary */
};

/* The dimensions of `channels` (NULL: none), for a graph whose samples have this shape. */
enum mase_status mase_channel_space_open(struct mase_channel_space *c, struct mase_space *space,
                                         struct mase_arena *a, struct mase_graph *g,
                                         const struct mase_shape *sample,
                                         const struct mase_value *channels,
                                         struct mase_err *err) MASE_MUST_CHECK;
void mase_channel_space_close(struct mase_channel_space *c);
/* Give a copy of that graph the widths of a point; new weights are drawn from the seed. */
enum mase_status mase_channel_space_apply(const struct mase_channel_space *c, struct mase_graph *g,
                                          const struct mase_space *space, const double *x,
                                          uint64_t seed, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_SEARCH_CHANNEL_SPACE_H */
