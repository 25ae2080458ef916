/*
 * layout_place.c - x of every vertex: chains straight, edges short.
 *
 * After Brandes and Koepf (2001). Each vertex is aligned with the median of its neighbours in the
 * layer before; aligned ones form blocks of one x, which are pushed together as far as they go.
 * Done from above and from below, preferring left and right, that gives four drawings, each leaning
 * to its corner. A vertex takes the mean of its two middle places: as neighbours keep their
 * distance in each drawing, so they do in the mean. Two things are our own: blocks are pushed along
 * their graph of neighbours, forth and back, which needs none of the paper's classes; and of
 * several neighbours the one with the longest chain of nodes behind it is the one to be straight
 * with, so that a network's spine is a line.
 */
#include "draw/layout.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    BOX_DISTANCE = 32,
    TRUNK_DISTANCE = 20, /* to a passing trunk */
    DRAWINGS = 4
};

struct neighbour {
    int pos, vertex;
};

/* The graph as one of the four sees it: turned so that it always aligns with the layer before and
 * from the left. Arrays have an entry for each vertex. */
struct view {
    const struct mase_layers *g;
    bool from_below, from_right;
    bool **crosses; /* by vertex and link up: that link crosses one within a trunk */
    int *reach_up, *reach_down;
    bool *goes_on;          /* a trunk that passes the layer below, too */
    struct neighbour *near; /* scratch */
    int *root;              /* the block's first vertex, which names it */
    int *align;             /* the next vertex of the block; the last leads to the first */
    int *order;             /* blocks, left ones first; scratch */
    int *pending;           /* how many blocks left of this one are not in order yet; scratch */
    double *x;              /* of the block, at its root */
};

static int vertex_at(const struct view *v, int layer, int k)
{
    return v->g->order[layer][v->from_right ? v->g->size[layer] - 1 - k : k];
}

static int pos_of(const struct view *v, int i)
{
    const struct mase_vertex *p = &v->g->vertex[i];
    return v->from_right ? v->g->size[p->layer] - 1 - p->pos : p->pos;
}

static bool is_trunk(const struct mase_layers *g, int i)
{
    return g->vertex[i].node < 0;
}

/* ---- conflicts ---- */

/* The vertex above that continues the trunk through i, or -1. */
static int trunk_above(const struct mase_layers *g, int i)
{
    const struct mase_vertex *v = &g->vertex[i];
    return v->node < 0 && is_trunk(g, v->up[0]) ? v->up[0] : -1;
}

static bool goes_on_below(const struct mase_layers *g, int i)
{
    const struct mase_vertex *v = &g->vertex[i];
    for (int d = 0; v->node < 0 && d < v->downs; d++)
        if (is_trunk(g, v->down[d]))
            return true;
    return false;
}

/* Mark the links into order[first..last] of a layer whose upper ends are not within lo..hi: they
 * cross the trunks there. */
static void mark_outside(const struct mase_layers *g, bool **crosses, int layer, int first,
                         int last, int lo, int hi)
{
    for (int k = first; k <= last; k++) {
        const int i = g->order[layer][k];
        for (int u = 0; u < g->vertex[i].ups; u++) {
            const int pos = g->vertex[g->vertex[i].up[u]].pos;
            if ((pos < lo || pos > hi) && trunk_above(g, i) < 0)
                crosses[i][u] = true;
        }
    }
}

/* Links that cross a trunk stay out of the alignment: trunks are straight. */
static bool **find_crossing(const struct mase_layers *g)
{
    bool **crosses = mase_new_array(g->arena, bool *, (size_t)g->count);
    for (int i = 0; i < g->count; i++)
        crosses[i] = mase_new_array(g->arena, bool, (size_t)g->vertex[i].ups);
    for (int layer = 1; layer < g->layers; layer++) {
        int lo = 0, first = 0;
        for (int k = 0; k < g->size[layer]; k++) {
            const int above = trunk_above(g, g->order[layer][k]);
            if (above < 0 && k + 1 < g->size[layer])
                continue;
            const int hi = above < 0 ? g->size[layer - 1] - 1 : g->vertex[above].pos;
            mark_outside(g, crosses, layer, first, k, lo, hi);
            first = k + 1;
            lo = hi;
        }
    }
    return crosses;
}

static bool link_crosses(const struct view *v, int a, int b)
{
    const int low = v->g->vertex[a].layer > v->g->vertex[b].layer ? a : b, high = low == a ? b : a;
    for (int u = 0; u < v->g->vertex[low].ups; u++)
        if (v->g->vertex[low].up[u] == high)
            return v->crosses[low][u];
    return false;
}

/* ---- alignment ---- */

