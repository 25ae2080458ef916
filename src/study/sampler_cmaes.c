/*
 * sampler_cmaes.c - CMA-ES: a normal distribution that moves, widens and turns towards good points
 * (Hansen: "The CMA evolution strategy: a tutorial", 2016, with full covariance).
 *
 * All is in shares of the dimensions, 0 .. 1. A number of a discrete dimension has a cell of these;
 * there the distribution stays so wide that neighbours of the mean's cell are drawn now and then
 * (the margin of Hamano, Saito, Nomura and Shirakawa, 2022, made simple). An unordered choice has a
 * probability, which moves towards the choices of good points.
 *
 * A generation is drawn from the same distribution, so it is measured in parallel. What was drawn
 * is not in a result where numbers are discrete: it is drawn again when the result is told.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/eigen.h"
#include "study/front.h"
#include "study/portable.h"
#include "study/sampler.h"

struct cmaes_options {
    int64_t popsize;
    double sigma0;
    bool margin;
};

static const struct mase_opt rows[] = {
    { .key = "popsize",
      .type = MASE_OPT_TYPE_INT,
      .offset = offsetof(struct cmaes_options, popsize),
      .may_be_none = true,
      .num = (double)MASE_NA,
      .min = 2,
      .max = 100000,
      .help = "trials of a generation; none: by the number of dimensions" },
    MASE_OPT_FLOAT(struct cmaes_options, sigma0, "sigma0", 1.0 / 6, 1e-9, 1,
                   "the first standard deviation, as a share of each dimension"),
    MASE_OPT_BOOL(struct cmaes_options, margin, "with_margin", true,
                  "discrete dimensions never stand still"),
    { 0 },
};

/* What is kept of a trial of the generation. class: 0 feasible, 1 not, 2 without a result. */
struct child {
    int64_t index; /* in the generation */
    int class;
    double loss;
};

struct cmaes {
    struct mase_sampler base;
    int64_t size, parents; /* of a generation */
    int64_t generation;
    int n;                                 /* numbers: all dimensions but unordered choices */
    int *dimension;                        /* (n) */
    double *mean, *path, *path_sigma;      /* (n) */
    double *covariance, *vectors, *values; /* (n, n), (n, n), (n): square roots of eigenvalues */
    double sigma;
    double *weight;       /* (parents), of sum 1 */
    double **share;       /* (dimensions): of unordered choices, the probability of each */
    struct child *child;  /* (size) */
    double *step, *point; /* (size, n), (size, dimensions): what was drawn, by sigma; and told */
    double *room;         /* (n, n) */
    double effective, c_sigma, d_sigma, c_path, c_one, c_mu, expected; /* of the tutorial */
};

static bool is_number(const struct mase_dimension *d)
{
    return d->kind != MASE_DIMENSION_CHOICE || d->ordered;
}

/* ---- the distribution at first ---- */

static void set_rates(struct cmaes *c)
{
    const double n = c->n;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < c->parents; i++) {
        c->weight[i] =
            mase_natural_log(((double)c->size + 1) / 2) - mase_natural_log((double)i + 1);
        sum += c->weight[i];
    }
    for (int64_t i = 0; i < c->parents; i++) {
        c->weight[i] /= sum;
        squares += c->weight[i] * c->weight[i];
    }
    const double mu = c->effective = 1 / squares;
    c->c_sigma = (mu + 2) / (n + mu + 5);
    c->d_sigma = 1 + 2 * fmax(0, sqrt((mu - 1) / (n + 1)) - 1) + c->c_sigma;
    c->c_path = (4 + mu / n) / (n + 4 + 2 * mu / n);
    c->c_one = 2 / ((n + 1.3) * (n + 1.3) + mu);
    c->c_mu = fmin(1 - c->c_one, 2 * (mu - 2 + 1 / mu) / ((n + 2) * (n + 2) + mu));
    c->expected = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

static void begin(struct cmaes *c)
{
    const struct cmaes_options *o = c->base.options;
    memset(c->path, 0, (size_t)c->n * sizeof *c->path);
    memset(c->path_sigma, 0, (size_t)c->n * sizeof *c->path_sigma);
    memset(c->covariance, 0, (size_t)c->n * (size_t)c->n * sizeof *c->covariance);
    memset(c->vectors, 0, (size_t)c->n * (size_t)c->n * sizeof *c->vectors);
    for (int i = 0; i < c->n; i++) {
        c->mean[i] = 0.5;
        c->values[i] = c->covariance[i * c->n + i] = c->vectors[i * c->n + i] = 1;
    }
    c->sigma = o->sigma0;
}

