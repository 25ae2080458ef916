/*
 * compare.h - two networks side by side: what differs, and what the difference does to values.
 *
 * Nodes are paired by name, parameters by full name. Numbers are compared as numbers: 0.0 equals
 * -0.0, and NaN equals NaN; a NaN or an infinity on one side only is an infinite error.
 *
 *     struct mase_node_pair *pairs;
 *     int n = mase_compare_nodes(&pairs, &a, before, after);
 *     for (int i = 0; i < n; i++)
 *         if (pairs[i].a && pairs[i].b && !pairs[i].same_formats)
 *             ...
 */
#ifndef MASE_COMPARE_H
#define MASE_COMPARE_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/graph.h>
#include <mase/weights.h>

MASE_API_BEGIN

/* ---- values ---- */

/* Differences between two tensors. */
struct mase_error {
    int64_t count;  /* values compared */
    int64_t differ; /* values that are not equal */
    double max, mean;
    double sqnr; /* signal to noise, 10 log10(sum a^2 / sum (b - a)^2) dB; infinite: equal */
    int64_t rows, flips; /* rows of the last dimension, and those whose largest value moved */
};
/* Measure b against a. Returns false, and measures nothing, when the shapes differ. */
bool mase_error_measure(struct mase_error *e, const struct mase_tensor *a,
                        const struct mase_tensor *b);

/* ---- structure ---- */

struct mase_node_pair {
    const struct mase_node *a, *b; /* NULL: only the other graph has it */
    bool same_call;                /* kind, target, arguments, and the module's own attributes */
    bool same_formats;
};
/* Pairs of all nodes, in the order of a; nodes that only b has stand where they stand in b. Returns
 * the number of pairs. */
int mase_compare_nodes(struct mase_node_pair **out, struct mase_arena *arena,
                       const struct mase_graph *a, const struct mase_graph *b);

/* The formats of a node: "data_in integer(8, 4), weight integer(4, 3)"; "integer(8, 4)" when all
 * operands have one; "float". */
void mase_quant_print(struct mase_str *out, const struct mase_quant *q);

/* ---- parameters ---- */

struct mase_tensor_pair {
    const char *name;
    const struct mase_tensor *a, *b; /* NULL: only the other list has it */
    bool same_shape;
    struct mase_error error; /* valid when same_shape */
};
/* Pairs of all names, in the order of a, then those that only b has. Tensors must have data.
 * Returns the number of pairs. */
int mase_compare_tensors(struct mase_tensor_pair **out, struct mase_arena *arena,
                         const struct mase_named_tensor *a, int a_count,
                         const struct mase_named_tensor *b, int b_count);
/* Parameters and buffers of a graph in state-dict order; their data are borrowed from the graph.
 * Returns their number. */
int mase_graph_tensors(struct mase_named_tensor **out, struct mase_arena *arena,
                       const struct mase_graph *g);

/* ---- activations ---- */

struct mase_value_pair {
    const struct mase_node *a, *b;
    bool comparable; /* both results are one tensor, and the shapes agree */
    struct mase_error error;
};
/* Pairs of the results of nodes that both graphs have, in the order of a; va and vb are the values
 * of the two runs (run.h). Returns the number of pairs; *first is the index of the first pair that
 * differs, or -1. */
int mase_compare_values(struct mase_value_pair **out, int *first, struct mase_arena *arena,
                        const struct mase_graph *a, const struct mase_values *va,
                        const struct mase_graph *b, const struct mase_values *vb);

/* ---- quantised parameters ---- */

/* A weight or bias as its layer computes with it. */
struct mase_quantised {
    const struct mase_node *node;
    const char *name; /* "seq_blocks.2.weight" */
    struct mase_rounding rounding;
    float low, high;             /* of the format */
    float step;                  /* between neighbouring values; 0: it varies */
    const struct mase_tensor *x; /* the parameter */
    struct mase_tensor q;        /* the parameter, rounded */
    int64_t unrepresentable;     /* values of q that the format does not have */
    int64_t saturated;           /* values of x beyond low and high */
    struct mase_error error;     /* of q against x */
};
/* Every quantised parameter of g once, in the order of the nodes that use them. Parameters must
 * have data. Returns their number. */
int mase_quantised_params(struct mase_quantised **out, struct mase_arena *arena,
                          const struct mase_graph *g);
/* Replace p->q by q, values that another program rounded, and measure those. False when the shapes
 * differ. */
bool mase_quantised_check(struct mase_quantised *p, const struct mase_tensor *q);

MASE_API_END

#endif /* MASE_COMPARE_H */
