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

/* What a call is given, and what running it gives: Python values, nodes, tensors. */
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

/* How a layer or call is quantised. Operands that are not have no format; they may differ in
 * kind. */
struct mase_quant {
    enum mase_quant_kind kind; /* names the class: LinearInteger */
    bool bypass;               /* of the quantised class, but computing in float */
    const struct mase_format *operand[MASE_OPERAND_COUNT];
};

/* The marks of signatures that are tensors: whose format they take, and how. */
struct mase_mark {
    char mark; /* x u p y s w b */
    enum mase_operand operand;
    enum mase_sign sign;
    enum mase_role role;
};
const struct mase_mark *mase_mark_find(char mark); /* NULL: never quantised */
bool mase_mark_is_data(char mark);                 /* what metadata calls data_in_0, ... */

/* How a value is rounded before a call computes with it, or after. */
struct mase_rounding {
    const struct mase_format *format; /* NULL: not at all */
    enum mase_sign sign;
    enum mase_role role;
};
/* The one answer to "which format has this operand": by its mark; as parameter i of the call's
 * signature; by the name that metadata has, data_in_1, weight, bias; and for the result. */
struct mase_rounding mase_mark_rounding(const struct mase_node *n, char mark);
char mase_named_mark(const struct mase_node *n, const char *name); /* 0: it has none */
struct mase_rounding mase_operand_rounding(const struct mase_node *n, int i);
/* Does it round its data itself, at each step of a sequence? */
bool mase_op_is_recurrent(enum mase_op op);
/* A transposed convolution: the first dimension of its weight is the input's channels. */
bool mase_op_is_transposed(enum mase_op op);
/* Can it have these formats? The message does not say which node it is of. */
enum mase_status mase_recurrent_check(enum mase_op op, const struct mase_quant *q,
                                      struct mase_err *err) MASE_MUST_CHECK;
struct mase_rounding mase_named_rounding(const struct mase_node *n, const char *name);
struct mase_rounding mase_result_rounding(const struct mase_node *n);

/* What training learns of the format of an operand (format.h): number j of it, a parameter of the
 * graph, LAYER.weight_scale; or NULL while there is none. */
struct mase_param *mase_learned_param(const struct mase_node *n, enum mase_operand o, int j);
/* Give every format that learns its parameters, which have no values before training starts them,
 * and drop those of formats that are gone. Shapes of data are those of the metadata. */
enum mase_status mase_graph_learn(struct mase_graph *g, struct mase_err *err) MASE_MUST_CHECK;
/* Those of another graph of the same network, without values: before its weights are loaded. */
void mase_graph_take_learned(struct mase_graph *g, const struct mase_graph *from);
/* The same rounding by a format that learns nothing, with what was learned of this operand; itself
 * where nothing is to learn or nothing was learned. */
struct mase_rounding mase_rounding_now(const struct mase_node *n, enum mase_operand o,
                                       struct mase_rounding how);
