/*
 * arg.c - Python values as arguments: copying, comparing, writing.
 */
#include <math.h>
#include <string.h>

#include <mase/value.h>

#include "ir/text/arg.h"

#include "base/number.h"

struct mase_arg mase_arg_seq(struct mase_arena *a, enum mase_arg_kind kind,
                             const struct mase_arg *items, int count)
{
    struct mase_arg seq = { .kind = kind };
    seq.items = mase_new_array(a, struct mase_arg, (size_t)count);
    seq.count = count;
    if (count)
        memcpy(seq.items, items, (size_t)count * sizeof *items);
    return seq;
}

/* ---- copies ---- */

static struct mase_arg copy_items(struct mase_arena *a, const struct mase_arg *arg,
                                  mase_map_node_fn *map, void *data)
{
    struct mase_arg copy = mase_arg_seq(a, arg->kind, arg->items, arg->count);
    if (arg->kind == MASE_ARG_DICT)
        copy.keys = mase_new_array(a, const char *, (size_t)arg->count);
    for (int i = 0; i < arg->count; i++) {
        copy.items[i] = mase_arg_map(a, &arg->items[i], map, data);
        if (copy.keys)
            copy.keys[i] = mase_arena_strdup(a, arg->keys[i]);
    }
    return copy;
}

struct mase_arg mase_arg_map(struct mase_arena *a, const struct mase_arg *arg,
                             mase_map_node_fn *map, void *data)
{
    struct mase_arg copy = *arg;
    if (arg->kind == MASE_ARG_TEXT || arg->kind == MASE_ARG_ATOM)
        copy.s = mase_arena_strdup(a, arg->s);
    else if (arg->kind == MASE_ARG_NODE && map)
        copy.node = map(arg->node, data);
    else if (mase_arg_has_items(arg))
        return copy_items(a, arg, map, data);
    return copy;
}

struct mase_arg mase_arg_copy(struct mase_arena *a, const struct mase_arg *arg)
{
    return mase_arg_map(a, arg, NULL, NULL);
}

void mase_arg_each_node(const struct mase_arg *arg, mase_each_node_fn *fn, void *data)
{
    if (arg->kind == MASE_ARG_NODE)
        fn(arg->node, data);
    else if (mase_arg_has_items(arg))
        for (int i = 0; i < arg->count; i++)
            mase_arg_each_node(&arg->items[i], fn, data);
}

/* ---- asking ---- */

bool mase_arg_truthy(const struct mase_arg *a)
{
    switch (a->kind) {
    case MASE_ARG_NONE:
        return false;
    case MASE_ARG_BOOL:
        return a->b;
    case MASE_ARG_INT:
        return a->i != 0;
    case MASE_ARG_FLOAT:
        return a->f != 0;
    case MASE_ARG_TEXT:
        return *a->s;
    case MASE_ARG_TUPLE:
    case MASE_ARG_LIST:
    case MASE_ARG_DICT:
        return a->count > 0;
    default:
        return true;
    }
}

/* ---- writing and comparing ---- */

void mase_mg_quote(struct mase_str *out, const char *text)
{
    mase_str_addc(out, '\'');
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '\'' || c == '\\')
            mase_str_printf(out, "\\%c", c);
        else if (c == '\n')
            mase_str_add(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            mase_str_printf(out, "\\x%02x", c);
        else
            mase_str_addc(out, *p);
    }
    mase_str_addc(out, '\'');
}

