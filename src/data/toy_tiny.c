/*
 * toy_tiny.c - the smallest dataset: is the sum of four numbers positive? NumPy's numbers, so that
 * it is the original's bit for bit: RandomState(0), (1), (2), (3) for train, validation, test,
 * pred.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"
#include "data/numpy.h"

enum { SAMPLES = 10240, NUMBERS = 4 };

static void draw(float *x, int32_t *label, uint32_t seed)
{
    struct mase_numpy r;
    mase_numpy_seed(&r, seed);
    for (int i = 0; i < SAMPLES; i++) {
        double sum = 0;
        for (int k = 0; k < NUMBERS; k++) {
            const double v = (mase_numpy_double(&r) - 0.5) * 2;
            *x++ = (float)v;
            sum += v;
        }
        label[i] = sum > 0;
    }
}

enum mase_status mase_open_toy_tiny(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                    const char *file, struct mase_err *err)
{
    static const char *const class_names[] = { "negative", "positive" };
    if (mase_has_split_opts(opts) && !opts->split.inherited)
        return mase_fail(err, MASE_EVALUE,
                         "toy_tiny is drawn split by split and cannot be split otherwise");
    if (file)
        return mase_fail(err, MASE_EVALUE, "toy_tiny is built in and reads no file '%s'", file);
    const size_t rows = MASE_SPLIT_COUNT * SAMPLES;
    float *x = d->block = mase_aligned_calloc(rows * NUMBERS * sizeof(float));
    int32_t *label = mase_new_array(&d->arena, int32_t, rows);
    for (uint32_t s = 0; s < MASE_SPLIT_COUNT; s++) {
        draw(x + s * SAMPLES * NUMBERS, label + s * SAMPLES, s);
        d->split[s] = mase_split_range(d, s * SAMPLES, SAMPLES);
    }
    d->table = x;
    d->label = label;
    d->info.rows = (int64_t)rows;
    d->info.source = "built in";
    d->info.simulated = true;
    d->info.class_names = class_names;
    mase_sha256(d->info.checksum, x, rows * NUMBERS * sizeof(float));
    return MASE_OK;
}
