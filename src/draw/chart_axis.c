/*
 * chart_axis.c - one direction of a chart.
 */
#include "draw/chart_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum {
    TICKS = 6,       /* about so many to an axis */
    TICK_PIXELS = 50 /* and no closer than this */
};

struct mase_chart_axis mase_chart_axis_empty(bool logarithmic)
{
    return (struct mase_chart_axis){ .logarithmic = logarithmic, .lo = INFINITY, .hi = -INFINITY };
}

bool mase_chart_axis_takes(const struct mase_chart_axis *a, double v)
{
    return fabs(v) < 1e300 && (!a->logarithmic || v > 0); /* the difference of two is finite too */
}

static double scaled(const struct mase_chart_axis *a, double v)
{
    return a->logarithmic ? log10(v) : v;
}

double mase_chart_axis_pixel(const struct mase_chart_axis *a, double v)
{
    return a->from + (scaled(a, v) - a->lo) / (a->hi - a->lo) * (a->to - a->from);
}

void mase_chart_axis_include(struct mase_chart_axis *a, double v)
{
    a->lo = fmin(a->lo, scaled(a, v));
    a->hi = fmax(a->hi, scaled(a, v));
    a->fractions |= v != floor(v);
}

void mase_chart_axis_widen(struct mase_chart_axis *a, double margin)
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

static void include_series(struct mase_chart_axis *x, struct mase_chart_axis *y,
                           const struct mase_plot_series *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (!mase_chart_axis_takes(x, s->x[i]) || !mase_chart_axis_takes(y, s->y[i]))
            continue;
        mase_chart_axis_include(x, s->x[i]);
        mase_chart_axis_include(y, s->y[i]);
        for (int up = -1; s->spread && up <= 1; up += 2)
            if (mase_chart_axis_takes(y, s->y[i] + up * s->spread[i]))
                mase_chart_axis_include(y, s->y[i] + up * s->spread[i]);
    }
}

void mase_chart_axes_fit(struct mase_chart_axis *x, struct mase_chart_axis *y,
                         const struct mase_plot *p)
{
    for (int s = 0; s < p->count; s++)
        include_series(x, y, &p->series[s]);
    if (p->categories)
        x->lo = -0.5, x->hi = fmax(p->category_count, 1) - 0.5;
    else
        mase_chart_axis_widen(x, 0.02);
    mase_chart_axis_widen(y, 0.06);
}

/* ---- ticks ---- */

static void add_tick(struct mase_chart_axis *a, double v)
{
    const double at = scaled(a, v), slack = (a->hi - a->lo) * 1e-9;
    if (a->ticks < MASE_AXIS_MAX_TICKS && at >= a->lo - slack && at <= a->hi + slack)
        a->tick[a->ticks++] = v;
}

static double wanted(const struct mase_chart_axis *a)
{
    const double room = fabs(a->to - a->from) / TICK_PIXELS;
    return fmax(2, fmin(TICKS, room));
}

/* 1, 2 or 5 times a power of ten: about extent / count. */
static double nice_step(double extent, double count)
{
    const double raw = extent / count, power = pow(10, floor(log10(raw)));
    const double lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static void linear_ticks(struct mase_chart_axis *a)
{
    const double nice = nice_step(a->hi - a->lo, wanted(a));
    const double step = a->fractions ? nice : fmax(nice, 1);
    const double first = ceil(a->lo / step - 1e-9);
    for (int i = 0; i < MASE_AXIS_MAX_TICKS; i++)
        add_tick(a, (first + i) * step);
}

/* Decades, several at a stride when there are many; between few of them 2 and 5 too. */
static void log_ticks(struct mase_chart_axis *a)
{
    const double decades = a->hi - a->lo;
    if (decades < 0.7) { /* too little for any pattern of decades */
        const double lo = pow(10, a->lo), hi = pow(10, a->hi), step = nice_step(hi - lo, wanted(a));
        for (double i = ceil(lo / step - 1e-9); i * step <= hi; i++)
            add_tick(a, i * step);
        return;
    }
    const int stride = (int)ceil(decades / (wanted(a) + 2));
    for (int e = (int)floor(a->lo); e <= (int)ceil(a->hi); e += stride) {
        add_tick(a, pow(10, e));
        if (decades <= 3) {
            add_tick(a, 2 * pow(10, e));
            add_tick(a, 5 * pow(10, e));
        }
    }
}

void mase_chart_axis_ticks(struct mase_chart_axis *a)
{
    if (a->logarithmic)
        log_ticks(a);
    else
        linear_ticks(a);
}

void mase_chart_axis_categories(struct mase_chart_axis *a, int count)
{
    const int stride = (count + MASE_AXIS_MAX_TICKS - 1) / MASE_AXIS_MAX_TICKS;
    for (int i = 0; i < count; i += stride)
        add_tick(a, i);
}

const char *mase_chart_axis_label(char text[32], const struct mase_chart_axis *a, int i)
{
    const double step = a->ticks > 1 ? a->tick[1] - a->tick[0] : 1;
    mase_snprintf(text, 32, "%.6g", fabs(a->tick[i]) < step * 1e-6 ? 0.0 : a->tick[i]);
    char *digits = strchr(text, 'e');
    if (!digits)
        return text;
    digits += digits[1] == '-' ? 2 : 1;
    const size_t skip = strspn(digits, "+0");
    memmove(digits, digits + skip, strlen(digits + skip) + 1);
    return text;
}
