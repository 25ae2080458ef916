/*
 * step.h - what the operations of a plan share.
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

/* A value of the plan: rows of lanes when one of its dimensions is the batch, else plain numbers. A
 * slot is a tensor to shape rules and its own kind of thing to steps. */
struct mase_slot {
    const struct mase_tensor *tensor; /* its shape is that of the largest batch, the batch first */
    bool lanes;
    int axis;       /* lanes: where the batch stands in the graph (batch_axis.c) */
    int64_t behind; /* elements of a sample behind that dimension, when it is not the first */
    bool needs_grad;
    bool has_grad;               /* planning: some user contributes to dx */
    int64_t rows;                /* lanes: elements per sample; plain: elements */
    float *x;                    // (rows, stride), or (rows)
    float *single;               // (rows): the same of a single sample, padded to 16
    float *dx;                   // the same, or NULL
    struct mase_slot *alias_of;  /* shares x and dx with this one (views) */
    struct mase_slot *unrounded; /* plain: a weight that each step rounds for itself, as */
    const struct mase_asked *asked;
    struct mase_weight *weight; /* plain: the weight it is; NULL: a constant */
    bool derived;    /* plain: computed from parameters, if a step asks (derived_values.c) */
    bool changes;    /* plain: a buffer that is another for each batch (stored_buffers.c) */
    const char *why; /* set: no step can use it, and why */
    bool is_input;
    bool is_result;            /* whoever runs the plan reads x, and when training writes dx */
    struct mase_step *made_by; /* the last step whose result it is */
    int born, dies;            /* steps between which x is in use */
    int grad_born, grad_dies;
    struct mase_slot *over, *grad_over; /* whose place x and dx take; NULL: they have their own */
};

struct mase_step;
typedef void mase_phase_fn(const struct mase_step *s, long from, long to);

enum mase_unit {
    MASE_UNIT_LANES, /* from..to are lanes, multiples of 16 */
    MASE_UNIT_ITEMS, /* from..to count what the kind says */
};

struct mase_phase {
    mase_phase_fn *run;
    enum mase_unit unit;
    long items;
    bool barrier; /* it needs what the phases before it made of the other tiles of the batch */
};
struct mase_phases {
    struct mase_phase *item;
    int count, cap;
};

/* A value of a sample with which a step cannot compute: the first that the forward under way met.
 */
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
    bool stale; /* to be listed anew before it is run */
};

/* One sample in evaluation: x and y are its features, one after the other, padded to 16. */
typedef void mase_single_fn(const struct mase_step *s, float *y, const float *x);

/* Which dimension may be the batch. */
enum mase_axes {
    MASE_AXES_FIRST, /* of all values the first */
    MASE_AXES_KEPT,  /* any that is the same in operands and result, counted from the last */
    MASE_AXES_ANY,
};

struct mase_step_kind {
    const char *name;
    enum mase_status (*prepare)(struct mase_step *s, struct mase_call *c, struct mase_err *err);
    void (*bind)(struct mase_step *s); /* may be NULL */
    /* Evaluation: weights have changed; and the same before a single sample runs. Either may be
     * NULL. */
    void (*refresh)(struct mase_step *s);
    void (*refresh_single)(struct mase_step *s);
    /* What is wrong with the values of a sample: kinds whose steps have a fault. */
    enum mase_status (*refuse)(const struct mase_step *s, int64_t sample, struct mase_err *err);
    enum mase_axes axes;
    bool derives; /* it also runs where no dimension is the batch: on what parameters decide */
    /* Backward reads neither the operands' values, or not the result's. */
    bool forgets_in, forgets_out;
    bool in_place; /* forward and backward go element by element: in[0] may lie where out lies */
};

