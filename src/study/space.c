/*
 * space.c - the numbers that a dimension may take.
 */
#include <math.h>

#include "study/portable.h"
#include "study/sampler.h"

double mase_dimension_size(const struct mase_dimension *d)
{
    const double step = d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step;
    return d->low == d->high ? 1 : step > 0 ? floor((d->high - d->low) / step) + 1 : INFINITY;
}

double mase_space_size(const struct mase_space *s)
{
    double size = 1;
    for (int i = 0; i < s->count; i++)
        size *= mase_dimension_size(&s->dimension[i]);
    return size;
}

double mase_dimension_number(const struct mase_dimension *d, int64_t index)
{
    return d->low + (double)index * (d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step);
}

enum mase_status mase_space_check_points(const struct mase_space *s, struct mase_err *err)
{
    for (int i = 0; i < s->count; i++)
        if (isinf(mase_dimension_size(&s->dimension[i])))
            return mase_fail(err, MASE_EVALUE, "%s takes any number: it needs a step",
                             s->dimension[i].name);
    return mase_space_check_count(mase_space_size(s), err);
}

enum mase_status mase_space_check_count(double points, struct mase_err *err)
{
    if (points <= MASE_POINTS_MAX)
        return MASE_OK;
    return mase_fail(err, MASE_ELIMIT, "%.15g points are more than %.15g", points, MASE_POINTS_MAX);
}

void mase_space_point(double *x, const struct mase_space *s, int64_t number)
{
    for (int i = s->count - 1; i >= 0; i--) {
        const struct mase_dimension *d = &s->dimension[i];
        const int64_t size = (int64_t)mase_dimension_size(d);
        x[i] = mase_dimension_number(d, number % size);
        number /= size;
    }
}

double mase_dimension_nearest(const struct mase_dimension *d, double x)
{
    const double step = d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step;
    const double in = fmin(fmax(x, d->low), d->high);
    if (step <= 0)
        return in;
    const double last = floor((d->high - d->low) / step);
    return d->low + step * fmin(rint((in - d->low) / step), last);
}

double mase_dimension_at(const struct mase_dimension *d, double u)
{
    const double size = mase_dimension_size(d);
    if (!d->log && isfinite(size))
        return d->low + floor(u * size) * (d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step);
    /* An integer has half a step to either side, also by its logarithm. */
    const double margin = d->log && isfinite(size) ? d->step / 2 : 0;
    const double low = d->low - margin, high = d->high + margin;
    if (!d->log)
        return mase_dimension_nearest(d, low + u * (high - low));
    const double first = mase_natural_log(low), last = mase_natural_log(high);
    return mase_dimension_nearest(d, mase_study_exp(first + u * (last - first)));
}

double mase_dimension_share(const struct mase_dimension *d, double x)
{
    const double size = mase_dimension_size(d);
    const double step = d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step;
    if (size == 1)
        return 0.5;
    if (!d->log && isfinite(size))
        return ((x - d->low) / step + 0.5) / size;
    if (!d->log)
        return (x - d->low) / (d->high - d->low);
    const double margin = isfinite(size) ? step / 2 : 0, first = mase_natural_log(d->low - margin);
    return (mase_natural_log(x) - first) / (mase_natural_log(d->high + margin) - first);
}

double mase_rng_double(struct mase_rng *r)
{
    const uint64_t high = mase_rng_u32(r), low = mase_rng_u32(r);
    return (double)(high << 21 | low >> 11) * 0x1p-53;
}

double mase_dimension_draw(const struct mase_dimension *d, struct mase_rng *r)
{
    return mase_dimension_at(d, mase_rng_double(r));
}
