/*
 * cmd_train.h - what ch train, ch test and ch predict share.
 */
#ifndef MASE_CLI_COMMAND_CMD_TRAIN_H
#define MASE_CLI_COMMAND_CMD_TRAIN_H

#include <mase/events.h>
#include <mase/train.h>

#include "cli/project.h"

/* ---- summary.c ---- */

/* The table that Lightning prints before it trains. */
void mase_cli_summary(struct mase_cli *c, const struct mase_model *m, const struct mase_graph *g,
                      const struct mase_objective *o);
/* "jsc: 576000 rows to train on, ..." and the notice to the log. */
void mase_cli_log_data(struct mase_arena *a, const struct mase_dataset *d);

/* ---- data_options.c ---- */

/* "standardised: ..., over the 720 rows that train" */
const char *mase_cli_scaling_words(struct mase_arena *a, const struct mase_dataset *d);

/* The options of opening a dataset but for the scaling, for weights that were trained so (NULL:
 * there are none). */
enum mase_status mase_cli_data_opts(struct mase_dataset_opts *o, struct mase_cli *c,
                                    const struct mase_checkpoint_info *info,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* What is said of the data beside its name: "held-out, scaling standard". */
const char *mase_cli_data_variant(struct mase_cli *c);

/* ---- cmd_test.c ---- */

/* The test split, or with --all-rows every row there is; in the arena of c. */
struct mase_split_rows mase_cli_rows_to_test(struct mase_cli *c, const struct mase_dataset *d);

/* ---- task_option.c ---- */

/* NULL: one that is not trained. */
const struct mase_task *mase_cli_task(const struct mase_cli *c);
enum mase_status mase_cli_objective(struct mase_objective *o, const struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* A place within a loss of one's own becomes that in the file where it was set, if it was there. */
void mase_cli_place_loss(const struct mase_cli *c, struct mase_err *err);
/* "Accuracy" of "accuracy"; in a. */
const char *mase_cli_capital(struct mase_arena *a, const char *word);

/* ---- data_export.c ---- */

enum mase_status mase_cli_data_export(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;

/* ---- train_files.c: the files of a run beside its checkpoints ---- */

struct mase_cli_curve { /* by epochs */
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
    int columns; /* of metrics.csv */
    struct mase_cli_bits bits;
    struct mase_events *events;
    struct mase_cli_curve curve;
};

/* What they are about. */
struct mase_cli_train_run {
    const char *software; /* the folder they lie below */
    const char *model, *dataset;
    const struct mase_train_opts *opts;
    const struct mase_task *task;
    bool quantised, learns_bits; /* some epochs are */
    bool resume; /* what metrics.csv says up to this step is kept, and bits.csv of whole epochs */
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
/* The curve is drawn, everything closed; whatever happened before. title may be NULL: no curve.
 * Paths of the files are pushed to list. */
enum mase_status mase_cli_train_files_close(struct mase_cli_train_files *f, const char *title,
                                            struct mase_value *list,
                                            struct mase_err *err) MASE_MUST_CHECK;

/* ---- train_bits.c: how many bits a quantised training has come to ---- */

enum mase_status mase_cli_bits_open(struct mase_cli_bits *b, const char *path, bool resume,
                                    int64_t epoch, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_bits_epoch(struct mase_cli_bits *b, const struct mase_train_epoch *e,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_bits_close(struct mase_cli_bits *b, struct mase_err *err) MASE_MUST_CHECK;
/* Learned ones, and their cost; nothing if there are none. */
enum mase_status mase_cli_bits_events(struct mase_events *events, struct mase_arena *a,
                                      const struct mase_train_epoch *e,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* "ebops" and "bits" of results, if there are any. */
void mase_cli_bits_set(struct mase_arena *a, struct mase_value *results,
                       const struct mase_train_epoch *e);
/* A line about learned bits: "6219 EBOPs, weights of 1.23 bits (41.0 % have none), ..." */
void mase_cli_bits_tell(struct mase_sheets *s, const struct mase_train_epoch *e);

/* Is this a file of data, .csv or .h5, rather than an array of samples? */
bool mase_cli_is_table(const char *path);
/* Its samples, one after the other, not scaled (predict_table.c). */
enum mase_status mase_cli_read_table(struct mase_tensor *x, struct mase_cli *c,
                                     const struct mase_checkpoint_info *info, const char *path,
                                     struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_COMMAND_CMD_TRAIN_H */
