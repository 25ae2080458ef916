/*
 * search_config.h - the section [search] of a configuration, read.
 */
#ifndef MASE_SEARCH_SEARCH_CONFIG_H
#define MASE_SEARCH_SEARCH_CONFIG_H

#include <mase/calibrate.h>
#include <mase/search.h>
#include <mase/study.h>

/* A metric that the section names: an objective, a constraint, or both. */
struct mase_search_metric {
    const char *name;
    struct mase_loc at;
    int slot;     /* its place among the results of the runners */
    double scale; /* of an objective */
    bool objective;
    enum mase_goal direction;
    double at_least, at_most; /* of a constraint; NaN: none */
};

/* A runner that the section names, with its options bound. */
struct mase_search_measure {
    const struct mase_trial_runner *runner;
    void *options;
    struct mase_loc at;
    int slot; /* of its first metric among the results of all runners */
};

struct mase_search_config {
    const char *by;                       /* what keys of the seed name */
    const struct mase_value *seed;        /* KEY.config: lists of choices */
    struct mase_calibrate_opts calibrate; /* how "auto" is found */
    const struct mase_value *model;       /* arguments of the constructor that vary; NULL: none */
    const struct mase_value *channels;    /* multipliers of widths by layer; NULL: none */
    const struct mase_value *training;    /* options of ch train that vary; NULL: none */
    const struct mase_value *pruning;     /* options of [passes.prune] that vary; NULL: none */
    const char *reading;                  /* the metric that a pruner reads */
    bool eval_mode;
    const struct mase_value
        *refused;    /* what the original has and this program has not; NULL: none */
    const char *why; /* instead */
    struct mase_search_measure *measure;
    int measures, slots;                      /* metrics of all of them, and of the program's own */
    const struct mase_search_own_metric *own; /* borrowed; the last has no name; NULL: none */
    int own_slot;                             /* of the first of these */
    struct mase_search_metric *metric;        /* by name */
    int metrics, objectives, constraints;
    bool sum; /* one objective: the sum of the scaled metrics, in this direction */
    enum mase_goal sum_direction;
    int64_t jobs, trials, window;
    double seconds;
    const struct mase_sampler_kind *sampler;
    const struct mase_pruner_kind *pruner;               /* NULL: none */
    const struct mase_value *sampler_opts, *pruner_opts; /* tables, or NULL */
};

/* Read the section, allocated in a. own: metrics of the program; NULL: none. */
enum mase_status mase_search_config_read(struct mase_search_config *c, struct mase_arena *a,
                                         const struct mase_value *section,
                                         const struct mase_search_own_metric *own,
                                         struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_SEARCH_SEARCH_CONFIG_H */
