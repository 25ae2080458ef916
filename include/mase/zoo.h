/*
 * zoo.h - models: networks by name, and networks in a user's own files.
 */
#ifndef MASE_ZOO_H
#define MASE_ZOO_H

#include <mase/api.h>
#include <mase/data.h>
#include <mase/graph.h>
#include <mase/onnx.h>
#include <mase/value.h>

MASE_API_BEGIN

struct mase_model {
    const char *name;       /* "jsc-tiny" */
    const char *class_name; /* "JSC_Tiny": of the original's module */
    const char *task;       /* "physical", "vision", "toy" */
    const char *dataset; /* the data it is usually trained on: gives --info its parameter count */
    const char *help;
    /* Build the graph for this data, without weights. */
    enum mase_status (*build)(struct mase_graph **g, const struct mase_data_info *data,
                              struct mase_err *err);
};

extern const struct mase_model mase_zoo[]; /* ends with a NULL name */

/* Find a model by name; '-' and '_' are equal. An unknown name is an error that says the nearest
 * one. */
enum mase_status mase_zoo_find(const struct mase_model **m, const char *name,
                               struct mase_err *err) MASE_MUST_CHECK;

/* Limits of tracing a .py file; 0: the default. */
struct mase_model_opts {
    double seconds;   /* 20 */
    double memory_mb; /* 4096, of address space */
    /* Set: trace a loss instead of a network. A loss is a module or function of an output and a
     * target: data describes a sample of the output, and this one of the target. */
    const struct mase_tensor *target;
};

/* Does spec name a file: net.mg, net.onnx, net.py, net.py:Net, net.py:Net(width=3)? Or a module of
 * an installed package: torchvision.models:resnet18(num_classes=10)? */
bool mase_model_is_file(const char *spec);
/* "Net" of "net.py:Net(width=3)"; NULL when spec names no class. */
const char *mase_model_class(struct mase_arena *a, const char *spec);
/* The graph that spec names, for this data, without weights: a file, or a model of the zoo. A .py
 * file is executed, by python3 in a child process. opts may be NULL. */
enum mase_status mase_model_open(struct mase_graph **g, const char *spec,
                                 const struct mase_data_info *data,
                                 const struct mase_model_opts *opts,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The graph of an ONNX file, with the weights of the file. sample: the shape that samples shall
 * have, or NULL. info gets the shape that they have. */
enum mase_status mase_model_open_onnx(struct mase_graph **g, struct mase_onnx_info *info,
                                      const char *path, const struct mase_shape *sample,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* What samples of the inputs behind the first are like: arrays of the data by their names, else in
 * their order. */
void mase_model_set_inputs(struct mase_graph *g, const struct mase_data_info *data);
/* A chain of layers from a list of texts in PyTorch's notation, "Linear(16, 64)". Errors point into
 * the texts. */
enum mase_status mase_model_layers(struct mase_graph **g, const char *name,
                                   const struct mase_value *layers,
                                   struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_ZOO_H */
