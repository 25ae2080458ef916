/*
 * print_table.c - fill the cells of a table. render.c prints it.
 */
#include <mase/table.h>

#include <string.h>

static void check_place(const struct mase_table *t, int row, int column)
{
    if (row < 0 || row >= t->rows || column < 0 || column >= t->columns)
        mase_bug("cell (%d, %d) of a table of (%d, %d)", row, column, t->rows, t->columns);
}

struct mase_table mase_table(struct mase_arena *arena, const char *const *headers)
{
    struct mase_table t = { .arena = arena };
    for (; headers[t.columns]; t.columns++) {
        if (t.columns == MASE_TABLE_MAX_COLUMNS)
            mase_bug("a table of more than %d columns", MASE_TABLE_MAX_COLUMNS);
        t.header[t.columns] = mase_arena_strdup(arena, headers[t.columns]);
    }
    return t;
}

int mase_table_row(struct mase_table *t)
{
    const size_t row_size = (size_t)t->columns * sizeof(t->cell[0]);
    t->cell = mase_arena_grow(t->arena, t->cell, t->rows, &t->rows_cap, row_size);
    for (int c = 0; c < t->columns; c++)
        t->cell[t->rows * t->columns + c] = "";
    return t->rows++;
}

void mase_table_set(struct mase_table *t, int row, int column, const char *text)
{
    check_place(t, row, column);
    t->cell[row * t->columns + column] = mase_arena_strdup(t->arena, text);
}

void mase_table_setf(struct mase_table *t, int row, int column, const char *fmt, ...)
{
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    mase_table_set(t, row, column, mase_str_text(&text));
    mase_str_release(&text);
}

void mase_table_add(struct mase_table *t, const char *const *cells)
{
    const int row = mase_table_row(t);
    for (int c = 0; c < t->columns; c++)
        mase_table_set(t, row, c, cells[c]);
}

struct mase_table mase_table_indexed(struct mase_arena *arena, const struct mase_table *t)
{
    const char *headers[MASE_TABLE_MAX_COLUMNS + 2] = { "" };
    memcpy(headers + 1, t->header, (size_t)t->columns * sizeof headers[0]);
    struct mase_table out = mase_table(arena, headers);
    out.lines = t->lines;
    out.coloured = t->coloured;
    for (int r = 0; r < t->rows; r++) {
        mase_table_row(&out);
        mase_table_setf(&out, r, 0, "%d", r);
        for (int c = 0; c < t->columns; c++)
            mase_table_set(&out, r, c + 1, t->cell[r * t->columns + c]);
    }
    return out;
}
