/*
 * t_toml.c - TOML read and written: our cases (tests/data/toml), places, limits, damaged text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mase/value.h>

#include "run_cases.h"
#include "unit/value/cases.h"

static void open_cases(struct mase_file *f, struct cases *in, const char *path)
{
    struct mase_err err = { 0 };
    if (mase_file_open(f, path, &err))
        fail_msg("%s: %s", path, err.msg);
    *in = (struct cases){ (const char *)f->data, (const char *)f->data + f->size };
}

/* A text in memory of exactly its size, so that reading past it is seen. */
static enum mase_status parse(struct mase_value **v, struct mase_arena *a, const char *s, size_t n,
                              struct mase_err *err)
{
    char *exact = mase_arena_memdup(a, s, n);
    return mase_toml_parse(v, a, exact, n, "t.toml", err);
}

static struct mase_value *must_parse(struct mase_arena *a, const char *s)
{
    struct mase_err err = { 0 };
    struct mase_value *v = NULL;
    if (parse(&v, a, s, strlen(s), &err))
        fail_msg("%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    return v;
}

static void check_valid(const struct test_case *c)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v, *back;
    struct mase_str got = { 0 }, printed = { 0 };
    if (parse(&v, &a, c->text.data, c->text.len, &err))
        fail_msg("%s: %d:%d: %s", c->name.data, err.loc.line, err.loc.col, err.msg);
    mase_repr(&got, v);
    if (!mase_streq(mase_str_text(&got), c->want.data))
        fail_msg("%s:\ngot  %s\nwant %s", c->name.data, got.data, c->want.data);
    mase_toml_print(&printed, v);
    if (parse(&back, &a, mase_str_text(&printed), printed.len, &err) || !mase_value_equal(v, back))
        fail_msg("%s: printed as\n%s\nwhich reads back otherwise: %s", c->name.data,
                 mase_str_text(&printed), err.msg);
    mase_str_release(&got);
    mase_str_release(&printed);
    mase_arena_release(&a);
}

static void valid_texts_give_their_values(void **state)
{
    (void)state;
    struct mase_file f;
    struct cases in;
    struct test_case c = { 0 };
    int n = 0;
    open_cases(&f, &in, "data/toml/valid.txt");
    for (; case_next(&in, &c); n++)
        check_valid(&c);
    assert_true(n > 30);
    case_release(&c);
    mase_file_close(&f);
}

static void check_invalid(const struct test_case *c)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    struct mase_str got = { 0 };
    if (!parse(&v, &a, c->text.data, c->text.len, &err))
        fail_msg("%s: accepted", c->name.data);
    mase_str_printf(&got, "%d:%d: %s", err.loc.line, err.loc.col, err.msg);
    if (!mase_streq(got.data, c->want.data))
        fail_msg("%s:\ngot  %s\nwant %s", c->name.data, got.data, c->want.data);
    assert_string_equal(err.loc.path, "t.toml");
    mase_str_release(&got);
    mase_arena_release(&a);
}

static void invalid_texts_give_place_and_cause(void **state)
{
    (void)state;
    struct mase_file f;
    struct cases in;
    struct test_case c = { 0 };
    int n = 0;
    open_cases(&f, &in, "data/toml/invalid.txt");
    for (; case_next(&in, &c); n++)
        check_invalid(&c);
    assert_true(n > 100);
    case_release(&c);
    mase_file_close(&f);
}

static void values_and_keys_know_their_places(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_value *root = must_parse(&a, "x = 1\n[a.b]\n  key = \"text\" # c\nm = '''\n1'''\n"
                                             "l = [\n 10, 20]\n[[e]]\nd.k = 2000-01-01\n");
    static const struct {
        const char *path;
        int line, col, span;
    } cases[] = {
        { "x", 1, 5, 1 },     { "a", 2, 2, 1 },     { "a.b", 2, 4, 1 }, { "a.b.key", 3, 9, 6 },
        { "a.b.m", 4, 5, 3 }, { "a.b.l", 6, 5, 1 }, { "e", 8, 3, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mase_value *v = mase_value_at(root, cases[i].path);
        assert_non_null(v);
        assert_int_equal(v->at.line, cases[i].line);
        assert_int_equal(v->at.col, cases[i].col);
        assert_int_equal(v->at.span, cases[i].span);
        assert_string_equal(v->at.path, "t.toml");
    }
    const struct mase_value *b = mase_value_at(root, "a.b");
    assert_int_equal(b->key_at[0].line, 3);
    assert_int_equal(b->key_at[0].col, 3);
    assert_int_equal(b->key_at[0].span, 3);
    assert_int_equal(b->items[2]->items[1]->at.line, 7);
    assert_int_equal(b->items[2]->items[1]->at.col, 6);
    const struct mase_value *k = mase_value_at(mase_value_get(root, "e")->items[0], "d.k");
    assert_int_equal(k->at.line, 9);
    assert_int_equal(k->at.span, 10);
    mase_arena_release(&a);
}

static void repeat(struct mase_str *out, const char *s, int n)
{
    for (int i = 0; i < n; i++)
        mase_str_add(out, s);
}

/* Before, n times the piece, after: what status does it give? */
static enum mase_status nested(const char *before, const char *piece, int n, const char *after)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    struct mase_str s = { 0 };
    mase_str_add(&s, before);
    repeat(&s, piece, n);
    mase_str_add(&s, after);
    enum mase_status st = parse(&v, &a, s.data, s.len, &err);
    assert_int_equal(st, err.status);
    mase_str_release(&s);
    mase_arena_release(&a);
    return st;
}

