/*
 * draw_svg.c - a laid-out graph as SVG.
 *
 * Everything that a theme may want to change is a class; the style sheet comes twice, for light and
 * for dark, and every rule stands below svg.mase-graph, so that it does no harm in a host page. No
 * font is known here, so widths of text are estimated, on the large side.
 */
#include <mase/draw.h>

#include <math.h>
#include <string.h>

#include "draw/boxes.h"
#include "draw/layout.h"
#include "draw/svg.h"
#include "value/markup.h"
#include "value/utf8.h"

enum {
    MARGIN = 20,
    PADDING_X = 14,
    PADDING_Y = 9,
    NAME_SIZE = 13, /* font sizes */
    LINE_SIZE = 11,
    TITLE_SIZE = 16,
    NAME_STEP = 17, /* from line to line */
    LINE_STEP = 15,
    TITLE_STEP = 34,
    MIN_WIDTH = 96,
    CORNER = 7,
    ARROW_WIDTH = 8,
    ARROW_LENGTH = 8,
    MAX_LETTERS = 44 /* of a line; the whole is in the tip */
};

struct picture {
    struct mase_str *out;
    struct mase_arena *arena;
    const struct mase_draw *opts;
    struct mase_box *box;
    struct mase_layout layout;
    double dx, dy; /* where the layout's corner lies */
};

/* ---- text ---- */

/* Letters in hundredths of the font size: a sans-serif of middling width, rounded up. */
static int letter_width(uint32_t cp)
{
    if (cp < 0x80 && strchr("ijlI.,:;'|!", (int)cp))
        return 32;
    if (cp < 0x80 && strchr("ft r()[]-/\"", (int)cp))
        return 42;
    if (cp < 0x80 && strchr("mwMW@%", (int)cp))
        return 95;
    if (cp >= 'A' && cp <= 'Z')
        return 74;
    return cp < 0x2e80 ? 63 : 105; /* ideographs are square */
}

/* The width of the text as put_letters shortens it. */
static double text_width(const char *text, int size)
{
    const char *const end = text + strlen(text);
    int hundredths = 0;
    for (int n = 0; text < end && n < MAX_LETTERS; n++) {
        uint32_t cp = 0xfffd;
        const int len = mase_utf8_decode(&cp, text, (size_t)(end - text));
        hundredths += letter_width(cp);
        text += len ? len : 1;
    }
    return hundredths * size / 100.0;
}

/* Escaped; what is too long ends in an ellipsis. */
static void put_letters(const struct picture *p, const char *text)
{
    const char *at = text, *cut = text, *const end = text + strlen(text);
    for (int n = 0; at < end; n++) {
        uint32_t cp;
        const int len = mase_utf8_decode(&cp, at, (size_t)(end - at));
        if (n == MAX_LETTERS - 1)
            cut = at;
        if (n == MAX_LETTERS) {
            mase_markup_add(p->out, mase_arena_strndup(p->arena, text, (size_t)(cut - text)));
            mase_str_add(p->out, "\u2026");
            return;
        }
        at += len ? len : 1;
    }
    mase_markup_add(p->out, text);
}

static void put_attribute(struct mase_str *out, const char *name, const char *value)
{
    mase_str_printf(out, " %s=\"", name);
    mase_markup_add(out, value);
    mase_str_addc(out, '"');
}

static void put_at(struct mase_str *out, double x, double y)
{
    mase_str_add(out, " x=\"");
    mase_svg_number(out, x);
    mase_str_add(out, "\" y=\"");
    mase_svg_number(out, y);
    mase_str_addc(out, '"');
}

/* ---- style ---- */

