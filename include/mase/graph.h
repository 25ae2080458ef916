/*
 * graph.h - a network as torch.fx sees it: an ordered list of calls, and the modules they call.
 *
 * A graph owns everything in it (nodes, names, modules, metadata) through one arena and frees it in
 * one call. Weights lie beside it. Invariants, which mase_graph_verify checks and every function
 * here keeps:
 *
 *   - nodes stand in execution order; the output node is last and there is exactly one;
 *   - names are unique, made by torch.fx's rules (names.c);
 *   - users is the ordered set of nodes whose arguments mention a node, and agrees with them;
 *   - the path of a call_module names a module.
 *
 * Walking, changing, keeping the original:
 *
 *     for (struct mase_node *n = g->first; n; n = n->next)
 *         if (n->op == MASE_OP_relu && n->kind == MASE_CALL_MODULE)
 *             ...
 *     struct mase_graph *before = mase_graph_clone(g);      // shares g's weights; free before g
 *     mase_graph_replace_uses(g, n, n->inputs[0], NULL);
 *     mase_graph_erase(g, n);
 */
#ifndef MASE_GRAPH_H
#define MASE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/err.h>
#include <mase/format.h>
#include <mase/ops.h>
#include <mase/str.h>
#include <mase/tensor.h>

MASE_API_BEGIN

struct mase_graph;
struct mase_meta;
struct mase_node;

enum mase_node_kind {
    MASE_PLACEHOLDER,
    MASE_GET_ATTR,
    MASE_CALL_FUNCTION,
    MASE_CALL_METHOD,
    MASE_CALL_MODULE,
    MASE_OUTPUT,
    MASE_NODE_KIND_COUNT
};
extern const char *const mase_node_kind_names[]; /* "placeholder" ... in the order of reports */

/* ---- arguments ---- */

/* The arguments and the result of a call: Python values, nodes, tensors. */
enum mase_arg_kind {
    MASE_ARG_NONE,
    MASE_ARG_BOOL,
    MASE_ARG_INT,
    MASE_ARG_FLOAT,
    MASE_ARG_TEXT, /* a Python string */
    MASE_ARG_ATOM, /* printed bare: torch.float32, Ellipsis */
    MASE_ARG_NODE,
    MASE_ARG_TENSOR, /* only in results: a node's arguments hold nodes */
    MASE_ARG_TUPLE,
    MASE_ARG_LIST,
    MASE_ARG_DICT,
    MASE_ARG_SLICE, /* items[0..3): start, stop, step */
};

struct mase_arg {
    enum mase_arg_kind kind;
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;
        struct mase_node *node;
        struct mase_tensor *tensor;
        struct {
            struct mase_arg *items; /* tuple, list, dict, slice */
            const char **keys;      /* dict */
            int count;
        };
    };
};

static inline struct mase_arg mase_arg_none(void)
{
    return (struct mase_arg){ .kind = MASE_ARG_NONE };
}
static inline struct mase_arg mase_arg_bool(bool b)
{
    return (struct mase_arg){ .kind = MASE_ARG_BOOL, .b = b };
}
static inline struct mase_arg mase_arg_int(int64_t i)
{
    return (struct mase_arg){ .kind = MASE_ARG_INT, .i = i };
}
static inline struct mase_arg mase_arg_float(double f)
{
    return (struct mase_arg){ .kind = MASE_ARG_FLOAT, .f = f };
}
static inline struct mase_arg mase_arg_text(const char *s)
{
    return (struct mase_arg){ .kind = MASE_ARG_TEXT, .s = s };
}
static inline struct mase_arg mase_arg_node(struct mase_node *n)
{
    return (struct mase_arg){ .kind = MASE_ARG_NODE, .node = n };
}
/* A tuple or list of count items, copied into the arena. */
struct mase_arg mase_arg_seq(struct mase_arena *a, enum mase_arg_kind kind,
                             const struct mase_arg *items, int count);
