/*
 * dataset_parts.h - what an open dataset consists of, and what those who open one share.
 */
#ifndef MASE_DATA_DATASET_PARTS_H
#define MASE_DATA_DATASET_PARTS_H

#include <mase/arena.h>
#include <mase/dataset.h>
#include <mase/file.h>

enum { MASE_DATA_FILES = 6, MASE_IMAGE_CHANNELS = 3 };

/* Images of one file: row `first` and the following, each `stride` bytes after the one before. */
struct mase_image_part {
    const unsigned char *data;
    int64_t first, count, stride;
};

struct mase_image_store {
    struct mase_image_part part[MASE_DATA_FILES];
    int parts;
    float level[MASE_IMAGE_CHANNELS][256]; /* what a byte becomes, per channel */
    int pad;                               /* black pixels around for random crops */
    bool flip;                             /* in training, by chance */
    const char *words;                     /* what a byte becomes; NULL: it stays */
};

struct mase_dataset {
    struct mase_dataset_info info;
    struct mase_arena arena; /* names, lists, scaling */
    struct mase_split_rows split[MASE_SPLIT_COUNT];
    bool integers[1 + MASE_MORE_INPUTS];      /* of several inputs: whole numbers, never scaled */
    const int32_t *label;                     /* (rows) */
    const float *target;                      /* (rows, targets) or NULL */
    const float *table;                       /* (rows, features), NULL for images */
    const float *plain;                       /* the same before scaling; NULL: not kept */
    struct mase_image_store *image;           /* NULL for tables */
    void *block, *plain_block, *target_block; /* aligned memory behind table, plain and target;
                                               * freed on closing */
    struct mase_file file[MASE_DATA_FILES];   /* closed on closing */
};

/* Fill a dataset whose info.data is set. file is what stands after "NAME:", or NULL. */
typedef enum mase_status mase_dataset_fn(struct mase_dataset *d,
                                         const struct mase_dataset_opts *opts, const char *file,
                                         struct mase_err *err);

#define DATASET(name_, sample_, classes_, open_, help_) mase_dataset_fn open_;
#define FILE_KIND(prefix_, endings_, open_, help_)      mase_dataset_fn open_;
#include "data/datasets.def"

