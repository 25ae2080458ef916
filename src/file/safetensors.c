/*
 * safetensors.c - named tensors in one file.
 *
 *     offset  bytes       content
 *     0       8           n, the length of the header, little endian, at most 100 million
 *     8       n           the header: a JSON object, '{' first, blanks allowed after it
 *     8 + n   the rest    the elements of all tensors, little endian
 *
 * The object maps each tensor's name to
 *
 *     {"dtype": "F32", "shape": [5, 16], "data_offsets": [begin, end]}
 *
 * where begin and end count bytes from 8 + n, end - begin is the size that type and shape ask for,
 * and the tensors together cover the rest of the file: no gap, no overlap, nothing left. The key
 * "__metadata__" is no tensor but an object of strings. No key may come twice.
 *
 * Alignment is not promised: a tensor is used where it lies in the mapped file if its address
 * allows, else copied.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mase/cursor.h>
#include <mase/safetensors.h>
#include <mase/str.h>

#include "file/element.h"

enum { HEADER_AT = 8 };
static const char metadata_key[] = "__metadata__";
static const uint64_t header_limit = 100 * 1000 * 1000;

static const struct st_type {
    const char *name;
    struct mase_element element;
} types[] = {
    { "F64", { 'f', 8, MASE_F64 } },         { "F32", { 'f', 4, MASE_F32 } },
    { "F16", { 'f', 2, MASE_F32 } },         { "BF16", { 'g', 2, MASE_F32 } },
    { "I64", { 'i', 8, MASE_I64 } },         { "I32", { 'i', 4, MASE_I32 } },
    { "I16", { 'i', 2, MASE_I32 } },         { "I8", { 'i', 1, MASE_I32 } },
    { "U64", { 'u', 8, MASE_I64 } },         { "U32", { 'u', 4, MASE_I64 } },
    { "U16", { 'u', 2, MASE_I32 } },         { "U8", { 'u', 1, MASE_U8 } },
    { "BOOL", { 'b', 1, MASE_DTYPE_BOOL } },
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* A header entry, checked by itself. */
struct entry {
    const char *name;
    struct mase_loc at; /* in the header */
    struct mase_element element;
    struct mase_shape shape;
    uint64_t begin, end; /* from the start of the data */
    const char *unread;  /* its type, if that is none of ours */
};

/* In which types the tensors come out. */
enum wanted {
    OURS,    /* widened where we lack the file's */
    STORED,  /* the file's */
    OUTLINE, /* the file's, and no data */
};

/* For checks of an entry. */
struct source {
    const char *path;
    const unsigned char *data; /* the elements */
    uint64_t size;
    int64_t at; /* their offset in the file */
    enum wanted wanted;
};

static struct mase_loc place(const char *path, int64_t off)
{
    return (struct mase_loc){ .path = path, .off = off };
}

/* The JSON reader counts lines and columns of its text: in the file, the offset is meant. */
static struct mase_loc place_in_header(const char *path, const struct mase_loc *at)
{
    return place(path, HEADER_AT + (at->line == 1 && at->col > 0 ? at->col - 1 : 0));
}

/* ---- one entry ---- */

static enum mase_status get_dtype(struct entry *e, const struct mase_value *v, bool as_stored,
                                  struct mase_err *err)
{
    if (!v || v->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EPARSE, e->at, "tensor '%s' has no \"dtype\" string",
                            e->name);
    for (int i = 0; i < TYPE_COUNT; i++)
        if (mase_streq(types[i].name, v->s))
            e->element = as_stored ? mase_element_as_stored(&types[i].element) : types[i].element;
    if (!e->element.size)
        e->unread = v->s;
    return MASE_OK;
}

