/*
 * picture.h - single pictures in PNG and JPEG files: what their headers say, and their pixels.
 *
 * Headers are read by our own code, pixels by libpng and libjpeg, in a process of its own
 * (reader.h). Pixels are those that PIL gives: palettes looked up, alpha left out, 16 bits of a
 * colour cut to 8, YCbCr converted and upsampled as libjpeg does it by default.
 */
#ifndef MASE_DATA_PICTURE_H
#define MASE_DATA_PICTURE_H

#include <mase/err.h>
#include <mase/file.h>

struct mase_picture {
    bool jpeg;
    int width, height;
    int channels; /* 1: grey, 3: colour */
};

/* Read the header; errors name the byte. */
enum mase_status mase_picture_header(struct mase_picture *p, const struct mase_file *f,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* The form wanted: (channels, height, width) bytes. */
struct mase_picture_want {
    int channels, height, width;
};
/* Decode a whole file into `to`. Colours convert to grey as PIL's "L"; other sizes are resampled by
 * PIL's bilinear filter, as torchvision does (resample.c). */
enum mase_status mase_picture_decode(unsigned char *to, const struct mase_picture_want *want,
                                     const void *data, size_t size,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* Resample one plane of w x h bytes to to_w x to_h (resample.c). */
void mase_resample(unsigned char *to, int to_w, int to_h, const unsigned char *from, int w, int h);

#endif /* MASE_DATA_PICTURE_H */