static enum mase_status open_choice(struct cmaes *c, int i, struct mase_err *err)
{
    const double size = mase_dimension_size(&c->base.setup.space->dimension[i]);
    if (size > 1e6)
        return mase_fail(err, MASE_ELIMIT, "%s has %.15g choices, more than 1000000",
                         c->base.setup.space->dimension[i].name, size);
    c->share[i] = mase_new_array(&c->base.arena, double, (size_t)size);
    for (int k = 0; k < (int)size; k++)
        c->share[i][k] = 1 / size;
    return MASE_OK;
}

enum { NUMBERS = 1000 }; /* a matrix of 8 MB */

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct cmaes *c = (struct cmaes *)s;
    struct mase_arena *a = &s->arena;
    const struct cmaes_options *o = s->options;
    const struct mase_space *space = s->setup.space;
    const size_t dimensions = (size_t)space->count;
    if (s->setup.objectives != 1)
        return mase_fail(err, MASE_EVALUE, "there are %d objectives: it takes one",
                         s->setup.objectives);
    c->share = mase_new_array(a, double *, dimensions);
    c->dimension = mase_new_array(a, int, dimensions);
    for (int i = 0; i < space->count; i++)
        if (is_number(&space->dimension[i]))
            c->dimension[c->n++] = i;
        else
            MASE_TRY(open_choice(c, i, err));
    if (c->n > NUMBERS)
        return mase_fail(err, MASE_ELIMIT, "%d dimensions are more than %d", c->n, NUMBERS);
    const size_t n = (size_t)c->n;
    c->size = o->popsize != MASE_NA
                  ? o->popsize
                  : 4 + (int64_t)(3 * mase_natural_log((double)dimensions + 1e-9));
    c->parents = c->size / 2;
    c->mean = mase_new_array(a, double, n);
    c->path = mase_new_array(a, double, n);
    c->path_sigma = mase_new_array(a, double, n);
    c->values = mase_new_array(a, double, n);
    c->covariance = mase_new_array(a, double, n *n);
    c->vectors = mase_new_array(a, double, n *n);
    c->room = mase_new_array(a, double, n *n);
    c->weight = mase_new_array(a, double, (size_t)c->parents);
    c->child = mase_new_array(a, struct child, (size_t)c->size);
    c->step = mase_new_array(a, double, (size_t)c->size *n);
    c->point = mase_new_array(a, double, (size_t)c->size *dimensions);
    set_rates(c);
    begin(c);
    return MASE_OK;
}

static int64_t needs(const struct mase_sampler *s, int64_t n)
{
    const struct cmaes *c = (const struct cmaes *)s;
    return n / c->size * c->size;
}

/* ---- drawing ---- */

/* A step of the distribution: vectors * values * normal numbers. */
static void draw_step(const struct cmaes *c, double *step, struct mase_rng *r)
{
    memset(step, 0, (size_t)c->n * sizeof *step);
    for (int j = 0; j < c->n; j++) {
        const double z = c->values[j] * (double)mase_rng_normal(r);
        for (int i = 0; i < c->n; i++)
            step[i] += c->vectors[i * c->n + j] * z;
    }
}

/* How many times wider than the distribution a discrete dimension is drawn: its standard deviation
 * is at least a fifth of a cell, so that about one draw of a hundred leaves the cell. */
static double widening(const struct cmaes *c, int i)
{
    const struct cmaes_options *o = c->base.options;
    const double size = mase_dimension_size(&c->base.setup.space->dimension[c->dimension[i]]);
    const double own = c->sigma * sqrt(c->covariance[i * c->n + i]), least = 0.2 / size;
    return o->margin && own < least ? least / own : 1;
}

enum { TRIES = 100 };

