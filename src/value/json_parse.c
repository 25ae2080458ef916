/*
 * json_parse.c - JSON as RFC 8259 defines it, nothing more, every value with its place.
 *
 * Stricter than the RFC where it only advises: a key stands once in an object, an integer fits in
 * 64 bits, a number in a double, a \u escape makes whole characters. No deeper than DEPTH_MAX.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>
#include <mase/value.h>

#include "base/number.h"
#include "value/utf8.h"

enum { DEPTH_MAX = 200 };

struct json {
    const char *path; /* borrowed */
    const char *text;
    size_t size, pos;
    int line, depth;
    size_t line_start;
    struct mase_arena *a;
    struct mase_str buf; /* the string or number being read */
    struct mase_err *err;
};

static enum mase_status read_value(struct json *j, struct mase_value **out);

static int peek(const struct json *j)
{
    return j->pos < j->size ? (unsigned char)j->text[j->pos] : -1;
}

static struct mase_loc from(const struct json *j, size_t start)
{
    return (struct mase_loc){
        .path = j->path,
        .line = j->line,
        .col = (int)(start - j->line_start) + 1,
        .span = (int)(j->pos - start),
        .off = -1,
    };
}

static enum mase_status expected(struct json *j, const char *what)
{
    uint32_t cp;
    int n = mase_utf8_decode(&cp, j->text + j->pos, j->size - j->pos);
    struct mase_loc at = from(j, j->pos);
    if (peek(j) < 0)
        return mase_fail_at(j->err, MASE_EPARSE, at, "expected %s, got the end of the file", what);
    if (n == 0 || cp < 0x20 || cp == 0x7f)
        return mase_fail_at(j->err, MASE_EPARSE, at, "expected %s, got byte 0x%02x", what,
                            (unsigned)peek(j));
    return mase_fail_at(j->err, MASE_EPARSE, at, "expected %s, got '%.*s'", what, n,
                        j->text + j->pos);
}

static void skip_blanks(struct json *j)
{
    for (int c; (c = peek(j)) == ' ' || c == '\t' || c == '\r' || c == '\n';) {
        j->pos++;
        if (c == '\n') {
            j->line++;
            j->line_start = j->pos;
        }
    }
}

static bool take(struct json *j, char c)
{
    if (peek(j) != c)
        return false;
    j->pos++;
    return true;
}

static struct mase_value *new_value(struct json *j, enum mase_value_kind kind, size_t start)
{
    struct mase_value *v = mase_new(j->a, struct mase_value);
    v->kind = kind;
    v->at = from(j, start);
    return v;
}

/* ---- strings ---- */

static enum mase_status read_hex(struct json *j, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        int c = peek(j);
        const char *d = c > 0 ? strchr(digits, c) : NULL;
        if (!d)
            return expected(j, "four hexadecimal digits after \\u");
        int value = (int)(d - digits);
        *unit = *unit << 4 | (uint32_t)(value < 16 ? value : value - 6);
        j->pos++;
    }
    return MASE_OK;
}

/* \uXXXX, or a surrogate pair of them; pos is after the u. */
static enum mase_status read_unicode(struct json *j, size_t start)
{
    uint32_t cp, low;
    MASE_TRY(read_hex(j, &cp));
    if (cp >= 0xd800 && cp < 0xdc00 && take(j, '\\') && take(j, 'u')) {
        MASE_TRY(read_hex(j, &low));
        if (low >= 0xdc00 && low < 0xe000)
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!mase_utf8_is_scalar(cp))
        return mase_fail_at(j->err, MASE_EPARSE, from(j, start), "half of a surrogate pair");
    mase_utf8_add(&j->buf, cp);
    return MASE_OK;
}

static enum mase_status read_escape(struct json *j)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t start = j->pos++;
    int c = peek(j);
    if (take(j, 'u'))
        return read_unicode(j, start);
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    if (!letter)
        return expected(j, "one of \" \\ / b f n r t u after a backslash");
    mase_str_addc(&j->buf, meant[letter - letters]);
    j->pos++;
    return MASE_OK;
}

