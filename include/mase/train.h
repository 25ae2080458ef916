/*
 * train.h - fit a graph to a dataset, measure it, keep what was learnt.
 *
 * A trainer owns a plan of the graph, the optimiser's state and the order of the rows; a step
 * allocates nothing. Everything random is a function of the seed and of what it is for, so the
 * state of a run is small: weights, moments, counters. Runs with any number of threads, on any
 * instruction set, interrupted and resumed or not, end with the same bits.
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
    double loss_delta;     /* huber: where it becomes straight */
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
    double min_delta;       /* what counts as better */
    double clip_value;      /* each gradient to +- this; 0: not */
    double clip_norm;       /* then all gradients to this length; 0: not */
    int64_t quantize_after; /* epochs in float before the graph's number formats are on */
    int64_t
        freeze_bn_stats_after; /* epochs before batch norms keep their statistics; below 0: all */
    double average_weights;    /* decay of the average that is evaluated and kept; 0: none */
    double ebops_weight;       /* of the network's effective bit operations in the loss */
    double ebops_ramp;         /* share of the quantised epochs in which that weight rises from 0 */
    double bits_hold;          /* share of them, the last, in which learned bits stay as they are */
    double distill;            /* share of the loss by which the quantised network comes near the
                                * float one it was; 0: none */
    double distill_temperature;
    double label_smoothing;
    const char *class_weights; /* "1,2,0.5", "balanced", or NULL */
    int64_t threads;           /* 0: as many as the network can use */
    int64_t seed;
    int64_t log_every; /* steps between logged values; not positive: none */
    bool dev_run;      /* one batch to train on, one to validate on, and no files */
    const struct mase_prune_opts *prune; /* weights that become zero on the way; NULL: none. Not
                                          * among the rows */
};
enum mase_train_option {
#define TRAIN(field, name, kind, help) MASE_TRAIN_##name,
#include <mase/run_options.def>
    MASE_TRAIN_OPTION_COUNT
};
extern const struct mase_opt mase_train_rows[];  /* of run_options.def, ended by an empty one */
extern const char *const mase_optimizer_names[]; /* up to NULL */
/* What PyTorch calls the class of one of them. */
const char *mase_optimizer_title(const char *name);

/* What is trained for. An option that the task has no use for is an error. */
enum mase_status mase_train_objective(struct mase_objective *objective,
                                      const struct mase_train_opts *o,
                                      struct mase_err *err) MASE_MUST_CHECK;

