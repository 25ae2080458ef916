/*
 * raw.c - make a dataset from rows that were read: drop duplicates, split, scale.
 */
#include "data/raw.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/log.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/dataset_parts.h"
#include "data/numpy.h"

enum { CLASSES_MAX = 65536, ROWS_MIN = 10, SPLIT_SEED = 42 };

void mase_raw_release(struct mase_raw *r)
{
    mase_xfree(r->x);
    mase_xfree(r->label);
    mase_xfree(r->group);
    *r = (struct mase_raw){ 0 };
}

/* Allocate space for cap rows. */
static void make_room(struct mase_raw *r)
{
    r->x = mase_xrealloc(r->x, (size_t)r->cap * (size_t)r->features * sizeof *r->x);
    r->label = mase_xrealloc(r->label, (size_t)r->cap * sizeof *r->label);
    if (r->grouped)
        r->group = mase_xrealloc(r->group, (size_t)r->cap * sizeof *r->group);
}

enum mase_status mase_raw_reserve(struct mase_raw *r, int64_t rows, uint64_t most, const char *path,
                                  struct mase_err *err)
{
    uint64_t bytes;
    if (rows > UINT32_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "more than %u rows", UINT32_MAX);
    if (__builtin_mul_overflow((uint64_t)rows * sizeof *r->x, (uint64_t)r->features, &bytes) ||
        bytes > most)
        return mase_fail_in(err, MASE_ELIMIT, path,
                            "%" PRId64 " rows of %" PRId64 " features take more than %" PRIu64
                            " bytes, the most for a file of this size",
                            rows, r->features, most);
    if (rows <= r->cap)
        return MASE_OK;
    r->cap = rows;
    make_room(r);
    return MASE_OK;
}

enum mase_status mase_raw_add(struct mase_raw *r, double **row, int32_t **label, const char *path,
                              struct mase_err *err)
{
    if (r->rows == UINT32_MAX)
        return mase_fail_in(err, MASE_ELIMIT, path, "more than %u rows", UINT32_MAX);
    if (r->rows == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1024;
        make_room(r);
    }
    *row = r->x + r->rows * r->features;
    *label = r->label + r->rows;
    r->rows++;
    return MASE_OK;
}

/* ---- duplicates ---- */

static uint64_t hash_row(const struct mase_raw *r, int64_t i)
{
    const double *x = r->x + i * r->features;
    uint64_t h = (uint64_t)(uint32_t)r->label[i] + 0x9e3779b97f4a7c15u;
    for (int64_t f = 0; f < r->features; f++) {
        const double v = x[f] + 0.0; /* -0 equals 0 */
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        h = (h ^ bits) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static bool equal_rows(const struct mase_raw *r, int64_t a, int64_t b)
{
    const double *x = r->x + a * r->features, *y = r->x + b * r->features;
    for (int64_t f = 0; f < r->features; f++)
        if (x[f] != y[f])
            return false;
    return r->label[a] == r->label[b];
}

void mase_raw_drop_duplicates(struct mase_raw *r)
{
    size_t size = 16;
    while (size < 2 * (size_t)r->rows)
        size *= 2;
    uint32_t *slot = mase_xcalloc(size * sizeof *slot); /* row + 1; 0: empty */
    int64_t kept = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        size_t at = hash_row(r, i) & (size - 1);
        while (slot[at] && !equal_rows(r, slot[at] - 1, i))
            at = (at + 1) & (size - 1);
        if (slot[at])
            continue;
        memmove(r->x + kept * r->features, r->x + i * r->features,
                (size_t)r->features * sizeof *r->x);
        r->label[kept++] = r->label[i];
        slot[at] = (uint32_t)kept;
    }
    mase_xfree(slot);
    r->duplicates += r->rows - kept;
    r->rows = kept;
}

/* ---- checks ---- */

enum mase_status mase_raw_label(struct mase_raw *r, double value, const char *path,
                                const char *array, int64_t row, struct mase_err *err)
{
    int32_t *label = &r->label[r->rows - 1];
    *label = -1;
    if (r->drop && isnan(value))
        return MASE_OK;
    if (!(value >= 0 && value < CLASSES_MAX) || value != floor(value))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "row %" PRId64 ": %s is %.15g, which is not an integer from 0 to %d; "
                            "--task reg takes numbers of any kind",
                            row, array, value, CLASSES_MAX - 1);
    *label = (int32_t)value;
    return MASE_OK;
}