/* A string at pos, its content left in j->buf. */
static enum mase_status read_text(struct json *j)
{
    size_t start = j->pos++;
    mase_str_clear(&j->buf);
    while (!take(j, '"')) {
        uint32_t cp;
        int n = mase_utf8_decode(&cp, j->text + j->pos, j->size - j->pos);
        if (peek(j) < 0 || peek(j) == '\n')
            return mase_fail_at(j->err, MASE_EPARSE, from(j, start), "this string is not closed");
        if (n == 0 || cp < 0x20)
            return mase_fail_at(j->err, MASE_EPARSE, from(j, j->pos), "byte 0x%02x is not %s",
                                (unsigned)peek(j), n ? "allowed in a string" : "UTF-8");
        if (cp == '\\') {
            MASE_TRY(read_escape(j));
            continue;
        }
        mase_str_addn(&j->buf, j->text + j->pos, (size_t)n);
        j->pos += (size_t)n;
    }
    return MASE_OK;
}

static enum mase_status read_string(struct json *j, struct mase_value **out)
{
    size_t start = j->pos;
    MASE_TRY(read_text(j));
    *out = mase_value_string_n(j->a, mase_str_text(&j->buf), j->buf.len);
    (*out)->at = from(j, start);
    return MASE_OK;
}

/* ---- numbers and words ---- */

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool take_digits(struct json *j)
{
    if (!is_digit(peek(j)))
        return false;
    while (is_digit(peek(j)))
        j->pos++;
    return true;
}

/* Move over a number; *whole says whether it is an integer. */
static enum mase_status scan_number(struct json *j, bool *whole)
{
    *whole = true;
    take(j, '-');
    if (!take(j, '0') && !take_digits(j))
        return expected(j, "a digit");
    if (take(j, '.')) {
        *whole = false;
        if (!take_digits(j))
            return expected(j, "a digit after the point");
    }
    if (take(j, 'e') || take(j, 'E')) {
        *whole = false;
        if (!take(j, '+'))
            take(j, '-');
        if (!take_digits(j))
            return expected(j, "a digit in the exponent");
    }
    return MASE_OK;
}

static enum mase_status read_number(struct json *j, struct mase_value **out)
{
    size_t start = j->pos;
    bool whole;
    MASE_TRY(scan_number(j, &whole));
    struct mase_value *v = *out = new_value(j, whole ? MASE_INT : MASE_FLOAT, start);
    mase_str_clear(&j->buf);
    mase_str_addn(&j->buf, j->text + start, j->pos - start);
    const char *s = mase_str_text(&j->buf);
    errno = 0;
    if (whole)
        v->i = strtoll(s, NULL, 10);
    else
        v->f = mase_number_read(s, NULL);
    if (whole ? errno == 0 : isfinite(v->f))
        return MASE_OK;
    return mase_fail_at(j->err, MASE_EPARSE, v->at, "%.60s does not fit in %s", s,
                        whole ? "a 64-bit integer" : "a double");
}

static enum mase_status read_word(struct json *j, struct mase_value **out)
{
    static const struct {
        const char *text;
        enum mase_value_kind kind;
        bool b;
    } words[] = { { "null", MASE_NONE, false },
                  { "true", MASE_BOOL, true },
                  { "false", MASE_BOOL, false } };
    size_t start = j->pos;
    while (peek(j) >= 'a' && peek(j) <= 'z')
        j->pos++;
    size_t n = j->pos - start;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].text) == n && memcmp(words[i].text, j->text + start, n) == 0) {
            *out = new_value(j, words[i].kind, start);
            (*out)->b = words[i].b;
            return MASE_OK;
        }
    j->pos = start;
    return expected(j, "a value");
}

/* ---- arrays and objects ---- */

