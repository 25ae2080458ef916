/*
 * mg_value.c - values, labels and tensor types of .mg.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "ir/text/mg.h"

enum { MAX_DEPTH = 64 };

/* ---- small steps ---- */

enum mase_status mase_mg_fail(struct mase_mg_parser *p, const char *fmt, ...)
{
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    enum mase_status st = mase_fail_at(p->err, MASE_EPARSE, p->lx.t.at, "%s", mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

enum mase_status mase_mg_expected(struct mase_mg_parser *p, const char *what)
{
    struct mase_str got = { 0 };
    mase_mg_describe(&got, &p->lx.t);
    enum mase_status st = mase_mg_fail(p, "expected %s, got %s", what, mase_str_text(&got));
    mase_str_release(&got);
    return st;
}

bool mase_mg_at(const struct mase_mg_parser *p, const char *mark_or_word)
{
    const struct mase_mg_token *t = &p->lx.t;
    return (t->kind == MASE_MG_MARK || t->kind == MASE_MG_WORD) &&
           mase_streq(t->text, mark_or_word);
}

enum mase_status mase_mg_need(struct mase_mg_parser *p, const char *mark_or_word)
{
    char what[32];
    if (mase_mg_at(p, mark_or_word))
        return mase_mg_next(&p->lx);
    mase_snprintf(what, sizeof what, "'%s'", mark_or_word);
    return mase_mg_expected(p, what);
}

enum mase_status mase_mg_label(struct mase_mg_parser *p, const char **label, const char *what)
{
    const struct mase_mg_token *t = &p->lx.t;
    bool usable = t->kind == MASE_MG_WORD || t->kind == MASE_MG_TEXT || t->kind == MASE_MG_INT ||
                  t->kind == MASE_MG_FLOAT;
    if (!usable)
        return mase_mg_expected(p, what);
    *label = t->text;
    return mase_mg_next(&p->lx);
}

/* ---- lines ---- */

enum mase_status mase_mg_magic(struct mase_mg_parser *p, const char *what, const char *magic,
                               int version)
{
    MASE_TRY(mase_mg_next(&p->lx));
    while (p->lx.t.kind == MASE_MG_NEWLINE)
        MASE_TRY(mase_mg_next(&p->lx));
    if (!mase_mg_at(p, magic))
        return mase_mg_fail(p, "%s begins with the line '%s %d'", what, magic, version);
    MASE_TRY(mase_mg_next(&p->lx));
    if (p->lx.t.kind != MASE_MG_INT || p->lx.t.i != version)
        return mase_mg_fail(p, "only version %d of %s can be read", version, magic);
    return mase_mg_next(&p->lx);
}

enum mase_status mase_mg_lines(struct mase_mg_parser *p, mase_mg_line_fn *line, void *data)
{
    for (;;) {
        if (p->lx.t.kind != MASE_MG_NEWLINE && p->lx.t.kind != MASE_MG_END)
            return mase_mg_expected(p, "the end of the line");
        while (p->lx.t.kind == MASE_MG_NEWLINE)
            MASE_TRY(mase_mg_next(&p->lx));
        if (p->lx.t.kind == MASE_MG_END)
            return MASE_OK;
        MASE_TRY(line(p, data));
    }
}

/* ---- containers ---- */

/* A list that grows: the items of a tuple, list, dict or call. */
struct growing {
    struct mase_arg *arg;
    int items_cap, keys_cap;
};

static void push(struct mase_mg_parser *p, struct growing *to, const char *key,
                 const struct mase_arg *v)
{
    struct mase_arg *arg = to->arg;
    struct mase_arena *a = &p->scratch;
    if (arg->kind == MASE_ARG_DICT) {
        arg->keys = mase_arena_grow(a, arg->keys, arg->count, &to->keys_cap, sizeof *arg->keys);
        arg->keys[arg->count] = key;
    }
    arg->items = mase_arena_grow(a, arg->items, arg->count, &to->items_cap, sizeof *arg->items);
    arg->items[arg->count++] = *v;
}

/* "name=" or "name:" before a value. */
static enum mase_status take_key(struct mase_mg_parser *p, const char **key, const char *mark)
{
    MASE_TRY(mase_mg_label(p, key, "a name"));
    return mase_mg_need(p, mark);
}

/* In a call, a word is a keyword when = follows; looking one token ahead needs no more than this.
 */
static bool keyword_follows(const struct mase_mg_parser *p)
{
    const char *c = p->lx.pos;
    while (c < p->lx.end && (*c == ' ' || *c == '\t'))
        c++;
    return p->lx.t.kind == MASE_MG_WORD && c < p->lx.end && *c == '=';
}

static enum mase_status take_item(struct mase_mg_parser *p, struct growing *seq,
                                  struct growing *kwargs)
{
    struct growing *to = seq;
    const char *key = NULL;
    struct mase_arg v;

    if (seq->arg->kind == MASE_ARG_DICT) {
        MASE_TRY(take_key(p, &key, ":"));
    } else if (kwargs->arg && keyword_follows(p)) {
        to = kwargs;
        MASE_TRY(take_key(p, &key, "="));
    } else if (kwargs->arg && kwargs->arg->count) {
        return mase_mg_fail(p, "a positional argument cannot follow a keyword");
    }
    struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_value(p, &v));
    if (kwargs->arg && v.kind == MASE_ARG_ATOM && !p->takes_atoms) /* no constructor does */
        return mase_fail_at(p->err, MASE_EPARSE, at, "a text needs quotes: '%s'", v.s);
    push(p, to, key, &v);
    return MASE_OK;
}

enum mase_status mase_mg_items(struct mase_mg_parser *p, struct mase_arg *seq,
                               struct mase_arg *kwargs, const char *close)
{
    struct growing items = { .arg = seq }, named = { .arg = kwargs };
    char what[16];

