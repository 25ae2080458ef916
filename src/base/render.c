/*
 * render.c - the styles of a table.
 *
 * A style is a row of styles[]: four rules, the text around and between cells, padding. Rendering
 * first prepares every cell (surrounding blanks off, wrapped, decimal points aligned), then
 * measures the columns, then draws; no cell is written before all are known.
 */
#include <mase/table.h>

#include <string.h>

#include "base/cell.h"
#include "base/number.h"

const char *const mase_table_style_names[] = { "simple", "grid", "pretty", "orgtbl",
                                               "github", "csv",  NULL };

struct rule {
    char fill; /* 0: no such rule */
    const char *begin, *sep, *end;
};

struct style {
    struct rule above, below_header, between, below;
    const char *begin, *sep, *end; /* of a row of cells */
    int padding;                   /* blanks left and right of a cell */
    int header_extra;              /* a column is at least so much wider than its header */
    bool bare_with_header;         /* above and below only where there is no header */
    bool centred;                  /* instead of left, and right for numbers */
    bool marks_alignment;          /* a colon in the rule under a right or centred column */
};

static const struct style styles[] = {
    [MASE_TABLE_SIMPLE] = { .above = { '-', "", "  ", "" },
                            .below_header = { '-', "", "  ", "" },
                            .below = { '-', "", "  ", "" },
                            .begin = "",
                            .sep = "  ",
                            .end = "",
                            .header_extra = 2,
                            .bare_with_header = true },
    [MASE_TABLE_GRID] = { .above = { '-', "+", "+", "+" },
                          .below_header = { '=', "+", "+", "+" },
                          .between = { '-', "+", "+", "+" },
                          .below = { '-', "+", "+", "+" },
                          .begin = "|",
                          .sep = "|",
                          .end = "|",
                          .padding = 1,
                          .header_extra = 2 },
    [MASE_TABLE_PRETTY] = { .above = { '-', "+", "+", "+" },
                            .below_header = { '-', "+", "+", "+" },
                            .below = { '-', "+", "+", "+" },
                            .begin = "|",
                            .sep = "|",
                            .end = "|",
                            .padding = 1,
                            .centred = true },
    [MASE_TABLE_ORGTBL] = { .below_header = { '-', "|", "+", "|" },
                            .begin = "|",
                            .sep = "|",
                            .end = "|",
                            .padding = 1,
                            .header_extra = 2 },
    [MASE_TABLE_GITHUB] = { .above = { '-', "|", "|", "|" },
                            .below_header = { '-', "|", "|", "|" },
                            .begin = "|",
                            .sep = "|",
                            .end = "|",
                            .padding = 1,
                            .header_extra = 2,
                            .bare_with_header = true,
                            .marks_alignment = true },
};

struct layout {
    const struct mase_table *t;
    const struct style *style;
    const char **cell; /* (rows, columns), prepared */
    const char *header[MASE_TABLE_MAX_COLUMNS];
    enum mase_align align[MASE_TABLE_MAX_COLUMNS];
    bool decimal[MASE_TABLE_MAX_COLUMNS]; /* numbers: points below each other */
    long width[MASE_TABLE_MAX_COLUMNS];
};

static bool is_number_column(const struct mase_table *t, int column)
{
    bool number = false;
    for (int r = 0; r < t->rows; r++) {
        const enum mase_cell_kind kind = mase_cell_kind(t->cell[r * t->columns + column]);
        if (kind == MASE_CELL_TEXT)
            return false;
        number |= kind == MASE_CELL_NUMBER;
    }
    return number;
}

static void choose_alignment(struct layout *l)
{
    for (int c = 0; c < l->t->columns; c++) {
        l->align[c] = l->t->align[c];
        if (l->align[c] != MASE_ALIGN_AUTO)
            continue;
        l->decimal[c] = !l->style->centred && is_number_column(l->t, c);
        l->align[c] = l->style->centred ? MASE_ALIGN_CENTRE
                      : l->decimal[c]   ? MASE_ALIGN_RIGHT
                                        : MASE_ALIGN_LEFT;
    }
}

