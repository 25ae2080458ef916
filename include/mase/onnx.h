/*
 * onnx.h - networks in ONNX files.
 *
 * A file holds weights and the shapes of inputs, and the graph gets both. Nodes that correspond to
 * layers of PyTorch (Gemm, Conv, BatchNormalization ...) become layers, under the names of their
 * weights, so that an imported network can be edited, quantised and trained like any other.
 */
#ifndef MASE_ONNX_H
#define MASE_ONNX_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/graph.h>

MASE_API_BEGIN

struct mase_onnx_opts {
    const struct mase_shape
        *sample; /* shape of the first input, where the file leaves lengths open */
    /* All inputs by their names in the file, with shapes that include the batch: the graph is valid
     * for these shapes only. Data are used where the graph depends on them, such as the shape
     * operand of a Reshape. */
    const struct mase_input *inputs;
    int input_count;
};

struct mase_onnx_info {
    struct mase_shape sample; /* of the first input, without the batch */
    enum mase_dtype dtype;
    bool has_sample;
    int64_t batch; /* the only batch size that the graph is valid for; 0: any */
};

/* Read the graph of a file with its weights. opts and info may be NULL. */
enum mase_status mase_onnx_read(struct mase_graph **g, struct mase_onnx_info *info,
                                const char *path, const struct mase_onnx_opts *opts,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Read a graph from bytes in memory; path is used in messages only. */
enum mase_status mase_onnx_parse_graph(struct mase_graph **g, struct mase_onnx_info *info,
                                       const void *data, size_t size, const char *path,
                                       const struct mase_onnx_opts *opts,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* How roundings are written: as QuantizeLinear and DequantizeLinear, with weights and biases as
 * codes, which ONNX Runtime computes in integers; as Quant and BipolarQuant of QONNX, which allow
 * any width; or, ANY, as the first of these that can express all roundings. */
enum mase_onnx_dialect { MASE_ONNX_ANY, MASE_ONNX_QDQ, MASE_ONNX_QONNX };

struct mase_onnx_written {
    enum mase_onnx_dialect dialect; /* in: wanted; out: used */
    struct mase_err why;            /* why ANY did not use the first one */
    /* Numbers of layers whose rounded weights, or biases, are written as floats, because they are
     * not codes; and of layers whose biases were rounded to the scale of their products, by at most
     * bias_off. */
    int float_weights, float_biases, rounded_biases;
    double bias_off;
};

/* Write the network, in evaluation mode, as an ONNX model: its operations in float, and its
 * roundings. The graph has weights; inputs give shapes, and the batch size stays open. A node that
 * ONNX cannot express exactly is refused by its name. */
enum mase_status mase_onnx_export(struct mase_str *out, struct mase_graph *g,
                                  const struct mase_input *inputs, int input_count,
                                  struct mase_onnx_written *how,
                                  struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_ONNX_H */
