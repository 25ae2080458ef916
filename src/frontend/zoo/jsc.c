/*
 * jsc.c - the networks for jet substructure: batch norms, relus and linear layers in a row.
 *
 * The last layer is a relu on the logits, as in the original. There a relu is written ReLU(16), as
 * if it had a width; PyTorch takes the number for inplace=True, and so it prints.
 */
#include "frontend/build.h"
#include "frontend/zoo/zoo.h"

/* What a network is made of; a positive number is a linear layer of so many outputs. */
enum { END = 0, NORM = -1, RELU = -2, CLASSES = -3 /* a linear layer of one output per class */ };

struct net {
    const char *name;
    const char *path; /* of the container */
    bool plain_relus; /* ReLU(), not ReLU(width) */
    short layers[24];
};

static enum mase_status build(struct mase_graph **out, const struct net *net,
                              const struct mase_data_info *data, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank(net->name, data, 1, err));
    struct mase_graph *g = mase_graph_new(net->name);
    struct mase_node *x = mase_build_input(g, "x", NULL);
    int width = (int)data->sample.dim[0];
    for (int i = 0; net->layers[i] != END; i++) {
        const int layer = net->layers[i];
        if (layer == NORM) {
            x = mase_build_layer(g, x, "%s.%d = BatchNorm1d(%d)", net->path, i, width);
        } else if (layer == RELU && net->plain_relus) {
            x = mase_build_layer(g, x, "%s.%d = ReLU()", net->path, i);
        } else if (layer == RELU) {
            x = mase_build_layer(g, x, "%s.%d = ReLU(%d)", net->path, i, width);
        } else {
            const int outputs = layer == CLASSES ? data->classes : layer;
            x = mase_build_layer(g, x, "%s.%d = Linear(%d, %d)", net->path, i, width, outputs);
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
    static const struct net net = {
        "jsc-tiny", "seq_blocks", false, { NORM, RELU, CLASSES, RELU }
    };
    return build(out, &net, data, err);
}

enum mase_status mase_zoo_jsc_tiny_127(struct mase_graph **out, const struct mase_data_info *data,
                                       struct mase_err *err)
{
    static const struct net net = {
        "jsc-tiny-127", "seq_blocks", false, { NORM, RELU, CLASSES, NORM, RELU }
    };
    return build(out, &net, data, err);
}

enum mase_status mase_zoo_jsc_toy(struct mase_graph **out, const struct mase_data_info *data,
                                  struct mase_err *err)
{
    static const struct net net = { "jsc-toy",
                                    "seq_blocks",
                                    false,
                                    { NORM, RELU, 8, NORM, RELU, 8, NORM, RELU, CLASSES, NORM,
                                      RELU } };
    return build(out, &net, data, err);
}

enum mase_status mase_zoo_jsc_s(struct mase_graph **out, const struct mase_data_info *data,
                                struct mase_err *err)
{
    static const struct net net = { "jsc-s",
                                    "module_list",
                                    true,
                                    { NORM, RELU, 64, NORM, RELU, 32, RELU, 32, RELU, 32, RELU,
                                      CLASSES, NORM, RELU } };
    return build(out, &net, data, err);
}

enum mase_status mase_zoo_jsc_test(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    static const struct net net = { "jsc-test",
                                    "seq_blocks",
                                    false,
                                    { NORM, RELU, 64, NORM, RELU, 128, NORM, RELU, 8, NORM, RELU, 8,
                                      NORM, RELU, CLASSES, NORM, RELU } };
    return build(out, &net, data, err);
}

enum mase_status mase_zoo_jsc_three_linear(struct mase_graph **out,
                                           const struct mase_data_info *data, struct mase_err *err)
{
    static const struct net net = {
        "jsc-three-linear", "seq_blocks", false, { NORM, RELU, 16, 16, CLASSES, RELU }
    };
    return build(out, &net, data, err);
}
