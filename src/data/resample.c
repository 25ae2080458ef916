/*
 * resample.c - a plane of bytes in another size, by the bilinear filter of PIL, which widens with
 * the reduction so that every pixel counts (antialiasing).
 *
 * First rows, then columns. A weight is a fixed-point number of 22 fractional bits, and what a pass
 * leaves is rounded to a byte, so the bytes are PIL's. Pillow 13 begins with the columns where it
 * takes that for less work; what it then rounds first differs, and bytes by one at most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/picture.h"

enum { FRACTION = 22 };

/* Weights of output i: `count` inputs from `first` on. */
struct taps {
    int first, count;
};

struct filter {
    struct taps *taps; // (outputs)
    int32_t *weight;   // (outputs, most)
    int most;
};

static double triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static struct filter make_filter(int from, int to)
{
    const double scale = (double)from / to, wide = scale < 1 ? 1 : scale;
    struct filter f = { .most = (int)ceil(wide) * 2 + 1 };
    f.taps = mase_xcalloc((size_t)to * sizeof *f.taps);
    f.weight = mase_xcalloc((size_t)to * (size_t)f.most * sizeof *f.weight);
    double *w = mase_xcalloc((size_t)f.most * sizeof *w);
    for (int i = 0; i < to; i++) {
        const double centre = (i + 0.5) * scale;
        int first = (int)(centre - wide + 0.5), last = (int)(centre + wide + 0.5);
        first = first < 0 ? 0 : first;
        last = last > from ? from : last;
        double sum = 0;
        for (int k = first; k < last; k++)
            sum += w[k - first] = triangle((k - centre + 0.5) * (1 / wide));
        for (int k = 0; k < last - first; k++)
            f.weight[i * f.most + k] =
                (int32_t)(0.5 + (sum != 0 ? w[k] / sum : w[k]) * (1 << FRACTION));
        f.taps[i] = (struct taps){ first, last - first };
    }
    mase_xfree(w);
    return f;
}

static void free_filter(struct filter *f)
{
    mase_xfree(f->taps);
    mase_xfree(f->weight);
}

/* Output i of inputs `stride` bytes apart. */
static unsigned char apply(const struct filter *f, int i, const unsigned char *from, int stride)
{
    const int32_t *w = f->weight + (ptrdiff_t)i * f->most;
    const unsigned char *p = from + (ptrdiff_t)f->taps[i].first * stride;
    int64_t sum = 1 << (FRACTION - 1);
    for (int k = 0; k < f->taps[i].count; k++, p += stride)
        sum += (int64_t)*p * w[k];
    const int64_t v = sum >> FRACTION;
    return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void mase_resample(unsigned char *to, int to_w, int to_h, const unsigned char *from, int w, int h)
{
    unsigned char *narrow = NULL;
    if (w != to_w) {
        struct filter f = make_filter(w, to_w);
        narrow = mase_xcalloc((size_t)to_w * (size_t)h);
        for (ptrdiff_t y = 0; y < h; y++)
            for (int x = 0; x < to_w; x++)
                narrow[y * to_w + x] = apply(&f, x, from + y * w, 1);
        free_filter(&f);
        from = narrow;
    }
    if (h == to_h) {
        memcpy(to, from, (size_t)to_w * (size_t)h);
    } else {
        struct filter f = make_filter(h, to_h);
        for (int y = 0; y < to_h; y++)
            for (int x = 0; x < to_w; x++)
                to[(ptrdiff_t)y * to_w + x] = apply(&f, y, from + x, to_w);
        free_filter(&f);
    }
    mase_xfree(narrow);
}
