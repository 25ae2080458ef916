/*
 * t_plot.c - charts: one to the letter, and what holds for all of them.
 */
#include "run_cases.h"
#include "svg_check.h"

#include <math.h>

#include <mase/plot.h>

#include "base/alloc.h"

#define DATA MASE_SOURCE_DIR "/tests/data/plot/"

static const double epoch[] = { 0, 1, 2, 3, 4 };
static const double loss[] = { 1.61, 0.95, 0.82, 0.80, 0.79 };
static const double val_loss[] = { 1.58, 0.97, NAN, 0.86, 0.85 };

static char *draw(const struct mase_plot *p)
{
    struct mase_str out = { 0 };
    mase_plot_svg(&out, p);
    check_well_formed(out.data);
    return out.data;
}

static const struct mase_plot_series curves[] = {
    { .name = "train", .x = epoch, .y = loss, .n = 5 },
    { .name = "validation <10 %> & more", .x = epoch, .y = val_loss, .n = 5 },
};

static void curves_to_the_letter(void **state)
{
    (void)state;
    char *got = draw(&(struct mase_plot){ .title = "jsc-tiny on \"jsc\"",
                                          .x_label = "epoch",
                                          .y_label = "loss",
                                          .series = curves,
                                          .count = 2 });
    const char *bless = getenv("MASE_BLESS");
    if (bless && bless[0])
        write_text(DATA "curves.svg", got, strlen(got));
    assert_content(DATA "curves.svg", got);
    mase_xfree(got);
}

static void not_a_number_is_a_gap(void **state)
{
    (void)state;
    char *got = draw(&(struct mase_plot){ .series = curves + 1, .count = 1 });
    const char *path = strstr(got, "<path class=\"line");
    const size_t size = strcspn(path, ">");
    char line[256];
    assert_true(size < sizeof(line));
    memcpy(line, path, size);
    line[size] = '\0';
    assert_int_equal(count(line, "M"), 2);
    assert_int_equal(count(line, "L"), 2);
    assert_int_equal(count(got, "<circle"), 4);
    mase_xfree(got);
}

/* The text of every tick must be there, and no other on that axis. */
static void check_ticks(const struct mase_plot *p, const char *const *expected, int n)
{
    char *got = draw(p);
    for (int i = 0; i < n; i++) {
        char text[48];
        snprintf(text, sizeof(text), ">%s</text>", expected[i]);
        if (!strstr(got, text))
            fail_msg("no tick %s in\n%s", expected[i], got);
    }
    assert_int_equal(count(got, "text-anchor=\"middle\""), n);
    mase_xfree(got);
}

static void ticks_are_round(void **state)
{
    (void)state;
    static const double rates[] = { 1e-5, 1e-3, 0.1 }, small[] = { 1, 5, 20 };
    static const double steps[] = { 0, 15625, 31250 }, tiny[] = { -3e-7, 0, 4e-7 };
    static const double ones[] = { 1, 1, 1 }, halves[] = { .5, .5, .5 };
    const struct {
        const double *x;
        bool logarithmic;
        int n;
        const char *text[8];
    } cases[] = {
        { rates, true, 5, { "1e-5", "0.0001", "0.001", "0.01", "0.1" } },
        { small, true, 5, { "1", "2", "5", "10", "20" } },
        { steps, false, 7, { "0", "5000", "10000", "15000", "20000", "25000", "30000" } },
        { tiny, false, 8, { "-3e-7", "-2e-7", "-1e-7", "0", "1e-7", "2e-7", "3e-7", "4e-7" } },
        { epoch, false, 3, { "0", "1", "2" } },
        { ones, false, 1, { "1" } },
        { halves, false, 6, { "0", "0.2", "0.4", "0.6", "0.8", "1" } },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const struct mase_plot_series s = { .name = "s", .x = cases[i].x, .y = loss, .n = 3 };
        check_ticks(&(struct mase_plot){ .series = &s, .count = 1, .log_x = cases[i].logarithmic },
                    cases[i].text, cases[i].n);
    }
}

static void categories_name_the_ticks(void **state)
{
    (void)state;
    static const char *const names[] = { "adam", "sgd", "adamw" };
    const struct mase_plot_series s = { .name = "s", .x = epoch, .y = loss, .n = 3 };
    check_ticks(
        &(struct mase_plot){
            .series = &s, .count = 1, .categories = names, .category_count = 3, .log_x = true },
        names, 3);
}

static void points_have_marks_and_no_line(void **state)
{
    (void)state;
    double x[100], y[100];
    for (int i = 0; i < 100; i++)
        x[i] = i * 37 % 100, y[i] = i;
    const struct mase_plot_series s = { .name = "s", .x = x, .y = y, .n = 100, .points = true };
    char *got = draw(&(struct mase_plot){ .series = &s, .count = 1 });
    assert_int_equal(count(got, "<circle"), 100);
    assert_int_equal(count(got, "<path class=\"line"), 0);
    mase_xfree(got);
}