/* An error when a format has nothing learned yet. */
enum mase_status mase_graph_need_learned(const struct mase_graph *g,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* ---- modules ---- */

enum mase_init {
    MASE_INIT_ZEROS,
    MASE_INIT_ONES,
    MASE_INIT_UNIFORM,
    MASE_INIT_NORMAL,
    MASE_INIT_UNSET,  /* NaN, until training starts it: what a number format learns */
    MASE_INIT_VALUES, /* a constant of the model */
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
    int after;                 /* of the graph itself: how many modules were registered before */
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

/* An attribute by the name of its constructor parameter; a bug if there is none. */
const struct mase_arg *mase_module_attr(const struct mase_module *m, const char *name);
struct mase_param *mase_module_param(const struct mase_module *m, const char *name); /* or NULL */
int64_t mase_module_param_count(const struct mase_module *m); /* values; 0 for NULL */
/* Its mark as an operand: weight_ih_l0 of an LSTM is a weight as "weight" is. 0: none. */
char mase_param_mark(const struct mase_module *m, const struct mase_param *p);
/* "Linear", "LinearInteger". */
void mase_module_class(struct mase_str *out, const struct mase_module *m);
/* "Linear(in_features=16, out_features=5, bias=True)", as PyTorch prints it. */
void mase_module_repr(struct mase_str *out, const struct mase_module *m);

/* ---- nodes ---- */

/* A call that computes something else in training (dropout, batch norm) does what the network is
 * about to do, or is pinned to one of both: module.eval() in forward. Functions are told by an
 * argument, in which MASE_FOLLOWS_MODE, an atom, stands for self.training. */
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
    struct mase_node **users; /* each once, in order of their coming */
    int user_count, user_cap;

    struct mase_node *prev, *next;
    struct mase_graph *graph;
    struct mase_meta *meta; /* meta.h; NULL before init_metadata */
    struct mase_loc at;     /* where its author wrote it; line 0: nowhere that we know */
};

/* The module behind a call_module, else NULL. Always the graph's current one. */
struct mase_module *mase_node_module(const struct mase_node *n);
/* The quantisation in force at a node: its module's or its own; NULL when float. */
struct mase_quant *mase_node_quant(const struct mase_node *n);
/* Its type in reports: that of the module, function or method, or of the kind of node. */
enum mase_op_type mase_node_op_type(const struct mase_node *n);
/* The type as the summary names it: class name, function name, method name, or target. */
void mase_node_type_name(struct mase_str *out, const struct mase_node *n);
/* The printed target: a quantised function has the original's long name. */
void mase_node_target(struct mase_str *out, const struct mase_node *n);
/* The operand that a call writes into, relu_(x) or x[i] = y, where it is a node; else NULL. */
struct mase_node *mase_node_written(const struct mase_node *n);
/* The node in whose memory the result of n may lie, by views and writes: n itself, where it makes a
 * tensor. whole: by nothing but writes, so that n is all of what lies there. */
const struct mase_node *mase_node_memory(const struct mase_node *n, bool *whole);
bool mase_node_uses(const struct mase_node *n, const struct mase_node *input);
/* at, its path kept in the graph. */
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

    struct mase_graph *training; /* what it is while it is trained, where forward asks; owned, with
                                  * the same parameters. NULL: the same */
    const char *untrainable;     /* why it cannot be trained, or NULL */
    int64_t batch; /* samples that it takes at a time, neither more nor fewer; 0: any number */

    const struct mase_shape *more; /* samples of the placeholders behind the first, where known */
    int more_count;

    struct mase_weights *weights; /* NULL before mase_graph_alloc; private, see weights.c */
    bool weights_borrowed;        /* from the graph this is a clone of */

    unsigned props;                  /* MASE_PROP_*: which metadata is valid (pass.h) */
    uint64_t edits;                  /* counts every change of nodes, modules or formats */
    uint64_t format_edits;           /* those of them that changed formats alone: shapes stay */
    uint64_t notes;                  /* counts who was allowed to write metadata */
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
/* Construct m anew with another attribute. Parameters that it still has, of the same shape, keep
 * their values; new ones have no memory before mase_graph_alloc. */
enum mase_status mase_module_set_attr(struct mase_graph *g, struct mase_module *m, const char *name,
                                      const struct mase_arg *value,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Register what get_attr reads: zeros until init and scale say otherwise. The pointer is good until
 * the next one is added. A bug if the path is taken. */
struct mase_param *mase_graph_add_attr(struct mase_graph *g, const char *path,
                                       enum mase_dtype dtype, const struct mase_shape *shape,
                                       enum mase_param_kind kind);
/* Forget one again; a bug if there is none. */
void mase_graph_drop_attr(struct mase_graph *g, const char *path);
/* By full path, a module's parameter ("fc.weight") included; or NULL. */
struct mase_param *mase_graph_attr(const struct mase_graph *g, const char *path);

/* The parameter `path` is from now on another name of `to`: one memory, one gradient, one place in
 * the optimiser. The first of its names in the state dict is that of the parameter, as in PyTorch;
 * the others are tied to it. They must agree in type and shape. */
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
/* The same with a chosen name, made unique if taken. */
struct mase_node *mase_graph_insert_named(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *name,
                                          const char *target, const struct mase_arg *args,
                                          const struct mase_arg *kwargs);
/* A call of an operation, whatever torch calls it: the first function that its row names, or else
 * the first method. A bug for one that only a module calls. */
struct mase_node *mase_graph_insert_op(struct mase_graph *g, struct mase_node *at, enum mase_op op,
                                       const struct mase_arg *args, const struct mase_arg *kwargs);
struct mase_node *mase_graph_insert_after(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *target,
                                          const struct mase_arg *args,
                                          const struct mase_arg *kwargs);
/* Change a node's arguments; users follow. */
void mase_node_set_args(struct mase_node *n, const struct mase_arg *args,
                        const struct mase_arg *kwargs);
/* Redirect all uses of from to to, except those in spare (may be NULL). Returns how many nodes
 * moved. A bug if to itself uses from and is not spared. */
int mase_graph_replace_uses(struct mase_graph *g, struct mase_node *from, struct mase_node *to,
                            const struct mase_node *spare);
/* Remove a node without users; a bug if it has some. Its module stays until mase_graph_sweep. */
void mase_graph_erase(struct mase_graph *g, struct mase_node *n);
/* Drop modules that no node calls. Returns how many. */
int mase_graph_sweep(struct mase_graph *g);
/* The same of this one alone, if no node calls it any more. */
void mase_graph_sweep_module(struct mase_graph *g, const char *path);
/* Give a module or a function call number formats; NULL makes it float again. q is copied. */
void mase_module_set_quant(struct mase_graph *g, struct mase_module *m, const struct mase_quant *q);
void mase_node_set_quant(struct mase_node *n, const struct mase_quant *q);

/* Say what samples of the placeholders behind the first are like; they are copied. */
void mase_graph_set_more(struct mase_graph *g, const struct mase_shape *more, int count);
/* That of placeholder number i, counted from 0: the first's, unless it is known. */
const struct mase_shape *mase_graph_sample(const struct mase_graph *g, int i,
                                           const struct mase_shape *first);

struct mase_node *mase_graph_find(const struct mase_graph *g, const char *name); /* or NULL */
struct mase_node *mase_graph_output(const struct mase_graph *g);                 /* or NULL */

/* What a walk does next. */
enum mase_walk { MASE_WALK_ON, MASE_WALK_PRUNE, MASE_WALK_STOP };
typedef enum mase_walk mase_visit_fn(struct mase_node *n, void *data);
/* From start along users (forward) or inputs (backward), each node once, nearest first, start
 * included; PRUNE goes no further from that node. */
void mase_walk_forward(struct mase_node *start, mase_visit_fn *visit, void *data);
void mase_walk_backward(struct mase_node *start, mase_visit_fn *visit, void *data);

/* ---- training ---- */

/* `training` is what g is while it is trained; g owns it from now on, also on failure. Their
 * parameters and buffers must agree in name, order, type, shape and whether they are trained. */
enum mase_status mase_graph_set_training(struct mase_graph *g, struct mase_graph *training,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* From now on it cannot be trained, for this reason. */
void mase_graph_refuse_training(struct mase_graph *g, const char *why);
/* The graph to train: g, or its own for training, which then shares g's weights until either is
 * freed. An error when there is none. */
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
/* Values of the parameters of all modules and attrs, and of those among them that are frozen. */
int64_t mase_graph_param_count(const struct mase_graph *g);
int64_t mase_graph_frozen_count(const struct mase_graph *g);
/* Freeze the parameters of this name, of the module of this name, or whose names fit it as a
 * pattern of file names: "layer[12].*". How many there are. */
int mase_graph_freeze(struct mase_graph *g, const char *pattern);
/* MASE_ELIMIT where parameters and buffers take more than a network may (MASE_MEMORY, else the
 * machine's memory): to be asked of a network from a file before mase_graph_alloc. */
enum mase_status mase_graph_check_size(const struct mase_graph *g,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Give every parameter that has none its memory (zeroed, each tensor 64-byte aligned); those that
 * have it stay where they are. */
void mase_graph_alloc(struct mase_graph *g);
/* PyTorch's default initialisation: each tensor from its own random stream, by its full name. */
void mase_graph_init_weights(struct mase_graph *g, uint64_t seed);
/* The same of those alone that have no memory yet, as after an edit. MASE_ELIMIT: too many. */
enum mase_status mase_graph_init_missing(struct mase_graph *g, uint64_t seed,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Only the constants, which no file of weights has: before one is loaded. */
void mase_graph_init_constants(struct mase_graph *g);
/* How many values of the weights are NaN or infinite. where (may be NULL) gets the names of the
 * first tensors that hold them: "fc1.weight (2), fc1.bias (1)". */
int64_t mase_graph_not_finite(const struct mase_graph *g, struct mase_str *where);
/* Stop borrowing: copy the weights; what has no values has none then. Nothing if they are g's own.
 */
void mase_graph_own_weights(struct mase_graph *g);
/* g, a clone of from, owns from now on what was from's, and borrows what from borrowed; from goes
 * on with it as a borrower: free it first. */
void mase_graph_take_weights(struct mase_graph *g, struct mase_graph *from);
/* Every name of a parameter or buffer in state-dict order; full is "seq_blocks.0.weight", valid
 * during the call. Return false to stop. */
typedef bool mase_param_fn(const char *full, struct mase_param *p, void *data);
void mase_graph_each_param(const struct mase_graph *g, mase_param_fn *fn, void *data);

/* ---- checks ---- */

/* Append one line per broken invariant to out; returns their number. */
int mase_graph_verify(const struct mase_graph *g, struct mase_str *out);
/* MASE_EUNSUPPORTED where a call writes in place and another value that lies in the same memory is
 * read afterwards: PyTorch would change it, a graph does not. Whatever runs a graph asks. */
enum mase_status mase_graph_check_writes(const struct mase_graph *g,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Same nodes, arguments, modules, attributes and formats, in the same order; weights do not count.
 * On a difference, why (may be NULL) gets a sentence. */
bool mase_graph_equal(const struct mase_graph *a, const struct mase_graph *b, struct mase_str *why);
/* The same whatever the graphs are called, in whatever formats, however their parameters start:
 * constants count, annotations do not. */
bool mase_graph_same_network(const struct mase_graph *a, const struct mase_graph *b,
                             struct mase_str *why);
/* The same network, in the same formats, trained in the same parts. */
bool mase_graph_same_formats(const struct mase_graph *a, const struct mase_graph *b,
                             struct mase_str *why);
/* Does any module or call of it have number formats? */
bool mase_graph_is_quantised(const struct mase_graph *g);
/* In float from now on. What formats have learned stays among its parameters. */
void mase_graph_drop_formats(struct mase_graph *g);

/* ---- text ---- */

void mase_graph_print(struct mase_str *out, const struct mase_graph *g); /* str(graph) */
void mase_node_print(struct mase_str *out,
                     const struct mase_node *n); /* one line of it, not indented */
void mase_graph_print_mg(struct mase_str *out, const struct mase_graph *g);
/* A class for PyTorch; quantised layers and calls have none there. */
enum mase_status mase_graph_print_py(struct mase_str *out, const struct mase_graph *g,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_graph_parse_mg(struct mase_graph **out, const char *text, size_t size,
                                     const char *path, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_graph_read_mg(struct mase_graph **out, const char *path,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* One more statement of it; a node goes before `before`, or NULL: in front of the output. added:
 * the node, NULL if it was none. A failure may leave parts of it: try it on a clone. */
enum mase_status mase_graph_add_mg(struct mase_graph *g, struct mase_node **added,
                                   struct mase_node *before, const char *statement,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* One value of it, "(%x, 2)", in a. Can n take these arguments? Do its inputs stand above it? */
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
