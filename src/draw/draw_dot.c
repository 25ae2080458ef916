/*
 * draw_dot.c - a graph in the language of Graphviz: `dot -Tpdf net.dot -o net.pdf`.
 */
#include <mase/draw.h>

#include <string.h>

#include "draw/boxes.h"

/* Fill and frame of a group, as the light theme of the SVG has them. */
static const struct {
    const char *group, *fill, *frame;
} colours[] = {
#define GROUP(name, fill, frame, ...) { #name, fill, frame },
#include "file/groups.def"
};

/* A quoted text of dot: backslash and quote escaped; newlines are drawn centred. */
static void put_quoted(struct mase_str *out, const char *text)
{
    mase_str_addc(out, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '\n')
            mase_str_add(out, "\\n");
        else if (*p == '"' || *p == '\\')
            mase_str_printf(out, "\\%c", *p);
        else
            mase_str_addc(out, *p);
    }
    mase_str_addc(out, '"');
}

static void put_attribute(struct mase_str *out, const char *name, const char *text)
{
    mase_str_printf(out, ", %s=", name);
    put_quoted(out, text);
}

static void put_node(struct mase_str *out, const struct mase_box *b)
{
    struct mase_str label = { 0 };
    for (int i = 0; i < b->lines; i++)
        mase_str_printf(&label, "%s%s", i ? "\n" : "", b->line[i]);
    mase_str_add(out, "    ");
    put_quoted(out, b->node->name);
    mase_str_add(out, " [label=");
    put_quoted(out, mase_str_text(&label));
    for (int i = 0; i < (int)(sizeof colours / sizeof colours[0]); i++) {
        if (!mase_streq(colours[i].group, b->group))
            continue;
        put_attribute(out, "fillcolor", colours[i].fill);
        put_attribute(out, "color", colours[i].frame);
    }
    if (b->quantised)
        mase_str_add(out, ", penwidth=2");
    put_attribute(out, "tooltip", b->tip);
    if (b->href)
        put_attribute(out, "URL", b->href);
    mase_str_add(out, "];\n");
    mase_str_release(&label);
}

static void put_edge(struct mase_str *out, const struct mase_node *from, const struct mase_node *to,
                     const char *label)
{
    mase_str_add(out, "    ");
    put_quoted(out, from->name);
    mase_str_add(out, " -> ");
    put_quoted(out, to->name);
    if (label) {
        mase_str_add(out, " [label=");
        put_quoted(out, label);
        mase_str_addc(out, ']');
    }
    mase_str_add(out, ";\n");
}

void mase_draw_dot(struct mase_str *out, const struct mase_graph *g, const struct mase_draw *opts)
{
    struct mase_arena a = { 0 };
    const struct mase_draw plain = { 0 };
    opts = opts ? opts : &plain;
    struct mase_box *box = mase_draw_boxes(&a, g, opts);
    mase_str_add(out, "digraph ");
    put_quoted(out, g->name ? g->name : "graph");
    mase_str_add(out, " {\n    graph [fontname=\"sans-serif\"");
    if (opts->title)
        put_attribute(out, "label", opts->title);
    mase_str_add(out, "];\n    node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", "
                      "fontsize=11];\n    edge [fontname=\"sans-serif\", fontsize=10, "
                      "color=\"#57606a\"];\n");
    for (int i = 0; i < g->node_count; i++)
        put_node(out, &box[i]);
    for (int i = 0; i < g->node_count; i++)
        for (int u = 0; u < box[i].node->user_count; u++)
            put_edge(out, box[i].node, box[i].node->users[u],
                     opts->edge_shapes ? box[i].shape : NULL);
    mase_str_add(out, "}\n");
    mase_arena_release(&a);
}
