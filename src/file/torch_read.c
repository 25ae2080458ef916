/*
 * torch_read.c - the two containers of PyTorch's files.
 *
 * Since version 1.6 a zip file, its entries stored and aligned to 64 bytes:
 *
 *     NAME/data.pkl    the pickle
 *     NAME/byteorder   "little" or "big"; little where there is none
 *     NAME/data/KEY    one storage each
 *     NAME/version     and others that we do not need
 *
 * Before, five pickles in a row and then the storages:
 *
 *     an integer       1950a86a20f9469cfc6c (hex), the magic number
 *     an integer       1001, the version
 *     a dict           of the system that wrote the file
 *     the tree
 *     a list           of storage keys
 *     for each key     int64 elements, then the elements, always little-endian
 */
#include <inttypes.h>
#include <string.h>

#include "base/limit.h"
#include "file/pickle.h"
#include "file/zip.h"

enum { PICKLE_MAX = 256 << 20, LEGACY_VERSION = 1001 };

/* ---- zip ---- */

/* NAME of the one entry NAME/data.pkl. */
static enum mase_status find_archive(const struct mase_zip *z, struct mase_arena *a,
                                     const struct mase_zip_entry **pickle, const char **archive,
                                     struct mase_err *err)
{
    static const char suffix[] = "/data.pkl";
    *pickle = NULL;
    for (int i = 0; i < z->count; i++) {
        const char *name = z->entries[i].name, *slash = strchr(name, '/');
        if (!slash || !mase_streq(slash, suffix))
            continue;
        if (*pickle)
            return mase_fail_in(err, MASE_EPARSE, z->path, "two pickles, '%s' and '%s'",
                                (*pickle)->name, name);
        *pickle = &z->entries[i];
        *archive = mase_arena_strndup(a, name, (size_t)(slash - name));
    }
    if (!*pickle)
        return mase_fail_in(err, MASE_EPARSE, z->path,
                            "no PyTorch file: the zip has no entry NAME/data.pkl");
    return MASE_OK;
}

/* How many bytes may still be unpacked; a stored entry needs none. */
static uint64_t unpack_limit(const struct mase_pickle *p, const struct mase_zip_entry *e)
{
    if (e->method == 0)
        return UINT64_MAX;
    return p->limit > p->arena->used ? p->limit - p->arena->used : 0;
}

/* A cursor over the pickle: in the file itself where it is stored, so that offsets are the file's.
 */
static enum mase_status open_pickle(struct mase_pickle *p, struct mase_cursor *in,
                                    const struct mase_zip *z, const struct mase_zip_entry *e,
                                    struct mase_err *err)
{
    const unsigned char *content = NULL;
    const uint64_t most = unpack_limit(p, e);
    MASE_TRY(mase_zip_read(z, e, p->arena, &content, most < PICKLE_MAX ? most : PICKLE_MAX, err));
    if (e->method == 0) {
        const size_t start = (size_t)(content - z->data);
        *in = (struct mase_cursor){ z->path, z->data, start + e->size, start };
    } else {
        const char *path = mase_arena_printf(p->arena, "%s: %s", z->path, e->name);
        *in = (struct mase_cursor){ path, content, e->size, 0 };
    }
    return MASE_OK;
}

static enum mase_status read_byteorder(struct mase_pickle *p, bool *big, const struct mase_zip *z,
                                       const char *archive, struct mase_err *err)
{
    const char *name = mase_arena_printf(p->arena, "%s/byteorder", archive);
    const struct mase_zip_entry *e = mase_zip_find(z, name);
    const unsigned char *content = NULL;
    *big = false;
    if (!e)
        return MASE_OK;
    MASE_TRY(mase_zip_read(z, e, p->arena, &content, 16, err));
    *big = e->size == 3 && memcmp(content, "big", 3) == 0;
    if (!*big && !(e->size == 6 && memcmp(content, "little", 6) == 0))
        return mase_fail_in(err, MASE_EPARSE, z->path, "%s is neither 'little' nor 'big'", name);
    return MASE_OK;
}

static enum mase_status read_storage(struct mase_pickle *p, struct mase_storage *s,
                                     const struct mase_zip *z, const char *archive, bool no_data,
                                     struct mase_err *err)
{
    const char *name = mase_arena_printf(p->arena, "%s/data/%s", archive, s->key);
    const struct mase_zip_entry *e = mase_zip_find(z, name);
    if (!e)
        return mase_fail_at(err, MASE_EPARSE, s->at, "there is no entry '%s'", name);
    const uint64_t need = (uint64_t)s->count * (uint64_t)s->type->element.size;
    if (e->size != need)
        return mase_fail_at(err, MASE_EPARSE, s->at,
                            "'%s' has %" PRIu64 " bytes, %" PRId64 " elements of %s need %" PRIu64,
                            name, e->size, s->count, s->type->dtype, need);
    return no_data ? MASE_OK : mase_zip_read(z, e, p->arena, &s->data, unpack_limit(p, e), err);
}

static enum mase_status read_zip(struct mase_torch *t, struct mase_pickle *p, struct mase_err *err)
{
    struct mase_zip z;
    const struct mase_zip_entry *pickle = NULL;
    const char *archive = NULL;
    struct mase_cursor in;
    bool big = false;
    MASE_TRY(mase_zip_open(&z, &t->arena, t->file.data, t->file.size, t->file.path, err));
    MASE_TRY(find_archive(&z, &t->arena, &pickle, &archive, err));
    MASE_TRY(open_pickle(p, &in, &z, pickle, err));
    MASE_TRY(mase_pickle_read(p, &in, &t->root, err));
    if (in.pos != in.size)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(&in),
                            "%zu bytes after the end of the pickle", in.size - in.pos);
    MASE_TRY(read_byteorder(p, &big, &z, archive, err));
    for (int i = 0; i < p->storage_count; i++) {
        p->storages[i]->big_endian = big;
        MASE_TRY(read_storage(p, p->storages[i], &z, archive, t->no_data, err));
    }
    return MASE_OK;
}

