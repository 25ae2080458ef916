/*
 * npz_data.c - npz:FILE, tables that NumPy's savez wrote: arrays X (N, ...) and y (N), or X_train,
 * y_train, X_test and y_test, or by other names that are usual (columns.c).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset_parts.h"
#include "data/raw.h"
#include "data/reader.h"
#include "file/npy_parts.h"
#include "file/zip.h"
#include "ir/shape/shape.h"

enum { NAMES_SHOWN = 8, FEATURES_MAX = 1 << 22, COLUMNS_MAX = 4096 };

static enum mase_status fail_missing(struct mase_arena *a, const struct mase_zip *z,
                                     const char *name, struct mase_err *err)
{
    const char *names = "";
    for (int i = 0; i < z->count && i < NAMES_SHOWN; i++)
        names = mase_arena_printf(a, "%s%s%.40s", names, i ? ", " : "", z->entries[i].name);
    return mase_fail_in(err, MASE_EVALUE, z->path, "there is no array '%s' in the file%s%s%s", name,
                        z->count ? "; it has " : "", names, z->count > NAMES_SHOWN ? ", ..." : "");
}

/* State while arrays are read, and the memory they may take. */
struct reading {
    struct mase_zip zip;
    struct mase_arena scratch; /* unpacked arrays; released when their rows are copied */
    uint64_t most;
    const struct mase_columns *columns;
    struct mase_text_labels texts; /* labels that are texts */
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
    err->loc.off = -1; /* it was relative to the entry */
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

/* If the labels are texts, keep them; y gets their number. */
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
    mase_text_labels_add(&in->texts, &in->scratch, t.text, t.count);
    return MASE_OK;
}

/* The arrays of a split: inputs, and labels y if present. */
struct part {
    struct mase_tensor x[1 + MASE_MORE_INPUTS], y;
    const char *x_name[1 + MASE_MORE_INPUTS], *y_name;
    int inputs;
};

static enum mase_status check_arrays(struct mase_dataset *d, struct mase_raw *r,
                                     const struct part *p, const char *path, struct mase_err *err)
{
    const char *const names[2] = { p->x_name[0], p->y_name };
    MASE_TRY(mase_raw_set_shapes(r, &d->info.data.sample, &p->x[0].shape,
                                 p->y_name ? &p->y.shape : NULL, names, path, err));
    for (int i = 1; i < p->inputs; i++)
        MASE_TRY(mase_raw_add_input(r, i, &p->x[i].shape, p->x[0].shape.dim[0], p->x_name[i], path,
                                    err));
    if (r->features > FEATURES_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "samples of %" PRId64 " features, at most %d",
                            r->features, FEATURES_MAX);
    if (r->classes > COLUMNS_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "%s has %d columns, at most %d", names[1],
                            r->classes, COLUMNS_MAX);
    return MASE_OK;
}

/* A number, or a one-hot row. */
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

static enum mase_status read_part(struct part *p, bool *texts, struct mase_raw *r,
                                  struct reading *in, const struct mase_array_names *n, int number,
                                  struct mase_err *err)
{
    *p = (struct part){ .y_name = n->y[number], .inputs = mase_array_inputs(in->columns, n) };
    if (p->inputs > 1 + MASE_MORE_INPUTS)
        return mase_fail_in(err, MASE_ELIMIT, in->zip.path,
                            "--features names %d arrays, at most %d", p->inputs,
                            1 + MASE_MORE_INPUTS);
    r->single = true;
    r->any_rank = n->guessed || p->inputs > 1;
    for (int i = 0; i < p->inputs; i++) {
        p->x_name[i] = mase_array_of_part(&in->scratch, n, in->columns, number, i);
        MASE_TRY(read_array(&p->x[i], in, p->x_name[i], err));
        r->integers[i] = !mase_dtype_is_float(p->x[i].dtype);
        r->single = r->single && (p->x[i].dtype == MASE_F32 || p->x[i].dtype == MASE_F16 ||
                                  (p->inputs > 1 && r->integers[i]));
    }
    if (p->y_name && r->target == MASE_TARGET_CLASS)
        MASE_TRY(read_texts(&p->y, texts, in, p->y_name, err));
    return p->y_name && !*texts ? read_array(&p->y, in, p->y_name, err) : MASE_OK;
}

static void take_inputs(double *row, const struct part *p, int64_t i)
{
    for (int k = 0; k < p->inputs; k++) {
        const int64_t each = mase_tensor_count(&p->x[k]) / p->x[k].shape.dim[0];
        for (int64_t f = 0; f < each; f++)
            *row++ = mase_tensor_get(&p->x[k], i * each + f);
    }
}

