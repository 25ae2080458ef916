/*
 * study_text.c - a study on a terminal: how its trials ended, its front or its course, which
 * parameters mattered, and how many bits the best have.
 */
#include "cli/study_text.h"

#include <math.h>

#include "cli/study_charts.h"
#include "search/attributes.h"
#include "study/study_statistics.h"

enum {
    ROWS = 14,      /* of a chart */
    MOST_PAIRS = 3, /* of objectives */
    MOST_PARAMETERS = 10,
    MOST_TRIALS = 7 /* whose bits stand side by side */
};

/* ---- charts ---- */

static void put_chart(struct mase_cli *c, const struct mase_plot *p)
{
    struct mase_str text = { 0 };
    mase_plot_text(&text, p, mase_cli_page_width(), ROWS);
    mase_sheets_say(&c->sheets, "\n%s", mase_str_text(&text));
    mase_str_release(&text);
}

static void put_charts(struct mase_cli *c, const struct mase_study *s)
{
    int pairs = 0;
    if (s->objectives == 1) {
        const struct mase_plot p = mase_cli_course_chart(&c->arena, s, 0);
        put_chart(c, &p);
    }
    for (int y = 0; y < s->objectives; y++)
        for (int x = y + 1; x < s->objectives && pairs < MOST_PAIRS; x++, pairs++) {
            const struct mase_plot p = mase_cli_front_chart(&c->arena, s, x, y, false);
            put_chart(c, &p);
        }
}

/* ---- tables ---- */

static void put_importance(struct mase_cli *c, const struct mase_study *s)
{
    struct mase_cli_parameter *p;
    const char *headers[MASE_TABLE_MAX_COLUMNS + 1] = { "parameter" };
    const int count = mase_cli_parameters(&p, &c->arena, s);
    const int shown = count < MOST_PARAMETERS ? count : MOST_PARAMETERS;
    const int objectives =
        s->objectives < MASE_TABLE_MAX_COLUMNS - 1 ? s->objectives : MASE_TABLE_MAX_COLUMNS - 1;
    for (int k = 0; k < objectives; k++)
        headers[1 + k] = s->objective[k].name;
    struct mase_table t = mase_table(&c->arena, headers);
    for (int i = 0; i < shown; i++) {
        const int row = mase_table_row(&t);
        mase_table_set(&t, row, 0, s->space.dimension[p[i].dimension].name);
        for (int k = 0; k < objectives; k++)
            mase_table_setf(&t, row, 1 + k, "%.3f", p[i].share[k]);
    }
    if (shown < 2)
        return;
    const char *title = "Importance of parameters, of a sum of 1:";
    if (shown < count)
        title = mase_arena_printf(&c->arena,
                                  "Importance of parameters, of a sum of 1, the first "
                                  "%d of %d:",
                                  shown, count);
    mase_sheets_add(&c->sheets, &(struct mase_sheet){ .key = "importance",
                                                      .title = title,
                                                      .table = t,
                                                      .style = MASE_TABLE_ORGTBL });
}

static void bits_row(struct mase_table *t, const struct mase_search_bits_row *r, int trials)
{
    const int row = mase_table_row(t);
    mase_table_setf(t, row, 0, "%s.%s", r->node, r->operand);
    for (int i = 0; i < trials; i++)
        if (isnan(r->bits[i]))
            mase_table_set(t, row, 1 + i, "-");
        else
            mase_table_setf(t, row, 1 + i, "%.4g", r->bits[i]);
}

/* Of the trials of the front, evenly spread along it where they are many. */
static void put_bits(struct mase_cli *c, const struct mase_study *s)
{
    struct mase_search_bits bits;
    int64_t *front, index[MOST_TRIALS];
    const char *headers[MOST_TRIALS + 2] = { "trial" };
    const int count = mase_cli_front(&front, &c->arena, s);
    const int shown = count < MOST_TRIALS ? count : MOST_TRIALS;
    for (int i = 0; i < shown; i++) {
        index[i] = front[shown < 2 ? 0 : (int64_t)i * (count - 1) / (shown - 1)];
        headers[1 + i] = mase_arena_printf(&c->arena, "%lld", (long long)index[i]);
    }
    mase_search_bits_of(&bits, &c->arena, s, index, shown);
    if (!bits.rows)
        return;
    struct mase_table t = mase_table(&c->arena, headers);
    for (int i = 0; i < bits.rows; i++)
        bits_row(&t, &bits.row[i], shown);
    mase_sheets_add(&c->sheets, &(struct mase_sheet){ .key = "bits",
                                                      .title = "Bits along the front, by the first "
                                                               "objective; -: float",
                                                      .table = t,
                                                      .style = MASE_TABLE_ORGTBL });
}

void mase_cli_put_study(struct mase_cli *c, const struct mase_study *s)
{
    int64_t count[MASE_TRIAL_STATES];
    mase_study_count_states(count, s);
    mase_sheets_say(&c->sheets, "\n%s\n", mase_cli_study_states(&c->arena, s));
    if (count[MASE_TRIAL_COMPLETE])
        put_charts(c, s);
    if (count[MASE_TRIAL_COMPLETE] > 1)
        put_importance(c, s);
    put_bits(c, s);
}
