/*
 * raw.h - a table before it is split and scaled, and the readers of files.
 */
#ifndef MASE_DATA_RAW_H
#define MASE_DATA_RAW_H

#include <mase/dataset.h>
#include <mase/file.h>

/* An array of the file that was not asked for. */
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
    enum mase_target_kind target; /* kind of target that is read */
    int64_t targets;              /* number of targets, which are the last of the features */
    struct mase_shape target_shape;
    bool drop;                        /* drop rows with a missing value: a NaN, or label -1 */
    int64_t dropped;                  /* number of dropped rows */
    bool named;                       /* features and label are named columns */
    const char *label_name;           /* or NULL */
    bool grouped;                     /* rows are to be split by a column */
    double *group;                    // (rows): numbers, or indices of group_names
    const char *const *group_names;   /* NULL: numbers */
    const char *const *feature_names; /* (features); in the dataset's arena, or static */
    const char *const *class_names;   /* (classes) or NULL: 0, 1, ... */
    int64_t duplicates;
    bool single;        /* the numbers were float32 */
    int64_t training;   /* training rows, which come first; 0: not yet split */
    int64_t validation; /* validation rows, which follow; 0: not known. The rest tests */
    struct mase_shape more[MASE_MORE_INPUTS]; /* shapes of the further inputs */
    int more_count;
    bool integers[1 + MASE_MORE_INPUTS]; /* by input: arrays hold integers or booleans */
    char array[64];                      /* name of the input's array; "": columns */
    bool guessed;                        /* the array was guessed, since no name is usual */
    bool any_rank;                       /* a sample may be a single number, [N] */
    struct mase_raw_other other[MASE_RAW_OTHERS];
    int other_count;
    bool few;       /* any number of rows is accepted */
    bool published; /* jsc: scaled as published unless opts ask otherwise; the unscaled table is
                       kept */
};

void mase_raw_release(struct mase_raw *r);