struct mase_step {
    struct mase_plan *plan;
    const struct mase_node *node;
    const struct mase_step_kind *kind;
    struct mase_call *call;  /* in the plan's arena: attributes by name */
    struct mase_call *probe; /* while it is prepared, the same call for a batch of two: maps are
                              * found by running it */
    struct mase_slot **in;
    bool *add; /* backward: add to in[i]->dx, not store */
    int in_count, in_cap;
    struct mase_slot *out;
    int result_index; /* of a call with several results: a step computes one of them */
    bool trains;      /* it has parameters */
    bool stops;       /* no gradient flows through it */
    struct mase_phases forward, backward;
    int64_t scratch_size;   /* floats the kind asked for, kept from forward to backward */
    float *scratch;         /* valid from bind on */
    mase_single_fn *single; /* a single sample in evaluation; NULL: no such path */
    int64_t work_size;      /* floats for the time of backward alone */
    float *work;
    struct mase_rounded *rounded; /* its quantised weights (plan_formats.c) */
    struct mase_fault *fault;     /* NULL: it computes with any values */
    bool guarded;                 /* the fault is an integer that is too large (whole_numbers.c) */
    struct mase_step *watch, **watch_end; /* who looks at the result (watch.c) */
    struct mase_step *next_watch;
    void *own; /* the kind's, in the plan's arena */
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
    struct mase_step *watch, **watch_end; /* who looks at the inputs */
    struct mase_program *program;         /* what it computes; a tile's is the first's */
    struct mase_tensor **tensor;          /* of every value of the program, for the largest batch */
    struct mase_tensor **probe;           /* and for two samples */
    struct mase_ptrmap slot_of;           /* from tensors */
    struct mase_weight *weight;           /* every parameter and buffer the graph has */
    int weight_count;
    struct mase_ptrmap weight_of; /* from parameters */
    struct mase_plan *derived;    /* computes what parameters alone decide; NULL: nothing */
    struct mase_plan *derived_of; /* set: this is the derived plan of that one */
    struct mase_weight **numbers; /* what steps of this plan read of derived values */
    int number_count, number_cap;
    struct mase_store *store;    /* buffers that take new values at the end of a step */
    struct mase_weight **copies; /* rounded weights with a gradient of their own */
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
    const struct mase_plan *like;                /* has them in p's stead; NULL: none */
    const struct mase_rounded *like_next;        /* the next of its rounded weights */
    uint64_t edits;                              /* of the graph when the plan was made */
    bool formats_change;              /* every operand that may have a format is rounded */
    struct mase_ptrmap site_of;       /* from nodes or modules: their roundings (reformat.c) */
    uint64_t seed, number;            /* of dropout: the plan's and the step's */
    const struct mase_tiling *tiling; /* it is a tile of this; NULL: it has the whole batch */
    void **part;                      /* what it tells the other tiles (collective.h) */
    int part_count, part_cap;
    int grads_part; /* the number of grads among them */
    /* Evaluating, it computes of all samples of a batch together, which are so many at least; 0: a
     * sample's result is its own. And the node that does. */
    int64_t least_samples;
    const struct mase_node *mixing_node;
    int64_t first;       /* sample of the batch that lane 0 is */
    const uint32_t *row; /* what its samples are called in messages; NULL: first .. */
};

/* The tiles of a batch: plans alike in all but their samples, which share the first one's
 * parameters (tiled_plan.c). */
struct mase_tiling {
    struct mase_plan **tile;
    int count; /* with samples in the batch under way */
};

/* What a step multiplies by: a parameter or buffer, a value derived from them, a constant. */
struct mase_weight {
    struct mase_param *param; /* the graph's; NULL: derived, or a constant */
    struct mase_shape shape;
    float *x;  /* the graph's, or the plan's copy; may move when the weights are read */
    float *dx; /* its gradient; NULL when it has none: buffers, frozen, constants, not training */
    int64_t count;
    bool derived;             /* its gradient begins anew with each step, accumulated or not */
    int part;                 /* derived: the number of dx among what tiles tell each other */
    struct mase_weight *base; /* a quantised copy, or another shape: what it is a copy of */
    struct mase_weight *views, *next_view; /* the same numbers under other shapes */
    const struct mase_use *uses;           /* the latest first */
    const struct mase_step *last; /* the last use the loss depends on: the first to store its
                                   * gradient. NULL: none, so it has no gradient */
};

struct mase_use {
    const struct mase_step *step;
    const struct mase_use *next;
};

