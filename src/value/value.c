/*
 * value.c - the ordered value tree: making and finding.
 *
 * A table is three parallel arrays. Small ones are searched in order; above INDEX_FROM keys an
 * open-addressed index is kept beside them, so that a file with very many keys costs no more per
 * key than a small one.
 */
#include <math.h>
#include <string.h>

#include <mase/value.h>

enum { INDEX_FROM = 12 };

const char *const mase_value_kind_names[] = {
    [MASE_NONE] = "none",   [MASE_BOOL] = "boolean",  [MASE_INT] = "integer",
    [MASE_FLOAT] = "float", [MASE_STRING] = "string", [MASE_DATE] = "date",
    [MASE_ATOM] = "atom",   [MASE_LIST] = "list",     [MASE_TUPLE] = "tuple",
    [MASE_TABLE] = "table",
};

static struct mase_value *value_new(struct mase_arena *a, enum mase_value_kind kind)
{
    struct mase_value *v = mase_new(a, struct mase_value);
    v->kind = kind;
    v->at = MASE_NOWHERE;
    return v;
}

static struct mase_value *text_new(struct mase_arena *a, enum mase_value_kind kind, const char *s,
                                   size_t n)
{
    struct mase_value *v = value_new(a, kind);
    char *copy = mase_arena_alloc(a, n + 1); /* s may hold NUL bytes */
    if (n)
        memcpy(copy, s, n);
    v->s = copy;
    v->len = n;
    return v;
}

struct mase_value *mase_value_none(struct mase_arena *a)
{
    return value_new(a, MASE_NONE);
}

struct mase_value *mase_value_bool(struct mase_arena *a, bool b)
{
    struct mase_value *v = value_new(a, MASE_BOOL);
    v->b = b;
    return v;
}

struct mase_value *mase_value_int(struct mase_arena *a, int64_t i)
{
    struct mase_value *v = value_new(a, MASE_INT);
    v->i = i;
    return v;
}

struct mase_value *mase_value_float(struct mase_arena *a, double f)
{
    struct mase_value *v = value_new(a, MASE_FLOAT);
    v->f = f;
    return v;
}

struct mase_value *mase_value_string(struct mase_arena *a, const char *s)
{
    return text_new(a, MASE_STRING, s, strlen(s));
}

struct mase_value *mase_value_string_n(struct mase_arena *a, const char *s, size_t n)
{
    return text_new(a, MASE_STRING, s, n);
}

struct mase_value *mase_value_atom(struct mase_arena *a, const char *s)
{
    return text_new(a, MASE_ATOM, s, strlen(s));
}

struct mase_value *mase_value_list(struct mase_arena *a)
{
    return value_new(a, MASE_LIST);
}

struct mase_value *mase_value_tuple(struct mase_arena *a)
{
    return value_new(a, MASE_TUPLE);
}

struct mase_value *mase_value_table(struct mase_arena *a)
{
    return value_new(a, MASE_TABLE);
}

double mase_value_number(const struct mase_value *v)
{
    return v && v->kind == MASE_INT ? (double)v->i : v && v->kind == MASE_FLOAT ? v->f : NAN;
}

bool mase_value_is_none(const struct mase_value *v)
{
    return v->kind == MASE_NONE ||
           (v->kind == MASE_STRING && v->len == 2 && mase_streq(v->s, "NA"));
}

/* ---- tables ---- */