static void depth_is_limited(void **state)
{
    (void)state;
    static const int deep[] = { 201, 1000, 100000 };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        assert_int_equal(nested("a = ", "[", deep[i], ""), MASE_ELIMIT);
        assert_int_equal(nested("a = ", "{b = ", deep[i], ""), MASE_ELIMIT);
        assert_int_equal(nested("", "a.", deep[i], "a = 1"), MASE_ELIMIT);
        assert_int_equal(nested("[", "a.", deep[i], "a]"), MASE_ELIMIT);
    }
    assert_int_equal(nested("a = ", "[", 200, ""), MASE_EPARSE); /* deep enough, just not closed */
    assert_int_equal(nested("", "a.", 200, "a = 1"), MASE_OK);
    assert_int_equal(nested("[", "a.", 199, "a]"), MASE_OK);
}

static void size_is_limited(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    assert_int_equal(mase_toml_parse(&v, &a, "", (size_t)MASE_TEXT_MAX + 1, "t.toml", &err),
                     MASE_ELIMIT);
    mase_arena_release(&a);
}

static void many_keys_are_found_quickly(void **state)
{
    (void)state;
    enum { KEYS = 100000 }; /* a search in order would take minutes */
    struct mase_arena a = { 0 };
    struct mase_str s = { 0 };
    for (int i = 0; i < KEYS; i++)
        mase_str_printf(&s, "k%d = %d\n", i, i);
    const struct mase_value *v = must_parse(&a, s.data);
    assert_int_equal(v->count, KEYS);
    assert_int_equal(mase_value_get(v, "k77777")->i, 77777);
    assert_null(mase_value_get(v, "k100000"));
    mase_str_release(&s);
    mase_arena_release(&a);
}

/* ---- damaged text ---- */

static const char sample[] = "\xef\xbb\xbf# c\xc3\xa9\r\n"
                             "a.\"b c\".'d' = \"x\\u00e9\\\"\\U0001F600\"\n"
                             "m = \"\"\"\\\n  y\"\"\"\"\nl = '''\nz''\\'''\n"
                             "n = [ -1_0, 0xF, +1.5e-3, inf, # k\n 1979-05-27 07:32:00.5+01:00, ]\n"
                             "t = { p.q = true, r = {} }\n[[e.f]]\ng = 0b1\n[e.f.h]\n[\"\"]\n";

/* It may parse or not, but the status, the error and the tree must be sound. */
static void try_text(const char *s, size_t n)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v = NULL;
    enum mase_status st = parse(&v, &a, s, n, &err);
    assert_int_equal(st, err.status);
    if (st) {
        assert_true(err.loc.line >= 1 && err.loc.col >= 1);
        assert_true(err.msg[0] != '\0');
    } else {
        assert_true(mase_value_equal(v, v));
    }
    mase_arena_release(&a);
}

static void every_prefix_gives_a_status(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    must_parse(&a, sample); /* whole, it is sound */
    mase_arena_release(&a);
    for (size_t n = 0; n < sizeof sample; n++)
        try_text(sample, n);
}

static void every_changed_byte_gives_a_status(void **state)
{
    (void)state;
    char text[sizeof sample];
    memcpy(text, sample, sizeof sample);
    for (size_t i = 0; i + 1 < sizeof sample; i++) {
        for (int c = 0; c < 256; c++) {
            text[i] = (char)c;
            try_text(text, sizeof sample - 1);
        }
        text[i] = sample[i];
    }
}

/* ---- printing ---- */

static void printed_sections_keep_the_order_of_keys(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str out = { 0 };
    struct mase_value *t = must_parse(&a, "first = { x = 1 }\nname = \"a\\tb\"\n[p.q]\nr = [1.0]\n"
                                          "[[s]]\n[[s]]\nk = 1\n[\"odd key\"]\n");
    mase_value_set(&a, mase_value_at(t, "p.q"), "none", mase_value_none(&a));
    mase_value_set(&a, mase_value_at(t, "p.q"), "atom", mase_value_atom(&a, "torch.float32"));
    mase_toml_print(&out, t);
    assert_string_equal(mase_str_text(&out),
                        "first = { x = 1 }\nname = \"a\\tb\"\n\n[p.q]\nr = [1.0]\nnone = \"NA\"\n"
                        "atom = \"torch.float32\"\n\n[[s]]\n\n[[s]]\nk = 1\n\n[\"odd key\"]\n");
    mase_str_release(&out);
    mase_arena_release(&a);
}

static void files_are_read_or_named(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    assert_int_equal(mase_toml_read(&v, &a, "data/toml/none.toml", &err), MASE_EIO);
    assert_string_equal(err.loc.path, "data/toml/none.toml");
    assert_int_equal(mase_toml_read(&v, &a, "data/toml", &err), MASE_EIO);
    assert_int_equal(mase_toml_read(&v, &a, "data/toml/README.md", &err), MASE_EPARSE);
    assert_string_equal(err.loc.path, "data/toml/README.md");
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_give_their_values),
        cmocka_unit_test(invalid_texts_give_place_and_cause),
        cmocka_unit_test(values_and_keys_know_their_places),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(many_keys_are_found_quickly),
        cmocka_unit_test(every_prefix_gives_a_status),
        cmocka_unit_test(every_changed_byte_gives_a_status),
        cmocka_unit_test(printed_sections_keep_the_order_of_keys),
        cmocka_unit_test(files_are_read_or_named),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
