/*
 * own_loss.h - a loss that is a graph of its own, with the inputs output and target.
 *
 * What the graph computes sample by sample is a plan for each tile of a batch. What mixes the
 * samples, mostly a mean, is left to a second plan, whose one sample is the batch: so a loss is
 * what PyTorch computes of that very batch, whether it is a mean over samples or not, and tiles and
 * threads change no bit of it. Sums over the samples are taken in double, in the order of the
 * samples; anything else of another kind is given all values of the batch, at the price of sixteen
 * lanes for each.
 *
 *     mase_own_loss_begin(l, samples)                    the batch, cut as the tiles are
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
/* A loss that gives no single number, or none that follows from the output, is an error. */
enum mase_status mase_own_loss_new(struct mase_own_loss **out, const struct mase_own_loss_opts *o,
                                   struct mase_err *err) MASE_MUST_CHECK;
void mase_own_loss_free(struct mase_own_loss *l);

/* A batch of so many samples comes, in so many tiles. The first of its size costs. */
enum mase_status mase_own_loss_begin(struct mase_own_loss *l, int64_t samples, int tiles,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Tile k has n samples, the first of which is sample `from` of the batch. */
void mase_own_loss_tile(struct mase_own_loss *l, int k, int64_t from, int64_t n,
                        const struct mase_lanes *output, const struct mase_targets *targets);
/* Was what the tiles were given such that the loss could be computed? row: what the samples of the
 * batch are called in the message, NULL: 0, 1, ... */
enum mase_status mase_own_loss_check(const struct mase_own_loss *l, const uint32_t *row,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The loss of the batch, and when training its gradients times scale. */
double mase_own_loss_end(struct mase_own_loss *l, float scale);
/* Of the output of tile k, zero in the padding. */
void mase_own_loss_gradient(const struct mase_own_loss *l, int k, struct mase_lanes dx);

#endif /* MASE_EXEC_LOSS_OWN_LOSS_H */
