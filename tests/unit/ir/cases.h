/*
 * cases.h - read the small programs of tests/data/ops as graphs (the format is described there, in
 * generate.py; errors have lines "error TEXT" in place of what is expected).
 */
#ifndef MASE_TESTS_IR_CASES_H
#define MASE_TESTS_IR_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase/call.h>

enum { CASE_ITEMS = 8 };

struct op_case {
    const char *op; /* the row of ops.def */
    int line;       /* where the case starts */
    struct mase_arena arena;
    struct mase_graph *graph;
    struct mase_input input[CASE_ITEMS];
    struct mase_arg expect[CASE_ITEMS]; /* tensors and values of the result, in order */
    bool expect_tuple;                  /* the tensors come as a tuple, even if there is one */
    const char *message[CASE_ITEMS];    /* or what the error must say */
    int input_count, expect_count, message_count;
    /* read when all modules are there */
    struct {
        const char *path;
        struct mase_tensor value;
    } fill[2 * CASE_ITEMS];
    int fill_count;
};

struct case_reader {
    const char *path;
    char *text; /* of the file; the reader's */
    const char *pos;
    int line;
};

/* ---- files ---- */

/* path is relative to tests/. */
static inline struct case_reader open_cases(const char *path)
{
    struct case_reader r = { .path = path };
    size_t room = 1 << 20;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    r.text = calloc(room, 1);
    assert_non_null(r.text);
    size_t n = fread(r.text, 1, room - 1, f);
    assert_true(n > 0 && n < room - 1);
    fclose(f);
    r.pos = r.text;
    return r;
}

static inline void close_cases(struct case_reader *r)
{
    free(r->text);
}

/* ---- literals ---- */

struct literal {
    struct op_case *c;
    const char *p;
    int line;
};

static inline _Noreturn void case_syntax(const struct literal *l, const char *what)
{
    fail_msg("line %d: expected %s at '%.30s'", l->line, what, l->p);
    abort();
}

static inline void skip_spaces(struct literal *l)
{
    l->p += strspn(l->p, " ");
}

static inline bool take(struct literal *l, const char *text)
{
    skip_spaces(l);
    if (!mase_starts_with(l->p, text))
        return false;
    l->p += strlen(text);
    return true;
}

static inline const char *take_word(struct literal *l)
{
    skip_spaces(l);
    size_t n = strcspn(l->p, " ,()[]{}:");
    if (n == 0)
        case_syntax(l, "a word");
    const char *word = mase_arena_strndup(&l->c->arena, l->p, n);
    l->p += n;
    return word;
}

static inline struct mase_arg read_literal(struct literal *l);

/* Items up to the closing bracket; keys[] when they are a dict's. */
static inline struct mase_arg read_items(struct literal *l, enum mase_arg_kind kind,
                                         const char *close)
{
    struct mase_arg items[32];
    const char *keys[32] = { 0 };
    int count = 0;
    while (!take(l, close)) {
        if (count == 32)
            case_syntax(l, "fewer items");
        if (kind == MASE_ARG_DICT) {
            keys[count] = read_literal(l).s;
            if (!take(l, ":"))
                case_syntax(l, "a colon");
        }
        items[count++] = read_literal(l);
        take(l, ",");
    }
    struct mase_arg seq = mase_arg_seq(&l->c->arena, kind, items, count);
    if (kind == MASE_ARG_DICT)
        seq.keys = mase_arena_memdup(&l->c->arena, keys, sizeof keys);
    return seq;
}

static inline struct mase_arg read_text(struct literal *l)
{
    size_t n = strcspn(l->p, "'");
    const char *s = mase_arena_strndup(&l->c->arena, l->p, n);
    l->p += n + 1;
    return mase_arg_text(s);
}

static inline struct mase_arg read_word(struct literal *l)
{
    const char *word = take_word(l);
    char *end;
    if (mase_streq(word, "None"))
        return mase_arg_none();
    if (mase_streq(word, "True") || mase_streq(word, "False"))
        return mase_arg_bool(*word == 'T');
    if (mase_streq(word, "Ellipsis") || mase_starts_with(word, "torch."))
        return (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = word };
    long long i = strtoll(word, &end, 10);
    if (!*end)
        return mase_arg_int(i);
    double f = strtod(word, &end);
    if (*end)
        case_syntax(l, "a literal");
    return mase_arg_float(f);
}

