/*
 * npz.c - npz:FILE, tables that NumPy's savez wrote: arrays X (N, ...) and y (N), or X_train,
 * y_train, X_test and y_test.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/npy.h>

#include "data/raw.h"
#include "data/store.h"
#include "format/zip.h"

static const uint64_t array_max = (uint64_t)1 << 32; /* bytes */

static enum mase_status read_array(struct mase_tensor *t, struct mase_arena *a,
                                   const struct mase_zip *z, const char *name, struct mase_err *err)
{
    const char *entry = mase_arena_printf(a, "%s.npy", name);
    const struct mase_zip_entry *e = mase_zip_find(z, entry);
    const unsigned char *p = NULL;
    if (!e)
        return mase_fail_in(err, MASE_EVALUE, z->path, "there is no array '%s' in the file", name);
    MASE_TRY(mase_zip_read(z, e, a, &p, array_max, err));
    if (mase_npy_parse(t, a, p, e->size, z->path, err) == MASE_OK)
        return MASE_OK;
    err->loc.off = -1; /* it counts from the start of the entry */
    return mase_wrap(err, "%s", entry);
}

/* The features of one sample, which all arrays must share. */
static enum mase_status check_arrays(struct mase_dataset *d, struct mase_raw *r,
                                     const struct mase_tensor *x, const struct mase_tensor *y,
                                     const char *path, struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_shape_print(&text, &x->shape);
    mase_str_add(&text, " and ");
    mase_shape_print(&text, &y->shape);
    struct mase_shape sample = { .rank = x->shape.rank - 1 };
    bool fit = x->shape.rank >= 2 && mase_tensor_count(x) > 0 && y->shape.rank >= 1 &&
               x->shape.dim[0] == y->shape.dim[0] && mase_tensor_count(y) == y->shape.dim[0];
    if (fit)
        memcpy(sample.dim, x->shape.dim + 1, (size_t)sample.rank * sizeof sample.dim[0]);
    fit = fit && (!r->features || mase_shape_equal(&sample, &d->info.data.sample));
    enum mase_status st = MASE_OK;
    if (!fit)
        st =
            mase_fail_in(err, MASE_EVALUE, path,
                         "X and y have shapes %s, expected [N, ...] and [N]", mase_str_text(&text));
    mase_str_release(&text);
    d->info.data.sample = sample;
    r->features = fit ? mase_shape_count(&sample) : 0;
    return st;
}

static enum mase_status add_arrays(struct mase_dataset *d, struct mase_raw *r,
                                   const struct mase_zip *z, const char *x_name, const char *y_name,
                                   struct mase_err *err)
{
    struct mase_tensor x, y;
    MASE_TRY(read_array(&x, &d->arena, z, x_name, err));
    MASE_TRY(read_array(&y, &d->arena, z, y_name, err));
    MASE_TRY(check_arrays(d, r, &x, &y, z->path, err));
    r->single = x.dtype == MASE_F32;
    for (int64_t i = 0; i < x.shape.dim[0]; i++) {
        double *row;
        int32_t *label;
        MASE_TRY(mase_raw_add(r, &row, &label, z->path, err));
        for (int64_t f = 0; f < r->features; f++)
            row[f] = mase_tensor_get(&x, i * r->features + f);
        MASE_TRY(mase_raw_label(label, mase_tensor_get(&y, i), z->path, i, err));
    }
    return MASE_OK;
}

static enum mase_status read_arrays(struct mase_dataset *d, struct mase_raw *r,
                                    const struct mase_file *f, struct mase_err *err)
{
    struct mase_zip z;
    MASE_TRY(mase_zip_open(&z, &d->arena, f->data, f->size, f->path, err));
    if (mase_zip_find(&z, "X_train.npy")) {
        MASE_TRY(add_arrays(d, r, &z, "X_train", "y_train", err));
        r->training = r->rows;
        MASE_TRY(add_arrays(d, r, &z, "X_test", "y_test", err));
    } else {
        MASE_TRY(add_arrays(d, r, &z, "X", "y", err));
    }
    const char **names = mase_new_array(&d->arena, const char *, (size_t)r->features);
    for (int64_t i = 0; i < r->features; i++)
        names[i] = mase_arena_printf(&d->arena, "x%" PRId64, i);
    r->feature_names = names;
    return MASE_OK;
}

enum mase_status mase_open_npz(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                               const char *file, struct mase_err *err)
{
    struct mase_file f;
    struct mase_raw r = { 0 };
    MASE_TRY(mase_file_open(&f, file, err));
    enum mase_status st = read_arrays(d, &r, &f, err);
    mase_file_close(&f);
    if (!st)
        st = mase_source(d, file, err);
    if (!st)
        st = mase_raw_finish(d, &r, opts, file, err);
    mase_raw_release(&r);
    return st;
}
