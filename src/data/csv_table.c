/*
 * csv_table.c - tables in text files.
 *
 * CSV: a header line names the columns, each differently. ARFF: attribute lines do, @data begins
 * the rows. A label is a class name where names are expected. In a table of the user's own, labels
 * are whole numbers from 0, which are the classes themselves however they are written (1, 1.0), or
 * names, numbered in alphabetical order; a mixture is a mistake.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/log.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/csv.h"
#include "data/dataset_parts.h"
#include "data/raw.h"

enum { CLASSES_MAX = 65536 };

struct column {
    const char *name; /* in the arena */
    struct mase_loc at;
};

struct header {
    struct column *column;
    int count, cap;
};

/* Columns of features and labels. */
struct layout {
    int *column;               // (features)
    int label, group, columns; /* group: the column to split by; -1: none */
};

static void add_column(struct header *h, struct mase_arena *a, const char *name, struct mase_loc at)
{
    h->column = mase_arena_grow(a, h->column, h->count, &h->cap, sizeof *h->column);
    h->column[h->count++] = (struct column){ name, at };
}

static void take_names(struct header *h, struct mase_arena *a, const struct mase_csv *c)
{
    for (int i = 0; i < c->count; i++)
        add_column(h, a, mase_arena_strndup(a, c->field[i].text, c->field[i].size),
                   mase_csv_at(c, i));
}

/* Check that names are different and not empty. pandas writes its index under an empty name. */
static enum mase_status check_names(const struct header *h, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_intern names = { .arena = &a };
    struct mase_map seen = { .arena = &a };
    enum mase_status st = MASE_OK;
    for (int i = 0; !st && i < h->count; i++) {
        const struct column *c = &h->column[i];
        const char *name = mase_intern(&names, c->name);
        const struct column *first = mase_map_get(&seen, name);
        if (!name[0] && i == 0 && h->count > 1)
            mase_info("%s: column 1 has no name and is left out, as the index that pandas writes",
                      c->at.path);
        else if (!name[0])
            st = mase_fail_at(err, MASE_EVALUE, c->at,
                              "column %d has no name; only the first may have none, as the index "
                              "that pandas writes",
                              i + 1);
        else if (first)
            st = mase_fail_at(err, MASE_EVALUE, c->at, "column %d is called '%s', as column %d is",
                              i + 1, name, (int)(first - h->column) + 1);
        mase_map_put(&seen, name, (void *)(uintptr_t)c);
    }
    mase_arena_release(&a);
    return st;
}

/* ---- ARFF ---- */

static bool keyword(const struct mase_csv *c, const char *word)
{
    const struct mase_csv_field *f = &c->field[0];
    const size_t n = strlen(word);
    return f->size >= n && mase_strncaseeq(f->text, word, n) &&
           (f->size == n || f->text[n] == ' ' || f->text[n] == '\t');
}

/* The name in "@attribute NAME TYPE", which may be quoted. */
static const char *attribute_name(struct mase_arena *a, const struct mase_csv_field *f)
{
    const char *p = f->text + strlen("@attribute"), *end = f->text + f->size;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    const char quote = p < end && (*p == '\'' || *p == '"') ? *p++ : 0;
    const char *start = p;
    while (p < end && (quote ? *p != quote : *p != ' ' && *p != '\t'))
        p++;
    return mase_arena_strndup(a, start, (size_t)(p - start));
}

static enum mase_status read_attributes(struct header *h, struct mase_arena *a, struct mase_csv *c,
                                        struct mase_err *err)
{
    c->quotes = "";
    for (;;) {
        MASE_TRY(mase_csv_next(c, err));
        if (c->count == 0)
            return mase_fail_in(err, MASE_EPARSE, c->path, "the ARFF file has no @data");
        if (keyword(c, "@data") && h->count)
            break;
        if (keyword(c, "@relation"))
            continue;
        if (!keyword(c, "@attribute"))
            return mase_fail_at(err, MASE_EPARSE, mase_csv_at(c, 0),
                                h->count ? "expected @relation, @attribute or @data"
                                         : "expected @relation or @attribute");
        add_column(h, a, attribute_name(a, &c->field[0]), mase_csv_at(c, 0));
    }
    c->separator = ',';
    c->quotes = "\"'";
    return MASE_OK;
}

