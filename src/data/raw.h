/*
 * raw.h - a table as it was read, before it is split and scaled; the files it is read from.
 */
#ifndef MASE_DATA_RAW_H
#define MASE_DATA_RAW_H

#include <mase/dataset.h>
#include <mase/file.h>

/* An array beside those that are read. */
enum { MASE_RAW_OTHERS = 16 };
struct mase_raw_other {
    char name[64];
    struct mase_shape sample;
};

struct mase_raw {
    double *x;      // (rows, features)
    int32_t *label; // (rows)
    int64_t rows, features, cap;
    int classes;
    enum mase_target_kind target; /* what is read of a row beside its features */
    int64_t targets;              /* of numbers and maps: the last of the features are these */
    struct mase_shape target_shape;
    bool drop;              /* a row with a missing value is left out: a NaN, or a label of -1 */
    int64_t dropped;        /* so many were */
    bool named;             /* features and label are columns with names */
    const char *label_name; /* or NULL */
    bool grouped;           /* a column says which rows belong together: */
    double *group;          // (rows), numbers, or positions in
    const char *const *group_names;   /* NULL: they are numbers */
    const char *const *feature_names; /* (features); in the dataset's arena, or static */
    const char *const *class_names;   /* (classes) or NULL: 0, 1, ... */
    int64_t duplicates;
    bool single;        /* the numbers were 32-bit floats */
    int64_t training;   /* rows that train come first; 0: not yet split */
    int64_t validation; /* those that validate follow; 0: not said. The rest tests */
    struct mase_shape more[MASE_MORE_INPUTS]; /* of the inputs behind the first */
    int more_count;
    bool integers[1 + MASE_MORE_INPUTS]; /* of arrays: they hold integers or truth values */
    char array[64];                      /* the one that is the input; "": columns are */
    bool guessed;                        /* since no other name is usual */
    bool any_rank;                       /* a sample may be a single number, [N] */
    struct mase_raw_other other[MASE_RAW_OTHERS];
    int other_count;
    bool few;       /* any number of rows will do */
    bool published; /* jsc: scaled as it was published unless something else is asked for; what
                     * was before scaling is kept */
};

void mase_raw_release(struct mase_raw *r);

