/*
 * sampler_greedy.c - descent from the highest point, one step of one dimension at a time.
 *
 * The first trial is the highest point of all dimensions. A round tries one step down of each
 * dimension that is not at its lowest, and moves to the best of these points. With one objective
 * that is the least loss, until no step improves. With several it is the best exchange: the least
 * loss of the first objective for each unit of the second that is gained, down to the lowest point,
 * so that all points together draw a front. Unordered choices keep their first.
 *
 * A round's points follow from its beginning, so a round is measured in parallel. No step leads to
 * a trial that failed, nor from a feasible point to one that is not; from one that is not, it leads
 * to the one that violates least.
 */
#include <math.h>
#include <string.h>

#include "study/front.h"
#include "study/sampler.h"

struct greedy {
    struct mase_sampler base;
    double *at, *next;    /* (dimensions): where the round begins; room for the next */
    double loss[2];       /* there, of the first two objectives */
    double violation;     /* there */
    int64_t first, count; /* the trials of the round; count 0: the descent has ended */
    int64_t best;         /* the trial to move to; less than 0: none yet */
    double best_price, best_loss[2], best_violation;
};

static bool is_free(const struct mase_dimension *d)
{
    return (d->kind != MASE_DIMENSION_CHOICE || d->ordered) && mase_dimension_size(d) > 1;
}

static double one_step_down(const struct mase_dimension *d, double x)
{
    return mase_dimension_nearest(d, x - (d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step));
}

static bool can_go_down(const struct greedy *g, int i)
{
    const struct mase_dimension *d = &g->base.setup.space->dimension[i];
    return is_free(d) && g->at[i] > d->low;
}

static enum mase_status open(struct mase_sampler *s, struct mase_err *err)
{
    struct greedy *g = (struct greedy *)s;
    const struct mase_space *space = s->setup.space;
    g->at = mase_new_array(&s->arena, double, (size_t)space->count);
    g->next = mase_new_array(&s->arena, double, (size_t)space->count);
    for (int i = 0; i < space->count; i++) {
        const struct mase_dimension *d = &space->dimension[i];
        if (isinf(mase_dimension_size(d)))
            return mase_fail(err, MASE_EVALUE, "%s takes any number: it needs a step", d->name);
        g->at[i] = is_free(d) ? mase_dimension_nearest(d, d->high) : d->low;
    }
    g->loss[0] = g->loss[1] = g->violation = INFINITY;
    g->count = 1;
    g->best = -1;
    return MASE_OK;
}

/* How many trials there can be after this round: as each round goes one step down, those after it
 * begin with fewer and fewer steps to go, and try each dimension that has one. */
static double later_trials(const struct greedy *g)
{
    const struct mase_space *space = g->base.setup.space;
    double steps = 0, free = 0;
    for (int i = 0; i < space->count; i++) {
        const struct mase_dimension *d = &space->dimension[i];
        if (!can_go_down(g, i))
            continue;
        steps += rint((g->at[i] - d->low) / (d->kind == MASE_DIMENSION_CHOICE ? 1 : d->step));
        free++;
    }
    const double left = steps - (g->first > 0), few = fmin(left, free);
    return left <= 0 ? 0 : free * (left - few) + few * (few + 1) / 2;
}

static double trials(const struct mase_sampler *s)
{
    const struct greedy *g = (const struct greedy *)s;
    return (double)(g->first + g->count) + (g->count ? later_trials(g) : 0);
}

static int64_t needs(const struct mase_sampler *s, int64_t n)
{
    const struct greedy *g = (const struct greedy *)s;
    return n < g->first + g->count || !g->count ? g->first : g->first + g->count;
}

/* The point of a trial of the round. */
static void find_point(const struct greedy *g, double *x, int64_t n)
{
    const struct mase_space *space = g->base.setup.space;
    memcpy(x, g->at, (size_t)space->count * sizeof *x);
    int64_t left = n - g->first;
    for (int i = 0; i < space->count && g->first > 0; i++)
        if (can_go_down(g, i) && left-- == 0)
            x[i] = one_step_down(&space->dimension[i], x[i]);
}

static void ask(struct mase_sampler *s, double *x, int64_t n, const double *const *pending,
                int64_t pending_count)
{
    (void)pending, (void)pending_count;
    find_point((const struct greedy *)s, x, n);
}

/* What a step costs, by the losses after it: the less, the better. */
static double price(const struct greedy *g, const double *loss)
{
    if (g->base.setup.objectives == 1 || !isfinite(g->loss[0]))
        return loss[0];
    const double lost = loss[0] - g->loss[0], gained = g->loss[1] - loss[1];
    const double p = gained > 0 ? lost / gained : lost < 0 ? -INFINITY : INFINITY;
    return isnan(p) ? INFINITY : p;
}

/* Is the trial that of the round, with a result? A user may have enqueued another point. */
static bool is_step(struct greedy *g, const struct mase_trial *t)
{
    find_point(g, g->next, t->number);
    for (int i = 0; i < g->base.setup.space->count; i++)
        if (g->next[i] != t->x[i])
            return false;
    return t->state == MASE_TRIAL_COMPLETE;
}

static void consider(struct greedy *g, const struct mase_trial *t)
{
    const struct mase_study_setup *s = &g->base.setup;
    if (!is_step(g, t))
        return;
    const double violation = mase_trial_violation(s, t);
    double loss[2] = { 0 };
    for (int i = 0; i < 2 && i < s->objectives; i++)
        loss[i] = mase_trial_loss(s, t, i);
    const double p = price(g, loss);
    if (violation > 0 && g->violation == 0)
        return;
    if (g->best >= 0 &&
        (violation > g->best_violation || (violation == g->best_violation && !(p < g->best_price))))
        return;
    g->best = t->number;
    g->best_price = p;
    g->best_violation = violation;
    memcpy(g->best_loss, loss, sizeof loss);
}

/* With one objective a step must improve; the first round has but the point to begin with. */
static bool improves(const struct greedy *g)
{
    return g->base.setup.objectives > 1 || g->first == 0 || g->best_violation < g->violation ||
           g->best_loss[0] < g->loss[0];
}

/* Move, and begin a round there; or end, where there is no step to take. A first point that failed
 * is worse than any. */
static void end_round(struct greedy *g)
{
    const bool moves = g->best >= 0 && improves(g), goes_on = moves || g->first == 0;
    if (moves) {
        find_point(g, g->next, g->best);
        memcpy(g->at, g->next, (size_t)g->base.setup.space->count * sizeof *g->at);
        memcpy(g->loss, g->best_loss, sizeof g->loss);
        g->violation = g->best_violation;
    }
    g->first += g->count;
    g->count = 0;
    g->best = -1;
    for (int i = 0; i < g->base.setup.space->count && goes_on; i++)
        g->count += can_go_down(g, i);
}

static void tell(struct mase_sampler *s, const struct mase_trial *t)
{
    struct greedy *g = (struct greedy *)s;
    if (t->number >= g->first + g->count) /* of a study that another sampler went on with */
        return;
    consider(g, t);
    if (t->number + 1 == g->first + g->count)
        end_round(g);
}

const struct mase_sampler_functions mase_sampler_greedy = {
    .size = sizeof(struct greedy),
    .open = open,
    .trials = trials,
    .needs = needs,
    .tell = tell,
    .ask = ask,
};
