/*
 * zip.c - reading zip containers.
 *
 *     end record        50 4b 05 06, 22 bytes and a comment, the last thing in the file
 *         +4   u16 x 2  this disk, the directory's disk: 0
 *         +8   u16 x 2  entries on this disk, entries
 *         +12  u32 x 2  size and offset of the central directory
 *         +20  u16      length of the comment
 *     zip64 locator     50 4b 06 07, 20 bytes just before the end record, where needed
 *         +8   u64      offset of the zip64 end record
 *     zip64 end record  50 4b 06 06
 *         +16  u32 x 2  disks;  +24 u64 x 2 entries;  +40 u64 x 2 size and offset
 *     directory entry   50 4b 01 02, 46 bytes, then name, extra fields, comment
 *         +8   u16      flags: 1 encrypted
 *         +10  u16      method
 *         +16  u32 x 3  CRC, packed size, size
 *         +28  u16 x 3  lengths of name, extra fields, comment
 *         +42  u32      offset of the local header
 *     local header      50 4b 03 04, 30 bytes, then name and extra fields, then the content
 *         +26  u16 x 2  lengths of name and extra fields; the rest repeats the directory
 *
 * A size or offset of ffffffff stands in the extra field 0001 as 64 bits: size, packed size,
 * offset, those that are needed, in this order.
 */
#include "file/zip.h"

#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#include "base/alloc.h"
#include "file/crc32.h"

enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT_MAX = 65535,
    DEFLATE_GAIN = 1032, /* no deflate stream gains more */
};
enum { STORED = 0, DEFLATED = 8 };

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static struct mase_loc place(const struct mase_zip *z, uint64_t off)
{
    return (struct mase_loc){ .path = z->path, .off = (int64_t)off };
}

/* n bytes at off, or NULL when they are not in the first `end` bytes of the file. */
static const unsigned char *bytes_at(const struct mase_zip *z, uint64_t off, uint64_t n,
                                     uint64_t end)
{
    return off <= end && n <= end - off ? z->data + off : NULL;
}

/* The end record: the last place where its magic stands and its comment ends with the file. */
static enum mase_status find_end(const struct mase_zip *z, uint64_t *off, struct mase_err *err)
{
    if (z->size >= END_SIZE) {
        uint64_t at = z->size - END_SIZE;
        const uint64_t stop = at > COMMENT_MAX ? at - COMMENT_MAX : 0;
        for (;; at--) {
            if (memcmp(z->data + at, "PK\5\6", 4) == 0 &&
                at + END_SIZE + get(z->data + at + 20, 2) == z->size) {
                *off = at;
                return MASE_OK;
            }
            if (at == stop)
                break;
        }
    }
    return mase_fail_in(err, MASE_EPARSE, z->path,
                        "no zip file, or cut short: there is no end record in its %zu bytes",
                        z->size);
}

struct end {
    uint64_t count, size;
    uint64_t before; /* what the directory must end before */
};

static enum mase_status read_wide_end(struct mase_zip *z, struct end *e, uint64_t locator,
                                      struct mase_err *err)
{
    const uint64_t at = get(z->data + locator + 8, 8);
    const unsigned char *p = bytes_at(z, at, 56, locator);
    if (!p || memcmp(p, "PK\6\6", 4) != 0)
        return mase_fail_at(err, MASE_EPARSE, place(z, locator),
                            "no zip64 end record at 0x%" PRIx64, at);
    if (get(p + 16, 4) != 0 || get(p + 20, 4) != 0 || get(p + 24, 8) != get(p + 32, 8))
        return mase_fail_at(err, MASE_EUNSUPPORTED, place(z, at), "a zip file of several parts");
    *e = (struct end){ .count = get(p + 32, 8), .size = get(p + 40, 8), .before = at };
    z->directory = get(p + 48, 8);
    return MASE_OK;
}

