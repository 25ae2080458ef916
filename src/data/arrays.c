/*
 * arrays.c - a dataset of the caller's samples in memory.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"
#include "data/raw.h"

enum { FEATURES_MAX = 1 << 22 };

static enum mase_status check(const struct mase_data_arrays *in,
                              const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const bool numbers = opts->target == MASE_TARGET_NUMBERS;
    const int64_t features = mase_shape_count(&in->sample);
    if (!in->x || in->count < 1 || features < 1 || features > FEATURES_MAX)
        return mase_fail_in(err, MASE_EVALUE, in->name,
                            "%" PRId64 " samples of %" PRId64 " features; there must be some, and "
                            "at most %d features",
                            in->count, features, FEATURES_MAX);
    if (numbers ? !in->targets || in->target_count < 1 || in->target_count > FEATURES_MAX
                : opts->target == MASE_TARGET_CLASS && !in->labels)
        return mase_fail_in(err, MASE_EVALUE, in->name, "there are no %s",
                            numbers ? "numbers to predict" : "labels");
    if (opts->target == MASE_TARGET_MAP)
        return mase_fail_in(err, MASE_EUNSUPPORTED, in->name,
                            "arrays in memory have no classes by position");
    if (in->train < 0 || in->validation < 0 || in->validation > in->count ||
        in->train > in->count - in->validation || (in->validation && !in->train))
        return mase_fail_in(err, MASE_EVALUE, in->name,
                            "%" PRId64 " rows train and %" PRId64 " validate, of %" PRId64,
                            in->train, in->validation, in->count);
    return MASE_OK;
}

static void add_row(double *row, const struct mase_data_arrays *in, int64_t i, int64_t inputs,
                    int64_t targets)
{
    const float *x = in->x + i * inputs; // (inputs)
    for (int64_t f = 0; f < inputs; f++)
        row[f] = (double)x[f];
    for (int64_t k = 0; k < targets; k++)
        row[inputs + k] = (double)in->targets[i * targets + k];
}

static enum mase_status read_rows(struct mase_raw *r, const struct mase_data_arrays *in,
                                  struct mase_err *err)
{
    const int64_t inputs = mase_shape_count(&in->sample);
    MASE_TRY(mase_raw_reserve(r, in->count, UINT64_MAX, in->name, err));
    for (int64_t i = 0; i < in->count; i++) {
        double *row;
        int32_t *label;
        MASE_TRY(mase_raw_add(r, &row, &label, in->name, err));
        *label = 0;
        add_row(row, in, i, inputs, r->targets);
        if (r->target == MASE_TARGET_CLASS)
            MASE_TRY(mase_raw_label(r, (double)in->labels[i], in->name, "labels", i, err));
        if (r->target == MASE_TARGET_CLASS && in->classes && *label >= in->classes)
            return mase_fail_in(err, MASE_EVALUE, in->name,
                                "labels[%" PRId64 "] is %d; there are %d classes, from 0", i,
                                *label, in->classes);
    }
    return MASE_OK;
}

/* Checksum of the samples and of their targets. */
static void sum(struct mase_dataset *d, const struct mase_data_arrays *in,
                enum mase_target_kind target)
{
    enum { DIGITS = 64 };
    const size_t n = (size_t)in->count;
    const bool numbers = target == MASE_TARGET_NUMBERS, classes = target == MASE_TARGET_CLASS;
    char both[2 * DIGITS + 1];
    mase_sha256(d->info.checksum, in->x, n * (size_t)mase_shape_count(&in->sample) * sizeof *in->x);
    if (!numbers && !classes)
        return;
    memcpy(both, d->info.checksum, DIGITS);
    mase_sha256(both + DIGITS, numbers ? (const void *)in->targets : (const void *)in->labels,
                numbers ? n * (size_t)in->target_count * sizeof *in->targets
                        : n * sizeof *in->labels);
    mase_sha256(d->info.checksum, both, 2 * DIGITS);
}

static const char *const *names(struct mase_arena *a, const struct mase_data_arrays *in)
{
    const char **copy = mase_new_array(a, const char *, (size_t)in->classes);
    for (int i = 0; i < in->classes; i++)
        copy[i] = mase_arena_strdup(a, in->class_names[i]);
    return copy;
}

static enum mase_status fill(struct mase_dataset *d, const struct mase_data_arrays *in,
                             const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const int64_t targets = opts->target == MASE_TARGET_NUMBERS ? in->target_count : 0;
    struct mase_raw r = {
        .drop = opts->drop_missing,
        .target = opts->target,
        .targets = targets,
        .target_shape = { 1, { targets } },
        .features = mase_shape_count(&in->sample) + targets,
        .classes = opts->target == MASE_TARGET_CLASS ? in->classes : 0,
        .single = true,
        .training = in->train,
        .validation = in->validation,
    };
    d->info.data.name = mase_arena_strdup(&d->arena, in->name);
    d->info.data.help = "samples in memory";
    d->info.data.sample = in->sample;
    d->info.source = "memory";
    sum(d, in, opts->target);
    const bool all_train = in->train == in->count;
    struct mase_dataset_opts fitted = *opts;
    fitted.original_splits = opts->original_splits || all_train; /* no validation split */
    r.few = in->train > 0;
    if (r.classes && in->class_names)
        r.class_names = names(&d->arena, in);
    enum mase_status st = read_rows(&r, in, err);
    if (!st) {
        mase_raw_name_features(&r, &d->arena);
        st = mase_raw_finish(d, &r, &fitted, in->name, err);
    }
    for (int i = 0; !st && all_train && i < MASE_SPLIT_COUNT; i++)
        d->split[i] = mase_split_range(d, 0, i == MASE_SPLIT_TRAIN ? in->count : 0);
    mase_raw_release(&r);
    return st;
}

enum mase_status mase_dataset_from(struct mase_dataset **out, const struct mase_data_arrays *in,
                                   const struct mase_dataset_opts *opts, struct mase_err *err)
{
    static const struct mase_dataset_opts defaults = { 0 };
    opts = opts ? opts : &defaults;
    MASE_TRY(check(in, opts, err));
    struct mase_dataset *d = mase_xcalloc(sizeof *d);
    const enum mase_status st = fill(d, in, opts, err);
    if (st)
        mase_dataset_close(d);
    else
        *out = d;
    return st;
}
