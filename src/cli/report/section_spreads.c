/*
 * section_spreads.c - histograms of parameters and activations, with the values of their number
 * formats.
 */
#include <math.h>
#include <stdlib.h>

#include <mase/plot.h>

#include "cli/report/html.h"
#include "cli/report/report.h"

enum {
    OPEN_HISTOGRAMS = 24, /* so many are open initially */
    LEAST_BINS = 8,
    PROBES = 2048 /* points at which a format is sampled */
};

/* ---- the values of a format ---- */

/* The values of a format, found by sampling it, since steps may differ. */
struct representable {
    double code[PROBES];
    int codes;
    double limit[2];
};

static void find_representable(struct representable *g, const struct mase_report_spread *s,
                               double min, double max)
{
    float q[PROBES], limit[2];
    mase_format_limits(&limit[0], &limit[1], s->rounding.format, s->rounding.sign);
    g->limit[0] = (double)limit[0];
    g->limit[1] = (double)limit[1];
    for (int i = 0; i < PROBES; i++)
        q[i] = (float)(min + (max - min) * i / (PROBES - 1));
    mase_quantize_values(s->rounding.format, q, q, PROBES, s->rounding.sign);
    g->codes = 0;
    for (int i = 0; i < PROBES; i++) {
        const double code = (double)q[i];
        if (code >= min && code <= max && (!g->codes || code > g->code[g->codes - 1]))
            g->code[g->codes++] = code;
    }
}

/* Are the values known without the data? Not if they share an exponent. */
static bool has_fixed_values(const struct mase_format *f)
{
    return f && !mase_format_has_blocks(f);
}

/* ---- a histogram ---- */

/* Merge pairs of bins while there are too many bins for few values. */
static void join_bins(struct mase_plot_histogram *h, int64_t *count, double values)
{
    while (h->bins % 2 == 0 && h->bins > LEAST_BINS && h->bins > 3 * sqrt(values)) {
        h->bins /= 2;
        for (int i = 0; i < h->bins; i++)
            count[i] = count[2 * i] + count[2 * i + 1];
    }
}

/* Returns false if there are no finite values to draw. */
static bool read_histogram(struct mase_plot_histogram *h, struct mase_arena *a,
                           const struct mase_report_spread *s)
{
    const struct mase_value *counts = mase_value_at(s->stat, "histogram.counts");
    h->min = mase_report_real(s->stat, "histogram.min");
    h->max = mase_report_real(s->stat, "histogram.max");
    if (!counts || counts->kind != MASE_LIST || !counts->count || !isfinite(h->min) ||
        !isfinite(h->max))
        return false;
    int64_t *count = mase_new_array(a, int64_t, (size_t)counts->count);
    for (int i = 0; i < counts->count; i++)
        count[i] =
            counts->items[i]->kind == MASE_INT ? counts->items[i]->i : (int64_t)counts->items[i]->f;
    h->count = count;
    h->bins = counts->count;
    join_bins(h, count, mase_report_real(s->stat, "histogram.count"));
    return true;
}

static void put_range(struct mase_str *out, double min, double max)
{
    mase_str_printf(out, "%.4g to %.4g", min, max);
}

static void put_facts(struct mase_str *out, const struct mase_report_spread *s,
                      const struct mase_plot_histogram *h)
{
    mase_str_add(out, "<figcaption>");
    mase_html_count(out, (int64_t)mase_report_real(s->stat, "histogram.count"));
    mase_str_add(out, " values, ");
    put_range(out, h->min, h->max);
    if (s->rounding.format) {
        mase_str_add(out, "<br><b>");
        mase_format_tell(out, s->rounding.format);
        mase_str_add(out, "</b>");
        mase_str_add(out, s->rounding.sign == MASE_SIGNED ? "" : " without sign");
        if (h->limit) {
            mase_str_add(out, ", ");
            put_range(out, h->limit[0], h->limit[1]);
        }
        mase_str_add(out, "<br>saturated ");
        mase_html_percent(out, mase_report_saturated(s));
        mase_str_add(out, ", to zero ");
        mase_html_percent(out, mase_report_real(s->stat, "underflow.fraction"));
        const double sqnr = mase_report_sqnr(s);
        if (isfinite(sqnr))
            mase_str_printf(out, ", SQNR %.1f dB", sqnr);
    }
    mase_str_add(out, "</figcaption>\n");
}

static void put_histogram(struct mase_str *out, const struct mase_report *r,
                          const struct mase_report_spread *s)
{
    struct mase_plot_histogram h = { .title = mase_arena_printf(r->arena, "Histogram of %s of %s",
                                                                s->operand, s->node->name) };
    struct representable values;
    if (!read_histogram(&h, r->arena, s))
        return;
    if (has_fixed_values(s->rounding.format)) {
        find_representable(&values, s, h.min, h.max);
        h.code = values.code;
        h.codes = values.codes;
        h.limit = values.limit;
    }
    mase_str_add(out, "<figure class=\"card\"><h4><a href=\"#layer-");
    mase_markup_add(out, s->node->name);
    mase_str_add(out, "\">");
    mase_markup_add(out, s->node->name);
    mase_str_add(out, "</a> ");
    mase_markup_add(out, s->operand);
    mase_str_add(out, "</h4>\n");
    mase_plot_histogram(out, &h);
    put_facts(out, s, &h);
    mase_str_add(out, "</figure>\n");
}

static void put_histograms(struct mase_str *out, const struct mase_report *r, const char *title,
                           const struct mase_report_spreads *list)
{
    if (!list->count)
        return;
    mase_str_printf(out, "<details%s><summary><h3>%s</h3></summary>\n<div class=\"cards\">\n",
                    list->count <= OPEN_HISTOGRAMS ? " open" : "", title);
    for (int i = 0; i < list->count; i++)
        put_histogram(out, r, &list->items[i]);
    mase_str_add(out, "</div></details>\n");
}

/* ---- the section ---- */

bool mase_report_has_spreads(const struct mase_report *r)
{
    return r->parameters.count || r->activations.count;
}

void mase_report_spreads(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<p>How often values lie where; heights are square roots, so that rare "
                      "values show. Strokes below the bars are the values that the number format "
                      "has, a band where they are too close to be drawn one by one. Dashed lines "
                      "are the ends of its range: what is shaded beyond them saturates. What a "
                      "ReLU is given below zero is not counted, since it becomes zero anyway.");
    if (r->weights) {
        mase_str_add(out, " Parameters: ");
        mase_markup_add(out, r->weights);
        mase_str_addc(out, '.');
    }
    if (r->activations_of) {
        mase_str_add(out, " Activations: ");
        mase_markup_add(out, r->activations_of);
        mase_str_add(out, ", before rounding.");
    }
    mase_str_add(out, "</p>\n");
    put_histograms(out, r, "Parameters", &r->parameters);
    put_histograms(out, r, "Activations", &r->activations);
}
