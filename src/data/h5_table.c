/*
 * h5_table.c - tables in HDF5 files: jets, and the user's own.
 *
 * h5:FILE reads datasets X (N, ...) and y (N) at the root, or of other names that are usual
 * (columns.c); else the first compound table with a column of labels (h5:FILE:NAME or --label names
 * another), all of whose other columns are features unless some are chosen.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"
#include "data/h5_file.h"
#include "data/raw.h"

enum { ROWS_AT_ONCE = 16384, COLUMNS_MAX = 4096, FEATURES_MAX = 1 << 20 };

/* The table that is read, and the shape of a sample. */
struct table {
    struct mase_raw raw;
    struct mase_shape sample;
};

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
    int columns; /* features, then labels, then the group */
    int one_hot; /* number of one-hot label columns; 0: a single column */
    bool words;  /* labels are texts, which are read separately */
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
    if (r->grouped)
        r->group[at] = record[r->target == MASE_TARGET_CLASS && !in->words]; /* after the label */
    *label = 0;
    if (r->target != MASE_TARGET_CLASS || in->words)
        return MASE_OK;
    return in->one_hot ? one_hot_label(label, record, in->one_hot, path, at, err)
                       : mase_raw_label(r, record[0], path, "the label", at, err);
}

static enum mase_status read_records(struct mase_raw *r, const struct reading *in,
                                     struct mase_err *err)
{
    const int64_t rows = in->set->shape.dim[0];
    MASE_TRY(mase_raw_reserve(r, rows, in->set->most, in->set->path, err));
    double *buffer = mase_xcalloc((size_t)ROWS_AT_ONCE * (size_t)in->columns * sizeof *buffer + 1);
    enum mase_status st = MASE_OK;
    for (int64_t first = 0; !st && first < rows; first += ROWS_AT_ONCE) {
        const int64_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
        st = mase_h5_records(in->set, in->columns, buffer, first, n, err);
        for (int64_t i = 0; !st && i < n; i++)
            st = add_record(r, in, buffer + i * in->columns, err);
    }
    mase_xfree(buffer);
    return st;
}

static bool is_text(const struct mase_header *h, const struct mase_h5_column *column,
                    const char *name)
{
    for (int i = 0; i < h->count; i++)
        if (mase_streq(h->names[i], name))
            return column[i].text;
    return false;
}

/* Check that columns are numeric; r->single: all are float32. */
static enum mase_status check_features(struct mase_raw *r, const int *columns,
                                       const struct mase_h5_column *known,
                                       const struct mase_h5_set *s, struct mase_err *err)
{
    r->single = true;
    for (int64_t i = 0; i < r->features; i++) {
        const struct mase_h5_column *c = &known[columns[i]];
        r->single = r->single && c->single;
        if (!c->number)
            return mase_fail_in(err, MASE_EVALUE, s->path,
                                "column '%s' of table %s holds %s; --features '!%s' leaves it out",
                                r->feature_names[i], s->name,
                                c->text ? "texts, not numbers" : "no numbers", r->feature_names[i]);
    }
    return MASE_OK;
}

/* Find the columns of features, labels and group; one-hot labels have no single column. */
static enum mase_status find_columns(const char **group_name, bool *words, struct mase_raw *r,
                                     struct mase_arena *a, const struct mase_h5_set *s,
                                     const struct mase_columns *c, bool one_hot,
                                     struct mase_err *err)
{
    struct mase_header h = { .at = { .path = s->path, .off = -1 } };
    struct mase_label_columns labels = { 0 };
    int group, *columns;
    const struct mase_h5_column *known;
    MASE_TRY(mase_h5_columns(&known, &h.names, &h.count, s, a, err));
    if (!one_hot)
        MASE_TRY(mase_find_labels(&labels, a, &h, c, err));
    MASE_TRY(mase_find_group(&group, r, &h, c, err));
    *group_name = group >= 0 ? h.names[group] : NULL;
    MASE_TRY(mase_find_features(&columns, r, a, &h, c, &labels, group, err));
    *words = !one_hot && r->target == MASE_TARGET_CLASS && is_text(&h, known, r->label_name);
    MASE_TRY(check_features(r, columns, known, s, err));
    for (int64_t i = 0; group >= 0 && i < r->features; i++)
        if (columns[i] == group) /* select a column only once */
            return mase_fail_in(err, MASE_EVALUE, s->path,
                                "column '%s' of table %s cannot be a feature and split the rows",
                                *group_name, s->name);
    if (r->features <= COLUMNS_MAX)
        return MASE_OK;
    return mase_fail_in(err, MASE_ELIMIT, s->path,
                        "table %s has %" PRId64 " feature columns, expected 1 to %d", s->name,
                        r->features, COLUMNS_MAX);
}

