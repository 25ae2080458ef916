/*
 * t_plot_text.c - charts of characters: one to the letter, and what holds at any size.
 */
#include "run_cases.h"
#include "svg_check.h"

#include <math.h>

#include <mase/plot.h>

#include "base/alloc.h"

static const double bits[] = { 8, 2, 4, 6, 7, NAN, 3 }, score[] = { .70, .5, .6, .72, .65, .9, .2 };
static const double front_bits[] = { 2, 4, 6 }, front_score[] = { .5, .6, .72 };
static const struct mase_plot_series series[] = {
    { .name = "trial", .x = bits, .y = score, .n = 7, .points = true },
    { .name = "front", .x = front_bits, .y = front_score, .n = 3, .points = true },
};
static const struct mase_plot scatter = {
    .title = "accuracy against bits", .x_label = "bits", .series = series, .count = 2
};

static char *draw(const struct mase_plot *p, int columns, int rows)
{
    struct mase_str out = { 0 };
    mase_plot_text(&out, p, columns, rows);
    return out.data;
}

static void points_to_the_letter(void **state)
{
    (void)state;
    char *got = draw(&scatter, 44, 8);
    static const char wanted[] = "accuracy against bits\n"
                                 "    │                         ●            ·\n"
                                 "    │                                ·\n"
                                 "0.6 ┤             ●\n"
                                 "    │●\n"
                                 "0.4 ┤\n"
                                 "    │\n"
                                 "    │\n"
                                 "0.2 ┤       ·\n"
                                 "    └┬──────┬─────┬─────┬─────┬──────┬─────┬\n"
                                 "     2      3     4     5     6      7     8\n"
                                 "                                        bits\n"
                                 "     · trial   ● front\n";
    assert_string_equal(got, wanted);
    mase_xfree(got);
}

static void lines_have_a_mark_in_each_column(void **state)
{
    (void)state;
    const struct mase_plot_series line = {
        .name = "front", .x = front_bits, .y = front_score, .n = 3
    };
    char *got = draw(&(struct mase_plot){ .series = &line, .count = 1 }, 60, 8);
    int marks = 0;
    for (const char *at = got; (at = strstr(at, "·")); at++)
        marks++;
    assert_in_range(marks, 50,
                    56); /* the axis takes the rest, and 2 % of it are free at the ends */
    mase_xfree(got);
}

static void no_line_is_wider_than_asked(void **state)
{
    (void)state;
    for (int columns = 40; columns < 130; columns += 7) {
        char *got = draw(&scatter, columns, 12);
        for (const char *at = got; *at; at += strcspn(at, "\n") + 1)
            assert_true(mase_str_columns(at, strcspn(at, "\n")) <= columns);
        mase_xfree(got);
    }
}

static void nothing_to_show_is_an_empty_frame(void **state)
{
    (void)state;
    char *got = draw(&(struct mase_plot){ .title = "empty" }, 1, 1);
    assert_null(strstr(got, "·"));
    assert_non_null(strstr(got, "└"));
    mase_xfree(got);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_to_the_letter),
        cmocka_unit_test(lines_have_a_mark_in_each_column),
        cmocka_unit_test(no_line_is_wider_than_asked),
        cmocka_unit_test(nothing_to_show_is_an_empty_frame),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
