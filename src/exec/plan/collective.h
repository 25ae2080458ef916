/*
 * collective.h - how the tiles of a batch exchange data.
 *
 * Each tile owns parts: statistics of a batch norm, gradients. A part has one number in all tiles,
 * since tiles are plans of one graph. Behind a phase that ends with a barrier, the parts of all
 * tiles are read or summed, always in the order of the tiles, so the bits of a sum do not depend on
 * which thread ran which tile. Steps reach other tiles only through these functions.
 *
 * Where several processes share a batch (ranks.h), each has all tiles and runs its share of them.
 * Parts of the others come here before they are read, to the tile that they would be in if one
 * process ran all, so sums are the same. Only the sum of the gradients travels in their place: it
 * goes from rank to rank, each of which adds its own tiles.
 */
#ifndef MASE_EXEC_PLAN_COLLECTIVE_H
#define MASE_EXEC_PLAN_COLLECTIVE_H

#include "exec/plan/step.h"

/* Register memory, which must not move, as the plan's next part. Returns its number. */
int mase_collective_add(struct mase_plan *p, void *part, size_t bytes);
/* Is the plan one of several tiles? Is it the first that this process runs, which changes data that
 * exist once for a batch? */
bool mase_collective_is_tile(const struct mase_plan *p);
bool mase_collective_is_first(const struct mase_plan *p);
/* The number of tiles with samples of the current batch; and part `number` of tile k. */
int mase_collective_tiles(const struct mase_plan *p);
const void *mase_collective_part(const struct mase_plan *p, int number, int k);
/* Add values from .. from + n - 1 of parts of floats to sum, which may be the part of the first
 * tile. The parts must be here. */
void mase_collective_sum(const struct mase_plan *p, float *sum, int number, int64_t from,
                         int64_t n);

/* ---- called by one thread, in every process ---- */

/* The tiles of this process, of the first `count`. ranks NULL: all. */
void mase_collective_divide(struct mase_tiling *t, int count, struct mase_ranks *ranks);
/* The rank that runs tile k. */
int mase_collective_owner(const struct mase_tiling *t, int k);
/* Bytes of tiling->buffer that a tile needs. */
size_t mase_collective_room(const struct mase_plan *p);
/* Get part `number` of all tiles. */
void mase_collective_exchange(const struct mase_plan *p, int number);
/* The part of the first tile, n floats, becomes the sum over all tiles, in every process. */
void mase_collective_total(const struct mase_plan *p, int number, int64_t n);

#endif /* MASE_EXEC_PLAN_COLLECTIVE_H */
