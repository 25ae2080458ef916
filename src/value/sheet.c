/*
 * sheet.c - print tables in the format that the user asked for.
 */
#include <mase/sheet.h>

#include <math.h>
#include <string.h>

#include <mase/log.h>

#include "base/number.h"

const char *const mase_sheet_formats[] = { "text", "grid", "github", "csv", "json", NULL };

enum mase_sheet_format mase_sheet_format(const char *name)
{
    for (int i = 0; mase_sheet_formats[i]; i++)
        if (mase_streq(mase_sheet_formats[i], name))
            return (enum mase_sheet_format)i;
    return MASE_SHEET_TEXT;
}

bool mase_sheets_for_programs(const struct mase_sheets *s)
{
    return s->format == MASE_SHEET_CSV || s->format == MASE_SHEET_JSON;
}

/* ---- for people ---- */

/* A bar would end the cell, a line the row. */
static const char *escaped(struct mase_arena *a, const char *cell, bool lines)
{
    struct mase_str text = { 0 };
    if (!strpbrk(cell, "|\n"))
        return cell;
    for (; *cell; cell++) {
        mase_str_add(&text, *cell == '|' ? "\\" : "");
        if (*cell == '\n' && lines)
            mase_str_add(&text, "<br>");
        else
            mase_str_addc(&text, *cell);
    }
    const char *copy = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return copy;
}

