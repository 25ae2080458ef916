/*
 * plot.h - charts as SVG text: line charts, alone or in a page, and histograms in a page.
 *
 * A chart has no scripts, and no fonts or files from elsewhere; it is light or dark as the reader's
 * system is set. The caller fills in a struct; zero fields mean the default:
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

#include <mase/api.h>
#include <mase/str.h>

MASE_API_BEGIN

/* A line through n points. One that cannot be drawn (not finite, or not positive on a logarithmic
 * axis) is a gap. Few points get a mark each; of very many, those are drawn that can be told apart
 * at the chart's width, extremes always. */
/* What the two are drawn in wherever they stand together. */
enum { MASE_COLOUR_TRAINING = 1, MASE_COLOUR_VALIDATION = 2, MASE_COLOUR_STEPS = 7 };

struct mase_plot_series {
    const char *name;
    const double *x, *y; /* (n) each, borrowed; x ascending */
    int64_t n;
    const double *spread; /* (n): half height of the error bar of each point; NULL: none */
    /* Number in the palette, from 1, so that a quantity has one colour in every chart; 0: by its
     * position. */
    int colour;
    bool dashed;
    bool points; /* a mark each, however many, and no line through them */
};

struct mase_plot {
    const char *title, *x_label, *y_label; /* each may be NULL */
    const struct mase_plot_series *series;
    int count;
    bool log_x, log_y;
    /* Names for x = 0, 1, 2 ...; NULL: x is a number. */
    const char *const *categories;
    int category_count;
    int width, height; /* pixels; 0: 760 x 440, embedded 420 x 270 */
    /* The chart is part of a page that has mase_plot_css and a legend of its own: class plot,
     * without style sheet, background, legend and title; the attribute data-plot has the numbers as
     * JSON. */
    bool embedded;
};

/* Append the document to out, final newline included. */
void mase_plot_svg(struct mase_str *out, const struct mase_plot *p);

/* Append the chart as text for a terminal, `columns` wide, the drawing of `rows` lines; a title
 * stands above it, names of the series below. Series that come later lie on top. */
void mase_plot_text(struct mase_str *out, const struct mase_plot *p, int columns, int rows);

/* The style rules for charts in a page; scope, ".plot ", precedes each selector. The curve of the
 * colour s has the class c<s>, its marks m<s>. */
void mase_plot_css(struct mase_str *out, const char *scope);

/* A histogram of values, and over it the values that a number format has. It is always part of a
 * page, of class histogram; heights are square roots of counts, so that rare values show. */
struct mase_plot_histogram {
    const char *title; /* for screen readers, not drawn; may be NULL */
    double min, max;   /* of the values */
    const int64_t *count;
    int bins;           /* of equal width */
    const double *code; /* the format's values between min and max, ascending; NULL: none */
    int codes;
    const double *limit; /* (2): the format's lowest and highest value; NULL: unbounded */
};
void mase_plot_histogram(struct mase_str *out, const struct mase_plot_histogram *h);

/* Points of many dimensions: upright axes side by side, and across them a line for each point. It
 * is always part of a page, of class parallel. */
struct mase_plot_dimension {
    const char *name; /* what is behind the last '/' is a line of its own */
    bool logarithmic;
    const char *const *categories; /* names for 0, 1, 2 ...; NULL: numbers */
    int category_count;
};
struct mase_plot_parallel {
    const char *title; /* for screen readers, not drawn; may be NULL */
    const struct mase_plot_dimension *dimension;
    int dimensions;
    const double *value; /* (points, dimensions); NaN: the line has a gap */
    int64_t points;
    const unsigned char
        *shade; /* (points): the line has the class s<shade>; later ones are on top */
};
void mase_plot_parallel(struct mase_str *out, const struct mase_plot_parallel *p);

/* The colour N of series s: its curve has the class cN, its points mN. */
int mase_plot_colour(const struct mase_plot *p, int s);
const char *mase_plot_dash(const struct mase_plot *p, int s); /* stroke-dasharray, or "" */

MASE_API_END

#endif /* MASE_PLOT_H */
