/*
 * svg.c - elements of SVG that charts are made of.
 */
#include "draw/svg.h"

#include <math.h>

#include "value/markup.h"

void mase_svg_number(struct mase_str *out, double v)
{
    const double tenths = round(v * 10);
    mase_str_printf(out, "%.*f", fmod(tenths, 10) != 0, tenths / 10 + 0.0);
}

void mase_svg_point(struct mase_str *out, double x, double y)
{
    mase_svg_number(out, x);
    mase_str_addc(out, ' ');
    mase_svg_number(out, y);
}

void mase_svg_line(struct mase_str *out, const char *class, double x1, double y1, double x2,
                   double y2)
{
    mase_str_printf(out, "<path class=\"%s\" d=\"M", class);
    mase_svg_point(out, x1, y1);
    mase_str_addc(out, 'L');
    mase_svg_point(out, x2, y2);
    mase_str_add(out, "\"/>\n");
}

void mase_svg_text(struct mase_str *out, const char *attributes, double x, double y,
                   const char *text)
{
    mase_str_add(out, "<text x=\"");
    mase_svg_number(out, x);
    mase_str_add(out, "\" y=\"");
    mase_svg_number(out, y);
    mase_str_printf(out, "\"%s>", attributes);
    mase_markup_add(out, text);
    mase_str_add(out, "</text>\n");
}
