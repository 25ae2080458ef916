/*
 * sampler_nsgaii.c - NSGA-II (Deb, Pratap, Agarwal and Meyarivan, 2002): of a front that is too
 * large, those remain that are far from their neighbours.
 */
#include <stdlib.h>

#include "study/nsga.h"

static const struct mase_opt rows[] = {
    MASE_NSGA_ROWS,
    { 0 },
};

static int compare_crowding(const void *a, const void *b)
{
    const struct mase_nsga_member *x = a, *y = b;
    return x->crowding != y->crowding ? (x->crowding < y->crowding) - (x->crowding > y->crowding)
                                      : (x->result > y->result) - (x->result < y->result);
}

static void choose(struct mase_nsga *g, struct mase_nsga_member *front, int64_t n, int64_t wanted,
                   struct mase_rng *r)
{
    (void)g, (void)wanted, (void)r;
    qsort(front, (size_t)n, sizeof *front, compare_crowding);
}

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct mase_nsga *g = (struct mase_nsga *)s;
    (void)err;
    g->choose = choose;
    mase_nsga_open(g);
    return MASE_OK;
}

const struct mase_sampler_functions mase_sampler_nsgaii = {
    .size = sizeof(struct mase_nsga),
    .options = rows,
    .options_size = sizeof(struct mase_nsga_options),
    .open = open,
    .needs = mase_nsga_needs,
    .tell = mase_nsga_tell,
    .ask = mase_nsga_ask,
    .close = mase_nsga_close,
};