/* Room for so many rows at once, if they take no more than `most` bytes. */
enum mase_status mase_raw_reserve(struct mase_raw *r, int64_t rows, uint64_t most, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* Room for one more row, which is then row `rows - 1`. Too many rows: MASE_ELIMIT. */
enum mase_status mase_raw_add(struct mase_raw *r, double **row, int32_t **label, const char *path,
                              struct mase_err *err) MASE_MUST_CHECK;

/* Keep the first of rows that are equal in every feature and the label. */
void mase_raw_drop_duplicates(struct mase_raw *r);

/* Labels given as numbers become classes 0..K-1, K one more than the largest. Says which row (from
 * 0) is no such number. */
enum mase_status mase_raw_check(struct mase_raw *r, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The label of the last row of r, which came as a number, in row `row` of an array or column of
 * this name. One that is missing is -1 if such rows are dropped. */
enum mase_status mase_raw_label(struct mase_raw *r, double value, const char *path,
                                const char *array, int64_t row,
                                struct mase_err *err) MASE_MUST_CHECK;

/* The same where it came as a row of columns, one for each class, all 0 but one. */
enum mase_status mase_raw_one_hot(struct mase_raw *r, const double *value, const char *path,
                                  const char *array, int64_t row,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Say that labels came so, if they did. */
void mase_raw_log_one_hot(const struct mase_raw *r, const char *path);

/* Samples that look like pictures with their channels behind: PyTorch has them first. */
void mase_warn_channels_last(const struct mase_shape *sample, const char *path);

/* The table of d: training rows first, then the test rows; split as jsc is (a permutation by
 * NumPy's RandomState(42), a fifth to test) unless the file had splits of its own; scaled as opts
 * say. Fills rows, splits, names, scaling. */
enum mase_status mase_raw_finish(struct mase_dataset *d, struct mase_raw *r,
                                 const struct mase_dataset_opts *opts, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- readers ---- */

/* Which columns of a file are wanted, and what classes the label's may have. */
struct mase_columns {
    struct mase_data_columns chosen;
    const char *group;          /* the column to split by; NULL: none */
    bool group_inherited;       /* it need not be there */
    const char *const *classes; /* NULL: numbers, or any names */
    int class_count;
    enum mase_target_kind target; /* what the labels are */
};

/* What opts choose, and the label that stands behind the file's name (NULL: none does). Classes
 * have one label. */
enum mase_status mase_columns_from_opts(struct mase_columns *c, struct mase_arena *a,
                                        const struct mase_dataset_opts *opts, const char *label,
                                        struct mase_err *err) MASE_MUST_CHECK;

/* The columns that a file has. */
struct mase_header {
    const char *const *names; /* (count) */
    int count;
    struct mase_loc at; /* of a line that names them, or the file */
};
/* Columns of labels: one of classes, any of numbers, perhaps none where nobody asks for them. */
struct mase_label_columns {
    int *column; // (count), in the arena
    int count;
};
enum mase_status mase_find_labels(struct mase_label_columns *l, struct mase_arena *a,
                                  const struct mase_header *h, const struct mase_columns *c,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Where the column to split by is; -1: there need be none. */
enum mase_status mase_find_group(int *column, struct mase_raw *r, const struct mase_header *h,
                                 const struct mase_columns *c,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Which columns are the features of r, in a, behind them the labels if these are numbers; names and
 * numbers go to r. The group's is one only if it is named. */
enum mase_status mase_find_features(int **columns, struct mase_raw *r, struct mase_arena *a,
                                    const struct mase_header *h, const struct mase_columns *c,
                                    const struct mase_label_columns *l, int group,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* Names of arrays, one for each part of the data. Those of validation and test may be NULL, and
 * where nobody asks for labels those of y. */
struct mase_array_names {
    const char *x[3], *y[3]; /* train, validation, test */
    const char *stem;        /* x without its part: "x" of "x_train" */
    bool guessed;            /* x has no usual name */
    bool before;             /* the part stands before the name: train_x */
    bool chosen;             /* the features are those that were chosen */
};
typedef bool mase_has_fn(void *file, const char *name);
/* Those that the file has, of what people call them: X and y, x_train and y_test, data and target.
 * If it has none, the names that are missed: X and y, or those that are chosen. */
struct mase_array_names mase_find_arrays(struct mase_arena *a, const struct mase_columns *c,
                                         mase_has_fn *has, void *file);
/* Where it has none of them: labels by a usual name and, if nobody names features, the first other
 * array of `all`. False: there are no such. */
bool mase_guess_arrays(struct mase_array_names *n, const struct mase_columns *c,
                       const char *const *all, int count);
/* Say which of the file's arrays train and test where their names do not, and which look as if they
 * were samples or labels, too, but are not read. */
void mase_log_arrays(const struct mase_array_names *n, const char *const *all, int count,
                     const char *path);
/* Arrays have no columns to split by. */
enum mase_status mase_fail_split_by_column(const char *path, const char *column,
                                           struct mase_err *err);
/* "x0", "x1", ... for the features of arrays, and "y", or "y0", "y1", ... for the targets behind
 * them. Owned by a. */
void mase_raw_name_features(struct mase_raw *r, struct mase_arena *a);
/* Do arrays of these shapes belong together as samples and what target wants of them? y: NULL,
 * there is none. Then the shape of a sample and how many features and targets there are, which
 * further arrays must have, too, go to sample and r. */
enum mase_status mase_raw_set_shapes(struct mase_raw *r, struct mase_shape *sample,
                                     const struct mase_shape *x, const struct mase_shape *y,
                                     const char *const names[2], const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- labels that are texts (text_labels.c) ---- */

struct mase_text_labels {
    const char *const *text; // (count), in the order of the rows; NULL: labels are numbers
    int64_t count;
};
void mase_text_labels_add(struct mase_text_labels *t, struct mase_arena *a, const char *const *text,
                          int64_t n);
/* All rows that r has so far, or none, must have them; these: the last array does. */
enum mase_status mase_text_labels_check(const struct mase_text_labels *t, const struct mase_raw *r,
                                        bool these, const char *array, const char *path,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Labels and names of the classes of r, in a. */
enum mase_status mase_text_labels_number(const struct mase_text_labels *t, struct mase_raw *r,
                                         struct mase_arena *a, const struct mase_columns *c,
                                         const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* ---- several inputs (several_inputs.c) ---- */

/* How many arrays the inputs of a sample are, and what input number `input` of a part is called. */
int mase_array_inputs(const struct mase_columns *c, const struct mase_array_names *n);
const char *mase_array_of_part(struct mase_arena *a, const struct mase_array_names *n,
                               const struct mase_columns *c, int part, int input);
/* A further input, counted from 1, whose features follow those of r. */
enum mase_status mase_raw_add_input(struct mase_raw *r, int input, const struct mase_shape *x,
                                    int64_t rows, const char *name, const char *path,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* An array that nobody has asked for, like those of training; kept if it has a row for each sample.
 */
void mase_raw_add_other(struct mase_raw *r, struct mase_arena *a, const struct mase_array_names *n,
                        const char *array, const struct mase_shape *x, int64_t rows);
/* What the array that is the input is called, without its part. */
void mase_raw_set_array_name(struct mase_raw *r, const struct mase_array_names *n);
/* Where semicolons in --features divide columns, r->more has the first of each input behind the
 * first: it becomes their shapes. Returns the shape of the first. */
struct mase_shape mase_raw_shape_inputs(struct mase_raw *r);
/* What r knows of them goes to d, which has the shape of the first. */
void mase_dataset_set_inputs(struct mase_dataset *d, struct mase_raw *r,
                             const struct mase_dataset_opts *opts);
/* Those of one sample, from the shape of all. */
struct mase_shape mase_sample_shape(const struct mase_shape *all);

/* A compound table of HDF5: the features by name, and either the classes as one-hot columns (given
 * one_hot names) or a label column. */
enum mase_status mase_h5_read_table(struct mase_raw *r, struct mase_arena *a, const char *path,
                                    const char *dataset, const struct mase_columns *c,
                                    const char *const *one_hot,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Comma-separated text with a header line, or ARFF if it begins as one. */
enum mase_status mase_csv_read(struct mase_raw *r, struct mase_arena *a, const char *path,
                               const struct mase_columns *c, struct mase_err *err) MASE_MUST_CHECK;

/* The same from memory; f->path is used in messages only. */
enum mase_status mase_csv_parse(struct mase_raw *r, struct mase_arena *a, const struct mase_file *f,
                                const struct mase_columns *c, struct mase_err *err) MASE_MUST_CHECK;

/* Arrays of features and labels of an .npz file; the shape of a sample goes to d->info.data. */
enum mase_status mase_npz_table(struct mase_dataset *d, struct mase_raw *r,
                                const struct mase_file *f, const struct mase_columns *c,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- the cache ---- */

/* The user's cache folder, in a; NULL when there is none (no HOME). */
const char *mase_cache_dir(struct mase_arena *a, const struct mase_dataset_opts *opts);
/* Remove the tables of the named dataset from it. */
enum mase_status mase_cache_remove(struct mase_dataset_removed *removed, struct mase_arena *a,
                                   const char *name, const struct mase_dataset_opts *opts,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Write an open table of numbers. */
enum mase_status mase_cache_write(const struct mase_dataset *d, int64_t training, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Map it: table, plain, labels, scaling, source, checksum, rows; *training says where the test rows
 * begin. Whether plain is whole is only looked at if it is wanted.
 * A file that is cut short or damaged is MASE_EPARSE; source and checksum are set nevertheless when
 * the header is whole. */
enum mase_status mase_cache_read(struct mase_dataset *d, int64_t *training, const char *path,
                                 bool plain, struct mase_err *err) MASE_MUST_CHECK;

/* The same of d->file[0], which is open. */
enum mase_status mase_cache_parse(struct mase_dataset *d, int64_t *training, bool plain,
                                  struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_RAW_H */
