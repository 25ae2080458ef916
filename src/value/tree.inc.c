/*
 * tree.inc.c - how a tree of Python's values is compared and printed. There are three of them, for
 * files and options (value.h), arguments of nodes (graph.h) and pickles (torch.h), which differ in
 * their keys and in what they hold besides; each includes this once, after it has defined
 *
 *     TREE                    struct mase_arg
 *     KIND(v)                 what must be equal of equal values
 *     TREE_SHAPES             [MASE_ARG_NONE] = PY_NONE, ...: what each kind is to Python
 *     ITEM(v, i)              const TREE *
 *     TEXT(v), LENGTH(v)      of PY_TEXT and PY_BARE
 *     FLOAT_EQUAL(x, y)
 *     STYLE                   a type: ways to print
 *     TEXT_PRINT(out, s, n, style, inside)    inside: of a container
 *     FLOAT_PRINT(out, f, style)
 *     KEY_PRINT(out, v, i, style), KEY_EQUAL(a, b, i)
 *     OWN_PRINT(out, v, style), OWN_EQUAL(a, b)   of PY_OWN
 *     ITEM_STYLE(v, style)    of what a container holds
 */
#include <inttypes.h>

enum {
    PY_NONE,
    PY_BOOL,
    PY_INT,
    PY_FLOAT,
    PY_TEXT,
    PY_BARE, /* printed as it stands: torch.float32 */
    PY_OWN,
    PY_TUPLE, /* containers from here on */
    PY_LIST,
    PY_DICT,
    PY_SLICE,
};

static const unsigned char tree_shapes[] = { TREE_SHAPES };

static bool tree_equal(const TREE *a, const TREE *b)
{
    const int shape = tree_shapes[a->kind];
    if (KIND(a) != KIND(b))
        return false;
    switch (shape) {
    case PY_NONE:
        return true;
    case PY_BOOL:
        return a->b == b->b;
    case PY_INT:
        return a->i == b->i;
    case PY_FLOAT:
        return FLOAT_EQUAL(a->f, b->f);
    case PY_TEXT:
    case PY_BARE:
        return LENGTH(a) == LENGTH(b) && !memcmp(TEXT(a), TEXT(b), LENGTH(a));
    case PY_OWN:
        return OWN_EQUAL(a, b);
    }
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = (shape != PY_DICT || KEY_EQUAL(a, b, i)) && tree_equal(ITEM(a, i), ITEM(b, i));
    return same;
}

static void tree_print(struct mase_str *out, const TREE *v, STYLE how, bool inside)
{
    static const char *const brackets[][2] = {
        { "(", ")" }, { "[", "]" }, { "{", "}" }, { "slice(", ")" }
    };
    const int shape = tree_shapes[v->kind];
    (void)inside;
    switch (shape) {
    case PY_NONE:
        mase_str_add(out, "None");
        return;
    case PY_BOOL:
        mase_str_add(out, v->b ? "True" : "False");
        return;
    case PY_INT:
        mase_str_printf(out, "%" PRId64, v->i);
        return;
    case PY_FLOAT:
        FLOAT_PRINT(out, v->f, how);
        return;
    case PY_TEXT:
        TEXT_PRINT(out, TEXT(v), LENGTH(v), how, inside);
        return;
    case PY_BARE:
        mase_str_addn(out, TEXT(v), LENGTH(v));
        return;
    case PY_OWN:
        OWN_PRINT(out, v, how);
        return;
    }
    mase_str_add(out, brackets[shape - PY_TUPLE][0]);
    for (int i = 0; i < v->count; i++) {
        mase_str_add(out, i ? ", " : "");
        if (shape == PY_DICT) {
            KEY_PRINT(out, v, i, how);
            mase_str_add(out, ": ");
        }
        tree_print(out, ITEM(v, i), ITEM_STYLE(v, how), true);
    }
    mase_str_add(out, shape == PY_TUPLE && v->count == 1 ? "," : "");
    mase_str_add(out, brackets[shape - PY_TUPLE][1]);
}
