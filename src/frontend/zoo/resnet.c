/*
 * resnet.c - residual networks as torchvision has them: resnet18 and resnet34 of basic blocks,
 * resnet50 of bottlenecks whose stride is in the 3 x 3 convolution.
 *
 * Convolutions have no bias (a batch norm follows each) and start from Kaiming's normal
 * distribution for the outputs: standard deviation sqrt(2 / (channels * kernel area)).
 */
#include <math.h>

#include "frontend/zoo/zoo_parts.h"

struct net {
    const char *name;
    bool bottleneck;
    int blocks[4]; /* blocks of each stage */
};

/* A block under construction. */
struct block {
    struct mase_graph *g;
    const char *path; /* "layer1.0." */
    int in;           /* input channels of the next convolution */
};

static struct mase_node *conv(struct mase_graph *g, struct mase_node *x, const char *path, int in,
                              int out, int kernel, int stride)
{
    x = mase_zoo_conv(g, x, path,
                      &(struct mase_conv){ .op = MASE_OP_conv2d,
                                           .channels = { in, out },
                                           .kernel = kernel,
                                           .stride = stride,
                                           .padding = mase_arg_int(kernel / 2) });
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
    path = mase_arena_printf(&b->g->arena, "%sbn%d", b->path, i);
    return mase_zoo_norm(b->g, x, MASE_OP_batch_norm2d, path, out, 0.1);
}

static struct mase_node *relu(const struct block *b, struct mase_node *x)
{
    return mase_build_call(b->g, MASE_CALL_MODULE,
                           mase_arena_printf(&b->g->arena, "%srelu", b->path),
                           MASE_ARGS(mase_arg_node(x)));
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

/* A residual block: the result added to x or its projection. *channels: channels of x, then of the
 * result. */
static struct mase_node *residual(struct mase_graph *g, struct mase_node *x, const struct net *net,
                                  const char *path, int *channels, int width, int stride)
{
    struct block b = { g, path, *channels };
    mase_build_module(g, MASE_OP_relu, mase_arena_printf(&g->arena, "%srelu", path),
                      MASE_ARGS(mase_arg_bool(true)));
    struct mase_node *y =
        net->bottleneck ? bottleneck(&b, x, width, stride) : basic_block(&b, x, width, stride);
    if (stride != 1 || *channels != b.in) {
        x = conv(g, x, mase_arena_printf(&g->arena, "%sdownsample.0", path), *channels, b.in, 1,
                 stride);
        x = mase_zoo_norm(g, x, MASE_OP_batch_norm2d,
                          mase_arena_printf(&g->arena, "%sdownsample.1", path), b.in, 0.1);
    }
    *channels = b.in;
    return relu(&b, mase_build_call(g, MASE_CALL_FUNCTION, "operator.add",
                                    MASE_ARGS(mase_arg_node(y), mase_arg_node(x))));
}

static enum mase_status build(struct mase_graph **out, const struct net *net,
                              const struct mase_data_info *data, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank(net->name, data, 3, err));
    struct mase_graph *g = mase_graph_new(net->name);
    struct mase_node *x = mase_build_input(g, "x", "torch.Tensor");
    int channels = 64;
    x = conv(g, x, "conv1", (int)data->sample.dim[0], channels, 7, 2);
    x = mase_zoo_norm(g, x, MASE_OP_batch_norm2d, "bn1", channels, 0.1);
    x = mase_zoo_relu(g, x, "relu", true);
    x = mase_zoo_max_pool(g, x, "maxpool", 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < net->blocks[stage]; i++)
            x = residual(g, x, net, mase_arena_printf(&g->arena, "layer%d.%d.", stage + 1, i),
                         &channels, 64 << stage, stage > 0 && i == 0 ? 2 : 1);
    const struct mase_arg pooled =
        mase_arg_seq(&g->arena, MASE_ARG_TUPLE, MASE_ARGS(mase_arg_int(1), mase_arg_int(1)));
    x = mase_build_layer(g, x, MASE_OP_adaptive_avg_pool2d, "avgpool", MASE_ARGS(pooled));
    x = mase_build_call(g, MASE_CALL_FUNCTION, "torch.flatten",
                        MASE_ARGS(mase_arg_node(x), mase_arg_int(1)));
    x = mase_zoo_linear(g, x, "fc", channels, data->classes);
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
