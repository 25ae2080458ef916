/*
 * cursor.h - reading binary files without trusting them.
 *
 * Little-endian, bounds-checked. Every failure says the byte offset: "m.npy@0x1f3c: file ends
 * inside a 32-bit integer". The struct is open: a reader may look at pos and size.
 */
#ifndef MASE_CURSOR_H
#define MASE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/err.h>
#include <mase/file.h>

MASE_API_BEGIN

struct mase_cursor {
    const char *path; /* borrowed, for messages */
    const unsigned char *data;
    size_t size, pos;
};

struct mase_cursor mase_cursor_of(const struct mase_file *f);
struct mase_loc mase_cursor_at(const struct mase_cursor *c);

enum mase_status mase_get_u8(struct mase_cursor *c, uint8_t *v,
                             struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_get_u16(struct mase_cursor *c, uint16_t *v,
                              struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_get_u32(struct mase_cursor *c, uint32_t *v,
                              struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_get_u64(struct mase_cursor *c, uint64_t *v,
                              struct mase_err *err) MASE_MUST_CHECK;
/* *p points into the file: borrowed. */
enum mase_status mase_get_bytes(struct mase_cursor *c, const unsigned char **p, uint64_t n,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The next n bytes must be these; what names them in the message ("NPY magic"). */
enum mase_status mase_get_magic(struct mase_cursor *c, const void *magic, size_t n,
                                const char *what, struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_CURSOR_H */
