/*
 * draw.h - a graph as a picture: SVG that stands alone, or the text of Graphviz.
 *
 * Nodes lie in layers, and every edge points down (draw/layout.h). The box of a node shows its
 * name, what it calls, the shape of its result, its parameters and, when it is quantised, its
 * formats; hovering over the box shows the whole call. Equal graphs give equal bytes.
 *
 *     mase_draw_svg(&out, g, &(struct mase_draw){ .title = "jsc-toy" });
 *
 * For a host page: the root is svg.mase-graph, a node g.node with an id and data-node, an edge
 * g.edge with data-from and data-to. A node has one CSS class for its kind (input, constant, layer,
 * norm, activation, arithmetic, layout, output), and "quantised" if it has number formats.
 */
#ifndef MASE_DRAW_H
#define MASE_DRAW_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/graph.h>
#include <mase/str.h>

MASE_API_BEGIN

/* What a caller adds to the box of a node; zeroed: nothing. Texts are borrowed until the next call
 * for a node. */
struct mase_draw_note {
    const char *href;      /* the box becomes a link */
    const char *css_class; /* more classes, blank separated */
    const char *line;      /* a last line in the box */
};
typedef void mase_draw_note_fn(struct mase_draw_note *note, const struct mase_node *n, void *data);

/* Zero fields mean the default. */
struct mase_draw {
    const struct mase_values *values; /* for shapes; NULL: the metadata's, where a node has any */
    const char *title;                /* above the drawing */
    const char *id_prefix; /* in front of every id: "before-"; ids are id_prefix "node-" NAME */
    bool no_style;         /* leave <style> out: the host page has mase_draw_style, or its own */
    bool edge_shapes;      /* write shapes beside the edges instead of into the boxes */
    mase_draw_note_fn *note;
    void *note_data;
};

/* Append a whole document, final newline included; opts may be NULL. mase_draw_svg returns false,
 * and appends nothing, when nodes and places where edges cross a layer are more than two million.
 */
bool mase_draw_svg(struct mase_str *out, const struct mase_graph *g, const struct mase_draw *opts);
void mase_draw_dot(struct mase_str *out, const struct mase_graph *g, const struct mase_draw *opts);
/* The style sheet of the SVG, light and dark. Every selector begins with svg.mase-graph. */
void mase_draw_style(struct mase_str *out);

MASE_API_END

#endif /* MASE_DRAW_H */