static enum mase_status get_shape(struct entry *e, const struct mase_value *v, struct mase_err *err)
{
    if (!v || v->kind != MASE_LIST)
        return mase_fail_at(err, MASE_EPARSE, e->at, "tensor '%s' has no \"shape\" list", e->name);
    if (v->count > MASE_MAX_RANK)
        return mase_fail_at(err, MASE_ELIMIT, e->at, "tensor '%s' has %d dimensions, more than %d",
                            e->name, v->count, MASE_MAX_RANK);
    for (int d = 0; d < v->count; d++) {
        if (v->items[d]->kind != MASE_INT || v->items[d]->i < 0)
            return mase_fail_at(err, MASE_EPARSE, e->at, "tensor '%s': dimension %d is no length",
                                e->name, d);
        e->shape.dim[e->shape.rank++] = v->items[d]->i;
    }
    return MASE_OK;
}

/* The bytes that type and shape ask for. Lengths count even beside a length of 0, so that no later
 * product over the shape can overflow; 8: what the widest of our types takes. */
static enum mase_status get_size(const struct entry *e, uint64_t *size, struct mase_err *err)
{
    int64_t product = 8;
    bool empty = false;
    for (int d = 0; d < e->shape.rank; d++) {
        empty |= e->shape.dim[d] == 0;
        if (e->shape.dim[d] && __builtin_mul_overflow(product, e->shape.dim[d], &product))
            return mase_fail_at(err, MASE_ELIMIT, e->at, "tensor '%s' has more than 2^60 elements",
                                e->name);
    }
    *size = empty ? 0 : (uint64_t)(product / 8) * (uint64_t)e->element.size;
    return MASE_OK;
}

static enum mase_status get_offsets(struct entry *e, const struct mase_value *v,
                                    const struct source *src, struct mase_err *err)
{
    if (!v || v->kind != MASE_LIST || v->count != 2 || v->items[0]->kind != MASE_INT ||
        v->items[1]->kind != MASE_INT)
        return mase_fail_at(err, MASE_EPARSE, e->at,
                            "tensor '%s' has no \"data_offsets\" [begin, end]", e->name);
    const int64_t begin = v->items[0]->i, end = v->items[1]->i;
    if (begin < 0 || end < begin || (uint64_t)end > src->size)
        return mase_fail_at(err, MASE_EPARSE, e->at,
                            "tensor '%s': offsets [%" PRId64 ", %" PRId64
                            "] are outside the %" PRIu64
                            " bytes of data: the file is cut short, or its "
                            "header is wrong",
                            e->name, begin, end, src->size);
    uint64_t size = 0;
    MASE_TRY(get_size(e, &size, err));
    if (!e->unread && (uint64_t)(end - begin) != size)
        return mase_fail_at(err, MASE_EPARSE, e->at,
                            "tensor '%s' has %" PRId64
                            " bytes, its type and shape ask for %" PRIu64,
                            e->name, end - begin, size);
    e->begin = (uint64_t)begin;
    e->end = (uint64_t)end;
    return MASE_OK;
}

static enum mase_status get_entry(struct entry *e, const struct mase_value *v,
                                  const struct source *src, struct mase_err *err)
{
    if (v->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EPARSE, e->at, "tensor '%s' is no object", e->name);
    for (int i = 0; i < v->count; i++)
        if (!mase_streq(v->keys[i], "dtype") && !mase_streq(v->keys[i], "shape") &&
            !mase_streq(v->keys[i], "data_offsets"))
            return mase_fail_at(err, MASE_EPARSE, e->at, "tensor '%s' has an unknown key '%s'",
                                e->name, v->keys[i]);
    MASE_TRY(get_dtype(e, mase_value_get(v, "dtype"), src->wanted != OURS, err));
    MASE_TRY(get_shape(e, mase_value_get(v, "shape"), err));
    return get_offsets(e, mase_value_get(v, "data_offsets"), src, err);
}

