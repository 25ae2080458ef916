/*
 * front.c - dominance: with constraints, between two trials; ranks of many points; the front.
 *
 * Ranks by the efficient non-dominated sort of Zhang, Tian, Cheng and Jin (2015): in the order of
 * their losses, a point is dominated by earlier ones alone, and if by one of a rank, then by one of
 * every rank below. So its rank is found by bisection. With two objectives the latest point of a
 * rank has its least second loss, and is the only one to compare with: n log n in all.
 */
#include "study/front.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

double mase_trial_loss(const struct mase_study_setup *s, const struct mase_trial *t, int objective)
{
    const double v = t->value[objective];
    return isnan(v) ? INFINITY : s->direction[objective] == MASE_MAXIMIZE ? -v : v;
}

double mase_trial_violation(const struct mase_study_setup *s, const struct mase_trial *t)
{
    double sum = 0;
    for (int i = 0; i < s->constraints; i++)
        if (!(t->violation[i] <= 0))
            sum += isnan(t->violation[i]) ? INFINITY : t->violation[i];
    return sum;
}

bool mase_loss_dominates(const double *a, const double *b, int m)
{
    bool better = false;
    for (int i = 0; i < m; i++) {
        if (a[i] > b[i])
            return false;
        better |= a[i] < b[i];
    }
    return better;
}

int mase_loss_compare(const double *a, const double *b, int m)
{
    for (int i = 0; i < m; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

bool mase_trial_dominates(const struct mase_study_setup *s, const struct mase_trial *a,
                          const struct mase_trial *b)
{
    if (a->state != MASE_TRIAL_COMPLETE || b->state != MASE_TRIAL_COMPLETE)
        return a->state == MASE_TRIAL_COMPLETE && b->state != MASE_TRIAL_COMPLETE;
    const double va = mase_trial_violation(s, a), vb = mase_trial_violation(s, b);
    if (va > 0 || vb > 0)
        return va < vb;
    bool better = false;
    for (int i = 0; i < s->objectives; i++) {
        const double la = mase_trial_loss(s, a, i), lb = mase_trial_loss(s, b, i);
        if (la > lb)
            return false;
        better |= la < lb;
    }
    return better;
}

/* ---- ranks ---- */

/* Places of the order that have a rank, as lists: the latest of each rank, and the one before each
 * place. */
struct ranks {
    const double *loss;
    const int32_t *order;
    int m;
    int32_t count, *latest, *before;
};

static bool rank_dominates(const struct ranks *r, int32_t rank, const double *p)
{
    for (int32_t i = r->latest[rank]; i >= 0; i = r->before[i]) {
        if (mase_loss_dominates(r->loss + (int64_t)r->order[i] * r->m, p, r->m))
            return true;
        if (r->m <= 2)
            return false;
    }
    return false;
}

/* The first rank of which no place dominates these losses. */
static int32_t rank_of(const struct ranks *r, const double *p)
{
    int32_t low = 0, high = r->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (rank_dominates(r, middle, p))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void mase_front_ranks(int32_t *rank, const double *loss, const int32_t *order, int64_t n, int m)
{
    int32_t *memory = mase_xcalloc((size_t)n * 2 * sizeof *memory + 1);
    struct ranks r = { loss, order, m, .latest = memory, .before = memory + n };
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = rank_of(&r, loss + (int64_t)order[i] * m);
        if (k == r.count)
            r.latest[r.count++] = -1;
        r.before[i] = r.latest[k];
        r.latest[k] = i;
        rank[order[i]] = k;
    }
    mase_xfree(memory);
}

/* ---- order, and the front ---- */

struct row {
    const double *loss;
    int m;
    int32_t index;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int c = mase_loss_compare(x->loss, y->loss, x->m);
    return c ? c : (x->index > y->index) - (x->index < y->index);
}

void mase_loss_order(int32_t *order, const double *loss, int64_t n, int m)
{
    struct row *rows = mase_xcalloc((size_t)n * sizeof *rows + 1);
    for (int64_t i = 0; i < n; i++)
        rows[i] = (struct row){ loss + i * m, m, (int32_t)i };
    qsort(rows, (size_t)n, sizeof *rows, compare_rows);
    for (int64_t i = 0; i < n; i++)
        order[i] = rows[i].index;
    mase_xfree(rows);
}

static bool may_be_in_front(const struct mase_study_setup *s, const struct mase_trial *t)
{
    return t->state == MASE_TRIAL_COMPLETE && mase_trial_violation(s, t) == 0;
}

int64_t mase_pareto_front(int64_t *index, const struct mase_study_setup *s,
                          const struct mase_trial *trials, int64_t count)
{
    const int m = s->objectives;
    double *loss = mase_xcalloc((size_t)count * (size_t)m * sizeof *loss + 1);
    int32_t *order = mase_xcalloc((size_t)count * 2 * sizeof *order + 1), *rank = order + count;
    int64_t n = 0, front = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!may_be_in_front(s, &trials[i]))
            continue;
        for (int j = 0; j < m; j++)
            loss[n * m + j] = mase_trial_loss(s, &trials[i], j);
        index[n++] = i;
    }
    mase_loss_order(order, loss, n, m);
    mase_front_ranks(rank, loss, order, n, m);
    for (int64_t i = 0; i < n; i++)
        if (rank[i] == 0)
            index[front++] = index[i];
    mase_xfree(order);
    mase_xfree(loss);
    return front;
}
