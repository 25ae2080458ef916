/*
 * idx.c - IDX files, as mnist has them.
 *
 *     offset     bytes     content, big endian
 *     0          4         0 0 8 RANK: unsigned bytes in RANK dimensions
 *     4          4 RANK    the lengths; the first counts the items
 *     4+4 RANK   the rest  the bytes, and nothing after them
 */
#include "data/idx.h"

#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#include "base/alloc.h"

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Unpack a file that is gzipped, into the arena. The last four bytes say how much it gives. */
static enum mase_status gunzip(struct mase_file *f, struct mase_arena *a, struct mase_err *err)
{
    if (f->size < 2 || f->data[0] != 0x1f || f->data[1] != 0x8b)
        return MASE_OK;
    if (f->size < 18 || f->size > UINT32_MAX)
        return mase_fail_in(err, MASE_EPARSE, f->path, "no gzip file has %zu bytes", f->size);
    const unsigned char *tail = f->data + f->size - 4;
    const uint32_t size =
        (uint32_t)tail[3] << 24 | (uint32_t)tail[2] << 16 | (uint32_t)tail[1] << 8 | tail[0];
    if (size > f->size * 1032)
        return mase_fail_in(err, MASE_EPARSE, f->path, "the gzip file is damaged or cut short");
    const uint64_t most = ((uint64_t)128 << 20) + 16 * (uint64_t)f->size;
    if (size > most)
        return mase_fail_in(err, MASE_ELIMIT, f->path,
                            "the gzip file would unpack to %" PRIu32 " bytes, more than %" PRIu64,
                            size, most);
    unsigned char *out = mase_arena_alloc(a, size);
    z_stream z = { .next_in = (z_const Bytef *)f->data,
                   .avail_in = (uInt)f->size,
                   .next_out = out,
                   .avail_out = size,
                   .zalloc = mase_zlib_alloc,
                   .zfree = mase_zlib_free };
    if (inflateInit2(&z, 16 + 15) != Z_OK)
        mase_bug("zlib: %s", z.msg ? z.msg : "another version");
    const int rc = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (rc != Z_STREAM_END || z.total_out != size)
        return mase_fail_in(err, MASE_EPARSE, f->path, "the gzip file is damaged or cut short");
    const char *path = f->path;
    mase_file_close(f);
    *f = (struct mase_file){ .path = path, .data = out, .size = size }; /* closing frees nothing */
    return MASE_OK;
}

static enum mase_status check_header(const struct mase_file *f, const struct mase_shape *item,
                                     int64_t *n, struct mase_err *err)
{
    const int rank = 1 + item->rank;
    const size_t head = 4 + 4 * (size_t)rank;
    const unsigned char magic[4] = { 0, 0, 8, (unsigned char)rank };
    if (f->size == 0)
        return mase_fail_in(err, MASE_EPARSE, f->path, "the file is empty");
    if (f->size < head || memcmp(f->data, magic, 4) != 0)
        return mase_fail_at(err, MASE_EPARSE, (struct mase_loc){ .path = f->path, .off = 0 },
                            "no IDX file of bytes with %d dimensions: it must begin with 00 00 08 "
                            "%02x",
                            rank, rank);
    for (int i = 0; i < item->rank; i++)
        if (big_endian(f->data + 8 + 4 * i) != item->dim[i])
            return mase_fail_at(err, MASE_EVALUE,
                                (struct mase_loc){ .path = f->path, .off = 8 + 4 * i },
                                "images are %" PRIu32 " pixels in dimension %d, expected %" PRId64,
                                big_endian(f->data + 8 + 4 * i), i, item->dim[i]);
    *n = big_endian(f->data + 4);
    const int64_t expected = (int64_t)head + *n * mase_shape_count(item);
    if ((int64_t)f->size < expected)
        return mase_fail_at(
            err, MASE_EPARSE, (struct mase_loc){ .path = f->path, .off = (int64_t)f->size },
            "the file ends after %zu bytes, expected %" PRId64 " for %" PRId64 " items", f->size,
            expected, *n);
    if ((int64_t)f->size > expected)
        return mase_fail_at(err, MASE_EPARSE, (struct mase_loc){ .path = f->path, .off = expected },
                            "%" PRId64 " bytes follow the %" PRId64 " items",
                            (int64_t)f->size - expected, *n);
    return MASE_OK;
}

enum mase_status mase_idx_check(struct mase_file *f, struct mase_arena *a,
                                const struct mase_shape *item, int64_t *n, struct mase_err *err)
{
    MASE_TRY(gunzip(f, a, err));
    return check_header(f, item, n, err);
}
