/*
 * t_json.c - JSON read strictly, with places, and printed so that it reads back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <mase/value.h>

#include "run_cases.h"

static enum mase_status parse(struct mase_value **v, struct mase_arena *a, const char *s, size_t n,
                              struct mase_err *err)
{
    char *exact = mase_arena_memdup(a, s, n); /* so that reading past the end is seen */
    return mase_json_parse(v, a, exact, n, "t.json", err);
}

static void valid_texts_give_their_values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "null", "None" },
        { " \t\r\n true \n", "True" },
        { "false", "False" },
        { "0", "0" },
        { "-0", "0" },
        { "-12", "-12" },
        { "9223372036854775807", "9223372036854775807" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "0.5", "0.5" },
        { "-0.0", "-0.0" },
        { "1e3", "1000.0" },
        { "1E+2", "100.0" },
        { "12.5e-1", "1.25" },
        { "1e-999", "0.0" },
        { "\"\"", "''" },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "'\"\\\\/\\x08\\x0c\\n\\r\\t'" },
        { "\"\\u00e9\\uD83D\\uDE00\\u0000\"", "'\xc3\xa9\xf0\x9f\x98\x80\\x00'" },
        { "\"\x7f\"", "'\\x7f'" },
        { "[]", "[]" },
        { "[ ]", "[]" },
        { "[1, [2, []], \"x\"]", "[1, [2, []], 'x']" },
        { "{}", "{}" },
        { "{\"b\":1,\"a\":{\"\":null}}", "{'b': 1, 'a': {'': None}}" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct mase_value *v, *back;
        struct mase_str got = { 0 }, printed = { 0 };
        if (parse(&v, &a, cases[i].text, strlen(cases[i].text), &err))
            fail_msg("%s: %s", cases[i].text, err.msg);
        mase_repr(&got, v);
        assert_string_equal(mase_str_text(&got), cases[i].want);
        for (int indent = 0; indent <= 4; indent += 2) {
            mase_str_clear(&printed);
            mase_json_print(&printed, v, indent);
            assert_int_equal(parse(&back, &a, printed.data, printed.len, &err), MASE_OK);
            assert_true(mase_value_equal(v, back));
        }
        mase_str_release(&got);
        mase_str_release(&printed);
        mase_arena_release(&a);
    }
}

static void invalid_texts_give_place_and_cause(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "1:1: expected a value, got the end of the file" },
        { "\n x", "2:2: expected a value, got 'x'" },
        { "nul", "1:1: expected a value, got 'n'" },
        { "True", "1:1: expected a value, got 'T'" },
        { "NaN", "1:1: expected a value, got 'N'" },
        { "1 2", "1:3: expected nothing after the value, got '2'" },
        { "01", "1:2: expected nothing after the value, got '1'" },
        { "+1", "1:1: expected a value, got '+'" },
        { "-", "1:2: expected a digit, got the end of the file" },
        { ".5", "1:1: expected a value, got '.'" },
        { "5.", "1:3: expected a digit after the point, got the end of the file" },
        { "5e", "1:3: expected a digit in the exponent, got the end of the file" },
        { "5e+-1", "1:4: expected a digit in the exponent, got '-'" },
        { "9223372036854775808", "1:1: 9223372036854775808 does not fit in a 64-bit integer" },
        { "1e400", "1:1: 1e400 does not fit in a double" },
        { "'a'", "1:1: expected a value, got '''" },
        { "\"a", "1:1: this string is not closed" },
        { "\"a\nb\"", "1:1: this string is not closed" },
        { "\"a\tb\"", "1:3: byte 0x09 is not allowed in a string" },
        { "\"\xff\"", "1:2: byte 0xff is not UTF-8" },
        { "\"\xed\xa0\x80\"", "1:2: byte 0xed is not UTF-8" },
        { "\"\\x\"", "1:3: expected one of \" \\ / b f n r t u after a backslash, got 'x'" },
        { "\"\\u12G4\"", "1:6: expected four hexadecimal digits after \\u, got 'G'" },
        { "\"\\uD800\"", "1:2: half of a surrogate pair" },
        { "\"\\uD800\\n\"", "1:2: half of a surrogate pair" },
        { "\"\\uD800\\uD800\"", "1:2: half of a surrogate pair" },
        { "\"\\uDC00\"", "1:2: half of a surrogate pair" },
        { "[1,]", "1:4: expected a value, got ']'" },
        { "[1 2]", "1:4: expected ',' or ']', got '2'" },
        { "[1", "1:3: expected ',' or ']', got the end of the file" },
        { "{\"a\" 1}", "1:6: expected ':' after the key, got '1'" },
        { "{\"a\":1,}", "1:8: expected a key in double quotes, got '}'" },
        { "{a:1}", "1:2: expected a key in double quotes, got 'a'" },
        { "{\"a\":1 \"b\":2}", "1:8: expected ',' or '}', got '\"'" },
        { "{\"a\":1,\n\"b\":{},\n\"a\":2}", "3:1: key 'a' is already set at line 1" },
        { "{\"a\\u0000\":1}", "1:2: a key with the character U+0000 cannot be represented" },
        { "// c\n1", "1:1: expected a value, got '/'" },
        { "\x01", "1:1: expected a value, got byte 0x01" },
        { "\xef\xbb\xbf"
          "1",
          "1:1: expected a value, got '\xef\xbb\xbf'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct mase_value *v;
        if (!parse(&v, &a, cases[i].text, strlen(cases[i].text), &err))
            fail_msg("%s: accepted", cases[i].text);
        const char *got = mase_arena_printf(&a, "%d:%d: %s", err.loc.line, err.loc.col, err.msg);
        assert_string_equal(got, cases[i].want);
        mase_arena_release(&a);
    }
}

