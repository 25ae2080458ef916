/*
 * dataset.h - an open dataset: its description, its splits, its batches.
 *
 * All samples lie in one table; a split is a list of its rows. Shuffle a copy of that list and hand
 * out slices of it:
 *
 *     struct mase_dataset *d;
 *     MASE_TRY(mase_dataset_open(&d, "jsc", &(struct mase_dataset_opts){ 0 }, err));
 *     const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN);
 *     mase_dataset_batch(d, &(struct mase_batch){ .row = train.row, .n = 256,
 *                                                 .x = lanes, .feature_stride = 256,
 *                                                 .sample_stride = 1, .label = labels });
 *
 * A dataset of plain numbers is a row-major float table, which mase_dataset_table gives without
 * copying: mase_plan_gather reads it directly. Images are stored as bytes and converted to floats
 * batch by batch, by mase_dataset_batch, which serves both kinds.
 *
 * An open dataset never changes: any number of threads may read it.
 */
#ifndef MASE_DATASET_H
#define MASE_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/arena.h>
#include <mase/data.h>

MASE_API_BEGIN

enum mase_split {
    MASE_SPLIT_TRAIN,
    MASE_SPLIT_VALIDATION,
    MASE_SPLIT_TEST,
    MASE_SPLIT_PRED, /* the original's name for the data to predict: mostly the test split */
    MASE_SPLIT_COUNT
};
extern const char *const mase_split_names[]; /* "train" "validation" "test" "pred" */

/* How the features of a table are scaled before a network reads them. Statistics are taken over the
 * training rows, never over rows that validate or test; only jsc is scaled as it was published. */
enum mase_scale {
    MASE_SCALE_USUAL,    /* jsc and jsc-sim: standard, over the held-out rows too; others: none */
    MASE_SCALE_NONE,     /* as they are stored */
    MASE_SCALE_STANDARD, /* mean 0, standard deviation 1 */
    MASE_SCALE_MINMAX,   /* least 0, largest 1 */
    MASE_SCALE_GIVEN,    /* by numbers from elsewhere, such as a checkpoint's */
    MASE_SCALE_COUNT
};
extern const char *const mase_scale_names[]; /* "usual" "none" "standard" "minmax" "given" */

/* The scaling of each feature of a table: x = (raw - mean) / std. */
struct mase_scaling {
    int64_t n;                /* features; 0: the table is not scaled */
    const double *mean, *std; /* (n) each */
};
bool mase_scaling_equal(const struct mase_scaling *a, const struct mase_scaling *b);

/* Which columns of a table are read, by their names: of a .csv file or of a table of HDF5. Of an
 * .npz or an HDF5 file with arrays, the names are those of the arrays, one of each. */
