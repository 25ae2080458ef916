/*
 * parallel.c - parallel coordinates: one upright axis for each dimension, one line for each point.
 */
#include <math.h>
#include <string.h>

#include <mase/plot.h>

#include "base/alloc.h"
#include "draw/chart_axis.h"
#include "draw/svg.h"
#include "value/markup.h"

enum {
    GAP = 104, /* between two axes */
    SIDE = 56,
    TOP = 48, /* two lines of a name stand above an axis */
    BOTTOM = 16,
    HEIGHT = 320,
    LINE = 15 /* of a name */
};

struct parallel {
    const struct mase_plot_parallel *p;
    struct mase_str *out;
    struct mase_chart_axis *axis; /* (dimensions) */
    int width;
};

static double x_of(int dimension)
{
    return SIDE + (double)GAP * dimension;
}

static struct mase_chart_axis fit_axis(const struct mase_plot_parallel *p, int dimension)
{
    const struct mase_plot_dimension *d = &p->dimension[dimension];
    struct mase_chart_axis axis = mase_chart_axis_empty(d->logarithmic && !d->categories);
    for (int64_t i = 0; i < p->points; i++) {
        const double v = p->value[i * p->dimensions + dimension];
        if (mase_chart_axis_takes(&axis, v))
            mase_chart_axis_include(&axis, v);
    }
    if (d->categories)
        axis.lo = -0.5, axis.hi = fmax(d->category_count, 1) - 0.5;
    else
        mase_chart_axis_widen(&axis, 0.03);
    axis.from = HEIGHT - BOTTOM; /* upwards */
    axis.to = TOP;
    if (d->categories)
        mase_chart_axis_categories(&axis, d->category_count);
    else
        mase_chart_axis_ticks(&axis);
    return axis;
}

/* ---- lines ---- */

static void put_line(const struct parallel *c, int64_t point)
{
    const double *value = c->p->value + point * c->p->dimensions;
    bool pen_down = false;
    mase_str_printf(c->out, "<path class=\"line s%d\" d=\"", c->p->shade[point]);
    for (int i = 0; i < c->p->dimensions; i++) {
        if (!mase_chart_axis_takes(&c->axis[i], value[i])) {
            pen_down = false;
            continue;
        }
        mase_str_addc(c->out, pen_down ? 'L' : 'M');
        mase_svg_point(c->out, x_of(i), mase_chart_axis_pixel(&c->axis[i], value[i]));
        pen_down = true;
    }
    mase_str_add(c->out, "\"/>\n");
}

/* ---- axes ---- */

static void put_name(const struct parallel *c, int dimension)
{
    const char *name = c->p->dimension[dimension].name, *slash = strrchr(name, '/');
    struct mase_str above = { 0 };
    if (slash)
        mase_str_addn(&above, name, (size_t)(slash - name));
    mase_svg_text(c->out, " class=\"name\" text-anchor=\"middle\"", x_of(dimension), LINE,
                  mase_str_text(&above));
    mase_svg_text(c->out, " class=\"name\" text-anchor=\"middle\"", x_of(dimension), 2 * LINE,
                  slash ? slash + 1 : name);
    mase_str_release(&above);
}

static void put_axis(const struct parallel *c, int dimension)
{
    const struct mase_chart_axis *a = &c->axis[dimension];
    const struct mase_plot_dimension *d = &c->p->dimension[dimension];
    mase_svg_line(c->out, "frame", x_of(dimension), TOP, x_of(dimension), HEIGHT - BOTTOM);
    for (int i = 0; i < a->ticks; i++) {
        char text[32];
        mase_svg_text(c->out, " class=\"tick\" text-anchor=\"end\"", x_of(dimension) - 5,
                      mase_chart_axis_pixel(a, a->tick[i]) + 4,
                      d->categories ? d->categories[(int)a->tick[i]]
                                    : mase_chart_axis_label(text, a, i));
    }
    put_name(c, dimension);
}

void mase_plot_parallel(struct mase_str *out, const struct mase_plot_parallel *p)
{
    struct parallel c = { .p = p, .out = out };
    c.axis = mase_xcalloc((size_t)p->dimensions * sizeof *c.axis + 1);
    c.width = 2 * SIDE + GAP * (p->dimensions > 1 ? p->dimensions - 1 : 0);
    mase_str_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"parallel\" width=\"%d\" "
                    "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
                    c.width, HEIGHT, c.width, HEIGHT);
    if (p->title) {
        mase_str_add(out, "<title>");
        mase_markup_add(out, p->title);
        mase_str_add(out, "</title>\n");
    }
    for (int i = 0; i < p->dimensions; i++)
        c.axis[i] = fit_axis(p, i);
    for (int64_t i = 0; i < p->points; i++)
        put_line(&c, i);
    for (int i = 0; i < p->dimensions; i++)
        put_axis(&c, i);
    mase_str_add(out, "</svg>\n");
    mase_xfree(c.axis);
}
