/*
 * npz.c - npz:FILE, tables that NumPy's savez wrote: arrays X (N, ...) and y (N), or X_train,
 * y_train, X_test and y_test, or by other names that are usual (columns.c).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/isolate.h"
#include "data/raw.h"
#include "data/store.h"
#include "format/npy.h"
#include "format/zip.h"

enum { NAMES_SHOWN = 8, FEATURES_MAX = 1 << 22, CLASSES_MAX = 65536, COLUMNS_MAX = 4096 };

static enum mase_status fail_missing(struct mase_arena *a, const struct mase_zip *z,
                                     const char *name, struct mase_err *err)
{
    const char *names = "";
    for (int i = 0; i < z->count && i < NAMES_SHOWN; i++)
        names = mase_arena_printf(a, "%s%s%.40s", names, i ? ", " : "", z->entries[i].name);
    return mase_fail_in(err, MASE_EVALUE, z->path, "there is no array '%s' in the file%s%s%s", name,
                        z->count ? "; it has " : "", names, z->count > NAMES_SHOWN ? ", ..." : "");
}

/* What is read, and the memory it may take. */
struct reading {
    struct mase_zip zip;
    struct mase_arena scratch; /* arrays unpacked; released when their rows are taken */
    uint64_t most;
    const struct mase_columns *columns;
    const char **text; // (texts): labels that are texts, in the order of the rows; NULL: numbers
    int64_t texts;
};

/* The bytes of an array. */
static enum mase_status find_array(struct mase_cursor *c, struct reading *in, const char *name,
                                   struct mase_err *err)
{
    struct mase_arena *a = &in->scratch;
    const struct mase_zip *z = &in->zip;
    const struct mase_zip_entry *e = mase_zip_find(z, mase_arena_printf(a, "%s.npy", name));
    const unsigned char *p = NULL;
    if (!e)
        return fail_missing(a, z, name, err);
    MASE_TRY(mase_zip_read(z, e, a, &p, in->most, err));
    *c = (struct mase_cursor){ .path = z->path, .data = p, .size = e->size };
    return MASE_OK;
}

static enum mase_status fail_array(const char *name, struct mase_err *err)
{
    err->loc.off = -1; /* it counts from the start of the entry */
    return mase_wrap(err, "%s.npy", name);
}

static enum mase_status read_array(struct mase_tensor *t, struct reading *in, const char *name,
                                   struct mase_err *err)
{
    struct mase_cursor c;
    int converted = 0;
    MASE_TRY(find_array(&c, in, name, err));
    return mase_npy_view(t, &in->scratch, true, &converted, &c, err) ? fail_array(name, err)
                                                                     : MASE_OK;
}

/* ---- labels that are texts ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* As NumPy writes out what is not there. */
static bool is_missing(const char *text)
{
    return !text[0] || mase_streq(text, "nan") || mase_streq(text, "None");
}

/* Classes are numbered as those of tables: in the order of their names, or as they were. */
static const char **sort_classes(struct mase_arena *a, const struct reading *in, int *count)
{
    const char **sorted = mase_new_array(a, const char *, (size_t)in->texts + 1);
    int64_t n = 0;
    int64_t there = 0;
    for (int64_t i = 0; i < in->texts; i++)
        if (!is_missing(in->text[i]))
            sorted[there++] = in->text[i];
    qsort(sorted, (size_t)there, sizeof *sorted, compare_texts);
    for (int64_t i = 0; i < there; i++)
        if (!n || !mase_streq(sorted[i], sorted[n - 1]))
            sorted[n++] = sorted[i];
    *count = n <= CLASSES_MAX ? (int)n : -1;
    for (int64_t i = 0; i < n; i++)
        sorted[i] = mase_arena_strdup(a, sorted[i]);
    return sorted;
}

