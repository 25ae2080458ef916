/*
 * dataset_parts.h - an open dataset, and functions that openers of datasets share.
 */
#ifndef MASE_DATA_DATASET_PARTS_H
#define MASE_DATA_DATASET_PARTS_H

#include <mase/arena.h>
#include <mase/dataset.h>
#include <mase/file.h>

enum { MASE_DATA_FILES = 6, MASE_IMAGE_CHANNELS = 3 };

/* Images of one file, from row `first` on; `stride` is the distance between images in bytes. */
struct mase_image_part {
    const unsigned char *data;
    int64_t first, count, stride;
};

struct mase_image_store {
    struct mase_image_part part[MASE_DATA_FILES];
    int parts;
    float level[MASE_IMAGE_CHANNELS][256]; /* float of each byte, by channel */
    int pad;                               /* pixels of padding for random crops */
    bool flip;                             /* flip at random in training */
    const char *words;                     /* name of the normalisation; NULL: none */
};

struct mase_dataset {
    struct mase_dataset_info info;
    struct mase_arena arena; /* names, lists, scaling */
    struct mase_split_rows split[MASE_SPLIT_COUNT];
    bool integers[1 + MASE_MORE_INPUTS];      /* by input: holds integers, which are not scaled */
    const int32_t *label;                     /* (rows) */
    const float *target;                      /* (rows, targets) or NULL */
    const float *table;                       /* (rows, features), NULL for images */
    const float *plain;                       /* the table before scaling; NULL: not kept */
    struct mase_image_store *image;           /* NULL for tables */
    void *block, *plain_block, *target_block; /* aligned memory of the tables */
    struct mase_file file[MASE_DATA_FILES];   /* closed on closing */
};

/* Open a dataset; info.data is set. file: what follows "NAME:", or NULL. */
typedef enum mase_status mase_dataset_fn(struct mase_dataset *d,
                                         const struct mase_dataset_opts *opts, const char *file,
                                         struct mase_err *err);

#define DATASET(name_, sample_, classes_, open_, help_) mase_dataset_fn open_;
#define FILE_KIND(prefix_, endings_, open_, help_)      mase_dataset_fn open_;
#include "data/datasets.def"

