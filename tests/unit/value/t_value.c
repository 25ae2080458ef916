/*
 * t_value.c - the tree itself: finding, replacing, copying, comparing.
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
#include "value/utf8.h"

static int setup(void **state)
{
    static struct mase_arena a;
    a = (struct mase_arena){ 0 };
    *state = &a;
    return 0;
}

static int teardown(void **state)
{
    mase_arena_release(*state);
    return 0;
}

static struct mase_value *numbered(struct mase_arena *a, int n)
{
    struct mase_value *t = mase_value_table(a);
    for (int i = 0; i < n; i++)
        mase_value_set(a, t, mase_arena_printf(a, "key%d", i), mase_value_int(a, i));
    return t;
}

static void keys_are_found_in_small_and_large_tables(void **state)
{
    struct mase_arena *a = *state;
    static const int sizes[] = { 0, 1, 12, 13, 14, 31, 32, 33, 64, 65, 1000 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const struct mase_value *t = numbered(a, sizes[s]);
        assert_int_equal(t->count, sizes[s]);
        for (int i = 0; i < t->count; i++) {
            assert_string_equal(t->keys[i], mase_arena_printf(a, "key%d", i));
            assert_int_equal(mase_value_find(t, t->keys[i]), i);
        }
        assert_int_equal(mase_value_find(t, "key"), -1);
        assert_int_equal(mase_value_find(t, "key00"), -1);
        assert_int_equal(mase_value_find(t, ""), -1);
    }
}

static void setting_again_replaces_in_place(void **state)
{
    struct mase_arena *a = *state;
    struct mase_value *t = numbered(a, 40);
    struct mase_value *v = mase_value_set(a, t, "key7", mase_value_bool(a, true));
    assert_int_equal(t->count, 40);
    assert_ptr_equal(t->items[7], v);
    assert_ptr_equal(mase_value_get(t, "key7"), v);
}

static void paths_lead_through_tables_only(void **state)
{
    struct mase_arena *a = *state;
    struct mase_value *root = mase_value_table(a);
    struct mase_value *in = mase_value_set(a, root, "a", mase_value_table(a));
    mase_value_set(a, in, "b", mase_value_int(a, 5));
    assert_int_equal(mase_value_at(root, "a.b")->i, 5);
    assert_ptr_equal(mase_value_at(root, "a"), in);
    assert_null(mase_value_at(root, "a.b.c"));
    assert_null(mase_value_at(root, "a."));
    assert_null(mase_value_at(root, ""));
    assert_null(mase_value_at(root, "ab"));
    assert_null(mase_value_at(NULL, "a"));
    assert_null(mase_value_get(in->items[0], "a"));
    assert_null(mase_value_get(NULL, "a"));
}

/* One of each kind, so that a copy must take all of them. */
static struct mase_value *one_of_each(struct mase_arena *a)
{
    struct mase_value *list = mase_value_list(a), *tuple = mase_value_tuple(a);
    mase_value_push(a, list, mase_value_none(a));
    mase_value_push(a, list, mase_value_bool(a, true));
    mase_value_push(a, list, mase_value_int(a, INT64_MIN));
    mase_value_push(a, list, mase_value_float(a, (double)NAN));
    mase_value_push(a, list, mase_value_string_n(a, "a\0b", 3));
    mase_value_push(a, list, mase_value_atom(a, "torch.float32"));
    mase_value_push(a, tuple, list);
    struct mase_value *t = numbered(a, 20);
    mase_value_set(a, t, "tuple", tuple);
    t->key_at[3].line = 33;
    return t;
}

static void copies_are_equal_and_apart(void **state)
{
    struct mase_arena *a = *state;
    struct mase_arena b = { 0 };
    struct mase_value *v = one_of_each(a);
    struct mase_value *copy = mase_value_copy(&b, v);
    assert_true(mase_value_equal(v, copy));
    assert_int_equal(copy->key_at[3].line, 33);
    assert_int_equal(mase_value_get(copy, "tuple")->kind, MASE_TUPLE);
    mase_value_get(copy, "key5")->i = -1;
    assert_false(mase_value_equal(v, copy));
    assert_int_equal(mase_value_get(v, "key5")->i, 5);
    mase_arena_release(&b);
}

static void equality_sees_kind_order_and_length(void **state)
{
    struct mase_arena *a = *state;
    assert_false(mase_value_equal(mase_value_int(a, 1), mase_value_float(a, 1)));
    assert_false(mase_value_equal(mase_value_list(a), mase_value_tuple(a)));
    assert_false(mase_value_equal(mase_value_string_n(a, "a\0b", 3), mase_value_string(a, "a")));
    assert_false(mase_value_equal(mase_value_string(a, "x"), mase_value_atom(a, "x")));
    assert_true(mase_value_equal(mase_value_float(a, 0.0), mase_value_float(a, -0.0)));
    struct mase_value *ab = mase_value_table(a), *ba = mase_value_table(a);
    mase_value_set(a, ab, "a", mase_value_none(a));
    assert_false(mase_value_equal(ab, ba));
    mase_value_set(a, ab, "b", mase_value_none(a));
    mase_value_set(a, ba, "b", mase_value_none(a));
    mase_value_set(a, ba, "a", mase_value_none(a));
    assert_false(mase_value_equal(ab, ba));
}

static void integers_and_floats_are_numbers(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    assert_true(mase_value_number(mase_value_int(&a, -3)) == -3);
    assert_true(mase_value_number(mase_value_float(&a, 0.5)) == 0.5);
    assert_true(isnan(mase_value_number(mase_value_bool(&a, true))));
    assert_true(isnan(mase_value_number(mase_value_string(&a, "1"))));
    assert_true(isnan(mase_value_number(NULL)));
    mase_arena_release(&a);
}

static void na_means_none_at_any_depth(void **state)
{
    struct mase_arena *a = *state;
    struct mase_value *t = mase_value_table(a), *list = mase_value_list(a);
    mase_value_set(a, t, "x", mase_value_string(a, "NA"));
    mase_value_set(a, t, "y", mase_value_string(a, "NAN"));
    mase_value_set(a, t, "l", list);
    mase_value_push(a, list, mase_value_string(a, "NA"));
    mase_value_push(a, list, mase_value_string_n(a, "NA\0", 3));
    mase_value_resolve_na(t);
    struct mase_str out = { 0 };
    mase_repr(&out, t);
    assert_string_equal(mase_str_text(&out), "{'x': None, 'y': 'NAN', 'l': [None, 'NA\\x00']}");
    mase_str_release(&out);
}

static void utf8_round_trips_every_scalar_value(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        uint32_t back;
        if (!mase_utf8_is_scalar(cp))
            continue;
        mase_str_clear(&s);
        mase_utf8_add(&s, cp);
        assert_int_equal(mase_utf8_decode(&back, s.data, s.len), s.len);
        assert_int_equal(back, cp);
        assert_int_equal(mase_utf8_decode(&back, s.data, s.len - 1), 0);
    }
    mase_str_release(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_are_found_in_small_and_large_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(setting_again_replaces_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_lead_through_tables_only, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_are_equal_and_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(equality_sees_kind_order_and_length, setup, teardown),
        cmocka_unit_test(integers_and_floats_are_numbers),
        cmocka_unit_test_setup_teardown(na_means_none_at_any_depth, setup, teardown),
        cmocka_unit_test(utf8_round_trips_every_scalar_value),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
