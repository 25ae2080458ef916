/*
 * collective.h - how the tiles of a batch exchange data.
 *
 * Each tile owns parts: statistics of a batch norm, gradients. A part has one number in all tiles,
 * since tiles are plans of one graph. Behind a phase that ends with a barrier, the parts of all
 * tiles are read or summed, always in the order of the tiles, so the bits of a sum do not depend on
 * which thread ran which tile. Steps reach other tiles only through these functions.
 */
#ifndef MASE_EXEC_PLAN_COLLECTIVE_H
#define MASE_EXEC_PLAN_COLLECTIVE_H

#include "exec/plan/step.h"

/* Register memory, which must not move, as the plan's next part. Returns its number. */
int mase_collective_add(struct mase_plan *p, void *part);
/* Is the plan one of several tiles? Is it the first, which holds data that exist once for a batch?
 */
bool mase_collective_is_tile(const struct mase_plan *p);
bool mase_collective_is_first(const struct mase_plan *p);
/* The number of tiles with samples of the current batch; and part `number` of tile k. */
int mase_collective_tiles(const struct mase_plan *p);
const void *mase_collective_part(const struct mase_plan *p, int number, int k);
/* Add values from .. from + n - 1 of parts of floats to sum, which may be the part of the first
 * tile. */
void mase_collective_sum(const struct mase_plan *p, float *sum, int number, int64_t from,
                         int64_t n);

#endif /* MASE_EXEC_PLAN_COLLECTIVE_H */
