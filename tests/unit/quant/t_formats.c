/*
 * t_formats.c - the table of number formats, their text, and binding them from configurations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "formats.h"
#include "quant/quant.h"
#include "run_cases.h"

static void rows_are_complete(void **state)
{
    (void)state;
    for (int k = 0; k < MASE_QUANT_COUNT; k++) {
        const struct mase_quant_info *q = mase_quants[k];
        bool optional = false;
        assert_int_equal(mase_quant_find(q->name), k);
        assert_true(q->help && q->suffix && q->func);
        for (const struct mase_opt *p = q->params; p->type; p++) {
            assert_true(p->key && p->help);
            assert_false(optional && p->required); /* what may be left out comes last */
            optional |= !p->required;
        }
        if (k == MASE_QUANT_float)
            continue;
        assert_true((q->quantize || q->learned || q->round) && (q->encode || q->code));
        assert_true(q->decode != NULL);
        assert_true((q->range || q->top) && q->bits);
        assert_true(q->size > 0 && (!q->shared_bits || q->geometry));
    }
    assert_int_equal(mase_quant_find("intger"), MASE_QUANT_COUNT);
    assert_int_equal(mase_quant_find("float"), MASE_QUANT_float);
}

static void assert_prints(const struct mase_format *f, const char *expected)
{
    struct mase_str s = { 0 };
    mase_format_print(&s, f);
    assert_string_equal(mase_str_text(&s), expected);
    mase_str_release(&s);
}

static void text_bits_equality(void **state)
{
    (void)state;
    static const char *const texts[] = { "float",
                                         "integer(8, 4)",
                                         "integer(8, NA)",
                                         "fixed(8, 4)",
                                         "integer_floor(8, 4)",
                                         "minifloat_denorm(8, 4, NA)",
                                         "minifloat_ieee(8, 4, 7)",
                                         "log(8, -2)",
                                         "block_minifloat(8, 4, 8, [16])",
                                         "scale_integer(8)",
                                         "int(8)",
                                         "int(4, [0.5, 0.25], [1, 0], 0)",
                                         "binary(1, false, true)",
                                         "ternary(2, true, NA, 0.5, NA)",
                                         "mxfp(32, 4, 3, -1, 8, true, rz)",
                                         "mxfp(32, 4, 3, -1, 8, true, ru)",
                                         "mxfp(32, 4, 3, -1, 8, true, rd)",
                                         "integer(8, 4, stochastic)",
                                         "minifloat(8, 4, NA)",
                                         "minifloat(8, 4, 7, fn, infinity, toward_zero)",
                                         "minifloat(8, 4, NA, NA, NA, floor)",
                                         "fp8_e4m3",
                                         "fp8_e4m3(infinity)",
                                         "mxint(32, 8)",
                                         "mxint(32, 8, 0, 8, true)",
                                         "mxint(32, 8, NA, NA, true)",
                                         "mxint_hardware(8, 4, [1, 4])",
                                         "block_log(8, 8, [1, 16], true)",
                                         "block_fp(8, 8, NA, [16])",
                                         "block_fp(8, 8, 127, [1, 16], false)" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            assert_prints(format_of(texts[i]), texts[i]);
            assert_true((format_of(texts[i]) == format_of(texts[k])) == (i == k));
        }
    assert_null(format_of("float"));
    assert_int_equal(mase_format_bits(NULL), 32);
    assert_int_equal(mase_format_bits(format_of("fixed(8, 4)")), 8);
}