static int longest(const int *reach, const int *neighbour, int count)
{
    int most = 0;
    for (int i = 0; i < count; i++)
        most = reach[neighbour[i]] > most ? reach[neighbour[i]] : most;
    return most;
}

/* How many nodes hang on each other layer by layer, from this one down, and up; 0 at a trunk. */
static void find_reach(struct view *v)
{
    const struct mase_layers *g = v->g;
    v->reach_down = mase_new_array(g->arena, int, (size_t)g->count);
    v->reach_up = mase_new_array(g->arena, int, (size_t)g->count);
    v->goes_on = mase_new_array(g->arena, bool, (size_t)g->count);
    for (int i = 0; i < g->count; i++)
        v->goes_on[i] = goes_on_below(g, i);
    for (int layer = 0; layer < g->layers; layer++) {
        for (int k = 0; k < g->size[layer]; k++) {
            const int i = g->order[layer][k];
            v->reach_up[i] =
                is_trunk(g, i) ? 0 : 1 + longest(v->reach_up, g->vertex[i].up, g->vertex[i].ups);
        }
    }
    for (int layer = g->layers - 1; layer >= 0; layer--) {
        for (int k = 0; k < g->size[layer]; k++) {
            const int i = g->order[layer][k];
            v->reach_down[i] =
                is_trunk(g, i) ? 0
                               : 1 + longest(v->reach_down, g->vertex[i].down, g->vertex[i].downs);
        }
    }
}

/* Should one end of a link rather be straight with another neighbour: with that of the longest
 * chain, or with the trunk that it is part of? */
static bool is_weak(const struct view *v, int i, int neighbour)
{
    const struct mase_layers *g = v->g;
    const bool below = g->vertex[i].layer > g->vertex[neighbour].layer;
    const int high = below ? neighbour : i, low = below ? i : neighbour;
    if (is_trunk(g, high) && is_trunk(g, low))
        return false;
    /* a node reaches one further than its best neighbour */
    if (is_trunk(g, high) ? v->goes_on[high] : v->reach_down[high] - 1 > v->reach_down[low])
        return true;
    return !is_trunk(g, low) && v->reach_up[low] - 1 > v->reach_up[high];
}

static int by_pos(const void *a, const void *b)
{
    return ((const struct neighbour *)a)->pos - ((const struct neighbour *)b)->pos;
}

/* The neighbours in the layer before with which i may be aligned, from the left. */
static int candidates(const struct view *v, int i)
{
    const struct mase_vertex *p = &v->g->vertex[i];
    const int *all = v->from_below ? p->down : p->up, total = v->from_below ? p->downs : p->ups;
    int count = 0;
    for (int k = 0; k < total; k++)
        if (!is_weak(v, i, all[k]))
            v->near[count++] = (struct neighbour){ pos_of(v, all[k]), all[k] };
    qsort(v->near, (size_t)count, sizeof v->near[0], by_pos);
    return count;
}

static void align_vertex(struct view *v, int i, int *rightmost)
{
    const int count = candidates(v, i);
    for (int m = (count - 1) / 2; count && m <= count / 2 && v->align[i] == i; m++) {
        const int u = v->near[m].vertex;
        if (link_crosses(v, u, i) || pos_of(v, u) <= *rightmost)
            continue;
        v->align[u] = i;
        v->root[i] = v->root[u];
        v->align[i] = v->root[i];
        *rightmost = pos_of(v, u);
    }
}

static void align(struct view *v)
{
    const struct mase_layers *g = v->g;
    for (int i = 0; i < g->count; i++)
        v->root[i] = v->align[i] = i;
    for (int i = 1; i < g->layers; i++) {
        const int layer = v->from_below ? g->layers - 1 - i : i;
        int rightmost = -1;
        for (int k = 0; k < g->size[layer]; k++)
            align_vertex(v, vertex_at(v, layer, k), &rightmost);
    }
}

/* ---- pushing together ---- */

/* The vertex to the right of i, or -1. */
static int right_of(const struct view *v, int i)
{
    const int layer = v->g->vertex[i].layer, k = pos_of(v, i) + 1;
    return k < v->g->size[layer] ? vertex_at(v, layer, k) : -1;
}

static double distance(const struct view *v, int left, int right)
{
    const struct mase_vertex *a = &v->g->vertex[left], *b = &v->g->vertex[right];
    const bool trunk = a->node < 0 || b->node < 0;
    return (a->width + b->width) / 2 + (trunk ? TRUNK_DISTANCE : BOX_DISTANCE);
}

/* The next vertex of i's block, -1 after the last. */
static int next_in_block(const struct view *v, int i)
{
    return v->align[i] == v->root[i] ? -1 : v->align[i];
}

