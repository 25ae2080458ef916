/*
 * importance.c - which parameters decided whether a trial was good: PED-ANOVA (Watanabe, Bansal and
 * Hutter, 2023), with the settings of Optuna 5, whose numbers these are.
 *
 * The values of a parameter are cells: its choices, or at most 50 on a line. A density over the
 * cells is estimated from the best tenth of the trials, and one from all of them. The further the
 * first is from the second (Pearson's divergence), the more the parameter decided. A parameter that
 * a part of the trials has not got counts by the share of trials that have it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/front.h"
#include "study/study_statistics.h"

enum { MOST_CELLS = 50, LEAST_TRIALS = 2 };
static const double target_share = 0.1;

/* ---- cells ---- */

struct cells {
    const struct mase_dimension *dimension;
    int count;
    double low, high; /* logarithms where the parameter is drawn by them */
};

static int count_cells(const struct mase_dimension *d)
{
    const double extent = d->high - d->low;
    if (d->kind == MASE_DIMENSION_CHOICE)
        return (int)extent + 1;
    if (d->log && d->kind == MASE_DIMENSION_INT)
        return (int)fmin(ceil(log2(extent + 1)) + 1, MOST_CELLS);
    return d->step > 0 && !d->log ? (int)fmin(rint(extent / d->step) + 1, MOST_CELLS) : MOST_CELLS;
}

static struct cells cells_of(const struct mase_dimension *d)
{
    return (struct cells){ .dimension = d,
                           .count = d->low < d->high ? count_cells(d) : 1,
                           .low = d->log ? log(d->low) : d->low,
                           .high = d->log ? log(d->high) : d->high };
}

/* Half-way between two cells belongs to the lower one. */
static int cell_of(const struct cells *c, double x)
{
    const bool choice = c->dimension->kind == MASE_DIMENSION_CHOICE;
    const double at = c->dimension->log ? log(x) : x;
    const double width = (c->high - c->low) / (c->count - 1);
    const double cell = choice ? x : ceil((at - c->low) / width - 0.5);
    return (int)fmin(fmax(cell, 0), c->count - 1);
}

/* ---- densities ---- */

/* Each cell that occurs is a kernel; a uniform prior has the weight of one trial. */
static void choice_density(double *density, const int64_t *times, int cells)
{
    int kernels = 1;
    double total = 1;
    for (int i = 0; i < cells; i++)
        kernels += times[i] > 0, total += (double)times[i];
    const double spread = 1.0 / kernels, row = 1 + cells * spread;
    for (int i = 0; i < cells; i++)
        density[i] = ((total - 1) * spread / row + (double)times[i] / row + 1.0 / cells) / total;
}

/* The first cell at which more than `below` trials lie in it or before it. */
static int quantile_cell(const int64_t *times, int cells, int64_t below)
{
    int last = 0;
    int64_t sum = 0;
    for (int i = 0; i < cells; i++) {
        if (!times[i])
            continue;
        last = i;
        sum += times[i];
        if (sum > below)
            return i;
    }
    return last;
}

/* Scott's rule; at least so much that nine tenths of a kernel lie in its cell. */
static double bandwidth(const int64_t *times, int cells)
{
    double mean = 0, square = 0;
    int64_t total = 0;
    for (int i = 0; i < cells; i++)
        total += times[i], mean += (double)times[i] * i;
    mean /= (double)total;
    for (int i = 0; i < cells; i++)
        square += (double)times[i] * (i - mean) * (i - mean);
    const double deviation = sqrt(square / fmax(1, (double)total - 1));
    const int quartiles =
        quantile_cell(times, cells, total * 3 / 4) - quantile_cell(times, cells, total / 4 - 1);
    return fmax(1.059 * fmin(quartiles / 1.34, deviation) * pow((double)total, -0.2), 0.5 / 1.64);
}

/* The normal distribution between two numbers. */
static double normal_between(double a, double b, double mean, double sigma)
{
    const double scale = sigma * sqrt(2);
    return 0.5 * (erf((b - mean) / scale) - erf((a - mean) / scale));
}

static void add_kernel(double *density, int cells, double mean, double sigma, double weight)
{
    const double inside = normal_between(-0.5, cells - 0.5, mean, sigma);
    for (int i = 0; i < cells; i++)
        density[i] += weight * normal_between(i - 0.5, i + 0.5, mean, sigma) / inside;
}

