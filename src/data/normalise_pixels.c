/*
 * normalise_pixels.c - normalisation and augmentation of pictures.
 *
 * As torchvision has it: p / 255 (ToTensor), then (x - mean) / std by channel (Normalize), both in
 * 32-bit floats. Mean and deviation are given, or those of all pixels of the rows that train.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "data/dataset_parts.h"

/* ---- options ---- */

static enum mase_status fail_normalise(const char *text, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "normalize '%s': expected auto, imagenet, or means and deviations of the "
                     "channels of p / 255, one or three of each: 0.5/0.25, or "
                     "0.485,0.456,0.406/0.229,0.224,0.225",
                     text);
}

static float level_of(const struct mase_image_opts *o, int c, int byte)
{
    return ((float)byte / 255.0F - (float)o->mean[c]) / (float)o->std[c];
}

/* Are black and white finite after normalisation? Then all between are. */
static enum mase_status check_levels(const struct mase_image_opts *o, struct mase_err *err)
{
    for (int c = 0; c < 3; c++)
        if (!isfinite(level_of(o, c, 0)) || !isfinite(level_of(o, c, 255)))
            return mase_fail(err, MASE_EVALUE,
                             "normalize: with a mean of %g and a deviation of %g pixels are beyond "
                             "32-bit floats",
                             o->mean[c], o->std[c]);
    return MASE_OK;
}

/* One number, or three separated by commas, up to `end`; false: something else. */
static bool take_numbers(double v[3], const char **p, char end)
{
    int n = 0;
    for (;;) {
        char *rest;
        if (n == 3 || (**p != '-' && **p != '.' && (**p < '0' || **p > '9')))
            return false;
        v[n++] = mase_number_read(*p, &rest);
        *p = rest;
        if (**p != ',')
            break;
        ++*p;
    }
    if (n == 1)
        v[1] = v[2] = v[0];
    return n != 2 && **p == end;
}

enum mase_status mase_image_normalise_parse(struct mase_image_opts *o, const char *text,
                                            struct mase_err *err)
{
    static const char imagenet[] = "0.485,0.456,0.406/0.229,0.224,0.225";
    const char *p = mase_streq(text, "imagenet") ? imagenet : text;
    o->fit = mase_streq(text, "auto");
    o->normalise = !o->fit;
    if (o->fit)
        return MASE_OK;
    if (!take_numbers(o->mean, &p, '/'))
        return fail_normalise(text, err);
    p++;
    if (!take_numbers(o->std, &p, 0))
        return fail_normalise(text, err);
    for (int c = 0; c < 3; c++)
        if (!isfinite(o->mean[c]) || !(o->std[c] > 0) || !isfinite(o->std[c]))
            return fail_normalise(text, err);
    return check_levels(o, err);
}

enum mase_status mase_image_augment_parse(struct mase_image_opts *o, const char *text,
                                          struct mase_err *err)
{
    o->augment = true;
    o->flip = false;
    o->crop = 0;
    if (mase_streq(text, "none"))
        return MASE_OK;
    for (const char *p = text;; p++) {
        const size_t n = strcspn(p, ",");
        char *end = NULL;
        const bool crop = strncmp(p, "crop=", 5) == 0 && p[5] >= '0' && p[5] <= '9';
        const long pixels = crop ? strtol(p + 5, &end, 10) : 0;
        if (n == 4 && strncmp(p, "flip", 4) == 0 && !o->flip)
            o->flip = true;
        else if (crop && end == p + n && pixels >= 1 && pixels <= 1024 && !o->crop)
            o->crop = (int)pixels;
        else
            return mase_fail(err, MASE_EVALUE,
                             "augment '%s': expected none, flip, crop=N with 1 to 1024 pixels, or "
                             "both with a comma between: flip,crop=4",
                             text);
        p += n;
        if (!*p)
            return MASE_OK;
    }
}

bool mase_image_same_normalisation(const struct mase_image_opts *a, const struct mase_image_opts *b)
{
    if (a->normalise != b->normalise)
        return false;
    for (int c = 0; a->normalise && c < 3; c++)
        if (a->mean[c] != b->mean[c] || a->std[c] != b->std[c])
            return false;
    return true;
}

/* ---- apply ---- */

/* Statistics of channel c over the training rows; sums of bytes are exact. */
static void fit(double *mean, double *std, const struct mase_dataset *d, int c)
{
    const struct mase_split_rows rows = d->split[MASE_SPLIT_TRAIN];
    const int64_t *dim = d->info.data.sample.dim, plane = dim[1] * dim[2];
    uint64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < rows.count; i++) {
        const unsigned char *p = mase_image_bytes(d->image, rows.row[i]) + c * plane;
        for (int64_t k = 0; k < plane; k++) {
            sum += p[k];
            squares += (uint64_t)p[k] * p[k];
        }
    }
    const double n = (double)(rows.count * plane), m = (double)sum / n;
    const double variance = (double)squares / n - m * m;
    *mean = m / 255;
    *std = variance > 1e-12 * m * m && variance > 0 ? sqrt(variance) / 255 : 1;
}

static void set_levels(struct mase_dataset *d, const struct mase_image_opts *o)
{
    for (int c = 0; c < (int)d->info.data.sample.dim[0]; c++)
        for (int v = 0; v < 256; v++)
            d->image->level[c][v] = level_of(o, c, v);
}

/* Mean 0 and deviation 1 leave p / 255. */
static bool is_plain(const struct mase_image_opts *o)
{
    for (int c = 0; c < 3; c++)
        if (o->mean[c] != 0 || o->std[c] != 1)
            return false;
    return true;
}

enum mase_status mase_image_normalise(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      struct mase_err *err)
{
    struct mase_image_store *s = d->image;
    struct mase_image_opts *done = &d->info.image;
    *done = opts->image;
    done->channels = (int)d->info.data.sample.dim[0];
    if (opts->image.fit) {
        for (int c = 0; c < 3; c++) /* a single number holds for all channels */
            fit(&done->mean[c], &done->std[c], d, c < done->channels ? c : 0);
        done->fit = false;
        done->normalise = true;
    }
    if (done->normalise) {
        MASE_TRY(check_levels(done, err));
        set_levels(d, done);
        s->words = is_plain(done) ? "p / 255" : "(p / 255 - mean) / deviation, by colour";
    }
    if (opts->image.augment) {
        s->pad = opts->image.crop;
        s->flip = opts->image.flip;
    }
    done->crop = s->pad;
    done->flip = s->flip;
    const char *training = s->pad && s->flip ? "in training cropped and flipped"
                           : s->pad          ? "in training cropped"
                           : s->flip         ? "in training flipped"
                                             : NULL;
    d->info.pixels = s->words && training
                         ? mase_arena_printf(&d->arena, "%s; %s", s->words, training)
                     : training ? mase_arena_printf(&d->arena, "as stored; %s", training)
                                : s->words;
    return MASE_OK;
}
