/*
 * export_parts.h - between the files that write a program as an ONNX model.
 */
#ifndef MASE_ONNX_EXPORT_PARTS_H
#define MASE_ONNX_EXPORT_PARTS_H

#include <mase/onnx.h>
#include <mase/program.h>

#include "exec/reference/interpret.h"
#include "integer/int_parts.h"
#include "onnx/onnx_file.h"

struct mase_ow_export {
    struct mase_arena *a;
    struct mase_arena scratch;
    struct mase_program *program;
    struct mase_onnx_graph graph;
    int node_cap, init_cap, by_cap;
    int64_t opset;                     /* the least that has all operations */
    struct mase_tensor **known;        /* by number: what constants alone decide */
    const struct mase_format **format; /* by number: what a known value was rounded to */
    const char **name;                 /* by number: NULL before it is written */
    struct mase_map names;             /* all that are taken */
    const struct mase_instr *instr;    /* under way */
    const struct mase_instr **by;      /* by the place of a node: what it was written for */
    enum mase_onnx_dialect dialect;
    bool qonnx;          /* has operations of QONNX */
    bool refused;        /* a rounding, which the other dialect may be able to say */
    bool rounds;         /* data has been rounded */
    bool unsigned_bytes; /* signed codes of data lie around 128 */
    /* Layers whose weights or biases are no codes, or whose biases were rounded to be such. */
    int float_weights, float_biases, rounded_biases;
    double bias_off; /* the most that one of the last is off */
};
#define MASE_OW_QONNX "qonnx.custom_op.general"

enum mase_status mase_ow_refuse(const struct mase_ow_export *e, struct mase_err *err,
                                const char *fmt, ...) MASE_PRINTF(3, 4);
/* A name that nothing has yet, like this one. */
const char *mase_ow_unique(struct mase_ow_export *e, const char *like);
/* The name of a value; a constant is written the first time. NULL: an operand that is not there. */
const char *mase_ow_value(struct mase_ow_export *e, const struct mase_arg *a);
/* A value or a number in a type to which PyTorch promotes it; NULL: it is none that can be said. */
const char *mase_ow_value_as(struct mase_ow_export *e, const struct mase_arg *a,
                             enum mase_dtype dtype);
const char *mase_ow_cast(struct mase_ow_export *e, const char *like, const char *x,
                         enum mase_dtype dtype);
/* A new node with these inputs, up to a NULL, "" being left out, and one output that is called
 * like. */
struct mase_onnx_node *mase_ow_node(struct mase_ow_export *e, const char *op, const char *like, ...)
    __attribute__((sentinel));
const char *mase_ow_output(const struct mase_onnx_node *n);
void mase_ow_ints(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name,
                  const int64_t *v, int count);
void mase_ow_int(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name, int64_t v);
void mase_ow_float(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name, double v);
void mase_ow_text(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name,
                  const char *v);
/* A constant of the model: elements of a type of ONNX's, dense. */
const char *mase_ow_constant(struct mase_ow_export *e, const char *like, int type,
                             const struct mase_shape *s, const void *data, size_t size);
const char *mase_ow_number(struct mase_ow_export *e, double v); /* a float of no dimensions */
const char *mase_ow_number_of(struct mase_ow_export *e, enum mase_dtype dtype,
                              const struct mase_arg *v);
const char *mase_ow_lengths(struct mase_ow_export *e, const int64_t *v, int count);

/* What instructions become (export_ops.c) and what roundings do (export_round.c): the name of the
 * result. */
enum mase_status mase_ow_export_call(struct mase_ow_export *e, const char **out,
                                     const struct mase_instr *i,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_ow_export_round(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The same as QONNX (export_qonnx.c). */
enum mase_status mase_ow_export_quant(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i,
                                      struct mase_err *err) MASE_MUST_CHECK;
void mase_ow_quant_layer(struct mase_ow_export *e, const char **weight, const char **bias,
                         const struct mase_instr *layer, bool transposed);
/* Do all values at one position of the axis have equal steps and bounds? */
bool mase_ow_follows(const struct mase_int_format *g, const struct mase_shape *s, int axis);

/* ---- codes (export_round.c) ---- */

struct mase_ow_type {
    int type, opset, size; /* ONNX's; the first that quantises to it; bytes */
    int64_t least, most;
};
const struct mase_ow_type *mase_ow_type_row(int type);

/* Codes of a tensor: one scale, or one for each position of an axis. */
struct mase_ow_codes {
    const struct mase_ow_type *type;
    int axis; /* -1: one scale */
    int64_t count;
    float *scale;   // (count)
    int64_t *zero;  // (count), NULL: none
    int64_t lo, hi; /* of codes as they are stored */
    bool by_format; /* the scales are those of a format with scales, or found by it */
};
/* The narrowest type for codes lo..hi, and its zero point; data have up to 16 bits. */
enum mase_ow_use { MASE_OW_DATA, MASE_OW_WEIGHT };
bool mase_ow_choose_type(struct mase_ow_codes *c, int64_t lo, int64_t hi, enum mase_ow_use use);
void mase_ow_use_unsigned(struct mase_ow_codes *c); /* int8 becomes uint8 around 128 */
/* Code number at of an array. */
void mase_ow_put_code(unsigned char *bytes, int64_t at, const struct mase_ow_type *t, int64_t code);
const char *mase_ow_dequantize(struct mase_ow_export *e, const char *like, const char *codes,
                               const struct mase_ow_codes *c);
/* The same values, which ONNX Runtime does not join with what is before or behind them. */
const char *mase_ow_apart(struct mase_ow_export *e, const char *like, const char *x);
/* The scale of data; 0: it has none, or several. */
double mase_ow_data_scale(struct mase_ow_export *e, const struct mase_arg *a);

/* ---- layers (export_weight.c) ---- */

/* Codes of a known value that was rounded; false: it has none. */
bool mase_ow_weight_codes(struct mase_ow_export *e, struct mase_ow_codes *c,
                          const struct mase_pvalue *v);

/* A matrix as it is, or its transpose. */
const char *mase_ow_turned(struct mase_ow_export *e, const struct mase_arg *arg, bool turned);

/* What a layer takes, by name: rounded values as codes and their scale, a bias as 32-bit codes at
 * the scale of the products if it lies there. */
struct mase_ow_operands {
    const char *weight, *bias; /* no bias: NULL */
    const char *bias_behind;   /* a bias that is added to what the layer gives; NULL: none */
    bool apart;                /* a Max parts the result from its rounding */
};
/* How they lie: so many dimensions follow that of the outputs; the weight is a matrix that is
 * written as its transpose. */
struct mase_ow_lie {
    int spatial;
    bool transposed;
};
struct mase_ow_operands mase_ow_layer(struct mase_ow_export *e, const struct mase_instr *layer,
                                      struct mase_ow_lie lie);

#endif /* MASE_ONNX_EXPORT_PARTS_H */