struct mase_data_columns {
    const char *const *labels;   /* (label_count); none: "label", "class" or "target" */
    const char *const *features; /* (feature_count) in the order of a sample; none: all others. Also
                                  * "FIRST..LAST", the columns from one to the other */
    int label_count, feature_count;
    int inputs[1 + MASE_MORE_INPUTS],
        input_count;    /* number of columns for each input; 0: all columns are one input */
    bool except;        /* features lists the columns to leave out */
    bool usual_label;   /* a file without the labels that are named is read with the usual ones */
    const char *origin; /* who asks for these columns, for messages; NULL: not said */
};
/* Parse labels "A,B" and features "A,B" or "!A,B", either of which may be NULL; allocated in a. */
enum mase_status mase_data_columns_parse(struct mase_data_columns *c, struct mase_arena *a,
                                         const char *labels, const char *features,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* The same names in the same order? */
bool mase_data_columns_equal(const struct mase_data_columns *a, const struct mase_data_columns *b);

/* How rows are divided into splits. The split of a row depends on labels, column and seed only. */
struct mase_data_split {
    double share[3]; /* share of rows to train on, validate and test, the same in each class; 0, 0,
                        0: the dataset's own division. The last is 0 where the dataset has its own
                        test rows */
    const char *by;  /* a column: rows of equal value go to one split, or the values name the split
                        (train, valid, test); NULL: none */
    uint64_t seed;
    bool inherited; /* taken over from other data, such as a checkpoint's: a dataset that it does
                       not fit is divided as usual */
};
/* Parse shares: "0.8,0.1,0.1" or "0.9,0.1". */
enum mase_status mase_data_split_parse(struct mase_data_split *s, const char *text,
                                       struct mase_err *err) MASE_MUST_CHECK;
bool mase_data_split_equal(const struct mase_data_split *a, const struct mase_data_split *b);

/* What a network shall predict for a sample. */
enum mase_target_kind {
    MASE_TARGET_CLASS,   /* its class */
    MASE_TARGET_NUMBERS, /* numbers to predict */
    MASE_TARGET_MAP,     /* a class at each position; -1 and -100: no class */
    MASE_TARGET_NONE,    /* nothing: targets are not read */
};

/* How pictures are converted. */
struct mase_image_opts {
    int height, width; /* pictures of a folder are resized to this; 0: all must have one size */
    int channels;      /* 1: grey, 3: colours; 0: those of the files */
    bool normalise; /* pixels become (p / 255 - mean) / std by channel, with the numbers below, */
    bool fit;       /* or, if fit, with those of the training rows */
    double mean[3], std[3];
    bool augment; /* in training, instead of the dataset's own augmentation: */
    bool flip;    /* mirror half of the pictures, at random, left to right */
    int crop; /* pad a picture with so many black pixels on each side, then crop it at random to its
                 size */
};

/* Parse a normalisation, "auto", "imagenet" or "0.5/0.25"; and an augmentation, "none", "flip" or
 * "flip,crop=4". */
enum mase_status mase_image_normalise_parse(struct mase_image_opts *o, const char *text,
                                            struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_image_augment_parse(struct mase_image_opts *o, const char *text,
                                          struct mase_err *err) MASE_MUST_CHECK;
/* Do both convert bytes to equal floats? */
bool mase_image_same_normalisation(const struct mase_image_opts *a,
                                   const struct mase_image_opts *b);

struct mase_dataset_opts {
    enum mase_target_kind target; /* what a network shall predict */
    const char *data_dir;  /* the folder of the files, or a file. NULL: MASE_DATA, the cache */
    const char *cache_dir; /* NULL: $XDG_CACHE_HOME/mase, ~/.cache/mase */
    bool require_real;     /* a simulated stand-in is an error */
    bool original_splits;  /* validation as the original has it: train (jsc), test (images) */
    enum mase_scale scale; /* of tables of numbers; images follow `image` */
    const struct mase_scaling *scaling; /* for MASE_SCALE_GIVEN; borrowed while opening */
    bool scale_targets; /* scale numbers to predict to mean 0, deviation 1 over the training rows,
                           or: */
    const struct mase_scaling *target_scaling; /* scale them by these; borrowed while opening */
    struct mase_data_columns columns;          /* tables of one's own; borrowed while opening */
    struct mase_image_opts image;              /* datasets of pictures */
    bool drop_missing; /* leave out rows with a missing value, instead of refusing them */
    bool ranges;       /* keep what mase_dataset_range needs */
    bool in_order;     /* tables: all rows train, however few, in the order of the file */
    struct mase_data_split split; /* its seed also draws the rows held out for validation */
    uint64_t sim_seed;            /* jsc-sim: the seed of the generator */
    int64_t sim_rows;             /* jsc-sim: 0 means 800 000 */
};

struct mase_dataset_info {
    struct mase_data_info data; /* name, shape of a sample, classes */
    const char *source;         /* the file or folder read, "built in" if generated */
    const char *cache;          /* the cached table of the source; NULL: none */
    bool simulated;
    const char *notice; /* a sentence that every report must show, or NULL */
    char checksum[65];  /* SHA-256 of the source, or of generator and parameters */
    int64_t rows;       /* of the table */
    int64_t duplicates; /* left out of it */
    int64_t dropped;    /* rows left out for a missing value */
    bool drop_missing;  /* rows with a missing value are left out */
    struct mase_data_split
        split; /* the division that was made; share 0 and no column: the usual one */
    struct mase_data_columns
        columns; /* the columns that were read; none: the dataset has no named columns */
    const char *const *feature_names;   /* (features) or NULL: images */
    const char *const *class_names;     /* (classes) */
    struct mase_shape target;           /* numbers or map of a sample: [3], [28, 28] */
    const char *const *target_names;    /* (data.targets) or NULL: a map */
    struct mase_scaling target_scaling; /* their scaling; n is 0: none */
    enum mase_scale scale; /* the scaling that was made; USUAL: images, which follow `image` */
    int64_t scale_rows;    /* rows that the statistics were taken over; 0: none */
    struct mase_scaling scaling;
    const char *pixels; /* images: their conversion in words; NULL: none */
    struct mase_image_opts
        image; /* the conversion of pictures; channels is 0: the dataset has none */
};

struct mase_dataset;

/* Open a dataset by name, or a user's own table: "npz:FILE", "csv:FILE:LABEL", "h5:FILE";
 * "jsc:FILE" reads that file as jsc. The log says when a stand-in is used. opts may be NULL. */
enum mase_status mase_dataset_open(struct mase_dataset **d, const char *name,
                                   const struct mase_dataset_opts *opts,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Samples in memory. mase_dataset_from copies them. */
struct mase_data_arrays {
    const char *name; /* in messages and records */
    const float *x;   /* (count, sample) */
    int64_t count;
    struct mase_shape sample; /* of one */
    const int32_t *labels;    /* (count), classes from 0; NULL: none */
    const float *targets;     /* (count, target_count), numbers to predict; NULL: none */
    int64_t target_count;
    int classes;                    /* 0: one more than the largest label */
    const char *const *class_names; /* (classes) or NULL: 0, 1, ... */
    int64_t train, validation; /* numbers of rows: training rows stand first, validation rows behind
                                  them; 0, 0: divided as opts say */
};
enum mase_status mase_dataset_from(struct mase_dataset **d, const struct mase_data_arrays *in,
                                   const struct mase_dataset_opts *opts,
                                   struct mase_err *err) MASE_MUST_CHECK;
void mase_dataset_close(struct mase_dataset *d);

const struct mase_dataset_info *mase_dataset_info(const struct mase_dataset *d);

/* Rows of the table in the order of the split. Borrowed. */
struct mase_split_rows {
    const uint32_t *row;
    int64_t count;
};
struct mase_split_rows mase_dataset_split(const struct mase_dataset *d, enum mase_split split);

/* The label of every row of the table; NULL: the dataset has none. */
const int32_t *mase_dataset_labels(const struct mase_dataset *d);
/* Numbers or map of every row, (rows, targets); NULL: the dataset has none. */
const float *mase_dataset_targets(const struct mase_dataset *d);

/* The features of row r: data + r * stride, floats; data is NULL for images. */
struct mase_table_view {
    const float *data;
    int64_t stride;
};
struct mase_table_view mase_dataset_table(const struct mase_dataset *d);

/* n samples: feature f of sample i goes to x[f * feature_stride + i * sample_stride]. Lanes are
 * sample_stride 1; a tensor (N, ...) is feature_stride 1. label may be NULL. */
struct mase_batch {
    const uint32_t *row; /* (n) */
    int64_t n;
    float *x;
    int64_t feature_stride, sample_stride;
    int32_t *label; /* (n) */
    bool raw; /* values before scaling: the bytes of pictures, or the numbers of a table that was
                 opened with `ranges` */
    bool augment;  /* images: crop and flip as the dataset does in training */
    uint64_t seed; /* of the augmentation, which depends on seed, epoch and row only */
    uint64_t epoch;
};
void mase_dataset_batch(const struct mase_dataset *d, const struct mase_batch *b);

/* The number of rows of each class in a split; of maps, the number of positions. */
void mase_dataset_balance(const struct mase_dataset *d, enum mase_split split, int64_t *count);

struct mase_feature_range {
    double min, max, mean, std;
};
/* The range of feature f before scaling, over a split of a table that was opened with `ranges`. */
struct mase_feature_range mase_dataset_range(const struct mase_dataset *d, enum mase_split split,
                                             int64_t f);

/* Read a file as the named dataset and keep it in the cache, where opening finds it. */
enum mase_status mase_dataset_import(const char *name, const char *path,
                                     const struct mase_dataset_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* Remove every table of the named dataset from the cache, whether imported or cached when it was
 * read. A dataset without any is an error. */
struct mase_dataset_removed {
    const char **paths; /* (count), in the arena */
    int count;
    int64_t bytes;
};
enum mase_status mase_dataset_remove(struct mase_dataset_removed *removed, struct mase_arena *a,
                                     const char *name, const struct mase_dataset_opts *opts,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* The folder of the cache, allocated in a: $XDG_CACHE_HOME/mase, ~/.cache/mase; NULL: neither is
 * known. */
const char *mase_dataset_cache(struct mase_arena *a, const struct mase_dataset_opts *opts);

MASE_API_END

#endif /* MASE_DATASET_H */
