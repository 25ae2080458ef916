/*
 * t_markup.c - text for HTML and SVG stands for itself, whatever is in it.
 */
#include "../base/check.h"
#include "run_cases.h"

#include "value/markup.h"

static const struct {
    const char *text, *expected;
} cases[] = {
    { "", "" },
    { "plain text, 1.5", "plain text, 1.5" },
    { "<script>alert(\"1\")</script>", "&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;" },
    { "a & b &amp; it's", "a &#38; b &#38;amp; it&#39;s" },
    { "one\ttwo\nthree", "one\ttwo\nthree" },
    { "\xc3\xa9\xe2\x86\x92\xf0\x9f\x99\x82", "\xc3\xa9\xe2\x86\x92\xf0\x9f\x99\x82" },
    { "bell\a, delete\x7f", "bell\xef\xbf\xbd, delete\xef\xbf\xbd" },
    { "cut \xe2\x86", "cut \xef\xbf\xbd\xef\xbf\xbd" },
    { "\xff\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
};

static void escapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_str out = { 0 };
        mase_markup_add(&out, cases[i].text);
        assert_string_equal(mase_str_text(&out), cases[i].expected);
        mase_str_release(&out);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(escapes) };
    return run_cases(argc, argv, tests, NULL, NULL);
}
