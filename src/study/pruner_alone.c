/*
 * pruner_alone.c - pruners that look at a trial's own readings alone: limits, and patience.
 */
#include <math.h>

#include "study/pruner.h"

/* ---- threshold ---- */

struct threshold_options {
    double lower, upper;
    int64_t warmup, interval;
};

#define LIMIT(field, name, text)                                                  \
    {                                                                             \
        .key = name, .type = MASE_OPT_TYPE_FLOAT,                                 \
        .offset = offsetof(struct threshold_options, field), .may_be_none = true, \
        .num = (double)MASE_NA, .help = text,                                     \
    }

static const struct mase_opt threshold_rows[] = {
    LIMIT(lower, "lower", "prune below this"),
    LIMIT(upper, "upper", "prune above this"),
    MASE_OPT_INT(struct threshold_options, warmup, "n_warmup_steps", 0, 0, 0x1p53,
                 "steps before a trial may be pruned"),
    MASE_OPT_INT(struct threshold_options, interval, "interval_steps", 1, 1, 0x1p53,
                 "steps between two decisions"),
    { 0 },
};

static enum mase_status open_threshold(struct mase_pruner *p, struct mase_err *err)
{
    const struct threshold_options *o = p->options;
    const bool lower = o->lower != (double)MASE_NA, upper = o->upper != (double)MASE_NA;
    if (!lower && !upper)
        return mase_fail(err, MASE_EVALUE, "neither lower nor upper is given");
    if (lower && upper && o->lower > o->upper)
        return mase_fail(err, MASE_EVALUE, "lower %.15g is above upper %.15g", o->lower, o->upper);
    return MASE_OK;
}

static bool threshold_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    const struct threshold_options *o = p->options;
    const double v = t->reading[t->readings - 1].value;
    return mase_reading_is_due(t, o->warmup, o->interval) &&
           (isnan(v) || (o->lower != (double)MASE_NA && v < o->lower) ||
            (o->upper != (double)MASE_NA && v > o->upper));
}

const struct mase_pruner_functions mase_pruner_threshold = {
    .options = threshold_rows,
    .options_size = sizeof(struct threshold_options),
    .open = open_threshold,
    .prunes = threshold_prunes,
};

/* ---- patient ---- */

struct patient_options {
    int64_t patience;
    double delta;
};

static const struct mase_opt patient_rows[] = {
    { .key = "patience",
      .type = MASE_OPT_TYPE_INT,
      .offset = offsetof(struct patient_options, patience),
      .required = true,
      .min = 0,
      .max = 0x1p31,
      .help = "readings that may be no better than those before" },
    MASE_OPT_FLOAT(struct patient_options, delta, "min_delta", 0, 0, 1e300,
                   "by how much they may be worse"),
    { 0 },
};

static double best_of(const struct mase_pruner *p, const struct mase_reading *r, int64_t n)
{
    double best = NAN;
    for (int64_t i = 0; i < n; i++)
        best = fmin(best, mase_reading_loss(p, &r[i]));
    return best;
}

static bool patient_prunes(const struct mase_pruner *p, const struct mase_trial *t)
{
    const struct patient_options *o = p->options;
    const int64_t before = t->readings - o->patience - 1;
    return before > 0 && best_of(p, t->reading, before) + o->delta <
                             best_of(p, t->reading + before, o->patience + 1);
}

const struct mase_pruner_functions mase_pruner_patient = {
    .options = patient_rows,
    .options_size = sizeof(struct patient_options),
    .prunes = patient_prunes,
};