static const char *trimmed(struct mase_arena *a, const char *s)
{
    while (mase_is_space(*s))
        s++;
    size_t n = strlen(s);
    while (n && mase_is_space(s[n - 1]))
        n--;
    return mase_arena_strndup(a, s, n);
}

static const char *harmless(struct mase_arena *a, const struct mase_table *t, const char *s)
{
    struct mase_str text = { 0 };
    if (t->coloured)
        return s;
    mase_str_add_printable(&text, s, strlen(s), t->lines);
    s = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return s;
}

static const char *prepared(struct mase_arena *a, const struct mase_table *t, const char *s,
                            int wrap)
{
    s = harmless(a, t, trimmed(a, s));
    if (wrap <= 0 || mase_cell_kind(s) == MASE_CELL_NUMBER)
        return s; /* a broken number would be read as two */
    struct mase_str wrapped = { 0 };
    mase_cell_wrap(&wrapped, s, wrap);
    s = mase_arena_strdup(a, mase_str_text(&wrapped));
    mase_str_release(&wrapped);
    return s;
}

/* Put blanks behind numbers with fewer decimals than others of the column. */
static void align_points(struct layout *l, struct mase_arena *a, int column)
{
    const int columns = l->t->columns;
    int most = -1;
    for (int r = 0; r < l->t->rows; r++) {
        const int d = mase_cell_decimals(l->cell[r * columns + column]);
        most = d > most ? d : most;
    }
    for (int r = 0; r < l->t->rows; r++) {
        const char **cell = &l->cell[r * columns + column];
        *cell = mase_arena_printf(a, "%s%*s", *cell, most - mase_cell_decimals(*cell), "");
    }
}

/* Columns of the widest line. */
static long text_width(const char *s)
{
    long widest = 0;
    for (;;) {
        const size_t n = strcspn(s, "\n");
        const long width = mase_cell_columns(s, n);
        widest = width > widest ? width : widest;
        if (!s[n])
            return widest;
        s += n + 1;
    }
}

/* Every row is padded to the widest cell, so one long name in a long table would make a picture
 * many times the size of what it shows: such a cell sticks out instead. */
static bool sticks_out(long width, int rows)
{
    enum { USUAL = 400, BLANKS = 1 << 20 };
    return width > USUAL && width > BLANKS / rows;
}

static void measure(struct layout *l)
{
    for (int c = 0; c < l->t->columns; c++) {
        long width = l->t->no_header ? 0 : text_width(l->header[c]) + l->style->header_extra;
        for (int r = 0; r < l->t->rows; r++) {
            const long cell = text_width(l->cell[r * l->t->columns + c]);
            width = cell > width && !sticks_out(cell, l->t->rows) ? cell : width;
        }
        l->width[c] = width;
    }
}

static void lay_out(struct layout *l, struct mase_arena *a)
{
    const struct mase_table *t = l->t;
    const int wrap = l->style->centred ? t->wrap : 0;
    const int cells = t->rows * t->columns;
    choose_alignment(l);
    l->cell = mase_new_array(a, const char *, (size_t)cells);
    for (int i = 0; i < cells; i++)
        l->cell[i] = prepared(a, t, t->cell[i], wrap);
    for (int c = 0; c < t->columns; c++) {
        l->header[c] = harmless(a, t, t->header[c]);
        if (l->decimal[c])
            align_points(l, a, c);
    }
    measure(l);
}

