/*
 * step.h - the parts of a plan: slots, steps, phases, weights.
 *
 * A step runs one instruction of the program. Its kind (step/op_*.c) has two hooks: prepare reads
 * the call when the plan is made, checks shapes, asks for scratch and lists phases; bind sets up
 * pointers once memory is placed. A step runs phase by phase: threads share the `items` of a phase
 * and meet at a barrier behind it. The arithmetic of an item must not depend on how items are
 * shared.
 */
#ifndef MASE_EXEC_PLAN_STEP_H
#define MASE_EXEC_PLAN_STEP_H

#include <mase/plan.h>
#include <mase/program.h>

#include "base/ptrmap.h"
#include "kern/kern.h"

/* A value of the plan: rows of lanes if it has a batch axis, else plain numbers. */
struct mase_slot {
    const struct mase_tensor
        *tensor; /* with the shape for the largest batch, the batch axis moved to the front */
    bool lanes;
    int axis; /* lanes: the batch axis of the graph's tensor (batch_axis.c) */
    int64_t
        behind; /* elements of a sample after the batch axis, if the batch axis is not the first */
    bool needs_grad;
    bool has_grad;              /* planning: some user contributes to dx */
    int64_t rows;               /* lanes: elements per sample; plain: elements */
    float *x;                   // (rows, stride), or (rows)
    float *single;              // (rows): x for a single sample, padded to 16
    float *dx;                  // the same, or NULL
    struct mase_slot *alias_of; /* shares x and dx with this one (views) */
    struct mase_slot
        *unrounded; /* plain: a weight that each step rounds for itself, as request says */
    const struct mase_rounding_request *request;
    struct mase_weight *weight; /* plain: the weight it is; NULL: a constant */
    bool derived;    /* plain: computed from parameters, if a step asks (derived_values.c) */
    bool changes;    /* plain: a buffer that changes with each batch (stored_buffers.c) */
    const char *why; /* set: no step can use the value, for this reason */
    bool is_input;
    bool is_result;            /* the plan's caller reads x, and in training writes dx */
    struct mase_step *made_by; /* the last step that writes it */
    int born, dies;            /* steps between which x is in use */
    int grad_born, grad_dies;
    struct mase_slot *over,
        *grad_over; /* slots whose memory x and dx reuse; NULL: they have their own */
};

struct mase_step;
typedef void mase_phase_fn(const struct mase_step *s, long from, long to);

enum mase_unit {
    MASE_UNIT_LANES, /* from..to are lanes, multiples of 16 */
    MASE_UNIT_ITEMS, /* from..to count items that the kind defines */
};

struct mase_phase {
    mase_phase_fn *run;
    enum mase_unit unit;
    long items;
    bool barrier; /* it reads results of earlier phases of other tiles: */
    int reads;    /* the number of their part (collective.h) */
};
struct mase_phases {
    struct mase_phase *item;
    int count, cap;
};

/* The first value of the current forward that a step cannot compute with. */
struct mase_fault {
    bool found;
    float value;
    int64_t lane;
};

/* A phase of a step, in the order of running. */
struct mase_work {
    const struct mase_step *step;
    const struct mase_phase *phase;
};
struct mase_works {
    struct mase_work *item;
    long count;
    bool stale; /* the list is out of date */
};

/* One sample in evaluation: x and y are its features, one after the other, padded to 16. */
typedef void mase_single_fn(const struct mase_step *s, float *y, const float *x);

/* The dimension that may be the batch axis. */
enum mase_axes {
    MASE_AXES_FIRST, /* the first dimension of every value */
    MASE_AXES_KEPT,  /* any dimension, if it is the same one, counted from the last, in operands and
                        result */
    MASE_AXES_ANY,
};

struct mase_step_kind {
    const char *name;
    enum mase_status (*prepare)(struct mase_step *s, struct mase_call *c, struct mase_err *err);
    void (*bind)(struct mase_step *s); /* may be NULL */
    /* Evaluation: called after weights have changed; refresh_single before a single sample runs.
     * Either may be NULL. */
    void (*refresh)(struct mase_step *s);
    void (*refresh_single)(struct mase_step *s);
    /* The error for a fault, for kinds whose steps can have one. */
    enum mase_status (*refuse)(const struct mase_step *s, int64_t sample, struct mase_err *err);
    enum mase_axes axes;
    bool derives; /* it can run without a batch axis, on values that depend on parameters only */
    /* Backward does not read the operands' values; the result's values. */
    bool forgets_in, forgets_out;
    bool in_place; /* forward and backward go element by element: in[0] may lie where out lies */
};

