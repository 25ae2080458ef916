/*
 * sheets.c - tables in the format that --format names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/compare.h>

#include "cli/look.h"

/* ---- for people ---- */

/* A bar would end the cell. */
static const char *escaped(struct mase_arena *a, const char *cell)
{
    struct mase_str text = { 0 };
    if (!strchr(cell, '|'))
        return cell;
    for (; *cell; cell++) {
        mase_str_add(&text, *cell == '|' ? "\\" : "");
        mase_str_addc(&text, *cell);
    }
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

/* GitHub's tables have the row's number in front; a bar in a cell would end it. */
static struct mase_table for_github(struct mase_arena *a, const struct mase_table *t)
{
    struct mase_table out = mase_table_indexed(a, t);
    for (int i = 0; i < out.rows * out.columns; i++)
        out.cell[i] = escaped(a, out.cell[i]);
    return out;
}

/* |---:|:---| : columns to the left are marked as well. */
static void mark_left(char *text)
{
    char *p = strchr(text, '\n');
    while (p && (p = strchr(p + 1, '|')) && p[1] == '-') {
        const size_t n = strcspn(p + 1, "|\n");
        if (p[n] == '-')
            p[1] = ':';
        p += n;
    }
}

static void put_text(struct mase_cli *c, const struct mase_cli_sheet *s,
                     enum mase_table_style style)
{
    struct mase_str out = { 0 };
    const struct mase_table t =
        style == MASE_TABLE_GITHUB ? for_github(&c->arena, &s->table) : s->table;
    if (style != MASE_TABLE_CSV)
        mase_str_printf(&out, "%s\n%s", s->title, t.rows ? "\n" : "");
    if (t.rows || style == MASE_TABLE_CSV) {
        const size_t start = out.len;
        mase_table_render(&t, style, &out);
        mase_str_addc(&out, '\n');
        if (style == MASE_TABLE_GITHUB)
            mark_left(out.data + start);
    }
    mase_cli_put(&out);
    mase_str_release(&out);
}

/* ---- for programs ---- */

/* A cell that is a number becomes one. */
static struct mase_value *cell_value(struct mase_arena *a, const char *cell)
{
    char *end;
    const double x = strtod(cell, &end);
    const bool digit = *cell && strchr("+-0123456789.", *cell);
    if (!*cell)
        return mase_value_none(a);
    if (*end || !digit || !isfinite(x))
        return mase_value_string(a, cell);
    if (!strpbrk(cell, ".eE") && fabs(x) < 0x1p53)
        return mase_value_int(a, (int64_t)x);
    return mase_value_float(a, x);
}

/* "Max error" is max_error to a program. */
static const char *key_of(struct mase_arena *a, const char *header)
{
    char *key = mase_arena_strdup(a, header);
    for (char *p = key; *p; p++)
        *p = *p == ' ' ? '_' : *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
    return key;
}

static struct mase_value *table_value(struct mase_arena *a, const struct mase_table *t)
{
    struct mase_value *list = mase_value_list(a);
    for (int r = 0; r < t->rows; r++) {
        struct mase_value *row = mase_value_table(a);
        for (int c = 0; c < t->columns; c++)
            mase_value_set(a, row, key_of(a, t->header[c]),
                           cell_value(a, t->cell[r * t->columns + c]));
        mase_value_push(a, list, row);
    }
    return list;
}

static void put_json(struct mase_arena *a, const struct mase_cli_sheet *sheets, int count)
{
    struct mase_value *all = mase_value_table(a);
    for (int i = 0; i < count; i++)
        mase_value_set(a, all, sheets[i].key, table_value(a, &sheets[i].table));
    mase_cli_put_json(count == 1 ? all->items[0] : all);
}

void mase_cli_put_sheets(struct mase_cli *c, const struct mase_cli_sheet *sheets, int count)
{
    const char *format = mase_cli_text(c, MASE_CLI_format);
    enum mase_table_style style = MASE_TABLE_SIMPLE;
    if (mase_streq(format, "json")) {
        put_json(&c->arena, sheets, count);
        return;
    }
    for (int i = 0; mase_table_style_names[i]; i++)
        if (mase_streq(mase_table_style_names[i], format))
            style = (enum mase_table_style)i;
    for (int i = 0; i < count; i++) {
        fputs(i ? "\n" : "", stdout);
        put_text(c, &sheets[i], style);
    }
}

/* ---- cells ---- */

void mase_cli_set_real(struct mase_table *t, int row, int column, double x)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtof(text, NULL) == (float)x)
            break;
    }
    mase_table_set(t, row, column, text);
}

void mase_cli_set_error(struct mase_table *t, int row, int column, double x)
{
    mase_table_setf(t, row, column, "%.4g", x);
}

static const char *keep(struct mase_arena *a, struct mase_str *text)
{
    const char *copy = mase_arena_strdup(a, mase_str_text(text));
    mase_str_release(text);
    return copy;
}

const char *mase_cli_formats_of(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    mase_quant_print(&text, mase_node_quant(n));
    return keep(a, &text);
}

const char *mase_cli_type_of(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    mase_node_type_name(&text, n);
    return keep(a, &text);
}
