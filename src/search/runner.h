/*
 * runner.h - what measures the network of a trial.
 */
#ifndef MASE_SEARCH_RUNNER_H
#define MASE_SEARCH_RUNNER_H

#include "search/candidate.h"

/* A number that a runner finds. */
struct mase_runner_metric {
    const char *name, *help;
};

struct mase_runner_functions {
    const struct mase_opt *options; /* rows, ended by an empty one */
    size_t options_size;
    const struct mase_runner_metric *metrics; /* ended by an empty one */
    /* Check options beyond the rows; NULL: no further check. */
    enum mase_status (*check)(const void *options, struct mase_arena *a, struct mase_err *err);
    /* Refuse what no trial could measure; NULL: nothing. */
    enum mase_status (*prepare)(struct mase_candidate *c, const void *options,
                                struct mase_err *err);
    bool trains; /* its measure leaves a trained network */
    /* Measure the network of a candidate: found has a number for each metric, NaN: not known. */
    enum mase_status (*measure)(double *found, struct mase_candidate *c, const void *options,
                                struct mase_err *err);
};

enum mase_runner_kind { MASE_RUNNER_SOFTWARE, MASE_RUNNER_HARDWARE };
struct mase_trial_runner {
    enum mase_runner_kind kind;
    const char *name, *help;
    const struct mase_runner_functions *functions;
};
extern const struct mase_trial_runner mase_runners[]; /* the last has no name */
#define RUNNER(kind, name, help) extern const struct mase_runner_functions mase_runner_##name;
#include "search/runners.def"

int mase_runner_metrics(const struct mase_trial_runner *r); /* how many */

/* ---- runner_evaluation.c ---- */

extern const char *const mase_search_loaders[]; /* names of splits, NULL-terminated */
extern const struct mase_runner_metric mase_evaluation_metrics[];
/* Evaluate the network of a candidate on a split (loader NULL: validation). samples: at most so
 * many, in whole batches; not positive: all. */
enum mase_status mase_runner_evaluate(double *found, struct mase_candidate *c, const char *loader,
                                      int64_t samples, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_SEARCH_RUNNER_H */
