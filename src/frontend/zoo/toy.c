/*
 * toy.c - networks small enough to follow by hand.
 */
#include "frontend/zoo/zoo_parts.h"
#include "ir/graph/graph_build.h"

/* x.view(x.size(0), -1): one row per sample. */
static struct mase_node *as_rows(struct mase_graph *g, const struct mase_node *x)
{
    const struct mase_node *size = mase_build_call(g, "%s.size(0)", x->name);
    return mase_build_call(g, "%s.view(%s, -1)", x->name, size->name);
}

enum mase_status mase_zoo_toy(struct mase_graph **out, const struct mase_data_info *data,
                              struct mase_err *err)
{
    (void)err; /* any sample will do */
    struct mase_graph *g = mase_graph_new("toy");
    struct mase_node *x = as_rows(g, mase_build_input(g, "x", NULL));
    x = mase_build_layer(g, x, "seq_blocks.0 = Linear(%d, 8)",
                         (int)mase_shape_count(&data->sample));
    x = mase_build_layer(g, x, "seq_blocks.1 = ReLU()");
    x = mase_build_layer(g, x, "seq_blocks.2 = Linear(8, 8)");
    x = mase_build_layer(g, x, "seq_blocks.3 = ReLU()");
    x = mase_build_layer(g, x, "seq_blocks.4 = Linear(8, %d)", data->classes);
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
    struct mase_node *x = as_rows(g, mase_build_input(g, "x", NULL));
    x = mase_build_layer(g, x, "l1 = Linear(%d, 2)", (int)mase_shape_count(&data->sample));
    x = mase_build_layer(g, x, "relu_1 = ReLU()");
    mase_build_module(g, "l2 = Linear(2, %d)", data->classes);
    mase_build_module(g, "relu_2 = ReLU()");
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

enum mase_status mase_zoo_toy_convnet_of(struct mase_graph **out, const int channels[4],
                                         const struct mase_data_info *data, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank("toy_convnet", data, 3, err));
    struct mase_graph *g = mase_graph_new("toy_convnet");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    x = mase_build_layer(g, x, "block_1.0 = Conv2d(%d, %d, 3, 1, 1)", (int)data->sample.dim[0],
                         channels[0]);
    x = mase_build_layer(g, x, "block_1.1 = ReLU()");
    x = mase_build_layer(g, x, "maxpool = MaxPool2d(2, 2)");
    x = mase_build_layer(g, x, "block_2.0 = Conv2d(%d, %d, 3, 1, 1)", channels[0], channels[1]);
    x = mase_build_layer(g, x, "block_2.1 = ReLU()");
    const struct mase_node *size = mase_build_call(g, "%s.size(0)", x->name);
    x = mase_build_call(g, "%s.view(%s, %d, -1)", x->name, size->name, channels[1]);
    x = mase_build_layer(g, x, "block_3.0 = Conv1d(%d, %d, 3, 1, 1)", channels[1], channels[2]);
    x = mase_build_layer(g, x, "block_3.1 = ReLU()");
    x = mase_build_layer(g, x, "block_4.0 = Conv1d(%d, %d, 3, 1, 1)", channels[2], channels[3]);
    x = mase_build_layer(g, x, "block_4.1 = ReLU()");
    x = mase_build_layer(g, x, "avgpool = AdaptiveAvgPool1d(1)");
    x = mase_build_layer(g, as_rows(g, x), "linear = Linear(%d, %d)", channels[3], data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

enum mase_status mase_zoo_toy_convnet(struct mase_graph **out, const struct mase_data_info *data,
                                      struct mase_err *err)
{
    return mase_zoo_toy_convnet_of(out, (const int[4]){ 8, 16, 32, 64 }, data, err);
}
