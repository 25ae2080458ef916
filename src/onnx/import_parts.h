/*
 * import_parts.h - shared by the files that build a graph from an ONNX model.
 *
 * Nodes of the model are taken one by one by rules (rules.def), which emit calls of our operations.
 * What is emitted is inferred at once, for batches of several sizes, and computed where all its
 * operands are known: so shapes that a model computes are numbers when they are asked for, either
 * the same for all batches, or so many more with every sample.
 *
 * The first failure stays: whoever emits after it gets NULL, so rules need not ask at every step.
 */
#ifndef MASE_ONNX_IMPORT_PARTS_H
#define MASE_ONNX_IMPORT_PARTS_H

#include <mase/call.h>
#include <mase/onnx.h>
#include <mase/type.h>

#include "base/ptrmap.h"
#include "onnx/onnx_file.h"

enum {
    OX_OLDEST = 6,
    OX_NEWEST = 28,
    OX_OPERANDS = 64, /* limit of a node with any number of operands */
};

/* Result of a node of the graph, by inference. */
struct mase_ox_result {
    struct mase_arg value[MASE_BATCH_SIZES]; /* by batch size, with data if known */
    bool known;                              /* known for every size */
    bool given;   /* the caller fixed the inputs; true for these results only */
    bool learned; /* depends on parameters, which training changes */
};

/* A value of the model, by its name. */
struct mase_ox_value {
    const char *name;
    struct mase_node *node;              /* NULL: a tensor of the model that is not used yet */
    const struct mase_onnx_tensor *init; /* that tensor, or NULL */
    struct mase_tensor like;             /* type and shape */
    const char *owner;                   /* path of the layer parameter that holds it; NULL: none */
    bool transposed;                     /* the parameter is its transpose */
    const struct mase_tensor *data;      /* constant computed from tensors of the model */
    struct mase_ox_value *base;          /* operand of a pending rounding, or NULL */
    const struct mase_ox_qparams *qparams; /* how it is rounded */
    bool is_codes; /* the value is the codes, not the numbers that they stand for */
    const struct mase_ox_clip *clip; /* a pending Clip, or NULL */
    bool shared;                     /* its node, or the node that it rounds, has a second name */
};
struct mase_ox_clip {
    struct mase_ox_value *of;
    double lo, hi;
};

/* How a number between two codes is rounded: to nearest, ties to even; ...; to nearest, ties away
 * from zero; OX_SIGN: code 1 from 0 on, else -1. */
enum mase_ox_rounding { OX_NEAREST, OX_FLOOR, OX_CEIL, OX_TO_ZERO, OX_AWAY, OX_SIGN };

/* Quantisation parameters: x becomes (clamp(round(x / scale) + zero, lo, hi) - zero) scale. */
struct mase_ox_qparams {
    int64_t count; /* number of scales: 1, one for each position of the axis, or one for each
                      element of shape */
    const double *scale, *zero, *lo, *hi; // (count); lo and hi bound codes, zero point included
    int axis;
    const struct mase_shape *shape; /* of scales that broadcast, or NULL: along axis */
    bool shifted;                   /* the zero point is added before rounding, as in QONNX */
    enum mase_ox_rounding rounding;
    int type;                         /* ONNX's type of the codes */
    const struct mase_format *format; /* used instead of the above, times scale */
};

/* How a layer rounds its operands; NULL: not. */
struct mase_ox_layer_qparams {
    const struct mase_ox_qparams *data, *weight, *bias;
    int weight_axis; /* axis of the channels in the layer's weight */
};

/* Source of a parameter's values, which are loaded when the parameters are allocated. */
struct mase_ox_fill {
    const char *path;
    const struct mase_ox_value *value;
    bool transposed;
    int64_t from, count; /* range of rows; count 0: all */
    struct mase_ox_fill *next;
};

/* Uses of a value of the model. */
struct mase_ox_use {
    int count;
    const struct mase_onnx_node *by; /* the last user; NULL: an output */
};

struct mase_ox_scope {
    struct mase_map values; /* of struct mase_ox_value */
    const struct mase_ox_scope *outer;
    const char *prefix;                /* prefix of node names */
    const struct mase_onnx_node *call; /* the call of a function, which has its attributes */
    int opset;
};

