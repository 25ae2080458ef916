/*
 * sampler_bruteforce.c - every point of the space once, then no more. The last dimension changes
 * fastest, as in nested loops.
 */
#include "study/sampler.h"

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    return mase_space_check_points(s->setup.space, err);
}

static double trials(const struct mase_sampler *s)
{
    return mase_space_size(s->setup.space);
}

static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    (void)pending, (void)pending_count;
    mase_space_point(x, s->setup.space, n);
}

const struct mase_sampler_functions mase_sampler_bruteforce = {
    .size = sizeof(struct mase_sampler),
    .open = open,
    .trials = trials,
    .ask = ask,
};
