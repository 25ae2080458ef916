/*
 * torch_obj.c - the tree of Python objects that a PyTorch file holds: building, looking, printing.
 */
#include <string.h>

#include <mase/torch.h>
#include <mase/value.h>

const char *const mase_obj_kind_names[MASE_OBJ_KIND_COUNT] = {
    "none",
    "boolean",
    "integer",
    "float",
    "text",
    "bytes",
    "data type",
    "list",
    "tuple",
    "dict",
    "tensor",
    "object",
    "class or storage",
};

/* ---- building ---- */

static struct mase_obj *new_obj(struct mase_arena *a, enum mase_obj_kind kind)
{
    struct mase_obj *o = mase_new(a, struct mase_obj);
    o->kind = kind;
    return o;
}

struct mase_obj *mase_obj_none(struct mase_arena *a)
{
    return new_obj(a, MASE_OBJ_NONE);
}

struct mase_obj *mase_obj_bool(struct mase_arena *a, bool b)
{
    struct mase_obj *o = new_obj(a, MASE_OBJ_BOOL);
    o->b = b;
    return o;
}

struct mase_obj *mase_obj_int(struct mase_arena *a, int64_t i)
{
    struct mase_obj *o = new_obj(a, MASE_OBJ_INT);
    o->i = i;
    return o;
}

struct mase_obj *mase_obj_float(struct mase_arena *a, double f)
{
    struct mase_obj *o = new_obj(a, MASE_OBJ_FLOAT);
    o->f = f;
    return o;
}

struct mase_obj *mase_obj_text_n(struct mase_arena *a, const char *s, size_t n)
{
    struct mase_obj *o = new_obj(a, MASE_OBJ_TEXT);
    char *text = mase_arena_alloc(a, n + 1);
    if (n)
        memcpy(text, s, n);
    o->text = text;
    o->len = n;
    return o;
}

struct mase_obj *mase_obj_text(struct mase_arena *a, const char *s)
{
    return mase_obj_text_n(a, s, strlen(s));
}

struct mase_obj *mase_obj_bytes(struct mase_arena *a, const void *data, size_t n)
{
    struct mase_obj *o = mase_obj_text_n(a, data, n);
    o->kind = MASE_OBJ_BYTES;
    return o;
}

struct mase_obj *mase_obj_list(struct mase_arena *a)
{
    return new_obj(a, MASE_OBJ_LIST);
}

struct mase_obj *mase_obj_tuple(struct mase_arena *a)
{
    return new_obj(a, MASE_OBJ_TUPLE);
}

struct mase_obj *mase_obj_dict(struct mase_arena *a)
{
    return new_obj(a, MASE_OBJ_DICT);
}

struct mase_obj *mase_obj_ordered_dict(struct mase_arena *a)
{
    struct mase_obj *o = new_obj(a, MASE_OBJ_DICT);
    o->ordered = true;
    return o;
}

struct mase_obj *mase_obj_tensor(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_obj *o = new_obj(a, MASE_OBJ_TENSOR);
    o->tensor = mase_arena_memdup(a, t, sizeof *t);
    return o;
}

struct mase_obj *mase_obj_push(struct mase_arena *a, struct mase_obj *list, struct mase_obj *item)
{
    if (list->kind != MASE_OBJ_LIST && list->kind != MASE_OBJ_TUPLE)
        mase_bug("a %s takes no items", mase_obj_kind_names[list->kind]);
    list->items = mase_arena_grow(a, list->items, list->count, &list->cap, sizeof *list->items);
    list->items[list->count++] = item;
    return item;
}

struct mase_obj *mase_obj_set_key(struct mase_arena *a, struct mase_obj *dict, struct mase_obj *key,
                                  struct mase_obj *item)
{
    if (dict->kind != MASE_OBJ_DICT && dict->kind != MASE_OBJ_OPAQUE)
        mase_bug("a %s takes no keys", mase_obj_kind_names[dict->kind]);
    int cap = dict->cap;
    dict->keys = mase_arena_grow(a, dict->keys, dict->count, &cap, sizeof *dict->keys);
    dict->items = mase_arena_grow(a, dict->items, dict->count, &dict->cap, sizeof *dict->items);
    dict->keys[dict->count] = key;
    dict->items[dict->count++] = item;
    return item;
}

struct mase_obj *mase_obj_set(struct mase_arena *a, struct mase_obj *dict, const char *key,
                              struct mase_obj *item)
{
    return mase_obj_set_key(a, dict, mase_obj_text(a, key), item);
}

/* ---- looking ---- */

bool mase_obj_is_text(const struct mase_obj *o, const char *text)
{
    return o && o->kind == MASE_OBJ_TEXT && o->len == strlen(text) &&
           memcmp(o->text, text, o->len) == 0;
}

const struct mase_obj *mase_obj_get(const struct mase_obj *o, const char *key)
{
    const bool has_keys = o && (o->kind == MASE_OBJ_DICT || o->kind == MASE_OBJ_OPAQUE);
    for (int i = 0; has_keys && i < o->count; i++)
        if (mase_obj_is_text(o->keys[i], key))
            return o->items[i];
    return NULL;
}

