/*
 * call.h - a node's call with every argument resolved, as shape rules and reference functions read
 * it.
 *
 * Modules, functions and methods of one operation differ only in where a value comes from. A struct
 * mase_call hides the difference: a caller asks for attributes and operands by their name in the
 * signature ("stride", "weight"), whether they are constructor parameters, module parameters, call
 * arguments or defaults. Nodes among the arguments are already replaced by their results.
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

/* Resolve a node's call. lookup gives the result of an input node. Wrong, missing or surplus
 * arguments are an error that names the node. */
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
/* An argument as a number: a bug when the signature has no such name, an error when the argument is
 * of another kind. */
enum mase_status mase_call_int(const struct mase_call *c, int64_t *v, const char *name,
                               struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_call_float(const struct mase_call *c, double *v, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
bool mase_call_flag(const struct mase_call *c, const char *name);
/* Does the call compute as in training? A module follows its mode, a function its argument `name`;
 * `training` is the mode of the network. */
bool mase_call_training(const struct mase_call *c, const char *name, bool training);
/* An int, or a tuple or list of 1 or n ints, as n ints. */
enum mase_status mase_call_ints(const struct mase_call *c, int64_t *v, int n, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;

/* c->result = one tensor of this type and shape, no data. */
void mase_call_result(struct mase_call *c, enum mase_dtype dtype, const struct mase_shape *shape);
/* "NODE: OP: ..." with MASE_EVALUE. */
enum mase_status mase_call_fail(const struct mase_call *c, struct mase_err *err, const char *fmt,
                                ...) MASE_PRINTF(3, 4);

/* How operand i is rounded before the call computes with it; a NULL format: it is not.
 * mase_call_shape: the shape that t, operand i or an item of its list, is cut into blocks by
 * (operand.c). */
struct mase_rounding mase_call_rounding(const struct mase_call *c, int i);
struct mase_shape mase_call_shape(const struct mase_call *c, int i, const struct mase_tensor *t);
/* Check that the formats of the call fit the shapes of operands and result. The result must have
 * its shape. */
enum mase_status mase_call_check_formats(const struct mase_call *c,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Is operand i a float32 tensor, which may have a format, or a list that contains one? */
bool mase_call_is_f32(const struct mase_call *c, int i);
/* Does the call write into its first operand, so that another node may read what was written? */
bool mase_call_writes(const struct mase_call *c);
/* Would the call write into its first operand if its node had no formats? */
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
/* Choose element types for inputs whose types are unknown: float32 where shape inference succeeds
 * with it, else 64-bit integers or booleans for as few inputs as possible, as an embedding needs.
 * Inputs need shapes only. */
void mase_inputs_find_type(struct mase_input *in, int count, const struct mase_graph *g);
/* Inputs of g, one for each placeholder, allocated in a: shapes of a batch, without data; the first
 * input has samples of shape `sample`. Types are chosen by mase_inputs_find_type. */
struct mase_inputs {
    const struct mase_input *item; // (count)
    int count;
};
struct mase_inputs mase_graph_inputs(struct mase_arena *a, const struct mase_graph *g,
                                     const struct mase_shape *sample, int64_t batch);
/* The number of values in one sample, summed over all inputs. */
int64_t mase_inputs_features(const struct mase_inputs *in);
/* Inputs for n samples with data, allocated in a: x is (n, features), and a row of x holds the
 * values of the inputs one after the other. */
struct mase_input *mase_inputs_fill(struct mase_arena *a, const struct mase_inputs *in,
                                    const float *x, int64_t n);
/* Walk g in order. A placeholder without an input takes its default; if it has none, the message
 * lists the placeholders. Parameters need shapes only. */
enum mase_status mase_infer_shapes(struct mase_values *v, struct mase_arena *a,
                                   const struct mase_graph *g, const struct mase_input *inputs,
                                   int input_count, struct mase_err *err) MASE_MUST_CHECK;

/* The first node that selects a part of the samples, as x[:100] does, so that results depend on the
 * batch size; NULL: no node does. The batch is the first axis of the inputs. (batch.c) */
const struct mase_node *mase_graph_cuts_batch(const struct mase_graph *g,
                                              const struct mase_input *inputs, int count);

MASE_API_END

#endif /* MASE_CALL_H */
