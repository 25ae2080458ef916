/*
 * source.h - users' models: a torch.nn.Module in a .py file, a list of layers.
 */
#ifndef MASE_FRONTEND_SOURCE_H
#define MASE_FRONTEND_SOURCE_H

#include <mase/zoo.h>

/* The graph, without weights, of `call`, "Net" or "Net(width=3)" (NULL: the only class), in the
 * Python file at path or the module of that name. */
enum mase_status mase_source_trace(struct mase_graph **g, const char *path, const char *call,
                                   const struct mase_data_info *data,
                                   const struct mase_model_opts *opts,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* Build the graph that the tracer's answer describes; path is the user's file, for messages. */
enum mase_status mase_source_read(struct mase_graph **g, const char *path, const char *answer,
                                  size_t size, struct mase_err *err) MASE_MUST_CHECK;

/* model.c: the sample shape of the input of this name and number; NULL: unknown. */
const struct mase_shape *mase_model_sample(const struct mase_data_info *data, const char *name,
                                           int number);

#endif /* MASE_FRONTEND_SOURCE_H */
