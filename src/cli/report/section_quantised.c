/*
 * section_quantised.c - the nodes that transforms changed, by type, and the effect of rounding on
 * each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/compare.h>

#include "cli/command_nets.h"
#include "cli/report/html.h"
#include "cli/report/report.h"

/* Nodes of one type before the transforms. */
struct group {
    const char *type;
    int total, changed;
};

static int by_type(const void *a, const void *b)
{
    return strcmp(((const struct group *)a)->type, ((const struct group *)b)->type);
}

/* Does the call or a format differ? A node of only one network counts as changed. */
static bool changed(const struct mase_node_pair *p)
{
    return !p->a || !p->b || !p->same_call || !p->same_formats;
}

static int group_nodes(struct group **out, const struct mase_report *r)
{
    struct mase_node_pair *pairs;
    const int count = mase_compare_nodes(&pairs, r->arena, r->before, r->graph);
    struct group *groups = mase_new_array(r->arena, struct group, (size_t)count);
    int n = 0;
    for (int i = 0; i < count; i++) {
        const struct mase_node *node = pairs[i].a ? pairs[i].a : pairs[i].b;
        const char *type = mase_cli_type_of(r->arena, node);
        int k = 0;
        if (node->kind == MASE_PLACEHOLDER || node->kind == MASE_OUTPUT)
            continue;
        while (k < n && !mase_streq(groups[k].type, type))
            k++;
        if (k == n)
            groups[n++].type = type;
        groups[k].total++;
        groups[k].changed += changed(&pairs[i]);
    }
    qsort(groups, (size_t)n, sizeof groups[0], by_type);
    *out = groups;
    return n;
}

static void type_table(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column columns[] = {
        { "Type before", NULL, true },
        { "Nodes", NULL, false },
        { "Changed", NULL, false },
        { "Unchanged", NULL, false },
    };
    struct group *groups;
    const int count = group_nodes(&groups, r);
    mase_str_add(out, "<div class=\"narrow\">\n");
    mase_html_table(out, "Types and how many nodes of them changed", columns, 4);
    for (int i = 0; i < count; i++) {
        mase_html_row(out, NULL, NULL, groups[i].type);
        mase_html_cell_count(out, groups[i].total);
        mase_html_cell_count(out, groups[i].changed);
        mase_html_cell_count(out, groups[i].total - groups[i].changed);
        mase_html_row_end(out);
    }
    mase_html_table_end(out, false);
    mase_str_add(out, "</div>\n");
}

/* ---- effect of rounding ---- */

/* Saturation below zero does not matter if a ReLU follows. */
double mase_report_saturated(const struct mase_report_spread *s)
{
    if (s->rounding.sign == MASE_SIGNED)
        return mase_report_real(s->stat, "saturation.fraction");
    return mase_report_real(s->stat, "saturation.above") /
           mase_report_real(s->stat, "saturation.count");
}

double mase_report_sqnr(const struct mase_report_spread *s)
{
    return s->rounding.sign == MASE_SIGNED ? mase_report_real(s->stat, "sqnr.sqnr") : NAN;
}

static void rounding_rows(struct mase_str *out, const struct mase_report *r,
                          const struct mase_report_spreads *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct mase_report_spread *s = &list->items[i];
        struct mase_str format = { 0 };
        if (!s->rounding.format)
            continue;
        mase_format_tell(&format, s->rounding.format);
        mase_html_row(out, NULL, mase_arena_printf(r->arena, "#layer-%s", s->node->name),
                      mase_arena_printf(r->arena, "%s.%s", s->node->name, s->operand));
        mase_html_cell(out, mase_str_text(&format));
        mase_html_cell(out, s->rounding.sign == MASE_SIGNED ? "yes" : "no");
        mase_html_cell_count(out, mase_format_bits(s->rounding.format));
        mase_html_cell_percent(out, mase_report_saturated(s));
        mase_html_cell_percent(out, mase_report_real(s->stat, "underflow.fraction"));
        mase_html_cell_real(out, mase_report_sqnr(s), 2);
        mase_html_row_end(out);
        mase_str_release(&format);
    }
}

static bool is_rounded(const struct mase_report_spreads *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->items[i].rounding.format)
            return true;
    return false;
}

static void rounding_table(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column columns[] = {
        { "Operand", NULL, true },
        { "Format", NULL, true },
        { "Signed", NULL, true },
        { "Bits", "of one value", false },
        { "Saturated", "values outside the range of the format", false },
        { "To zero", "values other than zero that become zero", false },
        { "SQNR dB", "signal to quantisation noise: higher is better", false },
    };
    if (r->activations_of) {
        mase_str_add(out, "<p>What rounding does to each operand; activations over ");
        mase_markup_add(out, r->activations_of);
        mase_str_add(out, ".</p>\n");
    }
    mase_html_table(out, "What rounding does to each operand", columns, 7);
    rounding_rows(out, r, &r->parameters);
    rounding_rows(out, r, &r->activations);
    mase_html_table_end(out, false);
}

/* ---- the section ---- */

static bool is_quantised(const struct mase_graph *g)
{
    for (const struct mase_node *n = g ? g->first : NULL; n; n = n->next)
        if (mase_node_quant(n))
            return true;
    return false;
}

bool mase_report_has_quantised(const struct mase_report *r)
{
    return is_quantised(r->graph);
}

void mase_report_quantised(struct mase_str *out, const struct mase_report *r)
{
    if (r->before)
        type_table(out, r);
    if (is_rounded(&r->parameters) || is_rounded(&r->activations))
        rounding_table(out, r);
}
