/*
 * score.c - scores of a format on values, measured by rounding them.
 */
#include <math.h>

#include "pass/calibrate/calibrate_parts.h"

void mase_cal_scorer_init(struct mase_cal_scorer *s, const struct mase_cal_values *v,
                          struct mase_arena *a, bool histogram)
{
    int64_t largest = histogram ? MASE_CAL_BINS : 1;
    *s = (struct mase_cal_scorer){ .v = v };
    for (int i = 0; i < v->count; i++) {
        const int64_t n = mase_shape_count(&v->tensor[i].shape);
        largest = n > largest ? n : largest;
    }
    s->q = mase_new_array(a, float, (size_t)largest);
    if (!histogram)
        return;
    s->histogram = mase_new_array(a, double, MASE_CAL_BINS);
    const double width = (v->max - v->min) / MASE_CAL_BINS;
    for (int i = 0; i < v->count; i++)
        for (int64_t k = 0; k < mase_shape_count(&v->tensor[i].shape); k++) {
            const double x = (double)v->tensor[i].x[k];
            const int64_t bin = width > 0 ? (int64_t)((x - v->min) / width) : 0;
            if (x != 0)
                s->histogram[bin < MASE_CAL_BINS ? bin : MASE_CAL_BINS - 1]++;
        }
}

/* ---- mean squared error ---- */

struct loss {
    double error, power; /* sums of squares */
    int64_t values, outside;
};

static void add_loss(struct loss *l, const struct mase_cal_tensor *t, const float *q, float low,
                     float high)
{
    const int64_t n = mase_shape_count(&t->shape);
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)t->x[i], d = (double)q[i] - x;
        l->error += d * d;
        l->power += x * x;
        l->outside += t->x[i] < low || t->x[i] > high;
    }
    l->values += n;
}

static struct loss loss_of(const struct mase_cal_scorer *s, const struct mase_format *f)
{
    struct loss l = { 0 };
    for (int i = 0; i < s->v->count; i++) {
        const struct mase_cal_tensor *t = &s->v->tensor[i];
        float low, high;
        mase_format_limits(&low, &high, f, t->sign);
        mase_quantize(f, s->q, t->x, &t->shape, t->role, t->sign);
        add_loss(&l, t, s->q, low, high);
    }
    return l;
}

double mase_cal_mse(const struct mase_cal_scorer *s, const struct mase_format *f)
{
    const struct loss l = loss_of(s, f);
    return l.error >= 0 ? l.error : INFINITY;
}

struct mase_cal_fit mase_cal_fit(const struct mase_cal_scorer *s, const struct mase_format *f)
{
    const struct loss l = loss_of(s, f);
    const double n = l.values ? (double)l.values : 1;
    float low, high;
    mase_format_limits(&low, &high, f, s->v->count ? s->v->tensor[0].sign : MASE_SIGNED);
    return (struct mase_cal_fit){ .min = s->v->min,
                                  .max = s->v->max,
                                  .low = (double)low,
                                  .high = (double)high,
                                  .mse = l.error / n,
                                  .sqnr = l.error > 0 ? 10 * log10(l.power / l.error) : INFINITY,
                                  .saturated = (double)l.outside / n,
                                  .values = l.values };
}

/* ---- Kullback-Leibler divergence ---- */

/* The distribution after rounding: each value of the format spreads its count evenly over the
 * occupied bins that round to it. Values outside of the range are missing, while the true
 * distribution is clipped and has them at its ends. */
struct cut {
    double *p; /* (MASE_CAL_BINS) true distribution */
    int from, to;
};

static struct cut cut_off(double *p, const double *count, const float *centre, float low,
                          float high)
{
    struct cut c = { p, 0, MASE_CAL_BINS };
    while (c.from < MASE_CAL_BINS - 1 && centre[c.from] < low)
        c.from++;
    while (c.to > c.from + 1 && centre[c.to - 1] > high)
        c.to--;
    for (int b = 0; b < MASE_CAL_BINS; b++)
        p[b] = 0;
    for (int b = 0; b < MASE_CAL_BINS; b++)
        p[b < c.from ? c.from : b >= c.to ? c.to - 1 : b] += count[b];
    return c;
}

/* Sum p log(p / q) over the bins [from, to) of one value of the format. */
static double divergence(const double *p, const double *count, int from, int to, double all,
                         double inside)
{
    const double least = 1e-9;
    double sum = 0, kl = 0;
    int used = 0;
    for (int b = from; b < to; b++) {
        sum += count[b];
        used += count[b] > 0;
    }
    for (int b = from; b < to; b++) {
        const double q = count[b] > 0 ? sum / used / inside : 0;
        if (p[b] > 0)
            kl += p[b] / all * log(p[b] / all / (q > least ? q : least));
    }
    return kl;
}

double mase_cal_kl(const struct mase_cal_scorer *s, const struct mase_format *f)
{
    const struct mase_cal_tensor *t = &s->v->tensor[0];
    float centre[MASE_CAL_BINS], low, high;
    double p[MASE_CAL_BINS], all = 0, inside = 0, kl = 0;
    const double width = (s->v->max - s->v->min) / MASE_CAL_BINS;
    for (int b = 0; b < MASE_CAL_BINS; b++)
        centre[b] = (float)(s->v->min + (b + 0.5) * width);
    mase_format_limits(&low, &high, f, t->sign);
    const struct cut c = cut_off(p, s->histogram, centre, low, high);
    for (int b = 0; b < MASE_CAL_BINS; b++) {
        all += p[b];
        inside += b >= c.from && b < c.to ? s->histogram[b] : 0;
    }
    if (!(inside > 0))
        return all > 0 ? INFINITY : 0;
    mase_quantize_values(f, s->q, centre, MASE_CAL_BINS, t->sign);
    for (int from = c.from, to; from < c.to; from = to) {
        for (to = from + 1; to < c.to && s->q[to] == s->q[from];)
            to++;
        kl += divergence(p, s->histogram, from, to, all, inside);
    }
    return kl;
}
