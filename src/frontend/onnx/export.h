/*
 * export.h - between the files that write a program as an ONNX model.
 */
#ifndef MASE_FRONTEND_ONNX_EXPORT_H
#define MASE_FRONTEND_ONNX_EXPORT_H

#include <mase/onnx.h>
#include <mase/program.h>

#include "exec/exact.h"
#include "exec/interpret.h"
#include "format/onnx.h"

struct mase_ow_export {
    struct mase_arena *a;
    struct mase_arena scratch;
    struct mase_program *program;
    struct mase_onnx_graph graph;
    int node_cap, init_cap;
    int64_t opset;                     /* the least that has all operations */
    struct mase_tensor **known;        /* by number: what constants alone decide */
    const struct mase_format **format; /* by number: what a known value was rounded to */
    const char **name;                 /* by number: NULL before it is written */
    struct mase_map names;             /* all that are taken */
    const struct mase_instr *instr;    /* under way */
    enum mase_onnx_dialect dialect;
    bool qonnx;   /* has operations of QONNX */
    bool refused; /* a rounding, which the other dialect may be able to say */
};
#define MASE_OW_QONNX "qonnx.custom_op.general"

enum mase_status mase_ow_refuse(const struct mase_ow_export *e, struct mase_err *err,
                                const char *fmt, ...) MASE_PRINTF(3, 4);
/* A name that nothing has yet, like this one. */
const char *mase_ow_unique(struct mase_ow_export *e, const char *like);
/* The name of a value; a constant is written the first time. NULL: an operand that is not there. */
const char *mase_ow_value(struct mase_ow_export *e, const struct mase_arg *a);
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
                         const struct mase_instr *layer);
/* Have all values at one position of the axis the same grid? */
bool mase_ow_follows(const struct mase_exact_grid *g, const struct mase_shape *s, int axis);
/* The weight and the bias of a layer: rounded ones as codes and their scale, the bias as 32-bit
 * codes at the scale of the products, if data and weights have such scales. No bias: NULL. */
void mase_ow_layer(struct mase_ow_export *e, const char **weight, const char **bias,
                   const struct mase_instr *layer);

#endif /* MASE_FRONTEND_ONNX_EXPORT_H */