static enum mase_status get_tensor(struct mase_tensor *t, struct mase_arena *a,
                                   const struct entry *e, const struct source *src,
                                   struct mase_err *err)
{
    const unsigned char *p = src->data + e->begin;
    const bool native = mase_element_is_native(&e->element) && !mase_host_is_big;
    const size_t align = (size_t)mase_dtypes[e->element.dtype].size;
    *t = mase_tensor(a, e->element.dtype, &e->shape, false);
    if (src->wanted == OUTLINE)
        return MASE_OK;
    if (native && (uintptr_t)p % align == 0) {
        t->data = (void *)p; /* mapped for reading; users of a view do not write */
        return MASE_OK;
    }
    *t = mase_tensor(a, e->element.dtype, &e->shape, true);
    const int64_t count = native ? 0 : mase_tensor_count(t);
    if (native) /* not aligned */
        memcpy(t->data, p, (size_t)mase_tensor_bytes(t));
    for (int64_t i = 0; i < count; i++, p += e->element.size) {
        uint64_t bits;
        if (!mase_element_load(&e->element, &bits, p, false))
            return mase_fail_at(err, MASE_EVALUE, place(src->path, src->at + (p - src->data)),
                                "tensor '%s': %" PRIu64
                                " exceeds the largest signed 64-bit integer",
                                e->name, bits);
        mase_element_store(t, i, bits);
    }
    return MASE_OK;
}

/* ---- the whole ---- */

