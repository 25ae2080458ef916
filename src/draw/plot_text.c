/*
 * plot_text.c - charts of characters, for a terminal.
 *
 *     accuracy
 *     0.74 ┤     ●   ●
 *          │  ·  ● ·
 *     0.72 ┤●  ·
 *          └──┬───────┬─────
 *             4       6
 *                       bits
 *
 * A cell of the drawing stands for 8 x 16 pixels, so that ticks are as far from each other as in a
 * drawn chart. Error bars are left out: they would hide points.
 */
#include <mase/plot.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "draw/chart_axis.h"

enum { CELL_WIDTH = 8, CELL_HEIGHT = 16, LEAST_COLUMNS = 16, LEAST_ROWS = 4, DASH = 4 };

static const char *const marks[] = { "·", "●", "◆", "○", "+", "×" };
enum { MARKS = sizeof marks / sizeof marks[0] };

struct text_chart {
    const struct mase_plot *p;
    struct mase_str *out;
    struct mase_chart_axis x, y;
    int columns, rows, margin; /* of the drawing, and before it */
    unsigned char *cell;       /* (rows, columns): series + 1, 0 is empty */
};

/* ---- cells ---- */

static int column_of(const struct text_chart *c, double x)
{
    const double at = floor(mase_chart_axis_pixel(&c->x, x) / CELL_WIDTH);
    return (int)fmin(fmax(at, 0), c->columns - 1);
}

static int row_of(const struct text_chart *c, double y)
{
    const double at = floor(mase_chart_axis_pixel(&c->y, y) / CELL_HEIGHT);
    return (int)fmin(fmax(at, 0), c->rows - 1);
}

static bool is_shown(const struct text_chart *c, const struct mase_plot_series *s, int64_t i)
{
    return mase_chart_axis_takes(&c->x, s->x[i]) && mase_chart_axis_takes(&c->y, s->y[i]);
}

/* A straight line of marks between two cells, one in each column; fewer of a dashed line. */
static void mark_line(struct text_chart *c, int column, int row, int to_column, int to_row,
                      unsigned char mark)
{
    const int length = to_column - column, stride = c->p->series[mark - 1].dashed ? DASH : 1;
    for (int i = stride; i < length; i += stride) {
        const double at = row + (double)(to_row - row) * i / length;
        c->cell[(int)lrint(at) * c->columns + column + i] = mark;
    }
}

static void mark_series(struct text_chart *c, const struct mase_plot_series *s, unsigned char mark)
{
    int column = -1, row = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (!is_shown(c, s, i)) {
            column = -1;
            continue;
        }
        const int to_column = column_of(c, s->x[i]), to_row = row_of(c, s->y[i]);
        if (column >= 0 && !s->points && !c->p->categories)
            mark_line(c, column, row, to_column, to_row, mark);
        c->cell[to_row * c->columns + to_column] = mark;
        column = to_column, row = to_row;
    }
}

/* ---- axes ---- */

static void put_y_label(const struct text_chart *c, int row)
{
    for (int i = 0; i < c->y.ticks; i++) {
        char text[32];
        if (row_of(c, c->y.tick[i]) != row)
            continue;
        mase_chart_axis_label(text, &c->y, i);
        mase_str_pad(c->out, ' ', c->margin - 2 - (long)strlen(text));
        mase_str_add(c->out, text);
        mase_str_add(c->out, " ┤");
        return;
    }
    mase_str_pad(c->out, ' ', c->margin - 1);
    mase_str_add(c->out, "│");
}

static int y_margin(const struct text_chart *c)
{
    size_t widest = 0;
    for (int i = 0; i < c->y.ticks; i++) {
        char text[32];
        const size_t width = strlen(mase_chart_axis_label(text, &c->y, i));
        widest = width > widest ? width : widest;
    }
    return (int)widest + 2;
}

static bool has_tick(const struct text_chart *c, int column)
{
    for (int i = 0; i < c->x.ticks; i++)
        if (column_of(c, c->x.tick[i]) == column)
            return true;
    return false;
}

