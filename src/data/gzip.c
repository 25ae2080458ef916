/*
 * gzip.c - unpack gzipped data files as a whole. Their last four bytes have the unpacked size.
 */
#include <inttypes.h>

#include <zlib.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"

enum mase_status mase_gunzip(struct mase_file *f, struct mase_arena *a, struct mase_err *err)
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
    *f = (struct mase_file){ .path = path,
                             .data = out,
                             .size = size }; /* nothing to free on closing */
    return MASE_OK;
}
