/*
 * onnx_check.h - check that a model is valid ONNX, as onnx.checker.check_model does, for the
 * operations that we write: types and numbers of operands, attributes, definition before use, types
 * and shapes of all values.
 */
#ifndef MASE_ONNX_ONNX_CHECK_H
#define MASE_ONNX_ONNX_CHECK_H

#include "onnx/onnx_file.h"

/* data: the bytes of the model. node: index of the wrong node; -1: the error is elsewhere. */
enum mase_status mase_onnx_check(int *node, const void *data, size_t size,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- between onnx_check.c and onnx_check_shapes.c ---- */

/* A value of the model: its type as the file says, or as it follows. */
struct mase_oc_value {
    int64_t type;
    struct mase_shape shape;
    const struct mase_onnx_tensor *init; /* NULL: not a constant */
};

/* The current node; operands are NULL where absent. */
struct mase_oc_node {
    const struct mase_onnx_node *node;
    const struct mase_oc_value *const *in;
    int count;
    struct mase_oc_value out;
    struct mase_err *err;
};
/* Record what is wrong; returns false. */
bool mase_oc_fail(struct mase_oc_node *n, const char *fmt, ...) MASE_PRINTF(2, 3);
int64_t mase_oc_int(const struct mase_oc_node *n, const char *name, int64_t dflt);
const int64_t *mase_oc_ints(const struct mase_oc_node *n, const char *name, int *count);

/* Set the shape of n->out. */
typedef bool mase_oc_shape_fn(struct mase_oc_node *n);
#define CHECK(op, since, takes, gives, T, U, attributes, shape) mase_oc_shape_fn mase_oc_##shape;
#define QONNX(op, takes, gives, attributes, shape)              mase_oc_shape_fn mase_oc_##shape;
#include "onnx/check.def"

#endif /* MASE_ONNX_ONNX_CHECK_H */
