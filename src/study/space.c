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
    const double first = mase_study_log(low), last = mase_study_log(high);
    return mase_dimension_nearest(d, mase_study_exp(first + u * (last - first)));
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
