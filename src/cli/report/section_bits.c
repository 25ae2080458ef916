/*
 * section_bits.c - bits.csv of a quantised training: bits of every layer over the epochs, accuracy
 * against cost, and a table of the last epoch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>
#include <mase/plot.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "data/csv.h"

enum { MOST_ROWS = 1 << 20 };

/* An operand of a layer after an epoch. */
struct mase_report_bits {
    const char *layer, *operand;
    double epoch, values, mean, min, max, zero, ebops; /* ebops: NaN if there are none */
};

/* ---- reading ---- */

/* The columns of the file, in order. */
static const struct {
    const char *name;
    size_t offset;
    bool text, may_lack;
} columns[] = {
#define COLUMN(f) offsetof(struct mase_report_bits, f)
    { "epoch", COLUMN(epoch), false, false },    { "layer", COLUMN(layer), true, false },
    { "operand", COLUMN(operand), true, false }, { "values", COLUMN(values), false, false },
    { "mean_bits", COLUMN(mean), false, false }, { "min_bits", COLUMN(min), false, false },
    { "max_bits", COLUMN(max), false, false },   { "zero_share", COLUMN(zero), false, false },
    { "ebops", COLUMN(ebops), false, true },
#undef COLUMN
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static enum mase_status check_header(const struct mase_csv *csv, struct mase_err *err)
{
    for (int i = 0; i < COLUMNS; i++) {
        const struct mase_csv_field *f = i < csv->count ? &csv->field[i] : NULL;
        if (!f || f->size != strlen(columns[i].name) ||
            memcmp(f->text, columns[i].name, f->size) != 0)
            return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, i),
                                "the header has no column '%s' here", columns[i].name);
    }
    return MASE_OK;
}

static enum mase_status read_row(struct mase_report_bits *row, const struct mase_csv *csv,
                                 struct mase_arena *a, struct mase_err *err)
{
    if (csv->count != COLUMNS)
        return mase_fail_at(err, MASE_EPARSE, mase_csv_at(csv, csv->count),
                            "has %d fields, the header %d", csv->count, COLUMNS);
    for (int i = 0; i < COLUMNS; i++) {
        void *to = (char *)row + columns[i].offset;
        double x = NAN;
        if (columns[i].text) {
            const char *text = mase_arena_strndup(a, csv->field[i].text, csv->field[i].size);
            memcpy(to, &text, sizeof text);
            continue;
        }
        if (csv->field[i].size || !columns[i].may_lack)
            MASE_TRY(mase_csv_number(csv, i, &x, columns[i].name, err));
        memcpy(to, &x, sizeof x);
    }
    return MASE_OK;
}

static enum mase_status read_rows(struct mase_report *r, struct mase_csv *csv, struct mase_err *err)
{
    int cap = 0;
    MASE_TRY(mase_csv_next(csv, err));
    MASE_TRY(check_header(csv, err));
    for (;;) {
        MASE_TRY(mase_csv_next(csv, err));
        if (!csv->count)
            return MASE_OK;
        if (r->bit_rows == MOST_ROWS)
            return mase_fail_at(err, MASE_ELIMIT, mase_csv_at(csv, 0), "more than %d rows",
                                MOST_ROWS);
        r->bits = mase_arena_grow(r->arena, r->bits, r->bit_rows, &cap, sizeof *r->bits);
        MASE_TRY(read_row(&r->bits[r->bit_rows], csv, r->arena, err));
        r->bit_rows++;
    }
}

enum mase_status mase_report_read_bits(struct mase_report *r, struct mase_err *err)
{
    struct mase_file f;
    const char *path = mase_report_path(r, "software/bits.csv");
    if (!mase_is_file(path))
        return MASE_OK;
    MASE_TRY(mase_file_open(&f, path, err));
    struct mase_csv csv = mase_csv_of(&f);
    const enum mase_status st = read_rows(r, &csv, err);
    mase_csv_release(&csv);
    mase_file_close(&f);
    return st;
}