struct mase_ox_import {
    struct mase_onnx_file *file;
    const struct mase_onnx_opts *opts;
    struct mase_graph *g;
    struct mase_arena arena;
    struct mase_ptrmap results; /* by node of the graph */
    struct mase_ptrmap named;   /* by node of the graph: the value that named it */
    struct mase_ox_scope *scope;
    int depth;                         /* nesting of functions */
    int sizes;                         /* number of batch sizes; 1: the file's own only */
    int64_t samples[MASE_BATCH_SIZES]; /* mase_batch_sizes; or the file's own, and the first two of
                                          them */
    struct mase_node *batch; /* the placeholder that gives the number of samples, or NULL */
    struct mase_node *batch_size;
    struct mase_ptrmap absorbed;         /* nodes of the model that were fused into earlier ones */
    struct mase_map uses;                /* by value: number of uses, and the user */
    struct mase_map paths, path_numbers; /* taken paths; next numbers for them */
    struct mase_ox_fill *fills;
    uint64_t folded; /* bytes of folded constants */
    /* the current node */
    const struct mase_onnx_node *node;
    const struct mase_ox_rule *rule;
    uint64_t attributes_read; /* bit i: attribute i was read */
    enum mase_status status;
    int64_t static_batch; /* the file's batch size; 0: open */
    bool batch_matters;   /* the failure depends on the batch size */
    struct mase_err *err;
};
/* Is it a size whose results are only compared with those of the others? */
bool mase_ox_is_any(const struct mase_ox_import *im, int size);

typedef enum mase_status mase_ox_rule_fn(struct mase_ox_import *im);

struct mase_ox_rule {
    const char *domain; /* NULL: ONNX's own; "qonnx" stands for all of QONNX's names */
    const char *name;
    int from, to; /* opsets, inclusive */
    mase_ox_rule_fn *apply;
    enum mase_op op;
    bool moves; /* the rule only moves values of the first input */
};
extern const struct mase_ox_rule mase_ox_rules[]; /* ends with a NULL name */

/* ---- faults (import.c) ---- */

/* Fail with "NODE (OP): ..." at the place of the current node. */
enum mase_status mase_ox_fail(struct mase_ox_import *im, enum mase_status st, const char *fmt, ...)
    MASE_PRINTF(3, 4);
/* Fail if operations have no rule: name each once, with its first node. */
enum mase_status mase_ox_check_operations(struct mase_ox_import *im,
                                          const struct mase_onnx_node *nodes, int count, int opset);
enum mase_status mase_ox_find_opset(struct mase_ox_import *im, const struct mase_onnx_opset *sets,
                                    int count, int *opset);
/* Add the nodes and tensors of a graph to the scope. */
enum mase_status mase_ox_import_nodes(struct mase_ox_import *im, const struct mase_onnx_node *nodes,
                                      int count);
enum mase_status mase_ox_add_tensors(struct mase_ox_import *im, const struct mase_onnx_graph *g);
/* Inline a function, in a scope of its own (import_nested.c). */
enum mase_status mase_ox_inline(struct mase_ox_import *im, const struct mase_onnx_function *f);

/* ---- values (import_values.c) ---- */

/* A value by name, in this scope or an outer one; or NULL. */
struct mase_ox_value *mase_ox_find(const struct mase_ox_import *im, const char *name);

/* Input or output i of the current node; NULL if it is absent. */
struct mase_ox_value *mase_ox_in(struct mase_ox_import *im, int i);
bool mase_ox_has_out(const struct mase_ox_import *im, int i);
/* The node of a value, which is added if there is none yet. */
struct mase_node *mase_ox_node_of(struct mase_ox_import *im, struct mase_ox_value *v);
/* The node of input i; an error if it is absent. */
struct mase_node *mase_ox_x(struct mase_ox_import *im, int i);
/* Set output i to the node. Returns the status of the import. */
enum mase_status mase_ox_out(struct mase_ox_import *im, int i, struct mase_node *n);
struct mase_ox_value *mase_ox_new_value(struct mase_ox_import *im, const char *name);

bool mase_ox_result_is_constant(const struct mase_ox_import *im, const struct mase_ox_result *r);
/* Type and shape of a value, whether it has a node or not. */
const struct mase_tensor *mase_ox_like(struct mase_ox_import *im, const struct mase_ox_value *v);
const struct mase_ox_result *mase_ox_result(struct mase_ox_import *im, const struct mase_node *n);
/* The tensor of a node in the first batch size; an empty tensor after a failure. */
const struct mase_tensor *mase_ox_tensor(struct mase_ox_import *im, const struct mase_node *n);
enum mase_dtype mase_ox_dtype(struct mase_ox_import *im, const struct mase_node *n);
int mase_ox_rank(struct mase_ox_import *im, const struct mase_node *n);
/* Dimension d of n as an argument: a number, or a node that depends on the batch. */
struct mase_arg mase_ox_dim(struct mase_ox_import *im, const struct mase_node *n, int d);
/* Is the dimension equal for every batch size? */
bool mase_ox_dim_is_fixed(struct mase_ox_import *im, const struct mase_node *n, int d);
/* Refuse an operation along the samples of a file with a fixed batch size, which would hold for
 * that size only. */
