/*
 * zip_write.c - writing zip containers of stored entries; zip.c describes the records.
 *
 * The content of an entry starts at a multiple of 64 bytes: an extra field 'FB' before it is filled
 * with 'Z' to that length, as PyTorch fills it. Dates are 1980-01-01, so that equal contents give
 * equal files.
 */
#include "file/zip.h"

#include <string.h>

#include "file/crc32.h"

enum { ALIGN = 64, DATE_1980 = 0x21, VERSION_PLAIN = 20, VERSION_WIDE = 45, LOCAL_SIZE = 30 };

static void put(struct mase_str *s, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        mase_str_addc(s, (char)(v >> (8 * i) & 0xff));
}

void mase_zip_begin(struct mase_zip_writer *w, struct mase_writer *out)
{
    if (out->size != 0)
        mase_bug("a zip file must start its file");
    *w = (struct mase_zip_writer){ .out = out, .wide_from = UINT32_MAX };
}

void mase_zip_release(struct mase_zip_writer *w)
{
    mase_str_release(&w->directory);
    *w = (struct mase_zip_writer){ 0 };
}

static uint32_t narrow(const struct mase_zip_writer *w, uint64_t v)
{
    return v >= w->wide_from ? UINT32_MAX : (uint32_t)v;
}

/* Fields common to local headers and directory entries: version needed to length of the name. */
static void put_common(struct mase_str *s, const struct mase_zip_writer *w, const char *name,
                       uint64_t size, uint32_t crc, bool wide)
{
    put(s, wide ? VERSION_WIDE : VERSION_PLAIN, 2);
    put(s, 1u << 11, 2); /* the name is UTF-8 */
    put(s, 0, 2);        /* stored */
    put(s, 0, 2);
    put(s, DATE_1980, 2);
    put(s, crc, 4);
    put(s, narrow(w, size), 4);
    put(s, narrow(w, size), 4);
    put(s, strlen(name), 2);
}

static void put_local(struct mase_str *s, const struct mase_zip_writer *w, const char *name,
                      uint64_t size, uint32_t crc)
{
    const bool wide = size >= w->wide_from;
    const size_t fixed = LOCAL_SIZE + strlen(name) + (wide ? 20 : 0) + 4;
    const size_t fill = (ALIGN - (w->out->size + fixed) % ALIGN) % ALIGN;
    mase_str_add(s, "PK\3\4");
    put_common(s, w, name, size, crc, wide);
    put(s, (wide ? 20U : 0U) + 4 + fill, 2);
    mase_str_add(s, name);
    if (wide) {
        put(s, 1, 2);
        put(s, 16, 2);
        put(s, size, 8);
        put(s, size, 8);
    }
    mase_str_add(s, "FB");
    put(s, fill, 2);
    mase_str_pad(s, 'Z', (long)fill);
}

static void put_entry(struct mase_zip_writer *w, const char *name, uint64_t size, uint32_t crc,
                      uint64_t header)
{
    struct mase_str *s = &w->directory;
    const bool wide_size = size >= w->wide_from, wide_header = header >= w->wide_from;
    const unsigned values = (wide_size ? 16U : 0U) + (wide_header ? 8U : 0U);
    mase_str_add(s, "PK\1\2");
    put(s, VERSION_WIDE, 2); /* made by */
    put_common(s, w, name, size, crc, values != 0);
    put(s, values ? 4 + values : 0, 2);
    mase_str_pad(s, 0, 2 + 2 + 2 + 4); /* comment, disk, attributes */
    put(s, narrow(w, header), 4);
    mase_str_add(s, name);
    if (values) {
        put(s, 1, 2);
        put(s, values, 2);
    }
    if (wide_size) {
        put(s, size, 8);
        put(s, size, 8);
    }
    if (wide_header)
        put(s, header, 8);
}

enum mase_status mase_zip_put_parts(struct mase_zip_writer *w, const char *name,
                                    const struct mase_zip_part *parts, int count,
                                    struct mase_err *err)
{
    if (!name[0] || strlen(name) > UINT16_MAX)
        mase_bug("a zip entry's name has 1 to %d bytes", UINT16_MAX);
    const uint64_t header = w->out->size;
    uint64_t size = 0;
    uint32_t crc = 0;
    for (int i = 0; i < count; i++) {
        crc = mase_crc32(crc, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    struct mase_str local = { 0 };
    put_local(&local, w, name, size, crc);
    enum mase_status st = mase_writer_put(w->out, local.data, local.len, err);
    mase_str_release(&local);
    for (int i = 0; i < count && !st; i++)
        if (parts[i].size)
            st = mase_writer_put(w->out, parts[i].data, parts[i].size, err);
    put_entry(w, name, size, crc, header);
    w->count++;
    return st;
}

enum mase_status mase_zip_put(struct mase_zip_writer *w, const char *name, const void *data,
                              size_t size, struct mase_err *err)
{
    const struct mase_zip_part whole = { data, size };
    return mase_zip_put_parts(w, name, &whole, 1, err);
}

static void put_wide_end(struct mase_str *s, const struct mase_zip_writer *w, uint64_t size,
                         uint64_t offset)
{
    mase_str_add(s, "PK\6\6");
    put(s, 44, 8); /* bytes that follow */
    put(s, VERSION_WIDE, 2);
    put(s, VERSION_WIDE, 2);
    put(s, 0, 8); /* disks */
    put(s, w->count, 8);
    put(s, w->count, 8);
    put(s, size, 8);
    put(s, offset, 8);
    mase_str_add(s, "PK\6\7");
    put(s, 0, 4);
    put(s, offset + size, 8);
    put(s, 1, 4); /* disks in all */
}

enum mase_status mase_zip_finish(struct mase_zip_writer *w, struct mase_err *err)
{
    struct mase_str *s = &w->directory;
    const uint64_t offset = w->out->size, size = s->len;
    const bool wide = size >= w->wide_from || offset >= w->wide_from || w->count >= UINT16_MAX;
    if (wide)
        put_wide_end(s, w, size, offset);
    const uint64_t count = wide ? UINT16_MAX : w->count;
    mase_str_add(s, "PK\5\6");
    put(s, 0, 2 + 2);
    put(s, count, 2);
    put(s, count, 2);
    put(s, wide ? UINT32_MAX : size, 4);
    put(s, wide ? UINT32_MAX : offset, 4);
    put(s, 0, 2);
    return mase_writer_put(w->out, s->data, s->len, err);
}
