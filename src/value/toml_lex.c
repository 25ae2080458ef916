/*
 * toml_lex.c - moving through the text of a TOML file and naming places in it.
 *
 * The bytes are checked once, before anything is read: no construct of TOML admits malformed UTF-8,
 * a control character other than tab and line end, or a CR without its LF, so the other files need
 * not check for one.
 */
#include <string.h>

#include "base/number.h"
#include "value/toml.h"
#include "value/utf8.h"

static enum mase_status check_control(struct toml *t, unsigned char c)
{
    bool line_end = c == '\n' || (c == '\r' && mase_toml_peek_at(t, 1) == '\n');
    if ((c >= 0x20 && c != 0x7f) || c == '\t' || line_end)
        return MASE_OK;
    if (c == '\r')
        return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t),
                            "a carriage return must be followed by a line feed");
    return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t),
                        "control character U+%04X is not allowed (write \"\\u%04X\" in a string)",
                        (unsigned)c, (unsigned)c);
}

static enum mase_status check_bytes(struct toml *t)
{
    while (t->pos < t->size) {
        uint32_t cp;
        int n = mase_utf8_decode(&cp, t->text + t->pos, t->size - t->pos);
        if (n == 0)
            return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t), "byte 0x%02x is not UTF-8",
                                (unsigned)(unsigned char)t->text[t->pos]);
        if (n == 1)
            MASE_TRY(check_control(t, (unsigned char)cp));
        t->pos += (size_t)n;
        if (cp == '\n') {
            t->line++;
            t->line_start = t->pos;
        }
    }
    return MASE_OK;
}

enum mase_status mase_toml_check_text(struct toml *t)
{
    enum mase_status st = check_bytes(t);
    t->pos = t->line_start = 0;
    t->line = 1;
    return st;
}

int mase_toml_peek_at(const struct toml *t, size_t off)
{
    return off < t->size - t->pos ? (unsigned char)t->text[t->pos + off] : -1;
}

int mase_toml_peek(const struct toml *t)
{
    return mase_toml_peek_at(t, 0);
}

bool mase_toml_next_is(const struct toml *t, const char *s)
{
    size_t n = strlen(s);
    return n <= t->size - t->pos && memcmp(t->text + t->pos, s, n) == 0;
}

struct mase_loc mase_toml_here(const struct toml *t)
{
    return mase_toml_from(t, t->pos);
}

struct mase_loc mase_toml_from(const struct toml *t, size_t start)
{
    return (struct mase_loc){
        .path = t->path,
        .line = t->line,
        .col = (int)(start - t->line_start) + 1,
        .span = (int)(t->pos - start),
        .off = -1,
    };
}

enum mase_status mase_toml_expected(struct toml *t, const char *what)
{
    int c = mase_toml_peek(t);
    if (c < 0)
        return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t),
                            "expected %s, got the end of the file", what);
    if (c == '\n' || c == '\r')
        return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t),
                            "expected %s, got the end of the line", what);
    uint32_t cp;
    int n = mase_utf8_decode(&cp, t->text + t->pos, t->size - t->pos);
    return mase_fail_at(t->err, MASE_EPARSE, mase_toml_here(t), "expected %s, got '%.*s'", what, n,
                        t->text + t->pos);
}

enum mase_status mase_toml_take(struct toml *t, char c, const char *what)
{
    if (mase_toml_peek(t) != c)
        return mase_toml_expected(t, what);
    t->pos++;
    return MASE_OK;
}

void mase_toml_skip_blanks(struct toml *t)
{
    while (mase_toml_peek(t) == ' ' || mase_toml_peek(t) == '\t')
        t->pos++;
}

static void skip_comment(struct toml *t)
{
    if (mase_toml_peek(t) != '#')
        return;
    const char *end = memchr(t->text + t->pos, '\n', t->size - t->pos);
    if (end && end[-1] == '\r')
        end--;
    t->pos = end ? (size_t)(end - t->text) : t->size;
}

bool mase_toml_take_line_end(struct toml *t)
{
    if (mase_toml_peek(t) == '\r')
        t->pos++; /* an LF follows, by toml_check_text */
    if (mase_toml_peek(t) != '\n')
        return false;
    t->pos++;
    t->line++;
    t->line_start = t->pos;
    return true;
}

void mase_toml_skip_all(struct toml *t)
{
    do {
        mase_toml_skip_blanks(t);
        skip_comment(t);
    } while (mase_toml_take_line_end(t));
}

enum mase_status mase_toml_end_line(struct toml *t, const char *after)
{
    mase_toml_skip_blanks(t);
    skip_comment(t);
    if (mase_toml_take_line_end(t) || mase_toml_peek(t) < 0)
        return MASE_OK;
    char what[64];
    mase_snprintf(what, sizeof what, "the end of the line after %s", after);
    return mase_toml_expected(t, what);
}