/* Read the labels of all rows, which are texts. */
static enum mase_status read_words(struct mase_raw *r, struct mase_arena *a,
                                   const struct mase_h5_set *s, const struct mase_columns *c,
                                   struct mase_err *err)
{
    struct mase_text_labels texts = { 0 };
    const char *const *words;
    MASE_TRY(mase_h5_column_texts(&words, s, r->label_name, a, err));
    mase_text_labels_add(&texts, a, words, r->rows);
    return mase_text_labels_number(&texts, r, a, c, s->path, err);
}

static enum mase_status read_table(struct mase_raw *r, struct mase_arena *a,
                                   const struct mase_h5_set *s, const struct mase_columns *c,
                                   const char *const *one_hot, struct mase_err *err)
{
    const char *group;
    bool words;
    MASE_TRY(find_columns(&group, &words, r, a, s, c, one_hot != NULL, err));
    const int features = (int)r->features;
    const int labels = one_hot ? c->class_count : r->target == MASE_TARGET_CLASS && !words;
    const char **all = mase_new_array(a, const char *, (size_t)(features + labels) + 1);
    for (int i = 0; i < features + labels; i++)
        all[i] = i < features ? r->feature_names[i]
                 : one_hot    ? one_hot[i - features]
                              : r->label_name;
    all[features + labels] = group;
    const struct reading in = { s, features + labels + r->grouped, one_hot ? labels : 0, words };
    MASE_TRY(mase_h5_select(s, all, in.columns, err));
    r->class_names = c->classes;
    r->classes = c->class_count;
    MASE_TRY(read_records(r, &in, err));
    return words ? read_words(r, a, s, c, err) : MASE_OK;
}

enum mase_status mase_h5_read_table(struct mase_raw *r, struct mase_arena *a, const char *path,
                                    const char *dataset, const struct mase_columns *c,
                                    const char *const *one_hot, struct mase_err *err)
{
    struct mase_h5 f = { 0 };
    struct mase_h5_set s = { 0 };
    MASE_TRY(mase_h5_open(&f, path, err));
    enum mase_status st = mase_h5_set_open(&s, &f, dataset, err);
    if (!st)
        st = read_table(r, a, &s, c, one_hot, err);
    mase_h5_set_close(&s);
    mase_h5_close(&f);
    r->class_names = c->classes;
    return st;
}

/* ---- X and y ---- */

/* The arrays of a split: inputs, and labels y if present. */
struct part {
    struct mase_h5_set x[1 + MASE_MORE_INPUTS], y;
    int inputs;
    bool labelled;
};