static enum mase_status read_header(struct header *h, struct mase_arena *a, struct mase_csv *c,
                                    struct mase_err *err)
{
    const struct mase_csv start = *c;
    c->comment = '%'; /* ARFF files may begin with comments, CSV headers may not */
    MASE_TRY(mase_csv_next(c, err));
    if (c->count == 0)
        return mase_fail_in(err, MASE_EPARSE, c->path, "the file is empty");
    if (c->field[0].size && c->field[0].text[0] == '@') {
        c->at = start.at;
        c->line = start.line;
        return read_attributes(h, a, c, err);
    }
    c->comment = 0;
    take_names(h, a, c);
    return MASE_OK;
}

/* ---- columns ---- */

static enum mase_status lay_out(struct layout *l, struct mase_raw *r, struct mase_arena *a,
                                const struct header *h, const struct mase_columns *c,
                                struct mase_err *err)
{
    const char **names = mase_new_array(a, const char *, (size_t)h->count);
    for (int i = 0; i < h->count; i++)
        names[i] = h->column[i].name;
    const struct mase_header found = { names, h->count, h->column[0].at };
    l->columns = h->count;
    struct mase_label_columns labels;
    MASE_TRY(mase_find_labels(&labels, a, &found, c, err));
    MASE_TRY(mase_find_group(&l->group, r, &found, c, err));
    MASE_TRY(check_names(h, err));
    l->label = c->target == MASE_TARGET_CLASS ? labels.column[0] : -1;
    MASE_TRY(mase_find_features(&l->column, r, a, &found, c, &labels, l->group, err));
    for (int64_t i = 0; i < r->features; i++)
        if (mase_starts_with(r->feature_names[i], "Unnamed: 0"))
            mase_warn("%s: the feature '%s' looks like an index that pandas has written; "
                      "--features '!%s' leaves it out",
                      h->column[0].at.path, r->feature_names[i], r->feature_names[i]);
    return MASE_OK;
}

/* ---- labels ---- */

/* Texts, numbered by first appearance. */
struct numbering {
    struct mase_intern texts;
    struct mase_map numbers; /* text to number + 1 */
    const char **text;
    int count, cap;
};

/* -1: a new text. text: must live as long as the numbering. */
static int number_of(struct numbering *n, const struct mase_csv_field *f, const char **text)
{
    *text = mase_intern_n(&n->texts, f->text, f->size);
    return (int)(intptr_t)mase_map_get(&n->numbers, *text) - 1;
}

static int add_text(struct numbering *n, const char *text)
{
    n->text = mase_arena_grow(n->texts.arena, n->text, n->count, &n->cap, sizeof *n->text);
    n->text[n->count++] = text;
    mase_map_put(&n->numbers, text,
                 (void *)(intptr_t)n->count); /* NOLINT(performance-no-int-to-ptr) */
    return n->count - 1;
}

/* Classes found in the labels, sorted at the end. */
struct classes {
    struct numbering seen;
    int32_t *value; /* by class, if numeric */
    int cap;
    bool numeric;   /* kind of the first label, which all others must share */
    int first_line; /* line of the first label */
};

static enum mase_status expected_class(int32_t *label, const struct mase_csv *c, int field,
                                       const struct mase_columns *wanted, struct mase_err *err)
{
    const struct mase_csv_field *f = &c->field[field];
    for (int i = 0; i < wanted->class_count; i++)
        if (strlen(wanted->classes[i]) == f->size &&
            mase_strncaseeq(wanted->classes[i], f->text, f->size)) {
            *label = i;
            return MASE_OK;
        }
    struct mase_str all = { 0 };
    for (int i = 0; i < wanted->class_count; i++)
        mase_str_printf(&all, " %s", wanted->classes[i]);
    const enum mase_status st =
        mase_fail_at(err, MASE_EVALUE, mase_csv_at(c, field), "label '%.*s' is none of%s",
                     (int)(f->size < 40 ? f->size : 40), f->text, mase_str_text(&all));
    mase_str_release(&all);
    return st;
}

