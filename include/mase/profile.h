/*
 * profile.h - statistics of parameters and activations. The pass profile_statistics measures by
 * these functions what a configuration asks for.
 *
 *     const struct mase_statistic s = { .name = "sqnr", .format = f };
 *     const struct mase_profile_target t = { node, "data_in_0", &s, 1 };
 *     const struct mase_profile p = { .targets = &t, .count = 1, .split = "validation" };
 *     if ((st = mase_profile(&fields, &a, g, &p, &env, err)))
 *         return st;
 *     // fields: { sqnr: { signal_power, noise_power, sqnr, count } }
 */
#ifndef MASE_PROFILE_H
#define MASE_PROFILE_H

#include <mase/api.h>
#include <mase/format.h>
#include <mase/pass.h>

MASE_API_BEGIN

/* A row of stats.def with its options; it is computed over all values of the samples. */
struct mase_statistic {
    const char *name;
    int64_t bins;                     /* histogram; 0: as many as usual */
    const struct mase_format *format; /* saturation, underflow, sqnr: needed */
    enum mase_sign sign;
};

/* An argument of a node by its name in the software metadata: a parameter of the node's module, or
 * an input. */
struct mase_profile_target {
    const struct mase_node *node;
    const char *name;
    const struct mase_statistic *stats; /* targets with an equal pointer share the work */
    int count;
};

/* Most values that record and range_quantile may keep in all. */
enum { MASE_PROFILE_VALUES = 1 << 25 };

struct mase_profile {
    const struct mase_profile_target *targets;
    int count;
    const char *split;      /* split of the samples; NULL: "train" */
    int64_t samples, batch; /* 0: all samples of the split; 0: the library chooses the batch */
};

/* Measure every target; results (count) are tables, allocated in a. g needs software metadata; env
 * needs samples and inputs if a target is an activation. */
enum mase_status mase_profile(struct mase_value **results, struct mase_arena *a,
                              struct mase_graph *g, const struct mase_profile *p,
                              const struct mase_pass_env *env,
                              struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_PROFILE_H */
