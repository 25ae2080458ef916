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

/* What becomes zero, and how far it has come (train_prune.c). */
struct mase_trainer_pruning {
    bool on;
    struct mase_pruning how;
    struct mase_prune_target *list; /* with their masks */
    int64_t *at;                    // (count): where they lie among the flat parameters
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
    struct mase_heap *heap; /* all its memory, where a program around the library gives that */
    struct mase_arena arena;
    struct mase_graph *graph;         /* borrowed, like data: what the run comes to */
    struct mase_graph *evaluated;     /* by this phase: the same, or plain */
    struct mase_graph *trained;       /* the same, what that is while it is trained, or fixed */
    struct mase_graph *plain, *fixed; /* owned, or NULL: without formats; with batch norms frozen */
    const struct mase_dataset *data;
    struct mase_train_opts opts;
    struct mase_objective objective;
    struct mase_train_state state;
    struct mase_tiled_plan *tiled;
    struct mase_plan *plan; /* its first tile, which has the parameters */
    struct mase_predictor *validator;
    struct mase_optimizer optim;
    float *average;           // (parameters), or NULL: average_weights is off, or has seen none
    struct mase_ebops *ebops; /* NULL, like bits: no number formats are on */
    struct mase_bits *bits;
    struct mase_teacher *teacher; /* NULL: distill is off, or the formats are */
    struct mase_table_view table; /* data is NULL for images */
    struct mase_target_source targets;
    struct mase_graph *own_graph;      /* of a loss of one's own; NULL: none */
    char loss_hash[65];                /* SHA-256 of that, or "" */
    struct mase_own_loss *own_loss;    /* that loss for the tiles */
    struct mase_target_buffer *target; // (target_tiles): of each tile of a batch
    int target_tiles;
    uint32_t *order;     // (rows): the training rows in the order of the epoch
    float *class_weight; // (classes) or NULL
    int64_t rows;        /* to train on */
    int64_t batches;     /* of an epoch */
    int64_t steps;       /* of an epoch */
    int64_t shuffled;    /* the epoch whose order it is; -1: none */
    int threads;
    struct mase_trainer_pruning pruning;
    struct mase_seen_rows seen;  /* what it trains on */
    double lr;                   /* of the step under way */
    bool quantised;              /* the number formats are on, if the graph has any */
    bool frozen;                 /* batch norms do not follow the batches any more */
    const char *network;         /* what is evaluated as text, formats and all, for checkpoints */
    const char *network_to_come; /* the graph, until its formats are on; else NULL */
};

/* MASE_EVALUE: an earlier call left it in the middle of something. */
enum mase_status mase_trainer_check(const struct mase_trainer *t,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* phase.c: options that say nothing here are dropped with a warning. */
enum mase_status mase_trainer_check_phases(struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
/* Make graphs and plans what the epoch wants them to be; nothing if they are. */
enum mase_status mase_trainer_enter_phase(struct mase_trainer *t,
                                          struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_leave_phase(struct mase_trainer *t);
/* trainer.c: where targets come from, when the validator is there; and room for those of a batch,
 * when the plan is. */
enum mase_status mase_trainer_find_targets(struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_hold_targets(struct mase_trainer *t, int tiles);
void mase_trainer_drop_targets(struct mase_trainer *t);
/* In the epoch in which the formats come on: the best network so far was none of theirs. */
enum mase_status mase_trainer_begin_formats(struct mase_trainer *t,
                                            struct mase_err *err) MASE_MUST_CHECK;

/* distill.c: the network as it is now, in float, becomes the teacher. */
enum mase_status mase_trainer_take_teacher(struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_drop_teacher(struct mase_trainer *t);
mase_teach_fn mase_trainer_teach; /* data is the trainer */
/* The first sample of the last batch with which it could not compute. */
enum mase_status mase_trainer_check_lesson(const struct mase_trainer *t,
                                           struct mase_err *err) MASE_MUST_CHECK;
/* Its weights in checkpoints. A file is checked before it is loaded: does it have all that a run in
 * this state needs? */
struct mase_obj;
struct mase_obj *mase_trainer_save_teacher(struct mase_arena *a, const struct mase_trainer *t);
enum mase_status mase_trainer_check_teacher(const struct mase_trainer *t,
                                            const struct mase_train_state *s,
                                            const struct mase_obj *saved, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_trainer_load_teacher(struct mase_trainer *t, const struct mase_obj *saved,
                                           struct mase_err *err) MASE_MUST_CHECK;

/* What [passes.prune] says, in one line; in a. */
const char *mase_trainer_pruning_text(struct mase_arena *a, const struct mase_pruning *p);
/* train_prune.c: nothing of it does anything unless opts.prune asks for it. Choose masks anew if
 * the step to come is one of the schedule's. */
enum mase_status mase_trainer_start_pruning(struct mase_trainer *t,
                                            struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_prune(struct mase_trainer *t);
/* The learning rate of the step to come. */
double mase_trainer_lr(const struct mase_trainer *t);
double mase_trainer_momentum(const struct mase_trainer *t); /* of the next step, too */
/* An epoch was validated: has a plateau been reached? (schedule.c) */
void mase_train_judge_plateau(struct mase_train_state *s, const struct mase_train_opts *o);
/* Before and after the optimiser's step with the flat parameters from..to. */
void mase_trainer_prune_gradients(const struct mase_trainer *t, int64_t from, int64_t to);
void mase_trainer_prune_weights(const struct mase_trainer *t, int64_t from, int64_t to);
/* What is pruned becomes zero in values that lie as the flat parameters do. */
void mase_trainer_prune_values(const struct mase_trainer *t, float *values, int64_t from,
                               int64_t to);
void mase_trainer_end_pruning(const struct mase_trainer *t);
double mase_trainer_sparsity(const struct mase_trainer *t); /* NaN: nothing is pruned */
/* What a checkpoint keeps of it; was: that, or NULL. It is checked before it is loaded. */
struct mase_obj *mase_trainer_save_pruning(struct mase_arena *a, const struct mase_trainer *t);
enum mase_status mase_trainer_check_pruning(const struct mase_trainer *t,
                                            const struct mase_obj *was, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
void mase_trainer_load_pruning(struct mase_trainer *t, const struct mase_obj *was);

/* average.c: count a step; begin anew. */
void mase_trainer_average(struct mase_trainer *t);
void mase_trainer_forget_average(struct mase_trainer *t);
/* Weights to the graph: the average, if there is one. */
void mase_trainer_write_weights(const struct mase_trainer *t);
/* Weights that training goes on with, where checkpoints have an average. */
struct mase_obj *mase_trainer_save_weights(struct mase_arena *a, const struct mase_trainer *t);
enum mase_status mase_trainer_load_weights(struct mase_trainer *t, const struct mase_obj *saved,
                                           const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* Parameter or buffer number i of the state dict, as training has it. */
struct mase_train_param {
    const char *name;
    struct mase_param *param;
    int64_t at; /* where it lies in the flat parameters and moments; -1: a buffer, frozen or tied */
};
/* All of them, in state-dict order. */
struct mase_train_param *mase_trainer_params(const struct mase_trainer *t, struct mase_arena *a,
                                             int *count);

#endif /* MASE_TRAIN_TRAINER_H */
