/*
 * plot.h - a line chart as SVG text that stands alone.
 *
 * No scripts, no fonts or files from elsewhere; light or dark as the reader's system is set. The
 * caller fills in a struct; zero fields mean the default:
 *
 *     const struct mase_plot_series series[] = {
 *         { .name = "train", .x = epoch, .y = train_loss, .n = epochs },
 *         { .name = "validation", .x = epoch, .y = val_loss, .n = epochs },
 *     };
 *     mase_plot_svg(&out, &(struct mase_plot){ .title = "jsc-tiny on jsc", .x_label = "epoch",
 *                                              .y_label = "loss", .series = series, .count = 2 });
 */
#ifndef MASE_PLOT_H
#define MASE_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/str.h>

/* A line through n points. One that cannot be drawn (not finite, or not positive on a logarithmic
 * axis) is a gap. Few points get a mark each; of very many, those are drawn that can be told apart
 * at the chart's width, extremes always. */
struct mase_plot_series {
    const char *name;
    const double *x, *y; /* (n) each, borrowed; x ascending */
    int64_t n;
};

struct mase_plot {
    const char *title, *x_label, *y_label; /* each may be NULL */
    const struct mase_plot_series *series;
    int count;
    bool log_x, log_y;
    /* Names for x = 0, 1, 2 ...; NULL: x is a number. */
    const char *const *categories;
    int category_count;
    int width, height; /* pixels; 0: 760 x 440 */
};

/* Append the document to out, final newline included. */
void mase_plot_svg(struct mase_str *out, const struct mase_plot *p);

#endif /* MASE_PLOT_H */
