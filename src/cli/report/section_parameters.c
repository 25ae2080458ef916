/*
 * section_parameters.c - what decided how good the trials of a search were: importance, and the
 * trials as lines across their most important parameters.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "cli/study_charts.h"
#include "search/attributes.h"
#include "study/study_statistics.h"

enum { MOST_AXES = 9, MOST_LINES = 400, SHADES = 10 };

/* ---- importance ---- */

static void put_share(struct mase_str *out, double share, double most)
{
    mase_str_printf(out,
                    "<td class=\"n share\" data-v=\"%.17g\">%.1f %%<svg class=\"bar\" "
                    "viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                    "<rect class=\"is\" width=\"%.2f\" height=\"4\"/></svg></td>",
                    share, 100 * share, 100 * share / most);
}

static void put_importance(struct mase_str *out, const struct mase_report *r,
                           const struct mase_cli_parameter *p, int count)
{
    const struct mase_study *s = r->study;
    struct mase_html_column *column =
        mase_new_array(r->arena, struct mase_html_column, (size_t)s->objectives + 1);
    double most = 1e-9;
    column[0] = (struct mase_html_column){ "Parameter", NULL, true };
    for (int k = 0; k < s->objectives; k++)
        column[1 + k] = (struct mase_html_column){ s->objective[k].name, NULL, false };
    for (int i = 0; i < count; i++)
        for (int k = 0; k < s->objectives; k++)
            most = fmax(most, p[i].share[k]);
    mase_str_add(out, "<p>How much a parameter decided whether a trial came among the best tenth "
                      "(PED-ANOVA); the shares of an objective sum to 100 %.</p>\n");
    mase_html_table(out, "Importance of parameters", column, s->objectives + 1);
    for (int i = 0; i < count; i++) {
        mase_html_row(out, NULL, NULL, s->space.dimension[p[i].dimension].name);
        for (int k = 0; k < s->objectives; k++)
            put_share(out, p[i].share[k], most);
        mase_html_row_end(out);
    }
    mase_html_table_end(out, false);
}

/* ---- parallel coordinates ---- */

/* The text of a choice. */
static const char *choice_text(struct mase_arena *a, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    mase_value_str(&text, v);
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

/* "NODE/config/KEY" as "NODE/KEY". */
static const char *short_name(struct mase_arena *a, const char *name)
{
    static const char middle[] = "/config/";
    const char *at = strstr(name, middle);
    return at ? mase_arena_printf(a, "%.*s/%s", (int)(at - name), name, at + strlen(middle)) : name;
}

static struct mase_plot_dimension axis_of(struct mase_arena *a, const struct mase_dimension *d)
{
    struct mase_plot_dimension axis = { .name = short_name(a, d->name), .logarithmic = d->log };
    if (d->kind != MASE_DIMENSION_CHOICE)
        return axis;
    const char **names = mase_new_array(a, const char *, (size_t)d->choices->count);
    for (int i = 0; i < d->choices->count; i++)
        names[i] = choice_text(a, d->choices->items[i]);
    axis.categories = names;
    axis.category_count = d->choices->count;
    return axis;
}

/* A trial and its place among all by the first objective: 0 is the best. */
struct line {
    const struct mase_trial *trial;
    double loss;
};

/* The worst first. */
static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->loss != y->loss)
        return x->loss > y->loss ? -1 : 1;
    return (x->trial->number > y->trial->number) - (x->trial->number < y->trial->number);
}

/* Complete trials from the worst to the best, evenly thinned where they are many. */
static int find_lines(struct line **out, const struct mase_report *r)
{
    const struct mase_study *s = r->study;
    const double sign = s->objective[0].direction == MASE_MAXIMIZE ? -1 : 1;
    struct line *line = mase_new_array(r->arena, struct line, (size_t)s->trials);
    int64_t count = 0;
    for (int64_t i = 0; i < s->trials; i++)
        if (s->trial[i].state == MASE_TRIAL_COMPLETE && isfinite(s->trial[i].value[0]))
            line[count++] = (struct line){ &s->trial[i], sign * s->trial[i].value[0] };
    qsort(line, (size_t)count, sizeof *line, compare_lines);
    const int kept = count < MOST_LINES ? (int)count : MOST_LINES;
    for (int i = 0; i < kept; i++)
        line[i] = line[kept < 2 ? 0 : i * (count - 1) / (kept - 1)];
    *out = line;
    return kept;
}

/* The scale of an objective stands above its name. */
static const char *objective_name(struct mase_arena *a, const struct mase_study *s, int objective)
{
    const double scale = mase_search_scale(s, objective);
    const char *name = s->objective[objective].name;
    return scale == 1 ? name : mase_arena_printf(a, "%.6g x/%s", scale, name);
}

/* Lines of one choice lie side by side, the better the higher: else they would hide each other. */
static double place_of(const struct mase_trial *t, int dimension, int rank, int lines,
                       const struct mase_plot_dimension *axis)
{
    const double width = 0.6;
    return t->x[dimension] + (axis->categories ? width * (rank / fmax(lines - 1, 1) - 0.5) : 0);
}

static void put_parallel(struct mase_str *out, const struct mase_report *r,
                         const struct mase_cli_parameter *p, int count)
{
    const struct mase_study *s = r->study;
    const int shown = count < MOST_AXES ? count : MOST_AXES, axes = shown + s->objectives;
    struct line *line;
    const int lines = find_lines(&line, r);
    struct mase_plot_dimension *axis =
        mase_new_array(r->arena, struct mase_plot_dimension, (size_t)axes);
    double *value = mase_new_array(r->arena, double, (size_t)lines *(size_t)axes);
    unsigned char *shade = mase_new_array(r->arena, unsigned char, (size_t)lines);
    for (int i = 0; i < shown; i++)
        axis[i] = axis_of(r->arena, &s->space.dimension[p[i].dimension]);
    for (int k = 0; k < s->objectives; k++)
        axis[shown + k].name = objective_name(r->arena, s, k);
    for (int n = 0; n < lines; n++) {
        shade[n] = (unsigned char)(n * SHADES / lines);
        for (int i = 0; i < shown; i++)
            value[n * axes + i] = place_of(line[n].trial, p[i].dimension, n, lines, &axis[i]);
        memcpy(value + n * axes + shown, line[n].trial->value,
               (size_t)s->objectives * sizeof *value);
    }
    mase_html_element(out, "h3", NULL, "Trials across parameters");
    mase_html_element(out, "p", NULL,
                      mase_arena_printf(r->arena,
                                        "%d of %d complete trials, %d of %d parameters, the most "
                                        "important first. The stronger a line, the better by %s.",
                                        lines, lines, shown, count, s->objective[0].name));
    mase_str_add(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                      "aria-label=\"Trials across parameters\">\n");
    mase_plot_parallel(out, &(struct mase_plot_parallel){ .title = "Trials across parameters",
                                                          .dimension = axis,
                                                          .dimensions = axes,
                                                          .value = value,
                                                          .points = lines,
                                                          .shade = shade });
    mase_str_add(out, "</div>\n");
}

/* ---- the section ---- */

bool mase_report_has_parameters(const struct mase_report *r)
{
    int64_t count[MASE_TRIAL_STATES];
    if (!r->study)
        return false;
    mase_study_count_states(count, r->study);
    return count[MASE_TRIAL_COMPLETE] > 1 && r->study->space.count;
}

void mase_report_parameters(struct mase_str *out, const struct mase_report *r)
{
    struct mase_cli_parameter *p;
    const int count = mase_cli_parameters(&p, r->arena, r->study);
    put_importance(out, r, p, count);
    put_parallel(out, r, p, count);
}