enum mase_status mase_ox_refuse_samples(struct mase_ox_import *im, const struct mase_node *x,
                                        int axis);
/* An axis, which may count from the end; an error if it is outside of the rank. */
int mase_ox_axis(struct mase_ox_import *im, int64_t axis, int rank);

/* Is the value a tensor of the model, or constant for any batch and input and no parameter? */
bool mase_ox_is_known(struct mase_ox_import *im, struct mase_ox_value *v);
bool mase_ox_is_param(struct mase_ox_import *im, struct mase_ox_value *v);
/* Integers of a constant; NULL after a failure. */
const int64_t *mase_ox_ints(struct mase_ox_import *im, struct mase_ox_value *v, int *count);
/* Integers as arguments, which may depend on the batch. */
const struct mase_arg *mase_ox_sizes(struct mase_ox_import *im, struct mase_ox_value *v,
                                     int *count);
/* The number of a constant. */
bool mase_ox_number(struct mase_ox_import *im, struct mase_ox_value *v, double *out);

/* A number as an integer: the whole part of it, at most 2^62 either way; 0 of none. */
int64_t mase_ox_whole(double v);

/* Input i as an argument: a number where it is one that is known, of this type. */
struct mase_arg mase_ox_number_or_node(struct mase_ox_import *im, int i, enum mase_dtype dtype);

/* A constant. data are copied. */
struct mase_node *mase_ox_constant(struct mase_ox_import *im, const struct mase_tensor *t);
/* A rank 0 constant of this type. */
struct mase_node *mase_ox_scalar(struct mase_ox_import *im, enum mase_dtype dtype, double v);

/* ---- calls (import_calls.c) ---- */

struct mase_node *mase_ox_emit(struct mase_ox_import *im, enum mase_op op,
                               const struct mase_arg *args, int count);
struct mase_node *mase_ox_emit_target(struct mase_ox_import *im, enum mase_node_kind kind,
                                      const char *target, const struct mase_arg *args, int count);
struct mase_node *mase_ox_emit_kw(struct mase_ox_import *im, enum mase_op op,
                                  const struct mase_arg *args, int count, const char *const *keys,
                                  const struct mase_arg *values, int key_count);
/* A call of a layer that has been added. */
struct mase_node *mase_ox_emit_layer(struct mase_ox_import *im, const char *path,
                                     struct mase_node *x);
/* Infer a node and remember it. */
struct mase_node *mase_ox_learn_of(struct mase_ox_import *im, struct mase_node *n);

#define EMIT(im, op, ...)                                     \
    mase_ox_emit(                                             \
        (im), (op), (const struct mase_arg[]){ __VA_ARGS__ }, \
        (int)(sizeof((const struct mase_arg[]){ __VA_ARGS__ }) / sizeof(struct mase_arg)))

/* The first output of the node under way is that of a call. */
#define GIVE(im, op, ...) mase_ox_out((im), 0, EMIT((im), (op), __VA_ARGS__))

/* Arguments of a call; a node that is absent is None. */
#define ARG_NODE(n)  mase_ox_arg_node(n)
#define ARG_INT(i)   mase_arg_int(i)
#define ARG_FLOAT(f) mase_arg_float(f)
#define ARG_BOOL(b)  mase_arg_bool(b)
#define ARG_TEXT(s)  mase_arg_text(s)
#define ARG_NONE     mase_arg_none()
static inline struct mase_arg mase_ox_arg_node(struct mase_node *n)
{
    return n ? mase_arg_node(n) : mase_arg_none();
}
struct mase_arg mase_ox_list(struct mase_ox_import *im, const struct mase_arg *items, int count);
struct mase_arg mase_ox_int_list(struct mase_ox_import *im, const int64_t *v, int count);
struct mase_arg mase_ox_type(enum mase_dtype dtype); /* torch.float32 */

/* What many rules need. */
struct mase_node *mase_ox_cast(struct mase_ox_import *im, struct mase_node *x,
                               enum mase_dtype dtype);
struct mase_node *mase_ox_item(struct mase_ox_import *im, struct mase_node *x,
                               int i); /* of a tuple */