/* Draw until all numbers are inside; then cut. */
static void draw_numbers(const struct cmaes *c, double *x, double *step, struct mase_rng *r)
{
    const struct mase_space *space = c->base.setup.space;
    bool inside = c->n == 0;
    for (int try = 0; try < TRIES && !inside; try++) {
        draw_step(c, step, r);
        inside = true;
        for (int i = 0; i < c->n; i++) {
            const double u = c->mean[i] + c->sigma * widening(c, i) * step[i];
            x[c->dimension[i]] = u;
            inside &= u >= 0 && u < 1;
        }
    }
    for (int i = 0; i < c->n; i++) {
        const double u = fmin(fmax(x[c->dimension[i]], 0), 1 - 0x1p-53);
        if (u != x[c->dimension[i]])
            step[i] = (u - c->mean[i]) / (c->sigma * widening(c, i));
        x[c->dimension[i]] = mase_dimension_at(&space->dimension[c->dimension[i]], u);
    }
}

static void draw(const struct cmaes *c, double *x, double *step, int64_t n)
{
    const struct mase_space *space = c->base.setup.space;
    struct mase_rng r = mase_rng(c->base.setup.seed, MASE_STREAM_SAMPLE, (uint64_t)n);
    draw_numbers(c, x, step, &r);
    for (int i = 0; i < space->count; i++) {
        if (!c->share[i])
            continue;
        const int last = (int)space->dimension[i].high;
        double u = mase_rng_double(&r);
        int k = 0;
        for (; k < last && u >= c->share[i][k]; k++)
            u -= c->share[i][k];
        x[i] = k;
    }
}

static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    (void)pending, (void)pending_count;
    struct cmaes *c = (struct cmaes *)s;
    draw(c, x, c->room, n);
}

/* ---- learning ---- */

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->class != y->class)
        return x->class - y->class;
    return x->loss != y->loss ? (x->loss > y->loss) - (x->loss < y->loss)
                              : (x->index > y->index) - (x->index < y->index);
}

/* The mean step of the parents; the mean moves by it. */
static void move_mean(struct cmaes *c, double *mean_step)
{
    for (int i = 0; i < c->n; i++) {
        mean_step[i] = 0;
        for (int64_t k = 0; k < c->parents; k++)
            mean_step[i] += c->weight[k] * c->step[c->child[k].index * c->n + i];
        c->mean[i] = fmin(fmax(c->mean[i] + c->sigma * mean_step[i], 0), 1);
    }
}

/* The path of the step length; returns its length by what is expected of a random one. */
static double move_path_sigma(struct cmaes *c, const double *mean_step)
{
    const double keep = 1 - c->c_sigma, add = sqrt(c->c_sigma * (2 - c->c_sigma) * c->effective);
    double square = 0;
    for (int i = 0; i < c->n; i++)
        c->path_sigma[i] *= keep;
    for (int j = 0; j < c->n; j++) { /* covariance to the power -1/2 */
        double along = 0;
        for (int i = 0; i < c->n; i++)
            along += c->vectors[i * c->n + j] * mean_step[i];
        for (int i = 0; i < c->n; i++)
            c->path_sigma[i] += add * c->vectors[i * c->n + j] * along / c->values[j];
    }
    for (int i = 0; i < c->n; i++)
        square += c->path_sigma[i] * c->path_sigma[i];
    return sqrt(square) / c->expected;
}

static void move_covariance(struct cmaes *c, const double *mean_step, double length)
{
    const int n = c->n;
    const double generations = 2 * ((double)c->generation + 1);
    const double settled = sqrt(1 - mase_study_exp(generations * mase_natural_log(1 - c->c_sigma)));
    const bool steady = length / settled < 1.4 + 2 / (n + 1.0);
    const double add = steady ? sqrt(c->c_path * (2 - c->c_path) * c->effective) : 0;
    for (int i = 0; i < n; i++)
        c->path[i] = (1 - c->c_path) * c->path[i] + add * mean_step[i];
    const double lost = steady ? 0 : c->c_one * c->c_path * (2 - c->c_path);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = (1 - c->c_one - c->c_mu + lost) * c->covariance[i * n + j] +
                         c->c_one * c->path[i] * c->path[j];
            for (int64_t k = 0; k < c->parents; k++) {
                const double *y = c->step + c->child[k].index * n;
                sum += c->c_mu * c->weight[k] * y[i] * y[j];
            }
            c->covariance[i * n + j] = c->covariance[j * n + i] = sum;
        }
}

