/*
 * pruner_percentile.c - a trial ends where its best reading so far is worse than a percentile of
 * what complete trials had read at the same step. The median is the 50th.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "study/pruner.h"

struct percentile_options {
    double percentile;
    int64_t startup, warmup, interval, fewest;
};

#define ROWS                                                                              \
    MASE_OPT_INT(struct percentile_options, startup, "n_startup_trials", 5, 0, 0x1p53,    \
                 "complete trials before any is pruned"),                                 \
        MASE_OPT_INT(struct percentile_options, warmup, "n_warmup_steps", 0, 0, 0x1p53,   \
                     "steps of a trial before it may be pruned"),                         \
        MASE_OPT_INT(struct percentile_options, interval, "interval_steps", 1, 1, 0x1p53, \
                     "steps between two decisions"),                                      \
        MASE_OPT_INT(struct percentile_options, fewest, "n_min_trials", 1, 1, 0x1p53,     \
                     "trials with a reading at the step, at least")

static const struct mase_opt median_rows[] = { ROWS, { 0 } };
static const struct mase_opt percentile_rows[] = {
    MASE_OPT_FLOAT(struct percentile_options, percentile, "percentile", 25, 0, 100,
                   "per cent of the trials that go on"),
    ROWS,
    { 0 },
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the two nearest of sorted losses, by the distance to each. */
static double at_percentile(const double *loss, int64_t n, double percentile)
{
    const double place = percentile / 100 * (double)(n - 1);
    const int64_t before = (int64_t)place, after = before + 1 < n ? before + 1 : before;
    const double share = place - (double)before;
    return share > 0 ? loss[before] + share * (loss[after] - loss[before]) : loss[before];
}

/* What complete trials had read at this step, those that had. */
static int64_t gather(double *loss, const struct mase_pruner *p, int64_t step)
{
    int64_t n = 0;
    for (int i = 0; i < p->count; i++) {
        const struct mase_told_trial *t = &p->told[i];
        const struct mase_reading *r = mase_reading_from(t->reading, t->readings, step);
        if (t->complete && r && r->step == step && !isnan(r->value))
            loss[n++] = mase_reading_loss(p, r);
    }
    return n;
}

static double best_loss(const struct mase_pruner *p, const struct mase_trial *t)
{
    double best = NAN;
    for (int i = 0; i < t->readings; i++)
        best = fmin(best, mase_reading_loss(p, &t->reading[i])); /* NaN is no minimum */
    return best;
}

static bool is_worse(const struct mase_pruner *p, const struct mase_trial *t, double percentile)
{
    const struct percentile_options *o = p->options;
    const double best = best_loss(p, t);
    int64_t complete = 0;
    for (int i = 0; i < p->count; i++)
        complete += p->told[i].complete;
    if (complete == 0 || complete < o->startup || !mase_reading_is_due(t, o->warmup, o->interval))
        return false;
    if (isnan(best))
        return true;
    double *loss = mase_xcalloc((size_t)p->count * sizeof *loss);
    const int64_t n = gather(loss, p, t->reading[t->readings - 1].step);
    qsort(loss, (size_t)n, sizeof *loss, compare);
    const bool worse = n > 0 && n >= o->fewest && best > at_percentile(loss, n, percentile);
    mase_xfree(loss);
    return worse;
}

static bool median_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    return is_worse(p, t, 50);
}

static bool percentile_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    return is_worse(p, t, ((const struct percentile_options *)p->options)->percentile);
}

const struct mase_pruner_functions mase_pruner_median = {
    .options = median_rows,
    .options_size = sizeof(struct percentile_options),
    .prunes = median_prunes,
};

const struct mase_pruner_functions mase_pruner_percentile = {
    .options = percentile_rows,
    .options_size = sizeof(struct percentile_options),
    .prunes = percentile_prunes,
};
