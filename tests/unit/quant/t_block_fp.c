/*
 * t_block_fp.c - block floating point: the original's results to the bit, edges by hand, blocks
 * that do not see their neighbours, and codes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "run_cases.h"
#include "unit/quant/vectors.h"

/* ---- the original's results ---- */

static const struct mase_format *format_of_case(const char *line)
{
    char text[256], bias[32] = "NA";
    const int64_t b = number(line, "exponent_bias");
    const char *sizes = field(line, "block_size");
    if (b != MASE_NA)
        snprintf(bias, sizeof bias, "%lld", (long long)b);
    snprintf(text, sizeof text, "block_fp(%lld, %lld, %s, [%.*s], %s)",
             (long long)number(line, "width"), (long long)number(line, "exponent_width"), bias,
             (int)strcspn(sizes, " "), sizes,
             mase_starts_with(field(line, "skip_first_dim"), "True") ? "true" : "false");
    return format_of(text);
}

static int refused;

static void check_case(const char *line, const float *xs, const float *ys, int64_t nx, int64_t ny)
{
    const struct mase_format *f = format_of_case(line);
    const struct mase_shape s = shape_of(field(line, "x_shape"));
    const int64_t at = number(line, "x_offset"), n = number(line, "x_count"),
                  to = number(line, "y_offset");
    float q[4096];
    if (to < 0) { /* the original fails where it has no rule for the rank; ours has one */
        refused++;
        return;
    }
    assert_true(at + n <= nx && to + n <= ny && n <= 4096);
    mase_quantize(f, q, xs + at, &s, MASE_ROLE_DATA, MASE_SIGNED);
    for (int64_t i = 0; i < n; i++)
        if (!same_result(q[i], ys[to + i]))
            fail_msg("value %d: %.9g -> %.9g, expected %.9g: %s", (int)i, (double)xs[at + i],
                     (double)q[i], (double)ys[to + i], line);
}

static void original_results(void **state)
{
    (void)state;
    assert_int_equal(each_vector("block_fp", check_case), 154);
    assert_int_equal(refused, 2);
}

/* ---- edges ---- */

static void edges(void **state)
{
    (void)state;
    static const struct {
        float x[6], q[6];
    } rows[] = {
        { { 1, .5f, -.26f, .003f, 0, .9f }, { .9921875f, .5f, -.2578125f, 0, 0, .8984375f } },
        { { 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 } },
        { { 1e-9f, -1e-9f, 0, 1, 0, 0 }, { 1e-9f, -1e-9f, 0, .9921875f, 0, 0 } },
        { { 1, NAN, 0, 0, 0, 0 }, { NAN, NAN, NAN, NAN, NAN, NAN } },
        { { 1, -INFINITY, 0, 0, 0, 0 }, { NAN, NAN, NAN, NAN, NAN, NAN } },
    };
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        /* an exponent of four bits holds all of them, too, but the infinite one */
        const struct mase_format *f =
            format_of(i % 2 ? "block_fp(8, 4, 7, [6])" : "block_fp(8, 8, NA, [6])");
        float q[6];
        mase_quantize_values(f, q, rows[i / 2].x, 6, MASE_SIGNED);
        for (int k = 0; k < 6; k++)
            if (!same_result(q[k], rows[i / 2].q[k]))
                fail_msg("row %d, value %d: %g, not %g", (int)i, k, (double)q[k],
                         (double)rows[i / 2].q[k]);
    }
}

/* ---- blocks ---- */

static float noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state * 0x1p-28f;
}

/* A sample rounds to the same bits alone and among others, whatever the shape of a sample. */
static void samples_do_not_see_each_other(void **state)
{
    (void)state;
    static const char *const formats[] = { "block_fp(6, 8, NA, [16])", "block_fp(6, 8, NA, [1, 3])",
                                           "block_fp(6, 8, NA, [2, 2])",
                                           "block_fp(6, 8, NA, [-1, -1])" };
    static const struct mase_shape shapes[] = {
        { 1, { 7 } }, { 2, { 7, 20 } }, { 3, { 7, 5, 4 } }, { 4, { 7, 2, 5, 3 } }
    };
    float x[7 * 30], all[7 * 30], one[30];
    uint32_t seed = 1;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            struct mase_shape s = shapes[k];
            const int64_t n = mase_shape_count(&s), each = n / s.dim[0];
            for (int64_t i = 0; i < n; i++)
                x[i] = ldexpf(noise(&seed), (int)(i / each) * 3 - 9);
            mase_quantize(format_of(formats[f]), all, x, &s, MASE_ROLE_DATA, MASE_SIGNED);
            s.dim[0] = 1;
            for (int64_t i = 0; i < 7; i++) {
                mase_quantize(format_of(formats[f]), one, x + i * each, &s, MASE_ROLE_DATA,
                              MASE_SIGNED);
                assert_memory_equal(one, all + i * each, (size_t)each * sizeof *one);
            }
        }
}

/* Lanes side by side, as a plan has them, against one block after the other. */
static void lanes_are_blocks_of_their_own(void **state)
{
    (void)state;
    enum { ROWS = 5, LANES = 150 };
    const struct mase_format *f = format_of("block_fp(5, 8, NA, [5])");
    const int64_t row[ROWS] = { 0, LANES, 2 * LANES, 3 * LANES, 4 * LANES };
    float x[ROWS * LANES], q[ROWS * LANES];
    uint32_t seed = 7;
    for (int i = 0; i < ROWS * LANES; i++)
        x[i] = ldexpf(noise(&seed), i % LANES % 11 - 5);
    x[3] = NAN;
    mase_quantize_blocks(f, q, x, &(struct mase_block){ row, ROWS, LANES, NULL, 0 }, MASE_SIGNED);
    for (int l = 0; l < LANES; l++) {
        float one[ROWS];
        for (int r = 0; r < ROWS; r++)
            one[r] = x[r * LANES + l];
        mase_quantize_values(f, one, one, ROWS, MASE_SIGNED);
        for (int r = 0; r < ROWS; r++)
            assert_true(same_bits(one[r], q[r * LANES + l]));
    }
}

/* ---- codes ---- */

/* What was rounded has codes; they and the exponent give the value back; for other values there is
 * none. */
static void codes_give_the_values_back(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (int width = 2; width <= 16; width++) {
        char text[64];
        snprintf(text, sizeof text, "block_fp(%d, 8, NA, [16])", width);
        const struct mase_format *f = format_of(text);
        for (int turn = 0; turn < 50; turn++) {
            float x[16], q[16];
            int64_t code[16], shared;
            for (int i = 0; i < 16; i++)
                x[i] = ldexpf(noise(&seed), turn - 10);
            mase_quantize_values(f, q, x, 16, MASE_SIGNED);
            assert_true(mase_format_encode(code, &shared, f, q, 16, MASE_SIGNED));
            for (int i = 0; i < 16; i++)
                assert_true(f->row->decode(code[i], shared, f->params) == q[i] ||
                            fabsf(q[i]) <= 1e-8f);
            q[5] += f->row->decode(1, shared, f->params) / 2;
            assert_int_equal(mase_format_codes(code, f, q, &(struct mase_shape){ 1, { 16 } },
                                               MASE_ROLE_WEIGHT, MASE_SIGNED),
                             1);
            assert_true(code[5] == MASE_NO_CODE);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_results),
        cmocka_unit_test(edges),
        cmocka_unit_test(samples_do_not_see_each_other),
        cmocka_unit_test(lanes_are_blocks_of_their_own),
        cmocka_unit_test(codes_give_the_values_back),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
