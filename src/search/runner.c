/*
 * runner.c - the table of runners.
 */
#include "search/runner.h"

#define SOFTWARE MASE_RUNNER_SOFTWARE
#define HARDWARE MASE_RUNNER_HARDWARE
const struct mase_trial_runner mase_runners[] = {
#define RUNNER(kind, name, help) { kind, #name, help, &mase_runner_##name },
#include "search/runners.def"
    { 0 },
};

int mase_runner_metrics(const struct mase_trial_runner *r)
{
    int n = 0;
    while (r->functions->metrics[n].name)
        n++;
    return n;
}

/* ---- a runner that measures nothing: the original's files name it ---- */

static const struct mase_opt no_options[] = { { 0 } };
static const struct mase_runner_metric no_metrics[] = { { 0 } };

static enum mase_status measure_nothing(double *found, struct mase_candidate *c,
                                        const void *options, struct mase_err *err)
{
    (void)found, (void)c, (void)options, (void)err;
    return MASE_OK;
}

const struct mase_runner_functions mase_runner_hw_dummy = {
    .options = no_options,
    .options_size = 1,
    .metrics = no_metrics,
    .measure = measure_nothing,
};