static void wrong_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "intger(8, 4)",
        "integer",
        "integer(8)",
        "integer(8, 4",
        "integer(8,",
        "integer(8, 4, 2)",
        "integer(8, 4) ",
        "integer(8, four)",
        "integer([8], 4)",
        "float(3)",
        "integer(0, 4)",
        "block_fp(8, 8, 3)",
        "block_fp(8,8,1,[])",
        "block_fp(8,8,1,[0])",
        "minifloat_ieee(4, 4, NA)",
        "minifloat_denorm(32, 8, 1.5)",
        "minifloat_ieee(32, 4, NA)",
        "log(1, NA)",
        "mxfp(32, 4, 2)",
        "mxfp(32, 4, 3, -1, 8, true, up)",
        "mxint(2048, 8, -1, 8, true)",
        "mxint_hardware(8, 4, [1, 2, 3])",
        "int(0)",
        "int(40)",
        "int(8.5)",
        "int(eight)",
        "int(8, 0)",
        "int(8, -0.5)",
        "int(8, auto)",
        "int(8, [])",
        "int(8, [0.5, 0.25])",
        "int([8, 4], [0.5, 0.25, 1], NA, 0)",
        "int(8, [0.5, x], NA, 0)",
        "int(8, NA, 3)",
        "int(8, 0.5, 0.5)",
        "int(8, 0.5, 0, 0, 16)",
        "int(8, 0.5, 0, NA, NA, true, false, true)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct mase_format *f = NULL;
        struct mase_err err = { 0 };
        if (!mase_format_parse(&f, texts[i], &err))
            fail_msg("'%s' is a format", texts[i]);
        assert_true(*err.msg && !f);
    }
}

/* What is rounded has codes, which decode to it, and lies within the limits; rounded again it
 * stays. Values above 1e-8: below, block_fp passes them on, as the original does. */
static void check_promises(const struct mase_format *f, const char *text, enum mase_sign sign)
{
    if (mase_format_learned(f)) /* it has codes as the int that it becomes */
        return;
    if (mase_format_is_open(f)) /* it has codes with the steps that it is given */
        f = format_of("products(0.03125)");
    enum { N = 24 };
    const struct mase_quant_info *row = f->row;
    float x[N], q[N], again[N], low, high;
    int64_t code[N], shared = 0, offset[N];
    for (int i = 0; i < N; i++) {
        x[i] = ldexpf(i % 2 ? -1.25f : 1.625f, i % 3 * 2 - i / 3);
        offset[i] = i;
    }
    x[0] = 0.0f;
    x[1] = -0.0f;
    x[2] = 0x1p-20f;
    const struct mase_block b = { offset, N, 1, NULL, 0 };
    mase_quantize_blocks(f, q, x, &b, sign);
    mase_quantize_blocks(f, again, q, &b, sign);
    if (row->unstable) /* it may change, but not for ever */
        memcpy(again, q, sizeof again);
    mase_format_limits(&low, &high, f, sign);
    if (!mase_format_encode(code, &shared, f, q, N, sign))
        fail_msg("%s: what it rounds has no code", text);
    for (int i = 0; i < N; i++) {
        const float back = row->decode(code[i], shared, f->params);
        if (back != q[i] || again[i] != q[i] || q[i] < low || q[i] > high)
            fail_msg("%s: %a is %a, in code %a, again %a, within %a .. %a", text, (double)x[i],
                     (double)q[i], (double)back, (double)again[i], (double)low, (double)high);
    }
}

static void every_format_keeps_its_promises(void **state)
{
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        struct mase_str text = { 0 };
        format_proposed(&text, mase_quants[k]);
        const struct mase_format *f = format_of(mase_str_text(&text));
        check_promises(f, mase_str_text(&text), MASE_SIGNED);
        check_promises(f, mase_str_text(&text), MASE_UNSIGNED);
        mase_str_release(&text);
    }
}

/* Every code of a small format is that of its value, and rounding leaves its value alone. How many
 * move all the same. */
static int count_moved(const struct mase_format *f, const char *text, enum mase_sign sign)
{
    const int64_t start = 0;
    int64_t low, high, code, shared;
    int moved = 0;
    mase_format_range(&low, &high, f, sign);
    for (int64_t c = low; c <= high; c++) {
        const float v = f->row->decode(c, 0, f->params);
        float q;
        mase_quantize_blocks(f, &q, &v, &(struct mase_block){ &start, 1, 1, NULL, 0 }, sign);
        if (!mase_format_encode(&code, &shared, f, &v, 1, sign) || code != c)
            fail_msg("%s: %a, code %d, has code %d", text, (double)v, (int)c, (int)code);
        moved += q != v;
    }
    return moved;
}