/* Check that arrays match each other, and those of earlier splits. */
static enum mase_status check_part(struct table *t, struct mase_arena *a, const struct part *p,
                                   struct mase_err *err)
{
    struct mase_raw *r = &t->raw;
    const struct mase_h5_set *x = p->x, *y = p->labelled ? &p->y : NULL;
    for (int i = 0; i <= p->inputs; i++) {
        const struct mase_h5_set *s = i < p->inputs ? &x[i] : y;
        if (s && s->text && (s != y || r->target != MASE_TARGET_CLASS))
            return mase_fail_in(err, MASE_EVALUE, x->path, "dataset %s holds texts, not numbers",
                                s->name);
    }
    const bool first = !r->features, records = x->compound || (y && y->compound);
    static const struct mase_shape none = { 0 };
    MASE_TRY(mase_raw_set_shapes(r, &t->sample, records ? &none : &x->shape, y ? &y->shape : NULL,
                                 (const char *const[]){ x->name, y ? y->name : NULL }, x->path,
                                 err));
    r->single = x->single && (first || r->single);
    r->integers[0] = x->integer;
    for (int i = 1; i < p->inputs; i++) {
        r->integers[i] = x[i].integer;
        r->single = r->single && (x[i].single || x[i].integer);
        MASE_TRY(mase_raw_add_input(r, i, x[i].compound ? &none : &x[i].shape, x->shape.dim[0],
                                    x[i].name, x->path, err));
    }
    if (r->features > FEATURES_MAX)
        return mase_fail_in(err, MASE_ELIMIT, x->path,
                            "samples of %" PRId64 " features, at most %d", r->features,
                            FEATURES_MAX);
    if (first)
        mase_raw_name_features(r, a);
    return MASE_OK;
}

/* Add n rows; labels: NULL without labels. */
static enum mase_status add_rows(struct mase_raw *r, const double *x, const double *y,
                                 int64_t first, int64_t n, const char *path, const char *labels,
                                 struct mase_err *err)
{
    const int64_t inputs = r->features - r->targets;
    for (int64_t i = 0; i < n; i++) {
        double *row;
        int32_t *label;
        MASE_TRY(mase_raw_add(r, &row, &label, path, err));
        *label = 0;
        memcpy(row, x + i * inputs, (size_t)inputs * sizeof *row);
        if (r->targets)
            memcpy(row + inputs, y + i * r->targets, (size_t)r->targets * sizeof *row);
        if (r->target != MASE_TARGET_CLASS || !labels)
            continue;
        MASE_TRY(r->classes ? mase_raw_one_hot(r, y + i * r->classes, path, labels, first + i, err)
                            : mase_raw_label(r, y[i], path, labels, first + i, err));
    }
    return MASE_OK;
}

/* Read n rows of all inputs from row `first` on, as (n, features); room: buffer for one input. */
static enum mase_status read_inputs(double *x, double *room, const struct part *p, int64_t inputs,
                                    int64_t first, int64_t n, struct mase_err *err)
{
    if (p->inputs == 1)
        return mase_h5_rows(p->x, x, first, n, err);
    for (int k = 0; k < p->inputs; k++) {
        const int64_t each = mase_shape_count(&p->x[k].shape) / p->x[k].shape.dim[0];
        MASE_TRY(mase_h5_rows(&p->x[k], room, first, n, err));
        for (int64_t i = 0; i < n; i++)
            memcpy(x + i * inputs, room + i * each, (size_t)each * sizeof *x);
        x += each;
    }
    return MASE_OK;
}

/* y: NULL if there are no labels, or they are texts. */
static enum mase_status read_part(struct mase_raw *r, const struct part *p,
                                  const struct mase_h5_set *y, struct mase_err *err)
{
    const struct mase_h5_set *x = p->x;
    enum mase_status st = MASE_OK;
    const int64_t rows = x->shape.dim[0], step = FEATURES_MAX / r->features;
    MASE_TRY(mase_raw_reserve(r, r->rows + rows, x->most, x->path, err));
    const int64_t inputs = r->features - r->targets;
    const int64_t most = r->features + (r->classes ? r->classes : 1) + inputs;
    double *buffer = mase_xcalloc((size_t)(step * most) * sizeof *buffer);
    double *room = buffer + step * inputs, *labels = room + step * inputs;
    for (int64_t first = 0; !st && first < rows; first += step) {
        const int64_t n = rows - first < step ? rows - first : step;
        st = read_inputs(buffer, room, p, inputs, first, n, err);
        if (!st && y)
            st = mase_h5_rows(y, labels, first, n, err);
        if (!st)
            st = add_rows(r, buffer, labels, first, n, x->path, y ? y->name : NULL, err);
    }
    mase_xfree(buffer);
    return st;
}