static enum mase_status read_end(struct mase_zip *z, struct end *e, struct mase_err *err)
{
    uint64_t at = 0;
    MASE_TRY(find_end(z, &at, err));
    if (at >= LOCATOR_SIZE && memcmp(z->data + at - LOCATOR_SIZE, "PK\6\7", 4) == 0)
        return read_wide_end(z, e, at - LOCATOR_SIZE, err);
    const unsigned char *p = z->data + at;
    if (get(p + 4, 2) != 0 || get(p + 6, 2) != 0 || get(p + 8, 2) != get(p + 10, 2))
        return mase_fail_at(err, MASE_EUNSUPPORTED, place(z, at), "a zip file of several parts");
    *e = (struct end){ .count = get(p + 10, 2), .size = get(p + 12, 4), .before = at };
    z->directory = get(p + 16, 4);
    return MASE_OK;
}

/* ---- the directory ---- */

/* The 64-bit values that the extra fields hold for those that are ffffffff. */
static enum mase_status widen(struct mase_zip_entry *e, const unsigned char *extra, uint64_t n,
                              struct mase_loc at, struct mase_err *err)
{
    uint64_t *const wanted[] = { &e->size, &e->packed, &e->header };
    const unsigned char *p = NULL;
    uint64_t left = 0;
    while (n >= 4 && !p) {
        left = get(extra + 2, 2);
        if (left > n - 4)
            return mase_fail_at(err, MASE_EPARSE, at, "an extra field of '%s' is cut short",
                                e->name);
        if (get(extra, 2) == 1)
            p = extra + 4;
        extra += 4 + left;
        n -= 4 + left;
    }
    for (int i = 0; i < 3; i++) {
        if (*wanted[i] != UINT32_MAX)
            continue;
        if (!p || left < 8)
            return mase_fail_at(err, MASE_EPARSE, at, "'%s' lacks its 64-bit sizes", e->name);
        *wanted[i] = get(p, 8);
        p += 8;
        left -= 8;
    }
    return MASE_OK;
}

static enum mase_status check_entry(const struct mase_zip *z, const struct mase_zip_entry *e,
                                    unsigned flags, struct mase_loc at, struct mase_err *err)
{
    if (!e->name[0])
        return mase_fail_at(err, MASE_EPARSE, at, "an entry has no name");
    if (mase_map_get(&z->names, e->name))
        return mase_fail_at(err, MASE_EPARSE, at, "there are two entries '%s'", e->name);
    if (flags & 1)
        return mase_fail_at(err, MASE_EUNSUPPORTED, at, "'%s' is encrypted", e->name);
    if (e->method != STORED && e->method != DEFLATED)
        return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                            "'%s' is packed by method %d; 0 (stored) and 8 (deflate) are known",
                            e->name, e->method);
    const uint64_t most = e->packed > UINT64_MAX / DEFLATE_GAIN ? 0 : e->packed * DEFLATE_GAIN;
    if (e->method == STORED ? e->size != e->packed : e->size > most)
        return mase_fail_at(err, MASE_EPARSE, at,
                            "'%s' cannot be %" PRIu64 " bytes from %" PRIu64 " in the file",
                            e->name, e->size, e->packed);
    return MASE_OK;
}

