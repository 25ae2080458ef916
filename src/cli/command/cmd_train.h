/*
 * cmd_train.h - shared by ch train, ch test and ch predict.
 */
#ifndef MASE_CLI_COMMAND_CMD_TRAIN_H
#define MASE_CLI_COMMAND_CMD_TRAIN_H

#include <mase/events.h>
#include <mase/train.h>

#include "cli/project.h"

/* ---- summary.c ---- */

/* Print the summary table, as Lightning does before training. */
void mase_cli_summary(struct mase_cli *c, const struct mase_model *m, const struct mase_graph *g,
                      const struct mase_objective *o);
/* Log "jsc: 576000 rows to train on, ..." and the notice of the data. */
void mase_cli_log_data(struct mase_arena *a, const struct mase_dataset *d);

/* ---- data_options.c ---- */

/* "standardised: ..., over the 720 rows that train" */
const char *mase_cli_scaling_words(struct mase_arena *a, const struct mase_dataset *d);

/* Options for opening a dataset, except scaling. info: what the weights were trained on, or NULL.
 */
enum mase_status mase_cli_data_opts(struct mase_dataset_opts *o, struct mase_cli *c,
                                    const struct mase_checkpoint_info *info,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* The options of the data, in words: "held-out, scaling standard". */
const char *mase_cli_data_variant(struct mase_cli *c);

/* ---- cmd_test.c ---- */

/* The test split, or with --all-rows every row; in the arena of c. */
struct mase_split_rows mase_cli_rows_to_test(struct mase_cli *c, const struct mase_dataset *d);

/* ---- task_option.c ---- */

/* NULL: a task that does not train. */
const struct mase_task *mase_cli_task(const struct mase_cli *c);
enum mase_status mase_cli_objective(struct mase_objective *o, const struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Convert a place within a user's loss to the place in the file where the loss is given. */
void mase_cli_place_loss(const struct mase_cli *c, struct mase_err *err);
/* "Accuracy" of "accuracy"; in a. */
const char *mase_cli_capital(struct mase_arena *a, const char *word);

/* ---- data_export.c ---- */

enum mase_status mase_cli_data_export(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;

/* ---- train_files.c: the files of a run beside its checkpoints ---- */

struct mase_cli_curve { /* by epoch */
    double *epoch, *train_loss, *val_loss, *train_score, *val_score;
    int count, cap;
};

struct mase_cli_bits {
    const char *path;
    FILE *file; /* NULL: the network has no number formats */
};

struct mase_cli_train_files {
    struct mase_arena *arena;
    const char *lr_tag; /* "lr-Adam" */
    const struct mase_task *task;
    const char *metrics_path, *curve_path, *hparams_path;
    FILE *metrics;
    int columns; /* columns of metrics.csv */
    struct mase_cli_bits bits;
    struct mase_events *events;
    struct mase_cli_curve curve;
};

/* Properties of the run for its files. */
struct mase_cli_train_run {
    const char *software; /* folder of the files */
    const char *model, *dataset;
    const struct mase_train_opts *opts;
    const struct mase_task *task;
    bool quantised, learns_bits; /* some epochs are quantised; learn bits */
    bool resume; /* keep rows of metrics.csv, and of bits.csv, before the resumed step */
    int64_t step, epoch;
};
enum mase_status mase_cli_train_files_open(struct mase_cli_train_files *f, struct mase_arena *a,
                                           const struct mase_cli_train_run *r,
                                           struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_train_files_step(struct mase_cli_train_files *f,
                                           const struct mase_train_point *p,
                                           struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_train_files_epoch(struct mase_cli_train_files *f,
                                            const struct mase_train_epoch *e,
                                            struct mase_err *err) MASE_MUST_CHECK;
/* Draw the curve, and close all files; also after an error. title may be NULL: no curve. Pushes the
 * paths of the files to list. */
enum mase_status mase_cli_train_files_close(struct mase_cli_train_files *f, const char *title,
                                            struct mase_value *list,
                                            struct mase_err *err) MASE_MUST_CHECK;

/* ---- train_bits.c: bits of a quantised training ---- */

enum mase_status mase_cli_bits_open(struct mase_cli_bits *b, const char *path, bool resume,
                                    int64_t epoch, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_bits_epoch(struct mase_cli_bits *b, const struct mase_train_epoch *e,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_bits_close(struct mase_cli_bits *b, struct mase_err *err) MASE_MUST_CHECK;
/* Write learned bits and their cost; nothing without learned bits. */
enum mase_status mase_cli_bits_events(struct mase_events *events, struct mase_arena *a,
                                      const struct mase_train_epoch *e,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Set "ebops" and "bits" of results, if there are any. */
void mase_cli_bits_set(struct mase_arena *a, struct mase_value *results,
                       const struct mase_train_epoch *e);
/* Print a line about learned bits: "6219 EBOPs, weights of 1.23 bits (41.0 % have none), ..." */
void mase_cli_bits_print(struct mase_sheets *s, const struct mase_train_epoch *e);

/* Is this a data file, .csv or .h5, rather than an array of samples? */
bool mase_cli_is_table(const char *path);
/* Read its samples, unscaled (predict_table.c). */
enum mase_status mase_cli_read_table(struct mase_tensor *x, struct mase_cli *c,
                                     const struct mase_checkpoint_info *info, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_COMMAND_CMD_TRAIN_H */
