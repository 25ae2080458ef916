/*
 * cases.h - files of test cases: "=== name", the text, "--- expectation".
 */
#ifndef MASE_TEST_CASES_H
#define MASE_TEST_CASES_H

#include <string.h>

#include <mase/file.h>
#include <mase/str.h>

struct test_case {
    struct mase_str name, text, want;
};

/* A file being read case by case. */
struct cases {
    const char *pos, *end;
};

static inline int case_hex(char c)
{
    const char *digits = "0123456789ABCDEF", *d = c ? strchr(digits, c) : NULL;
    return d ? (int)(d - digits) : -1;
}

/* Add a line, its <0D> turned into bytes and its <> into nothing. */
static inline void case_decode(struct mase_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (n - i >= 2 && s[i] == '<' && s[i + 1] == '>') {
            i += 2;
        } else if (n - i >= 4 && s[i] == '<' && s[i + 3] == '>' && case_hex(s[i + 1]) >= 0 &&
                   case_hex(s[i + 2]) >= 0) {
            mase_str_addc(out, (char)(case_hex(s[i + 1]) * 16 + case_hex(s[i + 2])));
            i += 4;
        } else {
            mase_str_addc(out, s[i++]);
        }
    }
}

/* The next case, false at the end. The strings in c are reused and released by case_release. */
static inline bool case_next(struct cases *in, struct test_case *c)
{
    struct mase_str *parts[] = { &c->name, &c->text, &c->want };
    for (int i = 0; i < 3; i++)
        mase_str_clear(parts[i]);
    bool unended = false;
    while (in->pos < in->end) {
        const char *line = in->pos;
        const char *stop = memchr(line, '\n', (size_t)(in->end - line));
        size_t n = (size_t)((stop ? stop : in->end) - line);
        in->pos += n + (stop != NULL);
        if (n > 4 && memcmp(line, "=== ", 4) == 0) {
            mase_str_addn(&c->name, line + 4, n - 4);
        } else if (n > 4 && memcmp(line, "--- ", 4) == 0) {
            case_decode(&c->want, line + 4, n - 4);
            if (unended) /* "<>" at the end of the last line took its line end, too */
                c->text.len--;
            return true;
        } else {
            case_decode(&c->text, line, n);
            mase_str_addc(&c->text, '\n');
            unended = n >= 2 && memcmp(line + n - 2, "<>", 2) == 0;
        }
    }
    return false;
}

static inline void case_release(struct test_case *c)
{
    mase_str_release(&c->name);
    mase_str_release(&c->text);
    mase_str_release(&c->want);
}

#endif /* MASE_TEST_CASES_H */
