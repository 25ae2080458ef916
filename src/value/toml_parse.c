/*
 * toml_parse.c - TOML 1.0: the document, its lines and its values.
 *
 * The grammar is small enough to be read by looking at one byte:
 *
 *     line      [ key ]   |   [[ key ]]   |   key = value   |   nothing      # comment
 *     value     " ' string, [ array, { inline table, t f boolean, anything else a number or date
 *
 * Arrays may span lines, inline tables may not. Recursion goes no deeper than TOML_DEPTH_MAX.
 */
#include <string.h>

#include <mase/file.h>

#include "value/toml.h"

static enum mase_status read_value(struct toml *t, struct mase_value **out,
                                   const struct toml_node *parent);

static struct mase_value *new_value(struct toml *t, enum mase_value_kind kind, struct mase_loc at)
{
    struct mase_value *v = mase_new(t->a, struct mase_value);
    v->kind = kind;
    v->at = at;
    return v;
}

static enum mase_status read_string(struct toml *t, struct mase_value **out)
{
    size_t start = t->pos, line_start = t->line_start;
    int line = t->line;
    MASE_TRY(mase_toml_string(t, false));
    struct mase_loc at = mase_toml_from(t, start);
    if (t->line != line) /* only the opening quotes are on the line that the place names */
        at = (struct mase_loc){ t->path, line, (int)(start - line_start) + 1, 3, -1 };
    *out = mase_value_string_n(t->a, mase_str_text(&t->buf), t->buf.len);
    (*out)->at = at;
    return MASE_OK;
}

static bool ends_token(int c)
{
    return c < 0 || strchr(" \t\r\n,]}#=[{\"'", c) != NULL;
}

/* A number, date or boolean reaches to the next blank or punctuation; a date may go on with its
 * time behind one blank. */
static size_t take_token(struct toml *t)
{
    size_t start = t->pos;
    while (!ends_token(mase_toml_peek(t)))
        t->pos++;
    size_t n = t->pos - start;
    int digit = mase_toml_peek_at(t, 1);
    if (n == 10 && mase_toml_is_date(t->text + start, n) && mase_toml_peek(t) == ' ' &&
        digit >= '0' && digit <= '9')
        for (t->pos++; !ends_token(mase_toml_peek(t));)
            t->pos++;
    return t->pos - start;
}

static enum mase_status read_scalar(struct toml *t, struct mase_value **out)
{
    const char *s = t->text + t->pos;
    size_t start = t->pos, n = take_token(t);
    if (n == 0)
        return mase_toml_expected(t, "a value");
    struct mase_value *v = *out = new_value(t, MASE_BOOL, mase_toml_from(t, start));
    if ((n == 4 && memcmp(s, "true", 4) == 0) || (n == 5 && memcmp(s, "false", 5) == 0)) {
        v->b = n == 4;
        return MASE_OK;
    }
    if (!mase_toml_is_date(s, n))
        return mase_toml_number(t, v, s, n);
    v->kind = MASE_DATE;
    v->s = mase_arena_strndup(t->a, s, n);
    v->len = n;
    return mase_toml_check_date(t, s, n, v->at);
}

static enum mase_status read_array(struct toml *t, struct mase_value **out,
                                   const struct toml_node *parent)
{
    struct toml_node *list;
    size_t start = t->pos++;
    MASE_TRY(
        mase_toml_node_new(t, &list, parent, MASE_LIST, TOML_CLOSED, mase_toml_from(t, start)));
    *out = &list->v;
    for (;;) {
        struct mase_value *item;
        mase_toml_skip_all(t);
        if (mase_toml_peek(t) == ']')
            break;
        MASE_TRY(read_value(t, &item, list));
        mase_value_push(t->a, &list->v, item);
        mase_toml_skip_all(t);
        if (mase_toml_peek(t) != ',')
            break;
        t->pos++;
    }
    return mase_toml_take(t, ']', list->v.count ? "',' or ']' in the array" : "']'");
}

