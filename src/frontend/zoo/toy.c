/*
 * toy.c - networks small enough to follow by hand.
 */
#include "frontend/zoo/zoo_parts.h"

enum mase_status mase_zoo_toy(struct mase_graph **out, const struct mase_data_info *data,
                              struct mase_err *err)
{
    (void)err; /* any sample will do */
    struct mase_graph *g = mase_graph_new("toy");
    struct mase_node *x = mase_zoo_rows(g, mase_build_input(g, "x", NULL));
    x = mase_zoo_linear(g, x, "seq_blocks.0", (int)mase_shape_count(&data->sample), 8);
    x = mase_zoo_relu(g, x, "seq_blocks.1", false);
    x = mase_zoo_linear(g, x, "seq_blocks.2", 8, 8);
    x = mase_zoo_relu(g, x, "seq_blocks.3", false);
    x = mase_zoo_linear(g, x, "seq_blocks.4", 8, data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

/* l2 and relu_2 are registered but never called. They count as parameters and are in the state
 * dict, as in PyTorch; no node mentions them, and mase_graph_sweep drops them. */
enum mase_status mase_zoo_toy_tiny(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    (void)err; /* any sample will do */
    struct mase_graph *g = mase_graph_new("toy_tiny");
    struct mase_node *x = mase_zoo_rows(g, mase_build_input(g, "x", NULL));
    x = mase_zoo_linear(g, x, "l1", (int)mase_shape_count(&data->sample), 2);
    x = mase_zoo_relu(g, x, "relu_1", false);
    mase_build_module(g, MASE_OP_linear, "l2",
                      MASE_ARGS(mase_arg_int(2), mase_arg_int(data->classes)));
    mase_build_module(g, MASE_OP_relu, "relu_2", NULL, 0);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

/* "PATH.0", a convolution in windows of 3, and "PATH.1", a relu. */
static struct mase_node *conv_relu(struct mase_graph *g, struct mase_node *x, enum mase_op op,
                                   const char *path, int in, int out)
{
    const struct mase_conv c = {
        .op = op, .channels = { in, out }, .kernel = 3, .stride = 1, mase_arg_int(1), true
    };
    x = mase_zoo_conv(g, x, mase_zoo_path(g, path, 0), &c);
    return mase_zoo_relu(g, x, mase_zoo_path(g, path, 1), false);
}

enum mase_status mase_zoo_toy_convnet_of(struct mase_graph **out, const int channels[4],
                                         const struct mase_data_info *data, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank("toy_convnet", data, 3, err));
    struct mase_graph *g = mase_graph_new("toy_convnet");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    x = conv_relu(g, x, MASE_OP_conv2d, "block_1", (int)data->sample.dim[0], channels[0]);
    x = mase_zoo_max_pool(g, x, "maxpool", 2, 2, 0);
    x = conv_relu(g, x, MASE_OP_conv2d, "block_2", channels[0], channels[1]);
    struct mase_node *size =
        mase_build_call(g, MASE_CALL_METHOD, "size", MASE_ARGS(mase_arg_node(x), mase_arg_int(0)));
    x = mase_build_call(g, MASE_CALL_METHOD, "view",
                        MASE_ARGS(mase_arg_node(x), mase_arg_node(size), mase_arg_int(channels[1]),
                                  mase_arg_int(-1)));
    x = conv_relu(g, x, MASE_OP_conv1d, "block_3", channels[1], channels[2]);
    x = conv_relu(g, x, MASE_OP_conv1d, "block_4", channels[2], channels[3]);
    x = mase_build_layer(g, x, MASE_OP_adaptive_avg_pool1d, "avgpool", MASE_ARGS(mase_arg_int(1)));
    x = mase_zoo_linear(g, mase_zoo_rows(g, x), "linear", channels[3], data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

enum mase_status mase_zoo_toy_convnet(struct mase_graph **out, const struct mase_data_info *data,
                                      struct mase_err *err)
{
    return mase_zoo_toy_convnet_of(out, (const int[4]){ 8, 16, 32, 64 }, data, err);
}
