/*
 * graph_build.h - append calls to a graph, as builders of networks in C do.
 *
 *     struct mase_node *x = mase_build_input(g, "x", NULL);
 *     x = mase_build_layer(g, x, MASE_OP_linear, "fc1",
 *                          MASE_ARGS(mase_arg_int(16), mase_arg_int(5)));
 *     x = mase_build_call(g, MASE_CALL_FUNCTION, "torch.flatten",
 *                         MASE_ARGS(mase_arg_node(x), mase_arg_int(1)));
 *     mase_build_output(g, x);
 *
 * Arguments are positional. Wrong ones are a bug of the builder, not an error of the user.
 */
#ifndef MASE_IR_GRAPH_GRAPH_BUILD_H
#define MASE_IR_GRAPH_GRAPH_BUILD_H

#include <mase/graph.h>

/* A list of arguments and its length, as two arguments of a call. */
#define MASE_ARGS(...)                        \
    (const struct mase_arg[]){ __VA_ARGS__ }, \
        (int)(sizeof((const struct mase_arg[]){ __VA_ARGS__ }) / sizeof(struct mase_arg))

/* A parameter of forward(); annotation is its declared type, or NULL. */
struct mase_node *mase_build_input(struct mase_graph *g, const char *name, const char *annotation);
/* Register the module of op's row under path, called or not. */
struct mase_module *mase_build_module(struct mase_graph *g, enum mase_op op, const char *path,
                                      const struct mase_arg *args, int count);
/* Register a module and call it with x. */
struct mase_node *mase_build_layer(struct mase_graph *g, struct mase_node *x, enum mase_op op,
                                   const char *path, const struct mase_arg *args, int count);
/* A call of a function, a method or a registered module, by its target. */
struct mase_node *mase_build_call(struct mase_graph *g, enum mase_node_kind kind,
                                  const char *target, const struct mase_arg *args, int count);
void mase_build_output(struct mase_graph *g, struct mase_node *x);

#endif /* MASE_IR_GRAPH_GRAPH_BUILD_H */
