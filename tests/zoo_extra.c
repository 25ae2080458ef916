/*
 * zoo_extra.c - networks that only tests need.
 */
#include "zoo_extra.h"

#include "frontend/zoo/zoo_parts.h"
#include "graph_text.h"

/* Residual connections through torch.add and operator.add. */
static struct mase_graph *res_mlp(const struct mase_data_info *data)
{
    struct mase_graph *g = mase_graph_new("res_mlp");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    x = text_layer(g, x, "bn_in = BatchNorm1d(16)");
    x = text_layer(g, x, "fc1 = Linear(16, 24)");
    struct mase_node *h = text_layer(g, x, "relu1 = ReLU()");
    x = text_layer(g, h, "fc2 = Linear(24, 24)");
    x = text_layer(g, x, "bn2 = BatchNorm1d(24)");
    struct mase_node *y = text_call(g, "torch.add(%s, %s)", x->name, h->name);
    x = text_layer(g, y, "fc3 = Linear(24, 24, bias=False)");
    x = text_layer(g, x, "relu3 = ReLU(inplace=True)");
    x = text_call(g, "operator.add(%s, %s)", y->name, x->name);
    x = text_call(g, "torch.nn.functional.relu(%s, inplace=False)", x->name);
    x = text_layer(g, x, "head = Linear(24, %d)", data->classes);
    mase_build_output(g, x);
    return g;
}

/* Convolutions, one of them grouped, batch norms, pooling. */
static struct mase_graph *conv_bn(const struct mase_data_info *data)
{
    struct mase_graph *g = mase_graph_new("conv_bn");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    x = text_layer(g, x, "conv1 = Conv2d(3, 8, 3, padding=1)");
    x = text_layer(g, x, "bn1 = BatchNorm2d(8)");
    x = text_layer(g, x, "relu1 = ReLU()");
    x = text_layer(g, x, "pool = MaxPool2d(2, 2)");
    x = text_layer(g, x, "conv2 = Conv2d(8, 12, 3, stride=2, padding=1, groups=4, bias=False)");
    x = text_layer(g, x, "bn2 = BatchNorm2d(12)");
    x = text_layer(g, x, "relu2 = ReLU()");
    x = text_layer(g, x, "avg = AdaptiveAvgPool2d((1, 1))");
    x = text_call(g, "torch.flatten(%s, start_dim=1)", x->name);
    x = text_layer(g, x, "fc = Linear(12, %d)", data->classes);
    mase_build_output(g, x);
    return g;
}

/* Products of activations. */
static struct mase_graph *matmul_net(const struct mase_data_info *data)
{
    struct mase_graph *g = mase_graph_new("matmul_net");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    text_layer(g, x, "q = Linear(16, 32)");
    text_call(g, "x.size(0)");
    text_call(g, "q.view(size, 4, 8)");
    text_layer(g, x, "k = Linear(16, 32)");
    text_call(g, "x.size(0)");
    text_call(g, "k.view(size_1, 8, 4)");
    text_layer(g, x, "v = Linear(16, 32)");
    text_call(g, "x.size(0)");
    text_call(g, "v.view(size_2, 4, 8)");
    text_call(g, "torch.matmul(view, view_1)");
    text_call(g, "torch.bmm(matmul, view_2)");
    text_call(g, "operator.mul(bmm, view)");
    text_call(g, "operator.sub(mul, view_2)");
    text_call(g, "sub.size(0)");
    x = text_call(g, "sub.view(size_3, -1)");
    mase_build_output(g, text_layer(g, x, "out = Linear(32, %d)", data->classes));
    return g;
}

/* Layers, then arithmetic of a tensor with itself. */
static struct mase_graph *toy_testmodel(const struct mase_data_info *data)
{
    struct mase_graph *g = mase_graph_new("toy_testmodel");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    x = text_layer(g, x, "seq_blocks.0 = Conv2d(3, 16, 3, 1, 1)");
    x = text_layer(g, x, "seq_blocks.1 = ReLU()");
    x = text_layer(g, x, "seq_blocks.2 = Conv2d(16, 32, 3, 1, 1)");
    x = text_layer(g, x, "seq_blocks.3 = ReLU()");
    text_layer(g, x, "seq_blocks.4 = AvgPool2d(kernel_size=2)");
    text_call(g, "seq_blocks_4.size(0)");
    x = text_call(g, "seq_blocks_4.view(size, 32, -1)");
    text_layer(g, x, "conv1d = Conv1d(32, 64, 3, 1, 1)");
    text_call(g, "conv1d.size(0)");
    x = text_call(g, "conv1d.view(size_1, -1)");
    text_layer(g, x, "fc = Linear(64, 100)");
    text_call(g, "operator.add(fc, fc)");
    text_call(g, "operator.sub(add, add)");
    x = text_call(g, "operator.mul(sub, sub)");
    x = text_layer(g, x, "relu = ReLU()");
    mase_build_output(g, text_layer(g, x, "fc2 = Linear(100, %d)", data->classes));
    return g;
}

