/*
 * t_opt.c - options bound by their rows: defaults, checks, messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <mase/opt.h>

#include "run_cases.h"

struct sample {
    bool all;
    int64_t width, seed;
    double rate, momentum;
    const char *name, *file, *by;
    const struct mase_value *extra;
};

static const char *const ways[] = { "type", "name", "regex_name", NULL };

static const struct mase_opt rows[] = {
    MASE_OPT_BOOL(struct sample, all, "all", true, "every node"),
    MASE_OPT_INT(struct sample, width, "width", 8, 1, 32, "bits"),
    MASE_OPT_INT(struct sample, seed, "seed", 42, 0, 0x1p63, "of the random numbers"),
    MASE_OPT_FLOAT(struct sample, rate, "rate", 1e-3, 0, 1, "learning rate"),
    MASE_OPT_FLOAT(struct sample, momentum, "momentum", 0.5, 0, 0, "any number"),
    MASE_OPT_TEXT(struct sample, name, "name", "x", "a name"),
    MASE_OPT_PATH(struct sample, file, "file_name", NULL, "a file"),
    MASE_OPT_CHOICE(struct sample, by, "by", "type", ways, "how"),
    MASE_OPT_VALUE(struct sample, extra, "extra", "anything"),
    { 0 },
};

static struct mase_value *toml(struct mase_arena *a, const char *text)
{
    struct mase_err err = { 0 };
    struct mase_value *v = NULL;
    if (mase_toml_parse(&v, a, text, strlen(text), "t.toml", &err))
        fail_msg("%s: %s", text, err.msg);
    return v;
}

static void defaults_come_from_the_rows(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct sample s;
    memset(&s, 0xff, sizeof s);
    assert_int_equal(mase_opts_bind(&s, sizeof s, rows, NULL, &a, &err), MASE_OK);
    assert_true(s.all);
    assert_int_equal(s.width, 8);
    assert_int_equal(s.seed, 42);
    assert_true(s.rate == 1e-3 && s.momentum == 0.5);
    assert_string_equal(s.name, "x");
    assert_null(s.file);
    assert_string_equal(s.by, "type");
    assert_null(s.extra);
    mase_arena_release(&a);
}

static void given_values_replace_defaults(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct sample s;
    const struct mase_value *t = toml(&a, "all = false\nwidth = 32\nseed = 9223372036854775807\n"
                                          "rate = 1\nmomentum = -7.5\nname = \"y\"\n"
                                          "file_name = \"NA\"\nby = \"name\"\nextra = [1]\n");
    assert_int_equal(mase_opts_bind(&s, sizeof s, rows, t, &a, &err), MASE_OK);
    assert_false(s.all);
    assert_int_equal(s.width, 32);
    assert_true(s.seed == INT64_MAX);
    assert_true(s.rate == 1.0 && s.momentum == -7.5);
    assert_string_equal(s.name, "y");
    assert_null(s.file); /* NA is none */
    assert_string_equal(s.by, "name");
    assert_ptr_equal(s.extra, mase_value_get(t, "extra"));
    mase_arena_release(&a);
}