static inline struct mase_arg read_literal(struct literal *l)
{
    if (take(l, "("))
        return read_items(l, MASE_ARG_TUPLE, ")");
    if (take(l, "["))
        return read_items(l, MASE_ARG_LIST, "]");
    if (take(l, "{"))
        return read_items(l, MASE_ARG_DICT, "}");
    if (take(l, "slice("))
        return read_items(l, MASE_ARG_SLICE, ")");
    if (take(l, "'"))
        return read_text(l);
    if (!take(l, "%"))
        return read_word(l);
    struct mase_node *n = mase_graph_find(l->c->graph, take_word(l));
    if (!n)
        case_syntax(l, "a node's name");
    return mase_arg_node(n);
}

/* f32[2, 3] = 1 2 3 4 5 6, or f32[2, 3] alone for a shape. */
static inline struct mase_tensor read_tensor(struct literal *l)
{
    enum mase_dtype dtype = MASE_DTYPE_COUNT;
    for (int i = 0; i < MASE_DTYPE_COUNT && dtype == MASE_DTYPE_COUNT; i++)
        if (take(l, mase_dtypes[i].name))
            dtype = (enum mase_dtype)i;
    if (dtype == MASE_DTYPE_COUNT)
        case_syntax(l, "a type");
    if (!take(l, "["))
        case_syntax(l, "a shape");
    struct mase_arg dims = read_items(l, MASE_ARG_LIST, "]");
    struct mase_shape shape = { .rank = dims.count };
    for (int i = 0; i < dims.count; i++)
        shape.dim[i] = dims.items[i].i;
    struct mase_tensor t = mase_tensor(&l->c->arena, dtype, &shape, take(l, "="));
    for (int64_t i = 0; t.data && i < mase_tensor_count(&t); i++)
        mase_tensor_set(&t, i, strtod(take_word(l), NULL));
    return t;
}

static inline bool is_tensor_text(const struct literal *l)
{
    for (int i = 0; i < MASE_DTYPE_COUNT; i++) {
        const char *name = mase_dtypes[i].name;
        if (mase_starts_with(l->p, name) && l->p[strlen(name)] == '[')
            return true;
    }
    return false;
}

/* ---- statements ---- */

static inline void read_input(struct literal *l)
{
    struct op_case *c = l->c;
    const char *name = take_word(l);
    struct mase_node *n = mase_graph_insert(c->graph, NULL, MASE_PLACEHOLDER, name, NULL, NULL);
    assert_string_equal(n->name, name);
    assert_true(c->input_count < CASE_ITEMS);
    c->input[c->input_count++] = (struct mase_input){ n->name, read_tensor(l) };
}

static inline void read_fill(struct literal *l)
{
    struct op_case *c = l->c;
    assert_true(c->fill_count < 2 * CASE_ITEMS);
    c->fill[c->fill_count].path = take_word(l);
    c->fill[c->fill_count++].value = read_tensor(l);
}

static inline void read_attr(struct literal *l)
{
    read_fill(l);
    const char *path = l->c->fill[l->c->fill_count - 1].path;
    const struct mase_tensor *t = &l->c->fill[l->c->fill_count - 1].value;
    mase_graph_add_attr(l->c->graph, path, t->dtype, &t->shape, MASE_PARAM_TRAINED);
}

static inline void read_module(struct literal *l)
{
    struct mase_err err;
    struct mase_module *m;
    const char *path = take_word(l);
    enum mase_op op = mase_op_of_module(take_word(l));
    struct mase_arg args = read_literal(l), kwargs = read_literal(l);
    if (mase_graph_add_module(l->c->graph, &m, path, op, &args, &kwargs, &err))
        fail_msg("line %d: %s", l->line, err.msg);
}

/* NAME = KIND TARGET ARGS KWARGS */
static inline void read_node(struct literal *l, const char *name)
{
    static const char *const kinds[] = { [MASE_GET_ATTR] = "get_attr",
                                         [MASE_CALL_FUNCTION] = "function",
                                         [MASE_CALL_METHOD] = "method",
                                         [MASE_CALL_MODULE] = "module" };
    if (!take(l, "="))
        case_syntax(l, "=");
    const char *word = take_word(l);
    for (int k = 1; k < MASE_OUTPUT; k++) {
        if (!mase_streq(word, kinds[k]))
            continue;
        const char *target = take_word(l);
        struct mase_arg args = read_literal(l), kwargs = read_literal(l);
        mase_graph_insert_named(l->c->graph, NULL, (enum mase_node_kind)k, name, target, &args,
                                &kwargs);
        return;
    }
    case_syntax(l, "function, method, module or get_attr");
}

