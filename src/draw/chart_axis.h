/*
 * chart_axis.h - one direction of a chart: which values lie on which pixels, and where ticks stand.
 *
 *     struct mase_chart_axis x = mase_chart_axis_empty(false);
 *     mase_chart_axis_include(&x, v);                      // for every value
 *     mase_chart_axis_widen(&x, 0.02);
 *     x.from = 76, x.to = 736;
 *     mase_chart_axis_ticks(&x);
 */
#ifndef MASE_DRAW_CHART_AXIS_H
#define MASE_DRAW_CHART_AXIS_H

#include <stdbool.h>

#include <mase/plot.h>

enum { MASE_AXIS_MAX_TICKS = 32 };

/* The values lo..hi (their logarithms, if logarithmic) lie on pixels from..to. */
struct mase_chart_axis {
    bool logarithmic;
    bool fractions; /* among the values; else ticks are whole numbers too */
    double lo, hi;
    double from, to;
    double tick[MASE_AXIS_MAX_TICKS]; /* values */
    int ticks;
};

struct mase_chart_axis mase_chart_axis_empty(bool logarithmic);
/* Can v be shown? */
bool mase_chart_axis_takes(const struct mase_chart_axis *a, double v);
void mase_chart_axis_include(struct mase_chart_axis *a, double v);
/* Room at both ends, a share of the extent; something to show when there is no extent, or nothing
 * at all. */
void mase_chart_axis_widen(struct mase_chart_axis *a, double margin);
/* Both axes, as wide as all that a chart shows: its points and their error bars. */
void mase_chart_axes_fit(struct mase_chart_axis *x, struct mase_chart_axis *y,
                         const struct mase_plot *p);
/* Ticks at round values, about six, fewer where there is little room; or one for each of count
 * names at 0, 1, 2 ... */
void mase_chart_axis_ticks(struct mase_chart_axis *a);
void mase_chart_axis_categories(struct mase_chart_axis *a, int count);
double mase_chart_axis_pixel(const struct mase_chart_axis *a, double v);
/* The i-th tick as %g, with exponents as people write them: 1e-5, 2e6. Returns text. */
const char *mase_chart_axis_label(char text[32], const struct mase_chart_axis *a, int i);

#endif /* MASE_DRAW_CHART_AXIS_H */
