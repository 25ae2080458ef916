/*
 * layout.h - where the boxes of a directed graph go, knowing nothing of what is in them.
 *
 * After Sugiyama: nodes get layers by longest paths (layout.c), the order within layers is changed
 * until few edges cross (layout_order.c), then x is chosen so that chains run straight
 * (layout_place.c, after Brandes and Koepf). All that leaves one node is one value, so its edges
 * share a trunk until each turns off to its target.
 *
 * What holds, and is tested: boxes of a layer keep their distance; an edge never goes up, touches
 * no box but its two, and is straight where it passes a layer; the same input gives the same
 * output.
 */
#ifndef MASE_DRAW_LAYOUT_H
#define MASE_DRAW_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/arena.h>

struct mase_layout_node {
    double width, height; /* given */
    int layer;            /* from the top, 0 first */
    double x, y;          /* of the centre */
};

struct mase_layout_point {
    double x, y;
};

/* Between points 2i and 2i + 1 the edge is a vertical line, from 2i + 1 to 2i + 2 it swings over
 * the space between two layers. */
struct mase_layout_edge {
    int from, to; /* given; from < to: nodes are in topological order, no pair twice */
    struct mase_layout_point *point;
    int points;
};

struct mase_layout {
    struct mase_layout_node *node; /* caller's, as edge */
    struct mase_layout_edge *edge;
    int nodes, edges;
    double width, height; /* of everything; the top left corner is 0, 0 */
    int layers;
    int64_t crossings;       /* of edges, in the order found */
    int64_t naive_crossings; /* if nodes stood in layers in the order given */
};

/* Fill in the rest; points come from the arena. False: nodes and the places where edges pass are
 * more than two million. */
bool mase_layout_run(struct mase_layout *l, struct mase_arena *a);

/* ---- between the files of the layout ---- */

/* A node, or the place in a layer where a trunk passes. */
struct mase_vertex {
    int node; /* -1: a trunk passes */
    int layer, pos;
    double width, x;
    int *up, *down; /* neighbours one layer above and below */
    int ups, downs;
};

struct mase_layers {
    struct mase_arena *arena; /* scratch */
    struct mase_vertex *vertex;
    int count;
    int **order; /* (layers) vertices from left to right */
    int *size;   /* (layers) */
    int layers;
};

/* Reorder the layers; both counts are of crossings. */
int64_t mase_layers_order(struct mase_layers *g, int64_t *naive);
/* Set every vertex's x, the smallest left side being 0. */
void mase_layers_place(struct mase_layers *g);

#endif /* MASE_DRAW_LAYOUT_H */
