/*
 * collector.h - the statistics of one value of a plan, taken while it is in the cache.
 *
 * A collector watches a node (plan.h). Threads first share the samples: kernels find extremes,
 * moments and counts of bins, each block of samples by itself. Then the statistics take these, in
 * the order of the blocks, or look at the values themselves where no kernel serves them. Neither
 * depends on the number of threads.
 */
#ifndef MASE_PASS_COLLECTOR_H
#define MASE_PASS_COLLECTOR_H

#include <mase/plan.h>

#include "pass/analysis/stat.h"

struct mase_collector;

/* Let the statistics watch the value of a node, for `total` samples. *out is NULL without an error
 * if the value does not depend on the samples. Allocated in a; must live as long as the plan. */
enum mase_status mase_collector_new(struct mase_collector **out, struct mase_arena *a,
                                    struct mase_plan *p, const struct mase_node *node,
                                    struct mase_stat **stats, int count, int64_t total,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Call before each forward with the number of samples. */
void mase_collector_expect(struct mase_collector *col, int64_t samples);
/* Call when all samples have passed once. */
void mase_collector_end_round(struct mase_collector *col);

#endif /* MASE_PASS_COLLECTOR_H */
