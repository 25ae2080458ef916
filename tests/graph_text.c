/*
 * graph_text.c - networks from Python-like texts: a reader of calls and the nodes they make.
 *
 *     call      target '(' [argument { ',' argument }] ')'
 *     argument  [name '='] value
 *     value     number | 'text' | True | False | None | node name | '(' values ')' | '[' values ']'
 */
#include <stdlib.h>
#include <string.h>

#include "graph_text.h"

#include "base/number.h"

enum { MAX_ITEMS = 16 };

struct reader {
    struct mase_graph *g;
    const char *all, *at; /* the text and what is left of it */
};

/* ---- reading a call ---- */

static _Noreturn void bad_text(const struct reader *r, const char *why)
{
    mase_bug("network text \"%s\": %s at \"%s\"", r->all, why, r->at);
}

static char peek(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
    return *r->at;
}

static bool accept(struct reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static void expect(struct reader *r, char c)
{
    char why[] = "'?' expected";
    why[1] = c;
    if (!accept(r, c))
        bad_text(r, why);
}

/* A name, with dots: "seq_blocks.0", "torch.flatten". */
static const char *get_name(struct reader *r)
{
    peek(r);
    const char *start = r->at;
    while (mase_is_alnum(*r->at) || *r->at == '_' || *r->at == '.')
        r->at++;
    if (r->at == start)
        bad_text(r, "name expected");
    return mase_intern_n(&r->g->intern, start, (size_t)(r->at - start));
}

static struct mase_arg get_number(struct reader *r)
{
    char *end_int, *end_float;
    const long long i = strtoll(r->at, &end_int, 10);
    const double f = mase_number_read(r->at, &end_float);
    if (end_float == r->at)
        bad_text(r, "value expected");
    const bool is_int = end_int == end_float;
    r->at = end_float;
    return is_int ? mase_arg_int(i) : mase_arg_float(f);
}

static struct mase_arg get_text(struct reader *r)
{
    const char *start = ++r->at, *end = strchr(start, '\'');
    if (!end)
        bad_text(r, "unclosed quote");
    r->at = end + 1;
    return mase_arg_text(mase_intern_n(&r->g->intern, start, (size_t)(end - start)));
}

static struct mase_arg get_word(struct reader *r)
{
    const char *word = get_name(r);
    if (mase_streq(word, "None"))
        return mase_arg_none();
    if (mase_streq(word, "True") || mase_streq(word, "False"))
        return mase_arg_bool(word[0] == 'T');
    struct mase_node *n = mase_graph_find(r->g, word);
    if (!n)
        bad_text(r, "no such node before this");
    return mase_arg_node(n);
}

static struct mase_arg get_value(struct reader *r);

static struct mase_arg get_sequence(struct reader *r, enum mase_arg_kind kind, char close)
{
    struct mase_arg items[MAX_ITEMS];
    int n = 0;
    r->at++;
    while (!accept(r, close)) {
        if (n == MAX_ITEMS)
            bad_text(r, "too many values");
        items[n++] = get_value(r);
        if (peek(r) != close)
            expect(r, ',');
    }
    return mase_arg_seq(&r->g->arena, kind, items, n);
}

static struct mase_arg get_value(struct reader *r)
{
    const char c = peek(r);
    if (c == '(')
        return get_sequence(r, MASE_ARG_TUPLE, ')');
    if (c == '[')
        return get_sequence(r, MASE_ARG_LIST, ']');
    if (c == '\'')
        return get_text(r);
    return mase_is_alpha(c) || c == '_' ? get_word(r) : get_number(r);
}

/* "name=" if that comes next, else NULL. */
static const char *get_keyword(struct reader *r)
{
    const struct reader start = *r;
    const char c = peek(r);
    if (mase_is_alpha(c) || c == '_') {
        const char *name = get_name(r);
        if (accept(r, '='))
            return name;
    }
    *r = start;
    return NULL;
}

/* The arguments of a call; first (or NULL) comes before them. The text must end there. */
static void get_arguments(struct reader *r, struct mase_node *first, struct mase_arg *args,
                          struct mase_arg *kwargs)
{
    struct mase_arg given[MAX_ITEMS], named[MAX_ITEMS];
    const char *keys[MAX_ITEMS];
    int n = 0, k = 0;
    if (first)
        given[n++] = mase_arg_node(first);
    expect(r, '(');
    while (!accept(r, ')')) {
        if (n == MAX_ITEMS || k == MAX_ITEMS)
            bad_text(r, "too many arguments");
        const char *key = get_keyword(r);
        if (key) {
            keys[k] = key;
            named[k++] = get_value(r);
        } else {
            given[n++] = get_value(r);
        }
        if (peek(r) != ')')
            expect(r, ',');
    }
    if (peek(r))
        bad_text(r, "end expected");
    *args = mase_arg_seq(&r->g->arena, MASE_ARG_TUPLE, given, n);
    *kwargs = mase_arg_seq(&r->g->arena, MASE_ARG_DICT, named, k);
    kwargs->keys = mase_arena_memdup(&r->g->arena, keys, sizeof keys[0] * (size_t)k);
}

static struct reader read_text(struct mase_graph *g, const char *fmt, va_list ap)
{
    struct mase_str s = { 0 };
    mase_str_vprintf(&s, fmt, ap);
    const char *text = mase_arena_strdup(&g->arena, mase_str_text(&s));
    mase_str_release(&s);
    return (struct reader){ g, text, text };
}

/* ---- what a text makes ---- */

static struct mase_module *make_module(struct reader *r)
{
    const char *path = get_name(r);
    expect(r, '=');
    const enum mase_op op = mase_op_of_module(get_name(r));
    if (op == MASE_OP_unknown)
        bad_text(r, "unknown class");
    struct mase_arg args, kwargs;
    get_arguments(r, NULL, &args, &kwargs);
    struct mase_module *m = NULL;
    struct mase_err err;
    if (mase_graph_add_module(r->g, &m, path, op, &args, &kwargs, &err))
        mase_bug("network text \"%s\": %s", r->all, err.msg);
    return m;
}

struct mase_module *text_module(struct mase_graph *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct reader r = read_text(g, fmt, ap);
    va_end(ap);
    return make_module(&r);
}

struct mase_node *text_layer(struct mase_graph *g, struct mase_node *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct reader r = read_text(g, fmt, ap);
    va_end(ap);
    const struct mase_module *m = make_module(&r);
    const struct mase_arg in = mase_arg_node(x);
    const struct mase_arg args = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, &in, 1);
    return mase_graph_insert(g, NULL, MASE_CALL_MODULE, m->path, &args, NULL);
}