/* One entry at *off, which moves on; `taken` counts the bytes that the entries need so far. */
static enum mase_status read_entry(struct mase_zip *z, struct mase_arena *a, uint64_t *off,
                                   const struct end *end, uint64_t *taken, struct mase_err *err)
{
    const struct mase_loc at = place(z, *off);
    const unsigned char *p = bytes_at(z, *off, ENTRY_SIZE, end->before);
    if (!p || memcmp(p, "PK\1\2", 4) != 0)
        return mase_fail_at(err, MASE_EPARSE, at,
                            "expected entry %d of %" PRIu64 " of the directory", z->count + 1,
                            end->count);
    const uint64_t name = get(p + 28, 2), extra = get(p + 30, 2), comment = get(p + 32, 2);
    if (!bytes_at(z, *off, ENTRY_SIZE + name + extra + comment, end->before) ||
        memchr(p + ENTRY_SIZE, 0, name))
        return mase_fail_at(err, MASE_EPARSE, at, "entry %d of the directory is damaged",
                            z->count + 1);
    struct mase_zip_entry *e = &z->entries[z->count];
    *e = (struct mase_zip_entry){
        .name = mase_arena_strndup(a, (const char *)p + ENTRY_SIZE, name),
        .size = get(p + 24, 4),
        .packed = get(p + 20, 4),
        .header = get(p + 42, 4),
        .crc = (uint32_t)get(p + 16, 4),
        .method = (uint16_t)get(p + 10, 2),
    };
    MASE_TRY(widen(e, p + ENTRY_SIZE + name, extra, at, err));
    MASE_TRY(check_entry(z, e, (unsigned)get(p + 8, 2), at, err));
    if (e->packed > z->directory ||
        (*taken += LOCAL_SIZE + name + e->packed) > z->directory) /* cannot wrap: both < 2^63 */
        return mase_fail_at(err, MASE_EPARSE, at, "'%s' overlaps other entries", e->name);
    mase_map_put(&z->names, e->name, e);
    z->count++;
    *off += ENTRY_SIZE + name + extra + comment;
    return MASE_OK;
}

enum mase_status mase_zip_open(struct mase_zip *z, struct mase_arena *a, const void *data,
                               size_t size, const char *path, struct mase_err *err)
{
    *z = (struct mase_zip){ .path = path, .data = data, .size = size, .names.arena = a };
    struct end end = { 0 };
    MASE_TRY(read_end(z, &end, err));
    if (!bytes_at(z, z->directory, end.size, end.before))
        return mase_fail_in(err, MASE_EPARSE, path,
                            "the central directory (%" PRIu64 " bytes at 0x%" PRIx64
                            ") is not in the file",
                            end.size, z->directory);
    if (end.count > end.size / ENTRY_SIZE || end.count > INT32_MAX)
        return mase_fail_at(err, MASE_EPARSE, place(z, z->directory),
                            "%" PRIu64 " entries do not fit into a directory of %" PRIu64 " bytes",
                            end.count, end.size);
    z->entries = mase_new_array(a, struct mase_zip_entry, end.count);
    uint64_t off = z->directory, taken = 0;
    while ((uint64_t)z->count < end.count)
        MASE_TRY(read_entry(z, a, &off, &end, &taken, err));
    return MASE_OK;
}

const struct mase_zip_entry *mase_zip_find(const struct mase_zip *z, const char *name)
{
    return mase_map_get(&z->names, name);
}

/* ---- contents ---- */

static enum mase_status locate(const struct mase_zip *z, const struct mase_zip_entry *e,
                               const unsigned char **packed, struct mase_err *err)
{
    const unsigned char *p = bytes_at(z, e->header, LOCAL_SIZE, z->directory);
    if (!p || memcmp(p, "PK\3\4", 4) != 0)
        return mase_fail_at(err, MASE_EPARSE, place(z, e->header), "no local header of '%s'",
                            e->name);
    const uint64_t name = get(p + 26, 2), extra = get(p + 28, 2);
    const uint64_t head = LOCAL_SIZE + name + extra;
    if (!bytes_at(z, e->header, head, z->directory) ||
        !bytes_at(z, e->header + head, e->packed, z->directory))
        return mase_fail_at(err, MASE_EPARSE, place(z, e->header),
                            "'%s' reaches into the central directory", e->name);
    if (name != strlen(e->name) || memcmp(p + LOCAL_SIZE, e->name, name) != 0)
        return mase_fail_at(err, MASE_EPARSE, place(z, e->header),
                            "the local header of '%s' has another name", e->name);
    *packed = p + head;
    return MASE_OK;
}

/* Bytes that zlib takes at once: its counters are 32 bits wide. */
static uInt chunk_size(uint64_t left)
{
    return left > 1u << 30 ? 1u << 30 : (uInt)left;
}

