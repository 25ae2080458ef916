/*
 * csv.c - split lines into fields, and parse fields as numbers.
 */
#include "data/csv.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <mase/log.h>

#include "base/alloc.h"
#include "base/number.h"

enum { FIELDS_MAX = 1 << 20, DIGITS_MAX = 127 };

/* The separator: a comma, unless the first line has none but another usual one outside of quotes.
 */
static char find_separator(const char *p, const char *end)
{
    int commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;
    while (p < end && (*p == '\n' || *p == '\r'))
        p++;
    for (; p < end && *p != '\n'; p++) {
        quoted ^= *p == '"';
        commas += !quoted && *p == ',';
        semicolons += !quoted && *p == ';';
        tabs += !quoted && *p == '\t';
    }
    return commas || (!semicolons && !tabs) ? ',' : semicolons ? ';' : '\t';
}

struct mase_csv mase_csv_of(const struct mase_file *f)
{
    const char *p = (const char *)f->data;
    struct mase_csv c = { .path = f->path, .at = p, .end = p + f->size, .quotes = "\"" };
    if (f->size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        c.at += 3; /* a byte order mark */
    c.separator = find_separator(c.at, c.end);
    return c;
}

void mase_csv_release(struct mase_csv *c)
{
    mase_xfree(c->field);
    mase_arena_release(&c->arena);
    *c = (struct mase_csv){ 0 };
}

struct mase_loc mase_csv_at(const struct mase_csv *c, int field)
{
    const bool known = field < c->count;
    return (struct mase_loc){ .path = c->path,
                              .line = c->line,
                              .col = known ? c->field[field].col : 1,
                              .span = known ? (int)c->field[field].size : 0,
                              .off = -1 };
}

static bool is_blank(const struct mase_csv *c, char ch)
{
    return (ch == ' ' || ch == '\t' || ch == '\r') && ch != c->separator;
}

static enum mase_status add_field(struct mase_csv *c, struct mase_csv_field f, struct mase_err *err)
{
    if (c->count == FIELDS_MAX)
        return mase_fail_at(err, MASE_ELIMIT, mase_csv_at(c, c->count),
                            "a line of more than %d fields", FIELDS_MAX);
    if (c->count == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 32;
        c->field = mase_xrealloc(c->field, (size_t)c->cap * sizeof *c->field);
    }
    c->field[c->count++] = f;
    return MASE_OK;
}

/* Read a quoted field; doubled quotes become single. *p is after the opening quote. */
static enum mase_status take_quoted(struct mase_csv *c, struct mase_csv_field *f, const char **p,
                                    const char *end, struct mase_err *err)
{
    const char quote = (*p)[-1], *start = *p, *s = start;
    size_t doubled = 0;
    for (; s < end && (*s != quote || (s + 1 < end && s[1] == quote)); s++)
        if (*s == quote) {
            doubled++;
            s++;
        }
    if (s >= end) {
        struct mase_loc at = mase_csv_at(c, c->count);
        at.col = f->col;
        return mase_fail_at(err, MASE_EPARSE, at, "the closing quote is missing");
    }
    f->text = start;
    f->size = (size_t)(s - start);
    f->quoted = true;
    if (doubled) {
        char *copy = mase_arena_alloc(&c->arena, f->size);
        f->size = 0;
        for (const char *q = start; q < s; q += 1 + (*q == quote))
            copy[f->size++] = *q;
        f->text = copy;
    }
    *p = s + 1;
    return MASE_OK;
}

static void take_plain(const struct mase_csv *c, struct mase_csv_field *f, const char **p,
                       const char *end)
{
    const char *start = *p, *s = start;
    while (s < end && *s != c->separator)
        s++;
    *p = s;
    while (s > start && is_blank(c, s[-1]))
        s--;
    f->text = start;
    f->size = (size_t)(s - start);
}

static enum mase_status split_line(struct mase_csv *c, const char *line, const char *end,
                                   struct mase_err *err)
{
    const char *nul = memchr(line, 0, (size_t)(end - line));
    if (nul) {
        struct mase_loc at = mase_csv_at(c, c->count);
        at.col = (int)(nul - line) + 1;
        return mase_fail_at(err, MASE_EPARSE, at, "a byte 0: this is no text file");
    }
    for (const char *p = line;; p++) {
        while (p < end && is_blank(c, *p))
            p++;
        struct mase_csv_field f = { .col = (int)(p - line) + 1 };
        if (p < end && strchr(c->quotes, *p) && *p) {
            p++;
            MASE_TRY(take_quoted(c, &f, &p, end, err));
        } else {
            take_plain(c, &f, &p, end);
        }
        MASE_TRY(add_field(c, f, err));
        while (p < end && is_blank(c, *p))
            p++;
        if (p == end)
            return MASE_OK;
        if (*p != c->separator) {
            struct mase_loc at = mase_csv_at(c, c->count);
            at.col = (int)(p - line) + 1;
            return mase_fail_at(err, MASE_EPARSE, at, "expected '%c' after the quoted field",
                                c->separator);
        }
    }
}

enum mase_status mase_csv_next(struct mase_csv *c, struct mase_err *err)
{
    c->count = 0;
    while (c->at < c->end) {
        const char *line = c->at;
        const char *end = memchr(line, '\n', (size_t)(c->end - line));
        end = end ? end : c->end;
        c->at = end < c->end ? end + 1 : end;
        c->line++;
        const char *p = line;
        while (p < end && is_blank(c, *p))
            p++;
        if (p == end || (c->comment && *p == c->comment))
            continue;
        return split_line(c, line, end, err);
    }
    return MASE_OK;
}

/* Parse the whole field as a decimal number; text gets its first bytes, for messages. */
static bool to_double(const struct mase_csv_field *f, char decimal, double *v,
                      char text[DIGITS_MAX + 1])
{
    const size_t n = f->size < DIGITS_MAX ? f->size : DIGITS_MAX;
    char digits[DIGITS_MAX + 1], *end;
    memcpy(text, f->text, n);
    text[n] = 0;
    memcpy(digits, text, n + 1);
    char *comma = decimal == ',' ? strchr(digits, ',') : NULL;
    if (comma)
        *comma = '.';
    *v = mase_number_read(digits, &end);
    return n == f->size && n > 0 && end == digits + n && !strpbrk(digits, "xX") &&
           !(decimal == ',' && strchr(text, '.'));
}

/* What a field tells of the role of commas. */
enum comma { NO_NUMBER, POINT, COMMA, EITHER };

static enum comma comma_of(const struct mase_csv_field *f)
{
    char text[DIGITS_MAX + 1];
    double v;
    if (to_double(f, '.', &v, text))
        return strchr(text, '.') ? POINT : NO_NUMBER;
    if (!to_double(f, ',', &v, text))
        return NO_NUMBER;
    const char *comma = strchr(text, ',');
    const size_t before = (size_t)(comma - text) - strspn(text, "+-");
    const bool group = strspn(comma + 1, "0123456789") == 3 && !comma[4] && before >= 1 &&
                       before <= 3 && text[strspn(text, "+-")] != '0';
    return group ? EITHER : COMMA;
}

enum mase_status mase_csv_find_decimal(struct mase_csv *c, struct mase_err *err)
{
    struct mase_csv rest = *c;
    int64_t seen[EITHER + 1] = { 0 };
    enum mase_status st = MASE_OK;
    if (c->separator == ',' || !memchr(c->at, ',', (size_t)(c->end - c->at)))
        return MASE_OK;
    rest.field = NULL;
    rest.cap = 0;
    rest.arena = (struct mase_arena){ 0 };
    while (!st && !(st = mase_csv_next(&rest, err)) && rest.count)
        for (int i = 0; i < rest.count; i++)
            seen[comma_of(&rest.field[i])]++;
    mase_csv_release(&rest);
    if (!st && seen[COMMA] && !seen[POINT]) {
        c->decimal = ',';
        mase_info("%s: numbers have decimal commas", c->path);
    }
    return st;
}

bool mase_csv_decimal(const struct mase_csv_field *f, double *v)
{
    char text[DIGITS_MAX + 1];
    const size_t sign = f->size && strchr("+-", f->text[0]) && f->text[0];
    const char first = f->size > sign ? f->text[sign] : 0;
    return ((first >= '0' && first <= '9') || first == '.') && to_double(f, '.', v, text);
}

bool mase_is_missing_word(const char *text, size_t size)
{
    static const char *const words[] = { "",     "?",   "nan",  "-nan", "na",   "n/a",
                                         "#n/a", "#na", "<na>", "null", "none", "nat" };
    if (size > strlen("none") || (size && mase_is_digit(text[0])))
        return false; /* fast path: most fields are numbers */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (size == strlen(words[i]) && mase_strncaseeq(text, words[i], size))
            return true;
    return false;
}

bool mase_csv_is_missing(const struct mase_csv_field *f)
{
    return mase_is_missing_word(f->text, f->size);
}

static bool is_word(const struct mase_csv_field *f, const char *word)
{
    return f->size == strlen(word) && mase_strncaseeq(f->text, word, f->size);
}

enum mase_status mase_csv_number(const struct mase_csv *c, int field, double *v, const char *what,
                                 struct mase_err *err)
{
    const struct mase_csv_field *f = &c->field[field];
    char text[DIGITS_MAX + 1];
    const struct mase_loc at = mase_csv_at(c, field);
    if (mase_csv_is_missing(f))
        return mase_fail_at(err, MASE_EVALUE, at, "the value of %s is missing", what);
    if (is_word(f, "true") || is_word(f, "false")) { /* as pandas writes booleans */
        *v = is_word(f, "true");
        return MASE_OK;
    }
    if (!to_double(f, c->decimal, v, text))
        return mase_fail_at(err, MASE_EVALUE, at, "%s is '%.40s', not a number%s", what, text,
                            strchr(text, ',') && c->separator != ','
                                ? ": its comma may be a decimal one or "
                                  "group thousands"
                                : "");
    if (isfinite(*v) && isfinite((float)*v))
        return MASE_OK;
    return isfinite(*v)
               ? mase_fail_at(err, MASE_EVALUE, at, "%s is %.40s; 32-bit floats end at %g", what,
                              text, (double)FLT_MAX)
               : mase_fail_at(err, MASE_EVALUE, at, "%s is %g; features must be finite", what, *v);
}
