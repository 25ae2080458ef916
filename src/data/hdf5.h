/*
 * hdf5.h - opening HDF5 files and reading numbers from them, in pieces, as doubles.
 *
 * HDF5 prints nothing; its innermost message becomes part of ours. Plugins are not loaded, and
 * links into other files and datasets whose numbers lie there are refused. Whatever else a file
 * contrives, its readers seal their process (isolate.h), so that no other file can be opened.
 */
#ifndef MASE_DATA_HDF5_H
#define MASE_DATA_HDF5_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/arena.h>
#include <mase/err.h>
#include <mase/tensor.h>

struct mase_h5 {
    const char *path; /* borrowed */
    int64_t file;     /* HDF5's handles, here and below */
    int64_t access;   /* how its datasets are opened */
    uint64_t size;    /* bytes */
};

/* A dataset of it, and what it claims to hold. */
struct mase_h5_set {
    const char *path, *name; /* borrowed */
    int64_t id, type, space;
    bool compound;
    bool single;  /* floats of 32 bits or fewer */
    bool integer; /* or integers; so are */
    bool truth;   /* truth values */
    bool text;    /* or texts, which mase_h5_texts reads */
    struct mase_shape shape;
    uint64_t most; /* bytes of memory that its numbers may take */
};

enum mase_status mase_h5_open(struct mase_h5 *f, const char *path,
                              struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_close(struct mase_h5 *f);
bool mase_h5_has(const struct mase_h5 *f, const char *name);
/* The first dataset at the root that is a compound table with this column, or NULL; in a. */
const char *mase_h5_find_table(const struct mase_h5 *f, struct mase_arena *a, const char *column);

/* Every dataset at the root by its name. */
typedef void mase_h5_visit_fn(void *data, const char *name);
void mase_h5_each(const struct mase_h5 *f, mase_h5_visit_fn *visit, void *data);

enum mase_status mase_h5_set_open(struct mase_h5_set *s, const struct mase_h5 *f, const char *name,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_set_close(struct mase_h5_set *s);

/* Rows first..first + n - 1 of a dataset of numbers to x. */
enum mase_status mase_h5_rows(const struct mase_h5_set *s, double *x, int64_t first, int64_t n,
                              struct mase_err *err) MASE_MUST_CHECK;
/* All texts of a dataset of one dimension; in a. */
enum mase_status mase_h5_texts(const char *const **text, const struct mase_h5_set *s,
                               struct mase_arena *a, struct mase_err *err) MASE_MUST_CHECK;
/* The names of a compound table's columns; in a. */
const char *const *mase_h5_columns(const struct mase_h5_set *s, struct mase_arena *a, int *count);
/* Choose n of them, whose numbers mase_h5_records then reads. The caller closes the choice. */
struct mase_h5_choice {
    int64_t type;
    bool single; /* all are floats of 32 bits or fewer */
};
enum mase_status mase_h5_choose(struct mase_h5_choice *c, const struct mase_h5_set *s,
                                const char *const *names, int n,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_h5_choice_close(struct mase_h5_choice *c);
enum mase_status mase_h5_records(const struct mase_h5_set *s, const struct mase_h5_choice *c,
                                 double *x, int64_t first, int64_t n,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_HDF5_H */
