/*
 * t_table.c - tables against tests/data/base/tables.txt, whose texts come from Python's tabulate
 * (make_tables.py beside it describes the format), and CSV against RFC 4180.
 */
#include "check.h"
#include "run_cases.h"

#include <mase/table.h>

/* The next line without its newline, escapes undone; false at the end of the file. */
static bool read_line(FILE *f, struct mase_str *line)
{
    mase_str_clear(line);
    for (int c; (c = getc(f)) != EOF;) {
        if (c == '\n')
            return true;
        if (c == '\\') {
            const int escaped = getc(f);
            c = escaped == 'n' ? '\n' : escaped == 'e' ? '\033' : escaped;
        }
        mase_str_addc(line, (char)c);
    }
    return line->len > 0;
}

static int style_named(const char *name)
{
    for (int i = 0; mase_table_style_names[i]; i++) {
        if (mase_streq(mase_table_style_names[i], name))
            return i;
    }
    fail_msg("unknown style %s", name);
    return -1;
}

struct table_case {
    char style[16], align[MASE_TABLE_MAX_COLUMNS + 1];
    int columns, rows, header, wrap;
};

static void read_table(FILE *f, struct mase_table *t, const struct table_case *tc)
{
    static const char letters[] = "alrc"; /* in the order of enum mase_align */
    struct mase_str line = { 0 };
    const char *headers[MASE_TABLE_MAX_COLUMNS + 1] = { 0 };
    for (int c = 0; c < tc->columns; c++) {
        assert_true(read_line(f, &line));
        headers[c] = mase_arena_strdup(t->arena, mase_str_text(&line));
    }
    *t = mase_table(t->arena, headers);
    t->no_header = !tc->header;
    t->wrap = tc->wrap;
    t->lines = t->coloured = true;
    for (int c = 0; c < tc->columns; c++)
        t->align[c] = (enum mase_align)(strchr(letters, tc->align[c]) - letters);
    for (int r = 0; r < tc->rows; r++) {
        assert_int_equal(mase_table_row(t), r);
        for (int c = 0; c < tc->columns; c++) {
            read_line(f, &line);
            mase_table_set(t, r, c, mase_str_text(&line));
        }
    }
    mase_str_release(&line);
}

static void read_expected(FILE *f, struct mase_str *text)
{
    struct mase_str line = { 0 };
    int lines = 0;
    assert_true(read_line(f, &line));
    assert_int_equal(sscanf(mase_str_text(&line), "expect %d", &lines), 1);
    for (int i = 0; i < lines; i++) {
        read_line(f, &line);
        mase_str_printf(text, "%s%s", i ? "\n" : "", mase_str_text(&line));
    }
    mase_str_release(&line);
}

static void tables_look_like_tabulate(void **state)
{
    (void)state;
    FILE *f = fopen("data/base/tables.txt", "r");
    assert_non_null(f);
    struct table_case tc;
    int cases = 0, wrong = 0;
    while (fscanf(f, "case %15s %d %d %d %d %16s", tc.style, &tc.columns, &tc.rows, &tc.header,
                  &tc.wrap, tc.align) == 6) {
        getc(f); /* its newline; a blank cell may follow */
        struct mase_arena a = { 0 };
        struct mase_table t = {
            .arena = &a,
        };
        struct mase_str expected = { 0 }, got = { 0 };
        read_table(f, &t, &tc);
        read_expected(f, &expected);
        mase_table_render(&t, (enum mase_table_style)style_named(tc.style), &got);
        if (!mase_streq(mase_str_text(&got), mase_str_text(&expected))) {
            fprintf(stderr, "case %d, %s:\n%s\nexpected:\n%s\n", cases, tc.style,
                    mase_str_text(&got), mase_str_text(&expected));
            wrong++;
        }
        cases++;
        mase_str_release(&expected);
        mase_str_release(&got);
        mase_arena_release(&a);
    }
    assert_true(feof(f));
    fclose(f);
    assert_true(cases >= 200);
    assert_int_equal(wrong, 0);
}

