/*
 * tpe_mixture.c - mixtures of kernels, one around each point.
 *
 * A kernel of many dimensions is the product of one in each. The width of a normal kernel is the
 * larger distance to its neighbours in that dimension, within limits; the prior is as wide as the
 * dimension. Densities of tables are computed once for each width; those of lines keep the
 * logarithm of their integral with the point, as their width seldom changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/portable.h"
#include "study/sampler.h"
#include "study/tpe.h"

/* What a dimension of a mixture is. Arrays of (count + 1) have the prior behind the kernels; its
 * class is one more than the last. */
struct mase_tpe_part {
    uint16_t *class_of; /* (count + 1), of choices and tables */
    double *total;      /* (classes): the density of each, from all kernels */
    double same, other; /* of a choice: the share of a kernel's own, and of each other one */
    double *others;     /* (classes + 1): `other` of all kernels, and what the prior has */
    double *density;    /* (classes, classes + 1) of a table: of a class under a class of kernels */
    double *row_sigma;  /* (classes + 1): the widths that these are of */
    double *place, *sigma, *spread; /* (count + 1), of a line */
};

void mase_tpe_mixture_open(struct mase_tpe_mixture *m, struct mase_arena *a,
                           const struct mase_tpe_points *p)
{
    const int n = p->history->setup->space->count;
    m->points = p;
    m->part = mase_new_array(a, struct mase_tpe_part, (size_t)n);
    for (int d = 0; d < n; d++) {
        const size_t classes = (size_t)p->axis[d].classes;
        m->part[d].total = mase_new_array(a, double, classes);
        m->part[d].others = mase_new_array(a, double, classes + 1);
        if (p->axis[d].kind != MASE_TPE_TABLE)
            continue;
        m->part[d].density = mase_new_array(a, double, classes *(classes + 1));
        m->part[d].row_sigma = mase_new_array(a, double, classes + 1);
    }
}

void mase_tpe_mixture_close(struct mase_tpe_mixture *m)
{
    for (int d = 0; m->part && d < m->points->history->setup->space->count; d++) {
        mase_xfree(m->part[d].class_of);
        mase_xfree(m->part[d].place);
        mase_xfree(m->part[d].sigma);
        mase_xfree(m->part[d].spread);
    }
    mase_xfree(m->member);
    mase_xfree(m->weight);
    mase_xfree(m->product);
    mase_xfree(m->exponent);
}

static void make_room(struct mase_tpe_mixture *m, int64_t wanted)
{
    if (wanted <= m->cap)
        return;
    m->cap = wanted + wanted / 2 + 64;
    const size_t bytes = (size_t)m->cap * sizeof(double);
    for (int d = 0; d < m->points->history->setup->space->count; d++) {
        struct mase_tpe_part *p = &m->part[d];
        if (m->points->axis[d].kind != MASE_TPE_LINE) {
            p->class_of = mase_xrealloc(p->class_of, (size_t)m->cap * sizeof *p->class_of);
            continue;
        }
        p->place = mase_xrealloc(p->place, bytes);
        p->sigma = mase_xrealloc(p->sigma, bytes);
        p->spread = mase_xrealloc(p->spread, bytes);
    }
    m->member = mase_xrealloc(m->member, (size_t)m->cap * sizeof *m->member);
    m->weight = mase_xrealloc(m->weight, bytes);
    m->product = mase_xrealloc(m->product, bytes);
    m->exponent = mase_xrealloc(m->exponent, bytes);
}

/* ---- widths ---- */

/* Neither the width of the dimension, nor a small part of it: the smaller, the more kernels. */
static double clip(double sigma, double width, int64_t kernels)
{
    return fmin(fmax(sigma, width / fmin(100, (double)kernels + 2)), width);
}

/* The larger distance to its neighbours, NULL: none. The ends are none, unless there is no other.
 */
