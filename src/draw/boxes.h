/*
 * boxes.h - what a drawing says about each node, before any drawing.
 */
#ifndef MASE_DRAW_BOXES_H
#define MASE_DRAW_BOXES_H

#include <mase/draw.h>

enum { MASE_BOX_LINES = 8 };

struct mase_box {
    const struct mase_node *node;
    const char *group; /* its class: "layer" */
    const char *shape; /* of the result; NULL: not known */
    bool quantised;
    const char *line[MASE_BOX_LINES]; /* the first is the name */
    int lines;
    const char *tip;              /* the whole call, lines ended by newlines */
    const char *href, *css_class; /* as the caller says; or NULL */
};

/* One box per node, in the order of the graph. */
struct mase_box *mase_draw_boxes(struct mase_arena *a, const struct mase_graph *g,
                                 const struct mase_draw *opts);

#endif /* MASE_DRAW_BOXES_H */
