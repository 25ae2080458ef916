/*
 * csv.c - splitting lines into fields, and fields into numbers.
 */
#include "data/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FIELDS_MAX = 1 << 20, DIGITS_MAX = 127 };

struct mase_csv mase_csv_of(const struct mase_file *f)
{
    const char *p = (const char *)f->data;
    struct mase_csv c = { .path = f->path, .at = p, .end = p + f->size, .quotes = "\"" };
    if (f->size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        c.at += 3; /* a byte order mark */
    return c;
}

void mase_csv_release(struct mase_csv *c)
{
    free(c->field);
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

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r';
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

/* What is between the quotes, with doubled ones made single. *p is after the opening quote. */
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

static void take_plain(struct mase_csv_field *f, const char **p, const char *end)
{
    const char *start = *p, *s = start;
    while (s < end && *s != ',')
        s++;
    *p = s;
    while (s > start && is_blank(s[-1]))
        s--;
    f->text = start;
    f->size = (size_t)(s - start);
}

static enum mase_status split_line(struct mase_csv *c, const char *line, const char *end,
                                   struct mase_err *err)
{
    for (const char *p = line;; p++) {
        while (p < end && is_blank(*p))
            p++;
        struct mase_csv_field f = { .col = (int)(p - line) + 1 };
        if (p < end && strchr(c->quotes, *p) && *p) {
            p++;
            MASE_TRY(take_quoted(c, &f, &p, end, err));
        } else {
            take_plain(&f, &p, end);
        }
        MASE_TRY(add_field(c, f, err));
        while (p < end && is_blank(*p))
            p++;
        if (p == end)
            return MASE_OK;
        if (*p != ',') {
            struct mase_loc at = mase_csv_at(c, c->count);
            at.col = (int)(p - line) + 1;
            return mase_fail_at(err, MASE_EPARSE, at, "expected a comma after the quoted field");
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
        while (p < end && is_blank(*p))
            p++;
        if (p == end || (c->comment && *p == c->comment))
            continue;
        return split_line(c, line, end, err);
    }
    return MASE_OK;
}

enum mase_status mase_csv_number(const struct mase_csv *c, int field, double *v, const char *what,
                                 struct mase_err *err)
{
    const struct mase_csv_field *f = &c->field[field];
    char text[DIGITS_MAX + 1];
    if (f->size == 0 || (f->size == 1 && f->text[0] == '?'))
        return mase_fail_at(err, MASE_EVALUE, mase_csv_at(c, field), "the value of %s is missing",
                            what);
    const size_t n = f->size < DIGITS_MAX ? f->size : DIGITS_MAX;
    memcpy(text, f->text, n);
    text[n] = 0;
    char *end;
    *v = strtod(text, &end);
    if (n != f->size || *end || end == text)
        return mase_fail_at(err, MASE_EVALUE, mase_csv_at(c, field), "%s is '%.40s', not a number",
                            what, text);
    if (!isfinite(*v))
        return mase_fail_at(err, MASE_EVALUE, mase_csv_at(c, field),
                            "%s is %g; features must be finite", what, *v);
    return MASE_OK;
}