static void wrong_values_are_named_with_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "width = \"8\"", "1:9: width must be an integer 1..32, got string \"8\"" },
        { "width = 8.0", "1:9: width must be an integer 1..32, got float 8.0" },
        { "name = \"NA\"", "1:8: name must be a string, and \"NA\" means none" },
        { "width = 99", "1:9: width = 99 is outside 1..32" },
        { "width = 0", "1:9: width = 0 is outside 1..32" },
        { "seed = -1", "1:8: seed = -1 is outside 0.." },
        { "rate = 1.5", "1:8: rate = 1.5 is outside 0.0..1.0" },
        { "rate = 2", "1:8: rate = 2 is outside 0.0..1.0" },
        { "rate = 1e-46", "1:8: rate = 1e-46 is 0 as a 32-bit float" },
        { "rate = nan", "1:8: rate = nan is outside 0.0..1.0" },
        { "rate = true", "1:8: rate must be a number 0.0..1.0, got boolean true" },
        { "all = 1", "1:7: all must be a boolean, got integer 1" },
        { "name = [1, 2]", "1:8: name must be a string, got list [1, 2]" },
        { "name = \"a\\u0000\"", "1:8: name holds the character U+0000" },
        { "file_name = 1979-05-27", "1:13: file_name must be a path, got date \"1979-05-27\"" },
        { "\nby = \"tpye\"", "2:6: by = \"tpye\" is not one of type, name, regex_name" },
        { "by = \"type\\u0000\"",
          "1:6: by = \"type\\u0000\" is not one of type, name, regex_name" },
        { "by = 1", "1:6: by must be a string, got integer 1" },
        { "name = { long = \"123456789 123456789 123456789 123456789 1234567890\" }",
          "1:8: name must be a string, got table {\"long\": \"123456789 123456789 123456789 "
          "123456789 1234567890..." },
        { "all = true\n file_nam = 1",
          "2:2: unknown option 'file_nam', did you mean 'file_name'? allowed: all, width, seed, "
          "rate, momentum, name, file_name, by, extra" },
        { "zzzzzz = 1", "1:1: unknown option 'zzzzzz'; allowed: all, width, seed, rate, momentum, "
                        "name, file_name, by, extra" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct sample s;
        const struct mase_value *t = toml(&a, cases[i].text);
        assert_int_equal(mase_opts_bind(&s, sizeof s, rows, t, &a, &err), MASE_EVALUE);
        const char *got = mase_arena_printf(&a, "%d:%d: %s", err.loc.line, err.loc.col, err.msg);
        assert_string_equal(got, cases[i].want);
        assert_string_equal(err.loc.path, "t.toml");
        mase_arena_release(&a);
    }
}

static void a_cut_value_ends_between_characters(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct sample s;
    struct mase_str text = { 0 };
    mase_str_add(&text, "width = \""); /* one quote, then characters of two bytes: 60 is inside */
    for (int i = 0; i < 50; i++)
        mase_str_add(&text, "\xc3\xa9");
    mase_str_add(&text, "\"");
    assert_int_equal(mase_opts_bind(&s, sizeof s, rows, toml(&a, text.data), &a, &err),
                     MASE_EVALUE);
    assert_true(mase_ends_with(err.msg, "\xc3\xa9..."));
    mase_str_release(&text);
    mase_arena_release(&a);
}

