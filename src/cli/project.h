/*
 * project.h - what every action on a network needs: the model, its data, the project folder,
 * run.json.
 */
#ifndef MASE_CLI_PROJECT_H
#define MASE_CLI_PROJECT_H

#include <mase/dataset.h>
#include <mase/pass.h>
#include <mase/work.h>

#include "cli/cli.h"

/* ---- work_choice.c ---- */

/* Make a struct of choices from the options: the model, --load, the data. */
enum mase_status mase_cli_choose(struct mase_work_choice *o, struct mase_cli *c,
                                 struct mase_err *err) MASE_MUST_CHECK;
struct mase_data_choice mase_cli_data_choice(struct mase_cli *c);
/* Find what the options name; settle the path of the weights and what they were trained for. */
enum mase_status mase_cli_find_work(struct mase_opened *w, struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_find_choice(struct mase_opened *w, struct mase_cli *c,
                                      const struct mase_work_choice *o,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Build the network for these data, load its weights, and log where they come from. */
enum mase_status mase_cli_build(struct mase_opened *w, struct mase_cli *c,
                                const struct mase_data_info *data,
                                struct mase_err *err) MASE_MUST_CHECK;
/* mase_work_match_inputs and mase_work_match_data; settles --features. */
enum mase_status mase_cli_match_inputs(struct mase_dataset **d, struct mase_cli *c,
                                       struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_match_data(const struct mase_data_info **data, struct mase_cli *c,
                                     struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
/* Open a dataset, scaled by --scaling or as the weights of --load need it. */
enum mase_status mase_cli_open_data(struct mase_dataset **d, struct mase_cli *c, const char *name,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Report data that could not be opened; or, for a zoo network that takes no such samples, that. */
enum mase_status mase_cli_fail_data(const struct mase_opened *w, enum mase_status failed,
                                    struct mase_err *err);
/* Log that results are random, if they are. */
void mase_cli_log_random(const struct mase_graph *g);

/* ---- load_option.c ---- */

/* The renames of --map, in the arena of c. */
enum mase_status mase_cli_renames(const struct mase_rename **renames, int *count,
                                  struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
bool mase_cli_has_renames(const struct mase_cli *c);
/* Options for loading weights: --map, --load-key, --strict and the seed. */
enum mase_status mase_cli_load_opts(struct mase_weights_opts *opts, struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Load the weights of a file by these options. */
enum mase_status mase_cli_load_weights(struct mase_graph *g, struct mase_cli *c, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- tell.c ---- */

/* Log where the weights of g come from (from NULL: the seed); warn of infinite or NaN weights. */
void mase_cli_log_weights(const struct mase_cli *c, const struct mase_graph *g, const char *from);
void mase_cli_warn_of_weights(const struct mase_graph *g);
/* Warn once of options that the command does not use. */
void mase_cli_warn_unused_options(const struct mase_cli *c);

/* ---- project.c ---- */

/* Log seed and log level; print the configuration table, unless the output is for programs. */
void mase_cli_announce(struct mase_cli *c);
/* The model that w found. Without --load its usual dataset becomes the default of --dataset; a
 * model without one needs --dataset. Other functions check the dataset. */
enum mase_status mase_cli_find_model(const struct mase_model **m, struct mase_cli *c,
                                     struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
/* The model of w whatever its data: of the zoo, or the user's own, which has no builder and no
 * dataset. */
const struct mase_model *mase_cli_named_model(struct mase_cli *c, const struct mase_opened *w);
/* PROJECT_DIR/PROJECT, in the arena of c. */
enum mase_status mase_cli_find_project(const char **dir, struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- freeze_option.c ---- */

/* Freeze the parameters that --freeze names. */
enum mase_status mase_cli_freeze(struct mase_graph *g, struct mase_cli *c,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- quantise_options.c ---- */

/* Options of [passes.prune], for training; NULL: none. */
struct mase_prune_opts;
enum mase_status mase_cli_pruning(const struct mase_prune_opts **o, const struct mase_cli *c,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Give g the formats of [passes.quantize], if any, and log the formats that it computes in; warn if
 * it had others. Calibration may use the data of w. */
enum mase_status mase_cli_quantise(struct mase_graph **g, struct mase_cli *c, struct mase_opened *w,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* As mase_cli_quantise, but logs that warning only; the section must exist. */
enum mase_status mase_cli_apply_formats(struct mase_graph **g, struct mase_cli *c,
                                        struct mase_opened *w,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Run every [passes.quantize] in the order of the file; silent if the manager is. */
enum mase_status mase_cli_run_quantize(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* The formats in words, "4 nodes: integer(8, 4)", in a; NULL: all float. */
const char *mase_cli_formats_in(struct mase_arena *a, const struct mase_graph *g);

/* ---- calibrate_file.c ---- */

/* The formats of g as a section of the pass quantize, by name; nodes without formats stay in float.
 */
struct mase_value *mase_cli_formats_by_name(struct mase_arena *a, const struct mase_graph *g);

/* ---- samples.c ---- */

/* The dataset of the options, for passes. */
struct mase_cli_samples {
    struct mase_samples source;
    struct mase_opened *work;
    struct mase_dataset *dataset; /* owned; NULL until a pass needs it */
};
void mase_cli_samples_init(struct mase_cli_samples *s, struct mase_cli *c, struct mase_opened *w);
void mase_cli_samples_close(struct mase_cli_samples *s);
/* Initialise a manager by the options: its passes read s, which must be initialised, and record
 * results, timings and files. */
void mase_cli_manager_init(struct mase_manager *m, struct mase_cli *c, struct mase_cli_samples *s,
                           struct mase_opened *w);
/* One sample for each placeholder of g: its shape, with a batch of one. */
void mase_cli_sample_inputs(struct mase_pass_env *env, struct mase_arena *a,
                            const struct mase_graph *g, const struct mase_shape *sample);

/* ---- claim.c ---- */

/* The lock of a run on its project. */
struct mase_cli_claim {
    int lock;            /* descriptor, or -1 */
    const char *made[4]; /* folders created by the run, outermost first; ended by NULL */
};
/* Lock the project before the first file is written: move the results of an earlier run of the same
 * action, unless this run resumes it (again), and delete incomplete files of killed runs. Fails if
 * another run writes there. */
enum mase_status mase_cli_claim(struct mase_cli_claim *claim, struct mase_cli *c,
                                const char *project_dir, bool again,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Unlock, and remove folders that stayed empty. Does nothing for an empty claim. */
void mase_cli_unclaim(struct mase_cli_claim *claim);
/* Write a record; one of another action is moved first. */
enum mase_status mase_cli_write_record(struct mase_cli *c, const char *project_dir,
                                       const char *name, const struct mase_str *text,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- record.c ---- */

/* Contents of run.json, beside command, version and configuration. */
struct mase_cli_record {
    struct mase_cli *c;
    const char *project_dir;
    const char *name; /* file name: "run.json" */
    const struct mase_model *model;
    const struct mase_graph *graph;
    enum mase_weight_source weights;
    struct mase_value *dataset;
    const char *isa; /* NULL: the ISA of plans */
    int threads;
    struct mase_value *passes; /* NULL: none */
    struct mase_value *results;
    const struct mase_value *files; /* paths of written files */
    uint64_t started;               /* by mase_clock */
};
/* Does the record at path have these results for this command line? */
bool mase_cli_is_recorded(struct mase_cli *c, const char *path, const struct mase_value *results);
enum mase_status mase_cli_record(const struct mase_cli_record *r,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Write the record of a run of passes, with what its manager knows. */
enum mase_status mase_cli_record_passes(const struct mase_cli_record *r,
                                        const struct mase_manager *m,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The network that a run began with, as DIR/graph.mg, unless it is of the zoo: it can be inspected
 * later without its file and its code. Its text in a, NULL for the zoo; and writing it, with its
 * path pushed to files. */
#define MASE_CLI_GRAPH "graph.mg"
const char *mase_cli_graph_text(struct mase_arena *a, const struct mase_model *m,
                                const struct mase_graph *g);
enum mase_status mase_cli_save_graph(struct mase_arena *a, const char *text, const char *dir,
                                     struct mase_value *files,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* Describe data for run.json: by shape only, or opened. */
struct mase_value *mase_cli_data_shape(struct mase_arena *a, const struct mase_data_info *d);
struct mase_value *mase_cli_data_record(struct mase_arena *a, const struct mase_dataset *d);

#endif /* MASE_CLI_PROJECT_H */
