/*
 * project.h - what every action on a network begins with: the model, its data, the folder of the
 * project; and run.json, with which it ends.
 */
#ifndef MASE_CLI_PROJECT_H
#define MASE_CLI_PROJECT_H

#include <mase/dataset.h>
#include <mase/pass.h>
#include <mase/work.h>

#include "cli/cli.h"

/* ---- work_choice.c ---- */

/* The options as the layer work takes them: the model, --load, the data. */
enum mase_status mase_cli_choose(struct mase_work_choice *o, struct mase_cli *c,
                                 struct mase_err *err) MASE_MUST_CHECK;
struct mase_data_choice mase_cli_data_choice(struct mase_cli *c);
/* What they name. The path of the weights and what these were trained for are settled. */
enum mase_status mase_cli_find_work(struct mase_opened *w, struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_find_choice(struct mase_opened *w, struct mase_cli *c,
                                      const struct mase_work_choice *o,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* The network for these data with its weights, which are told. */
enum mase_status mase_cli_build(struct mase_opened *w, struct mase_cli *c,
                                const struct mase_data_info *data,
                                struct mase_err *err) MASE_MUST_CHECK;
/* mase_work_match_inputs and mase_work_match_data; --features is settled. */
enum mase_status mase_cli_match_inputs(struct mase_dataset **d, struct mase_cli *c,
                                       struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_match_data(const struct mase_data_info **data, struct mase_cli *c,
                                     struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
/* A dataset by itself, scaled as --scaling says or as the weights of --load want it. */
enum mase_status mase_cli_open_data(struct mase_dataset **d, struct mase_cli *c, const char *name,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Data that could not be opened. A network of the zoo that takes no such samples is told instead:
 * files would not help. */
enum mase_status mase_cli_fail_data(const struct mase_opened *w, enum mase_status failed,
                                    struct mase_err *err);
/* Say that results are random, if they are. */
void mase_cli_tell_draws(const struct mase_graph *g);

/* ---- load_option.c ---- */

/* --map as data, in the arena of c. */
enum mase_status mase_cli_renames(const struct mase_rename **renames, int *count,
                                  struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
bool mase_cli_has_renames(const struct mase_cli *c);
/* --map, --load-key, --strict and the seed. */
enum mase_status mase_cli_load_opts(struct mase_weights_opts *opts, struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* The weights of a file, loaded as these say. */
enum mase_status mase_cli_load_weights(struct mase_graph *g, struct mase_cli *c, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- tell.c ---- */

/* To the log: where the weights of g come from (from NULL: the seed), and a warning of those that
 * are no finite numbers. */
void mase_cli_tell_weights(const struct mase_cli *c, const struct mase_graph *g, const char *from);
void mase_cli_warn_of_weights(const struct mase_graph *g);
/* One warning of options that were given and that the command does not act on. */
void mase_cli_tell_idle_options(const struct mase_cli *c);

/* ---- project.c ---- */

/* Seed and log level to the log, the configuration table to stdout, unless a program reads it. */
void mase_cli_announce(struct mase_cli *c);
/* The model that w found. Without --load its usual dataset is the default of the option, which is
 * said; a model without one needs a dataset. The dataset is looked at by others. */
enum mase_status mase_cli_find_model(const struct mase_model **m, struct mase_cli *c,
                                     struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
/* The same whatever its data: of the zoo or of the user's own, which has no build and no dataset.
 */
const struct mase_model *mase_cli_named_model(struct mase_cli *c, const struct mase_opened *w);
/* PROJECT_DIR/PROJECT, in the arena of c. */
enum mase_status mase_cli_find_project(const char **dir, struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- freeze_option.c ---- */

/* What --freeze names is not trained. */
enum mase_status mase_cli_freeze(struct mase_graph *g, struct mase_cli *c,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- quantise_options.c ---- */

/* What [passes.prune] says, for training; NULL: nothing. */
struct mase_prune_opts;
enum mase_status mase_cli_pruning(const struct mase_prune_opts **o, const struct mase_cli *c,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Give g the formats of [passes.quantize], if there are any, and say in one line what it computes
 * in. A warning when it came with others. Formats may be calibrated on the data of w. */
enum mase_status mase_cli_quantise(struct mase_graph **g, struct mase_cli *c, struct mase_opened *w,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The same in silence, but for that warning; there must be such a section. */
enum mase_status mase_cli_apply_formats(struct mase_graph **g, struct mase_cli *c,
                                        struct mase_opened *w,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Every run of [passes.quantize] in the order of the file; silent if the manager is. */
enum mase_status mase_cli_run_quantize(struct mase_manager *m, struct mase_graph **g,
                                       const struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* "4 nodes: integer(8, 4)", in a; NULL: all is float. */
const char *mase_cli_formats_in(struct mase_arena *a, const struct mase_graph *g);

/* ---- calibrate_file.c ---- */

/* The formats of g as a section of the quantise pass by names; what has none stays in float. */
struct mase_value *mase_cli_formats_by_name(struct mase_arena *a, const struct mase_graph *g);

/* ---- samples.c ---- */

/* The dataset of the options as passes see it. */
struct mase_cli_samples {
    struct mase_samples source;
    struct mase_opened *work;
    struct mase_dataset *dataset; /* owned; NULL until a pass asks */
};
void mase_cli_samples_init(struct mase_cli_samples *s, struct mase_cli *c, struct mase_opened *w);
void mase_cli_samples_close(struct mase_cli_samples *s);
/* A manager as the options want it, whose passes read s, which is initialised, and leave results,
 * timings and names of files. What else it has stays. */
void mase_cli_manager_init(struct mase_manager *m, struct mase_cli *c, struct mase_cli_samples *s,
                           struct mase_opened *w);
/* One sample for every placeholder of g: its shape, with a batch of one. */
void mase_cli_sample_inputs(struct mase_pass_env *env, struct mase_arena *a,
                            const struct mase_graph *g, const struct mase_shape *sample);

/* ---- claim.c ---- */

/* The place of a run in its project, locked while it writes. */
struct mase_cli_claim {
    int lock;            /* a descriptor, or -1 */
    const char *made[4]; /* folders that were not there, outermost first; NULL ends them */
};
/* Before the first file is written: what an earlier run of the same action made is set aside,
 * unless this one goes on with it (again), and what runs that were killed left half written is
 * removed. An error if another run is writing there. */
enum mase_status mase_cli_claim(struct mase_cli_claim *claim, struct mase_cli *c,
                                const char *project_dir, bool again,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Folders that stayed empty are removed. Nothing if it is none. */
void mase_cli_unclaim(struct mase_cli_claim *claim);
/* Write a record; that of another action gives its place up, and is kept. */
enum mase_status mase_cli_write_record(struct mase_cli *c, const char *project_dir,
                                       const char *name, const struct mase_str *text,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* ---- record.c ---- */

/* What run.json says beside the command, the version and the configuration. */
struct mase_cli_record {
    struct mase_cli *c;
    const char *project_dir;
    const char *name; /* of the file below it: "run.json" */
    const struct mase_model *model;
    const struct mase_graph *graph;
    enum mase_weight_source weights;
    struct mase_value *dataset;
    const char *isa; /* NULL: that of the plans */
    int threads;
    struct mase_value *passes; /* NULL: there are none */
    struct mase_value *results;
    const struct mase_value *files; /* paths of those written */
    uint64_t started;               /* mase_clock */
};
/* Has the record at path these results, of this command line? */
bool mase_cli_is_recorded(struct mase_cli *c, const char *path, const struct mase_value *results);
enum mase_status mase_cli_record(const struct mase_cli_record *r,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The same of a run of passes: what its manager knows is filled in. */
enum mase_status mase_cli_record_passes(const struct mase_cli_record *r,
                                        const struct mase_manager *m,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The network that a run began with, as DIR/graph.mg, if it is not one of the zoo: who looks at the
 * run later needs neither its file nor what executes it. Its text in a, NULL of the zoo; and that
 * written, its path pushed to files. */
#define MASE_CLI_GRAPH "graph.mg"
const char *mase_cli_graph_text(struct mase_arena *a, const struct mase_model *m,
                                const struct mase_graph *g);
enum mase_status mase_cli_save_graph(struct mase_arena *a, const char *text, const char *dir,
                                     struct mase_value *files,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The data as run.json describes it: by its shape alone, or opened. */
struct mase_value *mase_cli_data_shape(struct mase_arena *a, const struct mase_data_info *d);
struct mase_value *mase_cli_data_record(struct mase_arena *a, const struct mase_dataset *d);

#endif /* MASE_CLI_PROJECT_H */
