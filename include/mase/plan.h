/*
 * plan.h - a graph made ready to run fast, forward and backward.
 *
 * Activations lie feature by feature: a tensor of shape (N, C, ...) is stored as (C, ..., N), so
 * that every kernel runs along the batch. A plan is made once for a graph and a largest batch; it
 * owns one block of memory for activations, in training also one for parameters and one for
 * gradients, and running it allocates nothing. Results are the same bits with any number of threads
 * and on any instruction set.
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
 * Operations that mix samples (a view across the batch axis, a product over it) have no plan; the
 * reference (run.h) runs them.
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
    int64_t batch;        /* largest number of samples */
    bool train;           /* gradients, batch statistics, dropout; else evaluation */
    bool input_gradients; /* in training: gradients of the inputs, too */
    bool learns;          /* in evaluation: learned parameters of formats may have no values yet */
    bool formats_change;  /* in evaluation: mase_plan_follow_formats may be called */
    /* In evaluation: another plan of this graph, freed after this one. Rounded weights, and values
     * computed from weights, are read from that plan, so call mase_plan_read_weights for it first.
     */
    struct mase_plan *like;
    int threads;                     /* 0: one */
    uint64_t seed;                   /* of dropout */
    const struct mase_input *inputs; /* one per placeholder: shape of a batch, any batch size */
    int input_count;
};

/* Make a plan for a graph with weights, which is borrowed. A plan for evaluation reads the graph's
 * weights in place; one for training has a copy. */
enum mase_status mase_plan_new(struct mase_plan **out, struct mase_graph *g,
                               const struct mase_plan_opts *opts,
                               struct mase_err *err) MASE_MUST_CHECK;
void mase_plan_free(struct mase_plan *p);

/* Rows of samples: row r, sample i at data[r * stride + i]. */
struct mase_lanes {
    float *data;
    int64_t rows, stride;
};
/* Copy n samples from an array (n, rows) to lanes, and back. */
void mase_to_lanes(struct mase_lanes y, const float *x, int64_t n);
void mase_from_lanes(float *y, struct mase_lanes x, int64_t n);
struct mase_lanes mase_plan_input(const struct mase_plan *p, int i);
/* All inputs as one: the rows of an input lie behind those of the one before. */
struct mase_lanes mase_plan_inputs(const struct mase_plan *p);
struct mase_lanes mase_plan_output(const struct mase_plan *p);
/* Observe the result of a node right after it is computed, before other values reuse its memory.
 * mase_plan_forward calls `lanes` with ranges of samples, in whole blocks of 64 (the last may be
 * shorter), then `items` with ranges of 0..count - 1. The plan's threads share each of the two,
 * with a barrier behind it. */
typedef void mase_watch_fn(void *data, const struct mase_lanes *value, long from, long to);
struct mase_watch {
    const struct mase_node *node;
    mase_watch_fn *lanes, *items; /* either may be NULL */
    long count;
    void *data;
};
/* Observe a node until the plan is freed. *sample: the shape of the value for a batch of one. False
 * when the value has no batch axis. */
bool mase_plan_watch(struct mase_plan *p, const struct mase_watch *w, struct mase_shape *sample);
/* The gradient of input i after backward. Needs input_gradients. */
struct mase_lanes mase_plan_input_gradient(const struct mase_plan *p, int i);

/* How many samples the inputs hold now: 1..batch. */
void mase_plan_set_samples(struct mase_plan *p, int64_t samples);
/* Copy rows of a row-major table to the inputs, whose features follow one another in a row: sample
 * i is row index[i], or row i when index is NULL. Sets the number of samples. */
void mase_plan_gather(struct mase_plan *p, const float *table, int64_t row_stride,
                      const uint32_t *index, int64_t samples);

/* Set the number of threads. */
void mase_plan_set_threads(struct mase_plan *p, int threads);
/* MASE_EVALUE when a sample holds a value that the network cannot compute with, such as an index
 * beyond the rows of an embedding; then there is no output. */
enum mase_status mase_plan_forward(struct mase_plan *p, struct mase_err *err) MASE_MUST_CHECK;
/* Call it at most once after each forward: it reuses the memory of values. */
void mase_plan_backward(struct mase_plan *p);

enum mase_loss {
#define LOSS(name, title, help) MASE_LOSS_##name,
#include <mase/losses.def>
    MASE_LOSS_COUNT
};
extern const char *const mase_loss_names[];  /* NULL-terminated */
extern const char *const mase_loss_titles[]; /* names of PyTorch's classes */

