/*
 * pruner.c - what all pruners have in common, and the one that does nothing.
 */
#include "study/pruner.h"

#include "base/alloc.h"
#include "base/number.h"

const struct mase_pruner_kind mase_pruners[] = {
#define PRUNER(name, help) { #name, help, &mase_pruner_##name },
#include "study/pruners.def"
    { 0 },
};

const struct mase_pruner_kind *mase_pruner_find(const char *name)
{
    for (const struct mase_pruner_kind *k = mase_pruners; k->name; k++)
        if (mase_strcaseeq(k->name, name))
            return k;
    return NULL;
}

static enum mase_status bind_options(struct mase_pruner *p, const struct mase_value *options,
                                     struct mase_err *err)
{
    const struct mase_pruner_functions *f = p->functions;
    if (p->setup.objectives != 1)
        return mase_fail(err, MASE_EVALUE, "there are %d objectives: readings are of one",
                         p->setup.objectives);
    p->options = mase_arena_alloc(&p->arena, f->options_size);
    MASE_TRY(mase_opts_bind(p->options, f->options_size, f->options, options, &p->arena, err));
    return f->open ? f->open(p, err) : MASE_OK;
}

enum mase_status mase_pruner_new(struct mase_pruner **out, const struct mase_pruner_kind *kind,
                                 const struct mase_study_setup *setup,
                                 const struct mase_value *options, struct mase_err *err)
{
    struct mase_pruner *p = mase_xcalloc(sizeof *p);
    p->functions = kind->functions;
    p->setup = *setup;
    const enum mase_status st = bind_options(p, options, err);
    if (st) {
        mase_pruner_free(p);
        return mase_wrap(err, "pruner %s", kind->name);
    }
    *out = p;
    return MASE_OK;
}

void mase_pruner_free(struct mase_pruner *p)
{
    if (!p)
        return;
    mase_arena_release(&p->arena);
    mase_xfree(p);
}

void mase_pruner_tell(struct mase_pruner *p, const struct mase_trial *t)
{
    if (t->readings == 0)
        return;
    p->told = mase_arena_grow(&p->arena, p->told, p->count, &p->cap, sizeof *p->told);
    p->told[p->count++] = (struct mase_told_trial){
        .number = t->number,
        .complete = t->state == MASE_TRIAL_COMPLETE,
        .reading =
            mase_arena_memdup(&p->arena, t->reading, (size_t)t->readings * sizeof *t->reading),
        .readings = t->readings,
    };
}

/* What was told of later trials depends on who is faster, so it is not seen. */
bool mase_pruner_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    struct mase_pruner seen = *p;
    while (seen.count && seen.told[seen.count - 1].number > t->number - p->setup.window)
        seen.count--;
    return t->readings > 0 && p->functions->prunes(&seen, t);
}

/* ---- readings ---- */

double mase_reading_loss(const struct mase_pruner *p, const struct mase_reading *r)
{
    return p->setup.direction[0] == MASE_MAXIMIZE ? -r->value : r->value;
}

const struct mase_reading *mase_reading_from(const struct mase_reading *reading, int readings,
                                             int64_t step)
{
    int low = 0, high = readings;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (reading[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < readings ? &reading[low] : NULL;
}

bool mase_reading_is_due(const struct mase_trial *t, int64_t first, int64_t interval)
{
    const int64_t step = t->reading[t->readings - 1].step;
    if (step < first)
        return false;
    const int64_t begin = first + (step - first) / interval * interval;
    return t->readings == 1 || t->reading[t->readings - 2].step < begin;
}

/* ---- nop ---- */

static const struct mase_opt no_rows[] = { { 0 } };

static bool never(const struct mase_pruner *p, const struct mase_trial *t)
{
    (void)p, (void)t;
    return false;
}

const struct mase_pruner_functions mase_pruner_nop = {
    .options = no_rows,
    .prunes = never,
};
