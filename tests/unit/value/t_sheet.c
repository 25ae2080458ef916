/*
 * t_sheet.c - the same table and sentences in every format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase/sheet.h>

#include "run_cases.h"

/* What a printer of this format says of two tables and two sentences. */
static void assert_printed(enum mase_sheet_format format, const char *expected)
{
    static const char *const headers[] = { "Name", "Max error", NULL };
    struct mase_arena a = { 0 };
    char *text = NULL;
    size_t size;
    struct mase_sheets s = { .arena = &a, .out = open_memstream(&text, &size), .format = format };
    struct mase_sheet first = { "first", NULL, mase_table(&a, headers), MASE_TABLE_SIMPLE };
    struct mase_sheet next = { "next", "the next", mase_table(&a, headers), MASE_TABLE_ORGTBL };
    struct mase_sheet none = { "none", "nothing", mase_table(&a, headers), MASE_TABLE_SIMPLE };
    first.table.lines = true;
    mase_table_add(&first.table, (const char *const[]){ "a|b", "0.5" });
    mase_table_add(&first.table, (const char *const[]){ "two\nlines", "" });
    mase_table_add(&next.table, (const char *const[]){ "True", "-3" });

    mase_sheets_say(&s, "%d tables\n\n", 2);
    mase_sheets_add(&s, &first);
    mase_sheets_say(&s, "and\n");
    mase_sheets_add(&s, &next);
    mase_sheets_add(&s, &none);
    mase_sheets_set(&s, "own", mase_value_int(&a, 7));
    mase_sheets_end(&s);
    fclose(s.out);
    assert_string_equal(text, expected);
    free(text);
    mase_arena_release(&a);
}

static void text(void **state)
{
    (void)state;
    assert_printed(MASE_SHEET_TEXT, "2 tables\n"
                                    "\n"
                                    "Name      Max error\n"
                                    "------  -----------\n"
                                    "a|b             0.5\n"
                                    "two\n"
                                    "lines\n"
                                    "and\n"
                                    "\n"
                                    "the next\n"
                                    "\n"
                                    "| Name   |   Max error |\n"
                                    "|--------+-------------|\n"
                                    "| True   |          -3 |\n"
                                    "\n"
                                    "nothing\n");
}

static void grid(void **state)
{
    (void)state;
    assert_printed(MASE_SHEET_GRID, "2 tables\n"
                                    "\n"
                                    "+--------+-------------+\n"
                                    "| Name   |   Max error |\n"
                                    "+========+=============+\n"
                                    "| a|b    |         0.5 |\n"
                                    "+--------+-------------+\n"
                                    "| two    |             |\n"
                                    "| lines  |             |\n"
                                    "+--------+-------------+\n"
                                    "and\n"
                                    "\n"
                                    "the next\n"
                                    "\n"
                                    "+--------+-------------+\n"
                                    "| Name   |   Max error |\n"
                                    "+========+=============+\n"
                                    "| True   |          -3 |\n"
                                    "+--------+-------------+\n"
                                    "\n"
                                    "nothing\n");
}

static void github(void **state)
{
    (void)state;
    assert_printed(MASE_SHEET_GITHUB, "2 tables\n"
                                      "\n"
                                      "|    | Name         |   Max error |\n"
                                      "|---:|:-------------|------------:|\n"
                                      "|  0 | a\\|b         |         0.5 |\n"
                                      "|  1 | two<br>lines |             |\n"
                                      "\n"
                                      "and\n"
                                      "\n"
                                      "the next\n"
                                      "\n"
                                      "|    | Name   |   Max error |\n"
                                      "|---:|:-------|------------:|\n"
                                      "|  0 | True   |          -3 |\n"
                                      "\n"
                                      "nothing\n");
}

static void csv(void **state)
{
    (void)state;
    assert_printed(MASE_SHEET_CSV, "Name,Max error\n"
                                   "a|b,0.5\n"
                                   "\"two\nlines\",\n"
                                   "\n"
                                   "Name,Max error\n"
                                   "True,-3\n"
                                   "\n"
                                   "Name,Max error\n");
}

static void json(void **state)
{
    (void)state;
    assert_printed(MASE_SHEET_JSON, "{\n"
                                    "  \"first\": [\n"
                                    "    {\n"
                                    "      \"name\": \"a|b\",\n"
                                    "      \"max_error\": 0.5\n"
                                    "    },\n"
                                    "    {\n"
                                    "      \"name\": \"two\\nlines\",\n"
                                    "      \"max_error\": null\n"
                                    "    }\n"
                                    "  ],\n"
                                    "  \"next\": [\n"
                                    "    {\n"
                                    "      \"name\": true,\n"
                                    "      \"max_error\": -3\n"
                                    "    }\n"
                                    "  ],\n"
                                    "  \"none\": [],\n"
                                    "  \"own\": 7\n"
                                    "}\n");
}

static void cells_become_values(void **state)
{
    (void)state;
    static const struct {
        const char *cell, *json;
    } cases[] = {
        { "[8, 16]", "[8, 16]" }, /* a shape */
        { "[]", "[]" },           { "[8, 16", "\"[8, 16\"" }, { "[8, [1]]", "\"[8, [1]]\"" },
        { "[a]", "\"[a]\"" },     { "[1.5]", "\"[1.5]\"" },   { "12", "12" },
        { "1e-3", "0.001" },      { "True", "true" },         { "", "null" },
        { "nan", "\"nan\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_str out = { 0 };
        struct mase_table t = mase_table(&a, (const char *const[]){ "Shape", NULL });
        mase_table_add(&t, (const char *const[]){ cases[i].cell });
        mase_json_print(&out, mase_sheet_rows(&a, &t), 0);
        assert_string_equal(mase_str_text(&out),
                            mase_arena_printf(&a, "[{\"shape\": %s}]", cases[i].json));
        mase_str_release(&out);
        mase_arena_release(&a);
    }
}

static void names(void **state)
{
    (void)state;
    for (int i = 0; mase_sheet_formats[i]; i++)
        assert_int_equal(mase_sheet_format(mase_sheet_formats[i]), i);
    assert_int_equal(mase_sheet_format("html"), MASE_SHEET_TEXT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(grid),
        cmocka_unit_test(github),
        cmocka_unit_test(csv),
        cmocka_unit_test(json),
        cmocka_unit_test(names),
        cmocka_unit_test(cells_become_values),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
