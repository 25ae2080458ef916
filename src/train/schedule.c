/*
 * schedule.c - the learning rate as a function of epoch and step, without a state of its own.
 *
 * The schedule goes by epochs, as the original's does: with e the epoch and E their number,
 *     cosine    min + (lr - min) (1 + cos(pi e / E)) / 2
 *     step      lr gamma^floor(e / size)
 * A cosine may go by steps: then e and E are numbers of steps.
 * Warm-up multiplies it by (s + 1) / W in the first W steps s.
 */
#include <math.h>

#include <mase/str.h>
#include <mase/train.h>

static const double pi = 3.14159265358979323846;

double mase_train_lr_min(const struct mase_train_opts *o)
{
    const double usual = mase_streq(o->optimizer, "sgd") ? 0 : 1e-6;
    return o->lr_min >= 0 ? o->lr_min : usual;
}

bool mase_train_lr_by_steps(const struct mase_train_opts *o)
{
    return mase_streq(o->lr_interval, "step") && mase_streq(o->schedule, "cosine");
}

static double cosine(const struct mase_train_opts *o, int64_t at, int64_t end)
{
    const double low = mase_train_lr_min(o), turn = end > 0 ? (double)at / (double)end : 0;
    return low + (o->learning_rate - low) * (1 + cos(pi * turn)) / 2;
}

static double falling(const struct mase_train_opts *o, int64_t epoch, int64_t step,
                      int64_t steps_per_epoch)
{
    if (mase_train_lr_by_steps(o))
        return cosine(o, step, o->max_epochs * steps_per_epoch);
    if (mase_streq(o->schedule, "cosine"))
        return cosine(o, epoch, o->max_epochs);
    const int64_t drops = mase_streq(o->schedule, "step") ? epoch / o->lr_step_size : 0;
    return o->learning_rate * pow(o->lr_gamma, (double)drops);
}

double mase_train_lr(const struct mase_train_opts *o, int64_t epoch, int64_t step,
                     int64_t steps_per_epoch)
{
    const double in_epochs = (double)o->warmup_epochs * (double)steps_per_epoch;
    const double warm = fmax((double)o->warmup_steps, in_epochs);
    const double rise = (double)step < warm ? (double)(step + 1) / warm : 1;
    return falling(o, epoch, step, steps_per_epoch) * rise;
}
