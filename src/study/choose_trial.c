/*
 * choose_trial.c - which trials a run measures: those that were left, and those that the sampler
 * chooses.
 *
 * Trial n is chosen as soon as as many results are there as the sampler needs for it, and by
 * exactly these. All of this happens with the lock of the run.
 */
#include <math.h>

#include "base/alloc.h"
#include "study/study_run.h"

void mase_run_push(struct mase_study_run *run, int64_t number)
{
    if (run->first == run->last)
        run->first = run->last = 0;
    if (run->last == run->queue_cap) {
        run->queue_cap *= 2;
        run->queue = mase_xrealloc(run->queue, (size_t)run->queue_cap * sizeof *run->queue);
    }
    run->queue[run->last++] = number;
    run->mine[number] = true;
}

void mase_run_make_room(struct mase_study_run *run, int64_t trials)
{
    const int64_t before = run->points;
    if (trials <= before)
        return;
    while (run->points < trials)
        run->points *= 2;
    run->point = mase_xrealloc(run->point, (size_t)run->points * sizeof *run->point);
    run->mine = mase_xrealloc(run->mine, (size_t)run->points * sizeof *run->mine);
    for (int64_t n = before; n < run->points; n++)
        run->mine[n] = false;
}

void mase_run_note(struct mase_study_run *run, int64_t number)
{
    mase_run_make_room(run, number + 1);
    run->point[number] = run->study->trial[number].x;
}

/* Tell the sampler all results that it needs to choose trial n. False: they are not there yet. */
static bool tell(struct mase_study_run *run, int64_t n)
{
    struct mase_sampler *s = run->o->sampler;
    while (run->told < mase_sampler_needs(s, n)) {
        if (run->told >= n)
            mase_bug("trial %lld needs its own result", (long long)n);
        if (!mase_trial_ended(&run->study->trial[run->told]))
            return false;
        mase_sampler_tell(s, &run->study->trial[run->told++]);
    }
    return true;
}

/* Tell the pruner all that may decide on trial n. False: it is not there yet. */
static bool tell_pruner(struct mase_study_run *run, int64_t n)
{
    while (run->o->pruner && run->pruner_told <= n - run->setup->window) {
        const struct mase_trial *t = &run->study->trial[run->pruner_told];
        if (!mase_trial_ended(t))
            return false;
        mase_pruner_tell(run->o->pruner, t);
        run->pruner_told++;
    }
    return true;
}

static void ask(struct mase_study_run *run, double *x, int64_t n)
{
    mase_sampler_ask(run->o->sampler, x, n, run->point + run->told, n - run->told);
}

int64_t mase_run_limit(const struct mase_study_run *run)
{
    const double all = mase_sampler_trials(run->o->sampler);
    return all < (double)run->o->trials ? (int64_t)all : run->o->trials;
}

bool mase_run_choose(struct mase_study_run *run)
{
    const int64_t n = run->study->trials;
    if (n >= mase_run_limit(run) || !tell_pruner(run, n) || !tell(run, n) ||
        n >= mase_run_limit(run))
        return false;
    double *x = mase_study_numbers(run->study, run->setup->space->count);
    ask(run, x, n);
    mase_study_add(run->study)->x = x;
    mase_run_note(run, n);
    return true;
}

/* Numbers that a trial was enqueued with; the others are for the sampler to choose. */
static void take_fixed(double *x, const struct mase_space *s, const struct mase_trial *t)
{
    const struct mase_value *fixed = mase_value_get(t->system, "fixed_params");
    for (int i = 0; i < s->count; i++) {
        const struct mase_dimension *d = &s->dimension[i];
        const struct mase_value *v = mase_value_get(fixed, d->name);
        if (!v || !isnan(x[i]))
            continue;
        if (d->kind != MASE_DIMENSION_CHOICE && isfinite(mase_value_number(v)))
            x[i] = mase_dimension_nearest(d, mase_value_number(v));
        for (int c = 0; d->kind == MASE_DIMENSION_CHOICE && c < d->choices->count; c++)
            if (mase_value_equal(d->choices->items[c], v))
                x[i] = c;
    }
}

static bool is_whole(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (isnan(x[i]))
            return false;
    return true;
}

bool mase_run_complete(struct mase_study_run *run, int64_t number)
{
    const struct mase_space *s = &run->study->space;
    double *x = run->study->trial[number].x;
    if (!tell_pruner(run, number))
        return false;
    if (is_whole(x, s->count))
        return true;
    take_fixed(x, s, &run->study->trial[number]);
    if (is_whole(x, s->count))
        return true;
    if (!tell(run, number))
        return false;
    double *all = mase_study_numbers(run->study, s->count);
    ask(run, all, number);
    for (int i = 0; i < s->count; i++)
        if (isnan(x[i]))
            x[i] = all[i];
    return true;
}

void mase_run_recall(struct mase_study_run *run)
{
    for (int64_t n = 0; n < run->study->trials; n++) {
        mase_run_note(run, n);
        if (!mase_trial_ended(&run->study->trial[n]))
            mase_run_push(run, n);
    }
}