static void lines_across_axes_have_gaps_where_points_do(void **state)
{
    (void)state;
    static const char *const names[] = { "NA", "<8>" };
    const struct mase_plot_dimension axes[] = {
        { .name = "a/width" },
        { .name = "kind", .categories = names, .category_count = 2 },
        { .name = "<rate>", .logarithmic = true },
    };
    const double value[] = { 2, 0, 1e-3, 4, 1, 0.1, 8, NAN, 1, 4, 1, 0 };
    const unsigned char shade[] = { 0, 3, 9, 5 };
    struct mase_str out = { 0 };
    mase_plot_parallel(&out, &(struct mase_plot_parallel){ .title = "<trials>",
                                                           .dimension = axes,
                                                           .dimensions = 3,
                                                           .value = value,
                                                           .points = 4,
                                                           .shade = shade });
    check_well_formed(out.data);
    assert_int_equal(count(out.data, "class=\"line s"), 4);
    assert_int_equal(count(out.data, "class=\"line s9\""), 1);
    assert_int_equal(count(out.data, "class=\"frame\""), 3);
    assert_non_null(strstr(out.data, ">width</text>"));
    const char *third = strstr(out.data, "line s9"), *fourth = strstr(out.data, "line s5");
    assert_int_equal(strcspn(third, "L") < strcspn(third, ">"),
                     false); /* two ends without a line */
    assert_true(strcspn(fourth, "L") < strcspn(fourth, ">"));
    mase_str_release(&out);
    mase_plot_parallel(&out, &(struct mase_plot_parallel){ .dimensions = 0 });
    check_well_formed(out.data);
    mase_str_release(&out);
}

static void names_are_not_joined_by_lines(void **state)
{
    (void)state;
    static const char *const names[] = { "adam", "sgd", "adamw" };
    static const double level[] = { 1, 1, 1 };
    const struct mase_plot_series series[] = {
        { .name = "s", .x = epoch, .y = loss, .n = 3 },
        { .name = "level", .x = epoch, .y = level, .n = 3, .dashed = true },
    };
    struct mase_str out = { 0 };
    mase_plot_svg(&out, &(struct mase_plot){ .series = series,
                                             .count = 2,
                                             .categories = names,
                                             .category_count = 3,
                                             .embedded = true });
    assert_null(strstr(out.data, "class=\"line c0\""));
    assert_non_null(strstr(out.data, "<circle class=\"m0\""));
    assert_non_null(strstr(out.data, "class=\"line c1\" stroke-dasharray"));
    mase_str_release(&out);
}

static void long_labels_are_set_closer(void **state)
{
    (void)state;
    const struct mase_plot_series s = { .name = "s", .x = epoch, .y = loss, .n = 3 };
    struct mase_str out = { 0 };
    mase_plot_svg(&out, &(struct mase_plot){ .series = &s,
                                             .count = 1,
                                             .y_label = "a label of more letters than there is "
                                                        "room for beside the axis",
                                             .embedded = true });
    assert_non_null(strstr(out.data, "textLength=\"256\">a label"));
    mase_str_release(&out);
}

static void odd_charts_are_well_formed(void **state)
{
    (void)state;
    static const double odd[] = { -INFINITY, 0, 1e308, NAN, -1e308 };
    const struct mase_plot_series series[] = {
        { .name = "odd", .x = odd, .y = odd, .n = 5 },
        { .name = "\x01\xff\xc3 control", .x = epoch, .y = odd, .n = 5 },
        { .name = "empty" },
        { .name = "flat", .x = epoch, .y = epoch, .n = 1 },
    };
    for (int first = 0; first < COUNT(series); first++) {
        for (int n = 0; n <= COUNT(series) - first; n++) {
            for (int logs = 0; logs < 4; logs++) {
                mase_xfree(draw(&(struct mase_plot){
                    .series = series + first, .count = n, .log_x = logs & 1, .log_y = logs & 2 }));
            }
        }
    }
}

/* A spike of one point in a hundred thousand must survive, in a file of reasonable size. */
static void many_points_keep_their_extremes(void **state)
{
    (void)state;
    enum { N = 100000 };
    double *x = calloc(N, sizeof(*x)), *y = calloc(N, sizeof(*y));
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = sin(i * 0.37);
    y[54321] = 50;
    const struct mase_plot_series s = { .name = "s", .x = x, .y = y, .n = N };
    char *got = draw(&(struct mase_plot){ .series = &s, .count = 1 });
    assert_true(strlen(got) < 60000);
    y[54321] = 0;
    char *without = draw(&(struct mase_plot){ .series = &s, .count = 1 });
    assert_non_null(strstr(got, ">50</text>"));
    assert_null(strstr(without, ">50</text>"));
    const char *line = strstr(got, "class=\"line");
    assert_non_null(strstr(line, " 35.7L")); /* 368 px high, 6 % above the 50 */
    mase_xfree(got);
    mase_xfree(without);
    free(x);
    free(y);
}