static void line_density(double *density, const int64_t *times, int cells)
{
    const double sigma = bandwidth(times, cells);
    double total = 1;
    memset(density, 0, (size_t)cells * sizeof *density);
    for (int i = 0; i < cells; i++)
        total += (double)times[i];
    for (int i = 0; i < cells; i++)
        if (times[i])
            add_kernel(density, cells, i, sigma, (double)times[i] / total);
    add_kernel(density, cells, (cells - 1) / 2.0, cells, 1 / total);
}

/* ---- divergence ---- */

/* Trials that have a parameter: how often each cell occurs, in all and among the best. */
struct counts {
    int64_t *all, *best; /* (cells) */
    int64_t all_count, best_count;
};

static double divergence(const struct cells *c, const struct counts *n)
{
    void (*const estimate)(double *, const int64_t *, int) =
        c->dimension->kind == MASE_DIMENSION_CHOICE ? choice_density : line_density;
    double *best = mase_xcalloc((size_t)c->count * 2 * sizeof *best), *all = best + c->count;
    double sum = 0;
    estimate(best, n->best, c->count);
    estimate(all, n->all, c->count);
    for (int i = 0; i < c->count; i++) {
        const double p = all[i] + 1e-12, ratio = (best[i] + 1e-12) / p - 1;
        sum += p * ratio * ratio;
    }
    mase_xfree(best);
    return sum;
}

/* ---- trials ---- */

/* The complete trials, and which of them are good. */
struct sample {
    const struct mase_trial **trial;
    bool *good;
    int64_t count, good_count;
};

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_sample(struct sample *out, struct mase_arena *a, const struct mase_study *s,
                        int objective)
{
    const double sign = s->objective[objective].direction == MASE_MAXIMIZE ? -1 : 1;
    double *loss = mase_new_array(a, double, (size_t)s->trials);
    out->trial = mase_new_array(a, const struct mase_trial *, (size_t)s->trials);
    out->good = mase_new_array(a, bool, (size_t)s->trials);
    for (int64_t i = 0; i < s->trials; i++) {
        const struct mase_trial *t = &s->trial[i];
        if (t->state != MASE_TRIAL_COMPLETE || !isfinite(t->value[objective]))
            continue;
        loss[out->count] = sign * t->value[objective];
        out->trial[out->count++] = t;
    }
    if (!out->count)
        return;
    qsort(loss, (size_t)out->count, sizeof *loss, compare_numbers);
    const double limit = loss[(int64_t)ceil(target_share * (double)out->count) - 1];
    for (int64_t i = 0; i < out->count; i++) {
        out->good[i] = sign * out->trial[i]->value[objective] <= limit;
        out->good_count += out->good[i];
    }
}

static void count_trials(struct counts *n, const struct cells *c, const struct sample *sample,
                         int dimension)
{
    for (int64_t i = 0; i < sample->count; i++) {
        const double x = sample->trial[i]->x[dimension];
        if (isnan(x))
            continue;
        const int cell = cell_of(c, x);
        n->all[cell]++, n->all_count++;
        n->best[cell] += sample->good[i], n->best_count += sample->good[i];
    }
}

static double importance_of(const struct cells *c, const struct sample *sample, int dimension)
{
    struct counts n = { 0 };
    double found = 0;
    if (c->count < 2)
        return 0;
    n.all = mase_xcalloc((size_t)c->count * 2 * sizeof *n.all);
    n.best = n.all + c->count;
    count_trials(&n, c, sample, dimension);
    if (n.all_count >= LEAST_TRIALS && n.best_count) {
        const double best_share = (double)n.best_count / (double)sample->good_count;
        const double all_share = (double)n.all_count / (double)sample->count;
        found = best_share * best_share / all_share * divergence(c, &n);
    }
    mase_xfree(n.all);
    return found;
}

void mase_study_importance(double *share, const struct mase_study *s, int objective)
{
    struct mase_arena a = { 0 };
    struct sample sample = { 0 };
    double sum = 0;
    take_sample(&sample, &a, s, objective);
    for (int i = 0; i < s->space.count; i++) {
        const struct cells c = cells_of(&s->space.dimension[i]);
        share[i] = sample.count > 1 ? importance_of(&c, &sample, i) : 0;
        sum += share[i];
    }
    for (int i = 0; i < s->space.count; i++)
        share[i] = sum > 0 ? share[i] / sum : 1.0 / s->space.count;
    mase_arena_release(&a);
}
