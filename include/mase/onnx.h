/*
 * onnx.h - networks in ONNX files.
 *
 * A file holds its weights and the shapes of its inputs: the graph comes with both. Layers of
 * PyTorch are made where the nodes are such (Gemm, Conv, BatchNormalization ...), under the names
 * of their weights, so that what is done with other networks can be done with these.
 */
#ifndef MASE_ONNX_H
#define MASE_ONNX_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/graph.h>

MASE_API_BEGIN

struct mase_onnx_opts {
    const struct mase_shape *sample; /* of the first input, where the file leaves lengths open */
    /* All inputs by their names in the file, shapes with the batch: the graph holds for these
     * alone. Values count where the graph cannot be without them, as the shape that a Reshape is
     * given. */
    const struct mase_input *inputs;
    int input_count;
};

struct mase_onnx_info {
    struct mase_shape sample; /* of the first input, without its batch */
    enum mase_dtype dtype;
    bool has_sample;
    int64_t batch; /* the only one that it holds for; 0: any */
};

/* The graph of the file with its weights. opts and info may be NULL. */
enum mase_status mase_onnx_read(struct mase_graph **g, struct mase_onnx_info *info,
                                const char *path, const struct mase_onnx_opts *opts,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The same of bytes in memory. */
enum mase_status mase_onnx_parse_graph(struct mase_graph **g, struct mase_onnx_info *info,
                                       const void *data, size_t size, const char *path,
                                       const struct mase_onnx_opts *opts,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* How roundings are written: as QuantizeLinear and DequantizeLinear, with weights and biases as
 * codes, which ONNX Runtime computes in integers; as Quant and BipolarQuant of QONNX, which say any
 * width; or, ANY, the first of these that can say all of them. */
enum mase_onnx_dialect { MASE_ONNX_ANY, MASE_ONNX_QDQ, MASE_ONNX_QONNX };

struct mase_onnx_written {
    enum mase_onnx_dialect dialect; /* asked for; then, the one that was taken */
    struct mase_err why;            /* not the first of ANY */
    /* Layers whose rounded weights, or biases, are floats in the file, since they are no codes; and
     * those whose biases were rounded to the scale of their products, by up to bias_off. */
    int float_weights, float_biases, rounded_biases;
    double bias_off;
};

/* The network as an ONNX model, in evaluation: its operations in float, and roundings. The graph
 * has weights; inputs give shapes, the number of samples stays open. Refused, by the name of the
 * node: what ONNX cannot say exactly. */
enum mase_status mase_onnx_export(struct mase_str *out, struct mase_graph *g,
                                  const struct mase_input *inputs, int input_count,
                                  struct mase_onnx_written *how,
                                  struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_ONNX_H */
