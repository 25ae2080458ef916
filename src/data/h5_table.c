/*
 * h5_table.c - tables in HDF5 files: jets, and the user's own.
 *
 * h5:FILE reads datasets X (N, ...) and y (N) at the root, if X is there; else the first compound
 * table with a column `label` (h5:FILE:NAME names another), all of whose other columns are
 * features.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/hdf5.h"
#include "data/isolate.h"
#include "data/raw.h"
#include "data/store.h"

enum { ROWS_AT_ONCE = 16384, COLUMNS_MAX = 4096, FEATURES_MAX = 1 << 20 };

/* The one column of n that is 1, the others being 0. */
static enum mase_status one_hot_label(int32_t *label, const double *column, int n, const char *path,
                                      int64_t row, struct mase_err *err)
{
    int ones = 0, zeros = 0;
    for (int i = 0; i < n; i++) {
        if (column[i] == 1)
            *label = i;
        ones += column[i] == 1;
        zeros += column[i] == 0;
    }
    if (ones == 1 && zeros == n - 1)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, path,
                        "row %" PRId64 ": the label columns must hold one 1 and otherwise 0", row);
}

struct reading {
    const struct mase_h5_set *set;
    struct mase_h5_choice choice;
    int columns; /* features, then the label's */
    int one_hot; /* label columns that are one-hot; 0: one column with a number */
};

static enum mase_status add_record(struct mase_raw *r, const struct reading *in,
                                   const double *record, struct mase_err *err)
{
    double *row;
    int32_t *label;
    const char *path = in->set->path;
    const int64_t at = r->rows;
    MASE_TRY(mase_raw_add(r, &row, &label, path, err));
    memcpy(row, record, (size_t)r->features * sizeof *row);
    record += r->features;
    return in->one_hot ? one_hot_label(label, record, in->one_hot, path, at, err)
                       : mase_raw_label(label, record[0], path, "the label", at, err);
}

static enum mase_status read_records(struct mase_raw *r, const struct reading *in,
                                     struct mase_err *err)
{
    const int64_t rows = in->set->shape.dim[0];
    MASE_TRY(mase_raw_reserve(r, rows, in->set->most, in->set->path, err));
    double *buffer = mase_xcalloc((size_t)ROWS_AT_ONCE * (size_t)in->columns * sizeof *buffer);
    enum mase_status st = MASE_OK;
    for (int64_t first = 0; !st && first < rows; first += ROWS_AT_ONCE) {
        const int64_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
        st = mase_h5_records(in->set, &in->choice, buffer, first, n, err);
        for (int64_t i = 0; !st && i < n; i++)
            st = add_record(r, in, buffer + i * in->columns, err);
    }
    free(buffer);
    return st;
}

/* The columns of a table without the label's. */
static const char *const *other_columns(struct mase_arena *a, const struct mase_h5_set *s,
                                        const char *label, int *count)
{
    int n;
    const char *const *all = mase_h5_columns(s, a, &n);
    const char **names = mase_new_array(a, const char *, (size_t)n);
    *count = 0;
    for (int i = 0; i < n; i++)
        if (!mase_streq(all[i], label))
            names[(*count)++] = all[i];
    return names;
}

static enum mase_status read_table(struct mase_raw *r, struct mase_arena *a,
                                   const struct mase_h5_set *s, const struct mase_columns *c,
                                   const char *const *one_hot, struct mase_err *err)
{
    int features = c->feature_count;
    const char *const *names = c->features;
    if (!names)
        names = other_columns(a, s, c->label, &features);
    const int labels = one_hot ? c->class_count : 1;
    if (features < 1 || features > COLUMNS_MAX)
        return mase_fail_in(err, MASE_ELIMIT, s->path,
                            "table %s has %d feature columns, expected 1 to %d", s->name, features,
                            COLUMNS_MAX);
    const char **all = mase_new_array(a, const char *, (size_t)(features + labels));
    for (int i = 0; i < features + labels; i++)
        all[i] = i < features ? names[i] : one_hot ? one_hot[i - features] : c->label;
    struct reading in = { s, { 0 }, features + labels, one_hot ? labels : 0 };
    MASE_TRY(mase_h5_choose(&in.choice, s, all, in.columns, err));
    r->single = in.choice.single;
    r->features = features;
    r->feature_names = names;
    r->class_names = c->classes;
    r->classes = c->class_count;
    const enum mase_status st = read_records(r, &in, err);
    mase_h5_choice_close(&in.choice);
    return st;
}

struct wanted {
    const char *dataset;
    const struct mase_columns *columns;
    const char *const *one_hot;
};

static enum mase_status read_wanted(struct mase_isolated *t, struct mase_arena *a, const char *path,
                                    const void *user, struct mase_err *err)
{
    const struct wanted *w = user;
    struct mase_h5 f;
    struct mase_h5_set s = { 0 };
    MASE_TRY(mase_h5_open(&f, path, err));
    mase_isolate_seal();
    enum mase_status st = mase_h5_set_open(&s, &f, w->dataset, err);
    if (!st)
        st = read_table(&t->raw, a, &s, w->columns, w->one_hot, err);
    mase_h5_set_close(&s);
    mase_h5_close(&f);
    return st;
}