const struct mase_obj *mase_obj_get_int(const struct mase_obj *o, int64_t key)
{
    for (int i = 0; o && o->kind == MASE_OBJ_DICT && i < o->count; i++)
        if (o->keys[i]->kind == MASE_OBJ_INT && o->keys[i]->i == key)
            return o->items[i];
    return NULL;
}

static bool same_tensor(const struct mase_tensor *a, const struct mase_tensor *b)
{
    return a->dtype == b->dtype && mase_shape_equal(&a->shape, &b->shape) &&
           (mase_tensor_count(a) == 0 ||
            memcmp(a->data, b->data, (size_t)mase_tensor_bytes(a)) == 0);
}

/* ---- printing and comparing ---- */

static void print_bytes(struct mase_str *out, const struct mase_obj *o)
{
    mase_str_add(out, "b'");
    for (size_t i = 0; i < o->len; i++) {
        const unsigned char c = (unsigned char)o->text[i];
        if (c < ' ' || c > '~' || c == '\'' || c == '\\')
            mase_str_printf(out, "\\x%02x", c);
        else
            mase_str_addc(out, (char)c);
    }
    mase_str_addc(out, '\'');
}

/* argparse.Namespace(lr=0.1), pathlib.PosixPath('runs', 'a'), <torch.optim.adam.Adam>. */
static void print_opaque(struct mase_str *out, const struct mase_obj *o)
{
    if (!o->made || (o->unread && !o->count)) {
        mase_str_printf(out, "<%s>", o->type);
        return;
    }
    mase_str_printf(out, "%s(", o->type);
    for (int i = 0; i < o->count; i++) {
        mase_str_add(out, i ? ", " : "");
        if (o->keys[i]->kind == MASE_OBJ_TEXT)
            mase_str_printf(out, "%s=", o->keys[i]->text);
        mase_obj_print(out, o->items[i]);
    }
    mase_str_addc(out, ')');
}

/* Bytes, tensors and objects of unknown meaning. */
static void print_own(struct mase_str *out, const struct mase_obj *o)
{
    if (o->kind == MASE_OBJ_BYTES) {
        print_bytes(out, o);
        return;
    }
    if (o->kind == MASE_OBJ_OPAQUE) {
        print_opaque(out, o);
        return;
    }
    mase_str_printf(out, "tensor %s", mase_dtypes[o->tensor->dtype].name);
    mase_shape_print(out, &o->tensor->shape);
}

static bool equal_opaque(const struct mase_obj *a, const struct mase_obj *b)
{
    bool same = mase_streq(a->type, b->type) && a->made == b->made && a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = mase_obj_equal(a->keys[i], b->keys[i]) && mase_obj_equal(a->items[i], b->items[i]);
    return same;
}

static bool equal_own(const struct mase_obj *a, const struct mase_obj *b)
{
    if (a->kind == MASE_OBJ_OPAQUE)
        return equal_opaque(a, b);
    if (a->kind == MASE_OBJ_BYTES)
        return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
    return same_tensor(a->tensor, b->tensor);
}

#define TREE    struct mase_obj
#define KIND(v) (2 * (int)(v)->kind + (v)->ordered)
#define TREE_SHAPES                                                                     \
    [MASE_OBJ_NONE] = PY_NONE, [MASE_OBJ_BOOL] = PY_BOOL, [MASE_OBJ_INT] = PY_INT,      \
    [MASE_OBJ_FLOAT] = PY_FLOAT, [MASE_OBJ_TEXT] = PY_TEXT, [MASE_OBJ_BYTES] = PY_OWN,  \
    [MASE_OBJ_DTYPE] = PY_BARE, [MASE_OBJ_LIST] = PY_LIST, [MASE_OBJ_TUPLE] = PY_TUPLE, \
    [MASE_OBJ_DICT] = PY_DICT, [MASE_OBJ_TENSOR] = PY_OWN, [MASE_OBJ_OPAQUE] = PY_OWN,  \
    [MASE_OBJ_REF] = PY_NONE
#define ITEM(v, i)                     ((v)->items[i])
#define TEXT(v)                        ((v)->text)
#define LENGTH(v)                      ((v)->len)
#define FLOAT_EQUAL(x, y)              (memcmp(&(x), &(y), sizeof(x)) == 0)
#define STYLE                          bool
#define ITEM_STYLE(v, how)             (how)
#define TEXT_PRINT(out, s, n, how, in) mase_repr_string(out, s, n)
#define FLOAT_PRINT(out, f, how)       mase_repr_float(out, f)
#define KEY_PRINT(out, v, i, how)      tree_print(out, (v)->keys[i], how, true)
#define KEY_EQUAL(a, b, i)             tree_equal((a)->keys[i], (b)->keys[i])
#define OWN_PRINT(out, v, how)         print_own(out, v)
#define OWN_EQUAL                      equal_own
#include "value/tree.inc.c"

bool mase_obj_equal(const struct mase_obj *a, const struct mase_obj *b)
{
    return tree_equal(a, b);
}

void mase_obj_print(struct mase_str *out, const struct mase_obj *o)
{
    tree_print(out, o, true, true);
}
