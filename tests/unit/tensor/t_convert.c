/*
 * t_convert.c - elements of one type as another: what PyTorch 1.13 and 2.15, and ONNX Runtime 1.31,
 * give on x86, for numbers that the type does not hold as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include <mase/tensor.h>

#include "run_cases.h"

static const struct {
    double from;
    int64_t u8, i32, i64;
} floats[] = {
    { -1.0, 255, -1, -1 },
    { -1.5, 255, -1, -1 },
    { -0.5, 0, 0, 0 },
    { 255.5, 255, 255, 255 },
    { 256.0, 0, 256, 256 },
    { 300.0, 44, 300, 300 },
    { -129.0, 127, -129, -129 },
    { -300.75, 212, -300, -300 },
    { 65536.0, 0, 65536, 65536 },
    { 2147483648.0, 0, INT32_MIN, 2147483648 },
    { -2147483904.0, 0, INT32_MIN, -2147483904 },
    { 10000000000.0, 0, INT32_MIN, 10000000000 },
    { 0x1p63, 0, INT32_MIN, INT64_MIN },
    { -0x1p63, 0, INT32_MIN, INT64_MIN },
    { 0x1p100, 0, INT32_MIN, INT64_MIN },
    { INFINITY, 0, INT32_MIN, INT64_MIN },
    { -INFINITY, 0, INT32_MIN, INT64_MIN },
    { NAN, 0, INT32_MIN, INT64_MIN },
};

static const struct mase_shape one = { 0 };

static int64_t converted(struct mase_arena *a, const struct mase_tensor *from, enum mase_dtype to)
{
    struct mase_tensor t = mase_tensor(a, to, &one, true);
    mase_tensor_convert(&t, 0, from, 0);
    return to == MASE_I64 ? *(int64_t *)t.data : (int64_t)mase_tensor_get(&t, 0);
}

static void floats_become_the_integers_of_pytorch(void **state)
{
    static const enum mase_dtype types[] = { MASE_F32, MASE_F64 };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
        for (int f = 0; f < 2; f++) {
            struct mase_tensor x = mase_tensor(&a, types[f], &one, true);
            mase_tensor_set(&x, 0, floats[k].from);
            const int64_t u8 = converted(&a, &x, MASE_U8), i32 = converted(&a, &x, MASE_I32),
                          i64 = converted(&a, &x, MASE_I64);
            if (u8 != floats[k].u8 || i32 != floats[k].i32 || i64 != floats[k].i64)
                fail_msg("%g: %lld %lld %lld", floats[k].from, (long long)u8, (long long)i32,
                         (long long)i64);
        }
    mase_arena_release(&a);
}

static void bytes_of_doubles_beyond_32_bits_are_those_of_64(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_tensor x = mase_tensor(&a, MASE_F64, &one, true);
    (void)state;
    mase_tensor_set(&x, 0, 4294967301.0);
    assert_int_equal(converted(&a, &x, MASE_U8), 5);
    mase_arena_release(&a);
}

static void integers_keep_their_lowest_bits(void **state)
{
    static const struct {
        int64_t from, u8, i32;
    } rows[] = {
        { 300, 44, 300 },
        { -1, 255, -1 },
        { 2147483653, 5, -2147483643 },
        { 1099511627783, 7, 7 },
    };
    struct mase_arena a = { 0 };
    struct mase_tensor x = mase_tensor(&a, MASE_I64, &one, true);
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        *(int64_t *)x.data = rows[k].from;
        assert_int_equal(converted(&a, &x, MASE_U8), rows[k].u8);
        assert_int_equal(converted(&a, &x, MASE_I32), rows[k].i32);
    }
    mase_arena_release(&a);
}

static void large_integers_are_rounded_once(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_tensor x = mase_tensor(&a, MASE_I64, &one, true),
                       y = mase_tensor(&a, MASE_F32, &one, true);
    (void)state;
    *(int64_t *)x.data = (INT64_C(1) << 61) + (INT64_C(1) << 37) + 1; /* above half a step */
    mase_tensor_convert(&y, 0, &x, 0);
    assert_true(mase_f32(&y)[0] == 0x1p61f + 0x1p38f);
    mase_arena_release(&a);
}

static void what_integers_compute_wraps(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_tensor b = mase_tensor(&a, MASE_U8, &one, true),
                       w = mase_tensor(&a, MASE_I32, &one, true);
    (void)state;
    mase_tensor_set(&b, 0, 3 - 5);
    assert_int_equal((int)mase_tensor_get(&b, 0), 254);
    mase_tensor_set(&w, 0, 2147483647.0 + 1);
    assert_true(mase_tensor_get(&w, 0) == -2147483648.0);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_become_the_integers_of_pytorch),
        cmocka_unit_test(bytes_of_doubles_beyond_32_bits_are_those_of_64),
        cmocka_unit_test(integers_keep_their_lowest_bits),
        cmocka_unit_test(large_integers_are_rounded_once),
        cmocka_unit_test(what_integers_compute_wraps),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
