/*
 * profiler.h - runs a network on samples and shows statistics what flows through it.
 */
#ifndef MASE_PASS_PROFILER_H
#define MASE_PASS_PROFILER_H

#include <mase/pass.h>

#include "base/ptrmap.h"
#include "pass/analysis/stat.h"

/* The statistics of one argument or result. */
struct mase_measured {
    const struct mase_node *node;   /* whose it is */
    const char *name;               /* of the argument, for messages */
    const struct mase_node *source; /* the node whose value is measured; NULL: a parameter */
    const struct mase_tensor *parameter;
    struct mase_stat **stats;
    int count;
    const void
        *asked;  /* what they were made from: one source asked twice for the same shares them */
    bool shared; /* they are an earlier one's */
    struct mase_value *results;       /* a table: fields by the name of the statistic */
    struct mase_collector *collector; /* private: what the engine shows the value to */
    int before;                       /* private: the one of this source before it, from 1; or 0 */
};

struct mase_profiler {
    struct mase_pass_env *env; /* samples, inputs, seed, threads, scratch */
    struct mase_graph *g;
    struct mase_arena *arena; /* of the results */
    const char *split;
    bool train;                 /* the network runs in training mode */
    int64_t max_samples;        /* 0: all of the split */
    int64_t batch_size;         /* 0: as suits the engine, or as env says */
    struct mase_measured *list; /* parameters first */
    int count, cap, parameters; /* the first so many measure parameters */
    struct mase_ptrmap latest;  /* private: from sources, the number of the latest in list */
    int64_t samples, batch;     /* private until it has run: what was measured */
    struct mase_plan *plan;     /* private; NULL: the engine cannot run the network */
    float *x;                   /* private: the samples of a batch */
};

/* The statistics of an earlier argument, if it is the same node's value and asked for the same;
 * else NULL. What one node computes and others read is measured once. */
struct mase_stat **mase_profiler_stats(const struct mase_profiler *p,
                                       const struct mase_node *source, const void *asked);
/* Parameters must come before activations. */
void mase_profiler_add(struct mase_profiler *p, const struct mase_measured *m);
/* Measure and fill in the results. */
enum mase_status mase_profiler_run(struct mase_profiler *p, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_PROFILER_H */