/* Functions with constants, a call whose result nobody uses, and a constant tensor of ones. */
static struct mase_graph *toy_custom_fn(const struct mase_data_info *data)
{
    (void)data;
    struct mase_graph *g = mase_graph_new("toy_custom_fn");
    mase_build_input(g, "x", NULL);
    struct mase_node *x = text_call(g, "torch.flatten(x, start_dim=1)");
    x = text_layer(g, x, "seq_blocks.0 = Linear(16, 100)");
    text_layer(g, x, "seq_blocks.1 = ReLU()");
    text_call(g, "torch.nn.functional.relu(seq_blocks_1, inplace=False)");
    text_call(g, "operator.add(relu, relu)");
    text_call(g, "operator.add(add, 2)");
    text_call(g, "operator.mul(add_1, add_1)");
    text_call(g, "operator.mul(mul, 2)");
    text_call(g, "operator.sub(mul_1, mul_1)");
    text_call(g, "operator.sub(sub, 2)");
    text_call(g, "sub_1.size(0)");
    x = text_call(g, "sub_1.view(size, 1, 10, 10)");
    text_layer(g, x, "conv2d = Conv2d(1, 100, 3, padding='same')");
    text_layer(g, x, "adaptive_pool = AdaptiveAvgPool2d((1, 1))");
    text_call(g, "adaptive_pool.size(0)");
    text_call(g, "adaptive_pool.size(1)");
    x = text_call(g, "adaptive_pool.view(size_1, size_2, -1)");
    text_layer(g, x, "conv1d = Conv1d(1, 100, 1)");
    text_call(g, "conv1d.size(0)");
    text_call(g, "conv1d.view(size_3, -1)");
    const struct mase_shape shape = { 2, { 100, 8 } };
    mase_graph_add_attr(g, "_tensor_constant0", MASE_F32, &shape, MASE_PARAM_BUFFER)->init =
        MASE_INIT_ONES;
    mase_graph_insert(g, NULL, MASE_GET_ATTR, "_tensor_constant0", NULL, NULL);
    text_call(g, "torch.matmul(_tensor_constant0, view_2)");
    text_call(g, "matmul.size(0)");
    text_call(g, "matmul.size(1)");
    text_call(g, "matmul.view(1, size_4, size_5)");
    mase_build_output(g, text_call(g, "torch.bmm(view_3, view_3)"));
    return g;
}

static struct mase_graph *narrow_convnet(const struct mase_data_info *data)
{
    struct mase_graph *g = NULL;
    struct mase_err err;
    if (mase_zoo_toy_convnet_of(&g, (const int[4]){ 4, 6, 8, 12 }, data, &err))
        mase_bug("%s", err.msg);
    return g;
}

const struct extra_model extra_models[] = {
    { "res_mlp", { .sample = { 1, { 16 } }, .classes = 5 }, res_mlp },
    { "conv_bn", { .sample = { 3, { 3, 8, 8 } }, .classes = 10 }, conv_bn },
    { "matmul_net", { .sample = { 1, { 16 } }, .classes = 5 }, matmul_net },
    { "toy_testmodel", { .sample = { 3, { 3, 2, 2 } }, .classes = 10 }, toy_testmodel },
    { "toy_custom_fn", { .sample = { 3, { 1, 4, 4 } }, .classes = 10 }, toy_custom_fn },
    { "toy_convnet", { .sample = { 3, { 3, 8, 8 } }, .classes = 10 }, narrow_convnet },
    { 0 },
};

const struct extra_model *extra_model(const char *name)
{
    for (const struct extra_model *m = extra_models; m->name; m++)
        if (mase_streq(m->name, name))
            return m;
    return NULL;
}
