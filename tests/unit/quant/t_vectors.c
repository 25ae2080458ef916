/*
 * t_vectors.c - every number format of the original against its own results, and those of standards
 * against other programs', to the bit: the parameters of a call by name, inputs and outputs of any
 * shape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "run_cases.h"
#include "unit/quant/vectors.h"

/* ---- the format of a case ---- */

/* "None", "True", "1,16", "0.4" as formats are written. */
static void add_value(struct mase_str *out, const struct mase_opt *p, const char *text)
{
    const int n = (int)strcspn(text, " \n");
    if (!strncmp(text, "None", 4))
        mase_str_add(out, "NA");
    else if (p->type == MASE_OPT_TYPE_INTS)
        mase_str_printf(out, "[%.*s]", n, text);
    else
        mase_str_printf(out, "%.*s", n, text);
}

static const char *find_field(const char *line, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(line, key);
    return at ? at + strlen(key) : NULL;
}

/* Parameters that the case does not say are what the row proposes. */
static const struct mase_format *format_of_case(const struct mase_quant_info *row, const char *line)
{
    struct mase_str text = { 0 };
    mase_str_printf(&text, "%s(", row->name);
    for (const struct mase_opt *p = row->params; p->type; p++) {
        const char *said = find_field(line, p->key);
        mase_str_add(&text, p == row->params ? "" : ", ");
        if (said)
            add_value(&text, p, said);
        else
            format_add_proposed(&text, p);
    }
    mase_str_addc(&text, ')');
    const struct mase_format *f = format_of(mase_str_text(&text));
    mase_str_release(&text);
    return f;
}

/* ---- comparing ---- */

static struct {
    const struct mase_quant_info *row;
    int compared, failed; /* cases, and those in which the original raised an exception */
} now;

static void check_values(const char *line, const float *x, const float *q, const float *y,
                         int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!same_result(q[i], y[i]))
            fail_msg("%s: value %d: %.9g -> %.9g, expected %.9g: %s", now.row->name, (int)i,
                     (double)x[i], (double)q[i], (double)y[i], line);
}

static void check_case(const char *line, const float *xs, const float *ys, int64_t nx, int64_t ny)
{
    const struct mase_format *f = format_of_case(now.row, line);
    const struct mase_shape s = shape_of(field(line, "x_shape"));
    const char *has_sign = find_field(line, "is_signed");
    const bool has_none = has_sign && !strncmp(has_sign, "False", 5);
    const int64_t at = number(line, "x_offset"), n = number(line, "x_count"),
                  to = number(line, "y_offset");
    float q[4096];
    struct mase_err err = { 0 };
    const enum mase_status fits = mase_format_fits(f, &s, MASE_ROLE_WEIGHT, &err);
    if (to < 0) { /* what the original cannot cut is refused */
        assert_true(!f->row->fits || fits);
        now.failed++;
        return;
    }
    assert_int_equal(fits, MASE_OK);
    assert_true(at + n <= nx && to + n <= ny && n <= 4096);
    mase_quantize(f, q, xs + at, &s, MASE_ROLE_WEIGHT, has_none ? MASE_UNSIGNED : MASE_SIGNED);
    check_values(line, xs + at, q, ys + to, n);
    now.compared++;
}

static void check_family(const char *folder, const char *name, vector_fn *check, int least,
                         int failed)
{
    memset(&now, 0, sizeof now);
    now.row = mase_quants[mase_quant_find(name)];
    each_vector(folder, check);
    if (now.compared < least || now.failed < failed)
        fail_msg("%s: %d cases compared, %d failed", folder, now.compared, now.failed);
}

static void original_results(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int compared, failed; /* at least */
    } rows[] = {
        { "integer", 118, 0 },
        { "integer_floor", 41, 0 },
        { "minifloat_denorm", 36, 0 },
        { "minifloat_ieee", 36, 0 },
        { "log", 26, 0 },
        { "block_minifloat", 75, 0 },
        { "block_log", 75, 0 },
        { "scale_integer", 25, 0 },
        { "mxint", 44, 6 },
        { "mxfp", 72, 0 },
        { "mxint_hardware", 21, 3 },
        { "binary", 6, 2 },
        { "ternary", 24, 8 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_family(rows[i].name, rows[i].name, check_case, rows[i].compared, rows[i].failed);
}

/* Those of ml_dtypes and SoftPosit (tests/interop/formats.py), and of ONNX Runtime (onnx_qdq.py).
 */
static void standard_results(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int compared; /* at least */
    } rows[] = {
        { "fp8_e4m3", 2 }, { "fp8_e5m2", 2 }, { "fp6_e2m3", 1 }, { "fp6_e3m2", 1 },
        { "fp4_e2m1", 1 }, { "half", 1 },     { "bfloat16", 1 }, { "minifloat", 6 },
        { "mx", 18 },      { "nvfp4", 1 },    { "posit", 7 },    { "int", 76 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_family(rows[i].name, rows[i].name, check_case, rows[i].compared, 0);
}

/* Levels of the residual sign lie one behind the other; the format is their sum. */
static void check_residual(const char *line, const float *xs, const float *ys, int64_t nx,
                           int64_t ny)
{
    const int64_t at = number(line, "x_offset"), n = number(line, "x_count"),
                  to = number(line, "y_offset"), levels = number(line, "levels");
    char text[64];
    float q[1024], want[1024] = { 0 };
    assert_true(at + n <= nx && to + n * levels <= ny && n <= 1024);
    snprintf(text, sizeof text, "binary_residual(1, false, true, %d)", (int)levels);
    mase_quantize_values(format_of(text), q, xs + at, n, MASE_SIGNED);
    for (int64_t i = 0; i < n * levels; i++)
        want[i % n] += ys[to + i];
    check_values(line, xs + at, q, want, n);
    now.compared++;
}

static void residual_signs(void **state)
{
    (void)state;
    check_family("residual_sign", "binary_residual", check_residual, 6, 0);
}

/* ---- codes ---- */

/* What hardware is given: the code in two's complement, cut to its width. */
static void check_hardware(const char *line, const float *xs, const float *ys, int64_t nx,
                           int64_t ny)
{
    const struct mase_format *f = format_of_case(now.row, line);
    const int64_t at = number(line, "x_offset"), n = number(line, "x_count"),
                  to = number(line, "y_offset"), width = number(line, "width");
    float q[4096];
    int64_t code[4096];
    assert_true(at + n <= nx && to + n <= ny && n <= 4096);
    mase_quantize_values(f, q, xs + at, n, MASE_SIGNED);
    mase_format_codes(code, f, q, &(struct mase_shape){ 1, { n } }, MASE_ROLE_WEIGHT, MASE_SIGNED);
    for (int64_t i = 0; i < n; i++)
        q[i] = (float)(code[i] & ((INT64_C(1) << width) - 1));
    check_values(line, xs + at, q, ys + to, n);
    now.compared++;
}

static void codes_for_hardware(void **state)
{
    (void)state;
    check_family("integer_for_hw", "integer", check_hardware, 23, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_results),
        cmocka_unit_test(standard_results),
        cmocka_unit_test(residual_signs),
        cmocka_unit_test(codes_for_hardware),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
