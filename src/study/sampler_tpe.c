/*
 * sampler_tpe.c - the tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kegl, 2011).
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "study/sampler.h"
#include "study/sobol.h"
#include "study/tpe.h"

struct tpe_options {
    int64_t startup, candidates, multivariate;
    bool group, liar;
};

static const struct mase_opt rows[] = {
    MASE_OPT_INT(struct tpe_options, startup, "n_startup_trials", 10, 0, 0x1p53,
                 "until so many results are known, points are spread evenly"),
    MASE_OPT_INT(struct tpe_options, candidates, "n_ei_candidates", 24, 1, 10000,
                 "points to choose from"),
    { .key = "multivariate",
      .type = MASE_OPT_TYPE_SWITCH,
      .offset = offsetof(struct tpe_options, multivariate),
      .may_be_none = true,
      .num = (double)MASE_NA,
      .help = "all dimensions together; none: with one objective" },
    MASE_OPT_BOOL(struct tpe_options, group, "group", false,
                  "dimensions that occur together are one group: here all, as multivariate"),
    MASE_OPT_BOOL(struct tpe_options, liar, "constant_liar", true,
                  "points under way count as bad ones"),
    { 0 },
};

struct tpe {
    struct mase_sampler base;
    bool joint;
    int diagonal; /* so many first points lie on it */
    struct mase_sobol sobol;
    struct mase_history history;
    struct mase_tpe_split split;
    struct mase_tpe_points points;
    struct mase_tpe_mixture good, rest;
    unsigned char *best; /* of results: 1, 0 */
    int64_t best_cap;
};

static void close(struct mase_sampler *s)
{
    struct tpe *t = (struct tpe *)s;
    mase_tpe_mixture_close(&t->rest);
    mase_tpe_mixture_close(&t->good);
    mase_tpe_points_close(&t->points);
    mase_tpe_split_close(&t->split);
    mase_history_close(&t->history);
    mase_xfree(t->best);
}

static int64_t needs(const struct mase_sampler *s, int64_t n)
{
    return n < s->setup.window ? 0 : n - s->setup.window + 1;
}

static void tell(struct mase_sampler *s, const struct mase_trial *trial)
{
    struct tpe *t = (struct tpe *)s;
    if (!mase_history_add(&t->history, trial))
        return;
    mase_tpe_split_add(&t->split);
    mase_tpe_points_add(&t->points);
}

/* ---- the first points ---- */

enum { DIAGONAL = 16 };

/* Objectives that oppose each other, such as accuracy and bits, mostly rise and fall with the
 * ordered dimensions together, so that the diagonal of these is a first front. Even points have
 * none of its ends: the mean of many dimensions is near the middle. */
static int diagonal_length(const struct tpe *t)
{
    int longest = 0, axes = 0;
    for (int d = 0; d < t->base.setup.space->count; d++) {
        const struct mase_tpe_axis *a = &t->points.axis[d];
        if (a->kind != MASE_TPE_TABLE || a->classes < 2)
            continue;
        longest = a->classes > longest ? a->classes : longest;
        axes++;
    }
    return t->base.setup.objectives < 2 || axes < 2 ? 0 : longest < DIAGONAL ? longest : DIAGONAL;
}

static void start(const struct tpe *t, double *x, int64_t n, struct mase_rng *r)
{
    const struct mase_space *space = t->base.setup.space;
    mase_sobol_point(x, &t->sobol, n);
    for (int i = 0; i < space->count; i++) {
        const bool diagonal = n < t->diagonal && t->points.axis[i].kind == MASE_TPE_TABLE;
        const double u = diagonal             ? ((double)n + 0.5) / t->diagonal
                         : i < t->sobol.count ? x[i]
                                              : mase_rng_double(r);
        x[i] = mase_dimension_at(&space->dimension[i], u);
    }
}

static enum mase_status check_choices(const struct mase_dimension *d, struct mase_err *err)
{
    const double size = mase_dimension_size(d);
    if (d->kind != MASE_DIMENSION_CHOICE || d->ordered || size <= MASE_TPE_CHOICES)
        return MASE_OK;
    return mase_fail(err, MASE_ELIMIT, "%s has %.15g choices, more than %d", d->name, size,
                     MASE_TPE_CHOICES);
}

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct tpe *t = (struct tpe *)s;
    const struct tpe_options *o = s->options;
    for (int i = 0; i < s->setup.space->count; i++)
        MASE_TRY(check_choices(&s->setup.space->dimension[i], err));
    t->joint =
        o->group || (o->multivariate == MASE_NA ? s->setup.objectives == 1 : o->multivariate);
    mase_sobol_open(&t->sobol, &s->arena,
                    s->setup.space->count < MASE_SOBOL_DIMENSIONS ? s->setup.space->count
                                                                  : MASE_SOBOL_DIMENSIONS);
    struct mase_rng r = mase_rng(s->setup.seed, MASE_STREAM_SAMPLE, UINT64_MAX);
    mase_sobol_scramble(&t->sobol, &r);
    mase_history_open(&t->history, &s->setup);
    t->split.history = &t->history;
    mase_tpe_points_open(&t->points, &s->arena, &t->history);
    t->diagonal = diagonal_length(t);
    mase_tpe_mixture_open(&t->good, &s->arena, &t->points);
    mase_tpe_mixture_open(&t->rest, &s->arena, &t->points);
    return MASE_OK;
}

