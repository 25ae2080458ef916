/*
 * train.h - train a graph on a dataset, validate it, write checkpoints.
 *
 * A trainer owns a plan of the graph, the optimiser's state and the order of the rows; a step
 * allocates nothing. Every random number is a function of the seed and its purpose, so the state of
 * a run is small: weights, moments, counters. Runs with any number of threads, on any instruction
 * set, interrupted and resumed or not, end with the same bits.
 *
 *     struct mase_train_opts o;
 *     MASE_TRY(mase_opts_bind(&o, sizeof o, mase_train_rows, NULL, &a, err));
 *     struct mase_trainer *t;
 *     MASE_TRY(mase_trainer_new(&t, graph, data, &o, err));
 *     MASE_TRY(mase_trainer_run(t, &(struct mase_train_env){ .checkpoint_dir = "ckpt" }, err));
 *     mase_trainer_free(t);                              // the graph has the weights
 */
#ifndef MASE_TRAIN_H
#define MASE_TRAIN_H

#include <mase/api.h>
#include <mase/evaluate.h>
#include <mase/graph.h>
#include <mase/opt.h>
#include <mase/plan.h>
#include <mase/prune.h>

MASE_API_BEGIN

/* ---- options ---- */

struct mase_train_opts {
    const char *task;      /* one of mase_tasks */
    const char *loss;      /* one of the task's; NULL: its usual one */
    double loss_delta;     /* huber: the difference beyond which it is linear */
    const char *optimizer; /* one of mase_optimizer_names */
    double learning_rate, weight_decay;
    double momentum;                     /* sgd */
    bool plain_momentum;                 /* sgd: without Nesterov's step */
    bool constant_momentum;              /* onecycle: the rate alone goes up and down */
    const char *schedule;                /* one of mase_schedule_names */
    const char *lr_interval;             /* it falls with each "epoch" or "step" */
    double lr_min;                       /* where it ends; below 0: 1e-6, for sgd 0 */
    int64_t lr_step_size;                /* step: epochs between two cuts; restarts: the first */
    double lr_gamma;                     /* step, plateau: factor of a cut */
    double lr_power;                     /* polynomial */
    int64_t lr_mult;                     /* restarts: factor of the epochs until the next */
    int64_t lr_patience;                 /* plateau: epochs without progress before a cut */
    int64_t warmup_steps, warmup_epochs; /* linear from near 0; the longer of the two */
    int64_t max_epochs;
    int64_t max_steps; /* of the optimiser; not positive: no limit */
    int64_t batch_size;
    int64_t accumulate;     /* batches for one step */
    int64_t patience;       /* epochs without a better validation loss before stopping; 0: never */
    double min_delta;       /* the least decrease of the loss that counts as better */
    double clip_value;      /* limit of each gradient's magnitude; 0: none */
    double clip_norm;       /* limit of the norm of all gradients, applied second; 0: none */
    int64_t quantize_after; /* epochs in float before the graph's number formats are on */
    int64_t
        freeze_bn_stats_after; /* epochs before batch norms keep their statistics; below 0: all */
    double average_weights;    /* decay of the average that is evaluated and kept; 0: none */
    double ebops_weight;       /* of the network's effective bit operations in the loss */
    double ebops_ramp;         /* share of the quantised epochs in which that weight rises from 0 */
    double bits_hold; /* share of the quantised epochs, the last ones, in which learned bits do not
                         change */
    double distill;   /* share of the loss that compares the quantised network with its float
                         original; 0: none */
    double distill_temperature;
    double label_smoothing;
    const char *class_weights; /* "1,2,0.5", "balanced", or NULL */
    int64_t threads;           /* 0: as many as the network can use */
    int64_t seed;
    int64_t log_every; /* steps between logged values; not positive: none */
    bool dev_run;      /* one batch to train on, one to validate on, and no files */
    const struct mase_prune_opts *prune; /* pruning during training; NULL: none. It has no row */
    /* The processes of a job (base/ranks.h) that train this network together, each with the same
     * arguments; NULL: this one alone. Only rank 0 should write checkpoints. It has no row. */
    struct mase_ranks *ranks;
};
enum mase_train_option {
#define TRAIN(field, name, kind, help) MASE_TRAIN_##name,
#include <mase/run_options.def>
    MASE_TRAIN_OPTION_COUNT
};
extern const struct mase_opt mase_train_rows[]; /* rows of run_options.def, ended by an empty one */
extern const char *const mase_optimizer_names[]; /* NULL-terminated */
/* The name of PyTorch's class for an optimiser. */
const char *mase_optimizer_title(const char *name);

