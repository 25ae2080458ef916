/*
 * picture.c - decode PNG and JPEG files by libpng and libjpeg. Both report errors by longjmp, so
 * everything that must be freed is in the structs below.
 */
#include "data/picture.h"

#include <setjmp.h>
#include <string.h>

#include <jpeglib.h> /* needs stdio.h and stddef.h, which err.h includes */

#include <jerror.h>
#include <png.h>

#include "base/alloc.h"
#include "base/number.h"

/* Decoded pixels: (height, width, channels). */
struct pixels {
    unsigned char *data;
    unsigned char **row; // (height), as libpng wants them
    int width, height, channels;
};

static void make_room(struct pixels *p, int width, int height, int channels)
{
    p->width = width;
    p->height = height;
    p->channels = channels;
    const size_t line = (size_t)width * (size_t)channels;
    p->data = mase_xcalloc(line * (size_t)height);
    p->row = mase_xcalloc((size_t)height * sizeof *p->row);
    for (int y = 0; y < height; y++)
        p->row[y] = p->data + line * (size_t)y;
}

static void release(struct pixels *p)
{
    mase_xfree(p->data);
    mase_xfree(p->row);
}

/* ---- PNG ---- */

struct png_reading {
    const unsigned char *data;
    size_t size, at;
    jmp_buf back;
    char message[200];
};

static _Noreturn void png_failed(png_structp png, png_const_charp message)
{
    struct png_reading *in = png_get_error_ptr(png);
    mase_snprintf(in->message, sizeof in->message, "%s", message);
    longjmp(in->back, 1);
}

static void png_warned(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void png_take(png_structp png, png_bytep to, size_t n)
{
    struct png_reading *in = png_get_io_ptr(png);
    if (n > in->size - in->at)
        png_error(png, "the file ends too early");
    memcpy(to, in->data + in->at, n);
    in->at += n;
}

/* Convert everything to 8-bit grey or colours; drop alpha and gamma, as PIL does. */
static void png_pixels(png_structp png, png_infop info, struct pixels *p)
{
    png_set_user_limits(png, 65500, 65500);
    png_read_info(png, info);
    const int colour = png_get_color_type(png, info);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const int channels = png_get_channels(png, info);
    const size_t width = png_get_image_width(png, info);
    if ((channels != 1 && channels != 3) || png_get_rowbytes(png, info) != width * (size_t)channels)
        png_error(png, "pixels of an unexpected kind");
    make_room(p, (int)width, (int)png_get_image_height(png, info), channels);
    png_read_image(png, p->row);
    png_read_end(png, NULL);
}

static enum mase_status read_png(struct pixels *p, const void *data, size_t size,
                                 struct mase_err *err)
{
    struct png_reading in = { .data = data, .size = size };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &in, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return mase_fail(err, MASE_EUNSUPPORTED, "libpng cannot be used");
    }
    if (setjmp(in.back)) { /* NOLINT(cert-err52-cpp): libpng's way */
        png_destroy_read_struct(&png, &info, NULL);
        return mase_fail_at(err, MASE_EPARSE, (struct mase_loc){ .off = (int64_t)in.at },
                            "damaged PNG file (libpng: %s)", in.message);
    }
    png_set_read_fn(png, &in, png_take);
    png_pixels(png, info, p);
    png_destroy_read_struct(&png, &info, NULL);
    return MASE_OK;
}

/* ---- JPEG ---- */

struct jpeg_reading {
    struct jpeg_error_mgr errors; /* first: libjpeg points at it */
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

static void jpeg_failed(j_common_ptr jpeg)
{
    struct jpeg_reading *in = (struct jpeg_reading *)(void *)jpeg->err;
    jpeg->err->format_message(jpeg, in->message);
    longjmp(in->back, 1);
}

/* A warning means that pixels are invented, except the common one about bytes between segments. */
static void jpeg_warned(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA)
        jpeg_failed(jpeg);
}

static void jpeg_pixels(struct jpeg_decompress_struct *jpeg, struct pixels *p)
{
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(jpeg);
    make_room(p, (int)jpeg->output_width, (int)jpeg->output_height, jpeg->output_components);
    while (jpeg->output_scanline < jpeg->output_height)
        jpeg_read_scanlines(jpeg, &p->row[jpeg->output_scanline], 1);
    jpeg_finish_decompress(jpeg);
}

static enum mase_status read_jpeg(struct pixels *p, const void *data, size_t size,
                                  struct mase_err *err)
{
    struct jpeg_decompress_struct jpeg = { 0 };
    struct jpeg_reading in;
    jpeg.err = jpeg_std_error(&in.errors);
    in.errors.error_exit = jpeg_failed;
    in.errors.emit_message = jpeg_warned;
    if (setjmp(in.back)) { /* NOLINT(cert-err52-cpp): libjpeg's way */
        const size_t left = jpeg.src ? jpeg.src->bytes_in_buffer : size;
        jpeg_destroy_decompress(&jpeg);
        return mase_fail_at(err, MASE_EPARSE,
                            (struct mase_loc){ .off = left <= size ? (int64_t)(size - left) : -1 },
                            "damaged JPEG file (libjpeg: %s)", in.message);
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, data, (unsigned long)size);
    jpeg_pixels(&jpeg, p);
    jpeg_destroy_decompress(&jpeg);
    return MASE_OK;
}

/* ---- both ---- */

/* PIL's "L" of a colour: the weights of ITU-R 601-2 in 16 bits. */
static unsigned char grey_of(const unsigned char *rgb)
{
    return (unsigned char)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

/* Copy channel c of `channels`. */
static void take_plane(unsigned char *to, const struct pixels *p, int c, int channels)
{
    const size_t n = (size_t)p->width * (size_t)p->height;
    const int step = p->channels;
    const unsigned char *from = p->data;
    for (size_t i = 0; i < n; i++, from += step)
        to[i] = step == 1 ? from[0] : channels == 1 ? grey_of(from) : from[c];
}

enum mase_status mase_picture_decode(unsigned char *to, const struct mase_picture_want *want,
                                     const void *data, size_t size, struct mase_err *err)
{
    struct pixels p = { 0 };
    const bool jpeg = size && *(const unsigned char *)data == 0xff;
    const enum mase_status st = (jpeg ? read_jpeg : read_png)(&p, data, size, err);
    unsigned char *plane = st ? NULL : mase_xcalloc((size_t)p.width * (size_t)p.height);
    for (int c = 0; !st && c < want->channels; c++) {
        take_plane(plane, &p, c, want->channels);
        mase_resample(to + (size_t)c * (size_t)want->height * (size_t)want->width, want->width,
                      want->height, plane, p.width, p.height);
    }
    mase_xfree(plane);
    release(&p);
    return st;
}
