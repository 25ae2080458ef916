/*
 * schedule.c - the learning rate as a function of epoch and step, without a state of its own.
 *
 * The schedule goes by epochs, as the original's does: with e the epoch and E their number,
 *     cosine    min + (lr - min) (1 + cos(pi e / E)) / 2
 *     step      lr gamma^floor(e / size)
 * Warm-up multiplies it by (s + 1) / W in the first W steps s.
 */
#include <math.h>

#include <mase/str.h>
#include <mase/train.h>

static const double pi = 3.14159265358979323846;

static double cosine(const struct mase_train_opts *o, int64_t epoch)
{
    const double usual = mase_streq(o->optimizer, "sgd") ? 0 : 1e-6;
    const double low = o->lr_min >= 0 ? o->lr_min : usual;
    const double turn = o->max_epochs > 0 ? (double)epoch / (double)o->max_epochs : 0;
    return low + (o->learning_rate - low) * (1 + cos(pi * turn)) / 2;
}

static double by_epoch(const struct mase_train_opts *o, int64_t epoch)
{
    if (mase_streq(o->schedule, "cosine"))
        return cosine(o, epoch);
    const int64_t drops = mase_streq(o->schedule, "step") ? epoch / o->lr_step_size : 0;
    return o->learning_rate * pow(o->lr_gamma, (double)drops);
}

double mase_train_lr(const struct mase_train_opts *o, int64_t epoch, int64_t step,
                     int64_t steps_per_epoch)
{
    const double in_epochs = (double)o->warmup_epochs * (double)steps_per_epoch;
    const double warm = fmax((double)o->warmup_steps, in_epochs);
    const double rise = (double)step < warm ? (double)(step + 1) / warm : 1;
    return by_epoch(o, epoch) * rise;
}