/* "x.view" of a node: its method's name; *object is the node. */
static const char *split_method(const struct reader *r, const char *target,
                                struct mase_node **object)
{
    const char *dot = strrchr(target, '.');
    const char *name = dot ? mase_intern_n(&r->g->intern, target, (size_t)(dot - target)) : target;
    *object = mase_graph_find(r->g, name);
    if (!dot || !*object || mase_op_of_method(dot + 1) == MASE_OP_unknown)
        bad_text(r, "neither module, function nor method");
    return dot + 1;
}

/* What a target is; of a method, *object is the node before the dot and *target what follows. */
static enum mase_node_kind kind_of(const struct reader *r, const char **target,
                                   struct mase_node **object)
{
    if (mase_graph_module(r->g, *target))
        return MASE_CALL_MODULE;
    if (mase_op_of_function(*target) != MASE_OP_unknown)
        return MASE_CALL_FUNCTION;
    *target = split_method(r, *target, object);
    return MASE_CALL_METHOD;
}

struct mase_node *text_call(struct mase_graph *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct reader r = read_text(g, fmt, ap);
    va_end(ap);
    const char *target = get_name(&r);
    struct mase_node *object = NULL;
    struct mase_arg args, kwargs;
    const enum mase_op op = mase_graph_module(g, target) ? MASE_OP_unknown : mase_op_find(target);
    const enum mase_node_kind kind =
        op == MASE_OP_unknown ? kind_of(&r, &target, &object) : MASE_CALL_FUNCTION;
    get_arguments(&r, object, &args, &kwargs);
    if (op != MASE_OP_unknown)
        return mase_graph_insert_op(g, NULL, op, &args, &kwargs);
    return mase_graph_insert(g, NULL, kind, target, &args, &kwargs);
}
