/*
 * section_costs.c - costs of the network, by node and in total, before and after the transforms.
 */
#include <math.h>

#include "cli/report/html.h"
#include "cli/report/report.h"

/* Its key in count_flops, its title, and an explanation. */
static const struct {
    const char *key, *title, *hint;
    bool changes; /* depends on number formats: drawn before and after */
} numbers[] = {
    { "macs", "MACs", "multiplications whose products are summed", false },
    { "flops", "FLOPs", "two for each MAC, and other arithmetic", false },
    { "train_flops", "Training FLOPs", "forward and backward, one sample", false },
    { "params", "Parameters", "values that are trained", false },
    { "param_bits", "Parameter bits", "parameters and buffers as they are stored", true },
    { "in_bits", "Input bits", "activations read", true },
    { "out_bits", "Output bits", "activations written", true },
    { "traffic_bytes", "Traffic in bytes", "every operand read once, results written once", true },
    { "nonzero_macs", "Nonzero MACs", "without the weights that are zero", true },
    { "bitops", "BitOPs", "MACs times the widths of both factors", true },
    { "nonzero_bitops", "Nonzero BitOPs", "without the weights that are zero", true },
    { "bops", "BOPs", "with the adders, as the QONNX tools count", true },
    { "ebops", "EBOPs", "with the bits of each weight that matter", true },
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* ---- count ---- */

static enum mase_status count(const struct mase_value **out, struct mase_report *r,
                              struct mase_graph **g, struct mase_err *err)
{
    struct mase_value *info = mase_value_table(r->arena);
    struct mase_manager m = { .env = { .info = info, .info_arena = r->arena } };
    if (!*g)
        return MASE_OK;
    mase_cli_sample_inputs(&m.env, r->arena, *g, &r->data.sample);
    const enum mase_status st = mase_manager_run(&m, g, "count_flops", NULL, err);
    mase_manager_release(&m);
    *out = mase_value_get(info, "count_flops");
    return st;
}

enum mase_status mase_report_read_costs(struct mase_report *r, struct mase_err *err)
{
    MASE_TRY(count(&r->costs, r, &r->graph, err));
    return count(&r->costs_before, r, &r->before, err);
}

double mase_report_cost(const struct mase_value *costs, const char *node, const char *key)
{
    const struct mase_value *of = node ? mase_value_get(mase_value_get(costs, "nodes"), node)
                                       : mase_value_get(costs, "total");
    return mase_report_real(of, key);
}

/* ---- before and after ---- */

static void bar(struct mase_str *out, const char *css_class, double share)
{
    mase_str_printf(out,
                    "<svg class=\"bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
                    "aria-hidden=\"true\"><rect class=\"%s\" width=\"%.2f\" height=\"4\"/></svg>",
                    css_class, 100 * share);
}

static void change(struct mase_str *out, const struct mase_report *r, int i)
{
    const double was = mase_report_cost(r->costs_before, NULL, numbers[i].key);
    const double is = mase_report_cost(r->costs, NULL, numbers[i].key);
    const double most = fmax(fmax(was, is), 1);
    mase_str_add(out, "<div class=\"change\" title=\"");
    mase_markup_add(out, numbers[i].hint);
    mase_str_add(out, "\"><div class=\"what\">");
    mase_markup_add(out, numbers[i].title);
    mase_str_add(out, "</div><div class=\"pair\"><span>");
    mase_html_short(out, was);
    mase_str_add(out, "</span>");
    bar(out, "was", was / most);
    mase_str_add(out, "<span>");
    mase_html_short(out, is);
    mase_str_add(out, "</span>");
    bar(out, "is", is / most);
    mase_str_add(out, "</div><div class=\"ratio\">");
    if (was > 0 && is > 0 && was != is)
        mase_str_printf(out, was > is ? "%.3g times less" : "%.3g times more",
                        was > is ? was / is : is / was);
    else
        mase_str_add(out, "the same");
    mase_str_add(out, "</div></div>\n");
}

static void changes(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<p class=\"legend\"><span><span class=\"key was\"></span>before</span>"
                      "<span><span class=\"key is\"></span>after the transforms; one "
                      "sample</span></p>\n"
                      "<div class=\"changes\">\n");
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i].changes)
            change(out, r, i);
    mase_str_add(out, "</div>\n");
}

/* ---- node by node ---- */

static void numbers_row(struct mase_str *out, const struct mase_value *costs, const char *node)
{
    for (int i = 0; i < NUMBERS; i++)
        mase_html_cell_whole(out, mase_report_cost(costs, node, numbers[i].key));
    mase_html_row_end(out);
}

static void table(struct mase_str *out, const struct mase_report *r)
{
    struct mase_html_column columns[NUMBERS + 1] = { { "Node", NULL, true } };
    for (int i = 0; i < NUMBERS; i++)
        columns[i + 1] = (struct mase_html_column){ numbers[i].title, numbers[i].hint, false };
    mase_html_table(out, "Costs of every node", columns, NUMBERS + 1);
    for (const struct mase_node *n = r->graph->first; n; n = n->next) {
        mase_html_row(out, NULL, mase_arena_printf(r->arena, "#layer-%s", n->name), n->name);
        numbers_row(out, r->costs, n->name);
    }
    mase_html_table_foot(out);
    mase_html_row(out, NULL, NULL, "total");
    numbers_row(out, r->costs, NULL);
    if (r->costs_before) {
        mase_html_row(out, NULL, NULL, "total before");
        numbers_row(out, r->costs_before, NULL);
    }
    mase_html_table_end(out, true);
}

bool mase_report_has_costs(const struct mase_report *r)
{
    return r->costs != NULL;
}

void mase_report_costs(struct mase_str *out, const struct mase_report *r)
{
    if (r->costs_before)
        changes(out, r);
    table(out, r);
}