/* Add a new class of the same kind as the others. */
static enum mase_status add_class(struct classes *k, const char *text, const struct mase_csv *c,
                                  int field, struct mase_err *err)
{
    const struct mase_loc at = mase_csv_at(c, field);
    double v = 0;
    const bool numeric = mase_csv_decimal(&c->field[field], &v);
    const int count = k->seen.count;
    if (!count) {
        k->numeric = numeric;
        k->first_line = c->line;
    }
    if (numeric != k->numeric)
        return mase_fail_at(err, MASE_EVALUE, at,
                            "label '%.40s' is a %s, but that of line %d is the %s '%.40s'; classes "
                            "are whole numbers from 0, or names",
                            text, numeric ? "number" : "name", k->first_line,
                            numeric ? "name" : "number", k->seen.text[0]);
    if (numeric && !(v >= 0 && v < CLASSES_MAX && v == floor(v)))
        return mase_fail_at(err, MASE_EVALUE, at,
                            "label %.40s is no class; classes are whole numbers from 0 to %d, or "
                            "names; --task reg takes numbers of any kind",
                            text, CLASSES_MAX - 1);
    if (count == CLASSES_MAX)
        return mase_fail_at(err, MASE_ELIMIT, at, "more than %d different labels", CLASSES_MAX);
    k->value = mase_arena_grow(k->seen.texts.arena, k->value, count, &k->cap, sizeof *k->value);
    k->value[add_text(&k->seen, text)] = numeric ? (int32_t)v : 0;
    return MASE_OK;
}

static enum mase_status any_class(int32_t *label, struct classes *k, const struct mase_csv *c,
                                  int field, struct mase_err *err)
{
    const char *text;
    *label = number_of(&k->seen, &c->field[field], &text);
    if (*label >= 0)
        return MASE_OK;
    *label = k->seen.count;
    return add_class(k, text, c, field, err);
}

/* Replace numbers by order of appearance by sorted ones. */
static void number_classes(struct mase_raw *r, const struct classes *k, struct mase_arena *a)
{
    const int count = k->seen.count;
    int32_t *final = mase_new_array(a, int32_t, (size_t)count);
    const char **sorted = mase_new_array(a, const char *, (size_t)count);
    memcpy(sorted, k->seen.text, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, mase_compare_names);
    for (int i = 0; i < count; i++) {
        const char **at =
            bsearch(&k->seen.text[i], sorted, (size_t)count, sizeof *sorted, mase_compare_names);
        final[i] = k->numeric ? k->value[i] : (int32_t)(at - sorted);
    }
    for (int64_t i = 0; i < r->rows; i++)
        r->label[i] = final[r->label[i]];
    if (!k->numeric) {
        r->class_names = sorted;
        r->classes = count;
    }
}

/* The number of a value in the column to split by. */
static double group_of(struct numbering *groups, const struct mase_csv_field *f)
{
    const char *text;
    const int number = number_of(groups, f, &text);
    return number >= 0 ? number : add_text(groups, text);
}

/* ---- rows ---- */

/* State while rows are read. */
struct reading {
    struct layout layout;
    struct header header;
    struct classes classes;
    struct numbering groups;
};

/* The first field with a missing value; -1: none. */
static int find_missing(const struct mase_raw *r, const struct mase_csv *c, const struct layout *l)
{
    for (int64_t i = 0; i < r->features; i++)
        if (mase_csv_is_missing(&c->field[l->column[i]]))
            return l->column[i];
    if (l->group >= 0 && mase_csv_is_missing(&c->field[l->group]))
        return l->group;
    return l->label >= 0 && mase_csv_is_missing(&c->field[l->label]) ? l->label : -1;
}

static enum mase_status fail_missing(const struct mase_csv *c, int field, const struct layout *l,
                                     const struct header *h, struct mase_err *err)
{
    const struct mase_csv_field *f = &c->field[field];
    const struct mase_loc at = mase_csv_at(c, field);
    if (field != l->label)
        return mase_fail_at(err, MASE_EVALUE, at,
                            "the value of %s is missing; --drop-nan leaves such rows out",
                            h->column[field].name);
    return mase_fail_at(err, MASE_EVALUE, at,
                        "the label is missing%s%.*s%s; --drop-nan leaves such rows out",
                        f->size ? " ('" : "", (int)f->size, f->text, f->size ? "')" : "");
}