/* The features of jsc in order, and its classes. */
enum { MASE_JSC_FEATURES = 16, MASE_JSC_CLASSES = 5 };
extern const char *const mase_jsc_features[];
extern const char *const mase_jsc_classes[];
/* Read a file into d and keep it in the cache as what jsc is from now on. */
enum mase_status mase_import_jsc(struct mase_dataset *d, const char *path,
                                 const struct mase_dataset_opts *opts,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* What jsc-sim draws from, freed by mase_xfree; and n rows of it from row first, raw. */
struct mase_jets *mase_jets_new(void);
/* jsc_sim.json, an array of the build (cmake/embed.cmake). */
extern const char mase_jsc_sim_json[];
extern const size_t mase_jsc_sim_json_size;
void mase_jets_rows(float *x, int32_t *label, const struct mase_jets *m, uint64_t seed,
                    int64_t first, int64_t n);

/* Names in the order of their bytes, for qsort; "0", "1", ... for classes without names. */
int mase_compare_names(const void *a, const void *b);
const char *const *mase_number_names(struct mase_arena *a, int n);

/* ---- sources (source.c) ---- */

/* "FILE:LABEL" in its parts; the label is NULL when none is named, or when there is a file of the
 * whole name. */
void mase_split_name(struct mase_arena *a, const char *name, const char **path, const char **label);
/* Unpack a file that is gzipped, into the arena; another stays as it is. */
enum mase_status mase_gunzip(struct mase_file *f, struct mase_arena *a,
                             struct mase_err *err) MASE_MUST_CHECK;
/* Set source and checksum of d from the file. */
enum mase_status mase_source(struct mase_dataset *d, const char *path,
                             struct mase_err *err) MASE_MUST_CHECK;
/* The same of a file that is open: a pipe can be read but once. */
void mase_source_of(struct mase_dataset *d, const struct mase_file *f);
/* The first of the names (n of them, each a file's name) that is a file in one of the places where
 * data are looked for, or NULL; in d's arena. Places: opts->data_dir or MASE_DATA, that folder's
 * subfolder `folder`. */
const char *mase_find_file(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                           const char *folder, const char *const *names, int n);
/* opts->data_dir, or MASE_DATA, or NULL. */
const char *mase_data_dir(const struct mase_dataset_opts *opts);
/* A place that was named must be there; it may lack the files of a dataset. */
enum mase_status mase_check_data_dir(const struct mase_dataset_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- pictures (images.c, normalise_pixels.c) ---- */

/* Sums of all files in order, as one. */
void mase_add_checksum(struct mase_dataset *d, const struct mase_file *f);
/* Open as the dataset of this name, keeping what it is called. */
enum mase_status mase_open_as(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                              const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* Is "fashion" in the last parts of a path? */
bool mase_is_fashion(const char *dir);
/* What bytes become and what training does to them, where opts say it; d->image has what is usual.
 * Splits and pixels are set. */
enum mase_status mase_image_normalise(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The bytes of a row, (channels, height, width). */
const unsigned char *mase_image_bytes(const struct mase_image_store *s, int64_t row);

/* ---- splits (splits.c) ---- */

struct mase_rng;

/* How many of n rows are for testing: a fifth, rounded up. */
int64_t mase_split_test_count(int64_t n);
/* The first `training` rows train, `validation` rows behind them validate, the rest tests; where
 * none remain to test, those that validate do. Without such rows a tenth of the training rows,
 * drawn by the seed of opts, is held out for validation; with original_splits validation is as
 * given; or the training rows are divided by the shares of opts. Labels are set. */
enum mase_status mase_split_parts(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                  int64_t training, int64_t validation,
                                  enum mase_split original_validation,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* A number in [0, n), every one as likely. */
uint32_t mase_draw_below(struct mase_rng *r, uint32_t n);

/* ---- division by shares (split_shares.c) ---- */

/* The values of a column, numbered. */
struct mase_groups {
    const uint32_t *of; /* (rows) */
    int count;
    const char *const *names; /* (count) or NULL: numbers */
};
/* Do opts want the rows divided otherwise than the dataset does? */
bool mase_has_split_opts(const struct mase_dataset_opts *opts);
/* The same opts; without a split that was inherited, if it does not fit: the dataset has its own
 * rows to test or to validate, or no such column. */
struct mase_dataset_opts mase_applicable_split(const struct mase_dataset_opts *opts, bool own_tests,
                                               bool own_validation, bool grouped);
/* Divide them; the first `own` rows only if the others are the dataset's own to test (0: it has
 * none). Rows, classes and labels of d are set. g: the column's values, or NULL. */
enum mase_status mase_split_by_shares(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      int64_t own, const struct mase_groups *g,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The split that a word such as "train", "valid" or "test" names; -1: none. */
int mase_split_of_word(const char *name);
/* Rows first, first + 1, ...; owned by d. */
struct mase_split_rows mase_split_range(struct mase_dataset *d, int64_t first, int64_t count);

/* ---- scaling (scaling.c) ---- */

/* Row i of some table as doubles. */
typedef void mase_row_fn(double *row, const void *table, int64_t i);

/* Are the numbers of a row, scaled, floats? names: of the features, or NULL. */
enum mase_status mase_check_scaled(const float *y, const struct mase_scaling *s,
                                   const char *const *names, struct mase_err *err) MASE_MUST_CHECK;
/* Mean and population standard deviation of some rows; the deviation of a constant feature is 1. */
struct mase_scaling mase_scaling_fit(struct mase_arena *a, int64_t features,
                                     struct mase_split_rows rows, mase_row_fn *get,
                                     const void *table);

/* What a table is scaled from. */
struct mase_scale_source {
    mase_row_fn *get;
    const void *table;
    bool single;       /* the numbers are 32-bit floats, which scikit-learn keeps as such */
    int64_t published; /* the usual way is standard, by the statistics of so many first rows; 0: the
                        * usual way is none */
};
/* Rows and splits of d are set. Writes the table that opts ask for to `to` (rows, features), which
 * may be the table it comes from, and says in d->info what was done. */
enum mase_status mase_scale_table(struct mase_dataset *d, float *to,
                                  const struct mase_dataset_opts *opts,
                                  const struct mase_scale_source *from,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Of several inputs: features that are whole numbers stay as they are. */
void mase_unscale_integers(struct mase_dataset *d, double *mean, double *std);
/* Floats for every feature of every row of d; freed by the caller. */
float *mase_new_table(const struct mase_dataset *d);
/* Row i of the floats of d->plain, or of another table of floats. */
struct mase_floats {
    const float *x;
    int64_t features;
};
void mase_floats_row(double *row, const void *floats, int64_t i);

#endif /* MASE_DATA_DATASET_PARTS_H */
