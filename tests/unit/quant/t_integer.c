/*
 * t_integer.c - the fixed-point format: the original's results to the bit, the edge values, and the
 * properties of a quantiser on every code of every width up to 16.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "run_cases.h"
#include "unit/quant/vectors.h"

static float quantize(const struct mase_format *f, float x, enum mase_sign sign)
{
    float q;
    mase_quantize_values(f, &q, &x, 1, sign);
    return q;
}

static bool code_of(int64_t *code, float q, const struct mase_format *f, enum mase_sign sign)
{
    return mase_format_codes(code, f, &q, &(struct mase_shape){ 0 }, MASE_ROLE_DATA, sign) == 0;
}

/* ---- the original's results ---- */

static void check_case(const char *line, const float *xs, const float *ys, int64_t nx, int64_t ny)
{
    const struct mase_format *f = integer_format(number(line, "width"), number(line, "frac_width"));
    const enum mase_sign sign =
        mase_starts_with(field(line, "is_signed"), "True") ? MASE_SIGNED : MASE_UNSIGNED;
    const int64_t at = number(line, "x_offset"), n = number(line, "x_count");
    assert_int_equal(at, number(line, "y_offset"));
    assert_true(at + n <= nx && at + n <= ny);
    for (int64_t i = at; i < at + n; i++) {
        const float q = quantize(f, xs[i], sign);
        if (!same_result(q, ys[i]))
            fail_msg("%.9g -> %.9g, expected %.9g: %s", xs[i], q, ys[i], line);
    }
}

static void original_results(void **state)
{
    (void)state;
    assert_int_equal(each_vector("integer", check_case), 118);
}

/* ---- edge values ---- */

static void edges(void **state)
{
    (void)state;
    static const struct {
        float x, with_sign, without;
    } rows[] = {
        { 0.0f, 0.0f, 0.0f },           { -0.0f, -0.0f, 0.0f },
        { 0.03125f, 0.0f, 0.0f }, /* ties */
        { 0.09375f, 0.125f, 0.125f },   { -0.03125f, -0.0f, 0.0f },
        { -0.09375f, -0.125f, 0.0f },   { 0.03126f, 0.0625f, 0.0625f },
        { -1.0f, -1.0f, 0.0f },         { 7.97f, 7.9375f, 8.0f },
        { 100.0f, 7.9375f, 15.9375f },  { -100.0f, -8.0f, 0.0f },
        { 3.4e38f, 7.9375f, 15.9375f }, /* the scaled value overflows */
        { 1e-45f, 0.0f, 0.0f },         { INFINITY, 7.9375f, 15.9375f },
        { -INFINITY, -8.0f, 0.0f },     { NAN, NAN, NAN },
    };
    const struct mase_format *f = integer_format(8, 4);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const float s = quantize(f, rows[i].x, MASE_SIGNED);
        const float u = quantize(f, rows[i].x, MASE_UNSIGNED);
        if (!same_bits(s, rows[i].with_sign) || !same_bits(u, rows[i].without))
            fail_msg("%g -> %g and %g", rows[i].x, s, u);
    }
}

static void no_fraction_means_half(void **state)
{
    (void)state;
    for (int width = 1; width <= 32; width++) {
        const struct mase_format *none = integer_format(width, MASE_NA),
                                 *half = integer_format(width, width / 2);
        for (float x = -3.0f; x < 3.0f; x += 0.0371f)
            assert_true(same_bits(quantize(none, x, MASE_SIGNED), quantize(half, x, MASE_SIGNED)));
    }
}

static void in_place_and_copy(void **state)
{
    (void)state;
    const float x[3] = { 0.3f, -9.0f, 2.5f };
    float q[3], p[3];
    const struct mase_format *f = integer_format(4, 1);
    mase_quantize_values(f, q, x, 3, MASE_SIGNED);
    memcpy(p, x, sizeof p);
    mase_quantize_values(f, p, p, 3, MASE_SIGNED);
    assert_memory_equal(p, q, sizeof p);
    mase_quantize_values(NULL, q, x, 3, MASE_SIGNED);
    assert_memory_equal(q, x, sizeof q);
    mase_quantize_values(NULL, q, NULL, 0, MASE_SIGNED);
}

/* ---- properties ---- */

/* n quarter steps to the nearest whole step, ties to even, in integers: what the format must do. */
static int64_t round_quarters(int64_t n)
{
    const int64_t down = n >= 0 ? n / 4 : -((3 - n) / 4);
    const int64_t rest = n - 4 * down;
    return down + (rest == 3 || (rest == 2 && down % 2 != 0));
}