static void many_series_differ(void **state)
{
    (void)state;
    struct mase_plot_series s[28];
    char names[28][16];
    for (int i = 0; i < 28; i++) {
        snprintf(names[i], sizeof(names[i]), "run %d", i);
        s[i] = (struct mase_plot_series){ .name = names[i], .x = epoch, .y = loss, .n = 5 };
    }
    char *got = draw(&(struct mase_plot){ .series = s, .count = 28 });
    assert_int_equal(count(got, "height=\"632\""), 1); /* room for the legend */
    for (int i = 0; i < 7; i++) {
        char class[32];
        snprintf(class, sizeof(class), "\"line c%d\"", i);
        assert_int_equal(count(got, class), 2 * 4);
    }
    assert_int_equal(count(got, "stroke-dasharray=\"2 3\""), 2 * 7);
    mase_xfree(got);
}

/* ---- in a page ---- */

static void a_page_brings_style_and_legend(void **state)
{
    (void)state;
    char *got = draw(
        &(struct mase_plot){ .title = "loss", .series = curves, .count = 2, .embedded = true });
    assert_null(strstr(got, "<style"));
    assert_null(strstr(got, "style="));
    assert_null(strstr(got, "paper"));
    assert_int_equal(count(got, "validation"), 1); /* in the data, and in no legend */
    assert_non_null(strstr(got, "data-plot=\"{&#34;x&#34;:[60,396,-0.08,4.08,0],"));
    assert_non_null(strstr(got, "&#34;y&#34;:[1.58,0.97,null,0.86,0.85]"));
    mase_xfree(got);
}

static void one_sheet_styles_every_chart(void **state)
{
    (void)state;
    struct mase_str css = { 0 };
    mase_plot_css(&css, ".plot ");
    assert_int_equal(count(css.data, ".plot .c6 {"), 2); /* light and dark */
    assert_int_equal(count(css.data, "\n.c"), 0);
    mase_str_release(&css);
}

static char *draw_histogram(const struct mase_plot_histogram *h)
{
    struct mase_str out = { 0 };
    mase_plot_histogram(&out, h);
    check_well_formed(out.data);
    return out.data;
}

static void a_histogram_has_bars_codes_and_limits(void **state)
{
    (void)state;
    static const int64_t bars[] = { 4, 0, 16, 1 };
    static const double code[] = { -0.5, 0, 0.5 }, limit[] = { -8, 0.5 };
    char *got = draw_histogram(&(struct mase_plot_histogram){ .title = "w < 1",
                                                              .min = -1,
                                                              .max = 1,
                                                              .count = bars,
                                                              .bins = 4,
                                                              .code = code,
                                                              .codes = 3,
                                                              .limit = limit });
    /* -1 and 1 lie 3 % of their distance from the sides: at 20.4 and 299.6 of 12..308 */
    assert_non_null(strstr(got, "d=\"M20.4 96V51H90.2V96H160V6H229.8V73.5H299.6V96Z\""));
    assert_non_null(strstr(got, "class=\"code\" d=\"M90.2 98V106M160 98V106M229.8 98V106\""));
    assert_int_equal(count(got, "class=\"limit\""), 1); /* -8 is out of sight */
    assert_non_null(strstr(got, "class=\"beyond\" d=\"M229.8 6H308V96H229.8Z\""));
    mase_xfree(got);
}

static void close_codes_are_a_band(void **state)
{
    (void)state;
    double code[200];
    for (int i = 0; i < COUNT(code); i++)
        code[i] = (i - 100) / 100.0;
    const int64_t bars[] = { 1, 2 };
    struct mase_plot_histogram h = {
        .min = -1, .max = 1, .count = bars, .bins = 2, .code = code, .codes = COUNT(code)
    };
    char *got = draw_histogram(&h);
    assert_int_equal(count(got, "class=\"codes\""), 1);
    assert_int_equal(count(got, "class=\"code\""), 0);
    mase_xfree(got);
}

static void odd_histograms_are_well_formed(void **state)
{
    (void)state;
    static const int64_t none[] = { 0, 0 };
    static const double far[] = { -INFINITY, INFINITY };
    mase_xfree(draw_histogram(&(struct mase_plot_histogram){ .count = none, .bins = 2 }));
    mase_xfree(draw_histogram(&(struct mase_plot_histogram){
        .min = 3, .max = 3, .count = none, .bins = 1, .limit = far }));
    mase_xfree(draw_histogram(&(struct mase_plot_histogram){
        .min = -1e-30, .max = 1e30, .count = none, .bins = 2, .limit = far }));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_to_the_letter),
        cmocka_unit_test(not_a_number_is_a_gap),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(categories_name_the_ticks),
        cmocka_unit_test(points_have_marks_and_no_line),
        cmocka_unit_test(lines_across_axes_have_gaps_where_points_do),
        cmocka_unit_test(names_are_not_joined_by_lines),
        cmocka_unit_test(long_labels_are_set_closer),
        cmocka_unit_test(odd_charts_are_well_formed),
        cmocka_unit_test(many_points_keep_their_extremes),
        cmocka_unit_test(many_series_differ),
        cmocka_unit_test(a_page_brings_style_and_legend),
        cmocka_unit_test(one_sheet_styles_every_chart),
        cmocka_unit_test(a_histogram_has_bars_codes_and_limits),
        cmocka_unit_test(close_codes_are_a_band),
        cmocka_unit_test(odd_histograms_are_well_formed),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
