/*
 * page.c - the document: its head, the heading, and the sections that apply.
 *
 * The page is self-contained. A Content-Security-Policy allows its scripts and styles by hash and
 * forbids everything else. Text from a run's files is escaped.
 */
#include <math.h>
#include <string.h>

#include <mase/draw.h>
#include <mase/file.h>

#include "cli/report/html.h"
#include "cli/report/page.h"
#include "cli/report/report.h"

static const struct mase_report_section sections[] = {
#define SECTION(name, title) { #name, title, mase_report_has_##name, mase_report_##name },
#include "cli/report/sections.def"
};
enum { SECTIONS = sizeof sections / sizeof sections[0] };

/* ---- elements ---- */

static void legend(struct mase_str *out, const struct mase_plot *p)
{
    mase_str_add(out, "<p class=\"legend\">");
    for (int i = 0; i < p->count; i++) {
        const char *dash = *mase_plot_dash(p, i) ? " stroke-dasharray=\"7 4\"" : "";
        mase_str_add(out, "<span><svg class=\"plot key\" viewBox=\"0 0 22 8\" width=\"22\" "
                          "height=\"8\" aria-hidden=\"true\">");
        if (p->series[i].points)
            mase_str_printf(out, "<circle class=\"m%d\" r=\"3\" cx=\"11\" cy=\"4\"/></svg>",
                            mase_plot_colour(p, i));
        else
            mase_str_printf(out, "<path class=\"line c%d\"%s d=\"M0 4H22\"/></svg>",
                            mase_plot_colour(p, i), dash);
        mase_markup_add(out, p->series[i].name);
        mase_str_add(out, "</span>\n");
    }
    mase_str_add(out, "</p>\n");
}

void mase_report_chart(struct mase_str *out, const struct mase_plot *p)
{
    mase_str_add(out, "<figure class=\"chart\">\n");
    mase_html_element(out, "h3", NULL, p->title);
    if (p->count > 1)
        legend(out, p);
    mase_plot_svg(out, p);
    mase_str_add(out, "<p class=\"readout\" aria-live=\"polite\"></p>\n</figure>\n");
}

/* ---- the head ---- */

static int hex_value(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* SHA-256 in base 64, as a Content-Security-Policy wants it. */
static void put_hash(struct mase_str *out, const struct mase_str *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { BYTES = 32 };
    char hex[65];
    unsigned byte[BYTES + 1] = { 0 };
    mase_sha256(hex, text->data, text->len);
    for (int i = 0; i < BYTES; i++)
        byte[i] = (unsigned)(16 * hex_value(hex[2 * i]) + hex_value(hex[2 * i + 1]));
    mase_str_add(out, "'sha256-");
    for (int i = 0; i < BYTES; i += 3) { /* 32 = 10 * 3 + 2: the last group has two bytes */
        const unsigned group = byte[i] << 16 | byte[i + 1] << 8 | (i + 2 < BYTES ? byte[i + 2] : 0);
        for (int k = 0; k < (i + 2 < BYTES ? 4 : 3); k++)
            mase_str_addc(out, digits[group >> (18 - 6 * k) & 63]);
    }
    mase_str_add(out, "='");
}

static void put_head(struct mase_str *out, const char *title, const struct mase_str *css,
                     const struct mase_str *js)
{
    mase_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "script-src ");
    put_hash(out, js);
    mase_str_add(out, "; style-src ");
    put_hash(out, css);
    mase_str_add(out, "; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<meta name=\"generator\" content=\"ch " MASE_VERSION "\">\n");
    mase_html_element(out, "title", NULL, title);
    mase_str_add(out, "<style>");
    mase_str_add(out, mase_str_text(css));
    mase_str_add(out, "</style>\n</head>\n");
}

/* ---- the body ---- */

static void put_contents(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<nav aria-label=\"Sections\"><ul>\n");
    for (int i = 0; i < SECTIONS; i++)
        if (sections[i].applies(r))
            mase_str_printf(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
                            sections[i].title);
    mase_str_add(out, "</ul></nav>\n");
}

static void put_sections(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<main>\n");
    for (int i = 0; i < SECTIONS; i++) {
        if (!sections[i].applies(r))
            continue;
        mase_str_printf(out,
                        "<section id=\"%s\" aria-labelledby=\"title-%s\">\n"
                        "<h2 id=\"title-%s\">%s</h2>\n",
                        sections[i].id, sections[i].id, sections[i].id, sections[i].title);
        sections[i].write(out, r);
        mase_str_add(out, "</section>\n");
    }
    mase_str_add(out, "</main>\n");
}

void mase_report_put_run(struct mase_str *out, const void *data)
{
    mase_report_heading(out, data);
    put_contents(out, data);
    put_sections(out, data);
}

static void put_page(struct mase_str *out, const char *title, mase_report_body_fn *body,
                     const void *data)
{
    struct mase_str css = { 0 }, js = { 0 };
    mase_str_add(&css, mase_report_css);
    mase_plot_css(&css, ".plot ");
    mase_draw_style(&css);
    mase_str_add(&js, mase_report_js);
    put_head(out, title, &css, &js);
    mase_str_add(out, "<body>\n");
    body(out, data);
    mase_str_add(out, "<footer><p>Written by ch " MASE_VERSION
                      ". This page is one file and loads nothing.</p></footer>\n<script>");
    mase_str_add(out, mase_str_text(&js));
    mase_str_add(out, "</script>\n</body>\n</html>\n");
    mase_str_release(&css);
    mase_str_release(&js);
}

enum mase_status mase_report_write(struct mase_cli *c, const char *path, const char *title,
                                   mase_report_body_fn *body, const void *data,
                                   struct mase_err *err)
{
    struct mase_str page = { 0 };
    put_page(&page, title, body, data);
    const enum mase_status st = mase_file_write(path, page.data, page.len, err);
    mase_str_release(&page);
    if (!st)
        mase_sheets_line(&c->sheets, "%s", path);
    return st;
}
