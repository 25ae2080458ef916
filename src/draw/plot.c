/*
 * plot.c - line charts as SVG.
 *
 * Data are mapped to pixels by two axes, each linear or logarithmic; a legend stands to the right
 * when there is more than one series. Over names, which have no order, there are marks without
 * lines. Colours are classes of one style sheet, which says twice what they are, for light and for
 * dark. They come from the palette of Okabe and Ito, which colour-blind readers can tell apart;
 * after one round the lines are dashed.
 */
#include <mase/plot.h>

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "draw/chart_axis.h"
#include "draw/svg.h"
#include "value/markup.h"
#include "value/quote.h"

enum {
    WIDTH = 760,
    HEIGHT = 440,
    TOP = 44,
    TOP_BARE = 16, /* without a title */
    BOTTOM = 56,
    LEFT = 76,
    RIGHT = 24,
    PAGE_WIDTH = 420, /* in a page, where it may be made smaller */
    PAGE_HEIGHT = 270,
    PAGE_LEFT = 60,
    LEGEND_GAP = 16,
    LEGEND_LINE = 20,
    LEGEND_SAMPLE = 28, /* the piece of line before a name */
    LETTER = 7,         /* a letter of 13 px is about this wide */
    MARKED = 60         /* a series of up to so many points shows them */
};

static const struct {
    const char *light, *dark;
} palette[] = {
    { "#0072b2", "#56b4e9" }, { "#d55e00", "#ff8a3d" }, { "#009e73", "#2fd0a0" },
    { "#b0528c", "#e08fc0" }, { "#8a6d00", "#f0e442" }, { "#3b4cc0", "#9aa8ff" },
    { "#7f7f7f", "#b8b8b8" },
};
enum { COLOURS = sizeof(palette) / sizeof(palette[0]) };

static const char *const dashes[] = { "", "7 4", "2 3", "9 3 2 3" };
enum { DASHES = sizeof(dashes) / sizeof(dashes[0]) };

struct chart {
    const struct mase_plot *p;
    struct mase_str *out;
    int width, height;
    struct mase_chart_axis x, y;
};

/* ---- colours ---- */

int mase_plot_colour(const struct mase_plot *p, int s)
{
    const int place = p->series[s].colour ? p->series[s].colour - 1 : s;
    return place % COLOURS;
}

const char *mase_plot_dash(const struct mase_plot *p, int s)
{
    if (p->series[s].colour || p->series[s].dashed)
        return dashes[p->series[s].dashed];
    return dashes[s / COLOURS % DASHES];
}

/* How many of the palette are in use: all up to the last one. */
static int colours_of(const struct mase_plot *p)
{
    int used = 0;
    for (int s = 0; s < p->count; s++)
        used = mase_plot_colour(p, s) >= used ? mase_plot_colour(p, s) + 1 : used;
    return used;
}

/* The rules of one scheme: light says how things are drawn, too. */
static void put_colours(struct mase_str *out, const char *scope, int used, bool dark)
{
    static const struct {
        const char *rule, *light, *dark;
    } rules[] = {
        { "text", "font: 13px system-ui, sans-serif; fill: #24292f", "fill: #e6edf3" },
        { ".title", "font-size: 16px; font-weight: 600", NULL },
        { ".paper", "fill: #ffffff", "fill: #0d1117" },
        { ".rule", "fill: none; stroke: #d8dee4", "stroke: #30363d" },
        { ".frame", "fill: none; stroke: #57606a", "stroke: #8b949e" },
        { ".line", "fill: none; stroke-width: 2; stroke-linejoin: round", NULL },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!dark || rules[i].dark)
            mase_str_printf(out, "%s%s { %s; }\n", scope, rules[i].rule,
                            dark ? rules[i].dark : rules[i].light);
    for (int i = 0; i < used; i++) {
        const char *colour = dark ? palette[i].dark : palette[i].light;
        mase_str_printf(out, "%s.c%d { stroke: %s; }\n%s.m%d { fill: %s; }\n", scope, i, colour,
                        scope, i, colour);
    }
}

static void put_css(struct mase_str *out, const char *scope, int used)
{
    put_colours(out, scope, used, false);
    mase_str_add(out, "@media screen and (prefers-color-scheme: dark) {\n");
    put_colours(out, scope, used, true);
    mase_str_add(out, "}\n");
}

void mase_plot_css(struct mase_str *out, const char *scope)
{
    put_css(out, scope, COLOURS);
}