/* Put the blocks in order, each after all that are left of it. Alignments do not cross, so there is
 * such an order. */
static int order_blocks(struct view *v)
{
    int count = 0;
    for (int i = 0; i < v->g->count; i++)
        v->pending[i] = 0;
    for (int i = 0; i < v->g->count; i++)
        if (right_of(v, i) >= 0)
            v->pending[v->root[right_of(v, i)]]++;
    for (int i = 0; i < v->g->count; i++)
        if (v->root[i] == i && !v->pending[i])
            v->order[count++] = i;
    for (int next = 0; next < count; next++) {
        for (int i = v->order[next]; i >= 0; i = next_in_block(v, i)) {
            const int r = right_of(v, i);
            if (r >= 0 && !--v->pending[v->root[r]])
                v->order[count++] = v->root[r];
        }
    }
    return count;
}

/* Push the blocks at the right of this one as far right as it needs. */
static void push_right(struct view *v, int block)
{
    for (int i = block; i >= 0; i = next_in_block(v, i)) {
        const int r = right_of(v, i);
        if (r >= 0)
            v->x[v->root[r]] = fmax(v->x[v->root[r]], v->x[block] + distance(v, i, r));
    }
}

/* Take a block to those at its right, if there are any. */
static void pull_right(struct view *v, int block)
{
    double room = DBL_MAX;
    for (int i = block; i >= 0; i = next_in_block(v, i)) {
        const int r = right_of(v, i);
        if (r >= 0)
            room = fmin(room, v->x[v->root[r]] - distance(v, i, r));
    }
    if (room < DBL_MAX)
        v->x[block] = fmax(v->x[block], room);
}

/* All as far left as they go, and then right again as far as that widens nothing. */
static void push_blocks(struct view *v)
{
    const int count = order_blocks(v);
    for (int n = 0; n < count; n++)
        v->x[v->order[n]] = 0;
    for (int n = 0; n < count; n++)
        push_right(v, v->order[n]);
    for (int n = count - 1; n >= 0; n--)
        pull_right(v, v->order[n]);
}

/* ---- four drawings into one ---- */

struct drawing {
    double *x;
    double left, right;
};

static void measure(struct drawing *d, const struct mase_layers *g)
{
    d->left = DBL_MAX;
    d->right = -DBL_MAX;
    for (int i = 0; i < g->count; i++) {
        d->left = fmin(d->left, d->x[i] - g->vertex[i].width / 2);
        d->right = fmax(d->right, d->x[i] + g->vertex[i].width / 2);
    }
}

static struct drawing draw(struct view *v)
{
    struct drawing d = { .x = mase_new_array(v->g->arena, double, (size_t)v->g->count) };
    align(v);
    push_blocks(v);
    for (int i = 0; i < v->g->count; i++)
        d.x[i] = v->from_right ? -v->x[v->root[i]] : v->x[v->root[i]];
    measure(&d, v->g);
    return d;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Lay the drawings over the narrowest, each at the side from which it was made. */
static void merge(struct mase_layers *g, const struct drawing *d)
{
    const struct drawing *narrow = d;
    for (int k = 1; k < DRAWINGS; k++)
        if (d[k].right - d[k].left < narrow->right - narrow->left)
            narrow = &d[k];
    for (int i = 0; i < g->count; i++) {
        double x[DRAWINGS];
        for (int k = 0; k < DRAWINGS; k++)
            x[k] = d[k].x[i] + (k % 2 ? narrow->right - d[k].right : narrow->left - d[k].left);
        qsort(x, DRAWINGS, sizeof x[0], by_value);
        g->vertex[i].x = (x[1] + x[2]) / 2;
    }
}

void mase_layers_place(struct mase_layers *g)
{
    struct drawing d[DRAWINGS];
    const size_t n = (size_t)g->count;
    struct view v = { .g = g, .crosses = find_crossing(g) };
    int *ints = mase_new_array(g->arena, int, 4 * n);
    v.root = ints, v.align = ints + n, v.order = ints + 2 * n, v.pending = ints + 3 * n;
    v.near = mase_new_array(g->arena, struct neighbour, n);
    v.x = mase_new_array(g->arena, double, n);
    find_reach(&v);
    for (int k = 0; k < DRAWINGS; k++) {
        v.from_right = k % 2;
        v.from_below = k / 2;
        d[k] = draw(&v);
    }
    merge(g, d);
    double left = DBL_MAX;
    for (int i = 0; i < g->count; i++)
        left = fmin(left, g->vertex[i].x - g->vertex[i].width / 2);
    for (int i = 0; i < g->count; i++)
        g->vertex[i].x -= left;
}