static double reach(const struct mase_tpe_axis *a, const double *before, double at,
                    const double *after)
{
    if (!before && !after)
        return fmax(at - a->low, a->high - at);
    return fmax(before ? at - *before : 0, after ? *after - at : 0);
}

/* ---- tables ---- */

static void fill_row(struct mase_tpe_part *p, const struct mase_tpe_axis *a, int kernel, double at,
                     double sigma)
{
    const int n = a->classes;
    double sum = 0;
    if (p->row_sigma[kernel] == sigma)
        return;
    p->row_sigma[kernel] = sigma;
    for (int c = 0; c < n; c++) {
        const double far = (a->at[c] - at) / sigma;
        sum += p->density[c * (n + 1) + kernel] = mase_study_exp(-0.5 * far * far);
    }
    for (int c = 0; c < n; c++)
        p->density[c * (n + 1) + kernel] /= sum;
}

/* Classes that no kernel has get no width: their densities are not read. Of three kernels at one
 * place, one lies between two others at no distance: these are as narrow as can be. */
static void make_table(struct mase_tpe_mixture *m, struct mase_tpe_part *p,
                       const struct mase_tpe_axis *a)
{
    double held[MASE_TPE_CLASSES] = { 0 };
    int kernels[MASE_TPE_CLASSES] = { 0 }, class[MASE_TPE_CLASSES], n = 0;
    for (int64_t k = 0; k < m->count; k++) {
        p->class_of[k] = a->class_of[m->member[k]];
        held[p->class_of[k]] += m->weight[k];
        kernels[p->class_of[k]]++;
    }
    for (int c = 0; c < a->classes; c++)
        if (kernels[c] > 0)
            class[n++] = c;
    const double width = a->high - a->low;
    for (int j = 0; j < n; j++) {
        const double *before = j ? &a->at[class[j - 1]] : NULL, *at = &a->at[class[j]];
        const double *after = j + 1 < n ? &a->at[class[j + 1]] : NULL;
        const double far = kernels[class[j]] > 2 ? 0 : reach(a, before, *at, after);
        fill_row(p, a, class[j], *at, clip(far, width, m->count));
    }
    fill_row(p, a, a->classes, (a->low + a->high) / 2, width);
    p->class_of[m->count] = (uint16_t)a->classes;
    for (int c = 0; c < a->classes; c++) {
        const double *row = p->density + (size_t)c * (size_t)(a->classes + 1);
        p->total[c] = m->weight[m->count] * row[a->classes];
        for (int j = 0; j < n; j++)
            p->total[c] += held[class[j]] * row[class[j]];
    }
}

/* ---- choices ---- */

static void make_choice(struct mase_tpe_mixture *m, struct mase_tpe_part *p,
                        const struct mase_tpe_axis *a)
{
    const double little = 1.0 / (double)(m->count + 1), sum = 1 + a->classes * little;
    p->same = (1 + little) / sum;
    p->other = little / sum;
    p->class_of[m->count] = (uint16_t)a->classes;
    memset(p->total, 0, (size_t)a->classes * sizeof *p->total);
    for (int64_t k = 0; k < m->count; k++) {
        p->class_of[k] = a->class_of[m->member[k]];
        p->total[p->class_of[k]] += m->weight[k];
    }
    const double prior = m->weight[m->count];
    for (int c = 0; c < a->classes; c++) {
        p->total[c] =
            p->total[c] * p->same + (1 - prior - p->total[c]) * p->other + prior / a->classes;
        p->others[c] = p->other;
    }
    p->others[a->classes] = 1.0 / a->classes;
}

/* ---- lines ---- */

static double spread_of(const struct mase_tpe_axis *a, double at, double sigma)
{
    const double inside = mase_study_normal_share((a->high - at) / sigma) -
                          mase_study_normal_share((a->low - at) / sigma);
    return mase_natural_log(sigma * inside);
}