enum mase_status mase_raw_one_hot(struct mase_raw *r, const double *value, const char *path,
                                  const char *array, int64_t row, struct mase_err *err)
{
    int ones = 0, others = 0, missing = 0;
    for (int k = 0; k < r->classes; k++) {
        if (value[k] == 1)
            r->label[r->rows - 1] = k;
        ones += value[k] == 1;
        missing += isnan(value[k]);
        others += value[k] != 0 && value[k] != 1;
    }
    if (r->drop && missing)
        r->label[r->rows - 1] = -1;
    if (ones == 1 && !others)
        return MASE_OK;
    if (r->drop && missing)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, path,
                        "row %" PRId64
                        ": %s has %d columns, of which one should be 1 and the others "
                        "0; --task multilabel takes several, --task reg numbers of any kind",
                        row, array, r->classes);
}

void mase_raw_log_one_hot(const struct mase_raw *r, const char *path)
{
    if (r->target == MASE_TARGET_CLASS && r->classes && !r->class_names)
        mase_info("%s: the labels are one-hot: %d columns, one for each class", path, r->classes);
}

/* Count classes. Classes without rows are kept, since labels are positions in the network's output,
 * but they are often a mistake: labels that start at 1, or numbers that are not classes. */
static void count_classes(struct mase_raw *r, const char *path)
{
    int32_t largest = 1; /* two classes at least */
    for (int64_t i = 0; i < r->rows; i++)
        largest = r->label[i] > largest ? r->label[i] : largest;
    r->classes = largest + 1;
    unsigned char *seen = mase_xcalloc((size_t)r->classes);
    for (int64_t i = 0; i < r->rows; i++)
        seen[r->label[i]] = 1;
    int missing = 0, first = -1;
    for (int k = r->classes; k-- > 0;)
        if (!seen[k]) {
            missing++;
            first = k;
        }
    mase_xfree(seen);
    if (missing)
        mase_warn("%s: no row is of class %d%s; labels up to %d make %d classes", path, first,
                  missing > 1 ? " and others" : "", largest, r->classes);
}

static enum mase_status fail_feature(const struct mase_raw *r, int64_t i, int64_t f,
                                     const char *path, struct mase_err *err)
{
    const double x = r->x[i * r->features + f];
    const char *part = "";
    if (r->training && i >= r->training) { /* the file divides its arrays */
        i -= r->training;
        part = i < r->validation ? " to validate" : " to test";
        i -= i < r->validation ? 0 : r->validation;
    }
    char limit[64];
    mase_snprintf(limit, sizeof limit, "32-bit floats end at %g", (double)FLT_MAX);
    const char *what = f < r->features - r->targets ? "feature" : "target";
    return mase_fail_in(err, MASE_EVALUE, path, "row %" PRId64 "%s: %s %s is %g; %s%s%s", i, part,
                        what, r->feature_names[f], x, isfinite(x) ? limit : what,
                        isfinite(x) ? "" : "s must be finite",
                        isnan(x) && !r->published ? "; --drop-nan leaves such rows out" : "");
}

static bool lacks_value(const struct mase_raw *r, int64_t i)
{
    const double *x = r->x + i * r->features;
    for (int64_t f = 0; f < r->features; f++)
        if (isnan(x[f]))
            return true;
    return r->label[i] < 0 || (r->grouped && isnan(r->group[i]));
}

/* Drop rows with a missing value. */
static void drop_missing(struct mase_raw *r)
{
    int64_t kept = 0, training = r->training, validation = r->validation;
    for (int64_t i = 0; i < r->rows; i++) {
        if (lacks_value(r, i)) {
            r->dropped++;
            training -= i < r->training;
            validation -= i >= r->training && i < r->training + r->validation;
            continue;
        }
        memmove(r->x + kept * r->features, r->x + i * r->features,
                (size_t)r->features * sizeof *r->x);
        if (r->grouped)
            r->group[kept] = r->group[i];
        r->label[kept++] = r->label[i];
    }
    r->rows = kept;
    r->training = training;
    r->validation = validation;
}