static void a_required_option_must_be_there(void **state)
{
    (void)state;
    static const struct mase_opt needs[] = {
        { .key = "by",
          .type = MASE_OPT_TYPE_TEXT,
          .offset = offsetof(struct sample, by),
          .required = true },
        { 0 },
    };
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct sample s;
    const struct mase_value *t = mase_value_get(toml(&a, "x = 1\n[p]\n"), "p");
    assert_int_equal(mase_opts_bind(&s, sizeof s, needs, t, &a, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "option 'by' is missing");
    assert_int_equal(err.loc.line, 2);
    assert_int_equal(mase_opts_bind(&s, sizeof s, needs, NULL, &a, &err), MASE_EVALUE);
    mase_arena_release(&a);
}

static void the_rest_row_collects_other_keys(void **state)
{
    (void)state;
    struct opts {
        int64_t width;
        struct mase_value *rest;
    } o;
    static const struct mase_opt open[] = {
        MASE_OPT_REST(struct opts, rest, "NAME", "a table per node"),
        MASE_OPT_INT(struct opts, width, "width", 8, 0, 0, "bits"),
        { 0 },
    };
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    const struct mase_value *t = toml(&a, "linear = 1\nwidth = 4\nrelu.x = 2\nNAME = 3\n");
    assert_int_equal(mase_opts_bind(&o, sizeof o, open, t, &a, &err), MASE_OK);
    assert_int_equal(o.width, 4);
    struct mase_str out = { 0 };
    mase_repr(&out, o.rest);
    assert_string_equal(mase_str_text(&out), "{'linear': 1, 'relu': {'x': 2}, 'NAME': 3}");
    assert_int_equal(o.rest->key_at[1].line, 3);
    assert_int_equal(t->count, 4);
    assert_int_equal(mase_opts_bind(&o, sizeof o, open, NULL, &a, &err), MASE_OK);
    assert_int_equal(o.rest->count, 0);
    mase_str_release(&out);
    mase_arena_release(&a);
}

static void options_must_be_a_table(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct sample s;
    const struct mase_value *t = mase_value_get(toml(&a, "quantize = 3\n"), "quantize");
    assert_int_equal(mase_opts_bind(&s, sizeof s, rows, t, &a, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "expected a table of options, got integer 3");
    assert_int_equal(err.loc.col, 12);
    mase_arena_release(&a);
}

static void rows_describe_themselves(void **state)
{
    (void)state;
    static const char *const want[][2] = {
        { "boolean", "True" },   { "integer 1..32", "8" },
        { "integer 0..", "42" }, { "number 0.0..1.0", "0.001" },
        { "number", "0.5" },     { "string", "x" },
        { "path", "None" },      { "one of type, name, regex_name", "type" },
        { "any value", "None" },
    };
    for (int i = 0; rows[i].type; i++) {
        struct mase_str out = { 0 };
        mase_opt_describe(&out, &rows[i]);
        assert_string_equal(mase_str_text(&out), want[i][0]);
        mase_str_clear(&out);
        mase_opt_default(&out, &rows[i]);
        assert_string_equal(mase_str_text(&out), want[i][1]);
        mase_str_release(&out);
    }
}

struct every_type {
    bool flag;
    int64_t whole, maybe, yes_no;
    double real;
    const char *text, *path, *choice, *none_of_them;
    struct mase_ints list;
    const struct mase_value *numbers, *any;
};
static const struct mase_opt every_row[] = {
    MASE_OPT_BOOL(struct every_type, flag, "flag", false, ""),
    MASE_OPT_INT(struct every_type, whole, "whole", 0, 0, 0, ""),
    { .key = "maybe",
      .type = MASE_OPT_TYPE_INT,
      .offset = offsetof(struct every_type, maybe),
      .may_be_none = true },
    { .key = "yes_no",
      .type = MASE_OPT_TYPE_SWITCH,
      .offset = offsetof(struct every_type, yes_no),
      .may_be_none = true },
    MASE_OPT_FLOAT(struct every_type, real, "real", 0, 0, 0, ""),
    MASE_OPT_TEXT(struct every_type, text, "text", NULL, ""),
    MASE_OPT_PATH(struct every_type, path, "path", NULL, ""),
    MASE_OPT_CHOICE(struct every_type, choice, "choice", "type", ways, ""),
    { .key = "list",
      .type = MASE_OPT_TYPE_INTS,
      .offset = offsetof(struct every_type, list),
      .text = "[1]" },
    { .key = "numbers",
      .type = MASE_OPT_TYPE_NUMBERS,
      .offset = offsetof(struct every_type, numbers) },
    MASE_OPT_VALUE(struct every_type, any, "any", ""),
    { .key = "none_of_them",
      .type = MASE_OPT_TYPE_CHOICE,
      .offset = offsetof(struct every_type, none_of_them),
      .may_be_none = true,
      .choices = ways },
    { 0 },
};

static void a_value_of_a_field_is_the_one_that_was_bound(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct every_type s;
    const struct mase_value *t =
        toml(&a, "flag = true\nwhole = -7\nmaybe = \"NA\"\nyes_no = true\nreal = 0.1\n"
                 "text = \"NA\"\npath = \"a/b\"\nchoice = \"name\"\nlist = [3, 4]\n"
                 "numbers = [0.5, 2]\nany = \"x\"\nnone_of_them = \"NA\"\n");
    assert_int_equal(mase_opts_bind(&s, sizeof s, every_row, t, &a, &err), MASE_OK);
    for (const struct mase_opt *row = every_row; row->key; row++) {
        struct mase_value *v = mase_opt_value(&a, &s, row), *converted;
        const struct mase_value *bound = mase_value_get(t, row->key);
        if (mase_value_is_none(bound))
            assert_int_equal(v->kind, MASE_NONE);
        else
            assert_true(mase_value_equal(v, bound));
        assert_int_equal(mase_opt_convert(&converted, &a, row, bound, &err), MASE_OK);
        assert_true(mase_value_equal(v, converted));
    }
    assert_int_equal(mase_opt_default_value(&a, &every_row[0])->b, false);
    assert_string_equal(mase_opt_default_value(&a, &every_row[7])->s, "type");
    assert_int_equal(mase_opt_default_value(&a, &every_row[8])->items[0]->i, 1);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_rows),
        cmocka_unit_test(given_values_replace_defaults),
        cmocka_unit_test(wrong_values_are_named_with_what_is_allowed),
        cmocka_unit_test(a_cut_value_ends_between_characters),
        cmocka_unit_test(a_required_option_must_be_there),
        cmocka_unit_test(the_rest_row_collects_other_keys),
        cmocka_unit_test(options_must_be_a_table),
        cmocka_unit_test(rows_describe_themselves),
        cmocka_unit_test(a_value_of_a_field_is_the_one_that_was_bound),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