/* ---- writing ---- */

static void put_axis(struct mase_str *out, const char *name, const struct mase_chart_axis *a)
{
    mase_str_printf(out, "\"%s\":[%.6g,%.6g,%.9g,%.9g,%d]", name, a->from, a->to, a->lo, a->hi,
                    a->logarithmic);
}

static void put_numbers(struct mase_str *out, const double *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        mase_str_add(out, i ? "," : "");
        if (isfinite(v[i]))
            mase_str_printf(out, "%.6g", v[i]);
        else
            mase_str_add(out, "null");
    }
}

/* The values as JSON in an attribute, for the page's script. */
static void put_data(const struct chart *c)
{
    struct mase_str json = { 0 };
    mase_str_addc(&json, '{');
    put_axis(&json, "x", &c->x);
    mase_str_addc(&json, ',');
    put_axis(&json, "y", &c->y);
    if (c->p->x_label) {
        mase_str_add(&json, ",\"label\":");
        mase_quote(&json, c->p->x_label, strlen(c->p->x_label));
    }
    for (int i = 0; c->p->categories && i < c->p->category_count; i++) {
        mase_str_add(&json, i ? "," : ",\"names\":[");
        mase_quote(&json, c->p->categories[i], strlen(c->p->categories[i]));
        mase_str_add(&json, i + 1 < c->p->category_count ? "" : "]");
    }
    mase_str_add(&json, ",\"series\":[");
    for (int s = 0; s < c->p->count; s++) {
        const struct mase_plot_series *line = &c->p->series[s];
        mase_str_add(&json, s ? ",{\"name\":" : "{\"name\":");
        mase_quote(&json, line->name, strlen(line->name));
        mase_str_add(&json, ",\"x\":[");
        put_numbers(&json, line->x, line->n);
        mase_str_add(&json, "],\"y\":[");
        put_numbers(&json, line->y, line->n);
        if (line->spread) {
            mase_str_add(&json, "],\"spread\":[");
            put_numbers(&json, line->spread, line->n);
        }
        mase_str_add(&json, "]}");
    }
    mase_str_add(&json, "]}");
    mase_str_add(c->out, " data-plot=\"");
    mase_markup_add(c->out, mase_str_text(&json));
    mase_str_addc(c->out, '"');
    mase_str_release(&json);
}

static void put_open(const struct chart *c)
{
    mase_str_printf(c->out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" role=\"img\"",
                    c->width, c->height, c->width, c->height);
    if (c->p->embedded) {
        mase_str_add(c->out, " class=\"plot\" tabindex=\"0\"");
        put_data(c);
    }
    mase_str_add(c->out, ">\n");
}

