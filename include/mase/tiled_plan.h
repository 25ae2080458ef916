/*
 * tiled_plan.h - training of a large batch in tiles.
 *
 * A tile is a plan of at most 512 samples with memory of its own; all use the parameters of the
 * first. A thread runs its tiles from loading samples to gradients, so that values stay in the
 * cache of their core, and waits for other threads only where a sum over the batch is needed: in
 * batch norms, and at the end to add the gradients. The division of a batch into tiles depends on
 * its size alone, and sums are taken in the order of the tiles, so the number of threads changes no
 * bit. Sharing each operation of one large plan instead moved half of all values between cores
 * twice, and made two threads slower than one where cores are far apart. The operations of a batch
 * of one tile are shared among threads all the same. From time to time a step runs with one thread:
 * if that is faster, because other processes use the cores, training goes on so.
 */
#ifndef MASE_TILED_PLAN_H
#define MASE_TILED_PLAN_H

#include <mase/api.h>
#include <mase/plan.h>

MASE_API_BEGIN

struct mase_tiled_plan;

/* Make a tiled plan from the arguments of mase_plan_new; opts->train is taken as true. */
enum mase_status mase_tiled_plan_new(struct mase_tiled_plan **out, struct mase_graph *g,
                                     const struct mase_plan_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;
void mase_tiled_plan_free(struct mase_tiled_plan *t);

/* The number of tiles of a batch, which is the largest useful number of threads. */
int mase_tiled_plan_tiles(int64_t samples);

/* The plan of tile 0, which has the parameters and, after a step, the gradients of the batch. */
struct mase_plan *mase_tiled_plan_first(const struct mase_tiled_plan *t);

/* Fill the inputs of tile `number` with samples from .. from + n - 1 of the batch
 * (mase_plan_gather, or mase_plan_input and mase_plan_set_samples), and set their targets, which
 * stay valid until the tile is loaded again. Several threads call it at the same time for different
 * tiles. */
typedef void mase_load_fn(void *data, struct mase_plan *tile, struct mase_targets *targets,
                          int number, int64_t from, int64_t n);

/* The outputs of a teacher for the samples that tile `number` has loaded, valid until the tile is
 * loaded again. Several threads call it at the same time for different tiles. */
typedef struct mase_lanes mase_teach_fn(void *data, const struct mase_plan *tile, int number);

/* Update parameters from..to (of mase_plan_params), whose gradients are complete. Several threads
 * call it at the same time for different parameters. */
typedef void mase_update_fn(void *data, int64_t from, int64_t to);

struct mase_tiled_batch {
    int64_t samples;
    mase_load_fn *load;
    mase_teach_fn *teach; /* may be NULL, as may update */
    mase_update_fn *update;
    void *data;                 /* argument of all three functions */
    struct mase_loss_opts loss; /* except teacher, which teach gives */
    bool accumulate;            /* add to the gradients */
    uint64_t number;            /* of dropout's masks */
    const uint32_t *row;        /* (samples): numbers of the samples in messages; NULL: 0, 1, ... */
};
/* Set first values of learned numbers of formats that have none, from a batch of any size. Nothing
 * else changes. */
enum mase_status mase_tiled_plan_start(struct mase_tiled_plan *t, const struct mase_tiled_batch *b,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Run one step: load, forward, loss, backward, update. When mase_plan_forward fails, parameters do
 * not change. */
enum mase_status mase_tiled_plan_step(struct mase_tiled_plan *t, struct mase_loss_result *result,
                                      const struct mase_tiled_batch *b,
                                      struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_TILED_PLAN_H */
