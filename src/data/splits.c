/*
 * splits.c - which rows train, validate and test.
 */
#include <mase/log.h>
#include <mase/rng.h>

#include "data/dataset_parts.h"

int64_t mase_split_test_count(int64_t n)
{
    return (n + 4) / 5;
}

struct mase_split_rows mase_split_range(struct mase_dataset *d, int64_t first, int64_t count)
{
    uint32_t *row = mase_new_array(&d->arena, uint32_t, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        row[i] = (uint32_t)(first + i);
    return (struct mase_split_rows){ row, count };
}

/* Reject random numbers above the largest multiple of n. */
uint32_t mase_draw_below(struct mase_rng *r, uint32_t n)
{
    const uint32_t uneven = (uint32_t)(0u - n) % n;
    uint64_t product;
    do
        product = (uint64_t)mase_rng_u32(r) * n;
    while ((uint32_t)product < uneven);
    return (uint32_t)(product >> 32);
}

/* Draw a tenth of the first n rows by selection sampling: one pass, both lists sorted. */
static void hold_out(struct mase_dataset *d, uint64_t seed, int64_t n)
{
    struct mase_rng r = mase_rng(seed, MASE_STREAM_HOLD_OUT, 0);
    const int64_t wanted = n / 10;
    uint32_t *train = mase_new_array(&d->arena, uint32_t, (size_t)(n - wanted));
    uint32_t *held = mase_new_array(&d->arena, uint32_t, (size_t)wanted);
    int64_t trains = 0, helds = 0;
    for (int64_t i = 0; i < n; i++)
        if (mase_draw_below(&r, (uint32_t)(n - i)) < (uint32_t)(wanted - helds))
            held[helds++] = (uint32_t)i;
        else
            train[trains++] = (uint32_t)i;
    d->split[MASE_SPLIT_TRAIN] = (struct mase_split_rows){ train, trains };
    d->split[MASE_SPLIT_VALIDATION] = (struct mase_split_rows){ held, helds };
}

enum mase_status mase_split_parts(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                  int64_t training, int64_t validation,
                                  enum mase_split original_validation, struct mase_err *err)
{
    const struct mase_dataset_opts fitted =
        mase_applicable_split(opts, true, validation > 0, false);
    opts = &fitted;
    const int64_t tests = training + validation, count = d->info.rows - tests;
    const struct mase_split_rows held = mase_split_range(d, training, validation);
    if (validation && mase_has_split_opts(opts))
        return mase_fail(err, MASE_EVALUE,
                         "%s says itself which rows validate and test; they cannot be split "
                         "otherwise",
                         d->info.data.name);
    if (mase_has_split_opts(opts))
        return mase_split_by_shares(d, opts, training, NULL, err);
    if (validation && !count)
        mase_warn("%s has no rows to test: tested are those that validate", d->info.data.name);
    d->info.split.seed = opts->split.seed;
    d->split[MASE_SPLIT_TEST] = count ? mase_split_range(d, tests, count) : held;
    d->split[MASE_SPLIT_PRED] = d->split[MASE_SPLIT_TEST];
    if (validation || opts->original_splits) {
        d->split[MASE_SPLIT_TRAIN] = mase_split_range(d, 0, training);
        d->split[MASE_SPLIT_VALIDATION] = validation ? held : d->split[original_validation];
    } else {
        hold_out(d, opts->split.seed, training);
    }
    return MASE_OK;
}
