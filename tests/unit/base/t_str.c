/*
 * t_str.c - text buffer, comparisons, nearest name, interning and the map. Built twice: as shipped,
 * and with tables that start at 2 slots (t_str_small).
 */
#include "check.h"
#include "run_cases.h"

#include <mase/str.h>

static void a_zeroed_buffer_is_empty_text(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    assert_string_equal(mase_str_text(&s), "");
    mase_str_clear(&s);
    mase_str_add(&s, "");
    assert_string_equal(mase_str_text(&s), "");
    mase_str_release(&s);
    mase_str_release(&s);
}

static void pieces_add_up(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_add(&s, "ab");
    mase_str_addn(&s, "cdef", 2);
    mase_str_addc(&s, 'e');
    mase_str_pad(&s, '-', 3);
    mase_str_pad(&s, '!', 0);
    mase_str_pad(&s, '!', -5);
    mase_str_printf(&s, "%d|%s", -7, "x");
    assert_string_equal(s.data, "abcde----7|x");
    assert_int_equal(s.len, strlen(s.data));
    mase_str_clear(&s);
    assert_string_equal(mase_str_text(&s), "");
    mase_str_add(&s, "again");
    assert_string_equal(mase_str_text(&s), "again");
    mase_str_release(&s);
}

static void a_buffer_grows_byte_by_byte_and_at_once(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    for (int i = 0; i < 5000; i++) {
        mase_str_addc(&s, (char)('a' + i % 26));
        assert_int_equal(s.data[s.len], '\0');
    }
    mase_str_printf(&s, "%5000s", "end");
    assert_int_equal(s.len, 10000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(s.data[i], 'a' + i % 26);
    assert_string_equal(s.data + 9997, "end");
    mase_str_release(&s);
}

static void texts_compare(void **state)
{
    (void)state;
    assert_true(mase_streq(NULL, NULL));
    assert_false(mase_streq(NULL, ""));
    assert_false(mase_streq("", NULL));
    assert_true(mase_streq("a", "a"));
    assert_false(mase_streq("a", "ab"));
    assert_true(mase_starts_with("data_in_0", "data_in"));
    assert_true(mase_starts_with("x", ""));
    assert_false(mase_starts_with("dat", "data"));
    assert_true(mase_ends_with("a.toml", ".toml"));
    assert_true(mase_ends_with(".toml", ".toml"));
    assert_false(mase_ends_with("toml", ".toml"));
    assert_true(mase_ends_with("", ""));
}

static void columns_count_code_points(void **state)
{
    (void)state;
    assert_int_equal(mase_str_columns("", 0), 0);
    assert_int_equal(mase_str_columns("abc", 2), 2);
    assert_int_equal(mase_str_columns("größe", strlen("größe")), 5);
    assert_int_equal(mase_str_columns("日本", strlen("日本")), 2);
}

static void the_nearest_name_is_what_was_meant(void **state)
{
    (void)state;
    static const char *const names[] = {
        "width",
        "frac_width",
        NULL,
        "data_in_width",
        "data_in_frac_width",
        "quantize",
        "report_graph",
        "training_optimizer",
        "x",
        "",
    };
    static const struct {
        const char *word, *meant;
    } cases[] = {
        { "widht", "width" },           /* swapped */
        { "wdth", "width" },            /* dropped */
        { "widths", "width" },          /* added */
        { "wadth", "width" },           /* changed */
        { "WIDTH", "width" },           /* case */
        { "width", "width" },           /* the word itself */
        { "frac_widht", "frac_width" }, /* not the shorter neighbour */
        { "data_in_fracwidth", "data_in_frac_width" },
        { "quantise", "quantize" },
        { "report", "report_graph" }, /* a beginning */
        { "training", "training_optimizer" },
        { "quantize_everything", "quantize" }, /* begun with a name */
        { "learning_rate", NULL },             /* nothing near */
        { "y", NULL },                         /* all of it would change */
        { "", NULL },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const char *got = mase_nearest(cases[i].word, names, COUNT(names));
        if (!mase_streq(got, cases[i].meant))
            fail_msg("%s: got %s, meant %s", cases[i].word, got ? got : "none",
                     cases[i].meant ? cases[i].meant : "none");
    }
    assert_null(mase_nearest("width", names, 0));
}

static void very_long_words_have_no_neighbour(void **state)
{
    (void)state;
    char word[1001];
    memset(word, 'a', 1000);
    word[1000] = '\0';
    const char *const names[] = { word, "aaaa" };
    assert_null(mase_nearest(word, names, 2));
    assert_string_equal(mase_nearest("aaaaa", names, 2), "aaaa");
}

static void an_unknown_word_is_told_what_is_known(void **state)
{
    (void)state;
    static const char *const names[] = { "width", NULL, "height", "depth" };
    static const struct {
        struct mase_unknown unknown;
        const char *message;
    } cases[] = {
        { { .word = "widht" }, "no 'it', did you mean 'width'?" },
        { { .word = "colour" }, "no 'it'" },
        { { .word = NULL, .otherwise = "; ask" }, "no 'it'; ask" },
        { { .word = "widht", .otherwise = "; ask" }, "no 'it', did you mean 'width'?" },
        { { .word = "widht", .before = ": not ", .after = "!" }, "no 'it': not width!" },
        { { .word = "widht", .tail = "there are ", .lists = true },
          "no 'it', did you mean 'width'? there are width, height, depth" },
        { { .word = "colour", .tail = "there are ", .lists = true },
          "no 'it'; there are width, height, depth" },
        { { .word = "colour", .tail = "there are ", .lists = true, .list_bytes = 9 },
          "no 'it'; there are width, height, ..." },
        { { .word = "colour", .tail = "see there" }, "no 'it'; see there" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct mase_unknown u = cases[i].unknown;
        struct mase_err err = { 0 };
        u.names = names;
        u.count = COUNT(names);
        u.status = i % 2 ? MASE_EUNSUPPORTED : MASE_OK;
        const enum mase_status st =
            mase_fail_unknown(&err, (struct mase_loc){ .line = 7 }, &u, "no '%s'", "it");
        assert_int_equal(st, i % 2 ? MASE_EUNSUPPORTED : MASE_EVALUE);
        assert_int_equal(err.status, st);
        assert_int_equal(err.loc.line, 7);
        assert_string_equal(err.msg, cases[i].message);
    }
}

static void equal_texts_intern_to_one_pointer(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct mase_arena a = { 0 };
    struct mase_intern in = { .arena = &a };
    const char *first[N];
    char text[32];
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof(text), "node_%d", i);
        first[i] = mase_intern(&in, text);
    }
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof(text), "node_%d", i);
        assert_string_equal(first[i], text);
        assert_ptr_equal(mase_intern(&in, text), first[i]);
    }
    assert_int_equal(in.count, N);
    mase_arena_release(&a);
}