struct mase_node *mase_ox_reshape(struct mase_ox_import *im, struct mase_node *x,
                                  const struct mase_arg *dims, int count);
struct mase_node *mase_ox_permute(struct mase_ox_import *im, struct mase_node *x, const int *order,
                                  int rank);
/* Elements first..last by step of a dimension; step may be negative. */
struct mase_node *mase_ox_slice(struct mase_ox_import *im, struct mase_node *x, int axis,
                                struct mase_arg start, struct mase_arg stop, int64_t step);

/* Zeros, or as mode says, around x. */
struct mase_node *mase_ox_pad(struct mase_ox_import *im, struct mase_node *x, const int64_t *before,
                              const int64_t *after, const char *mode, double value);

/* ---- rounded values (import_qparams.c) ---- */

/* The values of a tensor that is known, whatever its type; else NULL. */
const struct mase_tensor *mase_ox_known_tensor(struct mase_ox_import *im, struct mase_ox_value *v);
const double *mase_ox_doubles(struct mase_ox_import *im, const struct mase_tensor *t);
const double *mase_ox_repeated(struct mase_ox_import *im, double value, int64_t count);
/* A value that has a base, rounded. */
struct mase_node *mase_ox_rounded(struct mase_ox_import *im, struct mase_ox_value *v);
/* The codes of x, and what codes stand for, as floats. */
struct mase_node *mase_ox_codes_of(struct mase_ox_import *im, struct mase_node *x,
                                   const struct mase_ox_qparams *q);
struct mase_node *mase_ox_values_of(struct mase_ox_import *im, struct mase_node *codes,
                                    const struct mase_ox_qparams *q);
/* What number formats call it; NULL: none has it. */
const char *mase_ox_direction(enum mase_ox_rounding rounding);
struct mase_node *mase_ox_round(struct mase_ox_import *im, struct mase_node *x,
                                enum mase_ox_rounding rounding);
bool mase_ox_is_power(double x); /* of two */
/* Does the format int say all of it? */
bool mase_ox_qparams_are_format(const struct mase_ox_qparams *q);
const struct mase_format *mase_ox_format(struct mase_ox_import *im, const struct mase_ox_qparams *q,
                                         int axis);
/* Is zero rounded to zero? */
bool mase_ox_qparams_have_zero(const struct mase_ox_qparams *q);
/* The value before it is rounded, and how a layer must round it; NULL: not at all. */
struct mase_node *mase_ox_data_in(struct mase_ox_import *im, struct mase_ox_value *v,
                                  const struct mase_ox_qparams **q);
/* As mase_ox_data_in, of a value that may be a parameter of a layer. */
struct mase_ox_value *mase_ox_weight(struct mase_ox_import *im, struct mase_ox_value *v,
                                     const struct mase_ox_qparams **q);
/* max(x, 0), which may round x itself. */
struct mase_node *mase_ox_relu(struct mase_ox_import *im, struct mase_ox_value *v);
void mase_ox_quantise_layer(struct mase_ox_import *im, struct mase_module *m,
                            const struct mase_ox_layer_qparams *q);

/* ---- integers of the file (import_quantised.c) ---- */

/* The type of a value's elements, ONNX's. */
int mase_ox_value_type(struct mase_ox_import *im, const struct mase_ox_value *v);
/* Scale and zero point at these inputs, of values of this rank; type: of codes without a zero
 * point. NULL after a failure. */
struct mase_ox_qparams *mase_ox_read_qparams(struct mase_ox_import *im, int scale_at, int zero_at,
                                             int type, int64_t axis, int rank);
/* The values of the codes x, by scale and zero point at these inputs. */
struct mase_ox_value mase_ox_dequantise(struct mase_ox_import *im, struct mase_ox_value *x,
                                        int scale_at, int zero_at, int64_t axis);
/* Set output i to this value. */
enum mase_status mase_ox_set_value(struct mase_ox_import *im, int i, struct mase_ox_value v);
/* The rule only moves values of its first input: if these are codes, move the values before they
 * are rounded, so that a layer that uses them can round. False: not codes. */
bool mase_ox_move_codes(struct mase_ox_import *im);
/* Clip codes by narrowing their bounds; false: the input is not codes. */
bool mase_ox_clip_codes(struct mase_ox_import *im);
/* Remember the bounds of a Clip, whose result may be quantised next. */
void mase_ox_remember_clip(struct mase_ox_import *im, double lo, double hi);

/* ---- products of values (rules_dense.c) ---- */

