/*
 * t_formats.c - the table of number formats, their text, and binding them from configurations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/format.h>

static void rows_are_complete(void **state)
{
    (void)state;
    for (int k = 0; k < MASE_QUANT_COUNT; k++) {
        const struct mase_quant_info *q = &mase_quants[k];
        assert_int_equal(mase_quant_find(q->name), k);
        assert_true(q->help && q->suffix && q->func);
        assert_true(q->count <= MASE_QUANT_PARAMS);
        assert_true(k == MASE_QUANT_float || q->quantize);
        for (int i = 0; i < q->count; i++) {
            const struct mase_quant_param *p = &q->params[i];
            assert_true(p->name && p->help && p->min <= p->dflt && p->dflt <= p->max);
        }
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
    const struct mase_format none = { 0 };
    const struct mase_format a = { MASE_QUANT_integer, { 8, 4 } };
    const struct mase_format b = { MASE_QUANT_integer, { 8, MASE_NA } };
    const struct mase_format c = { MASE_QUANT_fixed, { 8, 4 } };
    assert_prints(&none, "float");
    assert_prints(&a, "integer(8, 4)");
    assert_prints(&b, "integer(8, NA)");
    assert_prints(&c, "fixed(8, 4)");
    assert_int_equal(mase_format_bits(&none), 32);
    assert_int_equal(mase_format_bits(&c), 8);
    assert_true(mase_format_equal(&a, &a));
    assert_false(mase_format_equal(&a, &b));
    assert_false(mase_format_equal(&a, &c));
}

/* Eight bits each and an exponent of eight for every sixteen, as in block floating point. */
static void what_a_block_shares_is_stored_once(void **state)
{
    (void)state;
    static const struct mase_quant_param params[] = {
        { "width", 2, 32, false, 8, "bits of a value", MASE_PARAM_WIDTH },
        { "exponent_width", 1, 8, false, 8, "bits of the exponent", MASE_PARAM_SHARED },
        { "exponent_bias", 0, 255, true, 127, "of the exponent", MASE_PARAM_OTHER },
        { "block_size", 1, 1024, false, 16, "values with one exponent", MASE_PARAM_BLOCK },
    };
    const struct mase_quant_info row = { .name = "block", .params = params, .count = 4 };
    const int64_t param[] = { 8, 8, 127, 16 }, alone[] = { 4, 3, MASE_NA, 1 };
    assert_int_equal(mase_quant_stored_bits(&row, param, 64), 64 * 8 + 4 * 8); /* 8.5 each */
    assert_int_equal(mase_quant_stored_bits(&row, param, 17), 17 * 8 + 2 * 8); /* one begun */
    assert_int_equal(mase_quant_stored_bits(&row, param, 0), 0);
    assert_int_equal(mase_quant_stored_bits(&row, alone, 10), 10 * (4 + 3));
    const struct mase_format none = { 0 }, fixed = { MASE_QUANT_integer, { 8, 4 } };
    assert_int_equal(mase_format_stored_bits(&none, 3), 3 * 32);
    assert_int_equal(mase_format_stored_bits(&fixed, 3), 3 * 8);
}

/* Bind weight_* of a configuration; an expected message must be part of the error. */
static void check_bind(const char *toml, const struct mase_format *expected, const char *message,
                       int line)
{
    struct mase_arena a = { 0 };
    struct mase_value *config = NULL;
    struct mase_err err = { 0 };
    assert_int_equal(mase_toml_parse(&config, &a, toml, strlen(toml), "c.toml", &err), MASE_OK);
    mase_value_resolve_na(config);

    struct mase_format f = { 0 };
    const enum mase_status st = mase_format_bind(&f, MASE_QUANT_integer, config, "weight", &err);
    if (message) {
        assert_int_equal(st, MASE_EVALUE);
        if (!strstr(err.msg, message))
            fail_msg("'%s' is not in '%s'", message, err.msg);
        if (line)
            assert_int_equal(err.loc.line, line);
        assert_int_equal(f.kind, MASE_QUANT_float); /* untouched */
    } else {
        assert_int_equal(st, MASE_OK);
        assert_true(mase_format_equal(&f, expected));
    }
    mase_arena_release(&a);
}

static void binds(void **state)
{
    (void)state;
    check_bind("weight_width = 8\nweight_frac_width = 4",
               &(struct mase_format){ MASE_QUANT_integer, { 8, 4 } }, NULL, 0);
    check_bind("weight_frac_width = -2\nweight_width = 32\nbias_width = 1",
               &(struct mase_format){ MASE_QUANT_integer, { 32, -2 } }, NULL, 0);
    check_bind("weight_width = 8\nweight_frac_width = 'NA'",
               &(struct mase_format){ MASE_QUANT_integer, { 8, MASE_NA } }, NULL, 0);
}

static void refuses(void **state)
{
    (void)state;
    check_bind("weight_width = 99\nweight_frac_width = 4", NULL,
               "weight_width = 99 is outside 1..32", 1);
    check_bind("weight_width = 0\nweight_frac_width = 4", NULL, "weight_width = 0 is outside 1..32",
               1);
    check_bind("weight_width = 8\nweight_frac_width = 65", NULL,
               "weight_frac_width = 65 is outside -32..64", 2);
    check_bind("weight_width = 'NA'\nweight_frac_width = 4", NULL,
               "weight_width must be an integer 1..32, got none", 0);
    check_bind("weight_width = 8\nweight_frac_width = 4.0", NULL,
               "weight_frac_width must be an integer -32..64 or \"NA\", got float", 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(text_bits_equality),
        cmocka_unit_test(what_a_block_shares_is_stored_once),
        cmocka_unit_test(binds),
        cmocka_unit_test(refuses),
        cmocka_unit_test(mentions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