/* The first size bytes of a raw deflate stream; size is at most those of a chunk. */
static bool unpack_start(unsigned char *out, size_t size, const unsigned char *in, uint64_t packed)
{
    z_stream s = { .next_in = (z_const Bytef *)in,
                   .avail_in = chunk_size(packed),
                   .next_out = out,
                   .avail_out = (uInt)size,
                   .zalloc = mase_zlib_alloc,
                   .zfree = mase_zlib_free };
    if (inflateInit2(&s, -15) != Z_OK)
        mase_bug("zlib: %s", s.msg ? s.msg : "another version");
    inflate(&s, Z_SYNC_FLUSH);
    inflateEnd(&s);
    return s.avail_out == 0;
}

/* A raw deflate stream that must give exactly size bytes. */
static bool unpack(unsigned char *out, uint64_t size, const unsigned char *in, uint64_t packed)
{
    z_stream s = { .zalloc = mase_zlib_alloc, .zfree = mase_zlib_free };
    if (inflateInit2(&s, -15) != Z_OK)
        mase_bug("zlib: %s", s.msg ? s.msg : "another version");
    unsigned char spare;
    int rc = Z_OK;
    while (rc == Z_OK) {
        const uInt in_now = chunk_size(packed), out_now = chunk_size(size);
        s.next_in = (z_const Bytef *)in;
        s.avail_in = in_now;
        s.next_out = size ? out : &spare; /* one byte more than agreed is a fault, not a crash */
        s.avail_out = size ? out_now : 1;
        rc = inflate(&s, Z_NO_FLUSH);
        in += in_now - s.avail_in;
        packed -= in_now - s.avail_in;
        if (!size) {
            if (s.avail_out == 0)
                rc = Z_DATA_ERROR;
        } else {
            out += out_now - s.avail_out;
            size -= out_now - s.avail_out;
        }
    }
    inflateEnd(&s);
    return rc == Z_STREAM_END && size == 0;
}

enum mase_status mase_zip_read(const struct mase_zip *z, const struct mase_zip_entry *e,
                               struct mase_arena *a, const unsigned char **content, uint64_t limit,
                               struct mase_err *err)
{
    const unsigned char *p = NULL;
    if (e->size > limit)
        return mase_fail_at(err, MASE_ELIMIT, place(z, e->header),
                            "'%s' has %" PRIu64 " bytes, at most %" PRIu64 " are read", e->name,
                            e->size, limit);
    MASE_TRY(locate(z, e, &p, err));
    if (e->method == DEFLATED) {
        unsigned char *out = mase_arena_alloc(a, e->size);
        if (!unpack(out, e->size, p, e->packed))
            return mase_fail_at(err, MASE_EPARSE, place(z, e->header),
                                "the deflated data of '%s' are damaged", e->name);
        p = out;
    }
    const uint32_t crc = mase_crc32(0, p, e->size);
    if (crc != e->crc)
        return mase_fail_at(err, MASE_EPARSE, place(z, e->header),
                            "'%s' is damaged: its CRC is %08" PRIx32 ", not %08" PRIx32, e->name,
                            crc, e->crc);
    *content = p;
    return MASE_OK;
}

enum mase_status mase_zip_peek(const struct mase_zip *z, const struct mase_zip_entry *e,
                               struct mase_arena *a, const unsigned char **content, size_t *n,
                               struct mase_err *err)
{
    const unsigned char *p = NULL;
    *n = e->size < *n ? (size_t)e->size : *n;
    MASE_TRY(locate(z, e, &p, err));
    if (e->method == DEFLATED) {
        unsigned char *out = mase_arena_alloc(a, *n);
        if (!unpack_start(out, *n, p, e->packed))
            return mase_fail_at(err, MASE_EPARSE, place(z, e->header),
                                "the deflated data of '%s' are damaged", e->name);
        p = out;
    }
    *content = p;
    return MASE_OK;
}
