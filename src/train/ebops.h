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

#include <mase/train.h>

#include "exec/plan/step.h"

struct mase_ebops;

/* Of the network that a plan trains; NULL when it has no number formats. */
struct mase_ebops *mase_ebops_new(const struct mase_plan *p);
void mase_ebops_free(struct mase_ebops *e);
/* Does any format learn its bits? e may be NULL. */
bool mase_ebops_learns(const struct mase_ebops *e);
/* By the bits that the graph's parameters say, which are what is evaluated and kept. */
double mase_ebops(struct mase_ebops *e);
/* A layer's part of what was counted last; NaN: it has no products that count. */
double mase_ebops_of(const struct mase_ebops *e, const struct mase_node *n);
/* weight times the derivatives by what is learned, added to the plan's gradients. By the plan's
 * parameters, which are what is trained. */
void mase_ebops_add_gradient(struct mase_ebops *e, double weight);

/* Remember what is learned of bits; and make it that again. */
void mase_ebops_hold(struct mase_ebops *e);
void mase_ebops_put_back(struct mase_ebops *e);

/* In a step (counted from 0) of a run with so many an epoch: what opts->ebops_weight comes to, and
 * whether bits stay as they are. */
double mase_ebops_weight(const struct mase_train_opts *o, int64_t step, int64_t steps_per_epoch);
bool mase_ebops_holds(const struct mase_train_opts *o, int64_t step, int64_t steps_per_epoch);

bool mase_learns_bits(const struct mase_format *f);
bool mase_rounding_has_sign(const struct mase_rounding *how); /* which has a format */

/* ---- count_bits.c: how many bits every operand has ---- */

struct mase_bits;

/* Of the network that a plan trains; NULL when it has no number formats. */
struct mase_bits *mase_bits_new(const struct mase_plan *p);
void mase_bits_free(struct mase_bits *b);
/* By the graph's parameters, in the order of the program; e has counted. They are b's until it is
 * asked again. Returns how many. */
int mase_bits_count(struct mase_bits *b, const struct mase_ebops *e,
                    const struct mase_layer_bits **out);

#endif /* MASE_TRAIN_EBOPS_H */