/* ---- bits over the epochs ---- */

/* A layer's curve, growing. */
struct line {
    const char *layer;
    double *x, *y;
    int n, cap;
    struct line *next;
};

struct lines {
    struct mase_map by_layer;
    struct line *first, **end;
    int count;
};

static struct line *line_of(struct lines *l, struct mase_arena *a, const char *layer)
{
    struct line *line = mase_map_get(&l->by_layer, layer);
    if (line)
        return line;
    line = mase_new(a, struct line);
    line->layer = layer;
    mase_map_put(&l->by_layer, layer, line);
    *l->end = line;
    l->end = &line->next;
    l->count++;
    return line;
}

static void add_point(struct line *l, struct mase_arena *a, double x, double y)
{
    int cap = l->cap;
    l->x = mase_arena_grow(a, l->x, l->n, &cap, sizeof *l->x);
    l->y = mase_arena_grow(a, l->y, l->n, &l->cap, sizeof *l->y);
    l->x[l->n] = x;
    l->y[l->n++] = y;
}

static void operand_chart(struct mase_str *out, const struct mase_report *r, const char *operand,
                          const char *title)
{
    struct lines l = { .by_layer = { .arena = r->arena }, .end = &l.first };
    for (int i = 0; i < r->bit_rows; i++) {
        const struct mase_report_bits *b = &r->bits[i];
        if (mase_streq(b->operand, operand))
            add_point(line_of(&l, r->arena, b->layer), r->arena, b->epoch + 1, b->mean);
    }
    struct mase_plot_series *series =
        mase_new_array(r->arena, struct mase_plot_series, (size_t)l.count);
    int n = 0;
    for (const struct line *k = l.first; k; k = k->next)
        series[n++] =
            (struct mase_plot_series){ .name = k->layer, .x = k->x, .y = k->y, .n = k->n };
    if (n)
        mase_report_chart(out, &(struct mase_plot){ .title = title,
                                                    .x_label = "epoch",
                                                    .series = series,
                                                    .count = n,
                                                    .embedded = true });
}

/* ---- accuracy against cost ---- */

struct cost {
    double epoch, ebops, score;
};

static int by_ebops(const void *a, const void *b)
{
    const double x = ((const struct cost *)a)->ebops, y = ((const struct cost *)b)->ebops;
    return (x > y) - (x < y);
}

/* Costs and accuracies from metrics.csv, by epoch. */
static int find_costs(struct cost **out, const struct mase_report *r)
{
    const struct mase_report_metrics *m = r->metrics;
    int n = 0;
    *out = mase_new_array(r->arena, struct cost, (size_t)(m ? m->rows : 0));
    for (int i = 0; m && i < m->rows; i++)
        if (!isnan(m->ebops[i]))
            (*out)[n++] = (struct cost){ m->epoch[i] + 1, m->ebops[i], m->val_score[i] };
    return n;
}

static void cost_charts(struct mase_str *out, const struct mase_report *r)
{
    struct cost *cost;
    const int n = find_costs(&cost, r);
    struct mase_plot_series s = { .name = "validation", .n = n, .colour = MASE_COLOUR_VALIDATION };
    double *x = mase_new_array(r->arena, double, (size_t)n);
    double *y = mase_new_array(r->arena, double, (size_t)n);
    if (!n)
        return;
    s.x = x;
    s.y = y;
    for (int i = 0; i < n; i++)
        x[i] = cost[i].epoch, y[i] = cost[i].ebops;
    struct mase_plot p = { .title = "EBOPs",
                           .x_label = "epoch",
                           .log_y = true,
                           .series = &s,
                           .count = 1,
                           .embedded = true };
    mase_report_chart(out, &p);
    qsort(cost, (size_t)n, sizeof *cost, by_ebops); /* a curve runs from left to right */
    for (int i = 0; i < n; i++)
        x[i] = cost[i].ebops, y[i] = cost[i].score;
    p.title = mase_arena_printf(r->arena, "Validation %s of every epoch against EBOPs",
                                mase_report_task(r)->score_title);
    p.x_label = "EBOPs";
    p.log_y = false;
    p.log_x = true;
    mase_report_chart(out, &p);
}

