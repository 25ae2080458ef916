/*
 * section_chosen.c - how many bits the best trials of a search gave to each layer.
 */
#include <math.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "cli/study_charts.h"
#include "search/attributes.h"

enum { MOST_TRIALS = 24, SHADES = 10 };

/* The front, evenly thinned where it is long; returns how many. */
static int find_trials(int64_t *index, const struct mase_report *r)
{
    int64_t *front;
    const int count = mase_cli_front(&front, r->arena, r->study);
    const int kept = count < MOST_TRIALS ? count : MOST_TRIALS;
    for (int i = 0; i < kept; i++)
        index[i] = front[kept < 2 ? 0 : (int64_t)i * (count - 1) / (kept - 1)];
    return kept;
}

static double most_bits(const struct mase_search_bits *b)
{
    double most = 1;
    for (int i = 0; i < b->rows; i++)
        for (int k = 0; k < b->trials; k++)
            most = fmax(most, isnan(b->row[i].bits[k]) ? 1 : b->row[i].bits[k]);
    return most;
}

static void put_cell(struct mase_str *out, double bits, double most)
{
    const double share = isnan(bits) ? 1 : bits / most;
    mase_str_printf(out, "<td class=\"s%d\">", (int)fmin(SHADES - 1, share * SHADES));
    if (isnan(bits))
        mase_str_add(out, "float</td>");
    else
        mase_str_printf(out, "%.4g</td>", bits);
}

/* A row of values of the trials, unshaded. */
static void put_objective(struct mase_str *out, const struct mase_report *r, int objective,
                          const int64_t *index, int trials)
{
    mase_html_row(out, NULL, NULL, mase_search_label(r->arena, r->study, objective));
    for (int i = 0; i < trials; i++)
        mase_str_printf(out, "<td>%.4g</td>", r->study->trial[index[i]].value[objective]);
    mase_html_row_end(out);
}

bool mase_report_has_chosen(const struct mase_report *r)
{
    int64_t index[MOST_TRIALS];
    struct mase_search_bits bits;
    if (!r->study)
        return false;
    mase_search_bits_of(&bits, r->arena, r->study, index, find_trials(index, r));
    return bits.rows > 0;
}

void mase_report_chosen(struct mase_str *out, const struct mase_report *r)
{
    int64_t index[MOST_TRIALS];
    struct mase_search_bits bits;
    const int trials = find_trials(index, r);
    mase_search_bits_of(&bits, r->arena, r->study, index, trials);
    const double most = most_bits(&bits);
    mase_str_add(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                      "aria-label=\"Bits of the best trials\">\n<table class=\"matrix\">\n"
                      "<caption>Columns are trials by the first objective, rows operands of "
                      "layers</caption>\n<thead><tr><td></td>");
    for (int i = 0; i < trials; i++)
        mase_str_printf(out, "<th scope=\"col\">%lld</th>", (long long)index[i]);
    mase_str_add(out, "</tr></thead>\n<tbody>\n");
    for (int k = 0; k < r->study->objectives; k++)
        put_objective(out, r, k, index, trials);
    for (int i = 0; i < bits.rows; i++) {
        const struct mase_search_bits_row *row = &bits.row[i];
        mase_html_row(out, NULL, NULL,
                      mase_arena_printf(r->arena, "%s.%s", row->node, row->operand));
        for (int k = 0; k < trials; k++)
            put_cell(out, row->bits[k], most);
        mase_html_row_end(out);
    }
    mase_str_add(out, "</tbody>\n</table>\n</div>\n");
}
