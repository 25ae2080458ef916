/*
 * cursor.c - bounds-checked little-endian reading. A failed read moves nothing.
 */
#include <mase/cursor.h>

#include <string.h>

struct mase_cursor mase_cursor_of(const struct mase_file *f)
{
    return (struct mase_cursor){ .path = f->path, .data = f->data, .size = f->size };
}

struct mase_loc mase_cursor_at(const struct mase_cursor *c)
{
    return (struct mase_loc){ .path = c->path, .off = (int64_t)c->pos };
}

static size_t left(const struct mase_cursor *c)
{
    if (c->pos > c->size)
        mase_bug("cursor at %zu of a file of %zu bytes", c->pos, c->size);
    return c->size - c->pos;
}

static enum mase_status get_uint(struct mase_cursor *c, uint64_t *v, int bytes,
                                 struct mase_err *err)
{
    if (left(c) < (size_t)bytes)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c),
                            "file ends inside a %d-bit integer", bytes * 8);
    *v = 0;
    for (int i = 0; i < bytes; i++)
        *v |= (uint64_t)c->data[c->pos + (size_t)i] << (8 * i);
    c->pos += (size_t)bytes;
    return MASE_OK;
}

enum mase_status mase_get_u8(struct mase_cursor *c, uint8_t *v, struct mase_err *err)
{
    uint64_t wide;
    MASE_TRY(get_uint(c, &wide, 1, err));
    *v = (uint8_t)wide;
    return MASE_OK;
}

enum mase_status mase_get_u16(struct mase_cursor *c, uint16_t *v, struct mase_err *err)
{
    uint64_t wide;
    MASE_TRY(get_uint(c, &wide, 2, err));
    *v = (uint16_t)wide;
    return MASE_OK;
}

enum mase_status mase_get_u32(struct mase_cursor *c, uint32_t *v, struct mase_err *err)
{
    uint64_t wide;
    MASE_TRY(get_uint(c, &wide, 4, err));
    *v = (uint32_t)wide;
    return MASE_OK;
}

enum mase_status mase_get_u64(struct mase_cursor *c, uint64_t *v, struct mase_err *err)
{
    return get_uint(c, v, 8, err);
}

enum mase_status mase_get_bytes(struct mase_cursor *c, const unsigned char **p, uint64_t n,
                                struct mase_err *err)
{
    if (left(c) < n)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c),
                            "file ends inside %llu bytes: only %zu left", (unsigned long long)n,
                            left(c));
    *p = c->data + c->pos;
    c->pos += (size_t)n;
    return MASE_OK;
}

enum mase_status mase_get_magic(struct mase_cursor *c, const void *magic, size_t n,
                                const char *what, struct mase_err *err)
{
    if (left(c) < n)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c), "file ends where its %s should be",
                            what);
    if (memcmp(c->data + c->pos, magic, n) != 0)
        return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c), "no %s here", what);
    c->pos += n;
    return MASE_OK;
}
