/*
 * module_tree.h - the parameters of a graph in the order of PyTorch's state dict.
 *
 * Modules are a flat list here; PyTorch walks a tree of containers: what a container holds itself
 * (parameters, then buffers), then its children in order of registration. The tree is made for the
 * length of one walk.
 */
#ifndef MASE_IR_GRAPH_MODULE_TREE_H
#define MASE_IR_GRAPH_MODULE_TREE_H

#include <mase/graph.h>

/* One parameter with its full name and the module it belongs to (NULL: an attribute). */
typedef bool mase_tree_fn(const char *full, struct mase_param *p, const struct mase_module *m,
                          void *data);
void mase_tree_walk(const struct mase_graph *g, mase_tree_fn *fn, void *data);

#endif /* MASE_IR_GRAPH_MODULE_TREE_H */
