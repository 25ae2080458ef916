/*
 * html.h - elements of HTML: text is escaped, our own markup is not.
 */
#ifndef MASE_CLI_REPORT_HTML_H
#define MASE_CLI_REPORT_HTML_H

#include <stdint.h>

#include <mase/table.h>

#include "value/markup.h"

/* <tag class="...">text</tag> and a newline; css_class may be NULL. */
void mase_html_element(struct mase_str *out, const char *tag, const char *css_class,
                       const char *text);
/* 1234567 as "1,234,567"; or in four digits with "k", "M" and so on. */
void mase_html_count(struct mase_str *out, int64_t n);
void mase_html_short(struct mase_str *out, double x);
/* 0.1234 as "12.34 %". */
void mase_html_percent(struct mase_str *out, double share);

/* ---- sortable tables ---- */

struct mase_html_column {
    const char *title;
    const char *hint; /* tooltip; may be NULL */
    bool text;        /* else numbers, right-aligned */
};
/* label: accessible name of the table. */
void mase_html_table(struct mase_str *out, const char *label,
                     const struct mase_html_column *columns, int count);
/* A row and its heading; id and href may be NULL. */
void mase_html_row(struct mase_str *out, const char *id, const char *href, const char *heading);
void mase_html_cell(struct mase_str *out, const char *text);
void mase_html_cell_count(struct mase_str *out, int64_t n);
/* An integer below 2^63; NaN is a dash. */
void mase_html_cell_whole(struct mase_str *out, double n);
/* A number with so many decimals; NaN is a dash. */
void mase_html_cell_real(struct mase_str *out, double x, int digits);
void mase_html_cell_percent(struct mase_str *out, double share);
void mase_html_row_end(struct mase_str *out);
/* Further rows are not sorted. */
void mase_html_table_foot(struct mase_str *out);
void mase_html_table_end(struct mase_str *out, bool has_foot);
/* A table of text cells; columns of numbers sort as numbers. */
void mase_html_table_of(struct mase_str *out, const char *label, const struct mase_table *t);

/* ---- other elements ---- */

/* Preformatted text in a box that opens; open: initially. */
void mase_html_details(struct mase_str *out, const char *summary, const char *text, bool open);

#endif /* MASE_CLI_REPORT_HTML_H */