static void every_code_is_that_of_its_value(void **state)
{
    (void)state;
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++)
        for (int sign = MASE_SIGNED; sign <= MASE_UNSIGNED; sign++) {
            struct mase_str text = { 0 };
            format_proposed(&text, mase_quants[k]);
            const struct mase_format *f = format_of(mase_str_text(&text));
            if (!mase_format_has_blocks(f)) {
                const int moved = count_moved(f, mase_str_text(&text), (enum mase_sign)sign);
                if (moved && !f->row->unstable)
                    fail_msg("%s: %d values move", mase_str_text(&text), moved);
            }
            mase_str_release(&text);
        }
}

/* Where a row says that what it has rounded may change when rounded again, some value does. */
static void unstable_formats_are_unstable(void **state)
{
    static const struct {
        const char *format;
        float x[4];
    } rows[] = {
        { "minifloat_denorm(8, 4, NA)", { 0.503f, 0, 0, 0 } },
        { "block_fp(2, 8, NA, [4])", { 0.501f, 0, 0, 0 } },
        { "block_minifloat(6, 2, 8, [4])", { 20, 1, 0.3f, 0 } },
        { "scale_integer(4)", { 1, 0.4f, 0.3f, 0.2f } },
        { "mxint(4, 2)", { 0.501f, 0, 0, 0 } },
        { "mxfp(4, 2, 3)", { 1, 0.1333f, 0, 0 } },
        { "mxint_hardware(4, 4, [4])", { 100, 0, 0, 0 } },
        { "nvfp4", { 1.729f, 0.164f, 1.486f, 0.434f } },
        { "binary(1, false, false)", { 1, 0.5f, -1, -2 } },
        { "ternary(2, true, NA, NA, NA)", { 1.1f, 0.06f, 1.51f, 1.08f } },
    };
    int unstable = 0;
    (void)state;
    for (int k = 0; k < MASE_QUANT_COUNT; k++)
        unstable += mase_quants[k]->unstable && !mase_quants[k]->learned;
    assert_int_equal(unstable, sizeof rows / sizeof *rows + 1); /* binary_residual is as binary */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum { N = 108 };
        float x[N], once[N], twice[N];
        for (int k = 0; k < N; k++)
            x[k] = rows[i].x[k % 4];
        mase_quantize_values(format_of(rows[i].format), once, x, N, MASE_SIGNED);
        mase_quantize_values(format_of(rows[i].format), twice, once, N, MASE_SIGNED);
        if (!memcmp(once, twice, sizeof once))
            fail_msg("%s: %g %g %g %g stays", rows[i].format, (double)once[0], (double)once[1],
                     (double)once[2], (double)once[3]);
    }
}

/* scale_integer: the maximum of a vector is NaN if one of its values is, and an infinite one leaves
 * no finite scale; other vectors are not touched. */
static void nan_and_infinity_spoil_their_vector(void **state)
{
    const struct mase_shape s = { 2, { 3, 4 } };
    const float x[12] = { 1, 2, NAN, 3, 1, -INFINITY, 2, 3, 1, 2, 3, 4 };
    const float want[4] = { 1, 2, 3, 3.5f };
    float q[12];
    (void)state;
    mase_quantize(format_of("scale_integer(4)"), q, x, &s, MASE_ROLE_WEIGHT, MASE_SIGNED);
    for (int i = 0; i < 8; i++)
        assert_true(isnan(q[i]));
    for (int i = 0; i < 4; i++)
        assert_float_equal(q[8 + i], want[i], 1e-6);
}

/* By chance, but always alike: the share of ones is the chance of one, and what is certain is. */
static void chance_is_fair_and_repeats(void **state)
{
    enum { N = 4096 };
    static const float centres[] = { -0.6f, 0.0f, 0.3f };
    const struct mase_format *f = format_of("binary(1, true, true)");
    static float x[N], q[N], again[N];
    (void)state;
    for (size_t c = 0; c < sizeof centres / sizeof *centres; c++) {
        int ones = 0;
        for (int i = 0; i < N; i++)
            x[i] = centres[c] + (float)i * 0x1p-20f;
        mase_quantize_values(f, q, x, N, MASE_SIGNED);
        mase_quantize_values(f, again, x, N, MASE_SIGNED);
        assert_memory_equal(q, again, sizeof q);
        for (int i = 0; i < N; i++)
            ones += q[i] == 1.0f;
        const float expected = (centres[c] + 1) / 2 * N; /* five standard deviations are 160 */
        assert_true(fabsf((float)ones - expected) < 160);
    }
    const float sure[] = { 1, 5, -1.1f, -7 };
    mase_quantize_values(f, q, sure, 4, MASE_SIGNED);
    assert_true(q[0] == 1 && q[1] == 1 && q[2] == -1 && q[3] == -1);
}