/* Check that the splits that the file defines are not empty. */
static enum mase_status check_parts(const struct mase_raw *r, bool divided, const char *path,
                                    struct mase_err *err)
{
    if (r->few)
        return r->rows > 0 ? MASE_OK : mase_fail_in(err, MASE_EVALUE, path, "there are no rows");
    if (r->rows < ROWS_MIN)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "%" PRId64 " rows are too few to split; %d are needed%s", r->rows,
                            ROWS_MIN, r->dropped ? " without a missing value" : "");
    if (divided && r->training < ROWS_MIN)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "%" PRId64 " rows to train on are too few; %d are needed", r->training,
                            ROWS_MIN);
    return MASE_OK;
}

/* Check label maps: -1, or PyTorch's -100, marks a position without class. */
static enum mase_status check_maps(struct mase_raw *r, const char *path, struct mase_err *err)
{
    double largest = 1; /* two classes at least */
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t k = r->features - r->targets; k < r->features; k++) {
            double *x = &r->x[i * r->features + k];
            if (*x == -100)
                *x = -1;
            if (!(*x >= -1 && *x < CLASSES_MAX) || *x != floor(*x))
                return mase_fail_in(err, MASE_EVALUE, path,
                                    "row %" PRId64 ": a class is %.15g; classes by position are "
                                    "integers from 0 to %d, and -1 or -100 where there is none",
                                    i, *x, CLASSES_MAX - 1);
            largest = *x > largest ? *x : largest;
        }
    r->classes = (int)largest + 1;
    return MASE_OK;
}

enum mase_status mase_raw_check(struct mase_raw *r, const char *path, struct mase_err *err)
{
    const bool divided = r->training > 0;
    if (r->rows < ROWS_MIN) /* before any row is checked */
        MASE_TRY(check_parts(r, divided, path, err));
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t f = 0; f < r->features; f++) {
            const double x = r->x[i * r->features + f];
            if (!isfinite((float)x) && !(r->drop && isnan(x)))
                return fail_feature(r, i, f, path, err);
        }
    if (r->drop)
        drop_missing(r);
    MASE_TRY(check_parts(r, divided, path, err));
    if (r->target == MASE_TARGET_MAP)
        return check_maps(r, path, err);
    if (!r->classes && r->target == MASE_TARGET_CLASS)
        count_classes(r, path);
    return MASE_OK;
}

/* ---- make the dataset ---- */

/* Rows in the order of the dataset's table. */
struct ordered {
    const struct mase_raw *raw;
    uint32_t *row;
};

static void get_row(double *row, const void *table, int64_t i)
{
    const struct ordered *o = table;
    const struct mase_raw *r = o->raw;
    memcpy(row, r->x + o->row[i] * r->features, (size_t)(r->features - r->targets) * sizeof *row);
}

/* Training rows first. NumPy's permutation has test rows first. Otherwise rows keep their order. */
static struct ordered order_rows(struct mase_raw *r, const struct mase_dataset_opts *opts)
{
    struct ordered o = { r, mase_xcalloc((size_t)r->rows * sizeof(uint32_t)) };
    const uint32_t n = (uint32_t)r->rows;
    if (r->training || (mase_has_split_opts(opts) && !r->published)) {
        for (uint32_t i = 0; i < n; i++)
            o.row[i] = i;
        return o;
    }
    const uint32_t test = (uint32_t)mase_split_test_count(r->rows);
    uint32_t *p = mase_xcalloc(n * sizeof *p);
    struct mase_numpy random;
    mase_numpy_seed(&random, SPLIT_SEED);
    mase_numpy_permutation(&random, p, n);
    memcpy(o.row, p + test, (n - test) * sizeof *p);
    memcpy(o.row + (n - test), p, test * sizeof *p);
    mase_xfree(p);
    r->training = n - test;
    return o;
}

static const int32_t *ordered_labels(struct mase_dataset *d, const struct ordered *o)
{
    int32_t *label = mase_new_array(&d->arena, int32_t, (size_t)o->raw->rows);
    for (int64_t i = 0; i < o->raw->rows; i++)
        label[i] = o->raw->label[o->row[i]];
    return label;
}

