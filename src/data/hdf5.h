/*
 * hdf5.h - read HDF5 files by libhdf5: numbers as doubles, in pieces. Used in the reader process
 * (reader.h), to which h5_file.h sends requests. HDF5 prints nothing; its innermost message becomes
 * part of ours. Plugins are not loaded, and links into other files and datasets whose numbers lie
 * there are refused.
 */
#ifndef MASE_DATA_HDF5_H
#define MASE_DATA_HDF5_H

#include <mase/str.h>

#include "data/h5_file.h"

struct mase_hdf5 {
    const char *path; /* borrowed */
    int64_t file;     /* HDF5's handles, here and below */
    int64_t access;   /* access property for its datasets */
    uint64_t most;    /* bytes that the numbers of a dataset may take */
};

/* A dataset, and its properties as the file claims. */
struct mase_hdf5_set {
    struct mase_h5_facts facts;
    const char *path, *name; /* borrowed */
    int64_t id, type, space;
    bool bits; /* booleans of PyTables */
    uint64_t most;
    int64_t chosen; /* type of the selected columns, or 0 */
    size_t columns; /* number of selected columns */
};

enum mase_status mase_hdf5_open(struct mase_hdf5 *f, const char *path, uint64_t most,
                                struct mase_err *err) MASE_MUST_CHECK;
bool mase_hdf5_has(const struct mase_hdf5 *f, const char *name);
/* The first compound dataset at the root with this column, or NULL; in a. */
const char *mase_hdf5_find_table(const struct mase_hdf5 *f, struct mase_arena *a,
                                 const char *column);
/* Names at the root, each zero-terminated. */
void mase_hdf5_names(const struct mase_hdf5 *f, struct mase_str *out);

enum mase_status mase_hdf5_set_open(struct mase_hdf5_set *s, const struct mase_hdf5 *f,
                                    const char *name, struct mase_err *err) MASE_MUST_CHECK;
void mase_hdf5_set_close(struct mase_hdf5_set *s);

/* The number of values in a row. */
int64_t mase_hdf5_width(const struct mase_hdf5_set *s);
/* Read rows first..first + n - 1 of a numeric dataset to x. */
enum mase_status mase_hdf5_rows(const struct mase_hdf5_set *s, double *x, int64_t first, int64_t n,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Read all texts of a one-dimensional dataset, or of a column of a table; each zero-terminated. */
enum mase_status mase_hdf5_texts(struct mase_str *out, const struct mase_hdf5_set *s,
                                 struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_hdf5_column_texts(struct mase_str *out, const struct mase_hdf5_set *s,
                                        const char *column, struct mase_err *err) MASE_MUST_CHECK;
/* The columns of a compound table: a struct mase_h5_column each, then their names. */
void mase_hdf5_columns(const struct mase_hdf5_set *s, struct mase_str *out);
/* Select n columns for mase_hdf5_records. */
enum mase_status mase_hdf5_select(struct mase_hdf5_set *s, const char *const *names, int n,
                                  struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_hdf5_records(const struct mase_hdf5_set *s, double *x, int64_t first,
                                   int64_t n, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_HDF5_H */