/* Number of features and classes of jsc. */
enum { MASE_JSC_FEATURES = 16, MASE_JSC_CLASSES = 5 };
extern const char *const mase_jsc_features[];
extern const char *const mase_jsc_classes[];
/* Read a file into d and store it in the cache, as the data of jsc from now on. */
enum mase_status mase_import_jsc(struct mase_dataset *d, const char *path,
                                 const struct mase_dataset_opts *opts,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The tables of jsc-sim, freed by mase_xfree; and n of its rows from row `first` on, unscaled. */
struct mase_jets *mase_jets_new(void);
/* contents of jsc_sim.json, embedded by the build (cmake/embed.cmake) */
extern const char mase_jsc_sim_json[];
extern const size_t mase_jsc_sim_json_size;
void mase_jets_rows(float *x, int32_t *label, const struct mase_jets *m, uint64_t seed,
                    int64_t first, int64_t n);

/* For qsort: names by their bytes. And "0", "1", ... for classes without names. */
int mase_compare_names(const void *a, const void *b);
const char *const *mase_number_names(struct mase_arena *a, int n);

/* ---- sources (source.c) ---- */

/* Split "FILE:LABEL"; *label is NULL without a label, or if a file of the whole name exists. */
void mase_split_name(struct mase_arena *a, const char *name, const char **path, const char **label);
/* Unpack a gzipped file into the arena; other files are unchanged. */
enum mase_status mase_gunzip(struct mase_file *f, struct mase_arena *a,
                             struct mase_err *err) MASE_MUST_CHECK;
/* Set source and checksum of d from the file. */
enum mase_status mase_source(struct mase_dataset *d, const char *path,
                             struct mase_err *err) MASE_MUST_CHECK;
/* As mase_source, of an open file, since a pipe can be read only once. */
void mase_source_of(struct mase_dataset *d, const struct mase_file *f);
/* The first of n file names that exists in opts->data_dir or MASE_DATA, or their subfolder
 * `folder`; NULL: none. In d's arena. */
const char *mase_find_file(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                           const char *folder, const char *const *names, int n);
/* opts->data_dir, or MASE_DATA, or NULL. */
const char *mase_data_dir(const struct mase_dataset_opts *opts);
/* Check that a given data folder exists; it need not have the files of a dataset. */
enum mase_status mase_check_data_dir(const struct mase_dataset_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- pictures (images.c, normalise_pixels.c) ---- */

/* Add a file to the checksum of the dataset. */
void mase_add_checksum(struct mase_dataset *d, const struct mase_file *f);
/* Open the dataset of another name under d's own name. */
enum mase_status mase_open_as(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                              const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* Do the last parts of a path contain "fashion"? */
bool mase_is_fashion(const char *dir);
/* Set normalisation and augmentation from opts, over d->image's defaults. Splits and pixels must be
 * set. */
enum mase_status mase_image_normalise(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The bytes of a row, (channels, height, width). */
const unsigned char *mase_image_bytes(const struct mase_image_store *s, int64_t row);

/* ---- splits (splits.c) ---- */

struct mase_rng;

/* The number of test rows of n: a fifth, rounded up. */
int64_t mase_split_test_count(int64_t n);
/* The first `training` rows train, the next `validation` rows validate, the rest tests; without
 * remaining rows, the validation rows test. Without such rows a tenth of the training rows, drawn
 * by the seed of opts, is held out for validation; with original_splits validation is as given; or
 * the training rows are divided by the shares of opts. Labels are set. */
enum mase_status mase_split_parts(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                  int64_t training, int64_t validation,
                                  enum mase_split original_validation,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* A uniform number in [0, n). */
uint32_t mase_draw_below(struct mase_rng *r, uint32_t n);

/* ---- division by shares (split_shares.c) ---- */

/* Numbered values of the column to split by. */
struct mase_groups {
    const uint32_t *of; /* (rows) */
    int count;
    const char *const *names; /* (count) or NULL: numbers */
};
/* Do opts ask for a split other than the dataset's? */
bool mase_has_split_opts(const struct mase_dataset_opts *opts);
/* opts without an inherited split if it does not apply: the dataset has its own test or validation
 * rows, or lacks the column. */
struct mase_dataset_opts mase_applicable_split(const struct mase_dataset_opts *opts, bool own_tests,
                                               bool own_validation, bool grouped);
/* Divide the rows; if the dataset has test rows of its own, only the first `own` rows (0: it has
 * none). Rows, classes and labels of d must be set. g: values of the column, or NULL. */
enum mase_status mase_split_by_shares(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      int64_t own, const struct mase_groups *g,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The split named by a word such as "train", "valid" or "test"; -1: none. */
int mase_split_of_word(const char *name);
/* Rows first, first + 1, ...; owned by d. */
struct mase_split_rows mase_split_range(struct mase_dataset *d, int64_t first, int64_t count);

/* ---- scaling (scaling.c) ---- */

/* Get row i of a table as doubles. */
typedef void mase_row_fn(double *row, const void *table, int64_t i);

/* Check that the scaled numbers of a row are finite floats. names: of the features, or NULL. */
enum mase_status mase_check_scaled(const float *y, const struct mase_scaling *s,
                                   const char *const *names, struct mase_err *err) MASE_MUST_CHECK;
/* Mean and population standard deviation of some rows; 1 for a constant feature. */
struct mase_scaling mase_scaling_fit(struct mase_arena *a, int64_t features,
                                     struct mase_split_rows rows, mase_row_fn *get,
                                     const void *table);

/* Source of a scaled table. */
struct mase_scale_source {
    mase_row_fn *get;
    const void *table;
    bool single;       /* the numbers are float32, which scikit-learn keeps as such */
    int64_t published; /* by default use standard scaling by statistics of so many first rows; 0: by
                          default do not scale */
};
/* Write the table scaled as opts ask to `to` (rows, features), which may be the source itself, and
 * record the scaling in d->info. Rows and splits of d must be set. */
enum mase_status mase_scale_table(struct mase_dataset *d, float *to,
                                  const struct mase_dataset_opts *opts,
                                  const struct mase_scale_source *from,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Integer inputs are not scaled: set their mean to 0 and deviation to 1. */
void mase_unscale_integers(struct mase_dataset *d, double *mean, double *std);
/* Allocate a table of all features; the caller frees it. */
float *mase_new_table(const struct mase_dataset *d);
/* A table of floats, such as d->plain, and mase_floats_row, which gets a row. */
struct mase_floats {
    const float *x;
    int64_t features;
};
void mase_floats_row(double *row, const void *floats, int64_t i);

#endif /* MASE_DATA_DATASET_PARTS_H */
