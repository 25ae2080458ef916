/*
 * h5_file.h - HDF5 files as the library sees them: numbers in pieces, as doubles.
 *
 * They are read by another process (reader.h), which is asked one thing after the other.
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
    uint64_t most;    /* bytes of memory that the numbers of a dataset may take */
    uint64_t seconds; /* of computing, before one more for each megabyte; 0: a minute */
};

/* What a dataset claims to hold. */
struct mase_h5_facts {
    bool compound;
    bool single;  /* floats of 32 bits or fewer */
    bool integer; /* or integers, truth values and enumerations */
    bool text;    /* or texts, which mase_h5_texts reads */
    struct mase_shape shape;
};
/* And a column of a compound table. */
struct mase_h5_column {
    bool number, single, text; /* or something else */
};

struct mase_h5_set {
    const char *path, *name; /* borrowed */
    struct mase_h5 *file;
    int number; /* by which the reader knows it; 0: not open */
    bool compound, single, integer, text;
    struct mase_shape shape;
    uint64_t most;
};

/* f->seconds is said before. */
enum mase_status mase_h5_open(struct mase_h5 *f, const char *path,
                              struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_close(struct mase_h5 *f);
bool mase_h5_has(struct mase_h5 *f, const char *name);
/* The first dataset at the root that is a compound table with this column (""; any), or NULL; in a.
 */
const char *mase_h5_find_table(struct mase_h5 *f, struct mase_arena *a, const char *column);

/* The names of all that is at the root but links elsewhere; in a. */
const char *const *mase_h5_names(struct mase_h5 *f, struct mase_arena *a, int *count);

enum mase_status mase_h5_set_open(struct mase_h5_set *s, struct mase_h5 *f, const char *name,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_set_close(struct mase_h5_set *s);

/* Rows first..first + n - 1 of a dataset of numbers to x. */
enum mase_status mase_h5_rows(const struct mase_h5_set *s, double *x, int64_t first, int64_t n,
                              struct mase_err *err) MASE_MUST_CHECK;
/* All texts of a dataset of one dimension, or of a column of a table; in a. */
enum mase_status mase_h5_texts(const char *const **text, const struct mase_h5_set *s,
                               struct mase_arena *a, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_h5_column_texts(const char *const **text, const struct mase_h5_set *s,
                                      const char *column, struct mase_arena *a,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The columns of a compound table, and their names; in a. */
enum mase_status mase_h5_columns(const struct mase_h5_column **column, const char *const **name,
                                 int *count, const struct mase_h5_set *s, struct mase_arena *a,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Choose n of them, whose numbers mase_h5_records then reads. */
enum mase_status mase_h5_select(const struct mase_h5_set *s, const char *const *names, int n,
                                struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_h5_records(const struct mase_h5_set *s, int columns, double *x, int64_t first,
                                 int64_t n, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_H5_FILE_H */
