/*
 * pformat.c - pprint.pformat(v): width 80, indent 1, keys sorted.
 *
 * A value is written on one line if its repr fits between the column where it starts and the right
 * margin, less the brackets and commas that must follow it (its allowance). Otherwise a container
 * puts each item on a line of its own and a string is split into parts at blanks and line ends;
 * everything else is written as it is.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/value.h>

#include "value/utf8.h"

enum { WIDTH = 80 };

/* Position of a value: its first column, the width needed after it, its depth. */
struct spot {
    long column, allowance;
    bool top;
};

static void format(struct mase_str *out, const struct mase_value *v, struct spot at);

static void new_line(struct mase_str *out, long column)
{
    mase_str_addc(out, '\n');
    mase_str_pad(out, ' ', column);
}

static void format_table(struct mase_str *out, const struct mase_value *v, struct spot at)
{
    mase_str_addc(out, '{');
    for (int i = 0; i < v->count; i++) {
        bool last = i == v->count - 1;
        size_t start = out->len;
        mase_repr_string(out, v->keys[i], strlen(v->keys[i]));
        long key_width = mase_str_columns(out->data + start, out->len - start);
        mase_str_add(out, ": ");
        format(out, v->items[i],
               (struct spot){ at.column + 1 + key_width + 2, last ? at.allowance + 1 : 1, false });
        if (!last) {
            mase_str_addc(out, ',');
            new_line(out, at.column + 1);
        }
    }
    mase_str_addc(out, '}');
}

static void format_list(struct mase_str *out, const struct mase_value *v, struct spot at)
{
    bool tuple = v->kind == MASE_TUPLE;
    const char *close = !tuple ? "]" : v->count == 1 ? ",)" : ")";
    mase_str_addc(out, tuple ? '(' : '[');
    for (int i = 0; i < v->count; i++) {
        bool last = i == v->count - 1;
        long allowance = last ? at.allowance + (long)strlen(close) : 1;
        format(out, v->items[i], (struct spot){ at.column + 1, allowance, false });
        if (!last) {
            mase_str_addc(out, ',');
            new_line(out, at.column + 1);
        }
    }
    mase_str_add(out, close);
}

/* ---- long strings ---- */

struct slice {
    const char *s;
    size_t n;
};

