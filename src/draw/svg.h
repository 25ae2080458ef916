/*
 * svg.h - elements of SVG that charts are made of.
 */
#ifndef MASE_DRAW_SVG_H
#define MASE_DRAW_SVG_H

#include <mase/str.h>

/* A coordinate: tenths of a pixel, no needless ".0" and no "-0". */
void mase_svg_number(struct mase_str *out, double v);
void mase_svg_point(struct mase_str *out, double x, double y); /* "12.5 40" */
void mase_svg_line(struct mase_str *out, const char *class, double x1, double y1, double x2,
                   double y2);
/* attributes: as they stand in the tag, with a blank in front; "" for none. */
void mase_svg_text(struct mase_str *out, const char *attributes, double x, double y,
                   const char *text);

#endif /* MASE_DRAW_SVG_H */