static struct mase_table for_github(struct mase_arena *a, const struct mase_table *t)
{
    struct mase_table out = mase_table_indexed(a, t);
    for (int i = 0; i < out.rows * out.columns; i++)
        out.cell[i] = escaped(a, out.cell[i], t->lines);
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

static void add_table(struct mase_str *out, struct mase_sheets *s, const struct mase_sheet *sheet)
{
    static const enum mase_table_style styles[] = {
        [MASE_SHEET_GRID] = MASE_TABLE_GRID,
        [MASE_SHEET_GITHUB] = MASE_TABLE_GITHUB,
        [MASE_SHEET_CSV] = MASE_TABLE_CSV,
    };
    const bool github = s->format == MASE_SHEET_GITHUB;
    const struct mase_table t = github ? for_github(s->arena, &sheet->table) : sheet->table;
    const size_t start = out->len;
    mase_table_render(&t, s->format == MASE_SHEET_TEXT ? sheet->style : styles[s->format], out);
    mase_str_addc(out, '\n');
    if (github)
        mark_left(out->data + start);
}

/* Whole writes arrive, and a failure is known while it is known why. */
static void write_out(struct mase_sheets *s, const char *text, size_t n)
{
    if (s->text) {
        mase_str_addn(s->text, text, n);
        return;
    }
    fwrite(text, 1, n, s->out);
    if (s->out == stdout)
        (void)mase_flush_output();
}

static void print(struct mase_sheets *s, const struct mase_sheet *sheet)
{
    const bool csv = s->format == MASE_SHEET_CSV, titled = sheet->title && !csv;
    struct mase_str out = { 0 };
    if (s->begun && !s->after_blank && (titled || s->format != MASE_SHEET_TEXT))
        mase_str_addc(&out, '\n');
    if (titled) {
        mase_str_add_printable(&out, sheet->title, strlen(sheet->title), false);
        mase_str_add(&out, sheet->table.rows ? "\n\n" : "\n");
    }
    if (!titled || sheet->table.rows)
        add_table(&out, s, sheet);
    write_out(s, out.data, out.len);
    mase_str_release(&out);
    s->begun = s->after_table = true;
    s->after_blank = false;
}

static bool prints(const struct mase_sheets *s)
{
    return s->out || s->text;
}

static void say(struct mase_sheets *s, const char *said)
{
    if (!prints(s) || mase_sheets_for_programs(s))
        return;
    if (s->after_table && s->format == MASE_SHEET_GITHUB && *said != '\n')
        write_out(s, "\n", 1); /* what follows would be a row */
    write_out(s, said, strlen(said));
    s->after_blank = mase_ends_with(said, "\n\n") || (s->begun && mase_streq(said, "\n"));
    s->begun = true;
    s->after_table = false;
}

static void say_harmless(struct mase_sheets *s, bool one_line, const char *fmt, va_list ap)
{
    struct mase_str raw = { 0 }, text = { 0 };
    mase_str_vprintf(&raw, fmt, ap);
    mase_str_add_printable(&text, mase_str_text(&raw), raw.len, !one_line);
    mase_str_add(&text, one_line ? "\n" : "");
    say(s, mase_str_text(&text));
    mase_str_release(&raw);
    mase_str_release(&text);
}

void mase_sheets_say(struct mase_sheets *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_harmless(s, false, fmt, ap);
    va_end(ap);
}

void mase_sheets_line(struct mase_sheets *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_harmless(s, true, fmt, ap);
    va_end(ap);
}

/* ---- for programs ---- */

/* "[8, 16]", as shapes are printed: a list of whole numbers; NULL for any other text. */
static struct mase_value *list_value(struct mase_arena *a, const char *cell)
{
    struct mase_value *list = NULL;
    const size_t n = strlen(cell);
    if (*cell != '[' || cell[strspn(cell, "[]0123456789, ")])
        return NULL;
    if (mase_json_parse(&list, a, cell, n, NULL, NULL) || list->kind != MASE_LIST)
        return NULL;
    for (int i = 0; i < list->count; i++)
        if (list->items[i]->kind != MASE_INT)
            return NULL;
    return list;
}

static struct mase_value *cell_value(struct mase_arena *a, const char *cell)
{
    struct mase_value *list = list_value(a, cell);
    if (list)
        return list;
    char *end;
    const double x = mase_number_read(cell, &end);
    const bool digit = *cell && strchr("+-0123456789.", *cell);
    if (!*cell)
        return mase_value_none(a);
    if (mase_streq(cell, "True") || mase_streq(cell, "False"))
        return mase_value_bool(a, *cell == 'T');
    if (*end || !digit || !isfinite(x))
        return mase_value_string(a, cell);
    if (!strpbrk(cell, ".eE") && fabs(x) < 0x1p53)
        return mase_value_int(a, (int64_t)x);
    return mase_value_float(a, x);
}

static const char *key_of(struct mase_arena *a, const char *header)
{
    char *key = mase_arena_strdup(a, header);
    for (char *p = key; *p; p++)
        *p = *p == ' ' ? '_' : *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
    return key;
}

struct mase_value *mase_sheet_rows(struct mase_arena *a, const struct mase_table *t)
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

static const char *suffixed(const struct mase_sheets *s, const char *key)
{
    return mase_arena_printf(s->arena, "%s%s", key, s->suffix);
}

void mase_sheets_set(struct mase_sheets *s, const char *key, struct mase_value *value)
{
    if (s->format != MASE_SHEET_JSON)
        return;
    if (!s->all)
        s->all = mase_value_table(s->arena);
    mase_value_set(s->arena, s->all, s->suffix ? suffixed(s, key) : key, value);
}

/* ---- either ---- */

static void keep_table(struct mase_sheets *s, const struct mase_sheet *sheet)
{
    struct mase_arena *a = s->arena;
    const struct mase_table *t = &sheet->table;
    struct mase_value *v = mase_value_table(a), *rows = mase_value_list(a);
    for (int r = 0; r < t->rows; r++)
        mase_value_push(a, rows, mase_value_strings(a, t->cell + r * t->columns, t->columns));
    mase_value_set(a, v, "key",
                   mase_value_string(a, s->suffix ? suffixed(s, sheet->key) : sheet->key));
    mase_value_set(a, v, "title",
                   sheet->title ? mase_value_string(a, sheet->title) : mase_value_none(a));
    mase_value_set(a, v, "columns", mase_value_strings(a, t->header, t->columns));
    mase_value_set(a, v, "rows", rows);
    mase_value_push(a, s->tables, v);
}

void mase_sheets_add(struct mase_sheets *s, const struct mase_sheet *sheet)
{
    if (s->tables)
        keep_table(s, sheet);
    if (s->format == MASE_SHEET_JSON)
        mase_sheets_set(s, sheet->key, mase_sheet_rows(s->arena, &sheet->table));
    else if (prints(s))
        print(s, sheet);
}

void mase_sheets_end(struct mase_sheets *s)
{
    struct mase_str out = { 0 };
    if (s->format != MASE_SHEET_JSON || !s->out)
        return;
    mase_json_print(&out, s->all ? s->all : mase_value_table(s->arena), 2);
    mase_str_addc(&out, '\n');
    write_out(s, out.data, out.len);
    mase_str_release(&out);
    s->all = NULL;
}