/* Of magnitudes, by hand: steps of 1/8 from 1 to 2, of 1/16 below. A fraction that rounds up to a
 * whole is or-ed into the exponent's code: 1.99 falls to 1, 0.99 comes to 1. What is beyond the
 * first 15 bits of a fraction rounds nothing up. */
static void mxfp_rounds_four_ways(void **state)
{
    enum { N = 8 };
    static const float x[N] = { 1.99f,        0.99f,   1.0625f, -1.0625f, 1.01f, -1.1875f - 1e-3f,
                                1 + 0x1p-20f, 0.53125f };
    static const struct {
        const char *mode;
        float q[N];
    } rows[] = {
        { "rn", { 1, 1, 1, -1, 1, -1.25f, 1, 0.5f } },
        { "rz", { 1.875f, 0.9375f, 1, -1, 1, -1.125f, 1, 0.5f } },
        { "ru", { 1, 1, 1.125f, -1.125f, 1.125f, -1.25f, 1, 0.5625f } },
        { "rd", { 1.875f, 0.9375f, 1, -1, 1, -1.125f, 1, 0.5f } },
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char text[64];
        float q[N];
        snprintf(text, sizeof text, "mxfp(8, 4, 3, -1, 8, true, %s)", rows[r].mode);
        mase_quantize_values(format_of(text), q, x, N, MASE_SIGNED);
        for (int i = 0; i < N; i++)
            if (q[i] != rows[r].q[i])
                fail_msg("%s: %.9g is %.9g, not %.9g", text, (double)x[i], (double)q[i],
                         (double)rows[r].q[i]);
    }
}

/* ---- neighbours ---- */

/* Every value of a small format, in order: each is its neighbours' neighbour, all have codes, and
 * beyond the ends there is nothing. Returns how many there are. */
static int check_neighbours(const struct mase_format *f, const char *text, int64_t shared,
                            enum mase_sign sign)
{
    int count = 0;
    for (float v = mase_format_neighbours(f, -INFINITY, shared, sign).above; !isinf(v); count++) {
        const struct mase_neighbours n = mase_format_neighbours(f, v, shared, sign);
        const float middle = mase_format_midpoint(f, v, shared, sign);
        if (n.below >= v || n.above <= v || (!isinf(n.above) && (middle <= v || middle >= n.above)))
            fail_msg("%s: %a lies between %a and %a", text, (double)v, (double)n.below,
                     (double)n.above);
        if (!isinf(n.above)) {
            const struct mase_neighbours m = mase_format_neighbours(f, middle, shared, sign);
            assert_true(m.below == v && m.above == n.above);
            assert_true(mase_format_neighbours(f, n.above, shared, sign).below == v);
        } else {
            assert_true(isnan(middle));
        }
        v = n.above;
    }
    return count;
}

