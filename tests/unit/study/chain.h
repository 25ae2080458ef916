/*
 * chain.h - a sampler whose points depend on every result told, in order, and on every point
 * pending: whoever tells it something else gets another study.
 */
#ifndef MASE_TESTS_CHAIN_H
#define MASE_TESTS_CHAIN_H

#include <math.h>

#include "study/sampler.h"

struct chain {
    struct mase_sampler base;
    double sum;
};

static int64_t chain_needs(const struct mase_sampler *s, int64_t n)
{
    return n < s->setup.window ? 0 : n - s->setup.window + 1;
}

static void chain_tell(struct mase_sampler *s, const struct mase_trial *t)
{
    struct chain *c = (struct chain *)(void *)s;
    c->sum = 0.9 * c->sum + (t->state == MASE_TRIAL_COMPLETE ? t->value[0] : 7);
}

static void chain_ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                      int64_t pending_count)
{
    const struct chain *c = (const struct chain *)(void *)s;
    double sum = c->sum + 0.1 * (double)n;
    for (int64_t i = 0; i < pending_count; i++)
        sum = 0.7 * sum + pending[i][0];
    for (int i = 0; i < s->setup.space->count; i++) {
        const double share = fabs(fmod(1e3 * sum + i, 1));
        x[i] = mase_dimension_at(&s->setup.space->dimension[i], share);
    }
}

static const struct mase_sampler_functions chain_functions = {
    .size = sizeof(struct chain),
    .needs = chain_needs,
    .tell = chain_tell,
    .ask = chain_ask,
};
static const struct mase_sampler_kind chain_kind = { "chain", "", &chain_functions };

#endif /* MASE_TESTS_CHAIN_H */
