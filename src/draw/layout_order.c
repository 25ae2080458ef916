/*
 * layout_order.c - the order within layers: few crossings.
 *
 * Sweeps down and up again: each vertex moves to the mean of its neighbours' places in the layer
 * before (barycentre), then neighbours swap while that helps. The best order met is kept. Where two
 * could stand either way, the order of the graph decides, so that the result is stable.
 */
#include "draw/layout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SWEEPS = 24,
    PATIENCE = 6, /* sweeps without a better order before giving up */
    MAX_SWAPS = 8 /* rounds of swapping in one layer */
};

/* ---- counting ---- */

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Crossings between layers i and i + 1: inversions among the lower ends, met from the left. A
 * Fenwick tree over the lower layer counts those already met. */
static int64_t layer_crossings(const struct mase_layers *g, int i, int *tree, int *ends)
{
    const int size = g->size[i + 1];
    int64_t crossings = 0, met = 0;
    memset(tree, 0, ((size_t)size + 1) * sizeof *tree);
    for (int k = 0; k < g->size[i]; k++) {
        const struct mase_vertex *v = &g->vertex[g->order[i][k]];
        for (int d = 0; d < v->downs; d++)
            ends[d] = g->vertex[v->down[d]].pos;
        qsort(ends, (size_t)v->downs, sizeof *ends, by_number);
        for (int d = 0; d < v->downs; d++) {
            int64_t left = 0;
            for (int p = ends[d] + 1; p > 0; p -= p & -p)
                left += tree[p];
            crossings += met - left;
        }
        for (int d = 0; d < v->downs; d++, met++)
            for (int p = ends[d] + 1; p <= size; p += p & -p)
                tree[p]++;
    }
    return crossings;
}

static int64_t all_crossings(const struct mase_layers *g)
{
    struct mase_arena a = { 0 };
    int64_t crossings = 0;
    int *tree = mase_new_array(&a, int, (size_t)g->count + 1);
    int *ends = mase_new_array(&a, int, (size_t)g->count);
    for (int i = 0; i + 1 < g->layers; i++)
        crossings += layer_crossings(g, i, tree, ends);
    mase_arena_release(&a);
    return crossings;
}

/* ---- barycentres ---- */

struct sort_key {
    double centre;
    int vertex, pos;
};

static int by_centre(const void *a, const void *b)
{
    const struct sort_key *s = a, *t = b;
    return s->centre != t->centre ? (s->centre > t->centre) - (s->centre < t->centre)
                                  : s->pos - t->pos;
}

static double barycentre(const struct mase_layers *g, const int *neighbour, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += g->vertex[neighbour[i]].pos;
    return sum / count;
}

/* Sort layer i by its neighbours above or below. Who has none keeps its place. */
static void sort_layer(struct mase_layers *g, int i, bool by_upper, struct sort_key *key)
{
    int *order = g->order[i], movable = 0;
    for (int k = 0; k < g->size[i]; k++) {
        const struct mase_vertex *v = &g->vertex[order[k]];
        const int count = by_upper ? v->ups : v->downs;
        if (count)
            key[movable++] =
                (struct sort_key){ barycentre(g, by_upper ? v->up : v->down, count), order[k], k };
    }
    qsort(key, (size_t)movable, sizeof *key, by_centre);
    for (int k = 0, next = 0; k < g->size[i]; k++) {
        const struct mase_vertex *v = &g->vertex[order[k]];
        if (by_upper ? v->ups : v->downs)
            order[k] = key[next++].vertex;
    }
    for (int k = 0; k < g->size[i]; k++)
        g->vertex[order[k]].pos = k;
}

/* ---- swapping ---- */

/* Crossings of the edges from left and right to neighbours in one layer. */
static int pair_crossings(const struct mase_layers *g, const int *left, int lefts, const int *right,
                          int rights)
{
    int crossings = 0;
    for (int i = 0; i < lefts; i++)
        for (int k = 0; k < rights; k++)
            crossings += g->vertex[left[i]].pos > g->vertex[right[k]].pos;
    return crossings;
}

static bool better_swapped(const struct mase_layers *g, const struct mase_vertex *v,
                           const struct mase_vertex *w)
{
    enum { PAIRS = 1 << 16 }; /* hubs with more are left where the sweeps put them */
    if ((int64_t)v->ups * w->ups + (int64_t)v->downs * w->downs > PAIRS)
        return false;
    const int now = pair_crossings(g, v->up, v->ups, w->up, w->ups) +
                    pair_crossings(g, v->down, v->downs, w->down, w->downs);
    return now && now > pair_crossings(g, w->up, w->ups, v->up, v->ups) +
                            pair_crossings(g, w->down, w->downs, v->down, v->downs);
}

static void swap_neighbours(struct mase_layers *g, int i)
{
    int *order = g->order[i];
    bool swapped = true;
    for (int round = 0; swapped && round < MAX_SWAPS; round++) {
        swapped = false;
        for (int k = 0; k + 1 < g->size[i]; k++) {
            struct mase_vertex *v = &g->vertex[order[k]], *w = &g->vertex[order[k + 1]];
            if (!better_swapped(g, v, w))
                continue;
            const int left = order[k];
            order[k] = order[k + 1];
            order[k + 1] = left;
            v->pos++, w->pos--;
            swapped = true;
        }
    }
}

/* ---- sweeps ---- */

static void sweep(struct mase_layers *g, bool down, struct sort_key *key)
{
    for (int i = 1; i < g->layers; i++)
        sort_layer(g, down ? i : g->layers - 1 - i, down, key);
    for (int i = 0; i < g->layers; i++)
        swap_neighbours(g, i);
}

static void keep_order(const struct mase_layers *g, int *best)
{
    for (int i = 0; i < g->count; i++)
        best[i] = g->vertex[i].pos;
}

static void restore_order(struct mase_layers *g, const int *best)
{
    for (int i = 0; i < g->count; i++) {
        g->vertex[i].pos = best[i];
        g->order[g->vertex[i].layer][best[i]] = i;
    }
}

int64_t mase_layers_order(struct mase_layers *g, int64_t *naive)
{
    struct sort_key *key = mase_new_array(g->arena, struct sort_key, (size_t)g->count);
    int *best = mase_new_array(g->arena, int, (size_t)g->count);
    int64_t least = all_crossings(g);
    *naive = least;
    keep_order(g, best);
    for (int i = 0, idle = 0; least && i < MAX_SWEEPS && idle < PATIENCE; i++, idle++) {
        sweep(g, i % 2 == 0, key);
        const int64_t crossings = all_crossings(g);
        if (crossings < least) {
            least = crossings;
            keep_order(g, best);
            idle = 0;
        }
    }
    restore_order(g, best);
    return least;
}
