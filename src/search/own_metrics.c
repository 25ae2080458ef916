/*
 * own_metrics.c - metrics of the program that searches: functions of a network and its point.
 *
 * Workers measure at the same time, and functions of a program need not be ready for that: one
 * thread at a time calls them, in a guard of its own, so that no jump leaves with the lock.
 */
#include <math.h>

#include "base/host.h"
#include "search/search_parts.h"

struct call {
    const struct mase_search_own_metric *metric; /* the last has no name */
    struct mase_candidate *candidate;
    double *found;
};

static enum mase_status measure_each(void *data, struct mase_err *err)
{
    const struct call *c = data;
    struct mase_arena a = { 0 };
    struct mase_value *point = mase_value_table(&a);
    struct mase_graph *g = mase_candidate_network(c->candidate);
    enum mase_status st = MASE_OK;
    mase_search_note_point(point, &a, c->candidate->search, c->candidate->x);
    for (int i = 0; c->metric[i].name && !st; i++) {
        const struct mase_search_own_metric *m = &c->metric[i];
        c->found[i] = NAN;
        st = m->measure(m->data, &c->found[i], g, point, err);
        if (!st && isnan(c->found[i]))
            st = mase_fail(err, MASE_EVALUE, "it is not a number");
        if (st)
            st = mase_wrap(err, "metric %s", m->name);
    }
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_search_measure_own(double *found, struct mase_candidate *c,
                                         struct mase_err *err)
{
    struct call call = { c->search->opts.own, c, found };
    struct mase_guard *guard = mase_guard_current();
    enum mase_status st;
    if (!call.metric)
        return MASE_OK;
#pragma omp critical(mase_search_own)
    st = mase_guarded_part(guard, measure_each, &call, err);
    return mase_guard_propagate(st, err);
}