static float *ordered_targets(const struct ordered *o)
{
    const struct mase_raw *r = o->raw;
    float *y = mase_aligned_calloc((size_t)(r->rows * r->targets) * sizeof *y);
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t k = 0; k < r->targets; k++)
            y[i * r->targets + k] =
                (float)r->x[o->row[i] * r->features + r->features - r->targets + k];
    return y;
}

/* Write the scaled table, and keep the unscaled one if needed. */
static enum mase_status fill_tables(struct mase_dataset *d, const struct ordered *o,
                                    const struct mase_dataset_opts *opts, struct mase_err *err)
{
    const struct mase_raw *r = o->raw;
    const struct mase_scale_source from = { get_row, o, r->single, r->published ? r->training : 0 };
    d->block = mase_new_table(d);
    MASE_TRY(mase_scale_table(d, d->block, opts, &from, err));
    if (!opts->ranges && !r->published)
        return MASE_OK;
    float *plain = d->plain_block = mase_new_table(d);
    const int64_t inputs = r->features - r->targets;
    double *row = mase_xcalloc((size_t)inputs * sizeof *row);
    for (int64_t i = 0; i < r->rows; i++) {
        get_row(row, o, i);
        for (int64_t f = 0; f < inputs; f++)
            plain[i * inputs + f] = (float)row[f];
    }
    mase_xfree(row);
    d->plain = plain;
    return MASE_OK;
}

static void get_targets(double *row, const void *data, int64_t i)
{
    const struct mase_dataset *d = data;
    for (int64_t k = 0; k < d->info.data.targets; k++)
        row[k] = d->target[i * d->info.data.targets + k];
}

static enum mase_status scale_targets(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      const char *path, struct mase_err *err)
{
    const int64_t n = d->info.data.targets;
    const struct mase_scaling *given = opts->target_scaling;
    struct mase_scaling *s = &d->info.target_scaling;
    float *y = d->target_block;
    if (given && given->n && given->n != n)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "%" PRId64 " targets, but the scaling that is given has %" PRId64, n,
                            given->n);
    if (given && given->n)
        *s = (struct mase_scaling){
            n, mase_arena_memdup(&d->arena, given->mean, (size_t)n * sizeof *given->mean),
            mase_arena_memdup(&d->arena, given->std, (size_t)n * sizeof *given->std)
        };
    else if (opts->scale_targets)
        *s = mase_scaling_fit(&d->arena, n, d->split[MASE_SPLIT_TRAIN], get_targets, d);
    for (int64_t i = 0; s->n && i < d->info.rows; i++) {
        for (int64_t k = 0; k < n; k++)
            y[i * n + k] = (float)((y[i * n + k] - s->mean[k]) / s->std[k]);
        MASE_TRY(mase_check_scaled(y + i * n, s, d->info.target_names, err));
    }
    return MASE_OK;
}

int mase_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *mase_number_names(struct mase_arena *a, int n)
{
    const char **names = mase_new_array(a, const char *, (size_t)n);
    for (int i = 0; i < n; i++)
        names[i] = mase_arena_printf(a, "%d", i);
    return names;
}

/* ---- splits ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Number the values of the column to split by, ascending; texts are numbered already. */
static enum mase_status number_groups(struct mase_groups *g, struct mase_dataset *d,
                                      const struct mase_raw *r, const char *by,
                                      struct mase_err *err)
{
    uint32_t *of = mase_new_array(&d->arena, uint32_t, (size_t)r->rows);
    double *value = mase_xcalloc((size_t)r->rows * sizeof *value);
    enum mase_status st = MASE_OK;
    for (int64_t i = 0; i < r->rows && !st; i++) {
        value[i] = r->group[i];
        if (!isfinite(value[i]))
            st = mase_fail(err, MASE_EVALUE, "row %" PRId64 ": %s, by which rows are split, is %g",
                           i, by, value[i]);
    }
    qsort(value, (size_t)r->rows, sizeof *value, compare_numbers);
    int64_t count = 0;
    for (int64_t i = 0; i < r->rows && !st; i++)
        if (!count || value[i] != value[count - 1])
            value[count++] = value[i];
    for (int64_t i = 0; i < r->rows && !st; i++) {
        const double *at =
            bsearch(&r->group[i], value, (size_t)count, sizeof *value, compare_numbers);
        of[i] = (uint32_t)(at - value);
    }
    mase_xfree(value);
    *g = (struct mase_groups){ of, (int)count, r->group_names };
    return st;
}

