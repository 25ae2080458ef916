/*
 * plan.h - a graph made ready to run fast, forward and backward.
 *
 * Activations lie feature by feature: a tensor of shape (N, C, ...) is stored as (C, ..., N), so
 * that every kernel runs along the batch. A plan is made once for a graph and a largest batch; it
 * owns one block of memory for activations, when training also one for parameters and one for
 * gradients, and a step allocates nothing. Results are the same bits with any number of threads and
 * on any instruction set.
 *
 *     struct mase_lanes x = mase_plan_input(p, 0);
 *     x.data[feature * x.stride + sample] = ...;
 *     mase_plan_set_samples(p, n);
 *     MASE_TRY(mase_plan_forward(p, err));
 *     mase_plan_loss(p, &result, &targets, &opts);   // and the gradient of the output
 *     mase_plan_backward(p);
 *
 * Everything is float32; integers (an embedding's indices) and truth values are floats too, exact
 * up to 2^24. Quantised layers and calls round their operands as the reference does; gradients pass
 * straight through.
 *
 * Operations that mix samples (a view that moves the batch, a product over it) cannot be planned;
 * the reference (run.h) runs them.
 */
#ifndef MASE_PLAN_H
#define MASE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/graph.h>

MASE_API_BEGIN

struct mase_plan;

struct mase_plan_opts {
    int64_t batch;        /* most samples at once */
    bool train;           /* gradients, batch statistics, dropout; else evaluation */
    bool input_gradients; /* when training: of the inputs too */
    bool learns;          /* in evaluation: what formats learn may have no values yet */
    bool formats_change;  /* in evaluation: mase_plan_follow_formats may come */
    /* In evaluation: another plan of this graph, made for it and freed later. What that one makes
     * of the weights, rounded or computed from them, is read from there; so it reads weights first.
     */
    struct mase_plan *like;
    int threads;                     /* 0: one */
    uint64_t seed;                   /* of dropout */
    const struct mase_input *inputs; /* one per placeholder: shape of a batch, any batch size */
    int input_count;
};

/* The graph must have weights. It is borrowed, and so are its weights, which a plan for evaluation
 * reads where they lie; one for training has a copy of its own. */
enum mase_status mase_plan_new(struct mase_plan **out, struct mase_graph *g,
                               const struct mase_plan_opts *opts,
                               struct mase_err *err) MASE_MUST_CHECK;
void mase_plan_free(struct mase_plan *p);

/* Rows of samples: row r, sample i at data[r * stride + i]. */
struct mase_lanes {
    float *data;
    int64_t rows, stride;
};
/* n samples between lanes and an array (n, rows). */
void mase_to_lanes(struct mase_lanes y, const float *x, int64_t n);
void mase_from_lanes(float *y, struct mase_lanes x, int64_t n);
struct mase_lanes mase_plan_input(const struct mase_plan *p, int i);
/* All of them: the rows of one behind those of the one before. */
struct mase_lanes mase_plan_inputs(const struct mase_plan *p);
struct mase_lanes mase_plan_output(const struct mase_plan *p);
/* Look at what a node computes, right after it did: later values take its memory. forward calls
 * `lanes` first, with all samples in shares of whole blocks of 64 (the last may be shorter), then
 * `items` with all of 0..count - 1; the plan's threads share both, and wait for
 * each other behind each. */
typedef void mase_watch_fn(void *data, const struct mase_lanes *value, long from, long to);
struct mase_watch {
    const struct mase_node *node;
    mase_watch_fn *lanes, *items; /* either may be NULL */
    long count;
    void *data;
};
/* Until the plan is freed. sample becomes the shape of the value for one sample, a batch of one
 * first. False when the node's value is no tensor that follows the samples. */
bool mase_plan_watch(struct mase_plan *p, const struct mase_watch *w, struct mase_shape *sample);
/* With input_gradients, after backward. */
struct mase_lanes mase_plan_input_gradient(const struct mase_plan *p, int i);

/* How many samples the inputs hold now: 1..batch. */
void mase_plan_set_samples(struct mase_plan *p, int64_t samples);
/* Rows of a row-major table to the inputs, whose features stand one behind the other: sample i is
 * table[index[i]], or table[i] when index is NULL. Sets the number of samples. */
void mase_plan_gather(struct mase_plan *p, const float *table, int64_t row_stride,
                      const uint32_t *index, int64_t samples);

/* How many share the work from now on. */
void mase_plan_set_threads(struct mase_plan *p, int threads);
/* MASE_EVALUE when a sample holds a value with which the network cannot compute, such as an index
 * that picks no row of an embedding: then there is no output. */