static enum mase_status read_labelled(struct table *t, struct mase_arena *a, const struct part *p,
                                      struct mase_text_labels *texts, struct mase_err *err)
{
    const bool text = p->labelled && p->y.text && t->raw.target == MASE_TARGET_CLASS;
    const char *const *labels;
    MASE_TRY(read_part(&t->raw, p, p->labelled && !text ? &p->y : NULL, err));
    if (text) {
        MASE_TRY(mase_h5_texts(&labels, &p->y, a, err));
        mase_text_labels_add(texts, a, labels, p->y.shape.dim[0]);
    }
    return mase_text_labels_check(texts, &t->raw, text, p->y.name, p->x->path, err);
}

static enum mase_status add_part(struct table *t, struct mase_arena *a, struct mase_h5 *f,
                                 const struct mase_array_names *n, const struct mase_columns *c,
                                 int number, struct mase_text_labels *texts, struct mase_err *err)
{
    struct part p = { .inputs = mase_array_inputs(c, n), .labelled = n->y[number] };
    enum mase_status st = MASE_OK;
    if (p.inputs > 1 + MASE_MORE_INPUTS)
        return mase_fail_in(err, MASE_ELIMIT, f->path, "--features names %d arrays, at most %d",
                            p.inputs, 1 + MASE_MORE_INPUTS);
    t->raw.any_rank = n->guessed || p.inputs > 1;
    for (int i = 0; i < p.inputs && !st; i++)
        st = mase_h5_set_open(&p.x[i], f, mase_array_of_part(a, n, c, number, i), err);
    if (!st && p.labelled)
        st = mase_h5_set_open(&p.y, f, n->y[number], err);
    if (!st)
        st = check_part(t, a, &p, err);
    if (!st)
        st = read_labelled(t, a, &p, texts, err);
    for (int i = 0; i < p.inputs; i++)
        mase_h5_set_close(&p.x[i]);
    mase_h5_set_close(&p.y);
    return st;
}

/* Offer the remaining arrays of the file as further inputs. */
static void offer_all(struct mase_raw *r, struct mase_arena *a, struct mase_h5 *f,
                      const struct mase_array_names *n)
{
    int count;
    const char *const *names = mase_h5_names(f, a, &count);
    for (int i = 0; i < count; i++) {
        struct mase_h5_set s;
        struct mase_err err;
        if (mase_h5_set_open(&s, f, names[i], &err))
            continue;
        if (!s.compound)
            mase_raw_add_other(r, a, n, names[i], &s.shape, r->rows);
        mase_h5_set_close(&s);
    }
}

static enum mase_status open_arrays(struct table *t, struct mase_arena *a, struct mase_h5 *f,
                                    const struct mase_array_names *n, const struct mase_columns *c,
                                    struct mase_err *err)
{
    struct mase_raw *r = &t->raw;
    struct mase_text_labels texts = { 0 };
    MASE_TRY(add_part(t, a, f, n, c, 0, &texts, err));
    mase_raw_set_array_name(r, n);
    offer_all(r, a, f, n);
    const int64_t training = r->rows;
    if (n->x[1])
        MASE_TRY(add_part(t, a, f, n, c, 1, &texts, err));
    r->validation = r->rows - training;
    if (n->x[2])
        MASE_TRY(add_part(t, a, f, n, c, 2, &texts, err));
    r->training = n->x[1] || n->x[2] ? training : 0;
    return texts.text ? mase_text_labels_number(&texts, r, a, c, f->path, err) : MASE_OK;
}

/* The first table with a label column; NULL: none. */
static const char *find_table(struct mase_h5 *f, struct mase_arena *a,
                              const struct mase_data_columns *c, enum mase_target_kind target)
{
    static const char *const usual[] = { "label", "class", "target" };
    const char *name = c->label_count ? mase_h5_find_table(f, a, c->labels[0]) : NULL;
    if (!c->label_count || c->usual_label)
        for (int i = 0; i < 3 && !name; i++)
            name = mase_h5_find_table(f, a, usual[i]);
    const bool named = c->feature_count && !c->except;
    if (!name && target == MASE_TARGET_NONE) /* labels are optional */
        name = mase_h5_find_table(f, a, named ? c->features[0] : "");
    return name;
}