static void neighbours_stand_side_by_side(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        int64_t shared;
        enum mase_sign sign;
        int values;
        float first, second; /* of them */
    } rows[] = {
        { "integer(3, 1)", 0, MASE_SIGNED, 8, -2.0f, -1.5f },
        { "integer(3, 1)", 0, MASE_UNSIGNED, 8, 0.0f, 0.5f },
        { "integer(12, -2)", 0, MASE_SIGNED, 4096, -8192.0f, -8188.0f },
        { "minifloat_denorm(4, 2, NA)", 0, MASE_SIGNED, 9, -2.0f, -1.0f },
        { "minifloat_ieee(4, 2, NA)", 0, MASE_SIGNED, 15, -6.0f, -4.0f },
        { "log(3, NA)", 0, MASE_SIGNED, 8, -4.0f, -2.0f },
        { "block_minifloat(4, 2, 8, [16])", 1, MASE_SIGNED, 15, -6.0f, -4.0f },
        { "block_minifloat(4, 2, 8, [16])", 3, MASE_SIGNED, 15, -1.5f, -1.0f },
        { "block_log(3, 8, [16])", 3, MASE_SIGNED, 8, -1.0f, -0.5f },
        { "binary(1, false, true)", 0, MASE_SIGNED, 2, -1.0f, 1.0f },
        { "binary(1, false, false)", 0x40000000, MASE_SIGNED, 2, 0.0f, 2.0f },
        { "binary_residual(1, false, true, 2)", 0, MASE_SIGNED, 7, -1.0f, -2.0f / 3 },
        { "ternary(2, true, NA, NA, NA)", 0x40000000, MASE_SIGNED, 3, -2.0f, 0.0f },
        { "mxint(32, 3)", 2, MASE_SIGNED, 8, -4.0f, -3.0f },
        { "mxfp(32, 2, 1)", 1, MASE_SIGNED, 15, -12.0f, -8.0f },
        { "mxint_hardware(3, 4, [1])", -1, MASE_SIGNED, 8, -2.0f, -1.5f },
        { "scale_integer(3)", 0x40000000, MASE_UNSIGNED, 8, 0.0f, 0.5f },
        { "block_fp(4, 8, NA, [16])", 3, MASE_SIGNED, 15, -7.0f, -6.0f },
        { "block_fp(4, 8, NA, [16])", -5, MASE_SIGNED, 15, -7 * 0x1p-8f, -6 * 0x1p-8f },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mase_format *f = format_of(rows[i].format);
        const float first =
            mase_format_neighbours(f, -INFINITY, rows[i].shared, rows[i].sign).above;
        assert_int_equal(check_neighbours(f, rows[i].format, rows[i].shared, rows[i].sign),
                         rows[i].values);
        assert_true(first == rows[i].first);
        assert_true(mase_format_neighbours(f, first, rows[i].shared, rows[i].sign).above ==
                    rows[i].second);
    }
    assert_true(mase_format_neighbours(NULL, 1.0f, 0, MASE_SIGNED).above == 1.0f + 0x1p-23f);
}

/* Eight bits each and an exponent of eight for every block. */
static void what_a_block_shares_is_stored_once(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        struct mase_shape shape;
        enum mase_role role;
        int64_t bits;
    } rows[] = {
        { "block_fp(8, 8, NA, [16])", { 1, { 64 } }, MASE_ROLE_WEIGHT, 64 * 8 + 4 * 8 },
        { "block_fp(8, 8, NA, [16])", { 1, { 17 } }, MASE_ROLE_WEIGHT, 17 * 8 + 2 * 8 },
        { "block_fp(8, 8, NA, [16])", { 1, { 0 } }, MASE_ROLE_WEIGHT, 0 },
        { "block_fp(8, 8, NA, [16])", { 2, { 5, 32 } }, MASE_ROLE_WEIGHT, 160 * 8 + 2 * 8 },
        { "block_fp(8, 8, NA, [16])", { 2, { 5, 32 } }, MASE_ROLE_DATA, 160 * 8 + 10 * 8 },
        { "block_fp(8, 8, NA, [1, 16])", { 2, { 5, 32 } }, MASE_ROLE_WEIGHT, 160 * 8 + 10 * 8 },
        { "block_log(5, 3, [4])", { 1, { 10 } }, MASE_ROLE_WEIGHT, 10 * 5 + 3 * 3 },
        { "block_fp(4, 3, NA, [1])", { 1, { 10 } }, MASE_ROLE_WEIGHT, 10 * (4 + 3) },
        { "integer(8, 4)", { 1, { 3 } }, MASE_ROLE_DATA, 3 * 8 },
        { "float", { 1, { 3 } }, MASE_ROLE_DATA, 3 * 32 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            mase_format_stored_bits(format_of(rows[i].format), &rows[i].shape, rows[i].role),
            rows[i].bits);
}

