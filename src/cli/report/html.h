/*
 * html.h - elements of HTML: text is escaped here, markup of ours is written as it is.
 */
#ifndef MASE_CLI_REPORT_HTML_H
#define MASE_CLI_REPORT_HTML_H

#include <stdint.h>

#include <mase/table.h>

#include "value/markup.h"

/* <tag class="...">text</tag> and a newline; css_class may be NULL. */
void mase_html_element(struct mase_str *out, const char *tag, const char *css_class,
                       const char *text);
/* 1234567 as "1,234,567"; a number in four digits, "k", "M" and so on behind large ones. */
void mase_html_count(struct mase_str *out, int64_t n);
void mase_html_short(struct mase_str *out, double x);
/* 0.1234 as "12.34 %". */
void mase_html_percent(struct mase_str *out, double share);

/* ---- tables that sort ---- */

struct mase_html_column {
    const char *title;
    const char *hint; /* shown when hovering; may be NULL */
    bool text;        /* else numbers, to the right */
};
/* label: what the table is, for those who do not see where it stands. */
void mase_html_table(struct mase_str *out, const char *label,
                     const struct mase_html_column *columns, int count);
/* A row and its heading; id and href may be NULL. */
void mase_html_row(struct mase_str *out, const char *id, const char *href, const char *heading);
void mase_html_cell(struct mase_str *out, const char *text);
void mase_html_cell_count(struct mase_str *out, int64_t n);
/* A whole number below 2^63; NaN is a dash. */
void mase_html_cell_whole(struct mase_str *out, double n);
/* A number in so many digits after the point; NaN is a dash. */
void mase_html_cell_real(struct mase_str *out, double x, int digits);
void mase_html_cell_percent(struct mase_str *out, double share);
void mase_html_row_end(struct mase_str *out);
/* Rows from here on stay below the others. */
void mase_html_table_foot(struct mase_str *out);
void mase_html_table_end(struct mase_str *out, bool has_foot);
/* A table of text; columns whose cells are numbers sort as numbers. */
void mase_html_table_of(struct mase_str *out, const char *label, const struct mase_table *t);

/* ---- further elements ---- */

/* Text as it is laid out, in a box that opens; open: from the beginning. */
void mase_html_details(struct mase_str *out, const char *summary, const char *text, bool open);

#endif /* MASE_CLI_REPORT_HTML_H */
