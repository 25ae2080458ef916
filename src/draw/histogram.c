/*
 * histogram.c - how often values lie where, and the values of a number format over it.
 *
 *     bars       the values, heights as square roots
 *     code       under the bars a stroke for each value that the format has; a band when they stand
 *                too close to be told apart
 *     limit      a dashed line at either end of the format's range, if it lies in sight
 *     beyond     what is outside of the range, shaded: there values saturate
 */
#include <mase/plot.h>

#include <math.h>

#include "draw/chart_axis.h"
#include "draw/svg.h"
#include "value/markup.h"

enum {
    WIDTH = 320,
    HEIGHT = 128,
    SIDE = 12,
    TOP = 6,
    GRID = 96,  /* bars end and codes begin here */
    BASE = 106, /* codes end */
    LABEL = 121,
    LEAST_GAP = 3 /* pixels between two strokes */
};

static void put_bars(struct mase_str *out, const struct mase_plot_histogram *h,
                     const struct mase_chart_axis *x)
{
    const double width = (h->max - h->min) / h->bins;
    int64_t most = 1;
    for (int i = 0; i < h->bins; i++)
        most = h->count[i] > most ? h->count[i] : most;
    mase_str_add(out, "<path class=\"bars\" d=\"M");
    mase_svg_point(out, mase_chart_axis_pixel(x, h->min), GRID);
    for (int i = 0; i < h->bins; i++) {
        mase_str_addc(out, 'V');
        mase_svg_number(out, GRID - (GRID - TOP) * sqrt((double)h->count[i] / (double)most));
        mase_str_addc(out, 'H');
        mase_svg_number(out, mase_chart_axis_pixel(x, h->min + width * (i + 1)));
    }
    mase_str_printf(out, "V%dZ\"/>\n", GRID);
}

static void put_codes(struct mase_str *out, const struct mase_plot_histogram *h,
                      const struct mase_chart_axis *x)
{
    if (!h->codes)
        return;
    const double extent =
        mase_chart_axis_pixel(x, h->code[h->codes - 1]) - mase_chart_axis_pixel(x, h->code[0]);
    if (extent < LEAST_GAP * (h->codes - 1)) {
        mase_str_add(out, "<path class=\"codes\" d=\"M");
        mase_svg_point(out, mase_chart_axis_pixel(x, h->code[0]), GRID + 2);
        mase_str_addc(out, 'H');
        mase_svg_number(out, mase_chart_axis_pixel(x, h->code[h->codes - 1]));
        mase_str_printf(out, "V%dH", BASE);
        mase_svg_number(out, mase_chart_axis_pixel(x, h->code[0]));
        mase_str_add(out, "Z\"/>\n");
        return;
    }
    mase_str_add(out, "<path class=\"code\" d=\"");
    for (int i = 0; i < h->codes; i++) {
        mase_str_addc(out, 'M');
        mase_svg_point(out, mase_chart_axis_pixel(x, h->code[i]), GRID + 2);
        mase_str_printf(out, "V%d", BASE);
    }
    mase_str_add(out, "\"/>\n");
}

/* One end of the range: the line, and what is beyond it up to the edge of the chart. */
static void put_limit(struct mase_str *out, const struct mase_chart_axis *x, double limit,
                      double edge)
{
    if (!mase_chart_axis_takes(x, limit) || limit <= x->lo || limit >= x->hi)
        return;
    const double at = mase_chart_axis_pixel(x, limit);
    mase_str_add(out, "<path class=\"beyond\" d=\"M");
    mase_svg_point(out, at, TOP);
    mase_str_addc(out, 'H');
    mase_svg_number(out, edge);
    mase_str_printf(out, "V%dH", GRID);
    mase_svg_number(out, at);
    mase_str_add(out, "Z\"/>\n");
    mase_svg_line(out, "limit", at, TOP, at, BASE);
}

static void put_ticks(struct mase_str *out, const struct mase_chart_axis *x)
{
    mase_svg_line(out, "frame", x->from, GRID, x->to, GRID);
    for (int i = 0; i < x->ticks; i++) {
        char text[32];
        mase_svg_text(out, " text-anchor=\"middle\"", mase_chart_axis_pixel(x, x->tick[i]), LABEL,
                      mase_chart_axis_label(text, x, i));
    }
}

void mase_plot_histogram(struct mase_str *out, const struct mase_plot_histogram *h)
{
    struct mase_chart_axis x = mase_chart_axis_empty(false);
    mase_chart_axis_include(&x, h->min);
    mase_chart_axis_include(&x, h->max);
    mase_chart_axis_widen(&x, 0.03);
    x.fractions = true;
    x.from = SIDE, x.to = WIDTH - SIDE;
    mase_chart_axis_ticks(&x);
    mase_str_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"histogram\" width=\"%d\" "
                    "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
                    WIDTH, HEIGHT, WIDTH, HEIGHT);
    if (h->title) {
        mase_str_add(out, "<title>");
        mase_markup_add(out, h->title);
        mase_str_add(out, "</title>\n");
    }
    if (h->limit) {
        put_limit(out, &x, h->limit[0], x.from);
        put_limit(out, &x, h->limit[1], x.to);
    }
    put_bars(out, h, &x);
    put_codes(out, h, &x);
    put_ticks(out, &x);
    mase_str_add(out, "</svg>\n");
}