static enum mase_status open_records(struct table *t, struct mase_arena *a, struct mase_h5 *f,
                                     const struct mase_columns *c, struct mase_err *err)
{
    const char *name = find_table(f, a, &c->chosen, c->target);
    if (!name)
        return mase_fail_in(err, MASE_EVALUE, f->path,
                            "neither datasets X and y nor a table with a column '%s'",
                            c->chosen.label_count ? c->chosen.labels[0] : "label");
    struct mase_h5_set s = { 0 };
    enum mase_status st = mase_h5_set_open(&s, f, name, err);
    if (!st)
        st = read_table(&t->raw, a, &s, c, NULL, err);
    mase_h5_set_close(&s);
    t->sample = mase_raw_shape_inputs(&t->raw);
    return st;
}

static bool has_set(void *file, const char *name)
{
    return mase_h5_has(file, name);
}

/* Names of the arrays at the root. */
static const char **list_arrays(int *count, struct mase_arena *a, struct mase_h5 *f)
{
    int all;
    const char *const *name = mase_h5_names(f, a, &all);
    const char **list = mase_new_array(a, const char *, (size_t)all + 1);
    *count = 0;
    for (int i = 0; i < all; i++) {
        struct mase_h5_set s;
        struct mase_err err;
        if (mase_h5_set_open(&s, f, name[i], &err))
            continue;
        if (!s.compound)
            list[(*count)++] = name[i];
        mase_h5_set_close(&s);
    }
    return list;
}

static struct mase_array_names choose_arrays(struct mase_arena *a, const struct mase_columns *c,
                                             struct mase_h5 *f)
{
    int count;
    struct mase_array_names n = mase_find_arrays(a, c, has_set, f);
    const bool found = mase_h5_has(f, n.x[0]);
    if (!found && find_table(f, a, &c->chosen, c->target))
        return n;
    const char **list = list_arrays(&count, a, f);
    if (!found)
        (void)mase_guess_arrays(&n, c, list, count);
    mase_log_arrays(&n, list, count, f->path);
    return n;
}

/* Read arrays if there are feature arrays, else a table. */
static enum mase_status read_own(struct table *t, struct mase_arena *a, const char *path,
                                 const struct mase_columns *c, struct mase_err *err)
{
    struct mase_h5 f = { 0 };
    MASE_TRY(mase_h5_open(&f, path, err));
    const struct mase_array_names n = choose_arrays(a, c, &f);
    const bool arrays = mase_h5_has(&f, n.x[0]);
    enum mase_status st = arrays && c->group && !c->group_inherited
                              ? mase_fail_split_by_column(path, c->group, err)
                              : MASE_OK;
    if (!st)
        st = arrays ? open_arrays(t, a, &f, &n, c, err) : open_records(t, a, &f, c, err);
    mase_h5_close(&f);
    return st;
}

enum mase_status mase_open_h5(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                              const char *file, struct mase_err *err)
{
    const char *path, *label;
    struct mase_columns c;
    struct table t = { .raw = { .drop = opts->drop_missing, .target = opts->target } };
    mase_split_name(&d->arena, file, &path, &label);
    MASE_TRY(mase_columns_from_opts(&c, &d->arena, opts, label, err));
    enum mase_status st = read_own(&t, &d->arena, path, &c, err);
    d->info.data.sample = t.sample;
    if (!st && !t.raw.named) {
        mase_raw_log_one_hot(&t.raw, path);
        mase_warn_channels_last(&t.sample, path);
    }
    if (!st)
        st = mase_source(d, path, err);
    if (!st)
        st = mase_raw_finish(d, &t.raw, opts, path, err);
    mase_raw_release(&t.raw);
    return st;
}