bool mase_mg_is_word(const char *text)
{
    if (!mase_is_alpha(*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!mase_is_alnum(*text) && !strchr("_.+-", *text))
            return false;
    return true;
}

/* Bare words that .mg reads as something else than an atom. */
static bool is_keyword(const char *s)
{
    static const char *const words[] = { "None", "True", "False", "inf", "nan", "slice", "atom" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mase_streq(s, words[i]))
            return true;
    return false;
}

static void write_atom(struct mase_str *out, const char *s, enum mase_arg_style style)
{
    if (style != MASE_ARG_MG || (mase_mg_is_word(s) && !is_keyword(s))) {
        mase_str_add(out, s);
        return;
    }
    mase_str_add(out, "atom(");
    mase_mg_quote(out, s);
    mase_str_addc(out, ')');
}

/* inf and nan are no words of Python's. */
static void write_float(struct mase_str *out, double f, enum mase_arg_style style)
{
    const bool call = style == MASE_ARG_PY && !isfinite(f);
    mase_str_add(out, call ? "float('" : "");
    mase_repr_float(out, f);
    mase_str_add(out, call ? "')" : "");
}

static void write_text(struct mase_str *out, const char *s, size_t n, enum mase_arg_style style,
                       bool inside)
{
    if (style == MASE_ARG_MG)
        mase_mg_quote(out, s);
    else if (style == MASE_ARG_PY || (style == MASE_ARG_STR && inside))
        mase_repr_string(out, s, n);
    else
        mase_str_addn(out, s, n);
}

static void write_key(struct mase_str *out, const char *key, enum mase_arg_style style)
{
    if (style == MASE_ARG_MG && mase_mg_is_word(key))
        mase_str_add(out, key);
    else
        write_text(out, key, strlen(key), style, true);
}

/* Atoms, nodes and tensors. */
static void write_own(struct mase_str *out, const struct mase_arg *arg, enum mase_arg_style style)
{
    if (arg->kind == MASE_ARG_ATOM) {
        write_atom(out, arg->s, style);
    } else if (arg->kind == MASE_ARG_NODE) {
        mase_str_printf(out, "%s%s", style >= MASE_ARG_STR ? "" : "%", arg->node->name);
    } else {
        mase_str_printf(out, "<%s", mase_dtypes[arg->tensor->dtype].name);
        mase_shape_print(out, &arg->tensor->shape);
        mase_str_addc(out, '>');
    }
}

static bool equal_own(const struct mase_arg *a, const struct mase_arg *b)
{
    if (a->kind == MASE_ARG_ATOM)
        return mase_streq(a->s, b->s);
    return a->kind == MASE_ARG_NODE ? mase_streq(a->node->name, b->node->name)
                                    : a->tensor == b->tensor;
}

#define TREE    struct mase_arg
#define KIND(v) ((v)->kind)
#define TREE_SHAPES                                                                    \
    [MASE_ARG_NONE] = PY_NONE, [MASE_ARG_BOOL] = PY_BOOL, [MASE_ARG_INT] = PY_INT,     \
    [MASE_ARG_FLOAT] = PY_FLOAT, [MASE_ARG_TEXT] = PY_TEXT, [MASE_ARG_ATOM] = PY_OWN,  \
    [MASE_ARG_NODE] = PY_OWN, [MASE_ARG_TENSOR] = PY_OWN, [MASE_ARG_TUPLE] = PY_TUPLE, \
    [MASE_ARG_LIST] = PY_LIST, [MASE_ARG_DICT] = PY_DICT, [MASE_ARG_SLICE] = PY_SLICE
#define ITEM(v, i) (&(v)->items[i])
#define TEXT(v)    ((v)->s)
#define LENGTH(v)  strlen((v)->s)
/* written the same: NaN is itself, 0.0 is not -0.0 */
#define FLOAT_EQUAL(x, y) (isnan(x) ? isnan(y) : (x) == (y) && !signbit(x) == !signbit(y))
#define STYLE             enum mase_arg_style
/* torch.fx leaves a slice to Python's str(), so its nodes lose their % */
#define ITEM_STYLE(v, how) \
    ((v)->kind == MASE_ARG_SLICE && (how) == MASE_ARG_FX ? MASE_ARG_STR : (how))
#define TEXT_PRINT                write_text
#define FLOAT_PRINT               write_float
#define KEY_PRINT(out, v, i, how) write_key(out, (v)->keys[i], how)
#define KEY_EQUAL(a, b, i)        mase_streq((a)->keys[i], (b)->keys[i])
#define OWN_PRINT                 write_own
#define OWN_EQUAL                 equal_own
#include "value/tree.inc.c"

bool mase_arg_equal(const struct mase_arg *a, const struct mase_arg *b)
{
    return tree_equal(a, b);
}

void mase_arg_write(struct mase_str *out, const struct mase_arg *arg, enum mase_arg_style how)
{
    tree_print(out, arg, how, false);
}

void mase_arg_print(struct mase_str *out, const struct mase_arg *arg, bool quote_strings)
{
    mase_arg_write(out, arg, quote_strings ? MASE_ARG_MG : MASE_ARG_FX);
}
