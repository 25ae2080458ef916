/*
 * trainer.h - a run of training, shared by the loop and the checkpoints.
 */
#ifndef MASE_TRAIN_TRAINER_H
#define MASE_TRAIN_TRAINER_H

#include <mase/prune.h>
#include <mase/tiled_plan.h>

#include "base/host.h"
#include "evaluate/predictor.h"
#include "evaluate/targets.h"
#include "train/ebops.h"
#include "train/optim.h"

/* State of pruning (train_prune.c). */
struct mase_trainer_pruning {
    bool on;
    struct mase_pruning how;
    struct mase_prune_target *list; /* with their masks */
    int64_t *at;                    // (count): where targets lie in the flat parameters
    int count;
    float *score; // (flat parameters), movement; else NULL
};

/* The float network that the quantised one is compared with (distill.c). */
struct mase_teacher {
    struct mase_graph *graph; /* without formats, with weights of its own */
    struct mase_plan **plan;  // (tiles)
    struct mase_err *fault;   // (tiles): status MASE_OK: none
    int tiles;
};

struct mase_trainer {
    struct mase_heap *heap; /* all its memory, if the host gives an allocator; else NULL */
    struct mase_arena arena;
    struct mase_graph *graph;         /* borrowed, like data: where the trained parameters go */
    struct mase_graph *evaluated;     /* what this phase validates: graph or plain */
    struct mase_graph *trained;       /* trained in this phase: ->training, or fixed */
    struct mase_graph *plain, *fixed; /* owned, or NULL: without formats; with frozen batch norms */
    const struct mase_dataset *data;
    struct mase_train_opts opts;
    struct mase_objective objective;
    struct mase_train_state state;
    struct mase_tiled_plan *tiled;
    struct mase_plan *plan; /* plan of the first tile, which owns the parameters */
    struct mase_predictor *validator;
    struct mase_optimizer optim;
    float *average;           // (parameters), or NULL: average_weights is off, or no step is done
    struct mase_ebops *ebops; /* NULL, like bits, unless number formats are in use */
    struct mase_bits *bits;
    struct mase_teacher *teacher; /* NULL: distill is off, or quantisation has not started */
    struct mase_table_view table; /* data is NULL for images */
    struct mase_target_source targets;
    struct mase_graph *own_graph;      /* of the user's own loss; NULL: none */
    char loss_hash[65];                /* SHA-256 of own_graph, or "" */
    struct mase_own_loss *own_loss;    /* own_graph for the tiles */
    struct mase_target_buffer *target; // (target_tiles): targets of each tile
    int target_tiles;
    uint32_t *order;     // (rows): the training rows in the order of the epoch
    float *class_weight; // (classes) or NULL
    int64_t rows;        /* training rows */
    int64_t batches;     /* batches of an epoch */
    int64_t steps;       /* optimiser steps of an epoch */
    int64_t shuffled;    /* the epoch that `order` belongs to; -1: none */
    int threads;
    struct mase_trainer_pruning pruning;
    struct mase_seen_rows seen; /* hashes of the training rows */
    double lr;                  /* learning rate of the current step */
    bool quantised;             /* number formats are in use, if the graph has any */
    bool frozen;                /* batch norms no longer update their statistics */
    const char *network; /* text of the evaluated network with its formats, for checkpoints */
    const char *network_to_come; /* text of the graph until its formats are in use; else NULL */
};