struct placed {
    double place;
    int64_t kernel;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

/* The kernels by their places: those of results are in order already, and are merged with those of
 * pending points. kernel: of each result, or -1. sorted has room for as many again. */
static void sort_kernels(struct placed *sorted, const struct mase_tpe_mixture *m,
                         const struct mase_tpe_axis *a, const int32_t *kernel)
{
    struct placed *pending = sorted + m->count;
    int64_t n = 0, p = 0;
    for (int64_t i = 0; i < m->points->count; i++)
        if (kernel[a->sorted[i]] >= 0)
            sorted[n++] = (struct placed){ a->place[a->sorted[i]], kernel[a->sorted[i]] };
    for (int64_t k = n; k < m->count; k++)
        pending[p++] = (struct placed){ a->place[m->member[k]], k };
    qsort(pending, (size_t)p, sizeof *pending, compare_placed);
    while (p > 0) {
        const bool from_pending = n == 0 || compare_placed(&sorted[n - 1], &pending[p - 1]) < 0;
        sorted[n + p - 1] = from_pending ? pending[p - 1] : sorted[n - 1];
        if (from_pending)
            p--;
        else
            n--;
    }
}

static void make_line(struct mase_tpe_mixture *m, struct mase_tpe_part *p, struct mase_tpe_axis *a,
                      const int32_t *kernel)
{
    struct placed *sorted = mase_xcalloc((size_t)m->count * 2 * sizeof *sorted + 1);
    const double width = a->high - a->low;
    sort_kernels(sorted, m, a, kernel);
    for (int64_t j = 0; j < m->count; j++) {
        const int64_t k = sorted[j].kernel, i = m->member[k];
        const double at = sorted[j].place;
        const double *before = j ? &sorted[j - 1].place : NULL;
        const double *after = j + 1 < m->count ? &sorted[j + 1].place : NULL;
        const double sigma = clip(reach(a, before, at, after), width, m->count);
        if (a->sigma[i] != sigma) {
            a->sigma[i] = sigma;
            a->spread[i] = spread_of(a, at, sigma);
        }
        p->place[k] = at;
        p->sigma[k] = sigma;
        p->spread[k] = a->spread[i];
    }
    p->place[m->count] = (a->low + a->high) / 2;
    p->sigma[m->count] = width;
    p->spread[m->count] = spread_of(a, p->place[m->count], width);
    mase_xfree(sorted);
}

/* ---- making a mixture ---- */

/* The latest 25 count alike, those before the less the older they are, as Optuna has it. */
static void set_weights(struct mase_tpe_mixture *m, bool fading)
{
    const int64_t n = m->count, old = fading && n > 25 ? n - 25 : 0;
    double sum = 1;
    for (int64_t k = 0; k < n; k++) {
        const double age = old > 1 ? (double)k / (double)(old - 1) : 1;
        m->weight[k] = k < old ? (1 - age) / (double)n + age : 1;
        sum += m->weight[k];
    }
    m->weight[n] = 1;
    for (int64_t k = 0; k <= n; k++)
        m->weight[k] /= sum;
}

void mase_tpe_mixture_make(struct mase_tpe_mixture *m, const unsigned char *mark,
                           unsigned char marked, bool pending, bool fading)
{
    const struct mase_tpe_points *p = m->points;
    make_room(m, p->count + p->pending + 1);
    int32_t *kernel = mase_xcalloc((size_t)p->count * sizeof *kernel + 1);
    m->count = 0;
    for (int64_t i = 0; i < p->count; i++) {
        kernel[i] = mark[i] == marked ? (int32_t)m->count : -1;
        if (mark[i] == marked)
            m->member[m->count++] = (int32_t)i;
    }
    for (int64_t i = 0; i < p->pending && pending; i++)
        m->member[m->count++] = (int32_t)(p->count + i);
    set_weights(m, fading);
    for (int d = 0; d < p->history->setup->space->count; d++) {
        struct mase_tpe_axis *a = &p->axis[d];
        if (a->kind == MASE_TPE_CHOICE)
            make_choice(m, &m->part[d], a);
        else if (a->kind == MASE_TPE_TABLE)
            make_table(m, &m->part[d], a);
        else
            make_line(m, &m->part[d], a, kernel);
    }
    mase_xfree(kernel);
}

/* ---- drawing ---- */

/* Which of n shares a number of [0, 1) falls into. */
static int64_t pick(const double *share, int64_t stride, int64_t n, double u)
{
    for (int64_t i = 0; i < n - 1; i++) {
        if (u < share[i * stride])
            return i;
        u -= share[i * stride];
    }
    return n - 1;
}

/* Of a kernel: any choice, or mostly its own; of the prior: any. */
static double draw_choice(const struct mase_tpe_part *p, int classes, int own, struct mase_rng *r)
{
    const double u = mase_rng_double(r), any = own == classes ? 1 : p->other * classes;
    return u < any ? fmin(floor(u / any * classes), classes - 1) : own;
}

static double draw_normal(const struct mase_tpe_axis *a, double at, double sigma,
                          struct mase_rng *r)
{
    for (;;) { /* at least a third is between the ends */
        const double x = at + sigma * (double)mase_rng_normal(r);
        if (x >= a->low && x <= a->high)
            return mase_tpe_place(a, mase_tpe_number(a, x));
    }
}

static double draw_from(const struct mase_tpe_mixture *m, int dimension, int64_t k,
                        struct mase_rng *r)
{
    const struct mase_tpe_axis *a = &m->points->axis[dimension];
    const struct mase_tpe_part *p = &m->part[dimension];
    if (a->kind == MASE_TPE_CHOICE)
        return draw_choice(p, a->classes, p->class_of[k], r);
    if (a->kind == MASE_TPE_LINE)
        return draw_normal(a, p->place[k], p->sigma[k], r);
    return (double)pick(p->density + p->class_of[k], a->classes + 1, a->classes,
                        mase_rng_double(r));
}

double mase_tpe_draw_one(const struct mase_tpe_mixture *m, int dimension, struct mase_rng *r)
{
    const struct mase_tpe_axis *a = &m->points->axis[dimension];
    if (a->kind != MASE_TPE_LINE)
        return (double)pick(m->part[dimension].total, 1, a->classes, mase_rng_double(r));
    return draw_from(m, dimension, pick(m->weight, 1, m->count + 1, mase_rng_double(r)), r);
}

void mase_tpe_draw(const struct mase_tpe_mixture *m, double *place, struct mase_rng *r)
{
    const int64_t k = pick(m->weight, 1, m->count + 1, mase_rng_double(r));
    for (int d = 0; d < m->points->history->setup->space->count; d++)
        place[d] = draw_from(m, d, k, r);
}

/* ---- densities ---- */

/* A factor of each kernel: by its class, from a row of densities. */
struct factor {
    const double *row;
    const uint16_t *class_of;
};

/* A row that is never the candidate's own is kept; of a choice, its own is written into it. */
static struct factor factor_of(const struct mase_tpe_axis *a, struct mase_tpe_part *p, double place)
{
    if (a->kind == MASE_TPE_TABLE)
        return (struct factor){ p->density + (size_t)place * (size_t)(a->classes + 1),
                                p->class_of };
    p->others[(int)place] = p->same;
    return (struct factor){ p->others, p->class_of };
}

static void forget(const struct mase_tpe_axis *a, struct mase_tpe_part *p, double place)
{
    if (a->kind == MASE_TPE_CHOICE)
        p->others[(int)place] = p->other;
}

/* Four at a time: products are loaded and stored less often. */
static void multiply(double *product, const struct factor *f, int count, int64_t n)
{
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *a = f[i].row, *b = f[i + 1].row, *c = f[i + 2].row, *d = f[i + 3].row;
        const uint16_t *ca = f[i].class_of, *cb = f[i + 1].class_of, *cc = f[i + 2].class_of,
                       *cd = f[i + 3].class_of;
        for (int64_t k = 0; k < n; k++)
            product[k] *= (a[ca[k]] * b[cb[k]]) * (c[cc[k]] * d[cd[k]]);
    }
    for (; i < count; i++)
        for (int64_t k = 0; k < n; k++)
            product[k] *= f[i].row[f[i].class_of[k]];
}