static enum mase_status read_array(struct json *j, struct mase_value **out)
{
    size_t start = j->pos++;
    struct mase_value *list = *out = new_value(j, MASE_LIST, start);
    skip_blanks(j);
    if (take(j, ']'))
        return MASE_OK;
    for (;;) {
        struct mase_value *item;
        MASE_TRY(read_value(j, &item));
        mase_value_push(j->a, list, item);
        skip_blanks(j);
        if (take(j, ']'))
            return MASE_OK;
        if (!take(j, ','))
            return expected(j, "',' or ']'");
    }
}

static enum mase_status read_member(struct json *j, struct mase_value *table)
{
    skip_blanks(j);
    if (peek(j) != '"')
        return expected(j, "a key in double quotes");
    size_t start = j->pos;
    MASE_TRY(read_text(j));
    struct mase_loc at = from(j, start);
    const char *key = mase_arena_strndup(j->a, mase_str_text(&j->buf), j->buf.len);
    if (strlen(key) != j->buf.len)
        return mase_fail_at(j->err, MASE_EUNSUPPORTED, at,
                            "a key with the character U+0000 cannot be represented");
    int taken = mase_value_find(table, key);
    if (taken >= 0)
        return mase_fail_at(j->err, MASE_EPARSE, at, "key '%.100s' is already set at line %d", key,
                            table->key_at[taken].line);
    skip_blanks(j);
    if (!take(j, ':'))
        return expected(j, "':' after the key");
    struct mase_value *v;
    MASE_TRY(read_value(j, &v));
    mase_value_set(j->a, table, key, v);
    table->key_at[table->count - 1] = at;
    return MASE_OK;
}

static enum mase_status read_object(struct json *j, struct mase_value **out)
{
    size_t start = j->pos++;
    struct mase_value *table = *out = new_value(j, MASE_TABLE, start);
    skip_blanks(j);
    if (take(j, '}'))
        return MASE_OK;
    for (;;) {
        MASE_TRY(read_member(j, table));
        skip_blanks(j);
        if (take(j, '}'))
            return MASE_OK;
        if (!take(j, ','))
            return expected(j, "',' or '}'");
    }
}

static enum mase_status read_nested(struct json *j, struct mase_value **out)
{
    if (j->depth == DEPTH_MAX)
        return mase_fail_at(j->err, MASE_ELIMIT, from(j, j->pos), "nested deeper than %d levels",
                            DEPTH_MAX);
    j->depth++;
    enum mase_status st = peek(j) == '[' ? read_array(j, out) : read_object(j, out);
    j->depth--;
    return st;
}

static enum mase_status read_value(struct json *j, struct mase_value **out)
{
    skip_blanks(j);
    int c = peek(j);
    if (c == '[' || c == '{')
        return read_nested(j, out);
    if (c == '"')
        return read_string(j, out);
    if (c == '-' || is_digit(c))
        return read_number(j, out);
    return read_word(j, out);
}

static enum mase_status read_document(struct json *j, struct mase_value **out)
{
    MASE_TRY(read_value(j, out));
    skip_blanks(j);
    return peek(j) < 0 ? MASE_OK : expected(j, "nothing after the value");
}

enum mase_status mase_json_parse(struct mase_value **root, struct mase_arena *a, const char *text,
                                 size_t size, const char *path, struct mase_err *err)
{
    struct json j = {
        .path = path, .text = text ? text : "", .size = size, .line = 1, .a = a, .err = err
    };
    if (size > MASE_TEXT_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "larger than %d bytes", MASE_TEXT_MAX);
    enum mase_status st = read_document(&j, root);
    mase_str_release(&j.buf);
    return st;
}

enum mase_status mase_json_read(struct mase_value **root, struct mase_arena *a, const char *path,
                                struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    enum mase_status st =
        mase_json_parse(root, a, (const char *)f.data, f.size, mase_arena_strdup(a, path), err);
    mase_file_close(&f);
    return st;
}