/* Reserve space for so many rows, if they take at most `most` bytes. */
enum mase_status mase_raw_reserve(struct mase_raw *r, int64_t rows, uint64_t most, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* Add a row, which is then number `rows - 1`. Too many rows: MASE_ELIMIT. */
enum mase_status mase_raw_add(struct mase_raw *r, double **row, int32_t **label, const char *path,
                              struct mase_err *err) MASE_MUST_CHECK;

/* Of rows with equal features and label keep the first. */
void mase_raw_drop_duplicates(struct mase_raw *r);

/* Numeric labels become classes 0..K-1, K being one more than the largest. Fails with the row (from
 * 0) that is no class. */
enum mase_status mase_raw_check(struct mase_raw *r, const char *path,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Set the label of the last row from a number in row `row` of an array or column. A missing one
 * becomes -1 if such rows are dropped. */
enum mase_status mase_raw_label(struct mase_raw *r, double value, const char *path,
                                const char *array, int64_t row,
                                struct mase_err *err) MASE_MUST_CHECK;

/* Set the label from a one-hot row, all 0 but one. */
enum mase_status mase_raw_one_hot(struct mase_raw *r, const double *value, const char *path,
                                  const char *array, int64_t row,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Log that labels were one-hot. */
void mase_raw_log_one_hot(const struct mase_raw *r, const char *path);

/* Warn of samples that look like pictures with channels last: PyTorch has them first. */
void mase_warn_channels_last(const struct mase_shape *sample, const char *path);

/* Fill the table of d: training rows first, then test rows; split as jsc (a permutation by NumPy's
 * RandomState(42), a fifth tests) unless the file has splits; scaled as opts ask. Sets rows,
 * splits, names, scaling. */
enum mase_status mase_raw_finish(struct mase_dataset *d, struct mase_raw *r,
                                 const struct mase_dataset_opts *opts, const char *path,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- readers ---- */

/* The columns to read, and the classes of the label. */
struct mase_columns {
    struct mase_data_columns chosen;
    const char *group;          /* column to split by; NULL: none */
    bool group_inherited;       /* the group column may be missing */
    const char *const *classes; /* NULL: numbers, or any names */
    int class_count;
    enum mase_target_kind target; /* kind of the labels */
};

/* The columns that opts choose, with the label given after the file's name (NULL: none). Classes
 * have one label column. */
enum mase_status mase_columns_from_opts(struct mase_columns *c, struct mase_arena *a,
                                        const struct mase_dataset_opts *opts, const char *label,
                                        struct mase_err *err) MASE_MUST_CHECK;

/* The columns of a file. */
struct mase_header {
    const char *const *names; /* (count) */
    int count;
    struct mase_loc at; /* place of the header line, or the file */
};
/* Label columns: one of classes, or several of numbers; perhaps none if labels are optional. */
struct mase_label_columns {
    int *column; // (count), in the arena
    int count;
};
enum mase_status mase_find_labels(struct mase_label_columns *l, struct mase_arena *a,
                                  const struct mase_header *h, const struct mase_columns *c,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Index of the column to split by; -1: none is needed. */
enum mase_status mase_find_group(int *column, struct mase_raw *r, const struct mase_header *h,
                                 const struct mase_columns *c,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The columns of features, in a, followed by the labels if these are numbers; r gets names and
 * counts. The group column is a feature only if it is listed. */
enum mase_status mase_find_features(int **columns, struct mase_raw *r, struct mase_arena *a,
                                    const struct mase_header *h, const struct mase_columns *c,
                                    const struct mase_label_columns *l, int group,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* Names of arrays for each split. Those of validation and test may be NULL, and those of y if
 * labels are optional. */
struct mase_array_names {
    const char *x[3], *y[3]; /* train, validation, test */
    const char *stem;        /* x without the split: "x" of "x_train" */
    bool guessed;            /* x has an unusual name */
    bool before;             /* the split is a prefix: train_x */
    bool chosen;             /* the user chose the features */
};
typedef bool mase_has_fn(void *file, const char *name);
/* The arrays with usual names: X and y, x_train and y_test, data and target. If there are none, the
 * names for the error message. */
struct mase_array_names mase_find_arrays(struct mase_arena *a, const struct mase_columns *c,
                                         mase_has_fn *has, void *file);
/* If no usual names exist: labels by a usual name and, unless features are chosen, the first other
 * array of `all`. False: none found. */
bool mase_guess_arrays(struct mase_array_names *n, const struct mase_columns *c,
                       const char *const *all, int count);
/* Log which arrays train and test if their names do not tell, and which look like samples or labels
 * but are not read. */
void mase_log_arrays(const struct mase_array_names *n, const char *const *all, int count,
                     const char *path);
/* Fail: arrays have no columns to split by. */
enum mase_status mase_fail_split_by_column(const char *path, const char *column,
                                           struct mase_err *err);
/* Names "x0", "x1", ... for features of arrays, and "y", or "y0", "y1", ... for the targets after
 * them. In a. */
void mase_raw_name_features(struct mase_raw *r, struct mase_arena *a);
/* Check that arrays of these shapes match as samples and targets; y: NULL without targets. Sets the
 * shape of a sample, and the numbers of features and targets, which further arrays must equal. */
enum mase_status mase_raw_set_shapes(struct mase_raw *r, struct mase_shape *sample,
                                     const struct mase_shape *x, const struct mase_shape *y,
                                     const char *const names[2], const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- labels that are texts (text_labels.c) ---- */

struct mase_text_labels {
    const char *const *text; // (count), by row; NULL: labels are numbers
    int64_t count;
};
void mase_text_labels_add(struct mase_text_labels *t, struct mase_arena *a, const char *const *text,
                          int64_t n);
/* Check that all rows so far have text labels, or none; these: the last array has. */
enum mase_status mase_text_labels_check(const struct mase_text_labels *t, const struct mase_raw *r,
                                        bool these, const char *array, const char *path,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Set labels and class names of r, in a. */
enum mase_status mase_text_labels_number(const struct mase_text_labels *t, struct mase_raw *r,
                                         struct mase_arena *a, const struct mase_columns *c,
                                         const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* ---- several inputs (several_inputs.c) ---- */

/* The number of input arrays of a sample; and the name of input number `input` in a split. */
int mase_array_inputs(const struct mase_columns *c, const struct mase_array_names *n);
const char *mase_array_of_part(struct mase_arena *a, const struct mase_array_names *n,
                               const struct mase_columns *c, int part, int input);
/* Add an input, counted from 1, whose features follow those of r. */
enum mase_status mase_raw_add_input(struct mase_raw *r, int input, const struct mase_shape *x,
                                    int64_t rows, const char *name, const char *path,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Remember an array that was not asked for, if it has a row for each sample. */
void mase_raw_add_other(struct mase_raw *r, struct mase_arena *a, const struct mase_array_names *n,
                        const char *array, const struct mase_shape *x, int64_t rows);
/* Set the name of the input's array, without its split. */
void mase_raw_set_array_name(struct mase_raw *r, const struct mase_array_names *n);
/* Convert the first column of each further input, in r->more, to its shape. Returns the shape of
 * the first input. */
struct mase_shape mase_raw_shape_inputs(struct mase_raw *r);
/* Copy the inputs of r to d, which has the shape of the first. */
void mase_dataset_set_inputs(struct mase_dataset *d, struct mase_raw *r,
                             const struct mase_dataset_opts *opts);
/* The shape of one sample, from that of all. */
struct mase_shape mase_sample_shape(const struct mase_shape *all);

/* Read a compound table of HDF5: features by name, and classes from one-hot columns (given one_hot
 * names) or a label column. */
enum mase_status mase_h5_read_table(struct mase_raw *r, struct mase_arena *a, const char *path,
                                    const char *dataset, const struct mase_columns *c,
                                    const char *const *one_hot,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Read comma-separated text with a header line, or ARFF. */
enum mase_status mase_csv_read(struct mase_raw *r, struct mase_arena *a, const char *path,
                               const struct mase_columns *c, struct mase_err *err) MASE_MUST_CHECK;

/* As mase_csv_read, from memory; f->path is used in messages only. */
enum mase_status mase_csv_parse(struct mase_raw *r, struct mase_arena *a, const struct mase_file *f,
                                const struct mase_columns *c, struct mase_err *err) MASE_MUST_CHECK;

/* Read arrays of features and labels of an .npz file; d->info.data gets the shape of a sample. */
enum mase_status mase_npz_table(struct mase_dataset *d, struct mase_raw *r,
                                const struct mase_file *f, const struct mase_columns *c,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- the cache ---- */

/* The user's cache folder, in a; NULL without HOME. */
const char *mase_cache_dir(struct mase_arena *a, const struct mase_dataset_opts *opts);
/* Remove the tables of the named dataset from the cache. */
enum mase_status mase_cache_remove(struct mase_dataset_removed *removed, struct mase_arena *a,
                                   const char *name, const struct mase_dataset_opts *opts,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Write an open table. */
enum mase_status mase_cache_write(const struct mase_dataset *d, int64_t training, const char *path,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Map a table: sets table, plain, labels, scaling, source, checksum, rows; *training: index of the
 * first test row. plain is checked only if asked for. A truncated or damaged file is MASE_EPARSE;
 * source and checksum are set if the header is whole. */
enum mase_status mase_cache_read(struct mase_dataset *d, int64_t *training, const char *path,
                                 bool plain, struct mase_err *err) MASE_MUST_CHECK;

/* As mase_cache_read, of d->file[0], which is open. */
enum mase_status mase_cache_parse(struct mase_dataset *d, int64_t *training, bool plain,
                                  struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_RAW_H */
