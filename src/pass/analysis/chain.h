/*
 * chain.h - a network run by the engine node by node, so that every value can be looked at.
 *
 * A plan of the whole network gives the memory of a value to others once it has been read. Here
 * each node is a plan of its own and keeps its result until the next batch; results are copied to
 * those who read them.
 */
#ifndef MASE_PASS_CHAIN_H
#define MASE_PASS_CHAIN_H

#include <mase/call.h>
#include <mase/plan.h>

struct mase_chain;

/* For a graph of one input and batches of at most so many samples. Fails where the engine does, and
 * where a node writes into what others read: the plain reference runs those. */
enum mase_status mase_chain_new(struct mase_chain **out, const struct mase_graph *g,
                                const struct mase_input *input, int64_t batch,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_chain_free(struct mase_chain *c);
/* Run n samples: x is (n, ...), row-major. */
void mase_chain_run(struct mase_chain *c, const float *x, int64_t n);
/* What a node computed of the last batch, and the shape of a sample with a batch of one. False for
 * the output, which computes nothing, and for constants. */
bool mase_chain_value(const struct mase_chain *c, const struct mase_node *n,
                      struct mase_lanes *value, struct mase_shape *shape);

#endif /* MASE_PASS_CHAIN_H */
