/*
 * ebops.h - effective bit operations: what the products of a quantised network cost, and how that
 * cost moves with the bits that formats learn.
 *
 * A product of a value of a bits with a weight of b bits, signs left out, counts a b; a bias adds
 * its bits for each output (Sun et al., 2024). Dense layers and convolutions count; what is in
 * float has 32 bits.
 */
#ifndef MASE_TRAIN_EBOPS_H
#define MASE_TRAIN_EBOPS_H

#include "exec/step.h"

struct mase_ebops;

/* Of the network that a plan trains; NULL when no format of it learns bits. */
struct mase_ebops *mase_ebops_new(const struct mase_plan *p);
void mase_ebops_free(struct mase_ebops *e);
/* By the bits that the plan's parameters say now. */
double mase_ebops(struct mase_ebops *e);
/* weight times the derivatives by what is learned, added to the plan's gradients. */
void mase_ebops_add_gradient(struct mase_ebops *e, double weight);

/* Remember what is learned of bits; and make it that again. */
void mase_ebops_hold(struct mase_ebops *e);
void mase_ebops_put_back(struct mase_ebops *e);

/* Layers that count, in the order of the program, and their mean bits now, signs included. */
struct mase_layer_bits {
    const char *layer;
    double data, weight; /* 0: not quantised */
    double ebops;
};
int mase_ebops_layers(struct mase_ebops *e, const struct mase_layer_bits **out);

#endif /* MASE_TRAIN_EBOPS_H */