    MASE_TRY(mase_mg_next(&p->lx));
    mase_snprintf(what, sizeof what, "',' or '%s'", close);
    bool comma = false;
    while (!mase_mg_at(p, close)) {
        MASE_TRY(take_item(p, &items, &named));
        comma = mase_mg_at(p, ",");
        if (comma)
            MASE_TRY(mase_mg_next(&p->lx));
        else if (!mase_mg_at(p, close))
            return mase_mg_expected(p, what);
    }
    p->ended_with_comma = comma;
    return mase_mg_next(&p->lx);
}

/* ---- values ---- */

static enum mase_status value_slice(struct mase_mg_parser *p, struct mase_arg *v)
{
    MASE_TRY(mase_mg_next(&p->lx));
    if (!mase_mg_at(p, "("))
        return mase_mg_expected(p, "'('");
    *v = (struct mase_arg){ .kind = MASE_ARG_SLICE };
    MASE_TRY(mase_mg_items(p, v, NULL, ")"));
    if (v->count != 3)
        return mase_mg_fail(p, "slice takes start, stop and step, got %d values", v->count);
    return MASE_OK;
}

static enum mase_status value_atom(struct mase_mg_parser *p, struct mase_arg *v)
{
    MASE_TRY(mase_mg_next(&p->lx));
    MASE_TRY(mase_mg_need(p, "("));
    *v = (struct mase_arg){ .kind = MASE_ARG_ATOM };
    MASE_TRY(mase_mg_label(p, &v->s, "a text"));
    return mase_mg_need(p, ")");
}

static enum mase_status value_word(struct mase_mg_parser *p, struct mase_arg *v)
{
    static const struct {
        const char *word;
        struct mase_arg value;
    } words[] = {
        { "None", { .kind = MASE_ARG_NONE } },
        { "True", { .kind = MASE_ARG_BOOL, .b = true } },
        { "False", { .kind = MASE_ARG_BOOL, .b = false } },
        { "inf", { .kind = MASE_ARG_FLOAT, .f = INFINITY } },
        { "nan", { .kind = MASE_ARG_FLOAT, .f = NAN } },
    };
    if (mase_mg_at(p, "slice"))
        return value_slice(p, v);
    if (mase_mg_at(p, "atom"))
        return value_atom(p, v);
    *v = (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = p->lx.t.text };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mase_streq(p->lx.t.text, words[i].word))
            *v = words[i].value;
    return mase_mg_next(&p->lx);
}

