/*
 * t_python.c - what we print as Python against what Python printed (tests/data/python).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>
#include <mase/value.h>

#include "run_cases.h"

/* ---- the reference files, line by line ---- */

struct lines {
    struct mase_file file;
    size_t pos;
};

static void lines_open(struct lines *in, const char *path)
{
    struct mase_err err = { 0 };
    in->pos = 0;
    if (mase_file_open(&in->file, path, &err))
        fail_msg("%s: %s", path, err.msg);
}

static bool lines_next(struct lines *in, const char **line, size_t *n)
{
    if (in->pos == in->file.size)
        return false;
    *line = (const char *)in->file.data + in->pos;
    const char *end = memchr(*line, '\n', in->file.size - in->pos);
    assert_non_null(end);
    *n = (size_t)(end - *line);
    in->pos += *n + 1;
    return true;
}

/* Turn the stand-ins {"@tuple": [...]}, {"@atom": s} and {"@float": s} into what they mean. */
static void decode(struct mase_value *v)
{
    for (int i = 0; i < v->count; i++)
        decode(v->items[i]);
    if (v->kind != MASE_TABLE || v->count != 1 || v->keys[0][0] != '@')
        return;
    const char *tag = v->keys[0];
    *v = *v->items[0];
    if (mase_streq(tag, "@tuple"))
        v->kind = MASE_TUPLE;
    else if (mase_streq(tag, "@atom"))
        v->kind = MASE_ATOM;
    else
        *v = (struct mase_value){ .kind = MASE_FLOAT, .f = strtod(v->s, NULL) };
}

static void floats_have_pythons_digits(void **state)
{
    (void)state;
    struct lines in;
    struct mase_str got = { 0 };
    const char *line;
    size_t n;
    int cases = 0;
    lines_open(&in, "data/python/repr_float.txt");
    for (; lines_next(&in, &line, &n); cases++) {
        char want[64] = { 0 };
        uint64_t bits = strtoull(line, NULL, 16);
        double f;
        memcpy(&f, &bits, sizeof f);
        memcpy(want, line + 17, n - 17);
        mase_str_clear(&got);
        mase_repr_float(&got, f);
        assert_string_equal(mase_str_text(&got), want);
    }
    assert_true(cases > 200);
    mase_str_release(&got);
    mase_file_close(&in.file);
}

static void pformat_breaks_lines_as_python_does(void **state)
{
    (void)state;
    const char *path = getenv("MASE_PFORMAT_CASES"); /* a larger set, made by generate.py */
    struct lines in;
    struct mase_str want = { 0 }, got = { 0 };
    const char *line;
    size_t n;
    int cases = 0;
    lines_open(&in, path ? path : "data/python/pformat.txt");
    for (bool more = lines_next(&in, &line, &n); more; cases++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct mase_value *v;
        if (mase_json_parse(&v, &a, line, n, "pformat.txt", &err))
            fail_msg("case %d: %s", cases, err.msg);
        decode(v);
        mase_str_clear(&want);
        mase_str_clear(&got);
        while ((more = lines_next(&in, &line, &n)) && line[0] == '|') {
            mase_str_add(&want, want.len ? "\n" : "");
            mase_str_addn(&want, line + 1, n - 1);
        }
        mase_pformat(&got, v);
        assert_string_equal(mase_str_text(&got), mase_str_text(&want));
        mase_arena_release(&a);
    }
    assert_true(cases > 150);
    mase_str_release(&want);
    mase_str_release(&got);
    mase_file_close(&in.file);
}

/* ---- small claims ---- */

static void strings_choose_their_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t n;
        const char *want;
    } cases[] = {
        { "", 0, "''" },
        { "a", 1, "'a'" },
        { "it's", 4, "\"it's\"" },
        { "\"", 1, "'\"'" },
        { "'\"", 2, "'\\'\"'" },
        { "a\0b", 3, "'a\\x00b'" },
        { "\t\n\r\\", 4, "'\\t\\n\\r\\\\'" },
        { "\x1b", 1, "'\\x1b'" },
        { "\xc3\xa9", 2, "'\xc3\xa9'" },
        { "\xc2\xa0", 2, "'\\xa0'" },
        { "\xe2\x80\xa8", 3, "'\\u2028'" },
        { "\xf3\xa0\x80\x81", 4, "'\\U000e0001'" },
        { "\xff", 1, "'\\udcff'" },                       /* not UTF-8 at all */
        { "\xed\xa0\x80", 3, "'\\udced\\udca0\\udc80'" }, /* an encoded surrogate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_str got = { 0 };
        mase_repr_string(&got, cases[i].s, cases[i].n);
        assert_string_equal(mase_str_text(&got), cases[i].want);
        mase_str_release(&got);
    }
}

static struct mase_value *sample(struct mase_arena *a)
{
    struct mase_value *t = mase_value_table(a), *shape = mase_value_tuple(a);
    mase_value_push(a, shape, mase_value_int(a, 3));
    mase_value_set(a, t, "name", mase_value_string(a, "fc1"));
    mase_value_set(a, t, "dtype", mase_value_atom(a, "torch.float32"));
    mase_value_set(a, t, "from", mase_value_none(a));
    mase_value_set(a, t, "shape", shape);
    mase_value_set(a, t, "eps", mase_value_float(a, 1e-5));
    struct mase_value *list = mase_value_set(a, t, "list", mase_value_list(a));
    mase_value_push(a, list, mase_value_bool(a, true));
    mase_value_push(a, list, mase_value_string(a, "x"));
    return t;
}

static void trees_keep_their_order_in_repr_and_str(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str out = { 0 };
    const struct mase_value *v = sample(&a);
    mase_repr(&out, v);
    assert_string_equal(mase_str_text(&out),
                        "{'name': 'fc1', 'dtype': torch.float32, 'from': None, 'shape': (3,), "
                        "'eps': 1e-05, 'list': [True, 'x']}");
    mase_str_clear(&out);
    mase_value_str(&out, v);
    assert_string_equal(mase_str_text(&out), "{name: fc1, dtype: torch.float32, from: None, "
                                             "shape: (3,), eps: 1e-05, list: [True, x]}");
    mase_str_release(&out);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_have_pythons_digits),
        cmocka_unit_test(pformat_breaks_lines_as_python_does),
        cmocka_unit_test(strings_choose_their_quotes),
        cmocka_unit_test(trees_keep_their_order_in_repr_and_str),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
