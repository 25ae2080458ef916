/*
 * plot.c - line charts as SVG.
 *
 * Data are mapped to pixels by two axes, each linear or logarithmic; a legend stands to the right
 * when there is more than one series. Colours are classes of one style sheet, which says twice what
 * they are, for light and for dark. They come from the palette of Okabe and Ito, which colour-blind
 * readers can tell apart; after one round the lines are dashed.
 */
#include <mase/plot.h>

#include <math.h>
#include <string.h>

#include "value/utf8.h"

enum {
    WIDTH = 760,
    HEIGHT = 440,
    TOP = 44,
    TOP_BARE = 16, /* without a title */
    BOTTOM = 56,
    LEFT = 76,
    RIGHT = 24,
    LEGEND_GAP = 16,
    LEGEND_LINE = 20,
    LEGEND_SAMPLE = 28, /* the piece of line before a name */
    LETTER = 7,         /* a letter of 13 px is about this wide */
    TICKS = 6,          /* about so many to an axis */
    MAX_TICKS = 32,
    MARKED = 60 /* a series of up to so many points shows them */
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

/* One direction: the values lo..hi (their logarithms, if logarithmic) lie on pixels from..to. */
struct axis {
    bool logarithmic;
    bool fractions; /* among the values; else ticks are whole numbers too */
    double lo, hi;
    double from, to;
    double tick[MAX_TICKS]; /* values */
    int ticks;
};

struct chart {
    const struct mase_plot *p;
    struct mase_str *out;
    int width, height;
    struct axis x, y;
};

/* ---- axes ---- */

static bool drawable(const struct axis *a, double v)
{
    return fabs(v) < 1e300 && (!a->logarithmic || v > 0); /* the difference of two is finite too */
}

static double scaled(const struct axis *a, double v)
{
    return a->logarithmic ? log10(v) : v;
}

static double pixel(const struct axis *a, double v)
{
    return a->from + (scaled(a, v) - a->lo) / (a->hi - a->lo) * (a->to - a->from);
}

static void include(struct axis *a, double v)
{
    a->lo = fmin(a->lo, scaled(a, v));
    a->hi = fmax(a->hi, scaled(a, v));
    a->fractions |= v != floor(v);
}

/* Room at both ends; something to show when there is no extent, or nothing at all. */
static void widen(struct axis *a, double margin)
{
    if (a->lo > a->hi)
        a->lo = 0, a->hi = 1;
    double extent = a->hi - a->lo;
    if (extent <= fmax(fabs(a->lo), fabs(a->hi)) * 1e-12) {
        extent = a->logarithmic ? 1 : fmax(fabs(a->hi), 1);
        margin = 0.5;
    }
    a->lo -= extent * margin;
    a->hi += extent * margin;
}

static void add_tick(struct axis *a, double v)
{
    const double at = scaled(a, v), slack = (a->hi - a->lo) * 1e-9;
    if (a->ticks < MAX_TICKS && at >= a->lo - slack && at <= a->hi + slack)
        a->tick[a->ticks++] = v;
}

/* 1, 2 or 5 times a power of ten: about extent / TICKS. */
static double nice_step(double extent)
{
    const double raw = extent / TICKS, power = pow(10, floor(log10(raw)));
    const double lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static void linear_ticks(struct axis *a)
{
    const double nice = nice_step(a->hi - a->lo), step = a->fractions ? nice : fmax(nice, 1);
    const double first = ceil(a->lo / step - 1e-9);
    for (int i = 0; i < MAX_TICKS; i++)
        add_tick(a, (first + i) * step);
}

/* Decades, several at a stride when there are many; between few of them 2 and 5 too. */
static void log_ticks(struct axis *a)
{
    const double decades = a->hi - a->lo;
    if (decades < 0.7) { /* too little for any pattern of decades */
        const double lo = pow(10, a->lo), hi = pow(10, a->hi), step = nice_step(hi - lo);
        for (double i = ceil(lo / step - 1e-9); i * step <= hi; i++)
            add_tick(a, i * step);
        return;
    }
    const int stride = (int)ceil(decades / (TICKS + 2));
    for (int e = (int)floor(a->lo); e <= (int)ceil(a->hi); e += stride) {
        add_tick(a, pow(10, e));
        if (decades <= 3) {
            add_tick(a, 2 * pow(10, e));
            add_tick(a, 5 * pow(10, e));
        }
    }
}

static void category_ticks(struct axis *a, int count)
{
    const int stride = (count + MAX_TICKS - 1) / MAX_TICKS;
    for (int i = 0; i < count; i += stride)
        add_tick(a, i);
}

static void find_ranges(struct chart *c)
{
    c->x.lo = c->y.lo = INFINITY;
    c->x.hi = c->y.hi = -INFINITY;
    for (int s = 0; s < c->p->count; s++) {
        const struct mase_plot_series *line = &c->p->series[s];
        for (int64_t i = 0; i < line->n; i++) {
            if (!drawable(&c->x, line->x[i]) || !drawable(&c->y, line->y[i]))
                continue;
            include(&c->x, line->x[i]);
            include(&c->y, line->y[i]);
        }
    }
    if (c->p->categories)
        c->x.lo = -0.5, c->x.hi = fmax(c->p->category_count, 1) - 0.5;
    else
        widen(&c->x, 0.02);
    widen(&c->y, 0.06);
}

static void find_ticks(struct axis *a)
{
    if (a->logarithmic)
        log_ticks(a);
    else
        linear_ticks(a);
}

/* ---- writing ---- */

/* What XML forbids even escaped (malformed bytes, controls) becomes the replacement character. */
static void put_escaped(struct mase_str *out, const char *text)
{
    const char *const end = text + strlen(text);
    while (text < end) {
        uint32_t cp = 0;
        const int len = mase_utf8_decode(&cp, text, (size_t)(end - text));
        if (!len || cp < ' ' || cp == 0xfffe || cp == 0xffff)
            mase_utf8_add(out, 0xfffd);
        else if (cp < 0x80 && strchr("&<>\"", (int)cp))
            mase_str_printf(out, "&#%u;", (unsigned)cp);
        else
            mase_str_addn(out, text, (size_t)len);
        text += len ? len : 1;
    }
}

/* A coordinate: tenths of a pixel, no needless ".0" and no "-0". */
static void put_number(struct mase_str *out, double v)
{
    const double tenths = round(v * 10);
    mase_str_printf(out, "%.*f", fmod(tenths, 10) != 0, tenths / 10 + 0.0);
}

static void put_point(struct mase_str *out, double x, double y)
{
    put_number(out, x);
    mase_str_addc(out, ' ');
    put_number(out, y);
}

static void put_line(struct mase_str *out, const char *class, double x1, double y1, double x2,
                     double y2)
{
    mase_str_printf(out, "<path class=\"%s\" d=\"M", class);
    put_point(out, x1, y1);
    mase_str_addc(out, 'L');
    put_point(out, x2, y2);
    mase_str_add(out, "\"/>\n");
}

static void put_text(struct mase_str *out, const char *attributes, double x, double y,
                     const char *text)
{
    mase_str_add(out, "<text x=\"");
    put_number(out, x);
    mase_str_add(out, "\" y=\"");
    put_number(out, y);
    mase_str_printf(out, "\"%s>", attributes);
    put_escaped(out, text);
    mase_str_add(out, "</text>\n");
}

/* As %g, with exponents as people write them: 1e-5, 2e6. */
static const char *tick_text(char text[32], double v, double step)
{
    snprintf(text, 32, "%.6g", fabs(v) < step * 1e-6 ? 0.0 : v);
    char *digits = strchr(text, 'e');
    if (!digits)
        return text;
    digits += digits[1] == '-' ? 2 : 1;
    const size_t skip = strspn(digits, "+0");
    memmove(digits, digits + skip, strlen(digits + skip) + 1);
    return text;
}

static void put_style(const struct chart *c)
{
    struct mase_str *out = c->out;
    mase_str_add(out, "<style>\n"
                      "text { font: 13px system-ui, sans-serif; fill: #24292f; }\n"
                      ".title { font-size: 16px; font-weight: 600; }\n"
                      ".paper { fill: #ffffff; }\n"
                      ".rule { fill: none; stroke: #d8dee4; }\n"
                      ".frame { fill: none; stroke: #57606a; }\n"
                      ".line { fill: none; stroke-width: 2; stroke-linejoin: round; }\n");
    const int used = c->p->count < COLOURS ? c->p->count : COLOURS;
    for (int i = 0; i < used; i++)
        mase_str_printf(out, ".c%d { stroke: %s; }\n.m%d { fill: %s; }\n", i, palette[i].light, i,
                        palette[i].light);
    mase_str_add(out, "@media (prefers-color-scheme: dark) {\n"
                      "text { fill: #e6edf3; }\n"
                      ".paper { fill: #0d1117; }\n"
                      ".rule { stroke: #30363d; }\n"
                      ".frame { stroke: #8b949e; }\n");
    for (int i = 0; i < used; i++)
        mase_str_printf(out, ".c%d { stroke: %s; }\n.m%d { fill: %s; }\n", i, palette[i].dark, i,
                        palette[i].dark);
    mase_str_add(out, "}\n</style>\n");
}

static void put_head(const struct chart *c)
{
    struct mase_str *out = c->out;
    mase_str_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" role=\"img\">\n",
                    c->width, c->height, c->width, c->height);
    if (c->p->title) {
        mase_str_add(out, "<title>");
        put_escaped(out, c->p->title);
        mase_str_add(out, "</title>\n");
    }
    put_style(c);
    mase_str_add(out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    if (c->p->title)
        put_text(out, " class=\"title\"", LEFT, 28, c->p->title);
}

static void put_x_axis(const struct chart *c)
{
    const struct axis *a = &c->x;
    const double step = a->ticks > 1 ? a->tick[1] - a->tick[0] : 1;
    for (int i = 0; i < a->ticks; i++) {
        const double x = pixel(a, a->tick[i]);
        char text[32];
        put_line(c->out, "rule", x, c->y.to, x, c->y.from);
        put_text(c->out, " text-anchor=\"middle\"", x, c->y.from + 20,
                 c->p->categories ? c->p->categories[(int)a->tick[i]]
                                  : tick_text(text, a->tick[i], step));
    }
    if (c->p->x_label)
        put_text(c->out, " text-anchor=\"middle\"", (a->from + a->to) / 2, c->height - 12,
                 c->p->x_label);
}

static void put_y_axis(const struct chart *c)
{
    const struct axis *a = &c->y;
    const double step = a->ticks > 1 ? a->tick[1] - a->tick[0] : 1;
    for (int i = 0; i < a->ticks; i++) {
        const double y = pixel(a, a->tick[i]);
        char text[32];
        put_line(c->out, "rule", c->x.from, y, c->x.to, y);
        put_text(c->out, " text-anchor=\"end\"", c->x.from - 8, y + 4.5,
                 tick_text(text, a->tick[i], step));
    }
    if (!c->p->y_label)
        return;
    mase_str_add(c->out, "<g transform=\"translate(20 ");
    put_number(c->out, (a->from + a->to) / 2);
    mase_str_add(c->out, ") rotate(-90)\">\n");
    put_text(c->out, " text-anchor=\"middle\"", 0, 0, c->p->y_label);
    mase_str_add(c->out, "</g>\n");
}

static void put_frame(const struct chart *c)
{
    mase_str_add(c->out, "<path class=\"frame\" d=\"M");
    put_point(c->out, c->x.from, c->y.to);
    mase_str_addc(c->out, 'V');
    put_number(c->out, c->y.from);
    mase_str_addc(c->out, 'H');
    put_number(c->out, c->x.to);
    mase_str_add(c->out, "\"/>\n");
}

/* ---- lines ---- */

/* What is drawn of the points that share a column of pixels: their ends and extremes. */
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
        put_point(c->out, pixel(&c->x, s->x[last]), pixel(&c->y, s->y[last]));
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
        const bool gap = !drawable(&c->x, s->x[i]) || !drawable(&c->y, s->y[i]);
        const double x = gap ? 0 : floor(pixel(&c->x, s->x[i]));
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
        if (!drawable(&c->x, s->x[i]) || !drawable(&c->y, s->y[i]))
            continue;
        mase_str_printf(c->out, "<circle class=\"m%d\" r=\"3\" cx=\"", colour);
        put_number(c->out, pixel(&c->x, s->x[i]));
        mase_str_add(c->out, "\" cy=\"");
        put_number(c->out, pixel(&c->y, s->y[i]));
        mase_str_add(c->out, "\"/>\n");
    }
}

