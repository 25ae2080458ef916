/*
 * pruner_halving.c - asynchronous successive halving (Li, Jamieson, Rostamizadeh and others, 2020),
 * and Hyperband, which deals trials out to several of them (Li and others, 2018).
 *
 * A rung is a step: min_resource times a power of the reduction factor. A trial that comes to a
 * rung goes on where it is among the best of those that came there before: one of so many, and the
 * best while there are fewer. A trial that was pruned at a rung came to it, too.
 */
#include <math.h>

#include "study/pruner.h"

struct halving_options {
    int64_t min_resource, max_resource, factor, rate, bootstrap;
};

static const struct mase_opt halving_rows[] = {
    MASE_OPT_INT(struct halving_options, min_resource, "min_resource", 1, 1, 0x1p40,
                 "the step of the first rung"),
    MASE_OPT_INT(struct halving_options, factor, "reduction_factor", 4, 2, 1000000,
                 "of so many trials, one goes on"),
    MASE_OPT_INT(struct halving_options, rate, "min_early_stopping_rate", 0, 0, 40,
                 "rungs that are left out at first"),
    MASE_OPT_INT(struct halving_options, bootstrap, "bootstrap_count", 0, 0, 0x1p53,
                 "trials that must have come to a rung before one goes on"),
    { 0 },
};

static const struct mase_opt hyperband_rows[] = {
    MASE_OPT_INT(struct halving_options, min_resource, "min_resource", 1, 1, 0x1p40,
                 "the step of the first rung of the strictest halving"),
    { .key = "max_resource",
      .type = MASE_OPT_TYPE_INT,
      .offset = offsetof(struct halving_options, max_resource),
      .required = true,
      .min = 1,
      .max = 0x1p40,
      .help = "steps of a trial that is not pruned" },
    MASE_OPT_INT(struct halving_options, factor, "reduction_factor", 3, 2, 1000000,
                 "of so many trials, one goes on"),
    MASE_OPT_INT(struct halving_options, bootstrap, "bootstrap_count", 0, 0, 0x1p53,
                 "trials that must have come to a rung before one goes on"),
    { 0 },
};

/* ---- Hyperband's brackets ---- */

static int brackets(const struct halving_options *o)
{
    int n = 1;
    for (int64_t step = o->min_resource; step <= o->max_resource / o->factor; step *= o->factor)
        n++;
    return n;
}

/* Bracket b leaves out b rungs; so many parts of the trials are its own, as in the paper. */
static double parts_of(const struct halving_options *o, int b, int n)
{
    const int s = n - 1 - b;
    double power = n;
    for (int i = 0; i < s; i++)
        power *= (double)o->factor;
    return ceil(power / (s + 1));
}

/* Multiples of the golden ratio are even on the circle: each bracket gets its share of any trials
 * in a row. */
static int bracket_of(const struct halving_options *o, int64_t number)
{
    const int n = brackets(o);
    double sum = 0;
    for (int b = 0; b < n; b++)
        sum += parts_of(o, b, n);
    const uint64_t turn = (uint64_t)number * 0x9e3779b97f4a7c15u;
    double at = (double)(turn >> 11) * 0x1p-53 * sum;
    int b = 0;
    for (; b < n - 1 && at >= parts_of(o, b, n); b++)
        at -= parts_of(o, b, n);
    return b;
}

/* ---- rungs ---- */

/* Who competes with a trial: all, or those of its bracket. */
struct rivals {
    const struct mase_pruner *pruner;
    int bracket; /* less than 0: all */
};

/* How many came to a rung, and how many of them were better. */
static void count_rivals(const struct rivals *r, int64_t step, double loss, int64_t *came,
                         int64_t *better)
{
    const struct mase_pruner *p = r->pruner;
    *came = *better = 0;
    for (int i = 0; i < p->count; i++) {
        const struct mase_told_trial *t = &p->told[i];
        const struct mase_reading *at = mase_reading_from(t->reading, t->readings, step);
        if (!at || isnan(at->value) ||
            (r->bracket >= 0 && bracket_of(p->options, t->number) != r->bracket))
            continue;
        ++*came;
        *better += mase_reading_loss(p, at) < loss;
    }
}

/* Is the trial, with its last reading, one of the best of a rung? */
static bool goes_on(const struct rivals *r, int64_t step, double loss)
{
    const struct halving_options *o = r->pruner->options;
    int64_t came, better;
    count_rivals(r, step, loss, &came, &better);
    const int64_t all = came + 1, best = all / o->factor > 0 ? all / o->factor : 1;
    return all > o->bootstrap && better < best;
}

static int64_t next_rung(int64_t step, int64_t factor)
{
    return step > INT64_MAX / factor ? INT64_MAX : step * factor;
}

/* Prune at the rungs that the last reading has come to and the one before has not. */
static bool falls(const struct rivals *r, int64_t rate, const struct mase_trial *t)
{
    const struct halving_options *o = r->pruner->options;
    const struct mase_reading *last = &t->reading[t->readings - 1];
    const double loss = mase_reading_loss(r->pruner, last);
    int64_t step = o->min_resource;
    for (int64_t i = 0; i < rate; i++)
        step = next_rung(step, o->factor);
    for (; step <= last->step && step < INT64_MAX; step = next_rung(step, o->factor)) {
        if (t->readings > 1 && t->reading[t->readings - 2].step >= step)
            continue;
        if (isnan(loss) || !goes_on(r, step, loss))
            return true;
    }
    return false;
}

static bool halving_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    const struct halving_options *o = p->options;
    return falls(&(struct rivals){ p, -1 }, o->rate, t);
}

static bool hyperband_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    const int bracket = bracket_of(p->options, t->number);
    return falls(&(struct rivals){ p, bracket }, bracket, t);
}

static enum mase_status open_hyperband(struct mase_pruner *p, struct mase_err *err)
{
    const struct halving_options *o = p->options;
    if (o->max_resource < o->min_resource)
        return mase_fail(err, MASE_EVALUE, "max_resource %lld is below min_resource %lld",
                         (long long)o->max_resource, (long long)o->min_resource);
    return MASE_OK;
}

const struct mase_pruner_functions mase_pruner_successive_halving = {
    .options = halving_rows,
    .options_size = sizeof(struct halving_options),
    .prunes = halving_prunes,
};

const struct mase_pruner_functions mase_pruner_hyperband = {
    .options = hyperband_rows,
    .options_size = sizeof(struct halving_options),
    .open = open_hyperband,
    .prunes = hyperband_prunes,
};