/* A deep copy; texts are copied, nodes and tensors are shared. */
struct mase_arg mase_arg_copy(struct mase_arena *a, const struct mase_arg *arg);
bool mase_arg_equal(const struct mase_arg *a, const struct mase_arg *b); /* nodes by name */
bool mase_arg_truthy(const struct mase_arg *a);                          /* as Python's bool() */
/* As torch.fx prints ("%x", strings bare), or as .mg does (strings quoted: reads back). */
void mase_arg_print(struct mase_str *out, const struct mase_arg *arg, bool quote_strings);

/* ---- quantisation ---- */

/* The configuration's operand groups, in the order in which they are written. */
enum mase_operand { MASE_DATA_IN, MASE_WEIGHT, MASE_BIAS, MASE_DATA_OUT, MASE_OPERAND_COUNT };
extern const char *const mase_operand_names[]; /* "data_in", "weight", "bias", "data_out" */

/* How a layer or call is quantised. A NULL format: the operand is not rounded. Operands may have
 * formats of different kinds. */
struct mase_quant {
    enum mase_quant_kind kind; /* names the class: LinearInteger */
    bool bypass;               /* the class is the quantised one, but it computes in float */
    const struct mase_format *operand[MASE_OPERAND_COUNT];
};

/* A mark of a signature that stands for a tensor: which operand's format the tensor takes, its sign
 * and its role. */
struct mase_mark {
    char mark; /* x u p y s w b */
    enum mase_operand operand;
    enum mase_sign sign;
    enum mase_role role;
};
const struct mase_mark *mase_mark_find(char mark); /* NULL: never quantised */
bool mase_mark_is_data(char mark); /* metadata names these operands data_in_0, ... */

/* How a value is rounded before a call computes with it, or after. */
struct mase_rounding {
    const struct mase_format *format; /* NULL: not at all */
    enum mase_sign sign;
    enum mase_role role;
};
/* The rounding of an operand, found by its mark; as parameter i of the call's signature; by its
 * name in metadata, data_in_1, weight, bias; and that of the result. Nothing else decides which
 * format an operand has. */
struct mase_rounding mase_mark_rounding(const struct mase_node *n, char mark);
char mase_named_mark(const struct mase_node *n, const char *name); /* 0: no such operand */
struct mase_rounding mase_operand_rounding(const struct mase_node *n, int i);
/* Does the operation round its data itself, at each step of a sequence? */
bool mase_op_is_recurrent(enum mase_op op);
/* Is it a transposed convolution, whose weight has the input's channels as first dimension? */
bool mase_op_is_transposed(enum mase_op op);
/* Check that a recurrent operation supports these formats. The message does not name the node. */
enum mase_status mase_recurrent_check(enum mase_op op, const struct mase_quant *q,
                                      struct mase_err *err) MASE_MUST_CHECK;
struct mase_rounding mase_named_rounding(const struct mase_node *n, const char *name);
struct mase_rounding mase_result_rounding(const struct mase_node *n);

/* Learned number j of the format of an operand (format.h), a parameter of the graph such as
 * LAYER.weight_scale; NULL: the graph has none yet. */
struct mase_param *mase_learned_param(const struct mase_node *n, enum mase_operand o, int j);
/* Add the learned parameters of every format, without values, which training sets first; and remove
 * those of formats that the graph no longer has. Shapes of data come from the metadata. */
enum mase_status mase_graph_learn(struct mase_graph *g, struct mase_err *err) MASE_MUST_CHECK;
/* Add the learned parameters that `from` has, without values, before its weights are loaded. */
void mase_graph_take_learned(struct mase_graph *g, const struct mase_graph *from);
/* The rounding with its learned format replaced by a format `int` that has the learned numbers;
 * unchanged when the format does not learn or has no values yet. */
struct mase_rounding mase_rounding_now(const struct mase_node *n, enum mase_operand o,
                                       struct mase_rounding how);
