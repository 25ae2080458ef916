/*
 * module_tree.h - the parameters of a graph in the order of PyTorch's state dict.
 *
 * Modules of a graph are a flat list; PyTorch walks a tree of containers: the parameters of a
 * container, its buffers, then its children in order of registration. The tree is built for each
 * walk.
 */
#ifndef MASE_IR_GRAPH_MODULE_TREE_H
#define MASE_IR_GRAPH_MODULE_TREE_H

#include <mase/graph.h>

/* One parameter with its full name and the module it belongs to (NULL: an attribute). */
typedef bool mase_tree_fn(const char *full, struct mase_param *p, const struct mase_module *m,
                          void *data);
void mase_tree_walk(const struct mase_graph *g, mase_tree_fn *fn, void *data);

#endif /* MASE_IR_GRAPH_MODULE_TREE_H */