static inline void read_return(struct literal *l)
{
    struct mase_arg value = read_literal(l);
    struct mase_arg args = { .kind = MASE_ARG_TUPLE, .items = &value, .count = 1 };
    mase_graph_insert(l->c->graph, NULL, MASE_OUTPUT, "output", &args, NULL);
}

static inline void read_expect(struct literal *l)
{
    struct op_case *c = l->c;
    if (take(l, "tuple")) {
        c->expect_tuple = true;
        return;
    }
    skip_spaces(l);
    assert_true(c->expect_count < CASE_ITEMS);
    struct mase_arg *e = &c->expect[c->expect_count++];
    if (!is_tensor_text(l)) {
        *e = read_literal(l);
        return;
    }
    struct mase_tensor t = read_tensor(l);
    *e = (struct mase_arg){ .kind = MASE_ARG_TENSOR,
                            .tensor = mase_arena_memdup(&c->arena, &t, sizeof t) };
}

static inline void read_error(struct literal *l)
{
    skip_spaces(l);
    assert_true(l->c->message_count < CASE_ITEMS);
    l->c->message[l->c->message_count++] = l->p;
}

static inline void read_statement(struct literal *l)
{
    const char *word = take_word(l);
    if (mase_streq(word, "input"))
        read_input(l);
    else if (mase_streq(word, "attr"))
        read_attr(l);
    else if (mase_streq(word, "module"))
        read_module(l);
    else if (mase_streq(word, "param"))
        read_fill(l);
    else if (mase_streq(word, "return"))
        read_return(l);
    else if (mase_streq(word, "expect"))
        read_expect(l);
    else if (mase_streq(word, "error"))
        read_error(l);
    else
        read_node(l, word);
}

/* ---- cases ---- */

static inline bool fill_param(const char *full, struct mase_param *p, void *data)
{
    const struct op_case *c = data;
    for (int i = 0; i < c->fill_count; i++) {
        if (!mase_streq(full, c->fill[i].path))
            continue;
        assert_true(mase_shape_equal(&p->tensor.shape, &c->fill[i].value.shape));
        assert_int_equal(p->tensor.dtype, c->fill[i].value.dtype);
        memcpy(p->tensor.data, c->fill[i].value.data, (size_t)mase_tensor_bytes(&p->tensor));
    }
    return true;
}

static inline const char *read_line(struct case_reader *r, struct mase_arena *a)
{
    if (!*r->pos)
        return NULL;
    size_t n = strcspn(r->pos, "\n");
    const char *line = mase_arena_strndup(a, r->pos, n);
    r->pos += n + (r->pos[n] == '\n');
    r->line++;
    return line;
}

/* The next case; false at the end of the file. */
static inline bool next_case(struct case_reader *r, struct op_case *c)
{
    memset(c, 0, sizeof *c);
    for (const char *text; (text = read_line(r, &c->arena));) {
        struct literal l = { c, text, r->line };
        if (*text == '#' || (!*text && !c->op))
            continue;
        if (!*text)
            break;
        if (mase_starts_with(text, "case ")) {
            c->op = text + strlen("case ");
            c->line = r->line;
            c->graph = mase_graph_new(c->op);
        } else {
            read_statement(&l);
        }
    }
    if (!c->op) {
        mase_arena_release(&c->arena);
        return false;
    }
    mase_graph_alloc(c->graph);
    mase_graph_each_param(c->graph, fill_param, c);
    return true;
}

/* The first of the case's messages that the error lacks, or NULL. */
static inline const char *missing_message(const struct op_case *c, const struct mase_err *err)
{
    for (int i = 0; i < c->message_count; i++)
        if (!strstr(err->msg, c->message[i]))
            return c->message[i];
    return NULL;
}

static inline void release_case(struct op_case *c)
{
    mase_graph_free(c->graph);
    mase_arena_release(&c->arena);
}

#endif /* MASE_TESTS_IR_CASES_H */
