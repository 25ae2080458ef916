/*
 * call.h - a node's call with everything filled in: what shape rules and kernels are given.
 *
 * Modules, functions and methods of one operation differ only in where a value comes from. A
 * struct mase_call hides that: attributes and operands are asked for by the name in the signature
 * ("stride", "weight"), whether they are constructor parameters, module parameters, call arguments
 * or defaults. Nodes among the arguments are already replaced by their results.
 */
#ifndef MASE_CALL_H
#define MASE_CALL_H

#include <mase/api.h>
#include <mase/graph.h>

MASE_API_BEGIN

struct mase_call {
    struct mase_arena *arena; /* for results and scratch; not freed by the callee */
    const struct mase_node *node;
    const struct mase_module *module;       /* call_module only */
    const struct mase_sig *sig;             /* of the call */
    struct mase_arg param[MASE_MAX_PARAMS]; /* by position in sig, defaults filled in */
    struct mase_rounding factors; /* a sequence: what each product of its steps is rounded to */
    bool any_batch; /* of the largest of mase_batch_sizes: a result may have any number of values */
    struct mase_arg result; /* set by the shape rule; forward fills its tensors' data */
};

/* Resolve a node's call. values[i] is the result of node i of the graph in order; lookup gives the
 * result of a node. Wrong, missing or surplus arguments are an error naming the node. */
typedef const struct mase_arg *mase_lookup_fn(const struct mase_node *n, void *data);
enum mase_status mase_call_init(struct mase_call *c, struct mase_arena *a,
                                const struct mase_node *n, mase_lookup_fn *lookup, void *data,
                                struct mase_err *err) MASE_MUST_CHECK;

/* By name: a call parameter, else a constructor attribute, else NULL. */
const struct mase_arg *mase_call_arg(const struct mase_call *c, const char *name);
/* The tensor called name among call parameters or the module's parameters and buffers, else NULL
 * (None, a number, absent). */
const struct mase_tensor *mase_call_tensor(const struct mase_call *c, const char *name);
/* A tensor that must be there: fails with "seq_blocks_2: linear needs a tensor 'input', got 3". */
enum mase_status mase_call_need(const struct mase_call *c, const struct mase_tensor **t,
                                const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* Numbers; a bug when there is no such name, an error when it is of another kind. */
enum mase_status mase_call_int(const struct mase_call *c, int64_t *v, const char *name,
                               struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_call_float(const struct mase_call *c, double *v, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
bool mase_call_flag(const struct mase_call *c, const char *name);
/* Does the call compute as in training, in a network that is (training) or is not trained? A module
 * knows, a function is told by this argument. */
bool mase_call_training(const struct mase_call *c, const char *name, bool training);
/* An int, or a tuple or list of 1 or n ints, as n ints. */
enum mase_status mase_call_ints(const struct mase_call *c, int64_t *v, int n, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;

/* c->result = one tensor of this type and shape, no data. */
void mase_call_result(struct mase_call *c, enum mase_dtype dtype, const struct mase_shape *shape);
/* "NODE: OP: ..." with MASE_EVALUE. */
enum mase_status mase_call_fail(const struct mase_call *c, struct mase_err *err, const char *fmt,
                                ...) MASE_PRINTF(3, 4);

/* How operand i is rounded before the call computes with it; no format: it stays as it is. And the
 * shape that blocks of t are cut from, which is the operand or one of its list (operand.c). */
struct mase_rounding mase_call_rounding(const struct mase_call *c, int i);
struct mase_shape mase_call_shape(const struct mase_call *c, int i, const struct mase_tensor *t);
/* Can the formats of the call, whose result has its shape, cut operands and result? */
enum mase_status mase_call_check_formats(const struct mase_call *c,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Is operand i a tensor that could have a format, or a list with one? */
bool mase_call_is_f32(const struct mase_call *c, int i);
/* Does the call write into its first operand, and does anybody see it? */
bool mase_call_writes(const struct mase_call *c);
/* The same if its node had no formats. */
bool mase_call_writes_in_float(const struct mase_call *c);

/* ---- results of whole graphs (infer.c) ---- */

/* Every node's result: shapes only (mase_infer_shapes), or with values (run.h). */
struct mase_values {
    struct mase_arena *arena;
    struct mase_arg *value; /* (node_count), by position in the graph */
    int count;
    struct mase_map index; /* node name -> position + 1 */
};
/* NULL for a node that the graph did not have. */
const struct mase_arg *mase_values_get(const struct mase_values *v, const struct mase_node *n);

/* One input tensor by the placeholder's name; a shape is enough to infer from. */
struct mase_input {
    const char *name;
    struct mase_tensor tensor;
};
/* Nobody says whether samples are numbers, indices or truth values: as few inputs as possible
 * become 64-bit integers or booleans, where float32 does not fit and they do, as in front of an
 * embedding. Shapes are enough. */
void mase_inputs_find_type(struct mase_input *in, int count, const struct mase_graph *g);
/* One for each placeholder of g in their order, in a: a batch of samples without values, the first
 * like `sample`, of the types that fit. */
struct mase_inputs {
    const struct mase_input *item; // (count)
    int count;
};
struct mase_inputs mase_graph_inputs(struct mase_arena *a, const struct mase_graph *g,
                                     const struct mase_shape *sample, int64_t batch);
/* Values of one sample, of all inputs together. */
int64_t mase_inputs_features(const struct mase_inputs *in);
/* The same inputs for n samples with the values of x, (n, features): those of an input stand behind
 * those of the one before. In a. */
struct mase_input *mase_inputs_fill(struct mase_arena *a, const struct mase_inputs *in,
                                    const float *x, int64_t n);
/* Walk g in order. A placeholder without an input takes its default; if it has none, the message
 * lists the placeholders. Parameters need shapes only. */
enum mase_status mase_infer_shapes(struct mase_values *v, struct mase_arena *a,
                                   const struct mase_graph *g, const struct mase_input *inputs,
                                   int input_count, struct mase_err *err) MASE_MUST_CHECK;

/* The first node that takes a part of the samples, as x[:100] does, or NULL: results then depend on
 * how many there are. The inputs have the samples first. (batch.c) */
const struct mase_node *mase_graph_cuts_batch(const struct mase_graph *g,
                                              const struct mase_input *inputs, int count);

MASE_API_END

#endif /* MASE_CALL_H */
