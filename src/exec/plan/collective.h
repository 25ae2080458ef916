/*
 * collective.h - what the tiles of a batch tell each other.
 *
 * Each tile has parts of its own: what a batch norm measured, gradients. Parts are numbered, alike
 * in every tile, since tiles are plans of one graph. Behind a phase that ends with a barrier, the
 * parts of all tiles are read or summed, always in the order of the tiles, so that sums have the
 * same bits whoever computes the tiles. Operations know of no other tile than this.
 */
#ifndef MASE_EXEC_PLAN_COLLECTIVE_H
#define MASE_EXEC_PLAN_COLLECTIVE_H

#include "exec/plan/step.h"

/* The plan's next part, which stays where it is; its number. */
int mase_collective_add(struct mase_plan *p, void *part);
/* Is the plan one of several tiles, and is it the first, which keeps what a batch has once? */
bool mase_collective_is_tile(const struct mase_plan *p);
bool mase_collective_is_first(const struct mase_plan *p);
/* Tiles that have samples of the batch under way; and what tile k of them has under this number. */
int mase_collective_tiles(const struct mase_plan *p);
const void *mase_collective_part(const struct mase_plan *p, int number, int k);
/* Add values from .. from + n - 1 of parts that are floats to sum, which may itself be those of the
 * first tile. */
void mase_collective_sum(const struct mase_plan *p, float *sum, int number, int64_t from,
                         int64_t n);

#endif /* MASE_EXEC_PLAN_COLLECTIVE_H */
