/*
 * t_space.c - dimensions: how many numbers they have, which is nearest, and how they are drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "run_cases.h"
#include "study/sampler.h"

static const struct mase_dimension widths = { "w", MASE_DIMENSION_INT, .low = 2, .high = 8,
                                              .step = 1 },
                                   rate = { "lr", MASE_DIMENSION_FLOAT, .low = 1e-4, .high = 1,
                                            .log = true },
                                   halves = { "h", MASE_DIMENSION_FLOAT, .low = 0, .high = 1.2,
                                              .step = 0.5 },
                                   sizes = { "s",          MASE_DIMENSION_INT, .low = 1,
                                             .high = 1024, .step = 1,          .log = true },
                                   names = { "n", MASE_DIMENSION_CHOICE, .low = 0, .high = 3 },
                                   one = { "o", MASE_DIMENSION_FLOAT, .low = 3, .high = 3 };

static void sizes_count_the_numbers(void **state)
{
    (void)state;
    struct mase_dimension all[] = { widths, halves, names, one };
    const struct mase_space space = { 4, all };
    assert_true(mase_dimension_size(&widths) == 7);
    assert_true(mase_dimension_size(&halves) == 3); /* 0, 0.5, 1 */
    assert_true(mase_dimension_size(&names) == 4);
    assert_true(mase_dimension_size(&one) == 1);
    assert_true(isinf(mase_dimension_size(&rate)));
    assert_true(mase_space_size(&space) == 84);
}

static void the_nearest_number_is_possible(void **state)
{
    (void)state;
    assert_true(mase_dimension_nearest(&widths, 4.4) == 4);
    assert_true(mase_dimension_nearest(&widths, -1) == 2);
    assert_true(mase_dimension_nearest(&widths, 99) == 8);
    assert_true(mase_dimension_nearest(&halves, 1.2) == 1);
    assert_true(mase_dimension_nearest(&rate, 0.3) == 0.3);
    assert_true(mase_dimension_nearest(&rate, 0) == 1e-4);
}

/* Every number as often as the others: of 7 000 draws each of seven 1 000 times, give or take 5
 * standard deviations. */
static void draws_are_even(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(7, MASE_STREAM_SAMPLE, 0);
    int count[9] = { 0 };
    for (int i = 0; i < 7000; i++)
        count[(int)mase_dimension_draw(&widths, &r)]++;
    for (int w = 2; w <= 8; w++)
        assert_in_range(count[w], 1000 - 150, 1000 + 150);
}

/* Of a logarithmic dimension, each factor of ten (two) has its share. */
static void logarithms_are_drawn_evenly(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(7, MASE_STREAM_SAMPLE, 1);
    int decade[4] = { 0 }, small = 0;
    for (int i = 0; i < 4000; i++) {
        const double x = mase_dimension_draw(&rate, &r), s = mase_dimension_draw(&sizes, &r);
        assert_true(x >= 1e-4 && x <= 1);
        assert_true(s >= 1 && s <= 1024 && s == rint(s));
        decade[(int)fmin(-log10(x), 3)]++;
        small += s <= 22; /* 0.5 .. 22.5 of 0.5 .. 1024.5, by the logarithm: 0.499 */
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(decade[i], 1000 - 150, 1000 + 150);
    assert_in_range(small, 2000 - 160, 2000 + 160);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_count_the_numbers),
        cmocka_unit_test(the_nearest_number_is_possible),
        cmocka_unit_test(draws_are_even),
        cmocka_unit_test(logarithms_are_drawn_evenly),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