static enum mase_status divide(struct mase_dataset *d, const struct mase_raw *r,
                               const struct mase_dataset_opts *opts, struct mase_err *err)
{
    struct mase_groups g;
    if (!mase_has_split_opts(opts) || r->training)
        return mase_split_parts(d, opts, r->training, r->validation, MASE_SPLIT_TRAIN, err);
    if (!r->grouped)
        return mase_split_by_shares(d, opts, 0, NULL, err);
    MASE_TRY(number_groups(&g, d, r, opts->split.by, err));
    return mase_split_by_shares(d, opts, 0, &g, err);
}

static const char *const *copy_names(struct mase_arena *a, const char *const *names, int n)
{
    const char **copy = mase_new_array(a, const char *, (size_t)n);
    for (int i = 0; i < n; i++)
        copy[i] = mase_arena_strdup(a, names[i]);
    return copy;
}

/* Copy names, which may belong to opts. */
static void own_names(struct mase_dataset *d, struct mase_raw *r)
{
    if (r->named && r->feature_names)
        r->feature_names = copy_names(&d->arena, r->feature_names, (int)r->features);
    if (r->class_names)
        r->class_names = copy_names(&d->arena, r->class_names, r->classes);
}

/* The options that read the same columns again. Arrays are found by their usual names unless others
 * were chosen. */
static struct mase_data_columns columns_read(struct mase_dataset *d, const struct mase_raw *r,
                                             const struct mase_dataset_opts *opts)
{
    struct mase_arena *a = &d->arena;
    struct mase_data_columns c = { 0 };
    if (r->named && !r->published) {
        const int inputs = (int)(r->features - r->targets);
        c = (struct mase_data_columns){ .features = r->feature_names, .feature_count = inputs };
        c.label_count = r->targets ? (int)r->targets : r->label_name && r->label_name[0];
        c.labels =
            r->targets ? r->feature_names + inputs : copy_names(a, &r->label_name, c.label_count);
    } else if (!r->named) {
        c.label_count = opts->columns.label_count;
        c.labels = copy_names(a, opts->columns.labels, c.label_count);
        c.feature_count = opts->columns.feature_count;
        c.features = copy_names(a, opts->columns.features, c.feature_count);
    }
    return c;
}

enum mase_status mase_raw_finish(struct mase_dataset *d, struct mase_raw *r,
                                 const struct mase_dataset_opts *opts, const char *path,
                                 struct mase_err *err)
{
    struct mase_dataset_opts fitted =
        mase_applicable_split(opts, r->training || r->published, r->validation > 0, r->grouped);
    if (opts->in_order) {
        fitted.split = (struct mase_data_split){ 0 };
        fitted.original_splits = true;
        r->training = r->rows;
        r->validation = 0;
        r->few = true;
    }
    opts = &fitted;
    MASE_TRY(mase_raw_check(r, path, err));
    own_names(d, r);
    mase_dataset_set_inputs(d, r, opts);
    struct ordered o = order_rows(r, opts);
    d->info.rows = r->rows;
    d->info.duplicates = r->duplicates;
    d->info.dropped = r->dropped;
    d->info.drop_missing = r->drop;
    d->info.columns = columns_read(d, r, opts);
    d->info.data.classes = r->classes;
    d->info.feature_names = r->feature_names;
    d->info.class_names =
        r->class_names ? r->class_names : mase_number_names(&d->arena, r->classes);
    d->info.data.targets = r->targets;
    d->info.target = r->target_shape;
    if (r->target == MASE_TARGET_NUMBERS)
        d->info.target_names = r->feature_names + (r->features - r->targets);
    if (r->target == MASE_TARGET_CLASS)
        d->label = ordered_labels(d, &o);
    if (r->targets)
        d->target = d->target_block = ordered_targets(&o);
    enum mase_status st = divide(d, r, opts, err);
    if (st && err)
        mase_place(err, (struct mase_loc){ .path = path, .off = -1 });
    if (!st)
        st = fill_tables(d, &o, opts, err);
    if (!st && r->target == MASE_TARGET_NUMBERS)
        st = scale_targets(d, opts, path, err);
    mase_xfree(o.row);
    return st;
}