/* MASE_EVALUE: an earlier call failed half-way. */
enum mase_status mase_trainer_check(const struct mase_trainer *t,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* phase.c: warn of options that have no effect here, and drop them. */
enum mase_status mase_trainer_check_phases(struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
/* Make the graphs and plans of the epoch's phase; does nothing if they exist. */
enum mase_status mase_trainer_enter_phase(struct mase_trainer *t,
                                          struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_leave_phase(struct mase_trainer *t);
/* trainer.c: set the source of targets, once the validator exists; and allocate the targets of a
 * batch, once the plan exists. */
enum mase_status mase_trainer_find_targets(struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_hold_targets(struct mase_trainer *t, int tiles);
void mase_trainer_drop_targets(struct mase_trainer *t);
/* Restart the best loss in the epoch in which quantisation starts: the best network so far had no
 * formats. */
enum mase_status mase_trainer_begin_formats(struct mase_trainer *t,
                                            struct mase_err *err) MASE_MUST_CHECK;

/* compare_ranks.c: do all processes of the job train the same? `since`: since when it should be so.
 */
enum mase_status mase_trainer_compare(const struct mase_trainer *t, const char *since,
                                      struct mase_err *err) MASE_MUST_CHECK;

/* distill.c: make the present network, in float, the teacher. */
enum mase_status mase_trainer_make_teacher(struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_drop_teacher(struct mase_trainer *t);
mase_teach_fn mase_trainer_teach; /* data is the trainer */
/* Fails with the first sample of the last batch that the teacher could not compute. */
enum mase_status mase_trainer_check_lesson(const struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
/* The teacher's weights in checkpoints. Before a file is loaded, it is checked: does it have all
 * that a run in this state needs? */
struct mase_obj;
struct mase_obj *mase_trainer_save_teacher(struct mase_arena *a, const struct mase_trainer *t);
enum mase_status mase_trainer_check_teacher(const struct mase_trainer *t,
                                            const struct mase_train_state *s,
                                            const struct mase_obj *saved, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_trainer_load_teacher(struct mase_trainer *t, const struct mase_obj *saved,
                                           struct mase_err *err) MASE_MUST_CHECK;

/* [passes.prune] in one line, allocated in a. */
const char *mase_trainer_pruning_text(struct mase_arena *a, const struct mase_pruning *p);
/* train_prune.c; no effect without opts.prune. Compute new masks if the next step is one of the
 * schedule's. */
enum mase_status mase_trainer_start_pruning(struct mase_trainer *t,
                                            struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_prune(struct mase_trainer *t);
/* The learning rate of the next step. */
double mase_trainer_lr(const struct mase_trainer *t);
double mase_trainer_momentum(const struct mase_trainer *t); /* of the next step */
/* Call after a validation: count epochs without improvement, and cut the rate at a plateau
 * (schedule.c). */
void mase_train_check_plateau(struct mase_train_state *s, const struct mase_train_opts *o);
/* Before and after the optimiser's step with the flat parameters from..to. */
void mase_trainer_prune_gradients(const struct mase_trainer *t, int64_t from, int64_t to);
void mase_trainer_prune_weights(const struct mase_trainer *t, int64_t from, int64_t to);
/* Set pruned positions of values, which lie as the flat parameters do, to zero. */
void mase_trainer_prune_values(const struct mase_trainer *t, float *values, int64_t from,
                               int64_t to);
void mase_trainer_end_pruning(const struct mase_trainer *t);
double mase_trainer_sparsity(const struct mase_trainer *t); /* NaN: nothing is pruned */
/* State of pruning in checkpoints; it is checked before it is loaded. */
struct mase_obj *mase_trainer_save_pruning(struct mase_arena *a, const struct mase_trainer *t);
enum mase_status mase_trainer_check_pruning(const struct mase_trainer *t,
                                            const struct mase_obj *was, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_load_pruning(struct mase_trainer *t, const struct mase_obj *was);

/* average.c: add the weights of a step; restart. */
void mase_trainer_average(struct mase_trainer *t);
void mase_trainer_forget_average(struct mase_trainer *t);
/* Write the weights to the graph: the average, if there is one. */
void mase_trainer_write_weights(const struct mase_trainer *t);
/* The weights that training resumes with, if state_dict has the average; else NULL. */
struct mase_obj *mase_trainer_save_weights(struct mase_arena *a, const struct mase_trainer *t);
enum mase_status mase_trainer_load_weights(struct mase_trainer *t, const struct mase_obj *saved,
                                           const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* Number i of the state dict, a parameter or a buffer. */
struct mase_train_param {
    const char *name;
    struct mase_param *param;
    int64_t at; /* offset in the flat parameters and moments; -1: a buffer, frozen or tied */
};
/* All parameters and buffers, in the order of the state dict. */
struct mase_train_param *mase_trainer_params(const struct mase_trainer *t, struct mase_arena *a,
                                             int *count);

#endif /* MASE_TRAIN_TRAINER_H */
