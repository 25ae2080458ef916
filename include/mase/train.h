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
#include <mase/dataset.h>
#include <mase/graph.h>
#include <mase/opt.h>
#include <mase/plan.h>
#include <mase/prune.h>
#include <mase/task.h>

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

/* How many threads a user lets us have: the CPUs of the process's affinity mask (taskset, a
 * container's set), or what OMP_NUM_THREADS says. */
int mase_threads_allowed(void);

/* How many threads pay off to train with batches of this size, or to predict this many rows: at
 * most as many as asked for, 0: as are allowed. More would only be slower. */
int mase_train_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t batch,
                       int asked);
int mase_predict_threads(const struct mase_graph *g, const struct mase_shape *sample, int64_t rows,
                         int asked);

/* Rows in the order of an epoch: a pure function of seed and epoch. */
void mase_train_shuffle(uint32_t *order, const uint32_t *row, int64_t n, uint64_t seed,
                        uint64_t epoch);

/* ---- prediction ---- */

/* A graph ready to evaluate: planned where a plan can run it, else by the reference (operations
 * that mix samples). */
struct mase_predictor;

struct mase_predictor_opts {
    bool exact;       /* in integers (exact.h); refused where the network has none */
    int64_t batch;    /* most samples at once; 0: a good number */
    int64_t together; /* a network that mixes the samples of a batch gets so many; 0: all */
    int64_t usual;    /* samples that usually come; 0: not known */
    int threads;      /* 0: one */
    bool learns;      /* what formats learn may have no values yet */
    uint64_t seed;    /* of what the network draws */
    const struct mase_scaling *scaling; /* applied to the features first; NULL: none. Borrowed */
};
/* The graph takes one input; it is borrowed and its weights are copied. opts may be NULL. */
enum mase_status mase_predictor_new(struct mase_predictor **out, struct mase_graph *g,
                                    const struct mase_shape *sample,
                                    const struct mase_predictor_opts *opts,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_predictor_free(struct mase_predictor *p);
void mase_predictor_read_weights(struct mase_predictor *p); /* the graph's, again */
int64_t mase_predictor_batch(const struct mase_predictor *p);
bool mase_predictor_planned(const struct mase_predictor *p);
const char *mase_predictor_isa(const struct mase_predictor *p); /* "scalar" for the reference */
int64_t mase_predictor_outputs(const struct mase_predictor *p); /* per sample */
struct mase_shape mase_predictor_result(const struct mase_predictor *p); /* of one sample */

enum mase_dtype mase_predictor_dtype(const struct mase_predictor *p); /* of results */

/* n samples of a row-major (samples, features) array to y, (n, outputs). Any n. */
enum mase_status mase_predictor_run(struct mase_predictor *p, float *y, const float *x, int64_t n,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* To y of another element type, as that of results, which then are not rounded to floats. */
enum mase_status mase_predictor_run_typed(struct mase_predictor *p, void *y, enum mase_dtype dtype,
                                          const float *x, int64_t n,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* ---- evaluation ---- */

/* A number of a task by its name in files: "mae", and in tables: "mean absolute error". */
struct mase_metric {
    const char *name, *title;
    double value; /* NaN: there is none, as of a class that does not occur */
};
/* Numbers for each output, label or class. */
struct mase_metric_table {
    const char *title;          /* of the rows: "Output" */
    const char *const *columns; /* (column_count), by their names in files */
    int column_count;
    int64_t rows;
    const char *const *names; /* (rows), or NULL: 0, 1, ... */
    double *value;            // (rows, column_count)
};

/* So many samples of a class were taken for another, or told right. */
struct mase_confused {
    int32_t truth, answer;
    int64_t count;
};
enum { MASE_CONFUSION_CLASSES = 256 }; /* of a matrix that is kept whole */

struct mase_evaluation {
    const struct mase_task *task;
    int64_t samples;
    double loss;  /* mean over all that counts in it: samples, positions, outputs */
    double score; /* what the task calls so */
    double hits;  /* cross entropy: share of positions with the right answer; else NaN */
    double seconds;
    /* Of other tasks than classification, on request, in the arena given. */
    const struct mase_metric *metric;
    int metrics;
    struct mase_metric_table by_output; /* rows is 0: there is none */
    /* Of classification and two classes; else NaN. */
    double accuracy;       /* of all samples (micro): the score */
    double accuracy_error; /* standard error of it */
    int classes;
    /* The rest only of classification and on request, in the arena given; NaN where a class does
     * not occur. */
    double macro_accuracy;      /* mean recall of the classes that occur */
    int64_t *confusion;         /* (classes, classes): [truth][answer]; NULL: there are more than */
    int64_t *support;           /* MASE_CONFUSION_CLASSES. (classes): samples of each */
    struct mase_confused *cell; /* (cells): that matrix where it is not 0, by truth and answer */
    int64_t cells;
    double *precision, *recall; /* (classes) */
    double *auc;                /* (classes), one against the rest, ties counted half */
};
/* Which rows, and how their labels are to be understood. */
struct mase_evaluate_opts {
    struct mase_split_rows rows;
    const struct mase_objective *objective; /* NULL: classification */
    const int32_t *class_map; /* (classes): the network's class for each of the dataset's; NULL: the
                               * same */
    struct mase_arena *detail; /* NULL: loss and score only */
};
enum mase_status mase_evaluate_rows(struct mase_evaluation *e, struct mase_predictor *p,
                                    const struct mase_dataset *d,
                                    const struct mase_evaluate_opts *o,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Of a split, limit samples at most, 0: all. o may be NULL: classification. */
enum mase_status mase_evaluate(struct mase_evaluation *e, struct mase_predictor *p,
                               const struct mase_dataset *d, const struct mase_objective *o,
                               enum mase_split split, int64_t limit, struct mase_arena *detail,
                               struct mase_err *err) MASE_MUST_CHECK;

/* What was found beside loss and score, into the table v: by the names of files, none where there
 * is none. class_names: (classes), in the network's order. */
void mase_evaluation_set(struct mase_arena *a, struct mase_value *v,
                         const struct mase_evaluation *e, const char *const *class_names);
struct mase_value *mase_value_measured(struct mase_arena *a, double f); /* NaN: none */
/* What row r of such a table is called; in a. */
const char *mase_metric_row(struct mase_arena *a, const struct mase_metric_table *m, int64_t r);

/* From (n, classes) outputs and labels: everything but loss and seconds. */
void mase_metrics(struct mase_evaluation *e, struct mase_arena *a, const float *y,
                  const int32_t *label, int64_t n, int classes);
/* Chance that a random positive scores above a random negative, ties half; NaN without both. */
double mase_auc(const float *score, int64_t stride, const int32_t *label, int64_t n,
                int32_t positive);

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