static const struct {
    const char *name, *fill, *frame, *dark_fill, *dark_frame;
} groups[] = {
#define GROUP(name, fill, frame, dark_fill, dark_frame) \
    { #name, fill, frame, dark_fill, dark_frame },
#include "file/groups.def"
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static void put_colours(struct mase_str *out, bool dark)
{
    for (int i = 0; i < GROUPS; i++)
        mase_str_printf(out, ".mase-graph .%s .box { fill: %s; stroke: %s; }\n", groups[i].name,
                        dark ? groups[i].dark_fill : groups[i].fill,
                        dark ? groups[i].dark_frame : groups[i].frame);
}

void mase_draw_style(struct mase_str *out)
{
    mase_str_add(out, ".mase-graph text { font: 11px system-ui, \"DejaVu Sans\", sans-serif; "
                      "fill: #57606a; text-anchor: middle; }\n"
                      ".mase-graph .title { font-size: 16px; font-weight: 600; fill: #24292f; "
                      "text-anchor: start; }\n"
                      ".mase-graph .name { font-size: 13px; font-weight: 600; fill: #24292f; }\n"
                      ".mase-graph .paper { fill: #ffffff; }\n"
                      ".mase-graph .box { stroke-width: 1.2; }\n"
                      ".mase-graph .quantised .box { stroke-width: 2.4; }\n"
                      ".mase-graph .edge path { fill: none; stroke: #848d97; stroke-width: 1.4; }\n"
                      ".mase-graph .edge .head { fill: #848d97; stroke: none; }\n"
                      ".mase-graph .edge text { text-anchor: start; font-size: 10px; }\n");
    put_colours(out, false);
    mase_str_add(out, "@media (prefers-color-scheme: dark) {\n"
                      ".mase-graph text { fill: #9da7b3; }\n"
                      ".mase-graph .title, .mase-graph .name { fill: #e6edf3; }\n"
                      ".mase-graph .paper { fill: #0d1117; }\n"
                      ".mase-graph .edge path { stroke: #7d8590; }\n"
                      ".mase-graph .edge .head { fill: #7d8590; stroke: none; }\n");
    put_colours(out, true);
    mase_str_add(out, "}\n");
}

/* ---- layout ---- */

static void measure(struct mase_layout_node *node, const struct mase_box *b)
{
    double width = MIN_WIDTH - 2 * PADDING_X;
    for (int i = 0; i < b->lines; i++)
        width = fmax(width, text_width(b->line[i], i ? LINE_SIZE : NAME_SIZE));
    node->width = ceil(width / 2) * 2 + 2 * PADDING_X;
    node->height = 2 * PADDING_Y + NAME_STEP + LINE_STEP * (b->lines - 1);
}

static bool lay_out(struct picture *p, const struct mase_graph *g)
{
    struct mase_arena *a = p->arena;
    struct mase_layout *l = &p->layout;
    struct mase_map index = { .arena = a };
    for (const struct mase_node *n = g->first; n; n = n->next)
        l->edges += n->input_count;
    l->nodes = g->node_count;
    l->node = mase_new_array(a, struct mase_layout_node, (size_t)l->nodes);
    l->edge = mase_new_array(a, struct mase_layout_edge, (size_t)l->edges);
    l->edges = 0;
    for (int i = 0; i < l->nodes; i++) {
        const struct mase_node *n = p->box[i].node;
        mase_map_put(&index, n->name, &l->node[i]);
        measure(&l->node[i], &p->box[i]);
        for (int k = 0; k < n->input_count; k++) {
            const struct mase_layout_node *from = mase_map_get(&index, n->inputs[k]->name);
            l->edge[l->edges++] = (struct mase_layout_edge){ (int)(from - l->node), i, NULL, 0 };
        }
    }
    if (!mase_layout_run(l, a))
        return false;
    p->dx = MARGIN;
    p->dy = MARGIN + (p->opts->title ? TITLE_STEP : 0);
    return true;
}

/* ---- edges ---- */

/* Down and up the letter S: leaves and arrives upright. */
static void put_swing(const struct picture *p, const struct mase_layout_point *from,
                      const struct mase_layout_point *to)
{
    struct mase_str *out = p->out;
    const double middle = (from->y + to->y) / 2 + p->dy;
    if (fabs(from->x - to->x) < 0.05)
        return; /* the line that follows covers it */
    mase_str_addc(out, 'C');
    mase_svg_point(out, from->x + p->dx, middle);
    mase_str_addc(out, ' ');
    mase_svg_point(out, to->x + p->dx, middle);
    mase_str_addc(out, ' ');
    mase_svg_point(out, to->x + p->dx, to->y + p->dy);
}

static void put_course(const struct picture *p, const struct mase_layout_edge *e)
{
    struct mase_str *out = p->out;
    mase_str_add(out, "<path d=\"M");
    mase_svg_point(out, e->point[0].x + p->dx, e->point[0].y + p->dy);
    for (int i = 0; i < e->points; i += 2) {
        const struct mase_layout_point *end = &e->point[i + 1];
        const bool last = i + 2 == e->points;
        const double y = end->y + p->dy - (last ? ARROW_LENGTH - 1 : 0);
        if (i)
            put_swing(p, &e->point[i - 1], &e->point[i]);
        mase_str_addc(out, 'V');
        mase_svg_number(out, y);
    }
    mase_str_add(out, "\"/>");
}

static void put_head(const struct picture *p, const struct mase_layout_point *tip)
{
    mase_str_add(p->out, "<path class=\"head\" d=\"M");
    mase_svg_point(p->out, tip->x + p->dx, tip->y + p->dy);
    mase_str_printf(p->out, "l%d %dh%dz\"/>", -ARROW_WIDTH / 2, -ARROW_LENGTH, ARROW_WIDTH);
}

static void put_edge(const struct picture *p, const struct mase_layout_edge *e)
{
    struct mase_str *out = p->out;
    const struct mase_box *from = &p->box[e->from], *to = &p->box[e->to];
    mase_str_add(out, "<g class=\"edge\"");
    put_attribute(out, "data-from", from->node->name);
    put_attribute(out, "data-to", to->node->name);
    mase_str_addc(out, '>');
    put_course(p, e);
    put_head(p, &e->point[e->points - 1]);
    if (p->opts->edge_shapes && from->shape && from->node->users[0] == to->node) {
        mase_str_add(out, "<text");
        put_at(out, e->point[1].x + p->dx + 6, e->point[1].y + p->dy + 13);
        mase_str_addc(out, '>');
        put_letters(p, from->shape);
        mase_str_add(out, "</text>");
    }
    mase_str_add(out, "</g>\n");
}

/* ---- nodes ---- */

static void put_box(const struct picture *p, const struct mase_layout_node *at)
{
    struct mase_str *out = p->out;
    mase_str_add(out, "<rect class=\"box\"");
    put_at(out, at->x - at->width / 2 + p->dx, at->y - at->height / 2 + p->dy);
    mase_str_add(out, " width=\"");
    mase_svg_number(out, at->width);
    mase_str_add(out, "\" height=\"");
    mase_svg_number(out, at->height);
    mase_str_printf(out, "\" rx=\"%d\"/>\n", CORNER);
}

static void put_lines(const struct picture *p, const struct mase_box *b,
                      const struct mase_layout_node *at)
{
    struct mase_str *out = p->out;
    double y = at->y - at->height / 2 + PADDING_Y + NAME_STEP - 4 + p->dy;
    for (int i = 0; i < b->lines; i++, y += LINE_STEP) {
        mase_str_add(out, "<text");
        put_at(out, at->x + p->dx, y);
        mase_str_add(out, i ? ">" : " class=\"name\">");
        put_letters(p, b->line[i]);
        mase_str_add(out, "</text>\n");
    }
}

static void put_tip(struct mase_str *out, const char *tip)
{
    mase_str_add(out, "<title>");
    mase_markup_add(out, tip);
    mase_str_add(out, "</title>\n");
}

static void put_node(const struct picture *p, int i)
{
    struct mase_str *out = p->out;
    const struct mase_box *b = &p->box[i];
    mase_str_add(out, "<g id=\"");
    mase_markup_add(out, p->opts->id_prefix ? p->opts->id_prefix : "");
    mase_str_add(out, "node-");
    mase_markup_add(out, b->node->name);
    mase_str_printf(out, "\" class=\"node %s%s", b->group, b->quantised ? " quantised" : "");
    if (b->css_class) {
        mase_str_addc(out, ' ');
        mase_markup_add(out, b->css_class);
    }
    mase_str_addc(out, '"');
    put_attribute(out, "data-node", b->node->name);
    mase_str_add(out, ">\n");
    put_tip(out, b->tip);
    if (b->href) {
        mase_str_add(out, "<a");
        put_attribute(out, "href", b->href);
        mase_str_add(out, ">\n");
    }
    put_box(p, &p->layout.node[i]);
    put_lines(p, b, &p->layout.node[i]);
    mase_str_add(out, b->href ? "</a>\n</g>\n" : "</g>\n");
}

/* ---- the document ---- */

static void put_start(const struct picture *p)
{
    struct mase_str *out = p->out;
    const char *title = p->opts->title;
    double width = p->layout.width + 2 * MARGIN;
    if (title)
        width = fmax(width, text_width(title, TITLE_SIZE) + 2 * MARGIN);
    const int w = (int)ceil(width), h = (int)ceil(p->layout.height + p->dy + MARGIN);
    mase_str_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mase-graph\" width=\"%d\" "
                    "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
                    w, h, w, h);
    if (title)
        put_tip(out, title);
    if (!p->opts->no_style) {
        mase_str_add(out, "<style>\n");
        mase_draw_style(out);
        mase_str_add(out, "</style>\n");
    }
    mase_str_add(out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    if (!title)
        return;
    mase_str_add(out, "<text class=\"title\"");
    put_at(out, MARGIN, MARGIN + TITLE_SIZE);
    mase_str_addc(out, '>');
    mase_markup_add(out, title);
    mase_str_add(out, "</text>\n");
}

bool mase_draw_svg(struct mase_str *out, const struct mase_graph *g, const struct mase_draw *opts)
{
    struct mase_arena a = { 0 };
    const struct mase_draw plain = { 0 };
    struct picture p = { .out = out, .arena = &a, .opts = opts ? opts : &plain };
    p.box = mase_draw_boxes(&a, g, p.opts);
    const bool possible = lay_out(&p, g);
    if (possible) {
        put_start(&p);
        for (int i = 0; i < p.layout.edges; i++)
            put_edge(&p, &p.layout.edge[i]);
        for (int i = 0; i < p.layout.nodes; i++)
            put_node(&p, i);
        mase_str_add(out, "</svg>\n");
    }
    mase_arena_release(&a);
    return possible;
}
