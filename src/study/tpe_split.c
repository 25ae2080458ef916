/*
 * tpe_split.c - which results are good.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "study/front.h"
#include "study/tpe.h"

void mase_tpe_split_close(struct mase_tpe_split *s)
{
    mase_xfree(s->order);
    mase_xfree(s->rank);
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* Which of two results is better. Equal ones stay in the order in which they came. */
static int compare(const struct mase_history *h, int32_t a, int32_t b)
{
    const int m = h->setup->objectives;
    if (h->kind[a] != h->kind[b])
        return (int)h->kind[a] - (int)h->kind[b];
    switch (h->kind[a]) {
    case MASE_RESULT_COMPLETE:
        return mase_loss_compare(h->loss + (int64_t)a * m, h->loss + (int64_t)b * m, m);
    case MASE_RESULT_PRUNED:
        return h->step[a] != h->step[b]
                   ? (h->step[a] > h->step[b] ? -1 : 1)
                   : compare_numbers(h->loss[(int64_t)a * m], h->loss[(int64_t)b * m]);
    default:
        return compare_numbers(h->violation[a], h->violation[b]);
    }
}

void mase_tpe_split_add(struct mase_tpe_split *s)
{
    const int32_t latest = (int32_t)s->history->count - 1;
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->order = mase_xrealloc(s->order, (size_t)s->cap * sizeof *s->order);
        s->rank = mase_xrealloc(s->rank, (size_t)s->cap * sizeof *s->rank);
    }
    int64_t low = 0, high = s->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (compare(s->history, s->order[middle], latest) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(s->order + low + 1, s->order + low, (size_t)(s->count - low) * sizeof *s->order);
    s->order[low] = latest;
    s->count++;
    s->complete += s->history->kind[latest] == MASE_RESULT_COMPLETE;
}

/* A corner a little worse than all of these losses (n, m), as Optuna has it. */
static void find_reference(double *reference, const double *loss, int64_t n, int m)
{
    for (int j = 0; j < m; j++) {
        double worst = -INFINITY;
        for (int64_t i = 0; i < n; i++)
            if (loss[i * m + j] > worst && loss[i * m + j] < INFINITY)
                worst = loss[i * m + j];
        reference[j] = fmax(1.1 * worst, 0.9 * worst);
        if (!isfinite(reference[j]) || reference[j] == 0)
            reference[j] = 1e-12;
    }
}

/* Of the results of one rank, which do not dominate each other: those that dominate the largest
 * volume together. */
static void mark_some(unsigned char *best, const struct mase_tpe_split *s, const int32_t *result,
                      int64_t n, int64_t wanted)
{
    const int m = s->history->setup->objectives;
    double *loss = mase_xcalloc(((size_t)n + 1) * (size_t)m * sizeof *loss);
    int32_t *chosen = mase_xcalloc((size_t)wanted * sizeof *chosen + 1);
    for (int64_t i = 0; i < n; i++)
        memcpy(loss + i * m, s->history->loss + (int64_t)result[i] * m, (size_t)m * sizeof *loss);
    find_reference(loss + n * m, loss, n, m);
    mase_loss_subset(chosen, wanted, loss, n, m, loss + n * m);
    for (int64_t i = 0; i < wanted; i++)
        best[result[chosen[i]]] = 1;
    mase_xfree(chosen);
    mase_xfree(loss);
}

/* By rank, and in the rank that is too large, by volume. */
static void mark_fronts(unsigned char *best, struct mase_tpe_split *s, int64_t wanted)
{
    int32_t *result = mase_xcalloc((size_t)s->complete * sizeof *result + 1);
    mase_front_ranks(s->rank, s->history->loss, s->order, s->complete,
                     s->history->setup->objectives);
    for (int32_t rank = 0; wanted > 0; rank++) {
        int64_t n = 0;
        for (int64_t i = 0; i < s->complete; i++)
            if (s->rank[s->order[i]] == rank)
                result[n++] = s->order[i];
        if (n > wanted) {
            mark_some(best, s, result, n, wanted);
            break;
        }
        for (int64_t i = 0; i < n; i++)
            best[result[i]] = 1;
        wanted -= n;
    }
    mase_xfree(result);
}

void mase_tpe_split_best(unsigned char *best, struct mase_tpe_split *s, int64_t wanted)
{
    memset(best, 0, (size_t)s->count);
    if (s->history->setup->objectives > 1 && wanted < s->complete) {
        mark_fronts(best, s, wanted);
        return;
    }
    for (int64_t i = 0; i < wanted && i < s->count; i++)
        best[s->order[i]] = 1;
}
