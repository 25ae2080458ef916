/*
 * sampler_random.c - points drawn evenly, each whatever the others are.
 */
#include "study/sampler.h"

static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    (void)pending, (void)pending_count;
    struct mase_rng r = mase_rng(s->setup.seed, MASE_STREAM_SAMPLE, (uint64_t)n);
    for (int i = 0; i < s->setup.space->count; i++)
        x[i] = mase_dimension_draw(&s->setup.space->dimension[i], &r);
}

const struct mase_sampler_functions mase_sampler_random = {
    .size = sizeof(struct mase_sampler),
    .ask = ask,
};
