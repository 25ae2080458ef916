/*
 * vgg.c - VGG7: pairs of 3 x 3 convolutions, each pair followed by pooling, then three linear
 * layers.
 */
#include "frontend/zoo/zoo_parts.h"
#include "ir/graph/graph_build.h"

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
            x = mase_build_layer(g, x,
                                 "feature_layers.%d = Conv2d(%d, %d, kernel_size=3, padding=1)",
                                 i++, in, width);
            x = mase_build_layer(g, x, "feature_layers.%d = BatchNorm2d(%d, momentum=0.9)", i++,
                                 width);
            x = mase_build_layer(g, x, "feature_layers.%d = ReLU(inplace=True)", i++);
        }
        x = mase_build_layer(g, x, "feature_layers.%d = MaxPool2d(kernel_size=2)", i++);
    }
    x = mase_build_call(g, "%s.view(-1, 8192)", x->name); // 512 channels of 4 x 4
    x = mase_build_layer(g, x, "classifier.0 = Linear(8192, 1024)");
    x = mase_build_layer(g, x, "classifier.1 = ReLU(inplace=True)");
    x = mase_build_layer(g, x, "classifier.2 = Linear(1024, 1024)");
    x = mase_build_layer(g, x, "classifier.3 = ReLU(inplace=True)");
    x = mase_build_layer(g, x, "last_layer = Linear(1024, %d)", data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}
