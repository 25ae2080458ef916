/*
 * profiler.h - run a network on samples and collect statistics of its values.
 */
#ifndef MASE_PASS_PROFILER_H
#define MASE_PASS_PROFILER_H

#include <mase/pass.h>

#include "base/ptrmap.h"
#include "pass/analysis/stat.h"

/* The statistics of one argument or result. */
struct mase_measured {
    const struct mase_node *node;   /* that has the argument or result */
    const char *name;               /* name of the argument, for messages */
    const struct mase_node *source; /* the node whose value is measured; NULL: a parameter */
    const struct mase_tensor *parameter;
    struct mase_stat **stats;
    int count;
    const void *asked;          /* the configuration; equal ones for one source share statistics */
    bool shared;                /* the statistics belong to an earlier entry */
    struct mase_value *results; /* a table: fields by the name of the statistic */
    struct mase_collector *collector; /* private: passes the plan's values on */
    int before; /* private: number, from 1, of the previous entry of this source; or 0 */
};

struct mase_profiler {
    struct mase_pass_env *env; /* samples, inputs, seed, threads, scratch */
    struct mase_graph *g;
    struct mase_arena *arena; /* for the results */
    const char *split;
    bool train;                 /* the network runs in training mode */
    int64_t max_samples;        /* 0: all of the split */
    int64_t batch_size;         /* 0: chosen by the profiler, or as env says */
    struct mase_measured *list; /* parameters first */
    int count, cap, parameters; /* the first `parameters` entries measure parameters */
    struct mase_ptrmap latest;  /* private: from a source to the number of its latest entry */
    int64_t samples, batch;     /* private: samples measured, batch size */
    struct mase_plan *plan;     /* private; NULL: the network cannot be planned */
    float *x;                   /* private: the samples of a batch */
};

/* The statistics of an earlier entry for the same value and an equal configuration; else NULL. A
 * value that several nodes read is measured once. */
struct mase_stat **mase_profiler_stats(const struct mase_profiler *p,
                                       const struct mase_node *source, const void *asked);
/* Add parameters before activations. */
void mase_profiler_add(struct mase_profiler *p, const struct mase_measured *m);
/* Measure, and set the results. */
enum mase_status mase_profiler_run(struct mase_profiler *p, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_PROFILER_H */