static void values_and_keys_know_their_places(void **state)
{
    (void)state;
    static const char text[] = "{\n  \"k\": [1,\n   \"two\"]\n}";
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    assert_int_equal(parse(&v, &a, text, strlen(text), &err), MASE_OK);
    assert_int_equal(v->key_at[0].line, 2);
    assert_int_equal(v->key_at[0].col, 3);
    assert_int_equal(v->key_at[0].span, 3);
    const struct mase_value *two = v->items[0]->items[1];
    assert_int_equal(two->at.line, 3);
    assert_int_equal(two->at.col, 4);
    assert_int_equal(two->at.span, 5);
    mase_arena_release(&a);
}

static void depth_is_limited(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    char *text = mase_arena_alloc(&a, DEEP);
    memset(text, '[', DEEP);
    assert_int_equal(parse(&v, &a, text, DEEP, &err), MASE_ELIMIT);
    assert_int_equal(err.loc.col, 201);
    memset(text + 200, ']', 200);
    assert_int_equal(parse(&v, &a, text, 400, &err), MASE_OK);
    assert_int_equal(mase_json_parse(&v, &a, "", (size_t)MASE_TEXT_MAX + 1, "t.json", &err),
                     MASE_ELIMIT);
    mase_arena_release(&a);
}

static void printing_is_as_json_dumps(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str out = { 0 };
    struct mase_value *t = mase_value_table(&a), *list = mase_value_tuple(&a);
    mase_value_push(&a, list, mase_value_float(&a, 1e-5));
    mase_value_push(&a, list, mase_value_float(&a, -(double)INFINITY));
    mase_value_set(&a, t, "l", list);
    mase_value_set(&a, t, "empty", mase_value_list(&a));
    mase_value_set(&a, t, "atom", mase_value_atom(&a, "torch.float32"));
    mase_value_set(&a, t, "bad", mase_value_string(&a, "\xff\x01\"\xc3\xa9"));
    mase_json_print(&out, t, 0);
    assert_string_equal(mase_str_text(&out),
                        "{\"l\": [1e-05, \"-inf\"], \"empty\": [], \"atom\": \"torch.float32\", "
                        "\"bad\": \"\xef\xbf\xbd\\u0001\\\"\xc3\xa9\"}");
    mase_str_clear(&out);
    mase_json_print(&out, mase_value_get(t, "l"), 2);
    assert_string_equal(mase_str_text(&out), "[\n  1e-05,\n  \"-inf\"\n]");
    mase_str_release(&out);
    mase_arena_release(&a);
}

static void damaged_texts_give_a_status(void **state)
{
    (void)state;
    static const char sample[] =
        "{\"a\\u00e9\": [1, -2.5e+3, true, null],\n \"b\\uD83D\\uDE00\": {}, "
        "\"\xc3\xa9\": \"\\n\"}\n";
    char text[sizeof sample];
    for (size_t i = 0; i < sizeof sample - 1; i++)
        for (int c = -1; c < 256; c++) { /* -1: cut here instead */
            struct mase_arena a = { 0 };
            struct mase_err err = { 0 };
            struct mase_value *v;
            memcpy(text, sample, sizeof sample);
            text[i] = (char)c;
            enum mase_status st = parse(&v, &a, text, c < 0 ? i : sizeof sample - 1, &err);
            assert_int_equal(st, err.status);
            assert_true(st == MASE_OK || (err.loc.line >= 1 && err.loc.col >= 1 && err.msg[0]));
            mase_arena_release(&a);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_give_their_values),
        cmocka_unit_test(invalid_texts_give_place_and_cause),
        cmocka_unit_test(values_and_keys_know_their_places),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(printing_is_as_json_dumps),
        cmocka_unit_test(damaged_texts_give_a_status),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
