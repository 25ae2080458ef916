/*
 * section_layers.c - the drawing of the network, and the table of its layers. Nodes of the drawing
 * and rows of the table link to each other.
 */
#include <mase/compare.h>
#include <mase/draw.h>
#include <mase/meta.h>

#include "cli/command_nets.h"
#include "cli/report/html.h"
#include "cli/report/report.h"

/* ---- the drawing ---- */

bool mase_report_has_graph(const struct mase_report *r)
{
    return r->graph != NULL;
}

static void link_to_row(struct mase_draw_note *note, const struct mase_node *n, void *data)
{
    const struct mase_report *r = data;
    note->href = mase_arena_printf(r->arena, "#layer-%s", n->name);
}

void mase_report_graph(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(
        out,
        "<p>A box leads to its row among the layers. Drag to move, pinch or hold Ctrl and turn the "
        "wheel to zoom; the arrow keys, + and − do the same.</p>\n"
        "<figure class=\"drawing\">\n<div class=\"tools\" role=\"toolbar\" "
        "aria-label=\"Zoom\">\n"
        "<button type=\"button\" data-zoom=\"in\" aria-label=\"Zoom in\">+</button>\n"
        "<button type=\"button\" data-zoom=\"out\" aria-label=\"Zoom out\">−</button>\n"
        "<button type=\"button\" data-zoom=\"fit\">Fit</button>\n</div>\n"
        "<div class=\"viewport\" tabindex=\"0\" role=\"group\" "
        "aria-label=\"Drawing of the network\">\n");
    if (!mase_draw_svg(out, r->graph,
                       &(struct mase_draw){ .no_style = true,
                                            .id_prefix = "drawn-",
                                            .note = link_to_row,
                                            .note_data = (void *)r }))
        mase_str_add(out, "<p>The network is too large to be drawn.</p>\n");
    mase_str_add(out, "</div>\n</figure>\n");
}

/* ---- the table ---- */

bool mase_report_has_layers(const struct mase_report *r)
{
    return r->graph != NULL;
}

/* "[8, 16]"; the first of several results. */
static const char *shape_of(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < n->meta->result_count && !text.len; i++)
        if (n->meta->results[i].kind == MASE_META_TENSOR)
            mase_shape_print(&text, &n->meta->results[i].shape);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

/* "Linear", or "Linear → LinearInteger" if the transforms changed it. */
static const char *type_of(const struct mase_report *r, const struct mase_node *n)
{
    if (n->kind == MASE_PLACEHOLDER || n->kind == MASE_OUTPUT)
        return mase_node_kind_names[n->kind];
    const struct mase_node *was = r->before ? mase_graph_find(r->before, n->name) : NULL;
    const char *is = mase_cli_type_of(r->arena, n);
    const char *before = was ? mase_cli_type_of(r->arena, was) : is;
    return mase_streq(before, is) ? is : mase_arena_printf(r->arena, "%s → %s", before, is);
}

static void layer_row(struct mase_str *out, const struct mase_report *r, const struct mase_node *n)
{
    static const char *const costs[] = { "params", "macs", "param_bits", "out_bits" };
    mase_html_row(out, mase_arena_printf(r->arena, "layer-%s", n->name),
                  mase_arena_printf(r->arena, "#drawn-node-%s", n->name), n->name);
    mase_html_cell(out, type_of(r, n));
    mase_html_cell(out, mase_ops[n->op].name);
    mase_html_cell(out, shape_of(r->arena, n));
    mase_html_cell(out, mase_cli_formats_of(r->arena, n));
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++)
        mase_html_cell_whole(out, mase_report_cost(r->costs, n->name, costs[i]));
    mase_html_row_end(out);
}

void mase_report_layers(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column columns[] = {
        { "Node", NULL, true },
        { "Type", "what it calls", true },
        { "Operation", NULL, true },
        { "Output", "shape of the result for one sample", true },
        { "Formats", "number formats of the operands", true },
        { "Parameters", "values that are trained", false },
        { "MACs", "multiplications whose products are summed", false },
        { "Parameter bits", "as they are stored", false },
        { "Output bits", "of the result", false },
    };
    mase_html_table(out, "Layers", columns, sizeof columns / sizeof columns[0]);
    for (const struct mase_node *n = r->graph->first; n; n = n->next)
        layer_row(out, r, n);
    mase_html_table_end(out, false);
}
