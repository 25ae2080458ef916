/*
 * py.h - the parts of writing a graph as a class for PyTorch.
 */
#ifndef MASE_IR_TEXT_PY_H
#define MASE_IR_TEXT_PY_H

#include "ir/graph/graph_parts.h"

/* ---- what the class holds (py_tree.c) ---- */

struct mase_py_part {
    const char *name;
    const struct mase_module *module;         /* a leaf: a layer */
    const struct mase_param *param;           /* a leaf: a parameter, buffer or constant */
    const struct mase_module *same;           /* another place of this layer */
    struct mase_py_part *first, *last, *next; /* children, in order of registration */
    const struct mase_py_part *parent;
    bool pinned; /* some call keeps the layer in one mode */
};

struct mase_py_parts {
    struct mase_arena *arena;
    struct mase_map by_path;
    struct mase_py_part root;
};

void mase_py_tree(struct mase_py_parts *t, const struct mase_graph *g);
/* The part that a path leads to; the rest after a layer is a parameter's name, or empty. */
const struct mase_py_part *mase_py_find(const struct mase_py_parts *t, const char *path,
                                        const char **rest);
/* Does what a node reads or calls exist? */
bool mase_py_is_there(const struct mase_py_parts *t, const struct mase_node *n);
/* Is it a name in Python? */
bool mase_py_is_name(const char *s);
void mase_py_string(struct mase_str *out, const char *s);
/* self.blocks[0].fc */
void mase_py_path(struct mase_str *out, const struct mase_py_parts *t, const char *path);
/* Are there modules in it that only hold others? */
bool mase_py_has_parts(const struct mase_py_parts *t);
/* The statements of __init__. */
void mase_py_content(struct mase_str *out, const struct mase_py_parts *t,
                     const struct mase_graph *g);

#endif /* MASE_IR_TEXT_PY_H */
