/*
 * export_parts.h - shared by the files that write a program as an ONNX model.
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
    int64_t opset;                     /* the least opset that has all operations */
    struct mase_tensor **known;        /* by number: values that depend on constants only */
    const struct mase_format **format; /* by number: format of a known value */
    const char **name;                 /* by number: NULL until the value is written */
    struct mase_map names;             /* all names in use */
    const struct mase_instr *instr;    /* the current instruction */
    const struct mase_instr **by; /* by index of a node: the instruction that it was written for */
    enum mase_onnx_dialect dialect;
    bool qonnx;          /* has operations of QONNX */
    bool refused;        /* a rounding failed, which the other dialect may be able to express */
    bool rounds;         /* data has been rounded */
    bool unsigned_bytes; /* signed codes of data are written as unsigned, with zero point 128 */
    /* Numbers of layers: weights that are not codes, biases that are not codes, biases that were
     * rounded to codes. */
    int float_weights, float_biases, rounded_biases;
    double bias_off; /* largest error of a rounded bias */
};
#define MASE_OW_QONNX "qonnx.custom_op.general"

enum mase_status mase_ow_refuse(const struct mase_ow_export *e, struct mase_err *err,
                                const char *fmt, ...) MASE_PRINTF(3, 4);
/* A new name that begins with `like`. */
const char *mase_ow_unique(struct mase_ow_export *e, const char *like);
/* The name of a value; writes a constant at its first use. NULL: an absent operand. */
const char *mase_ow_value(struct mase_ow_export *e, const struct mase_arg *a);
/* A value or a number in a type to which PyTorch promotes it; NULL: a number that has no such type.
 */
const char *mase_ow_value_as(struct mase_ow_export *e, const struct mase_arg *a,
                             enum mase_dtype dtype);
const char *mase_ow_cast(struct mase_ow_export *e, const char *like, const char *x,
                         enum mase_dtype dtype);
/* Add a node with these inputs, ended by NULL ("" is an absent input), and one output named like.
 */
struct mase_onnx_node *mase_ow_node(struct mase_ow_export *e, const char *op, const char *like, ...)
    __attribute__((sentinel));
const char *mase_ow_output(const struct mase_onnx_node *n);
void mase_ow_ints(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name,
                  const int64_t *v, int count);
void mase_ow_int(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name, int64_t v);
void mase_ow_float(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name, double v);
void mase_ow_text(struct mase_ow_export *e, struct mase_onnx_node *n, const char *name,
                  const char *v);
/* Add a constant: dense elements of an ONNX type. */
const char *mase_ow_constant(struct mase_ow_export *e, const char *like, int type,
                             const struct mase_shape *s, const void *data, size_t size);
const char *mase_ow_number(struct mase_ow_export *e,
                           double v); /* Add a float constant of rank 0. */
const char *mase_ow_number_of(struct mase_ow_export *e, enum mase_dtype dtype,
                              const struct mase_arg *v);
const char *mase_ow_lengths(struct mase_ow_export *e, const int64_t *v, int count);

/* Write an instruction (export_ops.c) or a rounding (export_round.c); *out: the name of its result.
 */
enum mase_status mase_ow_export_call(struct mase_ow_export *e, const char **out,
                                     const struct mase_instr *i,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_ow_export_round(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Write a rounding as QONNX (export_qonnx.c). */
enum mase_status mase_ow_export_quant(struct mase_ow_export *e, const char **out,
                                      const struct mase_instr *i,
                                      struct mase_err *err) MASE_MUST_CHECK;
void mase_ow_quant_layer(struct mase_ow_export *e, const char **weight, const char **bias,
                         const struct mase_instr *layer, bool transposed);
/* Do all values at one position of the axis have equal steps and bounds? */
bool mase_ow_follows(const struct mase_int_format *g, const struct mase_shape *s, int axis);

/* ---- codes (export_round.c) ---- */

struct mase_ow_type {
    int type, opset, size; /* ONNX's type; the first opset that quantises to it; bytes */
    int64_t least, most;
};
const struct mase_ow_type *mase_ow_type_row(int type);

/* Codes of a tensor, with one scale, or one for each position of an axis. */
struct mase_ow_codes {
    const struct mase_ow_type *type;
    int axis; /* -1: one scale */
    int64_t count;
    float *scale;   // (count)
    int64_t *zero;  // (count), NULL: none
    int64_t lo, hi; /* of stored codes */
    bool by_format; /* the scales are those of a format with scales, or computed by it */
};
/* Choose the narrowest type for codes lo..hi, and its zero point; data has up to 16 bits. */
enum mase_ow_use { MASE_OW_DATA, MASE_OW_WEIGHT };
bool mase_ow_choose_type(struct mase_ow_codes *c, int64_t lo, int64_t hi, enum mase_ow_use use);
void mase_ow_use_unsigned(struct mase_ow_codes *c); /* int8 becomes uint8 with zero point 128 */
/* Store a code at index `at`. */
void mase_ow_put_code(unsigned char *bytes, int64_t at, const struct mase_ow_type *t, int64_t code);
const char *mase_ow_dequantize(struct mase_ow_export *e, const char *like, const char *codes,
                               const struct mase_ow_codes *c);
/* The value through a Max that changes nothing, which keeps ONNX Runtime from fusing its producer
 * with its users. */
const char *mase_ow_block_fusion(struct mase_ow_export *e, const char *like, const char *x);
/* The scale of data; 0: no scale or several. */
double mase_ow_data_scale(struct mase_ow_export *e, const struct mase_arg *a);

/* ---- layers (export_weight.c) ---- */

/* Codes of a rounded constant; false: it has no codes. */
bool mase_ow_weight_codes(struct mase_ow_export *e, struct mase_ow_codes *c,
                          const struct mase_pvalue *v);

/* A matrix, or its transpose. */
const char *mase_ow_transposed(struct mase_ow_export *e, const struct mase_arg *arg, bool turned);

/* Names of the operands of a layer: rounded values as codes with their scales, a bias as 32-bit
 * codes if it is a multiple of the products' scale. */
struct mase_ow_operands {
    const char *weight, *bias; /* no bias: NULL */
    const char *bias_after;    /* a bias to add after the layer; NULL: none */
    bool block_fusion;         /* write a Max between the result and its rounding */
};
/* Layout: number of dimensions after that of the outputs; whether the weight is written transposed.
 */
struct mase_ow_layout {
    int spatial;
    bool transposed;
};
struct mase_ow_operands mase_ow_layer(struct mase_ow_export *e, const struct mase_instr *layer,
                                      struct mase_ow_layout lie);

#endif /* MASE_ONNX_EXPORT_PARTS_H */