enum mase_status mase_h5_read_table(struct mase_raw *r, struct mase_arena *a, const char *path,
                                    const char *dataset, const struct mase_columns *c,
                                    const char *const *one_hot, struct mase_err *err)
{
    struct mase_isolated t = { 0 };
    const struct wanted w = { dataset, c, one_hot };
    MASE_TRY(mase_isolate(&t, a, path, read_wanted, &w, err));
    *r = t.raw;
    r->class_names = c->classes;
    return MASE_OK;
}

/* ---- X and y ---- */

static enum mase_status check_pair(const struct mase_h5_set *x, const struct mase_h5_set *y,
                                   struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_shape_print(&text, &x->shape);
    mase_str_add(&text, " and ");
    mase_shape_print(&text, &y->shape);
    const bool fit = !x->compound && !y->compound && x->shape.rank >= 2 &&
                     mase_shape_count(&x->shape) > 0 && x->shape.dim[0] == y->shape.dim[0] &&
                     mase_shape_count(&y->shape) == y->shape.dim[0] &&
                     mase_shape_count(&x->shape) / x->shape.dim[0] <= FEATURES_MAX;
    const enum mase_status st =
        fit ? MASE_OK
            : mase_fail_in(err, MASE_EVALUE, x->path,
                           "X and y have shapes %s, expected [N, ...] and [N]",
                           mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

static enum mase_status add_rows(struct mase_raw *r, const double *x, const double *y, int64_t n,
                                 const char *path, struct mase_err *err)
{
    for (int64_t i = 0; i < n; i++) {
        double *row;
        int32_t *label;
        MASE_TRY(mase_raw_add(r, &row, &label, path, err));
        memcpy(row, x + i * r->features, (size_t)r->features * sizeof *row);
        MASE_TRY(mase_raw_label(label, y[i], path, "y", r->rows - 1, err));
    }
    return MASE_OK;
}

static enum mase_status read_pair(struct mase_raw *r, const struct mase_h5_set *x,
                                  const struct mase_h5_set *y, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    const int64_t rows = x->shape.dim[0], step = FEATURES_MAX / r->features;
    MASE_TRY(mase_raw_reserve(r, rows, x->most, x->path, err));
    double *buffer = mase_xcalloc((size_t)(step * (r->features + 1)) * sizeof *buffer);
    double *labels = buffer + step * r->features;
    for (int64_t first = 0; !st && first < rows; first += step) {
        const int64_t n = rows - first < step ? rows - first : step;
        st = mase_h5_rows(x, buffer, first, n, err);
        if (!st)
            st = mase_h5_rows(y, labels, first, n, err);
        if (!st)
            st = add_rows(r, buffer, labels, n, x->path, err);
    }
    free(buffer);
    return st;
}

static const char *const *feature_numbers(struct mase_arena *a, int64_t n)
{
    const char **names = mase_new_array(a, const char *, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        names[i] = mase_arena_printf(a, "x%" PRId64, i);
    return names;
}

static enum mase_status open_pair(struct mase_isolated *t, struct mase_arena *a,
                                  const struct mase_h5 *f, struct mase_err *err)
{
    struct mase_h5_set x = { 0 }, y = { 0 };
    struct mase_raw *r = &t->raw;
    enum mase_status st = mase_h5_set_open(&x, f, "X", err);
    if (!st)
        st = mase_h5_set_open(&y, f, "y", err);
    if (!st)
        st = check_pair(&x, &y, err);
    if (!st) {
        t->sample.rank = x.shape.rank - 1;
        memcpy(t->sample.dim, x.shape.dim + 1, (size_t)t->sample.rank * sizeof t->sample.dim[0]);
        r->single = x.single;
        r->features = mase_shape_count(&t->sample);
        r->feature_names = feature_numbers(a, r->features);
        st = read_pair(r, &x, &y, err);
    }
    mase_h5_set_close(&x);
    mase_h5_set_close(&y);
    return st;
}

static enum mase_status open_records(struct mase_isolated *t, struct mase_arena *a,
                                     const struct mase_h5 *f, const char *label,
                                     struct mase_err *err)
{
    const char *name = mase_h5_find_table(f, a, label);
    if (!name)
        return mase_fail_in(err, MASE_EVALUE, f->path,
                            "neither datasets X and y nor a table with a column '%s'", label);
    const struct mase_columns c = { .label = label };
    struct mase_h5_set s = { 0 };
    enum mase_status st = mase_h5_set_open(&s, f, name, err);
    if (!st)
        st = read_table(&t->raw, a, &s, &c, NULL, err);
    mase_h5_set_close(&s);
    t->sample = (struct mase_shape){ 1, { t->raw.features } };
    return st;
}

static enum mase_status read_own(struct mase_isolated *t, struct mase_arena *a, const char *path,
                                 const void *label, struct mase_err *err)
{
    struct mase_h5 f;
    MASE_TRY(mase_h5_open(&f, path, err));
    mase_isolate_seal();
    const enum mase_status st =
        mase_h5_has(&f, "X") ? open_pair(t, a, &f, err) : open_records(t, a, &f, label, err);
    mase_h5_close(&f);
    return st;
}

enum mase_status mase_open_h5(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                              const char *file, struct mase_err *err)
{
    const char *path, *label;
    struct mase_isolated t = { 0 };
    mase_split_name(&d->arena, file, &path, &label);
    enum mase_status st = mase_isolate(&t, &d->arena, path, read_own, label, err);
    d->info.data.sample = t.sample;
    if (!st)
        st = mase_source(d, path, err);
    if (!st)
        st = mase_raw_finish(d, &t.raw, opts, path, err);
    mase_raw_release(&t.raw);
    return st;
}
