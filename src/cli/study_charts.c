/*
 * study_charts.c - what a terminal and a page both show of a study.
 */
#include "cli/study_charts.h"

#include <math.h>
#include <stdlib.h>

#include <mase/search.h>

#include "search/attributes.h"
#include "study/study_statistics.h"

enum { MOST_POINTS = 4000 }; /* of trials in a chart */

const char *mase_cli_study_states(struct mase_arena *a, const struct mase_study *s)
{
    static const char *const names[] = { [MASE_TRIAL_COMPLETE] = "complete",
                                         [MASE_TRIAL_PRUNED] = "pruned",
                                         [MASE_TRIAL_FAIL] = "failed",
                                         [MASE_TRIAL_RUNNING] = "under way",
                                         [MASE_TRIAL_WAITING] = "waiting" };
    static const enum mase_trial_state order[] = { MASE_TRIAL_COMPLETE, MASE_TRIAL_PRUNED,
                                                   MASE_TRIAL_FAIL, MASE_TRIAL_RUNNING,
                                                   MASE_TRIAL_WAITING };
    int64_t count[MASE_TRIAL_STATES];
    const char *text =
        mase_arena_printf(a, "%lld %s", (long long)s->trials, s->trials == 1 ? "trial" : "trials");
    const char *before = ": ";
    mase_study_count_states(count, s);
    for (int i = 0; i < MASE_TRIAL_STATES; i++) {
        if (!count[order[i]])
            continue;
        text = mase_arena_printf(a, "%s%s%lld %s", text, before, (long long)count[order[i]],
                                 names[order[i]]);
        before = ", ";
    }
    return text;
}

/* ---- points ---- */

/* Points of a series, growing; spread may stay NULL. */
struct points {
    double *x, *y, *spread;
    int64_t n;
};

static struct points new_points(struct mase_arena *a, int64_t most)
{
    return (struct points){ mase_new_array(a, double, (size_t)most),
                            mase_new_array(a, double, (size_t)most), NULL, 0 };
}

static void add_point(struct points *p, double x, double y)
{
    p->x[p->n] = x;
    p->y[p->n++] = y;
}

static struct mase_plot_series marks(const char *name, const struct points *p, int colour)
{
    return (struct mase_plot_series){ .name = name,
                                      .x = p->x,
                                      .y = p->y,
                                      .n = p->n,
                                      .spread = p->spread,
                                      .colour = colour,
                                      .points = true };
}

/* Complete trials by two objectives, or over their numbers where x is -1: not more than a chart can
 * hold. */
static struct mase_plot_series trial_points(struct mase_arena *a, const struct mase_study *s, int x,
                                            int y)
{
    int64_t count[MASE_TRIAL_STATES], seen = 0;
    mase_study_count_states(count, s);
    const int64_t stride = count[MASE_TRIAL_COMPLETE] / MOST_POINTS + 1;
    struct points p = new_points(a, count[MASE_TRIAL_COMPLETE]);
    for (int64_t i = 0; i < s->trials; i++) {
        const struct mase_trial *t = &s->trial[i];
        if (t->state == MASE_TRIAL_COMPLETE && seen++ % stride == 0)
            add_point(&p, x < 0 ? (double)t->number : t->value[x], t->value[y]);
    }
    const char *name =
        stride == 1 ? "trials" : mase_arena_printf(a, "one of %lld trials", (long long)stride);
    return marks(name, &p, MASE_COLOUR_STEPS);
}

/* ---- the front ---- */

static bool any_number(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            return true;
    return false;
}

struct mase_plot_series mase_cli_front_series(struct mase_arena *a, const struct mase_study *s,
                                              int x, int y, const char *name)
{
    int64_t *index = mase_new_array(a, int64_t, (size_t)s->trials);
    const int64_t n = mase_study_pair_front(index, s, x, y);
    struct points p = new_points(a, n);
    double *spread = mase_new_array(a, double, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        const struct mase_trial *t = &s->trial[index[i]];
        spread[i] = mase_search_spread(s, t, y);
        add_point(&p, t->value[x], t->value[y]);
    }
    p.spread = any_number(spread, n) ? spread : NULL;
    struct mase_plot_series series = marks(name, &p, MASE_COLOUR_TRAINING);
    series.points = false;
    return series;
}

/* The network before the search lies mostly far to the right, where it would leave little room for
 * the trials: its value is a line across them, its place is said. */
