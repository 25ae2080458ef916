/*
 * zoo_jsc.c - the networks for jet substructure: batch norms, relus and linear layers in a row.
 *
 * The last layer is a relu on the logits, as in the original.
 */
#include "frontend/zoo/zoo_parts.h"

/* Layers of a network; a positive number is a linear layer with so many outputs. */
enum {
    END = 0,
    NORM = -1,    /* BatchNorm1d */
    RELU = -2,    /* ReLU() */
    RELU_W = -3,  /* ReLU(width): the original means a width, PyTorch takes it for inplace=True */
    CLASSES = -4, /* a linear layer of one output per class */
};

static const short tiny[] = { NORM, RELU_W, CLASSES, RELU_W, END };
static const short tiny_127[] = { NORM, RELU_W, CLASSES, NORM, RELU_W, END };
static const short toy[] = { NORM, RELU_W, 8,       NORM, RELU_W, 8,
                             NORM, RELU_W, CLASSES, NORM, RELU_W, END };
static const short s[] = { NORM, RELU, 64,   NORM,    RELU, 32,   RELU, 32,
                           RELU, 32,   RELU, CLASSES, NORM, RELU, END };
static const short test[] = { NORM, RELU_W, 64, NORM, RELU_W, 128,     NORM, RELU_W, 8,
                              NORM, RELU_W, 8,  NORM, RELU_W, CLASSES, NORM, RELU_W, END };
static const short three_linear[] = { NORM, RELU_W, 16, 16, CLASSES, RELU_W, END };

static enum mase_status build(struct mase_graph **out, const char *name, const char *path,
                              const short *layers, const struct mase_data_info *data,
                              struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank(name, data, 1, err));
    struct mase_graph *g = mase_graph_new(name);
    struct mase_node *x = mase_build_input(g, "x", NULL);
    int width = (int)data->sample.dim[0];
    for (int i = 0; layers[i] != END; i++) {
        const char *at = mase_zoo_path(g, path, i);
        if (layers[i] == NORM) {
            x = mase_zoo_norm(g, x, MASE_OP_batch_norm1d, at, width, 0.1);
        } else if (layers[i] == RELU || layers[i] == RELU_W) {
            x = mase_zoo_relu(g, x, at, layers[i] == RELU ? 0 : width);
        } else {
            const int outputs = layers[i] == CLASSES ? data->classes : layers[i];
            x = mase_zoo_linear(g, x, at, width, outputs);
            width = outputs;
        }
    }
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

enum mase_status mase_zoo_jsc_tiny(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    return build(out, "jsc-tiny", "seq_blocks", tiny, data, err);
}

enum mase_status mase_zoo_jsc_tiny_127(struct mase_graph **out, const struct mase_data_info *data,
                                       struct mase_err *err)
{
    return build(out, "jsc-tiny-127", "seq_blocks", tiny_127, data, err);
}

enum mase_status mase_zoo_jsc_toy(struct mase_graph **out, const struct mase_data_info *data,
                                  struct mase_err *err)
{
    return build(out, "jsc-toy", "seq_blocks", toy, data, err);
}

enum mase_status mase_zoo_jsc_s(struct mase_graph **out, const struct mase_data_info *data,
                                struct mase_err *err)
{
    return build(out, "jsc-s", "module_list", s, data, err);
}

enum mase_status mase_zoo_jsc_test(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    return build(out, "jsc-test", "seq_blocks", test, data, err);
}

enum mase_status mase_zoo_jsc_three_linear(struct mase_graph **out,
                                           const struct mase_data_info *data, struct mase_err *err)
{
    return build(out, "jsc-three-linear", "seq_blocks", three_linear, data, err);
}
