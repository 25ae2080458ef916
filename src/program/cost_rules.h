/*
 * cost_rules.h - what a call computes: products that are summed, and other operations.
 *
 * costs.def names a rule for each operation. A rule reads a struct mase_call, so a node of a graph
 * and an instruction of a program are counted by the same rule; it needs shapes alone. What is too
 * large for a count stays the largest one, in all that follows from it.
 */
#ifndef MASE_PROGRAM_COST_RULES_H
#define MASE_PROGRAM_COST_RULES_H

#include <mase/call.h>

/* An operand, and the mark of its parameter, which says what format it has. */
struct mase_cost_operand {
    const struct mase_tensor *tensor; /* NULL: there is none */
    char mark;
};

struct mase_operations {
    int64_t macs, ops;
    double carries; /* of each product log2 of how many its sum has */
    struct mase_cost_operand x;
    struct mase_cost_operand *factor; /* what x is multiplied with; a recurrent layer has several */
    int factors;
};
/* Of a call whose result is known; factor is in the call's arena. */
void mase_call_operations(struct mase_operations *c, const struct mase_call *call);

int64_t mase_count_times(int64_t a, int64_t b);
int64_t mase_count_plus(int64_t a, int64_t b);
/* Of all tensors in an argument. */
int64_t mase_count_elements(const struct mase_arg *a);

/* How the values of an operand belong to features: number i to feature
 * i / group * each + i / run % each. */
struct mase_feature_layout {
    int64_t run, each, group;
};
/* The products of a dense layer or a convolution: every value of a feature of x is multiplied with
 * every weight of that feature, `share` times. */
struct mase_feature_products {
    int64_t features;
    double share;
    struct mase_feature_layout x, w;
};
/* false: the call is no such layer. */
bool mase_call_features(struct mase_feature_products *f, const struct mase_call *call);

#endif /* MASE_PROGRAM_COST_RULES_H */