/* The first dimension of a sample: behind the batch, if there is one. */
static inline int mase_plan_first(const struct mase_plan *p)
{
    return p->derived_of ? 0 : 1;
}
/* The shape of one sample of lanes; and the slot's shape with a batch of one, by which its rows are
 * broadcast. */
struct mase_shape mase_slot_sample(const struct mase_plan *p, const struct mase_slot *s);
struct mase_shape mase_slot_rows(const struct mase_plan *p, const struct mase_slot *s);

/* Where dimension dim of the graph's tensor stands in the slot's. */
int mase_slot_dim(const struct mase_slot *s, int dim);
/* Elements of a sample behind the batch's dimension. */
static inline int64_t mase_slot_behind(const struct mase_slot *s)
{
    return s->axis ? s->behind : s->rows;
}
/* The element of the graph's tensor, for so many samples, that is this row of this sample; and the
 * row that an element is. Of plain values rows are elements. */
int64_t mase_slot_element(const struct mase_slot *s, int64_t row, int64_t sample, int64_t samples);
int64_t mase_slot_row(const struct mase_slot *s, int64_t element, int64_t samples);

/* The slot of a tensor among the values that the step's plan knows, or NULL. */
struct mase_slot *mase_step_slot(const struct mase_step *s, const struct mase_tensor *t);
/* Input number i of the step: the call's tensor of this name, which must have lanes. */
enum mase_status mase_step_input(struct mase_step *s, const struct mase_call *c, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The same for a tensor at hand, which may also be plain: a parameter or a constant. */
enum mase_status mase_step_operand(struct mase_step *s, const struct mase_tensor *t,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The operand of this name that must not follow the samples: a parameter or buffer, or any value
 * that parameters and constants alone decide. *w = NULL when the call has none; what is there and
 * cannot be had is an error. */
enum mase_status mase_step_weight(struct mase_step *s, struct mase_weight **w, const char *name,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The same for a tensor at hand, called so in messages; NULL: none. */
enum mase_status mase_step_weight_of(struct mase_step *s, struct mase_weight **w,
                                     const struct mase_tensor *t, const char *name,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The same for an operand that the call must have. */
enum mase_status mase_step_need_weight(struct mase_step *s, struct mase_weight **w,
                                       const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* Does the step's backward add to this weight's gradient, not store it? */
bool mase_step_adds(const struct mase_step *s, const struct mase_weight *w);
/* The same for a plain input. */
bool mase_step_adds_input(const struct mase_step *s, int i);
/* A step of its own before s: its result is a new slot with the rows of shape (the batch first). */
struct mase_step *mase_step_before(struct mase_step *s, const struct mase_step_kind *kind,
                                   const struct mase_shape *shape);
/* Append a prepared step. */
void mase_plan_add_step(struct mase_plan *p, struct mase_step *s);
/* Lanes behind the samples of rows from..to := 0. */
void mase_step_clear(const struct mase_step *s, float *x, long from, long to);
/* The step's result shares memory with in: nothing to run. */
void mase_step_alias(struct mase_step *s, struct mase_slot *in);
void mase_step_forward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items);
void mase_step_backward(struct mase_step *s, mase_phase_fn *run, enum mase_unit unit, long items);
/* whole_numbers.c: behind what the step computes of integers, see that float32 holds it; and what
 * to say of one that it does not. */
enum mase_status mase_step_guard_whole(struct mase_step *s, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_step_refuse_whole(const struct mase_step *s, int64_t sample,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The phase listed last waits for all tiles of the batch. */
void mase_step_barrier_forward(struct mase_step *s);
void mase_step_barrier_backward(struct mase_step *s);
#define STEP(kind) extern const struct mase_step_kind mase_step_##kind;
#include <ops/steps.def>
extern const struct mase_step_kind mase_step_dense; /* what linear is for one vector per sample */
extern const struct mase_step_kind mase_step_fixed_batch_norm; /* batch norm by given statistics */
/* The kind of an op's step, NULL when it cannot be planned (optab.c). */
const struct mase_step_kind *mase_step_kind_of(enum mase_op op);

#endif /* MASE_EXEC_PLAN_STEP_H */
