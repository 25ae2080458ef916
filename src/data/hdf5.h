/*
 * hdf5.h - opening HDF5 files by libhdf5 and reading numbers from them, in pieces, as doubles.
 *
 * For the process that reads (reader.h); h5_file.h is how the library asks it. HDF5 prints nothing;
 * its innermost message becomes part of ours. Plugins are not loaded, and links into other files
 * and datasets whose numbers lie there are refused.
 */
#ifndef MASE_DATA_HDF5_H
#define MASE_DATA_HDF5_H

#include <mase/str.h>

#include "data/h5_file.h"

struct mase_hdf5 {
    const char *path; /* borrowed */
    int64_t file;     /* HDF5's handles, here and below */
    int64_t access;   /* how its datasets are opened */
    uint64_t most;    /* bytes of memory that a dataset's numbers may take */
};

/* A dataset of it, and what it claims to hold. */
struct mase_hdf5_set {
    struct mase_h5_facts facts;
    const char *path, *name; /* borrowed */
    int64_t id, type, space;
    bool bits; /* truth values as PyTables has them */
    uint64_t most;
    int64_t chosen; /* the type of the columns that are read, or 0 */
    size_t columns; /* how many they are */
};

enum mase_status mase_hdf5_open(struct mase_hdf5 *f, const char *path, uint64_t most,
                                struct mase_err *err) MASE_MUST_CHECK;
bool mase_hdf5_has(const struct mase_hdf5 *f, const char *name);
/* The first dataset at the root that is a compound table with this column, or NULL; in a. */
const char *mase_hdf5_find_table(const struct mase_hdf5 *f, struct mase_arena *a,
                                 const char *column);
/* The names at the root, each with a 0 behind it. */
void mase_hdf5_names(const struct mase_hdf5 *f, struct mase_str *out);

enum mase_status mase_hdf5_set_open(struct mase_hdf5_set *s, const struct mase_hdf5 *f,
                                    const char *name, struct mase_err *err) MASE_MUST_CHECK;
void mase_hdf5_set_close(struct mase_hdf5_set *s);

/* The values of a row. */
int64_t mase_hdf5_width(const struct mase_hdf5_set *s);
/* Rows first..first + n - 1 of a dataset of numbers to x. */
enum mase_status mase_hdf5_rows(const struct mase_hdf5_set *s, double *x, int64_t first, int64_t n,
                                struct mase_err *err) MASE_MUST_CHECK;
/* All texts of a dataset of one dimension, each with a 0 behind it; or of a column of a table. */
enum mase_status mase_hdf5_texts(struct mase_str *out, const struct mase_hdf5_set *s,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_hdf5_column_texts(struct mase_str *out, const struct mase_hdf5_set *s,
                                        const char *column, struct mase_err *err) MASE_MUST_CHECK;
/* The columns of a compound table: struct mase_h5_column of each, then their names. */
void mase_hdf5_columns(const struct mase_hdf5_set *s, struct mase_str *out);
/* Choose n of them, whose numbers mase_hdf5_records then reads. */
enum mase_status mase_hdf5_select(struct mase_hdf5_set *s, const char *const *names, int n,
                                  struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_hdf5_records(const struct mase_hdf5_set *s, double *x, int64_t first,
                                   int64_t n, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_HDF5_H */
