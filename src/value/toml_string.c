/*
 * toml_string.c - "basic", 'literal', and both over several lines.
 *
 * A string over several lines drops a line end right behind its opening quotes, reads CR LF as LF,
 * and may hold one or two of its quotes anywhere, also right before the closing three.
 */
#include <string.h>

#include "value/toml.h"
#include "value/utf8.h"

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* \uXXXX or \UXXXXXXXX; pos is after the u. */
static enum mase_status read_code_point(struct toml *t, size_t start, int digits)
{
    uint32_t cp = 0;
    for (int i = 0; i < digits; i++) {
        int d = hex_digit(mase_toml_peek(t));
        if (d < 0)
            return mase_toml_expected(t, digits == 4 ? "four hexadecimal digits after \\u"
                                                     : "eight hexadecimal digits after \\U");
        cp = cp << 4 | (uint32_t)d;
        t->pos++;
    }
    if (!mase_utf8_is_scalar(cp))
        return mase_fail_at(t->err, MASE_EPARSE, mase_toml_from(t, start),
                            "U+%04X is not a Unicode scalar value", (unsigned)cp);
    mase_utf8_add(&t->buf, cp);
    return MASE_OK;
}

/* A backslash at the end of a line swallows blanks and line ends up to the next visible byte. */
static bool skip_folded_lines(struct toml *t)
{
    size_t pos = t->pos;
    mase_toml_skip_blanks(t);
    if (!mase_toml_take_line_end(t)) {
        t->pos = pos;
        return false;
    }
    do
        mase_toml_skip_blanks(t);
    while (mase_toml_take_line_end(t));
    return true;
}

static enum mase_status read_escape(struct toml *t, bool multi)
{
    static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
    size_t start = t->pos++;
    if (multi && skip_folded_lines(t))
        return MASE_OK;
    int c = mase_toml_peek(t);
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    if (letter) {
        mase_str_addc(&t->buf, meant[letter - letters]);
        t->pos++;
        return MASE_OK;
    }
    if (c != 'u' && c != 'U')
        return mase_toml_expected(t, "one of b t n f r u U \" \\ after a backslash");
    t->pos++;
    return read_code_point(t, start, c == 'u' ? 4 : 8);
}

static enum mase_status unclosed(struct toml *t, struct mase_loc open, const char *quotes)
{
    return mase_fail_at(t->err, MASE_EPARSE, open, "this string is not closed with %s", quotes);
}

static enum mase_status read_line_string(struct toml *t, char quote)
{
    size_t start = t->pos++;
    struct mase_loc open = mase_toml_from(t, start);
    while (mase_toml_peek(t) != quote) {
        int c = mase_toml_peek(t);
        if (c < 0 || c == '\n' || c == '\r')
            return unclosed(t, open, quote == '"' ? "\"" : "'");
        if (c == '\\' && quote == '"') {
            MASE_TRY(read_escape(t, false));
            continue;
        }
        mase_str_addc(&t->buf, (char)c);
        t->pos++;
    }
    t->pos++;
    return MASE_OK;
}

/* At three quotes or more: are they the end? Up to two of five belong to the text. */
static bool closes(struct toml *t, char quote, const char *quotes)
{
    if (!mase_toml_next_is(t, quotes))
        return false;
    for (int extra = 0; extra < 2 && mase_toml_peek_at(t, 3) == quote; extra++) {
        mase_str_addc(&t->buf, quote);
        t->pos++;
    }
    t->pos += 3;
    return true;
}

static enum mase_status read_multi_string(struct toml *t, char quote, const char *quotes)
{
    size_t start = t->pos;
    t->pos += 3;
    struct mase_loc open = mase_toml_from(t, start);
    mase_toml_take_line_end(t);
    while (!closes(t, quote, quotes)) {
        int c = mase_toml_peek(t);
        if (c < 0)
            return unclosed(t, open, quotes);
        if (c == '\\' && quote == '"') {
            MASE_TRY(read_escape(t, true));
        } else if (mase_toml_take_line_end(t)) {
            mase_str_addc(&t->buf, '\n');
        } else {
            mase_str_addc(&t->buf, (char)c);
            t->pos++;
        }
    }
    return MASE_OK;
}

enum mase_status mase_toml_string(struct toml *t, bool key)
{
    char quote = (char)mase_toml_peek(t);
    const char *quotes = quote == '"' ? "\"\"\"" : "'''";
    mase_str_clear(&t->buf);
    if (!mase_toml_next_is(t, quotes))
        return read_line_string(t, quote);
    if (key)
        return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t), "a key cannot span lines");
    return read_multi_string(t, quote, quotes);
}