struct mase_step {
    struct mase_plan *plan;
    const struct mase_node *node;
    const struct mase_step_kind *kind;
    struct mase_call *call; /* in the plan's arena: attributes by name */
    struct mase_call
        *probe; /* during prepare, the call for a batch of two, which is run to find maps of rows */
    struct mase_slot **in;
    bool *add; /* backward: add to in[i]->dx, not store */
    int in_count, in_cap;
    struct mase_slot *out;
    int result_index; /* a step computes one result of a call: its index */
    bool trains;      /* it has parameters */
    bool stops;       /* no gradient flows through it */
    struct mase_phases forward, backward;
    int64_t scratch_size;   /* floats the kind asked for, kept from forward to backward */
    float *scratch;         /* valid from bind on */
    mase_single_fn *single; /* a single sample in evaluation; NULL: no such path */
    int64_t work_size;      /* floats that are used during backward only */
    float *work;
    struct mase_rounded *rounded; /* its quantised weights (plan_formats.c) */
    struct mase_fault *fault;     /* NULL: the step computes with any values */
    bool guarded;                 /* the fault is an integer that is too large (whole_numbers.c) */
    struct mase_step *watch, **watch_end; /* observers of the result (watch.c) */
    struct mase_step *next_watch;
    void *own; /* data of the kind, in the plan's arena */
};

typedef enum mase_status mase_partial_outputs_fn(struct mase_plan *p, struct mase_err *err);

struct mase_plan {
    struct mase_arena arena;
    struct mase_graph *graph; /* borrowed */
    const struct mase_kernels *k;
    struct mase_step **step;
    int step_count, step_cap;
    struct mase_works forward, backward;
    struct mase_slot **slot;
    int slot_count, slot_cap;
    struct mase_slot **input;
    int input_count, input_cap;
    struct mase_slot *output;
    mase_partial_outputs_fn *partial_outputs; /* set: the plan runs a part of the program, and this
                                                 marks the values that its caller reads */
    bool inputs_only;                     /* the part has no instruction: the caller reads inputs */
    struct mase_step *watch, **watch_end; /* observers of the inputs */
    struct mase_program *program;         /* the program that it runs; tiles share that of tile 0 */
    struct mase_tensor **tensor; /* tensors of the program's values, for the largest batch */
    struct mase_tensor **probe;  /* tensors for two samples */
    struct mase_ptrmap slot_of;  /* from tensors */
    struct mase_weight *weight;  /* every parameter and buffer the graph has */
    int weight_count;
    struct mase_ptrmap weight_of; /* from parameters */
    struct mase_plan
        *derived; /* computes values that depend on parameters only; NULL: there are none */
    struct mase_plan *derived_of; /* set: this plan is the derived plan of that one */
    struct mase_weight **numbers; /* derived values that steps of this plan read */
    int number_count, number_cap;
    struct mase_stored_buffer *store; /* buffers that take new values at the end of a step */
    struct mase_weight **copies;      /* rounded weights with a gradient of their own */
    int copy_count, copy_cap;
    float *memory, *params, *grads, *losses;
    int64_t memory_size, param_size; /* floats */
    int64_t batch, samples;
    int64_t stride; /* floats between rows */
    int64_t n;      /* lanes in use: samples rounded up to 16 */
    int threads;
    bool train, accumulate, input_gradients;
    int warm_up_pass;  /* warm-up pass number, from 1, while formats get their first learned values;
                          0: no warm-up */
    bool single;       /* every step can run a single sample */
    bool single_stale; /* but must refresh before it does */
    struct mase_rounded *rounded, **rounded_end; /* weights quantised once, when read */
    const struct mase_plan *like; /* the plan whose rounded weights p uses; NULL: p has its own */
    const struct mase_rounded *like_next; /* the next of its rounded weights */
    uint64_t edits;                       /* of the graph when the plan was made */
    bool formats_change;                  /* every operand that may have a format is rounded */
    struct mase_ptrmap site_of;           /* from nodes or modules: their roundings (reformat.c) */
    uint64_t seed, number;                /* seed of dropout, and number of the training step */
    const struct mase_tiling
        *tiling;            /* the tiles that the plan belongs to; NULL: it has the whole batch */
    struct mase_part *part; /* data that other tiles read (collective.h) */
    int part_count, part_cap;
    int grads_part; /* number of the part for grads */
    /* In evaluation: a node computes statistics over a batch, which must have at least this many
     * samples; 0: no node does. And that node. */
    int64_t least_samples;
    const struct mase_node *mixing_node;
    int64_t first;       /* sample of the batch that lane 0 is */
    const uint32_t *row; /* numbers of the samples in messages; NULL: first .. */
};

/* The tiles of a batch: equal plans for different samples, which share the parameters of tile 0
 * (tiled_plan.c). */
struct mase_tiling {
    struct mase_plan **tile;
    int count;                /* tiles with samples of the current batch */
    int from, to;             /* those that this process runs */
    struct mase_ranks *ranks; /* the processes that share the batch; NULL: this one has all tiles */
    char *buffer;             /* with ranks: room for a part of every tile */
};

/* Data of a tile that other tiles read. */
struct mase_part {
    void *data;
    size_t bytes;
};

/* An operand of a step that is equal for all samples: a parameter or buffer, a value derived from
 * them, a constant. */