static int by_begin(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The tensors must cover the data: no gap, no overlap, nothing left. */
static enum mase_status check_cover(struct mase_arena *a, const struct entry *entries, int count,
                                    const struct source *src, struct mase_err *err)
{
    struct entry *sorted = mase_arena_memdup(a, entries, (size_t)count * sizeof *entries);
    qsort(sorted, (size_t)count, sizeof *sorted, by_begin);
    uint64_t at = 0;
    for (int i = 0; i < count; at = sorted[i++].end)
        if (sorted[i].begin != at)
            return mase_fail_at(
                err, MASE_EPARSE, place(src->path, src->at + (int64_t)at),
                "tensor '%s' begins at %" PRIu64 " of the data, %s %" PRIu64, sorted[i].name,
                sorted[i].begin,
                sorted[i].begin < at ? "overlapping what ends at" : "leaving a gap from", at);
    if (at != src->size)
        return mase_fail_at(err, MASE_EPARSE, place(src->path, src->at + (int64_t)at),
                            "%" PRIu64 " bytes after the last tensor", src->size - at);
    return MASE_OK;
}

static enum mase_status check_metadata(const struct mase_value *m, const struct source *src,
                                       struct mase_err *err)
{
    bool strings = m->kind == MASE_TABLE;
    for (int i = 0; strings && i < m->count; i++)
        strings = m->items[i]->kind == MASE_STRING;
    return strings ? MASE_OK
                   : mase_fail_at(err, MASE_EPARSE, place_in_header(src->path, &m->at),
                                  "\"__metadata__\" is no object of strings");
}

static enum mase_status get_items(struct mase_safetensors *st, const struct mase_value *root,
                                  const struct source *src, struct mase_err *err)
{
    struct entry *entries = mase_new_array(&st->arena, struct entry, (size_t)root->count);
    int count = 0;
    for (int i = 0; i < root->count; i++) {
        if (mase_streq(root->keys[i], metadata_key)) {
            MASE_TRY(check_metadata(root->items[i], src, err));
            st->metadata = root->items[i];
            continue;
        }
        entries[count].name = root->keys[i];
        entries[count].at = place_in_header(src->path, &root->items[i]->at);
        MASE_TRY(get_entry(&entries[count++], root->items[i], src, err));
    }
    MASE_TRY(check_cover(&st->arena, entries, count, src, err));
    st->items = mase_new_array(&st->arena, struct mase_named_tensor, (size_t)count);
    st->unread = mase_new_array(&st->arena, struct mase_unread, (size_t)count);
    for (const struct entry *e = entries; e < entries + count; e++) {
        if (e->unread) {
            st->unread[st->unread_count++] =
                (struct mase_unread){ e->name,
                                      mase_arena_printf(&st->arena, "a tensor of %s", e->unread) };
            continue;
        }
        st->items[st->count].name = e->name;
        MASE_TRY(get_tensor(&st->items[st->count++].tensor, &st->arena, e, src, err));
        st->converted += e->element.size != mase_dtypes[e->element.dtype].size;
    }
    return MASE_OK;
}

static enum mase_status get_json(struct mase_value **root, struct mase_arena *a, const char *text,
                                 size_t n, const char *path, struct mase_err *err)
{
    struct mase_err inner = { 0 };
    if (n == 0 || text[0] != '{')
        return mase_fail_at(err, MASE_EPARSE, place(path, HEADER_AT),
                            "the header does not begin with '{'");
    const enum mase_status st = mase_json_parse(root, a, text, n, path, &inner);
    if (st)
        return mase_fail_at(err, st, place_in_header(path, &inner.loc), "header: %s", inner.msg);
    return MASE_OK;
}

static enum mase_status parse(struct mase_safetensors *st, const void *data, size_t size,
                              const char *path, enum wanted wanted, struct mase_err *err)
{
    struct mase_cursor c = { .path = path, .data = data, .size = size };
    uint64_t n;
    const unsigned char *text;
    struct mase_value *root = NULL;
    MASE_TRY(mase_get_u64(&c, &n, err));
    if (n > header_limit)
        return mase_fail_at(err, MASE_ELIMIT, place(path, 0),
                            "a header of %" PRIu64 " bytes; at most %" PRIu64 " are allowed", n,
                            header_limit);
    MASE_TRY(mase_get_bytes(&c, &text, n, err));
    MASE_TRY(get_json(&root, &st->arena, (const char *)text, (size_t)n, path, err));
    st->metadata = mase_value_table(&st->arena);
    const struct source src = { path, c.data + c.pos, c.size - c.pos, (int64_t)c.pos, wanted };
    return get_items(st, root, &src, err);
}

static enum mase_status parse_or_close(struct mase_safetensors *st, const void *data, size_t size,
                                       const char *path, enum wanted wanted, struct mase_err *err)
{
    const enum mase_status status = parse(st, data, size, path, wanted, err);
    if (status)
        mase_safetensors_close(st);
    return status;
}

enum mase_status mase_safetensors_parse(struct mase_safetensors *st, const void *data, size_t size,
                                        const char *path, struct mase_err *err)
{
    *st = (struct mase_safetensors){ 0 };
    return parse_or_close(st, data, size, path, OURS, err);
}

enum mase_status mase_safetensors_parse_stored(struct mase_safetensors *st, const void *data,
                                               size_t size, const char *path, struct mase_err *err)
{
    *st = (struct mase_safetensors){ 0 };
    return parse_or_close(st, data, size, path, STORED, err);
}

enum mase_status mase_safetensors_outline(struct mase_safetensors *st, const void *data,
                                          size_t size, const char *path, struct mase_err *err)
{
    *st = (struct mase_safetensors){ 0 };
    return parse_or_close(st, data, size, path, OUTLINE, err);
}

enum mase_status mase_safetensors_open(struct mase_safetensors *st, const char *path,
                                       struct mase_err *err)
{
    *st = (struct mase_safetensors){ 0 };
    MASE_TRY(mase_file_open(&st->file, path, err));
    return parse_or_close(st, st->file.data, st->file.size, path, OURS, err);
}

void mase_safetensors_close(struct mase_safetensors *st)
{
    if (st->file.data)
        mase_file_close(&st->file);
    mase_arena_release(&st->arena);
    *st = (struct mase_safetensors){ 0 };
}

const struct mase_tensor *mase_safetensors_find(const struct mase_safetensors *st, const char *name)
{
    for (int i = 0; i < st->count; i++)
        if (mase_streq(st->items[i].name, name))
            return &st->items[i].tensor;
    return NULL;
}

/* ---- writing ---- */

static const char *type_name(enum mase_dtype dtype)
{
    for (int i = 0; i < TYPE_COUNT; i++)
        if (types[i].element.kind == mase_dtypes[dtype].kind &&
            types[i].element.size == mase_dtypes[dtype].size)
            return types[i].name;
    mase_bug("no safetensors type for %s", mase_dtypes[dtype].name);
}

/* Wide elements first, else in the order given: every tensor is then aligned to its element. */
static const struct mase_named_tensor **order(struct mase_arena *a,
                                              const struct mase_named_tensor *items, int count)
{
    const struct mase_named_tensor **ordered =
        mase_new_array(a, const struct mase_named_tensor *, (size_t)count);
    int n = 0;
    for (int width = 8; width > 0; width--)
        for (int i = 0; i < count; i++)
            if (mase_dtypes[items[i].tensor.dtype].size == width)
                ordered[n++] = &items[i];
    return ordered;
}

static struct mase_value *entry_value(struct mase_arena *a, const struct mase_tensor *t,
                                      int64_t begin)
{
    struct mase_value *v = mase_value_table(a);
    const int64_t offset[] = { begin, begin + mase_tensor_bytes(t) };
    mase_value_set(a, v, "dtype", mase_value_string(a, type_name(t->dtype)));
    mase_value_set(a, v, "shape", mase_value_ints(a, t->shape.dim, t->shape.rank));
    mase_value_set(a, v, "data_offsets", mase_value_ints(a, offset, 2));
    return v;
}

/* The first 8 + n bytes, tensors in the order given; blanks make the data begin at a multiple of
 * 8. */
static void put_header(struct mase_str *out, struct mase_arena *a,
                       const struct mase_named_tensor *items,
                       const struct mase_named_tensor *const *ordered, int count,
                       const struct mase_value *metadata)
{
    struct mase_value *root = mase_value_table(a);
    if (metadata && metadata->count)
        mase_value_set(a, root, metadata_key, mase_value_copy(a, metadata));
    int64_t *begin = mase_new_array(a, int64_t, (size_t)count), at = 0;
    for (int i = 0; i < count; at += mase_tensor_bytes(&ordered[i++]->tensor))
        begin[ordered[i] - items] = at;
    for (int i = 0; i < count; i++)
        mase_value_set(a, root, items[i].name, entry_value(a, &items[i].tensor, begin[i]));
    struct mase_str json = { 0 };
    mase_json_print(&json, root, 0);
    while (json.len % 8)
        mase_str_addc(&json, ' ');
    for (int i = 0; i < 8; i++)
        mase_str_addc(out, (char)((uint64_t)json.len >> (8 * i) & 0xff));
    mase_str_addn(out, json.data, json.len);
    mase_str_release(&json);
}

enum mase_status mase_safetensors_write(const struct mase_named_tensor *items, int count,
                                        const struct mase_value *metadata, const char *path,
                                        struct mase_err *err)
{
    if (mase_host_is_big)
        return mase_fail_in(err, MASE_EUNSUPPORTED, path, "writing needs a little-endian machine");
    for (int i = 0; i < count; i++)
        if (mase_streq(items[i].name, metadata_key))
            return mase_fail_in(err, MASE_EVALUE, path,
                                "no tensor of a safetensors file may be called %s", metadata_key);
    struct mase_writer w;
    MASE_TRY(mase_writer_open(&w, path, err));
    struct mase_arena a = { 0 };
    const struct mase_named_tensor **ordered = order(&a, items, count);
    struct mase_str header = { 0 };
    put_header(&header, &a, items, ordered, count, metadata);

    enum mase_status st = mase_writer_put(&w, header.data, header.len, err);
    for (int i = 0; i < count && !st; i++)
        st = mase_writer_put(&w, ordered[i]->tensor.data,
                             (size_t)mase_tensor_bytes(&ordered[i]->tensor), err);
    if (!st)
        st = mase_writer_close(&w, err);
    mase_writer_abort(&w);
    mase_str_release(&header);
    mase_arena_release(&a);
    return st;
}