static enum mase_status add_arrays(struct mase_dataset *d, struct mase_raw *r, struct reading *in,
                                   const struct mase_array_names *n, int number,
                                   struct mase_err *err)
{
    struct part p;
    const char *path = in->zip.path;
    bool texts = false;
    MASE_TRY(read_part(&p, &texts, r, in, n, number, err));
    MASE_TRY(check_arrays(d, r, &p, path, err));
    if (texts && r->classes)
        return mase_fail_in(err, MASE_EVALUE, path, "%s has several texts for a sample", p.y_name);
    MASE_TRY(mase_raw_reserve(r, r->rows + p.x[0].shape.dim[0], in->most, path, err));
    const int64_t inputs = r->features - r->targets;
    for (int64_t i = 0; i < p.x[0].shape.dim[0]; i++) {
        double *row;
        int32_t *label;
        MASE_TRY(mase_raw_add(r, &row, &label, path, err));
        *label = 0;
        take_inputs(row, &p, i);
        for (int64_t k = 0; k < r->targets; k++)
            row[inputs + k] = mase_tensor_get(&p.y, i * r->targets + k);
        if (r->target == MASE_TARGET_CLASS && !texts)
            MASE_TRY(take_label(r, &p.y, i, path, p.y_name, err));
    }
    return mase_text_labels_check(&in->texts, r, texts, p.y_name, path, err);
}

/* Offer the remaining arrays with as many rows as further inputs. */
static void offer_others(struct mase_raw *r, struct reading *in, const struct mase_array_names *n)
{
    enum { HEADER = 1 << 12 };
    for (int i = 0; i < in->zip.count; i++) {
        const struct mase_zip_entry *e = &in->zip.entries[i];
        const unsigned char *head;
        size_t size = HEADER;
        struct mase_tensor t;
        struct mase_err err;
        if (!mase_ends_with(e->name, ".npy") ||
            mase_zip_peek(&in->zip, e, &in->scratch, &head, &size, &err))
            continue;
        struct mase_cursor c = { .path = in->zip.path, .data = head, .size = size };
        const char *name =
            mase_arena_strndup(&in->scratch, e->name, strlen(e->name) - strlen(".npy"));
        if (!mase_npy_outline(&t, &c, e->size, &err))
            mase_raw_add_other(r, &in->scratch, n, name, &t.shape, r->rows);
    }
}

static bool has_array(void *file, const char *name)
{
    const struct mase_zip *z = file;
    const size_t n = strlen(name);
    for (int i = 0; i < z->count; i++)
        if (strncmp(z->entries[i].name, name, n) == 0 && mase_streq(z->entries[i].name + n, ".npy"))
            return true;
    return false;
}

static struct mase_array_names choose_arrays(struct reading *in, const struct mase_columns *c)
{
    struct mase_zip *z = &in->zip;
    struct mase_array_names n = mase_find_arrays(&in->scratch, c, has_array, z);
    const char **all = mase_new_array(&in->scratch, const char *, (size_t)z->count);
    int count = 0;
    for (int i = 0; i < z->count; i++)
        if (mase_ends_with(z->entries[i].name, ".npy"))
            all[count++] = mase_arena_strndup(&in->scratch, z->entries[i].name,
                                              strlen(z->entries[i].name) - strlen(".npy"));
    if (!has_array(z, n.x[0]) || (n.y[0] && !has_array(z, n.y[0])))
        (void)mase_guess_arrays(&n, c, all, count);
    mase_log_arrays(&n, all, count, z->path);
    return n;
}

static enum mase_status read_arrays(struct mase_dataset *d, struct mase_raw *r, struct reading *in,
                                    const struct mase_file *f, const struct mase_columns *c,
                                    struct mase_err *err)
{
    MASE_TRY(mase_zip_open(&in->zip, &in->scratch, f->data, f->size, f->path, err));
    const struct mase_array_names n = choose_arrays(in, c);
    MASE_TRY(add_arrays(d, r, in, &n, 0, err));
    mase_raw_set_array_name(r, &n);
    offer_others(r, in, &n);
    const int64_t training = r->rows;
    if (n.x[1])
        MASE_TRY(add_arrays(d, r, in, &n, 1, err));
    r->validation = r->rows - training;
    if (n.x[2])
        MASE_TRY(add_arrays(d, r, in, &n, 2, err));
    r->training = n.x[1] || n.x[2] ? training : 0;
    mase_raw_name_features(r, &d->arena);
    mase_warn_channels_last(&d->info.data.sample, in->zip.path);
    if (in->texts.text)
        return mase_text_labels_number(&in->texts, r, &d->arena, c, in->zip.path, err);
    mase_raw_log_one_hot(r, in->zip.path);
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
    MASE_TRY(mase_columns_from_opts(&c, &d->arena, opts, NULL, err));
    if (c.group && !c.group_inherited)
        return mase_fail_split_by_column(file, c.group, err);
    MASE_TRY(mase_file_open(&f, file, err));
    enum mase_status st = mase_npz_table(d, &r, &f, &c, err);
    if (!st)
        mase_source_of(d, &f);
    mase_file_close(&f);
    if (!st)
        st = mase_raw_finish(d, &r, opts, file, err);
    mase_raw_release(&r);
    return st;
}