struct mase_weight {
    struct mase_param *param; /* the graph's; NULL: derived, or a constant */
    struct mase_shape shape;
    float *x;  /* the graph's, or the plan's copy; may move when the weights are read */
    float *dx; /* its gradient; NULL when it has none: buffers, frozen, constants, not training */
    int64_t count;
    bool derived; /* its gradient starts at 0 in each step, even when gradients are accumulated */
    int part;     /* derived: number of the part for dx (collective.h) */
    struct mase_weight *base;              /* a quantised or reshaped copy: the original */
    struct mase_weight *views, *next_view; /* copies under other shapes, which share the numbers */
    const struct mase_use *uses;           /* the latest first */
    const struct mase_step
        *last; /* the last use that the loss depends on, whose backward is the first to store the
                  gradient. NULL: the loss does not depend on it */
};

struct mase_use {
    const struct mase_step *step;
    const struct mase_use *next;
};

/* The first dimension of a sample, after the batch axis if there is one. */
static inline int mase_plan_first(const struct mase_plan *p)
{
    return p->derived_of ? 0 : 1;
}
/* The shape of one sample of lanes; and the slot's shape with a batch of one, by which its rows are
 * broadcast. */
struct mase_shape mase_slot_sample(const struct mase_plan *p, const struct mase_slot *s);
struct mase_shape mase_slot_rows(const struct mase_plan *p, const struct mase_slot *s);

/* The dimension of the slot's tensor that is dimension dim of the graph's. */
int mase_slot_dim(const struct mase_slot *s, int dim);
/* Elements of a sample after the batch axis. */
static inline int64_t mase_slot_behind(const struct mase_slot *s)
{
    return s->axis ? s->behind : s->rows;
}
/* The element of the graph's tensor, for `samples` samples, at this row of this sample; and the row
 * of an element. For plain values rows are elements. */
int64_t mase_slot_element(const struct mase_slot *s, int64_t row, int64_t sample, int64_t samples);
int64_t mase_slot_row(const struct mase_slot *s, int64_t element, int64_t samples);

/* The slot of a tensor among the values that the step's plan knows, or NULL. */
struct mase_slot *mase_step_slot(const struct mase_step *s, const struct mase_tensor *t);
/* Input number i of the step: the call's tensor of this name, which must have lanes. */
enum mase_status mase_step_input(struct mase_step *s, const struct mase_call *c, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Add a tensor as input of the step; it may be plain, a parameter or a constant. */
enum mase_status mase_step_operand(struct mase_step *s, const struct mase_tensor *t,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The operand of this name as a weight: a parameter, a buffer, or a value that depends on
 * parameters and constants only. *w = NULL when the call has no such operand; an operand that is
 * not a weight is an error. */
enum mase_status mase_step_weight(struct mase_step *s, struct mase_weight **w, const char *name,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* A tensor as a weight; name: for messages. t NULL: *w = NULL. */
enum mase_status mase_step_weight_of(struct mase_step *s, struct mase_weight **w,
                                     const struct mase_tensor *t, const char *name,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The operand of this name as a weight; an error when the call has none. */
enum mase_status mase_step_need_weight(struct mase_step *s, struct mase_weight **w,
                                       const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* Does the step's backward add to this weight's gradient, not store it? */
bool mase_step_adds(const struct mase_step *s, const struct mase_weight *w);
/* Does the step's backward add to the gradient of its plain input i? */
bool mase_step_adds_input(const struct mase_step *s, int i);
/* A step of its own before s: its result is a new slot with the rows of shape (the batch first). */
struct mase_step *mase_step_before(struct mase_step *s, const struct mase_step_kind *kind,
                                   const struct mase_shape *shape);
/* Append a prepared step. */
void mase_plan_add_step(struct mase_plan *p, struct mase_step *s);
/* Clear the padding lanes of rows from..to. */
void mase_step_clear(const struct mase_step *s, float *x, long from, long to);
/* Make the step's result an alias of `in`: the step has nothing to run. */
void mase_step_alias(struct mase_step *s, struct mase_slot *in);
void mase_step_forward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items);
void mase_step_backward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items);
/* whole_numbers.c: after a step that computes integers, check that float32 holds them exactly; and
 * the error if not. */
enum mase_status mase_step_guard_whole(struct mase_step *s, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_step_refuse_whole(const struct mase_step *s, int64_t sample,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The phase listed last waits for all tiles of the batch, and reads this part of theirs. */
void mase_step_barrier_forward(struct mase_step *s, int part);
void mase_step_barrier_backward(struct mase_step *s, int part);
#define STEP(kind) extern const struct mase_step_kind mase_step_##kind;
#include <ops/steps.def>
extern const struct mase_step_kind mase_step_dense; /* a linear layer with one vector per sample */
extern const struct mase_step_kind
    mase_step_fixed_batch_norm; /* batch norm with given statistics */
/* The kind of step for an operation; NULL: plans cannot run it (step_table.c). */
const struct mase_step_kind *mase_step_kind_of(enum mase_op op);

#endif /* MASE_EXEC_PLAN_STEP_H */
