/*
 * costs.h - what a network costs: operations, bits and traffic of its nodes.
 *
 * What depends on shapes alone is found once; a price is asked of the number formats that the nodes
 * have at that time. So a search changes formats and asks again, which infers nothing and, where a
 * weight has had the format before, reads no values. docs/costs.md defines every number.
 */
#ifndef MASE_PROGRAM_COSTS_H
#define MASE_PROGRAM_COSTS_H

#include <mase/call.h>

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
void mase_cost_add(struct mase_cost *to, const struct mase_cost *c);
/* Is every number below 2^63? What is not is no number of anything. */
bool mase_cost_fits(const struct mase_cost *c);

struct mase_costs;

/* Of a graph with these inputs: of one sample when the batch is one. It borrows the graph, and is
 * made anew when a node, a parameter or a value of a weight has changed. */
enum mase_status mase_costs_new(struct mase_costs **out, const struct mase_graph *g,
                                const struct mase_input *inputs, int count,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_costs_free(struct mase_costs *costs);
/* In the formats in force: one node, and all of them, where a parameter that several calls share
 * counts once. */
struct mase_cost mase_costs_node(struct mase_costs *costs, const struct mase_node *n);
struct mase_cost mase_costs_total(struct mase_costs *costs);
/* Products that are summed, of all nodes: no price is asked. */
int64_t mase_costs_macs(const struct mase_costs *costs);

#endif /* MASE_PROGRAM_COSTS_H */