static void interning_a_part_does_not_meet_its_whole(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_intern in = { .arena = &a };
    const char *whole = mase_intern(&in, "abc"), *part = mase_intern_n(&in, "abcdef", 2);
    assert_string_equal(part, "ab");
    assert_ptr_equal(mase_intern(&in, "ab"), part);
    assert_ptr_equal(mase_intern_n(&in, "abcdef", 3), whole);
    assert_ptr_equal(mase_intern_n(&in, "abc", 99), whole);
    assert_string_equal(mase_intern_n(&in, "abc", 0), "");
    mase_arena_release(&a);
}

static void a_map_gives_what_was_put(void **state)
{
    (void)state;
    enum { N = 2000 };
    static int value[N];
    struct mase_arena a = { 0 };
    struct mase_map m = { .arena = &a };
    assert_null(mase_map_get(&m, "anything"));
    for (int i = 0; i < N; i++)
        mase_map_put(&m, mase_arena_printf(&a, "key %d", i), &value[i]);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(mase_map_get(&m, mase_arena_printf(&a, "key %d", i)), &value[i]);
    assert_null(mase_map_get(&m, "key"));
    assert_null(mase_map_get(&m, "key 2000"));
    mase_map_put(&m, "key 7", &value[0]);
    assert_ptr_equal(mase_map_get(&m, "key 7"), &value[0]);
    assert_int_equal(m.count, N);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zeroed_buffer_is_empty_text),
        cmocka_unit_test(pieces_add_up),
        cmocka_unit_test(a_buffer_grows_byte_by_byte_and_at_once),
        cmocka_unit_test(texts_compare),
        cmocka_unit_test(columns_count_code_points),
        cmocka_unit_test(the_nearest_name_is_what_was_meant),
        cmocka_unit_test(very_long_words_have_no_neighbour),
        cmocka_unit_test(an_unknown_word_is_told_what_is_known),
        cmocka_unit_test(equal_texts_intern_to_one_pointer),
        cmocka_unit_test(interning_a_part_does_not_meet_its_whole),
        cmocka_unit_test(a_map_gives_what_was_put),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