static enum mase_status name_classes(struct mase_dataset *d, struct mase_raw *r,
                                     const struct reading *in, struct mase_err *err)
{
    const struct mase_columns *c = in->columns;
    int count = c->class_count;
    const char *const *names = c->classes ? c->classes : sort_classes(&d->arena, in, &count);
    if (count < 0)
        return mase_fail_in(err, MASE_ELIMIT, in->zip.path, "more than %d different labels",
                            CLASSES_MAX);
    for (int64_t i = 0; i < r->rows; i++) {
        const bool missing = is_missing(in->text[i]);
        int k = 0;
        while (k < count && !mase_streq(names[k], in->text[i]))
            k++;
        if (missing && !r->drop)
            return mase_fail_in(
                err, MASE_EVALUE, in->zip.path,
                "row %" PRId64 ": the label is missing; --drop-nan leaves such rows out", i);
        if (k == count && !missing)
            return mase_fail_in(err, MASE_EVALUE, in->zip.path,
                                "row %" PRId64 ": label '%.40s' is none of the %d that are known",
                                i, in->text[i], count);
        r->label[i] = missing ? -1 : k;
    }
    r->class_names = names;
    r->classes = count;
    return MASE_OK;
}

/* Are the labels texts? Then they are kept, and y says how many there are. */
static enum mase_status read_texts(struct mase_tensor *y, bool *texts, struct reading *in,
                                   const char *name, struct mase_err *err)
{
    struct mase_cursor c;
    struct mase_npy_texts t;
    MASE_TRY(find_array(&c, in, name, err));
    if (mase_npy_texts(&t, &in->scratch, &c, err))
        return fail_array(name, err);
    *texts = t.text != NULL;
    if (!*texts)
        return MASE_OK;
    y->shape = t.shape;
    const char **all = mase_new_array(&in->scratch, const char *, (size_t)(in->texts + t.count));
    if (in->texts)
        memcpy(all, in->text, (size_t)in->texts * sizeof *all);
    memcpy(all + in->texts, t.text, (size_t)t.count * sizeof *all);
    in->text = all;
    in->texts += t.count;
    return MASE_OK;
}

static enum mase_status check_arrays(struct mase_dataset *d, struct mase_raw *r,
                                     const struct mase_tensor *x, const struct mase_tensor *y,
                                     const char *const names[2], const char *path,
                                     struct mase_err *err)
{
    MASE_TRY(mase_fit_arrays(r, &d->info.data.sample, &x->shape, y ? &y->shape : NULL, names, path,
                             err));
    if (r->features > FEATURES_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "samples of %" PRId64 " features, at most %d",
                            r->features, FEATURES_MAX);
    if (r->classes > COLUMNS_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "%s has %d columns, at most %d", names[1],
                            r->classes, COLUMNS_MAX);
    return MASE_OK;
}

/* A number, or a column for each class. */
static enum mase_status take_label(struct mase_raw *r, const struct mase_tensor *y, int64_t i,
                                   const char *path, const char *name, struct mase_err *err)
{
    double column[COLUMNS_MAX];
    if (!r->classes)
        return mase_raw_label(r, mase_tensor_get(y, i), path, name, i, err);
    for (int k = 0; k < r->classes; k++)
        column[k] = mase_tensor_get(y, i * r->classes + k);
    return mase_raw_one_hot(r, column, path, name, i, err);
}