/* The task and loss of the options. An option that the task does not use is an error. */
enum mase_status mase_train_objective(struct mase_objective *objective,
                                      const struct mase_train_opts *o,
                                      struct mase_err *err) MASE_MUST_CHECK;

/* Check that g has a float original to distil from, if the options ask for it. at: place of the
 * option. */
enum mase_status mase_train_check_distill(const struct mase_train_opts *o,
                                          const struct mase_graph *g, struct mase_loc at,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* A position in a run. */
struct mase_train_at {
    int64_t epoch, step; /* from 0 */
    int64_t steps;       /* of an epoch */
    int64_t cuts;        /* cuts that the plateau schedule has made */
};
/* The learning rate of a step. */
double mase_train_lr(const struct mase_train_opts *o, const struct mase_train_at *at);
/* The momentum, or first beta, of a step: `usual`, unless the schedule changes it. */
double mase_train_momentum(const struct mase_train_opts *o, const struct mase_train_at *at,
                           double usual);
/* First and last rate of onecycle, and the range of its momentum. */
struct mase_train_cycle {
    double first, last, base_momentum, max_momentum;
    bool
        momentum; /* the schedule changes the momentum: it is onecycle, without constant_momentum */
};
struct mase_train_cycle mase_train_cycle(const struct mase_train_opts *o);
extern const char *const mase_schedule_names[]; /* NULL-terminated */
/* The last rate of a cosine; does the schedule change the rate at each step? */
double mase_train_lr_min(const struct mase_train_opts *o);
bool mase_train_lr_by_steps(const struct mase_train_opts *o);

/* Shuffle rows for an epoch, as a pure function of seed and epoch. */
void mase_train_shuffle(uint32_t *order, const uint32_t *row, int64_t n, uint64_t seed,
                        uint64_t epoch);

/* ---- training ---- */

/* The state of a run. Weights, moments and this are all that a resumed run needs; state.def lists
 * the fields for checkpoints. */
struct mase_train_state {
    int64_t epoch; /* whole epochs done */
    int64_t batch; /* batches done in the current epoch */
    int64_t step;  /* optimiser steps done */
    double best_loss;
    int64_t best_epoch;
    int64_t waited;         /* epochs since the best one */
    double plateau_loss;    /* plateau schedule: the lowest loss, */
    int64_t plateau_waited; /* epochs since that loss, or since the last cut */
    int64_t cuts;
    double val_loss;     /* of the last validation */
    double loss, weight; /* sums over the current epoch, as are those of the score */
    double score_part, score_whole;
};

/* A step, as reported to on_step and on_tick. */
struct mase_train_point {
    int64_t epoch, batch, batches; /* current epoch; its batches done; its batches in all */
    int64_t step;
    double lr, loss, score; /* lr, loss and score of this batch */
};
/* The bits of an operand of a layer, sign included; 0 for a value that training has reduced to 0
 * bits. */
struct mase_layer_bits {
    const char *layer, *operand; /* a node of the graph; "data_in", "weight", "bias", "data_out" */
    bool learned;
    int64_t values; /* number of values: of a weight, or of one sample */
    double mean;
    int min, max;
    double zero;  /* share of the values with 0 bits */
    double ebops; /* of the layer; NaN: the layer has no products */
};
struct mase_train_epoch {
    int64_t epoch, step;
    double lr;
    double train_loss, train_score; /* over the epoch, while weights changed */
    double val_loss, val_score;
    double train_seconds, seconds; /* without and with validation */
    int64_t samples;               /* samples trained on in train_seconds */
    bool best;
    double
        ebops; /* effective bit operations of the validated network; NaN: no format learns bits */
    const struct mase_layer_bits *bits; /* owned by the trainer, valid until the next epoch ends */
    int bit_rows;                       /* 0: number formats are absent, or not on yet */
    bool plain;                         /* number formats were not on yet */
    double sparsity;                    /* share of pruned weights; NaN: no pruning */
    double val_iou;   /* classes by position: mean over classes of intersection over union, in
                         validation; NaN: other tasks */
    const char *stop; /* why this epoch is the last, "patience" ...; NULL: it is not */
};

struct mase_train_env {
    const char *checkpoint_dir; /* best.ckpt and last.ckpt; NULL: none are written */
    const bool *stop; /* set to true by one of the functions below to end training: the epoch ends
                         there and is validated. NULL: never, as it has to be with ranks */
    void *data;       /* argument of the functions below, each of which may be NULL */
    /* Every opts.log_every steps. */
    enum mase_status (*on_step)(void *data, const struct mase_train_point *p, struct mase_err *err);
    /* At most ten times a second. */
    void (*on_tick)(void *data, const struct mase_train_point *p);
    /* After an epoch and before its checkpoints are written, so no checkpoint exists for an epoch
     * that was not reported. */
    enum mase_status (*on_epoch)(void *data, const struct mase_train_epoch *e,
                                 struct mase_err *err);
};

struct mase_trainer;
/* Make a trainer for a graph with weights and one input. Borrows graph and dataset. */
enum mase_status mase_trainer_new(struct mase_trainer **out, struct mase_graph *g,
                                  const struct mase_dataset *d, const struct mase_train_opts *o,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_free(struct mase_trainer *t);

/* Continue from a checkpoint. Options that affect the numbers (seed, batch size, optimiser, data
 * ...) must equal those of the run; limits may differ. */
enum mase_status mase_trainer_resume(struct mase_trainer *t, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Train until a limit is reached. The graph then has the last weights. */
enum mase_status mase_trainer_run(struct mase_trainer *t, const struct mase_train_env *env,
                                  struct mase_err *err) MASE_MUST_CHECK;

const struct mase_train_state *mase_trainer_state(const struct mase_trainer *t);
const struct mase_objective *mase_trainer_objective(const struct mase_trainer *t);
/* What its weights are trained on by now, as a checkpoint says it. Texts and arrays are the
 * dataset's. */
struct mase_checkpoint_info mase_trainer_trained(const struct mase_trainer *t);
int64_t mase_trainer_batches(const struct mase_trainer *t); /* in an epoch */
const struct mase_plan *mase_trainer_plan(const struct mase_trainer *t);
int mase_trainer_threads(const struct mase_trainer *t);
/* Does a format of the graph learn bits, once formats are on? */
bool mase_trainer_learns_bits(const struct mase_trainer *t);
/* The graph that the last epoch trained and validated: without formats until they are on. */
const struct mase_graph *mase_trainer_graph(const struct mase_trainer *t);

/* ---- checkpoints ---- */

/* Write a checkpoint in Lightning's layout, which PyTorch reads; data of this program are under the
 * key "mase". */
enum mase_status mase_trainer_save(const struct mase_trainer *t, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* The rows that a network was trained on, as far as a checkpoint records them (seen.c). */
struct mase_seen_rows {
    int64_t rows, hashed; /* training rows; those that were hashed */
    const uint64_t *hash; /* (count): the smallest hashes, ascending */
    int64_t count;        /* 0: unknown */
    bool all;             /* every hash is listed */
};
/* Estimate the share of these rows that the network was trained on; 0 also when there are too few
 * rows to tell. */
double mase_seen_share(const struct mase_seen_rows *seen, const struct mase_dataset *d,
                       struct mase_split_rows rows);

/* What a checkpoint says of the data and options that it was trained with. */
struct mase_checkpoint_info {
    bool ours;                  /* it has a "mase" entry */
    int64_t epoch, step;        /* -1: not said */
    struct mase_data_info data; /* name is NULL: not said */
    const char **class_names;   /* (data.classes), or NULL */
    const char *task, *loss;    /* NULL: not said; loss NULL: the task's default */
    double loss_delta;
    struct mase_scaling target_scaling; /* scaling of numbers to predict; n is 0: none */
    const char *checksum, *notice;
    int64_t rows, train_rows; /* of the table, and of those the ones it trained on; 0: not said */
    bool simulated;
    enum mase_scale scale;            /* how its training data was scaled; USUAL: not said */
    struct mase_scaling scaling;      /* n is 0: none */
    struct mase_data_columns columns; /* columns that the data were read from; none: not said */
    bool drop_missing;                /* rows with a missing value were left out */
    struct mase_data_split split; /* division of the rows; share 0 and no column: the usual one */
    struct mase_image_opts image; /* channels is 0: not said */
    struct mase_seen_rows seen;   /* count is 0: not said */
};
/* Read the description of a checkpoint or another file of PyTorch. Texts and arrays are allocated
 * in a. */
enum mase_status mase_checkpoint_info(struct mase_checkpoint_info *info, struct mase_arena *a,
                                      const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* The graph that a checkpoint of this program was trained with, including number formats, without
 * weights; NULL for a file that has no graph. */
enum mase_status mase_checkpoint_graph(struct mase_graph **g, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_TRAIN_H */