static void check_every_quarter(int width, int frac, enum mase_sign sign)
{
    const struct mase_format *f = integer_format(width, frac);
    const int64_t hi = (INT64_C(1) << (sign == MASE_SIGNED ? width - 1 : width)) - 1;
    const int64_t lo = sign == MASE_SIGNED ? -hi - 1 : 0;
    float before = -INFINITY;
    for (int64_t n = 4 * lo - 13; n <= 4 * hi + 13; n++) {
        const float q = quantize(f, ldexpf((float)n, -2 - frac), sign);
        int64_t code = round_quarters(n);
        code = code < lo ? lo : code > hi ? hi : code;
        if (q != ldexpf((float)code, -frac))
            fail_msg("integer(%d, %d): %lld quarters give %g", width, frac, (long long)n, q);
        assert_true(q >= before); /* monotone */
        assert_true(same_bits(quantize(f, q, sign), q) || q == 0);
        before = q;
    }
}

static void every_code(void **state)
{
    (void)state;
    for (int width = 1; width <= 16; width++) {
        const int fracs[] = { -3, 0, 1, width / 2, width, width + 5 };
        for (size_t i = 0; i < sizeof fracs / sizeof fracs[0]; i++) {
            check_every_quarter(width, fracs[i], MASE_SIGNED);
            check_every_quarter(width, fracs[i], MASE_UNSIGNED);
        }
    }
}

/* The k-th float in order of value, from -inf; k in 0 .. 2 * 0x7f800000. */
static float ordered_float(int64_t k)
{
    const int64_t i = k - 0x7f800000;
    const uint32_t bits = i < 0 ? 0x80000000u | (uint32_t)-i : (uint32_t)i;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Over the whole range of floats, in order: multiples of the step, in range, monotone, idempotent.
 */
static void every_magnitude(void **state)
{
    (void)state;
    for (int width = 1; width <= 16; width++) {
        const struct mase_format *f = integer_format(width, width - 3);
        const float hi = (float)((1 << (width - 1)) - 1), lo = -hi - 1;
        float before = -INFINITY;
        for (int64_t k = 0; k <= 2 * INT64_C(0x7f800000); k += 100003) {
            const float q = quantize(f, ordered_float(k), MASE_SIGNED);
            const float code = ldexpf(q, width - 3);
            assert_true(code == rintf(code) && code >= lo && code <= hi && q >= before);
            assert_true(same_bits(quantize(f, q, MASE_SIGNED), q));
            before = q;
        }
    }
}

/* Every value of the quantiser has a code, and the code gives the value back. */
static void codes_of_quantised_values(void **state)
{
    (void)state;
    const int64_t fracs[] = { -3, 0, 4, 12, MASE_NA };
    for (int64_t width = 1; width <= 32; width++)
        for (size_t k = 0; k < sizeof fracs / sizeof fracs[0]; k++)
            for (int s = MASE_SIGNED; s <= MASE_UNSIGNED; s++) {
                const struct mase_format *f = integer_format(width, fracs[k]);
                const int frac = fracs[k] == MASE_NA ? (int)width / 2 : (int)fracs[k];
                for (float x = -1e10f; x < 1e10f; x = x < -1e-3f  ? x / 3
                                                      : x < 1e-3f ? 2e-3f
                                                                  : x * 3) {
                    const float q = quantize(f, x, (enum mase_sign)s);
                    int64_t code;
                    assert_true(code_of(&code, q, f, (enum mase_sign)s));
                    assert_true(ldexp((double)code, -frac) == (double)q);
                }
            }
}

static void values_without_a_code(void **state)
{
    (void)state;
    const struct mase_format *f = integer_format(8, 4);
    const float off[] = { 0.03125f, -0.01f, 7.96875f, 8.0f, -8.0625f, 1e30f, INFINITY, NAN };
    int64_t code;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        assert_false(code_of(&code, off[i], f, MASE_SIGNED));
    assert_true(code_of(&code, -8.0f, f, MASE_SIGNED));
    assert_int_equal(code, -128);
    assert_false(code_of(&code, -0.0625f, f, MASE_UNSIGNED));
    assert_true(code_of(&code, 15.9375f, f, MASE_UNSIGNED));
    assert_int_equal(code, 255);
    assert_false(code_of(&code, 1.0f, NULL, MASE_SIGNED));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_results),
        cmocka_unit_test(edges),
        cmocka_unit_test(no_fraction_means_half),
        cmocka_unit_test(in_place_and_copy),
        cmocka_unit_test(every_code),
        cmocka_unit_test(every_magnitude),
        cmocka_unit_test(codes_of_quantised_values),
        cmocka_unit_test(values_without_a_code),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