static void end_line(struct mase_str *out, size_t line_start)
{
    while (out->len > line_start && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    mase_str_addc(out, '\n');
}

static void draw_rule(const struct layout *l, const struct rule *rule, struct mase_str *out)
{
    if (!rule->fill)
        return;
    const size_t line_start = out->len;
    mase_str_add(out, rule->begin);
    for (int c = 0; c < l->t->columns; c++) {
        const bool mark = l->style->marks_alignment && l->align[c] != MASE_ALIGN_LEFT;
        const size_t start = out->len;
        mase_str_add(out, c ? rule->sep : "");
        mase_str_pad(out, rule->fill, l->width[c] + 2 * l->style->padding);
        if (mark)
            out->data[out->len - 1] = ':';
        if (mark && l->align[c] == MASE_ALIGN_CENTRE)
            out->data[start + strlen(c ? rule->sep : "")] = ':';
    }
    mase_str_add(out, rule->end);
    end_line(out, line_start);
}

static void draw_aligned(struct mase_str *out, const char *s, size_t n, long width,
                         enum mase_align align)
{
    const long blanks = width - mase_cell_columns(s, n);
    const long left = align == MASE_ALIGN_RIGHT    ? blanks
                      : align == MASE_ALIGN_CENTRE ? blanks / 2
                                                   : 0;
    mase_str_pad(out, ' ', left);
    mase_str_addn(out, s, n);
    mase_str_pad(out, ' ', blanks - left);
}

/* One row of cells, as many lines as its tallest cell. */
static void draw_row(const struct layout *l, const char *const *cells, struct mase_str *out)
{
    const char *rest[MASE_TABLE_MAX_COLUMNS]; /* NULL: nothing left */
    for (int c = 0; c < l->t->columns; c++)
        rest[c] = cells[c];
    bool more = true;
    while (more) {
        more = false;
        const size_t line_start = out->len;
        mase_str_add(out, l->style->begin);
        for (int c = 0; c < l->t->columns; c++) {
            const char *s = rest[c] ? rest[c] : "";
            const size_t n = strcspn(s, "\n");
            mase_str_add(out, c ? l->style->sep : "");
            mase_str_pad(out, ' ', l->style->padding);
            draw_aligned(out, s, n, l->width[c], l->align[c]);
            mase_str_pad(out, ' ', l->style->padding);
            rest[c] = s[n] ? s + n + 1 : NULL;
            more |= rest[c] != NULL;
        }
        mase_str_add(out, l->style->end);
        end_line(out, line_start);
    }
}

static void draw(const struct layout *l, struct mase_str *out)
{
    const struct mase_table *t = l->t;
    const bool outer = t->no_header || !l->style->bare_with_header;
    if (outer)
        draw_rule(l, &l->style->above, out);
    if (!t->no_header) {
        draw_row(l, l->header, out);
        draw_rule(l, &l->style->below_header, out);
    }
    for (int r = 0; r < t->rows; r++) {
        if (r)
            draw_rule(l, &l->style->between, out);
        draw_row(l, l->cell + r * t->columns, out);
    }
    if (outer)
        draw_rule(l, &l->style->below, out);
}

static void csv_row(const struct mase_table *t, const char *const *cells, struct mase_arena *a,
                    struct mase_str *out)
{
    for (int c = 0; c < t->columns; c++) {
        const char *s = harmless(a, t, cells[c]);
        mase_str_add(out, c ? "," : "");
        if (!strpbrk(s, ",\"\r\n")) {
            mase_str_add(out, s);
            continue;
        }
        mase_str_addc(out, '"');
        for (; *s; s++)
            mase_str_add(out, *s == '"' ? "\"\"" : (char[]){ *s, '\0' });
        mase_str_addc(out, '"');
    }
    mase_str_addc(out, '\n');
}

static void csv(const struct mase_table *t, struct mase_arena *a, struct mase_str *out)
{
    if (!t->no_header)
        csv_row(t, t->header, a, out);
    for (int r = 0; r < t->rows; r++)
        csv_row(t, t->cell + r * t->columns, a, out);
}

void mase_table_render(const struct mase_table *t, enum mase_table_style style,
                       struct mase_str *out)
{
    const size_t start = out->len;
    if (t->columns == 0)
        return;
    struct mase_arena scratch = { 0 };
    if (style == MASE_TABLE_CSV) {
        csv(t, &scratch, out);
    } else {
        struct layout l = { .t = t, .style = &styles[style] };
        lay_out(&l, &scratch);
        draw(&l, out);
    }
    mase_arena_release(&scratch);
    if (out->len > start)
        out->data[--out->len] = '\0'; /* the last newline is the caller's */
}