static void put_series(const struct chart *c)
{
    for (int s = 0; s < c->p->count; s++) {
        const struct mase_plot_series *line = &c->p->series[s];
        put_path(c, line, s % COLOURS, dashes[s / COLOURS % DASHES]);
        if (line->n <= MARKED)
            put_marks(c, line, s % COLOURS);
    }
}

static void put_legend(const struct chart *c)
{
    const double x = c->x.to + LEGEND_GAP;
    for (int s = 0; s < c->p->count && c->p->count > 1; s++) {
        const double y = c->y.to + 8 + s * LEGEND_LINE;
        const char *dash = dashes[s / COLOURS % DASHES];
        mase_str_printf(c->out, "<path class=\"line c%d\"%s%s%s d=\"M", s % COLOURS,
                        dash[0] ? " stroke-dasharray=\"" : "", dash, dash[0] ? "\"" : "");
        put_point(c->out, x, y);
        mase_str_addc(c->out, 'H');
        put_number(c->out, x + LEGEND_SAMPLE - 6);
        mase_str_add(c->out, "\"/>\n");
        put_text(c->out, "", x + LEGEND_SAMPLE, y + 4.5, c->p->series[s].name);
    }
}

/* Where the axes lie; a long legend makes the chart higher. */
static void lay_out(struct chart *c)
{
    const struct mase_plot *p = c->p;
    const int top = p->title ? TOP : TOP_BARE;
    long legend = 0;
    for (int s = 0; s < p->count && p->count > 1; s++) {
        const long letters = mase_str_columns(p->series[s].name, strlen(p->series[s].name));
        const long width = LEGEND_GAP + LEGEND_SAMPLE + letters * LETTER;
        legend = width > legend ? width : legend;
    }
    c->width = p->width ? p->width : WIDTH;
    c->height = p->height ? p->height : HEIGHT;
    const int needed = top + p->count * LEGEND_LINE + BOTTOM;
    if (p->count > 1 && needed > c->height)
        c->height = needed;
    c->x.from = LEFT;
    c->x.to = fmax(LEFT + 100, (double)(c->width - RIGHT - legend));
    c->y.from = c->height - BOTTOM; /* upwards */
    c->y.to = top;
}

void mase_plot_svg(struct mase_str *out, const struct mase_plot *p)
{
    struct chart c = { .p = p, .out = out };
    c.x.logarithmic = p->log_x && !p->categories;
    c.y.logarithmic = p->log_y;
    lay_out(&c);
    find_ranges(&c);
    if (p->categories)
        category_ticks(&c.x, p->category_count);
    else
        find_ticks(&c.x);
    find_ticks(&c.y);
    put_head(&c);
    put_x_axis(&c);
    put_y_axis(&c);
    put_frame(&c);
    put_series(&c);
    put_legend(&c);
    mase_str_add(out, "</svg>\n");
}