static enum mase_status add_arrays(struct mase_dataset *d, struct mase_raw *r, struct reading *in,
                                   const char *x_name, const char *y_name, struct mase_err *err)
{
    struct mase_tensor x, y = { 0 };
    const char *path = in->zip.path;
    bool texts = false;
    MASE_TRY(read_array(&x, in, x_name, err));
    if (y_name && r->target == MASE_TARGET_CLASS)
        MASE_TRY(read_texts(&y, &texts, in, y_name, err));
    if (y_name && !texts)
        MASE_TRY(read_array(&y, in, y_name, err));
    MASE_TRY(check_arrays(d, r, &x, y_name ? &y : NULL, (const char *const[]){ x_name, y_name },
                          path, err));
    if (texts && r->classes)
        return mase_fail_in(err, MASE_EVALUE, path, "%s has several texts for a sample", y_name);
    r->single = x.dtype == MASE_F32 || x.dtype == MASE_F16;
    MASE_TRY(mase_raw_reserve(r, r->rows + x.shape.dim[0], in->most, path, err));
    const int64_t inputs = r->features - r->targets;
    for (int64_t i = 0; i < x.shape.dim[0]; i++) {
        double *row;
        int32_t *label;
        MASE_TRY(mase_raw_add(r, &row, &label, path, err));
        *label = 0;
        for (int64_t f = 0; f < inputs; f++)
            row[f] = mase_tensor_get(&x, i * inputs + f);
        for (int64_t k = 0; k < r->targets; k++)
            row[inputs + k] = mase_tensor_get(&y, i * r->targets + k);
        if (r->target == MASE_TARGET_CLASS && !texts)
            MASE_TRY(take_label(r, &y, i, path, y_name, err));
    }
    if (in->text && in->texts != r->rows)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "some labels are texts, and those of '%s' are%s", y_name,
                            texts ? "; the others are numbers" : " numbers");
    return MASE_OK;
}

static bool has_array(const void *file, const char *name)
{
    const struct mase_zip *z = file;
    const size_t n = strlen(name);
    for (int i = 0; i < z->count; i++)
        if (strncmp(z->entries[i].name, name, n) == 0 && mase_streq(z->entries[i].name + n, ".npy"))
            return true;
    return false;
}

static enum mase_status read_arrays(struct mase_dataset *d, struct mase_raw *r, struct reading *in,
                                    const struct mase_file *f, const struct mase_columns *c,
                                    struct mase_err *err)
{
    MASE_TRY(mase_zip_open(&in->zip, &in->scratch, f->data, f->size, f->path, err));
    const struct mase_array_names n = mase_find_arrays(&in->scratch, c, has_array, &in->zip);
    MASE_TRY(add_arrays(d, r, in, n.x[0], n.y[0], err));
    const int64_t training = r->rows;
    if (n.x[1])
        MASE_TRY(add_arrays(d, r, in, n.x[1], n.y[1], err));
    r->validation = r->rows - training;
    if (n.x[2])
        MASE_TRY(add_arrays(d, r, in, n.x[2], n.y[2], err));
    r->training = n.x[1] || n.x[2] ? training : 0;
    mase_name_features(r, &d->arena);
    mase_warn_of_channels(&d->info.data.sample, in->zip.path);
    if (in->text)
        return name_classes(d, r, in, err);
    mase_raw_tell_one_hot(r, in->zip.path);
    return MASE_OK;
}

enum mase_status mase_npz_table(struct mase_dataset *d, struct mase_raw *r,
                                const struct mase_file *f, const struct mase_columns *c,
                                struct mase_err *err)
{
    struct reading in = { .most = mase_data_memory(f->size) / 4, .columns = c };
    const enum mase_status st = read_arrays(d, r, &in, f, c, err);
    mase_arena_release(&in.scratch);
    return st;
}

enum mase_status mase_open_npz(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                               const char *file, struct mase_err *err)
{
    struct mase_file f;
    struct mase_columns c;
    struct mase_raw r = { .drop = opts->drop_missing, .target = opts->target };
    MASE_TRY(mase_columns_of(&c, &d->arena, opts, NULL, err));
    if (c.group && !c.group_inherited)
        return mase_fail_no_column(file, c.group, err);
    MASE_TRY(mase_file_open(&f, file, err));
    enum mase_status st = mase_npz_table(d, &r, &f, &c, err);
    mase_file_close(&f);
    if (!st)
        st = mase_source(d, file, err);
    if (!st)
        st = mase_raw_finish(d, &r, opts, file, err);
    mase_raw_release(&r);
    return st;
}
