/*
 * own_loss.h - a user's own loss: a graph with the inputs output and target.
 *
 * The part that computes sample by sample is a plan for each tile of a batch. The part that mixes
 * samples, mostly a mean, is a second plan whose one sample is the batch. So a loss equals what
 * PyTorch computes for the same batch, whether it is a mean over samples or not, and the number of
 * tiles and threads changes no bit of it. Sums over the samples are taken in double, in the order
 * of the samples; every other operation on the batch reads all its values, sixteen lanes for each.
 *
 *     mase_own_loss_begin(l, samples)                    a batch, before its tiles
 *     mase_own_loss_tile(l, k, ...)                      for each tile, by any thread
 *     mase_own_loss_end(l, scale, &loss)                 when all tiles are done
 *     mase_own_loss_gradient(l, k, dx)                   for each tile, by any thread
 */
#ifndef MASE_EXEC_LOSS_OWN_LOSS_H
#define MASE_EXEC_LOSS_OWN_LOSS_H

#include <mase/plan.h>

struct mase_own_loss_opts {
    struct mase_graph *graph;         /* borrowed, with the values of its buffers */
    struct mase_shape output, target; /* of a sample */
    enum mase_dtype target_type;
    int64_t batch; /* samples of a tile, at most */
    int tiles;
    bool train;
};
/* A loss that gives no single number, or one that does not depend on the output, is an error. */
enum mase_status mase_own_loss_new(struct mase_own_loss **out, const struct mase_own_loss_opts *o,
                                   struct mase_err *err) MASE_MUST_CHECK;
void mase_own_loss_free(struct mase_own_loss *l);

/* Begin a batch. The first batch of a size makes the plan for that size. */
enum mase_status mase_own_loss_begin(struct mase_own_loss *l, int64_t samples, int tiles,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Tile k has n samples, the first of which is sample `from` of the batch. */
void mase_own_loss_tile(struct mase_own_loss *l, int k, int64_t from, int64_t n,
                        const struct mase_lanes *output, const struct mase_targets *targets);
/* The tiles of this process are done: what the plan of the batch reads of the others comes from
 * their processes. `size`: samples of a tile but the last. */
struct mase_tiling;
void mase_own_loss_exchange(struct mase_own_loss *l, const struct mase_tiling *t, int64_t size);
/* Fails if a tile's values did not allow to compute the loss. row: the names of the samples in the
 * message; NULL: 0, 1, ... */
enum mase_status mase_own_loss_check(const struct mase_own_loss *l, const uint32_t *row,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The loss of the batch, and when training its gradients times scale. */
double mase_own_loss_end(struct mase_own_loss *l, float scale);
/* The gradient of the output of tile k; zero in the padding. */
void mase_own_loss_gradient(const struct mase_own_loss *l, int k, struct mase_lanes dx);

#endif /* MASE_EXEC_LOSS_OWN_LOSS_H */