/* a w + b; a layer if w is a tensor of the model; b may be NULL. */
struct mase_node *mase_ox_matmul(struct mase_ox_import *im, struct mase_ox_value *a,
                                 struct mase_ox_value *w, struct mase_ox_value *b);
struct mase_node *mase_ox_gemm(struct mase_ox_import *im, struct mase_ox_value *x,
                               struct mase_ox_value *w, struct mase_ox_value *c, double alpha,
                               double beta, bool ta, bool tb);
/* The convolution that the attributes of the current node describe. */
struct mase_node *mase_ox_conv(struct mase_ox_import *im, struct mase_ox_value *x,
                               struct mase_ox_value *w, struct mase_ox_value *b);

/* ---- windows (rules_dense.c) ---- */

/* Window of a convolution or pool. */
struct mase_ox_window {
    int n; /* spatial dimensions */
    int64_t kernel[3], stride[3], dilation[3], before[3], after[3];
    bool is_same, is_upper; /* auto_pad */
    bool transposed;
};
/* Read it from the current node; kernel: the shape of the weight, or NULL. False after a failure.
 */
bool mase_ox_read_window(struct mase_ox_import *im, struct mase_ox_window *w, struct mase_node *x,
                         const int64_t *kernel);
bool mase_ox_is_symmetric(const struct mase_ox_window *w);
/* Pad x explicitly, and clear the pads. */
struct mase_node *mase_ox_pad_window(struct mase_ox_import *im, struct mase_ox_window *w,
                                     struct mase_node *x, double value);

/* ---- layers (import_layers.c) ---- */

/* A new dotted path of letters, digits and _ that resembles name. */
const char *mase_ox_free_path(struct mase_ox_import *im, const char *name);
/* A path for a layer, from the names of its parameters, or else of the node. */
const char *mase_ox_layer_path(struct mase_ox_import *im, const struct mase_ox_value *const *params,
                               const char *const *names, int count);
/* Can v be a parameter of a layer: a float32 tensor of the model that no other layer has? */
bool mase_ox_fits_layer(struct mase_ox_import *im, struct mase_ox_value *v, int rank);
/* Let the parameter of a layer take its values from v. */
void mase_ox_fill(struct mase_ox_import *im, const char *path, const char *name,
                  struct mase_ox_value *v, bool transposed);
/* Add a layer with these constructor arguments. */
struct mase_module *mase_ox_add_layer(struct mase_ox_import *im, const char *path, enum mase_op op,
                                      const struct mase_arg *args, int count,
                                      const char *const *keys, const struct mase_arg *values,
                                      int key_count);

/* ---- attributes (import_attrs.c): one that a rule does not read is an error ---- */

const struct mase_onnx_attribute *mase_ox_attr(struct mase_ox_import *im, const char *name);
bool mase_ox_has_attr(const struct mase_ox_import *im,
                      const char *name); /* does not count as reading it */
int64_t mase_ox_attr_int(struct mase_ox_import *im, const char *name, int64_t dflt);
double mase_ox_attr_float(struct mase_ox_import *im, const char *name, double dflt);
const char *mase_ox_attr_text(struct mase_ox_import *im, const char *name, const char *dflt);
/* count: number of elements, 0 when absent. */
const int64_t *mase_ox_attr_ints(struct mase_ox_import *im, const char *name, int *count);
const float *mase_ox_attr_floats(struct mase_ox_import *im, const char *name, int *count);
/* The shortest decimal that is f in float32, such as 1e-05: attributes are float32, their authors
 * wrote decimals. */
double mase_ox_as_written(float f);
enum mase_status mase_ox_attrs_done(struct mase_ox_import *im);

#define OX_RULE(name)                  enum mase_status mase_ox_rule_##name(struct mase_ox_import *im)
#define ONNX(name, from, to, rule, op) OX_RULE(rule);
#define OTHER(domain, name, rule, op)  OX_RULE(rule);
#include "onnx/rules.def"

/* Element i as an integer; larger ones and NaN are 2^62 or less. */
static inline int64_t mase_ox_element(const struct mase_tensor *t, int64_t i)
{
    if (t->dtype == MASE_I64)
        return ((const int64_t *)t->data)[i];
    const double v = mase_tensor_get(t, i);
    if (v >= -0x1p62 && v <= 0x1p62)
        return (int64_t)v;
    return v > 0 ? INT64_C(1) << 62 : -(INT64_C(1) << 62);
}

#endif /* MASE_ONNX_IMPORT_PARTS_H */
