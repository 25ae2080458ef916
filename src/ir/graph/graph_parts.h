/*
 * graph_parts.h - internals of graphs, shared by the files of this layer.
 */
#ifndef MASE_IR_GRAPH_GRAPH_PARTS_H
#define MASE_IR_GRAPH_GRAPH_PARTS_H

#include <mase/graph.h>

/* Insert a node under exactly this name, which must be free: for copies and files. */
struct mase_node *mase_graph_insert_exact(struct mase_graph *g, struct mase_node *at,
                                          enum mase_node_kind kind, const char *name,
                                          const char *target, const struct mase_arg *args,
                                          const struct mase_arg *kwargs);
/* The row a target resolves to. */
enum mase_op mase_graph_resolve(const struct mase_graph *g, enum mase_node_kind kind,
                                const char *target);
/* "_tensor_constant0": made by the tracer, not by the model's author. */
bool mase_is_tensor_constant(const char *target);
/* Copy src's registered module into g: same path, own attributes, the data of src's parameters. */
struct mase_module *mase_graph_copy_module(struct mase_graph *g, const struct mase_module *src);
struct mase_param *mase_graph_copy_attr(struct mase_graph *g, const struct mase_param *src);
/* Append a copy of src under its name; copies of its inputs must be in g already, under their
 * names. */
struct mase_node *mase_graph_copy_node(struct mase_graph *g, const struct mase_node *src);
/* Construct m anew with other attributes, all at once. Every parameter starts anew, without memory
 * before mase_graph_alloc; frozen ones stay frozen. No other parameter may be tied to one of m. */
struct mase_module_attr {
    const char *name;
    struct mase_arg value;
};
enum mase_status mase_module_rebuild(struct mase_graph *g, struct mase_module *m,
                                     const struct mase_module_attr *list, int count,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Has attribute i its default value? */
bool mase_module_attr_is_default(const struct mase_module *m, int i);
struct mase_quant *mase_quant_copy(struct mase_arena *a, const struct mase_quant *q);
bool mase_quant_equal(const struct mase_quant *a, const struct mase_quant *b); /* NULL: float */

/* MASE_ELIMIT for a dotted path of more than 100 parts: walks of the tree are as deep. */
enum mase_status mase_check_path(const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* The parameters and buffers of m by its attributes, without data (params.c). */
enum mase_status mase_params_make(struct mase_module *m, struct mase_arena *a,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* Have both the same rule of initialisation? Lists of values are not compared. */
bool mase_param_starts_as(const struct mase_param *p, const struct mase_param *d);

/* A checked table of a layer's formats, with known keys and formats (layer_formats.c). */
struct mase_quant_table {
    const struct mase_value *config;
    enum mase_quant_kind named;                    /* the class */
    enum mase_quant_kind kind[MASE_OPERAND_COUNT]; /* of each operand */
    bool bypass;
};
/* config must have a name; t->named is MASE_QUANT_COUNT if no format has that name. */
enum mase_status mase_quant_table(struct mase_quant_table *t, const struct mase_value *config,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Check the keys of a table whose name is none, which leaves a layer in float: keys of every format
 * are allowed, so that setting the name to none is enough. */
enum mase_status mase_quant_table_none(const struct mase_value *config,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Does the table have a key for this operand? */
bool mase_quant_table_mentions(const struct mase_quant_table *t, enum mase_operand o);
/* The format of one operand; all its parameters must be present. */
enum mase_status mase_quant_table_bind(struct mase_quant *q, const struct mase_quant_table *t,
                                       enum mase_operand o, struct mase_err *err) MASE_MUST_CHECK;

/* Does the operation compute sums of products of data and weight plus a bias, as a linear layer or
 * a convolution? */
bool mase_op_adds_products(enum mase_op op);
/* The error for a bias whose format takes its steps from products without steps. */
enum mase_status mase_products_refuse(const struct mase_node *n, struct mase_err *err);

/* {name: integer, data_in_width: 8, ...}: a quantisation as the dictionary it was bound from. */
struct mase_arg mase_quant_config(struct mase_arena *a, const struct mase_quant *q);

/* mase_graph_tie in two parts, to tie many parameters: add all ties, then settle them once. Settle
 * also after a module was removed that others are tied to. */
enum mase_status mase_graph_add_tie(struct mase_graph *g, const char *path, const char *to,
                                    struct mase_err *err) MASE_MUST_CHECK;
void mase_graph_settle_ties(struct mase_graph *g);

/* Modules and attributes in order of registration: begin with { 0 }; one of both is not NULL. */
struct mase_registered {
    struct mase_module *module;
    struct mase_param *attr;
    int modules, attrs; /* passed so far */
    struct mase_module *next;
};
bool mase_graph_next_registered(const struct mase_graph *g, struct mase_registered *r);

/* These nodes, calls of operator.add and similar functions, are x += y in the source. If x is read
 * later they become calls that write in place; a write that cannot be followed is an error, as in
 * mase_graph_check_writes (alias.c). */
enum mase_status mase_graph_follow_assigned(struct mase_graph *g, struct mase_node *const *nodes,
                                            int count, struct mase_err *err) MASE_MUST_CHECK;

/* Does a batch norm use the statistics of the batch in evaluation, too, so that results depend on
 * the other samples of the batch (batch.c)? */
bool mase_graph_takes_batch_statistics(const struct mase_graph *g);

/* The argument of a call for this parameter of its signature; NULL: none (alias.c). */
const struct mase_arg *mase_node_argument(const struct mase_node *n, const char *name);
/* Is the result never negative? Is no data operand of the call ever negative (sign.c)? */
bool mase_node_never_negative(const struct mase_node *n);
bool mase_data_never_negative(const struct mase_node *n);

/* Free the weight blocks that g owns. */
void mase_weights_free(struct mase_graph *g);

/* Bytes of weights beyond which a graph is refused. */
#define MASE_MAX_WEIGHTS ((int64_t)64 << 30)

/* As mase_graph_equal has it (graph_equal.c). */
bool mase_param_equal(const struct mase_param *a, const struct mase_param *b);
bool mase_module_equal(const struct mase_module *a, const struct mase_module *b);

#endif /* MASE_IR_GRAPH_GRAPH_PARTS_H */
