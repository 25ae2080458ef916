/*
 * resnet.c - residual networks as torchvision has them: resnet18 and resnet34 of basic blocks,
 * resnet50 of bottlenecks whose stride is in the 3 x 3 convolution.
 *
 * Convolutions have no bias (a batch norm follows each) and start from Kaiming's normal
 * distribution for the outputs: standard deviation sqrt(2 / (channels * kernel area)).
 */
#include <math.h>

#include "frontend/zoo/zoo_parts.h"
#include "ir/graph/graph_build.h"

struct net {
    const char *name;
    bool bottleneck;
    int blocks[4]; /* in each of the four stages */
};

/* A block under construction. */
struct block {
    struct mase_graph *g;
    const char *path; /* "layer1.0." */
    int in;           /* channels that the next convolution sees */
};

static struct mase_node *conv(struct mase_graph *g, struct mase_node *x, const char *path, int in,
                              int out, int kernel, int stride)
{
    x = mase_build_layer(g, x,
                         "%s = Conv2d(%d, %d, kernel_size=%d, stride=%d, padding=%d, bias=False)",
                         path, in, out, kernel, stride, kernel / 2);
    struct mase_param *w = mase_module_param(mase_node_module(x), "weight");
    w->init = MASE_INIT_NORMAL;
    w->scale = (float)sqrt(2.0 / (out * kernel * kernel));
    return x;
}

/* The i-th convolution of a block and its batch norm: conv2, bn2. */
static struct mase_node *conv_norm(struct block *b, struct mase_node *x, int i, int out, int kernel,
                                   int stride)
{
    const char *path = mase_arena_printf(&b->g->arena, "%sconv%d", b->path, i);
    x = conv(b->g, x, path, b->in, out, kernel, stride);
    b->in = out;
    return mase_build_layer(b->g, x, "%sbn%d = BatchNorm2d(%d)", b->path, i, out);
}

static struct mase_node *relu(const struct block *b, const struct mase_node *x)
{
    return mase_build_call(b->g, "%srelu(%s)", b->path, x->name);
}

static struct mase_node *basic_block(struct block *b, struct mase_node *x, int width, int stride)
{
    x = relu(b, conv_norm(b, x, 1, width, 3, stride));
    return conv_norm(b, x, 2, width, 3, 1);
}

static struct mase_node *bottleneck(struct block *b, struct mase_node *x, int width, int stride)
{
    x = relu(b, conv_norm(b, x, 1, width, 1, 1));
    x = relu(b, conv_norm(b, x, 2, width, 3, stride));
    return conv_norm(b, x, 3, 4 * width, 1, 1);
}

/* One block: the residual, added to x or to its projection. Returns what leaves it; *channels goes
 * from x's to that. */
static struct mase_node *residual(struct mase_graph *g, struct mase_node *x, const struct net *net,
                                  const char *path, int *channels, int width, int stride)
{
    struct block b = { g, path, *channels };
    mase_build_module(g, "%srelu = ReLU(inplace=True)", path);
    struct mase_node *y =
        net->bottleneck ? bottleneck(&b, x, width, stride) : basic_block(&b, x, width, stride);
    if (stride != 1 || *channels != b.in) {
        x = conv(g, x, mase_arena_printf(&g->arena, "%sdownsample.0", path), *channels, b.in, 1,
                 stride);
        x = mase_build_layer(g, x, "%sdownsample.1 = BatchNorm2d(%d)", path, b.in);
    }
    *channels = b.in;
    return relu(&b, mase_build_call(g, "operator.add(%s, %s)", y->name, x->name));
}

static enum mase_status build(struct mase_graph **out, const struct net *net,
                              const struct mase_data_info *data, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank(net->name, data, 3, err));
    struct mase_graph *g = mase_graph_new(net->name);
    struct mase_node *x = mase_build_input(g, "x", "torch.Tensor");
    int channels = 64;
    x = conv(g, x, "conv1", (int)data->sample.dim[0], channels, 7, 2);
    x = mase_build_layer(g, x, "bn1 = BatchNorm2d(64)");
    x = mase_build_layer(g, x, "relu = ReLU(inplace=True)");
    x = mase_build_layer(g, x, "maxpool = MaxPool2d(kernel_size=3, stride=2, padding=1)");
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < net->blocks[stage]; i++)
            x = residual(g, x, net, mase_arena_printf(&g->arena, "layer%d.%d.", stage + 1, i),
                         &channels, 64 << stage, stage > 0 && i == 0 ? 2 : 1);
    x = mase_build_layer(g, x, "avgpool = AdaptiveAvgPool2d((1, 1))");
    x = mase_build_call(g, "torch.flatten(%s, 1)", x->name);
    x = mase_build_layer(g, x, "fc = Linear(%d, %d)", channels, data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

enum mase_status mase_zoo_resnet18(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    return build(out, &(struct net){ "resnet18", false, { 2, 2, 2, 2 } }, data, err);
}

enum mase_status mase_zoo_resnet34(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    return build(out, &(struct net){ "resnet34", false, { 3, 4, 6, 3 } }, data, err);
}

enum mase_status mase_zoo_resnet50(struct mase_graph **out, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    return build(out, &(struct net){ "resnet50", true, { 3, 4, 6, 3 } }, data, err);
}