/* Is there a network in float beside g that distill could compare it with? at: of the option. */
enum mase_status mase_train_check_distill(const struct mase_train_opts *o,
                                          const struct mase_graph *g, struct mase_loc at,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* Where a run stands. */
struct mase_train_at {
    int64_t epoch, step; /* from 0 */
    int64_t steps;       /* of an epoch */
    int64_t cuts;        /* that a plateau made */
};
/* The learning rate of the step there. */
double mase_train_lr(const struct mase_train_opts *o, const struct mase_train_at *at);
/* The momentum, or first beta, of the step there: `usual`, unless the schedule moves it. */
double mase_train_momentum(const struct mase_train_opts *o, const struct mase_train_at *at,
                           double usual);
/* Where onecycle begins and ends, and between what it moves the momentum. */
struct mase_train_cycle {
    double first, last, base_momentum, max_momentum;
    bool momentum; /* it does: the schedule is onecycle, and constant_momentum is not said */
};
struct mase_train_cycle mase_train_cycle(const struct mase_train_opts *o);
extern const char *const mase_schedule_names[]; /* up to NULL */
/* Where a cosine ends, and whether the schedule goes by steps. */
double mase_train_lr_min(const struct mase_train_opts *o);
bool mase_train_lr_by_steps(const struct mase_train_opts *o);

/* Rows in the order of an epoch: a pure function of seed and epoch. */
void mase_train_shuffle(uint32_t *order, const uint32_t *row, int64_t n, uint64_t seed,
                        uint64_t epoch);

/* ---- training ---- */

/* Where a run stands. Together with weights and moments, all that a resumed run needs; state.def
 * lists the fields for checkpoints. */
struct mase_train_state {
    int64_t epoch; /* whole epochs done */
    int64_t batch; /* batches done of the epoch under way */
    int64_t step;  /* optimiser steps done */
    double best_loss;
    int64_t best_epoch;
    int64_t waited;         /* epochs since the best one */
    double plateau_loss;    /* of the schedule: the best that counted as lower, */
    int64_t plateau_waited; /* epochs since it, or since the last cut */
    int64_t cuts;
    double val_loss;     /* of the last validation */
    double loss, weight; /* sums over the epoch under way, like those of its score */
    double score_part, score_whole;
};

/* What a step or an epoch came to. */
struct mase_train_point {
    int64_t epoch, batch, batches; /* under way; batches done of it, of how many */
    int64_t step;
    double lr, loss, score; /* of this batch */
};
/* Bits of an operand of a layer: those of each value with its sign, which is 0 where training has
 * left none. */
struct mase_layer_bits {
    const char *layer, *operand; /* a node of the graph; "data_in", "weight", "bias", "data_out" */
    bool learned;
    int64_t values; /* of a weight, or of data for one sample */
    double mean;
    int min, max;
    double zero;  /* share of the values that have none */
    double ebops; /* of the layer; NaN: it has no products that count */
};
struct mase_train_epoch {
    int64_t epoch, step;
    double lr;
    double train_loss, train_score; /* over the epoch, while weights changed */
    double val_loss, val_score;
    double train_seconds, seconds; /* training alone; with validation */
    int64_t samples;               /* trained on in train_seconds */
    bool best;
    double ebops; /* effective bit operations of what was validated; NaN: no bits are learned */
    const struct mase_layer_bits *bits; /* the trainer's until the next epoch ends */
    int bit_rows;                       /* 0: there are no number formats, or not yet */
    bool plain;                         /* the number formats were not on yet */
    double sparsity;  /* share of the weights that are pruned; NaN: they are not */
    double val_iou;   /* of classes by position: the mean over them of intersection over union, in
                       * validation; NaN: the task has none */
    const char *stop; /* NULL, or why this is the last: "patience" ... */
};

struct mase_train_env {
    const char *checkpoint_dir; /* best.ckpt and last.ckpt; NULL: none are written */
    const bool *stop; /* becomes true, in one of the functions below, when it is enough: the epoch
                       * ends there, is validated, and is the last. NULL: never */
    void *data;       /* for the functions below, each of which may be NULL */
    /* Every opts.log_every steps. */
    enum mase_status (*on_step)(void *data, const struct mase_train_point *p, struct mase_err *err);
    /* At most ten times a second. */
    void (*on_tick)(void *data, const struct mase_train_point *p);
    /* After an epoch and before its checkpoints: whoever has a checkpoint was told of its epoch. */
    enum mase_status (*on_epoch)(void *data, const struct mase_train_epoch *e,
                                 struct mase_err *err);
};

struct mase_trainer;
/* The graph must have weights and one input; it and the dataset are borrowed. */
enum mase_status mase_trainer_new(struct mase_trainer **out, struct mase_graph *g,
                                  const struct mase_dataset *d, const struct mase_train_opts *o,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_free(struct mase_trainer *t);

/* Continue from a checkpoint of such a run: what decides the numbers (seed, batch size, optimiser,
 * data ...) must be the same; the limits may differ. */
enum mase_status mase_trainer_resume(struct mase_trainer *t, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Until a limit is reached. The graph then has the last weights. */
enum mase_status mase_trainer_run(struct mase_trainer *t, const struct mase_train_env *env,
                                  struct mase_err *err) MASE_MUST_CHECK;

const struct mase_train_state *mase_trainer_state(const struct mase_trainer *t);
const struct mase_objective *mase_trainer_objective(const struct mase_trainer *t);
int64_t mase_trainer_batches(const struct mase_trainer *t); /* of an epoch */
const struct mase_plan *mase_trainer_plan(const struct mase_trainer *t);
int mase_trainer_threads(const struct mase_trainer *t);
/* Does a format of the graph learn its bits, now or when formats are on? */
bool mase_trainer_learns_bits(const struct mase_trainer *t);
/* What the last epoch trained and validated: the graph, without its formats until they are on. */
const struct mase_graph *mase_trainer_graph(const struct mase_trainer *t);

/* ---- checkpoints ---- */

/* Lightning's layout, so that PyTorch reads it; what PyTorch does not know of is under "mase". */
enum mase_status mase_trainer_save(const struct mase_trainer *t, const char *path,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* What a checkpoint says of the data behind it. */
/* The rows that a network was trained on, as far as they are kept (seen.c). */
struct mase_seen_rows {
    int64_t rows, hashed; /* of training; of which so many were looked at */
    const uint64_t *hash; /* (count), the smallest of their hashes, rising */
    int64_t count;        /* 0: nothing is known */
    bool all;             /* there are no others */
};
/* About which share of these rows is among them; 0 also where too few are to tell. */
double mase_seen_share(const struct mase_seen_rows *seen, const struct mase_dataset *d,
                       struct mase_split_rows rows);

struct mase_checkpoint_info {
    bool ours;                  /* has a "mase" entry */
    int64_t epoch, step;        /* -1: not said */
    struct mase_data_info data; /* name is NULL: not said */
    const char **class_names;   /* (data.classes), or NULL */
    const char *task, *loss;    /* NULL: not said; the task's usual one */
    double loss_delta;
    struct mase_scaling target_scaling; /* of the numbers to predict; n is 0: none */
    const char *checksum, *notice;
    enum mase_scale scale;            /* how its training data was scaled; USUAL: not said */
    struct mase_scaling scaling;      /* n is 0: none */
    struct mase_data_columns columns; /* that it was read from; none: not said */
    bool drop_missing;                /* rows with a missing value were left out */
    struct mase_data_split split;     /* of its rows; share 0 and no column: as usual */
    struct mase_image_opts image;     /* channels is 0: not said */
    struct mase_seen_rows seen;       /* count is 0: not said */
};
/* Of a file that PyTorch reads. Texts and arrays in the arena. */
enum mase_status mase_checkpoint_info(struct mase_checkpoint_info *info, struct mase_arena *a,
                                      const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* The graph that a checkpoint of ours was trained with, number formats and all, without weights; of
 * a file that does not say, NULL. */
enum mase_status mase_checkpoint_graph(struct mase_graph **g, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_TRAIN_H */