static void add_exponent(double *exponent, const struct mase_tpe_part *p, int64_t n, double place)
{
    for (int64_t k = 0; k < n; k++) {
        const double far = (place - p->place[k]) / p->sigma[k];
        exponent[k] -= 0.5 * far * far + p->spread[k];
    }
}

/* Divide by the largest; returns its logarithm. */
static double scale(double *v, int64_t n)
{
    double largest = 0;
    for (int64_t k = 0; k < n; k++)
        largest = fmax(largest, v[k]);
    for (int64_t k = 0; k < n; k++)
        v[k] /= largest;
    return mase_natural_log(largest);
}

/* log of the sum of product * e^exponent */
static double log_sum(const double *product, const double *exponent, int64_t n)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t k = 0; k < n; k++)
        largest = fmax(largest, exponent[k]);
    for (int64_t k = 0; k < n; k++)
        if (exponent[k] - largest > -50) /* less is lost in rounding */
            sum += product[k] * mase_study_exp(exponent[k] - largest);
    return sum > 0 ? largest + mase_natural_log(sum) : -INFINITY;
}

enum {
    FACTORS = 16
}; /* that are multiplied before products are scaled: the prior's is above
      1e-80, and the largest no less */

/* Multiply by the densities of all choices and tables; returns the logarithm of a common factor. */
static double multiply_all(struct mase_tpe_mixture *m, const double *place)
{
    const struct mase_tpe_axis *axis = m->points->axis;
    const int dimensions = m->points->history->setup->space->count;
    struct factor f[FACTORS];
    double factor = 0;
    for (int first = 0, end; first < dimensions; first = end) {
        int count = 0;
        for (end = first; end < dimensions && count < FACTORS; end++)
            if (axis[end].kind != MASE_TPE_LINE)
                f[count++] = factor_of(&axis[end], &m->part[end], place[end]);
        multiply(m->product, f, count, m->count + 1);
        for (int d = first; d < end; d++)
            forget(&axis[d], &m->part[d], place[d]);
        if (end < dimensions)
            factor += scale(m->product, m->count + 1);
    }
    return factor;
}