static struct mase_plot_series baseline_level(struct mase_arena *a, const struct mase_study *s,
                                              const struct mase_plot_series *trials, int x, int y)
{
    const double at = mase_search_baseline_value(s, x), value = mase_search_baseline_value(s, y);
    double low = INFINITY, high = -INFINITY;
    struct points p = new_points(a, 2);
    for (int64_t i = 0; i < trials->n; i++)
        low = fmin(low, trials->x[i]), high = fmax(high, trials->x[i]);
    if (!isnan(at) && !isnan(value) && trials->n) {
        add_point(&p, low, value);
        add_point(&p, high, value);
    }
    return (struct mase_plot_series){
        .name = mase_arena_printf(a, "before the search, %.4g at %.4g", value, at),
        .x = p.x,
        .y = p.y,
        .n = p.n,
        .colour = MASE_COLOUR_VALIDATION,
        .dashed = true,
    };
}

struct mase_plot mase_cli_front_chart(struct mase_arena *a, const struct mase_study *s, int x,
                                      int y, bool joined)
{
    struct mase_plot_series *series = mase_new_array(a, struct mase_plot_series, 3);
    const char *to_right = mase_search_label(a, s, x), *up = mase_search_label(a, s, y);
    series[0] = trial_points(a, s, x, y);
    series[1] = mase_cli_front_series(a, s, x, y, "front");
    series[1].points = !joined;
    series[2] = baseline_level(a, s, &series[0], x, y);
    return (struct mase_plot){ .title = mase_arena_printf(a, "%s over %s", up, to_right),
                               .x_label = to_right,
                               .series = series,
                               .count = series[2].n ? 3 : 2 };
}

/* ---- the course ---- */

/* A flight of stairs: a step wherever a trial was better than all before. */
struct mase_plot_series mase_cli_course_series(struct mase_arena *a, const struct mase_study *s,
                                               int objective, const char *name)
{
    double *best = mase_new_array(a, double, (size_t)s->trials);
    struct points p = new_points(a, 2 * s->trials);
    mase_study_best_so_far(best, s, objective);
    for (int64_t i = 0; i < s->trials; i++) {
        if (isnan(best[i]) || (i && best[i] == best[i - 1] && i + 1 < s->trials))
            continue;
        if (p.n && best[i] != p.y[p.n - 1])
            add_point(&p, (double)i, p.y[p.n - 1]);
        add_point(&p, (double)i, best[i]);
    }
    return (struct mase_plot_series){
        .name = name, .x = p.x, .y = p.y, .n = p.n, .colour = MASE_COLOUR_TRAINING
    };
}

struct mase_plot mase_cli_course_chart(struct mase_arena *a, const struct mase_study *s,
                                       int objective)
{
    struct mase_plot_series *series = mase_new_array(a, struct mase_plot_series, 2);
    series[0] = trial_points(a, s, -1, objective);
    series[1] = mase_cli_course_series(a, s, objective, "best so far");
    return (struct mase_plot){ .title = mase_search_label(a, s, objective),
                               .x_label = "trial",
                               .series = series,
                               .count = 2 };
}

/* ---- parameters ---- */

struct ranked {
    struct mase_cli_parameter parameter;
    double most; /* of its shares */
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return x->parameter.dimension - y->parameter.dimension;
}

int mase_cli_parameters(struct mase_cli_parameter **out, struct mase_arena *a,
                        const struct mase_study *s)
{
    const int all = s->space.count, objectives = s->objectives;
    double *share = mase_new_array(a, double, (size_t)all);
    double *shares = mase_new_array(a, double, (size_t)all *(size_t)objectives);
    struct ranked *ranked = mase_new_array(a, struct ranked, (size_t)all);
    int count = 0;
    for (int k = 0; k < objectives; k++) {
        mase_study_importance(share, s, k);
        for (int i = 0; i < all; i++)
            shares[i * objectives + k] = share[i];
    }
    for (int i = 0; i < all; i++) {
        if (s->space.dimension[i].low == s->space.dimension[i].high)
            continue;
        ranked[count] = (struct ranked){ { i, shares + i * objectives }, 0 };
        for (int k = 0; k < objectives; k++)
            ranked[count].most = fmax(ranked[count].most, shares[i * objectives + k]);
        count++;
    }
    qsort(ranked, (size_t)count, sizeof *ranked, compare_ranked);
    *out = mase_new_array(a, struct mase_cli_parameter, (size_t)count);
    for (int i = 0; i < count; i++)
        (*out)[i] = ranked[i].parameter;
    return count;
}

/* ---- the front of all ---- */

struct place {
    double value;
    int64_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

int mase_cli_front(int64_t **index, struct mase_arena *a, const struct mase_study *s)
{
    const struct mase_study_setup setup = mase_study_setup_of(a, s);
    *index = mase_new_array(a, int64_t, (size_t)s->trials);
    const int64_t count = mase_search_distinct(*index, &setup, s);
    struct place *place = mase_new_array(a, struct place, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        place[i] = (struct place){ s->trial[(*index)[i]].value[0], (*index)[i] };
    qsort(place, (size_t)count, sizeof *place, compare_places);
    for (int64_t i = 0; i < count; i++)
        (*index)[i] = place[i].index;
    return (int)count;
}