static bool is_space(uint32_t cp)
{
    return (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x20) || cp == 0x85 || cp == 0xa0 ||
           cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 ||
           cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

static bool is_line_end(uint32_t cp)
{
    return (cp >= 10 && cp <= 13) || (cp >= 0x1c && cp <= 0x1e) || cp == 0x85 || cp == 0x2028 ||
           cp == 0x2029;
}

/* The code point at s; a stray byte counts as one that is neither blank nor line end. */
static size_t next_code(uint32_t *cp, struct slice s)
{
    int n = mase_utf8_decode(cp, s.s, s.n);
    if (n)
        return (size_t)n;
    *cp = 0xfffd;
    return 1;
}

/* Take the first line, its end included, as str.splitlines(True) does. */
static struct slice take_line(struct slice *rest)
{
    struct slice line = { rest->s, 0 };
    while (rest->n) {
        uint32_t cp;
        size_t n = next_code(&cp, *rest);
        if (cp == '\r' && rest->n > 1 && rest->s[1] == '\n')
            n = 2;
        line.n += n;
        rest->s += n;
        rest->n -= n;
        if (is_line_end(cp))
            break;
    }
    return line;
}

/* Take the first word with following blanks: the regular expression \S*\s*. */
static struct slice take_word(struct slice *rest)
{
    struct slice word = { rest->s, 0 };
    bool blank = false;
    while (rest->n) {
        uint32_t cp;
        size_t n = next_code(&cp, *rest);
        if (blank && !is_space(cp))
            break;
        blank = is_space(cp);
        word.n += n;
        rest->s += n;
        rest->n -= n;
    }
    return word;
}

static long repr_width(struct slice s)
{
    struct mase_str rep = { 0 };
    mase_repr_string(&rep, s.s, s.n);
    long width = mase_str_columns(rep.data, rep.len);
    mase_str_release(&rep);
    return width;
}

/* The parts of one string, each a slice of it. */
struct parts {
    struct mase_arena arena;
    struct slice *p;
    int n, cap;
};

static void add_part(struct parts *out, struct slice s)
{
    out->p = mase_arena_grow(&out->arena, out->p, out->n, &out->cap, sizeof *out->p);
    out->p[out->n++] = s;
}

static void split_line(struct parts *out, struct slice line, long width, long last_width)
{
    struct slice current = { line.s, 0 };
    while (line.n) {
        struct slice word = take_word(&line);
        struct slice longer = { current.s, current.n + word.n };
        if (repr_width(longer) <= (line.n ? width : last_width)) {
            current = longer;
            continue;
        }
        if (current.n)
            add_part(out, current);
        current = word;
    }
    if (current.n)
        add_part(out, current);
}

static void format_string(struct mase_str *out, const struct mase_value *v, struct spot at)
{
    struct parts parts = { 0 };
    struct slice rest = { v->s, v->len };
    long column = at.column + at.top; /* a string alone gets parentheses round its parts */
    long width = WIDTH - column;
    long last_width = width - at.allowance - at.top;
    while (rest.n) {
        struct slice line = take_line(&rest);
        long room = rest.n ? width : last_width;
        if (repr_width(line) <= room)
            add_part(&parts, line);
        else
            split_line(&parts, line, width, room);
    }
    bool wrap = at.top && parts.n > 1;
    mase_str_add(out, wrap ? "(" : "");
    for (int i = 0; i < parts.n; i++) {
        if (i)
            new_line(out, column);
        mase_repr_string(out, parts.p[i].s, parts.p[i].n);
    }
    mase_str_add(out, wrap ? ")" : "");
    mase_arena_release(&parts.arena);
}

static void format(struct mase_str *out, const struct mase_value *v, struct spot at)
{
    size_t start = out->len;
    mase_repr(out, v);
    if (mase_str_columns(out->data + start, out->len - start) <= WIDTH - at.column - at.allowance)
        return;
    bool empty = v->kind == MASE_STRING ? v->len == 0 : v->count == 0;
    if (empty) /* cannot be broken, however narrow the place; so are numbers and atoms */
        return;
    out->len = start;
    if (v->kind == MASE_TABLE)
        format_table(out, v, at);
    else if (v->kind == MASE_STRING)
        format_string(out, v, at);
    else
        format_list(out, v, at);
}

/* ---- sorted keys ---- */

struct entry {
    const char *key;
    struct mase_value *value;
};

static int compare_keys(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return strcmp(x->key, y->key);
}

/* A copy whose tables are ordered by the code points of their keys. */
static struct mase_value *sorted(struct mase_arena *a, const struct mase_value *v)
{
    struct mase_value *copy = mase_arena_memdup(a, v, sizeof *v);
    struct entry *e = mase_new_array(a, struct entry, (size_t)v->count);
    for (int i = 0; i < v->count; i++)
        e[i] = (struct entry){ v->keys ? v->keys[i] : "", sorted(a, v->items[i]) };
    if (v->kind == MASE_TABLE)
        qsort(e, (size_t)v->count, sizeof *e, compare_keys);
    copy->items = mase_new_array(a, struct mase_value *, (size_t)v->count);
    copy->keys = mase_new_array(a, const char *, (size_t)v->count);
    for (int i = 0; i < v->count; i++) {
        copy->items[i] = e[i].value;
        copy->keys[i] = e[i].key;
    }
    return copy;
}

void mase_pformat(struct mase_str *out, const struct mase_value *v)
{
    struct mase_arena scratch = { 0 };
    format(out, sorted(&scratch, v), (struct spot){ .top = true });
    mase_arena_release(&scratch);
}
