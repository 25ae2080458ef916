/*
 * graph_text.h - networks for tests, written as in PyTorch.
 *
 * Layers and calls are Python text, printf-formatted; the name of a node stands for its value:
 *
 *     struct mase_node *x = mase_build_input(g, "x", NULL);
 *     x = text_layer(g, x, "conv1 = Conv2d(3, %d, 3, padding=1)", channels);
 *     x = text_call(g, "torch.flatten(%s, start_dim=1)", x->name);
 *     mase_build_output(g, x);
 *
 * A wrong text aborts the test.
 */
#ifndef MASE_TESTS_GRAPH_TEXT_H
#define MASE_TESTS_GRAPH_TEXT_H

#include "ir/graph/graph_build.h"

/* "path = Class(arguments)": what __init__ registers, called or not. */
struct mase_module *text_module(struct mase_graph *g, const char *fmt, ...) MASE_PRINTF(2, 3);
/* Register such a module and call it with x. */
struct mase_node *text_layer(struct mase_graph *g, struct mase_node *x, const char *fmt, ...)
    MASE_PRINTF(3, 4);
/* A call of a registered module "relu(add)", an operation by its row's name "softmax(x, dim=1)", a
 * function "torch.flatten(x, 1)" or a method "x.view(size, -1)"; arguments are literals and nodes
 * by name. */
struct mase_node *text_call(struct mase_graph *g, const char *fmt, ...) MASE_PRINTF(2, 3);

#endif /* MASE_TESTS_GRAPH_TEXT_H */