enum mase_status mase_plan_forward(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* Once after each forward: it reuses the memory of values it has no more need of. */
void mase_plan_backward(struct mase_plan *p);

enum mase_loss {
#define LOSS(name, title, help) MASE_LOSS_##name,
#include <mase/losses.def>
    MASE_LOSS_COUNT
};
extern const char *const mase_loss_names[];  /* up to NULL */
extern const char *const mase_loss_titles[]; /* what PyTorch calls them */

/* What the outputs of the samples should have been. */
struct mase_targets {
    const int32_t *label; /* cross entropy: (positions, samples), rows label_stride apart; below 0:
                           * does not count */
    int64_t label_stride; /* of several positions */
    struct mase_lanes y;  /* other losses: a number for every output, rows aligned as outputs are */
};

/* How good a batch is, in two sums over its samples: the score of several batches is that of
 * their sums. What it is of these is its owner's affair. */
struct mase_score {
    double part, whole;
};
struct mase_loss_opts;
/* The last but one: those of the loss, for what they say of the targets. */
typedef void mase_score_fn(struct mase_score *s, const struct mase_lanes *output,
                           const struct mase_lanes *target, const struct mase_loss_opts *opts,
                           int64_t samples);

struct mase_own_loss; /* one that is a graph (exec/loss/own_loss.h) */

struct mase_loss_opts {
    enum mase_loss loss; /* 0: cross entropy */
    /* Set: this one instead, in training on tiled plans. Its value for a batch counts as often as
     * that has samples. */
    struct mase_own_loss *own;
    /* Cross entropy: a sample has classes at so many positions, 0: one. The output is (classes,
     * positions), or with classes_last (positions, classes). */
    int64_t positions;
    bool classes_last;
    float delta;          /* huber */
    mase_score_fn *score; /* of the other losses; NULL: none. Cross entropy counts right answers */
    const double *target_mean; /* (outputs), for the score */
    const double *target_unit; /* (outputs): what 1 of a target is in the data; NULL: 1 */
    float smoothing;
    const float *class_weight; /* (classes) or NULL */
    float scale;               /* of the gradient; 0: 1 (gradient accumulation divides by steps) */
    /* Outputs of a teacher for the same samples, with data: the loss is (1 - distill) of the cross
     * entropy and distill T T KL(softmax(teacher / T) || softmax(output / T)), T the temperature,
     * the mean over the samples whatever weights they have. */
    struct mase_lanes teacher;
    float distill, temperature;
};
struct mase_loss_result {
    double loss;             /* sum over samples, and positions or outputs, weighted */
    double weight;           /* sum of the weights: loss / weight is the mean */
    struct mase_score score; /* cross entropy: part of the whole has its largest output first at the
                              * label */
};
/* The loss of the output against targets; when training, also the output's gradient. opts may be
 * NULL: cross entropy. */
void mase_plan_loss(struct mase_plan *p, struct mase_loss_result *result,
                    const struct mase_targets *targets, const struct mase_loss_opts *opts);
/* The same of outputs that no plan has computed, in double, without weights and smoothing. */
void mase_reference_loss(struct mase_loss_result *result, const struct mase_lanes *output,
                         const struct mase_targets *targets, const struct mase_loss_opts *opts,
                         int64_t samples);
/* Or set the output's gradient yourself (same layout as the output, zero in the padding). */
float *mase_plan_output_gradient(struct mase_plan *p);

/* When training: all trainable parameters as flat arrays of n floats (tensors padded with zeros to
 * 16), and their gradients, which backward writes (accumulate: adds to). */
struct mase_plan_params {
    float *w, *g;
    int64_t n;
};
struct mase_plan_params mase_plan_params(const struct mase_plan *p);
void mase_plan_accumulate(struct mase_plan *p, bool on);
/* Parameters and buffers of the graph have changed: take them, and compute anew what was made of
 * them. A plan for evaluation must not be run between the two. */
void mase_plan_read_weights(struct mase_plan *p);
/* When training: copy them back to the graph. */
void mase_plan_write_weights(const struct mase_plan *p);
/* A node has other number formats than when the plan was made, or none: round by them from now on,
 * and its weights at once. Costs no more than that; the results are those of a plan made anew. For
 * a call of a module, all calls of it. Only in a plan with formats_change, where operands in float
 * are copied before they are used. */
enum mase_status mase_plan_follow_formats(struct mase_plan *p, const struct mase_node *n,
                                          struct mase_err *err) MASE_MUST_CHECK;
/* Dropout's masks depend on the seed and this number. */
void mase_plan_set_step(struct mase_plan *p, uint64_t step);

const char *mase_plan_isa(const struct mase_plan *p);
int64_t mase_plan_memory(const struct mase_plan *p); /* bytes of the blocks */

MASE_API_END

#endif /* MASE_PLAN_H */
