/*
 * tiled_plan.h - a large batch trained in tiles.
 *
 * A tile is a plan of at most 512 samples with memory of its own; all use the parameters of the
 * first. Each thread keeps to its tiles from loading their samples to their gradients, so that
 * values stay in the cache of the core that made them, and waits for the others only where a sum
 * over the batch is needed: in batch norms, and at the end to add the gradients. How a batch is cut
 * depends on its size alone and sums are taken in the order of the tiles: the number of threads
 * changes no bit. Sharing every operation of one large plan instead moved half of all values
 * between the cores twice, and where cores are far apart two threads were slower than one. A batch
 * that is one tile is shared out operation by operation instead. Now and then a step is tried with
 * one thread: where others want the cores too, that is faster, and then kept.
 */
#ifndef MASE_TILED_PLAN_H
#define MASE_TILED_PLAN_H

#include <mase/api.h>
#include <mase/plan.h>

MASE_API_BEGIN

struct mase_tiled_plan;

/* Inputs and parameters as for a plan; opts->train is taken as true. */
enum mase_status mase_tiled_plan_new(struct mase_tiled_plan **out, struct mase_graph *g,
                                     const struct mase_plan_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;
void mase_tiled_plan_free(struct mase_tiled_plan *t);

/* How many tiles a batch is cut into: threads above this have nothing to do. */
int mase_tiled_plan_tiles(int64_t samples);

/* The plan that has the parameters and, after a step, the batch's gradients. */
struct mase_plan *mase_tiled_plan_first(const struct mase_tiled_plan *t);

/* Fill the inputs of the tile with this number with n samples of the batch (mase_plan_gather, or
 * mase_plan_input and mase_plan_set_samples), and say what their targets are, which stay valid
 * until the tile is loaded again. The first of them is sample `from` of the batch. Called by
 * several threads at once, each for other tiles. */
typedef void mase_load_fn(void *data, struct mase_plan *tile, struct mase_targets *targets,
                          int number, int64_t from, int64_t n);

/* The outputs of a teacher for the samples that the tile with this number has loaded, valid until
 * the tile is loaded again. Called by several threads at once, each for other tiles. */
typedef struct mase_lanes mase_teach_fn(void *data, const struct mase_plan *tile, int number);

/* Parameters from..to (of mase_plan_params) have their gradients: take a step with them. Called by
 * several threads at once, each for other parameters. */
typedef void mase_update_fn(void *data, int64_t from, int64_t to);

struct mase_tiled_batch {
    int64_t samples;
    mase_load_fn *load;
    mase_teach_fn *teach; /* may be NULL, like the next */
    mase_update_fn *update;
    void *data;                 /* of all three */
    struct mase_loss_opts loss; /* but for the teacher, whom teach asks */
    bool accumulate;            /* add to the gradients */
    uint64_t number;            /* of dropout's masks */
    const uint32_t *row;        /* (samples): what they are called in messages; NULL: 0, 1, ... */
};
/* Start what formats learn and have no value of by the batch, which may be larger than the plan's;
 * nothing else changes. */
enum mase_status mase_tiled_plan_start(struct mase_tiled_plan *t, const struct mase_tiled_batch *b,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Load, forward, loss, backward, update. When mase_plan_forward fails, the parameters stay as they
 * were. */
enum mase_status mase_tiled_plan_step(struct mase_tiled_plan *t, struct mase_loss_result *result,
                                      const struct mase_tiled_batch *b,
                                      struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_TILED_PLAN_H */