static void put_rule(const struct text_chart *c)
{
    mase_str_pad(c->out, ' ', c->margin - 1);
    mase_str_add(c->out, "└");
    for (int i = 0; i < c->columns; i++)
        mase_str_add(c->out, has_tick(c, i) ? "┬" : "─");
    mase_str_addc(c->out, '\n');
}

/* A label below its tick, where the one before leaves room. */
static void put_x_labels(const struct text_chart *c)
{
    struct mase_str line = { 0 };
    for (int i = 0; i < c->x.ticks; i++) {
        char number[32];
        const char *text = c->p->categories ? c->p->categories[(int)c->x.tick[i]]
                                            : mase_chart_axis_label(number, &c->x, i);
        const long width = mase_str_columns(text, strlen(text));
        const long has = mase_str_columns(mase_str_text(&line), line.len);
        const long at = c->margin + column_of(c, c->x.tick[i]) - (width - 1) / 2;
        if (has && at <= has)
            continue;
        mase_str_pad(&line, ' ', at - has);
        mase_str_add_printable(&line, text, strlen(text), false);
    }
    mase_str_add(c->out, mase_str_text(&line));
    mase_str_addc(c->out, '\n');
    mase_str_release(&line);
}

/* Below the right end of the axis. */
static void put_x_name(const struct text_chart *c)
{
    const char *name = c->p->x_label;
    if (!name)
        return;
    mase_str_pad(c->out, ' ', c->margin + c->columns - mase_str_columns(name, strlen(name)));
    mase_str_add_printable(c->out, name, strlen(name), false);
    mase_str_addc(c->out, '\n');
}

/* ---- writing ---- */

static void put_title(const struct text_chart *c)
{
    const char *text[] = { c->p->title, c->p->y_label };
    for (int i = 0; i < 2; i++)
        if (text[i]) {
            mase_str_add_printable(c->out, text[i], strlen(text[i]), false);
            mase_str_addc(c->out, '\n');
        }
}

static void put_rows(const struct text_chart *c)
{
    for (int row = 0; row < c->rows; row++) {
        const unsigned char *cell = c->cell + row * c->columns;
        int used = c->columns;
        while (used > 0 && !cell[used - 1])
            used--;
        put_y_label(c, row);
        for (int i = 0; i < used; i++)
            mase_str_add(c->out, cell[i] ? marks[(cell[i] - 1) % MARKS] : " ");
        mase_str_addc(c->out, '\n');
    }
}

static void put_names(const struct text_chart *c)
{
    if (c->p->count < 2)
        return;
    mase_str_pad(c->out, ' ', c->margin);
    for (int s = 0; s < c->p->count; s++) {
        const char *name = c->p->series[s].name;
        mase_str_printf(c->out, "%s%s ", s ? "   " : "", marks[s % MARKS]);
        mase_str_add_printable(c->out, name, strlen(name), false);
    }
    mase_str_addc(c->out, '\n');
}

static void lay_out(struct text_chart *c, int columns, int rows)
{
    c->rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    c->y.from = c->rows * CELL_HEIGHT; /* upwards */
    mase_chart_axis_ticks(&c->y);
    c->margin = y_margin(c);
    c->columns = columns - c->margin < LEAST_COLUMNS ? LEAST_COLUMNS : columns - c->margin;
    c->x.to = c->columns * CELL_WIDTH;
    if (c->p->categories)
        mase_chart_axis_categories(&c->x, c->p->category_count);
    else
        mase_chart_axis_ticks(&c->x);
}

void mase_plot_text(struct mase_str *out, const struct mase_plot *p, int columns, int rows)
{
    struct text_chart c = { .p = p,
                            .out = out,
                            .x = mase_chart_axis_empty(p->log_x && !p->categories),
                            .y = mase_chart_axis_empty(p->log_y) };
    mase_chart_axes_fit(&c.x, &c.y, p);
    lay_out(&c, columns, rows);
    c.cell = mase_xcalloc((size_t)c.rows * (size_t)c.columns);
    for (int s = 0; s < p->count && s < UCHAR_MAX; s++)
        mark_series(&c, &p->series[s], (unsigned char)(s + 1));
    put_title(&c);
    put_rows(&c);
    put_rule(&c);
    put_x_labels(&c);
    put_x_name(&c);
    put_names(&c);
    mase_xfree(c.cell);
}
