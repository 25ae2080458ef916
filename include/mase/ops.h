/*
 * ops.h - the operations, read from ops.def.
 *
 * One row defines an operation: its name and type in reports, how PyTorch calls it as a function,
 * method or module, its shape rule, its reference function.
 */
#ifndef MASE_OPS_H
#define MASE_OPS_H

#include <stdbool.h>

#include <mase/api.h>
#include <mase/err.h>

MASE_API_BEGIN

#ifndef MASE_OP_NAMES /* our own build has a file of the names alone (cmake/op_columns.cmake) */
#define MASE_OP_NAMES <mase/ops.def>
#endif

enum mase_op {
    MASE_OP_unknown, /* a target no row knows */
#define OP(name, ...) MASE_OP_##name,
#include MASE_OP_NAMES
    MASE_OP_COUNT
};

enum mase_op_type {
    MASE_TYPE_NONE,
    MASE_TYPE_MODULE,
    MASE_TYPE_MODULE_RELATED_FUNC,
    MASE_TYPE_BUILTIN_FUNC,
    MASE_TYPE_IMPLICIT_FUNC,
    MASE_TYPE_PLACEHOLDER,
    MASE_TYPE_GET_ATTR,
    MASE_TYPE_OUTPUT,
};
extern const char *const mase_op_type_names[]; /* "module", "module_related_func", ... */

enum { MASE_MAX_PARAMS = 16 };

/* One parameter of a signature. The text form, "name:mark=default", is explained in ops.def. */
struct mase_sig_param {
    const char *name;
    char role;     /* x u p y s w b t: a tensor operand and its role; 0: a plain value */
    char coerce;   /* conversion mark 1 2 3 4 6 n f ? of ops.def; 0: none */
    bool variadic; /* *shape: takes all remaining arguments */
    bool has_default;
    const char *dflt; /* Python literal, or the name of an earlier parameter */
};
struct mase_sig {
    int count;
    struct mase_sig_param param[MASE_MAX_PARAMS];
};

struct mase_call;
typedef enum mase_status mase_shape_fn(struct mase_call *c, struct mase_err *err);

enum mase_nonnegative {
    MASE_NONNEGATIVE_UNKNOWN,
    MASE_NONNEGATIVE_ALWAYS,
    MASE_NONNEGATIVE_KEPT, /* if no value of a data operand is negative */
};

struct mase_op_info {
    const char *name;       /* "linear" */
    enum mase_op_type type; /* as a function */
    mase_shape_fn *shape;   /* NULL: not inferred (placeholder, output) */
    const char *help;
    const char *call;      /* signature of the call; NULL: not a call (placeholder, output) */
    const char *functions; /* printed targets, blank separated: "operator.add torch.add"; or NULL */
    const char *methods;   /* "add add_"; or NULL */
    const char *module;    /* class name "Linear", NULL if there is none */
    enum mase_op_type module_type;
    const char *ctor; /* constructor signature */
    const char *repr; /* how the constructor prints: see ops.def */
    bool quantisable;
    bool usual; /* defaults and patterns of the quantise pass apply to it; other operations must be
                   named */
    const char *quant_func; /* "mult.mult": file and name of the quantised function; or "" */
    enum mase_nonnegative nonnegative; /* is no value of its result negative? */
    bool shares;                       /* its result may lie in the memory of its first operand */
};
extern const struct mase_op_info mase_ops[MASE_OP_COUNT];

enum mase_op mase_op_find(const char *name);            /* MASE_OP_unknown when absent */
enum mase_op mase_op_of_function(const char *target);   /* "torch.flatten" */
enum mase_op mase_op_of_method(const char *name);       /* "view" */
enum mase_op mase_op_of_module(const char *class_name); /* "Linear" */
/* Signatures, parsed once and kept until the process ends. */
const struct mase_sig *mase_op_call_sig(enum mase_op op);
const struct mase_sig *mase_op_ctor_sig(enum mase_op op);

MASE_API_END

#endif /* MASE_OPS_H */