static void csv_quotes_where_needed(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str s = { 0 };
    struct mase_table t = mase_table(&a, (const char *const[]){ "", "a,b", "c", NULL });
    t.lines = true;
    mase_table_add(&t, (const char *const[]){ "0", "say \"hi\"", "two\nlines" });
    mase_table_add(&t, (const char *const[]){ "", " kept ", "c\rr" });
    mase_str_add(&s, "before\n");
    mase_table_render(&t, MASE_TABLE_CSV, &s);
    assert_string_equal(s.data, "before\n,\"a,b\",c\n0,\"say \"\"hi\"\"\",\"two\nlines\"\n"
                                ", kept ,c\\rr");
    mase_str_clear(&s);
    t.no_header = true;
    t.rows = 1;
    mase_table_render(&t, MASE_TABLE_CSV, &s);
    assert_string_equal(s.data, "0,\"say \"\"hi\"\"\",\"two\nlines\"");
    mase_str_release(&s);
    mase_arena_release(&a);
}

/* Names of others, in a cell and in a header: escaped, in every look. */
static void cells_cannot_drive_the_terminal(void **state)
{
    (void)state;
    for (int style = 0; mase_table_style_names[style]; style++) {
        struct mase_arena a = { 0 };
        struct mase_str s = { 0 };
        struct mase_table t = mase_table(&a, (const char *const[]){ "k\033[2J", "v", NULL });
        mase_table_add(&t, (const char *const[]){ "x\nINFO     y\r\302\233\342\200\256\377", "1" });
        mase_table_render(&t, (enum mase_table_style)style, &s);
        assert_non_null(strstr(s.data, "k\\x1b[2J"));
        assert_non_null(strstr(s.data, "x\\nINFO     y\\r\\xc2\\x9b\\xe2\\x80\\xae\\xff"));
        mase_str_release(&s);
        mase_arena_release(&a);
    }
}

static void rows_start_empty_and_cells_are_copied(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str s = { 0 };
    struct mase_table t = mase_table(&a, (const char *const[]){ "k", "v", NULL });
    char text[] = "width";
    for (int i = 0; i < 40; i++)
        assert_int_equal(mase_table_row(&t), i);
    mase_table_set(&t, 39, 0, text);
    mase_table_setf(&t, 39, 1, "%d/%s", 8, "4");
    text[0] = '?';
    assert_string_equal(t.cell[39 * 2], "width");
    assert_string_equal(t.cell[39 * 2 + 1], "8/4");
    assert_string_equal(t.cell[0], "");
    mase_str_release(&s);
    mase_arena_release(&a);
}

/* A row of empty cells is still a row, and a table of no columns is no text. */
static void emptiness_is_drawn_as_it_is(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str s = { 0 };
    struct mase_table t = mase_table(&a, (const char *const[]){ "k", "v", NULL });
    t.lines = true;
    mase_table_add(&t, (const char *const[]){ "a\nb", "1" });
    mase_table_row(&t);
    mase_table_render(&t, MASE_TABLE_ORGTBL, &s);
    assert_string_equal(s.data, "| k   |   v |\n|-----+-----|\n| a   |   1 |\n| b   |     |\n"
                                "|     |     |");
    mase_str_clear(&s);
    const struct mase_table none = mase_table(&a, (const char *const[]){ NULL });
    mase_table_render(&none, MASE_TABLE_GRID, &s);
    assert_string_equal(mase_str_text(&s), "");
    mase_str_release(&s);
    mase_arena_release(&a);
}

/* One long cell in a long table: the others are not padded to it. */
static void a_long_cell_sticks_out(void **state)
{
    static const char *const headers[] = { "Name", "Value", NULL };
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str name = { 0 }, out = { 0 };
    struct mase_table t = mase_table(&a, headers);
    mase_str_pad(&name, 'n', 2000);
    for (int i = 0; i < 1000; i++)
        mase_table_add(&t, (const char *[]){ i == 7 ? mase_str_text(&name) : "w", "1" });
    mase_table_render(&t, MASE_TABLE_GRID, &out);
    assert_in_range(out.len, 2000, 100000);
    assert_non_null(strstr(mase_str_text(&out), mase_str_text(&name)));
    mase_str_release(&out);
    t.rows = 100; /* few: they are */
    mase_table_render(&t, MASE_TABLE_GRID, &out);
    assert_in_range(out.len, 2 * 100 * 2000, 500000);
    mase_str_release(&out);
    mase_str_release(&name);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_look_like_tabulate),
        cmocka_unit_test(csv_quotes_where_needed),
        cmocka_unit_test(cells_cannot_drive_the_terminal),
        cmocka_unit_test(rows_start_empty_and_cells_are_copied),
        cmocka_unit_test(emptiness_is_drawn_as_it_is),
        cmocka_unit_test(a_long_cell_sticks_out),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
