/*
 * graph_build.h - write a network in C the way one writes it in PyTorch.
 *
 * Layers and calls are given as the Python text that would make them, printf-formatted; names of
 * nodes stand for their values:
 *
 *     struct mase_node *x = mase_build_input(g, "x", NULL);
 *     x = mase_build_layer(g, x, "conv1 = Conv2d(3, %d, 3, padding=1)", channels);
 *     x = mase_build_call(g, "torch.flatten(%s, start_dim=1)", x->name);
 *     mase_build_output(g, x);
 *
 * The texts are ours, not the user's: a wrong one is a bug and says so. What the data must be like
 * is checked before (zoo.h).
 */
#ifndef MASE_IR_GRAPH_GRAPH_BUILD_H
#define MASE_IR_GRAPH_GRAPH_BUILD_H

#include <mase/graph.h>

/* A parameter of forward(); annotation is its declared type, or NULL. */
struct mase_node *mase_build_input(struct mase_graph *g, const char *name, const char *annotation);
/* "path = Class(arguments)": what __init__ registers, called or not. */
struct mase_module *mase_build_module(struct mase_graph *g, const char *fmt, ...) MASE_PRINTF(2, 3);
/* The same, and call it on x. */
struct mase_node *mase_build_layer(struct mase_graph *g, struct mase_node *x, const char *fmt, ...)
    MASE_PRINTF(3, 4);
/* A call of a registered module "relu(add)", an operation by its row's name "softmax(x, dim=1)", a
 * function "torch.flatten(x, 1)" or a method "x.view(size, -1)"; arguments are literals and nodes
 * by name. */
struct mase_node *mase_build_call(struct mase_graph *g, const char *fmt, ...) MASE_PRINTF(2, 3);
void mase_build_output(struct mase_graph *g, struct mase_node *x);

#endif /* MASE_IR_GRAPH_GRAPH_BUILD_H */