/* Shares move towards the choices of the parents, but none vanishes. */
static void move_shares(struct cmaes *c)
{
    const struct mase_space *space = c->base.setup.space;
    const double rate = 1 / (1 + 0.5 * space->count);
    for (int i = 0; i < space->count; i++) {
        if (!c->share[i])
            continue;
        const int size = (int)mase_dimension_size(&space->dimension[i]);
        const double least = 1.0 / ((double)c->size * space->count * size);
        double sum = 0;
        for (int k = 0; k < size; k++)
            c->share[i][k] *= 1 - rate;
        for (int64_t k = 0; k < c->parents; k++)
            c->share[i][(int)c->point[c->child[k].index * space->count + i]] += rate * c->weight[k];
        for (int k = 0; k < size; k++)
            sum += c->share[i][k] = fmax(c->share[i][k], least);
        for (int k = 0; k < size; k++)
            c->share[i][k] /= sum;
    }
}

/* Vectors and values of the covariance. False: it is no longer one, or all points are the same. */
static bool decompose(struct cmaes *c)
{
    double least = INFINITY, largest = 0;
    memcpy(c->room, c->covariance, (size_t)c->n * (size_t)c->n * sizeof *c->room);
    mase_eigen(c->room, c->vectors, c->n);
    for (int i = 0; i < c->n; i++) {
        const double value = c->room[i * c->n + i];
        least = fmin(least, value);
        largest = fmax(largest, value);
        c->values[i] = sqrt(fmax(value, 0));
    }
    return least > 0 && largest < 1e14 * least && c->sigma * sqrt(largest) > 1e-12 &&
           c->sigma < 1e4;
}

static void end_generation(struct cmaes *c)
{
    double *mean_step = mase_xcalloc((size_t)c->n * sizeof *mean_step + 1);
    qsort(c->child, (size_t)c->size, sizeof *c->child, compare_children);
    move_shares(c);
    if (c->n > 0) {
        move_mean(c, mean_step);
        const double length = move_path_sigma(c, mean_step);
        move_covariance(c, mean_step, length);
        c->sigma *= mase_study_exp(c->c_sigma / c->d_sigma * (length - 1));
        if (!decompose(c))
            begin(c);
    }
    c->generation++;
    mase_xfree(mean_step);
}

/* What was drawn for a trial: of a point that is not ours, the step to where it is. False: it has
 * not all dimensions. */
static bool find_step(const struct cmaes *c, double *step, const struct mase_trial *t)
{
    const struct mase_space *space = c->base.setup.space;
    double *x = mase_xcalloc((size_t)space->count * sizeof *x + 1);
    draw(c, x, step, t->number);
    const bool ours = !memcmp(x, t->x, (size_t)space->count * sizeof *x);
    mase_xfree(x);
    for (int i = 0; i < space->count; i++)
        if (isnan(t->x[i]))
            return false;
    for (int i = 0; i < c->n && !ours; i++) {
        const int d = c->dimension[i];
        const double u = mase_dimension_share(&space->dimension[d], t->x[d]);
        step[i] = (u - c->mean[i]) / (c->sigma * widening(c, i));
    }
    return true;
}

static void tell(struct mase_sampler *s, const struct mase_trial *t)
{
    struct cmaes *c = (struct cmaes *)s;
    const int64_t i = s->told % c->size;
    const int dimensions = s->setup.space->count;
    const bool whole = find_step(c, c->step + i * c->n, t);
    const bool complete = whole && t->state == MASE_TRIAL_COMPLETE;
    const double violation = complete ? mase_trial_violation(&s->setup, t) : 0;
    c->child[i] = (struct child){ .index = i,
                                  .class = !complete ? 2 : violation > 0,
                                  .loss = !complete       ? 0
                                          : violation > 0 ? violation
                                                          : mase_trial_loss(&s->setup, t, 0) };
    for (int d = 0; d < dimensions; d++)
        c->point[i * dimensions + d] = whole ? t->x[d] : s->setup.space->dimension[d].low;
    if (i + 1 == c->size)
        end_generation(c);
}

const struct mase_sampler_functions mase_sampler_cmaes = {
    .size = sizeof(struct cmaes),
    .options = rows,
    .options_size = sizeof(struct cmaes_options),
    .open = open,
    .needs = needs,
    .tell = tell,
    .ask = ask,
};