/* Bind weight_* of a configuration; an expected message must be part of the error. */
static void check_bind(const char *toml, const char *expected, const char *message, int line)
{
    struct mase_arena a = { 0 };
    struct mase_value *config = NULL;
    struct mase_err err = { 0 };
    assert_int_equal(mase_toml_parse(&config, &a, toml, strlen(toml), "c.toml", &err), MASE_OK);
    mase_value_resolve_na(config);

    const struct mase_format *f = NULL;
    const enum mase_status st = mase_format_bind(&f, MASE_QUANT_integer, config, "weight", &err);
    if (message) {
        assert_int_equal(st, MASE_EVALUE);
        if (!strstr(err.msg, message))
            fail_msg("'%s' is not in '%s'", message, err.msg);
        if (line)
            assert_int_equal(err.loc.line, line);
        assert_null(f); /* untouched */
    } else {
        assert_int_equal(st, MASE_OK);
        assert_ptr_equal(f, format_of(expected));
    }
    mase_arena_release(&a);
}

/* From what was rounded: a zero point far from zero takes no digits from the step. */
static void the_step_of_values_is_found(void **state)
{
    static const struct {
        float value[4], step;
    } cases[] = { { { -1.0f, 0.25f, -0.7f, 0.1f }, 1.25f / 255 },
                  { { 2.0f, 0.3f, 1.1f, -0.01f }, 2.01f / 255 },
                  { { 0 }, FLT_EPSILON } };
    const struct mase_format *f = format_of("int(8, NA, NA, NA, NA, false)");
    const struct mase_shape s = { 1, { 4 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float q[4], step = 0;
        mase_quantize(f, q, cases[i].value, &s, MASE_ROLE_WEIGHT, MASE_SIGNED);
        assert_true(mase_format_step_of(&step, f, 0, q, 4, MASE_SIGNED));
        assert_true(step == cases[i].step);
    }
}

static void binds(void **state)
{
    (void)state;
    check_bind("weight_width = 8\nweight_frac_width = 4", "integer(8, 4)", NULL, 0);
    check_bind("weight_frac_width = -2\nweight_width = 32\nbias_width = 1", "integer(32, -2)", NULL,
               0);
    check_bind("weight_width = 8\nweight_frac_width = 'NA'", "integer(8, NA)", NULL, 0);
}

static void refuses(void **state)
{
    (void)state;
    check_bind("weight_width = 99\nweight_frac_width = 4", NULL, "weight_width = 99", 1);
    check_bind("weight_width = 0\nweight_frac_width = 4", NULL, "weight_width = 0", 1);
    check_bind("weight_width = 8\nweight_frac_width = 65", NULL, "weight_frac_width = 65", 2);
    check_bind("weight_width = 'NA'\nweight_frac_width = 4", NULL, "weight_width", 0);
    check_bind("weight_width = 8\nweight_frac_width = 4.0", NULL, "weight_frac_width", 2);
    check_bind("weight_width = 8", NULL, "weight_frac_width is missing, which integer needs", 0);
    check_bind("weight_widht = 8\nweight_frac_width = 4", NULL, "is 'weight_widht' meant?", 0);
}

static void mentions(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_value *t = mase_value_table(&a);
    mase_value_set(&a, t, "data_in_width", mase_value_int(&a, 8));
    mase_value_set(&a, t, "weighty", mase_value_int(&a, 8));
    assert_true(mase_format_mentioned(t, "data_in"));
    assert_false(mase_format_mentioned(t, "weight"));
    assert_false(mase_format_mentioned(NULL, "weight"));
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(every_format_keeps_its_promises),
        cmocka_unit_test(every_code_is_that_of_its_value),
        cmocka_unit_test(unstable_formats_are_unstable),
        cmocka_unit_test(nan_and_infinity_spoil_their_vector),
        cmocka_unit_test(chance_is_fair_and_repeats),
        cmocka_unit_test(mxfp_rounds_four_ways),
        cmocka_unit_test(neighbours_stand_side_by_side),
        cmocka_unit_test(text_bits_equality),
        cmocka_unit_test(wrong_texts),
        cmocka_unit_test(what_a_block_shares_is_stored_once),
        cmocka_unit_test(the_step_of_values_is_found),
        cmocka_unit_test(binds),
        cmocka_unit_test(refuses),
        cmocka_unit_test(mentions),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
