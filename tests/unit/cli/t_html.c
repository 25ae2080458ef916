/*
 * t_html.c - pieces of HTML: numbers as people read them, cells that sort, text that stays text.
 */
#include "../base/check.h"
#include "run_cases.h"

#include <math.h>

#include "cli/report/html.h"

static void counts_have_commas(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { 999, "999" },
        { 1000, "1,000" },
        { -1000, "-1,000" },
        { -999, "-999" },
        { 123456789, "123,456,789" },
        { INT64_MIN, "-9,223,372,036,854,775,808" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct mase_str out = { 0 };
        mase_html_count(&out, cases[i].n);
        assert_string_equal(mase_str_text(&out), cases[i].text);
        mase_str_release(&out);
    }
}

static void large_numbers_are_short(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } cases[] = {
        { 0, "0" },           { 9999, "9999" },     { 9999.6, "10 k" },  { 43880, "43.88 k" },
        { 1.25e7, "12.5 M" }, { -5.6e10, "-56 G" }, { 1e21, "1e+06 P" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct mase_str out = { 0 };
        mase_html_short(&out, cases[i].x);
        assert_string_equal(mase_str_text(&out), cases[i].text);
        mase_str_release(&out);
    }
}

static void shares_tell_none_from_few(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *text;
    } cases[] = {
        { 0, "0.00 %" }, { 1e-6, "&lt; 0.01 %" }, { 0.12345, "12.35 %" }, { 1, "100.00 %" },
        { NAN, "–" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct mase_str out = { 0 };
        mase_html_percent(&out, cases[i].share);
        assert_string_equal(mase_str_text(&out), cases[i].text);
        mase_str_release(&out);
    }
}

static void cells_keep_all_digits_for_sorting(void **state)
{
    (void)state;
    struct mase_str out = { 0 };
    mase_html_cell_count(&out, 12345);
    mase_html_cell_whole(&out, 1000);
    mase_html_cell_whole(&out, NAN);
    mase_html_cell_real(&out, 0.125, 1);
    mase_html_cell_real(&out, NAN, 1);
    mase_html_cell_real(&out, INFINITY, 1);
    mase_html_cell_percent(&out, 0.5);
    assert_string_equal(mase_str_text(&out), "<td class=\"n\" data-v=\"12345\">12,345</td>"
                                             "<td class=\"n\" data-v=\"1000\">1,000</td>"
                                             "<td class=\"n\">–</td>"
                                             "<td class=\"n\" data-v=\"0.125\">0.1</td>"
                                             "<td class=\"n\">–</td>"
                                             "<td class=\"n\" data-v=\"Infinity\">∞</td>"
                                             "<td class=\"n\" data-v=\"0.5\">50.00 %</td>");
    mase_str_release(&out);
}

static void text_of_others_is_text(void **state)
{
    (void)state;
    static const char evil[] = "\"><script>x</script>&";
    static const struct mase_html_column columns[] = { { evil, evil, true } };
    static const char *const headers[] = { evil, evil, NULL };
    struct mase_arena a = { 0 };
    struct mase_str out = { 0 };
    struct mase_table t = mase_table(&a, headers);
    mase_table_add(&t, (const char *const[]){ evil, "1e3" });
    mase_html_element(&out, "p", NULL, evil);
    mase_html_table(&out, evil, columns, 1);
    mase_html_row(&out, evil, evil, evil);
    mase_html_cell(&out, evil);
    mase_html_row_end(&out);
    mase_html_table_end(&out, false);
    mase_html_table_of(&out, evil, &t);
    mase_html_details(&out, evil, evil, true);
    assert_null(strstr(mase_str_text(&out), "<script"));
    assert_null(strstr(mase_str_text(&out), "\">\""));
    assert_non_null(strstr(mase_str_text(&out), "<td class=\"n\" data-v=\"1e3\">1e3</td>"));
    mase_str_release(&out);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(large_numbers_are_short),
        cmocka_unit_test(shares_tell_none_from_few),
        cmocka_unit_test(cells_keep_all_digits_for_sorting),
        cmocka_unit_test(text_of_others_is_text),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