/* ---- the others ---- */

static int64_t good_count(const struct tpe *t)
{
    const int64_t tenth = (t->history.count + 9) / 10;
    return t->base.setup.objectives > 1 || tenth < 25 ? tenth : 25;
}

static void make_mixtures(struct tpe *t, const double *const *pending, int64_t pending_count)
{
    const struct tpe_options *o = t->base.options;
    if (t->best_cap < t->history.count) {
        t->best_cap = t->history.cap;
        t->best = mase_xrealloc(t->best, (size_t)t->best_cap);
    }
    mase_tpe_split_best(t->best, &t->split, good_count(t));
    mase_tpe_points_pend(&t->points, pending, o->liar ? pending_count : 0);
    mase_tpe_mixture_make(&t->good, t->best, 1, false, false);
    mase_tpe_mixture_make(&t->rest, t->best, 0, true, true);
}

struct asked {
    double *x, *place, *candidate;
    const double *const *pending;
    int64_t pending_count;
};

static bool is_new(const struct tpe *t, struct asked *a, const double *place)
{
    for (int d = 0; d < t->base.setup.space->count; d++)
        a->x[d] = mase_tpe_number(&t->points.axis[d], place[d]);
    return !mase_history_seen(&t->history, a->x, a->pending, a->pending_count);
}

/* The best new point of several, drawn as wholes. False: there is none, and x is one of them. */
static bool choose_jointly(struct tpe *t, struct asked *a, int64_t candidates, struct mase_rng *r)
{
    const int count = t->base.setup.space->count;
    double best = -INFINITY;
    bool found = false;
    for (int64_t c = 0; c < candidates; c++) {
        mase_tpe_draw(&t->good, a->candidate, r);
        const double ratio =
            mase_tpe_density(&t->good, a->candidate) - mase_tpe_density(&t->rest, a->candidate);
        if ((found && !(ratio > best)) || !is_new(t, a, a->candidate))
            continue;
        best = ratio;
        found = true;
        memcpy(a->place, a->candidate, (size_t)count * sizeof *a->place);
    }
    return is_new(t, a, found ? a->place : a->candidate);
}

/* The best number of several in each dimension. False: the point is not new. */
static bool choose_each(struct tpe *t, struct asked *a, int64_t candidates, struct mase_rng *r)
{
    for (int d = 0; d < t->base.setup.space->count; d++) {
        double best = -INFINITY;
        for (int64_t c = 0; c < candidates; c++) {
            const double place = mase_tpe_draw_one(&t->good, d, r);
            const double ratio =
                mase_tpe_density_one(&t->good, d, place) - mase_tpe_density_one(&t->rest, d, place);
            if (ratio > best || c == 0) {
                best = ratio;
                a->place[d] = place;
            }
        }
    }
    return is_new(t, a, a->place);
}

/* Among half as many points the choice is less greedy: so down to one, until the point is new. */
static void choose(struct tpe *t, struct asked *a, struct mase_rng *r)
{
    const struct tpe_options *o = t->base.options;
    const size_t count = (size_t)t->base.setup.space->count;
    bool new = false;
    a->place = mase_xcalloc((2 * count + 1) * sizeof *a->place);
    a->candidate = a->place + count;
    for (int64_t candidates = o->candidates; candidates > 0 && !new; candidates /= 2)
        new = (t->joint ? choose_jointly : choose_each)(t, a, candidates, r);
    mase_xfree(a->place);
}

enum { DRAWS = 32 };

/* A point that was measured before teaches nothing: rather than that, any other, if one is found
 * soon. A small space may have no other. */
static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    struct tpe *t = (struct tpe *)s;
    const struct tpe_options *o = s->options;
    const struct mase_space *space = s->setup.space;
    struct asked a = { .x = x, .pending = pending, .pending_count = pending_count };
    struct mase_rng r = mase_rng(s->setup.seed, MASE_STREAM_SAMPLE, (uint64_t)n);
    if (t->history.count == 0 || t->history.count < o->startup) {
        start(t, x, n, &r);
    } else {
        make_mixtures(t, pending, pending_count);
        choose(t, &a, &r);
    }
    for (int i = 0; i < DRAWS && mase_history_seen(&t->history, x, pending, pending_count); i++)
        for (int d = 0; d < space->count; d++)
            x[d] = mase_dimension_draw(&space->dimension[d], &r);
}

const struct mase_sampler_functions mase_sampler_tpe = {
    .size = sizeof(struct tpe),
    .options = rows,
    .options_size = sizeof(struct tpe_options),
    .open = open,
    .needs = needs,
    .tell = tell,
    .ask = ask,
    .close = close,
};
