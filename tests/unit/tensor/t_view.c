/*
 * t_view.c - views of a dense tensor: where each element lies, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <mase/tensor.h>

#include "run_cases.h"

static const struct mase_shape cube = { 3, { 2, 3, 4 } };

static int64_t at(const struct mase_view *v, int64_t i, int64_t j, int64_t k)
{
    return v->offset + i * v->stride[0] + j * v->stride[1] + k * v->stride[2];
}

static void a_dense_view_counts_the_last_dimension_first(void **state)
{
    (void)state;
    struct mase_view v = mase_view_of(&cube);
    int64_t n = 0;
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 0; k < 4; k++)
                assert_int_equal(at(&v, i, j, k), n++);
}

static void a_permuted_view_swaps_lengths_and_strides(void **state)
{
    (void)state;
    struct mase_view v = mase_view_permuted(&cube, (int[]){ 2, 0, 1 });
    assert_true(mase_shape_equal(&v.shape, &(struct mase_shape){ 3, { 4, 2, 3 } }));
    assert_int_equal(at(&v, 3, 1, 2), 1 * 12 + 2 * 4 + 3);
}

static void a_broadcast_view_repeats_lengths_of_one(void **state)
{
    (void)state;
    struct mase_view v = mase_view_broadcast(&(struct mase_shape){ 2, { 3, 1 } }, &cube);
    assert_int_equal(at(&v, 0, 2, 0), 2);
    assert_int_equal(at(&v, 1, 2, 3), 2);
}

static void an_axis_divides_a_shape_in_three(void **state)
{
    (void)state;
    struct mase_axis a = mase_axis_of(&cube, 1);
    assert_int_equal(a.outer, 2);
    assert_int_equal(a.len, 3);
    assert_int_equal(a.inner, 4);
    a = mase_axis_of(&(struct mase_shape){ 0 }, 0);
    assert_int_equal(a.outer * a.len * a.inner, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_view_counts_the_last_dimension_first),
        cmocka_unit_test(a_permuted_view_swaps_lengths_and_strides),
        cmocka_unit_test(a_broadcast_view_repeats_lengths_of_one),
        cmocka_unit_test(an_axis_divides_a_shape_in_three),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
