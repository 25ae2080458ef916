/*
 * vgg.c - VGG7: pairs of 3 x 3 convolutions, each pair followed by pooling, then three linear
 * layers.
 */
#include "frontend/zoo/zoo_parts.h"

enum mase_status mase_zoo_vgg7(struct mase_graph **out, const struct mase_data_info *data,
                               struct mase_err *err)
{
    static const int channels[] = { 128, 256, 512 };
    MASE_TRY(mase_zoo_need_size("vgg7", data, 32, 32, err));
    struct mase_graph *g = mase_graph_new("vgg7");
    struct mase_node *x = mase_build_input(g, "x", "torch.Tensor");
    int in = (int)data->sample.dim[0], i = 0;
    for (int stage = 0; stage < 3; stage++) {
        const int width = channels[stage];
        for (int k = 0; k < 2; k++, in = width) {
            x = mase_zoo_conv(g, x, mase_zoo_path(g, "feature_layers", i++),
                              &(struct mase_conv){ .op = MASE_OP_conv2d,
                                                   .channels = { in, width },
                                                   .kernel = 3,
                                                   .stride = 1,
                                                   .padding = mase_arg_int(1),
                                                   .bias = true });
            x = mase_zoo_norm(g, x, MASE_OP_batch_norm2d, mase_zoo_path(g, "feature_layers", i++),
                              width, 0.9);
            x = mase_zoo_relu(g, x, mase_zoo_path(g, "feature_layers", i++), true);
        }
        x = mase_zoo_max_pool(g, x, mase_zoo_path(g, "feature_layers", i++), 2, 2, 0);
    }
    x = mase_build_call(g, MASE_CALL_METHOD, "view", // 512 channels of 4 x 4
                        MASE_ARGS(mase_arg_node(x), mase_arg_int(-1), mase_arg_int(8192)));
    x = mase_zoo_linear(g, x, "classifier.0", 8192, 1024);
    x = mase_zoo_relu(g, x, "classifier.1", true);
    x = mase_zoo_linear(g, x, "classifier.2", 1024, 1024);
    x = mase_zoo_relu(g, x, "classifier.3", true);
    x = mase_zoo_linear(g, x, "last_layer", 1024, data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}
