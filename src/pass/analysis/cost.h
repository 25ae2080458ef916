/*
 * cost.h - what a node costs: operations, bits and traffic, from its metadata alone.
 *
 * Counts are of the shapes in the metadata: of one sample when the batch is one. docs/costs.md
 * defines every number.
 */
#ifndef MASE_PASS_COST_H
#define MASE_PASS_COST_H

#include <mase/graph.h>

struct mase_cost {
    int64_t macs;       /* products that are summed */
    int64_t ops;        /* other arithmetic, in operations */
    int64_t flops;      /* 2 macs + ops */
    int64_t params;     /* values of parameters, frozen ones too */
    int64_t param_bits; /* parameters and buffers as they are stored */
    int64_t in_bits, out_bits;
    int64_t traffic;        /* bytes: every operand read once, the result written once */
    int64_t nonzero_macs;   /* those whose weight is not zero */
    int64_t bitops;         /* macs times the widths of both factors */
    int64_t nonzero_bitops; /* those whose weight is not zero */
    double bops;            /* and the adder of every product */
    int64_t ebops;          /* of each weight the bits from its highest to its lowest one */
    int64_t train_flops;
};

/* The node must have common metadata. */
struct mase_cost mase_node_cost(const struct mase_node *n);
void mase_cost_add(struct mase_cost *to, const struct mase_cost *c);
/* Is every number below 2^63? What is not is no number of anything. */
bool mase_cost_fits(const struct mase_cost *c);
/* Every node of a graph with common metadata. A parameter that several calls share counts once. */
struct mase_cost mase_graph_cost(const struct mase_graph *g);

#endif /* MASE_PASS_COST_H */
