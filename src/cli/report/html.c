/*
 * html.c - elements of HTML.
 *
 * A cell that is a number has it in full in data-v, which the page's script sorts by; what is shown
 * may be rounded.
 */
#include "cli/report/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

void mase_html_element(struct mase_str *out, const char *tag, const char *css_class,
                       const char *text)
{
    mase_str_printf(out, "<%s", tag);
    if (css_class)
        mase_str_printf(out, " class=\"%s\"", css_class);
    mase_str_addc(out, '>');
    mase_markup_add(out, text);
    mase_str_printf(out, "</%s>\n", tag);
}

/* ---- numbers ---- */

void mase_html_count(struct mase_str *out, int64_t n)
{
    char digits[32];
    mase_snprintf(digits, sizeof digits, "%" PRId64, n);
    const size_t sign = digits[0] == '-', len = strlen(digits) - sign;
    for (size_t i = 0; i < len + sign; i++) {
        if (i > sign && (len + sign - i) % 3 == 0)
            mase_str_addc(out, ',');
        mase_str_addc(out, digits[i]);
    }
}

void mase_html_short(struct mase_str *out, double x)
{
    static const char *const units[] = { "", " k", " M", " G", " T", " P" };
    size_t unit = 0;
    while (fabs(x) >= 9999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        x /= 1000;
        unit++;
    }
    mase_str_printf(out, "%.4g%s", x, units[unit]);
}

void mase_html_percent(struct mase_str *out, double share)
{
    if (isnan(share))
        mase_str_add(out, "–");
    else if (share > 0 && share < 0.00005)
        mase_str_add(out, "&lt; 0.01 %");
    else
        mase_str_printf(out, "%.2f %%", 100 * share);
}

/* ---- tables ---- */

void mase_html_table(struct mase_str *out, const char *label,
                     const struct mase_html_column *columns, int count)
{
    mase_str_add(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
    mase_markup_add(out, label);
    mase_str_add(out, "\">\n<table class=\"sortable\">\n<thead><tr>\n");
    for (int i = 0; i < count; i++) {
        mase_str_printf(out, "<th scope=\"col\"%s", columns[i].text ? "" : " class=\"n\"");
        if (columns[i].hint) {
            mase_str_add(out, " title=\"");
            mase_markup_add(out, columns[i].hint);
            mase_str_addc(out, '"');
        }
        mase_str_add(out, "><button type=\"button\">");
        mase_markup_add(out, columns[i].title);
        mase_str_add(out, "</button></th>\n");
    }
    mase_str_add(out, "</tr></thead>\n<tbody>\n");
}

static void put_attribute(struct mase_str *out, const char *name, const char *value)
{
    if (!value)
        return;
    mase_str_printf(out, " %s=\"", name);
    mase_markup_add(out, value);
    mase_str_addc(out, '"');
}

void mase_html_row(struct mase_str *out, const char *id, const char *href, const char *heading)
{
    mase_str_add(out, "<tr");
    put_attribute(out, "id", id);
    mase_str_add(out, "><th scope=\"row\">");
    if (href) {
        mase_str_add(out, "<a");
        put_attribute(out, "href", href);
        mase_str_addc(out, '>');
    }
    mase_markup_add(out, heading);
    mase_str_add(out, href ? "</a></th>" : "</th>");
}

void mase_html_cell(struct mase_str *out, const char *text)
{
    mase_str_add(out, "<td>");
    mase_markup_add(out, text);
    mase_str_add(out, "</td>");
}

void mase_html_cell_count(struct mase_str *out, int64_t n)
{
    mase_str_printf(out, "<td class=\"n\" data-v=\"%" PRId64 "\">", n);
    mase_html_count(out, n);
    mase_str_add(out, "</td>");
}

static bool put_cell_number(struct mase_str *out, double x)
{
    if (isnan(x)) {
        mase_str_add(out, "<td class=\"n\">–</td>");
        return false;
    }
    if (isinf(x)) /* JavaScript's spelling */
        mase_str_printf(out, "<td class=\"n\" data-v=\"%sInfinity\">", x < 0 ? "-" : "");
    else
        mase_str_printf(out, "<td class=\"n\" data-v=\"%.17g\">", x);
    return true;
}

void mase_html_cell_whole(struct mase_str *out, double n)
{
    if (fabs(n) < 0x1p63)
        mase_html_cell_count(out, (int64_t)n);
    else
        mase_html_cell_real(out, n, 0);
}

void mase_html_cell_real(struct mase_str *out, double x, int digits)
{
    if (!put_cell_number(out, x))
        return;
    if (isinf(x))
        mase_str_add(out, x < 0 ? "−∞" : "∞");
    else
        mase_str_printf(out, "%.*f", digits, x);
    mase_str_add(out, "</td>");
}

void mase_html_cell_percent(struct mase_str *out, double share)
{
    if (!put_cell_number(out, share))
        return;
    mase_html_percent(out, share);
    mase_str_add(out, "</td>");
}

void mase_html_row_end(struct mase_str *out)
{
    mase_str_add(out, "</tr>\n");
}

void mase_html_table_foot(struct mase_str *out)
{
    mase_str_add(out, "</tbody>\n<tfoot>\n");
}

void mase_html_table_end(struct mase_str *out, bool has_foot)
{
    mase_str_add(out, has_foot ? "</tfoot>\n</table>\n</div>\n" : "</tbody>\n</table>\n</div>\n");
}

static bool is_number(const char *text)
{
    char *end;
    mase_number_read(text, &end);
    return *text && !*end && strchr("+-.0123456789", *text);
}

/* Is every cell a number or empty, with at least one number? */
static bool is_numeric(const struct mase_table *t, int column)
{
    bool any = false;
    for (int r = 0; r < t->rows; r++) {
        const char *cell = t->cell[r * t->columns + column];
        if (is_number(cell))
            any = true;
        else if (*cell && !mase_streq(cell, "-"))
            return false;
    }
    return any;
}

void mase_html_table_of(struct mase_str *out, const char *label, const struct mase_table *t)
{
    struct mase_html_column columns[MASE_TABLE_MAX_COLUMNS];
    for (int i = 0; i < t->columns; i++)
        columns[i] =
            (struct mase_html_column){ .title = t->header[i], .text = i && !is_numeric(t, i) };
    mase_html_table(out, label, columns, t->columns);
    for (int r = 0; r < t->rows; r++) {
        mase_str_add(out, "<tr>");
        for (int i = 0; i < t->columns; i++) {
            const char *cell = t->cell[r * t->columns + i];
            if (is_number(cell))
                mase_str_printf(out, "<td class=\"n\" data-v=\"%s\">%s</td>", cell, cell);
            else
                mase_html_cell(out, cell);
        }
        mase_html_row_end(out);
    }
    mase_html_table_end(out, false);
}

/* ---- other elements ---- */

void mase_html_details(struct mase_str *out, const char *summary, const char *text, bool open)
{
    mase_str_printf(out, "<details%s><summary>", open ? " open" : "");
    mase_markup_add(out, summary);
    mase_str_add(out, "</summary>\n<pre tabindex=\"0\">");
    mase_markup_add(out, text);
    mase_str_add(out, "</pre></details>\n");
}
