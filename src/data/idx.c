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

#include "data/dataset_parts.h"

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
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
    MASE_TRY(mase_gunzip(f, a, err));
    return check_header(f, item, n, err);
}
