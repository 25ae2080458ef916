/*
 * schedule.c - the learning rate as a function of epoch and step, by the formulas of PyTorch's
 * schedulers. With e the epoch and E their number:
 *
 *     cosine       min + (lr - min) (1 + cos(pi e / E)) / 2
 *     step         lr gamma^floor(e / size)
 *     polynomial   lr (1 - e / E)^power
 *     restarts     a cosine over size epochs, again over mult times as many, and so on
 *     onecycle     by steps: a cosine from lr / 25 up to lr in the first 30 %, then down to
 *                  lr / 250 000; the momentum, for Adam the first beta, goes against it, from
 *                  0.95 down to 0.85 and back, unless constant_momentum is said
 *     plateau      lr gamma^cuts: a cut after more than lr_patience epochs in which the validation
 *                  loss was not lower by 1e-4 of itself
 *
 * All but step, onecycle and plateau may go by steps: then e and E are numbers of steps, in epochs
 * for restarts. Warm-up multiplies the rate by (s + 1) / W in the first W steps s.
 */
#include <math.h>

#include <mase/str.h>
#include <mase/train.h>

#include "train/trainer.h"

static const double pi = 3.14159265358979323846;

/* Half a cosine from one rate to another; share 0 .. 1 is the way done. */
static double between(double from, double to, double share)
{
    return to + (from - to) * (1 + cos(pi * share)) / 2;
}

double mase_train_lr_min(const struct mase_train_opts *o)
{
    const double usual = mase_streq(o->optimizer, "sgd") ? 0 : 1e-6;
    return o->lr_min >= 0 ? o->lr_min : usual;
}

bool mase_train_lr_by_steps(const struct mase_train_opts *o)
{
    if (mase_streq(o->schedule, "onecycle"))
        return true;
    return mase_streq(o->lr_interval, "step") &&
           (mase_streq(o->schedule, "cosine") || mase_streq(o->schedule, "restarts") ||
            mase_streq(o->schedule, "polynomial"));
}

/* Epochs done; with a fraction if the schedule changes at every step. */
static double epochs_done(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    return mase_train_lr_by_steps(o) && at->steps > 0 ? (double)at->step / (double)at->steps
                                                      : (double)at->epoch;
}

static double share_done(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    return o->max_epochs > 0 ? epochs_done(o, at) / (double)o->max_epochs : 0;
}

/* ---- the table ---- */

static double constant(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    (void)at;
    return o->learning_rate;
}

static double cosine(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    return between(o->learning_rate, mase_train_lr_min(o), share_done(o, at));
}

static double step(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    const int64_t cuts = at->epoch / o->lr_step_size;
    return o->learning_rate * pow(o->lr_gamma, (double)cuts);
}

static double polynomial(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    return o->learning_rate * pow(1 - fmin(share_done(o, at), 1), o->lr_power);
}

static double restarts(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    double left = epochs_done(o, at), period = (double)o->lr_step_size;
    while (left >= period) {
        left -= period;
        period *= (double)o->lr_mult;
    }
    return between(o->learning_rate, mase_train_lr_min(o), left / period);
}

/* From `first` up to `peak`, then down to `last`. */
static double cycle(const struct mase_train_opts *o, const struct mase_train_at *at, double first,
                    double peak, double last)
{
    const double all = (double)(o->max_epochs * at->steps), turn = 0.3 * all - 1;
    const double now = (double)at->step;
    if (now <= turn)
        return between(first, peak, now / turn);
    return between(peak, last, fmin((now - turn) / fmax(all - 1 - turn, 1), 1));
}

struct mase_train_cycle mase_train_cycle(const struct mase_train_opts *o)
{
    const double first = o->learning_rate / 25;
    return (struct mase_train_cycle){ .first = first,
                                      .last = first / 1e4,
                                      .base_momentum = 0.85,
                                      .max_momentum = 0.95,
                                      .momentum = mase_streq(o->schedule, "onecycle") &&
                                                  !o->constant_momentum };
}

static double onecycle(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    const struct mase_train_cycle c = mase_train_cycle(o);
    return cycle(o, at, c.first, o->learning_rate, c.last);
}

double mase_train_momentum(const struct mase_train_opts *o, const struct mase_train_at *at,
                           double usual)
{
    const struct mase_train_cycle c = mase_train_cycle(o);
    return c.momentum ? cycle(o, at, c.max_momentum, c.base_momentum, c.max_momentum) : usual;
}

static double plateau(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    return fmax(o->learning_rate * pow(o->lr_gamma, (double)at->cuts),
                o->lr_min >= 0 ? o->lr_min : 0);
}

typedef double schedule_fn(const struct mase_train_opts *o, const struct mase_train_at *at);
static const struct {
    const char *name;
    schedule_fn *rate;
} table[] = {
    { "cosine", cosine },         { "step", step },         { "constant", constant },
    { "polynomial", polynomial }, { "restarts", restarts }, { "onecycle", onecycle },
    { "plateau", plateau },
};

const char *const mase_schedule_names[] = { "cosine",   "step",     "constant", "polynomial",
                                            "restarts", "onecycle", "plateau",  NULL };

double mase_train_lr(const struct mase_train_opts *o, const struct mase_train_at *at)
{
    const double in_epochs = (double)o->warmup_epochs * (double)at->steps;
    const double warm = fmax((double)o->warmup_steps, in_epochs);
    const double rise = (double)at->step < warm ? (double)(at->step + 1) / warm : 1;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (mase_streq(table[i].name, o->schedule))
            return table[i].rate(o, at) * rise;
    mase_bug("no schedule is called %s", o->schedule);
}

void mase_train_check_plateau(struct mase_train_state *s, const struct mase_train_opts *o)
{
    if (s->val_loss < s->plateau_loss * (1 - 1e-4)) {
        s->plateau_loss = s->val_loss;
        s->plateau_waited = 0;
    } else if (++s->plateau_waited > o->lr_patience) {
        s->cuts++;
        s->plateau_waited = 0;
    }
}
