/*
 * picture_header.c - size and kind of a picture.
 *
 *     PNG     offset 0   89 'PNG' 0d 0a 1a 0a
 *             8          u32 13, 'IHDR', u32 width, u32 height, u8 bits, u8 colour type (0 grey,
 *                        2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha)
 *     JPEG    segments: ff, a marker, and from d8 (start) and d0..d9 on without, u16 length and
 *             content; c0..cf but c4, c8, cc is the frame: u8 bits, u16 height, u16 width,
 *             u8 components
 *
 * All big endian.
 */
#include <inttypes.h>
#include <string.h>

#include "data/picture.h"

enum { SIDE_MAX = 65500, PIXELS_MAX = 1 << 27 };

static uint32_t u16(const unsigned char *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t u32(const unsigned char *p)
{
    return u16(p) << 16 | u16(p + 2);
}

static enum mase_status fail_at(const struct mase_file *f, size_t off, enum mase_status status,
                                const char *what, struct mase_err *err)
{
    return mase_fail_at(err, status, (struct mase_loc){ .path = f->path, .off = (int64_t)off },
                        "%s", what);
}

static enum mase_status check_size(struct mase_picture *p, const struct mase_file *f, uint32_t w,
                                   uint32_t h, size_t off, struct mase_err *err)
{
    if (w < 1 || h < 1 || w > SIDE_MAX || h > SIDE_MAX || (uint64_t)w * h > PIXELS_MAX)
        return mase_fail_at(err, MASE_ELIMIT,
                            (struct mase_loc){ .path = f->path, .off = (int64_t)off },
                            "a picture of %" PRIu32 " x %" PRIu32 " pixels; read are 1 to %d on "
                            "each side and at most %d",
                            w, h, SIDE_MAX, PIXELS_MAX);
    p->width = (int)w;
    p->height = (int)h;
    return MASE_OK;
}

static enum mase_status png_header(struct mase_picture *p, const struct mase_file *f,
                                   struct mase_err *err)
{
    if (f->size < 33 || memcmp(f->data + 12, "IHDR", 4) != 0)
        return fail_at(f, 8, MASE_EPARSE, "the PNG file does not begin with its IHDR", err);
    const int bits = f->data[24], colour = f->data[25];
    p->channels = colour == 0 || colour == 4 ? 1 : 3;
    if (colour == 0 && bits == 16)
        return fail_at(f, 24, MASE_EUNSUPPORTED,
                       "grey of 16 bits is not read: PIL would cut it at 255; save it with 8 bits",
                       err);
    return check_size(p, f, u32(f->data + 16), u32(f->data + 20), 16, err);
}

static enum mase_status jpeg_frame(struct mase_picture *p, const struct mase_file *f, size_t at,
                                   struct mase_err *err)
{
    if (f->size - at < 10)
        return fail_at(f, f->size, MASE_EPARSE, "the JPEG file ends inside its frame header", err);
    const int bits = f->data[at + 4], components = f->data[at + 9];
    if (bits != 8)
        return fail_at(f, at + 4, MASE_EUNSUPPORTED, "a JPEG file of other than 8 bits is not read",
                       err);
    if (components != 1 && components != 3)
        return fail_at(f, at + 9, MASE_EUNSUPPORTED,
                       "a JPEG file of other colours than grey or RGB is not read: CMYK, for one; "
                       "convert it to RGB",
                       err);
    p->channels = components;
    return check_size(p, f, u16(f->data + at + 7), u16(f->data + at + 5), at + 5, err);
}

static bool is_frame(unsigned marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static enum mase_status jpeg_header(struct mase_picture *p, const struct mase_file *f,
                                    struct mase_err *err)
{
    p->jpeg = true;
    for (size_t at = 2;;) {
        while (at < f->size && f->data[at] != 0xff) /* libjpeg skips such bytes */
            at++;
        while (at < f->size && f->data[at] == 0xff)
            at++;
        if (f->size - at < 3 || at >= f->size)
            return fail_at(f, f->size, MASE_EPARSE, "the JPEG file has no frame", err);
        const unsigned marker = f->data[at];
        if (is_frame(marker))
            return jpeg_frame(p, f, at - 1, err);
        if (marker == 0xd9 || marker == 0xda)
            return fail_at(f, at, MASE_EPARSE, "the JPEG file has no frame before its data", err);
        const bool alone = marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= 0xd8);
        at += alone ? 1 : 1 + (size_t)u16(f->data + at + 1);
        if (at >= f->size)
            return fail_at(f, f->size, MASE_EPARSE, "the JPEG file has no frame", err);
    }
}

enum mase_status mase_picture_header(struct mase_picture *p, const struct mase_file *f,
                                     struct mase_err *err)
{
    *p = (struct mase_picture){ 0 };
    if (f->size == 0)
        return mase_fail_in(err, MASE_EPARSE, f->path, "the file is empty");
    if (f->size >= 8 && memcmp(f->data, "\x89PNG\r\n\x1a\n", 8) == 0)
        return png_header(p, f, err);
    if (f->size >= 3 && memcmp(f->data, "\xff\xd8\xff", 3) == 0)
        return jpeg_header(p, f, err);
    return fail_at(f, 0, MASE_EPARSE, "neither a PNG nor a JPEG file, whatever its name says", err);
}
