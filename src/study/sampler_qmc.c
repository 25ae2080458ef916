/*
 * sampler_qmc.c - Sobol's sequence over the space.
 */
#include "study/sampler.h"
#include "study/sobol.h"

struct qmc_options {
    const char *type;
    bool scramble;
};

static const char *const types[] = { "sobol", NULL };
static const struct mase_opt rows[] = {
    MASE_OPT_CHOICE(struct qmc_options, type, "qmc_type", "sobol", types, "the sequence"),
    MASE_OPT_BOOL(struct qmc_options, scramble, "scramble", false,
                  "scramble its digits by the seed of the study"),
    { 0 },
};

struct qmc {
    struct mase_sampler base;
    struct mase_sobol sobol;
};

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct qmc *q = (struct qmc *)s;
    const struct qmc_options *o = s->options;
    if (s->setup.space->count > MASE_SOBOL_DIMENSIONS)
        return mase_fail(err, MASE_ELIMIT, "%d dimensions are more than %d", s->setup.space->count,
                         MASE_SOBOL_DIMENSIONS);
    mase_sobol_open(&q->sobol, &s->arena, s->setup.space->count);
    if (o->scramble) {
        struct mase_rng r = mase_rng(s->setup.seed, MASE_STREAM_SAMPLE, 0);
        mase_sobol_scramble(&q->sobol, &r);
    }
    return MASE_OK;
}

static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    (void)pending, (void)pending_count;
    const struct qmc *q = (const struct qmc *)s;
    mase_sobol_point(x, &q->sobol, n);
    for (int i = 0; i < q->sobol.count; i++)
        x[i] = mase_dimension_at(&s->setup.space->dimension[i], x[i]);
}

const struct mase_sampler_functions mase_sampler_qmc = {
    .size = sizeof(struct qmc),
    .options = rows,
    .options_size = sizeof(struct qmc_options),
    .open = open,
    .ask = ask,
};
