/*
 * graph_parts.h - what the files of this layer share of a graph's insides.
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
/* Append a copy of src under its name; what it uses must be in g already, under its name. */
struct mase_node *mase_graph_copy_node(struct mase_graph *g, const struct mase_node *src);
/* Is attribute i what the constructor takes when it is not given? */
bool mase_module_attr_is_default(const struct mase_module *m, int i);
struct mase_quant *mase_quant_copy(struct mase_arena *a, const struct mase_quant *q);
bool mase_quant_equal(const struct mase_quant *a, const struct mase_quant *b); /* NULL: float */

/* MASE_ELIMIT for a dotted path of more than 100 parts: walks of the tree are as deep. */
enum mase_status mase_check_path(const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* The parameters and buffers of m by its attributes, without data (params.c). */
enum mase_status mase_params_make(struct mase_module *m, struct mase_arena *a,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* Do they start by the same rule? Lists of values are not compared. */
bool mase_param_starts_as(const struct mase_param *p, const struct mase_param *d);

/* A table that says how a layer is quantised, checked: its keys and formats are known
 * (layer_formats.c). */
struct mase_quant_table {
    const struct mase_value *config;
    enum mase_quant_kind named;                    /* the class */
    enum mase_quant_kind kind[MASE_OPERAND_COUNT]; /* of each operand */
    bool bypass;
};
/* config must have a name; if that is of no format, t->named is MASE_QUANT_COUNT. */
enum mase_status mase_quant_table(struct mase_quant_table *t, const struct mase_value *config,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The keys of a table whose name is none, which leaves a layer alone: those of any format, so that
 * one is switched off by its name. */
enum mase_status mase_quant_table_none(const struct mase_value *config,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Does it say anything of this operand? */
bool mase_quant_table_mentions(const struct mase_quant_table *t, enum mase_operand o);
/* The format of one operand, all of whose parameters must be there. */
enum mase_status mase_quant_table_bind(struct mase_quant *q, const struct mase_quant_table *t,
                                       enum mase_operand o, struct mase_err *err) MASE_MUST_CHECK;

/* Is it a sum of products of data and weight, to which a bias is added: a linear layer, a
 * convolution? */
bool mase_op_adds_products(enum mase_op op);
/* The error of a bias that is to have the steps of products that have none. */
enum mase_status mase_products_refuse(const struct mase_node *n, struct mase_err *err);

/* {name: integer, data_in_width: 8, ...}: a quantisation as the dictionary it was bound from. */
struct mase_arg mase_quant_config(struct mase_arena *a, const struct mase_quant *q);

/* mase_graph_tie in two parts, for those who tie many: afterwards ties must be settled once. They
 * must be, too, when a module has gone that others were tied to. */
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

/* These nodes, calls of operator.add and its like, are x += y in the source. Where x is read later
 * they become calls that write in place; what cannot be followed is an error, as
 * mase_graph_check_writes has it (alias.c). */
enum mase_status mase_graph_follow_assigned(struct mase_graph *g, struct mase_node *const *nodes,
                                            int count, struct mase_err *err) MASE_MUST_CHECK;

/* Does a batch norm use the statistics of the batch it is given, in evaluation, too? Results then
 * depend on which samples are run together (batch.c). */
bool mase_graph_takes_batch_statistics(const struct mase_graph *g);

/* What a call is given for this parameter of its signature; NULL: nothing (alias.c). */
const struct mase_arg *mase_node_argument(const struct mase_node *n, const char *name);
/* Is no result, is no data operand of this call ever negative (sign.c)? */
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
