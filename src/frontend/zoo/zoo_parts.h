/*
 * zoo_parts.h - functions that builders of the zoo share; private to it.
 *
 * A builder checks the data, then makes the graph layer by layer.
 */
#ifndef MASE_FRONTEND_ZOO_ZOO_PARTS_H
#define MASE_FRONTEND_ZOO_ZOO_PARTS_H

#include <mase/zoo.h>

#include "ir/graph/graph_build.h"

typedef enum mase_status mase_zoo_fn(struct mase_graph **out, const struct mase_data_info *data,
                                     struct mase_err *err);
#define MODEL(name, class_name, build, ...) mase_zoo_fn mase_zoo_##build;
#include "frontend/zoo.def"

/* Fail unless samples have this rank: 1 features, 3 an image. */
enum mase_status mase_zoo_need_rank(const char *model, const struct mase_data_info *data, int rank,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Fail unless images are height x width. */
enum mase_status mase_zoo_need_size(const char *model, const struct mase_data_info *data,
                                    int64_t height, int64_t width,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* "PATH.I", in the graph's arena. */
const char *mase_zoo_path(struct mase_graph *g, const char *path, int i);
/* Register a layer under path and call it with x. */
struct mase_node *mase_zoo_linear(struct mase_graph *g, struct mase_node *x, const char *path,
                                  int in, int out);
struct mase_node *mase_zoo_norm(struct mase_graph *g, struct mase_node *x, enum mase_op op,
                                const char *path, int features, double momentum);
/* inplace: ReLU's argument, a bool or what PyTorch takes for one. */
struct mase_node *mase_zoo_relu(struct mase_graph *g, struct mase_node *x, const char *path,
                                int inplace);
struct mase_node *mase_zoo_max_pool(struct mase_graph *g, struct mase_node *x, const char *path,
                                    int kernel, int stride, int padding);
/* A convolution of channels[0] to channels[1] in windows of `kernel` per dimension. */
struct mase_conv {
    enum mase_op op;
    int channels[2], kernel, stride;
    struct mase_arg padding;
    bool bias;
};
struct mase_node *mase_zoo_conv(struct mase_graph *g, struct mase_node *x, const char *path,
                                const struct mase_conv *c);
/* x.view(x.size(0), -1): one row per sample. */
struct mase_node *mase_zoo_rows(struct mase_graph *g, struct mase_node *x);

/* toy_convnet with other channels: after block_1 ... block_4. */
enum mase_status mase_zoo_toy_convnet_of(struct mase_graph **out, const int channels[4],
                                         const struct mase_data_info *data,
                                         struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FRONTEND_ZOO_ZOO_PARTS_H */