static void put_head(const struct chart *c)
{
    struct mase_str *out = c->out;
    put_open(c);
    if (c->p->title) {
        mase_str_add(out, "<title>");
        mase_markup_add(out, c->p->title);
        mase_str_add(out, "</title>\n");
    }
    if (c->p->embedded)
        return;
    mase_str_add(out, "<style>\n");
    put_css(out, "", colours_of(c->p));
    mase_str_add(out, "</style>\n");
    mase_str_add(out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    if (c->p->title)
        mase_svg_text(out, " class=\"title\"", LEFT, 28, c->p->title);
}

static void put_x_axis(const struct chart *c)
{
    const struct mase_chart_axis *a = &c->x;
    for (int i = 0; i < a->ticks; i++) {
        const double x = mase_chart_axis_pixel(a, a->tick[i]);
        char text[32];
        mase_svg_line(c->out, "rule", x, c->y.to, x, c->y.from);
        mase_svg_text(c->out, " text-anchor=\"middle\"", x, c->y.from + 20,
                      c->p->categories ? c->p->categories[(int)a->tick[i]]
                                       : mase_chart_axis_label(text, a, i));
    }
    if (c->p->x_label)
        mase_svg_text(c->out, " text-anchor=\"middle\"", (a->from + a->to) / 2, c->height - 12,
                      c->p->x_label);
}

static void put_y_axis(const struct chart *c)
{
    const struct mase_chart_axis *a = &c->y;
    for (int i = 0; i < a->ticks; i++) {
        const double y = mase_chart_axis_pixel(a, a->tick[i]);
        char text[32];
        mase_svg_line(c->out, "rule", c->x.from, y, c->x.to, y);
        mase_svg_text(c->out, " text-anchor=\"end\"", c->x.from - 8, y + 4.5,
                      mase_chart_axis_label(text, a, i));
    }
    if (!c->p->y_label)
        return;
    mase_str_printf(c->out, "<g transform=\"translate(%d ", c->p->embedded ? 14 : 20);
    mase_svg_number(c->out, (a->from + a->to) / 2);
    mase_str_add(c->out, ") rotate(-90)\">\n");
    char how[64] = " text-anchor=\"middle\"";
    if (mase_str_columns(c->p->y_label, strlen(c->p->y_label)) * LETTER > c->height - 2 * LETTER)
        mase_snprintf(how, sizeof how, " text-anchor=\"middle\" textLength=\"%d\"",
                      c->height - 2 * LETTER); /* a long label is set closer */
    mase_svg_text(c->out, how, 0, 0, c->p->y_label);
    mase_str_add(c->out, "</g>\n");
}

static void put_frame(const struct chart *c)
{
    mase_str_add(c->out, "<path class=\"frame\" d=\"M");
    mase_svg_point(c->out, c->x.from, c->y.to);
    mase_str_addc(c->out, 'V');
    mase_svg_number(c->out, c->y.from);
    mase_str_addc(c->out, 'H');
    mase_svg_number(c->out, c->x.to);
    mase_str_add(c->out, "\"/>\n");
}

/* ---- lines ---- */

/* What is drawn of points in one column of pixels: ends and extremes. */
struct column {
    int64_t index[4]; /* first, lowest, highest, last */
    bool used;
};

static void put_column(const struct chart *c, const struct mase_plot_series *s,
                       const struct column *column, bool *pen_down)
{
    int64_t order[4], last = -1;
    memcpy(order, column->index, sizeof(order));
    if (order[1] > order[2])
        order[1] = column->index[2], order[2] = column->index[1];
    for (int i = 0; i < 4; i++) {
        if (order[i] == last)
            continue;
        last = order[i];
        mase_str_addc(c->out, *pen_down ? 'L' : 'M');
        mase_svg_point(c->out, mase_chart_axis_pixel(&c->x, s->x[last]),
                       mase_chart_axis_pixel(&c->y, s->y[last]));
        *pen_down = true;
    }
}

static void column_add(struct column *column, const struct mase_plot_series *s, int64_t i)
{
    if (!column->used)
        *column = (struct column){ { i, i, i, i }, true };
    if (s->y[i] < s->y[column->index[1]])
        column->index[1] = i;
    if (s->y[i] > s->y[column->index[2]])
        column->index[2] = i;
    column->index[3] = i;
}

static void put_path(const struct chart *c, const struct mase_plot_series *s, int colour,
                     const char *dash)
{
    struct column column = { 0 };
    bool pen_down = false;
    double at = 0;
    mase_str_printf(c->out, "<path class=\"line c%d\"%s%s%s d=\"", colour,
                    dash[0] ? " stroke-dasharray=\"" : "", dash, dash[0] ? "\"" : "");
    const bool dense = s->n > c->width;
    for (int64_t i = 0; i < s->n; i++) {
        const bool gap =
            !mase_chart_axis_takes(&c->x, s->x[i]) || !mase_chart_axis_takes(&c->y, s->y[i]);
        const double x = gap ? 0 : floor(mase_chart_axis_pixel(&c->x, s->x[i]));
        if (column.used && (gap || !dense || x != at)) {
            put_column(c, s, &column, &pen_down);
            column.used = false;
        }
        if (gap) {
            pen_down = false;
            continue;
        }
        column_add(&column, s, i);
        at = x;
    }
    if (column.used)
        put_column(c, s, &column, &pen_down);
    mase_str_add(c->out, "\"/>\n");
}

static void put_marks(const struct chart *c, const struct mase_plot_series *s, int colour)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (!mase_chart_axis_takes(&c->x, s->x[i]) || !mase_chart_axis_takes(&c->y, s->y[i]))
            continue;
        mase_str_printf(c->out, "<circle class=\"m%d\" r=\"3\" cx=\"", colour);
        mase_svg_number(c->out, mase_chart_axis_pixel(&c->x, s->x[i]));
        mase_str_add(c->out, "\" cy=\"");
        mase_svg_number(c->out, mase_chart_axis_pixel(&c->y, s->y[i]));
        mase_str_add(c->out, "\"/>\n");
    }
}

/* From a standard deviation below each point to one above; on a logarithmic axis the lower end may
 * have no place, and the bar begins at the point. */
