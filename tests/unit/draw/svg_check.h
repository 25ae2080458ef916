/*
 * svg_check.h - what holds for every picture we write.
 */
#ifndef MASE_TEST_SVG_CHECK_H
#define MASE_TEST_SVG_CHECK_H

#include "../base/check.h"

static inline int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

/* Enough of XML to find an element that is not closed, an open quote or a bare & or <. */
static inline void check_well_formed(const char *text)
{
    const char *open[16];
    int depth = 0;
    for (const char *p = text; *p;) {
        if (*p == '&')
            assert_true(p[1] == '#' && strspn(p + 2, "0123456789") > 0 &&
                        p[2 + strspn(p + 2, "0123456789")] == ';');
        if (*p++ != '<')
            continue;
        const bool closes = *p == '/';
        const size_t name = strcspn(p + closes, " />\n");
        const char *end = strpbrk(p, "<>");
        assert_true(end && *end == '>');
        int quotes = 0;
        for (const char *q = p; q < end; q++)
            quotes += *q == '"';
        assert_int_equal(quotes % 2, 0);
        if (closes) {
            assert_true(depth > 0 && strcspn(open[depth - 1], " />\n") == name &&
                        !strncmp(open[depth - 1], p + 1, name));
            depth--;
        } else if (end[-1] != '/') {
            assert_true(depth < 16);
            open[depth++] = p;
        }
        p = end + 1;
    }
    assert_int_equal(depth, 0);
    assert_int_equal(count(text, "nan"), 0);
    assert_int_equal(count(text, "inf"), 0);
    assert_int_equal(count(text, "<script"), 0);
    assert_int_equal(count(text, "http"), 1); /* the name space */
}

#endif /* MASE_TEST_SVG_CHECK_H */
