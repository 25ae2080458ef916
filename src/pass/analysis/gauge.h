/*
 * gauge.h - the statistics of one value of a plan, taken while it is in the cache.
 *
 * A gauge watches a node (plan.h). Threads first share the samples: kernels find extremes, moments
 * and counts of bins, each block of samples by itself. Then the statistics take these, in the order
 * of the blocks, or look at the values themselves where no kernel serves them. Neither depends on
 * the number of threads.
 */
#ifndef MASE_PASS_GAUGE_H
#define MASE_PASS_GAUGE_H

#include <mase/plan.h>

#include "pass/analysis/stat.h"

struct mase_gauge;

/* Let the statistics watch what a node computes, `total` samples in all. NULL without an error when
 * it is nothing that follows the samples. In the arena, as long as the plan. */
enum mase_status mase_gauge_new(struct mase_gauge **out, struct mase_arena *a, struct mase_plan *p,
                                const struct mase_node *node, struct mase_stat **stats, int count,
                                int64_t total, struct mase_err *err) MASE_MUST_CHECK;
/* Before each forward: how many samples. */
void mase_gauge_expect(struct mase_gauge *g, int64_t samples);
/* All samples were there once. */
void mase_gauge_end_round(struct mase_gauge *g);

#endif /* MASE_PASS_GAUGE_H */
