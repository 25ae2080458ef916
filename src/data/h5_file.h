/*
 * h5_file.h - read HDF5 files: numbers as doubles, in pieces. Another process (reader.h) reads
 * them, one request at a time.
 */
#ifndef MASE_DATA_H5_FILE_H
#define MASE_DATA_H5_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/tensor.h>

#include "data/reader.h"

struct mase_h5 {
    const char *path; /* borrowed */
    struct mase_reader reader;
    uint64_t most;    /* bytes that the numbers of a dataset may take */
    uint64_t seconds; /* CPU time, plus one for each megabyte; 0: a minute */
};

/* Properties of a dataset, as the file claims. */
struct mase_h5_facts {
    bool compound;
    bool single;  /* floats of 32 bits or fewer */
    bool integer; /* integers, booleans or enumerations */
    bool text;    /* or texts, which mase_h5_texts reads */
    struct mase_shape shape;
};
/* A column of a compound table. */
struct mase_h5_column {
    bool number, single, text; /* none is set for other types */
};

struct mase_h5_set {
    const char *path, *name; /* borrowed */
    struct mase_h5 *file;
    int number; /* handle in the reader; 0: not open */
    bool compound, single, integer, text;
    struct mase_shape shape;
    uint64_t most;
};

/* Open a file; f->seconds is set before. */
enum mase_status mase_h5_open(struct mase_h5 *f, const char *path,
                              struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_close(struct mase_h5 *f);
bool mase_h5_has(struct mase_h5 *f, const char *name);
/* The first compound dataset at the root with this column ("": any), or NULL; in a. */
const char *mase_h5_find_table(struct mase_h5 *f, struct mase_arena *a, const char *column);

/* Names of all objects at the root except external links; in a. */
const char *const *mase_h5_names(struct mase_h5 *f, struct mase_arena *a, int *count);

enum mase_status mase_h5_set_open(struct mase_h5_set *s, struct mase_h5 *f, const char *name,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_set_close(struct mase_h5_set *s);

/* Read rows first..first + n - 1 of a numeric dataset to x. */
enum mase_status mase_h5_rows(const struct mase_h5_set *s, double *x, int64_t first, int64_t n,
                              struct mase_err *err) MASE_MUST_CHECK;
/* Read all texts of a one-dimensional dataset, or of a column of a table; in a. */
enum mase_status mase_h5_texts(const char *const **text, const struct mase_h5_set *s,
                               struct mase_arena *a, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_h5_column_texts(const char *const **text, const struct mase_h5_set *s,
                                      const char *column, struct mase_arena *a,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The columns of a compound table, and their names; in a. */
enum mase_status mase_h5_columns(const struct mase_h5_column **column, const char *const **name,
                                 int *count, const struct mase_h5_set *s, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Select n columns for mase_h5_records. */
enum mase_status mase_h5_select(const struct mase_h5_set *s, const char *const *names, int n,
                                struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_h5_records(const struct mase_h5_set *s, int columns, double *x, int64_t first,
                                 int64_t n, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_H5_FILE_H */
