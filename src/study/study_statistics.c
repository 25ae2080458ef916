/*
 * study_statistics.c - how the trials of a study ended, and how good they became.
 */
#include "study/study_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/front.h"

struct mase_study_setup mase_study_setup_of(struct mase_arena *a, const struct mase_study *s)
{
    enum mase_goal *direction = mase_new_array(a, enum mase_goal, (size_t)s->objectives);
    for (int i = 0; i < s->objectives; i++)
        direction[i] = s->objective[i].direction;
    return (struct mase_study_setup){ .space = &s->space,
                                      .direction = direction,
                                      .objectives = s->objectives,
                                      .constraints = s->constraints,
                                      .window = 1 };
}

void mase_study_count_states(int64_t count[MASE_TRIAL_STATES], const struct mase_study *s)
{
    memset(count, 0, MASE_TRIAL_STATES * sizeof *count);
    for (int64_t i = 0; i < s->trials; i++)
        count[s->trial[i].state]++;
}

bool mase_study_trial_counts(const struct mase_study_setup *s, const struct mase_trial *t)
{
    return t->state == MASE_TRIAL_COMPLETE && mase_trial_violation(s, t) == 0;
}

void mase_study_best_so_far(double *best, const struct mase_study *s, int objective)
{
    struct mase_arena a = { 0 };
    const struct mase_study_setup setup = mase_study_setup_of(&a, s);
    double least = INFINITY, value = NAN;
    for (int64_t i = 0; i < s->trials; i++) {
        const struct mase_trial *t = &s->trial[i];
        if (mase_study_trial_counts(&setup, t) && mase_trial_loss(&setup, t, objective) < least) {
            least = mase_trial_loss(&setup, t, objective);
            value = t->value[objective];
        }
        best[i] = value;
    }
    mase_arena_release(&a);
}

/* ---- the front of two objectives ---- */

struct place {
    double x;
    int64_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static void order_by(int64_t *index, int64_t count, const struct mase_study *s, int objective,
                     struct mase_arena *a)
{
    struct place *place = mase_new_array(a, struct place, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        place[i] = (struct place){ s->trial[index[i]].value[objective], index[i] };
    qsort(place, (size_t)count, sizeof *place, compare_places);
    for (int64_t i = 0; i < count; i++)
        index[i] = place[i].index;
}

int64_t mase_study_pair_front(int64_t *index, const struct mase_study *s, int first, int second)
{
    struct mase_arena a = { 0 };
    struct mase_study_setup setup = mase_study_setup_of(&a, s);
    const enum mase_goal direction[] = { setup.direction[first], setup.direction[second] };
    struct mase_trial *pair = mase_new_array(&a, struct mase_trial, (size_t)s->trials);
    double *value = mase_new_array(&a, double, (size_t)s->trials * 2);
    for (int64_t i = 0; i < s->trials; i++, value += 2) {
        pair[i] = s->trial[i];
        pair[i].value = value;
        value[0] = s->trial[i].value[first];
        value[1] = s->trial[i].value[second];
    }
    setup.direction = direction;
    setup.objectives = 2;
    const int64_t count = mase_pareto_front(index, &setup, pair, s->trials);
    order_by(index, count, s, first, &a);
    mase_arena_release(&a);
    return count;
}