/* Fail for a column that is not numeric, such as names or dates; suggest leaving it out. */
static enum mase_status fail_number(const struct mase_raw *r, int64_t feature, struct mase_err *err)
{
    char why[sizeof err->msg];
    if (!err || feature >= r->features - r->targets || !strstr(err->msg, "not a number"))
        return err ? err->status : MASE_EVALUE;
    mase_snprintf(why, sizeof why, "%s", err->msg);
    return mase_fail_at(err, err->status, err->loc,
                        "%.800s; --features '!%.100s' leaves the column out", why,
                        r->feature_names[feature]);
}

static enum mase_status read_row(struct mase_raw *r, struct reading *in, const struct mase_csv *c,
                                 const struct mase_columns *wanted, struct mase_err *err)
{
    double *row;
    int32_t *label;
    const struct layout *l = &in->layout;
    if (c->count != l->columns)
        return mase_fail_at(err, MASE_EPARSE, mase_csv_at(c, 0), "%d fields, expected %d", c->count,
                            l->columns);
    const int missing = wanted->classes ? -1 : find_missing(r, c, l);
    if (missing >= 0) {
        r->dropped++;
        return r->drop ? MASE_OK : fail_missing(c, missing, l, &in->header, err);
    }
    MASE_TRY(mase_raw_add(r, &row, &label, c->path, err));
    for (int64_t i = 0; i < r->features; i++)
        if (mase_csv_number(c, l->column[i], &row[i], r->feature_names[i], err))
            return fail_number(r, i, err);
    if (l->group >= 0)
        r->group[r->rows - 1] = group_of(&in->groups, &c->field[l->group]);
    *label = 0;
    if (l->label < 0)
        return MASE_OK;
    return wanted->classes ? expected_class(label, c, l->label, wanted, err)
                           : any_class(label, &in->classes, c, l->label, err);
}

static enum mase_status read_rows(struct mase_raw *r, struct mase_arena *a, struct mase_csv *c,
                                  const struct mase_columns *wanted, struct mase_err *err)
{
    const struct numbering none = { .texts.arena = a, .numbers.arena = a };
    struct reading in = { .classes.seen = none, .groups = none };
    MASE_TRY(read_header(&in.header, a, c, err));
    MASE_TRY(lay_out(&in.layout, r, a, &in.header, wanted, err));
    MASE_TRY(mase_csv_find_decimal(c, err));
    for (;;) {
        MASE_TRY(mase_csv_next(c, err));
        if (c->count == 0)
            break;
        MASE_TRY(read_row(r, &in, c, wanted, err));
    }
    r->group_names = in.groups.text;
    if (wanted->classes) {
        r->class_names = wanted->classes;
        r->classes = wanted->class_count;
    } else if (r->rows && in.layout.label >= 0) {
        number_classes(r, &in.classes, a);
    }
    return MASE_OK;
}

enum mase_status mase_csv_parse(struct mase_raw *r, struct mase_arena *a, const struct mase_file *f,
                                const struct mase_columns *c, struct mase_err *err)
{
    struct mase_csv csv = mase_csv_of(f);
    const enum mase_status st = read_rows(r, a, &csv, c, err);
    mase_csv_release(&csv);
    return st;
}

enum mase_status mase_csv_read(struct mase_raw *r, struct mase_arena *a, const char *path,
                               const struct mase_columns *c, struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    const enum mase_status st = mase_csv_parse(r, a, &f, c, err);
    mase_file_close(&f);
    return st;
}

enum mase_status mase_open_csv(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                               const char *file, struct mase_err *err)
{
    const char *path, *label;
    struct mase_columns c;
    struct mase_file f;
    struct mase_raw r = { .drop = opts->drop_missing, .target = opts->target };
    mase_split_name(&d->arena, file, &path, &label);
    MASE_TRY(mase_columns_from_opts(&c, &d->arena, opts, label, err));
    MASE_TRY(mase_file_open(&f, path, err));
    mase_source_of(d, &f);
    enum mase_status st = mase_gunzip(&f, &d->arena, err);
    if (!st)
        st = mase_csv_parse(&r, &d->arena, &f, &c, err);
    d->info.data.sample = mase_raw_shape_inputs(&r);
    mase_file_close(&f);
    if (!st)
        st = mase_raw_finish(d, &r, opts, path, err);
    mase_raw_release(&r);
    return st;
}
