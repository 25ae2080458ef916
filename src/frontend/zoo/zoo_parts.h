/*
 * zoo_parts.h - what the builders of the zoo share; private to it.
 *
 * A builder checks the data, then makes the graph with the verbs of graph_build.h. Numbers are
 * printed as int in the texts: a dataset's lengths are small.
 */
#ifndef MASE_FRONTEND_ZOO_ZOO_PARTS_H
#define MASE_FRONTEND_ZOO_ZOO_PARTS_H

#include <mase/zoo.h>

typedef enum mase_status mase_zoo_fn(struct mase_graph **out, const struct mase_data_info *data,
                                     struct mase_err *err);
#define MODEL(name, class_name, build, ...) mase_zoo_fn mase_zoo_##build;
#include "frontend/zoo.def"

/* The model takes samples of so many dimensions: 1 features, 3 an image. */
enum mase_status mase_zoo_need_rank(const char *model, const struct mase_data_info *data, int rank,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* The model takes images of height x width only. */
enum mase_status mase_zoo_need_size(const char *model, const struct mase_data_info *data,
                                    int64_t height, int64_t width,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* toy_convnet with other channels: after block_1 ... block_4. */
enum mase_status mase_zoo_toy_convnet_of(struct mase_graph **out, const int channels[4],
                                         const struct mase_data_info *data,
                                         struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FRONTEND_ZOO_ZOO_PARTS_H */