/* An error when learned numbers of a format have no values yet. */
enum mase_status mase_graph_need_learned(const struct mase_graph *g,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* ---- modules ---- */

enum mase_init {
    MASE_INIT_ZEROS,
    MASE_INIT_ONES,
    MASE_INIT_UNIFORM,
    MASE_INIT_NORMAL,
    MASE_INIT_UNSET,  /* NaN until training sets a first value: a learned number of a format */
    MASE_INIT_VALUES, /* the values in `values` */
};

/* Who may change the values of a parameter or buffer. */
enum mase_param_kind {
    MASE_PARAM_TRAINED,  /* a parameter: training changes it */
    MASE_PARAM_FROZEN,   /* a parameter with requires_grad False: saved and counted, not trained */
    MASE_PARAM_BUFFER,   /* saved, without a gradient: running_mean */
    MASE_PARAM_FIXED,    /* a buffer whose values the tracer used: a file must hold the same ones */
    MASE_PARAM_CONSTANT, /* a buffer that is in no state dict: the code has its values */
};

/* A parameter or buffer of a module. */
struct mase_param {
    const char *name; /* "weight" */
    enum mase_param_kind kind;
    const char *tied; /* full name of the parameter that this is another name of, or NULL (tie.c) */
    enum mase_init init;
    float scale;               /* uniform: the bound; normal: the standard deviation */
    struct mase_tensor tensor; /* data: in the graph's weight block, NULL before mase_graph_alloc */
    float centre;              /* uniform, normal: the mean */
    const double *values;      /* values: one per element, in the graph's arena */
    int64_t zero_row;          /* this row starts as zeros, counted from 1; 0: none */
    int after;                 /* attribute of the graph: number of modules registered before it */
};

/* A leaf module: what call_module calls. Containers exist only as prefixes of paths. */
struct mase_module {
    const char *path;          /* "seq_blocks.2" */
    enum mase_op op;           /* its row: class name, constructor signature */
    struct mase_arg *attrs;    /* one per constructor parameter, in the row's order */
    struct mase_param *params; /* in PyTorch's order: parameters, then buffers */
    int param_count;
    struct mase_quant *quant; /* NULL: float */
    struct mase_module *next; /* in order of registration */
};

/* The value of a constructor parameter; a bug if there is none of this name. */
const struct mase_arg *mase_module_attr(const struct mase_module *m, const char *name);
struct mase_param *mase_module_param(const struct mase_module *m, const char *name); /* or NULL */
int64_t mase_module_param_count(const struct mase_module *m); /* values; 0 for NULL */
/* The mark of a parameter as an operand: weight_ih_l0 of an LSTM has that of "weight". 0: none. */
char mase_param_mark(const struct mase_module *m, const struct mase_param *p);
/* "Linear", "LinearInteger". */
void mase_module_class(struct mase_str *out, const struct mase_module *m);
/* "Linear(in_features=16, out_features=5, bias=True)", as PyTorch prints it. */
void mase_module_repr(struct mase_str *out, const struct mase_module *m);

/* ---- nodes ---- */

/* The mode of a call that differs in training (dropout, batch norm): that of the network, or a
 * fixed one, after module.eval() in forward. A function has an argument for its mode, in which the
 * atom MASE_FOLLOWS_MODE stands for self.training. */
enum mase_mode { MASE_MODE_FOLLOWS, MASE_MODE_EVAL, MASE_MODE_TRAIN, MASE_MODE_COUNT };
extern const char *const mase_mode_names[]; /* "follows", "eval", "train" */
#define MASE_FOLLOWS_MODE "self.training"

struct mase_node {
    enum mase_node_kind kind;
    enum mase_op op;          /* the row of ops.def that target resolves to */
    const char *name;         /* unique in the graph, interned */
    const char *target;       /* "seq_blocks.2", "torch.flatten", "view", "x" */
    const char *annotation;   /* "torch.Tensor", or NULL */
    struct mase_arg args;     /* a tuple */
    struct mase_arg kwargs;   /* a dict */
    struct mase_quant *quant; /* call_function only; a module carries its own */
    bool no_grad;             /* called under torch.no_grad(): no gradient passes its result */
    enum mase_mode mode;      /* call_module only */

    struct mase_node **inputs; /* nodes mentioned in args, then kwargs: each once, in order */
    int input_count;
    struct mase_node **users; /* each once, in the order in which they became users */
    int user_count, user_cap;

    struct mase_node *prev, *next;
    struct mase_graph *graph;
    struct mase_meta *meta; /* meta.h; NULL before init_metadata */
    struct mase_loc at;     /* place in the source; line 0: unknown */
};

/* The module that a call_module calls, else NULL. It is looked up in the graph at each call. */
struct mase_module *mase_node_module(const struct mase_node *n);
/* The quantisation of a node: its module's or its own; NULL: float. */
struct mase_quant *mase_node_quant(const struct mase_node *n);
/* The type of a node in reports: that of the module, function or method, or of the kind of node. */
enum mase_op_type mase_node_op_type(const struct mase_node *n);
/* The type as the summary names it: class name, function name, method name, or target. */
void mase_node_type_name(struct mase_str *out, const struct mase_node *n);
/* The printed target: a quantised function has the original's long name. */
void mase_node_target(struct mase_str *out, const struct mase_node *n);
/* The operand that a call writes into, relu_(x) or x[i] = y, if it is a node; else NULL. */
struct mase_node *mase_node_written(const struct mase_node *n);
/* The node in whose memory the result of n may lie, through views and writes in place: n itself if
 * it allocates its result. *whole: only writes lie between them, so the result of n is the whole
 * tensor. */
const struct mase_node *mase_node_memory(const struct mase_node *n, bool *whole);
/* Set the place of a node; the path is copied into the graph. */
void mase_node_set_place(struct mase_node *n, struct mase_loc at);
/* Pass on a status; an error without a place gets that of the node. err may be NULL. */
enum mase_status mase_node_place(const struct mase_node *n, enum mase_status st,
                                 struct mase_err *err);

/* ---- the graph ---- */

struct mase_graph {
    struct mase_arena arena;
    struct mase_intern intern;
    const char *name; /* the model's, "jsc-tiny"; may be NULL */
    struct mase_node *first, *last;
    int node_count;
    struct mase_module *modules, *modules_last; /* in order of registration */
    int module_count;
    struct mase_param *attrs; /* what get_attr reads: parameters and constants by full path */
    int attr_count, attr_cap;

    struct mase_graph *training; /* the graph to train, when forward depends on self.training:
                                    owned, with equal parameters. NULL: this graph */
    const char *untrainable;     /* why it cannot be trained, or NULL */
    int64_t batch;               /* the only batch size that the network supports; 0: any */

    const struct mase_shape
        *more; /* shapes of samples of the second and further placeholders, if known */
    int more_count;

    struct mase_weights *weights; /* NULL before mase_graph_alloc; private, see weights.c */
    bool weights_borrowed;        /* borrowed from the graph that this is a clone of */

    unsigned props;                  /* MASE_PROP_*: which metadata is valid (pass.h) */
    uint64_t edits;                  /* counts every change of nodes, modules or formats */
    uint64_t format_edits;           /* those of them that changed formats alone: shapes stay */
    uint64_t notes;                  /* counts how often metadata was opened for writing */
    struct mase_meta *meta;          /* of the graph as a whole */
    struct mase_names *names;        /* private: taken names */
    struct mase_graph_types **types; /* private: shapes that were found, of a const graph too */
    struct mase_map module_map, attr_map;
};

struct mase_graph *mase_graph_new(const char *name);
void mase_graph_free(struct mase_graph *g);
/* A deep copy. It borrows g's weights until mase_graph_own_weights: free it before g. */
struct mase_graph *mase_graph_clone(const struct mase_graph *g);

/* Register a leaf module. attrs: positional values, then keyword ones, as one would call the
 * constructor; missing ones take the defaults. Checks them against the signature. */
enum mase_status mase_graph_add_module(struct mase_graph *g, struct mase_module **out,
                                       const char *path, enum mase_op op,
                                       const struct mase_arg *args, const struct mase_arg *kwargs,
                                       struct mase_err *err) MASE_MUST_CHECK;
struct mase_module *mase_graph_module(const struct mase_graph *g, const char *path); /* or NULL */
/* Construct m anew with another attribute. Parameters whose shape does not change keep their
 * values; new ones have no memory before mase_graph_alloc. */
enum mase_status mase_module_set_attr(struct mase_graph *g, struct mase_module *m, const char *name,
                                      const struct mase_arg *value,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Register an attribute for get_attr to read, initialised with zeros unless init is set. The
 * pointer is valid until the next attribute is added. A bug if the path is taken. */
struct mase_param *mase_graph_add_attr(struct mase_graph *g, const char *path,
                                       enum mase_dtype dtype, const struct mase_shape *shape,
                                       enum mase_param_kind kind);
/* Remove an attribute; a bug if there is none of this path. */
void mase_graph_drop_attr(struct mase_graph *g, const char *path);
/* An attribute or a module's parameter by its full path ("fc.weight"); or NULL. */
struct mase_param *mase_graph_attr(const struct mase_graph *g, const char *path);

/* Make the parameter `path` another name of the parameter `to`: one memory, one gradient, one entry
 * of the optimiser. The first of the names in the state dict names the parameter, as in PyTorch;
 * the others are tied to it. Both must agree in type and shape. */
enum mase_status mase_graph_tie(struct mase_graph *g, const char *path, const char *to,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The parameter that p is a name of: p itself if it is not tied. */
struct mase_param *mase_param_root(const struct mase_graph *g, const struct mase_param *p);

/* Append a node, or put it before `at`; NULL at: before the output node if there is one, else at
 * the end. The name follows from target by torch.fx's rules, op from ops.def: MASE_OP_unknown when
 * no row knows the target. args (a tuple) and kwargs (a dict) are copied; NULL: empty. A bug if a
 * call_module's target is not registered. */
struct mase_node *mase_graph_insert(struct mase_graph *g, struct mase_node *at,
                                    enum mase_node_kind kind, const char *target,
                                    const struct mase_arg *args, const struct mase_arg *kwargs);
/* mase_graph_insert with a name for the node, made unique if taken. */
struct mase_node *mase_graph_insert_named(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *name,
                                          const char *target, const struct mase_arg *args,
                                          const struct mase_arg *kwargs);
/* Insert a call of an operation as the first function that its row names, or else the first method.
 * A bug for an operation that only modules call. */
struct mase_node *mase_graph_insert_op(struct mase_graph *g, struct mase_node *at, enum mase_op op,
                                       const struct mase_arg *args, const struct mase_arg *kwargs);
struct mase_node *mase_graph_insert_after(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *target,
                                          const struct mase_arg *args,
                                          const struct mase_arg *kwargs);
/* Change a node's arguments; the users of its old and new inputs are updated. */
void mase_node_set_args(struct mase_node *n, const struct mase_arg *args,
                        const struct mase_arg *kwargs);
/* Redirect all uses of `from` to `to`, except those by the node `keep` (may be NULL). Returns the
 * number of nodes changed. A bug if `to` itself uses `from` and is not `keep`. */
int mase_graph_replace_uses(struct mase_graph *g, struct mase_node *from, struct mase_node *to,
                            const struct mase_node *keep);
/* Remove a node without users; a bug if it has some. Its module stays until mase_graph_sweep. */
void mase_graph_erase(struct mase_graph *g, struct mase_node *n);
/* Drop modules that no node calls. Returns how many. */
int mase_graph_sweep(struct mase_graph *g);
/* Drop the module `path` if no node calls it. */
void mase_graph_sweep_module(struct mase_graph *g, const char *path);
/* Give a module, a function call or the module that a node calls number formats; NULL makes it
 * float again. q is copied. */
void mase_module_set_quant(struct mase_graph *g, struct mase_module *m, const struct mase_quant *q);
void mase_node_set_quant(struct mase_node *n, const struct mase_quant *q);

/* Set the shapes of samples of the second and further placeholders, which are copied. */
void mase_graph_set_more(struct mase_graph *g, const struct mase_shape *more, int count);
/* The shape of a sample of placeholder i, counted from 0: `first` where it is not known. */
const struct mase_shape *mase_graph_sample(const struct mase_graph *g, int i,
                                           const struct mase_shape *first);

struct mase_node *mase_graph_find(const struct mase_graph *g, const char *name); /* or NULL */
struct mase_node *mase_graph_output(const struct mase_graph *g);                 /* or NULL */

/* What a walk does next. */
enum mase_walk { MASE_WALK_ON, MASE_WALK_PRUNE, MASE_WALK_STOP };
typedef enum mase_walk mase_visit_fn(struct mase_node *n, void *data);
/* Visit start and the nodes that it reaches along users (forward) or inputs (backward), each once,
 * nearest first. PRUNE does not go on from that node. */
void mase_walk_forward(struct mase_node *start, mase_visit_fn *visit, void *data);
void mase_walk_backward(struct mase_node *start, mase_visit_fn *visit, void *data);

/* ---- training ---- */

/* Make `training` the graph that is trained in place of g. g owns it from now on, also on failure.
 * Parameters and buffers of both must agree in name, order, type, shape and whether they are
 * trained. */
enum mase_status mase_graph_set_training(struct mase_graph *g, struct mase_graph *training,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Make every attempt to train g fail with this reason. */
void mase_graph_refuse_training(struct mase_graph *g, const char *why);
/* The graph to train: g, or g->training, which then shares g's weights until either is freed. An
 * error when g cannot be trained. */
enum mase_status mase_graph_to_train(struct mase_graph **out, struct mase_graph *g,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- weights ---- */

static inline bool mase_param_is_trained(const struct mase_param *p)
{
    return p->kind == MASE_PARAM_TRAINED;
}
static inline bool mase_param_is_buffer(const struct mase_param *p)
{
    return p->kind >= MASE_PARAM_BUFFER;
}
/* The number of values of all parameters, of modules and attrs; and that of the frozen ones. */
int64_t mase_graph_param_count(const struct mase_graph *g);
int64_t mase_graph_frozen_count(const struct mase_graph *g);
/* Freeze the parameters of this name, of the module of this name, or whose names match it as a file
 * name pattern: "layer[12].*". Returns their number. */
int mase_graph_freeze(struct mase_graph *g, const char *pattern);
/* MASE_ELIMIT when parameters and buffers need more memory than is allowed (MASE_MEMORY, else the
 * machine's memory). Call it for a network from a file before mase_graph_alloc. */
enum mase_status mase_graph_check_size(const struct mase_graph *g,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Allocate every parameter that has no memory (zeroed, each tensor 64-byte aligned); the others do
 * not move. */
void mase_graph_alloc(struct mase_graph *g);
/* Initialise weights by PyTorch's defaults, each tensor from a random stream of its own, named by
 * its full name. */
void mase_graph_init_weights(struct mase_graph *g, uint64_t seed);
/* Initialise only parameters that have no memory yet, as after an edit. MASE_ELIMIT: too much
 * memory. */
enum mase_status mase_graph_init_missing(struct mase_graph *g, uint64_t seed,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Initialise only the constants, which no file of weights has, before one is loaded. */
void mase_graph_init_constants(struct mase_graph *g);
/* The number of weights that are NaN or infinite. where (may be NULL) gets the names of the first
 * tensors that hold such values: "fc1.weight (2), fc1.bias (1)". */
int64_t mase_graph_not_finite(const struct mase_graph *g, struct mase_str *where);
/* Copy borrowed weights, so that g owns them; parameters without data stay without. Does nothing if
 * g owns its weights. */
void mase_graph_own_weights(struct mase_graph *g);
/* Move the weights that `from` owns to g, a clone of it; g also borrows what `from` borrowed.
 * `from` keeps using the weights as a borrower, so free it first. */
void mase_graph_take_weights(struct mase_graph *g, struct mase_graph *from);
/* Called for every name of a parameter or buffer in state-dict order; full is
 * "seq_blocks.0.weight", valid during the call. Return false to stop. */
typedef bool mase_param_fn(const char *full, struct mase_param *p, void *data);
void mase_graph_each_param(const struct mase_graph *g, mase_param_fn *fn, void *data);

/* ---- checks ---- */

/* Append one line per broken invariant to out; returns their number. */
int mase_graph_verify(const struct mase_graph *g, struct mase_str *out);
/* MASE_EUNSUPPORTED when a call writes in place and another value in the same memory is read
 * afterwards: PyTorch changes that value too, a graph does not. Everything that runs a graph calls
 * this first. */
enum mase_status mase_graph_check_writes(const struct mase_graph *g,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Same nodes, arguments, modules, attributes and formats, in the same order; weights do not count.
 * On a difference, why (may be NULL) gets a sentence. */
bool mase_graph_equal(const struct mase_graph *a, const struct mase_graph *b, struct mase_str *why);
/* Are they equal but for names of the graphs, formats, initial values and annotations? Values of
 * constants count. */
bool mase_graph_same_network(const struct mase_graph *a, const struct mase_graph *b,
                             struct mase_str *why);
/* Are they the same network (above), with equal formats and equal frozen parameters? */
bool mase_graph_same_formats(const struct mase_graph *a, const struct mase_graph *b,
                             struct mase_str *why);
/* Does any module or call have number formats? */
bool mase_graph_is_quantised(const struct mase_graph *g);
/* Remove all number formats. Learned numbers stay among the parameters. */
void mase_graph_drop_formats(struct mase_graph *g);

/* ---- text ---- */

void mase_graph_print(struct mase_str *out, const struct mase_graph *g); /* str(graph) */
void mase_node_print(struct mase_str *out,
                     const struct mase_node *n); /* one line of it, not indented */
void mase_graph_print_mg(struct mase_str *out, const struct mase_graph *g);
/* Print a class for PyTorch; an error for quantised layers and calls, which PyTorch does not have.
 */
enum mase_status mase_graph_print_py(struct mase_str *out, const struct mase_graph *g,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_graph_parse_mg(struct mase_graph **out, const char *text, size_t size,
                                     const char *path, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_graph_read_mg(struct mase_graph **out, const char *path,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Add one statement of .mg to g; a node goes before the node `before`, NULL: before the output.
 * *added: the node, or NULL when the statement adds none. A failure may leave parts of the
 * statement in g: try it on a clone. */
enum mase_status mase_graph_add_mg(struct mase_graph *g, struct mase_node **added,
                                   struct mase_node *before, const char *statement,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Parse one value of .mg, "(%x, 2)", allocated in a. Check that n can take these arguments; and
 * that its inputs stand before it. */
enum mase_status mase_graph_parse_arg(struct mase_arg *arg, struct mase_arena *a,
                                      struct mase_graph *g, const char *text,
                                      struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_node_check_args(const struct mase_node *n, const struct mase_arg *args,
                                      const struct mase_arg *kwargs,
                                      struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_node_check_order(const struct mase_node *n,
                                       struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_GRAPH_H */