/* The targets of the samples. */
struct mase_targets {
    const int32_t *label; /* cross entropy: (positions, samples), rows label_stride apart; a label
                             below 0 is ignored */
    int64_t label_stride; /* used for several positions */
    struct mase_lanes y;  /* other losses: a number for every output, rows aligned as outputs are */
};

/* The score of a batch as two sums over its samples, so that several batches are scored by adding
 * up their sums. The task defines the score of the sums (task.h). */
struct mase_score {
    double part, whole;
};
struct mase_loss_opts;
/* Add a batch to s. opts are those of the loss, which describe the targets. */
typedef void mase_score_fn(struct mase_score *s, const struct mase_lanes *output,
                           const struct mase_lanes *target, const struct mase_loss_opts *opts,
                           int64_t samples);

struct mase_own_loss; /* a loss that is a graph (exec/loss/own_loss.h) */

struct mase_loss_opts {
    enum mase_loss loss; /* 0: cross entropy */
    /* Set: use this loss instead, with tiled plans in training. Its value for a batch is weighted
     * by the number of samples. */
    struct mase_own_loss *own;
    /* Cross entropy: the number of positions of a sample that have a class each; 0: one. The output
     * is (classes, positions), or with classes_last (positions, classes). */
    int64_t positions;
    bool classes_last;
    float delta;          /* huber */
    mase_score_fn *score; /* for other losses; NULL: none. Cross entropy counts right answers */
    const double *target_mean; /* (outputs), for the score */
    const double
        *target_unit; /* (outputs): the size of 1 of a target in units of the data; NULL: 1 */
    float smoothing;
    const float *class_weight; /* (classes) or NULL */
    float scale; /* factor of the gradient, 0: 1; gradient accumulation divides by steps */
    /* Outputs of a teacher for these samples; data NULL: none. The loss is (1 - distill) cross
     * entropy + distill T T KL(softmax(teacher / T) || softmax(output / T)), T the temperature; the
     * second term is a mean over samples without weights. */
    struct mase_lanes teacher;
    float distill, temperature;
};
struct mase_loss_result {
    double loss;             /* sum over samples, and positions or outputs, weighted */
    double weight;           /* sum of the weights: loss / weight is the mean */
    struct mase_score score; /* cross entropy: `part` of `whole` positions have their first largest
                                output at the label */
};
/* The loss of the output against targets; when training, also the output's gradient. opts may be
 * NULL: cross entropy. */
void mase_plan_loss(struct mase_plan *p, struct mase_loss_result *result,
                    const struct mase_targets *targets, const struct mase_loss_opts *opts);
/* The loss of any outputs, computed in double, without class weights and smoothing. */
void mase_reference_loss(struct mase_loss_result *result, const struct mase_lanes *output,
                         const struct mase_targets *targets, const struct mase_loss_opts *opts,
                         int64_t samples);
/* The output's gradient, for a caller that computes a loss itself: in the layout of the output,
 * zero in the padding. */
float *mase_plan_output_gradient(struct mase_plan *p);

/* In training: all trained parameters as a flat array of n floats (tensors padded with zeros to
 * 16), and their gradients, which backward overwrites, or, after mase_plan_accumulate, adds to. */
struct mase_plan_params {
    float *w, *g;
    int64_t n;
};
struct mase_plan_params mase_plan_params(const struct mase_plan *p);
void mase_plan_accumulate(struct mase_plan *p, bool on);
/* Read parameters and buffers again after the graph's changed, and recompute values derived from
 * them. Do not run a plan for evaluation between the change and this call. */
void mase_plan_read_weights(struct mase_plan *p);
/* In training: copy parameters and buffers back to the graph. */
void mase_plan_write_weights(const struct mase_plan *p);
/* Follow a change of a node's number formats: its weights are rounded again now, its data from now
 * on. For a call of a module the change concerns all calls of that module. Results are those of a
 * new plan. Needs formats_change, with which a plan copies operands in float before it uses them.
 */
enum mase_status mase_plan_follow_formats(struct mase_plan *p, const struct mase_node *n,
                                          struct mase_err *err) MASE_MUST_CHECK;
/* Dropout's masks depend on the seed and this number. */
void mase_plan_set_step(struct mase_plan *p, uint64_t step);

const char *mase_plan_isa(const struct mase_plan *p);
int64_t mase_plan_memory(const struct mase_plan *p); /* bytes of the blocks of memory */

MASE_API_END

#endif /* MASE_PLAN_H */