/* ---- before zip ---- */

/* A long integer, after a protocol and possibly a frame. */
size_t mase_torch_old_magic(const unsigned char *data, size_t size)
{
    static const unsigned char magic[] = { 0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                           0x20, 0x6a, 0xa8, 0x50, 0x19, '.' };
    static const size_t starts[] = { 2, 11 };
    for (int i = 0; i < 2; i++)
        if (size >= starts[i] + sizeof magic && data[0] == 0x80 &&
            memcmp(data + starts[i], magic, sizeof magic) == 0)
            return starts[i] + sizeof magic;
    return 0;
}

static enum mase_status read_legacy_storage(const struct mase_pickle *p, struct mase_cursor *in,
                                            const struct mase_obj *key, struct mase_err *err)
{
    const struct mase_loc at = mase_cursor_at(in);
    struct mase_storage *s =
        key->kind == MASE_OBJ_TEXT ? mase_map_get(&p->by_key, key->text) : NULL;
    if (!s || s->data)
        return mase_fail_at(err, MASE_EPARSE, at,
                            "the list of storages has one that no tensor uses, or one twice");
    uint64_t count = 0;
    MASE_TRY(mase_get_u64(in, &count, err));
    if (count != (uint64_t)s->count)
        return mase_fail_at(err, MASE_EPARSE, at,
                            "storage '%s' has %" PRIu64 " elements here, %" PRId64 " in the pickle",
                            s->key, count, s->count);
    return mase_get_bytes(in, &s->data, count * (uint64_t)s->type->element.size, err);
}

static enum mase_status read_legacy(struct mase_torch *t, struct mase_pickle *p,
                                    struct mase_err *err)
{
    struct mase_cursor in = mase_cursor_of(&t->file);
    const struct mase_obj *version = NULL, *system = NULL, *keys = NULL;
    in.pos = mase_torch_old_magic(t->file.data, t->file.size);
    MASE_TRY(mase_pickle_read(p, &in, &version, err));
    if (version->kind != MASE_OBJ_INT || version->i != LEGACY_VERSION)
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_pickle_at(p),
                            "a version other than %d of the format without zip", LEGACY_VERSION);
    MASE_TRY(mase_pickle_read(p, &in, &system, err));
    MASE_TRY(mase_pickle_read(p, &in, &t->root, err));
    MASE_TRY(mase_pickle_read(p, &in, &keys, err));
    if (keys->kind != MASE_OBJ_LIST)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "no list of storages");
    for (int i = 0; i < keys->count; i++)
        MASE_TRY(read_legacy_storage(p, &in, keys->items[i], err));
    for (int i = 0; i < p->storage_count; i++)
        if (!p->storages[i]->data)
            return mase_fail_at(err, MASE_EPARSE, p->storages[i]->at,
                                "storage '%s' is not in the file", p->storages[i]->key);
    return MASE_OK;
}

/* ---- either ---- */

static enum mase_status read_any(struct mase_torch *t, struct mase_err *err)
{
    const size_t size = t->file.size;
    struct mase_pickle p = {
        .arena = &t->arena,
        .as_stored = t->as_stored,
        .limit = (size_t)mase_limit_of_file(size),
    };
    if (size >= 4 && memcmp(t->file.data, "PK\3\4", 4) == 0)
        MASE_TRY(read_zip(t, &p, err));
    else if (mase_torch_old_magic(t->file.data, t->file.size))
        MASE_TRY(read_legacy(t, &p, err));
    else
        return mase_fail_in(err, MASE_EPARSE, t->file.path,
                            "no PyTorch file: neither a zip file nor the older format's magic "
                            "number");
    return t->no_data ? MASE_OK : mase_views_fill(&p, &t->converted, err);
}

static enum mase_status read_or_close(struct mase_torch *t, struct mase_err *err)
{
    const enum mase_status st = read_any(t, err);
    if (st)
        mase_torch_close(t);
    return st;
}

enum mase_status mase_torch_open(struct mase_torch *t, const char *path, struct mase_err *err)
{
    *t = (struct mase_torch){ 0 };
    MASE_TRY(mase_file_open(&t->file, path, err));
    return read_or_close(t, err);
}

enum mase_status mase_torch_parse(struct mase_torch *t, const void *data, size_t size,
                                  const char *path, struct mase_err *err)
{
    *t = (struct mase_torch){ .file = { .path = path, .data = data, .size = size } };
    return read_or_close(t, err);
}

enum mase_status mase_torch_parse_stored(struct mase_torch *t, const void *data, size_t size,
                                         const char *path, struct mase_err *err)
{
    *t = (struct mase_torch){ .file = { .path = path, .data = data, .size = size },
                              .as_stored = true };
    return read_or_close(t, err);
}

enum mase_status mase_torch_outline(struct mase_torch *t, const void *data, size_t size,
                                    const char *path, struct mase_err *err)
{
    *t = (struct mase_torch){ .file = { .path = path, .data = data, .size = size },
                              .as_stored = true,
                              .no_data = true };
    return read_or_close(t, err);
}

void mase_torch_close(struct mase_torch *t)
{
    mase_arena_release(&t->arena);
    mase_file_close(&t->file);
    *t = (struct mase_torch){ 0 };
}
