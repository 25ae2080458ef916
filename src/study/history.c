/*
 * history.c - the results that a sampler was told.
 */
#include "study/history.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "study/front.h"

void mase_history_open(struct mase_history *h, const struct mase_study_setup *setup)
{
    *h = (struct mase_history){ .setup = setup, .seen_cap = 64 };
    h->seen = mase_xcalloc((size_t)h->seen_cap * sizeof *h->seen);
}

void mase_history_close(struct mase_history *h)
{
    mase_xfree(h->x);
    mase_xfree(h->loss);
    mase_xfree(h->violation);
    mase_xfree(h->number);
    mase_xfree(h->step);
    mase_xfree(h->kind);
    mase_xfree(h->seen);
}

/* ---- points that were seen ---- */

/* Never 0. Two points of equal hashes count as one: with 64 bits that does not happen, and would
 * only cost a point. */
static uint64_t hash(const double *x, int n)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < n; i++) {
        const double plain = x[i] + 0.0; /* of -0: 0 */
        uint64_t bits;
        memcpy(&bits, &plain, sizeof bits);
        h = (h ^ bits) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h | 1;
}

static uint64_t *place(const struct mase_history *h, uint64_t key)
{
    uint64_t i = key >> 1 & (uint64_t)(h->seen_cap - 1);
    while (h->seen[i] && h->seen[i] != key)
        i = (i + 1) & (uint64_t)(h->seen_cap - 1);
    return &h->seen[i];
}

static void grow_seen(struct mase_history *h)
{
    uint64_t *old = h->seen;
    const int64_t cap = h->seen_cap;
    h->seen_cap *= 2;
    h->seen = mase_xcalloc((size_t)h->seen_cap * sizeof *h->seen);
    for (int64_t i = 0; i < cap; i++)
        if (old[i])
            *place(h, old[i]) = old[i];
    mase_xfree(old);
}

static void see(struct mase_history *h, const double *x)
{
    const uint64_t key = hash(x, h->setup->space->count);
    uint64_t *at = place(h, key);
    h->seen_count += *at == 0;
    *at = key;
    if (h->seen_count * 2 > h->seen_cap)
        grow_seen(h);
}

bool mase_history_seen(const struct mase_history *h, const double *x, const double *const *pending,
                       int64_t pending_count)
{
    const int n = h->setup->space->count;
    for (int64_t i = 0; i < pending_count; i++) {
        int k = 0;
        while (k < n && pending[i][k] == x[k])
            k++;
        if (k == n)
            return true;
    }
    return *place(h, hash(x, n)) != 0;
}

/* ---- results ---- */

static void grow(struct mase_history *h)
{
    const size_t cap = h->cap ? (size_t)h->cap * 2 : 64;
    h->x = mase_xrealloc(h->x, cap * (size_t)h->setup->space->count * sizeof *h->x + 1);
    h->loss = mase_xrealloc(h->loss, cap * (size_t)h->setup->objectives * sizeof *h->loss + 1);
    h->violation = mase_xrealloc(h->violation, cap * sizeof *h->violation);
    h->number = mase_xrealloc(h->number, cap * sizeof *h->number);
    h->step = mase_xrealloc(h->step, cap * sizeof *h->step);
    h->kind = mase_xrealloc(h->kind, cap * sizeof *h->kind);
    h->cap = (int64_t)cap;
}

/* The last reading as the loss: without one, as bad as can be. */
static void keep_pruned(struct mase_history *h, const struct mase_trial *t)
{
    double *loss = h->loss + h->count * h->setup->objectives;
    for (int i = 0; i < h->setup->objectives; i++)
        loss[i] = INFINITY;
    h->step[h->count] = -1;
    if (t->readings == 0)
        return;
    const struct mase_reading *last = &t->reading[t->readings - 1];
    h->step[h->count] = last->step;
    if (!isnan(last->value))
        loss[0] = h->setup->direction[0] == MASE_MAXIMIZE ? -last->value : last->value;
}

bool mase_history_add(struct mase_history *h, const struct mase_trial *t)
{
    const struct mase_study_setup *s = h->setup;
    const bool complete = t->state == MASE_TRIAL_COMPLETE, pruned = t->state == MASE_TRIAL_PRUNED;
    see(h, t->x);
    if (!complete && !pruned)
        return false;
    if (h->count == h->cap)
        grow(h);
    const int64_t i = h->count;
    memcpy(h->x + i * s->space->count, t->x, (size_t)s->space->count * sizeof *t->x);
    h->number[i] = t->number;
    h->violation[i] = complete || t->violation ? mase_trial_violation(s, t) : 0;
    if (complete)
        for (int j = 0; j < s->objectives; j++)
            h->loss[i * s->objectives + j] = mase_trial_loss(s, t, j);
    else
        keep_pruned(h, t);
    h->kind[i] = h->violation[i] > 0 ? MASE_RESULT_INFEASIBLE
                 : complete          ? MASE_RESULT_COMPLETE
                                     : MASE_RESULT_PRUNED;
    h->count++;
    return true;
}