static int add_exponents(struct mase_tpe_mixture *m, const double *place)
{
    int lines = 0;
    for (int d = 0; d < m->points->history->setup->space->count; d++)
        if (m->points->axis[d].kind == MASE_TPE_LINE) {
            if (lines++ == 0)
                memset(m->exponent, 0, (size_t)(m->count + 1) * sizeof *m->exponent);
            add_exponent(m->exponent, &m->part[d], m->count + 1, place[d]);
        }
    return lines;
}

double mase_tpe_density(struct mase_tpe_mixture *m, const double *place)
{
    memcpy(m->product, m->weight, (size_t)(m->count + 1) * sizeof *m->product);
    const double factor = multiply_all(m, place);
    if (add_exponents(m, place) > 0)
        return factor + log_sum(m->product, m->exponent, m->count + 1);
    double sum = 0;
    for (int64_t k = 0; k <= m->count; k++)
        sum += m->product[k];
    return factor + mase_natural_log(sum);
}

double mase_tpe_density_one(struct mase_tpe_mixture *m, int dimension, double place)
{
    if (m->points->axis[dimension].kind != MASE_TPE_LINE)
        return mase_natural_log(m->part[dimension].total[(int)place]);
    const int64_t n = m->count + 1;
    memset(m->exponent, 0, (size_t)n * sizeof *m->exponent);
    add_exponent(m->exponent, &m->part[dimension], n, place);
    return log_sum(m->weight, m->exponent, n);
}
