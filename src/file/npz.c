/*
 * npz.c - .npz files: a zip file with an entry NAME.npy for every array.
 */
#include <inttypes.h>
#include <string.h>

#include "file/npy_parts.h"
#include "file/zip.h"

static const char suffix[] = ".npy";

/* ---- reading ---- */

struct reading {
    struct mase_npz *out;
    struct mase_zip zip;
    bool as_stored;
    uint64_t limit; /* of bytes unpacked or converted */
};

/* Count the bytes of another array against the limit. */
static enum mase_status check_limit(const struct reading *r, const char *name, uint64_t bytes,
                                    struct mase_err *err)
{
    const uint64_t used = r->out->arena.used;
    if (bytes <= r->limit && used <= r->limit - bytes)
        return MASE_OK;
    return mase_fail_in(err, MASE_ELIMIT, r->zip.path,
                        "array '%s' takes %" PRIu64 " bytes: the file would take more than %" PRIu64
                        " bytes of memory",
                        name, bytes, r->limit);
}

static enum mase_status view_array(struct reading *r, struct mase_named_tensor *item,
                                   const struct mase_zip_entry *e, const unsigned char *content,
                                   struct mase_err *err)
{
    const struct mase_cursor start = { .path = r->zip.path, .data = content, .size = e->size };
    struct mase_cursor in = start;
    uint64_t copied = 0;
    MASE_TRY(mase_npy_copied(&copied, r->as_stored, &in, err));
    MASE_TRY(check_limit(r, item->name, copied, err));
    in = start;
    return mase_npy_view(&item->tensor, &r->out->arena, r->as_stored, &r->out->converted, &in, err);
}

static enum mase_status read_array(struct reading *r, struct mase_named_tensor *item,
                                   const struct mase_zip_entry *e, struct mase_err *err)
{
    const size_t n = strlen(e->name), end = sizeof suffix - 1;
    const unsigned char *content = NULL;
    if (n < end || !mase_streq(e->name + n - end, suffix))
        return mase_fail_in(err, MASE_EPARSE, r->zip.path,
                            "entry '%s' is no array: its name does not end in %s", e->name, suffix);
    item->name = mase_arena_strndup(&r->out->arena, e->name, n - end);
    if (e->method) /* what is only stored is viewed where it lies */
        MASE_TRY(check_limit(r, item->name, e->size, err));
    MASE_TRY(mase_zip_read(&r->zip, e, &r->out->arena, &content, UINT64_MAX, err));
    if (view_array(r, item, e, content, err)) {
        err->loc.off = -1; /* it counts from the start of the entry */
        return mase_wrap(err, "%s", e->name);
    }
    return MASE_OK;
}

static enum mase_status read_all(struct reading *r, const void *data, size_t size, const char *path,
                                 struct mase_err *err)
{
    struct mase_npz *out = r->out;
    MASE_TRY(mase_zip_open(&r->zip, &out->arena, data, size, path, err));
    out->items = mase_new_array(&out->arena, struct mase_named_tensor, (size_t)r->zip.count);
    for (; out->count < r->zip.count; out->count++)
        MASE_TRY(read_array(r, &out->items[out->count], &r->zip.entries[out->count], err));
    return MASE_OK;
}

static enum mase_status parse(struct mase_npz *z, const void *data, size_t size, const char *path,
                              bool as_stored, struct mase_err *err)
{
    *z = (struct mase_npz){ 0 };
    struct reading r = {
        .out = z,
        .as_stored = as_stored,
        .limit = ((uint64_t)1 << 30) + 64 * (uint64_t)size, /* pruned weights pack well */
    };
    struct mase_err unwanted;
    const enum mase_status st = read_all(&r, data, size, path, err ? err : &unwanted);
    if (st)
        mase_npz_close(z);
    return st;
}

enum mase_status mase_npz_parse(struct mase_npz *z, const void *data, size_t size, const char *path,
                                struct mase_err *err)
{
    return parse(z, data, size, path, false, err);
}

enum mase_status mase_npz_parse_stored(struct mase_npz *z, const void *data, size_t size,
                                       const char *path, struct mase_err *err)
{
    return parse(z, data, size, path, true, err);
}

void mase_npz_close(struct mase_npz *z)
{
    mase_arena_release(&z->arena);
    *z = (struct mase_npz){ 0 };
}

/* ---- writing ---- */

static enum mase_status check(const struct mase_named_tensor *item, const char *path,
                              struct mase_err *err)
{
    struct mase_str what = { 0 };
    mase_str_printf(&what, "'%s'", item->name);
    enum mase_status st = mase_npy_check(&item->tensor, mase_str_text(&what), path, err);
    if (!st && strlen(item->name) > UINT16_MAX - sizeof suffix)
        st = mase_fail_in(err, MASE_ELIMIT, path, "a name of %zu bytes is too long for a zip file",
                          strlen(item->name));
    mase_str_release(&what);
    return st;
}

static enum mase_status put_array(struct mase_zip_writer *z, const struct mase_named_tensor *item,
                                  struct mase_err *err)
{
    struct mase_str name = { 0 }, header = { 0 };
    mase_str_printf(&name, "%s%s", item->name, suffix);
    mase_npy_header(&header, &item->tensor);
    const struct mase_zip_part parts[] = {
        { header.data, header.len },
        { item->tensor.data, (size_t)mase_tensor_bytes(&item->tensor) },
    };
    const enum mase_status st = mase_zip_put_parts(z, mase_str_text(&name), parts, 2, err);
    mase_str_release(&header);
    mase_str_release(&name);
    return st;
}

enum mase_status mase_npz_write(const struct mase_named_tensor *items, int count, const char *path,
                                struct mase_err *err)
{
    struct mase_writer out;
    struct mase_zip_writer z;
    enum mase_status st = MASE_OK;
    for (int i = 0; i < count; i++)
        MASE_TRY(check(&items[i], path, err));
    MASE_TRY(mase_writer_open(&out, path, err));
    mase_zip_begin(&z, &out);
    for (int i = 0; i < count && !st; i++)
        st = put_array(&z, &items[i], err);
    if (!st)
        st = mase_zip_finish(&z, err);
    if (!st)
        st = mase_writer_close(&out, err);
    mase_writer_abort(&out);
    mase_zip_release(&z);
    return st;
}
