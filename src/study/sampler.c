/*
 * sampler.c - what all samplers have in common.
 */
#include <math.h>

#include "base/alloc.h"
#include "base/number.h"
#include "study/sampler.h"

const struct mase_sampler_kind mase_samplers[] = {
#define SAMPLER(name, help) { #name, help, &mase_sampler_##name },
#include "study/samplers.def"
    { 0 },
};

const struct mase_sampler_kind *mase_sampler_find(const char *name)
{
    for (const struct mase_sampler_kind *k = mase_samplers; k->name; k++)
        if (mase_strcaseeq(k->name, name))
            return k;
    return NULL;
}

enum mase_status mase_sampler_new(struct mase_sampler **out, const struct mase_sampler_kind *kind,
                                  const struct mase_study_setup *setup,
                                  const struct mase_value *options, struct mase_err *err)
{
    const struct mase_sampler_functions *f = kind->functions;
    struct mase_sampler *s = mase_xcalloc(f->size);
    enum mase_status st = MASE_OK;
    s->functions = f;
    s->setup = *setup;
    if (f->options) {
        s->options = mase_arena_alloc(&s->arena, f->options_size);
        st = mase_opts_bind(s->options, f->options_size, f->options, options, &s->arena, err);
    }
    if (!st && f->open)
        st = f->open(s, err);
    if (st) {
        mase_sampler_free(s);
        return mase_wrap(err, "sampler %s", kind->name);
    }
    *out = s;
    return MASE_OK;
}

void mase_sampler_free(struct mase_sampler *s)
{
    if (!s)
        return;
    if (s->functions->close)
        s->functions->close(s);
    mase_arena_release(&s->arena);
    mase_xfree(s);
}

double mase_sampler_trials(const struct mase_sampler *s)
{
    return s->functions->trials ? s->functions->trials(s) : INFINITY;
}

int64_t mase_sampler_needs(const struct mase_sampler *s, int64_t n)
{
    return s->functions->needs ? s->functions->needs(s, n) : 0;
}

void mase_sampler_tell(struct mase_sampler *s, const struct mase_trial *t)
{
    if (s->functions->tell)
        s->functions->tell(s, t);
    s->told++;
}

void mase_sampler_ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                      int64_t pending_count)
{
    s->functions->ask(s, x, n, pending, pending_count);
}