/* ---- the last epoch ---- */

/* The row of an operand; NULL: no format. The rows of a layer are adjacent. */
static const struct mase_report_bits *find_bits(const struct mase_report *r,
                                                const struct mase_report_bits *row,
                                                const char *operand)
{
    const char *layer = row->layer;
    for (; row < r->bits + r->bit_rows && mase_streq(row->layer, layer); row++)
        if (mase_streq(row->operand, operand))
            return row;
    return NULL;
}

static void mean_cell(struct mase_str *out, const struct mase_report_bits *b)
{
    mase_html_cell_real(out, b ? b->mean : NAN, 2);
}

static void layer_row(struct mase_str *out, const struct mase_report *r,
                      const struct mase_report_bits *row)
{
    const bool drawn = r->graph && mase_graph_find(r->graph, row->layer);
    const struct mase_report_bits *w = find_bits(r, row, "weight");
    mase_html_row(out, NULL, drawn ? mase_arena_printf(r->arena, "#layer-%s", row->layer) : NULL,
                  row->layer);
    mean_cell(out, find_bits(r, row, "data_in"));
    mean_cell(out, w);
    mase_html_cell_whole(out, w ? w->min : NAN);
    mase_html_cell_whole(out, w ? w->max : NAN);
    mase_html_cell_percent(out, w ? w->zero : NAN);
    mean_cell(out, find_bits(r, row, "bias"));
    mean_cell(out, find_bits(r, row, "data_out"));
    mase_html_cell_whole(out, row->ebops);
    mase_html_row_end(out);
}

/* The first row of the last epoch. */
static int last_epoch(const struct mase_report *r)
{
    int from = r->bit_rows - 1;
    while (from > 0 && r->bits[from - 1].epoch == r->bits[from].epoch)
        from--;
    return from;
}

static void table(struct mase_str *out, const struct mase_report *r)
{
    static const struct mase_html_column titles[] = {
        { "Layer", NULL, true },
        { "Data", "mean bits of what goes in, the sign included", false },
        { "Weights", "mean bits, the sign included", false },
        { "Fewest", "bits of a weight", false },
        { "Most", "bits of a weight", false },
        { "None", "weights that have no bits left and are zero", false },
        { "Bias", "mean bits", false },
        { "Result", "mean bits of what comes out", false },
        { "EBOPs", "products of bits, signs left out, as training counts them", false },
    };
    struct cost *cost;
    const int from = last_epoch(r), costs = find_costs(&cost, r);
    mase_str_printf(out, "<p>After epoch %.0f", r->bits[from].epoch + 1);
    if (costs) {
        mase_str_add(out, " the network costs ");
        mase_html_count(out, (int64_t)fmin(cost[costs - 1].ebops, 0x1p62));
        mase_str_add(out, " EBOPs, where a layer in float counts 32 bits");
    }
    mase_str_add(out, ".</p>\n");
    mase_html_table(out, "Bits of every layer after the last epoch", titles,
                    sizeof titles / sizeof titles[0]);
    for (int i = from; i < r->bit_rows; i++)
        if (i == from || !mase_streq(r->bits[i].layer, r->bits[i - 1].layer))
            layer_row(out, r, &r->bits[i]);
    mase_html_table_end(out, false);
}

/* ---- the section ---- */

bool mase_report_has_bits(const struct mase_report *r)
{
    return r->bit_rows > 0;
}

void mase_report_bits(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<div class=\"charts\">\n");
    operand_chart(out, r, "weight", "Mean bits of weights");
    operand_chart(out, r, "data_in", "Mean bits of data");
    operand_chart(out, r, "bias", "Mean bits of biases");
    operand_chart(out, r, "data_out", "Mean bits of results");
    cost_charts(out, r);
    mase_str_add(out, "</div>\n");
    table(out, r);
}