static enum mase_status value_node(struct mase_mg_parser *p, struct mase_arg *v)
{
    const char *name = p->lx.t.text;
    struct mase_node *n = mase_graph_find(p->g, name);
    if (n) {
        *v = mase_arg_node(n);
        return mase_mg_next(&p->lx);
    }
    int count = 0;
    const char **names = mase_new_array(&p->scratch, const char *, (size_t)p->g->node_count);
    for (n = p->g->first; n; n = n->next)
        names[count++] = n->name;
    return mase_fail_unknown(
        p->err, p->lx.t.at,
        &(struct mase_unknown){ name, names, count, .before = "; did you mean %", .after = "?" },
        "%%%s is not defined above", name);
}

/* (1) is a number in brackets, as in Python; (1,) is a tuple. */
static enum mase_status value_tuple(struct mase_mg_parser *p, struct mase_arg *v)
{
    *v = (struct mase_arg){ .kind = MASE_ARG_TUPLE };
    MASE_TRY(mase_mg_items(p, v, NULL, ")"));
    if (v->count == 1 && !p->ended_with_comma)
        *v = v->items[0];
    return MASE_OK;
}

static enum mase_status value_mark(struct mase_mg_parser *p, struct mase_arg *v)
{
    if (mase_mg_at(p, "("))
        return value_tuple(p, v);
    *v = (struct mase_arg){ .kind = mase_mg_at(p, "{") ? MASE_ARG_DICT : MASE_ARG_LIST };
    if (mase_mg_at(p, "["))
        return mase_mg_items(p, v, NULL, "]");
    if (mase_mg_at(p, "{"))
        return mase_mg_items(p, v, NULL, "}");
    return mase_mg_expected(p, "a value");
}

static enum mase_status value_plain(struct mase_mg_parser *p, struct mase_arg v,
                                    struct mase_arg *out)
{
    *out = v;
    return mase_mg_next(&p->lx);
}

static enum mase_status value(struct mase_mg_parser *p, struct mase_arg *v)
{
    const struct mase_mg_token *t = &p->lx.t;
    switch (t->kind) {
    case MASE_MG_WORD:
        return value_word(p, v);
    case MASE_MG_NODE:
        return value_node(p, v);
    case MASE_MG_INT:
        return value_plain(p, mase_arg_int(t->i), v);
    case MASE_MG_FLOAT:
        return value_plain(p, mase_arg_float(t->f), v);
    case MASE_MG_TEXT:
        return value_plain(p, mase_arg_text(t->text), v);
    case MASE_MG_MARK:
        return value_mark(p, v);
    case MASE_MG_END:
    case MASE_MG_NEWLINE:
        break;
    }
    return mase_mg_expected(p, "a value");
}

enum mase_status mase_mg_value(struct mase_mg_parser *p, struct mase_arg *v)
{
    if (p->depth == MAX_DEPTH)
        return mase_fail_at(p->err, MASE_ELIMIT, p->lx.t.at, "values are nested more than %d deep",
                            MAX_DEPTH);
    p->depth++;
    enum mase_status st = value(p, v);
    p->depth--;
    return st;
}

/* ---- tensor types ---- */

static enum mase_status take_dtype(struct mase_mg_parser *p, enum mase_dtype *dtype)
{
    for (int i = 0; i < MASE_DTYPE_COUNT; i++) {
        if (mase_mg_at(p, mase_dtypes[i].name)) {
            *dtype = (enum mase_dtype)i;
            return mase_mg_next(&p->lx);
        }
    }
    return mase_mg_expected(p, "a type: f32, f64, i64, i32, u8 or bool");
}

enum mase_status mase_mg_tensor_type(struct mase_mg_parser *p, struct mase_tensor *t)
{
    struct mase_arg dims = { .kind = MASE_ARG_LIST };
    *t = (struct mase_tensor){ 0 };
    MASE_TRY(take_dtype(p, &t->dtype));
    if (!mase_mg_at(p, "["))
        return mase_mg_expected(p, "'['");
    struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_items(p, &dims, NULL, "]"));
    if (dims.count > MASE_MAX_RANK)
        return mase_fail_at(p->err, MASE_ELIMIT, at, "a shape has at most %d dimensions, this %d",
                            MASE_MAX_RANK, dims.count);
    for (int i = 0; i < dims.count; i++) {
        if (dims.items[i].kind != MASE_ARG_INT || dims.items[i].i < 0)
            return mase_fail_at(p->err, MASE_EPARSE, at,
                                "dimension %d of a shape must be an integer, at least 0", i);
        t->shape.dim[t->shape.rank++] = dims.items[i].i;
    }
    return MASE_OK;
}