static void put_bars(const struct chart *c, const struct mase_plot_series *s, int colour)
{
    for (int64_t i = 0; s->spread && i < s->n; i++) {
        const double low = s->y[i] - s->spread[i], high = s->y[i] + s->spread[i];
        if (!mase_chart_axis_takes(&c->x, s->x[i]) || !mase_chart_axis_takes(&c->y, high))
            continue;
        const double x = mase_chart_axis_pixel(&c->x, s->x[i]);
        const double from = mase_chart_axis_takes(&c->y, low) ? low : s->y[i];
        mase_str_printf(c->out, "<path class=\"line c%d\" d=\"M", colour);
        mase_svg_point(c->out, x, mase_chart_axis_pixel(&c->y, from));
        mase_str_addc(c->out, 'L');
        mase_svg_point(c->out, x, mase_chart_axis_pixel(&c->y, high));
        mase_str_add(c->out, "\"/>\n");
    }
}

static void put_series(const struct chart *c)
{
    for (int s = 0; s < c->p->count; s++) {
        const struct mase_plot_series *line = &c->p->series[s];
        const int colour = mase_plot_colour(c->p, s);
        const bool level = line->dashed; /* names have no order that a line could follow */
        if (!line->points && (!c->p->categories || level))
            put_path(c, line, colour, mase_plot_dash(c->p, s));
        put_bars(c, line, colour);
        if (line->points || line->n <= MARKED || c->p->categories)
            put_marks(c, line, colour);
    }
}

static void put_legend(const struct chart *c)
{
    const double x = c->x.to + LEGEND_GAP;
    for (int s = 0; s < c->p->count && c->p->count > 1 && !c->p->embedded; s++) {
        const double y = c->y.to + 8 + s * LEGEND_LINE;
        const char *dash = mase_plot_dash(c->p, s);
        mase_str_printf(c->out, "<path class=\"line c%d\"%s%s%s d=\"M", mase_plot_colour(c->p, s),
                        dash[0] ? " stroke-dasharray=\"" : "", dash, dash[0] ? "\"" : "");
        mase_svg_point(c->out, x, y);
        mase_str_addc(c->out, 'H');
        mase_svg_number(c->out, x + LEGEND_SAMPLE - 6);
        mase_str_add(c->out, "\"/>\n");
        mase_svg_text(c->out, "", x + LEGEND_SAMPLE, y + 4.5, c->p->series[s].name);
    }
}

/* How wide the legend is. */
static long legend_width(const struct mase_plot *p)
{
    long legend = 0;
    for (int s = 0; s < p->count && p->count > 1 && !p->embedded; s++) {
        const long letters = mase_str_columns(p->series[s].name, strlen(p->series[s].name));
        const long width = LEGEND_GAP + LEGEND_SAMPLE + letters * LETTER;
        legend = width > legend ? width : legend;
    }
    return legend;
}

/* Place the axes; a long legend makes the chart higher. */
static void lay_out(struct chart *c)
{
    const struct mase_plot *p = c->p;
    const int top = p->title && !p->embedded ? TOP : TOP_BARE;
    const long legend = legend_width(p);
    c->width = p->width ? p->width : p->embedded ? PAGE_WIDTH : WIDTH;
    c->height = p->height ? p->height : p->embedded ? PAGE_HEIGHT : HEIGHT;
    const int needed = top + p->count * LEGEND_LINE + BOTTOM;
    if (legend && needed > c->height)
        c->height = needed;
    c->x.from = p->embedded ? PAGE_LEFT : LEFT;
    c->x.to = fmax(c->x.from + 100, (double)(c->width - RIGHT - legend));
    c->y.from = c->height - BOTTOM; /* upwards */
    c->y.to = top;
}

void mase_plot_svg(struct mase_str *out, const struct mase_plot *p)
{
    struct chart c = { .p = p,
                       .out = out,
                       .x = mase_chart_axis_empty(p->log_x && !p->categories),
                       .y = mase_chart_axis_empty(p->log_y) };
    lay_out(&c);
    mase_chart_axes_fit(&c.x, &c.y, p);
    if (p->categories)
        mase_chart_axis_categories(&c.x, p->category_count);
    else
        mase_chart_axis_ticks(&c.x);
    mase_chart_axis_ticks(&c.y);
    put_head(&c);
    put_x_axis(&c);
    put_y_axis(&c);
    put_frame(&c);
    put_series(&c);
    put_legend(&c);
    mase_str_add(out, "</svg>\n");
}