static enum mase_status read_key_value(struct toml *t, struct toml_node *table)
{
    struct toml_key key;
    struct mase_value *v;
    MASE_TRY(mase_toml_walk_key(t, &table, &key, false));
    MASE_TRY(mase_toml_take(t, '=', "'=' after the key"));
    MASE_TRY(mase_toml_check_free(t, table, &key));
    mase_toml_skip_blanks(t);
    MASE_TRY(read_value(t, &v, table));
    mase_toml_add(t, table, &key, v);
    return MASE_OK;
}

static enum mase_status read_inline_table(struct toml *t, struct mase_value **out,
                                          const struct toml_node *parent)
{
    struct toml_node *table;
    size_t start = t->pos++;
    /* open to its own dotted keys only: no other statement can reach it before it is added and
     * closed */
    MASE_TRY(
        mase_toml_node_new(t, &table, parent, MASE_TABLE, TOML_CLOSED, mase_toml_from(t, start)));
    *out = &table->v;
    mase_toml_skip_blanks(t);
    if (mase_toml_peek(t) == '}') {
        t->pos++;
        return MASE_OK;
    }
    for (;;) {
        MASE_TRY(read_key_value(t, table));
        mase_toml_skip_blanks(t);
        if (mase_toml_peek(t) != ',')
            return mase_toml_take(t, '}', "',' or '}' in the inline table");
        t->pos++;
    }
}

static enum mase_status read_value(struct toml *t, struct mase_value **out,
                                   const struct toml_node *parent)
{
    switch (mase_toml_peek(t)) {
    case '"':
    case '\'':
        return read_string(t, out);
    case '[':
        return read_array(t, out, parent);
    case '{':
        return read_inline_table(t, out, parent);
    default:
        return read_scalar(t, out);
    }
}

/* [a.b] or [[a.b]]: *table becomes what it opens. */
static enum mase_status read_header(struct toml *t, struct toml_node **table,
                                    struct toml_node *root)
{
    struct toml_key key;
    bool element = mase_toml_next_is(t, "[[");
    t->pos += element ? 2 : 1;
    *table = root;
    MASE_TRY(mase_toml_walk_key(t, table, &key, true));
    MASE_TRY(mase_toml_take(t, ']', "']' after the table's name"));
    if (!element)
        return mase_toml_open_table(t, table, &key);
    MASE_TRY(mase_toml_take(t, ']', "']]' after the name of the array of tables"));
    return mase_toml_open_element(t, table, &key);
}

static enum mase_status read_document(struct toml *t, struct toml_node *root)
{
    struct toml_node *table = root;
    if (mase_toml_next_is(t, "\xef\xbb\xbf")) /* a byte order mark */
        t->pos = 3;
    for (;;) {
        mase_toml_skip_all(t);
        if (mase_toml_peek(t) < 0)
            return MASE_OK;
        bool header = mase_toml_peek(t) == '[';
        MASE_TRY(header ? read_header(t, &table, root) : read_key_value(t, table));
        MASE_TRY(mase_toml_end_line(t, header ? "a table's name" : "the value"));
    }
}

enum mase_status mase_toml_parse(struct mase_value **root, struct mase_arena *a, const char *text,
                                 size_t size, const char *path, struct mase_err *err)
{
    struct toml t = {
        .path = path, .text = text ? text : "", .size = size, .line = 1, .a = a, .err = err
    };
    struct toml_node *top;
    enum mase_status st;
    if (size > MASE_TEXT_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "larger than %d bytes", MASE_TEXT_MAX);
    struct mase_loc at = { .path = path, .line = 1, .col = 1, .off = -1 };
    if (!(st = mase_toml_check_text(&t)) &&
        !(st = mase_toml_node_new(&t, &top, NULL, MASE_TABLE, TOML_HEADER, at)) &&
        !(st = read_document(&t, top)))
        *root = &top->v;
    mase_str_release(&t.buf);
    return st;
}

enum mase_status mase_toml_read(struct mase_value **root, struct mase_arena *a, const char *path,
                                struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    enum mase_status st =
        mase_toml_parse(root, a, (const char *)f.data, f.size, mase_arena_strdup(a, path), err);
    mase_file_close(&f);
    return st;
}