static uint64_t hash_key(const char *key, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static bool key_is(const char *key, const char *want, size_t n)
{
    return strncmp(key, want, n) == 0 && key[n] == '\0';
}

/* The index slot that holds key, or the empty one where it belongs. */
static uint32_t *index_slot(const struct mase_value *t, const char *key, size_t n)
{
    uint32_t i = (uint32_t)hash_key(key, n) & t->index_mask;
    while (t->index[i] && !key_is(t->keys[t->index[i] - 1], key, n))
        i = (i + 1) & t->index_mask;
    return &t->index[i];
}

static void index_rebuild(struct mase_arena *a, struct mase_value *t)
{
    uint32_t size = 64; /* stays a power of two, for the mask */
    while (size < 4 * (uint32_t)t->count)
        size *= 2;
    t->index = mase_new_array(a, uint32_t, size);
    t->index_mask = size - 1;
    for (int i = 0; i < t->count; i++)
        *index_slot(t, t->keys[i], strlen(t->keys[i])) = (uint32_t)i + 1;
}

static void index_add(struct mase_arena *a, struct mase_value *t)
{
    const char *key = t->keys[t->count - 1];
    if (t->index && (uint32_t)t->count <= t->index_mask / 2)
        *index_slot(t, key, strlen(key)) = (uint32_t)t->count;
    else if (t->count > INDEX_FROM)
        index_rebuild(a, t);
}

static int find_n(const struct mase_value *t, const char *key, size_t n)
{
    if (t->index)
        return (int)*index_slot(t, key, n) - 1;
    for (int i = 0; i < t->count; i++)
        if (key_is(t->keys[i], key, n))
            return i;
    return -1;
}

static void append_key(struct mase_arena *a, struct mase_value *t, const char *key,
                       struct mase_value *item)
{
    int keys_cap = t->cap, places_cap = t->cap; /* the three arrays grow alike */
    t->keys = mase_arena_grow(a, t->keys, t->count, &keys_cap, sizeof *t->keys);
    t->key_at = mase_arena_grow(a, t->key_at, t->count, &places_cap, sizeof *t->key_at);
    t->items = mase_arena_grow(a, t->items, t->count, &t->cap, sizeof *t->items);
    t->keys[t->count] = mase_arena_strdup(a, key);
    t->key_at[t->count] = MASE_NOWHERE;
    t->items[t->count++] = item;
    index_add(a, t);
}

void mase_value_push(struct mase_arena *a, struct mase_value *list, struct mase_value *item)
{
    if (list->kind != MASE_LIST && list->kind != MASE_TUPLE)
        mase_bug("cannot push onto a %s", mase_value_kind_names[list->kind]);
    list->items = mase_arena_grow(a, list->items, list->count, &list->cap, sizeof *list->items);
    list->items[list->count++] = item;
}

struct mase_value *mase_value_text(struct mase_arena *a, const char *s)
{
    return s ? mase_value_string(a, s) : mase_value_none(a);
}

#define LIST_OF(items, type, kind)                                                           \
    struct mase_value *mase_value_##items(struct mase_arena *a, type const *item, int64_t n) \
    {                                                                                        \
        struct mase_value *list = mase_value_list(a);                                        \
        for (int64_t i = 0; i < n; i++)                                                      \
            mase_value_push(a, list, mase_value_##kind(a, item[i]));                         \
        return list;                                                                         \
    }
LIST_OF(ints, int64_t, int)
LIST_OF(floats, double, float)
LIST_OF(strings, const char *, string)
#undef LIST_OF

struct mase_value *mase_value_set(struct mase_arena *a, struct mase_value *table, const char *key,
                                  struct mase_value *item)
{
    if (table->kind != MASE_TABLE)
        mase_bug("cannot set key '%s' of a %s", key, mase_value_kind_names[table->kind]);
    int i = mase_value_find(table, key);
    if (i >= 0)
        table->items[i] = item;
    else
        append_key(a, table, key, item);
    return item;
}

int mase_value_find(const struct mase_value *table, const char *key)
{
    if (!table || table->kind != MASE_TABLE)
        return -1;
    return find_n(table, key, strlen(key));
}

struct mase_value *mase_value_get(const struct mase_value *v, const char *key)
{
    int i = mase_value_find(v, key);
    return i < 0 ? NULL : v->items[i];
}

struct mase_value *mase_value_at(const struct mase_value *v, const char *path)
{
    for (;;) {
        size_t n = strcspn(path, ".");
        int i = v && v->kind == MASE_TABLE ? find_n(v, path, n) : -1;
        if (i < 0)
            return NULL;
        if (!path[n])
            return v->items[i];
        v = v->items[i];
        path += n + 1;
    }
}

/* ---- whole trees ---- */

struct mase_value *mase_value_copy(struct mase_arena *a, const struct mase_value *v)
{
    bool text = v->kind == MASE_STRING || v->kind == MASE_DATE || v->kind == MASE_ATOM;
    struct mase_value *copy = text ? text_new(a, v->kind, v->s, v->len) : value_new(a, v->kind);
    copy->at = v->at;
    switch (v->kind) {
    case MASE_STRING:
    case MASE_DATE:
    case MASE_ATOM:
    case MASE_NONE:
        break;
    case MASE_LIST:
    case MASE_TUPLE:
        for (int i = 0; i < v->count; i++)
            mase_value_push(a, copy, mase_value_copy(a, v->items[i]));
        break;
    case MASE_TABLE:
        for (int i = 0; i < v->count; i++) {
            append_key(a, copy, v->keys[i], mase_value_copy(a, v->items[i]));
            copy->key_at[i] = v->key_at[i];
        }
        break;
    case MASE_BOOL:
        copy->b = v->b;
        break;
    case MASE_INT:
        copy->i = v->i;
        break;
    case MASE_FLOAT:
        copy->f = v->f;
        break;
    }
    return copy;
}

void mase_value_resolve_na(struct mase_value *v)
{
    for (int i = 0; i < v->count; i++)
        mase_value_resolve_na(v->items[i]);
    if (mase_value_is_none(v))
        v->kind = MASE_NONE;
}
